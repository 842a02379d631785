"""torch.special: special functions under their names in mathematics.

Source: https://docs.pytorch.org/docs/stable/special.html

>>> from minigrad import special, tensor
>>> special.expit(tensor([0.0]))
tensor([0.5000])
"""

from __future__ import annotations

from .op.publish import FUNCTIONS

digamma = psi = FUNCTIONS["digamma"]
erf = FUNCTIONS["erf"]
erfc = FUNCTIONS["erfc"]
erfinv = FUNCTIONS["erfinv"]
exp2 = FUNCTIONS["exp2"]
expit = FUNCTIONS["sigmoid"]
expm1 = FUNCTIONS["expm1"]
gammainc = FUNCTIONS["igamma"]
gammaincc = FUNCTIONS["igammac"]
gammaln = FUNCTIONS["lgamma"]
log1p = FUNCTIONS["log1p"]
log_softmax = FUNCTIONS["log_softmax"]
logit = FUNCTIONS["logit"]
logsumexp = FUNCTIONS["logsumexp"]
polygamma = FUNCTIONS["polygamma"]
round = FUNCTIONS["round"]
sinc = FUNCTIONS["sinc"]
softmax = FUNCTIONS["softmax"]
xlogy = FUNCTIONS["xlogy"]

__all__ = [
    "digamma", "erf", "erfc", "erfinv", "exp2", "expit", "expm1", "gammainc", "gammaincc",
    "gammaln", "log1p", "log_softmax", "logit", "logsumexp", "polygamma", "psi", "round", "sinc",
    "softmax", "xlogy",
]
