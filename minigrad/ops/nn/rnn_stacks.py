"""Recurrent networks with several layers and directions, and single steps of them.

Sequences of equal length are (T, B, I).  Sequences of different lengths are packed rows: the first
time step of all sequences, then the second and so on, the longest sequence first, together with the
number of sequences that are still active at each step.

Source: https://docs.pytorch.org/docs/stable/nn.html#recurrent-layers
"""

from ..._state import grad_enabled
from ...op.declaration import F
from ...op.publish import function
from .linear import linear
from .rnn import (
    GruLayer,
    LstmLayer,
    RnnLayer,
    gru_cell_step,
    lstm_cell_step,
    relu_cell_step,
    rows_of,
    tanh_cell_step,
    walk,
)

# -------------------------------------------------------------------- one layer, one direction


def total_bias(biases):
    """Return the sum of both biases, or `None` without biases."""
    return biases[0] + biases[1] if biases else None


#: Gates of this many elements are computed at a time; see NOTE [Without a graph ...].
PART = 1 << 18


def parts_of(sizes, width, reverse):
    """Split steps into parts, in loop order; return the first row and the sizes of each part.

    >>> parts_of((2, 2, 1), PART // 4, True)
    [(2, (2, 1)), (0, (2,))]
    """
    parts = []
    for start, stop in rows_of(sizes, reverse):
        size = stop - start
        first, some = parts[-1] if parts else (start, ())
        if not parts or (sum(some) + size) * width > PART:
            parts.append((start, (size,)))
        else:
            parts[-1] = (start, (size, *some)) if reverse else (first, (*some, size))
    return parts


def part_by_part(run, data, states, weights, sizes, reverse):
    """Return the outputs and last states of a layer, computed by `run(data, states, sizes)`.

    Without a graph, runs one part of the steps at a time to save memory.
    """
    if grad_enabled.get():
        return run(data, states, sizes)
    whole = None
    for start, some in parts_of(sizes, weights[1].shape[0], reverse):
        output, states = run(F.narrow(data, 0, start, sum(some)), states, some)
        if whole is None:
            whole = output.new_empty((sum(sizes), output.shape[1]))
        F.narrow(whole, 0, start, sum(some)).copy_(output)
    return whole, states


def lstm_direction(data, states, weights, biases, sizes, reverse):
    """Return all outputs and the last states of an LSTM layer; a third weight projects h."""
    w_input, w_state, *projection = weights
    bias = total_bias(biases)

    def run(data, states, sizes):
        x = linear(data, w_input, bias)
        if projection:
            rows = rows_of(sizes, reverse)
            output, states, _ = walk(lstm_cell_step, x, states, [w_state, *projection], rows)
            return output, states
        layer = LstmLayer([x, *states, w_state], sizes, reverse)
        return layer.output, [layer.h, layer.c]

    return part_by_part(run, data, states, weights, sizes, reverse)


def gru_direction(data, states, weights, biases, sizes, reverse):
    """Return all outputs and the last state of a GRU layer."""

    def run(data, states, sizes):
        x = linear(data, weights[0], *biases[:1])
        layer = GruLayer([x, *states, weights[1], *biases[1:]], sizes, reverse)
        return layer.output, [layer.h]

    return part_by_part(run, data, states, weights, sizes, reverse)


def rnn_direction(relu):
    """Make the function for an RNN layer with tanh, or with max(., 0)."""

    def direction(data, states, weights, biases, sizes, reverse):
        bias = total_bias(biases)

        def run(data, states, sizes):
            x = linear(data, weights[0], bias)
            layer = RnnLayer([x, *states, weights[1]], sizes, reverse, relu)
            return layer.output, [layer.h]

        return part_by_part(run, data, states, weights, sizes, reverse)

    return direction


# -------------------------------------------------------------------- all layers and directions


def through_layers(direction, data, sizes, states, params, has_biases, num_layers, dropout, train,
                   bidirectional):
    """Run packed rows through all layers; return the outputs and every layer's last states."""
    directions = 2 if bidirectional else 1
    each = len(params) // (num_layers * directions)
    last = [[] for _ in states]
    for place in range(num_layers * directions):
        layer, reverse = divmod(place, directions)
        if not reverse:
            if layer and dropout and train:
                data = F.dropout(data, dropout, True)
            outputs = []
        w_input, w_state, *rest = params[place * each : (place + 1) * each]
        biases, projection = (rest[:2], rest[2:]) if has_biases else ([], rest)
        output, after = direction(data, [F.select(s, 0, place) for s in states],
                                  [w_input, w_state, *projection], biases, sizes, bool(reverse))
        outputs.append(output)
        for states_of_layers, state in zip(last, after):
            states_of_layers.append(state)
        if len(outputs) == directions:
            data = outputs[0] if directions == 1 else F.cat(outputs, 1)
    return data, [F.stack(states_of_layers) for states_of_layers in last]


def recurrent(direction, input, *arguments):
    """Run the layers on (T, B, I), or on packed rows and the sizes of the steps."""
    packed = getattr(arguments[0], "ndim", None) == 1
    if packed:
        sizes, (hx, *options) = tuple(arguments[0].tolist()), arguments[1:]
        batch_first, data = False, input
    else:
        hx, *options, batch_first = arguments
        if batch_first:
            input = F.transpose(input, 0, 1)
        steps, batch = input.shape[:2]
        sizes, data = (batch,) * steps, F.reshape(input, (steps * batch, input.shape[2]))
    if not sizes:
        raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
    states = list(hx) if isinstance(hx, (tuple, list)) else [hx]
    if any(state.dtype != input.dtype for state in states):
        raise RuntimeError("Input and hidden tensors are not the same dtype, found input tensor "
                           f"with {input.dtype} and hidden tensor with {states[0].dtype}")
    output, last = through_layers(direction, data, sizes, states, *options)
    if not packed:
        output = F.view(output, (len(sizes), sizes[0], output.shape[1]))
    return (F.transpose(output, 0, 1) if batch_first else output, *last)


@function(method_too=False)
def lstm(input, *arguments):
    """Run an LSTM; return the output, h and c.

    The arguments are (input, (h, c), params, has_biases, num_layers, dropout, train, bidirectional,
    batch_first), or for packed rows (data, batch_sizes, ...) without the last one.

    Source: `torch.lstm`, which `torch.nn.LSTM` calls.

    >>> from minigrad import lstm, ones, zeros
    >>> weights = [zeros(4, 1), zeros(4, 1)]
    >>> state = (zeros(1, 1, 1), ones(1, 1, 1))
    >>> lstm(ones(1, 1, 1), state, weights, False, 1, 0.0, False, False, False)[2]
    tensor([[[0.5000]]])
    """
    return recurrent(lstm_direction, input, *arguments)


@function(method_too=False)
def gru(input, *arguments):
    """Run a GRU with a single state; arguments as for `lstm`.  Source: `torch.gru`.

    >>> from minigrad import gru, ones, zeros
    >>> weights = [zeros(3, 1), zeros(3, 1)]
    >>> gru(ones(1, 1, 1), ones(1, 1, 1), weights, False, 1, 0.0, False, False, False)[1]
    tensor([[[0.5000]]])
    """
    return recurrent(gru_direction, input, *arguments)


@function(method_too=False)
def rnn_tanh(input, *arguments):
    """Run h = tanh(x + w h); arguments as for `gru`.  Source: `torch.rnn_tanh`.

    >>> from minigrad import ones, rnn_tanh, zeros
    >>> weights = [zeros(1, 1), zeros(1, 1)]
    >>> rnn_tanh(ones(1, 1, 1), ones(1, 1, 1), weights, False, 1, 0.0, False, False, False)[1]
    tensor([[[0.]]])
    """
    return recurrent(rnn_direction(False), input, *arguments)


@function(method_too=False)
def rnn_relu(input, *arguments):
    """Run h = max(x + w h, 0); arguments as for `gru`.  Source: `torch.rnn_relu`.

    >>> from minigrad import ones, rnn_relu
    >>> weights = [ones(1, 1), ones(1, 1)]
    >>> rnn_relu(ones(1, 1, 1), ones(1, 1, 1), weights, False, 1, 0.0, False, False, False)[1]
    tensor([[[2.]]])
    """
    return recurrent(rnn_direction(True), input, *arguments)


# -------------------------------------------------------------------- single steps


def check_cell(input, states, w_ih, w_hh):
    """Raise unless input (B, I), states (B, H) and weights fit together."""
    if input.shape[1] != w_ih.shape[1]:
        raise RuntimeError(f"input has inconsistent input_size: got {input.shape[1]} expected "
                           f"{w_ih.shape[1]}")
    for place, state in enumerate(states):
        if state.shape[0] != input.shape[0]:
            raise RuntimeError(f"Input batch size {input.shape[0]} doesn't match hidden{place} "
                               f"batch size {state.shape[0]}")
        if state.shape[1] != w_hh.shape[1]:
            raise RuntimeError(f"hidden{place} has inconsistent hidden_size: got {state.shape[1]}, "
                               f"expected {w_hh.shape[1]}")


def both(b_ih, b_hh):
    """Return the biases that are not `None`, as a list."""
    return [] if b_ih is None else [b_ih, b_hh]


@function(method_too=False)
def lstm_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    """Run one step of an LSTM: (B, I) and (h, c) of (B, H) each -> the next h and c.

    Source: `torch.lstm_cell`.

    >>> from minigrad import lstm_cell, ones, zeros
    >>> lstm_cell(ones(1, 1), (zeros(1, 1), ones(1, 1)), zeros(4, 1), zeros(4, 1))[1]
    tensor([[0.5000]])
    """
    check_cell(input, hx, w_ih, w_hh)
    x = linear(input, w_ih, total_bias(both(b_ih, b_hh)))
    return tuple(lstm_cell_step(x, hx, [w_hh])[0])


@function(method_too=False)
def gru_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    """Run one step of a GRU: (B, I) and (B, H) -> (B, H).  Source: `torch.gru_cell`.

    >>> from minigrad import gru_cell, ones, zeros
    >>> gru_cell(ones(1, 1), ones(1, 1), zeros(3, 1), zeros(3, 1))
    tensor([[0.5000]])
    """
    check_cell(input, [hx], w_ih, w_hh)
    biases = both(b_ih, b_hh)
    x = linear(input, w_ih, *biases[:1])
    return gru_cell_step(x, [hx], [w_hh, *biases[1:]])[0][0]


@function(method_too=False)
def rnn_tanh_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    """Return tanh(w_ih x + b_ih + w_hh h + b_hh). Source: `torch.rnn_tanh_cell`.

    >>> from minigrad import ones, rnn_tanh_cell, zeros
    >>> rnn_tanh_cell(ones(1, 1), ones(1, 1), zeros(1, 1), zeros(1, 1))
    tensor([[0.]])
    """
    check_cell(input, [hx], w_ih, w_hh)
    x = linear(input, w_ih, total_bias(both(b_ih, b_hh)))
    return tanh_cell_step(x, [hx], [w_hh])[0][0]


@function(method_too=False)
def rnn_relu_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    """Return max(w_ih x + b_ih + w_hh h + b_hh, 0). Source: `torch.rnn_relu_cell`.

    >>> from minigrad import ones, rnn_relu_cell
    >>> rnn_relu_cell(ones(1, 1), ones(1, 1), ones(1, 1), ones(1, 1))
    tensor([[2.]])
    """
    check_cell(input, [hx], w_ih, w_hh)
    x = linear(input, w_ih, total_bias(both(b_ih, b_hh)))
    return relu_cell_step(x, [hx], [w_hh])[0][0]
