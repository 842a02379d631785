# Stage 08b, Forward mode and batches: the solution for minigrad/func/vmap.py.
# Made by `minigrad dev build`. The lesson is lessons/08b_forward_mode.md.
# MASTER COPY: a copy of the package's module, which runs nowhere. Your answers are elsewhere.

"""vmap: turns a function of one example into a function of a batch, without a loop.

Source: https://docs.pytorch.org/docs/stable/generated/torch.func.vmap.html
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .. import _state
from .._state import having
from ..batching import batched, examples, next_level, vmaps
from ..op.declaration import F
from ..ops.random.generator import States
from ..shapes import wrap_dim
from ..tensor.tensor import Tensor
from .levels import VmapLevels
from .tree import leaves_of, mapped, rebuilt, spread

__all__ = ["vmap"]

Function = Callable[..., Any]

RANDOMNESS = ("error", "different", "same")


def vmap(func: Function, in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error", *,
         chunk_size: int | None = None) -> Function:
    """Return the function that applies `func` to each example of a batch.

    `in_dims` is the batch dimension of each input (None: all examples share it), `out_dims` its
    place in the outputs; both may be nested as inputs and outputs are.  Every op runs once on all
    examples; one without a batching rule runs for each and warns.  Random numbers raise unless
    `randomness` is "same" (for all examples) or "different" (for each).  `chunk_size` is the number
    of examples in one run.  `ValueError` for dimensions that do not fit, `RuntimeError` if `func`
    reads values.

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
                states.restore()  # all chunks get the numbers of the first one
            chunk = [x[start : start + step] if d is not None and step < size else x
                     for x, d in zip(batches, dims, strict=True)]
            parts.append(run(func, name, args, chunk, dims, kwargs, min(step, size - start),
                             out_dims, randomness))
        if len(parts) == 1:
            return parts[0][0]
        output_dims = parts[0][1]
        columns = zip(*(leaves_of(result) for result, _ in parts), strict=True)
        return rebuilt(parts[0][0], [
            column[0] if d is None else F.cat(list(column), d)
            for column, d in zip(columns, output_dims, strict=True)])

    return mapped_function


def check_randomness(randomness: str) -> None:
    """Raise `RuntimeError` unless `randomness` is one of the three kinds."""
    if randomness not in RANDOMNESS:
        raise RuntimeError("Only allowed values for randomness are 'error', 'different', or "
                           f"'same'. Got {randomness}")


def batch_arguments(name: str, in_dims: Any,
                    args: tuple[Any, ...]) -> tuple[list[Any], list[Any], int]:
    """Return the leaves of the arguments, the dimension of each and the size of the batch."""
    where = f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): "
    if isinstance(in_dims, bool) or not isinstance(in_dims, (int, tuple, list)):
        raise ValueError(f"{where}expected `in_dims` to be int or a (potentially nested) tuple "
                         f"matching the structure of inputs, got: {type(in_dims)}.")
    if not args:
        raise ValueError(f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, "
                         "or you are trying to vmap over a function with no inputs. The latter is "
                         "unsupported.")
    leaves = leaves_of(args)
    dims = spread(in_dims if isinstance(in_dims, int) else tuple(in_dims), args)
    if dims is None:
        raise ValueError(f"{where}in_dims is not compatible with the structure of `inputs`.")
    sizes = []
    for i, (leaf, dim) in enumerate(zip(leaves, dims, strict=True)):
        if dim is None:
            continue
        if not isinstance(dim, int):
            raise ValueError(f"{where}Got in_dim={dim} for an input but in_dim must be either an "
                             "integer dimension or None.")
        if not isinstance(leaf, Tensor):
            raise ValueError(f"{where}Got in_dim={dim} for an input but the input is of type "
                             f"{type(leaf)}. We cannot vmap over non-Tensor arguments, please use "
                             "None as the respective in_dim")
        if not leaf.dim() or not -leaf.dim() <= dim < leaf.dim():
            raise ValueError(f"{where}Got in_dim={dim} for some input, but that input is a Tensor "
                             f"of dimensionality {leaf.dim()} so expected in_dim to satisfy "
                             f"-{leaf.dim()} <= in_dim < {leaf.dim()}.")
        dims[i] = wrap_dim(dim, leaf.dim())
        sizes.append(leaf.shape[dims[i]])
    if not sizes:
        raise ValueError(f"{where}at least one of the inputs has to be batched.")
    if len(set(sizes)) > 1:
        raise ValueError("vmap: Expected all tensors to have the same size in the mapped "
                         f"dimension, got sizes {sizes} for the mapped dimension")
    return leaves, dims, sizes[0]


def run(func: Function, name: str, args: Any, leaves: list[Any], dims: list[Any],
        kwargs: dict[str, Any], size: int, out_dims: Any, randomness: str) -> tuple[Any, list[Any]]:
    """Call the function on batches; return its outputs and their batch dimensions.

    `leaves` are the tensors of `args`, the batch dimension first; `dims` has None for one without.
    """
    level = next_level()
    inside = [x if d is None else batched(x, level) for x, d in zip(leaves, dims, strict=True)]
    with active_level(level, size, randomness):
        result = func(*rebuilt(args, inside), **kwargs)
    output_dims = dims_of_outputs(name, out_dims, result)
    rest = iter(output_dims)
    return mapped(lambda leaf: unwrapped(name, leaf, level, size, next(rest)), result), output_dims


def unwrapped(name: str, leaf: Any, level: int, size: int, dim: int | None) -> Any:
    """Return an output of the function with its batch as dimension `dim`; None: as it is.

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
    """Make a level the innermost one, with random numbers as asked for, while the block runs."""
    drawn = _state.drawn.get()
    if randomness == "different":
        drawn = VmapLevels((*(() if drawn is None else drawn.levels), (level, size)))
    if _state.randomness.get() == "error":  # as the vmap around this one asks
        randomness = "error"
    with (having(vmaps, (*vmaps.get(), (level, size))), having(_state.randomness, randomness),
          having(_state.drawn, drawn)):
        yield


def dims_of_outputs(name: str, out_dims: Any, result: Any) -> list[Any]:
    """Return the batch dimension of each output, None for one that has none."""
    alone = isinstance(out_dims, tuple) and len(out_dims) == 1 and isinstance(result, Tensor)
    output_dims = spread(out_dims[0] if alone else out_dims, result)
    if not all(dim is None or isinstance(dim, int) for dim in output_dims or ()):
        raise ValueError(f"vmap({name}, ..., out_dims={out_dims}): `out_dims` must be an int, None "
                         "or a python collection of ints representing where in the outputs the "
                         "vmapped dimension should appear.")
    if output_dims is None:
        raise ValueError(f"vmap({name}, ..., out_dims={out_dims})(<inputs>): out_dims is not "
                         "compatible with the structure of `outputs`.")
    return output_dims


def check_output(name: str, leaf: Any, level: int, dim: int | None) -> None:
    """Raise `ValueError` for an output that cannot have its batch at `dim`."""
    if not isinstance(leaf, Tensor) and dim is not None:
        raise ValueError(f"vmap({name}, ...): `{name}` must only return Tensors, got type "
                         f"{type(leaf)}. Did you mean to set out_dims= to None for output?")
    if dim is None and isinstance(leaf, Tensor) and examples(leaf, level) is not None:
        raise ValueError(f"vmap({name}, ...): `{name}` can not return a BatchedTensor when "
                         "out_dim is None")
