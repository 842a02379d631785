"""Dropout functions zero elements at random in training and are no-ops in evaluation.

Source: https://docs.pytorch.org/docs/stable/nn.functional.html#dropout-functions
"""

from __future__ import annotations

from ..frames import warn_user
from ..op.declaration import F
from ..tensor.tensor import Tensor

__all__ = ["alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d",
           "feature_alpha_dropout"]


def _check_probability(p: float) -> None:
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def _put(input: Tensor, result: Tensor, inplace: bool) -> Tensor:
    """Return the result, or the input with the result written to it if `inplace`."""
    return input.copy_(result) if inplace else result


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """In training, zero each element with probability `p` and divide the rest by 1 - p.

    >>> from minigrad import tensor
    >>> dropout(tensor([1.0, 2.0]), training=False)
    tensor([1., 2.])
    """
    _check_probability(p)
    result: Tensor = (F.dropout_ if inplace else F.dropout)(input, p, training)
    return result


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False,
                  inplace: bool = False) -> Tensor:
    """In training, set elements to SELU's lower bound at random, preserving mean and variance.

    >>> from minigrad import tensor
    >>> from minigrad.nn import functional as F
    >>> F.alpha_dropout(tensor([[1.0, 2.0]]), training=False)
    tensor([[1., 2.]])
    """
    _check_probability(p)
    return _put(input, F.alpha_dropout(input, p, training), inplace)


def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False,
                          inplace: bool = False) -> Tensor:
    """In training, set whole channels of (N, C, ...) to SELU's lower bound at random.

    >>> from minigrad import tensor
    >>> from minigrad.nn import functional as F
    >>> F.feature_alpha_dropout(tensor([[1.0, 2.0]]), training=False)
    tensor([[1., 2.]])
    """
    _check_probability(p)
    return _put(input, F.feature_alpha_dropout(input, p, training), inplace)


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True,
              inplace: bool = False) -> Tensor:
    """In training, zero whole channels of (N, C, L) or (C, L) with probability `p`.

    >>> from minigrad import ones
    >>> from minigrad.nn import functional as F
    >>> F.dropout1d(ones(2, 3, 4)).shape
    torch.Size([2, 3, 4])
    """
    _check_probability(p)
    if input.ndim not in (2, 3):
        raise RuntimeError(f"dropout1d: Expected 2D or 3D input, but received a {input.ndim}D "
                           f"input. {_purpose('1 spatial dimension', '2D or 3D')}")
    return _drop_channels(input, 3, p, training, inplace)


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True,
              inplace: bool = False) -> Tensor:
    """In training, zero whole channels of (N, C, H, W) with probability `p`.

    >>> from minigrad import ones
    >>> from minigrad.nn import functional as F
    >>> F.dropout2d(ones(2, 3, 4, 4)).shape
    torch.Size([2, 3, 4, 4])
    """
    _check_probability(p)
    if input.ndim not in (3, 4):
        _warn_of_dims("dropout2d", input.ndim, "2 spatial dimensions", "3D or 4D")
    if input.ndim == 3:
        warn_user("dropout2d: Received a 3D input to dropout2d and assuming that channel-wise "
                  "1D dropout behavior is desired - input is interpreted as shape (N, C, L), "
                  "where C is the channel dim. This behavior will change in a future release "
                  "to interpret the input as one without a batch dimension, i.e. shape (C, H, "
                  "W). To maintain the 1D channel-wise dropout behavior, please switch to "
                  "using dropout1d instead.", UserWarning)
    return _drop_channels(input, 0, p, training, inplace)


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True,
              inplace: bool = False) -> Tensor:
    """In training, zero whole channels of (N, C, D, H, W) or (C, D, H, W) with probability `p`.

    >>> from minigrad import ones
    >>> from minigrad.nn import functional as F
    >>> F.dropout3d(ones(2, 3, 4, 4, 4)).shape
    torch.Size([2, 3, 4, 4, 4])
    """
    _check_probability(p)
    if input.ndim not in (4, 5):
        _warn_of_dims("dropout3d", input.ndim, "3 spatial dimensions", "4D or 5D")
    return _drop_channels(input, 5, p, training, inplace)


def _drop_channels(input: Tensor, batched: int, p: float, training: bool,
                   inplace: bool) -> Tensor:
    """Zero whole channels; an input without `batched` dimensions has no batch dimension."""
    if batched and input.ndim != batched:
        result = F.squeeze(F.feature_dropout(F.unsqueeze(input, 0), p, training), 0)
    else:
        result = F.feature_dropout(input, p, training)
    return _put(input, result, inplace)


def _warn_of_dims(name: str, given: int, spatial: str, dims: str) -> None:
    warn_user(f"{name}: Received a {given}-D input to {name}, which is deprecated and will "
              "result in an error in a future release. To retain the behavior and silence this "
              f"warning, please use dropout instead. {_purpose(spatial, dims, name)}",
              UserWarning)


def _purpose(spatial: str, dims: str, name: str = "dropout1d") -> str:
    return (f"Note that {name} exists to provide channel-wise dropout on inputs with {spatial}, a "
            f"channel dimension, and an optional batch dimension (i.e. {dims} inputs).")
