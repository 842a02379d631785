# Stage 08b, Forward mode and batches: the exercise for minigrad/func/vmap.py.
# Made by `minigrad dev build`. The lesson is lessons/08b_forward_mode.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 08b
# docs/en/glossary.md explains the names used inside the package.

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
    """Raise `RuntimeError` unless `randomness` is one of the three allowed values."""
    if randomness not in RANDOMNESS:
        raise RuntimeError("Only allowed values for randomness are 'error', 'different', or "
                           f"'same'. Got {randomness}")


def batch_arguments(name: str, in_dims: Any,
                    args: tuple[Any, ...]) -> tuple[list[Any], list[Any], int]:
    """Return the leaves of the arguments, the batch dimension of each, and the batch size."""
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
    """Call the function on batches, and return its outputs and their batch dimensions.

    `leaves` are the tensors of `args`, with the batch dimension first; `dims` is `None` for a leaf
    that is not batched.
    """
    # 08b.5 vmap: wrap, call, unwrap (about 14 lines)
    # `run` calls `func` once, on batches at a new level, and returns its outputs, each
    # `unwrapped`, with their dimensions. `unwrapped` puts the batch of one output at
    # `dim`. Here `y` is a batch of 3 vectors of 2, and `w` has no batch.
    #   unwrapped(name, y, level, 3, 0)     -> shape (3, 2);  with dim 1: (2, 3)
    #   unwrapped(name, w, level, 3, 0)     -> shape (3, 2): w in each row
    #   unwrapped(name, 5, level, 3, None)  -> 5
    # Mind:
    # - A leaf whose dim is None is shared by all examples.
    # - `func` runs inside `active_level`.
    # - `unwrapped` begins with `check_output`.
    # Use: `next_level`, `batched(x, level)`, `rebuilt(args, leaves)`, `dims_of_outputs`,
    # `mapped(function, result)`, `examples`.
    raise NotImplementedError("08b.5 vmap: wrap, call, unwrap is yours to write")


def unwrapped(name: str, leaf: Any, level: int, size: int, dim: int | None) -> Any:
    """Return an output of the function with its batch dimension at `dim`, or unchanged for `None`.

    An output that is the same for all examples is expanded.
    """
    # 08b.5 vmap: wrap, call, unwrap: see the task at `run`.
    raise NotImplementedError("08b.5 vmap: wrap, call, unwrap is yours to write")


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


def dims_of_outputs(name: str, out_dims: Any, result: Any) -> list[Any]:
    """Return the batch dimension of each output, or `None` for an output without one."""
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
    """Raise `ValueError` for an output that cannot have its batch dimension at `dim`."""
    if not isinstance(leaf, Tensor) and dim is not None:
        raise ValueError(f"vmap({name}, ...): `{name}` must only return Tensors, got type "
                         f"{type(leaf)}. Did you mean to set out_dims= to None for output?")
    if dim is None and isinstance(leaf, Tensor) and examples(leaf, level) is not None:
        raise ValueError(f"vmap({name}, ...): `{name}` can not return a BatchedTensor when "
                         "out_dim is None")
