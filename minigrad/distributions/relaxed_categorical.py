"""A differentiable relaxation of one-hot vectors: the Gumbel-softmax distribution.

Source: Maddison et al., 2017, https://arxiv.org/abs/1611.00712
"""

from __future__ import annotations

import math
from typing import Any

from ..op.declaration import F
from ..tensor.tensor import Tensor
from . import constraints
from .by_weights import ByWeights
from .relaxed import Relaxed
from .transforms_elementwise import ExpTransform
from .utils import as_floating, clamp_probs

__all__ = ["ExpRelaxedCategorical", "RelaxedOneHotCategorical"]


class ExpRelaxedCategorical(ByWeights):
    """The log-softmax of (logits + Gumbel noise) / temperature.

    >>> from minigrad import tensor
    >>> ExpRelaxedCategorical(tensor(0.5), tensor([1.0, 3.0])).rsample((5,)).shape
    torch.Size([5, 2])
    """

    support: Any = constraints.real_vector  # a superset: the exponentials of a sample sum to 1
    has_rsample = True
    _kept = ("temperature",)

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None,
                 validate_args: bool | None = None) -> None:
        self.temperature = temperature
        self._begin_by_weights(probs, logits, validate_args)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Draw by the Gumbel-softmax trick."""
        shape = self._extended_shape(sample_shape)
        u = clamp_probs(F.rand(shape, dtype=self.logits.dtype, device=self.logits.device))
        scores = (self.logits - (-u.log()).log()) / self.temperature
        return scores - scores.logsumexp(-1, keepdim=True)

    def log_prob(self, value: Any) -> Tensor:
        """Return the log density."""
        if self._validate_args:
            self._validate_sample(value)
        n = self.event_shape[0]
        score = F.log_softmax(self.logits - value * self.temperature, -1).sum(-1)
        return score + math.lgamma(n) + (n - 1) * F.log(as_floating(self.temperature))


class RelaxedOneHotCategorical(Relaxed):
    """Points of the simplex that get closer to its corners as the temperature falls.

    >>> import minigrad as torch
    >>> from minigrad.distributions import RelaxedOneHotCategorical
    >>> soft = RelaxedOneHotCategorical(torch.tensor(0.5), torch.tensor([1.0, 3.0]))
    >>> soft.temperature, soft.probs
    (tensor(0.5000), tensor([0.2500, 0.7500]))
    >>> _ = torch.manual_seed(0)
    >>> soft.rsample((2,))
    tensor([[0.0155, 0.9845],
            [0.0719, 0.9281]])
    """

    arg_constraints: Any = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support: Any = constraints.simplex

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None,
                 validate_args: bool | None = None) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)
