"""Scaled dot-product attention on arrays, forward and backward.

Queries are (..., L, E), keys (..., S, E) and values (..., S, V).  The weights (..., L, S) are by
far the largest arrays, so all passes over them work in place.
"""

from __future__ import annotations

from typing import Any

Array = Any

__all__ = ["attention_backward", "attention_forward", "causal_bias", "row_maxima"]


def row_maxima(xp: Any, x: Array) -> Array:
    """Return the maxima along the last dimension, which keeps size one.

    It compares quarters of the rows with each other, in place after the first two, because NumPy's
    own maximum handles short rows element by element.

    >>> row_maxima(numpy, numpy.array([[1.0, 3.0, 2.0]]))
    array([[3.]])
    """
    while (size := x.shape[-1]) > 1:
        parts = 4 if size >= 16 else 2
        width, rest = divmod(size, parts)
        best = xp.maximum(x[..., :width], x[..., width : 2 * width])
        for k in range(2, parts):
            xp.maximum(best, x[..., k * width : (k + 1) * width], out=best)
        if rest:
            xp.maximum(best[..., :rest], x[..., -rest:], out=best[..., :rest])
        x = best
    return x


def causal_bias(xp: Any, queries: int, keys: int, dtype: Any) -> Array:
    """Return the causal mask to add to the scores: query i attends only to keys 0 to i.

    >>> causal_bias(numpy, 2, 2, float)
    array([[  0., -inf],
           [  0.,   0.]])
    """
    return xp.triu(xp.full((queries, keys), -xp.inf, dtype), 1)


def empty_like_rows(xp: Any, x: Array, shape: tuple[int, ...]) -> Array:
    """Return an empty array whose dimensions have the same order in memory as those in `x`.

    The heads of one projection are interleaved in memory.  If the result's heads are too, joining
    them needs no copy.

    >>> empty_like_rows(numpy, numpy.ones((2, 3, 4)).swapaxes(0, 1), (3, 2, 5)).strides
    (40, 120, 8)
    """
    order = sorted(range(x.ndim), key=lambda i: -x.strides[i])
    if order[-1] != x.ndim - 1:
        return xp.empty(shape, x.dtype)
    made = xp.empty([shape[i] for i in order], x.dtype)
    return made.transpose([order.index(i) for i in range(x.ndim)])


def attention_forward(xp: Any, query: Array, key: Array, value: Array, bias: Array | None,
                      scale: float) -> tuple[Array, Array]:
    """Return softmax(query @ key.T * scale + bias) @ value, and that softmax.

    A row of -inf gives zeros.

    >>> one = numpy.ones((1, 1))
    >>> attention_forward(numpy, one, numpy.ones((2, 1)), numpy.array([[1.0], [3.0]]), None, 1.0)
    (array([[2.]]), array([[0.5, 0.5]]))
    """
    weights = xp.matmul(query, key.swapaxes(-1, -2))
    weights *= weights.dtype.type(scale)
    if bias is not None:
        weights += bias
    if bias is None and weights.size and getattr(xp, "softmax", None) is not None:
        weights = xp.softmax(weights, weights.ndim - 1)
    else:
        softmax_in_place(xp, weights, bias is not None)
    output = empty_like_rows(xp, query, (*query.shape[:-1], value.shape[-1]))
    return xp.matmul(weights, value, out=output), weights


def softmax_in_place(xp: Any, weights: Array, biased: bool) -> None:
    """Apply softmax along the last dimension, in place.

    A `biased` row may be all -inf; it gives zeros.

    >>> scores = numpy.array([[0.0, 0.0], [-numpy.inf, -numpy.inf]])
    >>> softmax_in_place(numpy, scores, True); scores
    array([[0.5, 0.5],
           [0. , 0. ]])
    """
    top = row_maxima(xp, weights)
    if biased:
        top = xp.where(top == -xp.inf, top.dtype.type(0), top)
    weights -= top
    xp.exp(weights, out=weights)
    total = xp.einsum("...j->...", weights)[..., None]
    if biased:
        total = xp.where(total == 0, total.dtype.type(1), total)
    weights /= total


def attention_backward(xp: Any, g: Array, query: Array, key: Array, value: Array, output: Array,
                       weights: Array, scale: float) -> tuple[Array, Array, Array]:
    """Return the gradients of query, key and value.

    A softmax's gradient is weights * (g - sum(g * weights)). That sum over the keys also equals the
    product of the output and its gradient, which is much shorter.

    >>> one = numpy.ones((1, 1))
    >>> attention_backward(numpy, one, one, one, one, one, one, 1.0)[2]
    array([[1.]])
    """
    g_query, g_key, g_value = (empty_like_rows(xp, x, x.shape) for x in (query, key, value))
    turned = weights.swapaxes(-1, -2)
    xp.matmul(turned, g, out=g_value)
    slopes = xp.matmul(g, value.swapaxes(-1, -2))
    slopes -= xp.einsum("...j,...j->...", g, output)[..., None]
    slopes *= weights
    slopes *= slopes.dtype.type(scale)
    xp.matmul(slopes, key, out=g_query)
    xp.matmul(slopes.swapaxes(-1, -2), query, out=g_key)
    return g_query, g_key, g_value
