"""Kernels that ops need beyond an array library, composed of array functions.

Each is a function in a `kernels_*` module with the backend as its first parameter, `xp`; here it
becomes a method.  A backend overrides the ones that it can do better.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from . import (
    kernels_attention,
    kernels_conv,
    kernels_ldl,
    kernels_loss,
    kernels_mask,
    kernels_matrix,
    kernels_norm,
    kernels_pool,
    kernels_recurrent,
    kernels_scale,
)

__all__ = ["Kernels"]


class Kernels:
    """Base of backends: `xp.conv_forward(x, ...)` and the other kernels.

    >>> from minigrad.backend import numpy_backend as xp
    >>> xp.adaptive_avg_pool_forward(numpy.array([1.0, 2, 6]), (1,))
    array([3.])
    """

    conv_forward = kernels_conv.conv_forward
    conv_grad_input = kernels_conv.conv_grad_input
    conv_grad_weight = kernels_conv.conv_grad_weight

    max_pool_forward = kernels_pool.max_pool_forward
    max_pool_backward = kernels_pool.max_pool_backward
    max_pool_gather = kernels_pool.max_pool_gather
    avg_pool_forward = kernels_pool.avg_pool_forward
    avg_pool_backward = kernels_pool.avg_pool_backward
    adaptive_avg_pool_forward = kernels_pool.adaptive_avg_pool_forward
    adaptive_avg_pool_backward = kernels_pool.adaptive_avg_pool_backward
    adaptive_max_pool_forward = kernels_pool.adaptive_max_pool_forward

    select = kernels_mask.select
    masked_scale = kernels_mask.masked_scale

    #: random generators on the device; None if the host draws the numbers
    generators: Any = None

    batch_norm_forward = kernels_norm.batch_norm_forward
    batch_norm_by = kernels_norm.batch_norm_by
    batch_norm_grad_input = kernels_norm.batch_norm_grad_input
    batch_norm_grad_weight = kernels_norm.batch_norm_grad_weight
    batch_norm_sums = kernels_norm.batch_norm_sums
    channel_sums = kernels_norm.channel_sums
    move_moments = kernels_norm.move_moments
    moments = kernels_norm.moments
    normalization_gradient = kernels_norm.normalization_gradient
    dot_along = kernels_norm.dot_along

    nll_loss = kernels_loss.nll_loss
    nll_gradient = kernels_loss.nll_gradient

    # Optional kernels of a backend, by the names that `ops.kernels.own_kernel` takes.  If one is
    # missing or returns `NotImplemented`, the op's own function runs.
    softmax: Any = None
    softmax_gradient: Any = None
    log_softmax: Any = None
    log_softmax_gradient: Any = None
    layer_norm: Any = None
    layer_norm_grad_input: Any = None
    layer_norm_grad_weight: Any = None
    gelu: Any = None
    gelu_gradient: Any = None
    max_pool_grad_input: Any = None
    relu_gradient: Any = None
    #: multi-tensor steps of optimizers
    count_steps: Any = None
    take_step: Any = None

    unscale = kernels_scale.unscale
    update_scale = kernels_scale.update_scale

    bmm = kernels_matrix.bmm
    solve_triangular = kernels_matrix.solve_triangular
    lu_factor = kernels_matrix.lu_factor
    lu_solve = kernels_matrix.lu_solve
    row_order = kernels_matrix.row_order
    ldl_factor = kernels_ldl.ldl_factor
    ldl_solve = kernels_ldl.ldl_solve

    attention_forward = kernels_attention.attention_forward
    attention_backward = kernels_attention.attention_backward

    #: a product with fewer multiplications is worth a separate call; see `kernels_recurrent`
    small_product = 0
    lstm_forward = kernels_recurrent.lstm_forward
    lstm_backward = kernels_recurrent.lstm_backward
    gru_forward = kernels_recurrent.gru_forward
    gru_backward = kernels_recurrent.gru_backward
    rnn_forward = kernels_recurrent.rnn_forward
    rnn_backward = kernels_recurrent.rnn_backward

    def device_index(self, array: Any) -> int | None:
        """Return the number of an array's device: `None`, since there is only one."""
        return None

    def number(self, array: Any) -> Any:
        """Return a 0-d NumPy array in a form that this backend's functions accept."""
        xp: Any = self
        return xp.from_host(array)

    def place_of(self, arrays: Sequence[Any]) -> Any:
        """Return `None`, since work on these arrays needs no context."""
        return None

    def may_ask(self) -> bool:
        """Return whether values may be read now: not while a graph is captured on a GPU."""
        return True

    def check_indices(self, shape: Sequence[int], indices: Sequence[Any],
                      dims: Sequence[int]) -> None:
        """Do nothing, since indexing itself raises for an index that is out of range."""

    def for_each(self, function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """Return `[function(item) for item in items]`; a backend may use several threads."""
        return [function(item) for item in items]
