"""Weight norm: a weight as length times direction, both of them parameters.

Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.weight_norm.html
"""

from __future__ import annotations

from typing import Any, TypeVar

from ...frames import warn_user
from ...op.declaration import F
from ...tensor.tensor import Parameter, Tensor
from ..module import Module

M = TypeVar("M", bound=Module)


def norm_except_dim(v: Tensor, dim: int) -> Tensor:
    """Return the norm over all dimensions except `dim`, keeping them as size 1; -1 means over all.

    >>> from minigrad import tensor
    >>> norm_except_dim(tensor([[3.0, 4.0], [0.0, 2.0]]), 0)
    tensor([[5.],
            [2.]])
    """
    norm: Tensor
    if dim == -1:
        norm = F.norm(v)
    elif v.ndim == 1:
        norm = F.abs(v)
    else:
        norm = F.norm(v, 2, [i for i in range(v.ndim) if i != dim % v.ndim], True)
    return norm


class WeightNorm:
    """Forward pre-hook that recomputes `name` from `name_g` and `name_v`."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module: Module) -> Any:
        """Return length times direction."""
        length, direction = (getattr(module, f"{self.name}_{part}") for part in "gv")
        return direction * (length / norm_except_dim(direction, self.dim))

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: M, name: str = "weight", dim: int | None = 0) -> M:
    """Replace a weight by its length (`name_g`, along `dim`) and its direction (`name_v`).

    The weight is recomputed from them before each forward.  Deprecated in PyTorch: use
    `nn.utils.parametrizations.weight_norm`.

    >>> import warnings; warnings.simplefilter("ignore")  # that it is deprecated
    >>> from minigrad import nn
    >>> [(n, tuple(p.shape)) for n, p in weight_norm(nn.Linear(3, 2)).named_parameters()]
    [('bias', (2,)), ('weight_g', (2, 1)), ('weight_v', (2, 3))]
    """
    warn_user("`torch.nn.utils.weight_norm` is deprecated in favor of "
              "`torch.nn.utils.parametrizations.weight_norm`.", FutureWarning)
    if any(isinstance(h, WeightNorm) and h.name == name
           for h in module._forward_pre_hooks.values()):
        raise RuntimeError("Cannot register two weight_norm hooks on the same parameter "
                           f"{name}")
    hook = WeightNorm(name, dim)
    weight = getattr(module, name)
    del module._parameters[name]
    module.register_parameter(f"{name}_g", Parameter(norm_except_dim(weight, hook.dim).data))
    module.register_parameter(f"{name}_v", Parameter(weight.data))
    hook(module, None)
    module.register_forward_pre_hook(hook)
    return module


def remove_weight_norm(module: M, name: str = "weight") -> M:
    """Turn a weight back into one parameter; `ValueError` if `weight_norm` did not split it.

    >>> import warnings; warnings.simplefilter("ignore")  # that it is deprecated
    >>> from minigrad import nn
    >>> layer = remove_weight_norm(weight_norm(nn.Linear(2, 2)))
    >>> [name for name, _ in layer.named_parameters()]
    ['bias', 'weight']
    """
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            weight = hook.compute_weight(module)
            delattr(module, name)
            for part in "gv":
                del module._parameters[f"{name}_{part}"]
            setattr(module, name, Parameter(weight.data))
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"weight_norm of '{name}' not found in {module}")
