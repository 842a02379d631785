"""Stage 03b: `backward` and `grad`, which check and prepare what the engine then does."""

import importlib
import math
import warnings

import numpy as np
import pytest
from _oracle import assert_close, central_difference_vjp

import minigrad as torch
from minigrad import _state
from minigrad.autograd import forward_ad
from minigrad.autograd.graph import GradientEdge, get_gradient_edge
from minigrad.engine import engine
from minigrad.engine.graph_task import GraphTask

#: The module; `minigrad.autograd.backward` is the function.
front = importlib.import_module("minigrad.autograd.backward")


@pytest.fixture(autouse=True)
def as_before():
    yield
    _state.grad_enabled.set(True)
    engine._running.tasks.clear()
    engine._running.depth = 0


def leaf(values):
    return torch.tensor(values, requires_grad=True)


def said(kind, function, *args, **kwargs):
    with pytest.raises(kind) as raised:
        function(*args, **kwargs)
    return str(raised.value)


# ---------------------------------------------------------------- 03b.1 one or many


@pytest.mark.hole("03b.1")
def test_a_single_tensor_becomes_a_tuple():
    x = leaf([1.0, 2.0])
    found = front.as_tuple(x)
    assert type(found) is tuple and len(found) == 1 and found[0] is x, f"got {found!r}"


@pytest.mark.hole("03b.1")
def test_a_single_edge_is_one_and_not_three():
    edge = get_gradient_edge(leaf([1.0]) * 2)
    found = front.as_tuple(edge)
    assert len(found) == 1 and found[0] is edge, f"got {len(found)} things out of one edge"


@pytest.mark.hole("03b.1")
@pytest.mark.parametrize("pack", [list, tuple, iter], ids=["a list", "a tuple", "an iterator"])
def test_several_tensors_keep_their_order(pack):
    x, y = leaf(1.0), leaf(2.0)
    found = front.as_tuple(pack([y, x, y]))
    assert type(found) is tuple and [t is w for t, w in zip(found, (y, x, y), strict=True)]
    assert found[0] is y and found[1] is x and found[2] is y


@pytest.mark.hole("03b.1")
def test_of_a_dictionary_the_values_are_taken():
    x, y = leaf(1.0), leaf(2.0)
    found = front.as_tuple({"x": x, "y": y})
    assert len(found) == 2 and found[0] is x and found[1] is y, f"got {found!r}"


@pytest.mark.hole("03b.1")
@pytest.mark.parametrize("count", [1, 3])
def test_gradients_left_out(count):
    found = front.matched(None, count)
    assert found == (None,) * count, f"expected {(None,) * count}, got {found}"


@pytest.mark.hole("03b.1")
def test_a_gradient_given_for_one_tensor():
    g = torch.tensor([1.0, 2.0])
    found = front.matched(g, 1)
    assert type(found) is tuple and len(found) == 1 and found[0] is g, f"got {found!r}"


@pytest.mark.hole("03b.1")
def test_gradients_given_for_several_tensors():
    g = torch.ones(1)
    found = front.matched([g, None], 2)
    assert type(found) is tuple and found[0] is g and found[1] is None


COUNTS = pytest.mark.parametrize(("given", "count"), [
    pytest.param(given, count, id=f"{count} tensors and {given} gradients")
    for given, count in ((1, 2), (0, 1), (2, 3))])


@pytest.mark.hole("03b.1")
@COUNTS
def test_as_many_gradients_as_tensors(given, count):
    with pytest.raises(RuntimeError) as raised:
        pytest.fail(f"accepted: {front.matched([torch.ones(1)] * given, count)}")
    if isinstance(raised.value, NotImplementedError):  # it is a RuntimeError too
        raise raised.value


@pytest.mark.hole("03b.1")
@COUNTS
def test_the_error_says_how_many(given, count):
    text = said(RuntimeError, front.matched, [torch.ones(1)] * given, count)
    assert text == f"got {count} tensors and {given} gradients"


@pytest.mark.hole("03b.1")
def test_gradients_left_over_are_not_looked_at():
    g, h = torch.tensor(1.0), torch.tensor(2.0)
    found = front.matched([g, h, None], 2)
    assert type(found) is tuple and len(found) == 2, f"expected a tuple of two, got {found!r}"
    assert found[0] is g and found[1] is h


# ---------------------------------------------------------------- 03b.2 where the pass starts


@pytest.mark.hole("03b.2")
@pytest.mark.parametrize("which", ["a result", "a leaf", "the second output of an operation"])
def test_where_a_gradient_arrives(which):
    x = leaf([1.0, 2.0])
    y, (_, part) = x * 2, x.unbind()
    root, expected = {"a result": (y, (y.grad_fn, 0)), "a leaf": (x, (x._accumulator(), 0)),
                      "the second output of an operation": (part, (part.grad_fn, 1))}[which]
    got = tuple(front.edge_of(root))
    assert got == expected, f"edge_of: expected {expected}, got {got}"
    (got,) = front.root_edges([root])
    assert tuple(got) == expected, f"root_edges: expected {expected}, got {got}"


@pytest.mark.hole("03b.2")
def test_the_edges_of_several_roots():
    x = leaf([1.0, 2.0])
    y, (_, part) = x * 2, x.unbind()
    edges = front.root_edges([y, x, part])
    assert isinstance(edges, list), f"expected a list, got a {type(edges).__name__}"
    assert [tuple(edge) for edge in edges] == [(y.grad_fn, 0), (x._accumulator(), 0),
                                               (part.grad_fn, 1)]


@pytest.mark.hole("03b.2")
def test_an_edge_stands_for_itself():
    part = leaf([1.0, 2.0]).unbind()[1]
    edge = get_gradient_edge(part)
    assert isinstance(edge, GradientEdge)
    (found,) = front.root_edges([edge])
    assert tuple(found) == (part.grad_fn, 1), f"expected node and number, got {found!r}"
    assert tuple(front.edge_of(edge)) == (part.grad_fn, 1)


@pytest.mark.hole("03b.2")
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_root_without_history(place):
    roots = [leaf([1.0]) * 2 for _ in range(3)]
    roots[place] = torch.ones(1)
    text = said(RuntimeError, front.root_edges, roots)
    assert text == f"element {place} of tensors does not require grad and does not have a grad_fn"


@pytest.mark.hole("03b.2")
@pytest.mark.parametrize(("wrong", "kind"), [
    pytest.param(1.0, "float", id="float"), pytest.param(None, "NoneType", id="NoneType"),
    pytest.param([], "list", id="list")])
def test_a_root_has_to_be_a_tensor(wrong, kind):
    text = said(TypeError, front.root_edges, [leaf([1.0]) * 2, wrong])
    assert text == f"element 1 of tensors has to be a Tensor, not {kind}"


@pytest.mark.hole("03b.2")
@pytest.mark.parametrize("grad_shape", [(3,), (1,), (2, 1), ()], ids=str)
def test_the_shapes_have_to_be_equal(grad_shape):
    y = leaf([1.0, 2.0]) * 2
    with pytest.raises(RuntimeError) as raised:
        pytest.fail(f"accepted: {front.checked(torch.ones(grad_shape), y, 0)}")
    if isinstance(raised.value, NotImplementedError):  # it is a RuntimeError too
        raise raised.value


@pytest.mark.hole("03b.2")
@pytest.mark.parametrize("grad_shape", [(3,), (1,), (2, 1), ()], ids=str)
def test_the_error_says_both_shapes(grad_shape):
    text = said(RuntimeError, front.checked, torch.ones(grad_shape), leaf([1.0, 2.0]) * 2, 1)
    assert text == (f"Mismatch in shape: grad_output[1] has a shape of "
                    f"{torch.Size(grad_shape)} and output[1] has a shape of torch.Size([2]).")


@pytest.mark.hole("03b.2")
def test_the_shape_of_an_edge_counts_too():
    _, second = torch.ones(5, 4, requires_grad=True).split([2, 3])
    edge, given = get_gradient_edge(second), torch.ones(3, 4)
    assert front.checked(given, edge, 0) is given
    said(RuntimeError, front.checked, torch.ones(2, 4), edge, 0)


@pytest.mark.hole("03b.2")
@pytest.mark.parametrize(("wrong", "kind"), [
    pytest.param(1.0, "float", id="float"), pytest.param([1.0], "list", id="list")])
def test_a_gradient_is_a_tensor_or_none(wrong, kind):
    text = said(TypeError, front.checked, wrong, leaf([1.0]) * 2, 0)
    assert text == f"gradients can be either Tensors or None, but got {kind}"


@pytest.mark.hole("03b.2")
def test_the_dtype_becomes_that_of_the_root():
    given = torch.tensor([3.0, 4.0], dtype=torch.float64, requires_grad=True)
    made = front.checked(given, leaf([1.0, 2.0]) * 2, 0)
    assert made.dtype is torch.float32, f"expected float32, got {made.dtype}"
    assert made.tolist() == [3.0, 4.0]
    assert made.requires_grad, "the gradient lost its history"


# ---------------------------------------------------------------- 03b.3 the first gradients


def first(roots, grads, create_graph=False):
    return front.root_gradients(roots, grads, create_graph)


@pytest.mark.hole("03b.3")
@pytest.mark.parametrize("shape", [(), (1,), (1, 1, 1)], ids=str)
def test_one_element_begins_with_one(shape):
    (made,) = first([torch.ones(shape, requires_grad=True) * 2], [None])
    assert type(made) is np.ndarray, f"expected an array, got a {type(made).__name__}"
    assert made.shape == shape and made.dtype == np.float32 and made.item() == 1.0


@pytest.mark.hole("03b.3")
@pytest.mark.parametrize("value", [math.inf, math.nan])
def test_a_root_that_is_not_finite_begins_with_one(value):
    (made,) = first([leaf(1.0) * value], [None])
    assert made.tolist() == 1.0, f"expected 1, got {made.tolist()}"


@pytest.mark.hole("03b.3")
def test_the_root_keeps_its_value():
    root = leaf([2.0]) * 3
    first([root], [None])
    assert root.tolist() == [6.0], f"the root was [6.] and is now {root.tolist()}"


@pytest.mark.hole("03b.3")
def test_what_it_begins_with_has_the_dtype_of_the_root():
    (made,) = first([leaf([1.0]).double() * 2], [None])
    assert made.dtype == np.float64, f"expected float64, got {made.dtype}"


@pytest.mark.hole("03b.3")
@pytest.mark.parametrize("shape", [(2,), (0,), (1, 2)], ids=str)
def test_other_roots_need_a_gradient(shape):
    text = said(RuntimeError, first, [torch.ones(shape, requires_grad=True) * 2], [None])
    assert text == "grad can be implicitly created only for scalar outputs"


@pytest.mark.hole("03b.3")
def test_what_is_no_gradient_is_refused():
    text = said(TypeError, first, [leaf([1.0]) * 2], [3.0])
    assert text.startswith("gradients can be either Tensors or None")


@pytest.mark.hole("03b.3")
def test_a_gradient_that_is_given():
    y = leaf([1.0, 2.0]) * 2
    (made,) = first([y], [torch.tensor([3.0, 4.0])])
    assert type(made) is np.ndarray and made.tolist() == [3.0, 4.0]


@pytest.mark.hole("03b.3")
def test_a_gradient_for_one_element_is_taken_too():
    (made,) = first([leaf([1.0]) * 2], [torch.tensor([5.0])])
    assert made.tolist() == [5.0], f"expected the gradient that was given, got {made.tolist()}"


@pytest.mark.hole("03b.3")
def test_each_root_has_its_own():
    scalar, pair = leaf(1.0) * 2, leaf([1.0, 2.0]) * 2
    made = first([scalar, pair, scalar], [None, torch.tensor([3.0, 4.0]), torch.tensor(7.0)])
    assert [m.tolist() for m in made] == [1.0, [3.0, 4.0], 7.0]


@pytest.mark.hole("03b.3")
def test_with_create_graph_they_are_tensors():
    g = torch.tensor([3.0, 4.0])
    made = first([leaf(1.0) * 2, leaf([1.0, 2.0]) * 2], [None, g], create_graph=True)
    assert all(isinstance(m, torch.Tensor) for m in made), f"got {made!r}"
    assert made[0].item() == 1.0 and made[1].tolist() == [3.0, 4.0]


@pytest.mark.hole("03b.3")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_gradient_that_is_given_keeps_its_history(dtype):
    g = torch.tensor([3.0, 4.0], dtype=getattr(torch, dtype), requires_grad=True)
    (made,) = first([leaf([1.0, 2.0]) * 2], [g], create_graph=True)
    assert made.requires_grad, "the gradient lost its history"
    assert made.dtype is torch.float32


@pytest.mark.hole("03b.3")
def test_a_given_gradient_that_requires_grad_makes_all_tensors():
    g = torch.tensor([3.0, 4.0], requires_grad=True)
    roots = [leaf(1.0) * 2, leaf([1.0, 2.0]) * 2]
    made = first(roots, [None, g]) + first(roots[::-1], [g, None])
    assert all(isinstance(m, torch.Tensor) for m in made), f"got {made!r}"
    assert made[1].requires_grad and made[0].item() == 1.0


@pytest.mark.hole("03b.3")
@pytest.mark.parametrize("where", ["dual_level", "vmap"])
def test_inside_a_transform_they_are_tensors_too(where):
    made = []

    def run(x):
        made.extend(first([leaf(1.0) * 2, leaf([1.0, 2.0]) * 2],
                          [None, torch.tensor([3.0, 4.0])]))
        return x

    if where == "vmap":
        torch.func.vmap(run)(torch.ones(2))
    else:
        with forward_ad.dual_level():
            run(None)
    assert [type(m) for m in made] == [torch.Tensor] * 2, f"got {made!r}"
    assert made[0].item() == 1.0 and made[1].tolist() == [3.0, 4.0]


@pytest.mark.hole("03b.3")
def test_of_a_root_without_history_another_one_complains():
    made = first([torch.ones(3), leaf(1.0) * 2], [None, None])
    assert made[0] is None and made[1].item() == 1.0


@pytest.mark.hole("03b.3")
def test_an_edge_as_root():
    (made,) = first([get_gradient_edge(leaf([1.0]).double() * 2)], [None])
    assert made.shape == (1,) and made.dtype == np.float64


@pytest.mark.hole("03b.3")
def test_an_edge_of_several_elements_needs_a_gradient():
    text = said(RuntimeError, first, [get_gradient_edge(leaf([1.0, 2.0]) * 2)], [None])
    assert text == "grad can be implicitly created only for scalar outputs"


@pytest.mark.hole("03b.3")
def test_a_gradient_given_for_a_root_without_history_is_taken():
    (made,) = front.root_gradients([torch.ones(2)], [torch.tensor([3.0, 4.0])], False)
    assert made is not None and made.tolist() == [3.0, 4.0], f"expected [3, 4], got {made}"


@pytest.mark.hole("03b.3")
def test_a_leaf_as_root_begins_with_one():
    (made,) = front.root_gradients([leaf([2.0])], [None], False)
    assert made is not None and made.tolist() == [1.0], f"expected [1], got {made}"


# ---------------------------------------------------------------- 03b.4 gradients for inputs


def found(roots, goals, given=None, keep=False, create=False, unused=False):
    given = [None] * len(roots) if given is None else given
    return front.gradients(roots, goals, given, keep, create, unused)


@pytest.mark.hole("03b.4")
def test_the_gradients_are_a_list_of_tensors():
    a, b = leaf([2.0]), leaf([5.0])
    results = found([a * b], (b, a))
    assert isinstance(results, list), f"expected a list, got a {type(results).__name__}"
    assert all(isinstance(g, torch.Tensor) for g in results), f"got {results!r}"


@pytest.mark.hole("03b.4")
def test_no_grad_is_touched():
    a, b = leaf([2.0]), leaf([5.0])
    found([a * b], (b, a))
    found([a * b], (a,))
    assert a.grad is None and b.grad is None, f".grad was filled: {a.grad}, {b.grad}"


@pytest.mark.hole("03b.4")
def test_gradients_come_in_the_order_of_the_inputs():
    a, b = leaf([2.0]), leaf([5.0])
    got = [g.tolist() for g in found([a * b], (b, a))]
    assert got == [[2.0], [5.0]], f"expected [[2], [5]], got {got}"


@pytest.mark.hole("03b.4")
def test_gradients_of_a_sum_of_roots():
    x = leaf([1.0, 2.0])
    (result,) = found([x * 3, (x * x).sum()], (x,), [torch.tensor([1.0, 10.0]), None])
    assert result.tolist() == [5.0, 34.0], f"expected [3 + 2, 30 + 4], got {result.tolist()}"


@pytest.mark.hole("03b.4")
def test_a_result_as_input():
    x = leaf([1.0, 2.0])
    y = x * 3
    (result,) = found([y * y], (y,), [torch.tensor([1.0, 10.0])])
    assert result.tolist() == [6.0, 120.0], f"expected [6, 120], got {result.tolist()}"


@pytest.mark.hole("03b.4")
def test_an_edge_as_input():
    x = leaf([1.0, 2.0])
    y = x * 3
    (result,) = found([y * y], (get_gradient_edge(y),), [torch.tensor([1.0, 10.0])])
    assert result.tolist() == [6.0, 120.0], f"expected [6, 120], got {result.tolist()}"


@pytest.mark.hole("03b.4")
def test_an_input_that_needs_no_gradient():
    x = leaf([1.0])
    text = said(RuntimeError, found, [x * 2], (x, torch.ones(1)), unused=True)
    assert text == "One of the differentiated Tensors does not require grad"


@pytest.mark.hole("03b.4")
def test_a_pass_is_not_begun_for_an_input_that_needs_no_gradient():
    x = leaf([3.0])
    y = x * x
    said(RuntimeError, found, [y], (x, torch.ones(1)), unused=True)
    assert found([y], (x,))[0].tolist() == [6.0], "the graph has to be there after the error"


@pytest.mark.hole("03b.4")
@pytest.mark.parametrize("place", [0, 1])
def test_an_unused_input_is_an_error(place):
    x, other = leaf([1.0]), leaf([1.0])
    goals = (x, other) if place else (other, x)
    text = said(RuntimeError, found, [x * 2], goals)
    assert text == (f"The differentiated Tensor at index {place} appears to not have been used in "
                    "the graph. Set allow_unused=True if this is the desired behavior.")


@pytest.mark.hole("03b.4")
def test_an_unused_input_where_that_is_allowed():
    x, other = leaf([1.0]), leaf([1.0])
    results = found([x * 2], (other, x), unused=True)
    assert len(results) == 2 and results[0] is None and results[1].tolist() == [2.0]


@pytest.mark.hole("03b.4")
def test_what_was_saved_is_kept_when_asked_for():
    x = leaf([3.0])
    y = x * x
    assert found([y], (x,), keep=True)[0].tolist() == [6.0]
    assert found([y], (x,))[0].tolist() == [6.0]


@pytest.mark.hole("03b.4")
def test_what_was_saved_is_freed_unless_asked_for():
    x = leaf([3.0])
    y = x * x
    found([y], (x,))
    with pytest.raises(RuntimeError, match="second time"):
        found([y], (x,))


@pytest.mark.hole("03b.4")
def test_a_graph_of_the_gradients():
    x = leaf([2.0])
    (slope,) = found([x**3], (x,), keep=True, create=True)
    assert slope.requires_grad, "the gradient has no history"
    assert found([slope], (x,))[0].tolist() == [12.0]


@pytest.mark.hole("03b.4")
def test_the_task_class_is_handed_on(monkeypatch):
    made = []
    monkeypatch.setattr(front, "swept", lambda *_: None, raising=False)  # no fast path here

    class Made(GraphTask):
        def __init__(self, *wishes, **more):
            made.append(wishes[:2])
            super().__init__(*wishes, **more)

    x = leaf([2.0])
    (to_x,) = front.gradients([x * 3], (x,), [None], True, False, False, Made)
    assert to_x.tolist() == [3.0] and made == [(True, False)], f"the pass was no Made: {made}"


@pytest.mark.hole("03b.4")
def test_results_are_tensors_of_arrays_where_a_first_gradient_has_a_history():
    a, b, g = leaf(2.0), leaf(5.0), leaf(3.0)
    found = front.gradients([a * b], (a, b), [g * 1], False, False, False)
    assert [type(each._array) for each in found] == [np.ndarray] * 2, (
        f"a Tensor was made of a Tensor: {[type(each._array) for each in found]}")
    assert [each.item() for each in found] == [15.0, 6.0]


# ---------------------------------------------------------------- 03b.5 backward


@pytest.mark.hole("03b.5")
def test_backward_fills_the_leaves():
    a, b = leaf([2.0]), leaf([5.0])
    torch.autograd.backward(a * b)
    assert a.grad.tolist() == [5.0] and b.grad.tolist() == [2.0]


@pytest.mark.hole("03b.5")
def test_backward_of_several_tensors():
    x = leaf([1.0, 2.0])
    torch.autograd.backward([(x * x).sum(), x * 3], [None, torch.tensor([1.0, 10.0])])
    assert x.grad.tolist() == [5.0, 34.0], f"expected [2 + 3, 4 + 30], got {x.grad.tolist()}"


@pytest.mark.hole("03b.5")
def test_backward_of_several_tensors_is_one_pass():
    seen, x = [], leaf([2.0])
    y = x * 3
    y.register_hook(lambda g: seen.append(g.tolist()))
    torch.autograd.backward([y * 2, y * 5])
    assert seen == [[7.0]], f"a hook of y was called with {seen}"


@pytest.mark.hole("03b.5")
def test_backward_knows_the_old_name_of_its_gradients():
    x = leaf([1.0, 2.0])
    with pytest.warns(FutureWarning, match="grad_variables"):
        torch.autograd.backward([x * 3], grad_variables=[torch.tensor([1.0, 10.0])])
    assert x.grad.tolist() == [3.0, 30.0], f"expected [3, 30], got {x.grad.tolist()}"


def backward_into_two():
    """Run a backward pass into the leaf a and the result c = a * b; return a, b and c."""
    a, b = leaf([2.0]), leaf([5.0])
    c = a * b
    torch.autograd.backward(c * 3, inputs=[a, c])
    return a, b, c


@pytest.mark.hole("03b.5")
def test_backward_into_chosen_inputs():
    a, _, _ = backward_into_two()
    assert a.grad is not None and a.grad.tolist() == [15.0], f"expected [15], got {a.grad}"


@pytest.mark.hole("03b.5")
def test_backward_into_no_other_leaf():
    _, b, _ = backward_into_two()
    assert b.grad is None, "a leaf that was not asked for got a gradient"


@pytest.mark.hole("03b.5")
def test_a_result_that_is_asked_for_keeps_its_gradient():
    _, _, c = backward_into_two()
    assert c.grad is not None and c.grad.tolist() == [3.0], f"expected [3], got {c.grad}"


@pytest.mark.hole("03b.5")
def test_backward_into_an_edge():
    a, b = leaf([2.0]), leaf([5.0])
    torch.autograd.backward(a * b, inputs=[get_gradient_edge(a)])
    assert a.grad is not None and a.grad.tolist() == [5.0] and b.grad is None


@pytest.mark.hole("03b.5")
def test_backward_into_one_result_of_several():
    first, second = leaf([2.0, 5.0]).unbind()
    torch.autograd.backward(first * 3 + second * 4, inputs=[second])
    assert second.grad is not None and second.grad.item() == 4.0, f"expected 4, {second.grad}"


@pytest.mark.hole("03b.5")
def test_backward_into_an_input_that_is_zero():
    a, b = leaf(0.0), leaf(5.0)
    torch.autograd.backward(a * b, inputs=a)
    assert a.grad is not None and a.grad.item() == 5.0 and b.grad is None


@pytest.mark.hole("03b.5")
def test_backward_adds_to_the_grad_of_an_input():
    a = leaf([2.0])
    for _ in range(2):
        torch.autograd.backward(a * 3, inputs=[a])
    assert a.grad.tolist() == [6.0], f"expected 3 + 3, got {a.grad.tolist()}"


@pytest.mark.hole("03b.5")
def test_backward_counts_the_gradients():
    x = leaf([1.0])
    y = x * 3
    text = said(RuntimeError, torch.autograd.backward, [y, y], grad_tensors=[torch.ones(1)])
    assert text == "got 2 tensors and 1 gradients"


@pytest.mark.hole("03b.5")
def test_backward_with_inputs_that_are_empty():
    a = leaf([2.0])
    text = said(RuntimeError, torch.autograd.backward, a * 2, inputs=[])
    assert text == "`inputs` argument to `backward()` cannot be empty."
    assert a.grad is None


@pytest.mark.hole("03b.5")
def test_backward_keeps_the_graph_when_asked_for():
    x = leaf([3.0])
    y = x * x
    torch.autograd.backward(y, inputs=x, retain_graph=True)
    torch.autograd.backward(y, inputs=x)


@pytest.mark.hole("03b.5")
@pytest.mark.parametrize("options", [{}, {"retain_graph": False}],
                         ids=["retain_graph left out", "retain_graph=False"])
def test_backward_frees_the_graph_unless_asked_for(options):
    x = leaf([3.0])
    y = x * x
    torch.autograd.backward(y, inputs=x, **options)
    assert "a second time" in said(RuntimeError, torch.autograd.backward, y, inputs=x)


@pytest.mark.hole("03b.5")
@pytest.mark.filterwarnings("ignore:Using backward")  # the cycle is meant
@pytest.mark.parametrize("options", [{}, {"retain_graph": True}],
                         ids=["retain_graph left out", "retain_graph=True"])
def test_backward_keeps_the_graph_with_create_graph(options):
    x = leaf([2.0])
    y = x * x
    torch.autograd.backward(y, inputs=x, create_graph=True, **options)
    x.grad = None
    torch.autograd.backward(y, inputs=x)


@pytest.mark.hole("03b.5")
@pytest.mark.filterwarnings("ignore:Using backward")  # the cycle is meant
def test_backward_frees_the_graph_with_retain_graph_false():
    x = leaf([2.0])
    y = x * x
    torch.autograd.backward(y, inputs=x, retain_graph=False, create_graph=True)
    x.grad = None
    assert "a second time" in said(RuntimeError, torch.autograd.backward, y, inputs=x)


@pytest.mark.hole("03b.5")
def test_backward_without_create_graph_does_not_warn():
    x = leaf([3.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        torch.autograd.backward(x**2, inputs=x)


@pytest.mark.hole("03b.5")
def test_backward_with_create_graph_warns():
    x = leaf([3.0])
    with pytest.warns(UserWarning, match="reference cycle"):
        torch.autograd.backward(x**2, create_graph=True)
    x.grad = None


@pytest.mark.hole("03b.5")
@pytest.mark.parametrize("wrong", ["no inputs", "too few gradients", "a gradient's shape",
                                   "no gradient for two elements", "a root without history"])
def test_backward_checks_its_arguments_before_it_warns(wrong):
    y = leaf([1.0, 2.0]) * 2
    tensors, given, inputs = {
        "no inputs": (y.sum(), None, []),
        "too few gradients": ([y, y], [torch.ones(2)], None),
        "a gradient's shape": (y, torch.ones(3), None),
        "no gradient for two elements": (y, None, None),
        "a root without history": (torch.ones(1), None, None)}[wrong]
    with warnings.catch_warnings(record=True) as told, pytest.raises(RuntimeError) as error:
        warnings.simplefilter("always")
        torch.autograd.backward(tensors, given, create_graph=True, inputs=inputs)
    if error.type is not RuntimeError:
        raise error.value
    assert not told, f"it warned before it raised: {told[0].message}"


@pytest.mark.hole("03b.5")
@pytest.mark.filterwarnings("ignore:Using backward")  # the cycle is meant
def test_backward_with_create_graph_fills_a_grad_with_a_history():
    x = leaf([3.0])
    torch.autograd.backward(x**2, create_graph=True)
    assert x.grad is not None and x.grad.tolist() == [6.0] and x.grad.requires_grad
    x.grad = None


@pytest.mark.hole("03b.5")
def test_the_method_does_the_same():
    x = leaf([1.0, 2.0])
    (x * x).backward(torch.tensor([1.0, 10.0]))
    assert x.grad.tolist() == [2.0, 40.0]


# ---------------------------------------------------------------- 03b.6 grad


@pytest.mark.hole("03b.6")
def test_grad_gives_a_tuple():
    x = leaf([3.0])
    result = torch.autograd.grad(x * x, x)
    assert type(result) is tuple and len(result) == 1, f"got {result!r}"
    assert result[0].tolist() == [6.0]


@pytest.mark.hole("03b.6")
def test_grad_fills_no_grad():
    x = leaf([3.0])
    torch.autograd.grad(x * x, x)
    assert x.grad is None, f"expected None, got {x.grad}"


@pytest.mark.hole("03b.6")
def test_grad_takes_the_gradients_of_the_outputs():
    x = leaf([1.0, 2.0])
    (result,) = torch.autograd.grad([x * 3, (x * x).sum()], x, [torch.tensor([1.0, 10.0]), None])
    assert_close(result.numpy(), [5.0, 34.0], what="the gradient of x")


@pytest.mark.hole("03b.6")
def test_grad_gives_a_dictionary_for_a_dictionary():
    a, b = leaf([2.0]), leaf([5.0])
    result = torch.autograd.grad(a * b, {"of b": b, "of a": a})
    assert type(result) is dict and list(result) == ["of b", "of a"], f"got {result!r}"
    assert result["of a"].tolist() == [5.0] and result["of b"].tolist() == [2.0]


@pytest.mark.hole("03b.6")
def test_zeros_in_a_dictionary():
    a, b = leaf([2.0]), leaf([5.0, 6.0])
    result = torch.autograd.grad(a * 2, {"a": a, "b": b}, materialize_grads=True)
    assert {name: g.tolist() for name, g in result.items()} == {"a": [2.0], "b": [0.0, 0.0]}


@pytest.mark.hole("03b.6")
def test_an_unused_input_is_refused():
    a, b = leaf([2.0]), leaf([5.0, 6.0])
    text = said(RuntimeError, torch.autograd.grad, a * 2, (a, b))
    assert "at index 1 appears to not have been used" in text
    text = said(RuntimeError, torch.autograd.grad, a * 2, (a, b), allow_unused=False)
    assert "at index 1 appears to not have been used" in text


@pytest.mark.hole("03b.6")
def test_an_unused_input_that_is_allowed_has_none():
    a, b = leaf([2.0]), leaf([5.0, 6.0])
    result = torch.autograd.grad(a * 2, (a, b), allow_unused=True)
    assert result[0].tolist() == [2.0] and result[1] is None, f"got {result}"


@pytest.mark.hole("03b.6")
@pytest.mark.parametrize("options", [{}, {"allow_unused": True}],
                         ids=["allow_unused left out", "allow_unused=True"])
def test_zeros_for_an_unused_input(options):
    a, b = leaf([2.0]), leaf([5.0, 6.0])
    result = torch.autograd.grad(a * 2, (a, b), materialize_grads=True, **options)
    assert result[1] is not None and result[1].tolist() == [0.0, 0.0], f"got {result[1]}"
    assert result[0].tolist() == [2.0]


@pytest.mark.hole("03b.6")
@pytest.mark.parametrize("create_graph", [False, True])
def test_whether_the_zeros_require_grad(create_graph):
    a, b = leaf([2.0]), leaf([5.0, 6.0])
    result = torch.autograd.grad(a * 2, (a, b), create_graph=create_graph, materialize_grads=True)
    assert result[1].requires_grad is create_graph


@pytest.mark.hole("03b.6")
def test_options_that_contradict_each_other():
    a = leaf([2.0])
    text = said(ValueError, torch.autograd.grad, a * 2, a, allow_unused=False,
                materialize_grads=True)
    assert text == ("Expected allow_unused to be True or not passed when materialize_grads=True, "
                    "but got: allow_unused=False.")


@pytest.mark.hole("03b.6")
def test_a_batch_of_gradients():
    x = leaf([1.0, 2.0])
    (rows,) = torch.autograd.grad(x * x, x, torch.eye(2), is_grads_batched=True)
    assert rows.tolist() == [[2.0, 0.0], [0.0, 4.0]], f"got {rows.tolist()}"


@pytest.mark.hole("03b.6")
def test_against_differences():
    a, b = np.array([[0.5, 1.0, 2.0]]), np.array([[1.5], [-0.5]])
    g = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    x, y = (torch.tensor(v, requires_grad=True) for v in (a, b))
    found = torch.autograd.grad(x * x * y + y.exp() * x, (x, y), torch.tensor(g))
    wanted = central_difference_vjp(lambda p, q: p * p * q + np.exp(q) * p, [a, b], g)
    for name, got, want in zip("xy", found, wanted, strict=True):
        assert_close(got.numpy(), want, rtol=1e-6, what=f"gradient of {name}")


@pytest.mark.hole("03b.6")
def test_with_create_graph_gradients_can_be_differentiated():
    x = leaf([3.0])
    (slope,) = torch.autograd.grad(x**3, x, create_graph=True)
    assert slope.requires_grad
    assert torch.autograd.grad(slope, x)[0].tolist() == [18.0]


@pytest.mark.hole("03b.6")
def test_grad_counts_the_gradients():
    x = leaf([1.0])
    y = x * 3
    text = said(RuntimeError, torch.autograd.grad, [y, y], x, grad_outputs=[torch.ones(1)])
    assert text == "got 2 tensors and 1 gradients"


@pytest.mark.hole("03b.6")
def test_grad_with_inputs_that_are_empty():
    a = leaf([2.0])
    text = said(RuntimeError, torch.autograd.grad, a * 2, inputs=[])
    assert text == "`inputs` argument to `grad()` cannot be empty."
    assert a.grad is None


@pytest.mark.hole("03b.6")
def test_grad_keeps_the_graph_when_asked_for():
    x = leaf([3.0])
    y = x * x
    torch.autograd.grad(y, inputs=x, retain_graph=True)
    torch.autograd.grad(y, inputs=x)


@pytest.mark.hole("03b.6")
@pytest.mark.parametrize("options", [{}, {"retain_graph": False}],
                         ids=["retain_graph left out", "retain_graph=False"])
def test_grad_frees_the_graph_unless_asked_for(options):
    x = leaf([3.0])
    y = x * x
    torch.autograd.grad(y, inputs=x, **options)
    assert "a second time" in said(RuntimeError, torch.autograd.grad, y, inputs=x)


@pytest.mark.hole("03b.6")
@pytest.mark.filterwarnings("ignore:Using backward")  # the cycle is meant
@pytest.mark.parametrize("options", [{}, {"retain_graph": True}],
                         ids=["retain_graph left out", "retain_graph=True"])
def test_grad_keeps_the_graph_with_create_graph(options):
    x = leaf([2.0])
    y = x * x
    torch.autograd.grad(y, inputs=x, create_graph=True, **options)
    x.grad = None
    torch.autograd.grad(y, inputs=x)


@pytest.mark.hole("03b.6")
@pytest.mark.filterwarnings("ignore:Using backward")  # the cycle is meant
def test_grad_frees_the_graph_with_retain_graph_false():
    x = leaf([2.0])
    y = x * x
    torch.autograd.grad(y, inputs=x, retain_graph=False, create_graph=True)
    x.grad = None
    assert "a second time" in said(RuntimeError, torch.autograd.grad, y, inputs=x)


@pytest.mark.hole("03b.6")
def test_grad_does_not_warn():
    x = leaf([3.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        torch.autograd.grad(x**2, inputs=x, create_graph=True)
