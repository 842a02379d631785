"""Recurrent networks: RNN, LSTM and GRU, and their single-step cells.

Source: https://docs.pytorch.org/docs/stable/nn.html#recurrent-layers
"""

from __future__ import annotations

import math
from typing import Any

from .. import _state
from ..frames import warn_user
from ..op.declaration import F
from ..ops.creation.create import empty, zeros
from ..tensor.tensor import Parameter, Tensor
from . import init
from .module import Module
from .utils.rnn import PackedSequence

__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNBase", "RNNCell", "RNNCellBase"]

#: Each mode's function, and its number of gates: the rows of its weights per unit of the state.
NETWORKS = {"LSTM": (F.lstm, 4), "GRU": (F.gru, 3), "RNN_TANH": (F.rnn_tanh, 1),
            "RNN_RELU": (F.rnn_relu, 1)}


def check_sizes(bias: Any, batch_first: Any, input_size: Any, hidden_size: Any, num_layers: int,
                proj_size: int) -> None:
    """Raise `TypeError` or `ValueError` if a recurrent network's argument is invalid."""
    flags: dict[str, Any] = {"bias": bias, "batch_first": batch_first}
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise TypeError(f"{name} should be of type bool, got: {type(value).__name__}")
    sizes: dict[str, Any] = {"input_size": input_size, "hidden_size": hidden_size}
    for name, value in sizes.items():
        if not isinstance(value, int):
            raise TypeError(f"{name} should be of type int, got: {type(value).__name__}")
        if value <= 0:
            raise ValueError(f"{name} must be greater than zero")
    if num_layers <= 0:
        raise ValueError("num_layers must be greater than zero")
    if proj_size < 0:
        raise ValueError("proj_size should be a positive integer or zero to disable projections")
    if proj_size >= hidden_size:
        raise ValueError("proj_size has to be smaller than hidden_size")


def check_dropout(dropout: Any, num_layers: int) -> None:
    """Raise `ValueError` unless `dropout` is a probability; warn if it has no effect."""
    if isinstance(dropout, bool) or not isinstance(dropout, (int, float)) or not 0 <= dropout <= 1:
        raise ValueError("dropout should be a number in range [0, 1] representing the probability "
                         "of an element being zeroed")
    if dropout > 0 and num_layers == 1:
        warn_user("dropout option adds dropout after all but last recurrent layer, so non-zero "
                  f"dropout expects num_layers greater than 1, but got dropout={dropout} and "
                  f"num_layers={num_layers}")


class RNNBase(Module):
    """Base of `RNN`, `LSTM` and `GRU`, with their parameters and the layout of sequences.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.RNNBase.html

    >>> from minigrad import nn
    >>> net = nn.GRU(2, 3, bidirectional=True); net.directions
    2
    >>> [name for name, _ in net.named_parameters() if "reverse" not in name]
    ['weight_ih_l0', 'weight_hh_l0', 'bias_ih_l0', 'bias_hh_l0']
    >>> [[tuple(weight.shape) for weight in weights] for weights in net.all_weights]
    [[(9, 2), (9, 3), (9,), (9,)], [(9, 2), (9, 3), (9,), (9,)]]
    >>> net.flatten_parameters()  # as programs written for PyTorch do
    """

    states = 1  # number of tensors in a state

    def __init__(self, mode: str, input_size: int, hidden_size: int, num_layers: int = 1,
                 bias: bool = True, batch_first: bool = False, dropout: float = 0.0,
                 bidirectional: bool = False, proj_size: int = 0, device: Any = None,
                 dtype: Any = None) -> None:
        super().__init__()
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        check_dropout(dropout, num_layers)
        self.dropout = float(dropout)
        check_sizes(bias, batch_first, input_size, hidden_size, num_layers, proj_size)
        if mode not in NETWORKS:
            raise ValueError(f"Unrecognized RNN mode: {mode}")
        self._all_weights: list[list[str]] = []
        for layer in range(num_layers):
            for suffix in ("", "_reverse")[:self.directions]:
                shapes = self._weight_shapes(layer)
                names = {f"{name}_l{layer}{suffix}": shape for name, shape in shapes.items()}
                for name, shape in names.items():
                    setattr(self, name, Parameter(empty(shape, device=device, dtype=dtype)))
                self._all_weights.append(list(names))
        self.reset_parameters()

    @property
    def directions(self) -> int:
        """The number of directions: 2 if the network is bidirectional, else 1."""
        return 2 if self.bidirectional else 1

    def _weight_shapes(self, layer: int) -> dict[str, tuple[int, ...]]:
        """Return the shapes of a layer's parameters, in order, by the stem of their names."""
        rows, out = NETWORKS[self.mode][1] * self.hidden_size, self.proj_size or self.hidden_size
        inputs = self.input_size if layer == 0 else out * self.directions
        shapes: dict[str, tuple[int, ...]] = {"weight_ih": (rows, inputs), "weight_hh": (rows, out)}
        if self.bias:
            shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
        if self.proj_size:
            shapes["weight_hr"] = (self.proj_size, self.hidden_size)
        return shapes

    def reset_parameters(self) -> None:
        """Draw all parameters uniformly from ±1 / sqrt(hidden_size).

        >>> from minigrad import manual_seed, nn
        >>> net = nn.RNN(1, 4)
        >>> _ = manual_seed(0); net.reset_parameters(); net.weight_ih_l0.data.flatten()
        tensor([-0.0037,  0.2682, -0.4115, -0.3680])
        """
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    @property
    def _flat_weights_names(self) -> list[str]:
        """The names of all parameters, in order."""
        return [name for names in self._all_weights for name in names]

    @property
    def _flat_weights(self) -> list[Parameter]:
        """All parameters, in order."""
        return [getattr(self, name) for name in self._flat_weights_names]

    def __getstate__(self) -> dict[str, Any]:
        """Add what PyTorch keeps beside the parameters, so that it can read the file."""
        return {**self.__dict__, "_flat_weights_names": self._flat_weights_names,
                "_flat_weights": self._flat_weights}

    def __setstate__(self, attributes: dict[str, Any]) -> None:
        computed = ("_flat_weights_names", "_flat_weights", "_flat_weight_refs")
        super().__setstate__({name: value for name, value in attributes.items()
                              if name not in computed})

    def flatten_parameters(self) -> None:
        """Do nothing; PyTorch rearranges the parameters for cuDNN here."""

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The parameters of each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    # ---------------------------------------------------------------- forward

    def forward(self, input: Tensor | PackedSequence, hx: Any = None) -> Any:
        """Run all steps; `input` is (T, B, I), (B, T, I), (T, I) or packed, `hx` the initial state.

        Returns the outputs of the last layer and the final states of all layers.
        """
        weights = [w for layer in self.all_weights for w in layer]
        options = (weights, self.bias, self.num_layers, self.dropout, self.training,
                   self.bidirectional)
        network = NETWORKS[self.mode][0]
        if isinstance(input, PackedSequence):
            data, sizes = input.data, input.batch_sizes
            order, back = input.sorted_indices, input.unsorted_indices
            self._check(data, 2)
            states = self._first_states(data, int(sizes[0]), hx, order)
            output, *last = network(data, sizes, self._joined(states), *options)
            packed = PackedSequence(output, sizes, order, back)
            return packed, self._joined([permuted(state, back) for state in last])
        if input.dim() not in (2, 3):
            tensor = " tensor" if self.mode.startswith("RNN") else ""
            raise ValueError(f"{type(self).__name__}: Expected input to be 2D or 3D, got "
                             f"{input.dim()}D{tensor} instead")
        batched, batch_dim = input.dim() == 3, 0 if self.batch_first else 1
        hx = self._with_batch(hx, batched)
        rows: Tensor = input if batched else F.unsqueeze(input, batch_dim)
        self._check(rows, 3)
        states = self._first_states(rows, rows.size(batch_dim), hx, None)
        output, *last = network(rows, self._joined(states), *options, self.batch_first)
        if not batched:
            output = F.squeeze(output, batch_dim)
            last = [F.squeeze(state, 1) for state in last]
        return output, self._joined(last)

    def _joined(self, states: list[Tensor]) -> Any:
        """Return a state in the form callers see: a tensor, or a pair of tensors for an LSTM."""
        return states[0] if self.states == 1 else tuple(states)

    def _with_batch(self, hx: Any, batched: bool) -> Any:
        """Add a batch dimension to the initial state of a single sequence."""
        if hx is None:
            return None
        given = [hx] if self.states == 1 else list(hx)
        wanted = 3 if batched else 2
        if any(h.dim() != wanted for h in given):
            shown = "batched 3-D" if batched else "unbatched 2-D"
            if self.states == 1:
                raise RuntimeError(f"For {shown} input, hx should also be {wanted}-D but got "
                                   f"{given[0].dim()}-D tensor")
            got = ", ".join(f"{h.dim()}-D" for h in given)
            raise RuntimeError(f"For {shown} input, hx and cx should also be {wanted}-D but got "
                               f"({got}) tensors")
        return hx if batched else self._joined([F.unsqueeze(h, 1) for h in given])

    def _state_shapes(self, batch: int) -> list[tuple[int, int, int]]:
        layers = self.num_layers * self.directions
        sizes = [self.proj_size or self.hidden_size, self.hidden_size][:self.states]
        return [(layers, batch, size) for size in sizes]

    def _first_states(self, input: Tensor, batch: int, hx: Any,
                      order: Tensor | None) -> list[Tensor]:
        """Return the initial state as a list; it defaults to zeros."""
        shapes = self._state_shapes(batch)
        if hx is None:
            return [zeros(shape, dtype=input.dtype, device=input.device) for shape in shapes]
        given = [hx] if self.states == 1 else list(hx)
        for place, (state, shape) in enumerate(zip(given, shapes, strict=True)):
            if tuple(state.shape) != shape:
                name = "hidden" if self.states == 1 else f"hidden[{place}]"
                raise RuntimeError(f"Expected {name} size {shape}, got {list(state.shape)}")
        return [permuted(state, order) for state in given]

    def _check(self, input: Tensor, dims: int) -> None:
        """Raise unless the input has the right dtype, number of dimensions and size."""
        weight = self.all_weights[0][0]
        if input.dtype != weight.dtype and _state.autocast.get() is None:
            raise ValueError(f"RNN input dtype ({input.dtype}) does not match weight dtype "
                             f"({weight.dtype}). Convert input: input.to({weight.dtype}), or "
                             f"convert model: model.to({input.dtype})")
        if input.dim() != dims:
            raise RuntimeError(f"input must have {dims} dimensions, got {input.dim()}")
        if input.size(-1) != self.input_size:
            raise RuntimeError("input.size(-1) must be equal to input_size. Expected "
                               f"{self.input_size}, got {input.size(-1)}")

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        usual = {"proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False,
                 "dropout": 0, "bidirectional": False}
        for name, value in usual.items():
            if getattr(self, name) != value:
                text += f", {name}={getattr(self, name)}"
        return text


def permuted(state: Tensor, order: Tensor | None) -> Tensor:
    """Reorder the sequences of a state (L, B, H); return `state` itself if `order` is `None`."""
    return state if order is None else F.index_select(state, 1, order)


class LSTM(RNNBase):
    """Long short-term memory: (T, B, I) -> outputs (T, B, H) and the last (h, c), (L, B, H) each.

    Each step only scales the cell state c and adds to it, so gradients survive many steps. Takes
    the arguments of `RNNBase`, except `mode`.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.LSTM.html

    >>> from minigrad import nn, ones
    >>> output, (h, c) = nn.LSTM(10, 20, 2)(ones(5, 3, 10))
    >>> output.shape, h.shape
    (torch.Size([5, 3, 20]), torch.Size([2, 3, 20]))
    """

    states = 2
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)


class _NoProjection(RNNBase):
    """Base of the networks that cannot project their state."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__(*args, **kwargs)


class GRU(_NoProjection):
    """Gated recurrent units: (T, B, I) -> outputs (T, B, H) and the last h, (L, B, H).

    Takes the arguments of `RNNBase`, except `mode` and `proj_size`.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.GRU.html

    >>> from minigrad import nn, ones
    >>> nn.GRU(10, 20, batch_first=True)(ones(3, 5, 10))[0].shape
    torch.Size([3, 5, 20])
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("GRU", *args, **kwargs)


class RNN(_NoProjection):
    """Recurrent network: h = tanh(w x + b + w' h + b') at each step.

    With nonlinearity="relu", ReLU replaces tanh. Takes the other arguments of `RNNBase`, except
    `proj_size`.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.RNN.html

    >>> from minigrad import nn, ones
    >>> nn.RNN(10, 20, nonlinearity="relu")(ones(5, 3, 10))[1].shape
    torch.Size([1, 3, 20])
    """

    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1,
                 nonlinearity: str = "tanh", *args: Any, **kwargs: Any) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or "
                             "'relu'.")
        super().__init__(f"RNN_{nonlinearity.upper()}", input_size, hidden_size, num_layers, *args,
                         **kwargs)
        self.nonlinearity = nonlinearity



# -------------------------------------------------------------------- single steps


class RNNCellBase(Module):
    """Base of the cells: holds their parameters and handles unbatched inputs.

    >>> from minigrad import manual_seed, nn
    >>> cell = nn.RNNCell(1, 4); isinstance(cell, RNNCellBase)
    True
    >>> _ = manual_seed(0); cell.reset_parameters(); cell.weight_ih.data.flatten()
    tensor([-0.0037,  0.2682, -0.4115, -0.3680])
    """

    def __init__(self, input_size: int, hidden_size: int, bias: bool, num_chunks: int,
                 device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        rows = num_chunks * hidden_size
        shapes = {"weight_ih": (rows, input_size), "weight_hh": (rows, hidden_size),
                  "bias_ih": (rows,), "bias_hh": (rows,)}
        for name, shape in shapes.items():
            wanted = bias or name.startswith("weight")
            made = Parameter(empty(shape, device=device, dtype=dtype)) if wanted else None
            self.register_parameter(name, made)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all parameters uniformly from ±1 / sqrt(hidden_size)."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def _step(self, cell: Any, input: Tensor, states: list[Tensor] | None, count: int,
              names: tuple[str, ...]) -> list[Tensor]:
        """Call `cell` with a batch and a list of states, by default zeros."""
        cell_name = type(self).__name__
        if input.dim() not in (1, 2):
            raise ValueError(f"{cell_name}: Expected input to be 1D or 2D, got {input.dim()}D "
                             "instead")
        for name, state in zip(names, states or ()):
            if state.dim() not in (1, 2):
                raise ValueError(f"{cell_name}: Expected {name} to be 1D or 2D, got {state.dim()}D "
                                 "instead")
        batched = input.dim() == 2
        rows = input if batched else F.unsqueeze(input, 0)
        if states is None:
            shape = (rows.size(0), self.hidden_size)
            given = [zeros(shape, dtype=input.dtype, device=input.device)] * count
        else:
            given = [s if batched else F.unsqueeze(s, 0) for s in states]
        after = cell(rows, given if count > 1 else given[0], self.weight_ih, self.weight_hh,
                     self.bias_ih, self.bias_hh)
        made = list(after) if count > 1 else [after]
        return made if batched else [F.squeeze(s, 0) for s in made]

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        text += "" if self.bias else f", bias={self.bias}"
        nonlinearity = getattr(self, "nonlinearity", "tanh")
        return text if nonlinearity == "tanh" else f"{text}, nonlinearity={nonlinearity}"


class RNNCell(RNNCellBase):
    """One step of an `RNN`: (B, I) and h (B, H) -> the next h; the batch dimension is optional.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.RNNCell.html

    >>> from minigrad import nn, ones
    >>> nn.RNNCell(10, 20)(ones(3, 10)).shape
    torch.Size([3, 20])
    """

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True,
                 nonlinearity: str = "tanh", device: Any = None, dtype: Any = None) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        cell = F.rnn_tanh_cell if self.nonlinearity == "tanh" else F.rnn_relu_cell
        return self._step(cell, input, None if hx is None else [hx], 1, ("hidden",))[0]


class LSTMCell(RNNCellBase):
    """One step of an `LSTM`: (B, I) and (h, c), (B, H) each -> the next (h, c).

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.LSTMCell.html

    >>> from minigrad import nn, ones
    >>> h, c = nn.LSTMCell(10, 20)(ones(3, 10))
    >>> h.shape
    torch.Size([3, 20])
    """

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None,
                 dtype: Any = None) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Tensor,
                hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        h, c = self._step(F.lstm_cell, input, None if hx is None else list(hx), 2,
                          ("hx[0]", "hx[1]"))
        return h, c


class GRUCell(RNNCellBase):
    """One step of a `GRU`: (B, I) and h (B, H) -> the next h.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.GRUCell.html

    >>> from minigrad import nn, ones
    >>> nn.GRUCell(10, 20)(ones(3, 10)).shape
    torch.Size([3, 20])
    """

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None,
                 dtype: Any = None) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        return self._step(F.gru_cell, input, None if hx is None else [hx], 1, ("hidden",))[0]
