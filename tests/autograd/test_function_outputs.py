"""`Function`: outputs that are inputs, views, changed in place, or not differentiable."""

from __future__ import annotations

import gc
import weakref

import pytest

from tests.autograd.test_function import function
from tests.support.engines import leaf, on_each_engine

pytestmark = on_each_engine


# --- mark_dirty ----------------------------------------------------------------------------------


def doubling(torch):
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    return function(torch, forward, lambda ctx, g: g * 2, name="Doubling")


def test_a_written_and_saved_input_leaves_with_its_graph(torch):
    """It is an output now, so the node keeps its memory, but not the tensor, which holds the node.
    """
    def forward(ctx, x):
        x.exp_()
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        return x

    Written = function(torch, forward, lambda ctx, g: g * ctx.saved_tensors[0], name="Written")
    x = leaf(torch, [1.0, 2.0])
    y = Written.apply(x * 1)
    y.sum().backward()
    assert torch.allclose(x.grad, torch.exp(x.detach()))
    gc.disable()
    try:
        y = Written.apply(leaf(torch, [1.0]) * 1)
        gone = weakref.ref(y.grad_fn)
        del y
        assert gone() is None
    finally:
        gc.enable()


def test_writing_to_an_intermediate(torch):
    x = leaf(torch, [1.0, 2.0])
    middle = x * 3
    result = doubling(torch).apply(middle)
    assert result is middle
    assert middle.tolist() == [6.0, 12.0]
    assert middle._version == 2  # the write, and the declaration of it
    assert middle.grad_fn.name() == "DoublingBackward"
    middle.sum().backward()
    assert x.grad.tolist() == [6.0, 6.0]


def test_writing_to_a_tensor_without_grad(torch):
    fixed = torch.tensor([1.0, 2.0])
    result = doubling(torch).apply(fixed)
    assert result is fixed
    assert not result.requires_grad and result.tolist() == [2.0, 4.0]


def test_writing_to_a_leaf_is_refused(torch):
    x = leaf(torch, [1.0, 2.0])
    with pytest.raises(RuntimeError, match=r"a leaf Variable that requires grad has been used in "
                       r"an in-place operation."):
        doubling(torch).apply(x)


def test_writing_to_a_view_of_an_intermediate(torch):
    x = leaf(torch, [1.0, 2.0, 3.0])
    base = x * 1
    view = base[1:]
    result = doubling(torch).apply(view)
    assert result is view
    assert base.tolist() == [1.0, 4.0, 6.0]
    base.backward(torch.tensor([1.0, 10.0, 100.0]))
    assert x.grad.tolist() == [1.0, 20.0, 200.0]


def test_writing_to_a_view_of_a_constant(torch):
    x, memory = leaf(torch, [5.0]), torch.zeros(3)

    def forward(ctx, target, x):
        ctx.mark_dirty(target)
        return target.copy_(x)

    view = memory[1:2]
    function(torch, forward, lambda ctx, g: (None, g)).apply(view, x)
    assert memory.requires_grad and memory.tolist() == [0.0, 5.0, 0.0]
    (memory * 3).sum().backward()
    assert x.grad.tolist() == [3.0]


def test_a_dirty_view_may_be_the_only_output(torch):
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x, x + 1

    view = (leaf(torch, [1.0, 2.0]) * 1)[:1]
    with pytest.raises(RuntimeError, match="If your Function modifies inplace an input that is a "
                       "view of another Tensor, your Function cannot return more than one Tensor"):
        function(torch, forward, None).apply(view)


def test_dirty_tensors_have_to_be_returned(torch):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x * 2

    with pytest.raises(RuntimeError, match=r"Some elements marked as dirty during the forward "
                       r"method were not returned as output."):
        function(torch, forward, None).apply(leaf(torch, 1.0) * 1)


def test_a_dirty_input_spoils_what_was_saved_of_it(torch):
    x = leaf(torch, 3.0)
    middle = x * 1
    square = middle * middle
    doubling(torch).apply(middle)
    with pytest.raises(RuntimeError, match="which is output 0 of Doubling, is at version 2; "
                       "expected version 0"):
        square.backward()


def test_a_dirty_input_may_be_saved_after_the_write(torch):
    def forward(ctx, x):
        x.exp_()
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        return x

    x = leaf(torch, 0.0)
    y = function(torch, forward, lambda ctx, g: g * ctx.saved_tensors[0]).apply(x * 2)
    y.backward()
    assert x.grad.item() == 2.0


# --- mark_non_differentiable ---------------------------------------------------------------------


def test_non_differentiable_outputs(torch):
    seen = []

    def forward(ctx, x):
        values, order = x.sort()
        mask = (x > 1).to(torch.float32)
        ctx.mark_non_differentiable(order, mask)
        ctx.save_for_backward(order)
        return values, order, mask

    def backward(ctx, g, by_order, by_mask):
        seen.append((by_order.tolist(), by_mask.tolist()))
        (order,) = ctx.saved_tensors
        return torch.zeros(3).scatter(0, order, g)

    x = leaf(torch, [3.0, 1.0, 2.0])
    values, order, mask = function(torch, forward, backward).apply(x)
    assert values.requires_grad
    assert not order.requires_grad and order.grad_fn is None
    assert not mask.requires_grad and mask.is_leaf
    values.backward(torch.tensor([1.0, 10.0, 100.0]))
    assert x.grad.tolist() == [100.0, 1.0, 10.0]
    assert seen == [([0, 0, 0], [0.0, 0.0, 0.0])]


def test_integers_are_not_differentiable_without_being_marked(torch):
    x = leaf(torch, [3.0, 1.0])
    Two = function(torch, lambda ctx, x: (x * 1, (x > 2).long()), lambda ctx, g, h: g)
    value, count = Two.apply(x)
    assert value.requires_grad and not count.requires_grad


def test_an_input_returned_as_not_differentiable(torch):
    def forward(ctx, x):
        ctx.mark_non_differentiable(x)
        return x

    x = leaf(torch, 3.0)
    y = function(torch, forward, None).apply(x)
    assert y is not x and not y.requires_grad and x.requires_grad


# --- Inputs and views as outputs -----------------------------------------------------------------


def test_an_input_returned_as_it_came(torch):
    x = leaf(torch, [1.0, 2.0])
    y = function(torch, lambda ctx, x: x, lambda ctx, g: g * 10).apply(x)
    assert y is not x and y.data_ptr() == x.data_ptr()
    assert x.is_leaf and not y.is_leaf
    (y + x).sum().backward()
    assert x.grad.tolist() == [11.0, 11.0]


def test_a_returned_input_shares_versions_and_is_a_view(torch):
    x = leaf(torch, [1.0, 2.0])
    middle = x * 1
    y = function(torch, lambda ctx, x: x, lambda ctx, g: g * 10).apply(middle)
    assert y._is_view() and y._base is middle
    middle.detach().add_(1)
    assert y._version == middle._version == 1
    assert y.tolist() == [2.0, 3.0]


def test_a_returned_input_may_not_be_written_to(torch):
    x = leaf(torch, [1.0, 2.0])
    y = function(torch, lambda ctx, x: x, lambda ctx, g: g * 10).apply(x * 1)
    with pytest.raises(RuntimeError, match=r"is a view and is being modified inplace. This view "
                       r"was created inside a custom Function"):
        y.add_(1)


def test_a_returned_view(torch):
    def forward(ctx, x):
        return x.view(4)

    x = leaf(torch, [[1.0, 2.0], [3.0, 4.0]])
    y = function(torch, forward, lambda ctx, g: g.view(2, 2) * 10).apply(x * 1)
    assert y.tolist() == [1.0, 2.0, 3.0, 4.0]
    with pytest.raises(RuntimeError, match="created inside a custom Function"):
        y.mul_(2)
    y.sum().backward()
    assert x.grad.tolist() == [[10.0, 10.0], [10.0, 10.0]]


def test_a_returned_input_without_grad(torch):
    fixed = torch.tensor([1.0, 2.0])
    y = function(torch, lambda ctx, x: x, None).apply(fixed)
    assert y.data_ptr() == fixed.data_ptr() and not y.requires_grad


def test_the_same_tensor_twice(torch):
    def forward(ctx, x):
        result = x * 2
        return result, result

    x = leaf(torch, 3.0)
    a, b = function(torch, forward, lambda ctx, g, h: (g + 10 * h) * 2).apply(x)
    assert a.item() == b.item() == 6.0
    (a + b).backward()
    assert x.grad.item() in (22.0, 40.0)  # one tensor has one place: both may go to output 1


def test_outputs_that_are_no_tensors(torch):
    x = leaf(torch, 3.0)
    y, note, nothing = function(
        torch, lambda ctx, x: (x * 2, "note", None), lambda ctx, g, *rest: g * 2).apply(x)
    assert (note, nothing) == ("note", None)
    y.backward()
    assert x.grad.item() == 2.0


def test_a_tensor_from_outside(torch):
    outside = torch.tensor(7.0)
    x = leaf(torch, 3.0)
    y = function(torch, lambda ctx, x: outside, lambda ctx, g: g * 5).apply(x)
    y.backward()
    assert x.grad.item() == 5.0


def test_swapped_inputs(torch):
    a, b = leaf(torch, 2.0), leaf(torch, 3.0)
    first, second = function(torch, lambda ctx, a, b: (b, a), lambda ctx, g, h: (h, g)).apply(a, b)
    (first * 10 + second * 100).backward()
    assert (first.item(), second.item()) == (3.0, 2.0)
    assert (a.grad.item(), b.grad.item()) == (100.0, 10.0)


def test_functions_in_functions(torch):
    def forward(ctx, x):
        with torch.enable_grad():
            ctx.inner_x = x.detach().requires_grad_()
            ctx.inner = doubling(torch).apply(ctx.inner_x * 3)
        return ctx.inner.detach()

    def backward(ctx, g):
        return torch.autograd.grad(ctx.inner, ctx.inner_x, g)[0]

    x = leaf(torch, 5.0)
    y = function(torch, forward, backward).apply(x)
    y.backward()
    assert (y.item(), x.grad.item()) == (30.0, 6.0)


def test_inplace_later_on_an_output(torch):
    x = leaf(torch, [1.0, 2.0])
    y = function(torch, lambda ctx, x: x * 2, lambda ctx, g: g * 2).apply(x)
    y.mul_(3)
    y.sum().backward()
    assert x.grad.tolist() == [6.0, 6.0]
