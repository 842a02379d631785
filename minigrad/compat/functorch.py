"""The old package `functorch`, which `torch.func` replaced; `as_torch` lets programs import it.

Source: https://docs.pytorch.org/functorch/stable/functorch.html
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from typing import Any

from .. import func
from ..frames import warn_user
from ..nn.module import Module
from ..tensor.tensor import Tensor

__all__ = ["combine_state_for_ensemble", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev",
           "jvp", "make_functional", "make_functional_with_buffers", "vjp", "vmap"]


def _warn(name: str, instead: str) -> None:
    warn_user("We've integrated functorch into PyTorch. As the final step of the \n"
              f"integration, `functorch.{name}` is deprecated as of PyTorch \n"
              "2.0 and will be deleted in a future version of PyTorch >= 2.3. \n"
              f"Please use `{instead}` instead; see the PyTorch 2.0 release notes \n"
              "and/or the `torch.func` migration guide for more details \n"
              "https://pytorch.org/docs/main/func.migrating.html", FutureWarning)


def _deprecated(name: str, instead: str = "") -> Any:
    """Return a function of `func` that warns when it is called."""
    called = getattr(func, name)

    @functools.wraps(called)
    def call(*args: Any, **kwargs: Any) -> Any:
        _warn(name, instead or f"torch.func.{name}")
        return called(*args, **kwargs)

    return call


vmap = _deprecated("vmap", "torch.vmap")
grad, grad_and_value = _deprecated("grad"), _deprecated("grad_and_value")
vjp, jvp = _deprecated("vjp"), _deprecated("jvp")
jacrev, jacfwd, hessian = _deprecated("jacrev"), _deprecated("jacfwd"), _deprecated("hessian")


def _state(tensors: Any, tracked: bool) -> dict[str, Tensor]:
    return {name: each.detach().clone().requires_grad_(each.requires_grad and tracked)
            for name, each in tensors}


def make_functional(model: Module, disable_autograd_tracking: bool = False
                    ) -> tuple[Callable[..., Any], tuple[Tensor, ...]]:
    """Return a function of parameters and inputs, and the parameters.  Deprecated.

    Raises `RuntimeError` for a model with buffers.
    """
    _warn("make_functional", "torch.func.functional_call")
    if any(True for _ in model.buffers()):
        raise RuntimeError("make_functional(model): `model` has buffers. Please use "
                           "make_functional_with_buffers(model) instead.")
    model = copy.deepcopy(model)
    params = _state(model.named_parameters(), not disable_autograd_tracking)

    def call(params: Any, *args: Any, **kwargs: Any) -> Any:
        return func.functional_call(model, dict(zip(names, params, strict=True)), args, kwargs)

    names = list(params)
    return call, tuple(params.values())


def make_functional_with_buffers(
        model: Module, disable_autograd_tracking: bool = False,
) -> tuple[Callable[..., Any], tuple[Tensor, ...], tuple[Tensor, ...]]:
    """Return a function of parameters, buffers and inputs, and both states.  Deprecated."""
    _warn("make_functional_with_buffers", "torch.func.functional_call")
    return _with_buffers(model, not disable_autograd_tracking)


def _with_buffers(model: Module, tracked: bool) -> Any:
    """Return a function of the state of a copied model and of its inputs, and the state."""
    model = copy.deepcopy(model)
    params = _state(model.named_parameters(), tracked)
    buffers = _state(model.named_buffers(), False)
    names, buffer_names = list(params), list(buffers)

    def call(params: Any, buffers: Any, *args: Any, **kwargs: Any) -> Any:
        state = {**dict(zip(names, params, strict=True)),
                 **dict(zip(buffer_names, buffers, strict=True))}
        return func.functional_call(model, state, args, kwargs)

    return call, tuple(params.values()), tuple(buffers.values())


def combine_state_for_ensemble(
        models: list[Module],
) -> tuple[Callable[..., Any], tuple[Tensor, ...], tuple[Tensor, ...]]:
    """Return a function of the models, and their parameters and buffers, stacked.  Deprecated."""
    _warn("combine_state_for_ensemble", "torch.func.stack_module_state")
    call, _, _ = _with_buffers(models[0], True)
    params, buffers = func.stack_module_state(models)
    return call, tuple(params.values()), tuple(buffers.values())
