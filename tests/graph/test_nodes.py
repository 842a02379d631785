"""What a graph shows of itself: nodes, edges, numbers, saved values, and nodes called by hand."""

from __future__ import annotations

import threading

import pytest

from tests.support.engines import leaf, on_each_engine, spelt

pytestmark = on_each_engine


# --- Edges ---------------------------------------------------------------------------------------


def test_edges_lead_to_the_nodes_of_the_inputs(torch):
    x, y = leaf(torch, 2.0), leaf(torch, 3.0)
    product = x * y
    total = product + 1
    assert total.grad_fn.next_functions == ((product.grad_fn, 0), (None, 0))
    left, right = product.grad_fn.next_functions
    assert left[0].variable is x and right[0].variable is y
    assert left[1] == right[1] == 0
    assert left[0].next_functions == ()


def test_a_leaf_has_one_accumulator(torch):
    x = leaf(torch, 2.0)
    first, second = x * 3, x * x
    node = first.grad_fn.next_functions[0][0]
    assert [edge[0] for edge in second.grad_fn.next_functions] == [node, node]
    assert node is second.grad_fn.next_functions[0][0]
    assert node.name() in ("AccumulateGrad", "torch::autograd::AccumulateGrad")
    assert type(node).__name__ == "AccumulateGrad"


def test_an_accumulator_lives_as_long_as_somebody_uses_it(torch):
    x = leaf(torch, 2.0)
    y = x * 3
    node = y.grad_fn.next_functions[0][0]
    node.metadata["note"] = 1
    del y
    assert (x * 4).grad_fn.next_functions[0][0].metadata == {"note": 1}


def test_constants_and_detached_tensors_have_no_edge(torch):
    x = leaf(torch, 2.0)
    for other in (torch.tensor(3.0), x.detach(), 3.0, 3, x.data):
        for y in (x * other, other * x):
            edges = y.grad_fn.next_functions
            assert sorted(node is None for node, _ in edges) == [False, True]
            assert (None, 0) in edges


def test_edge_index_is_the_number_of_the_output(torch):
    x = leaf(torch, [1.0, 2.0, 3.0])
    parts = x.unbind()
    assert [p.output_nr for p in parts] == [0, 1, 2]
    assert len({id(p.grad_fn) for p in parts}) == 1
    product = parts[2] * parts[1]
    node = parts[0].grad_fn
    assert product.grad_fn.next_functions == ((node, 2), (node, 1))


def test_leaves_and_results(torch):
    x, fixed = leaf(torch, 1.0), torch.tensor(1.0)
    assert x.is_leaf and fixed.is_leaf and (fixed * 2).is_leaf
    assert x.grad_fn is None and (fixed * 2).grad_fn is None
    y = x * fixed
    assert not y.is_leaf and y.requires_grad
    with pytest.raises(RuntimeError, match="you can only change requires_grad flags of leaf"):
        y.requires_grad = False
    y.requires_grad_(True)
    with pytest.raises(RuntimeError, match=r"only Tensors of floating point.* dtype can require"):
        torch.tensor([1]).requires_grad_()
    with pytest.raises(RuntimeError, match="Only Tensors of floating point and complex dtype can"):
        torch.tensor([1], requires_grad=True)


def test_requires_grad_may_be_switched_on_leaves(torch):
    x = torch.tensor(2.0)
    before = x * 3
    assert x.requires_grad_() is x
    after = x * 3
    x.requires_grad = False
    flags = [before.requires_grad, after.requires_grad, (x * 3).requires_grad]
    assert flags == [False, True, False]
    x.requires_grad_()
    after.backward()
    assert x.grad.item() == 3.0


def test_integers_stay_out_of_the_graph(torch):
    x = leaf(torch, [3.0, 1.0])
    for value in (x > 2, x.detach().to(torch.int64), x.to(torch.int64)):
        assert not value.requires_grad and value.grad_fn is None


# --- Names, numbers, metadata --------------------------------------------------------------------


def test_names(torch):
    x = leaf(torch, 2.0)
    for value, name in ((x * x, "MulBackward"), (x + x, "AddBackward"), (x / x, "DivBackward"),
                        (x - x, "SubBackward"), (x**2, "PowBackward")):
        node = value.grad_fn
        assert node.name() == type(node).__name__ == name + "0"
        assert repr(node).startswith(f"<{name}0 object at 0x")
    assert x.exp().grad_fn.name() == spelt(torch, "ExpBackward")
    assert (-x).grad_fn.name() == spelt(torch, "NegBackward")


def test_sequence_numbers_count_from_zero_in_each_thread(torch):
    numbers = {}

    def work(key):
        x = leaf(torch, 1.0)
        nodes = []
        for _ in range(4):
            x = x * 2
            nodes.append(x.grad_fn._sequence_nr())
        numbers[key] = nodes

    for key in range(3):
        thread = threading.Thread(target=work, args=(key,))
        thread.start()
        thread.join()
    assert numbers == {key: [0, 1, 2, 3] for key in range(3)}


def test_sequence_numbers_grow_in_order_of_creation(torch):
    x = leaf(torch, 1.0)
    a = x * 2
    with torch.no_grad():
        x * 2
    torch.tensor(1.0) * 2
    b = x * 3
    c = a + b
    start = a.grad_fn._sequence_nr()
    assert (b.grad_fn._sequence_nr(), c.grad_fn._sequence_nr()) == (start + 1, start + 2)


def test_metadata_belongs_to_the_node(torch):
    x = leaf(torch, 1.0)
    y, z = x * 2, x * 3
    y.grad_fn.metadata["name"] = "y"
    y.grad_fn.metadata[3] = [1]
    assert y.grad_fn.metadata == {"name": "y", 3: [1]}
    assert z.grad_fn.metadata == {}


def test_input_metadata_describes_the_outputs(torch):
    x = leaf(torch, [[1.0, 2.0, 3.0]], dtype=torch.float64)
    (described,) = (x * 2).grad_fn._input_metadata
    assert tuple(described.shape) == (1, 3)
    assert described.dtype == torch.float64
    assert str(described.device) == "cpu"
    parts = x.split([1, 2], 1)[0].grad_fn._input_metadata
    assert [tuple(p.shape) for p in parts] == [(1, 1), (1, 2)]
    accumulator = (x * 2).grad_fn.next_functions[0][0]
    assert tuple(accumulator._input_metadata[0].shape) == (1, 3)


# --- The order in which nodes run ----------------------------------------------------------------


def test_later_nodes_run_first(torch):
    x, order = leaf(torch, 1.0), []

    def traced(tensor, name):
        tensor.grad_fn.register_prehook(lambda _: order.append(name))
        return tensor

    a = traced(x * 2, "a")
    b = traced(x * 3, "b")
    c = traced(a * 4, "c")
    d = traced(b * 5, "d")
    (d + c).backward()
    assert order == ["d", "c", "b", "a"]
    assert x.grad.item() == 8 + 15


def test_a_node_runs_once_when_everything_has_arrived(torch):
    x, seen = leaf(torch, 1.0), []
    y = x * 2
    y.grad_fn.register_prehook(lambda grads: seen.append(grads[0].item()))
    (y * 3 + (y * 5) * 7 + y).backward()
    assert seen == [3 + 35 + 1]
    assert x.grad.item() == 78.0


def test_leaves_accumulate_as_soon_as_they_can(torch):
    x, w, order = leaf(torch, 2.0), leaf(torch, 3.0), []
    early = x * x
    late = early * w
    early.register_hook(lambda g: order.append("early"))
    w.register_hook(lambda g: order.append("w"))
    late.backward()
    assert order == ["w", "early"]


# --- Saved values --------------------------------------------------------------------------------


def test_saved_inputs_are_the_tensors_themselves(torch):
    x, y = leaf(torch, 2.0), leaf(torch, 3.0)
    node = (x * y).grad_fn
    assert node._saved_self is x and node._saved_other is y
    middle = x * y
    square = middle * middle
    assert square.grad_fn._saved_self is middle


def test_only_what_a_formula_will_use_is_saved(torch):
    x, fixed = leaf(torch, 2.0), torch.tensor(3.0)
    node = (x * fixed).grad_fn
    assert node._saved_self is None and node._saved_other is fixed
    assert not hasattr((x + fixed).grad_fn, "_saved_self")


def test_a_saved_output_is_rebuilt_with_its_history(torch):
    x = leaf(torch, [1.0, 2.0])
    y = x.exp()
    saved = y.grad_fn._saved_result
    assert saved.tolist() == y.tolist()
    assert saved.grad_fn is y.grad_fn and saved.data_ptr() == y.data_ptr()
    assert saved.requires_grad
    torch.autograd.grad(saved.sum(), x)


def test_saved_numbers_and_sizes(torch):
    x = leaf(torch, [[1.0, 2.0]])
    assert (x**3).grad_fn._saved_exponent == 3
    assert x.sum().grad_fn.next_functions[0][0].variable is x


def test_saved_values_are_gone_after_backward(torch):
    x = leaf(torch, 2.0)
    for y, name in ((x * x, "_saved_self"), (x.exp(), "_saved_result")):
        node = y.grad_fn
        y.backward()
        with pytest.raises(RuntimeError, match="after they have already been freed"):
            getattr(node, name)


def test_raw_saved_tensors_take_hooks(torch):
    x = leaf(torch, 3.0)
    y = x * x
    log = []
    y.grad_fn._raw_saved_self.register_hooks(
        lambda t: log.append("pack") or t.detach() * 10,
        lambda packed: log.append("unpack") or packed)
    assert log == ["pack"]
    y.backward()
    assert log[:2] == ["pack", "unpack"]
    assert x.grad.item() == 3.0 + 30.0  # by self: g · other (30 stands for self in g · self)


# --- Calling nodes -------------------------------------------------------------------------------


def test_calling_a_node_with_one_edge_gives_a_bare_gradient(torch):
    x = leaf(torch, 2.0)
    node = x.exp().grad_fn
    assert node(torch.tensor(3.0)).item() == pytest.approx(3 * 2.718281828**2)


def test_calling_a_node_with_several_edges_gives_a_tuple(torch):
    x, y = leaf(torch, 2.0), leaf(torch, 5.0)
    by_x, by_y = (x * y).grad_fn(torch.tensor(3.0))
    assert (by_x.item(), by_y.item()) == (15.0, 6.0)
    assert (x * 4).grad_fn(torch.tensor(3.0))[1] is None
    assert x.grad is None


def test_calling_a_node_is_unchecked(torch):
    x = leaf(torch, [1.0, 2.0])
    result = (-x).grad_fn(torch.tensor([[3], [4]]))
    assert result.tolist() == [[-3], [-4]]


def test_calling_a_node_is_differentiable(torch):
    x, g = leaf(torch, 3.0), leaf(torch, 2.0)
    node = (x * x).grad_fn
    left, right = node(g)
    (left + right).backward()  # d(2gx)
    assert (x.grad.item(), g.grad.item()) == (4.0, 6.0)


def test_calling_an_accumulator_accumulates(torch):
    x = leaf(torch, 3.0)
    node = (x * 2).grad_fn.next_functions[0][0]
    node(torch.tensor(4.0))
    node(torch.tensor(5.0))
    assert x.grad.item() == 9.0


def test_walking_the_graph_by_hand_agrees_with_the_engine(torch):
    x = leaf(torch, 3.0)
    value = (x * x) * (x + 1)  # x³ + x²

    def walk(node, grad):
        if hasattr(node, "variable"):
            return grad.item()
        results = node(grad)
        results = results if isinstance(results, tuple) else (results,)
        return sum(walk(after, g) for (after, _), g in zip(node.next_functions, results)
                   if after is not None)

    with torch.no_grad():
        assert walk(value.grad_fn, torch.tensor(1.0)) == 27.0 + 6.0
