"""Pooling by norms, and local response normalisation.

Source: https://docs.pytorch.org/docs/stable/nn.functional.html#pooling-functions
"""

from __future__ import annotations

import math
from typing import Any

from ..op.declaration import F
from ..ops.nn.pool import avg_pool1d, avg_pool2d
from ..ops.nn.pool3d import avg_pool3d
from ..ops.shape.pad import pad
from ..tensor.tensor import Tensor


def _lp_pool(dims: int, input: Tensor, norm_type: Any, kernel_size: Any, stride: Any,
             ceil_mode: bool) -> Tensor:
    """Return the norm of each window, computed from the average of powers."""
    pool: Any = (avg_pool1d, avg_pool2d, avg_pool3d)[dims - 1]
    sizes = (kernel_size,) * dims if isinstance(kernel_size, int) else kernel_size
    means = pool(F.pow(input, norm_type), kernel_size, stride, 0, ceil_mode)
    sums = F.sign(means) * F.relu(F.abs(means)) * math.prod(sizes)
    result: Tensor = F.pow(sums, 1.0 / norm_type)
    return result


def lp_pool1d(input: Tensor, norm_type: Any, kernel_size: Any, stride: Any = None,
              ceil_mode: bool = False) -> Tensor:
    """Return the `norm_type`-norm of every window: (N, C, L) -> (N, C, steps).

    >>> from minigrad import tensor
    >>> lp_pool1d(tensor([[3.0, 4.0]]), 2, 2)
    tensor([[5.]])
    """
    return _lp_pool(1, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool2d(input: Tensor, norm_type: Any, kernel_size: Any, stride: Any = None,
              ceil_mode: bool = False) -> Tensor:
    """Return the `norm_type`-norm of every window: (N, C, H, W) -> (N, C, *steps).

    >>> from minigrad import tensor
    >>> lp_pool2d(tensor([[[3.0, 4.0]]]), 2, (1, 2))
    tensor([[[5.]]])
    """
    return _lp_pool(2, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool3d(input: Tensor, norm_type: Any, kernel_size: Any, stride: Any = None,
              ceil_mode: bool = False) -> Tensor:
    """Return the `norm_type`-norm of every window: (N, C, D, H, W) -> (N, C, *steps).

    >>> from minigrad import tensor
    >>> lp_pool3d(tensor([[[[3.0, 4.0]]]]), 2, (1, 1, 2))
    tensor([[[[5.]]]])
    """
    return _lp_pool(3, input, norm_type, kernel_size, stride, ceil_mode)


def local_response_norm(input: Tensor, size: int, alpha: Any = 1e-4, beta: Any = 0.75,
                        k: Any = 1.0) -> Tensor:
    """Divide each element by (k + alpha * mean square of `size` nearby channels) ** beta.

    The input is (N, C, *S); raises `ValueError` for fewer than three dimensions.

    >>> from minigrad import tensor
    >>> local_response_norm(tensor([[[2.0]]]), size=1, alpha=1.0, beta=0.5, k=0.0)
    tensor([[[1.]]])
    """
    if input.ndim < 3:
        raise ValueError("Expected 3D or higher dimensionality                          input "
                         f"(got {input.ndim} dimensions)")
    if not input.numel():
        return input
    squares, edges = F.unsqueeze(input * input, 1), (size // 2, (size - 1) // 2)
    if input.ndim == 3:
        padded = pad(squares, (0, 0, *edges))
        means = avg_pool2d(padded, (size, 1), 1)
    else:
        squares = F.reshape(squares, (*squares.shape[:4], -1))
        padded = pad(squares, (0, 0, 0, 0, *edges))
        means = avg_pool3d(padded, (size, 1, 1), 1)
    result: Tensor = input / F.pow(F.reshape(means, input.shape) * alpha + k, beta)
    return result
