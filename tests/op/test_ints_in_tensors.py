"""Tensors of one integer stand for ints, alone and in lists, where PyTorch takes them so."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

import minigrad

torch = pytest.importorskip("torch", reason="held beside PyTorch")

F = "torch.nn.functional"
TAKEN = [
    "x.permute(T([1]), 0)", "x.permute(1, T([0]))", "x.permute([T([[1]]), T(0)])",
    "torch.permute(x, (T([1]), 0))", "v.permute(T([0]))", "x.permute(T(True), 0)",
    "v.repeat(T([2]))", "v.repeat(T([[2]]))", "v.repeat(2, T([2]))", "v.repeat([T([2]), 1])",
    "v.repeat(T(2).int())", "v.tile(T([2]))", "torch.tile(v, (2, T([2])))",
    "x.flip(T([0]))", "x.flip(0, T([1]))", "x.flip((T([0]), T(1)))", "x.flip(T(True))",
    "x.roll((1, T([1])), (0, 1))", "x.roll((1, 1), (T([0]), T(True)))", "x.roll(T([1]), T([0]))",
    "x[:1].expand(T([2]), T([3]))", "x[:1].expand((2, T([3])))", "x.broadcast_to((T([2]), 3))",
    "x.view(T([6]))", "x.view(2, T([3]))", "x.view((T([3]), 2))", "x.view([3, T([2])])",
    "x.reshape(T([6]))", "x.reshape((T([3]), 2))", "torch.reshape(x, (2, T([3])))",
    "torch.zeros((T([2]), 3))", "torch.ones(2, T([3]))", "torch.full((T([2]),), 1.0)",
    "x.new_zeros((T([2]), 2))", "x.clone().resize_((T([3]), 2))",
    "x.sum((T([0]), 1))", "x.sum((T(True),))", "x.mean((T([0]), T(1)))", "x.amax((0, T([1])))",
    "x.norm(dim=(T([0]), 1))", "x.logsumexp((T([0]), 1))", "x.movedim((T([0]), 1), (1, T([0])))",
    "x.movedim(T(0), T(1))", "x.unflatten(1, (T([3]), 1))", "x.split((T([1]), 1))[0]",
    "x.rot90(1, (T([0]), 1))", "torch.tensordot(x, x, ([T([0])], [0]))",
    f"{F}.pad(x, (T([1]), T([1])))", f"{F}.layer_norm(x, (T([3]),))",
    f"{F}.max_pool2d(i, (T(2), 2))", f"{F}.max_pool2d(i, (2, T([2])))",
    f"{F}.avg_pool2d(i, (T([2]), T(2)), stride=(T(1), 1))",
    f"{F}.adaptive_avg_pool1d(x, T(2))", f"{F}.adaptive_avg_pool2d(i, (T(2), T([2])))",
    f"{F}.conv2d(i, k, stride=(T([1]), T(2)), padding=(T([1]), T(0)))",
    f"{F}.conv2d(i, k, stride=T(2), padding=T(1))", f"{F}.unfold(i[None], (2, T([2])))",
]
REFUSED = [
    "x.transpose(T([0]), 1)", "x.cumsum(T([0]))", "x.sum((0, T([0, 1])))", "x.sum((0, T(1.0)))",
    "x.view(2, T([3, 4]))", "v.repeat(2, T(2.0))", "v.repeat(T([2, 1]))", "v.repeat(2.0)",
    "v.repeat(T(True))", "v.repeat(2, T(True))", "torch.zeros(T(True))", "x.flip((0.0, T(1)))",
    "x.expand(T([2, 3]))", "x.permute(T(0.0))", "x.roll((T(True),), (0,))",
]


class Refused(NamedTuple):
    """An error of a call."""

    kind: str
    text: str


def outcome(library: Any, call: str) -> Any:
    names = {"torch": library, "T": library.tensor, "x": library.arange(6.0).reshape(2, 3),
             "v": library.tensor([5, 6]), "i": library.arange(16.0).reshape(1, 4, 4),
             "k": library.ones(1, 1, 2, 2)}
    try:
        return eval(call, names).tolist()
    except (TypeError, RuntimeError) as error:
        return Refused(type(error).__name__, str(error))


@pytest.mark.parametrize("call", TAKEN)
def test_a_tensor_of_one_integer_is_an_int(call: str) -> None:
    theirs = outcome(torch, call)
    assert not isinstance(theirs, Refused)
    assert outcome(minigrad, call) == theirs


@pytest.mark.parametrize("call", REFUSED)
def test_others_are_refused_in_the_same_words(call: str) -> None:
    kind, text = outcome(torch, call)
    # PyTorch does not count the tensor whose method it is; functions and methods are one here
    assert outcome(minigrad, call) == (kind, text.replace("(position 1)", "(position 2)"))


def test_gradients_flow_through_sizes_in_tensors() -> None:
    x = minigrad.ones(2, 3, requires_grad=True)
    one = minigrad.tensor([1])
    x.permute(one, 0).repeat(one, minigrad.tensor(2)).sum((one - 1, 1)).backward()
    assert x.grad is not None and x.grad.tolist() == [[2.0] * 3] * 2
