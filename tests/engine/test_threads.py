"""Several threads at once: shared leaves, separate graphs, modes and errors."""

from __future__ import annotations

import sys
import threading

import pytest

from tests.autograd.test_function import function
from tests.support.engines import leaf, on_each_engine

pytestmark = on_each_engine

THREADS = 8


@pytest.fixture(autouse=True)
def eager_switching():
    """Switch threads as often as the interpreter can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def run(work, count=THREADS):
    """Start `work(0)`, `work(1)` ... together, wait, and raise what any of them raised."""
    failures = []
    barrier = threading.Barrier(count)

    def guarded(key):
        try:
            barrier.wait(30)
            work(key)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(key,)) for key in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


@pytest.mark.parametrize("size", [1, 20_000])  # NumPy lets go of the interpreter for large arrays
@pytest.mark.parametrize("first", [False, True])
def test_shared_leaves_get_the_exact_sum(torch, first, size):
    """Whole numbers, so that no order of addition loses anything."""
    rounds = 40
    leaves = [leaf(torch, [float(i)] * size) for i in range(3)]
    if not first:
        for x in leaves:
            x.grad = torch.zeros(size)

    def work(key):
        for _ in range(rounds):
            a, b, c = leaves
            (a * (key + 1) + b * 2 + (c + c)).sum().backward()

    run(work)
    total = rounds * sum(range(1, THREADS + 1))
    expected = [total, 2 * rounds * THREADS, 2 * rounds * THREADS]
    assert [x.grad.tolist() for x in leaves] == [[float(e)] * size for e in expected]


def test_shared_leaf_without_dimensions(torch):
    x = leaf(torch, 3.0)

    def work(key):
        for _ in range(50):
            (x * 2 + x).backward()

    run(work)
    assert x.grad.item() == 3.0 * 50 * THREADS


def test_a_shared_graph_may_be_run_by_all(torch):
    x = leaf(torch, [1.0, 2.0, 3.0])
    shared = x * x
    total = shared.sum()

    def work(key):
        for _ in range(20):
            total.backward(retain_graph=True)
            (by_x,) = torch.autograd.grad(shared * (key + 1), x, torch.ones(3), retain_graph=True)
            assert by_x.tolist() == [2.0 * (key + 1) * n for n in (1, 2, 3)]

    run(work)
    assert x.grad.tolist() == [2.0 * n * 20 * THREADS for n in (1, 2, 3)]


def test_separate_graphs_do_not_disturb_each_other(torch):
    results = {}

    def work(key):
        x = leaf(torch, float(key))
        for _ in range(30):
            x.grad = None
            value = x
            for _ in range(20):
                value = value * 2 - x
            value.backward()
        results[key] = x.grad.item()

    run(work)
    assert results == {key: 1.0 for key in range(THREADS)}


def test_double_backward_in_threads(torch):
    x = leaf(torch, 3.0)
    results = []

    def work(key):
        for _ in range(20):
            (slope,) = torch.autograd.grad(x * x * x, x, create_graph=True)
            results.append(torch.autograd.grad(slope, x)[0].item())

    run(work)
    assert results == [18.0] * (20 * THREADS)


def test_sequence_numbers_belong_to_threads(torch):
    numbers = {}

    def work(key):
        value = leaf(torch, 1.0)
        numbers[key] = []
        for _ in range(100):
            value = value * 1
            numbers[key].append(value.grad_fn._sequence_nr())

    run(work)
    assert all(found == list(range(100)) for found in numbers.values())


def test_modes_belong_to_threads(torch):
    x = leaf(torch, 1.0)

    def work(key):
        for _ in range(100):
            assert torch.is_grad_enabled()
            if key % 2:
                with torch.no_grad():
                    assert not (x * 2).requires_grad
            elif key % 4:
                with torch.inference_mode():
                    assert (x * 2).is_inference()
            else:
                y = x * 2
                assert y.requires_grad and not y.is_inference()
                torch.autograd.grad(y, x)

    run(work)


def test_an_error_in_one_thread_leaves_the_others_alone(torch):
    x = leaf(torch, 1.0)

    def fail(ctx, g):
        raise KeyError("one thread")

    Failing = function(torch, lambda ctx, x: x * 1, fail)
    caught = []

    def work(key):
        for _ in range(20):
            if key == 0:
                with pytest.raises(KeyError, match="one thread"):
                    Failing.apply(x * 2).backward()
                caught.append(torch.is_grad_enabled())
            else:
                (x * 3).backward()

    run(work)
    assert caught == [True] * 20
    assert x.grad.item() == 3.0 * 20 * (THREADS - 1)


def test_hooks_run_in_the_thread_that_called_backward(torch):
    seen = {}

    def work(key):
        x = leaf(torch, 1.0)
        y = x * 2
        y.register_hook(lambda g: seen.update({key: threading.get_ident()}))
        y.backward()
        assert seen[key] == threading.get_ident()

    run(work)
    assert len(seen) == THREADS


def test_a_graph_may_be_built_in_one_thread_and_run_in_another(torch):
    x = leaf(torch, 2.0)
    made = []
    run(lambda key: made.append(x * x * (key + 1)))
    run(lambda key: made[key].backward())
    assert x.grad.item() == 4.0 * sum(range(1, THREADS + 1))


def test_backward_inside_backward_in_threads(torch):
    shared = leaf(torch, 1.0)

    def again(ctx, g):
        with torch.enable_grad():
            (shared * 3).backward()
        return g

    Reentrant = function(torch, lambda ctx, x: x * 1, again)

    def work(key):
        for _ in range(20):
            Reentrant.apply(shared * 5).backward()

    run(work)
    assert shared.grad.item() == 8.0 * 20 * THREADS
