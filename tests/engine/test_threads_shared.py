"""Threads that share tensors, nodes and leaves: nothing is lost, and what fails, fails whole."""

from __future__ import annotations

import threading
import weakref

import pytest

import minigrad as torch
from minigrad import _state
from minigrad.autograd import Function
from minigrad.autograd.graph import saved_tensors_hooks
from minigrad.engine import engine, reentrant
from minigrad.utils.checkpoint import checkpoint
from tests.engine.test_threads import THREADS, eager_switching, run  # noqa: F401  # a fixture that runs by itself
from tests.support.engines import leaf

ROUNDS = 10


def usable():
    """Fail unless modes, observers and hooks are as in a fresh process."""
    assert torch.is_grad_enabled()
    assert (_state.observers.count, _state.saved_tensors_hooks.get()) == (0, ())


# --- Checkpoints ---------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:None of the inputs")  # the first run of the outer records none
@pytest.mark.parametrize("inner", [True, False], ids=["reentrant inside", "recomputed inside"])
@pytest.mark.parametrize("outer", [True, False], ids=["reentrant", "recomputed"])
def test_checkpoints_in_checkpoints(outer, inner):
    shared = leaf(torch, [1.0, 2.0])

    def square(a):
        return a * a * shared

    def whole(a):
        return checkpoint(square, a * 2, use_reentrant=inner) + shared

    def work(key):
        x = leaf(torch, [float(key), 1.0])
        for _ in range(ROUNDS):
            x.grad = None
            checkpoint(whole, x, use_reentrant=outer).sum().backward()
            assert x.grad.tolist() == [8.0 * key, 16.0]

    run(work)
    squares = sum(4.0 * key * key + 1 for key in range(THREADS))
    assert shared.grad.tolist() == [ROUNDS * squares, ROUNDS * 5.0 * THREADS]
    usable()


def test_one_checkpointed_graph_run_by_all():
    x = leaf(torch, [1.0, 2.0, 3.0])
    total = checkpoint(lambda a: (a * a * a).sum(), x, use_reentrant=False)

    def work(key):
        for _ in range(ROUNDS):
            total.backward(retain_graph=True)

    run(work)
    assert x.grad.tolist() == [3.0 * n * n * ROUNDS * THREADS for n in (1, 2, 3)]


# --- Hooks ---------------------------------------------------------------------------------------


def test_hooks_that_call_backward():
    shared = leaf(torch, [1.0, 2.0])

    def backward_of(factor, hook=None):
        with torch.enable_grad():  # which is off in a pass
            y = shared * factor
            if hook is not None:
                y.register_hook(hook)
            y.sum().backward()

    def work(key):
        def again(g):
            backward_of(3, lambda g: backward_of(5))

        for _ in range(ROUNDS):
            y = shared * 2
            y.register_hook(again)
            y.sum().backward()

    run(work)
    assert shared.grad.tolist() == [10.0 * ROUNDS * THREADS] * 2


@pytest.mark.parametrize("error", [KeyError, KeyboardInterrupt, MemoryError])
def test_what_hooks_and_functions_raise_stays_in_its_thread(error):
    shared = leaf(torch, [1.0, 2.0])

    def fail(*_):
        raise error("here")

    class Failing(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            fail()

    def work(key):
        for _ in range(ROUNDS):
            if key % 2:
                (shared * 3).sum().backward()
                continue
            y = shared * 2
            y.register_hook(fail)
            for value in (y, Failing.apply(shared), checkpoint(fail_later, shared,
                                                               use_reentrant=False)):
                with pytest.raises(error, match="here"):
                    value.sum().backward()
                usable_here()

    def fail_later(a):
        y = a * a
        y.register_hook(fail)
        return y * y

    def usable_here():
        assert torch.is_grad_enabled() and not engine._running.tasks

    run(work)
    assert shared.grad.tolist() == [3.0 * ROUNDS * (THREADS // 2)] * 2
    usable()


def test_hooks_put_on_one_node_at_once_are_all_kept():
    for _ in range(20):
        y = leaf(torch, 2.0) * 1
        seen = []
        run(lambda key, y=y, seen=seen: y.register_hook(lambda g: seen.append(key)))
        y.backward()
        assert sorted(seen) == list(range(THREADS))


def test_saved_tensor_hooks_belong_to_a_thread():
    x = leaf(torch, [1.0, 2.0])

    def work(key):
        packed = []

        def pack(tensor):
            packed.append(key)
            return tensor * (key + 1)

        for _ in range(ROUNDS):
            if key % 2:
                with saved_tensors_hooks(pack, lambda t: t / (key + 1)):
                    y = x * x
            else:
                y = x * x
            assert torch.autograd.grad(y.sum(), x)[0].tolist() == [2.0, 4.0]
        assert packed == [key] * (2 * ROUNDS if key % 2 else 0)

    run(work)
    usable()


# --- What several threads make at once -----------------------------------------------------------


@pytest.mark.parametrize("create_graph", [False, True])
def test_gradients_that_are_retained_lose_nothing(create_graph):
    x = leaf(torch, [1.0, 2.0])
    y = x * 3
    y.retain_grad()
    total = (y * y).sum()

    def work(key):
        for _ in range(ROUNDS):
            total.backward(retain_graph=True, create_graph=create_graph)

    with pytest.warns(UserWarning, match="create_graph") if create_graph else torch.enable_grad():
        run(work)
    assert y.grad.tolist() == [6.0 * ROUNDS * THREADS, 12.0 * ROUNDS * THREADS]
    assert x.grad.tolist() == [18.0 * ROUNDS * THREADS, 36.0 * ROUNDS * THREADS]


def test_views_made_at_once_share_one_version():
    """A view with a counter of its own would not notice the write."""
    for _ in range(40):
        base = leaf(torch, [1.0, 2.0]) * 1
        views, aliases = [], []

        def work(key, base=base, views=views, aliases=aliases):
            views.append(base[key % 2])
            aliases.append(base.detach())

        run(work)
        base.mul_(2)
        assert {t._version for t in views + aliases} == {1}


def test_threads_share_the_end_of_the_graph_at_a_leaf():
    for _ in range(20):
        x = leaf(torch, 1.0)
        made = []
        run(lambda key, x=x, made=made: made.append(x * 2))
        assert len({id(y.grad_fn.next_functions[0][0]) for y in made}) == 1


def test_a_graph_that_one_thread_frees_is_whole_or_refused_in_the_others():
    for _ in range(20):
        x, w = leaf(torch, [1.0, 2.0]), leaf(torch, [3.0, 4.0])
        total = ((x * w) * (x * x)).exp().log().sum()
        passed, refused = [], []

        def work(key, total=total, passed=passed, refused=refused):
            try:
                total.backward()
                passed.append(key)
            except RuntimeError as error:
                assert "a second time" in str(error)
                refused.append(key)

        run(work)
        assert passed or refused == list(range(THREADS))
        for end, once in ((x, [9.0, 48.0]), (w, [1.0, 8.0])):
            if end.grad is None:
                assert not passed
                continue
            times = end.grad.tolist()[0] / once[0]
            assert end.grad.tolist() == pytest.approx([times * g for g in once])
            assert times == pytest.approx(round(times)) and round(times) >= len(passed)


# --- A backward pass on a thread of its own ------------------------------------------------------


def test_an_interrupted_wait_for_a_deep_pass_waits_all_the_same(monkeypatch):
    """Nothing may be added to a leaf after Ctrl-C has come out of `backward`."""
    x = leaf(torch, 1.0)
    waits = []

    class Deep(Function):
        @staticmethod
        def forward(ctx, x, depth):
            ctx.depth = depth
            return x * 1

        @staticmethod
        def backward(ctx, g):
            if ctx.depth:
                with torch.enable_grad():
                    Deep.apply(x, ctx.depth - 1).backward()
            return g, None

    class Interrupted(threading.Thread):
        def join(self, timeout=None):
            waits.append(weakref.ref(self))
            if len(waits) == 1:
                raise KeyboardInterrupt
            super().join(timeout)

    monkeypatch.setattr(reentrant, "Thread", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        Deep.apply(x, reentrant.MAX_DEPTH + 3).backward()
    assert len(waits) == 2 and not any(t() and t().is_alive() for t in waits)
    assert x.grad.item() == 4.0  # of the passes on the other thread; the others were interrupted
    x.grad = None
    (x * 2).backward()
    assert x.grad.item() == 2.0
    usable()
