"""Watchers of ops nest: profiler, autocast, forward mode, derivatives, batches and anomaly mode.

Each pair runs both ways round on PyTorch and here, on programs that reach different parts of the
package.  See NOTE [Interceptors] in minigrad/_state.py.  A CUDA graph is not among them: its
capture records the work of a stream, and no op knows of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import minigrad
import minigrad.func
from minigrad import _state
from minigrad.amp.casts import Casts
from minigrad.autograd.forward_ad.tangents import TangentLevel
from minigrad.autograd.profiler.recorder import Recorder
from minigrad.batching import level_of
from tests.support.slow import slow_but_one_in

torch = pytest.importorskip("torch", reason="held beside PyTorch")
pytest.importorskip("torch.func", reason="compares with PyTorch")

pytestmark = pytest.mark.filterwarnings(
    "ignore:Anomaly Detection has been enabled",
    "ignore:`torch.jit.script:DeprecationWarning",  # PyTorch's own forward mode gives it
    "ignore:Profiler clears events at the end of each cycle")

Function = Callable[[Any], Any]
POINT = [0.5, -1.0, 2.0]


# ------------------------------------------------------------------ the programs: of a vector


def arithmetic(torch: Any) -> Function:
    weight = torch.tensor([[0.5, -0.25, 1.0], [0.125, 0.75, -0.5], [1.5, 0.25, -1.0]])
    return lambda x: (x * x.sin()) @ weight + x.exp()


def custom_function(torch: Any) -> Function:
    class Wave(torch.autograd.Function):  # type: ignore[misc, name-defined]  # a fixture
        generate_vmap_rule = True

        @staticmethod
        def forward(x: Any) -> Any:
            return x.sin() * x

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (x,) = ctx.saved_tensors
            return grad * (x.cos() * x + x.sin())

        @staticmethod
        def jvp(ctx: Any, tangent: Any) -> Any:
            (x,) = ctx.saved_tensors
            return tangent * (x.cos() * x + x.sin())

    return lambda x: Wave.apply(x).exp()


def in_place(torch: Any) -> Function:
    def run(x: Any) -> Any:
        y = x * 0.5
        y.mul_(x)
        y[0:2].add_(x[1:])
        y = y.clone()
        y[2] = x[0] * x[1]
        z = y * 0.5
        z.exp_()
        return z.sin() * x

    return run


def network(torch: Any) -> Function:
    weight = torch.tensor([[0.5, -0.25, 1.0], [0.125, 0.75, -0.5], [1.5, 0.25, -1.0]])

    def run(x: Any) -> Any:
        hidden = torch.nn.functional.linear(x, weight).tanh()
        parts = torch.stack([hidden.sum(), (hidden * hidden).mean(), hidden[0] * x[1]])
        return parts + torch.nn.functional.relu(x)

    return run


def partly_unrecorded(torch: Any) -> Function:
    def run(x: Any) -> Any:
        with torch.no_grad():
            factor = x.sin()
        return factor * x + x.detach() * x.exp()

    return run


def views(torch: Any) -> Function:
    def run(x: Any) -> Any:
        a, b, c = x.unbind(0)
        joined = torch.cat([torch.stack([a * b, c]), x[:1].cumsum(0)])
        return joined.view(3, 1).transpose(0, 1).expand(2, 3).sum(0)

    return run


PROGRAMS = {program.__name__: program for program in (
    arithmetic, custom_function, in_place, network, partly_unrecorded, views)}


# ------------------------------------------------------------------ the watchers
# Each makes a function of a vector from another one; `profiles` collects the names of events.


def profiler(torch: Any, f: Function, profiles: list[list[str]]) -> Function:
    def run(x: Any) -> Any:
        with torch.autograd.profiler.profile() as profile:
            y = f(x)
        profiles.append([event.name for event in profile.function_events])
        return y

    return run


def autocast(torch: Any, f: Function, profiles: list[list[str]]) -> Function:
    def run(x: Any) -> Any:
        with torch.autocast("cpu", dtype=torch.float16):
            return f(x)

    return run


def dual_level(torch: Any, f: Function, profiles: list[list[str]]) -> Function:
    forward_ad = torch.autograd.forward_ad

    def run(x: Any) -> Any:
        with forward_ad.dual_level():
            y, tangent = forward_ad.unpack_dual(f(forward_ad.make_dual(x, x.cos())))
            return y + tangent + tangent

    return run


def jvp(torch: Any, f: Function, profiles: list[list[str]]) -> Function:
    def run(x: Any) -> Any:
        y, tangent = torch.func.jvp(f, (x,), (x.cos(),))
        return y + tangent + tangent

    return run


def grad(torch: Any, f: Function, profiles: list[list[str]]) -> Function:
    return torch.func.grad(lambda x: f(x).sum())  # type: ignore[no-any-return]  # of a fixture


def vmap(torch: Any, f: Function, profiles: list[list[str]]) -> Function:
    return lambda x: torch.func.vmap(f)(torch.stack([x, x + x])).sum(0)


def anomaly(torch: Any, f: Function, profiles: list[list[str]]) -> Function:
    def run(x: Any) -> Any:
        with torch.autograd.detect_anomaly():
            return f(x)

    return run


WATCHERS = {watcher.__name__: watcher for watcher in (
    profiler, autocast, dual_level, jvp, grad, vmap, anomaly)}

#: Pairs, the outer one first, of which PyTorch makes nothing that can be compared; see their tests.
APART = {("profiler", "profiler"), ("vmap", "dual_level")}
PAIRS = [pair for pair in product(WATCHERS, repeat=2) if pair not in APART]


def outcome(torch: Any, program: str, names: tuple[str, ...]) -> tuple[list[Any], list[list[str]]]:
    """Run a program inside watchers, the outer one first; return results, and names of events.

    The results are dtype, value and gradient, or the class and text of the error.
    """
    profiles: list[list[str]] = []
    f = PROGRAMS[program](torch)
    for name in reversed(names):
        f = WATCHERS[name](torch, f, profiles)
    x = torch.tensor(POINT, requires_grad=True)
    try:
        y = f(x)
        if y.requires_grad:
            y.float().sum().backward()
    except RuntimeError as error:
        return [type(error), str(error)], profiles
    gradient = None if x.grad is None else x.grad.numpy()
    return [str(y.dtype), y.detach().float().numpy(), gradient], profiles


def compare(program: str, names: tuple[str, ...]) -> None:
    """Assert that watchers do here what they do in PyTorch."""
    (ours, _), (theirs, _) = outcome(minigrad, program, names), outcome(torch, program, names)
    assert len(ours) == len(theirs), f"{ours} instead of {theirs}"
    tolerance = 2e-2 if "autocast" in names else 2e-5
    for a, b in zip(ours, theirs, strict=True):
        if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
            np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)
        else:
            assert a == b


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("pair", slow_but_one_in(3, map(pytest.param, PAIRS)), ids="-".join)
def test_a_pair_nests_as_in_pytorch(pair, program):
    if (program, pair) == ("custom_function", ("jvp", "jvp")):
        return  # PyTorch loses the outer tangent of saved tensors; see the next test
    compare(program, pair)


def test_a_custom_function_has_second_tangents():
    # x sin(x) written with ops; as a Function with a `jvp`, PyTorch's result differs from it
    def composed(torch: Any) -> Function:
        return lambda x: (x.sin() * x).exp()

    results = []
    for torch_, program in ((minigrad, custom_function(minigrad)), (torch, composed(torch))):
        f = jvp(torch_, jvp(torch_, program, []), [])
        results.append(f(torch_.tensor(POINT)).numpy())
    np.testing.assert_allclose(*results, rtol=1e-5)


@pytest.mark.parametrize("names", [
    ("profiler", "autocast", "jvp"), ("autocast", "vmap", "jvp"), ("jvp", "vmap", "autocast"),
    ("vmap", "grad", "jvp"), ("jvp", "vmap", "grad"), ("grad", "jvp", "vmap"),
    ("dual_level", "vmap", "grad"), ("dual_level", "grad", "vmap"), ("anomaly", "vmap", "profiler"),
    ("vmap", "jvp", "vmap"), ("jvp", "grad", "profiler"), ("grad", "vmap", "vmap"),
], ids="-".join)
@pytest.mark.parametrize("program", ["arithmetic", "in_place", "views"])
def test_three_nest_as_in_pytorch(names, program):
    compare(program, names)


# ------------------------------------------------------------------ the pairs apart


def test_a_profiler_in_a_profiler_is_refused():
    # PyTorch goes on, and the outer profile is empty: that loses data without a word
    results, profiles = outcome(minigrad, "arithmetic", ("profiler", "profiler"))
    assert results == [RuntimeError, "Profiler is already enabled on this thread"]
    assert not profiles
    _, profiles = outcome(torch, "arithmetic", ("profiler", "profiler"))
    assert [bool(profile) for profile in profiles] == [True, False]


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_dual_level_in_vmap_computes_what_jvp_does(program):
    # PyTorch has no batching rule for `make_dual`
    assert outcome(torch, program, ("vmap", "dual_level"))[0][0] is RuntimeError
    ours, _ = outcome(minigrad, program, ("vmap", "dual_level"))
    theirs, _ = outcome(torch, program, ("vmap", "jvp"))
    assert ours[0] == theirs[0]
    for a, b in zip(ours[1:], theirs[1:], strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-5)


def test_the_dual_level_in_a_jvp_is_its_own():
    def run(torch: Any) -> list[Any]:
        forward_ad, x = torch.autograd.forward_ad, torch.tensor(POINT)
        seen = []

        def f(x: Any) -> Any:
            primal, tangent = forward_ad.unpack_dual(x)
            made = forward_ad.make_dual(torch.ones(3), torch.ones(3)) * 3
            seen.append((tangent is None, forward_ad.unpack_dual(made)[1] is None))
            with pytest.raises(RuntimeError, match=r"^Nested forward mode AD is not supported"):
                forward_ad.enter_dual_level()
            return primal * 2 + x

        results = torch.func.jvp(f, (x,), (torch.ones(3),))
        nested = torch.func.jvp(lambda y: torch.func.jvp(f, (y,), (y,))[1], (x,), (torch.ones(3),))
        with pytest.raises(RuntimeError, match=r"^Dual level must be a positive number"):
            forward_ad.exit_dual_level()
        with forward_ad.dual_level():  # and it is open no longer
            pass
        return [seen, *(t.tolist() for t in (*results, *nested))]

    assert run(minigrad) == run(torch)


@pytest.mark.parametrize("transform", ["jvp", "jacfwd", "hessian"])
def test_forward_transforms_are_refused_in_a_dual_level(transform):
    for torch_ in (minigrad, torch):
        x = torch_.tensor(POINT)
        run = {"jvp": lambda f, x=x, t=torch_: t.func.jvp(f, (x,), (x,)),
               "jacfwd": lambda f, x=x, t=torch_: t.func.jacfwd(f)(x),
               "hessian": lambda f, x=x, t=torch_: t.func.hessian(f)(x)}[transform]
        with (torch_.autograd.forward_ad.dual_level(),
              pytest.raises(RuntimeError, match=r"^Nested forward mode AD is not supported")):
            run(lambda x: x.sin().sum())


# ------------------------------------------------------------------ names of events


#: Ops of `arithmetic` and its derivatives that a profile of PyTorch names as one of here does.
SHOWN = {f"aten::{name}" for name in (
    "add", "cos", "exp", "matmul", "mm", "mul", "sin", "squeeze_", "stack", "sum", "t",
    "unsqueeze", "_to_copy")}


def shown(names: list[str]) -> set[str]:
    """Return the names of a profile that both libraries have; a node's number is cut off."""
    nodes = {re.sub(r"\d+$", "", name) for name in names if re.fullmatch(r"\w+Backward\d*", name)}
    return nodes | (set(names) & SHOWN)


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if "profiler" in pair], ids="-".join)
def test_a_profile_names_the_events_that_pytorch_names(pair):
    (_, ours), (_, theirs) = (outcome(t, "arithmetic", pair) for t in (minigrad, torch))
    assert len(ours) == len(theirs) == 1
    expected = shown(theirs[0])
    if "vmap" not in pair and "autocast" not in pair and pair[0] == "profiler":
        assert expected >= {"aten::mul", "aten::mm", "aten::sin"}
    assert shown(ours[0]) == expected


# ------------------------------------------------------------------ the stack itself


def test_no_interceptor_is_there_by_default():
    assert _state.interceptors() == () and not _state.observers.count


def test_the_profiler_comes_first_then_autocast_then_levels_from_the_innermost():
    fw = minigrad.autograd.forward_ad
    seen = []

    def note(x: Any) -> Any:
        seen.append(_state.interceptors())
        return x

    x = minigrad.tensor(POINT)
    with (fw.dual_level(), minigrad.autocast("cpu", dtype=minigrad.float16),
          minigrad.autograd.profiler.profile()):
        note(x)
    minigrad.func.jvp(lambda x: minigrad.func.jvp(note, (x,), (x,))[1], (x,), (x,))
    with minigrad.autograd.profiler.profile(), minigrad.autocast("cpu", dtype=minigrad.float16):
        minigrad.func.jvp(note, (x,), (x,))
    kinds = [[next(k for k in (Recorder, Casts, TangentLevel) if isinstance(each, k))
              for each in stack] for stack in seen]
    assert kinds == [[Recorder, Casts, TangentLevel], [TangentLevel, TangentLevel],
                     [Recorder, Casts, TangentLevel]]
    inner, outer = seen[1]
    assert inner.below is outer and outer.below is None
    assert _state.interceptors() == () and not _state.observers.count


def test_batches_are_entered_in_order_and_the_innermost_runs_first():
    levels = []

    def inner(x: Any) -> Any:
        levels.append((level_of(x), level_of(x._array.value)))
        return x * x

    def outer(x: Any) -> Any:
        levels.append(level_of(x))
        return minigrad.func.vmap(inner)(x)

    rows = minigrad.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert minigrad.func.vmap(outer)(rows).tolist() == [[1.0, 4.0], [9.0, 16.0]]
    first, (innermost, below) = levels
    assert innermost > first == below > 0
    assert not _state.observers.count  # a batch is seen by its array, not by an interceptor
