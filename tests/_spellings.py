"""How PyTorch spells each op; most are found under their own name.

A spelling takes PyTorch tensors in the place of the sample's own and returns what PyTorch does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as tf

from minigrad.op import Op

Spelling = Callable[..., Any]
aten = torch.ops.aten

#: Where an op's name is looked up, in this order.
PLACES = (torch, torch.Tensor, tf, torch.linalg, torch.special, aten)

REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}


def along(dims: tuple[int, ...], indices: list[Any]) -> tuple[Any, ...]:
    """Return what stands in the brackets where `indices` select from `dims`."""
    key: list[Any] = [slice(None)] * (dims[-1] + 1)
    for dim, index in zip(dims, indices):
        key[dim] = index
    return tuple(key)


def put(x: Any, indices: Any, values: Any, dims: Any, accumulate: bool = False) -> Any:
    full: list[Any] = [None] * (dims[-1] + 1)
    for dim, index in zip(dims, indices):
        full[dim] = index
    return aten.index_put(x, full, values, accumulate)


def by_dims(name: str) -> Spelling:
    """Return the function of this name for as many dimensions as the window has."""
    return lambda x, window, *rest: getattr(tf, name.format(len(window)))(x, window, *rest)


def vjp(function: Spelling) -> Spelling:
    """Return what takes the gradient of `function(x)`, which is linear in x, to that of x."""

    def call(grad: Any, *args: Any) -> Any:
        shape, apply = function(*args)
        x = torch.zeros(shape, dtype=grad.dtype, requires_grad=True)
        (result,) = torch.autograd.grad(apply(x), x, grad, create_graph=True)
        return result

    return call


def normal_of(mean: Any, std: Any, generator: Any = None) -> Any:
    return torch.normal(mean, std)


def drawn(name: str) -> Spelling:
    """Return the random fill of this name, which PyTorch has in place only."""
    return lambda x, *args, **kwargs: getattr(x.clone(), name)(*args, **kwargs)


SPELLINGS: dict[str, Spelling] = {
    "AdaptiveAvgPool": by_dims("adaptive_avg_pool{}d"),
    "AdaptiveMaxPool": lambda x, size: getattr(tf, f"adaptive_max_pool{len(size)}d")(
        x, size, return_indices=True),
    "AvgPool": by_dims("avg_pool{}d"),
    "BernoulliFill": drawn("bernoulli_"),
    "BinaryCrossEntropyWithLogits": lambda x, y, weight, pos, reduction:
        tf.binary_cross_entropy_with_logits(x, y, weight, reduction=reduction, pos_weight=pos),
    "BinaryCrossEntropy": lambda x, y, weight, reduction: tf.binary_cross_entropy(
        x, y, weight, reduction=reduction),
    "BlockDiag": lambda tensors: torch.block_diag(*tensors),
    "ClampMaxNumber": torch.clamp,
    "ClampMaxTensor": torch.clamp,
    "ClampMinNumber": torch.clamp,
    "ClampMinTensor": torch.clamp,
    "ClampNumbers": torch.clamp,
    "ClampTensors": torch.clamp,
    "ConstantPadNd": torch.constant_pad_nd,
    "ConvInput": vjp(lambda weight, sizes, *rest: (
        sizes, lambda x: convolution(x, weight, None, *rest))),
    "ConvWeight": vjp(lambda input, sizes, *rest: (
        sizes, lambda w: convolution(input, w, None, *rest))),
    "Convolution": lambda *args: convolution(*args),
    "Copy": lambda x, src: x.clone().copy_(src),
    "CopysignNumber": torch.copysign,
    "CopysignTensors": torch.copysign,
    "DivRounded": lambda x, y, mode: torch.div(x, y, rounding_mode=mode),
    "EluOp": aten.elu,
    "Embedding": lambda weight, indices, padding_idx=-1, scaled=False: torch.embedding(
        weight, indices, padding_idx, scaled),
    "EmbeddingWeight": vjp(lambda indices, sizes, padding_idx, scaled: (
        sizes, lambda w: torch.embedding(w, indices, padding_idx, scaled))),
    "Exponential": drawn("exponential_"),
    "FillNumber": torch.fill,
    "FillTensor": torch.fill,
    "FmodNumber": torch.fmod,
    "GeluOp": lambda x, approximate="none": tf.gelu(x, approximate=approximate),
    "HardsigmoidOp": tf.hardsigmoid,
    "HardswishOp": tf.hardswish,
    "HardtanhInPlace": tf.hardtanh,
    "Index": lambda x, indices, dims: x[along(dims, indices)],
    "IndexPut": put,
    "IscloseOp": torch.isclose,
    "IsinOp": lambda x, y, unique, invert: torch.isin(x, y, assume_unique=unique, invert=invert),
    "LeakyReluInPlace": tf.leaky_relu,
    "LerpNumber": torch.lerp,
    "LerpTensor": torch.lerp,
    "MaskedFillNumber": torch.masked_fill,
    "MaskedFillTensor": torch.masked_fill,
    "MaxPool": lambda x, window, stride, padding, dilation, ceil_mode: getattr(
        tf, f"max_pool{len(window)}d")(x, window, stride, padding, dilation, ceil_mode, True),
    "MishOp": tf.mish,
    "NativeBatchNorm": lambda x, w, b, mean, var, training, momentum, eps: torch.native_batch_norm(
        x, w, b, mean, var, training, momentum, eps),
    "NllLoss": lambda x, y, weight, reduction, ignored: tf.nll_loss(
        x, y, weight, ignore_index=ignored, reduction=reduction),
    "NllLossInput": vjp(lambda y, weight, sizes, reduction, ignored: (
        sizes, lambda x: tf.nll_loss(x, y, weight, ignore_index=ignored, reduction=reduction))),
    "NormalOf": normal_of,
    "Normal": drawn("normal_"),
    "OneHot": tf.one_hot,
    "PowNumber": torch.pow,
    "PowOfNumber": torch.pow,
    "PowTensor": torch.pow,
    "PreluKernel": torch._prelu_kernel,
    "Random": drawn("random_"),
    "ReluInPlace": torch.relu,
    "RemainderNumber": torch.remainder,
    "RoundToDecimals": lambda x, decimals: torch.round(x, decimals=decimals),
    "RoundToInteger": torch.round,
    "RsubNumber": torch.rsub,
    "SiluOp": tf.silu,
    "SlidingWindows": torch.Tensor.unfold,
    "ThresholdInPlace": tf.threshold,
    "ToCopy": lambda x, dtype, target, source: x.to(dtype, copy=True),
    "Uniform": drawn("uniform_"),
    "Unique2": lambda x, dim=None: torch.unique(
        x, dim=dim, return_inverse=True, return_counts=True),
    "UniqueConsecutive": lambda x, dim=None: torch.unique_consecutive(
        x, dim=dim, return_inverse=True, return_counts=True),
    "UnsafeView": aten._unsafe_view,
    "XlogyNumber": torch.xlogy,
    "XlogyOfNumber": torch.xlogy,
    "XlogyTensors": torch.xlogy,
    "AsStrided": lambda x, size, stride, offset, geometry: torch.as_strided(
        x, size, stride, offset),
    "Dropout": torch.native_dropout,
}

#: Ops that only formulas call and PyTorch has no function for; the second derivatives of the ops
#: that they serve are compared with PyTorch's.
SERVANTS = {
    "AdaptiveAvgPoolInput", "AvgPoolInput", "EmbeddingRows", "IndexBackward", "LinearScan",
    "MaskedPick", "MaskedPlace", "MaxPoolGather", "MaxPoolInput", "Restride", "TakeBackward",
}


def convolution(x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any,
                groups: int) -> Any:
    """Call the convolution for as many dimensions as there are."""
    return getattr(tf, f"conv{len(stride)}d")(x, weight, bias, stride, padding, dilation, groups)


def spelling(op: type[Op]) -> Spelling:
    """Return PyTorch's function for an op; `LookupError` where there is none."""
    if op.__name__ in SPELLINGS:
        return SPELLINGS[op.__name__]
    for place in PLACES:
        found = getattr(place, op.name, None)
        if callable(found):
            return found  # type: ignore[no-any-return]
    raise LookupError(f"PyTorch has no {op.name!r}: name it in SPELLINGS or SERVANTS")


def to_torch(tensor: Any) -> Any:
    """Return a PyTorch tensor with the same values and strides, that requires grad if `tensor` does."""
    array = tensor._array
    if 0 in array.shape or not array.ndim:
        made = torch.from_numpy(array.copy())
    else:
        # from_numpy keeps the strides; the copy keeps the two sides' memory apart.
        made = torch.from_numpy(np.copy(array, "K"))
    return made.requires_grad_(tensor.requires_grad)


def dtype_to_torch(value: Any) -> Any:
    """Return PyTorch's dtype for the package's, anything else as it is."""
    return getattr(torch, value.name) if type(value).__name__ == "dtype" else value
