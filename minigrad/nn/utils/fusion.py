"""Fold a batch norm into the layer before it, for evaluation; and construct without initializing.

Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.fuse_conv_bn_eval.html
"""

from __future__ import annotations

import copy
import inspect
from typing import Any

from ...op.declaration import F
from ...ops.random.sampling import default_generator
from ...tensor.tensor import Parameter, Tensor
from ..module import Module


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """Return a convolution that does the work of `conv` and `bn`, both in evaluation mode.

    >>> from minigrad import nn, ones
    >>> conv, bn = nn.Conv1d(1, 2, 1).eval(), nn.BatchNorm1d(2).eval()
    >>> x = ones(1, 1, 3)
    >>> (nn.utils.fuse_conv_bn_eval(conv, bn)(x) - bn(conv(x))).abs().max() < 1e-5
    tensor(True)
    """
    fused = _checked_copy(conv, bn)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias,
        transpose)
    return fused


def _checked_copy(layer: Any, bn: Any) -> Any:
    """Return a copy of the layer to fuse; raise `AssertionError` unless the two can be fused."""
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("bn.running_mean and bn.running_var must not be None")
    return copy.deepcopy(layer)


def fuse_conv_bn_weights(
        conv_w: Tensor, conv_b: Tensor | None, bn_rm: Tensor, bn_rv: Tensor, bn_eps: float,
        bn_w: Tensor | None, bn_b: Tensor | None, transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    """Return the weight and bias of a convolution fused with a batch norm.

    >>> from minigrad import nn, ones, zeros
    >>> weight, bias = nn.utils.fuse_conv_bn_weights(
    ...     ones(1, 1, 1), None, zeros(1), 4 * ones(1), 0.0, None, None)
    >>> weight.item(), bias.item()
    (0.5, 0.0)
    """
    shape = [1] * conv_w.ndim
    shape[1 if transpose else 0] = -1
    return _fused(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, shape)


def _fused(weight: Tensor, bias: Tensor | None, mean: Tensor, variance: Tensor, eps: float,
           scale: Tensor | None, shift: Tensor | None, shape: list[int]
           ) -> tuple[Parameter, Parameter]:
    """Return the fused weight and bias, whose requires_grad and dtype the layer determines."""
    factor = F.rsqrt(variance + eps)
    if scale is not None:
        factor = scale * factor
    before = F.zeros_like(mean) if bias is None else bias
    fused_bias = (before - mean) * factor + (0 if shift is None else shift)
    fused_weight = (weight * factor.reshape(shape)).to(weight.dtype)
    return (Parameter(fused_weight.detach(), weight.requires_grad),
            Parameter(fused_bias.detach().to(before.dtype),
                      True if bias is None else bias.requires_grad))


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """Return a linear layer that does the work of `linear` and `bn`, both in evaluation mode.

    >>> from minigrad import nn, ones
    >>> linear, bn = nn.Linear(3, 2).eval(), nn.BatchNorm1d(2).eval()
    >>> x = ones(1, 3)
    >>> (nn.utils.fuse_linear_bn_eval(linear, bn)(x) - bn(linear(x))).abs().max() < 1e-5
    tensor(True)
    """
    fused = _checked_copy(linear, bn)
    if bn.num_features not in (linear.out_features, 1):
        raise AssertionError(
            "To fuse, linear.out_features == bn.num_features or bn.num_features == 1, got "
            f"linear.out_features={linear.out_features} and bn.num_features={bn.num_features}")
    fused.weight, fused.bias = fuse_linear_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias)
    return fused


def fuse_linear_bn_weights(
        linear_w: Tensor, linear_b: Tensor | None, bn_rm: Tensor, bn_rv: Tensor, bn_eps: float,
        bn_w: Tensor, bn_b: Tensor) -> tuple[Parameter, Parameter]:
    """Return the weight and bias of a linear layer fused with a batch norm.

    >>> from minigrad import nn, ones, zeros
    >>> weight, bias = nn.utils.fuse_linear_bn_weights(
    ...     ones(1, 1), None, zeros(1), 4 * ones(1), 0.0, ones(1), ones(1))
    >>> weight.item(), bias.item()
    (0.5, 1.0)
    """
    return _fused(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, [-1, 1])


def skip_init(module_cls: Any, *args: Any, **kwargs: Any) -> Any:
    """Return a module with arbitrary parameters, which leaves the random numbers as they were.

    Raises `RuntimeError` for a module without an argument `device`.

    >>> from minigrad import nn
    >>> nn.utils.skip_init(nn.Linear, 2, 3)
    Linear(in_features=2, out_features=3, bias=True)
    """
    if not (isinstance(module_cls, type) and issubclass(module_cls, Module)):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    before = default_generator.get_state()
    try:
        return module_cls(*args, **kwargs)
    finally:
        default_generator.set_state(before)
