"""Multi-head attention with its projections and masks, as one function.

Source: Vaswani et al., Attention Is All You Need, https://arxiv.org/abs/1706.03762
"""

from __future__ import annotations

import math

from ..frames import warn_user
from ..op.declaration import F as ops
from ..ops.nn.attention import scaled_dot_product_attention
from ..ops.nn.linear import linear
from ..ops.shape.pad import pad
from ..tensor.tensor import Tensor
from .functional_dropout import dropout


def multi_head_attention_forward(
        query: Tensor, key: Tensor, value: Tensor, embed_dim_to_check: int, num_heads: int,
        in_proj_weight: Tensor | None, in_proj_bias: Tensor | None, bias_k: Tensor | None,
        bias_v: Tensor | None, add_zero_attn: bool, dropout_p: float, out_proj_weight: Tensor,
        out_proj_bias: Tensor | None, training: bool = True,
        key_padding_mask: Tensor | None = None, need_weights: bool = True,
        attn_mask: Tensor | None = None, use_separate_proj_weight: bool = False,
        q_proj_weight: Tensor | None = None, k_proj_weight: Tensor | None = None,
        v_proj_weight: Tensor | None = None, static_k: Tensor | None = None,
        static_v: Tensor | None = None, average_attn_weights: bool = True,
        is_causal: bool = False) -> tuple[Tensor, Tensor | None]:
    """Compute `nn.MultiheadAttention` with explicit weights.

    Queries are (L, N, E), keys and values (S, N, E), or all of them without the batch dimension N.
    Returns the result (L, N, E) and the attention weights: (N, L, S), or (N, heads, L, S) if they
    are not averaged, or `None` with `need_weights=False`. A mask hides the positions where it is
    True or -inf: `key_padding_mask` is (N, S), `attn_mask` is (L, S) or (N heads, L, S).
    `static_k` and `static_v` (N heads, S, E / heads) replace the projected keys and values. Raises
    `AssertionError` or `RuntimeError` for other shapes.

    Source: `torch.nn.functional.multi_head_attention_forward`.

    >>> from minigrad import eye, ones, zeros
    >>> x = ones(3, 1, 2)
    >>> result, weights = multi_head_attention_forward(
    ...     x, x, x, 2, 1, ones(6, 2), zeros(6), None, None, False, 0.0, eye(2), None)
    >>> result[0], weights.shape
    (tensor([[2., 2.]]), torch.Size([1, 3, 3]))
    """
    _check_dimensions(query, key, value, key_padding_mask, attn_mask, num_heads)
    batched = query.dim() == 3
    own = key is query and value is key
    if not batched:
        query, key, value = (ops.unsqueeze(x, 1) for x in (query, key, value))
        if key_padding_mask is not None:
            key_padding_mask = ops.unsqueeze(key_padding_mask, 0)
    if (attn_mask is not None and key_padding_mask is not None
            and attn_mask.dtype != key_padding_mask.dtype):
        warn_user("Support for mismatched key_padding_mask and attn_mask is deprecated. "
                  "Use same type for both instead.")
    key_padding_mask = added("key_padding_mask", key_padding_mask, query)
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint. You may use the "
                           "Transformer module method `generate_square_subsequent_mask` to "
                           "create this mask.")
    causal = is_causal and key_padding_mask is None and not need_weights
    attn_mask = None if causal else added("attn_mask", attn_mask, query)
    _check_sizes(query, key, value, embed_dim_to_check, num_heads, use_separate_proj_weight)
    if use_separate_proj_weight:
        weights = {"q": q_proj_weight, "k": k_proj_weight, "v": v_proj_weight}
        q, k, v = _project_apart((query, key, value), weights, in_proj_bias)
    elif in_proj_weight is None:
        raise AssertionError("use_separate_proj_weight is False but in_proj_weight is None")
    else:
        q, k, v = _project(query, key, value, in_proj_weight, in_proj_bias, own)
    _check_mask(attn_mask, query, key, num_heads)
    for extra, other, name, missing in ((bias_k, bias_v, "k", "v"), (bias_v, bias_k, "v", "k")):
        if extra is not None and other is None:
            raise AssertionError(f"bias_{name} is set but bias_{missing} is None")
    extra_keys = 0
    if bias_k is not None and bias_v is not None:
        for static, name in ((static_k, "key"), (static_v, "value")):
            if static is not None:
                raise AssertionError(f"bias cannot be added to static {name}.")
        k, v = (ops.cat([x, ops.repeat(extra, (1, x.size(1), 1))])
                for x, extra in ((k, bias_k), (v, bias_v)))
        extra_keys += 1
    q = _heads(q, num_heads)
    k, v = (_heads(x, num_heads) if static is None else _static(static, name, q)
            for x, static, name in ((k, static_k, "k"), (v, static_v, "v")))
    if add_zero_attn:
        k, v = (ops.cat([x, ops.new_zeros(x, (*x.shape[:2], 1, x.shape[3]))], 2) for x in (k, v))
        extra_keys += 1
    mask = _mask(attn_mask, key_padding_mask, extra_keys, q, k)
    dropout_p = dropout_p if training else 0.0
    found: Tensor | None = None
    if need_weights:
        scores = q * math.sqrt(1.0 / q.size(-1)) @ ops.transpose(k, -2, -1)
        shares = ops.softmax(scores if mask is None else scores + mask, -1)
        shares = dropout(shares, dropout_p)
        result = shares @ v
        found = ops.mean(shares, 1) if average_attn_weights else shares
    else:
        result = scaled_dot_product_attention(q, k, v, mask, dropout_p, causal)
    result = linear(_joined(result), out_proj_weight, out_proj_bias)
    if not batched:
        result = ops.squeeze(result, 1)
        found = None if found is None else ops.squeeze(found, 0)
    return result, found


# ---------------------------------------------------------------- helpers


def _check_sizes(query: Tensor, key: Tensor, value: Tensor, features: int, heads: int,
                 apart: bool) -> None:
    """Raise unless the queries have `features` features and keys and values match."""
    if query.size(-1) != features:
        raise AssertionError(f"was expecting embedding dimension of {features}, but got "
                             f"{query.size(-1)}")
    if features % heads:
        raise AssertionError(f"embed_dim {features} not divisible by num_heads {heads}")
    if apart:
        if key.shape[:2] != value.shape[:2]:
            raise AssertionError(f"key's sequence and batch dims {key.shape[:2]} do not match "
                                 f"value's {value.shape[:2]}")
    elif key.shape != value.shape:
        raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")


def _project(query: Tensor, key: Tensor, value: Tensor, weight: Tensor, bias: Tensor | None,
             own: bool) -> list[Tensor]:
    """Project queries, keys and values with weights that are packed in one tensor."""
    if own:  # self-attention: one product gives all three
        return list(ops.chunk(linear(query, weight, bias), 3, -1))
    biases = [None] * 3 if bias is None else ops.chunk(bias, 3)
    return [linear(x, w, b)
            for x, w, b in zip((query, key, value), ops.chunk(weight, 3), biases, strict=True)]


def _project_apart(inputs: tuple[Tensor, ...], weights: dict[str, Tensor | None],
                   bias: Tensor | None) -> list[Tensor]:
    """Project queries, keys and values with one weight each, all to the queries' features."""
    for letter, weight in weights.items():
        if weight is None:
            raise AssertionError(f"use_separate_proj_weight is True but {letter}_proj_weight is "
                                 "None")
    biases = [None] * 3 if bias is None else list(ops.chunk(bias, 3))
    features = inputs[0].size(-1)
    names = ("query", "key", "value")
    checked = list(zip(names, inputs, weights.values(), biases, strict=True))
    for name, x, weight, _ in checked:
        wanted = features, x.size(-1)
        if weight is not None and tuple(weight.shape) != wanted:
            raise AssertionError(f"expecting {name} weights shape of {wanted}, but got "
                                 f"{weight.shape}")
    for name, _, _, one in checked:
        if one is not None and tuple(one.shape) != (features,):
            raise AssertionError(f"expecting {name} bias shape of {(features,)}, but got "
                                 f"{one.shape}")
    return [linear(x, weight, one) for _, x, weight, one in checked]


def _heads(x: Tensor, heads: int) -> Tensor:
    """Split the features into heads: (L, N, E) -> (N, heads, L, E / heads)."""
    split = ops.reshape(x, (*x.shape[:2], heads, x.shape[2] // heads))
    turned: Tensor = ops.permute(split, (1, 2, 0, 3))
    return turned


def _static(static: Tensor, name: str, q: Tensor) -> Tensor:
    """Split the first dimension of static keys or values: -> (N, heads, S, E / heads)."""
    batch, heads, _, features = q.shape
    for dim, size in ((0, batch * heads), (2, features)):
        if static.size(dim) != size:
            raise AssertionError(f"expecting static_{name}.size({dim}) of {size}, but got "
                                 f"{static.size(dim)}")
    split: Tensor = ops.reshape(static, (batch, heads, *static.shape[1:]))
    return split


def _joined(x: Tensor) -> Tensor:
    """Merge the heads: (N, heads, L, E / heads) -> (L, N, E), contiguous as in PyTorch."""
    turned = ops.permute(x, (2, 0, 1, 3))
    joined: Tensor = ops.reshape(turned, (*turned.shape[:2], x.shape[1] * x.shape[3]))
    return joined


def _check_mask(attn_mask: Tensor | None, query: Tensor, key: Tensor, heads: int) -> None:
    """Raise unless `attn_mask` has the size of the scores."""
    if attn_mask is None:
        return
    queries, keys = query.size(0), key.size(0)
    wanted = {2: (queries, keys), 3: (query.size(1) * heads, queries, keys)}[attn_mask.dim()]
    if tuple(attn_mask.shape) != wanted:
        raise RuntimeError(f"The shape of the {attn_mask.dim()}D attn_mask is "
                           f"{attn_mask.shape}, but should be {wanted}.")


def _mask(attn_mask: Tensor | None, key_padding_mask: Tensor | None, extra: int, q: Tensor,
          k: Tensor) -> Tensor | None:
    """Merge both masks into one to add to the scores (N, heads, L, S); `None` without masks.

    The last `extra` keys are the learnt and the zero ones, and masks never hide them.
    """
    (batch, heads, queries), keys = q.shape[:3], k.shape[2]
    if attn_mask is not None:
        attn_mask = pad(attn_mask, (0, extra)) if extra else attn_mask
        if attn_mask.dim() == 3:
            attn_mask = ops.reshape(attn_mask, (batch, heads, queries, -1))
    if key_padding_mask is None:
        return attn_mask
    padding = pad(key_padding_mask, (0, extra)) if extra else key_padding_mask
    for dim, size in ((0, batch), (1, keys)):
        if padding.size(dim) != size:
            raise AssertionError(f"Expected key_padded_mask.shape[{dim}] to be {size}, but got "
                                 f"{padding.size(dim)}")
    both: Tensor = ops.reshape(padding, (batch, 1, 1, keys))
    if attn_mask is not None:
        both = attn_mask + both
    return both


def added(name: str, mask: Tensor | None, like: Tensor) -> Tensor | None:
    """Return a mask to add to scores of the dtype of `like`: True in a bool mask becomes -inf.

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
    """Raise unless the inputs and masks are all batched or all unbatched."""
    dims = query.dim()
    if dims not in (2, 3):
        raise AssertionError("query should be unbatched 2D or batched 3D tensor but received "
                             f"{dims}-D query tensor")
    noun = f"{'batched' if dims == 3 else 'unbatched'} ({dims}-D)"
    if key.dim() != dims or value.dim() != dims:
        raise AssertionError(f"For {noun} `query`, expected `key` and `value` to be {dims}-D but "
                             f"found {key.dim()}-D and {value.dim()}-D tensors respectively")
    if key_padding_mask is not None and key_padding_mask.dim() != dims - 1:
        raise AssertionError(f"For {noun} `query`, expected `key_padding_mask` to be `None` or "
                             f"{dims - 1}-D but found {key_padding_mask.dim()}-D tensor instead")
    if attn_mask is not None and attn_mask.dim() not in (2, 3):
        raise AssertionError(f"For {noun} `query`, expected `attn_mask` to be `None`, 2-D or 3-D "
                             f"but found {attn_mask.dim()}-D tensor instead")
    if dims == 2 and attn_mask is not None and attn_mask.dim() == 3:
        wanted = (heads, query.size(0), key.size(0))
        if tuple(attn_mask.shape) != wanted:
            raise AssertionError(f"Expected `attn_mask` shape to be {wanted} but got "
                                 f"{attn_mask.shape}")
