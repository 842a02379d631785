"""torch.masked: reductions and normalizations that ignore masked-out elements.

An element counts if the boolean `mask` is True.  A mask has at most as many dimensions as the
tensor and is expanded to its shape.  minigrad leaves out PyTorch's prototype class `MaskedTensor`.

Source: https://docs.pytorch.org/docs/stable/masked.html

>>> from minigrad import masked, tensor
>>> masked.mean(tensor([1.0, 2.0, 9.0]), mask=tensor([True, True, False]))
tensor(1.5000)
"""

from .. import on_demand
from .masks import _input_mask, _output_mask
from .normalizations import (
    cumprod,
    cumsum,
    log_softmax,
    logaddexp,
    normalize,
    softmax,
    softmin,
)
from .reductions import (
    amax,
    amin,
    argmax,
    argmin,
    logsumexp,
    mean,
    median,
    norm,
    prod,
    std,
    sum,
    var,
)

__all__ = [
    "amax", "amin", "argmax", "argmin", "cumprod", "cumsum", "log_softmax", "logaddexp",
    "logsumexp", "mean", "median", "norm", "normalize", "prod", "softmax", "softmin", "std",
    "sum", "var",
]

__getattr__ = on_demand.attributes(__name__)[0]
