"""Random programs on both libraries; the differences that are known; those that were mended."""

from __future__ import annotations

import ast

import pytest

torch = pytest.importorskip("torch", reason="compares with PyTorch")

import minigrad  # noqa: E402  # after the skip, as they import PyTorch
from minigrad.op.declaration import REGISTRY  # noqa: E402  # after the skip, as they import PyTorch
from tests.support.slow import slow_but  # noqa: E402  # after the skip, as they import PyTorch

from . import calls, generator, regressions, shrink  # noqa: E402  # after the skip, as they import PyTorch
from .campaign import campaign, difference  # noqa: E402  # after the skip, as they import PyTorch
from .circumstances import (  # noqa: E402  # after the skip, as they import PyTorch
    ill_conditioned,
    looks_behind_a_number,
    writes_to_overlapping_memory,
)
from .compare import Difference  # noqa: E402  # after the skip, as they import PyTorch
from .generator import generate  # noqa: E402  # after the skip, as they import PyTorch
from .interpret import Machine, run  # noqa: E402  # after the skip, as they import PyTorch
from .known import KNOWN, name_of  # noqa: E402  # after the skip, as they import PyTorch
from .peer import Peer  # noqa: E402  # after the skip, as they import PyTorch
from .program import source, target, uses  # noqa: E402  # after the skip, as they import PyTorch
from .rounding import moved  # noqa: E402  # after the skip, as they import PyTorch


@pytest.fixture(scope="module")
def peer():
    """Run PyTorch in a process of its own, as its crash would end the tests."""
    peer = Peer()
    yield peer
    peer.close()


@pytest.mark.parametrize("seeds", slow_but(1, [range(40), range(40, 300)]), ids=str)
def test_random_programs_agree(seeds):
    part = campaign(seeds)
    unknown = [str(finding) for finding in part.findings if finding.known is None]
    assert not unknown, "\n\n".join(unknown)
    assert len(part.crashes) < 10


@pytest.mark.parametrize("known", KNOWN, ids=[k.name for k in KNOWN])
def test_a_known_difference_is_still_there(known, peer):
    found = difference(known.program, peer)
    assert found is not None, "mended: take it off the list"
    assert name_of(known.program, found) == known.name, str(found)


@pytest.mark.parametrize("program", regressions.PROGRAMS.values(), ids=regressions.PROGRAMS)
def test_a_fixed_difference_stays_fixed(program, peer):
    found = difference(program, peer)
    assert found is None, str(found)


def test_every_op_is_called_or_left_out_for_a_reason():
    called = {call.op.__name__ for call in calls.all_calls() + calls.inplace_calls()}
    left_out = calls.LEFT_OUT.keys() | calls.ALWAYS_DIFFER.keys()
    assert called | left_out == set(REGISTRY)
    assert not called & left_out
    assert all(calls.LEFT_OUT.values())


def test_what_is_called_in_another_way_is_called():
    """Where an op's samples are left out, one of the generator's expressions stands for it."""
    text = " ".join(generator.COMPOSED)
    for name in ("einsum", "gru_cell", "lstm_cell", "rnn_tanh_cell", "max_unpool", "interpolate",
                 "scaled_dot_product", "bilinear", "unsafe_chunk", "unsafe_split", "eigvalsh",
                 "qr", "svdvals", "torch.diag", "F.unfold", "l1_loss"):
        assert name in text
    text = " ".join(generator.VALUES + generator.CREATED)
    assert all(name in text for name in ("isclose", "one_hot", "bernoulli"))


def test_what_is_rounding_alone_is_no_difference(peer):
    """The gradient of a sum of softmax is zero: what it is divided by is left to chance."""
    program = ["t0 = torch.tensor([0.11, 1.72, 0.93], dtype=torch.float32, requires_grad=True)",
               "g1 = torch.autograd.grad(torch.softmax(t0, 0).sum(), [t0])",
               "t2 = g1[0] / g1[0].abs().max()", "t3 = t2 > 0"]
    assert difference(program, peer) is None


@pytest.mark.parametrize("wrong", [lambda g: g * 1.01, lambda g: g * 0, lambda g: -g,
                                   lambda g: g + 1e-4], ids=["1 %", "zero", "sign", "added"])
def test_a_wrong_gradient_does_not_hide_in_rounding(peer, wrong):
    program = ["t0 = torch.tensor([0.11, 1.72, 0.93], dtype=torch.float64, requires_grad=True)",
               "(torch.softmax(t0, 0) * t0).sum().backward()"]
    theirs, ours = peer.trace(program), run(minigrad, program)
    ours.state["t0"]["grad"]["value"] = wrong(ours.state["t0"]["grad"]["value"])
    found = difference(program, peer, theirs, ours)
    assert found is not None and found.kind == "end.grad"


def test_inputs_are_moved_by_little():
    line = "t0 = torch.tensor([0.31, 0.5, 0.31, 2.0], dtype=torch.float64)"
    (made,) = moved([line], 3)
    first, half, again, two = ast.literal_eval(made.partition("tensor(")[2].partition("]")[0] + "]")
    assert first == again != 0.31 and abs(first - 0.31) < 1e-15
    assert (half, two) == (0.5, 2.0)
    assert moved([line.replace(", dtype", ").view(2, 2) + torch.zeros(1, dtype")], 3) == [
        line.replace(", dtype", ").view(2, 2) + torch.zeros(1, dtype")]


def test_what_is_undefined_is_not_written():
    machine = Machine(minigrad)
    for line in ("t0 = torch.ones(4)", "t1 = t0.unfold(0, 2, 1)", "t2 = t0.expand(2, 4)"):
        machine.step(line)
    undefined = {line: writes_to_overlapping_memory(line, machine.names) for line in (
        "t1.mul_(2)", "t3 = t1.data.add_(t0[0])", "t1[...] = 1", "t3 = t1 * 2", "t0.mul_(t1[0, 0])",
        "t2.mul_(2)", "p3 = AddTo_.apply(t0[:2], t1)")}
    assert list(undefined.values()) == [True, True, True, False, False, False, True]


def test_what_lies_behind_a_number_is_not_looked_at():
    machine = Machine(minigrad)
    for line in ("t0 = torch.ones(4)", "t1 = F.mse_loss(t0, t0)", "t2 = t1[None]"):
        machine.step(line)
    undefined = [looks_behind_a_number(f"{name}.as_strided_((2,), (1,))", machine.names)
                 for name in ("t0", "t0[0]", "t1", "t2")]
    assert undefined == [False, False, True, True]


def test_a_program_prints_as_one_that_runs():
    program = ["t0 = torch.ones(2, requires_grad=True)", "t1 = Scale.apply(t0, 0.5)",
               "with torch.no_grad(): t2 = t1 * 2", "t1.sum().backward()"]
    names = {"__name__": "program"}
    exec(compile(source(program), "<program>", "exec"), names)
    assert names["t0"].grad.tolist() == [1, 1] and names["t2"].tolist() == [1, 1]


def test_the_same_seed_gives_the_same_program():
    assert generate(11)[0] == generate(11)[0] != generate(12)[0]


def test_names_in_a_line():
    assert target("with torch.no_grad(): t3 = t1 + p2[0]") == "t3"
    assert target("t1[0] = 2") is None
    assert uses("with torch.no_grad(): t3 = t1 + p2[0]") == {"t1", "t3", "p2"}


def test_shrinking_leaves_what_is_needed():
    def attempt(lines):
        needed = {"b", "e"} <= set(lines)
        return Difference("value", "e", 1, 2) if needed else None

    lines, found = shrink.shrink(list("abcdefgh"), attempt(list("abcdefgh")), attempt)
    assert lines == ["b", "e"]
    assert found.kind == "value"


def test_shrinking_does_not_turn_to_another_difference():
    def attempt(lines):
        kind = "value" if "a" in lines else "refused"
        return Difference(kind, "b", 1, 2) if "b" in lines else None

    assert shrink.shrink(["a", "b", "c"], attempt(["a", "b"]), attempt)[0] == ["a", "b"]


@pytest.mark.slow
def test_a_crash_of_the_other_process_is_counted(peer):
    """A program that ends the process is skipped, and those after it are run."""
    programs = [["t0 = torch.ones(2)"], ["import os", "os._exit(3)"], ["t0 = torch.zeros(2)"]]
    before = peer.crashes
    peer.send(programs)
    first, crashed, last = peer.receive(programs)
    assert crashed is None and peer.crashes == before + 1
    assert first.state["t0"]["value"].tolist() == [1, 1]
    assert last.state["t0"]["value"].tolist() == [0, 0]


@pytest.mark.parametrize(("matrix", "expected"), [
    ("[[2.0, 1.0], [0.0, 5.0]]", False), ("[[1.0, 1.0], [1.0, 1.0]]", True),
    ("[[float('inf'), 0.0], [0.0, 1.0]]", True), ("[[float('nan'), 0.0], [0.0, 1.0]]", True),
])
def test_a_matrix_at_the_edge_is_told(matrix, expected):
    program = [f"t0 = torch.tensor({matrix})", "t1 = torch.linalg.svdvals(t0)"]
    assert ill_conditioned(program, Difference("value", "t1", 1, 2)) is expected
