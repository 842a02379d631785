"""Spectral norm: divide a weight by its largest singular value, found by power iteration.

Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.spectral_norm.html
"""

from __future__ import annotations

from typing import Any, TypeVar

from ...autograd.grad_mode import no_grad
from ...op.declaration import F
from ...tensor.tensor import Parameter, Tensor
from .. import functional
from ..conv_transpose import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from ..module import Module

M = TypeVar("M", bound=Module)


class SpectralNorm:
    """Forward pre-hook that recomputes `name` from `name_orig`.

    The buffers `name_u` and `name_v` estimate the singular vectors; each forward in training
    refines them.
    """

    def __init__(self, name: str, n_power_iterations: int, dim: int, eps: float) -> None:
        if n_power_iterations <= 0:
            raise ValueError("Expected n_power_iterations to be positive, but got "
                             f"n_power_iterations={n_power_iterations}")
        self.name = name
        self.n_power_iterations = n_power_iterations
        self.dim = dim
        self.eps = eps

    def matrix(self, weight: Tensor) -> Tensor:
        """Return the weight as a matrix with a row for each index of `dim`."""
        rows = F.movedim(weight, self.dim, 0) if self.dim else weight
        return rows.reshape(rows.shape[0], -1)

    def direction(self, vector: Tensor) -> Any:
        """Return a vector scaled to length one."""
        return functional.normalize(vector, dim=0, eps=self.eps)

    def compute_weight(self, module: Module, do_power_iteration: bool) -> Any:
        """Return the weight divided by its estimated norm."""
        weight: Tensor = getattr(module, self.name + "_orig")
        u: Tensor = getattr(module, self.name + "_u")
        v: Tensor = getattr(module, self.name + "_v")
        matrix = self.matrix(weight)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(self.direction(F.mv(matrix.t(), u)))
                    u.copy_(self.direction(F.mv(matrix, v)))
                u, v = u.clone(), v.clone()  # the next forward overwrites them
        return weight / F.dot(u, F.mv(matrix, v))

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, module.training))


def spectral_norm(module: M, name: str = "weight", n_power_iterations: int = 1,
                  eps: float = 1e-12, dim: int | None = None) -> M:
    """Divide a weight by its largest singular value before each forward.

    `dim` is the dimension of the outputs: 0, or 1 for transposed convolutions.

    >>> from minigrad import nn
    >>> layer = spectral_norm(nn.Linear(2, 2, bias=False), n_power_iterations=20)
    >>> _ = layer(nn.Parameter().new_zeros(2)); layer.weight.norm(2).item() < 1.5
    True
    """
    if any(isinstance(h, SpectralNorm) and h.name == name
           for h in module._forward_pre_hooks.values()):
        raise RuntimeError("Cannot register two spectral_norm hooks on the same parameter "
                           f"{name}")
    if dim is None:
        transposed = isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d))
        dim = 1 if transposed else 0
    hook = SpectralNorm(name, n_power_iterations, dim, eps)
    weight = module._parameters[name]
    if weight is None:
        raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
    with no_grad():
        rows, columns = hook.matrix(weight).shape
        u, v = (hook.direction(weight.new_empty(n).normal_(0, 1)) for n in (rows, columns))
    del module._parameters[name]
    module.register_parameter(name + "_orig", weight)
    setattr(module, name, weight.data)
    module.register_buffer(name + "_u", u)
    module.register_buffer(name + "_v", v)
    module.register_forward_pre_hook(hook)
    return module


def remove_spectral_norm(module: M, name: str = "weight") -> M:
    """Make the divided weight the parameter; `ValueError` if `spectral_norm` was not used.

    >>> from minigrad import nn
    >>> layer = remove_spectral_norm(spectral_norm(nn.Linear(2, 2)))
    >>> [name for name, _ in layer.named_parameters()]
    ['bias', 'weight']
    """
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            with no_grad():
                weight = hook.compute_weight(module, False)
            for part in ("", "_u", "_v", "_orig"):
                delattr(module, name + part)
            module.register_parameter(name, Parameter(weight.detach()))
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"spectral_norm of '{name}' not found in {module}")
