"""Recurrent layers on arrays: one layer and direction over all time steps, forward and backward.

The rows of all time steps are concatenated; `rows` has the slice of each step, in the order of the
loop, and a step uses as many rows of the state as its slice has.  That way the same loop handles
both directions, and sequences of different lengths if they are sorted by length.

NOTE [Work outside the loop]
    The loop contains only work that depends on the previous step. Everything else is done for all
    steps together, with long arrays and few calls: the products with the input before the loop, the
    slopes of the gates before the backward loop, and the gradients of the weights after it.  Gates
    are sigmoid(x) = (1 + tanh(x / 2)) / 2, so with the halves folded into the weights, a single
    tanh computes all gates.

NOTE [Small products]
    A step multiplies few rows by a large matrix.  OpenBLAS first copies that matrix into its own
    layout, again at each step, unless the product has less than a million multiplications.
    Therefore we cut the columns of the weights into blocks, once for all steps, so that each
    block's product is small: 32 rows of a state of 128 take half the time, 4 rows of 256 a tenth.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

#: Minimum columns of a block, because narrower ones leave vector instructions unused.
NARROW = 32

Array = Any
Rows = Sequence[tuple[int, int]]

__all__ = ["gru_backward", "gru_forward", "lstm_backward", "lstm_forward", "rnn_backward",
           "rnn_forward"]


def states_before(xp: Any, first: Array, after: Array, rows: Rows) -> Array:
    """Return the state before each step, given the initial state and the states after the steps.

    >>> states_before(numpy, numpy.zeros((1, 1)), numpy.array([[1.0], [2.0]]), [(0, 1), (1, 2)])
    array([[0.],
           [1.]])
    """
    before, state = xp.empty_like(after), first.copy()
    for start, stop in rows:
        before[start:stop] = state[: stop - start]
        state[: stop - start] = after[start:stop]
    return before


def halves(xp: Any, gates: Sequence[bool], hidden: int, dtype: Any) -> Array:
    """Return the factor of each gate column before and after the tanh.

    >>> halves(numpy, (True, False), 2, float)
    array([0.5, 0.5, 1. , 1. ])
    """
    scale = xp.full((len(gates), hidden), 0.5, dtype)  # filled on the device, if it is one
    for i, gate in enumerate(gates):
        if not gate:
            scale[i] = 1.0
    return scale.reshape(-1)


def in_blocks(xp: Any, weight: Array, rows: Rows) -> Array:
    """Cut a matrix by columns into (blocks, K, N / blocks); see NOTE [Small products].

    It stays one block if no cut is enough, or if blocks would become too narrow.

    >>> from minigrad.backend import numpy_backend as xp
    >>> in_blocks(xp, numpy.ones((256, 1024)), [(0, 4)]).shape
    (2, 256, 512)
    >>> in_blocks(xp, numpy.ones((512, 64)), [(0, 64)]).shape
    (1, 512, 64)
    """
    depth, width = weight.shape
    work = max((stop - start for start, stop in rows), default=0) * depth
    for blocks in (1, 2, 4, 8, 16):
        columns = width // blocks
        if columns * blocks == width and columns >= NARROW and work * columns < xp.small_product:
            break
    else:
        blocks, columns = 1, width
    return xp.ascontiguousarray(weight.reshape(depth, blocks, columns).swapaxes(0, 1))


def multiply(xp: Any, state: Array, blocks: Array, out: Array) -> Array:
    """Write the product with a matrix in blocks to `out`, and return it."""
    count, _, columns = blocks.shape
    xp.matmul(state, blocks, out=out.reshape(len(out), count, columns).swapaxes(0, 1))
    return out


def start_of(xp: Any, gradient: Array | None, like: Array) -> Array:
    """Return the last state's gradient as an array to write to."""
    return xp.zeros_like(like) if gradient is None else gradient.copy()


# -------------------------------------------------------------------- long short-term memory


def lstm_forward(xp: Any, x: Array, h: Array, c: Array, w: Array, rows: Rows) -> tuple[Array, ...]:
    """Return all outputs, the last h and c, and for the backward pass all gates and cells.

    x (N, 4H) holds the input's part of the gates (input, forget, cell, output), h and c (B, H) the
    initial state, and w (4H, H) the weights of the state.

    >>> zeros, one = numpy.zeros, numpy.ones((1, 1))
    >>> lstm_forward(numpy, zeros((1, 4)), zeros((1, 1)), one, zeros((4, 1)), [(0, 1)])[2]
    array([[0.5]])
    """
    hidden = h.shape[1]
    scale = halves(xp, (True, True, False, True), hidden, x.dtype)
    gates, weight = x * scale, in_blocks(xp, w.T * scale, rows)
    scale = xp.zeros((len(h), 1), x.dtype) + scale  # one contiguous row per row of a step
    shift = 1 - scale
    output, cells = xp.empty((len(x), hidden), x.dtype), xp.empty((len(x), hidden), x.dtype)
    h, c, room = h.copy(), c.copy(), xp.empty((len(h), 4 * hidden), x.dtype)
    for start, stop in rows:
        n = stop - start
        state, cell, gate = h[:n], c[:n], gates[start:stop]
        gate += multiply(xp, state, weight, room[:n])
        xp.tanh(gate, out=gate)
        gate *= scale[:n]
        gate += shift[:n]
        i, f, a, o = (gate[:, k * hidden : (k + 1) * hidden] for k in range(4))
        cell *= f
        cell += i * a
        cells[start:stop] = cell
        xp.tanh(cell, out=state)
        state *= o
        output[start:stop] = state
    return output, h, c, gates, cells


def lstm_backward(xp: Any, g_output: Array | None, g_h: Array | None, g_c: Array | None,
                  output: Array, gates: Array, cells: Array, h: Array, c: Array, w: Array,
                  rows: Rows) -> tuple[Array, ...]:
    """Return the gradients of `lstm_forward` with respect to x, h, c and w.

    >>> one = numpy.ones((1, 1))
    >>> w, rows = numpy.zeros((4, 1)), [(0, 1)]
    >>> output, _, _, gates, cells = lstm_forward(numpy, w.T, one, one, w, rows)
    >>> lstm_backward(numpy, None, None, one, output, gates, cells, one, one, w, rows)[2]
    array([[0.5]])
    """
    hidden = h.shape[1]
    i, f, a, o = (gates[:, k * hidden : (k + 1) * hidden] for k in range(4))
    tanh = xp.tanh(cells)
    slopes = 1 - gates
    slopes *= gates  # except the cell's, which is not a sigmoid
    slopes = slopes.reshape(-1, 4, hidden)
    slopes[:, 0] *= a
    slopes[:, 1] *= states_before(xp, c, cells, rows)
    xp.multiply(a, a, out=slopes[:, 2])
    slopes[:, 2] -= 1
    slopes[:, 2] *= -i
    slopes[:, 3] *= tanh
    from_h = o - o * tanh * tanh
    dh, dc = start_of(xp, g_h, h), start_of(xp, g_c, c)
    weight = in_blocks(xp, w, rows)
    for start, stop in reversed(rows):
        to_h, to_c, step = dh[: stop - start], dc[: stop - start], slopes[start:stop]
        if g_output is not None:
            to_h += g_output[start:stop]
        to_c += to_h * from_h[start:stop]
        step[:, :3] *= to_c[:, None]
        step[:, 3] *= to_h
        multiply(xp, step.reshape(-1, 4 * hidden), weight, to_h)
        to_c *= f[start:stop]
    dx = slopes.reshape(-1, 4 * hidden)
    return dx, dh, dc, dx.T @ states_before(xp, h, output, rows)


# -------------------------------------------------------------------- gated recurrent unit


def gru_forward(xp: Any, x: Array, h: Array, w: Array, b: Array | None,
                rows: Rows) -> tuple[Array, ...]:
    """Return all outputs, the last h, and for backward all gates and the state's part of `new`.

    x (N, 3H) holds the input's part of the gates (reset, update, new), h (B, H) is the initial
    state, and w (3H, H) and b (3H) are the weights of the state.

    >>> zeros = numpy.zeros
    >>> gru_forward(numpy, zeros((1, 3)), numpy.ones((1, 1)), zeros((3, 1)), None, [(0, 1)])[0]
    array([[0.5]])
    """
    hidden = h.shape[1]
    scale = halves(xp, (True, True, False), hidden, x.dtype)
    gates, weight = x * scale, in_blocks(xp, w.T * scale, rows)
    bias = None if b is None else b * scale
    output, news = xp.empty((len(x), hidden), x.dtype), xp.empty((len(x), hidden), x.dtype)
    h, room = h.copy(), xp.empty((len(h), 3 * hidden), x.dtype)
    for start, stop in rows:
        state, gate, new = h[: stop - start], gates[start:stop], gates[start:stop, 2 * hidden :]
        part = multiply(xp, state, weight, room[: stop - start])
        if bias is not None:
            part += bias
        news[start:stop] = part[:, 2 * hidden :]
        both = gate[:, : 2 * hidden]
        both += part[:, : 2 * hidden]
        xp.tanh(both, out=both)
        both *= 0.5
        both += 0.5
        new += gate[:, :hidden] * news[start:stop]
        xp.tanh(new, out=new)
        state -= new
        state *= gate[:, hidden : 2 * hidden]
        state += new
        output[start:stop] = state
    return output, h, gates, news


def gru_backward(xp: Any, g_output: Array | None, g_h: Array | None, output: Array, gates: Array,
                 news: Array, h: Array, w: Array, rows: Rows) -> tuple[Array, ...]:
    """Return the gradients of `gru_forward` with respect to x, h, w and b.

    >>> one, w = numpy.ones((1, 1)), numpy.zeros((3, 1))
    >>> output, _, gates, news = gru_forward(numpy, numpy.zeros((1, 3)), one, w, None, [(0, 1)])
    >>> gru_backward(numpy, None, one, output, gates, news, one, w, [(0, 1)])[1]
    array([[0.5]])
    """
    hidden = h.shape[1]
    r, z, new = (gates[:, k * hidden : (k + 1) * hidden] for k in range(3))
    before = states_before(xp, h, output, rows)
    slopes = xp.empty((len(gates), 3, hidden), gates.dtype)
    slopes[:, 0] = news * r * (1 - r)
    slopes[:, 1] = (before - new) * z * (1 - z)
    slopes[:, 2] = (1 - new * new) * (1 - z)
    of_state = xp.empty_like(slopes)
    dh, weight = start_of(xp, g_h, h), in_blocks(xp, w, rows)
    room = xp.empty_like(dh)
    for start, stop in reversed(rows):
        to_h, step, through = dh[: stop - start], slopes[start:stop], of_state[start:stop]
        if g_output is not None:
            to_h += g_output[start:stop]
        step[:, 1:] *= to_h[:, None]
        step[:, 0] *= step[:, 2]
        through[:, :2] = step[:, :2]
        xp.multiply(step[:, 2], r[start:stop], out=through[:, 2])
        to_h *= z[start:stop]
        to_h += multiply(xp, through.reshape(-1, 3 * hidden), weight, room[: stop - start])
    of_state = of_state.reshape(-1, 3 * hidden)
    return slopes.reshape(-1, 3 * hidden), dh, of_state.T @ before, xp.sum(of_state, 0)


# -------------------------------------------------------------------- plain recurrence


def rnn_forward(xp: Any, x: Array, h: Array, w: Array, relu: bool,
                rows: Rows) -> tuple[Array, Array]:
    """Return all outputs and the last h of h = tanh(x + w h), or with ReLU instead of tanh.

    >>> one = numpy.ones((1, 1))
    >>> rnn_forward(numpy, one, one, one, True, [(0, 1)])[0]
    array([[2.]])
    """
    output, weight, h, room = x.copy(), in_blocks(xp, w.T, rows), h.copy(), xp.empty_like(h)
    for start, stop in rows:
        step = output[start:stop]
        step += multiply(xp, h[: stop - start], weight, room[: stop - start])
        if relu:
            xp.maximum(step, 0, out=step)
        else:
            xp.tanh(step, out=step)
        h[: stop - start] = step
    return output, h


def rnn_backward(xp: Any, g_output: Array | None, g_h: Array | None, output: Array, h: Array,
                 w: Array, relu: bool, rows: Rows) -> tuple[Array, ...]:
    """Return the gradients of `rnn_forward` with respect to x, h and w.

    >>> one = numpy.ones((1, 1))
    >>> rnn_backward(numpy, None, one, one, one, 2 * one, True, [(0, 1)])[1]
    array([[2.]])
    """
    slopes = (output > 0).astype(output.dtype) if relu else 1 - output * output
    dh, weight = start_of(xp, g_h, h), in_blocks(xp, w, rows)
    for start, stop in reversed(rows):
        to_h, step = dh[: stop - start], slopes[start:stop]
        if g_output is not None:
            to_h += g_output[start:stop]
        step *= to_h
        multiply(xp, step, weight, to_h)
    return slopes, dh, slopes.T @ states_before(xp, h, output, rows)
