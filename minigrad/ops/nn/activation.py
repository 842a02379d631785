"""Activation functions: the nonlinearities between the layers of a network; relu is in relu.py.

Functions that PyTorch has only in `nn.functional` are not tensor methods.

Source: https://docs.pytorch.org/docs/stable/nn.functional.html#non-linear-activation-functions
"""

import math

import numpy as np

from ...backend.memory_layout import in_rows
from ...dtypes import type_name
from ...op.apply import apply
from ...op.arguments import require
from ...op.declaration import Binary, F
from ...op.publish import function
from ..kernels import own_kernel
from ..math.ties import tangent_of
from ..overloads import overloaded
from .activation_base import Activation, depending_on, softplus_of, zero_depending_on

# -------------------------------------------------------------------- rectifiers


class LeakyRelu(Activation):
    """x where it is positive, `negative_slope` times x elsewhere.

    >>> from minigrad.nn.functional import leaky_relu
    >>> from minigrad import tensor
    >>> leaky_relu(tensor([-1.0, 2.0]), 0.1)
    tensor([-0.1000,  2.0000])
    """

    node = "LeakyReluBackward0"

    def forward(xp, self, negative_slope=0.01):
        require(self, "f", "leaky_relu_cpu")
        low = self * negative_slope
        if negative_slope == 0:  # then `low` is NaN at infinity
            return xp.where(self > 0, self, low)
        return xp.fmax(self, low) if negative_slope <= 1 else xp.fmin(self, low)

    def grad_self(g, self, negative_slope):
        return F.where(F.gt(self, 0), g, depending_on(self, g * negative_slope))


class LeakyReluInPlace(LeakyRelu):
    """`leaky_relu`, written to x in place.

    >>> from minigrad.nn.functional import leaky_relu_
    >>> from minigrad import tensor
    >>> leaky_relu_(tensor([-1.0, 2.0]), 0.1)
    tensor([-0.1000,  2.0000])
    """

    inplace_of = LeakyRelu

    def grad_self(g, result, negative_slope):
        if negative_slope < 0:
            raise RuntimeError(
                "In-place leakyReLu backward calculation is triggered with a negative slope which "
                "is not supported. This is caused by calling in-place forward function with a "
                "negative slope, please call out-of-place version instead. File an issue at "
                "https://github.com/pytorch/pytorch if you do require supporting in-place leakRelu "
                "backward calculation with negative slope")
        return F.where(F.gt(result, 0), g, depending_on(result, g * negative_slope))


class PreluKernel(Binary):
    """x where it is positive, `weight` times x elsewhere; the shapes broadcast.

    >>> from minigrad import prelu, tensor
    >>> prelu(tensor([-2.0, 2.0]), tensor([0.25]))
    tensor([-0.5000,  2.0000])
    """

    promote = None
    inplace = False
    node = "PreluBackward"
    public = False

    def forward(xp, self, weight):
        return xp.where(self > 0, self, weight * self)

    def grad_self(g, self, weight):
        return F.where(F.gt(self, 0), g, depending_on(self, weight * g))

    def grad_weight(g, self, weight):
        return F.depend_on(F.where(F.gt(self, 0), 0, self * g), weight)

    def jvp(op, values, outputs, tangents):
        self, weight = values
        slow = weight * tangent_of(tangents, 0) + self * tangent_of(tangents, 1)
        return (F.where(F.ge(self, 0), tangent_of(tangents, 0), slow),)

    def samples(make):
        yield make(2, 3, 4, low=0.2), make(3, 1)
        yield make(2, 3, low=-2, high=-0.2), make(1)


@function()
def prelu(input, weight):
    """Multiply negative elements by the weight of their channel, dimension 1.

    Source: `torch.nn.functional.prelu`.

    >>> from minigrad import prelu, tensor
    >>> prelu(tensor([-2.0, 2.0]), tensor([0.25]))
    tensor([-0.5000,  2.0000])
    """
    count, sizes = weight.shape[0] if weight.ndim else 1, input.shape
    if input.dtype != weight.dtype:
        raise RuntimeError("prelu: Type promoting not supported. Got "
                           f"{input.dtype.name} and {weight.dtype.name}")
    if weight.ndim > 1:
        raise RuntimeError("prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = "
                           f"{weight.ndim}")
    if count != 1:
        if not input.ndim:
            raise RuntimeError("Not allow zero-dim input tensor.")
        channels = sizes[1] if len(sizes) > 1 else 1
        if channels != count:
            raise RuntimeError(
                "Mismatch of parameter numbers and input channel size. Found parameter numbers = "
                f"{count} and channel size = {channels}.")
    if len(sizes) > 1:
        weight = F.reshape(weight, (1, count) + (1,) * (len(sizes) - 2))
    elif not input.ndim and weight.ndim:
        weight = F.reshape(weight, ())
    return PreluKernel(input, weight)


class Threshold(Activation):
    """x where it is above the threshold, `value` elsewhere.

    >>> from minigrad import threshold, tensor
    >>> threshold(tensor([-1.0, 2.0]), 0.5, 9)
    tensor([9., 2.])
    """

    out = "cast"
    node = "ThresholdBackward0"

    def forward(xp, self, threshold, value):
        require(self, "iuf", "threshold_cpu")
        return xp.where(self <= threshold, xp.number(np.asarray(value).astype(self.dtype)), self)

    def grad_self(g, self, threshold):
        return F.where(F.le(self, threshold), zero_depending_on(self), g)

    def samples(make):
        yield make(3, 4, low=0.6, high=2), 0.5, 3
        yield make(3, low=-1, high=0.3), 0.5, -3.5


class ThresholdInPlace(Threshold):
    """`threshold`, written to x in place.

    >>> from minigrad import threshold_, tensor
    >>> threshold_(tensor([-1.0, 2.0]), 0.5, 9)
    tensor([9., 2.])
    """

    inplace_of = Threshold


class Shrink(Activation, abstract=True):
    """An activation that is zero if |x| is at most `lambd`."""

    def grad_self(g, self, lambd):
        return F.where(F.le(F.abs(self), lambd), zero_depending_on(self), g)


class Hardshrink(Shrink):
    """x where |x| is greater than `lambd`, else zero.

    >>> from minigrad import hardshrink, tensor
    >>> hardshrink(tensor([-1.0, 0.2]))
    tensor([-1.,  0.])
    """

    out = "exact"
    method = True

    def forward(xp, self, lambd=0.5):
        require(self, "f", "hardshrink_cpu")
        return xp.where(xp.abs(self) <= lambd, xp.zeros((), self.dtype), self)


class Softshrink(Shrink):
    """x moved toward zero by `lambd`, or zero if |x| is at most `lambd`.

    >>> from minigrad.nn.functional import softshrink
    >>> from minigrad import tensor
    >>> softshrink(tensor([-1.0, 0.2]))
    tensor([-0.5000,  0.0000])
    """

    out = "exact"
    def forward(xp, self, lambd=0.5):
        require(self, "f", "softshrink_cpu")
        greatest = float(xp.finfo(self.dtype).max)
        if not 0 <= lambd <= greatest:
            dtype = type_name(self.dtype)
            raise RuntimeError(f"lambda must be in range [0, {greatest:g}] for input dtype "
                               f"{dtype}, but found {lambd:g}")
        return self - xp.minimum(xp.maximum(self, -lambd), lambd)


# -------------------------------------------------------------------- piecewise linear


class Hardtanh(Activation):
    """x clamped to [min_val, max_val]; at the bounds and outside the gradient is zero.

    >>> from minigrad.nn.functional import hardtanh
    >>> from minigrad import tensor
    >>> hardtanh(tensor([-2.0, 0.5]))
    tensor([-1.0000,  0.5000])
    """

    node = "HardtanhBackward0"

    def forward(xp, self, min_val=-1.0, max_val=1.0):
        if self.dtype.kind == "b":
            raise RuntimeError("Bool inputs not supported for hardtanh")
        if self.dtype.kind != "f":
            min_val, max_val = int(min_val), int(max_val)
        return xp.minimum(max_val, xp.maximum(min_val, self))

    def grad_self(g, self, min_val, max_val):
        outside = F.logical_or(F.le(self, min_val), F.ge(self, max_val))
        return F.where(outside, zero_depending_on(self), g)

    def samples(make):
        yield make(3, 4, low=-0.9, high=0.9)
        yield make(3, 4, low=1.1, high=3)
        yield make(2, low=1.1, high=3), 0, 6


class HardtanhInPlace(Hardtanh):
    """`hardtanh`, written to x in place.

    >>> from minigrad.nn.functional import hardtanh_
    >>> from minigrad import tensor
    >>> hardtanh_(tensor([-2.0, 0.5]))
    tensor([-1.0000,  0.5000])
    """

    inplace_of = Hardtanh


@overloaded(method_too=False)
def relu6(input):
    """Return min(max(x, 0), 6). Source: `torch.nn.functional.relu6`.

    >>> from minigrad import tensor
    >>> from minigrad.nn.functional import relu6
    >>> relu6(tensor([-1.0, 2.0, 7.0]))
    tensor([0., 2., 6.])
    """
    return Hardtanh, input, 0, 6


class Hardsigmoid(Activation):
    """min(max(x / 6 + 1/2, 0), 1). Source: `torch.nn.functional.hardsigmoid`.

    >>> from minigrad import tensor
    >>> from minigrad.nn.functional import hardsigmoid
    >>> hardsigmoid(tensor([-4.0, 0.0, 1.5]))
    tensor([0.0000, 0.5000, 0.7500])
    """

    inplace = True

    def forward(xp, self):
        require(self, "f", "hardsigmoid_cpu")
        return xp.minimum(6, xp.maximum(0, self + 3)) / 6

    def grad_self(g, self):
        inside = F.logical_and(F.gt(self, -3), F.lt(self, 3))
        return F.where(inside, g / 6, zero_depending_on(self))


class Hardswish(Activation):
    """x min(max(x / 6 + 1/2, 0), 1). Source: `torch.nn.functional.hardswish`.

    >>> from minigrad import tensor
    >>> from minigrad.nn.functional import hardswish
    >>> hardswish(tensor([-4.0, 0.0, 4.0]))
    tensor([-0., 0., 4.])
    """

    inplace = True

    def forward(xp, self):
        require(self, "f", "hardswish_cpu")
        return self * xp.minimum(6, xp.maximum(0, self + 3)) / 6

    def grad_self(g, self):
        middle = F.where(F.lt(self, 3), g * (self / 3 + 0.5), g)
        return F.where(F.le(self, -3), 0, middle)


# -------------------------------------------------------------------- exponential


class EluOp(Activation):
    """`scale` x above zero, `alpha scale (exp(input_scale x) - 1)` below.

    >>> from minigrad.nn.functional import elu
    >>> from minigrad import tensor
    >>> elu(tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """

    node = "EluBackward"
    public = False

    def forward(xp, self, alpha=1.0, scale=1.0, input_scale=1.0):
        require(self, "f", "elu_cpu")
        low = xp.expm1(xp.minimum(self, 0) * input_scale) * (alpha * scale)
        return xp.where(self <= 0, low, self * scale)

    def grad_self(g, self, alpha, scale, input_scale):
        low = F.where(F.lt(self, 0), self, 0)  # at zero, the second derivative is 0
        slope = F.exp(low * input_scale) * (alpha * scale * input_scale)
        return F.where(F.le(self, 0), g * slope, g * scale)

    def samples(make):
        yield from Activation.samples(make)
        yield make(3, 4, low=-2, high=-0.2), 2.0, 1.5, 0.5


class EluInPlace(EluOp):
    """The `elu` family, written to x in place; the derivative is computed from the result.

    >>> from minigrad.nn.functional import elu_
    >>> from minigrad import tensor
    >>> elu_(tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """

    inplace_of = EluOp

    def grad_self(g, result, alpha, scale, input_scale):
        if alpha < 0:
            raise RuntimeError(
                "In-place elu backward calculation is triggered with a negative slope which is not "
                "supported. This is caused by calling in-place forward function with a negative "
                "slope, please call out-of-place version instead.")
        slope = (F.where(F.lt(result, 0), result, 0) + alpha * scale) * input_scale
        return F.where(F.le(result, 0), g * slope, g * scale)

    def samples(make):
        yield make(3, 4, low=0.2)
        yield make(3, 4, low=-0.5, high=-0.2), 2.0, 1.5, 0.5


@overloaded(method_too=False)
def elu(input, alpha=1.0):
    """Return x, or alpha (exp(x) - 1) where x is negative. Source: `torch.nn.functional.elu`.

    >>> from minigrad import tensor
    >>> from minigrad.nn.functional import elu
    >>> elu(tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """
    return EluOp, input, alpha, 1.0, 1.0


@overloaded(method_too=False)
def selu(input):
    """Return the elu whose constants preserve mean 0 and variance 1.  Source: `torch.selu`.

    >>> from minigrad import selu, tensor
    >>> selu(tensor([1.0]))
    tensor([1.0507])
    """
    return EluOp, input, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946, 1.0


@overloaded(method_too=False)
def celu(input, alpha=1.0):
    """Return x, or alpha (exp(x / alpha) - 1) where x is negative. Source: `torch.celu`.

    >>> from minigrad import celu, tensor
    >>> celu(tensor([1.0, -1.0]), 2.0)
    tensor([ 1.0000, -0.7869])
    """
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return EluOp, input, alpha, 1.0, 1.0 / alpha


class GeluOp(Activation):
    """x times the standard normal cdf of x, or its tanh approximation.

    >>> from minigrad.nn.functional import gelu
    >>> from minigrad import tensor
    >>> gelu(tensor([-1.0, 1.0]))
    tensor([-0.1587,  0.8413])
    """

    in_float32 = True
    node = "GeluBackward"
    public = False

    @own_kernel("gelu")
    def forward(xp, self, approximate):
        require(self, "f", "GeluKernelImpl")
        if approximate == "none":
            return self * 0.5 * (1 + xp.erf(self * math.sqrt(0.5)))
        inner = math.sqrt(2 / math.pi) * (self + 0.044715 * self * self * self)
        return 0.5 * self * (1 + xp.tanh(inner))

    @own_kernel("gelu_gradient")
    def grad_self(g, self, approximate):
        if approximate == "none":
            below = 0.5 * (1 + F.erf(self * math.sqrt(0.5)))
            density = F.exp(-0.5 * (self * self)) * math.sqrt(0.5 / math.pi)
            return g * (below + self * density)
        cube = self * self * self
        t = F.tanh(math.sqrt(2 / math.pi) * (self + 0.044715 * cube))
        slope = math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * (self * self))
        return g * (0.5 * (1 + t) + 0.5 * self * (1 - t * t) * slope)

    def samples(make):
        yield make(3, 4), "none"
        yield make(3, 4), "tanh"
        yield make(), "none"


@function(method_too=False, out="exact")
def gelu(input, approximate="none"):
    """Return x times the standard normal cdf of x; approximate="tanh" uses a tanh approximation.

    Source: `torch.nn.functional.gelu`.

    >>> from minigrad import tensor
    >>> from minigrad.nn.functional import gelu
    >>> gelu(tensor([-1.0, 2.0]))
    tensor([-0.1587,  1.9545])
    """
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    return apply(GeluOp, [input, approximate])


class Silu(Activation):
    """x sigmoid(x). Source: `torch.nn.functional.silu`.

    >>> from minigrad import tensor
    >>> from minigrad.nn.functional import silu
    >>> silu(tensor([-1.0, 2.0]))
    tensor([-0.2689,  1.7616])
    """

    inplace = in_float32 = True

    def forward(xp, self):
        require(self, "f", "silu_cpu")
        return self / (1 + xp.exp(-self))

    def grad_self(g, self):
        s = F.sigmoid(self)
        return g * (s * (1 + self * (1 - s)))


class Mish(Activation):
    """x tanh(softplus(x)). Source: `torch.nn.functional.mish`.

    >>> from minigrad import tensor
    >>> from minigrad.nn.functional import mish
    >>> mish(tensor([-1.0, 2.0]))
    tensor([-0.3034,  1.9440])
    """

    inplace = in_float32 = True

    def forward(xp, self):
        require(self, "f", "mish_cpu")
        return self * xp.tanh(softplus_of(xp, self))

    def grad_self(g, self):
        t = F.tanh(F.softplus(self))
        return g * (t + self * F.sigmoid(self) * (1 - t * t))


class Softplus(Activation):
    """log(1 + exp(beta x)) / beta, or x itself where beta x exceeds the threshold.

    >>> from minigrad.nn.functional import softplus
    >>> from minigrad import tensor
    >>> softplus(tensor([0.0, 100.0]))
    tensor([  0.6931, 100.0000])
    """

    out = "exact"
    in_float32 = True

    def forward(xp, self, beta=1.0, threshold=20.0):
        require(self, "f", "softplus_cpu")
        z = self * beta
        return xp.where(z > threshold, self, xp.log1p(xp.exp(xp.minimum(z, threshold))) / beta)

    def grad_self(g, self, beta, threshold):
        z = self * beta
        curved = F.where(F.ge(z, threshold), threshold, z)  # no second derivative at the threshold
        return F.where(F.gt(z, threshold), g, g * F.sigmoid(curved))

    def samples(make):
        yield from Activation.samples(make)
        yield make(3, 4, low=0.6), 2.0, 1.0


class Logsigmoid(Activation):
    """log(sigmoid(x)), without overflow.

    >>> from minigrad.nn.functional import logsigmoid
    >>> from minigrad import tensor
    >>> logsigmoid(tensor([0.0, -200.0]))
    tensor([  -0.6931, -200.0000])
    """

    out = "exact overlap"
    node = "LogSigmoidBackward"

    def forward(xp, self):
        require(self, "f", "log_sigmoid_cpu")
        self = in_rows(self)
        return xp.minimum(self, 0) - xp.log1p(xp.exp(-xp.abs(self)))

    def grad_self(g, self):
        return g * F.sigmoid(-self)


@function(method_too=False)
def softsign(input):
    """Return x / (1 + |x|). Source: `torch.nn.functional.softsign`.

    >>> from minigrad import tensor
    >>> from minigrad.nn.functional import softsign
    >>> softsign(tensor([-1.0, 4.0]))
    tensor([-0.5000,  0.8000])
    """
    return F.div(input, F.abs(input) + 1)


@function(method_too=False)
def tanhshrink(input):
    """Return x - tanh(x). Source: `torch.nn.functional.tanhshrink`.

    >>> from minigrad import tensor
    >>> from minigrad.nn.functional import tanhshrink
    >>> tanhshrink(tensor([0.0, 1.0]))
    tensor([0.0000, 0.2384])
    """
    return F.sub(input, F.tanh(input))
