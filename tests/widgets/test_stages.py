"""The figures of later stages, each beside what minigrad does."""

from __future__ import annotations

import random
import re
import warnings
from contextlib import nullcontext
from itertools import permutations

import numpy as np
import pytest

import minigrad as torch
from minigrad.autograd import forward_ad
from minigrad.autograd.functional import jacobian
from minigrad.autograd.profiler_util import EventList, FunctionEvent
from tests.widgets.programs import computed, derived, functions, random_program

# --- memory -----------------------------------------------------------------------------------


def test_a_window_reads_the_cells_that_its_strides_say(model):
    rng = random.Random(6)
    for _ in range(200):
        shape = [rng.randint(1, 4) for _ in range(rng.randint(0, 2))]
        strides = [rng.randint(0, 5) for _ in shape]
        offset = rng.randrange(12)
        shown = model("memory", shape=", ".join(map(str, shape)), offset=offset,
                      strides=", ".join(map(str, strides)))
        last = offset + sum((size - 1) * step for size, step in zip(shape, strides, strict=True))
        if last > 11:
            assert "the last is 11" in shown["error"]
            continue
        window = torch.arange(12).as_strided(tuple(shape), tuple(strides), offset)
        assert shown["places"] == window.flatten().tolist()
        assert shown["contiguous"] == window.is_contiguous()
        assert shown["overlaps"] == (len(set(shown["places"])) < len(shown["places"]))


@pytest.mark.parametrize("log", ["s", "sw", "ws", "sws", "wsww", "sssw"])
def test_a_saved_window_is_broken_as_the_engine_says(model, log):
    shown = model("memory", log=log)
    base = torch.arange(12, dtype=torch.float64).requires_grad_() * 1
    window, results = base.as_strided((3, 4), (4, 1), 0), []
    for each in log:
        if each == "s":
            results.append(window.detach().requires_grad_().sin())
        else:
            window.detach().add_(1)
    assert shown["version"] == base._version
    for pin, result in zip(shown["pins"], results, strict=True):
        if not pin["broken"]:
            result.sum().backward()
            continue
        text = f"is at version {shown['version']}; expected version {pin['saved']} instead"
        with pytest.raises(RuntimeError, match=text):
            result.sum().backward()


# --- optimizers -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("rule", ["sgd", "momentum", "rmsprop", "adam"])
def test_a_path_is_the_optimizer_s(model, rule, seed):
    rng = random.Random(seed)
    lr, beta, kappa = 10 ** rng.uniform(-3, -0.8), rng.uniform(0, 0.95), rng.randint(1, 12)
    start = [rng.uniform(-3, 3), rng.uniform(-3, 3)]
    at = torch.tensor(start, dtype=torch.float64, requires_grad=True)
    optimizer = {"sgd": lambda: torch.optim.SGD([at], lr=lr),
                 "momentum": lambda: torch.optim.SGD([at], lr=lr, momentum=beta),
                 "rmsprop": lambda: torch.optim.RMSprop([at], lr=lr),
                 "adam": lambda: torch.optim.Adam([at], lr=lr, betas=(beta, 0.999))}[rule]()
    shown = model("optimizers", rule=rule, rate=np.log10(lr), beta=beta, kappa=kappa,
                  x=start[0], y=start[1])
    for point in shown["points"]:
        assert point == pytest.approx(at.tolist(), rel=1e-7, abs=1e-9)
        optimizer.zero_grad()
        (0.5 * (at[0] ** 2 + kappa * at[1] ** 2)).backward()
        optimizer.step()


def test_descent_diverges_above_two_over_kappa(model):
    for kappa in (4, 10, 20):
        edge = np.log10(2 / kappa)
        calm, wild = (model("optimizers", kappa=kappa, rate=edge + by)["losses"]
                      for by in (-0.05, 0.05))
        assert calm[-1] < calm[0] and wild[-1] > wild[0]


# --- jacobian, dual numbers -------------------------------------------------------------------


@pytest.mark.parametrize(("m", "n"), [(1, 8), (3, 5), (5, 3), (8, 8), (8, 1)])
@pytest.mark.parametrize("f", ["dense", "each", "sum"])
def test_the_jacobian_is_that_of_its_function(model, f, m, n):
    shown = model("jacobian", m=m, n=n, f=f, rows="0", columns="0")
    weights = torch.tensor([[((5 * i + 3 * j + 2) % 7 - 3) / 4 for j in range(n)]
                            for i in range(m)], dtype=torch.float64)
    triangle, diagonal = torch.tensor(np.tril(np.ones((m, n)))), torch.tensor(np.eye(m, n))
    function = {"dense": lambda x: (weights @ x).sin(), "sum": lambda x: triangle @ x,
                "each": lambda x: diagonal @ x.sin()}[f]
    expected = jacobian(function, torch.tensor(shown["x"], dtype=torch.float64))
    np.testing.assert_allclose(shown["table"], expected.numpy(), rtol=1e-9, atol=1e-12)
    assert shown["known"][0] == [True] * n and shown["passes"] == 2
    assert shown["full"] == (m == 1 or n == 1)


def test_tangents_are_those_of_forward_mode(model):
    rng, compared = random.Random(8), 0
    while compared < 100:
        program = random_program(rng)
        leaves = {name: round(rng.uniform(0.3, 1.7), 2) for name in "abc"}
        turn = rng.randrange(0, 360, 5)
        shown = model("dual-numbers", program=program, turn=turn, **leaves)
        if "error" in shown or derived(program, leaves) is None:
            continue
        compared += 1
        seeds = {leaf["name"]: leaf["seed"] for leaf in shown["leaves"]}
        with forward_ad.dual_level():
            names = functions()
            for name, value in leaves.items():
                names[name] = forward_ad.make_dual(
                    torch.tensor(value, dtype=torch.float64),
                    torch.tensor(seeds.get(name, 0.0), dtype=torch.float64))
            *lines, last = program.splitlines()
            exec("\n".join([*lines, f"result = {last}"]), names)
            tangent = forward_ad.unpack_dual(names["result"]).tangent
        expected = 0.0 if tangent is None else tangent.item()
        assert shown["tangents"][-1] == pytest.approx(expected, rel=1e-9, abs=1e-9), program


# --- hooks, recording -------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["".join(each) for each in
                                   random.Random(5).sample(list(permutations("TRPOLA")), 40)])
def test_hooks_run_in_the_order_that_is_shown(model, order):
    ran: list[str] = []
    x = torch.tensor(3.0, requires_grad=True)
    y = x * 2
    node = y.grad_fn

    def hook(letter):
        def run(*given):
            if y.retains_grad and y.grad is not None and "R" not in ran:
                ran.append("R")  # noticed by the first hook that runs after it
            ran.append(letter)
        return run

    register = {"T": lambda: y.register_hook(hook("T")), "R": y.retain_grad,
                "P": lambda: node.register_prehook(hook("P")),
                "O": lambda: node.register_hook(hook("O")),
                "L": lambda: x.register_hook(hook("L")),
                "A": lambda: x.register_post_accumulate_grad_hook(hook("A"))}
    for letter in order:
        register[letter]()
    y.backward()
    shown = model("hooks", order=order)
    assert shown["registered"] == list(order) and shown["runs"] == ran


@pytest.mark.parametrize("p", [True, False])
@pytest.mark.parametrize("q", [True, False])
@pytest.mark.parametrize("grad", [True, False])
@pytest.mark.parametrize("op", ["mul", "div", "add", "exp", "sin"])
def test_what_a_call_leaves_behind(model, op, p, q, grad):
    shown = model("recording", op=op, p=p, q=q, grad=grad)
    leaves = {name: torch.tensor(value, requires_grad=wanted)
              for name, value, wanted in (("p", 2.0, p), ("q", 3.0, q))}
    with torch.set_grad_enabled(grad):
        result = {"mul": lambda p, q: p * q, "div": lambda p, q: p / q, "add": lambda p, q: p + q,
                  "exp": lambda p, q: p.exp(), "sin": lambda p, q: p.sin()}[op](**leaves)
    node = result.grad_fn
    assert shown["recorded"] == (node is not None)
    if node is None:
        return
    assert shown["node"] == node.name()
    assert shown["edges"] == [target is not None for target, _ in node.next_functions]
    saved = {"self": "p", "other": "q", "result": "result"}
    found = {saved[name.removeprefix("_saved_")] for name in dir(node)
             if name.startswith("_saved_") and getattr(node, name) is not None
             and name.removeprefix("_saved_") in saved}
    assert set(shown["saved"]) == found


# --- flame graph ------------------------------------------------------------------------------


def ends(rows: list[tuple[int, str, int]], place: int) -> int:
    """Return the first row after one that does not lie on it."""
    after = [i for i in range(place + 1, len(rows)) if rows[i][0] <= rows[place][0]]
    return after[0] if after else len(rows)


def test_a_profile_has_the_times_of_the_profiler(model):
    rng = random.Random(11)
    for _ in range(60):
        depth, lines, rows = 0, [], []
        for _ in range(rng.randint(1, 20)):
            depth = rng.randint(0, depth + 1) if lines else 0
            rows.append((depth, rng.choice("abcd"), rng.randint(0, 9)))
            lines.append(f"{'  ' * depth}{rows[-1][1]} {rows[-1][2]}")
        shown = model("flame", profile="\n".join(lines))

        # an event ends when all that lie on it are over, and its own time too
        totals = [sum(own for _, _, own in rows[i:ends(rows, i)]) for i in range(len(rows))]
        events = EventList([FunctionEvent(i, name, 1, each["start"], each["start"] + totals[i])
                            for i, ((_, name, _), each) in enumerate(zip(rows, shown["rows"],
                                                                         strict=True))])
        assert [each["total"] for each in shown["rows"]] == totals
        assert [each["self"] for each in shown["rows"]] == [own for _, _, own in rows]
        for average in events.key_averages():
            summed = shown["names"][average.key]
            assert summed["count"] == average.count
            assert summed["total"] == average.cpu_time_total


def test_an_event_that_lies_on_nothing_is_refused(model):
    assert "lies on nothing" in model("flame", profile="a 1\n    b 2")["error"]
    assert "a name and a time" in model("flame", profile="a b")["error"]
    assert "one event a line" in model("flame", profile=" ")["error"]


# --- anomaly ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("program", "leaves"), [
    ("s = sqrt(w)\ns * k", {"w": 0, "k": 0}), ("log(a - b) * k", {"a": 1, "b": 1, "k": 0}),
    ("r = a / b\nr + a", {"a": 0, "b": 0}), ("sqrt(a * b)", {"a": 0, "b": 0}),
    ("a**0.5 * b", {"a": 0, "b": 0}), ("tanh(a) / b * a", {"a": 0, "b": 0}),
    ("sqrt(relu(a - b)) * b", {"a": 0, "b": 0}), ("log(-a) * b", {"a": 0, "b": 0}),
    ("sqrt(w + 0.001) * k", {"w": 0, "k": 0}), ("exp(a) * b", {"a": 2, "b": 3}),
])
def test_the_node_that_returns_nan_is_the_one_that_anomaly_mode_names(model, program, leaves):
    shown = model("anomaly", program=program, **leaves)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns that it is slow, and where the node was made
        with torch.autograd.detect_anomaly():
            _compare(shown, *computed(program, leaves))


def _compare(shown, result, given):
    if shown["culprit"] is None:
        result.backward()
        assert all(np.isfinite(leaf.grad.item()) for leaf in given.values()
                   if leaf.grad is not None)
        return
    with pytest.raises(RuntimeError) as error:
        result.backward()
    node = shown["nodes"][shown["culprit"]["node"]]
    place = shown["edges"][shown["culprit"]["edge"]]["place"]
    name = {"**": "Pow", "*": "Mul", "/": "Div"}.get(node["op"], node["op"].capitalize())
    assert re.match(rf"Function '{name}Backward\d?' returned nan values in its {place}th output",
                    str(error.value))


# --- grad modes -------------------------------------------------------------------------------


@pytest.mark.parametrize("outer", ["none", "no_grad", "enable_grad", "inference"])
@pytest.mark.parametrize("inner", ["none", "no_grad", "enable_grad", "inference"])
@pytest.mark.parametrize("wanted", [True, False])
def test_a_mode_inside_a_mode(model, outer, inner, wanted):
    modes = {"none": nullcontext, "no_grad": torch.no_grad, "enable_grad": torch.enable_grad,
             "inference": torch.inference_mode}
    x = torch.ones(2, requires_grad=wanted)

    def found():
        y = x * 2
        return {"grad": torch.is_grad_enabled(), "inference": torch.is_inference_mode_enabled(),
                "requires_grad": y.requires_grad, "is_leaf": y.is_leaf,
                "is_inference": y.is_inference()}

    shown = model("modes", outer=outer, inner=inner, x=wanted)
    assert shown["before"] == found()
    with modes[outer]():
        assert shown["outer"] == found()
        with modes[inner]():
            assert shown["inner"] == found()
