"""Random tensors and in-place random writes.

With the same `manual_seed`, all functions draw the same numbers as PyTorch on the CPU, while GPUs
draw different ones.  Random numbers that are written in place do not depend on the old values, so
the gradient of such a write is zero.

Source: https://docs.pytorch.org/docs/stable/torch.html#random-sampling
"""

from __future__ import annotations

import math
from collections.abc import Callable
from operator import index
from typing import Any, Unpack

import numpy as np

from ... import _state
from ...backend import BACKENDS, backend_of
from ...device import place_on
from ...dtypes import int64, type_name
from ...frames import type_in_error
from ...op.arguments import INT, NOT_GIVEN
from ...op.declaration import F, Op
from ...op.publish import documented, function, inplace_caller
from ...shapes import broadcast, same
from ...tensor.tensor import Tensor, method
from ..checks import at_each_run
from ..creation.create import plain_number
from ..creation.tensor_options import (
    Options,
    SizedOptions,
    alike,
    create,
    order,
    sizes,
    with_grad,
    without_grad,
)
from ..shape.view import Expand
from .generator import (
    BY_A_BATCH,
    Generator,
    default_generator,
    for_each_example,
    fork_rng,
    get_rng_state,
    initial_seed,
    manual_seed,
    of_each_example,
    seed,
    set_rng_state,
    source,
)

__all__ = ["Generator", "default_generator", "fork_rng", "get_rng_state", "initial_seed",
           "manual_seed", "seed", "set_rng_state"]

Array = Any
Shape = tuple[int, ...]
Draw = Callable[[Any, Shape, Any], Array]  # (backend, shape, dtype) -> its array of numbers


# -------------------------------------------------------------------- how numbers are drawn


def numbers(xp: Any, drawn: Array) -> Array:
    """Return drawn numbers as an array of the backend, moved from the CPU if needed."""
    return drawn if type(drawn) is xp.array_type else xp.from_host(drawn)


def chances(xp: Any, p: Array) -> Array:
    """Return probabilities or weights on the device that draws with them, or on the CPU."""
    return xp.to_host(p) if xp.generators is None else p


def uniform_numbers(generator: Any, low: float = 0.0, high: float = 1.0,
                    **out: Array) -> Draw:
    """Return a function that draws from [low, high), optionally into `out`."""

    def draw(xp: Any, shape: Shape, dtype: Any) -> Array:
        floating("check_uniform_bounds", dtype)
        greatest = float(np.finfo(dtype).max)
        for name, bound in (("from", low), ("to", high)):
            if not -greatest <= bound <= greatest:
                shown = type_name(dtype).lower()
                raise RuntimeError(f"{name} is out of bounds for {shown}")
        return numbers(xp, source(xp, generator).uniform(shape, dtype, low, high, **out))

    return draw


def normal_numbers(generator: Any, mean: float = 0.0, std: float = 1.0,
                   in_pairs: bool = False) -> Draw:
    """Return a function that draws from a normal distribution."""

    def draw(xp: Any, shape: Shape, dtype: Any) -> Array:
        if 0 in shape:
            return xp.empty(shape, dtype)
        floating("normal_kernel_cpu", dtype)
        drawn = source(xp, generator).normal(shape, dtype, mean, std, in_pairs=in_pairs)
        return numbers(xp, drawn)

    return draw


def whole_numbers(generator: Any, low: int, high: int) -> Draw:
    """Return a function that draws integers from [low, high)."""
    return lambda xp, shape, dtype: numbers(
        xp, source(xp, generator).randint(low, high, shape, dtype))


def all_whole_numbers(generator: Any) -> Draw:
    """Return a function that draws from 0 to the largest integer that a dtype holds exactly."""

    def draw(xp: Any, shape: Shape, dtype: Any) -> Array:
        if dtype.kind == "f":
            top = 2 ** (np.finfo(dtype).nmant + 1)
        else:
            top = 1 if dtype.kind == "b" else int(np.iinfo(dtype).max)
        return numbers(xp, source(xp, generator).whole(top, shape, dtype))

    return draw


def floating(kernel: str, dtype: Any) -> None:
    """Raise `NotImplementedError` unless the dtype is floating-point."""
    if dtype.kind != "f":
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{type_name(dtype)}'")


def in_order_of_memory(array: Array) -> list[int]:
    """Return the axes of an array in order of decreasing strides."""
    return sorted(range(array.ndim), key=lambda axis: -array.strides[axis])


def drawn_like(xp: Any, array: Array, draw: Draw, scattered: Draw | None = None) -> Array:
    """Draw numbers with an array's shape, in the memory order of its elements.

    If the array is not contiguous, `scattered` draws them instead, if it is not `None`.
    """
    dtype = array.dtype
    if array.flags.c_contiguous:
        return draw(xp, array.shape, dtype)
    draw = scattered or draw
    axes = in_order_of_memory(array)
    drawn = draw(xp, tuple(array.shape[axis] for axis in axes), dtype)
    return drawn.transpose(np.argsort(axes).tolist())


# -------------------------------------------------------------------- new tensors


def random_tensor(name: str, shape: Shape, draw: Draw, options: Options, default: Any = None,
                  out: Tensor | None = None, scattered: Draw | None = None) -> Tensor:
    """Create a tensor of drawn numbers.

    If `out`, where they will be stored, has that shape, they are drawn in its memory order.
    """
    if out is not None and out.shape == shape and not out._array.flags.c_contiguous:
        array = out._array
        return create(name, options, lambda xp, _: drawn_like(xp, array, draw, scattered), default)
    return for_each_example(lambda sizes: create(
        name, options, lambda xp, dtype: draw(xp, (*sizes, *shape), dtype), default))


def random_like(name: str, input: Any, draw: Draw, options: Options,
                scattered: Draw | None = None) -> Tensor:
    """Create a tensor of drawn numbers like `input`; `randomness` applies inside `vmap`."""
    input, batches = of_each_example(input), _state.drawn.get()
    shared = input if batches is None else batches.of(input)  # unwrapped if each example draws

    def drawn(input: Any) -> Tensor:
        def build(xp: Any, dtype: Any) -> Array:
            array = memory = xp.empty_like(input._array, dtype=dtype, order=order(input, options))
            while (inside := backend_of(memory)).run_op is not None:
                memory = memory.inner
            with _state.having(_state.drawn, None):
                memory[...] = drawn_like(inside, memory, draw, scattered)
            return array

        return alike(name, input, without_grad(options), build)

    def for_all(sizes: Shape) -> Tensor:
        return create(name, {"dtype": input.dtype, "device": input.device, **options},
                      lambda xp, dtype: draw(xp, (*sizes, *input.shape), dtype))

    if _state.randomness.get() and backend_of(shared._array).run_op is not None:
        return for_each_example(for_all)
    drawn.__name__ = name  # names the step in a program
    return with_grad(at_each_run(drawn)(input), options.get("requires_grad", False))


@function(method_too=False, out="creation passed")
def rand(*dims: Any, generator: Generator | None = None, out: Tensor | None = None,
         **options: Unpack[SizedOptions]) -> Tensor:
    """Create uniform random numbers in [0, 1), of a floating-point dtype.  Source: `torch.rand`.

    >>> from minigrad import manual_seed, rand
    >>> _ = manual_seed(0)
    >>> rand(3)
    tensor([0.4963, 0.7682, 0.0885])
    """
    return random_tensor("rand", sizes("rand", dims, options), uniform_numbers(generator), options,
                         out=out)


@function(method_too=False, out="creation passed")
def randn(*dims: Any, generator: Generator | None = None, out: Tensor | None = None,
          **options: Unpack[SizedOptions]) -> Tensor:
    """Create standard normal random numbers.  Source: `torch.randn`.

    >>> from minigrad import manual_seed, randn
    >>> _ = manual_seed(0)
    >>> randn(3)
    tensor([ 1.5410, -0.2934, -2.1788])
    """
    return random_tensor("randn", sizes("randn", dims, options), normal_numbers(generator), options,
                         out=out, scattered=normal_numbers(generator, in_pairs=True))


@function(method_too=False, out="creation passed")
def randint(low: Any = NOT_GIVEN, high: Any = NOT_GIVEN, size: Any = NOT_GIVEN, *,
            generator: Generator | None = None, out: Tensor | None = None,
            **options: Unpack[Options]) -> Tensor:
    """Create random integers in [low, high), int64; `low` defaults to 0.  Source: `torch.randint`.

    >>> from minigrad import manual_seed, randint
    >>> _ = manual_seed(0)
    >>> randint(10, (3,))
    tensor([4, 9, 3])
    """
    if size is NOT_GIVEN and high is not NOT_GIVEN:
        low, high, size = 0, low, high
    elif high is NOT_GIVEN:
        low, high = 0, low
    elif low is NOT_GIVEN:
        low = 0
    if high is NOT_GIVEN or size is NOT_GIVEN:
        raise TypeError("randint() needs an upper bound and a size: randint(high, size) or "
                        "randint(low, high, size)")
    if not isinstance(size, (tuple, list)):
        raise TypeError("randint(): argument 'size' (position 2) must be tuple of ints, not "
                        f"{type_in_error(size)}")
    low, high = bound("randint", "low", 1, low), bound("randint", "high", 1, high)
    shape = sizes("randint", (size,), {})
    return random_tensor("randint", shape, whole_numbers(generator, low, high), options, int64, out)


def bound(name: str, argument: str, position: int, value: Any) -> int:
    """Return an integer; raise `TypeError` for anything else."""
    INT.check(name, argument, value, position - 1)
    return index(value)


@function(method_too=False, out="creation")
def randperm(n: int, *, generator: Generator | None = None, **options: Unpack[Options]) -> Tensor:
    """Create a random permutation of 0 to n - 1, int64.  Source: `torch.randperm`.

    >>> from minigrad import manual_seed, randperm
    >>> _ = manual_seed(0)
    >>> randperm(5)
    tensor([4, 0, 1, 3, 2])
    """
    count = bound("randperm", "n", 1, n)

    def one(xp: Any, dtype: Any) -> Array:
        if dtype.kind == "b":
            raise NotImplementedError("\"randperm\" not implemented for 'Bool'")
        if dtype.kind in "iu" and count - 1 > np.iinfo(dtype).max:
            raise RuntimeError(f"value cannot be converted to type {dtype.name}_t without overflow")
        return numbers(xp, source(xp, generator).randperm(count, dtype))

    def draw(sizes: Shape) -> Tensor:
        if not sizes:
            return create("randperm", options, one, int64)
        rows = [create("randperm", options, one, int64) for _ in range(math.prod(sizes))]
        turned = F.reshape(F.stack(rows), (*sizes[::-1], count))  # loops over the outer examples
        return F.permute(turned, (*range(len(sizes))[::-1], len(sizes)))

    return for_each_example(draw)


@function(method_too=False)
def rand_like(input: Tensor, *, generator: Generator | None = None,
              **options: Unpack[Options]) -> Tensor:
    """Create uniform random numbers with `input`'s shape and dtype.  Source: `torch.rand_like`.

    >>> from minigrad import rand_like, zeros
    >>> rand_like(zeros(2, 3)).shape
    torch.Size([2, 3])
    """
    return random_like("rand_like", input, uniform_numbers(generator), options)


@function(method_too=False)
def randn_like(input: Tensor, *, generator: Generator | None = None,
               **options: Unpack[Options]) -> Tensor:
    """Create standard normal numbers with `input`'s shape and dtype.  Source: `torch.randn_like`.

    >>> from minigrad import randn_like, zeros
    >>> randn_like(zeros(2, 3)).shape
    torch.Size([2, 3])
    """
    return random_like("randn_like", input, normal_numbers(generator), options,
                       normal_numbers(generator, in_pairs=True))


@function(method_too=False)
def randint_like(input: Tensor, low: int = 0, high: int | None = None, *,
                 generator: Generator | None = None, **options: Unpack[Options]) -> Tensor:
    """Create random integers with `input`'s shape and dtype.  Source: `torch.randint_like`.

    >>> from minigrad import randint_like, zeros
    >>> randint_like(zeros(2, 3), 10).shape
    torch.Size([2, 3])
    """
    low, high = (0, low) if high is None else (low, high)
    return random_like("randint_like", input, whole_numbers(generator, low, high), options)


# -------------------------------------------------------------------- random ops


class NormalOf(Op):
    """Normal samples with means `mean` and deviations `std`; their shapes broadcast.

    >>> from minigrad import normal, tensor
    >>> normal(tensor([1.0, 2.0]), 0.0)
    tensor([1., 2.])
    """

    numbers = True
    node, shape, promote, public = "NormalBackward3", broadcast, "result", False

    def forward(xp, mean, std, *, generator=None, order=None):
        shape = broadcast(mean.shape, std.shape)
        floating("normal_kernel_cpu", mean.dtype)
        if xp.may_ask() and not (std >= 0).all():
            if std.ndim:
                raise RuntimeError("normal expects all elements of std >= 0.0")
            raise RuntimeError(f"normal expects std >= 0.0, but found std {std.item():g}")
        if order is None or order.shape != shape or order.flags.c_contiguous:
            drawn = numbers(xp, source(xp, generator).normal(shape, mean.dtype))
        else:  # the order of the memory that will hold the numbers
            drawn = drawn_like(xp, order, normal_numbers(generator, in_pairs=True))
        return xp.add(xp.multiply(drawn, std), mean)

    def grad_mean(mean_sizes, g): return F.new_zeros(g, mean_sizes)

    def grad_std(std_sizes, g): return F.new_zeros(g, std_sizes)

    def samples(make):
        yield make(3, 4), 0.0
        yield make(2, 1), make(3, low=0.0, high=0.0)


@function(method_too=False, out="cast passed")
def normal(mean: Any, std: Any = 1.0, size: Any = None, *, generator: Generator | None = None,
           out: Tensor | None = None, **options: Unpack[Options]) -> Any:
    """Draw from normal distributions: `size` numbers of one, or one number for each mean.

    Raises `RuntimeError` if std < 0.  Source: `torch.normal`.

    >>> from minigrad import manual_seed, normal
    >>> _ = manual_seed(0)
    >>> normal(10.0, 0.0, (2,))
    tensor([10., 10.])
    """
    if size is not None:
        mean, std = plain_number("normal", "mean", 1, mean), plain_number("normal", "std", 2, std)
    if isinstance(mean, Tensor) or isinstance(std, Tensor):
        return NormalOf(of_each_example(mean), of_each_example(std), generator=generator,
                        order=None if out is None else out._array)
    if size is None:
        raise TypeError("normal() needs a tensor of means or of deviations, or a size: "
                        "normal(mean, std, size)")
    if out is not None:
        options = {"dtype": out.dtype, "device": out.device, **options}
    return random_tensor("normal", sizes("normal", (size,), {}),
                         normal_numbers(generator, mean, std), options, None, out,
                         normal_numbers(generator, mean, std, in_pairs=True))


def fixed_chance(generator: Any, p: float) -> Draw:
    """Return a function that draws 1 with probability `p`, else 0."""
    return lambda xp, shape, dtype: numbers(xp, source(xp, generator).bernoulli(p, shape, dtype))


class Drawing(Op, abstract=True):
    """Random numbers with the shape of `self`, whose gradient is therefore zero."""

    shape, public = same, False

    def grad_self(g): return F.zeros_like(g)


class Bernoulli(Drawing):
    """1 with the probabilities in the tensor, otherwise 0.

    >>> from minigrad import bernoulli, tensor
    >>> bernoulli(tensor([0.0, 1.0]))
    tensor([0., 1.])
    """

    node = "BernoulliBackward0"

    def forward(xp, self, *, generator=None):
        floating("bernoulli_tensor_cpu_p_", self.dtype)
        return numbers(xp, source(xp, generator).bernoulli(chances(xp, self)))

    def samples(make):
        yield make(3, 4, low=0.2, high=0.8),
        yield make(low=0.2, high=0.8),


class BernoulliOfNumber(Op):
    """1 with probability `p`, otherwise 0, in the shape of `self`; backward raises.

    >>> from minigrad import bernoulli, zeros
    >>> bernoulli(zeros(2), 1.0)
    tensor([1., 1.])
    """

    name, shape, public = "bernoulli", same, False
    nondifferentiable = not_implemented_derivative = True

    def forward(xp, self, p, *, generator=None):
        return drawn_like(xp, self, fixed_chance(generator, float(p)))

    def samples(make):
        yield make(3, 4), 0.0
        yield make(2), 1.0
        yield make(), 1.0


@function(method_too=False, out="cast passed")
def bernoulli(input: Tensor, p: float | None = None, *, generator: Generator | None = None,
              out: Tensor | None = None) -> Any:
    """Draw 1 with the probabilities in `input`, or with probability `p`; otherwise 0.

    Source: `torch.bernoulli`.

    >>> from minigrad import bernoulli, tensor
    >>> bernoulli(tensor([0.0, 1.0]))
    tensor([0., 1.])
    """
    if out is not None:  # draw in its memory order
        drawn = F.empty_like(out) if out.shape == input.shape else F.new_empty(out, input.shape)
        return drawn.bernoulli_(input if p is None else p, generator=generator)
    input = of_each_example(input)
    return (Bernoulli(input, generator=generator) if p is None else
            BernoulliOfNumber(input, p, generator=generator))


@method("bernoulli")
def tensor_bernoulli(self: Tensor, p: float | None = None, *,
                 generator: Generator | None = None) -> Any:
    """Draw 1 with the probabilities in the tensor, otherwise 0; see `bernoulli`.

    >>> from minigrad import tensor
    >>> tensor([0.0, 1.0]).bernoulli()
    tensor([0., 1.])
    """
    return bernoulli(self, p, generator=generator)


@function(out="exact")
def multinomial(input: Tensor, num_samples: int, replacement: bool = False, *,
                generator: Generator | None = None) -> Tensor:
    """Draw indices with probabilities proportional to the weights in each row, as int64.

    `input` is (n,) or (m, n) and floating-point.  Raises `RuntimeError` if a weight is negative or
    the weights of a row sum to 0.  Source: `torch.multinomial`.

    >>> from minigrad import multinomial, tensor
    >>> multinomial(tensor([0.0, 1.0, 0.0]), 1)
    tensor([1])
    """
    if not isinstance(input, Tensor):
        raise TypeError("multinomial(): argument 'input' (position 1) must be Tensor, not "
                        f"{type_in_error(input)}")
    if input.ndim not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if not input.is_floating_point():
        raise RuntimeError("multinomial only supports floating-point dtypes for input, got: "
                           f"{type_name(input.dtype)}")
    return drawn_indices(input, num_samples, replacement, generator)


@at_each_run
def drawn_indices(input: Tensor, num_samples: int, replacement: bool,
                  generator: Generator | None) -> Tensor:
    """Draw indices with the probabilities in `input`, of each example inside `vmap`."""
    batches = _state.drawn.get()
    weights = (input if batches is None else batches.of(input.detach()))._array
    if _state.randomness.get() != "error" and backend_of(weights).run_op is not None:
        raise RuntimeError(BY_A_BATCH)

    xp = backend_of(weights)

    def draw(_: Shape) -> Tensor:
        with place_on(weights):
            rows = weights.reshape(-1, weights.shape[-1]) if batches else weights
            indices = source(xp, generator).multinomial(chances(xp, rows), num_samples, replacement)
            indices = xp.ascontiguousarray(numbers(xp, indices))
            if batches:
                indices = indices.reshape(*weights.shape[:-1], num_samples)
            return Tensor._plain_as(Tensor, indices)

    return for_each_example(draw)


# -------------------------------------------------------------------- random writes in place


class Uniform(Drawing):
    """Uniform random numbers in [from, to), written in place. Source: `torch.Tensor.uniform_`.

    >>> from minigrad import zeros
    >>> zeros(2).uniform_(3, 3)
    tensor([3., 3.])
    """

    def forward(xp, self, from_=0.0, to=1.0, *, generator=None):
        return drawn_like(xp, self, uniform_numbers(generator, from_, to))

    def forward_inplace(xp, self, from_=0.0, to=1.0, *, generator=None):
        if self.flags.c_contiguous and xp.generators is None:
            drawn_like(xp, self, uniform_numbers(generator, from_, to, out=self))
        else:
            self[...] = Uniform.forward(xp, self, from_, to, generator=generator)

    def samples(make): yield make(3, 4), 1.5, 1.5


class Normal(Drawing):
    """Normally distributed numbers, written in place. Source: `torch.Tensor.normal_`.

    >>> from minigrad import zeros
    >>> zeros(2).normal_(3, 0)
    tensor([3., 3.])
    """

    node, name = "NormalBackward0", "normal"

    def forward(xp, self, mean=0.0, std=1.0, *, generator=None):
        return drawn_like(xp, self, normal_numbers(generator, mean, std),
                          normal_numbers(generator, mean, std, in_pairs=True))

    def samples(make): yield make(3, 4), 1.5, 0.0


def onto_self(self, p=0.5, generator=None):
    """Return the shape of `self`, to which the shape of `p` expands."""
    return Expand.shape(p, self) if isinstance(p, tuple) else self


class BernoulliFill(Drawing):
    """1 with probability `p`, a number or a tensor, otherwise 0, written in place.

    Source: `torch.Tensor.bernoulli_`.

    >>> from minigrad import zeros
    >>> zeros(2).bernoulli_(1.0)
    tensor([1., 1.])
    """

    numbers = True
    node, name, shape = "BernoulliBackward1", "bernoulli", onto_self
    tensors = ("self", "p")

    def forward(xp, self, p=0.5, *, generator=None):
        if type(p) not in BACKENDS:
            return drawn_like(xp, self, fixed_chance(generator, p))
        floating("bernoulli_tensor_cpu_p_", p.dtype)
        each = chances(xp, xp.broadcast_to(p, self.shape))
        in_memory = in_order_of_memory(self)
        hits = source(xp, generator).bernoulli(each.transpose(in_memory), None, self.dtype)
        return numbers(xp, hits).transpose(np.argsort(in_memory).tolist())

    def grad_p(p_sizes, g): return F.new_zeros(g, p_sizes)

    def samples(make):
        yield make(3, 4), 1.0
        yield make(3), 0.0


class Exponential(Drawing):
    """Exponential random numbers with mean 1 / lambd, written in place.

    Source: `torch.Tensor.exponential_`.

    >>> from minigrad import zeros
    >>> zeros(2).exponential_(float("inf"))
    tensor([0., 0.])
    """

    def forward(xp, self, lambd=1.0, *, generator=None):
        if self.dtype.kind != "f":
            raise RuntimeError(
                "Exponential distribution is a continuous probability distribution. dtype must be "
                f"a floating point but you specified {type_name(self.dtype)}")
        return drawn_like(xp, self, lambda xp, shape, dtype: numbers(
            xp, source(xp, generator).exponential(shape, dtype, lambd)))

    def samples(make): yield make(3, 4), math.inf


class Random(Drawing):
    """Random integers in [from, to), or over the whole range of the dtype, written in place.

    Source: `torch.Tensor.random_`.

    >>> from minigrad import zeros
    >>> zeros(2).random_(3, 4)
    tensor([3., 3.])
    """

    node = "RandomBackward0"

    def forward(xp, self, from_=None, to=None, *, generator=None):
        if from_ is None and to is None:
            return drawn_like(xp, self, all_whole_numbers(generator))
        low, high = (0, from_) if to is None else (from_ or 0, to)
        return drawn_like(xp, self, whole_numbers(generator, low, high))

    def samples(make): yield make(3, 4), 3, 4


for _op in (Uniform, Normal, BernoulliFill, Exponential, Random):
    method(_op.name + "_")(documented(inplace_caller(_op), _op, _op.name + "_"))
