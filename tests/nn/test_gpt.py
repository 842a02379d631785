"""The small GPT: what it sees, the numbers that PyTorch gets from the same source, its training."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import nn
from minigrad.nn.models import GPT, GPTConfig
from minigrad_course.demos import characters
from tests import _oracle
from tests.support.arrays import host
from tests.support.with_torch import with_torch

SMALL: dict[str, Any] = {"layers": 2, "heads": 2, "width": 32, "context": 16}


def small(**options: Any) -> GPT:
    minigrad.manual_seed(0)
    return GPT(GPTConfig(vocab_size=11, **{**SMALL, **options}))


def test_its_parts() -> None:
    net = small()
    names = [name for name, _ in net.named_parameters()]
    assert names[:3] == ["tokens.weight", "positions.weight", "blocks.0.norm1.weight"]
    assert names[-2:] == ["norm.weight", "norm.bias"]  # the head's weights are the tokens'
    assert net.head.weight is net.tokens.weight
    block = 12 * 32 * 32 + 13 * 32
    assert sum(p.numel() for p in net.parameters()) == 11 * 32 + 16 * 32 + 2 * block + 2 * 32
    untied = small(tied=False, bias=False)
    assert untied.head.weight is not untied.tokens.weight
    assert not [n for n, _ in untied.named_parameters() if n.endswith("bias")]


def test_no_position_sees_a_later_one() -> None:
    net = small()
    tokens = minigrad.randint(0, 11, (1, 10))
    changed = tokens.clone()
    changed[0, 6:] = (changed[0, 6:] + 1) % 11
    before, after = net(tokens), net(changed)
    _oracle.assert_close(host(before[0, :6]), host(after[0, :6]), 0.0, 1e-6, "scores")
    assert (host(before[0, 6:]) != host(after[0, 6:])).any()


def test_a_tied_table_gets_both_gradients() -> None:
    tied, untied = small(), small(tied=False)
    untied.load_state_dict(tied.state_dict())
    tokens = minigrad.randint(0, 11, (2, 8))
    for net in (tied, untied):
        nn.functional.cross_entropy(net(tokens).flatten(0, 1), tokens.flatten()).backward()
    total = untied.tokens.weight.grad + untied.head.weight.grad
    _oracle.assert_close(host(tied.tokens.weight.grad), host(total), 1e-4, 1e-6, "gradient")


def test_generation_is_greedy_or_drawn_with_the_seed() -> None:
    net = small().eval()
    start = minigrad.tensor([[1, 2, 3]])
    likely = net.generate(start, 20, temperature=0)
    assert likely.shape == (1, 23)
    assert likely[:, :3].tolist() == start.tolist()
    assert likely.tolist() == net.generate(start, 20, temperature=0).tolist()
    assert int(likely[0, 3]) == int(net(start)[0, -1].argmax())
    minigrad.manual_seed(1)
    drawn = net.generate(start, 20)
    minigrad.manual_seed(1)
    assert drawn.tolist() == net.generate(start, 20).tolist()
    assert drawn.tolist() != likely.tolist()
    assert not drawn.requires_grad


def test_more_tokens_than_the_context_are_refused() -> None:
    with pytest.raises(ValueError, match="at most 16 tokens, the context, but got 17"):
        small()(minigrad.zeros(1, 17, dtype=minigrad.int64))


# -------------------------------------------------------------------- PyTorch


@pytest.mark.parametrize("tied", [True, False])
def test_outputs_and_gradients_are_pytorchs(tied: bool) -> None:
    torch = pytest.importorskip("torch", reason="parity needs PyTorch")
    models = with_torch("minigrad/nn/models/gpt.py")
    torch.manual_seed(0)
    theirs = models.GPT(models.GPTConfig(vocab_size=11, tied=tied, **SMALL)).double()
    ours = small(tied=tied).double()
    assert list(ours.state_dict()) == list(theirs.state_dict())
    assert repr(ours) == repr(theirs)
    for name, value in ours.state_dict().items():
        _oracle.assert_close(host(value), host(theirs.state_dict()[name]), 1e-6, 1e-7, name)
    ours.load_state_dict(theirs.state_dict())
    tokens = np.random.default_rng(0).integers(0, 11, (2, 16))
    results = []
    for package, net in ((minigrad, ours), (torch, theirs)):
        given = package.from_numpy(tokens)
        scores = net(given)
        loss = package.nn.functional.cross_entropy(scores.flatten(0, 1), given.flatten())
        results.append([scores, *package.autograd.grad(loss, list(net.parameters()))])
    for mine, wanted in zip(*results, strict=True):
        _oracle.assert_close(host(mine), host(wanted), 1e-8, 1e-9, "result")


@pytest.mark.parametrize("moved", [False, True], ids=["same seed", "same state"])
def test_fifty_steps_have_pytorchs_losses(moved: bool) -> None:
    torch = pytest.importorskip("torch", reason="parity needs PyTorch")
    curves, nets = [], []
    theirs = with_torch("minigrad_course/demos/characters.py")
    for package, module in ((torch, theirs), (minigrad, characters)):
        package.manual_seed(0)
        text = module.load(20_000)
        net = module.network(text, **SMALL)
        if moved and nets:
            net.load_state_dict(nets[0])
        nets.append({name: t.detach().clone() for name, t in net.state_dict().items()})
        package.manual_seed(1)
        curves.append(np.array(list(module.train(net, text, 50))))
    _oracle.assert_close(curves[1], curves[0], 0.0, 1e-3, "loss")
    assert curves[1][-1] < curves[1][0] - 1.0


def test_characters_are_encoded_and_decoded() -> None:
    text = characters.load(1000)
    assert len(text.numbers) == 1000
    assert text.alphabet == "".join(sorted(set(text.alphabet)))
    assert characters.load(50).decode(characters.load(50).numbers) == text.decode(text.numbers)[:50]
    seen, wanted = characters.batch(text, 8, count=3)
    assert seen.shape == wanted.shape == (3, 8)
    assert seen[:, 1:].tolist() == wanted[:, :-1].tolist()
