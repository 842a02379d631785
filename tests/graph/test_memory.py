"""What a graph costs, and that reference counting alone frees it."""

from __future__ import annotations

import gc
import os
import sys
import tracemalloc
import weakref

import pytest

import minigrad as torch
from minigrad.autograd import Function
from tests.support.slow import slow_but

STEPS = int(os.environ.get("MINIGRAD_STEPS", "250"))


@pytest.fixture
def no_collector():
    """Switch the garbage collector off; objects that exist already stay out of its sight."""
    gc.collect()
    gc.freeze()
    gc.disable()
    yield
    gc.enable()


def leaf(*values):
    return torch.tensor(values if len(values) > 1 else values[0], requires_grad=True)


# --- Long chains ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_million_additions():
    x, y = leaf(0.0), leaf(1.0)
    value = x
    for _ in range(10**6):
        value = value + y
    assert value.item() == 10.0**6
    value.backward()
    assert (x.grad.item(), y.grad.item()) == (1.0, 10.0**6)
    last = weakref.ref(value.grad_fn)
    del value
    assert last() is None


STEPS_OF_A_CHAIN = {
    "mul": (lambda v, y: v * y, 1.0),
    "neg": (lambda v, y: -v, 1.0),
    "exp": (lambda v, y: (v - v).exp(), 0.0),
    "view": (lambda v, y: v.view(1).view(()), 1.0),
    "inplace": (lambda v, y: (v * 1 if v.is_leaf else v).mul_(y), 1.0),
    "function": (lambda v, y: Scaled.apply(v, 1.0), 1.0),
}


@pytest.mark.parametrize("name", slow_but(1, STEPS_OF_A_CHAIN))
def test_other_long_chains(name):
    step, expected = STEPS_OF_A_CHAIN[name]
    x, y = leaf(1.0), leaf(1.0)
    value = x
    for _ in range(50_000):
        value = step(value, y)
    value.backward()
    assert x.grad.item() == expected


@pytest.mark.slow
def test_a_long_chain_released_unused():
    x = leaf(1.0)
    value = x
    for _ in range(200_000):
        value = value * x
    del value


@pytest.mark.slow
def test_a_long_chain_differentiated_twice():
    x = leaf(1.0)
    value = x
    for _ in range(20_000):
        value = value * 1 + 0
    (slope,) = torch.autograd.grad(value * x, x, create_graph=True)
    assert torch.autograd.grad(slope, x)[0].item() == 2.0


def test_grad_walks_long_chains_too():
    x = leaf(1.0)
    value = x
    for _ in range(100_000):
        value = value + x
    (found,) = torch.autograd.grad(value, x)
    assert found.item() == 100_001.0


def test_bytes_per_node():
    count = 20_000
    y = leaf(1.0)
    value = y + y
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(count):
            value = value + y
        per_node = (tracemalloc.get_traced_memory()[0] - before) / count
    finally:
        tracemalloc.stop()
    assert per_node < 400


# --- A thousand steps without the collector ------------------------------------------------------


class Scaled(Function):
    """A Function with an attribute, saving nothing."""

    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx, g):
        return g * ctx.factor, None


class Exp(Function):
    """A Function that saves its own output."""

    @staticmethod
    def forward(ctx, x):
        result = x.exp()
        ctx.save_for_backward(result, x, result * 2)
        return result

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0]


class Doubled(Function):
    """A Function that writes to its input."""

    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx, g):
        return g * 2


class Alias(Function):
    """A Function that returns its input."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x

    @staticmethod
    def backward(ctx, g):
        return g


class Failing(Function):
    """A Function whose backward raises."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 1

    @staticmethod
    def backward(ctx, g):
        raise KeyError("stop")


def plain(w, x):
    ((w * x).exp() + x / (w * w + 3)).sum().backward()
    with torch.no_grad():
        w -= 0.0 * w.grad
    w.grad = None


def accumulated(w, x):
    (w * x).sum().backward()
    w.grad.zero_()


def functions(w, x):
    Alias.apply(Doubled.apply(Exp.apply(Scaled.apply(w, 0.5)) * x)).sum().backward()


def hooks(w, x):
    y = w * x
    y.register_hook(lambda g: g * 2)
    y.retain_grad()
    y.grad_fn.register_hook(lambda i, o: None)
    y.grad_fn.register_prehook(lambda o: None)
    y.grad_fn.metadata["note"] = "kept"
    handle = w.register_hook(lambda g: g + 0)
    after = w.register_post_accumulate_grad_hook(lambda t: None)
    y.exp().sum().backward()
    handle.remove()
    after.remove()


def twice(w, x):
    value = (Exp.apply(w) * x * w.exp()).sum()
    (slope,) = torch.autograd.grad(value, w, create_graph=True)
    (slope * slope).sum().backward()


def in_place(w, x):
    base = w * x * 3
    base[0] = 1.0
    base[1:].mul_(2)
    base.view(2).add_(w)
    (base * base).sum().backward()


def in_place_functions(w, x):
    base = w * x
    Doubled.apply(base[1:])
    base.exp().sum().backward()


def views(w, x):
    a, b = (w * x).unbind()
    kept = w.view(1, 2).expand(3, 2).t()
    (a * b + kept.sum() + (w * 1).view(2)[0]).backward()


def unused(w, x):
    value = (w * x).exp()
    value.detach(), value.data, value.grad_fn.next_functions, value.grad_fn._saved_result


def failures(w, x):
    y = Failing.apply(w * x)
    try:
        y.sum().backward()
    except KeyError:
        pass
    try:
        (w * x).backward(torch.ones(3))
    except RuntimeError:
        pass
    y = w * x
    square = y * y
    y.add_(1)
    try:
        square.sum().backward()
    except RuntimeError:
        pass


def pruned(w, x):
    y = w * x
    torch.autograd.grad((y * y).sum(), [y, w], retain_graph=True)
    torch.autograd.grad(y.exp(), w, torch.ones(2), retain_graph=True)
    (y * y).sum().backward(inputs=[w])


def reentrant(w, x):
    y = w * x

    @torch.enable_grad()
    def inside(g):
        (w * 2).sum().backward()

    y.register_hook(inside)
    y.sum().backward()


def packed(w, x):
    y = (w * x).exp()
    y.grad_fn._raw_saved_result.register_hooks(lambda t: t.clone(), lambda t: t)
    y.sum().backward(retain_graph=True)
    y.sum().backward()


def modes(w, x):
    with torch.no_grad():
        w * x
    with torch.inference_mode():
        w * x
    torch.enable_grad()(lambda: (w * x).sum().backward())()


PROGRAMS = [plain, accumulated, functions, hooks, twice, in_place, in_place_functions, views,
            unused, failures, pruned, reentrant, packed, modes]


def measured():
    """Return how many objects only the collector could free, and how many blocks are in use then.

    It empties the interpreter's free lists too, which would otherwise count as in use.
    """
    return gc.collect(), sys.getallocatedblocks()


def leaves_nothing(step, batch):
    """Run batches of a step until one leaves far fewer blocks than steps; fail if none does.

    The interpreter's caches grow too, but ever less: often one batch of 40 is enough, sometimes it
    takes ten.  One object forgotten a step, or every other, grows for ever.
    """
    w, x = leaf(0.25, 0.5), torch.tensor([3.0, 4.0])
    for _ in range(50):
        step(w, x)
    _, before = measured()
    growth = []
    while not growth or growth[-1] > max(batch // 50, 20):
        assert len(growth) < 24, f"{batch} steps leave more and more blocks: {growth}"
        for _ in range(batch):
            step(w, x)
        found, after = measured()
        assert found == 0, "the collector found what reference counting had left"
        growth.append(after - before)
        before = after


@pytest.mark.parametrize("step", PROGRAMS, ids=lambda step: step.__name__)
def test_steps_leave_nothing(no_collector, step):
    leaves_nothing(step, STEPS)


def test_one_object_a_step_is_noticed(no_collector):
    kept = []
    with pytest.raises(AssertionError, match="more and more blocks"):
        leaves_nothing(lambda w, x: kept.append(x.detach()), 40)


# --- Freed at once -------------------------------------------------------------------------------


def history(value):
    """Return weak references to all nodes behind a tensor."""
    found, stack = {}, [value.grad_fn]
    while stack:
        node = stack.pop()
        if node is not None and id(node) not in found:
            found[id(node)] = weakref.ref(node)
            stack += [after for after, _ in node.next_functions]
    return list(found.values())


def rewritten(w):
    base = w * 3
    base[0].mul_(2)
    base.view(2)[1:].exp_()
    return base.sum()


GRAPHS = {
    "ops": lambda w: (w * w + w.exp() / w).sum(),
    "saved output": lambda w: w.exp().exp().sqrt().sum(),
    "function": lambda w: Exp.apply(Scaled.apply(w, 2.0)).sum(),
    "dirty": lambda w: Doubled.apply(w * 1).exp().sum(),
    "alias": lambda w: Alias.apply(w * 1).sum(),
    "in place": rewritten,
    "several outputs": lambda w: (w * 1).unbind()[0] * w.sum(),
    "second order": lambda w: torch.autograd.grad(w.exp().sum(), w, create_graph=True)[0].sum(),
}


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("used", [False, True])
def test_dropping_the_value_frees_every_node(no_collector, name, used):
    w = leaf(0.5, 1.0)
    value = GRAPHS[name](w)
    nodes = history(value)
    assert len(nodes) >= 3
    if used:
        value.backward()
    assert all(node() is not None for node in nodes)
    del value
    assert [node() for node in nodes if node() is not None] == []


def test_backward_frees_what_was_saved(no_collector):
    w = leaf(0.5, 1.0)
    middle = w * 2
    value = (middle * middle).sum()
    kept = weakref.ref(middle)
    del middle
    assert kept() is not None
    value.backward()
    assert kept() is None


def test_backward_frees_each_value_as_soon_as_it_is_used(no_collector):
    w, alive = leaf(0.5), []
    first = w * 2
    second = first * first
    kept = weakref.ref(second)
    value = second * second
    del second
    first.register_hook(lambda g: alive.append(kept() is not None))
    value.backward()
    assert alive == [False]


def test_retained_graphs_keep_what_was_saved(no_collector):
    w = leaf(0.5)
    middle = w * 2
    value = middle * middle
    kept = weakref.ref(middle)
    del middle
    value.backward(retain_graph=True)
    assert kept() is not None
    del value
    assert kept() is None


def test_a_leaf_dies_with_its_last_user(no_collector):
    w = leaf(0.5)
    w.register_hook(lambda g: g)
    value = w * w
    value.backward()
    kept = weakref.ref(w)
    del w, value
    assert kept() is None


def test_a_view_keeps_its_base_and_not_the_other_way_round(no_collector):
    base = leaf(0.5, 1.0) * 2
    view = base[0]
    dead = weakref.ref(base), weakref.ref(view)
    del base
    assert dead[0]() is not None
    assert view.item() == 1.0
    del view
    assert (dead[0](), dead[1]()) == (None, None)


def test_an_exception_that_was_dropped_holds_nothing(no_collector):
    w = leaf(0.5)
    y = Failing.apply(w * 2)
    nodes = history(y)
    try:
        y.backward()
    except KeyError:
        pass
    del y
    assert [node() for node in nodes if node() is not None] == []
