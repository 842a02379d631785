"""`Function`: what a custom operation may do, and what it is refused."""

from __future__ import annotations

import gc
import weakref

import pytest


def doubled(torch, backward=None):
    """Return a Function `x * 2` with the backward given."""

    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    Twice.backward = staticmethod(backward or (lambda ctx, g: g * 2))
    return Twice


def test_the_node_is_named_after_the_class(torch, leaf):
    y = doubled(torch).apply(leaf(1.0))
    assert y.grad_fn.name() == type(y.grad_fn).__name__ == "TwiceBackward"


def test_the_class_knows_the_class_of_its_nodes(torch, leaf):
    cls = doubled(torch)
    assert type(cls.apply(leaf(1.0)).grad_fn) is cls._backward_cls


def test_without_inputs_that_require_grad_there_is_no_node(torch):
    assert doubled(torch).apply(torch.ones(2)).grad_fn is None


def test_nothing_is_recorded_under_no_grad(torch, leaf):
    with torch.no_grad():
        assert not doubled(torch).apply(leaf(1.0)).requires_grad


def test_forward_runs_without_recording(torch, leaf):
    seen = []

    class Look(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            seen.append((torch.is_grad_enabled(), (x * 2).requires_grad))
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g

    Look.apply(leaf(1.0))
    assert seen == [(False, False)]


def test_what_is_no_tensor_passes_through_and_gets_none(torch, leaf):
    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor, name):
            ctx.factor = factor
            assert name == "three"
            return x * factor

        @staticmethod
        def backward(ctx, g):
            return g * ctx.factor, None, None

    x = leaf(2.0)
    Scale.apply(x, 3, "three").backward()
    assert x.grad.tolist() == 3.0


def test_needs_input_grad_names_the_inputs_that_do(torch, leaf):
    seen = []

    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b, c):
            ctx.save_for_backward(a, b)
            return a * b

        @staticmethod
        def backward(ctx, g):
            seen.append(ctx.needs_input_grad)
            _, b = ctx.saved_tensors
            return g * b, None, None

    Product.apply(leaf(1.0), torch.ones((), dtype=torch.float64), 5).backward()
    assert seen == [(True, False, False)]


def test_saved_inputs_come_back_with_their_history(torch, leaf):
    seen = []

    class Keep(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x, None)
            return x * 1

        @staticmethod
        def backward(ctx, g):
            seen.extend(ctx.saved_tensors)
            return g

    x = leaf(1.0)
    Keep.apply(x).backward()
    assert seen[0] is x
    assert seen[1] is None


def test_saved_tensors_are_gone_after_the_pass(torch, leaf):
    class Keep(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0]

    y = Keep.apply(leaf(1.0))
    y.backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


def test_the_last_save_for_backward_counts(torch, leaf):
    class Keep(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.save_for_backward(x * 10)
            return x * 1

        @staticmethod
        def backward(ctx, g):
            (kept,) = ctx.saved_tensors
            return g * kept

    x = leaf(2.0)
    Keep.apply(x).backward()
    assert x.grad.tolist() == 20.0


def test_only_tensors_can_be_saved(torch, leaf):
    class Keep(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x, 3)
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g

    with pytest.raises(TypeError, match="can only save variables, but argument 1 is of type int"):
        Keep.apply(leaf(1.0))


def test_a_saved_input_written_to_is_noticed(torch, leaf):
    class Keep(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0]

    x = leaf(1.0) * 1
    y = Keep.apply(x)
    x += 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


@pytest.mark.parametrize(("returned", "match"), [
    (lambda g: (g, g), "returned an incorrect number of gradients"),
    (lambda g: 1.0, "expected Variable or None"),
    (lambda g: g.new_ones(3), "expected shape"),
])
def test_what_backward_returns_has_to_fit(torch, leaf, returned, match):
    y = doubled(torch, lambda ctx, g: returned(g)).apply(leaf(1.0, 2.0))
    with pytest.raises(RuntimeError, match=match):
        y.sum().backward()


def test_a_surplus_of_none_is_accepted(torch, leaf):
    x = leaf(1.0)
    doubled(torch, lambda ctx, g: (g, None, None)).apply(x).backward()
    assert x.grad.tolist() == 1.0


def test_a_gradient_for_what_is_no_tensor_is_refused(torch, leaf):
    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            return x * factor

        @staticmethod
        def backward(ctx, g):
            return g, g

    with pytest.raises(RuntimeError, match="returned a gradient different than None at position 2"):
        Scale.apply(leaf(1.0), 2.0).backward()


def test_none_stands_for_no_gradient(torch, leaf):
    x = leaf(1.0)
    doubled(torch, lambda ctx, g: None).apply(x).backward()
    assert x.grad is None


def test_a_gradient_may_be_wider_than_the_input(torch, leaf):
    x = leaf([[1.0]])
    doubled(torch, lambda ctx, g: g.expand(2, 3)).apply(x).backward()
    assert x.grad.tolist() == [[6.0]]


def test_a_function_needs_a_forward(torch, leaf):
    class Empty(torch.autograd.Function):
        pass

    with pytest.raises(NotImplementedError, match="implement the forward function"):
        Empty.apply(leaf(1.0))


def test_a_function_needs_a_backward(torch, leaf):
    class Half(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

    with pytest.raises(NotImplementedError, match="implement either the backward or vjp"):
        Half.apply(leaf(1.0)).backward()


def test_vjp_is_another_name_of_backward(torch, leaf):
    class Half(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 0.5

        @staticmethod
        def vjp(ctx, g):
            return g * 0.5

    x = leaf(1.0)
    Half.apply(x).backward()
    assert x.grad.tolist() == 0.5


def test_backward_and_vjp_are_one_too_many(torch, leaf):
    cls = doubled(torch)
    cls.vjp = staticmethod(lambda ctx, g: g)
    with pytest.raises(RuntimeError, match="Implementing both 'backward' and 'vjp'"):
        cls.apply(leaf(1.0)).backward()


def test_a_function_is_not_called(torch):
    cls = doubled(torch)
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        function = cls()
    with pytest.raises(RuntimeError, match="Legacy autograd function with non-static forward"):
        function(torch.ones(1))


def test_setup_context_fills_ctx(torch, leaf):
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, g):
            return 2 * g * ctx.saved_tensors[0]

    x = leaf(3.0)
    Square.apply(x).backward()
    assert x.grad.tolist() == 6.0


def test_several_outputs(torch, leaf):
    class Split(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, a, b):
            return a * 2 + b * 3

    x = leaf(1.0)
    a, b = Split.apply(x)
    assert (a.output_nr, b.output_nr, a.grad_fn is b.grad_fn) == (0, 1, True)
    (a + 10 * b).backward()
    assert x.grad.tolist() == 32.0


@pytest.mark.parametrize("materialize", [True, False])
def test_outputs_without_a_gradient_give_zeros_or_none(torch, leaf, materialize):
    seen = []

    class Split(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(materialize)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, a, b):
            seen.append(b)
            return a * 2

    Split.apply(leaf(1.0, 2.0))[0].sum().backward()
    assert (seen[0].tolist() if materialize else seen[0]) == ([0.0, 0.0] if materialize else None)


def test_outputs_that_are_no_tensors_come_back_as_they_are(torch, leaf):
    class Mixed(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return "text", x * 2, None

        @staticmethod
        def backward(ctx, *grads):
            assert grads[0] is None
            return grads[1] * 2

    x = leaf(1.0)
    text, y, nothing = Mixed.apply(x)
    y.backward()
    assert (text, nothing, x.grad.tolist()) == ("text", None, 2.0)


def test_marked_outputs_are_not_differentiable(torch, leaf):
    class Parts(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            a, b = x * 2, x * 3
            ctx.mark_non_differentiable(a)
            return a, b

        @staticmethod
        def backward(ctx, a, b):
            assert a.tolist() == 0.0
            return b * 3

    x = leaf(1.0)
    a, b = Parts.apply(x)
    assert (a.requires_grad, b.requires_grad) == (False, True)
    b.backward()
    assert x.grad.tolist() == 3.0


def test_integer_outputs_are_not_differentiable(torch, leaf):
    class Count(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.long()

        @staticmethod
        def backward(ctx, g):
            raise AssertionError

    assert not Count.apply(leaf(1.0)).requires_grad


def test_one_tensor_returned_twice_is_one_output(torch, leaf):
    class Same(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            return y, y

        @staticmethod
        def backward(ctx, a, b):
            return a * 2 + b * 2

    x = leaf(1.0)
    a, b = Same.apply(x)
    assert a is b
    (a + b).backward()
    assert x.grad.tolist() == 4.0


def test_an_input_returned_gets_a_place_of_its_own(torch, leaf):
    class Pass(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 5

    x = leaf(1.0)
    y = Pass.apply(x)
    assert y is not x
    y.backward()
    assert (x.is_leaf, x.grad.tolist()) == (True, 5.0)


def test_a_view_of_an_input_returned_cannot_be_written_to(torch, leaf):
    class Pass(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.view(-1)

        @staticmethod
        def backward(ctx, g):
            return g.view(2, 1)

    y = Pass.apply(leaf([[1.0], [2.0]]) * 1)
    with pytest.raises(RuntimeError, match="created inside a custom Function"):
        y += 1


def writer(torch):
    """Return a Function that adds 1 to its input in place."""

    class AddOne(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.add_(1)

        @staticmethod
        def backward(ctx, g):
            return g * 10

    return AddOne


def test_a_dirty_input_is_the_output(torch, leaf):
    x = leaf(1.0)
    y = x * 2
    z = writer(torch).apply(y)
    assert z is y
    assert type(y.grad_fn).__name__ == "AddOneBackward"
    y.backward()
    assert x.grad.tolist() == 20.0


def test_a_dirty_leaf_is_refused(torch, leaf):
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        writer(torch).apply(leaf(1.0))


def test_a_dirty_view_changes_the_history_of_its_base(torch, leaf):
    x = leaf(1.0, 2.0)
    y = x * 1
    writer(torch).apply(y[:1])
    y.sum().backward()
    assert x.grad.tolist() == [10.0, 1.0]


def test_a_dirty_input_has_to_be_returned(torch, leaf):
    class Lost(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x.add_(1))
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g

    with pytest.raises(RuntimeError, match="marked as dirty during the forward method were not"):
        Lost.apply(leaf(1.0) * 1)


def test_a_dirty_view_allows_one_output_only(torch, leaf):
    class Two(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.add_(1), x * 2

        @staticmethod
        def backward(ctx, a, b):
            return a

    with pytest.raises(RuntimeError, match="cannot return more than one Tensor"):
        Two.apply((leaf(1.0, 2.0) * 1)[:1])


def test_once_differentiable_is_enough_for_one_derivative(torch, leaf):
    once = torch.autograd.function.once_differentiable
    seen = []

    def backward(ctx, g):
        seen.append(torch.is_grad_enabled())
        return g * 2

    x = leaf(1.0)
    doubled(torch, once(backward)).apply(x).backward()
    assert (x.grad.tolist(), seen) == (2.0, [False])


def test_once_differentiable_refuses_the_second(torch, leaf):
    once = torch.autograd.function.once_differentiable
    x = leaf(1.0)
    y = doubled(torch, once(lambda ctx, g: g * 2)).apply(x * x) ** 2
    (slope,) = torch.autograd.grad(y, x, create_graph=True)
    with pytest.raises(RuntimeError, match="differentiate twice a function that was marked"):
        slope.backward()


def test_backward_may_use_functions(torch, leaf):
    cls = doubled(torch)

    class Outer(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * cls.apply(x * x) * 1.5

    x = leaf(2.0)
    (slope,) = torch.autograd.grad(Outer.apply(x), x, create_graph=True)
    (second,) = torch.autograd.grad(slope, x)
    assert (slope.tolist(), second.tolist()) == (12.0, 12.0)


def test_forward_may_record_a_graph_of_its_own(torch, leaf):
    class Inner(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            with torch.enable_grad():
                ctx.x = x.detach().requires_grad_()
                ctx.y = ctx.x**2
            return ctx.y.detach()

        @staticmethod
        def backward(ctx, g):
            with torch.enable_grad():
                ctx.y.backward(g)
            return ctx.x.grad

    x = leaf(3.0)
    Inner.apply(x).backward()
    assert x.grad.tolist() == 6.0


def test_an_error_in_backward_reaches_the_caller(torch, leaf):
    def fail(ctx, g):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        doubled(torch, fail).apply(leaf(1.0)).backward()


def test_a_dropped_graph_is_freed_without_the_collector(torch, leaf):
    class Marked:
        pass

    class Keep(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            ctx.mark = Marked()
            marks.append(weakref.ref(ctx.mark))
            ctx.save_for_backward(x, y)
            return y

        @staticmethod
        def backward(ctx, g):
            return g

    marks = []
    gc.disable()
    try:
        Keep.apply(leaf(1.0))
        assert marks[0]() is None
    finally:
        gc.enable()


def test_saved_outputs_carry_the_function_as_history(torch, leaf):
    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0]

    x = leaf(0.0)
    slope = Exp.apply(x)
    for _ in range(3):
        (slope,) = torch.autograd.grad(slope, x, create_graph=True)
        assert slope.tolist() == 1.0


def test_undefined_gradients_are_no_gradients(torch, leaf):
    x = leaf(1.0)
    y = torch._C._functions.UndefinedGrad()(x * 2)
    y.backward()
    assert x.grad is None or x.grad.tolist() == 0.0


def test_an_error_node_counts_its_arguments(torch, leaf):
    raising = torch._C._functions.DelayedError("not again", 1)
    y = raising(leaf(1.0))
    assert type(y.grad_fn).__name__ == "Error"
    assert type(y.grad_fn.next_functions[0][0]).__name__ == "AccumulateGrad"
    with pytest.raises(RuntimeError, match="not again"):
        y.backward()


def test_nodes_of_ops_count_their_arguments(torch, leaf):
    x = leaf(3.0)
    y = x * 2
    assert y.grad_fn(torch.ones((), dtype=torch.float64))[0].tolist() == 2.0
    with pytest.raises(TypeError, match="expected 1 arguments, got 0 instead"):
        y.grad_fn()
    with pytest.raises(TypeError, match="argument 0 is not a Variable"):
        y.grad_fn(1.0)
