"""The samples that ops declare, made into calls that tests can vary and repeat."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np

import minigrad
import minigrad.ops
from minigrad.autograd import grad
from minigrad.op.apply import apply
from minigrad.op.arguments import bind
from minigrad.op.declaration import REGISTRY, F, Op
from minigrad.tensor.tensor import Tensor, from_array

Array = Any

OPS = sorted(REGISTRY.values(), key=lambda op: op.__name__)
IDS = [op.__name__ for op in OPS]


class Make:
    """What `samples(make)` gets: makes tensors of seeded values, away from the usual kinks."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def __call__(self, *shape: int, low: float = -2.0, high: float = 2.0,
                 dtype: Any = np.float64, distinct: bool = False) -> Tensor:
        """Make a tensor that requires grad; no value lies within 0.05 of a multiple of 0.5."""
        if distinct:
            size = int(np.prod(shape))
            steps = self.rng.permutation(size).reshape(shape)
            values = low + (high - low) * (steps + 0.37) / max(size, 1)
        else:
            values = self.rng.uniform(low, high, shape)
            floor = np.floor(values * 2) / 2
            moved = floor + 0.05 + 0.8 * (values - floor)
            values = np.where((moved > low) & (moved < high), moved, values)
        return from_array(np.asarray(values).astype(getattr(dtype, "numpy", dtype)), True)

    def ints(self, *shape: int, low: int = 0, high: int = 10) -> Tensor:
        """Make an int64 tensor."""
        return from_array(np.asarray(self.rng.integers(low, high, shape)))

    def bools(self, *shape: int) -> Tensor:
        """Make a bool tensor."""
        return from_array(np.asarray(self.rng.integers(0, 2, shape) > 0))


@dataclass
class Sample:
    """One call of an op: its arguments, with a way to put other arrays in the tensors' place."""

    op: type[Op]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    @property
    def label(self) -> str:
        """The call as a reader would write it, with shapes for tensors."""
        shown = [describe(a) for a in self.args]
        shown += [f"{k}={describe(v)}" for k, v in self.kwargs.items()]
        return f"{self.op.__name__}({', '.join(shown)})"

    def tensors(self) -> list[Tensor]:
        """Return all tensors among the arguments."""
        found: list[Tensor] = []
        self.replaced(lambda t: found.append(t) or t)
        return found

    def leaves(self) -> list[Tensor]:
        """Return the tensors that require grad, each once."""
        return list({id(t): t for t in self.tensors() if t.requires_grad}.values())

    def replaced(self, change: Callable[[Tensor], Any]) -> Sample:
        """Return the call with `change(tensor)` for every tensor."""

        def walk(value: Any) -> Any:
            if isinstance(value, Tensor):
                return change(value)
            if type(value) in (tuple, list):
                return type(value)(walk(v) for v in value)
            return value

        return Sample(self.op, tuple(walk(a) for a in self.args),
                      {k: walk(v) for k, v in self.kwargs.items()})

    def with_arrays(self, change: Callable[[Array], Array]) -> Sample:
        """Return the call with every tensor's array changed; what required grad still does."""

        def fresh(tensor: Tensor) -> Tensor:
            array = change(tensor._array)
            return from_array(array, tensor.requires_grad and array.dtype.kind == "f")

        return self.replaced(remembering(fresh))

    def with_leaves(self, arrays: Any) -> Sample:
        """Return the call with these arrays in the leaves."""
        new = {id(t): from_array(a, True) for t, a in zip(self.leaves(), arrays, strict=True)}
        return self.replaced(lambda t: new.get(id(t), t))

    def run(self) -> Any:
        """Call the op by the generic function, with the random numbers started anew."""
        reseed()
        return apply(self.op, bind(self.op, self.args, self.kwargs))

    def gradients(self, cotangents: Any = None, create_graph: bool = False) -> list[Any]:
        """Return the gradient by each leaf; the outputs' are random but always the same."""
        outputs = with_formula(self.op, self.run())
        given = cotangents_of(outputs) if cotangents is None else cotangents
        return list(grad(outputs, self.leaves(), given, create_graph=create_graph,
                         allow_unused=True))


def remembering(function: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """Return `function` made to give the same result for the same tensor."""
    known: dict[int, Tensor] = {}

    def call(tensor: Tensor) -> Tensor:
        if id(tensor) not in known:
            known[id(tensor)] = function(tensor)
        return known[id(tensor)]

    return call


def reseed() -> None:
    """Start the package's random numbers anew, so that random ops repeat themselves."""
    if hasattr(F, "manual_seed"):
        F.manual_seed(0)


def describe(value: Any) -> str:
    """Show an argument, a tensor by its shape and dtype."""
    if isinstance(value, Tensor):
        kind = "" if value._array.dtype == np.float64 else f":{value._array.dtype}"
        return f"<{'×'.join(map(str, value.shape)) or '0-d'}{kind}>"
    if type(value) in (tuple, list):
        return "[" + ", ".join(map(describe, value)) + "]"
    return repr(value)


def samples(op: type[Op]) -> list[Sample]:
    """Return the samples an op declares."""
    found = []
    for given in op.samples(Make(crc32(op.__name__.encode()))):
        args = given if isinstance(given, tuple) else (given,)
        kwargs = args[-1] if args and isinstance(args[-1], dict) else {}
        found.append(Sample(op, args[: len(args) - bool(kwargs)], kwargs))
    return found


def outputs_of(result: Any) -> list[Tensor]:
    """Return one output or several as a list."""
    return [result] if isinstance(result, Tensor) else list(result)


def differentiable(result: Any) -> list[Tensor]:
    """Return the outputs that require grad, unless PyTorch has no derivative for them."""
    return [r for r in outputs_of(result) if r.requires_grad
            and not (r.grad_fn is not None and r.grad_fn.name() == "NotImplemented")]


def with_formula(op: type[Op], result: Any) -> list[Tensor]:
    """Return the outputs that require grad and whose gradient a formula uses."""
    names = {n for _, needs in op.formulas.values() for n in needs}
    if not op.outputs or "grads" in names:
        return differentiable(result)
    return [r for i, (r, name) in enumerate(zip(outputs_of(result), op.outputs, strict=True))
            if r.requires_grad and ("g_" + name in names or (i == 0 and "g" in names))]


def cotangents_of(outputs: list[Tensor], requires_grad: bool = False) -> list[Tensor]:
    """Return random gradients of the outputs, the same ones in every call."""
    rng = np.random.default_rng(7)
    return [from_array(np.asarray(rng.uniform(0.5, 1.5, o.shape), o._array.dtype), requires_grad)
            for o in outputs]


def flat(tensors: Any) -> Array:
    """Return the values of several tensors as one array; missing ones leave nothing."""
    return np.concatenate([np.zeros(0)] + [t._array.reshape(-1) for t in tensors if t is not None])


def each(found: Any, check: Callable[[Any], Any]) -> int:
    """Run `check` on each sample; raise all that failed together, and return how many ran."""
    failures, count = [], 0
    for sample in found:
        try:
            count += check(sample) is not False
        except Exception as error:
            error.add_note("in " + getattr(sample, "label", repr(sample)))
            failures.append(error)
    if len(failures) == 1:
        raise failures[0]
    if failures:
        raise ExceptionGroup(f"{len(failures)} samples failed", failures)
    return count


def forms() -> Iterator[tuple[str, Callable[[Array], Array]]]:
    """Yield ways to lay an array out in memory without changing its values."""
    yield "transposed", lambda a: a.copy("F")
    yield "strided", spread
    yield "offset", lambda a: np.append(np.zeros(3, a.dtype), a)[3:].reshape(a.shape)


def spread(array: Array) -> Array:
    """Return a copy that takes every second element of a larger array along each dimension."""
    room = np.zeros([2 * n for n in array.shape], array.dtype)
    view = room[tuple(slice(None, None, 2) for _ in array.shape)]
    view = view if array.ndim else room
    view[...] = array
    return view


__all__ = ["IDS", "OPS", "Make", "Sample", "cotangents_of", "describe", "differentiable", "each",
           "flat", "forms", "minigrad", "outputs_of", "reseed", "samples", "with_formula"]
