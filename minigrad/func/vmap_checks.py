"""The checks of what `vmap` receives and of what its function returns."""

from __future__ import annotations

from typing import Any

from ..batching import examples
from ..shapes import wrap_dim
from ..tensor.tensor import Tensor
from .tree import leaves_of, spec_text, spread

RANDOMNESS = ("error", "different", "same")


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
    wanted = in_dims if isinstance(in_dims, int) else tuple(in_dims)
    dims = spread(wanted, args)
    if dims is None:
        raise ValueError(
            f"{where}in_dims is not compatible with the structure of `inputs`. in_dims has "
            f"structure {spec_text(wanted)} but inputs has structure {spec_text(args)}.")
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


def dims_of_outputs(name: str, out_dims: Any, result: Any) -> list[Any]:
    """Return the batch dimension of each output, or `None` for an output without one."""
    alone = isinstance(out_dims, tuple) and len(out_dims) == 1 and isinstance(result, Tensor)
    output_dims = spread(out_dims[0] if alone else out_dims, result)
    if not all(dim is None or isinstance(dim, int) for dim in output_dims or ()):
        raise ValueError(f"vmap({name}, ..., out_dims={out_dims}): `out_dims` must be an int, None "
                         "or a python collection of ints representing where in the outputs the "
                         "vmapped dimension should appear.")
    if output_dims is None:
        raise ValueError(
            f"vmap({name}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with "
            f"the structure of `outputs`. out_dims has structure {spec_text(out_dims)} but outputs "
            f"has structure {spec_text(result)}.")
    return output_dims


def check_output(name: str, leaf: Any, level: int, dim: int | None) -> None:
    """Raise `ValueError` for an output that cannot have its batch dimension at `dim`."""
    if not isinstance(leaf, Tensor) and dim is not None:
        raise ValueError(f"vmap({name}, ...): `{name}` must only return Tensors, got type "
                         f"{type(leaf)}. Did you mean to set out_dims= to None for output?")
    if dim is None and isinstance(leaf, Tensor) and examples(leaf, level) is not None:
        raise ValueError(f"vmap({name}, ...): `{name}` can not return a BatchedTensor when "
                         "out_dim is None")
