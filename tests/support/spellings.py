"""How PyTorch spells each op; most are found under their own name.

A spelling takes PyTorch tensors in the place of the sample's own and returns what PyTorch does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as tf

from minigrad.op.declaration import Op

Spelling = Callable[..., Any]
aten = torch.ops.aten

#: Where an op's name is looked up, in this order.
PLACES = (torch, torch.Tensor, tf, torch.linalg, torch.special, aten)


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


def list_or_tensor(value: Any) -> Any:
    return value if isinstance(value, torch.Tensor) else list(value)


def loss(name: str, *names: str) -> Spelling:
    """Return a loss with its options, the reduction first, given by position."""
    return lambda x, y, *options, **kwargs: getattr(tf, name)(
        x, y, **dict(zip(("reduction", *names), options)), **kwargs)


def normal_of(mean: Any, std: Any, generator: Any = None) -> Any:
    return torch.normal(mean, std)


def drawn(name: str) -> Spelling:
    """Return the random fill of this name, which PyTorch has in place only."""
    return lambda x, *args, **kwargs: getattr(x.clone(), name)(*args, **kwargs)


SPELLINGS: dict[str, Spelling] = {
    "AdaptiveAvgPool": by_dims("adaptive_avg_pool{}d"),
    "AdaptiveAvgPool3d": tf.adaptive_avg_pool3d,
    "AdaptiveMaxPool": lambda x, size: getattr(tf, f"adaptive_max_pool{len(size)}d")(
        x, size, return_indices=True),
    "AdaptiveMaxPool3d": lambda x, size: tf.adaptive_max_pool3d(x, size, return_indices=True),
    "AvgPool": lambda x, window, *rest: getattr(tf, f"avg_pool{len(window)}d")(
        x, window, *rest[: 4 if len(window) == 1 else 5]),
    "AvgPool3d": tf.avg_pool3d,
    "BernoulliFill": drawn("bernoulli_"),
    "BernoulliOfNumber": lambda x, p: torch.bernoulli(x, p),
    "BinaryCrossEntropyWithLogits": lambda x, y, weight=None, pos=None, reduction="mean":
        tf.binary_cross_entropy_with_logits(x, y, weight, reduction=reduction, pos_weight=pos),
    "BinaryCrossEntropy": lambda x, y, weight=None, reduction="mean": tf.binary_cross_entropy(
        x, y, weight, reduction=reduction),
    "BlockDiag": lambda tensors: torch.block_diag(*tensors),
    "ClampMaxNumber": torch.clamp,
    "ClampMaxTensor": lambda x, low, high: torch.clamp_max(x, high),
    "ClampMinNumber": torch.clamp,
    "ClampMinTensor": lambda x, low, high: torch.clamp_min(x, low),
    "ClampNumbers": torch.clamp,
    "ClampTensors": torch.clamp,
    "Col2Im": tf.fold,
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
    "Einsum": lambda tensors, places, kept: torch.einsum(
        *(part for pair in zip(tensors, places) for part in map(list_or_tensor, pair)),
        list(kept)),
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
    "Histogram": lambda x, bins, weight, counts: torch.histogram(x, bins, weight=weight),
    "HistogramddBinEdges": lambda x, edges: torch._histogramdd_bin_edges(x, [len(edges) - 1])[0],
    **dict.fromkeys(("HistogramddFromBinCts", "HistogramddFromBinTensors"),
                    lambda x, edges, weight, counts: torch.histogramdd(
                        x, list(edges.split([n + 1 for n in counts.shape]))).hist),
    "HuberLoss": loss("huber_loss", "delta"),
    "L1Loss": loss("l1_loss"),
    "MseLoss": loss("mse_loss"),
    "SmoothL1Loss": loss("smooth_l1_loss", "beta"),
    "QrComplete": lambda x: torch.linalg.qr(x, "complete"),
    "Hardsigmoid": tf.hardsigmoid,
    "Hardswish": tf.hardswish,
    "HardtanhInPlace": tf.hardtanh,
    "Index": lambda x, indices, dims: x[along(dims, indices)],
    "IndexPut": put,
    "Im2Col": tf.unfold,
    "IscloseOp": torch.isclose,
    "IsinOp": lambda x, y, unique, invert: torch.isin(x, y, assume_unique=unique, invert=invert),
    "LeakyReluInPlace": tf.leaky_relu,
    "EluInPlace": aten.elu,
    "ReshapeAlias": aten.view,
    "LerpNumber": torch.lerp,
    "LerpTensor": torch.lerp,
    "MaskedFillNumber": torch.masked_fill,
    "MaskedFillTensor": torch.masked_fill,
    "CtcLoss": lambda logs, targets, inputs, lengths, blank, zero: tf.ctc_loss(
        logs, targets, inputs, lengths, blank, "none", zero),
    "FractionalMaxPool": lambda x, samples, window, size: tf.fractional_max_pool2d(
        x, window, size, return_indices=True, _random_samples=samples),
    "FractionalMaxPool3d": lambda x, samples, window, size: tf.fractional_max_pool3d(
        x, window, size, return_indices=True, _random_samples=samples),
    "MaxPool3d": lambda x, window, stride, padding, dilation, ceil_mode: tf.max_pool3d(
        x, window, stride, padding, dilation, ceil_mode, True),
    "MaxPool": lambda x, window, stride, padding, dilation, ceil_mode: getattr(
        tf, f"max_pool{len(window)}d")(x, window, stride, padding, dilation, ceil_mode, True),
    "MaxUnpool3d": lambda x, indices, sizes, dims: tf.max_unpool3d(
        x, indices.contiguous(), tuple(n - m + 1 for n, m in zip(sizes[-3:], x.shape[-3:])), 1, 0,
        sizes[-3:]),
    "MaxUnpool": lambda x, indices, sizes, dims: getattr(tf, f"max_unpool{dims}d")(
        x, indices.contiguous(), [n - m + 1 for n, m in zip(sizes[-dims:], x.shape[-dims:])], 1),
    "Mish": tf.mish,
    "NativeBatchNorm": lambda x, w, b, mean, var, training, momentum, eps: torch.native_batch_norm(
        x, w, b, mean, var, training, momentum, eps)[0],
    "NativeGroupNorm": lambda x, w, b, groups, eps: torch.group_norm(x, groups, w, b, eps),
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
    "Resample": lambda x, axis, size, mode, scale, corners: tf.interpolate(
        x.movedim(axis, -1).reshape(1, -1, *[1] * (mode == "cubic"), x.shape[axis]),
        (1, size) if mode == "cubic" else size, mode={"cubic": "bicubic"}.get(mode, mode),
        align_corners=corners if mode in ("linear", "cubic") else None,
    ).reshape((*x.movedim(axis, -1).shape[:-1], size)).movedim(-1, axis),
    "RoundToDecimals": lambda x, decimals: torch.round(x, decimals=decimals),
    "RoundToInteger": torch.round,
    "PinverseOfSymmetric": lambda x, rtol: torch.linalg.pinv(x, rtol=rtol, hermitian=True),
    "RsubNumber": torch.rsub,
    "ScatterReduced": lambda x, dim, index, src, reduce: torch.scatter(
        x, dim, index, src, reduce=reduce),
    "SampleDirichlet": torch._sample_dirichlet,
    "Silu": tf.silu,
    "StandardGamma": torch._standard_gamma,
    "Polygamma": lambda x, n: torch.polygamma(n, x),
    "GatherBackward": vjp(lambda sizes, dim, index: (
        sizes, lambda x: torch.gather(x, dim, index))),
    "SlidingWindows": torch.Tensor.unfold,
    "Solve": lambda A, B, vector=False: torch.linalg.solve(A, B),
    "ThresholdInPlace": tf.threshold,
    "TransposedConvolution": lambda x, w, b, stride, padding, extra, dilation, groups: getattr(
        tf, f"conv_transpose{len(stride)}d")(x, w, b, stride, padding, extra, groups, dilation),
    "Trilinear": lambda a, b, c, letters: torch.einsum(letters, a, b, c),
    "Std": lambda x, dim=None, keepdim=False, correction=1: torch.std(
        x, dim, keepdim=keepdim, correction=correction),
    "StdAll": lambda x, dim=None, keepdim=False, correction=1: torch.std(
        x, dim, keepdim=keepdim, correction=correction),
    "Var": lambda x, dim=None, keepdim=False, correction=1: torch.var(
        x, dim, keepdim=keepdim, correction=correction),
    "VarAll": lambda x, dim=None, keepdim=False, correction=1: torch.var(
        x, dim, keepdim=keepdim, correction=correction),
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
    "MaskedScale": lambda g, mask, scale: g * mask * scale,
}

#: Ops that only formulas or composites call and PyTorch has no function for; what they serve is
#: compared with PyTorch's, second derivatives too: in tests/nn/test_rnn.py and test_attention.py,
#: or here.
SERVANTS = {
    "AdaptiveAvgPool3dInput", "AdaptiveAvgPoolInput", "AvgPool3dInput", "AvgPoolInput",
    "CtcLossInput",
    "EmbeddingRows", "GruLayer",
    "IndexBackward",
    "LargestDifference", "LinearScan", "LstmLayer", "MaskedPick", "MaskedPlace", "MaxPoolGather",
    "MaxPoolInput", "NoSlopeAtZero", "ResampleInput", "Restride", "RnnLayer", "RowOrder",
    "ScaledDotProduct", "SeveralZeros", "TakeBackward",
}


#: Ops whose result is unique only up to signs: absolute values are compared, and no gradients.
UP_TO_SIGNS = {"LinalgSvd", "LinalgEigh", "LinalgQr", "QrComplete"}

#: Where PyTorch computes in double precision with a constant in single precision, or by formulas
#: that are fitted to some digits: how much more values may differ.
ROUGH = {"Hardsigmoid": 100, "DirichletGrad": 1e6, "SampleDirichlet": 1e6, "StandardGamma": 1e6,
         "StandardGammaGrad": 1e6}


def pytorch_fails(name: str, args: tuple[Any, ...]) -> bool:
    """Tell whether PyTorch's result is known to be wrong for these arguments."""
    # `addmv` of a matrix without columns forgets to broadcast a 0-d vector that is added.
    return name == "Addmv" and args[0].ndim == 0 and args[2].numel() == 0


def pytorch_errs(name: str, args: tuple[Any, ...]) -> bool:
    """Tell whether PyTorch's derivative is known to be wrong or missing for these arguments."""
    # `embedding_dense_backward` is differentiated as if it did not scale by frequency.
    return name == "QrComplete" or (name in ("Embedding", "EmbeddingWeight") and args[-1] is True)


#: Where the package is more lenient than PyTorch, or knows no kernel for integers: op and dtype.
LENIENT = {
    # A bool tensor minus a number: forward sees both promoted already.
    ("Rsub", "bool"), ("RsubNumber", "bool"), ("Sub", "bool"),
    # A constant that does not fit into uint8 wraps around.
    ("Addcmul", "uint8"), ("Threshold", "uint8"), ("ThresholdInPlace", "uint8"),
    # PyTorch sums empty batches of truth values as int64, but only where one is empty.
    ("Addbmm", "bool"),
    # PyTorch averages int64 windows, rounding down.
    ("AvgPool", "int64"), ("AvgPool3d", "int64"),
    # Rows of pixels are resized by `interpolate`, which rounds.
    ("Resample", "uint8"),
    # Their result takes the dtype of the first tensor alone.
    ("HuberLoss", "mixed"), ("NormalOf", "mixed"),
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
            return found  # type: ignore[no-any-return]  # torch is Any here
    raise LookupError(f"PyTorch has no {op.name!r}: name it in SPELLINGS or SERVANTS")


def to_torch(tensor: Any) -> Any:
    """Return a PyTorch tensor of the same values and strides, and the same `requires_grad`."""
    array = tensor._array
    strides = [s // array.itemsize for s in array.strides]
    values = torch.from_numpy(np.ascontiguousarray(array).reshape(array.shape))
    made = torch.empty_strided(array.shape, strides, dtype=values.dtype).copy_(values)
    return made.requires_grad_() if tensor.requires_grad else made


def constant_to_torch(value: Any) -> Any:
    """Return PyTorch's dtype or memory format for the package's, anything else as it is."""
    named = str(value).startswith("torch.") and not isinstance(value, torch.Tensor)
    return getattr(torch, str(value).removeprefix("torch.")) if named else value
