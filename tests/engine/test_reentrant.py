"""Backward inside backward, at any depth, and calls that wait for the end of a pass."""

from __future__ import annotations

import pytest

from tests.support.engines import leaf, on_each_engine

pytestmark = on_each_engine


def queue_callback(torch, callback):
    """Have the engine call `callback()` at the end of the pass that is running."""
    torch.autograd.Variable._execution_engine.queue_callback(callback)


def reentrant(torch, inside):
    """Make a Function that is the identity and calls `inside()` in its backward."""

    class Reentrant(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            inside()
            return g

    return Reentrant.apply


def test_backward_in_a_hook(torch):
    x, y = leaf(torch, 3.0), leaf(torch, 5.0)
    inner = y * y
    outer = x * x
    outer.register_hook(lambda g: inner.backward())
    outer.backward()
    assert (x.grad.item(), y.grad.item()) == (6.0, 10.0)


def test_both_passes_meet_at_one_leaf(torch):
    x = leaf(torch, 3.0)

    def inside():
        with torch.enable_grad():
            (x * x).backward()

    (reentrant(torch, inside)(x) * 10).backward()
    assert x.grad.item() == 10.0 + 6.0


def test_grad_in_a_function(torch):
    """The backward of a Function may itself be written with `grad`, as checkpointing does."""

    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            with torch.enable_grad():
                copy = x.detach().requires_grad_()
                return torch.autograd.grad(copy * copy * copy, copy, g)[0]

    x = leaf(torch, 2.0)
    (Cube.apply(x) * 10).backward()
    assert x.grad.item() == 120.0


def test_the_inner_pass_may_create_a_graph_while_the_outer_does_not(torch):
    x, modes = leaf(torch, 3.0), []

    def inside():
        modes.append(torch.is_grad_enabled())
        with torch.enable_grad():
            y = x.detach().requires_grad_()
            (slope,) = torch.autograd.grad(y * y * y, y, create_graph=True)
        modes.append(torch.is_grad_enabled())
        modes.append(torch.autograd.grad(slope, y)[0].item())

    reentrant(torch, inside)(x).backward()
    assert modes == [False, False, 18.0]


@pytest.mark.parametrize("depth", [10, 100, 2000])
def test_deep_reentrance(torch, depth):
    class Deep(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            with torch.enable_grad():
                ctx.inner = x.detach().requires_grad_() - 1
            return ctx.inner.detach()

        @staticmethod
        def backward(ctx, g):
            if ctx.inner < 0:
                return g
            with torch.enable_grad():
                Deep.apply(ctx.inner).sum().backward()
            return g

    x = leaf(torch, float(depth))
    Deep.apply(x).sum().backward()
    assert x.grad.item() == 1.0


def test_deep_reentrance_in_hooks(torch):
    leaves = [leaf(torch, float(i)) for i in range(300)]

    def chain(i):
        y = leaves[i] * 2
        if i + 1 < len(leaves):
            with torch.enable_grad():
                following = chain_later(i + 1)
            y.register_hook(lambda g: following())
        return y

    def chain_later(i):
        def run():
            with torch.enable_grad():
                y = chain(i)
            y.backward()
        return run

    chain(0).backward()
    assert [x.grad.item() for x in leaves] == [2.0] * 300


def test_an_error_comes_out_of_the_depth(torch):
    class Deep(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.depth = int(x)
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            if not ctx.depth:
                raise KeyError("bottom")
            with torch.enable_grad():
                Deep.apply(leaf(torch, ctx.depth - 1.0)).backward()
            return g

    with pytest.raises(KeyError, match="bottom"):
        Deep.apply(leaf(torch, 150.0)).backward()
    x = leaf(torch, 2.0)
    (x * x).backward()
    assert x.grad.item() == 4.0
    assert torch.is_grad_enabled()


# --- Callbacks -----------------------------------------------------------------------------------


def test_callbacks_run_after_all_nodes_in_order(torch):
    x, log = leaf(torch, 2.0), []

    def hook(g):
        queue_callback(torch, lambda: log.append(("first", x.grad.item())))
        queue_callback(torch, lambda: log.append("second"))
        log.append("hook")

    y = x * 3
    y.register_hook(hook)
    y.backward()
    assert log == ["hook", ("first", 3.0), "second"]


def test_a_callback_may_queue_another(torch):
    x, log = leaf(torch, 2.0), []

    def outer():
        log.append("outer")
        queue_callback(torch, lambda: log.append("inner"))

    x.register_hook(lambda g: queue_callback(torch, outer))
    (x * 3).backward()
    assert log == ["outer", "inner"]


def test_callbacks_belong_to_the_pass_that_queued_them(torch):
    x, y, log = leaf(torch, 2.0), leaf(torch, 2.0), []
    y.register_hook(lambda g: queue_callback(torch, lambda: log.append("inner callback")))
    inner, middle = y * 2, x * 1

    def hook(g):
        inner.backward()
        log.append("outer goes on")

    middle.register_hook(hook)
    (middle * 3).backward()
    assert log == ["inner callback", "outer goes on"]


def test_no_callback_outside_a_pass(torch):
    with pytest.raises(RuntimeError, match="Final callbacks can only be installed during backward"):
        queue_callback(torch, lambda: None)


def test_an_error_in_a_callback_reaches_the_caller(torch):
    x, armed = leaf(torch, 2.0), [True]

    def fail():
        raise KeyError("callback")

    x.register_hook(lambda g: queue_callback(torch, fail) if armed else None)
    with pytest.raises(KeyError, match="callback"):
        (x * 3).backward()
    armed.clear()
    (x * 3).backward()
    assert x.grad.item() == 6.0
