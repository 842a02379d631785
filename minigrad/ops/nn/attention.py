"""Scaled dot-product attention: each query averages the values by how well it matches their keys.

Source: Vaswani et al., Attention Is All You Need, https://arxiv.org/abs/1706.03762
"""

import math

from ...backend import backend_of
from ...backend.kernels_attention import causal_bias
from ...device import build_on, device_under
from ...dtypes import c_name
from ...op.declaration import F, Op
from ...op.publish import observable
from ...shapes import broadcast
from ...tensor.tensor import Tensor
from .dropout import checked


def softmax_or_zeros(scores):
    """Return the softmax along the last dimension, or zeros where all scores are -inf."""
    hidden = F.eq(F.amax(F.detach(scores), -1, True), -math.inf)
    return F.masked_fill(F.softmax(F.masked_fill(scores, hidden, 0), -1), hidden, 0)


class ScaledDotProduct(Op):
    """softmax(query @ key.T * scale + bias) @ value, and the softmax, the attention weights.

    `tensors` are query (*, L, E), key (*, S, E) and value (*, S, V) with equal batch dimensions.
    `bias` is `None`, or -inf where a query must not attend to a key; it has no gradient.

    >>> from minigrad import ones, tensor
    >>> ScaledDotProduct([ones(1, 1), ones(2, 1), tensor([[1.0], [3.0]])], None, 1.0).output
    tensor([[2.]])
    """

    no_batching = "rare in a batch: leading dimensions do the same"
    node = "ScaledDotProductBackward0"
    optional = ("bias",)
    public, list_of_tensors, tensors, materialize = False, "tensors", ("bias",), False
    outputs = ("output", "weights")

    def shape(tensors, bias, scale):
        (*batch, queries, _), (*_, keys, _), (*_, features) = tensors
        return [(*batch, queries, features), (*batch, queries, keys)]

    def forward(xp, tensors, bias, scale):
        return xp.attention_forward(*tensors, bias, scale)

    def grad_tensors(g_output, tensors, bias, scale, output, weights):
        query, key, value = tensors
        if type(g_output) is type(query) and not isinstance(query, Tensor):  # and not batched
            return backend_of(query).attention_backward(g_output, query, key, value, output,
                                                        weights, scale)
        scores = query @ F.transpose(key, -2, -1) * scale
        weights = softmax_or_zeros(scores if bias is None else scores + bias)
        slopes = g_output @ F.transpose(value, -2, -1)
        slopes = weights * (slopes - F.sum(slopes * weights, -1, True)) * scale
        return [slopes @ key, F.transpose(slopes, -2, -1) @ query,
                F.transpose(weights, -2, -1) @ g_output]

    def samples(make):
        yield [make(3, 4), make(5, 4), make(5, 2)], None, 0.5
        yield [make(2, 3, 3, 4), make(2, 3, 3, 4), make(2, 3, 3, 4)], make(3, 3).detach(), 0.3


def check_operands(query, key, value, attn_mask, is_causal):
    """Raise unless the shapes and dtypes of the operands of attention fit together."""
    operands = {"query": query, "key": key, "value": value}
    if any(x.ndim < 2 for x in operands.values()):
        dims = f"query.dim: {query.ndim} key.dim: {key.ndim} and value.dim: {value.ndim}"
        raise RuntimeError("Expected query, key, and value to all be  at least 2 dimensional, but "
                           f"got {dims} instead.")
    if not query.dtype == key.dtype == value.dtype:
        names = [c_name(x.dtype) for x in operands.values()]
        raise RuntimeError("Expected query, key, and value to have the same dtype, but got "
                           "query.dtype: {} key.dtype: {} and value.dtype: {} instead.".format(
                               *names))
    if attn_mask is not None:
        if is_causal:
            raise RuntimeError("_scaled_dot_product_attention: Explicit attn_mask should not be "
                               "set when is_causal=True")
        if attn_mask.dtype != query.dtype and c_name(attn_mask.dtype) not in ("bool", "float"):
            raise RuntimeError("Expected attn_mask dtype to be bool or float or to match query "
                               f"dtype, but got attn_mask.dtype: {c_name(attn_mask.dtype)} "
                               f"and  query.dtype: {c_name(query.dtype)} instead.")


def bias_of(attn_mask, is_causal, query, keys):
    """Return the addend of the scores, or `None`; it is -inf where a query must not see a key."""
    if is_causal:
        return Tensor._plain(build_on(device_under(query._array), lambda xp: causal_bias(
            xp, query.shape[-2], keys, query._array.dtype)))
    if attn_mask is not None and attn_mask.dtype.name == "bool":
        hidden = F.logical_not(attn_mask)
        return F.masked_fill(F.new_zeros(query, tuple(attn_mask.shape)), hidden, -math.inf)
    return attn_mask


@observable
def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False,
                                 scale: float | None = None, enable_gqa=False) -> Tensor:
    """softmax(query @ key.T * scale + mask) @ value: (*, L, E), (*, S, E), (*, S, V) -> (*, L, V).

    A bool `attn_mask` is True where a query may attend to a key; a floating-point mask is added to
    the scores.  With `is_causal`, query i sees the keys 0 to i.  `scale` defaults to 1 / sqrt(E).
    With `enable_gqa`, several query heads share one head of keys and values.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html

    >>> from minigrad import ones, tensor
    >>> scaled_dot_product_attention(ones(1, 1), ones(2, 1), tensor([[1.0], [3.0]]))
    tensor([[2.]])
    """
    check_operands(query, key, value, attn_mask, is_causal)
    dropout_p = checked(dropout_p)
    if not query.shape[-2] or 0 in value.shape:  # the result is zeros, and so are the gradients
        empty = [F.sum(F.narrow(F.reshape(x, (-1,)), 0, 0, 0)) for x in (query, key, value)]
        return F.new_zeros(query, (*query.shape[:-1], value.shape[-1])) + sum(empty)
    scale = 1 / math.sqrt(query.shape[-1] or 1) if scale is None else scale
    if enable_gqa:
        key, value = (as_many_heads(x, query.shape[-3]) for x in (key, value))
    batch = broadcast(tuple(query.shape[:-2]),
                      broadcast(tuple(key.shape[:-2]), tuple(value.shape[:-2])))
    query, key, value = (x if tuple(x.shape[:-2]) == batch
                         else F.expand(x, (*batch, *x.shape[-2:])) for x in (query, key, value))
    check_products(query, key, value)
    bias = bias_of(attn_mask, is_causal, query, key.shape[-2])
    if bias is not None:
        broadcast((*batch, query.shape[-2], key.shape[-2]), tuple(bias.shape))
    if not dropout_p and (bias is None or not bias.requires_grad):
        return ScaledDotProduct([query, key, value], bias, scale).output
    scores = F.mul(query, scale) @ F.transpose(key, -2, -1)
    weights = softmax_or_zeros(scores if bias is None else scores + bias)
    return F.dropout(weights, dropout_p, True) @ value


def check_products(query, key, value):
    """Raise unless query and key have equal features, and key and value equal lengths."""
    count, keys, features = math.prod(query.shape[:-2]), key.shape[-2], query.shape[-1]
    for wanted, actual in (((count, features), (math.prod(key.shape[:-2]), key.shape[-1])),
                          ((count, keys), (math.prod(value.shape[:-2]), value.shape[-2]))):
        if wanted != actual:
            raise RuntimeError("Expected size for first two dimensions of batch2 tensor to be: "
                               f"[{wanted[0]}, {wanted[1]}] but got: [{actual[0]}, {actual[1]}].")


def as_many_heads(x, heads):
    """Repeat the heads, dimension -3, to match the number of query heads."""
    if heads % x.shape[-3]:
        raise RuntimeError("Number of heads in key and value must divide the number of heads in ")
    return F.repeat_interleave(x, heads // x.shape[-3], -3)
