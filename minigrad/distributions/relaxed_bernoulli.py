"""A differentiable relaxation of Bernoulli samples to (0, 1): the binary concrete distribution.

Source: Maddison et al., 2017, https://arxiv.org/abs/1611.00712
"""

from __future__ import annotations

from typing import Any

from ..op.declaration import F
from ..tensor.tensor import Tensor
from . import constraints
from .probs_or_logits import ProbsOrLogits
from .relaxed import Relaxed
from .transforms_elementwise import SigmoidTransform
from .utils import as_floating, broadcast_all, clamp_probs

__all__ = ["LogitRelaxedBernoulli", "RelaxedBernoulli"]


class LogitRelaxedBernoulli(ProbsOrLogits):
    """(logits + log(u / (1 - u))) / temperature, with u uniform on (0, 1).

    >>> from minigrad import tensor
    >>> LogitRelaxedBernoulli(tensor(0.5), 0.5).rsample((3,)).shape
    torch.Size([3])
    """

    support: Any = constraints.real
    _kept = ("temperature",)

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None,
                 validate_args: bool | None = None) -> None:
        self.temperature = temperature
        self._begin_from_probs_or_logits(probs, logits, validate_args)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Draw by inverting the cumulative distribution function."""
        shape = self._extended_shape(sample_shape)
        probs = clamp_probs(self.probs.expand(shape))
        u = clamp_probs(F.rand(shape, dtype=probs.dtype, device=probs.device))
        odds = u.log() - (-u).log1p() + probs.log() - (-probs).log1p()
        return odds / self.temperature

    def log_prob(self, value: Any) -> Tensor:
        """Return the log density."""
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        off = logits - value * self.temperature
        return F.log(as_floating(self.temperature)) + off + 2 * F.logsigmoid(-off)


class RelaxedBernoulli(Relaxed):
    """Numbers in (0, 1) that get closer to 0 and 1 as the temperature falls.

    >>> import minigrad as torch
    >>> from minigrad.distributions import RelaxedBernoulli
    >>> soft = RelaxedBernoulli(torch.tensor(0.1), probs=torch.tensor([0.25, 0.5]))
    >>> soft.temperature, soft.probs, soft.logits
    (tensor(0.1000), tensor([0.2500, 0.5000]), tensor([-1.0986,  0.0000]))
    >>> _ = torch.manual_seed(0)
    >>> soft.rsample((2,))
    tensor([[1.4580e-05, 9.9999e-01],
            [1.2573e-15, 6.6328e-09]])
    """

    arg_constraints: Any = {"probs": constraints.unit_interval, "logits": constraints.real}
    support: Any = constraints.unit_interval

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None,
                 validate_args: bool | None = None) -> None:
        super().__init__(LogitRelaxedBernoulli(temperature, probs, logits), SigmoidTransform(),
                         validate_args=validate_args)
