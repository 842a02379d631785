"""Module, container and hook programs: each is run with minigrad and with PyTorch.

A program returns plain values; what it warns of and what it raises is compared as well.
"""

from __future__ import annotations

import copy
import io
import pickle
import re
import warnings
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import pytest

import minigrad

Program = Callable[[Any], Any]
PROGRAMS: dict[str, Program] = {}


def program(run: Program) -> Program:
    PROGRAMS[run.__name__] = run
    return run


def result(package: Any, run: Program) -> Any:
    """Return what a program gives or raises, and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        package.manual_seed(0)
        try:
            value = plain(run(package))
        except Exception as error:
            value = type(error).__name__, neutral(str(error))
    # PyTorch warns of a cycle once in a process, which may have been in another test.
    return value, [(w.category.__name__, neutral(str(w.message))) for w in caught
                   if "create_graph=True will create a reference cycle" not in str(w.message)]


def neutral(text: str) -> str:
    """Leave out what names a package or a place in memory."""
    text = re.sub(r"0x[0-9a-f]+", "0x", text)
    text = re.sub(r" \(Triggered internally at .*", "", text)
    return re.sub(r"\b(?:minigrad|torch)(?:\.\w+)*\.(\w+)\b", r"\1", text)


def plain(value: Any) -> Any:
    if isinstance(value, type):
        return value.__name__
    if hasattr(value, "tolist"):
        return [str(value.dtype), rounded(value.tolist())]
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if value is None or isinstance(value, (bool, int, float)):
        return rounded(value)
    return neutral(value if isinstance(value, str) else repr(value))


def rounded(value: Any) -> Any:
    if isinstance(value, list):
        return [rounded(v) for v in value]
    return float(f"{value:.5g}") if isinstance(value, float) else value


def attempt(run: Callable[[], Any]) -> Any:
    try:
        return plain(run())
    except Exception as error:
        return type(error).__name__, neutral(str(error))


def net(t: Any) -> Any:
    """A module with all kinds of members."""

    class Net(t.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scale = t.nn.Parameter(t.ones(2))
            self.register_parameter("none", None)
            self.register_buffer("kept", t.zeros(3))
            self.register_buffer("passing", t.zeros(1, dtype=t.int64), persistent=False)
            self.register_buffer("later", None)
            self.first = t.nn.Linear(2, 2)
            self.rest = t.nn.Sequential(t.nn.Tanh(), t.nn.Linear(2, 2, bias=False))
            self.gone = None

        def forward(self, x: Any, factor: float = 1.0) -> Any:
            return self.rest(self.first(x * self.scale)) * factor

    return Net()


# -------------------------------------------------------------------- members


@program
def names_of_members(t: Any) -> Any:
    n = net(t)
    return [
        [[name for name, _ in method(*args)] for method in (
            n.named_parameters, n.named_buffers, n.named_modules) for args in ((), )],
        [name for name, _ in n.named_parameters("a", recurse=False)],
        [name for name, _ in n.named_modules(prefix="a")],
        [name for name in dir(n) if name in ("scale", "kept", "first", "rest", "later", "none")],
        len(list(n.children())), len(list(n.buffers())),
    ]


@program
def wrong_members(t: Any) -> Any:
    n = net(t)
    tries = [
        lambda: n.register_parameter("scale", 3), lambda: n.register_parameter("a.b", None),
        lambda: n.register_parameter("", None), lambda: n.register_parameter(3, None),
        lambda: n.register_parameter("training", None), lambda: n.register_parameter("kept", None),
        lambda: n.register_buffer("scale", None), lambda: n.register_buffer("x.y", None),
        lambda: n.register_buffer("", t.ones(1)), lambda: n.register_buffer("a", [1]),
        lambda: n.register_buffer(None, t.ones(1)), lambda: n.add_module("a.b", n.first),
        lambda: n.add_module("", n.first), lambda: n.add_module(1, n.first),
        lambda: n.add_module("a", t.ones(1)), lambda: n.add_module("forward", n.first),
        lambda: setattr(n, "scale", t.ones(2)), lambda: setattr(n, "scale", 1),
        lambda: setattr(n, "first", 1), lambda: setattr(n, "kept", 1),
        lambda: setattr(n, "none", t.ones(1)), lambda: n.nothing, lambda: delattr(n, "nothing"),
        lambda: n.get_submodule("rest.7"), lambda: n.get_submodule("scale"),
        lambda: n.get_parameter("rest.0.weight"), lambda: n.get_parameter("kept"),
        lambda: n.get_buffer("scale"), lambda: n.get_buffer("first.x"), lambda: n.train(1),
        lambda: n.set_submodule("", n.first), lambda: n.set_submodule("first", 3),
        lambda: n.set_submodule("scale", n.first), lambda: n.set_submodule("x.y", n.first),
        lambda: n.set_submodule("nothing", n.first, strict=True),
        lambda: n.register_parameter("new", t.nn.Parameter(t.ones(1)) * 2),
        lambda: t.nn.Module()(1), lambda: t.nn.Module(3), lambda: t.nn.Module(a=3),
        lambda: n.get_extra_state(), lambda: n.set_extra_state(1), lambda: n.to(t.int64),
    ]
    return [attempt(one) for one in tries]


@program
def members_too_early(t: Any) -> Any:
    class Early(t.nn.Module):
        def __init__(self, name: str, value: Any) -> None:
            setattr(self, name, value)

    class EarlyBuffer(t.nn.Module):
        def __init__(self) -> None:
            self.register_buffer("a", t.ones(1))

    return [attempt(lambda: Early("a", t.nn.Linear(1, 1))), attempt(EarlyBuffer),
            attempt(lambda: Early("a", t.nn.Parameter(t.ones(1)))),
            attempt(lambda: vars(Early("a", 3)))]


@program
def members_change_their_kind(t: Any) -> Any:
    n, seen = net(t), []

    def look() -> None:
        seen.append([[k for k, _ in n.named_parameters()], [k for k, _ in n.named_buffers()],
                     [k for k, _ in n.named_children()], list(n.state_dict())])

    n.kept = t.nn.Parameter(t.ones(1))
    look()
    n.scale = None
    n.first = None
    look()
    n.passing = t.ones(4)
    n.later = t.ones(2)
    look()
    n.rest = t.nn.Parameter(t.ones(1))
    del n.passing, n.later
    look()
    n.register_buffer("passing", t.ones(1))
    n.plain = t.ones(3)
    n.plain = t.nn.Linear(1, 1)
    look()
    n.set_submodule("plain", t.nn.ReLU())
    n.register_module("again", n.plain)
    look()
    n.buffer = t.nn.Buffer(t.ones(2))
    n.unsaved = t.nn.Buffer(t.ones(2), persistent=False)
    look()
    return [*seen, isinstance(n.buffer, t.nn.Buffer), isinstance(t.ones(2), t.nn.Buffer)]


@program
def shared_members(t: Any) -> Any:
    layer = t.nn.Linear(2, 2)
    n = t.nn.Sequential(layer, t.nn.Sequential(layer), layer)
    return [[[k for k, _ in method(remove_duplicate=flag)] for flag in (True, False)]
            for method in (n.named_parameters, n.named_modules, n.named_buffers)]


@program
def registration_hooks(t: Any) -> Any:
    seen: list[Any] = []
    m = t.nn.modules.module
    handles = [
        m.register_module_parameter_registration_hook(
            lambda module, name, p: seen.append(("parameter", name, list(p.shape)))),
        m.register_module_buffer_registration_hook(
            lambda module, name, b: seen.append(("buffer", name)) or b + 1),
        m.register_module_module_registration_hook(
            lambda module, name, part: seen.append(("module", name, type(part)))),
    ]
    try:
        n = net(t)
        seen.append(n.kept.tolist())
        n.first = None
        n.first = t.nn.Identity()
    finally:
        for handle in handles:
            handle.remove()
    net(t)
    return seen


# -------------------------------------------------------------------- changing all of it


@program
def casting(t: Any) -> Any:
    n = net(t)
    n(t.ones(1, 2)).sum().backward()
    before, grad = list(n.parameters()), n.scale.grad
    seen = []
    for change in (lambda: n.double(), lambda: n.half(), lambda: n.float(),
                   lambda: n.to(t.float64), lambda: n.to("cpu", t.float32), lambda: n.cpu(),
                   lambda: n.to(t.ones(1, dtype=t.float64)), lambda: n.to(dtype=t.float16),
                   lambda: n.to(device="cpu"), lambda: n.type(t.float64),
                   lambda: n.to_empty(device="cpu")):
        assert change() is n
        seen.append([str(x.dtype) for x in (n.scale, n.scale.grad, n.kept, n.passing)])
    same = all(a is b for a, b in zip(before, n.parameters(), strict=True))
    return [*seen, same, grad is n.scale.grad, n.scale.requires_grad]


@program
def training_and_gradients(t: Any) -> Any:
    n = net(t)
    seen: list[Any] = []
    n.apply(lambda m: seen.append(type(m).__name__))
    n.eval()
    seen.append([m.training for m in n.modules()])
    n.rest.train()
    seen.append([m.training for m in n.modules()])
    n(t.ones(1, 2)).sum().backward(create_graph=True)
    n.zero_grad(set_to_none=False)
    seen.append([p.grad for p in n.parameters()])
    n.zero_grad()
    seen.append([p.grad is None for p in n.parameters()])
    n.requires_grad_(False)
    seen.append([p.requires_grad for p in n.parameters()])
    return seen


@program
def copies(t: Any) -> Any:
    t.manual_seed(1)
    n = t.nn.Sequential(t.nn.Linear(2, 2), t.nn.BatchNorm1d(2))
    n.register_forward_hook(len_of_output)
    n(t.rand(4, 2)).sum().backward()
    kept = io.BytesIO()
    pickle.dump(n, kept)
    kept.seek(0)
    return [[twin.state_dict(), len(twin._forward_hooks), twin(t.ones(4, 2)),
             [p.grad is not None for p in twin.parameters()][:1]]
            for twin in (copy.deepcopy(n), pickle.load(kept), copy.copy(n))][:1]


def len_of_output(module: Any, args: Any, output: Any) -> Any:
    return output + len(output)


@program
def super_init(t: Any) -> Any:
    class Mixin:
        def __init__(self, extra: int) -> None:
            self.extra = extra

    class Both(t.nn.Module, Mixin):
        call_super_init = True

    return Both(7).extra


# -------------------------------------------------------------------- printing


@program
def printing(t: Any) -> Any:
    class Long(t.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.part = t.nn.ReLU()

        def extra_repr(self) -> str:
            return "one\ntwo"

    class Own(t.nn.Module):
        def extra_repr(self) -> str:
            return "one\ntwo"

    return [repr(net(t)), repr(t.nn.Sequential(Long(), Own(), t.nn.Module())),
            repr(t.nn.ModuleList([t.nn.Sequential(t.nn.Linear(1, 1)) for _ in range(3)])),
            repr(t.nn.ModuleDict({"a": t.nn.ReLU()})), repr(t.nn.ModuleList()),
            repr(t.nn.ParameterList([t.ones(2), 3, t.nn.Parameter(t.ones(2, 3))])),
            repr(t.nn.ParameterDict({"a": t.ones(2), "b": 3}))]


# -------------------------------------------------------------------- hooks of forward


@program
def order_of_forward_hooks(t: Any) -> Any:
    seen: list[Any] = []

    class Sum(t.nn.Module):
        def forward(self, x: Any, *, factor: float = 1.0) -> Any:
            seen.append("forward")
            return x * factor

    layer = Sum()
    m = t.nn.modules.module

    def note(name: str, value: Any = None) -> Any:
        return lambda *given: (seen.append((name, len(given))), value)[1]

    handles = [
        layer.register_forward_pre_hook(note("second")),
        layer.register_forward_pre_hook(note("first"), prepend=True),
        layer.register_forward_pre_hook(lambda mod, args: args[0] + 1),
        layer.register_forward_pre_hook(
            lambda mod, args, kwargs: ((args[0],), {"factor": kwargs["factor"] * 2}),
            with_kwargs=True),
        layer.register_forward_hook(note("after")),
        layer.register_forward_hook(note("before that"), prepend=True),
        layer.register_forward_hook(note("with kwargs"), with_kwargs=True),
        layer.register_forward_hook(lambda mod, args, out: out + 100),
        layer.register_forward_hook(note("always"), always_call=True, with_kwargs=True),
        m.register_module_forward_pre_hook(note("global")),
        m.register_module_forward_hook(note("global after"), with_kwargs=True),
    ]
    seen.append(layer(t.ones(1), factor=3.0))
    seen.append([len(layer._forward_hooks), len(layer._forward_pre_hooks_with_kwargs),
                 len(layer._forward_hooks_always_called)])
    for handle in handles:
        handle.remove()
    seen.append(layer(t.ones(1), factor=3.0))
    seen.append([len(layer._forward_hooks), len(layer._forward_pre_hooks_with_kwargs),
                 len(layer._forward_hooks_always_called)])
    return seen


@program
def wrong_pre_hook(t: Any) -> Any:
    layer = t.nn.ReLU()
    layer.register_forward_pre_hook(lambda m, args, kwargs: 3, with_kwargs=True)
    return layer(t.ones(1))


@program
def hooks_after_errors(t: Any) -> Any:
    seen: list[Any] = []

    def broken(*given: Any) -> None:
        raise ValueError("broken")

    layer = t.nn.Linear(2, 2)
    layer.register_forward_hook(lambda m, args, out: seen.append(("plain", out)))
    layer.register_forward_hook(lambda m, args, out: seen.append(("always", out)),
                                always_call=True)
    layer.register_forward_hook(broken, always_call=True)
    handle = t.nn.modules.module.register_module_forward_hook(
        lambda m, args, out: seen.append("global"), always_call=True)
    try:
        layer(None)
    except Exception:
        seen.append("error")
    finally:
        handle.remove()
    return seen


@program
def an_error_of_a_hook(t: Any) -> Any:
    seen: list[Any] = []

    def broken(*given: Any) -> None:
        raise ValueError("broken")

    layer = t.nn.ReLU()
    layer.register_forward_hook(lambda m, args, out: seen.append("ran"), always_call=True)
    layer.register_forward_hook(broken)
    layer.register_forward_hook(lambda m, args, out: seen.append("too"), always_call=True)
    return [attempt(lambda: layer(t.ones(1))), seen]


# -------------------------------------------------------------------- hooks of backward


def backward(t: Any, layer: Any, *args: Any) -> Any:
    out = layer(*args)
    outs = out if isinstance(out, tuple) else (out,)
    sum((o * (i + 1)).sum() for i, o in enumerate(outs)).backward()
    return [a.grad for a in args if isinstance(a, t.Tensor)]


@program
def an_output_that_is_not_used(t: Any) -> Any:
    class Two(t.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = t.nn.Parameter(t.ones(2))

        def forward(self, a: Any) -> Any:
            return a * self.weight, a * 2

    found = []
    for register in ("register_full_backward_hook", "register_full_backward_pre_hook"):
        layer, x = Two(), t.ones(2, requires_grad=True)
        getattr(layer, register)(lambda m, *grads: found.append(grads))
        layer(x)[1].sum().backward()
        found.append((layer.weight.grad, x.grad))
    return found


@program
def a_hook_that_is_taken_away_by_another(t: Any) -> Any:
    seen: list[str] = []
    layer = t.nn.Identity()
    handle = layer.register_forward_hook(
        lambda m, args, kwargs, out: seen.append("after"), with_kwargs=True, always_call=True)
    layer.register_forward_pre_hook(lambda m, args: handle.remove())
    layer(t.ones(2))
    return seen


@program
def full_backward_hooks(t: Any) -> Any:
    seen: list[Any] = []

    class Swap(t.nn.Module):
        def forward(self, a: Any, b: Any, c: Any) -> Any:
            return b * 3, a * a

    layer = Swap()
    layer.register_full_backward_hook(lambda m, gi, go: seen.append(("one", gi, go)))
    layer.register_full_backward_hook(
        lambda m, gi, go: (gi[0] * 2, *gi[1:]), prepend=True)
    layer.register_full_backward_pre_hook(lambda m, go: (go[0] + 1, go[1]))
    layer.register_full_backward_pre_hook(lambda m, go: seen.append(("pre", go)), prepend=True)
    m = t.nn.modules.module
    handles = [
        m.register_module_full_backward_hook(lambda m, gi, go: seen.append(("all", gi))),
        m.register_module_full_backward_pre_hook(lambda m, go: seen.append(("all pre", go))),
    ]
    try:
        grads = backward(t, layer, t.ones(2, requires_grad=True), t.ones(2, requires_grad=True), 3)
    finally:
        for handle in handles:
            handle.remove()
    return [seen, grads]


@program
def wrong_backward_hooks(t: Any) -> Any:
    def tried(register: str, hook: Any, x: Any) -> Any:
        layer = t.nn.Linear(1, 1)
        getattr(layer, register)(hook)
        return attempt(lambda: layer(x).sum().backward())

    x = t.ones(1, 1, requires_grad=True)
    return [
        tried("register_full_backward_hook", lambda m, gi, go: (gi[0], gi[0]), x),
        tried("register_full_backward_pre_hook", lambda m, go: (go[0], go[0]), x),
        tried("register_full_backward_hook", lambda m, gi, go: (go[0],), t.ones(1, 1)),
        tried("register_full_backward_hook", lambda m, gi, go: (None,), t.ones(1, 1)),
    ]


@program
def outputs_that_hooks_cannot_see(t: Any) -> Any:
    class Dict(t.nn.Module):
        def forward(self, x: Any) -> Any:
            return {"a": x * 2}

    layer = Dict()
    layer.register_full_backward_hook(lambda m, gi, go: None)
    x = t.ones(1, requires_grad=True)
    layer(x)["a"].sum().backward()
    return x.grad


@program
def hooks_of_the_older_kind(t: Any) -> Any:
    seen: list[Any] = []

    class Several(t.nn.Module):
        def __init__(self, kind: str) -> None:
            super().__init__()
            self.kind = kind

        def forward(self, x: Any, y: Any = None) -> Any:
            return {"one": lambda: x * 2, "chain": lambda: (x * 2).exp(),
                    "two": lambda: (x * 2, x + 1), "list": lambda: [x * 2],
                    "dict": lambda: {"n": 1, "x": x * 2}, "nested": lambda: ((x * 2,),),
                    "none": lambda: x.detach()}[self.kind]()

    for kind in ("one", "chain", "two", "list", "dict", "nested", "none"):
        layer = Several(kind)
        layer.register_backward_hook(
            lambda m, gi, go: seen.append((m.kind, len(gi), len(go), go[0])))
        x = t.ones(2, requires_grad=True) + 0
        out = layer(x)
        while not isinstance(out, t.Tensor):
            out = out["x"] if isinstance(out, dict) else out[0]
        if out.requires_grad:
            out.sum().backward()
    layer = Several("one")
    layer.register_backward_hook(lambda m, gi, go: None)
    layer(t.ones(1, requires_grad=True) * 1, 3)
    return seen


@program
def both_kinds_of_backward_hooks(t: Any) -> Any:
    one, two = t.nn.ReLU(), t.nn.ReLU()
    one.register_backward_hook(len_of_output)
    two.register_full_backward_hook(len_of_output)
    return [attempt(lambda: one.register_full_backward_hook(len_of_output)),
            attempt(lambda: two.register_backward_hook(len_of_output))]


# -------------------------------------------------------------------- state


@program
def states(t: Any) -> Any:
    n = net(t)
    state = n.state_dict()
    other = OrderedDict()
    n.state_dict(destination=other, prefix="a.")
    return [list(state), state._metadata, list(other), n.state_dict(keep_vars=True)["scale"]
            is n.scale, state["scale"].requires_grad, list(n.state_dict(OrderedDict(), "b.")),
            list(t.nn.BatchNorm1d(2).state_dict()._metadata.values())]


@program
def states_that_do_not_fit(t: Any) -> Any:
    class Extra(t.nn.Linear):
        def get_extra_state(self) -> Any:
            return 3

        def set_extra_state(self, state: Any) -> None:
            self.extra = state

    linear = t.nn.Linear(2, 2)
    whole = dict(linear.state_dict())
    tries = [
        lambda: linear.load_state_dict({}), lambda: linear.load_state_dict([]),
        lambda: linear.load_state_dict({**whole, "a": t.ones(1), "b.c": t.ones(1)}),
        lambda: linear.load_state_dict({"weight": t.ones(3), "bias": 3}),
        lambda: linear.load_state_dict({"weight": t.ones(2, 2)}, strict=False),
        lambda: net(t).load_state_dict({"rest.1.weight": t.ones(1), "rest.x": t.ones(1)}),
        lambda: Extra(2, 2).load_state_dict(whole),
        lambda: linear.load_state_dict({**whole, "_extra_state": 1}),
        lambda: t.nn.BatchNorm1d(2).load_state_dict(
            {k: v for k, v in t.nn.BatchNorm1d(2).state_dict().items() if "num" not in k}),
        lambda: t.nn.Sequential(linear).load_state_dict({"0.weight": t.ones(2, 2)}, strict=False),
    ]
    return [attempt(lambda one=one: str(one())) for one in tries]


@program
def extra_state(t: Any) -> Any:
    class Counting(t.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.count = 0
            self.weight = t.nn.Parameter(t.zeros(()))

        def get_extra_state(self) -> Any:
            return {"count": self.count}

        def set_extra_state(self, state: Any) -> None:
            self.count = state["count"]

    one, two = (t.nn.ModuleDict({"a": Counting()}) for _ in range(2))
    one["a"].count = 5
    state = one.state_dict()
    state["a.weight"] = t.ones(1)  # older scalars had one dimension
    return [list(state), str(two.load_state_dict(state)), two["a"].count, two["a"].weight]


@program
def assigning_a_state(t: Any) -> Any:
    n = t.nn.Linear(2, 2)
    n.bias.requires_grad_(False)
    state = {"weight": t.ones(2, 2, dtype=t.float64), "bias": t.nn.Parameter(t.ones(2))}
    n.load_state_dict(state, assign=True)
    return [n.weight, n.bias, n.weight.data_ptr() == state["weight"].data_ptr(),
            n.bias is state["bias"], n.weight.requires_grad, n.bias.requires_grad, type(n.weight)]


@program
def state_hooks(t: Any) -> Any:
    seen: list[Any] = []
    n = net(t)
    n.register_state_dict_pre_hook(lambda m, prefix, keep: seen.append(("pre", prefix, keep)))
    n.rest.register_state_dict_post_hook(
        lambda m, state, prefix, meta: seen.append(("post", prefix, len(state), meta)))
    n._register_state_dict_hook(lambda m, state, prefix, meta: {k + "!": v
                                                               for k, v in state.items()})
    n.first.register_load_state_dict_pre_hook(
        lambda m, state, prefix, *rest: seen.append((type(m), prefix, list(state), len(rest))))
    n.first._register_load_state_dict_pre_hook(
        lambda state, prefix, *rest: seen.append(("without", prefix)))
    n.register_load_state_dict_post_hook(lambda m, keys: keys.missing_keys.clear())
    seen.append(list(n.state_dict()))
    seen.append(str(n.load_state_dict({"scale": t.ones(2)})))
    wrong = t.nn.Linear(1, 1)
    wrong.register_state_dict_post_hook(lambda m, state, prefix, meta: state)
    seen.append(attempt(wrong.state_dict))
    wrong = t.nn.Linear(1, 1)
    wrong.register_load_state_dict_post_hook(lambda m, keys: 3)
    seen.append(attempt(lambda: wrong.load_state_dict(dict(wrong.named_parameters()))))
    return seen


@program
def own_ways_to_save_and_load(t: Any) -> Any:
    class Own(t.nn.Linear):
        def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
            super()._save_to_state_dict(destination, prefix, keep_vars)
            destination[prefix + "w"] = destination.pop(prefix + "weight")

        def _load_from_state_dict(self, state: Any, prefix: str, *rest: Any) -> None:
            state[prefix + "weight"] = state.pop(prefix + "w")
            super()._load_from_state_dict(state, prefix, *rest)

    one, two = (t.nn.Sequential(Own(1, 1, bias=False)) for _ in range(2))
    one[0].weight.data.fill_(7)
    return [list(one.state_dict()), attempt(lambda: str(two.load_state_dict(one.state_dict()))),
            two[0].weight]


# -------------------------------------------------------------------- containers


@program
def sequentials(t: Any) -> Any:
    nn = t.nn
    row = nn.Sequential(nn.ReLU(), nn.Tanh(), nn.Sigmoid())
    named = nn.Sequential(OrderedDict(a=nn.ReLU(), b=nn.Tanh()))
    seen = [repr(row[1:]), repr(row[-1]), repr(named[:1]), repr(row + named), repr(row * 2),
            repr(2 * row), len(row)]
    row[1] = nn.ELU()
    del row[0]
    seen.append(repr(row))
    del row[-1:]
    seen.append(repr(row))
    row.append(nn.ReLU()).insert(0, nn.Tanh()).extend([nn.GELU()])
    seen += [repr(row), repr(row.pop(1)), repr(row)]
    row += nn.Sequential(nn.ELU())
    row *= 2
    seen.append(repr(row))
    tries = [
        lambda: row[99], lambda: row["a"], lambda: row + 3, lambda: row * 0, lambda: row * 1.5,
        lambda: row.insert(99, nn.ReLU()), lambda: row.insert(0, 3), lambda: row.append(3),
        lambda: nn.Sequential(3), lambda: row.extend(3), lambda: row.__iadd__(3),
        lambda: row.__imul__(-1), lambda: nn.Sequential(OrderedDict({"a.b": nn.ReLU()})),
        lambda: nn.Sequential()(5), lambda: row.insert(-1, nn.ReLU()),
    ]
    return [*seen, *map(attempt, tries)]


@program
def module_lists(t: Any) -> Any:
    nn = t.nn
    row = nn.ModuleList([nn.ReLU(), nn.Tanh()])
    row += [nn.ELU()]
    seen = [repr(row), repr(row + nn.ModuleList([nn.GELU()])), repr(row[1:]), repr(row[-1]),
            [type(m) for m in reversed(list(row))]]
    row[0] = nn.Sigmoid()
    row.insert(1, nn.ReLU())
    del row[-1]
    del row[0:1]
    seen += [repr(row), repr(row.pop(0)), repr(row), row.extend([nn.ReLU()]) is row,
             [name for name in dir(row) if name.isdigit()]]
    tries = [
        lambda: row[9], lambda: row[1.5], lambda: row.extend(3), lambda: row(1),
        lambda: row.append(3), lambda: nn.ModuleList([3]),
        lambda: row.__setitem__(9, nn.ReLU()), lambda: nn.ModuleList(nn.ReLU()),
    ]
    return [*seen, *map(attempt, tries)]


@program
def module_dicts(t: Any) -> Any:
    nn = t.nn
    named = nn.ModuleDict({"b": nn.ReLU(), "a": nn.Tanh()})
    named.update([("c", nn.ELU()), ["d", nn.GELU()]])
    named.update(nn.ModuleDict({"e": nn.ReLU()}))
    named["b"] = nn.Sigmoid()
    seen = [repr(named), list(named), list(named.keys()), [type(m) for m in named.values()],
            "a" in named, len(named), repr(named.pop("a")), [k for k, _ in named.items()],
            repr(nn.ModuleDict(OrderedDict(z=nn.ReLU(), y=nn.ReLU())))]
    del named["c"]
    seen.append(repr(named))
    named.clear()
    seen.append(len(named))
    tries = [
        lambda: named["x"], lambda: named.update(3), lambda: named.update([3]),
        lambda: named.update([("a", nn.ReLU(), 3)]), lambda: named.__setitem__("training", 3),
        lambda: named.__setitem__("a", 3), lambda: named.__setitem__(3, nn.ReLU()),
        lambda: named.__delitem__("x"), lambda: named.pop("x"), lambda: nn.ModuleDict(3),
        lambda: named.__setitem__("training", nn.ReLU()), lambda: named(1),
    ]
    return [*seen, *map(attempt, tries)]


@program
def parameter_lists(t: Any) -> Any:
    nn = t.nn
    row = nn.ParameterList([t.ones(2), nn.Parameter(t.zeros(1)), 7])
    row += [t.ones(1)]
    row.append(t.zeros(3)).extend(nn.ParameterList([t.ones(4)]))
    seen = [repr(row), len(row), [type(v) for v in row], [k for k, _ in row.named_parameters()],
            row[-1], row[2], repr(row[1:3]), [n for n in dir(row) if n.isdigit()],
            list(row.state_dict())]
    row[0] = t.zeros(2)
    row[2] = "text"
    seen += [row[0], repr(row)]
    seen.append(repr(row.pop(1)) if hasattr(row, "pop") else "none")
    tries = [
        lambda: row[99], lambda: row.__setitem__(99, 1), lambda: row.extend(3), lambda: row(1),
        lambda: row.extend(t.ones(2)), lambda: row[1.5],
    ]
    return [*seen, *map(attempt, tries)]


@program
def parameter_dicts(t: Any) -> Any:
    nn = t.nn
    named = nn.ParameterDict({"b": t.ones(2), "a": nn.Parameter(t.zeros(1)), "c": 3})
    named.update([("d", t.ones(3)), ("e", "text")])
    named["f"] = t.zeros(1)
    seen = [repr(named), list(named), [type(v) for v in named.values()], len(named), "a" in named,
            [k for k, _ in named.named_parameters()], named.get("x"), named.get("x", 5),
            named.setdefault("g", t.ones(1)), named.setdefault("c"), list(reversed(named)),
            list(named.copy()), list(named | {"h": 1}), list({"h": 1} | named),
            list(nn.ParameterDict().fromkeys(["x", "y"], 1)), named.pop("b"), named.popitem()[0],
            list(named.keys()), [k for k, _ in named.items()]]
    named |= {"z": 1}
    del named["a"]
    seen += [list(named), list(nn.ParameterDict(nn.ParameterDict({"q": 1})))]
    named.clear()
    seen.append(len(named))
    tries = [
        lambda: named["x"], lambda: named.update(3), lambda: named.update([3]),
        lambda: named.update([(1, 2, 3)]), lambda: named.__setitem__(3, 1),
        lambda: named.__delitem__("x"), lambda: named.pop("x"), lambda: named(1),
        lambda: nn.ParameterDict(5),
    ]
    return [*seen, *map(attempt, tries)]


# -------------------------------------------------------------------- where things are found


@program
def import_paths(t: Any) -> Any:
    m = t.nn.modules
    return [m.module.Module is t.nn.Module, m.container.Sequential is t.nn.Sequential,
            m.linear.Linear is t.nn.Linear, m.conv.Conv2d is t.nn.Conv2d, m.Linear is t.nn.Linear,
            m.batchnorm.BatchNorm1d is t.nn.BatchNorm1d, m.activation.ReLU is t.nn.ReLU,
            m.loss.MSELoss is t.nn.MSELoss, m.dropout.Dropout is t.nn.Dropout,
            m.pooling.MaxPool2d is t.nn.MaxPool2d, m.sparse.Embedding is t.nn.Embedding,
            m.flatten.Flatten is t.nn.Flatten, m.normalization.LayerNorm is t.nn.LayerNorm,
            m.batchnorm._BatchNorm.__name__, m.loss._Loss.__name__, m.utils._pair(3),
            m.utils._single(3), m.utils._triple((1, 2, 3)), m.utils._quadruple(1),
            m.utils._ntuple(2)([5, 6]), t.nn.parameter.Parameter is t.nn.Parameter]


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_do_what_they_do_in_pytorch(name: str) -> None:
    torch = pytest.importorskip("torch", reason="parity needs PyTorch")
    ours, theirs = result(minigrad, PROGRAMS[name]), result(torch, PROGRAMS[name])
    if isinstance(theirs[0], list) and isinstance(ours[0], list):
        for place, (mine, other) in enumerate(zip(ours[0], theirs[0], strict=True)):
            assert mine == other, place
    assert ours == theirs


def test_unsupported_methods_of_modules_raise() -> None:
    layer = minigrad.nn.Linear(1, 1)
    assert layer.compile() is None
    with pytest.raises(NotImplementedError, match="share_memory is not supported"):
        layer.share_memory()
    with pytest.raises(NotImplementedError, match="bfloat16 is not supported"):
        layer.bfloat16()


def test_modules_are_found_by_import() -> None:
    from minigrad.nn.modules.module import Module
    from minigrad.nn.modules.utils import _pair

    assert Module is minigrad.nn.Module
    assert _pair([1, 2]) == (1, 2)
