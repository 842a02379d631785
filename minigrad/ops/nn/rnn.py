"""Recurrent layers as ops: one layer and one direction over all time steps.

NOTE [Backpropagation through time]
    On arrays, the backward pass is a loop in a kernel over values that the forward saved.  On
    tensors, for second derivatives, the steps are recomputed with elementary ops and then
    traversed backwards, using the formulas of the cell (`lstm_cell_gradient` and similar
    functions).  The gradient of a weight is a sum over all steps.
"""

from ...backend import backend_of
from ...op.declaration import F, Op
from ...tensor.tensor import Tensor


def rows_of(sizes, reverse):
    """Return the first and the last row of each step, in the order of the steps.

    >>> rows_of((2, 2, 1), True)
    [(4, 5), (2, 4), (0, 2)]
    """
    rows, start = [], 0
    for size in sizes:
        rows.append((start, start + size))
        start += size
    return rows[::-1] if reverse else rows


# -------------------------------------------------------------------- the cells


def lstm_cell_step(x, states, weights):
    """Return the next h and c, and values for the gradient.

    x (B, 4H) is the input's part of the gates.  A second weight projects h.
    """
    (h, c), (w, *projection) = states, weights
    i, f, a, o = F.chunk(x + h @ F.t(w), 4, 1)
    i, f, a, o = F.sigmoid(i), F.sigmoid(f), F.tanh(a), F.sigmoid(o)
    c = f * c + i * a
    h = o * F.tanh(c)
    if projection:
        h = h @ F.t(projection[0])
    return [h, c], (i, f, a, o, F.tanh(c))


def lstm_cell_gradient(g_states, states, weights, saved):
    """Return the gradients of x, states and weight from the gradients of the next h and c."""
    (g_h, g_c), (h, c), (w,), (i, f, a, o, tanh_c) = g_states, states, weights, saved
    g_c = g_c + g_h * o * (1 - tanh_c * tanh_c)
    gates = [g_c * a * i * (1 - i), g_c * c * f * (1 - f), g_c * i * (1 - a * a),
             g_h * tanh_c * o * (1 - o)]
    g_x = F.cat(gates, 1)
    return g_x, [g_x @ w, g_c * f], [F.t(g_x) @ h]


def gru_cell_step(x, states, weights):
    """Return the next h, and values for the gradient; x (B, 3H) is the input's part of the gates.
    """
    (h,), (w, *bias) = states, weights
    hidden = h @ F.t(w)
    if bias:
        hidden = hidden + bias[0]
    (r, z, n), (r_h, z_h, n_h) = F.chunk(x, 3, 1), F.chunk(hidden, 3, 1)
    r, z = F.sigmoid(r + r_h), F.sigmoid(z + z_h)
    n = F.tanh(n + r * n_h)
    return [n + z * (h - n)], (r, z, n, n_h)


def gru_cell_gradient(g_states, states, weights, saved):
    """Return the gradients of x, state and weights from the gradient of the next h."""
    (g_h,), (h,), (w, *bias), (r, z, n, n_h) = g_states, states, weights, saved
    g_n = g_h * (1 - z) * (1 - n * n)
    g_z = g_h * (h - n) * z * (1 - z)
    g_r = g_n * n_h * r * (1 - r)
    g_hidden = F.cat([g_r, g_z, g_n * r], 1)
    g_weights = [F.t(g_hidden) @ h]
    if bias:
        g_weights.append(F.sum(g_hidden, 0))
    return F.cat([g_r, g_z, g_n], 1), [g_h * z + g_hidden @ w], g_weights


def tanh_cell_step(x, states, weights):
    """Return the next h = tanh(x + w h), which is also saved for the gradient."""
    (h,), (w,) = states, weights
    h = F.tanh(x + h @ F.t(w))
    return [h], h


def tanh_cell_gradient(g_states, states, weights, after):
    """Return the gradients of x, state and weight from the gradient of the next h."""
    (g_h,), (h,), (w,) = g_states, states, weights
    g_x = g_h * (1 - after * after)
    return g_x, [g_x @ w], [F.t(g_x) @ h]


def relu_cell_step(x, states, weights):
    """Return the next h = max(x + w h, 0), which is also saved for the gradient."""
    (h,), (w,) = states, weights
    h = F.relu(x + h @ F.t(w))
    return [h], h


def relu_cell_gradient(g_states, states, weights, after):
    """Return the gradients of x, state and weight from the gradient of the next h."""
    (g_h,), (h,), (w,) = g_states, states, weights
    g_x = F.where(F.gt(after, 0), g_h, 0)
    return g_x, [g_x @ w], [F.t(g_x) @ h]


# -------------------------------------------------------------------- all steps


def first_rows(x, count):
    """Return the first `count` rows, or `x` itself if it has no more."""
    return x if x.shape[0] == count else F.narrow(x, 0, 0, count)


def with_first_rows(x, new):
    """Replace the first rows by `new`."""
    count, all_of_them = new.shape[0], x.shape[0]
    rest = all_of_them - count
    return F.cat([new, F.narrow(x, 0, count, rest)], 0) if rest else new


def walk(step, x, states, weights, rows):
    """Run all steps of a layer; return its outputs, last states and each step's saved values."""
    outputs, trace = {}, []
    for start, stop in rows:
        count = stop - start
        before = [first_rows(s, count) for s in states]
        after, saved = step(F.narrow(x, 0, start, count), before, weights)
        states = [with_first_rows(s, new) for s, new in zip(states, after)]
        outputs[start] = after[0]
        trace.append((before, saved))
    return F.cat([outputs[start] for start in sorted(outputs)], 0), states, trace


def walk_back(step, gradient, g_output, g_states, x, states, weights, rows):
    """Return the gradients of x, the first states and the weights, from the gradients of `walk`.

    The steps are run again for the intermediate values, so that these are differentiable too.
    """
    _, _, trace = walk(step, x, states, weights, rows)
    g_states = [F.zeros_like(s) if g is None else g for s, g in zip(states, g_states)]
    g_x, g_weights = {}, None
    for (start, stop), (before, saved) in reversed(list(zip(rows, trace))):
        count = stop - start
        g_after = [first_rows(g, count) for g in g_states]
        if g_output is not None:
            g_after = [g_after[0] + F.narrow(g_output, 0, start, count), *g_after[1:]]
        g_x[start], g_before, here = gradient(g_after, before, weights, saved)
        g_states = [with_first_rows(g, new) for g, new in zip(g_states, g_before)]
        g_weights = here if g_weights is None else [a + b for a, b in zip(g_weights, here)]
    return [F.cat([g_x[start] for start in sorted(g_x)], 0), *g_states, *g_weights]


def layer_shape(tensors, states, more):
    """Return the shapes of a layer's outputs: all of h, the last states, the saved values."""
    rows, (batch, hidden) = tensors[0][0], tensors[1]
    return [(rows, hidden), *[(batch, hidden)] * states, *[(rows, n * hidden) for n in more]]


def layer_samples(make, gates, states, biases):
    """Yield layers with steps of equal and of different sizes, in both directions."""
    for sizes, reverse in (((2, 2), False), ((3, 2, 1), False), ((2, 1), True)):
        tensors = [make(sum(sizes), 2 * gates), *[make(sizes[0], 2) for _ in range(states)],
                   make(2 * gates, 2), *[make(2 * gates) for _ in range(biases)]]
        yield tensors, sizes, reverse


class Layer(Op, abstract=True):
    """One recurrent layer over all time steps, in one direction."""

    public, list_of_tensors, materialize = False, "tensors", False
    no_batching = "the kernels take one set of weights"


class LstmLayer(Layer):
    """One LSTM layer over all time steps, in one direction.

    `tensors` are the input's part of the gates (N, 4H), h and c (B, H), and the recurrent weights
    (4H, H).  `sizes` is the number of rows of each step, which never grows from one step to the
    next.

    >>> from minigrad import ones, zeros
    >>> LstmLayer([zeros(1, 4), zeros(1, 1), ones(1, 1), zeros(4, 1)], (1,)).c
    tensor([[0.5000]])
    """

    node = "LstmLayerBackward0"
    outputs = ("output", "h", "c", "gates", "cells")

    def shape(tensors, sizes, reverse=False):
        return layer_shape(tensors, 2, (4, 1))

    def forward(xp, tensors, sizes, reverse=False):
        return xp.lstm_forward(*tensors, rows_of(sizes, reverse))

    def grad_tensors(g_output, g_h, g_c, tensors, sizes, reverse, output, gates, cells):
        x, h, c, w = tensors
        rows = rows_of(sizes, reverse)
        if isinstance(x, Tensor):
            return walk_back(lstm_cell_step, lstm_cell_gradient, g_output, [g_h, g_c], x, [h, c],
                             [w], rows)
        return backend_of(x).lstm_backward(g_output, g_h, g_c, output, gates, cells, h, c, w, rows)

    def samples(make):
        yield from layer_samples(make, 4, 2, 0)


class GruLayer(Layer):
    """One GRU layer over all time steps, in one direction.

    `tensors` are the input's part of the gates (N, 3H), h (B, H), the recurrent weights (3H, H) and
    optionally their bias (3H).  `sizes` is the number of rows of each step.

    >>> from minigrad import ones, zeros
    >>> GruLayer([zeros(1, 3), ones(1, 1), zeros(3, 1)], (1,)).h
    tensor([[0.5000]])
    """

    node = "GruLayerBackward0"
    outputs = ("output", "h", "gates", "news")

    def shape(tensors, sizes, reverse=False):
        return layer_shape(tensors, 1, (3, 1))

    def forward(xp, tensors, sizes, reverse=False):
        x, h, w, *bias = tensors
        return xp.gru_forward(x, h, w, bias[0] if bias else None, rows_of(sizes, reverse))

    def grad_tensors(g_output, g_h, tensors, sizes, reverse, output, gates, news):
        x, h, *weights = tensors
        rows = rows_of(sizes, reverse)
        if isinstance(x, Tensor):
            return walk_back(gru_cell_step, gru_cell_gradient, g_output, [g_h], x, [h], weights,
                             rows)
        grads = backend_of(x).gru_backward(g_output, g_h, output, gates, news, h, weights[0], rows)
        return grads[: len(tensors)]

    def samples(make):
        yield from layer_samples(make, 3, 1, 0)
        yield from layer_samples(make, 3, 1, 1)


class RnnLayer(Layer):
    """One layer of h = tanh(x + w h) over all time steps; with `relu`, max(., 0) instead of tanh.

    `tensors` are the input's part (N, H), h (B, H) and the recurrent weights (H, H).  `sizes` is
    the number of rows of each step.

    >>> from minigrad import ones
    >>> RnnLayer([ones(1, 1), ones(1, 1), ones(1, 1)], (1,), relu=True).h
    tensor([[2.]])
    """

    node = "RnnLayerBackward0"
    outputs = ("output", "h")

    def shape(tensors, sizes, reverse=False, relu=False):
        return layer_shape(tensors, 1, ())

    def forward(xp, tensors, sizes, reverse=False, relu=False):
        return xp.rnn_forward(*tensors, relu, rows_of(sizes, reverse))

    def grad_tensors(g_output, g_h, tensors, sizes, reverse, relu, output):
        x, h, w = tensors
        rows = rows_of(sizes, reverse)
        if isinstance(x, Tensor):
            cell = ((relu_cell_step, relu_cell_gradient) if relu
                    else (tanh_cell_step, tanh_cell_gradient))
            return walk_back(*cell, g_output, [g_h], x, [h], [w], rows)
        return backend_of(x).rnn_backward(g_output, g_h, output, h, w, relu, rows)

    def samples(make):
        yield from layer_samples(make, 1, 1, 0)
        yield ([make(4, 2, low=0.2), make(2, 2, low=0.2), make(2, 2, low=0.1, high=0.9)], (2, 2),
               False, True)
