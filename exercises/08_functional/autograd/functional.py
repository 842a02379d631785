# Stage 08, Jacobian, hessian and their products: the exercise for minigrad/autograd/functional.py.
# Made by `minigrad dev build`. The lesson is lessons/08_functional.md.
# MASTER COPY: a learner's own file is in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: an answer written here is tested by no command, and lost.
# Write the bodies that raise NotImplementedError, then run: minigrad run 08
# Names of the package's inside are explained in docs/en/glossary.md.

"""Derivatives of functions: products with vectors, whole jacobians and hessians.

Unlike `backward`, these take a function and its inputs and leave no `.grad` behind; an output that
does not depend on an input has zeros as its derivative.  Here `m` stands for the number of elements
of the outputs and `n` for that of the inputs.

Source: https://docs.pytorch.org/docs/stable/autograd.html#functional-higher-level-api
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..engine import shortcuts
from ..op.declaration import F
from ..tensor.tensor import Tensor
from .forward_mode.jacobian import columns_by_forward_mode
from .functional_support.checks import (
    Tensors,
    fresh_inputs,
    independent,
    nested_result,
    require_dependence,
    result,
    scalar_output,
    single_element,
    tensor_tuple,
    vector_like,
    zeros_for_missing,
)
from .functional_support.passes import Row, all_rows, gradients, pullback, rows_of, stacked
from .grad_mode import enable_grad, is_grad_enabled, set_grad_enabled

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

Function = Callable[..., Any]
TensorOrTuple = Tensor | Tensors

_OUTPUTS = "outputs of the user-provided function"
_STRATEGIES = ("forward-mode", "reverse-mode")


def vjp(
    func: Function,
    inputs: TensorOrTuple,
    v: TensorOrTuple | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Return `func(*inputs)` and the product of the vector `v` with its jacobian, `v^T J`.

    `v` has the outputs' shapes and may be left out for one output of one element; the product
    has the inputs' shapes.  With `create_graph` both results can be differentiated.  `TypeError`
    for other values than tensors, `RuntimeError` for a `v` of wrong shape and, if `strict`, for an
    output that does not depend on an input.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.autograd.functional.vjp.html

    >>> from minigrad import tensor
    >>> vjp(lambda x: x * x, tensor([1.0, 2.0]), tensor([1.0, 10.0]))
    (tensor([1., 4.]), tensor([ 2., 40.]))
    """
    # 08.3 vjp: the product from the left (about 16 lines)
    # Return `func(*inputs)` and `v^T J`, as the docstring says. `inputs` is a tensor or a
    # tuple: `tensor_tuple(inputs, "inputs", "vjp")` says which and makes a tuple. `func`
    # gets fresh inputs (`fresh_inputs(inputs, create_graph)`) and is called once, with
    # recording on, whatever mode the caller is in; afterwards the mode is what it was,
    # also after an error. Its outputs go through `tensor_tuple(..., _OUTPUTS, "vjp")`;
    # `require_dependence(outputs, "outputs", strict)` raises for strict mode. A vector is
    # checked by `vector_like(v, outputs, outputs_were_tuple, create_graph, "vjp")`. If
    # `v` is None and the outputs are not one tensor with one element, raise
    # RuntimeError("The vector v can only be None if the user-provided function returns a
    # single Tensor with a single element."). An input that no output depends on has zeros
    # (`zeros_for_missing`, step "gradient"). The outputs come back nested as `func` gave
    # them, the product nested as the inputs were; both are detached unless
    # `create_graph`, in which case both can be differentiated.
    raise NotImplementedError("08.3 vjp: the product from the left is yours to write")


def jvp(
    func: Function,
    inputs: TensorOrTuple,
    v: TensorOrTuple | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Return `func(*inputs)` and the product of its jacobian with the vector `v`, `J v`.

    `v` has the inputs' shapes and may be left out for one input of one element; the product has
    the outputs' shapes.  It takes two backward passes, see NOTE [Tangents by double backward].
    Errors are those of `vjp`.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.autograd.functional.jvp.html

    >>> from minigrad import tensor
    >>> jvp(lambda x: x * x, tensor([1.0, 2.0]), tensor([1.0, 10.0]))
    (tensor([1., 4.]), tensor([ 2., 40.]))
    """
    # 08.6 jvp: the product from the right (about 15 lines)
    # `pullback` returns two tuples: the `gradients` of `outputs` by `inputs` for a vector
    # `u`, recorded so that they can be differentiated by `u`; and that `u`: for each
    # tensor of `like` zeros of its shape and dtype that require grad. `jvp` returns
    # `func(*inputs)` and `J v`, by two backward passes; see NOTE [Tangents by double
    # backward]. It does what `vjp` does to inputs and outputs, with the name "jvp". The
    # vector comes from `_vector_of_inputs(v, inputs, inputs_were_tuple, create_graph,
    # "jvp")`. The `pullback` of the outputs has vectors like the outputs, and goes
    # through `require_dependence(pulled, "grad_inputs", strict)`. The product has the
    # outputs' shapes: zeros where an output does not depend on the inputs
    # (`zeros_for_missing`, step "tangent"). Both results are nested as `func` gave its
    # outputs, and detached unless `create_graph`.
    raise NotImplementedError("08.6 jvp: the product from the right is yours to write")


def vhp(
    func: Function,
    inputs: TensorOrTuple,
    v: TensorOrTuple | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Return `func(*inputs)`, one element, and the product of `v` with its hessian, `v^T H`.

    `v` and the product have the inputs' shapes; `v` may be left out for one input of one
    element.  For a function that is twice continuously differentiable it is the `hvp`, in one
    backward pass less.  Errors are those of `vjp`, and `RuntimeError` for an output that is not
    one element.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.autograd.functional.vhp.html

    >>> from minigrad import tensor
    >>> vhp(lambda x: (x**3).sum(), tensor([1.0, 2.0]), tensor([1.0, 1.0]))
    (tensor(9.), tensor([ 6., 12.]))
    """
    # 08.7 Products with a hessian (about 26 lines)
    # `_slopes` does what `vhp` and `hvp` begin with and returns (whether inputs came as a
    # tuple, the fresh inputs, the vector, the output, the slopes). Inputs, `fresh_inputs`
    # and `_vector_of_inputs` are as in `jvp`, with the name in `function`; the output of
    # `func` goes through `tensor_tuple(..., _OUTPUTS, function)`,
    # `require_dependence(outputs, "outputs", strict)` and `scalar_output(outputs,
    # outputs_were_tuple, function)`, which raises unless it is one tensor with one
    # element. The slopes are its `gradients` by the inputs, such that they can be
    # differentiated, and go through `require_dependence(slopes, "jacobian", strict)`.
    # `vhp` returns the output and the vector-jacobian product of the slopes, `hvp` the
    # output and their jacobian-vector product, by `pullback`. Recording is on inside and
    # afterwards as it was. Where something is missing there are zeros like the inputs
    # (`zeros_for_missing`, step "row of hessian" for vhp, "column of hessian" for hvp).
    # The output comes back as one tensor, the product nested as the inputs were; both are
    # detached unless `create_graph`.
    raise NotImplementedError("08.7 Products with a hessian is yours to write")


def hvp(
    func: Function,
    inputs: TensorOrTuple,
    v: TensorOrTuple | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Return `func(*inputs)`, one element, and the product of its hessian with `v`, `H v`.

    Shapes and errors are those of `vhp`, which is faster; this one takes a backward pass more,
    see NOTE [Tangents by double backward].

    Source: https://docs.pytorch.org/docs/stable/generated/torch.autograd.functional.hvp.html

    >>> from minigrad import tensor
    >>> hvp(lambda x: (x**3).sum(), tensor([1.0, 2.0]), tensor([1.0, 1.0]))
    (tensor(9.), tensor([ 6., 12.]))
    """
    # 08.7 Products with a hessian: see the task at `vhp`.
    raise NotImplementedError("08.7 Products with a hessian is yours to write")


def jacobian(
    func: Function,
    inputs: TensorOrTuple,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """Return the derivatives of all elements of `func(*inputs)` with respect to all inputs.

    For one output and one input it has the shape `output.shape + input.shape`; tuples of
    outputs or inputs give tuples, outputs outside.  `strategy="reverse-mode"` takes a backward
    pass for each of the `m` output elements, `strategy="forward-mode"` (only with `vectorize`,
    without `create_graph`) one for each of the `n` input elements.  With `vectorize`, which cannot
    be `strict`, all of them are one pass on batches; an op without a batching rule warns.  Errors
    are those of `vjp`, `AssertionError` for an unknown strategy and `NotImplementedError` for
    options that forward mode leaves out.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.autograd.functional.jacobian.html

    >>> from minigrad import tensor
    >>> jacobian(lambda x: x * x, tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    if strategy not in _STRATEGIES:
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your '
            'function has more outputs than inputs, "forward-mode" tends to be more performant. '
            'Otherwise, prefer to use "reverse-mode".')
    if strategy == "forward-mode":
        _check_forward_mode(create_graph, strict, vectorize)
        return _forward_jacobian(func, inputs)
    with enable_grad():
        inputs_were_tuple, inputs = tensor_tuple(inputs, "inputs", "jacobian")
        inputs = fresh_inputs(inputs, create_graph)
        outputs_were_tuple, outputs = tensor_tuple(func(*inputs), _OUTPUTS, "jacobian")
        require_dependence(outputs, "outputs", strict)
        if vectorize and strict:
            raise RuntimeError(
                "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not "
                "supported together. Please either set `strict=False` or `vectorize=False`.")
        if vectorize:
            rows = all_rows(outputs, inputs, create_graph)
        else:
            rows = [_each_row(output, i, inputs, create_graph, strict)
                    for i, output in enumerate(outputs)]
        blocks = [blocks_of(output, stacks, inputs) for output, stacks in zip(outputs, rows)]
    return nested_result(blocks, outputs_were_tuple, inputs_were_tuple, create_graph)


def hessian(
    func: Function,
    inputs: TensorOrTuple,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """Return the second derivatives of `func(*inputs)`, one element, with respect to its inputs.

    For one input it has the shape `input.shape + input.shape`; a tuple of inputs gives a tuple
    of tuples.  It is the jacobian of the jacobian; `vectorize` and `outer_jacobian_strategy` are
    for the outer of the two and mean what they mean in `jacobian`, as do the errors.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.autograd.functional.hessian.html

    >>> from minigrad import tensor
    >>> hessian(lambda x: (x**3).sum(), tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    # 08.5 hessian: the jacobian of the jacobian (about 15 lines)
    # Return the second derivatives of `func(*inputs)` as the docstring says.
    # `tensor_tuple(inputs, "inputs", "hessian")` makes a tuple of the inputs. A strategy
    # that is not in `_STRATEGIES` raises AssertionError('Expected strategy to be either
    # "forward-mode" or "reverse-mode".'). The output of `func` goes through
    # `tensor_tuple(..., _OUTPUTS, "hessian")`, `require_dependence(outputs, "outputs",
    # strict)` and `scalar_output(outputs, were_tuple, "hessian")`, which raises unless it
    # is one tensor with one element; it may have the shape (1, 1), which is not to show
    # in the result. The first derivatives are its `jacobian`, such that it can be
    # differentiated, and go through `require_dependence(grads, "jacobian", strict)`. The
    # result is the `jacobian` of these, with `create_graph`, `strict`, `vectorize` and
    # the strategy. For a tuple of inputs it is a tuple of tuples of blocks, for one input
    # the one block alone.
    raise NotImplementedError("08.5 hessian: the jacobian of the jacobian is yours to write")


# -------------------------------------------------------------------- their parts


def _vector_of_inputs(v: Any, inputs: Tensors, were_tuple: bool, create_graph: bool,
                      function: str) -> Tensors | None:
    """Return a vector with the shapes of the inputs; None if it was left out and may be."""
    if v is not None:
        return vector_like(v, inputs, were_tuple, create_graph, function)
    if not single_element(inputs):
        raise RuntimeError("The vector v can only be None if the input to the user-provided "
                           "function is a single Tensor with a single element.")
    return None


def _slopes(func: Function, inputs: Any, v: Any, create_graph: bool, strict: bool,
            function: str) -> tuple[bool, Tensors, Tensors | None, Tensor, Row]:
    """Compute the gradients with which `vhp` and `hvp` start; they can be differentiated."""
    # 08.7 Products with a hessian: see the task at `vhp`.
    raise NotImplementedError("08.7 Products with a hessian is yours to write")


def _each_row(output: Tensor, number: int, inputs: Tensors, create_graph: bool,
              strict: bool) -> Row:
    """Return the rows of one output's jacobian for each input, from one pass for each row."""
    if shortcuts.jacobian_rows is not None and not (strict or create_graph):
        if not output.requires_grad:
            return (None,) * len(inputs)
        stacks = shortcuts.jacobian_rows(output, inputs)
        if stacks is not None:
            return tuple(stacks)
    rows = rows_of(output, inputs, create_graph)
    if strict:
        _check_rows(rows, number, create_graph)
    return tuple(stacked([row[j] for row in rows], x) for j, x in enumerate(inputs))


def _check_rows(rows: Sequence[Row], output: int, create_graph: bool) -> None:
    """Raise for rows of one output's jacobian that strict mode does not allow."""
    for row in rows:
        for i, grad in enumerate(row):
            if grad is None:
                raise RuntimeError(f"Output {output} of the user-provided function is independent "
                                   f"of input {i}. This is not allowed in strict mode.")
            if create_graph and not grad.requires_grad:
                raise RuntimeError(independent(output, "jacobian"))


def _check_forward_mode(create_graph: bool, strict: bool, vectorize: bool) -> None:
    """Raise for options that `strategy="forward-mode"` does not support."""
    combined = ('torch.autograd.functional.jacobian: `{0}=True` and `strategy="forward-mode"` are '
                "not supported together (yet). Please either set `{0}=False` or "
                '`strategy="reverse-mode"`.')
    if create_graph:
        raise NotImplementedError(combined.format("create_graph"))
    if strict:
        raise RuntimeError(combined.format("strict"))
    if not vectorize:
        raise NotImplementedError("Computing Jacobian using forward-AD or forward-over-reverse "
                                  "Hessian isonly implemented for `vectorize=True`.")


def blocks_of(output: Tensor, rows: Sequence[Tensor | None], inputs: Tensors) -> Tensors:
    """Return one output's jacobian for each input, made of its rows; zeros for missing ones."""
    # 08.4 Row by row (about 15 lines)
    # `unit_vectors` returns a list with a tensor for each element of `like`, in order: of
    # like's shape and dtype, 1 at that element and 0 elsewhere. `rows_of` returns a list
    # with a row for each element of `output`: the `gradients` of `output` by `inputs` for
    # that unit vector, with `create_graph`, and such that the graph can be used again.
    # `stacked` gets one tensor or None for each row and returns them as one tensor, rows
    # first, with zeros of the shape and dtype of `like` for None; without any row its
    # shape is `(0, *like.shape)`. `blocks_of` gets, for each input, the stacked rows of
    # `output`, or None, and returns a tuple with an entry of shape `(*output.shape,
    # *input.shape)` for each input: the rows put into that shape, or zeros of the input's
    # dtype.
    raise NotImplementedError("08.4 Row by row is yours to write")


def _forward_jacobian(func: Function, inputs: Any) -> Any:
    """Return the jacobian, all columns in one pass, by forward mode."""
    were_tuple = [False]

    def checked(*args: Tensor) -> Tensors:
        were_tuple[0], outputs = tensor_tuple(func(*args), "outputs", "jacobian")
        return outputs

    with enable_grad():
        inputs_were_tuple, inputs = tensor_tuple(inputs, "inputs", "jacobian")
        _, blocks = columns_by_forward_mode(checked, fresh_inputs(inputs, create_graph=False))
    return nested_result(blocks, were_tuple[0], inputs_were_tuple, False)
