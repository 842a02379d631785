"""Initialisers: each fills a tensor in place and returns it.

With the same seed, the numbers equal PyTorch's.

Source: https://docs.pytorch.org/docs/stable/nn.init.html
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from ..autograd.grad_mode import no_grad
from ..dtypes import bool as bool_
from ..frames import warn_user
from ..op.declaration import F
from ..ops.creation.create import empty
from ..tensor.tensor import Tensor

#: The gain of each nonlinearity; `calculate_gain` adds `leaky_relu` with its slope.
GAINS = {
    "linear": 1.0, "conv1d": 1.0, "conv2d": 1.0, "conv3d": 1.0, "conv_transpose1d": 1.0,
    "conv_transpose2d": 1.0, "conv_transpose3d": 1.0, "sigmoid": 1.0, "tanh": 5.0 / 3,
    "relu": math.sqrt(2.0), "selu": 0.75,
}


def calculate_gain(nonlinearity: str, param: Any = None) -> float:
    """Return the recommended scale of weights before a nonlinearity.

    >>> calculate_gain("leaky_relu", 0.2)
    1.3867504905630728
    """
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, (int, float)):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity not in GAINS:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return GAINS[nonlinearity]


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with uniform numbers from [a, b).

    >>> from minigrad import empty
    >>> 2 <= uniform_(empty(3), 2, 3).min().item()
    True
    """
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with normal numbers.

    >>> from minigrad import empty, nn
    >>> nn.init.normal_(empty(1000), mean=5.0).mean().round()
    tensor(5.)
    """
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


def trunc_normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0,
                  b: float = 2.0, generator: Any = None) -> Tensor:
    """Fill with normal numbers, redrawing the ones outside [a, b].

    >>> from minigrad import empty
    >>> trunc_normal_(empty(100)).abs().max().item() <= 2
    True
    """
    if mean < a - 2 * std or mean > b + 2 * std:
        warn_user("mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The "
                  "distribution of values may be incorrect.")

    def below(x: float) -> float:
        return (1.0 + math.erf((x - mean) / std / math.sqrt(2.0))) / 2.0

    with no_grad():
        if below(b) - below(a) > 0.3:
            low, high = (tensor.new_tensor(bound) for bound in (a, b))
            tensor.normal_(mean, std, generator=generator)
            while (wrong := (tensor < low) | (tensor > high)).any():
                again = F.empty_like(tensor).normal_(mean, std, generator=generator)
                tensor.copy_(F.where(wrong, again, tensor))
            return tensor
        # Few normal numbers would fall inside, so use rejection sampling on uniform ones.
        peak = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2
        wrong = F.ones_like(tensor, dtype=bool_)
        while wrong.any():
            drawn = F.empty_like(tensor).uniform_(a, b, generator=generator)
            tensor.copy_(F.where(wrong, drawn, tensor))
            density = ((drawn - mean) / std) ** 2 * -0.5 - peak
            chance = F.empty_like(tensor).uniform_(generator=generator).log_()
            wrong = wrong & (chance > density)
        return tensor


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with a single value.

    >>> from minigrad import empty
    >>> constant_(empty(2), 0.5)
    tensor([0.5000, 0.5000])
    """
    with no_grad():
        return tensor.fill_(val)


def zeros_(tensor: Tensor) -> Tensor:
    """Fill with zeros.

    >>> from minigrad import empty, nn
    >>> nn.init.zeros_(empty(2))
    tensor([0., 0.])
    """
    return constant_(tensor, 0.0)


def ones_(tensor: Tensor) -> Tensor:
    """Fill with ones.

    >>> from minigrad import empty, nn
    >>> nn.init.ones_(empty(2))
    tensor([1., 1.])
    """
    return constant_(tensor, 1.0)


def eye_(tensor: Tensor) -> Tensor:
    """Fill a matrix with the identity.

    >>> from minigrad import empty
    >>> eye_(empty(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with no_grad():
        tensor.zero_()
        tensor.diagonal().fill_(1)
    return tensor


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Fill a convolution's weight so that it passes on as many channels as possible unchanged.

    >>> from minigrad import empty, nn
    >>> nn.init.dirac_(empty(1, 1, 3))
    tensor([[[0., 1., 0.]]])
    """
    if tensor.ndim not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    out_channels = tensor.size(0)
    if out_channels % groups:
        raise ValueError("dim 0 must be divisible by groups")
    each = out_channels // groups
    center = tuple(n // 2 for n in tensor.shape[2:])
    with no_grad():
        tensor.zero_()
        for group in range(groups):
            for channel in range(min(each, tensor.size(1))):
                tensor[(group * each + channel, channel, *center)] = 1
    return tensor


def _fans(tensor: Tensor) -> tuple[int, int]:
    """Return fan_in and fan_out: the inputs of each output and the outputs of each input."""
    if tensor.ndim < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 "
                         "dimensions")
    field = math.prod(tensor.shape[2:])
    return tensor.size(1) * field, tensor.size(0) * field


_calculate_fan_in_and_fan_out = _fans  # PyTorch's name


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    modes = ["fan_in", "fan_out"]
    mode = mode.lower()
    if mode not in modes:
        raise ValueError(f"Mode {mode} not supported, please use one of {modes}")
    return _fans(tensor)[modes.index(mode)]


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with uniform numbers of variance gain² 2 / (fan_in + fan_out).

    >>> from minigrad import empty, nn
    >>> w = nn.init.xavier_uniform_(empty(50, 100))
    >>> w.shape, w.abs().max() < 1
    (torch.Size([50, 100]), tensor(True))
    """
    std = gain * math.sqrt(2.0 / float(sum(_fans(tensor))))
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with normal numbers of variance gain² 2 / (fan_in + fan_out).

    >>> from minigrad import empty, nn
    >>> w = nn.init.xavier_normal_(empty(50, 100))
    >>> w.shape, w.std() < 0.3
    (torch.Size([50, 100]), tensor(True))
    """
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / float(sum(_fans(tensor)))), generator)


def kaiming_uniform_(tensor: Tensor, a: float = 0, mode: str = "fan_in",
                     nonlinearity: str = "leaky_relu", generator: Any = None) -> Tensor:
    """Fill with uniform numbers of variance gain² / fan.

    >>> from minigrad import empty, nn
    >>> w = nn.init.kaiming_uniform_(empty(50, 100))
    >>> w.shape, w.abs().max() < 1
    (torch.Size([50, 100]), tensor(True))
    """
    if 0 in tensor.shape:
        warn_user("Initializing zero-element tensors is a no-op")
        return tensor
    fan = _calculate_correct_fan(tensor, mode)
    bound = math.sqrt(3.0) * (calculate_gain(nonlinearity, a) / math.sqrt(fan))
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(tensor: Tensor, a: float = 0, mode: str = "fan_in",
                    nonlinearity: str = "leaky_relu", generator: Any = None) -> Tensor:
    """Fill with normal numbers of variance gain² / fan.

    >>> from minigrad import empty, nn
    >>> w = nn.init.kaiming_normal_(empty(50, 100))
    >>> w.shape, w.std() < 0.3
    (torch.Size([50, 100]), tensor(True))
    """
    if 0 in tensor.shape:
        warn_user("Initializing zero-element tensors is a no-op")
        return tensor
    fan = _calculate_correct_fan(tensor, mode)
    return normal_(tensor, 0.0, calculate_gain(nonlinearity, a) / math.sqrt(fan), generator)


def orthogonal_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with `gain` times a matrix whose rows or columns are orthonormal.

    >>> from minigrad import empty, nn
    >>> w = nn.init.orthogonal_(empty(2, 3))
    >>> (w @ w.T).round().abs()
    tensor([[1., 0.],
            [0., 1.]])
    """
    if tensor.ndim < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if not tensor.numel():
        return tensor
    rows, columns = tensor.size(0), tensor.numel() // tensor.size(0)
    with no_grad():
        flat = empty(rows, columns, dtype=tensor.dtype).normal_(0, 1, generator=generator)
        q, r = F.linalg_qr(flat.t() if rows < columns else flat)
        q = q * F.sign(F.diagonal(r))  # makes the factorisation unique
        tensor.copy_((q.t() if rows < columns else q).reshape(tensor.shape))
        return tensor.mul_(gain)


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Any = None) -> Tensor:
    """Fill a matrix with normal numbers, then zero a fraction `sparsity` of each column.

    >>> from minigrad import empty, nn
    >>> (nn.init.sparse_(empty(10, 2), sparsity=0.3) == 0).sum(0)
    tensor([3, 3])
    """
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    count = math.ceil(sparsity * rows)
    with no_grad():
        tensor.normal_(0, std, generator=generator)
        for column in range(columns):
            chosen = F.randperm(rows)[:count]
            tensor[chosen, column] = 0.0
    return tensor


# -------------------------------------------------------------------- deprecated names


#: The docstring of a deprecated name.
OLDER = """Deprecated: use `{new}`.

    >>> import warnings
    >>> from minigrad import empty, nn
    >>> with warnings.catch_warnings(record=True) as shown:
    ...     warnings.simplefilter("always"); x = nn.init.{old}({given})
    >>> print(shown[0].message)
    `nn.init.{old}` is now deprecated in favor of `nn.init.{new}`.
    """


def _older_name(function: Callable[..., Tensor],
                given: str = "empty(2, 3)") -> Callable[..., Tensor]:
    """Return an initialiser under its deprecated name, without "_"; calling it warns."""
    name = function.__name__

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Tensor:
        warn_user(f"`nn.init.{name[:-1]}` is now deprecated in favor of `nn.init.{name}`.",
                  FutureWarning)
        return function(*args, **kwargs)

    call.__name__ = call.__qualname__ = name[:-1]
    call.__doc__ = OLDER.format(old=name[:-1], new=name, given=given)
    return call


uniform, normal = _older_name(uniform_), _older_name(normal_)
constant, eye = _older_name(constant_, "empty(2, 3), 1.0"), _older_name(eye_)
dirac, sparse = _older_name(dirac_, "empty(2, 3, 4)"), _older_name(sparse_, "empty(2, 3), 0.5")
orthogonal = _older_name(orthogonal_)
xavier_uniform, xavier_normal = _older_name(xavier_uniform_), _older_name(xavier_normal_)
kaiming_uniform, kaiming_normal = _older_name(kaiming_uniform_), _older_name(kaiming_normal_)
