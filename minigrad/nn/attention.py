"""Multi-head attention.

Source: Vaswani et al., Attention Is All You Need, https://arxiv.org/abs/1706.03762
"""

from __future__ import annotations

import math
import warnings
from typing import Any

from ..op.declaration import F as ops
from ..ops.creation.create import empty
from ..tensor.tensor import Parameter, Tensor
from . import functional as F
from . import init
from .linear import Linear
from .module import Module

__all__ = ["MultiheadAttention"]


class NonDynamicallyQuantizableLinear(Linear):
    """`Linear` under the name that PyTorch prints for the output projection of an attention.

    >>> NonDynamicallyQuantizableLinear(2, 1)
    NonDynamicallyQuantizableLinear(in_features=2, out_features=1, bias=True)
    """


class MultiheadAttention(Module):
    """Attention of `num_heads` heads: queries (L, N, E), keys and values (S, N, E) -> (L, N, E).

    With `batch_first` the batch N comes first; without a batch all are matrices. Returns the result
    and the weights (N, L, S), None without `need_weights`.

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
        """Initialise the input projections by Xavier, the biases with zeros."""
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
        """Attend; masks are True or -inf at hidden places, and `is_causal` if causal.

        Masks: `key_padding_mask` (N, S), `attn_mask` (L, S) or (N heads, L, S).
        """
        _check_dimensions(query, key, value, key_padding_mask, attn_mask, self.num_heads)
        if is_causal and attn_mask is None:
            raise RuntimeError("Need attn_mask if specifying the is_causal hint. You may use the "
                               "Transformer module method `generate_square_subsequent_mask` to "
                               "create this mask.")
        batched = query.dim() == 3
        batch_dim = 0 if self.batch_first and batched else 1
        own = key is query and value is key
        if not batched:
            query, key, value = (ops.unsqueeze(x, 1) for x in (query, key, value))
            if key_padding_mask is not None:
                key_padding_mask = ops.unsqueeze(key_padding_mask, 0)
        self._check_sizes(query, key, value)
        q, k, v = self._project(query, key, value, own)
        if self.bias_k is not None:
            k, v = (ops.cat([x, self._for_each_sample(extra, x.size(batch_dim), batch_dim)],
                            1 - batch_dim) for x, extra in ((k, self.bias_k), (v, self.bias_v)))
        q, k, v = (self._heads(x, batch_dim) for x in (q, k, v))
        if self.add_zero_attn:
            k, v = (ops.cat([x, ops.new_zeros(x, (*x.shape[:2], 1, x.shape[3]))], 2)
                    for x in (k, v))
        causal = is_causal and key_padding_mask is None and not need_weights
        mask = self._mask(None if causal else attn_mask, key_padding_mask, q, k)
        dropout = self.dropout if self.training else 0.0
        weights = None
        if need_weights:
            scores = q * math.sqrt(1.0 / self.head_dim) @ ops.transpose(k, -2, -1)
            weights = ops.softmax(scores if mask is None else scores + mask, -1)
            weights = F.dropout(weights, dropout)
            result = weights @ v
            weights = ops.mean(weights, 1) if average_attn_weights else weights
        else:
            result = F.scaled_dot_product_attention(q, k, v, mask, dropout, causal)
        # In memory the positions come first, as in PyTorch: dropout draws in that order.
        result = self.out_proj(self._joined(result))
        result = ops.transpose(result, 0, 1) if batch_dim == 0 else result
        if not batched:
            result = ops.squeeze(result, 1)
            weights = None if weights is None else ops.squeeze(weights, 0)
        return result, weights

    # ---------------------------------------------------------------- its parts

    def _check_sizes(self, query: Tensor, key: Tensor, value: Tensor) -> None:
        """Raise if the queries have other features, or keys and values do not match."""
        if query.size(-1) != self.embed_dim:
            raise AssertionError(f"was expecting embedding dimension of {self.embed_dim}, but got "
                                 f"{query.size(-1)}")
        if not self._qkv_same_embed_dim:
            if key.shape[:2] != value.shape[:2]:
                raise AssertionError(f"key's sequence and batch dims {key.shape[:2]} do not match "
                                     f"value's {value.shape[:2]}")
        elif key.shape != value.shape:
            raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")

    def _project(self, query: Tensor, key: Tensor, value: Tensor, own: bool) -> list[Tensor]:
        """Return queries, keys and values, all with `embed_dim` features."""
        bias = self.in_proj_bias
        if own and self._qkv_same_embed_dim:  # one product for all three
            return list(ops.chunk(F.linear(query, self.in_proj_weight, bias), 3, -1))
        weights = [self.q_proj_weight, self.k_proj_weight, self.v_proj_weight]
        if self._qkv_same_embed_dim:
            weights = ops.chunk(self.in_proj_weight, 3)
        biases = [None] * 3 if bias is None else ops.chunk(bias, 3)
        return [F.linear(x, w, b)
                for x, w, b in zip((query, key, value), weights, biases, strict=True)]

    def _for_each_sample(self, extra: Tensor, batch: int, batch_dim: int) -> Tensor:
        """Return a learnt key or value (1, 1, E), repeated for every sample."""
        shape = [1, 1, self.embed_dim]
        shape[batch_dim] = batch
        expanded: Tensor = ops.expand(extra, shape)
        return expanded

    def _heads(self, x: Tensor, batch_dim: int) -> Tensor:
        """(L, N, E) or (N, L, E) -> (N, heads, L, E / heads)."""
        split = ops.reshape(x, (*x.shape[:2], self.num_heads, self.head_dim))
        turned: Tensor = ops.permute(split, (0, 2, 1, 3) if batch_dim == 0 else (1, 2, 0, 3))
        return turned

    def _joined(self, x: Tensor) -> Tensor:
        """(N, heads, L, E / heads) -> (L, N, E)."""
        turned = ops.permute(x, (2, 0, 1, 3))
        joined: Tensor = ops.reshape(turned, (*turned.shape[:2], self.embed_dim))
        return joined

    def _mask(self, attn_mask: Tensor | None, key_padding_mask: Tensor | None, q: Tensor,
              k: Tensor) -> Tensor | None:
        """Return both masks as one to add to the scores (N, heads, L, S); None if there is none."""
        (batch, heads, queries), keys = q.shape[:3], k.shape[2]
        extra = (self.bias_k is not None) + self.add_zero_attn
        if (attn_mask is not None and key_padding_mask is not None
                and attn_mask.dtype != key_padding_mask.dtype):
            warnings.warn("Support for mismatched key_padding_mask and attn_mask is deprecated. "
                          "Use same type for both instead.", stacklevel=4)
        attn_mask = added("attn_mask", attn_mask, q)
        key_padding_mask = added("key_padding_mask", key_padding_mask, q)
        if attn_mask is not None:
            given = keys - extra
            wanted = {2: (queries, given), 3: (batch * heads, queries, given)}[attn_mask.dim()]
            if tuple(attn_mask.shape) != wanted:
                raise RuntimeError(f"The shape of the {attn_mask.dim()}D attn_mask is "
                                   f"{attn_mask.shape}, but should be {wanted}.")
            attn_mask = F.pad(attn_mask, (0, extra)) if extra else attn_mask
            if attn_mask.dim() == 3:
                attn_mask = ops.reshape(attn_mask, (batch, heads, queries, keys))
        if key_padding_mask is None:
            return attn_mask
        padding = F.pad(key_padding_mask, (0, extra)) if extra else key_padding_mask
        for dim, size in ((0, batch), (1, keys)):
            if padding.size(dim) != size:
                raise AssertionError(f"Expected key_padded_mask.shape[{dim}] to be {size}, but got "
                                     f"{padding.size(dim)}")
        both: Tensor = ops.reshape(padding, (batch, 1, 1, keys))
        if attn_mask is not None:
            both = attn_mask + both
        return both


def added(name: str, mask: Tensor | None, like: Tensor) -> Tensor | None:
    """Return a mask to add to scores of the dtype of `like`: -inf where a bool one is True.

    >>> from minigrad import ones, tensor
    >>> added("mask", tensor([True, False]), ones(1))
    tensor([-inf, 0.])
    """
    if mask is None or mask.is_floating_point():
        return mask
    if str(mask.dtype) != "torch.bool":
        raise AssertionError(f"only bool and floating types of {name} are supported")
    zeros = ops.new_zeros(like, tuple(mask.shape))
    filled: Tensor = ops.masked_fill(zeros, mask, -math.inf)
    return filled


def _check_dimensions(query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Tensor | None,
                      attn_mask: Tensor | None, heads: int) -> None:
    """Raise unless either all or none of the inputs have a batch dimension."""
    dims = query.dim()
    if dims not in (2, 3):
        raise AssertionError("query should be unbatched 2D or batched 3D tensor but received "
                             f"{dims}-D query tensor")
    kind = f"{'batched' if dims == 3 else 'unbatched'} ({dims}-D)"
    if key.dim() != dims or value.dim() != dims:
        raise AssertionError(f"For {kind} `query`, expected `key` and `value` to be {dims}-D but "
                             f"found {key.dim()}-D and {value.dim()}-D tensors respectively")
    if key_padding_mask is not None and key_padding_mask.dim() != dims - 1:
        raise AssertionError(f"For {kind} `query`, expected `key_padding_mask` to be `None` or "
                             f"{dims - 1}-D but found {key_padding_mask.dim()}-D tensor instead")
    if attn_mask is not None and attn_mask.dim() not in (2, 3):
        raise AssertionError(f"For {kind} `query`, expected `attn_mask` to be `None`, 2-D or 3-D "
                             f"but found {attn_mask.dim()}-D tensor instead")
    if dims == 2 and attn_mask is not None and attn_mask.dim() == 3:
        wanted = (heads, query.size(0), key.size(0))
        if tuple(attn_mask.shape) != wanted:
            raise AssertionError(f"Expected `attn_mask` shape to be {wanted} but got "
                                 f"{attn_mask.shape}")
