"""Functions: marks, writes, views, missing gradients, batches, and `once_differentiable`."""

from __future__ import annotations

import importlib
import warnings

import pytest

import minigrad
from tests.support.engines import function_of, leaf, on_each_engine


def warned(call):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        call()
    return [(w.category, str(w.message), w.filename) for w in seen]


def test_attributes_that_an_instance_of_a_function_lacks():
    with warnings.catch_warnings():
        # It warns that a Function should not be instantiated.
        warnings.simplefilter("ignore", DeprecationWarning)
        made = function_of(minigrad, lambda ctx, x: x)()
    for name in ("metadata", "name", "next_functions"):
        with pytest.raises(RuntimeError) as caught:
            getattr(made, name)
        assert str(caught.value) == (
            f"Attribute '{name}' is invalid for this instance of _C._FunctionBase. Accessing this "
            "attribute directly on an instance of autograd.Function is a legacy access pattern "
            "that is no longer supported. For examples on how to use new-style autograd functions, "
            "see https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function ")
    with pytest.raises(AttributeError, match=r"^'Made' object has no attribute 'nothing'$"):
        made.nothing


@on_each_engine
def test_an_in_place_function_remembers_how_it_was_made(torch):
    base = torch.autograd.function.InplaceFunction
    with warnings.catch_warnings():
        # It warns that a Function should not be instantiated.
        warnings.simplefilter("ignore", DeprecationWarning)
        assert base().inplace is False
        assert base(True).inplace is True and base(inplace=False).inplace is False


@on_each_engine
def test_a_leaf_that_needs_no_gradient_may_be_written_by_a_function(torch):
    def forward(ctx, x, y):
        ctx.mark_dirty(x)
        return x.mul_(y)

    x, y = torch.tensor([1.0, 2.0]), leaf(torch, [3.0, 4.0])
    out = function_of(torch, forward, lambda ctx, g: (None, g)).apply(x, y)
    assert out is x and x.requires_grad and not x.is_leaf
    assert x.grad_fn.name() == "MadeBackward" and x._version == 2
    x.sum().backward()
    assert y.grad.tolist() == [1.0, 1.0]


@on_each_engine
@pytest.mark.filterwarnings("ignore:.*jit.script.*:DeprecationWarning")  # PyTorch's own
def test_a_jvp_has_to_return_a_view_where_forward_does(torch):
    fwd = torch.autograd.forward_ad

    def run(jvp, tangent):
        with fwd.dual_level():
            made = function_of(torch, lambda ctx, x: x.view(2, 1), jvp=staticmethod(jvp))
            return fwd.unpack_dual(made.apply(fwd.make_dual(torch.ones(2), tangent))).tangent

    assert run(lambda ctx, t: t.view(2, 1), torch.ones(2)).tolist() == [[1.0], [1.0]]
    with pytest.raises(RuntimeError, match=r"^A custom Function's forward is returning a view \(or "
                       r"an input as-is\) but the jvp is not returning a view\.$"):
        run(lambda ctx, t: torch.ones(2, 1), torch.ones(2))
    with pytest.raises(RuntimeError, match=r"^A custom Function is returning a view but the jvp is "
                       r"not returning a view of the given grad input\.$"):
        run(lambda ctx, t: torch.ones(2).view(2, 1), torch.ones(2))


@on_each_engine
def test_once_differentiable_lets_gradients_without_history_be(torch):
    def backward(ctx, g):
        return g * 2

    made = function_of(torch, lambda ctx, x: x * 2,
                    torch.autograd.function.once_differentiable(backward))
    x = leaf(torch, [1.0, 2.0])
    (first,) = torch.autograd.grad(made.apply(x).sum(), x, create_graph=True)
    assert first.tolist() == [2.0, 2.0] and not first.requires_grad
    (first,) = torch.autograd.grad((made.apply(x) * x).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match=r"^trying to differentiate twice a function that was "
                       r"marked with @once_differentiable$"):
        first.sum().backward()


@on_each_engine
@pytest.mark.filterwarnings("ignore:There is a performance drop")  # of PyTorch's fallback
def test_a_function_in_a_batch_of_gradients(torch):
    x = leaf(torch, [1.0, 2.0], dtype=torch.float64)
    made = function_of(torch, lambda ctx, t: t * 1, lambda ctx, g: g * 1)
    assert torch.autograd.gradcheck(made.apply, x, check_batched_grad=True,
                                    check_undefined_grad=False)


# The old interface asks for it.
@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")
def test_a_nested_function_marks_what_it_writes_and_what_has_no_gradient():
    class Nested(minigrad.autograd.NestedIOFunction):
        def forward_extended(self, pair):
            whole = (pair[0] * 3).to(minigrad.int64).to(minigrad.float32)
            self.mark_dirty(pair[1])
            self.mark_non_differentiable([whole])
            return whole, pair[1].add_(1)

        def backward_extended(self, whole, written):
            return whole, written

    x, y = leaf(minigrad, [1.0]), leaf(minigrad, [2.0]) * 1
    whole, written = Nested()((x, y))
    assert not whole.requires_grad and whole.tolist() == [3.0]
    assert written is y and y._version == 2 and written.requires_grad
    written.sum().backward()
    assert x.grad.tolist() == [0.0]


def test_a_variable_may_be_given_a_function():
    node = function_of(minigrad, lambda ctx, t: t * 1, lambda ctx, g: g).apply(
        leaf(minigrad, [1.0])).grad_fn
    made = minigrad.autograd.Variable(minigrad.ones(1), _grad_fn=node, name="made")
    assert made.grad_fn is node and made.requires_grad and made.name == "made"
    empty = minigrad.autograd.Variable(requires_grad=True)
    assert tuple(empty.shape) == (0,) and empty.requires_grad and empty.is_leaf


@on_each_engine
def test_a_function_that_writes_leaves_no_gradient_behind(torch):
    def forward(ctx, x, y):
        ctx.mark_dirty(x)
        return x.mul_(y)

    x = torch.tensor([1.0, 2.0])
    function_of(torch, forward, lambda ctx, g: (None, g)).apply(x, leaf(torch, [3.0, 4.0]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # x is no leaf now
        assert x.grad is None


def test_a_function_in_a_batch_says_that_it_runs_row_by_row():
    x = leaf(minigrad, [1.0, 2.0])
    y = function_of(minigrad, lambda ctx, t: t * 1, lambda ctx, g: g * 3).apply(x)
    with pytest.warns(UserWarning, match=r"^There is a performance drop because MadeBackward runs "
                      r"once for each row of the batch: set generate_vmap_rule = True"):
        (found,) = minigrad.autograd.grad(y, x, minigrad.eye(2), is_grads_batched=True)
    assert found.tolist() == [[3.0, 0.0], [0.0, 3.0]]


@on_each_engine
@pytest.mark.parametrize("which", [0, 1, 2])
def test_a_delayed_error_of_several_tensors(torch, which):
    given = [leaf(torch, [1.0, 2.0]), leaf(torch, [[1.0], [2.0], [3.0]], dtype=torch.float64),
             leaf(torch, 1.0)]
    home = torch._C._functions if torch.__name__ == "torch" else importlib.import_module(
        "minigrad.autograd.function.delayed_error")
    outputs = home.DelayedError("not again", 3)(*given)
    assert isinstance(outputs, (tuple, list)) and len(outputs) == 3
    assert [o.tolist() for o in outputs] == [g.tolist() for g in given]
    if torch is minigrad:
        node = outputs[0].grad_fn
        assert [node.metadata_of(i) for i in range(3)] == [
            (tuple(g.shape), g.numpy(force=True).dtype) for g in given]
    with pytest.raises(RuntimeError, match="^not again$"):
        outputs[which].sum().backward()


@on_each_engine
def test_once_differentiable_and_missing_gradients(torch):
    def forward(ctx, x, y):
        ctx.set_materialize_grads(False)
        return x * 2, y * 3

    def backward(ctx, g, h):
        return None if g is None else g * 2, None if h is None else h * 3

    made = function_of(torch, forward, torch.autograd.function.once_differentiable(backward))
    x, y = leaf(torch, [1.0, 2.0]), leaf(torch, [3.0, 4.0])
    one, _ = made.apply(x, y)
    first, none = torch.autograd.grad(one.sum(), (x, y), create_graph=True, allow_unused=True)
    assert first.tolist() == [2.0, 2.0] and none is None


@on_each_engine
def test_shared_storage_needs_no_mark(torch):
    def forward(ctx, x):
        ctx.mark_shared_storage((x, x))
        return x * 1

    made = type("Made", (torch.autograd.Function,), {"forward": staticmethod(forward)})
    assert warned(lambda: made.apply(torch.ones(1))) == [
        (FutureWarning, "`mark_shared_storage` is deprecated. Tensors with shared storages are "
         "automatically tracked. Note that calls to `set_()` are not tracked", __file__)]


def test_the_words_for_an_output_of_another_type():
    with pytest.raises(TypeError, match="^The outputs given to jacobian must be either a Tensor or "
                       "a tuple of Tensors but the given outputs has type <class 'float'>"):
        minigrad.autograd.functional.jacobian(
            lambda x: 3.0, minigrad.ones(2), vectorize=True, strategy="forward-mode")
