"""The base class of distributions: shapes, validation of parameters and samples, expansion.

NOTE [Shapes of distributions]
    A sample has the shape sample_shape + batch_shape + event_shape.  An event is a single draw,
    such as one vector of a multivariate normal distribution.  Each element of the batch has its
    own parameters, and the samples of each are independent and identically distributed.

Source: https://docs.pytorch.org/docs/stable/distributions.html
"""

from __future__ import annotations

from typing import Any

from ..autograd.grad_mode import no_grad
from ..frames import warn_user
from ..op.declaration import F
from ..tensor.attributes import Size
from ..tensor.tensor import Tensor
from . import constraints
from .utils import broadcast_all, lazy_property

__all__ = ["Distribution"]


class Distribution:
    """The base of all distributions; see NOTE [Shapes of distributions].

    >>> from minigrad.distributions import Normal
    >>> normal = Normal(0.0, 1.0).expand((3, 2))
    >>> normal.batch_shape, normal.event_shape, normal.sample((5,)).shape
    (torch.Size([3, 2]), torch.Size([]), torch.Size([5, 3, 2]))
    >>> normal.has_rsample, normal.has_enumerate_support
    (True, False)
    """

    has_rsample: Any = False
    has_enumerate_support: Any = False
    _validate_args: bool = __debug__
    #: The attributes that `expand` expands, and how many of their trailing dimensions it leaves
    #: unchanged (for an inner distribution, of its batch shape).
    _expanded: dict[str, int] = {}
    #: The attributes that `expand` copies unchanged.
    _kept: tuple[str, ...] = ()

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Set whether to check arguments and samples if `validate_args` is not passed.

        >>> from minigrad.distributions import Distribution, Normal
        >>> Distribution.set_default_validate_args(False)
        >>> Normal(0.0, -1.0)
        Normal(loc: 0.0, scale: -1.0)
        >>> Distribution.set_default_validate_args(True)
        """
        if value not in (True, False):
            raise ValueError
        Distribution._validate_args = value

    def __init__(self, batch_shape: Any = (), event_shape: Any = (),
                 validate_args: bool | None = None) -> None:
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()
        super().__init__()

    def _begin(self, validate_args: bool | None, **parameters: Any) -> None:
        """Broadcast parameters to a common shape, the batch shape, and set them as attributes."""
        values = broadcast_all(*parameters.values())
        vars(self).update(zip(parameters, values))
        Distribution.__init__(self, values[0].shape, validate_args=validate_args)

    def _check_parameters(self) -> None:
        try:
            wanted = self.arg_constraints
        except NotImplementedError:
            wanted = {}
            warn_user(f"{type(self)} does not define `arg_constraints`. Please set "
                      "`arg_constraints = {}` or initialize the distribution with "
                      "`validate_args=False` to turn off validation.")
        for name, constraint in wanted.items():
            made_later = isinstance(getattr(type(self), name, None), lazy_property)
            if constraints.is_dependent(constraint) or (made_later and name not in vars(self)):
                continue
            value = getattr(self, name)
            if not constraint.check(value).all():
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape "
                    f"{tuple(value.shape)}) of distribution {self!r} to satisfy the constraint "
                    f"{constraint!r}, but found invalid values:\n{value}")

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """Return a distribution with its batch expanded to `batch_shape`, with shared memory.

        Raises `NotImplementedError` if a subclass overrides `__init__` but not `expand`.

        >>> from minigrad import tensor
        >>> from minigrad.distributions import Normal
        >>> wide = Normal(tensor([0.0, 10.0]), 1.0).expand((3, 2))
        >>> wide.batch_shape
        torch.Size([3, 2])
        >>> wide.loc
        tensor([[ 0., 10.],
                [ 0., 10.],
                [ 0., 10.]])
        """
        if not (self._expanded or self._kept):
            raise NotImplementedError
        package = __name__.rpartition(".")[0]
        ours = next(base for base in type(self).__mro__  # a class made by `type` may have no module
                    if getattr(base, "__module__", "").startswith(package))
        new = self._get_checked_instance(ours, _instance)
        batch_shape = Size(batch_shape)
        for name in self._kept:
            setattr(new, name, getattr(self, name))
        for name, dims in self._expanded.items():
            value = vars(self).get(name)
            if value is not None:  # a lazy property may not be computed yet
                shape = value.shape if isinstance(value, Tensor) else value.batch_shape
                setattr(new, name, value.expand(batch_shape + shape[len(shape) - dims:]))
        Distribution.__init__(new, batch_shape, self._event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _get_checked_instance(self, cls: Any, _instance: Any = None) -> Any:
        """Return a new object for `expand`; raise if a subclass overrides `__init__` only."""
        own: Any = type(self)
        if _instance is None and own.__init__ is not cls.__init__:
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ "
                "method must also define a custom .expand() method.")
        return self.__new__(type(self)) if _instance is None else _instance

    @property
    def batch_shape(self) -> Size:
        """The shape of the batch of parameters.

        >>> from minigrad import tensor
        >>> from minigrad.distributions import Normal
        >>> Normal(tensor([0.0, 10.0]), 1.0).batch_shape
        torch.Size([2])
        """
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of a single event, without the batch.

        >>> from minigrad import eye, zeros
        >>> from minigrad.distributions import MultivariateNormal
        >>> MultivariateNormal(zeros(4, 3), eye(3)).event_shape
        torch.Size([3])
        """
        return self._event_shape

    @property
    def arg_constraints(self) -> Any:
        """The constraints on the parameters, by parameter name.

        >>> from minigrad.distributions import Normal
        >>> Normal(0.0, 1.0).arg_constraints
        {'loc': Real(), 'scale': GreaterThan(lower_bound=0.0)}
        """
        raise NotImplementedError

    @property
    def support(self) -> Any:
        """The constraint that all samples satisfy.

        >>> from minigrad import tensor
        >>> from minigrad.distributions import Exponential
        >>> exponential = Exponential(1.0)
        >>> exponential.support
        GreaterThanEq(lower_bound=0.0)
        >>> exponential.support.check(tensor([-1.0, 1.0]))
        tensor([False,  True])
        """
        raise NotImplementedError

    @property
    def mean(self) -> Tensor:
        """The mean, of shape batch_shape + event_shape.

        >>> from minigrad import tensor
        >>> from minigrad.distributions import Exponential
        >>> Exponential(tensor([0.5, 4.0])).mean
        tensor([2.0000, 0.2500])
        """
        raise NotImplementedError

    @property
    def mode(self) -> Tensor:
        """The most probable value.

        >>> from minigrad import tensor
        >>> from minigrad.distributions import Gamma
        >>> Gamma(tensor([3.0, 5.0]), 2.0).mode
        tensor([1., 2.])
        """
        raise NotImplementedError(f"{type(self)} does not implement mode")

    @property
    def variance(self) -> Tensor:
        """The variance, of shape batch_shape + event_shape.

        >>> from minigrad import tensor
        >>> from minigrad.distributions import Exponential
        >>> Exponential(tensor([0.5, 4.0])).variance
        tensor([4.0000, 0.0625])
        """
        raise NotImplementedError

    @property
    def stddev(self) -> Tensor:
        """The square root of the variance.

        >>> from minigrad import tensor
        >>> from minigrad.distributions import Exponential
        >>> Exponential(tensor([0.5, 4.0])).stddev
        tensor([2.0000, 0.2500])
        """
        return self.variance.sqrt()

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Draw samples that are not differentiable; see NOTE [Shapes of distributions].

        >>> import minigrad as torch
        >>> from minigrad.distributions import Normal
        >>> _ = torch.manual_seed(0)
        >>> Normal(torch.tensor([0.0, 10.0]), 1.0).sample((2,))
        tensor([[ 1.5410,  9.7066],
                [-2.1788, 10.5684]])
        """
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Draw samples that are differentiable with respect to the parameters.

        >>> import minigrad as torch
        >>> from minigrad.distributions import Normal
        >>> _ = torch.manual_seed(0)
        >>> scale = torch.tensor(2.0, requires_grad=True)
        >>> drawn = Normal(1.0, scale).rsample()  # 1 + scale * noise
        >>> drawn.backward()
        >>> drawn.detach(), scale.grad
        (tensor(4.0820), tensor(1.5410))
        """
        raise NotImplementedError

    def sample_n(self, n: int) -> Tensor:
        """Draw `n` samples.  Deprecated: use `sample((n,))`.

        >>> import warnings
        >>> from minigrad.distributions import Normal
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     Normal(0.0, 1.0).sample_n(3).shape
        torch.Size([3])
        """
        warn_user("`sample_n(n)` will be deprecated. Use `sample((n,))` instead.",
                  FutureWarning)
        return self.sample((n,))

    def log_prob(self, value: Any) -> Tensor:
        """Return the log of the probability density or mass at `value`.

        >>> import minigrad as torch
        >>> from minigrad.distributions import Normal
        >>> loc = torch.tensor(0.0, requires_grad=True)
        >>> density = Normal(loc, 1.0).log_prob(torch.tensor([0.0, 2.0]))
        >>> density
        tensor([-0.9189, -2.9189], grad_fn=<SubBackward0>)
        >>> density.sum().backward()
        >>> loc.grad
        tensor(2.)
        """
        raise NotImplementedError

    def cdf(self, value: Any) -> Tensor:
        """Return the probability that a sample is at most `value`.

        >>> from minigrad import tensor
        >>> from minigrad.distributions import Exponential
        >>> Exponential(1.0).cdf(tensor([0.0, 1.0, 5.0]))
        tensor([0.0000, 0.6321, 0.9933])
        """
        raise NotImplementedError

    def icdf(self, value: Any) -> Tensor:
        """Return the number that a sample does not exceed with probability `value`.

        >>> from minigrad import tensor
        >>> from minigrad.distributions import Exponential
        >>> Exponential(1.0).icdf(tensor([0.0, 0.5, 0.99]))
        tensor([0.0000, 0.6931, 4.6052])
        """
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Return all values of a discrete distribution along a new first dimension.

        With `expand=False` the batch dimensions have size 1.

        >>> from minigrad import tensor
        >>> from minigrad.distributions import Categorical
        >>> dice = Categorical(tensor([[1.0, 1.0, 1.0], [1.0, 2.0, 5.0]]))
        >>> dice.enumerate_support()
        tensor([[0, 0],
                [1, 1],
                [2, 2]])
        >>> dice.enumerate_support(expand=False).shape
        torch.Size([3, 1])
        """
        raise NotImplementedError

    def _enumerated(self, values: Any, expand: bool) -> Any:
        """Add the batch dimensions to a vector of all values."""
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values

    def entropy(self) -> Tensor:
        """Return the entropy in nats, the expected value of -log_prob, with the batch shape.

        >>> from minigrad import tensor
        >>> from minigrad.distributions import Bernoulli
        >>> Bernoulli(tensor([0.5, 0.99])).entropy()
        tensor([0.6931, 0.0560])
        """
        raise NotImplementedError

    def perplexity(self) -> Tensor:
        """Return exp(entropy).

        >>> from minigrad import ones
        >>> from minigrad.distributions import Categorical
        >>> Categorical(ones(6)).perplexity()
        tensor(6.0000)
        """
        return F.exp(self.entropy())

    def _extended_shape(self, sample_shape: Any = ()) -> Size:
        return Size(tuple(sample_shape) + self._batch_shape + self._event_shape)

    def _validate_sample(self, value: Any) -> None:
        """Raise `ValueError` if `value` has the wrong shape or is outside the support."""
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        event, size = self._event_shape, value.shape
        if size[len(size) - len(event):] != event:
            raise ValueError(f"The right-most size of value must match event_shape: {size} vs "
                             f"{event}.")
        wanted = Size(self._batch_shape + event)
        if any(1 != i != j != 1 for i, j in zip(reversed(size), reversed(wanted))):
            raise ValueError("Value is not broadcastable with batch_shape+event_shape: "
                             f"{size} vs {wanted}.")
        try:
            support = self.support
        except NotImplementedError:
            warn_user(f"{type(self)} does not define `support` to enable sample validation. "
                      "Please initialize the distribution with `validate_args=False` to turn "
                      "off validation.")
            return
        if not support.check(value).all():
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) "
                f"to be within the support ({support!r}) of the distribution {self!r}, but found "
                f"invalid values:\n{value}")

    def __repr__(self) -> str:
        own = {name: vars(self)[name] for name in self.arg_constraints if name in vars(self)}
        shown = (f"{name}: {value if value.numel() == 1 else value.size()}"
                 for name, value in own.items())
        return f"{type(self).__name__}({', '.join(shown)})"
