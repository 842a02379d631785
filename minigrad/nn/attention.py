"""Multi-head attention.

Source: Vaswani et al., Attention Is All You Need, https://arxiv.org/abs/1706.03762
"""

from __future__ import annotations

from typing import Any

from .. import on_demand
from ..op.declaration import F as ops
from ..ops.creation.create import empty
from ..tensor.tensor import Parameter, Tensor
from . import functional as F
from . import init
from .attention_kernels import SDPBackend as SDPBackend  # as in PyTorch's module of this name
from .attention_kernels import sdpa_kernel as sdpa_kernel
from .linear import Linear
from .module import Module

__all__ = ["MultiheadAttention"]

__path__: list[str] = []  # for modules below it that are left out
__getattr__ = on_demand.attributes(__name__)[0]


class NonDynamicallyQuantizableLinear(Linear):
    """`Linear` under the name that PyTorch prints for an attention's output projection.

    >>> NonDynamicallyQuantizableLinear(2, 1)
    NonDynamicallyQuantizableLinear(in_features=2, out_features=1, bias=True)
    """


class MultiheadAttention(Module):
    """Multi-head attention: queries (L, N, E), keys and values (S, N, E) -> (L, N, E).

    `batch_first` puts the batch dimension N first, and unbatched inputs are matrices. Returns the
    result and the attention weights (N, L, S); the weights are `None` with `need_weights=False`.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.MultiheadAttention.html

    >>> from minigrad import nn, ones
    >>> x = ones(5, 1, 4)
    >>> result, weights = nn.MultiheadAttention(4, num_heads=2)(x, x, x)
    >>> result.shape, weights.shape
    (torch.Size([5, 1, 4]), torch.Size([1, 5, 5]))
    """

    def __init__(self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True,
                 add_bias_kv: bool = False, add_zero_attn: bool = False, kdim: int | None = None,
                 vdim: int | None = None, batch_first: bool = False, device: Any = None,
                 dtype: Any = None) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError("embed_dim and num_heads must be greater than 0, got "
                             f"embed_dim={embed_dim} and num_heads={num_heads} instead")
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")
        options: dict[str, Any] = {"device": device, "dtype": dtype}
        inputs = {"q": embed_dim, "k": self.kdim, "v": self.vdim}
        if self._qkv_same_embed_dim:
            self.in_proj_weight = Parameter(empty((3 * embed_dim, embed_dim), **options))
            for name in inputs:
                self.register_parameter(f"{name}_proj_weight", None)
        else:
            for name, size in inputs.items():
                setattr(self, f"{name}_proj_weight", Parameter(empty((embed_dim, size), **options)))
            self.register_parameter("in_proj_weight", None)
        in_bias = Parameter(empty(3 * embed_dim, **options)) if bias else None
        self.register_parameter("in_proj_bias", in_bias)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias, **options)
        self.bias_k: Any = None
        self.bias_v: Any = None
        if add_bias_kv:
            self.bias_k = Parameter(empty((1, 1, embed_dim), **options))
            self.bias_v = Parameter(empty((1, 1, embed_dim), **options))
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        """Initialise the input projections with Xavier's method and the biases with zeros."""
        weights = [self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight]
        for weight in weights:
            if weight is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)
        for extra in (self.bias_k, self.bias_v):
            if extra is not None:
                init.xavier_normal_(extra)

    def forward(self, query: Tensor, key: Tensor, value: Tensor,
                key_padding_mask: Tensor | None = None, need_weights: bool = True,
                attn_mask: Tensor | None = None, average_attn_weights: bool = True,
                is_causal: bool = False) -> tuple[Tensor, Tensor | None]:
        """Attend; a mask hides the positions where it is True or -inf.

        `key_padding_mask` is (N, S), `attn_mask` is (L, S) or (N heads, L, S); `is_causal` tells
        that `attn_mask` is the causal mask.
        """
        batched = query.dim() == 3
        turned = self.batch_first and batched
        if turned:
            query, key, value = positions_first(query, key, value)
        result, weights = F.multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight,
            self.in_proj_bias, self.bias_k, self.bias_v, self.add_zero_attn, self.dropout,
            self.out_proj.weight, self.out_proj.bias, self.training, key_padding_mask,
            need_weights, attn_mask, not self._qkv_same_embed_dim, self.q_proj_weight,
            self.k_proj_weight, self.v_proj_weight, average_attn_weights=average_attn_weights,
            is_causal=is_causal)
        return ops.transpose(result, 0, 1) if turned else result, weights


def positions_first(*inputs: Tensor) -> list[Tensor]:
    """Swap the first two dimensions; inputs that are the same tensor stay the same tensor.

    >>> from minigrad import ones
    >>> x = ones(1, 2, 3)
    >>> query, key, value = positions_first(x, x, ones(1, 2, 3))
    >>> query.shape, query is key, key is value
    (torch.Size([2, 1, 3]), True, False)
    """
    turned: dict[int, Tensor] = {}
    for x in inputs:
        if id(x) not in turned:
            turned[id(x)] = ops.transpose(x, 0, 1)
    return [turned[id(x)] for x in inputs]
