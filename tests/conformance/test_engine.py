"""`backward` and `grad`: where a pass starts, what it reaches, what it keeps."""

from __future__ import annotations

import pytest


def test_a_single_number_needs_no_gradient_of_its_own(leaf):
    x = leaf(3.0)
    (x * x).backward()
    assert x.grad.tolist() == 6.0


def test_several_numbers_need_a_gradient(leaf):
    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match="implicitly created only for scalar outputs"):
        (x * x).backward()


def test_one_element_in_any_shape_counts_as_a_scalar(leaf):
    x = leaf([[2.0]])
    (x * x).backward()
    assert x.grad.tolist() == [[4.0]]


def test_the_gradient_given_weighs_the_outputs(torch, leaf):
    x = leaf(1.0, 2.0)
    (x * x).backward(torch.tensor([10.0, 100.0], dtype=torch.float64))
    assert x.grad.tolist() == [20.0, 400.0]


def test_a_gradient_of_the_wrong_shape_is_refused(torch, leaf):
    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match=r"Mismatch in shape: grad_output\[0\]"):
        (x * x).backward(torch.ones(3))


def test_a_gradient_that_is_no_tensor_is_refused(torch, leaf):
    x = leaf(1.0, 2.0)
    with pytest.raises(TypeError, match="gradients can be either Tensors or None"):
        torch.autograd.backward([x * x], [1.0])


def test_a_gradient_of_another_dtype_is_cast(torch, leaf):
    x = leaf(1.0, 2.0)
    (x * 2).backward(torch.ones(2, dtype=torch.float32))
    assert x.grad.dtype == torch.float64


def test_a_root_without_history_is_refused(torch):
    with pytest.raises(RuntimeError, match="element 0 of tensors does not require grad"):
        torch.ones(1).backward()


def test_a_leaf_may_be_the_root(torch, leaf):
    x = leaf(1.0, 2.0)
    x.backward(torch.tensor([5.0, 6.0], dtype=torch.float64))
    assert x.grad.tolist() == [5.0, 6.0]


def test_gradients_add_up_over_passes(leaf):
    x = leaf(3.0)
    for _ in range(3):
        (x * x).backward()
    assert x.grad.tolist() == 18.0


def test_the_graph_is_freed(leaf):
    x = leaf(3.0)
    y = x * x
    y.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.backward()


def test_retain_graph_keeps_it(leaf):
    x = leaf(3.0)
    y = x * x
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == 12.0


def test_a_graph_that_saved_nothing_may_run_again(leaf):
    x = leaf(3.0)
    y = x + x
    y.backward()
    y.backward()
    assert x.grad.tolist() == 4.0


def test_several_roots_in_one_pass(torch, leaf):
    x = leaf(2.0)
    torch.autograd.backward([x * x, x * 3])
    assert x.grad.tolist() == 7.0


def test_roots_that_depend_on_each_other(torch, leaf):
    x = leaf(2.0)
    y = x * x
    torch.autograd.backward([y, y * 10])
    assert x.grad.tolist() == 44.0


def test_a_gradient_for_each_root(torch, leaf):
    x = leaf(2.0)
    with pytest.raises(RuntimeError, match="got 2 tensors and 1 gradients"):
        torch.autograd.backward([x * x, x], [torch.ones((), dtype=torch.float64)])


def test_backward_with_inputs_fills_only_these(torch, leaf):
    x, y = leaf(2.0), leaf(3.0)
    torch.autograd.backward(x * y, inputs=[x])
    assert (x.grad.tolist(), y.grad) == (3.0, None)


def test_backward_takes_one_input_without_a_list(torch, leaf):
    x, y = leaf(2.0), leaf(3.0)
    (x * y).backward(inputs=y)
    assert (x.grad, y.grad.tolist()) == (None, 2.0)


def test_backward_with_inputs_fills_a_non_leaf(torch, leaf):
    x = leaf(2.0)
    y = x * x
    (y * 5).backward(inputs=[y])
    assert (x.grad, y.grad.tolist()) == (None, 5.0)


def test_backward_without_any_input_is_refused(torch, leaf):
    with pytest.raises(RuntimeError, match="`inputs` argument to `backward\\(\\)` cannot be empty"):
        torch.autograd.backward(leaf(1.0) * 2, inputs=[])


def test_grad_touches_no_dot_grad(torch, leaf):
    x = leaf(3.0)
    (slope,) = torch.autograd.grad(x * x, x)
    assert (slope.tolist(), x.grad) == (6.0, None)


def test_grad_without_any_input_is_refused(torch, leaf):
    with pytest.raises((RuntimeError, ValueError), match="cannot be empty|requires non-empty inpu"):
        torch.autograd.grad(leaf(1.0) * 2, [])


def test_grad_by_an_intermediate_result(torch, leaf):
    x = leaf(3.0)
    y = x * x
    assert torch.autograd.grad(y * 5, y)[0].tolist() == 5.0


def test_grad_by_a_leaf_and_an_intermediate_result(torch, leaf):
    x = leaf(3.0)
    y = x * x
    assert [g.tolist() for g in torch.autograd.grad(y * x, [x, y])] == [27.0, 3.0]


def test_grad_by_the_output_itself(torch, leaf):
    y = leaf(3.0) * 2
    assert torch.autograd.grad(y, y)[0].tolist() == 1.0


def test_grad_by_one_input_twice(torch, leaf):
    x = leaf(3.0)
    assert [g.tolist() for g in torch.autograd.grad(x * x, [x, x])] == [6.0, 6.0]


def test_grad_by_an_input_without_grad_is_refused(torch, leaf):
    x = torch.ones(())
    with pytest.raises(RuntimeError, match="One of the differentiated Tensors does not require"):
        torch.autograd.grad(leaf(2.0) * x, x)


def test_grad_by_an_unused_input_is_refused(torch, leaf):
    x, y = leaf(2.0), leaf(3.0)
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
        torch.autograd.grad(x * x, [x, y])


def test_allow_unused_gives_none(torch, leaf):
    x, y = leaf(2.0), leaf(3.0)
    slopes = torch.autograd.grad(x * x, [x, y], allow_unused=True)
    assert (slopes[0].tolist(), slopes[1]) == (4.0, None)


def test_materialize_grads_gives_zeros(torch, leaf):
    x, y = leaf(2.0), leaf([3.0, 4.0])
    slopes = torch.autograd.grad(x * x, [x, y], materialize_grads=True)
    assert slopes[1].tolist() == [0.0, 0.0]


def test_materialize_grads_contradicts_no_unused(torch, leaf):
    x = leaf(2.0)
    with pytest.raises(ValueError, match="allow_unused to be True or not passed"):
        torch.autograd.grad(x * x, x, allow_unused=False, materialize_grads=True)


def test_grad_of_a_weighted_sum_of_outputs(torch, leaf):
    x = leaf(2.0)
    weights = [torch.tensor(1.0, dtype=torch.float64), torch.tensor(10.0, dtype=torch.float64)]
    assert torch.autograd.grad([x * x, x * 3], x, weights)[0].tolist() == 34.0


def test_grad_frees_the_graph_too(torch, leaf):
    x = leaf(2.0)
    y = x * x
    torch.autograd.grad(y, x)
    with pytest.raises(RuntimeError, match="second time"):
        torch.autograd.grad(y, x)


def test_second_and_third_derivatives(torch, leaf):
    x = leaf(2.0)
    slopes, y = [], x**4
    for _ in range(4):
        (y,) = torch.autograd.grad(y, x, create_graph=True)
        slopes.append(y.tolist())
    assert slopes == [32.0, 48.0, 48.0, 24.0]


def test_grad_without_create_graph_has_no_history(torch, leaf):
    x = leaf(2.0)
    (slope,) = torch.autograd.grad(x**3, x)
    assert not slope.requires_grad


def test_backward_with_create_graph_leaves_a_differentiable_gradient(torch, leaf):
    x = leaf(2.0)
    with pytest.warns(UserWarning, match=r"Using backward\(\) with create_graph=True"):
        (x**3).backward(create_graph=True)
    assert x.grad.requires_grad
    assert torch.autograd.grad(x.grad, x)[0].tolist() == 12.0
    x.grad = None


def test_grad_with_create_graph_does_not_warn(torch, leaf, recwarn):
    x = leaf(2.0)
    torch.autograd.grad(x**3, x, create_graph=True)
    assert not recwarn


def test_batched_gradients_give_a_jacobian(torch, leaf):
    x = leaf(2.0, 3.0)
    rows = torch.eye(2, dtype=torch.float64)
    (jacobian,) = torch.autograd.grad(x * x, x, rows, is_grads_batched=True)
    assert jacobian.tolist() == [[4.0, 0.0], [0.0, 6.0]]


def test_batched_gradients_have_to_fit_the_output(torch, leaf):
    x = leaf(2.0, 3.0)
    with pytest.raises(RuntimeError, match="we interpret the first dimension of each grad_output"):
        torch.autograd.grad(x * x, x, torch.ones(2, dtype=torch.float64), is_grads_batched=True)


def test_gradients_of_two_leaves_are_two_memories(torch, leaf):
    a, b = leaf(1.0, 2.0), leaf(3.0, 4.0)
    start = torch.ones(2, dtype=torch.float64)
    (a + b).backward(start)
    a.grad += 1
    assert (b.grad.tolist(), start.tolist()) == ([1.0, 1.0], [1.0, 1.0])


def test_the_gradient_of_a_sum_is_a_memory_of_full_size(torch, leaf):
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    x.sum().backward()
    assert x.grad.stride() == (2, 1)


def test_the_gradient_of_a_transposed_leaf_has_its_strides(torch):
    x = torch.ones(2, 3).t().requires_grad_()
    (x * 2).sum().backward()
    assert x.grad.stride() == x.stride()


def test_gradients_of_broadcast_inputs_are_summed(torch, leaf):
    x = leaf(1.0, 2.0)
    (x + torch.zeros(3, 2, dtype=torch.float64)).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_no_elements_no_gradient_but_its_shape(torch):
    x = torch.ones(0, 3, requires_grad=True)
    x.sum().backward()
    assert tuple(x.grad.shape) == (0, 3)


def test_integers_cannot_require_grad(torch):
    with pytest.raises(RuntimeError, match="floating point"):
        torch.ones(2, dtype=torch.int64).requires_grad_()


def test_a_non_leaf_cannot_stop_requiring_grad(leaf):
    y = leaf(1.0) * 2
    with pytest.raises(RuntimeError, match="only change requires_grad flags of leaf variables"):
        y.requires_grad = False


def test_detach_gives_a_leaf_on_the_same_memory(leaf):
    y = leaf(1.0, 2.0) * 1
    z = y.detach()
    assert (z.requires_grad, z.is_leaf, z.data_ptr()) == (False, True, y.data_ptr())


def test_a_long_chain_needs_no_recursion(leaf):
    x = leaf(1.0)
    y = x
    for _ in range(5000):
        y = y + 1
    y.backward()
    del y
    assert x.grad.tolist() == 1.0


def test_a_callback_runs_once_all_nodes_have(torch, leaf):
    x, order = leaf(2.0), []
    y = x * 2

    def install(grad):
        torch.autograd.Variable._execution_engine.queue_callback(lambda: order.append("end"))
        order.append("hook")

    y.register_hook(install)
    x.register_hook(lambda grad: order.append("leaf"))
    y.backward()
    assert order == ["hook", "leaf", "end"]


def test_a_callback_may_queue_another(torch, leaf):
    x, calls = leaf(2.0), []
    engine = torch.autograd.Variable._execution_engine

    def first():
        calls.append(1)
        engine.queue_callback(lambda: calls.append(2))

    x.register_hook(lambda grad: engine.queue_callback(first))
    (x * 2).backward()
    assert calls == [1, 2]


def test_callbacks_need_a_pass(torch):
    with pytest.raises(RuntimeError, match="only be installed during backward pass"):
        torch.autograd.Variable._execution_engine.queue_callback(print)


def test_backward_inside_a_hook(torch, leaf):
    x, other = leaf(2.0), leaf(5.0)

    def hook(grad):
        with torch.enable_grad():
            (other * other).backward()

    y = x * 3
    y.register_hook(hook)
    y.backward()
    assert (x.grad.tolist(), other.grad.tolist()) == (3.0, 10.0)


def test_grad_mode_inside_a_pass_follows_create_graph(torch, leaf):
    x, modes = leaf(2.0), []
    y = x * x
    y.register_hook(lambda grad: modes.append(torch.is_grad_enabled()))
    torch.autograd.grad(y, x, retain_graph=True)
    torch.autograd.grad(y, x, create_graph=True)
    assert modes == [False, True]
    assert torch.is_grad_enabled()


def test_grad_mode_comes_back_after_an_error(torch, leaf):
    x = leaf(2.0)
    y = x * x

    def fail(grad):
        raise ValueError("no")

    y.register_hook(fail)
    with pytest.raises(ValueError, match="no"):
        y.backward()
    assert torch.is_grad_enabled()


def test_backward_under_no_grad(torch, leaf):
    x = leaf(2.0)
    y = x * x
    with torch.no_grad():
        y.backward()
    assert x.grad.tolist() == 4.0


def test_reading_grad_of_a_non_leaf_warns(leaf):
    y = leaf(2.0) * 2
    with pytest.warns(UserWarning, match="The .grad attribute of a Tensor that is not a leaf"):
        assert y.grad is None


@pytest.mark.parametrize(("make", "error", "match"), [
    (lambda t, x: 1, TypeError, "assigned grad expected to be a Tensor or None"),
    (lambda t, x: t.zeros(3, dtype=t.float64), RuntimeError, "gradient of size"),
    (lambda t, x: t.zeros(2, dtype=t.float32), RuntimeError, "dtype"),
    (lambda t, x: x, RuntimeError, "can't assign Variable as its own grad"),
])
def test_dot_grad_takes_only_what_fits(torch, leaf, make, error, match):
    x = leaf(1.0, 2.0)
    with pytest.raises(error, match=match):
        x.grad = make(torch, x)


def test_dot_grad_may_be_assigned_and_deleted(torch, leaf):
    x = leaf(1.0, 2.0)
    x.grad = torch.ones(2, dtype=torch.float64)
    x.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    del x.grad
    assert x.grad is None


def test_accumulation_writes_to_the_gradient_that_is_there(torch, leaf):
    x = leaf(1.0, 2.0)
    x.sum().backward()
    kept = x.grad
    x.sum().backward()
    assert kept is x.grad
    assert kept.tolist() == [2.0, 2.0]


def test_inputs_and_slopes_may_have_names(torch, leaf):
    inputs = {"a": leaf(2.0), "b": leaf(3.0)}
    slopes = torch.autograd.grad(inputs["a"] * inputs["b"], inputs)
    assert {name: slope.tolist() for name, slope in slopes.items()} == {"a": 3.0, "b": 2.0}


@pytest.mark.parametrize(("name", "match"), [
    ("data", "Deleting tensor data is not allowed"), ("requires_grad", "must be a bool"),
    ("_backward_hooks", "Deletion of _backwards_hooks not allowed")])
def test_what_a_tensor_needs_cannot_be_deleted(leaf, name, match):
    with pytest.raises(RuntimeError, match=match):
        delattr(leaf(1.0), name)


def test_retaining_a_gradient_does_not_retain_the_tensor(torch, leaf):
    y = leaf(1.0) * 2
    y.retain_grad()
    z, reference = y / 2, torch._C._WeakTensorRef(y)
    del y
    assert reference.expired()
    z.backward()
