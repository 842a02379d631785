"""Gamma and Dirichlet random numbers that are differentiable with respect to their parameters.

The derivatives use implicit reparametrization, see backend/special_pathwise.py.  As in PyTorch,
they cannot be differentiated again.

Source: https://docs.pytorch.org/docs/stable/distributions.html#pathwise-derivative
"""

import numpy as np

from ...backend import special_pathwise
from ...dtypes import type_name
from ...op.arguments import require
from ...op.declaration import Binary, F, Op
from ...op.publish import function
from ...shapes import broadcast, same
from .generator import of_each_example, source
from .sampling import chances, numbers


class StandardGammaGrad(Binary):
    """The derivative of gamma samples `output` with respect to their shape `self`.

    >>> from minigrad import _standard_gamma_grad, tensor
    >>> _standard_gamma_grad(tensor([1.0]), tensor([1.0]))
    tensor([1.1736])
    """

    name, inplace, method, out, promote = "_standard_gamma_grad", False, False, "", None
    tensors = ("self", "output")
    nondifferentiable = True
    not_implemented_derivative = "the derivative for '_standard_gamma_grad' is not implemented."

    def forward(xp, self, output):
        one_dtype(self, output)
        pair = (xp.to_host(each) for each in xp.broadcast_arrays(self, output))
        return xp.from_host(special_pathwise.standard_gamma_grad(*pair))

    def samples(make):
        yield make(3, 4, low=0.5, high=3).detach(), make(3, 4, low=0.5, high=3).detach()
        yield make(3, 1, low=0.5, high=3).detach(), make(low=0.5, high=3).detach()


class DirichletGrad(Op):
    """The derivative of a Dirichlet sample with respect to its own parameter, divided by 1 - x.

    `self` is the sample x, `alpha` its parameter and `total` the sum of all parameters.

    >>> from minigrad import _dirichlet_grad, tensor
    >>> _dirichlet_grad(tensor([0.5]), tensor([1.0]), tensor([2.0]))
    tensor([0.6931])
    """

    name, kind, method, shape = "_dirichlet_grad", "elementwise", False, broadcast
    tensors = ("self", "alpha", "total")
    nondifferentiable = True
    not_implemented_derivative = "derivative for aten::_dirichlet_grad is not implemented"

    def forward(xp, self, alpha, total):
        one_dtype(self, alpha, total)
        three = (xp.to_host(each) for each in xp.broadcast_arrays(self, alpha, total))
        return xp.from_host(special_pathwise.dirichlet_grad(*three))

    def samples(make):
        alpha = make(3, 4, low=0.5, high=3)
        yield make(3, 4, low=0.1, high=0.9), alpha, (alpha + 1).detach()


class StandardGamma(Op):
    """Samples of gamma distributions with the elements of `self` as shapes and rate 1.

    >>> from minigrad import _standard_gamma, manual_seed, tensor
    >>> _ = manual_seed(0)
    >>> _standard_gamma(tensor([1e30])) / 1e30
    tensor([1.])
    """

    node, shape, public = "StandardGammaBackward0", same, False

    def forward(xp, self, generator=None):
        refuse_half(self, "gamma_cpu")
        drawn = numbers(xp, source(xp, generator).gamma(chances(xp, self)))
        return xp.maximum(drawn, np.finfo(self.dtype).tiny).astype(self.dtype)

    def grad_self(g, self, result): return g * F._standard_gamma_grad(self, result)

    def samples(make): yield make(3, 4, low=1e30, high=1e30)  # hardly random


class SampleDirichlet(Op):
    """Samples of Dirichlet distributions with the rows of `self` as parameters.

    >>> from minigrad import _sample_dirichlet, tensor
    >>> _sample_dirichlet(tensor([1.0, 2.0, 3.0])).shape
    torch.Size([3])
    """

    node, shape, public = "SampleDirichletBackward0", same, False

    def forward(xp, self, generator=None):
        refuse_half(self, "dirichlet")
        shapes = chances(xp, self.astype(np.float64))
        drawn = numbers(xp, source(xp, generator).gamma(shapes))
        shares = (drawn / drawn.sum(-1, keepdims=True)).astype(self.dtype)
        limits = np.finfo(self.dtype)
        return xp.clip(shares, limits.tiny, np.nextafter(self.dtype.type(1), self.dtype.type(0)))

    def grad_self(g, self, result):
        total = F.sum(self, -1, True)
        alone = F._dirichlet_grad(result, self, total)
        return alone * (g - F.sum(result * g, -1, True))

    def samples(make): yield make(3, 4, low=1e30, high=1e30)  # hardly random


def one_dtype(array, *others):
    """Raise `RuntimeError` unless all arrays have the dtype of the first."""
    for other in others:
        if other.dtype != array.dtype:
            raise RuntimeError(f"Found dtype {type_name(other.dtype)} but expected "
                               f"{type_name(array.dtype)}")


def refuse_half(array, kernel):
    """Raise `NotImplementedError` unless an array is float32 or float64."""
    require(array, "f" if array.dtype.itemsize > 2 else "", kernel)


@function(method_too=False)
def _standard_gamma(input, generator=None):
    """Draw from gamma distributions with the shapes in `input` and rate 1.

    The gradient uses implicit reparametrization.  Raises `NotImplementedError` unless the dtype is
    float32 or float64.  Source: `torch._standard_gamma`.

    >>> from minigrad import _standard_gamma, ones
    >>> bool((_standard_gamma(ones(3)) > 0).all())
    True
    """
    return StandardGamma(of_each_example(input), generator)


@function(method_too=False)
def _sample_dirichlet(input, generator=None):
    """Draw from Dirichlet distributions whose parameters are the rows of `input`.

    The gradient uses implicit reparametrization.  Raises `NotImplementedError` unless the dtype is
    float32 or float64.  Source: `torch._sample_dirichlet`.

    >>> from minigrad import _sample_dirichlet, tensor
    >>> _sample_dirichlet(tensor([1.0, 2.0, 3.0])).shape
    torch.Size([3])
    """
    return SampleDirichlet(of_each_example(input), generator)
