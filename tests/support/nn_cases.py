"""Every module of `minigrad.nn`, made and called: the rows that `tests/nn/test_parity.py` runs.

A row is `Case(how to make the module, its inputs...)`:

    Case("Conv2d(4, 6, 3, stride=2)", real(2, 4, 7, 7))
    Case("Bilinear(3, 4, 2)", real(5, 3), real(5, 4))
    Case("CrossEntropyLoss(weight=torch.ones(3))", real(5, 3), ints(5, high=3))
    Case("ConvTranspose1d(2, 3, 3, 2)", real(2, 2, 5), kwargs={"output_size": [12]})

The first is Python source that finds the names of `nn` and, as `torch`, the package itself; it
is run with `minigrad` and with PyTorch. An input is what `real`, `positive`, `chance`, `ints`,
`bools` or `places` or
`wide` gives: a recipe for an array, so that each run gets the same fresh one. Floating
inputs require grad, but not those in `kwargs`. A row without inputs is made, printed and its
state compared, but it is not called. Options: `second=False` where PyTorch has no second
derivative, `slope=False` where the gradient is on purpose not the derivative, `rtol` where
PyTorch computes in lower precision.

Every row is run for: the printed form, attributes, state by name, order, shape and value, state
loaded both ways, outputs and first and second gradients by inputs and parameters in training
(twice) and evaluation, buffers afterwards, and derivatives against finite differences. Keep
shapes small. `ERRORS` holds sources that must raise, with the same class and text as PyTorch's.
A new module needs a row here; a test fails where one is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = Any
Recipe = Callable[[np.random.Generator], Array]


def real(*shape: int, low: float = -2.0, high: float = 2.0) -> Recipe:
    """Floating numbers evenly from low to high."""
    return lambda rng: rng.uniform(low, high, shape)


def positive(*shape: int) -> Recipe:
    """Floating numbers from 0.5 to 2."""
    return real(*shape, low=0.5, high=2.0)


def chance(*shape: int) -> Recipe:
    """Floating numbers from 0.1 to 0.9."""
    return real(*shape, low=0.1, high=0.9)


def wide(*shape: int) -> Recipe:
    """Floating numbers from -8 to 8, for functions with bends far out."""
    return real(*shape, low=-8.0, high=8.0)


def ints(*shape: int, low: int = 0, high: int = 10) -> Recipe:
    """Whole numbers, int64."""
    return lambda rng: rng.integers(low, high, shape)


def places(*shape: int, high: int) -> Recipe:
    """Whole numbers below high, all different along the last dimension."""
    return lambda rng: rng.permuted(np.broadcast_to(np.arange(high), (*shape[:-1], high)),
                                    axis=-1)[..., :shape[-1]]


def bools(*shape: int) -> Recipe:
    """True and False."""
    return lambda rng: rng.integers(0, 2, shape) > 0


def signs(*shape: int) -> Recipe:
    """Floating -1 and 1, as a target that needs no gradient: to be given in `kwargs`."""
    return lambda rng: rng.integers(0, 2, shape) * 2.0 - 1.0


@dataclass(frozen=True)
class Case:
    """One module and one call of it; see the top of the file."""

    source: str
    inputs: tuple[Recipe, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    second: bool = True
    slope: bool = True
    rtol: float = 1e-7

    def __init__(self, source: str, *inputs: Recipe, kwargs: dict[str, Any] | None = None,
                 second: bool = True, slope: bool = True, rtol: float = 1e-7) -> None:
        values = {"source": source, "inputs": inputs, "kwargs": kwargs or {}, "second": second,
                  "slope": slope, "rtol": rtol}
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def module(self) -> str:
        """The name of the class."""
        return self.source.partition("(")[0].partition(".")[0]

    def make(self, package: Any) -> Any:
        """Make the module with a package, the random numbers started anew."""
        package.manual_seed(3)
        return made(package, self.source)

    def arrays(self) -> list[Array]:
        """Return fresh inputs, always the same."""
        rng = np.random.default_rng(1)
        return [recipe(rng) for recipe in self.inputs]

    def options(self, package: Any) -> dict[str, Any]:
        """Return the keyword arguments of the call, recipes made into tensors."""
        rng = np.random.default_rng(2)
        return {name: package.from_numpy(np.asarray(value(rng))) if callable(value) else value
                for name, value in self.kwargs.items()}


def made(package: Any, source: str) -> Any:
    """Run a source with the names of a package's `nn`, and `torch` for the package."""
    return eval(source, {**names_in(package.nn), "torch": package})


def names_in(module: Any) -> dict[str, Any]:
    """Return all that a module offers, by name; minigrad loads what is not loaded yet."""
    return {name: getattr(module, name) for name in dir(module)}


SHAPES = [
    Case("Identity(3, a=1)", real(2, 6)),
    Case("Flatten()", real(2, 3, 4)),
    Case("Flatten(0, 1)", real(2, 3, 4)),
    Case("Unflatten(1, (2, 3))", real(2, 6)),
    Case("ReflectionPad1d(2)", real(2, 3, 4)),
    Case("ReflectionPad1d((1, 0))", real(3, 4)),
    Case("ReflectionPad2d(1)", real(2, 3, 4, 3)),
    Case("ReflectionPad2d((1, 2, 0, 1))", real(2, 3, 4, 3)),
    Case("ReflectionPad3d(1)", real(1, 2, 3, 2, 3)),
    Case("ReplicationPad1d((3, 1))", real(2, 3, 4)),
    Case("ReplicationPad2d(1)", real(2, 3, 4, 3)),
    Case("ReplicationPad3d((1, 0, 2, 1, 0, 1))", real(1, 2, 3, 2, 3)),
    Case("ConstantPad1d(2, 3.5)", real(2, 3, 4)),
    Case("ConstantPad1d((-1, 1), 2)", real(2, 3, 4)),
    Case("ConstantPad2d((1, 0, 2, 1), -1.0)", real(2, 4, 3)),
    Case("ConstantPad3d(1, 0.5)", real(1, 2, 3, 2, 3)),
    Case("ZeroPad1d((1, 2))", real(2, 3, 4)),
    Case("ZeroPad2d(1)", real(2, 3, 4, 3)),
    Case("ZeroPad3d(1)", real(1, 2, 3, 2, 3)),
    Case("CircularPad1d(2)", real(2, 3, 4)),
    Case("CircularPad2d((1, 2, 0, 1))", real(2, 3, 4, 3)),
    Case("CircularPad3d(1)", real(1, 2, 3, 2, 3)),
    Case("PixelShuffle(2)", real(2, 8, 2, 3)),
    Case("PixelUnshuffle(3)", real(2, 3, 6)),
    Case("Unfold(2)", real(2, 2, 3, 4)),
    Case("Unfold((2, 3), (2, 1), 1, (1, 2))", real(2, 5, 4)),
    Case("Fold((3, 4), 2)", real(2, 8, 6)),
    Case("Fold((5, 4), (2, 3), (2, 1), 1, (1, 2))", real(12, 10)),
    Case("Upsample(scale_factor=2)", real(1, 2, 3)),
    Case("Upsample((5, 2))", real(1, 2, 3, 4)),
    Case("Upsample(scale_factor=(1.5, 2.6))", real(1, 2, 3, 4)),
    Case("Upsample(3, mode='nearest-exact')", real(1, 2, 2, 3, 2)),
    Case("Upsample(scale_factor=1.7, mode='linear')", real(1, 2, 3)),
    Case("Upsample((5, 2), mode='bilinear')", real(1, 2, 3, 4)),
    Case("Upsample((5, 1), mode='bilinear', align_corners=True)", real(1, 2, 3, 4)),
    Case("Upsample(scale_factor=1.4, mode='bilinear', recompute_scale_factor=True)",
         real(1, 2, 3, 4)),
    Case("Upsample((2, 3), mode='area')", real(1, 2, 3, 4)),
    Case("Upsample(scale_factor=2, mode='trilinear')", real(1, 1, 2, 3, 2)),
]

LINEAR = [
    Case("Linear(4, 3)", real(5, 4)),
    Case("Linear(4, 3, bias=False)", real(2, 3, 4)),
    Case("Linear(4, 3)", real(4)),
    Case("Bilinear(3, 4, 2)", real(5, 3), real(5, 4)),
    Case("Bilinear(3, 1, 2, bias=False)", real(2, 2, 3), real(2, 2, 1)),
    Case("Embedding(5, 3)", ints(2, 4, high=5)),
    Case("Embedding(5, 3, max_norm=1.0)", ints(2, 4, high=5), slope=False),
    Case("Embedding(5, 3, padding_idx=0, max_norm=1.5, norm_type=1.0)", ints(6, high=5),
         slope=False),
    Case("Embedding.from_pretrained(torch.arange(6.0).reshape(3, 2))", ints(4, high=3)),
    Case("Embedding.from_pretrained(torch.ones(3, 2), freeze=False, padding_idx=2, max_norm=1.0)",
         ints(4, high=3), slope=False),
    Case("Embedding(5, 3, padding_idx=1)", ints(2, 4, high=5), slope=False),
    Case("Embedding(5, 3, padding_idx=-1, scale_grad_by_freq=True)", ints(7, high=5), slope=False),
    Case("EmbeddingBag(5, 3)", ints(2, 4, high=5), second=False),
    Case("EmbeddingBag(5, 3, mode='max')", ints(2, 4, high=5), second=False),
    Case("EmbeddingBag(5, 3, 1.0, 1.5, mode='sum', padding_idx=-1, include_last_offset=True)",
         ints(6, high=5), kwargs={"offsets": lambda rng: np.array([0, 2, 6])}, second=False,
         slope=False),
    Case("EmbeddingBag.from_pretrained(torch.arange(6.0).reshape(3, 2))", ints(4, 2, high=3)),
]

CONVOLUTIONS = [
    Case("Conv1d(4, 6, 3, stride=2, padding=1)", real(2, 4, 9)),
    Case("Conv1d(4, 6, 3, groups=2, dilation=2, bias=False)", real(4, 9)),
    Case("Conv1d(4, 2, 5, padding='same', padding_mode='circular')", real(2, 4, 9)),
    Case("Conv1d(2, 2, 4, padding='same', dilation=2)", real(2, 2, 9)),
    Case("Conv1d(2, 2, 4, padding='same', padding_mode='reflect')", real(2, 2, 9)),
    Case("Conv2d(4, 6, (3, 2), (2, 1), (1, 0), (1, 2), 2)", real(2, 4, 7, 7)),
    Case("Conv2d(3, 2, 1)", real(2, 3, 3, 4)),
    Case("Conv2d(3, 6, 3, padding='valid', groups=3)", real(3, 5, 4)),
    Case("Conv2d(2, 3, 3, padding=2, padding_mode='reflect', bias=False)", real(2, 2, 5, 6)),
    Case("Conv2d(2, 3, 3, padding=(1, 2), padding_mode='replicate')", real(2, 2, 5, 6)),
    Case("Conv2d(2, 3, (2, 3), padding='same', padding_mode='circular')", real(2, 2, 5, 6)),
    Case("Conv3d(2, 3, 2)", real(2, 2, 3, 4, 3)),
    Case("Conv3d(2, 2, 2, 2, (1, 0, 1), padding_mode='circular')", real(1, 2, 3, 4, 3)),
    Case("Conv3d(2, 2, (2, 1, 3), padding='same', groups=2)", real(2, 3, 2, 4)),
    Case("ConvTranspose1d(2, 3, 3)", real(2, 2, 5)),
    Case("ConvTranspose1d(4, 6, 3, 2, 1, 1, groups=2, bias=False)", real(4, 5)),
    Case("ConvTranspose1d(2, 3, 3, 2)", real(2, 2, 5), kwargs={"output_size": [12]}),
    Case("ConvTranspose2d(2, 3, 2)", real(2, 2, 3, 4)),
    Case("ConvTranspose2d(3, 2, 1)", real(1, 3, 3, 4)),
    Case("ConvTranspose2d(4, 2, (3, 2), (2, 1), (1, 0), (1, 0), 2, True, (1, 2))",
         real(2, 4, 3, 4)),
    Case("ConvTranspose2d(2, 2, 3, 1, 2, 2, dilation=3)", real(1, 2, 3, 3)),
    Case("ConvTranspose2d(2, 2, 2, 3)", real(1, 2, 2, 3), kwargs={"output_size": (1, 2, 6, 10)}),
    Case("ConvTranspose3d(2, 1, 2, (1, 2, 1))", real(1, 2, 2, 3, 2)),
]

POOLING = [
    Case("MaxPool1d(2)", real(2, 3, 8)),
    Case("MaxPool1d(3, 2, 1, 2, ceil_mode=True)", real(3, 8)),
    Case("MaxPool1d(2, return_indices=True)", real(2, 3, 8)),
    Case("MaxPool2d(3, 2, 1, ceil_mode=True)", real(2, 3, 8, 7)),
    Case("MaxPool2d((3, 2), (2, 1), (1, 0), (1, 2), return_indices=True)", real(2, 7, 7)),
    Case("MaxPool3d(2)", real(1, 2, 4, 4, 5)),
    Case("MaxPool3d((2, 1, 3), (1, 2, 2), (1, 0, 1), ceil_mode=True)", real(2, 4, 3, 5)),
    Case("AvgPool3d(2)", real(1, 2, 4, 4, 5)),
    Case("AvgPool3d((2, 1, 3), (1, 2, 2), (1, 0, 1), True, False)", real(2, 4, 3, 5)),
    Case("AvgPool3d(2, divisor_override=3)", real(2, 3, 3, 3)),
    Case("LPPool1d(2, 3)", positive(2, 3, 7)),
    Case("LPPool2d(1.5, (3, 2), 2, ceil_mode=True)", positive(2, 2, 6, 5)),
    Case("LPPool3d(3, 2)", positive(1, 2, 4, 3, 4)),
    Case("FractionalMaxPool2d(2, (3, 2))", real(2, 2, 6, 5)),
    Case("FractionalMaxPool2d((2, 1), output_ratio=0.5, return_indices=True)", real(2, 6, 5)),
    Case("FractionalMaxPool3d(2, output_ratio=(0.5, 0.6, 0.5))", real(1, 2, 5, 6, 4)),
    Case("LocalResponseNorm(2)", real(2, 5, 3)),
    Case("LocalResponseNorm(3, 0.5, 0.6, 2.0)", real(2, 5, 3, 2)),
    Case("ChannelShuffle(2)", real(2, 6, 3, 2)),
    Case("UpsamplingNearest2d(scale_factor=2)", real(1, 2, 3, 2)),
    Case("UpsamplingBilinear2d((5, 3))", real(1, 2, 3, 2)),
    Case("UpsamplingBilinear2d(scale_factor=(2, 1.5))", real(1, 2, 3, 2)),
    Case("MaxUnpool3d((1, 2, 2))", real(1, 2, 1, 1, 3), places(1, 2, 1, 1, 3, high=12)),
    Case("CTCLoss()"),
    Case("CTCLoss(2, 'sum', True)"),
    Case("LinearCrossEntropyLoss(3, 4)", real(5, 3), ints(5, high=4)),
    Case("LinearCrossEntropyLoss(3, 4, out_features=(2,), bias=True, label_smoothing=0.1)",
         real(5, 3), ints(5, 2, high=4)),
    Case("LinearCrossEntropyLoss(3, 4, weight=torch.ones(4), reduction='none', ignore_index=1)",
         real(5, 3), ints(5, high=4)),
    Case("MaxUnpool1d(2)", real(2, 3, 2), places(2, 3, 2, high=4)),
    Case("MaxUnpool2d(2)", real(1, 3, 1, 2), places(1, 3, 1, 2, high=8)),
    Case("MaxUnpool2d((3, 2), 2, (1, 0))", real(2, 1, 2), places(2, 1, 2, high=5),
         kwargs={"output_size": (2, 5)}),
    Case("AvgPool1d(2, 1)", real(2, 3, 8)),
    Case("AvgPool1d(3, 2, 1, ceil_mode=True, count_include_pad=False)", real(3, 8)),
    Case("AvgPool2d(2)", real(2, 3, 8, 7)),
    Case("AvgPool2d((3, 2), (2, 1), (1, 0), True, False)", real(2, 3, 8, 7)),
    Case("AvgPool2d(2, divisor_override=3)", real(3, 4, 4)),
    Case("AdaptiveAvgPool1d(3)", real(2, 3, 8)),
    Case("AdaptiveAvgPool2d((2, 3))", real(2, 3, 8, 7)),
    Case("AdaptiveAvgPool2d((None, 2))", real(3, 4, 7)),
    Case("AdaptiveAvgPool3d((2, None, 3))", real(2, 3, 4, 3, 5)),
    Case("AdaptiveMaxPool1d(3)", real(2, 3, 8)),
    Case("AdaptiveMaxPool2d((2, 3))", real(2, 3, 8, 7)),
    Case("AdaptiveMaxPool2d(2, return_indices=True)", real(3, 4, 5)),
    Case("AdaptiveMaxPool3d((2, None, 3), return_indices=True)", real(3, 4, 3, 5)),
]

NORMALISATION = [
    Case("BatchNorm1d(4)", real(5, 4)),
    Case("BatchNorm1d(4, bias=False)", real(5, 4)),
    Case("BatchNorm1d(4, momentum=None)", real(5, 4, 3)),
    Case("BatchNorm1d(4, track_running_stats=False)", real(5, 4)),
    Case("BatchNorm2d(3)", real(3, 3, 2, 4)),
    Case("BatchNorm2d(4, eps=1e-3, momentum=0.3, affine=False)", real(3, 4, 2, 5)),
    Case("BatchNorm2d(3, affine=False, track_running_stats=False)", real(2, 3, 2, 2)),
    Case("BatchNorm3d(2)", real(2, 2, 1, 3, 2)),
    Case("GroupNorm(2, 4)", real(3, 4, 2)),
    Case("GroupNorm(3, 6, eps=1e-3, bias=False)", real(2, 6, 2, 2)),
    Case("GroupNorm(1, 4, affine=False)", real(3, 4)),
    Case("InstanceNorm1d(3)", real(2, 3, 4)),
    Case("InstanceNorm1d(3, affine=True, track_running_stats=True)", real(2, 3, 4)),
    Case("InstanceNorm1d(3, track_running_stats=True, momentum=0.4)", real(3, 4)),
    Case("InstanceNorm2d(2, affine=True)", real(2, 2, 3, 2)),
    Case("InstanceNorm2d(2, eps=1e-3, track_running_stats=True, momentum=None)",
         real(2, 2, 3, 2)),
    Case("InstanceNorm2d(2, affine=True, bias=False)", real(2, 3, 2)),
    Case("InstanceNorm3d(2)", real(1, 2, 2, 3, 2)),
    Case("RMSNorm(4)", real(3, 4)),
    Case("RMSNorm((3, 4), eps=1e-3)", real(2, 3, 4)),
    Case("RMSNorm(4, elementwise_affine=False)", real(3, 4)),
    Case("LayerNorm((3, 4))", real(5, 3, 4)),
    Case("LayerNorm(4, bias=False)", real(5, 4)),
    Case("LayerNorm(4, eps=1e-3, elementwise_affine=False)", real(2, 5, 4)),
]

CONTAINERS = [
    Case("Sequential(Linear(4, 8), BatchNorm1d(8), ReLU(), Linear(8, 2))", real(6, 4)),
    Case("Sequential(Conv2d(2, 4, 3), ReLU(inplace=True), MaxPool2d(2), Flatten())",
         real(2, 2, 6, 6)),
    Case("DataParallel(Linear(4, 2))", real(6, 4)),
    Case("ModuleList([Linear(2, 2), Linear(2, 2), ReLU()])"),
    Case("ModuleDict({'a': Linear(2, 2), 'b': ReLU()})"),
    Case("ParameterList([torch.ones(2), torch.zeros(2, 3)])"),
    Case("ParameterDict({'a': torch.ones(2), 'b': torch.zeros(2, 3)})"),
]

ACTIVATIONS = [
    Case("ReLU()", real(3, 4)),
    Case("ReLU(inplace=True)", real(3, 4)),
    Case("LeakyReLU(0.2)", real(3, 4)),
    Case("PReLU()", real(3, 4)),
    Case("PReLU(4, init=0.1)", real(3, 4)),
    Case("ELU(0.5)", real(3, 4)),
    Case("CELU(0.5)", real(3, 4)),
    Case("SELU()", real(3, 4)),
    Case("GELU()", real(3, 4)),
    Case("GELU('tanh')", real(3, 4)),
    Case("GLU()", real(3, 4)),
    Case("SiLU()", real(3, 4)),
    Case("Mish()", real(3, 4)),
    Case("Sigmoid()", real(3, 4)),
    Case("LogSigmoid()", real(3, 4)),
    Case("Tanh()", real(3, 4)),
    Case("Tanhshrink()", real(3, 4)),
    Case("Hardtanh(-0.5, 0.5)", real(3, 4)),
    Case("ReLU6()", wide(3, 4)),
    Case("Hardsigmoid()", wide(3, 4), second=False),
    Case("Hardswish()", wide(3, 4)),
    Case("Hardshrink()", real(3, 4)),
    Case("Softshrink()", real(3, 4)),
    Case("Threshold(0.1, 20.0)", real(3, 4)),
    Case("Softplus(2.0)", real(3, 4)),
    Case("Softsign()", real(3, 4)),
    Case("Softmax(dim=1)", real(3, 4)),
    Case("LogSoftmax(dim=-1)", real(3, 4)),
    Case("Softmin(dim=0)", real(3, 4)),
    Case("Softmax2d()", real(2, 3, 4, 2)),
    Case("Dropout(0.3)", real(3, 4)),
    Case("Dropout1d(0.3)", real(3, 4, 2)),
    Case("Dropout2d(0.3)", real(3, 4, 2, 2)),
    Case("AlphaDropout(0.3)", real(3, 4)),
    Case("LeakyReLU(inplace=True)", real(3, 4)),
    Case("PReLU(2)", real(3, 2, 2)),
    Case("RReLU()", real(3, 4)),
    Case("RReLU(0.2, 0.9, inplace=True)", real(2, 3, 4)),
    Case("ELU(inplace=True)", real(3, 4)),
    Case("CELU(inplace=True)", real(3, 4)),
    Case("SELU(inplace=True)", real(3, 4)),
    Case("GLU(0)", real(2, 4)),
    Case("SiLU(inplace=True)", real(3, 4)),
    Case("Mish(inplace=True)", real(3, 4)),
    Case("Hardtanh(inplace=True)", real(3, 4)),
    Case("ReLU6(inplace=True)", wide(3, 4)),
    Case("Hardsigmoid(inplace=True)", wide(3, 4), second=False),
    Case("Hardswish(inplace=True)", wide(3, 4)),
    Case("Hardshrink(0.2)", real(3, 4)),
    Case("Softshrink(0.2)", real(3, 4)),
    Case("Threshold(-0.5, 0.0, inplace=True)", real(3, 4)),
    Case("Softplus(5, 3)", wide(3, 4)),
    Case("Softmax(0)", real(4)),
    Case("LogSoftmax(1)", real(2, 3, 2)),
    Case("Softmax2d()", real(3, 4, 2)),
    Case("Dropout(0)", real(3, 4)),
    Case("Dropout(1)", real(3, 4)),
    Case("Dropout(0.4, inplace=True)", real(5, 7)),
    Case("Dropout1d(0.3)", real(6, 2)),
    Case("Dropout1d(0.4, inplace=True)", real(2, 5, 2)),
    Case("Dropout3d(0.4)", real(2, 3, 2, 1, 2)),
    Case("Dropout3d(0.4, inplace=True)", real(5, 2, 1, 2)),
    Case("AlphaDropout(0.6)", real(4, 5)),
    Case("FeatureAlphaDropout(0.4)", real(3, 4, 2)),
]

LOSSES = [
    Case("MSELoss()", real(3, 4), real(3, 4)),
    Case("L1Loss(reduction='sum')", real(3, 4), real(3, 4)),
    Case("SmoothL1Loss(beta=0.5)", real(3, 4), real(3, 4)),
    Case("HuberLoss(delta=0.5, reduction='none')", real(3, 4), real(3, 4)),
    Case("BCELoss()", chance(3, 4), kwargs={"target": chance(3, 4)}),
    Case("BCEWithLogitsLoss(pos_weight=torch.ones(4) * 2)", real(3, 4),
         kwargs={"target": chance(3, 4)}),
    Case("NLLLoss(weight=torch.arange(1, 5) / 4)", real(3, 4), ints(3, high=4)),
    Case("CrossEntropyLoss(label_smoothing=0.1)", real(3, 4), ints(3, high=4)),
    Case("CrossEntropyLoss(ignore_index=2)", real(3, 4, 2), ints(3, 2, high=4)),
    Case("KLDivLoss(reduction='batchmean')", real(3, 4), chance(3, 4)),
    Case("MSELoss(reduction='none')", real(3, 4), real(3, 4)),
    Case("MSELoss(reduction='sum')", real(3), real(3)),
    Case("L1Loss()", real(3, 4), real(3, 4)),
    Case("L1Loss(reduction='none')", real(), real()),
    Case("SmoothL1Loss(reduction='none')", real(3, 4), real(3, 4)),
    Case("SmoothL1Loss(beta=0)", real(3, 4), real(3, 4)),
    Case("HuberLoss()", real(3, 4), real(3, 4)),
    Case("HuberLoss(reduction='sum', delta=2)", real(3, 4), real(3, 4)),
    Case("BCELoss(weight=torch.arange(1, 5) / 4, reduction='none')", chance(3, 4),
         kwargs={"target": chance(3, 4)}),
    Case("BCELoss(reduction='sum')", chance(3), chance(3)),
    Case("BCEWithLogitsLoss()", real(3, 4), chance(3, 4)),
    Case("BCEWithLogitsLoss(weight=torch.arange(1, 5) / 4, reduction='sum')", wide(3, 4),
         kwargs={"target": chance(3, 4)}),
    Case("BCEWithLogitsLoss(torch.ones(3, 4) / 3, None, None, 'none', torch.arange(1, 5) / 2)",
         real(3, 4), kwargs={"target": chance(3, 4)}),
    Case("NLLLoss(ignore_index=1, reduction='sum')", real(5, 4), ints(5, high=4)),
    Case("NLLLoss(reduction='none')", real(2, 3, 2, 2), ints(2, 2, 2, high=3)),
    Case("NLLLoss(weight=torch.arange(1, 4) / 3, ignore_index=0)", real(2, 3, 2, 2),
         ints(2, 2, 2, high=3)),
    Case("NLLLoss()", real(4), ints(high=4)),
    Case("CrossEntropyLoss()", real(3, 4), chance(3, 4)),
    Case("CrossEntropyLoss()", real(4), ints(high=4)),
    Case("CrossEntropyLoss(weight=torch.arange(1, 5) / 4, ignore_index=1)", real(5, 4),
         ints(5, high=4)),
    Case("CrossEntropyLoss(weight=torch.arange(1, 5) / 4, label_smoothing=0.2)", real(5, 4),
         ints(5, high=4)),
    Case("CrossEntropyLoss(torch.arange(1, 5) / 4, ignore_index=2, label_smoothing=0.2)",
         real(5, 4, 2), ints(5, 2, high=4)),
    Case("CrossEntropyLoss(weight=torch.arange(1, 5) / 4, reduction='sum', label_smoothing=0.1)",
         real(2, 4, 2), chance(2, 4, 2)),
    Case("CrossEntropyLoss(reduction='none', label_smoothing=0.1)", real(2, 4, 2),
         ints(2, 2, high=4)),
    Case("CrossEntropyLoss(reduction='none')", real(2, 4), chance(2, 4)),
    Case("KLDivLoss(reduction='sum', log_target=True)", real(3, 4), real(3, 4)),
    Case("KLDivLoss(reduction='none')", real(3), chance(3)),
    Case("CosineEmbeddingLoss()", real(5, 3), real(5, 3), kwargs={"target": signs(5)}),
    Case("CosineEmbeddingLoss(margin=0.3, reduction='none')", real(5, 3), real(5, 3),
         kwargs={"target": signs(5)}),
    Case("CosineEmbeddingLoss(reduction='sum')", real(3), real(3), kwargs={"target": signs()}),
    Case("MarginRankingLoss()", real(6), real(6), kwargs={"target": signs(6)}),
    Case("MarginRankingLoss(0.5, reduction='none')", real(2, 3), real(2, 3),
         kwargs={"target": signs(2, 3)}),
    Case("HingeEmbeddingLoss()", real(3, 4), kwargs={"target": signs(3, 4)}),
    Case("HingeEmbeddingLoss(0.3, reduction='sum')", real(7), kwargs={"target": signs(7)}),
    Case("TripletMarginLoss()", real(4, 3), real(4, 3), real(4, 3)),
    Case("TripletMarginLoss(0.5, 3, swap=True, reduction='none')", real(4, 3), real(4, 3),
         real(4, 3)),
    Case("TripletMarginWithDistanceLoss(margin=2.0, swap=True)", real(4, 3), real(4, 3),
         real(4, 3)),
    Case("SoftMarginLoss()", real(3, 4), kwargs={"target": signs(3, 4)}),
    Case("SoftMarginLoss(reduction='none')", real(5), kwargs={"target": signs(5)}),
    Case("MultiMarginLoss()", real(5, 4), ints(5, high=4), second=False),
    Case("MultiMarginLoss(2, 0.5, torch.arange(1, 5) / 4, reduction='sum')", real(5, 4),
         ints(5, high=4), second=False),
    Case("MultiMarginLoss(reduction='none')", real(4), ints(high=4), second=False),
    Case("MultiLabelMarginLoss()", real(3, 4), ints(3, 4, low=-1, high=4), second=False),
    Case("MultiLabelMarginLoss(reduction='none')", real(3, 4), ints(3, 4, low=-1, high=4),
         second=False),
    Case("MultiLabelSoftMarginLoss()", real(3, 4), chance(3, 4)),
    Case("MultiLabelSoftMarginLoss(torch.arange(1, 5) / 4, reduction='none')", real(3, 4),
         kwargs={"target": chance(3, 4)}),
    Case("PoissonNLLLoss()", real(3, 4), kwargs={"target": positive(3, 4)}),
    Case("PoissonNLLLoss(log_input=False, full=True, reduction='sum')", positive(3, 4),
         kwargs={"target": wide(3, 4)}),
    Case("GaussianNLLLoss()", real(3, 4), real(3, 4), positive(3, 4)),
    Case("GaussianNLLLoss(full=True, reduction='none')", real(3, 4), real(3, 4), positive(3)),
    Case("GaussianNLLLoss(eps=1.0, reduction='sum')", real(3, 4), real(3, 4), positive(3, 1)),
    Case("CosineSimilarity()", real(3, 4), real(3, 4)),
    Case("CosineSimilarity(dim=0, eps=2.5)", real(3, 4), real(3, 4), slope=False),
    Case("PairwiseDistance()", real(3, 4), real(3, 4)),
    Case("PairwiseDistance(1.0, keepdim=True)", real(3, 4), real(4)),
]

ADAPTIVE = [
    Case("AdaptiveLogSoftmaxWithLoss(6, 12, [3, 5, 9], div_value=1.5)", real(7, 6),
         ints(7, high=12)),
    Case("AdaptiveLogSoftmaxWithLoss(6, 12, (2,), head_bias=True)", real(5, 6), ints(5, high=12)),
    Case("AdaptiveLogSoftmaxWithLoss(6, 12, [3, 5], 1.5)", real(6), ints(low=6, high=12)),
    Case("AdaptiveLogSoftmaxWithLoss(6, 12, [11], 2.0)", real(1, 6), ints(1, low=11, high=12)),
]

RECURRENT = [
    Case("RNN(3, 4)", real(5, 2, 3)),
    Case("RNN(3, 4, 2, 'relu', bias=False, batch_first=True)", real(2, 5, 3)),
    Case("RNN(3, 4, bidirectional=True)", real(5, 3), real(2, 4)),
    Case("GRU(3, 4)", real(5, 2, 3), real(1, 2, 4)),
    Case("GRU(3, 4, 2, bias=False, bidirectional=True)", real(5, 2, 3)),
    Case("GRU(3, 2, 2, dropout=0.5, batch_first=True)", real(2, 3, 3)),
    Case("LSTM(3, 4)", real(5, 2, 3)),
    Case("LSTM(3, 4, 2, batch_first=True, bidirectional=True)", real(2, 3, 3)),
    Case("LSTM(3, 4, 2, bias=False, dropout=0.5)", real(3, 2, 3)),
    Case("LSTM(3, 4, 2, proj_size=2, bidirectional=True)", real(3, 2, 3)),
    Case("LSTM(3, 4)", real(5, 3)),
    Case("RNNCell(3, 4)", real(2, 3), real(2, 4)),
    Case("RNNCell(3, 4, bias=False, nonlinearity='relu')", real(3)),
    Case("LSTMCell(3, 4)", real(2, 3)),
    Case("LSTMCell(3, 4, bias=False)", real(3)),
    Case("GRUCell(3, 4)", real(2, 3), real(2, 4)),
    Case("GRUCell(3, 4, bias=False)", real(3)),
]

#: PyTorch has no second derivative of its fused attention, which it takes without the weights.
FUSED = {"kwargs": {"need_weights": False}, "second": False}

ATTENTION = [
    Case("MultiheadAttention(4, 2)", real(5, 2, 4), real(3, 2, 4), real(3, 2, 4)),
    Case("MultiheadAttention(4, 2, dropout=0.5)", real(5, 2, 4), real(3, 2, 4), real(3, 2, 4)),
    Case("MultiheadAttention(4, 2, bias=False, batch_first=True)", real(2, 5, 4), real(2, 3, 4),
         real(2, 3, 4), kwargs={"average_attn_weights": False}),
    Case("MultiheadAttention(4, 2, kdim=3, vdim=5)", real(5, 4), real(3, 3), real(3, 5)),
    Case("MultiheadAttention(4, 2, add_bias_kv=True, add_zero_attn=True)", real(5, 2, 4),
         real(3, 2, 4), real(3, 2, 4), kwargs={"attn_mask": bools(4, 5, 3),
                                               "key_padding_mask": bools(2, 3)}),
    Case("MultiheadAttention(4, 2)", real(5, 2, 4), real(3, 2, 4), real(3, 2, 4), **FUSED),
    Case("MultiheadAttention(4, 2, batch_first=True)", real(2, 3, 4), real(2, 3, 4),
         real(2, 3, 4), kwargs={"attn_mask": real(3, 3), "need_weights": False}, second=False),
    Case("TransformerEncoderLayer(4, 2, 6, dropout=0.0)", real(3, 2, 4), second=False),
    Case("TransformerEncoderLayer(4, 2, 6, dropout=0.5, batch_first=True)", real(2, 3, 4),
         second=False),
    Case("TransformerEncoderLayer(4, 2, 6, activation='gelu', norm_first=True, batch_first=True, "
         "bias=False)", real(2, 3, 4), second=False),
    Case("TransformerEncoder(TransformerEncoderLayer(4, 2, 6), 2, LayerNorm(4), "
         "enable_nested_tensor=False)", real(3, 2, 4), second=False),
    Case("TransformerDecoderLayer(4, 2, 6, norm_first=True)", real(3, 2, 4), real(5, 2, 4),
         second=False),
    Case("TransformerDecoder(TransformerDecoderLayer(4, 2, 6, 0.0), 2)", real(3, 2, 4),
         real(5, 2, 4), second=False),
    Case("Transformer(4, 2, 1, 1, 6, 0.0, batch_first=True)", real(2, 3, 4), real(2, 5, 4),
         second=False),
]

CASES = [*SHAPES, *LINEAR, *CONVOLUTIONS, *POOLING, *NORMALISATION, *CONTAINERS, *ACTIVATIONS,
         *LOSSES, *ADAPTIVE, *RECURRENT, *ATTENTION]

ERRORS = [
    "Conv2d(3, 4, 2, groups=2)",
    "Conv2d(4, 3, 2, groups=2)",
    "Conv2d(4, 4, 2, groups=0)",
    "Conv2d(4, 4, 2, padding='most')",
    "Conv2d(4, 4, 2, 2, padding='same')",
    "Conv2d(4, 4, 2, padding_mode='most')",
    "ConvTranspose2d(3, 4, 2, groups=2)",
    "ConvTranspose2d(4, 3, 2, groups=2)",
    "ConvTranspose1d(4, 3, 2, padding_mode='reflect')",
    "FractionalMaxPool2d(2)",
    "FractionalMaxPool2d(2, 3, 0.5)",
    "FractionalMaxPool3d(2, output_ratio=1.5)",
    "LinearCrossEntropyLoss(3, 4, weight=torch.ones(3))",
    "LinearCrossEntropyLoss(3, 4, label_smoothing=2)",
    "Bilinear(0, 3, 2)",
    "Embedding(5, 3, padding_idx=5)",
    "Embedding(5, 3, padding_idx=-6)",
    "Embedding(5, 3, _weight=torch.ones(3, 5))",
    "EmbeddingBag(5, 3, padding_idx=5)",
    "EmbeddingBag(5, 3, _weight=torch.ones(3, 5))",
    "EmbeddingBag.from_pretrained(torch.ones(3))",
    "Embedding.from_pretrained(torch.ones(3))",
    "GroupNorm(3, 4)",
    "AdaptiveLogSoftmaxWithLoss(6, 12, [])",
    "AdaptiveLogSoftmaxWithLoss(6, 12, [5, 3])",
    "AdaptiveLogSoftmaxWithLoss(6, 12, [3, 3])",
    "AdaptiveLogSoftmaxWithLoss(6, 12, [0, 3])",
    "AdaptiveLogSoftmaxWithLoss(6, 12, [3, 12])",
    "AdaptiveLogSoftmaxWithLoss(6, 12, [2.5])",
    "Unflatten(1, 3)",
    "Unflatten(1, (2, 3.0))",
    "Dropout(1.5)",
    "Sequential(3)",
    "ModuleList([3])",
    "ModuleDict(3)",
    "LSTM(0, 4)",
    "LSTM(3, 4.0)",
    "LSTM(3, 4, 0)",
    "LSTM(3, 4, dropout=1.5)",
    "LSTM(3, 4, proj_size=4)",
    "LSTM(3, 4, proj_size=-1)",
    "GRU(3, 4, bias=1)",
    "GRU(3, 4, proj_size=2)",
    "RNN(3, 4, nonlinearity='other')",
    "MultiheadAttention(5, 2)",
    "MultiheadAttention(0, 2)",
    "TransformerEncoderLayer(4, 2, activation='other')",
]

#: The same for calls.
CALL_ERRORS = [
    "AdaptiveLogSoftmaxWithLoss(6, 9, [3])(torch.ones(2, 6), torch.tensor([1, 9]))",
    "AdaptiveLogSoftmaxWithLoss(6, 9, [3])(torch.ones(2, 6), torch.tensor([1, -1]))",
    "AdaptiveLogSoftmaxWithLoss(6, 9, [3])(torch.ones(2, 6), torch.tensor([1]))",
    "AdaptiveLogSoftmaxWithLoss(6, 9, [3])(torch.ones(6), torch.tensor([1] * 6))",
    "AdaptiveLogSoftmaxWithLoss(6, 9, [3])(torch.ones(2, 6), torch.tensor(1))",
    "AdaptiveLogSoftmaxWithLoss(6, 9, [3])(torch.ones(2, 6), torch.tensor([[1], [2]]))",
    "GLU()(torch.ones(3))",
    "GLU()(torch.tensor(3.0))",
    "GLU(2)(torch.ones(3))",
    "PReLU(3)(torch.ones(2, 4))",
    "PReLU(3)(torch.tensor(1.0))",
    "RReLU(0.5, 0.2)(torch.ones(3))",
    "Softmax2d()(torch.ones(3, 3))",
    "Softmax()(torch.ones(3, 3))",
    "LogSoftmax()(torch.ones(3))",
    "Softmin()(torch.ones(3, 3))",
    "Softmax(2)(torch.ones(3, 3))",
    "Softplus()(torch.ones(3).long())",
    "Softshrink(-1)(torch.ones(3))",
    "Dropout1d()(torch.ones(3))",
    "Dropout2d()(torch.ones(3))",
    "Dropout2d(0)(torch.ones(3, 2, 2)).sum()",
    "Dropout3d(0)(torch.ones(3, 2, 2)).sum()",
    "MSELoss()(torch.ones(3), torch.ones(3, 1))",
    "MSELoss()(torch.ones(3), torch.ones(2))",
    "MSELoss(reduction='most')(torch.ones(3), torch.ones(3))",
    "L1Loss()(torch.ones(3), torch.ones(2))",
    "L1Loss(reduction='x')(torch.ones(3), torch.ones(3))",
    "SmoothL1Loss(beta=-1)(torch.ones(3), torch.ones(3))",
    "HuberLoss(delta=0)(torch.ones(3), torch.ones(3))",
    "MSELoss(size_average=False)(torch.ones(3), torch.zeros(3))",
    "BCELoss()(torch.ones(3), torch.ones(2))",
    "BCELoss()(torch.ones(3) * 2, torch.ones(3))",
    "BCELoss()(torch.ones(3), torch.ones(3).long())",
    "BCEWithLogitsLoss()(torch.ones(3), torch.ones(2))",
    "NLLLoss()(torch.ones(3, 2), torch.ones(2).long())",
    "NLLLoss()(torch.ones(3, 2), torch.ones(3))",
    "NLLLoss()(torch.ones(3, 2), torch.tensor([0, 1, 2]))",
    "NLLLoss()(torch.ones(3, 2), torch.tensor([0, 1, -1]))",
    "NLLLoss()(torch.tensor(1.0), torch.tensor(0))",
    "NLLLoss(weight=torch.ones(3))(torch.ones(3, 2), torch.ones(3).long())",
    "NLLLoss()(torch.ones(2, 3, 4), torch.ones(2, 5).long())",
    "NLLLoss()(torch.ones(2, 3, 4, 4), torch.ones(2, 4).long())",
    "CrossEntropyLoss()(torch.ones(3, 2), torch.ones(4).long())",
    "CrossEntropyLoss()(torch.ones(3, 2), torch.ones(3, 2).long())",
    "CrossEntropyLoss(label_smoothing=2.0)(torch.ones(3, 2), torch.ones(3).long())",
    "KLDivLoss()(torch.zeros(2, 2), torch.ones(2, 2))",
    "CosineEmbeddingLoss()(torch.ones(2), torch.ones(2), torch.ones(2, 2))",
    "CosineEmbeddingLoss()(torch.ones(2), torch.ones(2), torch.ones(2))",
    "CosineEmbeddingLoss()(torch.ones(2, 2), torch.ones(2, 2), torch.tensor(1))",
    "MarginRankingLoss()(torch.ones(2), torch.ones(2), torch.tensor(1))",
    "MarginRankingLoss(reduction='x')(torch.ones(2), torch.ones(2), torch.ones(2))",
    "TripletMarginWithDistanceLoss()(torch.ones(2), torch.ones(2, 2), torch.ones(2))",
    "TripletMarginWithDistanceLoss(reduction='x')(torch.ones(2), torch.ones(2), torch.ones(2))",
    "MultiLabelSoftMarginLoss(reduction='x')(torch.ones(2, 2), torch.ones(2, 2))",
    "MultiMarginLoss()(torch.ones(2, 2), torch.tensor([0, 2]))",
    "GaussianNLLLoss()(torch.ones(2), torch.ones(2), -torch.ones(2))",
    "GaussianNLLLoss()(torch.ones(2), torch.ones(2), -1.0)",
    "GaussianNLLLoss()(torch.ones(2, 3), torch.ones(2, 3), torch.ones(3))",
    "GaussianNLLLoss(reduction='x')(torch.ones(2), torch.ones(2), torch.ones(2))",
    "PoissonNLLLoss(reduction='x')(torch.ones(2), torch.ones(2))",
    "ParameterList([torch.ones(2)])(1)",
    "ModuleList([ReLU()])(1)",
    "Sequential(Linear(2, 3), Linear(2, 3))(torch.ones(1, 2))",
    "Linear(4, 3)(torch.ones(2, 3))",
    "Bilinear(3, 4, 2)(torch.ones(2, 3), torch.ones(3, 4))",
    "Bilinear(3, 4, 2)(torch.ones(2, 3), torch.ones(2, 5))",
    "Bilinear(3, 4, 2)(torch.ones(2, 2), torch.ones(2, 4))",
    "Bilinear(3, 4, 2)(torch.ones(2, 3), torch.ones(4))",
    "Embedding(5, 3)(torch.tensor([5]))",
    "Conv2d(2, 3, 2)(torch.ones(1, 3, 4, 4))",
    "Conv2d(2, 3, 2)(torch.ones(2, 4))",
    "Conv2d(2, 3, 5)(torch.ones(1, 2, 4, 4))",
    "ConvTranspose2d(3, 2, 2)(torch.ones(1, 2, 3, 3))",
    "ConvTranspose2d(3, 2, 2)(torch.ones(3, 3))",
    "ConvTranspose1d(3, 2, 2)(torch.ones(3))",
    "ConvTranspose2d(2, 2, 2, output_padding=1)(torch.ones(1, 2, 3, 3))",
    "ConvTranspose1d(2, 2, 2, output_padding=1)(torch.ones(1, 2, 3))",
    "ConvTranspose3d(2, 2, 2, output_padding=1)(torch.ones(1, 2, 3, 3, 3))",
    "ConvTranspose2d(2, 2, 2, padding=3)(torch.ones(1, 2, 3, 3))",
    "ConvTranspose2d(2, 2, 2, padding=-1)(torch.ones(1, 2, 3, 3))",
    "ConvTranspose2d(2, 2, 2, stride=0)(torch.ones(1, 2, 3, 3))",
    "ConvTranspose2d(2, 2, 2, dilation=0)(torch.ones(1, 2, 3, 3))",
    "ConvTranspose2d(2, 2, 2, output_padding=-1)(torch.ones(1, 2, 3, 3))",
    "ConvTranspose2d(2, 2, 2)(torch.ones(1, 2, 3, 3, dtype=torch.float64))",
    "ConvTranspose1d(2, 3, 3, 2)(torch.ones(1, 2, 3), output_size=[9])",
    "ConvTranspose1d(2, 3, 3, 2)(torch.ones(1, 2, 3), output_size=[9, 9])",
    "BatchNorm1d(2)(torch.ones(2, 2, 2, 2))",
    "BatchNorm2d(2)(torch.ones(2, 2))",
    "BatchNorm2d(2)(torch.ones(1, 2, 1, 1))",
    "BatchNorm2d(2)(torch.ones(2, 3, 2, 2))",
    "BatchNorm3d(2)(torch.ones(2, 2))",
    "LayerNorm(3)(torch.ones(2, 2))",
    "GroupNorm(2, 4)(torch.ones(4))",
    "GroupNorm(2, 4)(torch.ones(2, 6, 2))",
    "GroupNorm(2, 4)(torch.ones(2, 3, 2))",
    "GroupNorm(4, 4)(torch.ones(1, 4))",
    "InstanceNorm1d(3)(torch.ones(3))",
    "InstanceNorm2d(3)(torch.ones(2, 3))",
    "InstanceNorm2d(3)(torch.ones(2, 3, 1, 1))",
    "InstanceNorm2d(3, affine=True)(torch.ones(2, 4, 2, 2))",
    "InstanceNorm2d(3, track_running_stats=True, affine=True)(torch.ones(4, 2, 2))",
    "MaxPool2d(3)(torch.ones(1, 1, 2, 2))",
    "AvgPool2d(2)(torch.ones(2, 2))",
    "AdaptiveAvgPool2d(2)(torch.ones(2, 2))",
    "MaxPool3d((2, 2))(torch.ones(1, 2, 4, 4, 4))",
    "MaxPool3d(2, (2, 2))(torch.ones(1, 2, 4, 4, 4))",
    "MaxPool3d(2)(torch.ones(4, 4, 4))",
    "MaxPool3d(2, 0)(torch.ones(1, 2, 4, 4, 4))",
    "MaxPool3d(2, padding=2)(torch.ones(1, 2, 4, 4, 4))",
    "MaxPool3d(2, padding=-1)(torch.ones(1, 2, 4, 4, 4))",
    "MaxPool3d(2, dilation=0)(torch.ones(1, 2, 4, 4, 4))",
    "MaxPool3d(9)(torch.ones(1, 2, 4, 4, 4))",
    "MaxPool3d(2)(torch.ones(1, 0, 4, 4, 4))",
    "AvgPool3d((2, 2))(torch.ones(1, 2, 4, 4, 4))",
    "AvgPool3d(2, (2, 2))(torch.ones(1, 2, 4, 4, 4))",
    "AvgPool3d(9)(torch.ones(1, 2, 4, 4, 4))",
    "AvgPool3d(2, divisor_override=0)(torch.ones(1, 2, 4, 4, 4))",
    "AvgPool3d(2)(torch.ones(1, 2, 0, 4, 4))",
    "FractionalMaxPool2d(9, 3)(torch.ones(1, 2, 7, 8))",
    "FractionalMaxPool3d(2, 3)(torch.ones(1, 2, 3, 7, 8))",
    "FractionalMaxPool2d(2, 3, _random_samples=torch.rand(1, 3, 3))(torch.ones(1, 3, 7, 8))",
    "FractionalMaxPool2d(2, 3, _random_samples=torch.rand(1, 3, 2))(torch.ones(2, 3, 7, 8))",
    "LocalResponseNorm(2)(torch.ones(3, 3))",
    "ChannelShuffle(2)(torch.ones(1, 3, 2))",
    "ChannelShuffle(0)(torch.ones(1, 3, 2))",
    "ChannelShuffle(3)(torch.ones(3, 2))",
    "MaxUnpool3d(2)(torch.ones(2, 2, 2), torch.ones(2, 2, 2).long())",
    "MaxUnpool3d(2)(torch.ones(1, 2, 2, 2), torch.ones(1, 2, 2, 2))",
    "CTCLoss()(torch.ones(5, 2, 4), torch.ones(2, 2).long(), (5, 5, 5), (2, 1))",
    "CTCLoss()(torch.ones(5, 2, 4), torch.ones(2, 2).long(), (5, 6), (2, 1))",
    "CTCLoss()(torch.ones(5, 2, 4), torch.ones(2, 2).long(), (5, 5), (2, 3))",
    "CTCLoss()(torch.ones(5, 2, 4), torch.ones(2, 2).long(), (5, 5), (2, -1))",
    "CTCLoss()(torch.ones(5, 2, 4), torch.ones(3).long(), (5, 5), (2, 2))",
    "CTCLoss(7)(torch.ones(5, 2, 4), torch.ones(2, 2).long(), (5, 5), (2, 1))",
    "CTCLoss()(torch.ones(0, 2, 4), torch.ones(2, 2).long(), (0, 0), (2, 1))",
    "CTCLoss()(torch.ones(5, 2, 4), torch.ones(2, 2).long(), torch.ones(2), torch.ones(2).long())",
    "LinearCrossEntropyLoss(3, 4)(torch.ones(2, 5), torch.ones(2).long())",
    "LinearCrossEntropyLoss(3, 4, out_features=(2,))(torch.ones(3), torch.ones(2).long())",
    "MaxUnpool2d(2)(torch.ones(1, 1, 2, 2), torch.ones(1, 1, 2, 2).long() * 99)",
    "MaxUnpool2d(2)(torch.ones(1, 1, 2, 2), torch.zeros(1, 1, 2, 3).long())",
    "MaxUnpool2d(2)(torch.ones(1, 1, 2, 2), torch.zeros(1, 1, 2, 2))",
    "MaxUnpool2d(2)(torch.ones(1, 1, 2, 2), torch.zeros(1, 1, 2, 2).long(), (9, 9))",
    "MaxUnpool2d(2)(torch.ones(1, 1, 2, 2), torch.zeros(1, 1, 2, 2).long(), (9, 9, 9))",
    "PixelShuffle(2)(torch.ones(1, 5, 2, 2))",
    "PixelShuffle(2)(torch.ones(2, 2))",
    "PixelShuffle(0)(torch.ones(1, 8, 2, 2))",
    "PixelUnshuffle(2)(torch.ones(1, 1, 3, 4))",
    "PixelUnshuffle(2)(torch.ones(2))",
    "PixelUnshuffle(0)(torch.ones(1, 2, 4, 4))",
    "Unfold(5)(torch.ones(1, 2, 4, 4))",
    "Unfold(2)(torch.ones(2))",
    "Unfold(0)(torch.ones(1, 2, 4, 4))",
    "Unfold(2, stride=0)(torch.ones(1, 2, 4, 4))",
    "Unfold(2, dilation=0)(torch.ones(1, 2, 4, 4))",
    "Unfold(2, padding=-1)(torch.ones(1, 2, 4, 4))",
    "Fold(4, 2)(torch.ones(1, 8, 8))",
    "Fold(4, 2)(torch.ones(1, 7, 9))",
    "Fold(4, 2)(torch.ones(1, 8, 9, 1))",
    "Upsample()(torch.ones(1, 1, 4))",
    "Upsample(2, 2)(torch.ones(1, 1, 4))",
    "Upsample(2)(torch.ones(4, 4))",
    "Upsample(2, mode='linear')(torch.ones(1, 1, 4, 4))",
    "Upsample(2, mode='bilinear')(torch.ones(1, 1, 4))",
    "Upsample(2, mode='other')(torch.ones(1, 1, 4))",
    "Upsample(2, align_corners=True)(torch.ones(1, 1, 4))",
    "Upsample((2, 2, 2))(torch.ones(1, 1, 4, 4))",
    "Upsample(scale_factor=(2, 2, 2))(torch.ones(1, 1, 4, 4))",
    "Upsample(0)(torch.ones(1, 1, 4))",
    "Upsample(0)(torch.ones(1, 1, 4, 4))",
    "LSTM(3, 4)(torch.ones(0, 2, 3))",
    "LSTM(3, 4)(torch.ones(5, 2, 2))",
    "LSTM(3, 4)(torch.ones(5))",
    "LSTM(3, 4)(torch.ones(5, 2, 3).double())",
    "LSTM(3, 4)(torch.ones(5, 2, 3), (torch.ones(1, 2, 4), torch.ones(1, 2, 5)))",
    "LSTM(3, 4)(torch.ones(5, 2, 3), (torch.ones(2, 2, 4), torch.ones(1, 2, 4)))",
    "LSTM(3, 4)(torch.ones(5, 2, 3), (torch.ones(1, 4), torch.ones(1, 4)))",
    "LSTM(3, 4)(torch.ones(5, 3), (torch.ones(1, 2, 4), torch.ones(1, 2, 4)))",
    "GRU(3, 4)(torch.ones(5))",
    "GRU(3, 4)(torch.ones(5, 2, 3), torch.ones(2, 2, 4))",
    "GRU(3, 4)(torch.ones(5, 2, 3), torch.ones(1, 4))",
    "RNN(3, 4)(torch.ones(5))",
    "RNN(3, 4)(torch.ones(5, 3), torch.ones(1, 2, 4))",
    "LSTMCell(3, 4)(torch.ones(2, 2))",
    "LSTMCell(3, 4)(torch.ones(2, 2, 3))",
    "LSTMCell(3, 4)(torch.ones(2, 3), (torch.ones(3, 4), torch.ones(3, 4)))",
    "LSTMCell(3, 4)(torch.ones(2, 3), (torch.ones(2, 5), torch.ones(2, 5)))",
    "LSTMCell(3, 4)(torch.ones(2, 3), (torch.ones(2, 2, 4), torch.ones(2, 4)))",
    "GRUCell(3, 4)(torch.ones(2, 3), torch.ones(2, 2, 4))",
    "RNNCell(3, 4, nonlinearity='other')(torch.ones(2, 3))",
    "MultiheadAttention(4, 2)(torch.ones(4), torch.ones(3, 4), torch.ones(3, 4))",
    "MultiheadAttention(4, 2)(torch.ones(2, 1, 4), torch.ones(3, 4), torch.ones(3, 4))",
    "MultiheadAttention(4, 2)(torch.ones(2, 5), torch.ones(3, 4), torch.ones(3, 4))",
    "MultiheadAttention(4, 2)(torch.ones(2, 4), torch.ones(3, 4), torch.ones(2, 4))",
    "MultiheadAttention(4, 2)(*[torch.ones(2, 4)] * 3, attn_mask=torch.ones(2, 3))",
    "MultiheadAttention(4, 2)(*[torch.ones(2, 4)] * 3, attn_mask=torch.ones(3, 2, 2))",
    "MultiheadAttention(4, 2)(*[torch.ones(2, 4)] * 3, is_causal=True)",
    "MultiheadAttention(4, 2)(*[torch.ones(3, 2, 4)] * 3, attn_mask=torch.ones(3, 3, 3))",
    "MultiheadAttention(4, 2)(*[torch.ones(3, 2, 4)] * 3, torch.ones(2, 4))",
    "MultiheadAttention(4, 2)(*[torch.ones(3, 2, 4)] * 3, torch.ones(2, 3).long())",
    "MultiheadAttention(4, 2)(*[torch.ones(3, 2, 4)] * 3, attn_mask=torch.ones(2))",
]
