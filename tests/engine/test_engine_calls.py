"""Calls of the engine as PyTorch's own code makes them: callbacks, inputs, sums and hooks."""

from __future__ import annotations

import numpy as np
import pytest

import minigrad
from tests.support.engines import function_of, leaf, on_each_engine


def test_run_backward_accumulates_on_request():
    torch = minigrad
    engine = torch.autograd.Variable._execution_engine
    x = leaf(torch, [1.0, 2.0])
    mid = x * 2
    y = (mid * mid).sum()
    one = torch.tensor(1.0)
    assert engine.run_backward((y,), (one,), True, False, (mid,), accumulate_grad=True) == ()
    assert mid.grad.tolist() == [4.0, 8.0] and x.grad is None
    (found,) = engine.run_backward((y,), (one,), True, False, (x,))
    assert found.tolist() == [8.0, 16.0] and x.grad is None
    assert engine.run_backward((y,), (one,), False, False, ()) == ()
    assert x.grad.tolist() == [8.0, 16.0]
    assert engine.is_checkpoint_valid() is True


def test_run_backward_wants_a_tuple_of_inputs():
    engine = minigrad.autograd.Variable._execution_engine
    x = leaf(minigrad, [1.0, 2.0])
    with pytest.raises(RuntimeError, match=r"^inputs to run_backward must be a tuple$"):
        engine.run_backward((x.sum(),), (minigrad.tensor(1.0),), False, False, [x])


@on_each_engine
def test_callbacks_run_at_the_end_in_their_order(torch):
    said = []
    x = leaf(torch, [1.0, 2.0])
    engine = torch.autograd.Variable._execution_engine

    def hook(g):
        engine.queue_callback(lambda: said.append(x.grad.tolist()))
        engine.queue_callback(lambda: said.append("second"))

    mid = x * 2
    mid.register_hook(hook)
    mid.sum().backward()
    assert said == [[2.0, 2.0], "second"]


def test_setting_volatile_says_that_nothing_happens():
    with pytest.warns(UserWarning, match=r"^volatile was removed and now has no effect. Use `with "
                      r"torch.no_grad\(\):` instead.$"):
        leaf(minigrad, [1.0]).volatile = True


@on_each_engine
def test_a_hook_that_comes_later_is_shown_the_version(torch):
    y = leaf(torch, [1.0, 2.0]) * 1
    y.mul_(2)
    z = y.square()
    seen = []
    z.grad_fn._raw_saved_self.register_hooks(lambda t: (seen.append(t._version), t)[1],
                                             lambda t: t)
    assert seen == [1]


def test_summing_over_nothing_keeps_what_is_there():
    from minigrad.engine.validate import sum_to

    array = np.ones((2, 3))
    assert sum_to(array, (2, 3)).shape == (2, 3)
    assert tuple(sum_to(minigrad.ones(2, 3), (2, 3)).shape) == (2, 3)
    assert tuple(sum_to(minigrad.ones(1, 2, 3), (2, 3)).shape) == (2, 3)
    assert tuple(sum_to(minigrad.ones(4, 2, 3), (2, 1)).shape) == (2, 1)


def test_rows_of_a_batch_without_a_gradient_count_as_zeros():
    made = function_of(minigrad, lambda ctx, t: t * 1,
                       lambda ctx, g: g * 3 if float(g[0]) else None)
    x = leaf(minigrad, [1.0, 2.0])
    with pytest.warns(UserWarning, match="performance drop"):
        (rows,) = minigrad.autograd.grad(made.apply(x), x, minigrad.eye(2), is_grads_batched=True)
    assert rows.tolist() == [[3.0, 0.0], [0.0, 0.0]]


@on_each_engine
def test_a_gradient_is_retained_at_any_output(torch):
    x = leaf(torch, [1.0, 2.0, 3.0])
    _, second, third = (x * 1).unbind()
    third.retain_grad()
    (second * 2 + third * 5).backward()
    assert third.grad.item() == 5.0 and second.grad_fn is not None


@on_each_engine
def test_gradients_of_many_inputs_keep_their_dtypes(torch):
    x = leaf(torch, [1.0, 2.0])
    y = leaf(torch, [3.0, 4.0], dtype=torch.float64)
    z = leaf(torch, [5.0])
    torch.cat([x, y, z, x]).sum().backward()
    assert [t.grad.dtype for t in (x, y, z)] == [torch.float32, torch.float64, torch.float32]
    assert [t.grad.tolist() for t in (x, y, z)] == [[2.0, 2.0], [1.0, 1.0], [1.0]]


@on_each_engine
@pytest.mark.parametrize("order", ["narrow first", "wide first"])
def test_gradients_of_two_inputs_keep_their_dtypes(torch, order):
    for apply in (torch.add, torch.sub, torch.mul, torch.div, torch.maximum, torch.atan2):
        pair = [leaf(torch, [1.0, 2.0]), leaf(torch, [3.0, 4.0], dtype=torch.float64)]
        given = pair if order == "narrow first" else pair[::-1]
        apply(*given).sum().backward()
        assert [t.grad.dtype for t in pair] == [torch.float32, torch.float64]
        mid = [t * 1 for t in given]
        slopes = torch.autograd.grad(apply(*mid).sum(), mid)
        assert [s.dtype for s in slopes] == [t.dtype for t in given]


def test_which_output_a_batch_of_gradients_does_not_fit():
    x = leaf(minigrad, [1.0, 2.0])
    with pytest.raises(RuntimeError) as caught:
        minigrad.autograd.grad((x * 2, x * 3), x, (minigrad.ones(3, 2), minigrad.ones(3, 4)),
                               is_grads_batched=True)
    assert ("a mismatch was detected: grad_output[1] has a shape of torch.Size([3, 4]) and "
            "output[1] has a shape of torch.Size([2])") in str(caught.value)
