"""no_grad, enable_grad, set_grad_enabled, inference_mode: as blocks, decorators, in generators."""

from __future__ import annotations

import inspect
from threading import Thread

import pytest


def test_blocks_nest_and_restore(torch):
    seen = [torch.is_grad_enabled()]
    with torch.no_grad():
        seen.append(torch.is_grad_enabled())
        with torch.enable_grad():
            seen.append(torch.is_grad_enabled())
        seen.append(torch.is_grad_enabled())
    assert [*seen, torch.is_grad_enabled()] == [True, False, True, False, True]


def test_an_error_restores_too(torch):
    with pytest.raises(ZeroDivisionError), torch.no_grad():
        1 / 0
    assert torch.is_grad_enabled()


def test_nothing_is_recorded_under_no_grad(torch, leaf):
    x = leaf(2.0)
    with torch.no_grad():
        y = x * 2
    assert (y.requires_grad, y.grad_fn, y.is_leaf) == (False, None, True)


def test_new_leaves_may_require_grad_under_no_grad(torch):
    with torch.no_grad():
        assert torch.ones(1, requires_grad=True).requires_grad


def test_a_block_object_may_be_used_twice(torch):
    block = torch.no_grad()
    for _ in range(2):
        with block:
            assert not torch.is_grad_enabled()
        assert torch.is_grad_enabled()


@pytest.mark.parametrize(("name", "inside"), [("no_grad", False), ("enable_grad", True)])
def test_decorators(torch, name, inside):
    mode = getattr(torch, name)

    @mode()
    def called():
        return torch.is_grad_enabled()

    @mode
    def bare():
        return torch.is_grad_enabled()

    with torch.set_grad_enabled(not inside):
        assert (called(), bare(), torch.is_grad_enabled()) == (inside, inside, not inside)


def test_a_decorated_function_keeps_its_name(torch):
    @torch.no_grad()
    def work(a, b=2):
        """Do it."""

    assert (work.__name__, work.__doc__) == ("work", "Do it.")
    assert list(inspect.signature(work).parameters) == ["a", "b"]


def test_set_grad_enabled_acts_at_once(torch):
    torch.set_grad_enabled(False)
    try:
        assert not torch.is_grad_enabled()
    finally:
        torch.set_grad_enabled(True)


def test_set_grad_enabled_as_a_block(torch):
    with torch.set_grad_enabled(False):
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()


def test_set_grad_enabled_as_a_decorator_waits_for_the_call(torch):
    @torch.set_grad_enabled(False)
    def work():
        return torch.is_grad_enabled()

    assert torch.is_grad_enabled()
    assert not work()


def test_recursion_through_both_modes(torch):
    @torch.no_grad()
    def off(depth):
        assert not torch.is_grad_enabled()
        if depth:
            on(depth - 1)
            assert not torch.is_grad_enabled()

    @torch.enable_grad()
    def on(depth):
        assert torch.is_grad_enabled()
        if depth:
            off(depth - 1)
            assert torch.is_grad_enabled()

    off(6)
    on(6)


def test_a_generator_has_its_mode_only_while_it_runs(torch):
    @torch.no_grad()
    def numbers():
        for i in range(3):
            assert not torch.is_grad_enabled()
            yield i
            assert not torch.is_grad_enabled()

    seen = []
    for i in numbers():
        assert torch.is_grad_enabled()
        seen.append(i)
    assert seen == [0, 1, 2]


def test_a_generator_that_changes_the_mode_itself(torch):
    @torch.enable_grad()
    def outer():
        yield torch.is_grad_enabled()
        with torch.no_grad():
            yield torch.is_grad_enabled()
        yield torch.is_grad_enabled()

    with torch.no_grad():
        assert list(outer()) == [True, False, True]


def test_values_are_sent_into_a_generator(torch):
    @torch.no_grad()
    def adder():
        total = 0
        while True:
            total += yield total
            assert not torch.is_grad_enabled()

    run = adder()
    assert [next(run), run.send(2), run.send(3)] == [0, 2, 5]


def test_errors_are_thrown_into_a_generator(torch):
    @torch.no_grad()
    def careful():
        try:
            yield 1
        except KeyError:
            assert not torch.is_grad_enabled()
            yield 2

    run = careful()
    next(run)
    assert run.throw(KeyError()) == 2
    assert torch.is_grad_enabled()


def test_a_closed_generator_cleans_up_in_its_mode(torch):
    seen = []

    @torch.no_grad()
    def careful():
        try:
            yield 1
        finally:
            seen.append(torch.is_grad_enabled())

    run = careful()
    next(run)
    run.close()
    assert seen == [False]


def test_a_generator_returns_its_value(torch):
    @torch.no_grad()
    def work():
        yield 1
        return "end"

    def collect():
        return (yield from work())

    run = collect()
    next(run)
    with pytest.raises(StopIteration) as stop:
        next(run)
    assert stop.value.value == "end"


def test_every_thread_starts_with_grad(torch):
    seen = []
    with torch.no_grad():
        thread = Thread(target=lambda: seen.append(torch.is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]


# ------------------------------------------------------------------ inference mode


def test_inference_mode_is_a_block_with_a_switch(torch):
    with torch.inference_mode():
        assert torch.is_inference_mode_enabled()
        assert not torch.is_grad_enabled()
        with torch.inference_mode(False):
            assert not torch.is_inference_mode_enabled()
            assert torch.is_grad_enabled()
    assert not torch.is_inference_mode_enabled()


def test_inference_mode_is_a_decorator(torch):
    @torch.inference_mode
    def bare(x):
        return (x * 2).is_inference()

    @torch.inference_mode()
    def called(x):
        return (x * 2).is_inference()

    x = torch.ones(1, requires_grad=True)
    assert bare(x)
    assert called(x)


def test_what_is_made_in_inference_mode_stays_an_inference_tensor(torch):
    with torch.inference_mode():
        a = torch.ones(2)
    assert (a.is_inference(), torch.is_inference(a), a.view(2, 1).is_inference()) == (
        True, True, True)
    assert not torch.ones(2).is_inference()
    assert not a.clone().is_inference()


def test_an_inference_tensor_has_no_version(torch):
    with torch.inference_mode():
        a = torch.ones(2)
    with pytest.raises(RuntimeError, match="Inference tensors do not track version counter"):
        a._version  # reading it is what raises


def test_an_inference_tensor_cannot_be_saved(torch, leaf):
    with torch.inference_mode():
        a = torch.ones((), dtype=torch.float64)
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        a * leaf(2.0)


def test_an_inference_tensor_may_take_part_where_it_is_not_saved(torch, leaf):
    with torch.inference_mode():
        a = torch.ones((), dtype=torch.float64)
    x = leaf(2.0)
    (x + a).backward()
    assert x.grad.tolist() == 1.0


def test_an_inference_tensor_is_written_to_inside_only(torch):
    with torch.inference_mode():
        a = torch.ones(2)
        a += 1
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside InferenceM"):
        a += 1


def test_an_inference_tensor_cannot_start_to_require_grad_outside(torch):
    with torch.inference_mode():
        a = torch.ones(2)
    with pytest.raises(RuntimeError, match="Setting requires_grad=True on inference tensor outsid"):
        a.requires_grad_()


def test_a_normal_tensor_stays_normal_when_it_is_written_to(torch, leaf):
    x = leaf(2.0) * 1
    with torch.inference_mode():
        x.add_(1)
    assert (x.is_inference(), x.requires_grad, x._version) == (False, True, 1)


def test_a_view_of_a_normal_tensor_made_inside(torch, leaf):
    x = leaf(2.0, 3.0) * 1
    with torch.inference_mode():
        view = x.view(2, 1)
    assert (view.is_inference(), view.requires_grad, view._is_view()) == (False, True, True)
    with pytest.raises(RuntimeError, match="A view was created in inference mode and is being mod"):
        view.add_(1)


def test_a_view_of_a_plain_tensor_made_inside_may_be_written_to(torch):
    x = torch.ones(2)
    with torch.inference_mode():
        view = x.view(2, 1)
    view.add_(1)
    assert x.tolist() == [2.0, 2.0]


def test_a_leaf_made_inside_may_require_grad(torch):
    with torch.inference_mode():
        x = torch.ones(2, requires_grad=True)
    assert x.requires_grad
    (x + 1).sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_writing_an_inference_tensor_into_a_normal_one(torch, leaf):
    with torch.inference_mode():
        a = torch.ones((), dtype=torch.float64)
    x = leaf(2.0) * 1
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        x.mul_(a)
    plain = torch.ones((), dtype=torch.float64)
    plain.mul_(a)
    assert plain.tolist() == 1.0
