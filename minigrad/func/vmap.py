"""vmap: turns a function of one example into a function of a batch, without a loop.

Source: https://docs.pytorch.org/docs/stable/generated/torch.func.vmap.html
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

from .. import _state
from .._state import having
from ..batching import NotBatchable, batched, examples, next_level, vmaps
from ..op.declaration import F
from ..ops.random.generator import States
from .levels import VmapLevels
from .tree import leaves_of, mapped, rebuilt
from .vmap_checks import batch_arguments, check_output, check_randomness, dims_of_outputs

__all__ = ["vmap"]

Mapped = Callable[..., Any]
Function = TypeVar("Function", bound=Callable[..., Any])


def vmap(func: Function, in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error", *,
         chunk_size: int | None = None) -> Function:
    """Return a function that applies `func` to each example of a batch.

    `in_dims` is the batch dimension of each input, or `None` for an input that all examples share.
    `out_dims` is the position of the batch dimension in the outputs.  Both may be nested like the
    inputs and outputs.  Every op runs once on the whole batch; an op without a batching rule runs
    once for each example and warns.  Drawing random numbers raises unless `randomness` is "same"
    (for all examples) or "different" (for each).  `chunk_size` is the number of examples per run.

    Raises `ValueError` for dimensions that do not fit, and `RuntimeError` if `func` reads values.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.func.vmap.html

    >>> from minigrad import tensor
    >>> vmap(lambda x: x.sum())(tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([3., 7.])
    """
    check_randomness(randomness)
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")
    name = getattr(func, "__name__", repr(func))

    @functools.wraps(func)
    def mapped_function(*args: Any, **kwargs: Any) -> Any:
        leaves, dims, size = batch_arguments(name, in_dims, args)
        batches = [F.movedim(x, d, 0) if d else x for x, d in zip(leaves, dims, strict=True)]
        step = chunk_size or max(size, 1)
        parts, states = [], States() if randomness == "same" and step < size else None
        for start in range(0, max(size, 1), step):
            if states is not None:
                states.restore()  # every chunk gets the random numbers of the first
            chunk = [x[start : start + step] if d is not None and step < size else x
                     for x, d in zip(batches, dims, strict=True)]
            try:
                parts.append(run(func, name, args, chunk, dims, kwargs, min(step, size - start),
                                 out_dims, randomness))
            except NotBatchable as error:  # show the class that PyTorch raises
                raise RuntimeError(*error.args).with_traceback(error.__traceback__) from None
        if len(parts) == 1:
            return parts[0][0]
        output_dims = parts[0][1]
        columns = zip(*(leaves_of(result) for result, _ in parts), strict=True)
        return rebuilt(parts[0][0], [
            column[0] if d is None else F.cat(list(column), d)
            for column, d in zip(columns, output_dims, strict=True)])

    return cast(Function, mapped_function)


def run(func: Mapped, name: str, args: Any, leaves: list[Any], dims: list[Any],
        kwargs: dict[str, Any], size: int, out_dims: Any, randomness: str) -> tuple[Any, list[Any]]:
    """Call the function on batches, and return its outputs and their batch dimensions.

    `leaves` are the tensors of `args`, with the batch dimension first; `dims` is `None` for a leaf
    that is not batched.
    """
    level = next_level()
    inside = [x if d is None else batched(x, level) for x, d in zip(leaves, dims, strict=True)]
    with active_level(level, size, randomness):
        result = func(*rebuilt(args, inside), **kwargs)
    output_dims = dims_of_outputs(name, out_dims, result)
    rest = iter(output_dims)
    return mapped(lambda leaf: unwrapped(name, leaf, level, size, next(rest)), result), output_dims


def unwrapped(name: str, leaf: Any, level: int, size: int, dim: int | None) -> Any:
    """Return an output of the function with its batch dimension at `dim`, or unchanged for `None`.

    An output that is the same for all examples is expanded.
    """
    check_output(name, leaf, level, dim)
    if dim is None:
        return leaf
    batch = examples(leaf, level)
    if batch is None:
        batch = F.expand(leaf, (size, *leaf.shape))
    return F.movedim(batch, 0, dim) if dim else batch


@contextmanager
def active_level(level: int, size: int, randomness: str) -> Iterator[None]:
    """Make a level the innermost one, with its randomness, inside a `with` block."""
    drawn = _state.drawn.get()
    if randomness == "different":
        drawn = VmapLevels((*(() if drawn is None else drawn.levels), (level, size)))
    if _state.randomness.get() == "error":  # the vmap around this one forbids it
        randomness = "error"
    with (having(vmaps, (*vmaps.get(), (level, size))), having(_state.randomness, randomness),
          having(_state.drawn, drawn)):
        yield
