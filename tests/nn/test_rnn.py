"""Recurrent layers: against their own steps, against PyTorch, packed, seeded, and trained."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import nn
from minigrad.autograd import grad
from minigrad.autograd.gradcheck import gradgradcheck
from minigrad.nn.utils import rnn
from minigrad.ops.nn import rnn_stacks
from minigrad.ops.nn.rnn import GruLayer, LstmLayer, RnnLayer
from minigrad_course.demos import brackets
from tests import _oracle
from tests.support.arrays import host
from tests.support.with_torch import with_torch

RNG = np.random.default_rng(0)
KINDS = ["LSTM", "GRU", "RNN"]


def real(*shape: int) -> np.ndarray:
    return RNG.uniform(-1.0, 1.0, shape)


def leaf(*shape: int) -> Any:
    return minigrad.from_numpy(real(*shape)).requires_grad_()


def twins(kind: str, **options: Any) -> tuple[Any, Any, Any]:
    """Return PyTorch, and one network in both packages with the same weights, in float64."""
    torch = pytest.importorskip("torch", reason="parity needs PyTorch")
    theirs = getattr(torch.nn, kind)(3, 4, **options).double()
    ours = getattr(nn, kind)(3, 4, **options).double()
    ours.load_state_dict(theirs.state_dict())
    return torch, ours, theirs


# -------------------------------------------------------------------- the layers, step by step


def cells_of(net: Any, layer: int = 0) -> Any:
    """Return the cell that makes the steps of one layer, with the layer's own parameters."""
    kind = getattr(nn, type(net).__name__ + "Cell")
    options = {"nonlinearity": net.nonlinearity} if hasattr(net, "nonlinearity") else {}
    inputs = getattr(net, f"weight_ih_l{layer}").shape[1]
    cell = kind(inputs, net.hidden_size, bias=net.bias, **options)
    for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")[: 4 if net.bias else 2]:
        setattr(cell, name, getattr(net, f"{name}_l{layer}"))
    return cell


def in_steps(net: Any, x: Any, state: Any) -> tuple[Any, Any]:
    """Run a network of one layer on (T, B, I) with its cell, one step after the other."""
    cell, outputs = cells_of(net), []
    for row in x:
        state = cell(row, state)
        outputs.append(state[0] if isinstance(state, tuple) else state)
    return minigrad.stack(outputs), state


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("kind", [*KINDS, "RNN relu"])
def test_a_layer_does_what_its_cell_does_step_by_step(kind: str, bias: bool) -> None:
    name, _, nonlinearity = kind.partition(" ")
    options = {"nonlinearity": nonlinearity} if nonlinearity else {}
    net = getattr(nn, name)(3, 4, bias=bias, **options).double()
    x, first = leaf(6, 2, 3), [leaf(2, 4) for _ in range(2 if name == "LSTM" else 1)]
    state = tuple(first) if name == "LSTM" else first[0]
    with_layer = (tuple(s.unsqueeze(0) for s in first) if name == "LSTM"
                  else first[0].unsqueeze(0))
    output, last = net(x, with_layer)
    steps, last_step = in_steps(net, x, state)
    leaves = [x, *first, *net.parameters()]
    results = []
    for outputs, ends in ((output, last), (steps, last_step)):
        end = ends[-1] if isinstance(ends, tuple) else ends
        loss = (outputs * outputs).sum() + (3 * end).sin().sum()
        first_order = grad(loss, leaves, create_graph=True)
        second_order = grad(sum((g * g).sum() for g in first_order), leaves)
        results.append([outputs, *first_order, *second_order])
    for fused, plain in zip(*results, strict=True):
        _oracle.assert_close(host(fused), host(plain), 1e-9, 1e-9, kind)


@pytest.mark.parametrize("op", [LstmLayer, GruLayer, RnnLayer])
@pytest.mark.parametrize("sizes, reverse", [((2, 2), True), ((3, 1, 1), False)])
def test_second_derivatives_of_a_layer(op: Any, sizes: tuple[int, ...], reverse: bool) -> None:
    gates, states = {LstmLayer: (4, 2), GruLayer: (3, 1), RnnLayer: (1, 1)}[op]
    tensors = [leaf(sum(sizes), 2 * gates), *[leaf(sizes[0], 2) for _ in range(states)],
               leaf(2 * gates, 2)]
    assert gradgradcheck(lambda *t: op(list(t), sizes, reverse)[: 1 + states], tensors)


def test_only_the_gradients_of_the_outputs_that_are_used_are_needed() -> None:
    net, x = nn.LSTM(3, 4).double(), leaf(5, 2, 3)
    for part in (lambda o, h, c: o, lambda o, h, c: h, lambda o, h, c: c):
        output, (h, c) = net(x)
        (fused,) = grad(part(output, h, c).sum(), x)
        zero = (minigrad.zeros(2, 4, dtype=minigrad.float64),) * 2
        steps, (last_h, last_c) = in_steps(net, x, zero)
        (plain,) = grad(part(steps, last_h, last_c).sum(), x)
        _oracle.assert_close(host(fused), host(plain), 1e-10, 1e-10, "gradient")


def test_large_inputs_saturate_without_a_word() -> None:
    x = minigrad.tensor([[[1e6]], [[-1e6]]], requires_grad=True)
    for kind in KINDS:
        output, _ = getattr(nn, kind)(1, 3)(x)
        output.sum().backward()
        assert output.isfinite().all()
        assert x.grad.isfinite().all()


def test_a_profile_shows_the_layers() -> None:
    net = nn.LSTM(10, 20, 2)
    with minigrad.autograd.profiler.profile() as profile:
        output, _ = net(minigrad.randn(5, 3, 10))
        output.sum().backward()
    names = {event.key: event.count for event in profile.key_averages()}
    assert names["aten::lstm"] == 1
    assert names["aten::linear"] == 2
    assert names["LstmLayerBackward0"] == 2


def test_parameters_keep_their_layout_and_copies_work() -> None:
    net = nn.LSTM(3, 4, 2, bidirectional=True)
    assert [len(layer) for layer in net.all_weights] == [4] * 4
    assert net.all_weights[1][0] is net.weight_ih_l0_reverse
    net.flatten_parameters()
    assert net.all_weights[0][0] is net.weight_ih_l0
    with pytest.warns(UserWarning, match="non-zero dropout expects num_layers greater than 1"):
        nn.GRU(3, 4, dropout=0.5)


def test_states_of_another_dtype_are_refused() -> None:
    state = minigrad.zeros(1, 2, 4, dtype=minigrad.float64)
    with pytest.raises(RuntimeError, match="not the same dtype, found input tensor with torch.flo"):
        nn.GRU(3, 4)(minigrad.ones(5, 2, 3), state)


# -------------------------------------------------------------------- PyTorch


def assert_same_run(torch: Any, ours: Any, theirs: Any, run: Any) -> None:
    """Run both networks; compare outputs, and first and second gradients."""
    results = []
    for package, net in ((minigrad, ours), (torch, theirs)):
        outputs, leaves = run(package, net)
        leaves = [*leaves, *net.parameters()]
        loss = sum((o * o * (i + 1)).sum() for i, o in enumerate(outputs))
        first = package.autograd.grad(loss, leaves, create_graph=True)
        second = package.autograd.grad(sum((g * g).sum() for g in first), leaves)
        results.append([*outputs, *first, *second])
    for mine, wanted in zip(*results, strict=True):
        assert mine.shape == wanted.shape
        _oracle.assert_close(host(mine), host(wanted), 1e-8, 1e-8, "result")


OPTIONS = [{}, {"num_layers": 2, "bidirectional": True}, {"bias": False, "batch_first": True},
           {"num_layers": 2, "bidirectional": True, "batch_first": True}]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_a_given_state_has_pytorchs_gradients(kind: str, options: dict[str, Any]) -> None:
    torch, ours, theirs = twins(kind, **options)
    layers = options.get("num_layers", 1) * (2 if "bidirectional" in options else 1)
    arrays = [real(5, 2, 3), *[real(layers, 5 if "batch_first" in options else 2, 4)
                               for _ in range(2 if kind == "LSTM" else 1)]]

    def run(package: Any, net: Any) -> tuple[list[Any], list[Any]]:
        x, *state = (package.from_numpy(a.copy()).requires_grad_() for a in arrays)
        output, last = net(x, tuple(state) if kind == "LSTM" else state[0])
        return [output, *(last if kind == "LSTM" else [last])], [x, *state]

    assert_same_run(torch, ours, theirs, run)


@pytest.mark.parametrize("sort", [True, False])
@pytest.mark.parametrize("options", OPTIONS[:2], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_packed_sequences_have_pytorchs_gradients(kind: str, options: dict[str, Any],
                                                  sort: bool) -> None:
    torch, ours, theirs = twins(kind, **options)
    lengths = [5, 3, 3, 1] if sort else [3, 1, 5, 3]
    layers = 4 if options else 1
    arrays = [real(5, 4, 3), *[real(layers, 4, 4) for _ in range(2 if kind == "LSTM" else 1)]]

    def run(package: Any, net: Any) -> tuple[list[Any], list[Any]]:
        x, *state = (package.from_numpy(a.copy()).requires_grad_() for a in arrays)
        utils = package.nn.utils.rnn
        packed = utils.pack_padded_sequence(x, lengths, enforce_sorted=sort)
        output, last = net(packed, tuple(state) if kind == "LSTM" else state[0])
        padded, _ = utils.pad_packed_sequence(output, padding_value=0.5)
        return [padded, *(last if kind == "LSTM" else [last])], [x, *state]

    assert_same_run(torch, ours, theirs, run)


@pytest.mark.parametrize("kind", KINDS)
def test_seeds_give_pytorchs_numbers(kind: str) -> None:
    torch = pytest.importorskip("torch", reason="parity needs PyTorch")
    results = []
    for package in (minigrad, torch):
        package.manual_seed(5)
        net = getattr(package.nn, kind)(3, 4, 3, dropout=0.5)
        results.append(host(net(package.ones(6, 2, 3))[0]))
    _oracle.assert_close(*results, 1e-5, 1e-6, "output")


def test_packed_is_each_sequence_for_itself() -> None:
    net = nn.LSTM(3, 4, 2, bidirectional=True).double()
    sequences = [leaf(n, 3).detach() for n in (2, 5, 1)]
    packed, (h, c) = net(rnn.pack_sequence(sequences, enforce_sorted=False))
    for i, (sequence, output) in enumerate(zip(sequences, rnn.unpack_sequence(packed))):
        alone, (h_alone, c_alone) = net(sequence)
        _oracle.assert_close(host(output), host(alone), 1e-12, 1e-12, "output")
        _oracle.assert_close(host(h[:, i]), host(h_alone), 1e-12, 1e-12, "h")
        _oracle.assert_close(host(c[:, i]), host(c_alone), 1e-12, 1e-12, "c")


# -------------------------------------------------------------------- packing

PACKING = [
    "rnn.pack_padded_sequence(x, [4, 3, 1])",
    "rnn.pack_padded_sequence(x, torch.tensor([4, 2, 3]), enforce_sorted=False)",
    "rnn.pack_padded_sequence(x.transpose(0, 1), [4, 2, 2], True)",
    "rnn.pack_padded_sequence(x, [4, 2, 3])",
    "rnn.pack_padded_sequence(x, [4, 2])",
    "rnn.pack_padded_sequence(x, [4, 2, 0])",
    "rnn.pad_packed_sequence(rnn.pack_padded_sequence(x, [4, 3, 1]))",
    "rnn.pad_packed_sequence(rnn.pack_padded_sequence(x, [2, 4, 3], False, False), True, 9., 5)",
    "rnn.pad_packed_sequence(rnn.pack_padded_sequence(x, [4, 3, 1]), total_length=3)",
    "rnn.pad_sequence([torch.ones(2, 2), torch.zeros(3, 2)])",
    "rnn.pad_sequence([torch.ones(2), torch.zeros(3)], True, 7., 'left')",
    "rnn.pad_sequence([torch.ones(2)], padding_side='up')",
    "rnn.pad_sequence([])",
    "rnn.pad_sequence(3)",
    "rnn.pack_sequence([torch.ones(3), torch.zeros(2)])",
    "rnn.pack_sequence([torch.ones(2), torch.zeros(3)])",
    "rnn.unpack_sequence(rnn.pack_sequence([torch.ones(2), torch.zeros(3)], False))",
    "rnn.unpad_sequence(x, torch.tensor([4, 2, 1]))",
    "rnn.unpad_sequence(x, torch.tensor([2, 1, 1, 2]), True)",
    "rnn.invert_permutation(torch.tensor([2, 0, 1]))",
    "rnn.invert_permutation(None)",
    "rnn.pack_padded_sequence(x, [4, 3, 1]).double().data.dtype",
]


@pytest.mark.parametrize("source", PACKING)
def test_packing_is_pytorchs(source: str) -> None:
    torch = pytest.importorskip("torch", reason="parity needs PyTorch")
    results = []
    for package in (minigrad, torch):
        x = package.arange(24.0).reshape(4, 3, 2)
        try:
            results.append(repr(eval(source, {"torch": package, "rnn": package.nn.utils.rnn,
                                              "x": x})))
        except Exception as error:
            results.append(f"{type(error).__name__}: {error}")
    assert results[0] == results[1]


def test_a_length_beyond_the_steps_is_refused() -> None:
    with pytest.raises(RuntimeError, match="at most 4, the number of time steps, but got 5"):
        rnn.pack_padded_sequence(minigrad.ones(4, 2, 1), [5, 1])


# -------------------------------------------------------------------- training


@pytest.mark.slow
def test_an_lstm_learns_to_count_brackets() -> None:
    minigrad.manual_seed(0)
    net = brackets.Counter()
    losses = list(brackets.train(net, 300))
    assert losses[0] > 2.0
    assert brackets.accuracy(net) > 0.99  # of sequences twice as long as those trained on


def test_the_brackets_training_is_pytorchs_with_the_same_seed() -> None:
    torch = pytest.importorskip("torch", reason="parity needs PyTorch")
    curves = []
    theirs = with_torch("minigrad_course/demos/brackets.py")
    for package, module in ((minigrad, brackets), (torch, theirs)):
        package.manual_seed(0)
        curves.append(np.array(list(module.train(module.Counter(), 50))))
    _oracle.assert_close(*[curve[:30] for curve in curves], 0.0, 1e-3, "loss")
    _oracle.assert_close(*curves, 0.0, 1e-2, "loss")  # rounding grows from step to step
    assert curves[0][-1] < 0.75 * curves[0][0]


def test_bracket_sequences_are_what_they_say() -> None:
    rows, depths = (t.numpy() for t in brackets.sequences(50, 40))
    counted = np.cumsum(1 - 2 * rows, axis=1)
    assert (counted == depths).all()
    assert depths.min() == 0
    assert depths.max() == brackets.DEEPEST


# -------------------------------------------------------------------- without a graph


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("part", [1, 40, 1000])
def test_without_a_graph_some_steps_at_a_time_give_the_same(kind, bidirectional, part, monkeypatch):
    monkeypatch.setattr(rnn_stacks, "PART", part)
    net = getattr(nn, kind)(3, 4, num_layers=2, bidirectional=bidirectional).double()
    sequences = [minigrad.from_numpy(real(length, 3)) for length in (5, 5, 3, 1)]
    packed = rnn.pack_sequence(sequences)
    padded = rnn.pad_sequence(sequences)
    expected = [net(packed)[0].data, *flat(net(padded))]
    with minigrad.no_grad():
        found = [net(packed)[0].data, *flat(net(padded))]
    for a, b in zip(found, expected, strict=True):
        assert not a.requires_grad and a.shape == b.shape
        np.testing.assert_allclose(host(a), host(b.detach()), rtol=0, atol=1e-14)


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_graph_tangents_and_batches_pass(kind, monkeypatch):
    monkeypatch.setattr(rnn_stacks, "PART", 40)
    net = getattr(nn, kind)(3, 4).double()
    x, v = (minigrad.from_numpy(real(5, 2, 3)) for _ in range(2))

    def moved() -> Any:
        return minigrad.func.jvp(lambda x: net(x)[0], (x,), (v,))[1].detach()

    batch = minigrad.from_numpy(real(3, 5, 2, 3))
    expected, of_each = moved(), minigrad.stack([net(x)[0].detach() for x in batch])
    with minigrad.no_grad():
        np.testing.assert_allclose(host(moved()), host(expected), rtol=0, atol=1e-14)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # one by one
            rows = minigrad.vmap(lambda x: net(x)[0])(batch)
    np.testing.assert_allclose(host(rows), host(of_each), rtol=0, atol=1e-14)


def flat(result: Any) -> list[Any]:
    """Return output and states as a list."""
    output, state = result
    return [output, *(state if isinstance(state, tuple) else (state,))]
