"""The figures of Functions, of backward and grad, of devices and of modules, beside minigrad."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad as torch
from minigrad import nn
from minigrad.backend import strict
from tests.widgets.programs import computed, derived, random_program

# --- a Function is a pair ---------------------------------------------------------------------


class Square(torch.autograd.Function):
    """As the lesson writes it."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * 2 * x


class Tanh(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        t = x.tanh()
        ctx.save_for_backward(t)
        return t

    @staticmethod
    def backward(ctx, g):
        (t,) = ctx.saved_tensors
        return g * (1 - t * t)


class Bell(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = (-x * x).exp()
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return -g * 2 * x * y


class GradClip(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        return g.clamp(-1, 1)


PAIRS = {each.__name__: each for each in (Square, Tanh, Bell, GradClip)}
PLAIN: dict[str, Callable[[Any], Any]] = {
    "Square": torch.square, "Tanh": torch.tanh, "Bell": lambda x: (-x * x).exp(),
    "GradClip": lambda x: x * 1}


@pytest.mark.parametrize("name", PAIRS)
def test_a_pair_computes_saves_and_answers_as_the_function_does(model, name):
    rng = random.Random(1)
    for at in [-1.5, -0.5, 0.0, 0.5, 1.5, 2.5, *(round(rng.uniform(-4, 4), 1) for _ in range(20))]:
        back = round(rng.uniform(-3, 3), 1)
        x = torch.tensor(at, dtype=torch.float64, requires_grad=True)
        y = PAIRS[name].apply(x)
        saved = [each.item() for each in y.grad_fn.saved_tensors]
        y.backward(torch.tensor(back, dtype=torch.float64))
        shown = model("function-pair", f=name, x=at, g=back)
        assert shown["y"] == pytest.approx(y.item(), rel=1e-12)
        assert list(shown["saved"].values()) == pytest.approx(saved, rel=1e-12)
        assert shown["grad"] == pytest.approx(x.grad.item(), rel=1e-12)

        honest = torch.tensor(at, dtype=torch.float64, requires_grad=True)
        PLAIN[name](honest).backward(torch.tensor(back, dtype=torch.float64))
        assert shown["honest"] == pytest.approx(honest.grad.item(), rel=1e-12, abs=1e-300)


# --- backward or grad -------------------------------------------------------------------------


def in_order(result: Any) -> list[Any]:
    """The operations of a graph, in the order in which they were made."""
    found, stack = {}, [result.grad_fn]
    while stack:
        node = stack.pop()
        if node is not None and node not in found and hasattr(node, "_sequence_nr"):
            found[node] = node._sequence_nr()
            stack += [after for after, _ in node.next_functions]
    return sorted((node for node in found if node.name() != "AccumulateGrad"), key=found.get)


def noting(ran: list[int], number: int) -> Callable[[Any], None]:
    """Return a hook that writes down which node runs."""
    return lambda grads: ran.append(number)


@pytest.mark.parametrize("call", ["grad", "some", "all"])
def test_the_nodes_that_are_shown_run_and_no_others(model, call):
    rng, compared = random.Random(3), 0
    while compared < 60:
        program = random_program(rng)
        leaves = {"a": 2, "b": 3, "c": 1}
        if derived(program, leaves) is None:
            continue
        result, given = computed(program, leaves)
        want = rng.sample("abc", rng.randint(1, 3))
        shown = model("asked-gradients", program=program, call=call, want=" ".join(want))
        if "error" in shown:
            continue
        made, ops = in_order(result), [i for i, node in enumerate(shown["nodes"])
                                       if node["kind"] == "op"]
        if len(made) != len(ops) or shown["unused"] or shown["empty"]:
            continue  # minigrad has two nodes where the figure draws one, or the reverse
        compared += 1
        ran: list[int] = []
        for number, node in zip(ops, made, strict=True):
            node.register_prehook(noting(ran, number))
        names = [shown["nodes"][i]["name"] for i in shown["wanted"]]
        expected = [shown["nodes"][i]["adjoint"] for i in shown["wanted"]]
        if call == "grad":
            found = torch.autograd.grad(result, [given[name] for name in names])
            assert all(leaf.grad is None for leaf in given.values())
        else:
            result.backward(inputs=[given[name] for name in names] if call == "some" else None)
            found = [given[name].grad for name in names]
            others = [leaf.grad for name, leaf in given.items() if name not in names]
            assert others == [None] * len(others)
        assert [each.item() for each in found] == pytest.approx(expected, rel=1e-9, abs=1e-12)
        assert sorted(ran) == shown["runs"], program


@pytest.mark.parametrize("call", ["grad", "some"])
def test_grad_catches_the_gradient_of_a_step_before_that_step_runs(model, call):
    shown = model("asked-gradients", call=call, want="u", a=2, b=3, c=1)
    a, b, c = (torch.tensor(float(each), requires_grad=True) for each in (2, 3, 1))
    u, ran = a * b, []
    u.grad_fn.register_prehook(lambda grads: ran.append("u"))
    loss = u * c.exp() + a
    if call == "grad":
        (found,) = torch.autograd.grad(loss, [u])
    else:
        loss.backward(inputs=[u])
        found = u.grad
    titles = [node.get("name") for node in shown["nodes"]]
    assert (titles.index("u") in shown["runs"]) == bool(ran) == (call == "some")
    assert shown["nodes"][titles.index("u")]["adjoint"] == pytest.approx(found.item())


def test_what_was_not_used_is_told_from_what_was_not_asked_for(model):
    program = "u = a * b\nv = c * a\nloss = v + c"
    assert model("asked-gradients", program=program, want="c")["unused"] == []
    assert model("asked-gradients", program=program, want="")["empty"]
    with pytest.raises(RuntimeError, match="cannot be empty"):
        torch.autograd.grad(torch.ones(1, requires_grad=True) * 2, [])


# --- a line that waits ------------------------------------------------------------------------


def asked_of_the_device(line: str) -> str:
    x = strict.StrictArray(np.array([2.0]))
    try:
        {"none": lambda: x * 2, "item": x.item, "float": lambda: float(x),
         "if": lambda: bool(x > 0), "numpy": lambda: np.exp(x)}[line]()
    except TypeError:
        return "refused"
    return "allowed"


@pytest.mark.parametrize("line", ["none", "item", "float", "if", "numpy"])
def test_the_strict_device_refuses_the_lines_that_are_shown_so(model, line):
    assert model("waiting", line=line)["strict"] == asked_of_the_device(line)


@pytest.mark.parametrize("line", ["none", "item"])
@pytest.mark.parametrize("every", [1, 2, 3, 8])
@pytest.mark.parametrize("work", [1, 4, 8])
def test_python_and_the_device_do_one_thing_at_a_time(model, line, every, work):
    shown = model("waiting", line=line, every=every, work=work)
    host = device = 0
    for number, step in enumerate(shown["steps"], 1):
        assert step["from"] == host and step["queued"] == host + 1
        assert step["begins"] == max(device, step["queued"])
        assert step["ends"] == step["begins"] + work
        host, device = step["queued"], step["ends"]
        if line == "item" and number % every == 0:
            assert step["wait"] == [host, device + 1]
            host = device + 1
        else:
            assert step["wait"] is None
    assert shown["total"] == max(host, device) == shown["idle"] + 8 * work
    assert shown["transfers"] == (8 // every if line == "item" else 0)
    assert (line != "none") or shown["total"] == shown["least"]


# --- the walk through modules -----------------------------------------------------------------


@pytest.mark.parametrize("again", [True, False])
@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("kept_in_list", [True, False])
@pytest.mark.parametrize("once", [True, False])
def test_a_walk_yields_the_names_of_the_module(model, again, tied, kept_in_list, once):
    net = nn.Module()
    net.encoder = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    decoder = nn.Linear(2, 2)
    if tied:
        decoder.weight = net.encoder[0].weight
    if kept_in_list:
        net.parts = [decoder]
    else:
        net.decoder = decoder
    if again:
        net.again = net.encoder
    shown = model("module-walk", again=again, tied=tied, list=kept_in_list, once=once)
    assert shown["parameters"] == [
        name for name, _ in net.named_parameters(remove_duplicate=once)]
    assert shown["modules"] == [name for name, _ in net.named_modules(remove_duplicate=once)]
