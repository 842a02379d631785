"""The pool of threads: every item once, in order, the same numbers with any number of threads."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest

import minigrad as torch
from minigrad.backend import numpy_backend as xp
from minigrad.backend import threads


@pytest.fixture(autouse=True)
def restored():
    """Put the number of threads back after each test."""
    before = threads.get_num_threads()
    yield
    threads.set_num_threads(before)


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("items", [0, 1, 2, 100])
def test_results_come_in_the_order_of_the_items(count, items):
    threads.set_num_threads(count)
    done = []

    def square(item):
        done.append(item)
        return item * item

    assert threads.for_each(square, list(range(items))) == [i * i for i in range(items)]
    assert sorted(done) == list(range(items))


def test_several_threads_work_simultaneously():
    threads.set_num_threads(3)
    meeting = threading.Barrier(3, timeout=30)  # breaks unless three threads wait at it
    threads.for_each(lambda _: meeting.wait(), [0, 1, 2])


def test_no_more_threads_than_asked_for():
    threads.set_num_threads(2)
    names = threads.for_each(lambda _: (time.sleep(0.001), threading.get_ident())[1], range(20))
    assert 1 <= len(set(names)) <= 2


def test_items_inside_an_item_stay_on_its_thread():
    threads.set_num_threads(4)

    def inner(_):
        return threading.get_ident()

    def outer(_):
        return {threading.get_ident(), *threads.for_each(inner, range(8))}

    assert all(len(idents) == 1 for idents in threads.for_each(outer, range(8)))
    assert len(threads.for_each(inner, range(8))) == 8  # and the caller may share out again


@pytest.mark.parametrize("count", [1, 3])
def test_the_first_items_error_is_raised(count):
    threads.set_num_threads(count)

    def fail(item):
        if item >= 3:
            raise ValueError(item)

    with pytest.raises(ValueError, match="^3$"):
        threads.for_each(fail, [0, 1, 2, 3])
    assert threads.for_each(abs, [-1, -2]) == [1, 2]  # the pool goes on


def test_callers_on_several_threads():
    threads.set_num_threads(3)
    results = {}

    def call(start):
        results[start] = threads.for_each(lambda i: i + start, range(50))

    callers = [threading.Thread(target=call, args=(n,)) for n in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert results == {n: [i + n for i in range(50)] for n in range(4)}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_has_a_pool_of_its_own():
    program = (
        "import os\n"
        "from minigrad.backend import threads\n"
        "threads.set_num_threads(2)\n"
        "threads.for_each(abs, range(4))\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    os._exit(threads.for_each(abs, [-1, -2, -3]) != [1, 2, 3])\n"
        "assert os.waitpid(child, 0)[1] == 0\n"
    )
    # Python 3.12 warns of any fork while there are threads, which is the very thing tried here.
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True, timeout=60)


@pytest.mark.parametrize(
    ("given", "expected"), [("3", 3), ("3,2", 3), ("0", None), ("", None), ("many", None)]
)
def test_the_number_of_threads_to_start_with(given, expected, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", given)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3, 4}, raising=False)
    assert threads._usable_processors() == (expected or 5)


def test_the_number_of_threads_as_pytorch():
    torch.set_num_threads(3)
    assert torch.get_num_threads() == 3
    for wrong, text in (
        (0, "set_num_threads expects a positive integer"),
        (1.5, "set_num_threads expects an int, but got float"),
        (True, "set_num_threads expects an int, but got bool"),
    ):
        with pytest.raises(RuntimeError) as raised:
            torch.set_num_threads(wrong)
        assert str(raised.value) == text
    assert torch.get_num_threads() == 3


def test_blas_takes_the_same_number():
    threadpoolctl = pytest.importorskip("threadpoolctl", reason="counts the threads of BLAS")
    for count in (1, 2):
        threads.set_num_threads(count)
        found = threadpoolctl.ThreadpoolController().select(user_api="blas").info()
        assert {each["num_threads"] for each in found} <= {count}


def work_of_all_kernels():
    """Arrays large enough to be cut into several blocks everywhere, through every kernel."""
    rng = np.random.default_rng(0)

    def normal(*shape):
        return rng.standard_normal(shape).astype(np.float32)

    x, g, scale = normal(4, 32, 50, 50), normal(4, 32, 50, 50), normal(32)
    results = [*xp.batch_norm_forward(x, scale, scale, 1e-5)]
    mean, invstd = results[-3], results[-1]
    results += [xp.batch_norm_grad_input(g, x, scale, mean, invstd),
                xp.batch_norm_grad_weight(g, x, mean, invstd)]
    results += xp.max_pool_forward(x, (3, 3), (2, 2), (1, 1), (1, 1), False)
    return results


def test_the_same_numbers_with_any_number_of_threads():
    threads.set_num_threads(1)
    expected = work_of_all_kernels()
    for count in (2, 3):
        threads.set_num_threads(count)
        for found, wanted in zip(work_of_all_kernels(), expected, strict=True):
            np.testing.assert_array_equal(found, wanted)


@pytest.fixture
def blas():
    """Return a function that counts the threads of BLAS."""
    threadpoolctl = pytest.importorskip("threadpoolctl", reason="it counts BLAS's threads")
    yield lambda: {each["num_threads"] for each in threadpoolctl.threadpool_info()
                   if each["user_api"] == "blas"}
    torch.use_deterministic_algorithms(False)


def test_deterministic_algorithms_keep_products_on_one_thread(blas):
    torch.set_num_threads(2)
    assert blas() == {2}
    torch.use_deterministic_algorithms(True)
    assert blas() == {1}
    torch.set_num_threads(3)  # concerns only other work
    assert blas() == {1} and torch.get_num_threads() == 3
    torch.use_deterministic_algorithms(True)
    torch.use_deterministic_algorithms(False)
    assert blas() == {3}


def test_products_have_the_same_bits_with_any_number_of_threads(blas):
    torch.use_deterministic_algorithms(True)

    def results(count):
        torch.set_num_threads(count)
        torch.manual_seed(0)
        x, w = torch.randn(300, 1000), torch.randn(400, 1000, requires_grad=True)
        image, kernel = torch.randn(4, 8, 30, 30), torch.randn(16, 8, 3, 3)
        y = torch.nn.functional.linear(x, w)
        y.square().sum().backward()
        return [y.detach(), w.grad, torch.conv2d(image, kernel), torch.linalg.inv(x[:, :300])]

    for alone, beside in zip(results(1), results(2), strict=True):
        assert alone.numpy().tobytes() == beside.numpy().tobytes()


@pytest.mark.parametrize(("count", "told"), [(2, 1), (1, 0)])
def test_without_threadpoolctl_it_is_said_that_products_may_differ(monkeypatch, count, told):
    torch.set_num_threads(count)
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        torch.use_deterministic_algorithms(True)
        torch.use_deterministic_algorithms(False)
    assert ["extra 'threads'" in str(each.message) for each in found] == [True] * told
