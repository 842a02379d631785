"""PyTorch's names of ops for profiles, including ops with another name in minigrad."""

from __future__ import annotations

import re

from ...op.declaration import Op

__all__ = ["op_name"]

#: Ops that PyTorch writes with a leading underscore.
_INTERNAL = {"masked_scale", "prelu_kernel", "reshape_alias", "sample_dirichlet", "standard_gamma",
             "to_copy", "trilinear", "unsafe_view"}

#: Ops with another name in PyTorch, or whose work is part of the op with this name there.
_PYTORCHS = {
    "adaptive_avg_pool3d_input": "adaptive_avg_pool3d_backward",
    "adaptive_avg_pool_input": "_adaptive_avg_pool2d_backward",
    "avg_pool3d_input": "avg_pool3d_backward",
    "avg_pool_input": "avg_pool2d_backward",
    "col2_im": "col2im",
    "conv_input": "convolution_backward",
    "conv_weight": "convolution_backward",
    "ctc_loss": "_ctc_loss",
    "ctc_loss_input": "_ctc_loss_backward",
    "embedding_rows": "index_select",
    "embedding_weight": "embedding_dense_backward",
    "gru_layer": "gru",
    "im2_col": "im2col",
    "index_backward": "_index_put_impl_",
    "logsigmoid": "log_sigmoid",
    "lstm_layer": "lstm",
    "masked_pick": "masked_select",
    "masked_place": "masked_scatter",
    "max_pool_gather": "gather",
    "max_pool_input": "max_pool2d_with_indices_backward",
    "max_unpool": "max_unpool2d",
    "nll_loss_input": "nll_loss_backward",
    "normal_of": "normal",
    "scaled_dot_product": "scaled_dot_product_attention",
    "sliding_windows": "unfold",
    "take_backward": "put_",
    "transposed_convolution": "convolution",
    "unique": "_unique2",
}


def op_name(op: type[Op]) -> str:
    """Return the name of an op in profiles: its family's name if it has a family.

    >>> from minigrad.op.declaration import REGISTRY
    >>> op_name(REGISTRY["PowNumber"]), op_name(REGISTRY["ConvInput"])
    ('aten::pow', 'aten::convolution_backward')
    """
    name = re.sub(r"(_of_number|_numbers?|_tensors?|_op|_in_place)$", "", op.name)
    return f"aten::_{name}" if name in _INTERNAL else f"aten::{_PYTORCHS.get(name, name)}"
