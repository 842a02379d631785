"""Several threads at once: separate graphs, shared leaves, modes of their own."""

from __future__ import annotations

from threading import Barrier, Thread

import pytest


def together(work, count=8):
    """Run `work(number)` on threads that start at once; the first error is raised here."""
    barrier, errors = Barrier(count), []

    def run(number):
        barrier.wait()
        try:
            work(number)
        except BaseException as error:
            errors.append(error)

    threads = [Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def test_each_thread_with_its_own_graph(leaf):
    results = {}

    def work(number):
        x = leaf(float(number))
        (x * x).backward()
        results[number] = x.grad.tolist()

    together(work)
    assert results == {number: 2.0 * number for number in range(8)}


def test_a_shared_leaf_gets_every_gradient(leaf):
    x = leaf([1.0] * 100)
    together(lambda _: [(x * x).sum().backward() for _ in range(20)])
    assert x.grad.tolist() == [320.0] * 100


def test_grad_on_a_shared_leaf(torch, leaf):
    x, slopes = leaf(3.0), []
    together(lambda _: slopes.append(torch.autograd.grad(x * x, x)[0].tolist()))
    assert slopes == [6.0] * 8


def test_a_shared_graph_can_be_run_by_all_when_it_is_kept(leaf):
    x = leaf(3.0)
    y = x * x
    together(lambda _: y.backward(retain_graph=True))
    assert x.grad.tolist() == 48.0


def test_a_shared_graph_is_freed_once(leaf):
    x, refused = leaf(3.0), []
    y = (x * x).exp()

    def work(_):
        try:
            y.backward()
        except RuntimeError as error:
            refused.append("second time" in str(error))

    together(work)
    assert len(refused) >= 1
    assert all(refused)


def test_hooks_run_on_each_pass(leaf):
    x, calls = leaf(3.0), []
    x.register_hook(lambda g: calls.append(1))
    together(lambda _: (x * x).backward())
    assert len(calls) == 8


def test_a_mode_belongs_to_its_thread(torch):
    seen = {}

    def work(number):
        with torch.set_grad_enabled(number % 2 == 0):
            for _ in range(50):
                seen.setdefault(number, set()).add(torch.is_grad_enabled())

    together(work)
    assert seen == {number: {number % 2 == 0} for number in range(8)}


def test_an_error_stays_on_its_thread(leaf):
    def work(number):
        x = leaf(1.0)
        y = x * 2
        if number == 3:
            y.register_hook(lambda g: 1 / 0)
        y.backward()

    with pytest.raises(ZeroDivisionError):
        together(work)


def test_functions_on_many_threads(torch, leaf):
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.factor = 2
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * ctx.factor

    x = leaf(1.0)
    together(lambda _: Twice.apply(x).backward())
    assert x.grad.tolist() == 16.0


def test_multithreading_can_be_switched_off(torch, leaf):
    x = leaf(3.0)
    with torch.autograd.set_multithreading_enabled(False):
        (x * x).backward()
    assert x.grad.tolist() == 6.0


def test_backward_on_another_thread_than_the_forward(leaf):
    x = leaf(3.0)
    y = x * x
    together(lambda _: y.backward(), count=1)
    assert x.grad.tolist() == 6.0
