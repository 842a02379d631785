"""Every op of the registry as a call that a program may contain, with the arguments of samples."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from minigrad.op.declaration import REGISTRY, Op
from minigrad.tensor.tensor import Tensor
from tests.support.samples import Sample, samples

#: Ops that no program calls by their samples, and why: mostly as no user can call them by name.
LEFT_OUT = {
    **dict.fromkeys((
        "AdaptiveAvgPoolInput", "AvgPool3dInput", "AvgPoolInput", "ConvInput", "ConvWeight",
        "CtcLossInput", "DiagonalBackward",
        "EmbeddingRows", "EmbeddingWeight", "GatherBackward", "IndexBackward",
        "IndexSelectBackward", "LinearScan", "MaskedPick", "MaskedPlace", "MaskedScale",
        "MaxPoolGather", "MaxPoolInput", "NllLossInput", "ResampleInput", "SelectBackward",
        "SliceBackward", "TakeBackward", "UnfoldBackward"),
        "the gradient of another op, which `twice` runs"),
    **dict.fromkeys(("EluInPlace", "HardtanhInPlace", "LeakyReluInPlace"),
                    "`F.<name>(x, inplace=True)`, among the generator's writes"),
    **dict.fromkeys(("Alias", "Index", "IndexPut", "Slice", "UnsafeView", "ReshapeAlias",
                     "Restride", "ToCopy"),
                    "an index, a view, a write or a cast, of which the generator makes many"),
    **dict.fromkeys(("Einsum", "GruLayer", "LstmLayer", "MaxUnpool", "MaxUnpool3d", "Resample",
                     "RnnLayer",
                     "ScaledDotProduct", "Trilinear", "UnsafeSplit", "UnsafeSplitWithSizes"),
                    "made of other nodes than PyTorch's: among the generator's COMPOSED"),
    **dict.fromkeys(("CtcLoss", "FractionalMaxPool", "FractionalMaxPool3d"),
                    "a loss of lengths, windows at random places: in tests/nn/test_parity.py"),
    "StandardGammaGrad": "exact here, while PyTorch's approximation is off by 1e-4",
    "PinverseOfSymmetric": "`torch.linalg.pinv(t, hermitian=True)`: see tests/conformance",
    **dict.fromkeys(("Histogram", "HistogramddBinEdges", "HistogramddFromBinCts",
                     "HistogramddFromBinTensors"), "a part of `histogram` or `histogramdd`"),
    **dict.fromkeys(("LinalgEigh", "LinalgQr", "LinalgSvd", "QrComplete"),
                    "unique up to signs: what is not left to chance is among COMPOSED"),
}

#: Calls that would only show a known difference over and over; known.py has a program for each.
DIFFER = re.compile(r"pool1d\(|F\.l1_loss\(|one_hot\(|isclose\(|, \(1, 1,\)\)|"
                    r"torch\.diag\(|nll_loss\(.*'none'|F\.unfold\(|t\.a(sin|cos|tan)h_\(")

#: Ops of which that leaves no call, and where they are called instead.
ALWAYS_DIFFER = {
    "Diag": "COMPOSED", "Im2Col": "COMPOSED", "IscloseOp": "VALUES",
    "L1Loss": "COMPOSED", "OneHot": "VALUES"}

#: Ops that are called with one floating dtype, for of two PyTorch makes what it will.
ONE_DTYPE = {"Addbmm", "Addr", "Baddbmm", "BinaryCrossEntropy", "BinaryCrossEntropyWithLogits",
             "Bmm", "Convolution", "HuberLoss", "MseLoss", "NllLoss", "NormalOf", "SmoothL1Loss",
             "TransposedConvolution"}

#: Ops that read what they have just written, or choose among equal elements: they get tensors of
#: their own.
OWN_TENSORS = {"Addmm", "Addmv", "Addr", "Baddbmm", "Fmod", "Kthvalue", "MaskedScatter",
               "MedianAll", "MedianDim", "Mode", "NanmedianAll", "NanmedianDim", "Remainder",
               "Topk"}

#: Functions by the op, where it is not `torch.<name>`; `{n}` is how many items argument n has.
FUNCTIONS = {
    "AdaptiveAvgPool": "F.adaptive_avg_pool{1}d", "AdaptiveMaxPool": "F.adaptive_max_pool{1}d",
    "AvgPool": "F.avg_pool{1}d", "AvgPool3d": "F.avg_pool3d", "MaxPool3d": "F.max_pool3d",
     "ClampMaxNumber": "torch.clamp", "ClampMaxTensor": "torch.clamp",
    "ClampMinNumber": "torch.clamp", "ClampMinTensor": "torch.clamp",
    "ClampNumbers": "torch.clamp", "ClampTensors": "torch.clamp", "Col2Im": "F.fold",
    "ConstantPadNd": "F.pad", "Convolution": "F.conv{3}d", "CopysignNumber": "torch.copysign",
    "CopysignTensors": "torch.copysign", "DivRounded": "torch.div", "EluOp": "F.elu",
    "FillNumber": "torch.fill", "FillTensor": "torch.fill", "FmodNumber": "torch.fmod",
    "GeluOp": "F.gelu", "Hardsigmoid": "F.hardsigmoid", "Hardswish": "F.hardswish",
    "Im2Col": "F.unfold", "IscloseOp": "torch.isclose", "IsinOp": "torch.isin",
    "LeakyRelu": "F.leaky_relu", "LerpNumber": "torch.lerp", "LerpTensor": "torch.lerp",
    "LinalgVectorNorm": "torch.linalg.vector_norm", "MaskedFillNumber": "torch.masked_fill",
    "MaskedFillTensor": "torch.masked_fill", "MaxPool": "F.max_pool{1}d", "Mish": "F.mish",
    "NativeLayerNorm": "F.layer_norm", "NonzeroMatrix": "torch.nonzero",
    "NormalOf": "torch.normal", "PowNumber": "torch.pow", "PowOfNumber": "torch.pow",
    "PowTensor": "torch.pow", "PreluKernel": "F.prelu", "ReluInPlace": "torch.relu",
    "RemainderNumber": "torch.remainder", "RoundToDecimals": "torch.round",
    "RoundToInteger": "torch.round", "RsubNumber": "torch.rsub", "Silu": "F.silu",
    "ThresholdInPlace": "F.threshold", "Unique2": "torch.unique",
    "TransposedConvolution": "F.conv_transpose{3}d", "XlogyNumber": "torch.xlogy",
    "XlogyOfNumber": "torch.xlogy", "XlogyTensors": "torch.xlogy", "Logsigmoid": "F.logsigmoid",
    **{name: f"torch.linalg.{name[6:].lower()}" for name in (
        "LinalgCholesky", "LinalgCross", "LinalgDet", "LinalgInv")},
    "LinalgSolveTriangular": "torch.linalg.solve_triangular",
    "LinalgLuFactorEx": "torch.linalg.lu_factor_ex", "LdlFactor": "torch.linalg.ldl_factor_ex",
    "LinalgLdlSolve": "torch.linalg.ldl_solve",
    **{name: f"F.{function}" for name, function in {
        "BinaryCrossEntropy": "binary_cross_entropy", "HuberLoss": "huber_loss",
        "BinaryCrossEntropyWithLogits": "binary_cross_entropy_with_logits", "L1Loss": "l1_loss",
        "MseLoss": "mse_loss", "NllLoss": "nll_loss", "SmoothL1Loss": "smooth_l1_loss",
        "Softplus": "softplus", "Softshrink": "softshrink", "OneHot": "one_hot",
        "Hardtanh": "hardtanh", "Threshold": "threshold"}.items()},
}

#: How many arguments go by position, where the rest has to go by name.
BY_POSITION = {
    "BinaryCrossEntropy": 2, "BinaryCrossEntropyWithLogits": 2, "ConstantPadNd": 2,
    "DivRounded": 2, "EluOp": 1, "GeluOp": 1, "HuberLoss": 2, "IsinOp": 2, "L1Loss": 2,
    "LinalgVectorNorm": 4, "MseLoss": 2, "NllLoss": 3, "RoundToDecimals": 1, "RsubNumber": 2,
    "ScatterReduced": 4,
    "SmoothL1Loss": 2, "Std": 2, "StdAll": 2, "TransposedConvolution": 3, "Unique2": 1,
    "UniqueConsecutive": 1, "Var": 2, "VarAll": 2,
}

#: Whole calls, `{n}` being argument n.
WHOLE = {
    "AsStrided": "torch.as_strided({0}, {1}, {2}, {3})",
    "BernoulliFill": "{0}.bernoulli_({1})", "BlockDiag": "torch.block_diag(*{0})",
    "Copy": "{0}.copy_({1})", "Dropout": "F.dropout({0}, {1})", "Expand": "{0}.expand({1})",
    "Exponential": "{0}.exponential_()", "Solve": "torch.linalg.solve({0}, {1})",
    "NativeBatchNorm": "F.batch_norm({0}, {3}, {4}, {1}, {2}, {5}, {6}, {7})",
    "NativeGroupNorm": "F.group_norm({0}, {3}, {1}, {2}, {4})",
    "Normal": "{0}.normal_()", "Polygamma": "torch.polygamma({1}, {0})",
    "Random": "{0}.random_()", "Repeat": "{0}.repeat({1})",
    "SlidingWindows": "{0}.unfold({1}, {2}, {3})", "Uniform": "{0}.uniform_()",
    "View": "{0}.view({1})", "Zero": "{0}.zero_()",
}

#: Options of an op that the function for users lacks.
INTERNAL = {"EluOp": ("scale", "input_scale")}


@dataclass(frozen=True)
class Call:
    """One sample of an op, to be written with any tensors."""

    op: type[Op]
    sample: Sample

    def tensors(self) -> list[Tensor]:
        """Return the tensors of the sample, which others of their shapes may replace."""
        return self.sample.tensors()

    def write(self, name_of: Callable[[Tensor], str], inplace: bool = False) -> str:
        """Return the call as source; `name_of` says what stands for each tensor."""
        kind = self.op.__name__
        args = [show(a, name_of) for a in self.sample.args]
        if kind in WHOLE and not inplace:
            defaults = [show(v, name_of) for v in self.op.default_values]
            return WHOLE[kind].format(*args, *defaults[len(args):])
        options = {k: show(v, name_of) for k, v in self.sample.kwargs.items()}
        by_position = BY_POSITION.get(kind, len(self.op.parameters))
        positional = []
        for place, (name, arg) in enumerate(zip(self.op.parameters, args)):
            if place >= by_position or name in self.op.keyword_only or name == "dtype":
                options[name] = arg
            else:
                positional.append(arg)
        function = FUNCTIONS.get(kind) or "torch." + self.op.name.replace("special_", "special.")
        lengths = [len(a) if isinstance(a, (tuple, list)) else 1 for a in self.sample.args]
        function = function.format(*lengths)
        if function == "F.avg_pool1d":
            positional = positional[:6]
        for name in INTERNAL.get(kind, ()):
            options.pop(name, None)
        if inplace:
            function = f"{positional.pop(0)}.{function.rpartition('.')[2]}_"
        return f"{function}({', '.join(positional + [f'{k}={v}' for k, v in options.items()])})"


def show(value: Any, name_of: Callable[[Tensor], str]) -> str:
    """Return an argument as source."""
    if isinstance(value, Tensor):
        return name_of(value)
    if type(value) is list:
        return "[" + ", ".join(show(v, name_of) for v in value) + "]"
    if type(value) is tuple:
        return "(" + "".join(show(v, name_of) + ", " for v in value).strip() + ")"
    if isinstance(value, float) and value in (float("inf"), -float("inf")):
        return f"float('{value}')"
    return repr(value)


@cache
def all_calls() -> list[Call]:
    """Return the calls of all ops, by name."""
    found = [Call(op, sample) for name, op in sorted(REGISTRY.items())
             if name not in LEFT_OUT and not name.startswith("Fill") for sample in samples(op)]
    return [call for call in found if not DIFFER.search(call.write(lambda tensor: "t"))]


@cache
def inplace_calls() -> list[Call]:
    """Return the calls that have a variant that writes to the first tensor."""
    found = [Call(op, sample) for name, op in sorted(REGISTRY.items())
             if op.inplace and name not in (*LEFT_OUT, *WHOLE, "Addbmm") for sample in samples(op)
             if isinstance(sample.args[0], Tensor)]
    return [call for call in found
            if not DIFFER.search(call.write(lambda tensor: "t", inplace=True))]
