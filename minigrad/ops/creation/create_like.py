"""Making tensors like another one: of its dtype, on its device, and perhaps of its shape.

Each takes the keyword arguments of `Options`.  Bare arrays give bare arrays: the formulas of other
ops use that.

Source: https://docs.pytorch.org/docs/stable/torch.html#creation-ops
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack

from ...device import build_on, device_under
from ...dtypes import from_numpy_dtype
from ...op.publish import function
from ...tensor.tensor import Tensor
from .create import strided_array
from .from_data import number
from .tensor_options import Options, SizedOptions, alike, array_of, fill_number, order, sizes

Array = Any


@function(method_too=False)
def zeros_like(input: Any, **options: Unpack[Options]) -> Tensor:
    """Make zeros of `input`'s shape, dtype, device and strides. Source: `torch.zeros_like`.

    >>> from minigrad import tensor, zeros_like
    >>> zeros_like(tensor([1, 2]))
    tensor([0, 0])
    """
    return alike("zeros_like", input, options, lambda xp, numpy_dtype: xp.zeros_like(
        array_of(input), dtype=numpy_dtype, order=order(input, options)))


@function(method_too=False)
def ones_like(input: Any, **options: Unpack[Options]) -> Tensor:
    """Make ones of `input`'s shape, dtype, device and strides. Source: `torch.ones_like`.

    >>> from minigrad import tensor, ones_like
    >>> ones_like(tensor([1.5, 2]))
    tensor([1., 1.])
    """
    return alike("ones_like", input, options, lambda xp, numpy_dtype: xp.ones_like(
        array_of(input), dtype=numpy_dtype, order=order(input, options)))


@function(method_too=False)
def empty_like(input: Any, **options: Unpack[Options]) -> Tensor:
    """Make a tensor of undefined values, of `input`'s shape and the rest.

    Source: `torch.empty_like`.

    >>> from minigrad import tensor, empty_like
    >>> empty_like(tensor([1.0, 2.0])).shape
    torch.Size([2])
    """
    return alike("empty_like", input, options, lambda xp, numpy_dtype: xp.empty_like(
        array_of(input), dtype=numpy_dtype, order=order(input, options)))


@function(method_too=False)
def full_like(input: Any, fill_value: Any, **options: Unpack[Options]) -> Tensor:
    """Make one value in `input`'s shape, dtype, device and strides. Source: `torch.full_like`.

    >>> from minigrad import tensor, full_like
    >>> full_like(tensor([1, 2]), 7)
    tensor([7, 7])
    """
    value = fill_number("full_like", 2, fill_value)

    def build(xp: Any, numpy_dtype: Any) -> Array:
        what = number(value, from_numpy_dtype(numpy_dtype))[()]
        return xp.full_like(array_of(input), what, dtype=numpy_dtype, order=order(input, options))

    return alike("full_like", input, options, build)


def anew(name: str, input: Any, options: Options, build: Callable[[Any, Any], Array]) -> Tensor:
    """Make a tensor of another shape beside a tensor: beside a batch one for each example."""
    array = array_of(input)

    def for_each(xp: Any, numpy_dtype: Any) -> Array:
        if xp.run_op is None:
            return build(xp, numpy_dtype)
        array_made = build_on(device_under(array), lambda under: build(under, numpy_dtype))
        return xp.in_batch(array_made, array)

    return alike(name, input, options, for_each)


@function()
def new_zeros(input: Any, *dims: Any, **options: Unpack[SizedOptions]) -> Tensor:
    """Make zeros of a new shape, of `input`'s dtype and device. Source: `torch.Tensor.new_zeros`.

    >>> from minigrad import tensor
    >>> tensor([1, 2]).new_zeros(2, 2)
    tensor([[0, 0],
            [0, 0]])
    """
    shape = sizes("new_zeros", dims, options)
    return anew("new_zeros", input, options,
                lambda xp, numpy_dtype: xp.zeros(shape, numpy_dtype))


@function()
def new_ones(input: Any, *dims: Any, **options: Unpack[SizedOptions]) -> Tensor:
    """Make ones of a new shape, of `input`'s dtype and device. Source: `torch.Tensor.new_ones`.

    >>> from minigrad import tensor
    >>> tensor([1, 2]).new_ones(3)
    tensor([1, 1, 1])
    """
    shape = sizes("new_ones", dims, options)
    return anew("new_ones", input, options, lambda xp, numpy_dtype: xp.ones(shape, numpy_dtype))


@function()
def new_empty(input: Any, *dims: Any, **options: Unpack[SizedOptions]) -> Tensor:
    """Make undefined values of a new shape, `input`'s dtype. Source: `torch.Tensor.new_empty`.

    >>> from minigrad import tensor
    >>> tensor([1, 2]).new_empty(2, 3).shape
    torch.Size([2, 3])
    """
    shape = sizes("new_empty", dims, options)
    return anew("new_empty", input, options,
                lambda xp, numpy_dtype: xp.empty(shape, numpy_dtype))


@function()
def new_full(input: Any, size: Any, fill_value: Any, **options: Unpack[Options]) -> Tensor:
    """Make one value in a new shape, of `input`'s dtype and device.

    Source: `torch.Tensor.new_full`.

    >>> from minigrad import tensor
    >>> tensor([1.5]).new_full((2,), 3)
    tensor([3., 3.])
    """
    shape = sizes("new_full", (size,), {})
    value = fill_number("new_full", 2, fill_value)

    def build(xp: Any, numpy_dtype: Any) -> Array:
        return xp.full(shape, number(value, from_numpy_dtype(numpy_dtype))[()], numpy_dtype)

    return anew("new_full", input, options, build)


@function()
def new_empty_strided(input: Any, size: Any, stride: Any, **options: Unpack[Options]) -> Tensor:
    """Make a tensor with these strides, of `input`'s dtype.

    Source: `torch.Tensor.new_empty_strided`.

    >>> from minigrad import tensor
    >>> tensor([1.5]).new_empty_strided((2, 3), (1, 2)).stride()
    (1, 2)
    """
    return alike("new_empty_strided", input, options,
                 lambda xp, numpy_dtype: strided_array(xp, numpy_dtype, size, stride))
