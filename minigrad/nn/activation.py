"""Activations as modules.

Source: https://docs.pytorch.org/docs/stable/nn.html#non-linear-activations-weighted-sum-nonlinearity
"""

from __future__ import annotations

from typing import Any

from ..ops.creation.create import full
from ..tensor.tensor import Parameter, Tensor
from . import functional as F
from .module import Module

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "SELU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "PReLU",
    "RReLU",
    "ReLU",
    "ReLU6",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
]


class _Inplace(Module):
    """Base of activations that take only `inplace`."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class ReLU(_Inplace):
    """Rectified linear unit: max(x, 0).

    >>> from minigrad import nn, tensor
    >>> nn.ReLU()(tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.relu(input, self.inplace)


class SELU(_Inplace):
    """Scaled ELU; its two scales drive activations towards mean 0 and variance 1.

    >>> from minigrad import nn, tensor
    >>> nn.SELU()(tensor([-1.0, 0.0, 2.0]))
    tensor([-1.1113,  0.0000,  2.1014])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.selu(input, self.inplace)


class SiLU(_Inplace):
    """Sigmoid linear unit, also called swish: x sigmoid(x).

    >>> from minigrad import nn, tensor
    >>> nn.SiLU()(tensor([-1.0, 0.0, 2.0]))
    tensor([-0.2689,  0.0000,  1.7616])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.silu(input, self.inplace)


class Mish(_Inplace):
    """x tanh(softplus(x))

    >>> from minigrad import nn, tensor
    >>> nn.Mish()(tensor([-1.0, 0.0, 2.0]))
    tensor([-0.3034,  0.0000,  1.9440])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.mish(input, self.inplace)


class Hardsigmoid(_Inplace):
    """min(max(x / 6 + 1/2, 0), 1)

    >>> from minigrad import nn, tensor
    >>> nn.Hardsigmoid()(tensor([-1.0, 0.0, 2.0]))
    tensor([0.3333, 0.5000, 0.8333])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.hardsigmoid(input, self.inplace)

    def extra_repr(self) -> str:
        return ""


class Hardswish(_Inplace):
    """x min(max(x / 6 + 1/2, 0), 1)

    >>> from minigrad import nn, tensor
    >>> nn.Hardswish()(tensor([-1.0, 0.0, 2.0]))
    tensor([-0.3333,  0.0000,  1.6667])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.hardswish(input, self.inplace)

    def extra_repr(self) -> str:
        return ""


class LeakyReLU(Module):
    """ReLU with a leak: x where it is positive, else `negative_slope` times x.

    >>> from minigrad import nn, tensor
    >>> nn.LeakyReLU(0.1)(tensor([-1.0, 2.0]))
    tensor([-0.1000,  2.0000])
    """

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope = negative_slope
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        return f"negative_slope={self.negative_slope}" + (", inplace=True" if self.inplace else "")


class ELU(Module):
    """Exponential linear unit: x where it is positive, else alpha (exp(x) - 1).

    >>> from minigrad import nn, tensor
    >>> nn.ELU()(tensor([-1.0, 0.0, 2.0]))
    tensor([-0.6321,  0.0000,  2.0000])
    """

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha = alpha
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.elu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        return f"alpha={self.alpha}" + (", inplace=True" if self.inplace else "")


class CELU(ELU):
    """ELU with a continuous derivative: x where it is positive, else alpha (exp(x / alpha) - 1).

    >>> from minigrad import nn, tensor
    >>> nn.CELU()(tensor([-1.0, 0.0, 2.0]))
    tensor([-0.6321,  0.0000,  2.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.celu(input, self.alpha, self.inplace)


class Hardtanh(Module):
    """Clamp x to the range from `min_val` to `max_val`.

    >>> from minigrad import nn, tensor
    >>> nn.Hardtanh()(tensor([-1.0, 0.0, 2.0]))
    tensor([-1.,  0.,  1.])
    """

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        if not max_val > min_val:
            raise AssertionError("max_val must be larger than min_val")
        self.min_val = min_val
        self.max_val = max_val
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        return (f"min_val={self.min_val}, max_val={self.max_val}"
                + (", inplace=True" if self.inplace else ""))


class ReLU6(Hardtanh):
    """ReLU capped at six: min(max(x, 0), 6).

    >>> from minigrad import nn, tensor
    >>> nn.ReLU6()(tensor([-1.0, 0.0, 2.0]))
    tensor([0., 0., 2.])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class Threshold(Module):
    """x where it exceeds `threshold`, else `value`.

    >>> from minigrad import nn, tensor
    >>> nn.Threshold(0.5, 9.0)(tensor([0.0, 1.0]))
    tensor([9., 1.])
    """

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold = threshold
        self.value = value
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self) -> str:
        return (f"threshold={self.threshold}, value={self.value}"
                + (", inplace=True" if self.inplace else ""))


class RReLU(Module):
    """Leaky ReLU with slopes drawn from [lower, upper) in training, and their mean in evaluation.

    >>> from minigrad import nn, tensor
    >>> nn.RReLU(0.25, 0.75).eval()(tensor([-2.0, 3.0]))
    tensor([-1.,  3.])
    """

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3,
                 inplace: bool = False) -> None:
        super().__init__()
        self.lower = lower
        self.upper = upper
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self) -> str:
        return (f"lower={self.lower}, upper={self.upper}"
                + (", inplace=True" if self.inplace else ""))


class Sigmoid(Module):
    """Logistic sigmoid: 1 / (1 + exp(-x)).

    >>> from minigrad import nn, tensor
    >>> nn.Sigmoid()(tensor([-1.0, 0.0, 2.0]))
    tensor([0.2689, 0.5000, 0.8808])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.sigmoid(input)


class LogSigmoid(Module):
    """log(sigmoid(x)), computed without overflow.

    >>> from minigrad import nn, tensor
    >>> nn.LogSigmoid()(tensor([-1.0, 0.0, 2.0]))
    tensor([-1.3133, -0.6931, -0.1269])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.logsigmoid(input)


class Tanh(Module):
    """Hyperbolic tangent.

    >>> from minigrad import nn, tensor
    >>> nn.Tanh()(tensor([-1.0, 0.0, 2.0]))
    tensor([-0.7616,  0.0000,  0.9640])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.tanh(input)


class Tanhshrink(Module):
    """x - tanh(x)

    >>> from minigrad import nn, tensor
    >>> nn.Tanhshrink()(tensor([-1.0, 0.0, 2.0]))
    tensor([-0.2384,  0.0000,  1.0360])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.tanhshrink(input)


class Softsign(Module):
    """x / (1 + |x|)

    >>> from minigrad import nn, tensor
    >>> nn.Softsign()(tensor([-1.0, 0.0, 2.0]))
    tensor([-0.5000,  0.0000,  0.6667])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softsign(input)


class GELU(Module):
    """x times the standard normal distribution function; `approximate` is `"none"` or `"tanh"`.

    >>> from minigrad import nn, tensor
    >>> nn.GELU()(tensor([-1.0, 0.0, 2.0]))
    tensor([-0.1587,  0.0000,  1.9545])
    """

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class GLU(Module):
    """Gated linear unit: the first half along a dimension times the sigmoid of the second half.

    >>> from minigrad import nn, tensor
    >>> nn.GLU()(tensor([1.0, 2.0, 0.0, 0.0]))
    tensor([0.5000, 1.0000])
    """

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return F.glu(input, self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class Softplus(Module):
    """Smooth ReLU: log(1 + exp(beta x)) / beta, or just x once beta x exceeds `threshold`.

    >>> from minigrad import nn, tensor
    >>> nn.Softplus()(tensor([-1.0, 0.0, 2.0]))
    tensor([0.3133, 0.6931, 2.1269])
    """

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def forward(self, input: Tensor) -> Tensor:
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        return f"beta={self.beta}, threshold={self.threshold}"


class _Shrink(Module):
    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def extra_repr(self) -> str:
        return str(self.lambd)


class Hardshrink(_Shrink):
    """x, but zero where |x| <= lambd.

    >>> from minigrad import nn, tensor
    >>> nn.Hardshrink()(tensor([-1.0, 0.0, 2.0]))
    tensor([-1.,  0.,  2.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.hardshrink(input, self.lambd)


class Softshrink(_Shrink):
    """x moved towards zero by `lambd`, and zero where |x| <= lambd.

    >>> from minigrad import nn, tensor
    >>> nn.Softshrink()(tensor([-1.0, 0.0, 2.0]))
    tensor([-0.5000,  0.0000,  1.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softshrink(input, self.lambd)


class PReLU(Module):
    """Leaky ReLU whose negative slope is a trained parameter.

    >>> from minigrad import nn, tensor
    >>> nn.PReLU()(tensor([-1.0, 2.0])).tolist()
    [-0.25, 2.0]
    """

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None,
                 dtype: Any = None) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.init = init
        self.weight = Parameter(full((num_parameters,), init, device=device, dtype=dtype))

    def forward(self, input: Tensor) -> Tensor:
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


class _AlongDim(Module):
    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class Softmax(_AlongDim):
    """exp(x) / sum(exp(x)) along a dimension.

    >>> from minigrad import nn, zeros
    >>> nn.Softmax(dim=0)(zeros(2))
    tensor([0.5000, 0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softmax(input, self.dim)


class Softmin(_AlongDim):
    """softmax(-x) along a dimension.

    >>> from minigrad import nn, tensor
    >>> nn.Softmin(dim=0)(tensor([0.0, 1.0, 3.0]))
    tensor([0.7054, 0.2595, 0.0351])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softmin(input, self.dim)


class LogSoftmax(_AlongDim):
    """log(softmax(x)) along a dimension, computed without overflow.

    >>> from minigrad import nn, tensor
    >>> nn.LogSoftmax(dim=0)(tensor([0.0, 1.0, 3.0]))
    tensor([-3.1698, -2.1698, -0.1698])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.log_softmax(input, self.dim)


class Softmax2d(Module):
    """Softmax over the channels of (N, C, H, W) or (C, H, W).

    >>> from minigrad import nn, zeros
    >>> nn.Softmax2d()(zeros(1, 2, 1, 1)).view(-1)
    tensor([0.5000, 0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() not in (3, 4):
            raise ValueError("Softmax2d: expected input to be 3D or 4D, got "
                             f"{input.dim()}D instead")
        return F.softmax(input, -3)
