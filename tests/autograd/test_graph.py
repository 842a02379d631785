"""`autograd.graph` and what belongs to it: hooks on saved tensors and on several gradients, edges,
`Variable`, `SavedTensor`, `NestedIOFunction`."""

from __future__ import annotations

import gc
import importlib
import threading
import warnings
import weakref

import pytest

from tests.support.engines import ENGINES, leaf, on_each_engine

minigrad = ENGINES[0]


def identity(x):
    return x


# -------------------------------------------------------------------- saved_tensors_hooks


@on_each_engine
def test_hooks_see_what_is_saved_and_give_it_back(torch):
    packed, unpacked = [], []

    def pack(t):
        packed.append(t.tolist())
        return len(packed), t

    def unpack(pair):
        unpacked.append(pair[0])
        return pair[1]

    a, b = leaf(torch, [2.0]), leaf(torch, [5.0])
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = a * b
    assert packed == [[5.0], [2.0]]
    assert unpacked == []
    (y * 3).sum().backward()
    assert sorted(unpacked) == [1, 2]
    assert a.grad.tolist() == [15.0] and b.grad.tolist() == [6.0]


@on_each_engine
def test_what_unpack_returns_is_used(torch):
    x = leaf(torch, [2.0])
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t * 10, identity):
        y = x * x
        z = x.exp()
    y.sum().backward()
    assert x.grad.tolist() == [40.0]
    assert y.grad_fn is not None
    x.grad = None
    z.sum().backward()
    assert x.grad.item() == pytest.approx(10 * 7.3890561)


@on_each_engine
def test_hooks_are_off_outside_of_the_block(torch):
    seen = []
    x = leaf(torch, [2.0])
    with torch.autograd.graph.saved_tensors_hooks(lambda t: seen.append(1) or t, identity):
        pass
    (x * x).sum().backward()
    assert seen == []
    assert x.grad.tolist() == [4.0]


@on_each_engine
def test_the_inner_hooks_are_in_force(torch):
    hooks = torch.autograd.graph.saved_tensors_hooks
    log = []

    def pack(name):
        return lambda t: log.append(name) or t

    x = leaf(torch, [2.0])
    with hooks(pack("outer"), identity):
        with hooks(pack("inner"), identity):
            x.exp()
        x.exp()
    x.exp()
    assert log == ["inner", "outer"]


@on_each_engine
def test_hooks_are_taken_off_when_the_block_fails(torch):
    seen = []
    with pytest.raises(ZeroDivisionError), torch.autograd.graph.saved_tensors_hooks(
            lambda t: seen.append(1) or t, identity):
        1 / 0
    leaf(torch, [1.0]).exp()
    assert seen == []


@on_each_engine
def test_hooks_run_for_every_kind_of_operation(torch):
    seen = []
    x = leaf(torch, [[1.0, 2.0], [3.0, 4.0]])
    with torch.autograd.graph.saved_tensors_hooks(lambda t: seen.append(1) or t, identity):
        for expression in (lambda: x @ x, lambda: x.sin(), lambda: x.pow(2), lambda: x.exp(),
                           lambda: torch.cat([x, x]), lambda: x.max(1), lambda: x.t()):
            expression()
            seen.append(0)
    assert "".join(map(str, seen)) == "110 10 10 10 0 10 0".replace(" ", "")


@on_each_engine
@pytest.mark.parametrize("create_graph", [True, False])
@pytest.mark.parametrize("function", [
    lambda torch, x, y: x * y, lambda torch, x, y: x / y, lambda torch, x, y: x**y,
    lambda torch, x, y: torch.atan2(x, y), lambda torch, x, y: torch.maximum(x, y * x),
    lambda torch, x, y: torch.nn.functional.mse_loss(x, y)])
def test_what_is_saved_is_unpacked_once_in_a_pass(torch, function, create_graph):
    packed, unpacked = [], []
    x, y = leaf(torch, [2.0, 3.0]), leaf(torch, [1.0, 5.0])
    with torch.autograd.graph.saved_tensors_hooks(
            lambda t: packed.append(1) or t, lambda t: unpacked.append(1) or t):
        out = function(torch, x, y).sum()
    torch.autograd.grad(out, (x, y), create_graph=create_graph)
    assert len(unpacked) == len(packed)


@on_each_engine
def test_raw_saved_tensors_are_unpacked_once_in_a_pass(torch):
    unpacked = []
    x, y = leaf(torch, 2.0), leaf(torch, 3.0)
    out = x / y
    out.grad_fn._raw_saved_other.register_hooks(identity, lambda t: unpacked.append(1) or t)
    out.backward()
    assert unpacked == [1]
    assert (x.grad.item(), y.grad.item()) == pytest.approx((1 / 3, -2 / 9))


@on_each_engine
def test_hooks_apply_to_double_backward(torch):
    seen = []
    x = leaf(torch, 3.0)
    y = x**3
    with torch.autograd.graph.saved_tensors_hooks(lambda t: seen.append(1) or t, identity):
        (slope,) = torch.autograd.grad(y, x, create_graph=True)
    assert seen
    slope.backward()
    assert x.grad.item() == 18.0


@on_each_engine
def test_hooks_serve_custom_functions(torch):
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 2 * g * x

    x = leaf(torch, 3.0)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.item(), torch.tensor):
        y = Square.apply(x)
    y.backward()
    assert x.grad.item() == 6.0


@on_each_engine
def test_hooks_belong_to_a_thread(torch):
    seen = []
    x = leaf(torch, 1.0)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: seen.append(1) or t, identity):
        thread = threading.Thread(target=x.exp)
        thread.start()
        thread.join()
    assert seen == []


@on_each_engine
def test_a_pack_hook_may_not_write_to_its_input(torch):
    x = leaf(torch, [1.0])
    with pytest.raises(RuntimeError, match="A saved tensor pack hook is modifying its input"), (
            torch.autograd.graph.saved_tensors_hooks(lambda t: t.add_(1), identity)):
        x * x


@on_each_engine
def test_unpack_has_to_return_a_tensor(torch):
    x = leaf(torch, [1.0])
    with torch.autograd.graph.saved_tensors_hooks(identity, lambda t: 3):
        y = x.exp().sum()
    with pytest.raises(TypeError, match="Output of saved tensor unpack_hook expected to be a "
                                        "Tensor but got result of type"):
        y.backward()


@on_each_engine
def test_hooks_have_to_be_callable(torch):
    with pytest.raises(TypeError, match="incompatible function arguments"), (
            torch.autograd.graph.saved_tensors_hooks(1, identity)):
        pass
    seen = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: seen.append(1) or t, identity):
        leaf(torch, 1.0).exp()
    assert seen == [1]


@on_each_engine
def test_saved_tensors_go_to_disk_and_back(torch, tmp_path):
    names = []

    def pack(t):
        names.append(tmp_path / f"{len(names)}.pt")
        torch.save(t, names[-1])
        return names[-1]

    x = leaf(torch, [1.0, 2.0])
    with torch.autograd.graph.saved_tensors_hooks(pack, torch.load):
        y = (x * x).sum()
    y.backward()
    assert len(list(tmp_path.iterdir())) == 2
    assert x.grad.tolist() == [2.0, 4.0]


@on_each_engine
@pytest.mark.parametrize("pin_memory", [False, True])
def test_save_on_cpu(torch, pin_memory):
    x = leaf(torch, [1.0, 2.0])
    with torch.autograd.graph.save_on_cpu(pin_memory=pin_memory):
        y = (x * x * x).sum()
    y.backward()
    assert x.grad.tolist() == [3.0, 12.0]


#: Writes to `b`, which was saved, and `out`, which `exp` saved.
MUTATIONS = {
    "an operation": lambda torch, b, out: b.sin_(),
    "several": lambda torch, b, out: (b.mul_(3), out.add_(1), b.zero_()),
    "a part": lambda torch, b, out: b[0].fill_(7.0),
    "what is detached": lambda torch, b, out: b.detach().mul_(5),
    "data": lambda torch, b, out: (b.data.mul_(5), out.data.zero_()),
    "an element": lambda torch, b, out: b.__setitem__(0, 7.0),
}


@on_each_engine
@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("name", MUTATIONS)
def test_what_was_saved_may_be_written_to(torch, name, create_graph):
    a = leaf(torch, [0.5, 1.0])
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        b = a * 2
        out = b.exp()
        loss = (b * b).sum() + out.sum()
        if create_graph:
            loss, = torch.autograd.grad(loss.sum(), a, create_graph=True)
        MUTATIONS[name](torch, b, out)
        got, = torch.autograd.grad(loss.sum(), a)
    e = torch.tensor([1.0, 2.0]).exp()
    expected = 8 + 4 * e if create_graph else 8 * a.detach() + 2 * e
    assert torch.allclose(got, expected)


@on_each_engine
def test_where_what_was_saved_may_not_be_written_to(torch):
    graph, a = torch.autograd.graph, leaf(torch, [1.0])
    with graph.allow_mutation_on_saved_tensors():
        inside = (a * a).sum()
        with pytest.raises(RuntimeError, match="contexts cannot be nested"), (
                graph.allow_mutation_on_saved_tensors()):
            pass
    with pytest.raises(AssertionError, match="outside of the 'allow_mutation"):
        inside.backward()
    b = a * 2
    before = (b * b).sum()
    with graph.allow_mutation_on_saved_tensors() as context:
        b.zero_()
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            before.backward()
        inside = (a * a).sum()
        context.clear()
        with pytest.raises(AssertionError, match="outside of the 'allow_mutation"):
            inside.backward()


def test_copies_of_what_was_saved_go_with_the_graph():
    a = leaf(minigrad, [1.0])
    with minigrad.autograd.graph.allow_mutation_on_saved_tensors() as context:
        y = a * a
        assert len(context.copies) == 2
        del y
        assert not context.copies


@on_each_engine
def test_hooks_leave_nothing_alive(torch):
    x = leaf(torch, [1.0])
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t + 1, identity):
        y = x.exp() * x
    kept = weakref.ref(y)
    del y
    gc.collect() if torch is not minigrad else None
    assert kept() is None


# -------------------------------------------------------------------- disabling hooks


@on_each_engine
def test_hooks_can_be_disabled(torch):
    graph, enabled = torch.autograd.graph, torch._C._autograd._saved_tensors_hooks_is_enabled
    x = leaf(torch, 2.0)
    assert enabled()
    with graph.disable_saved_tensors_hooks("outer"):
        assert not enabled()
        with pytest.raises(RuntimeError, match=r"^outer$"), graph.save_on_cpu():
            pass
        with graph.disable_saved_tensors_hooks("inner"), (
                pytest.raises(RuntimeError, match=r"^inner$")), graph.save_on_cpu():
            pass
        assert torch._C._autograd._saved_tensors_hooks_get_disabled_error_message() == "outer"
        (x * x).backward()
    assert enabled()
    with graph.save_on_cpu():
        (x * x).backward()
    assert x.grad.item() == 8.0


@on_each_engine
def test_hooks_cannot_be_disabled_where_there_are_some(torch):
    graph = torch.autograd.graph
    with graph.save_on_cpu():
        with pytest.raises(RuntimeError, match=r"^no$"), graph.disable_saved_tensors_hooks("no"):
            pass
        with graph.save_on_cpu():
            pass
    assert torch._C._autograd._saved_tensors_hooks_is_enabled()


@on_each_engine
def test_disabling_ends_with_the_block_even_if_it_fails(torch):
    with pytest.raises(ZeroDivisionError), torch.autograd.graph.disable_saved_tensors_hooks("no"):
        1 / 0
    assert torch._C._autograd._saved_tensors_hooks_is_enabled()


# -------------------------------------------------------------------- SavedTensor, nodes, edges


@on_each_engine
def test_saved_tensors_cannot_be_made(torch):
    with pytest.raises(RuntimeError, match="Trying to create a SavedTensor object from Python is "
                                           "forbidden"):
        torch.autograd.SavedTensor()
    x = leaf(torch, 2.0)
    assert isinstance((x * x).grad_fn._raw_saved_self, torch.autograd.SavedTensor)
    assert isinstance((x * x).grad_fn._raw_saved_self, torch._C._autograd.SavedTensor)
    assert not isinstance(x, torch.autograd.SavedTensor)


@on_each_engine
def test_gradient_edges(torch):
    graph = torch.autograd.graph
    x = leaf(torch, [3.0, 1.0])
    values, _ = x.max(0)
    edge = graph.get_gradient_edge(values)
    assert isinstance(edge, graph.GradientEdge)
    assert edge.node is values.grad_fn and edge.output_nr == 0
    assert isinstance(edge.node, graph.Node)
    at_leaf = graph.get_gradient_edge(x)
    assert at_leaf.node is edge.node.next_functions[0][0]
    assert at_leaf.node.name().endswith("AccumulateGrad")
    first, second = torch.autograd.graph.get_gradient_edge(x.unbind()[1])[:2]
    assert isinstance(first, graph.Node) and second == 1
    with pytest.raises(RuntimeError, match="Tensor that does not require gradients"):
        graph.get_gradient_edge(torch.tensor(1.0))


@on_each_engine
def test_gradients_from_and_to_edges(torch):
    edge_of, grad = torch.autograd.graph.get_gradient_edge, torch.autograd.grad
    x = leaf(torch, [1.0, 2.0])
    squares = x * x
    loss = squares.sum()
    ends = edge_of(loss), edge_of(x), edge_of(squares)
    assert grad(ends[0], ends[1], retain_graph=True)[0].tolist() == [2.0, 4.0]
    found = grad(loss, (ends[2], x), retain_graph=True)
    assert [g.tolist() for g in found] == [[1.0, 1.0], [2.0, 4.0]]
    (slope,) = grad(ends[2], x, torch.tensor([10.0, 1.0]), create_graph=True)
    assert slope.tolist() == [20.0, 4.0] and slope.requires_grad
    torch.autograd.backward(ends[0], retain_graph=True)
    assert x.grad.tolist() == [2.0, 4.0]
    loss.backward(inputs=[ends[1]], retain_graph=True)
    assert x.grad.tolist() == [4.0, 8.0]
    del loss, squares
    assert grad(ends[0], ends[1])[0].tolist() == [2.0, 4.0]
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar"):
        grad(edge_of(x * x), x)
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        grad(edge_of(x * x), x, torch.tensor([1.0]))
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
        grad((x * x).sum(), edge_of(leaf(torch, 1.0)))
    with pytest.raises(RuntimeError, match="cannot be used when the given input is a GradientEdge"):
        grad((x * x).sum(), edge_of(leaf(torch, 1.0)), materialize_grads=True)


@on_each_engine
def test_increment_version(torch):
    x, y = torch.tensor([1.0]), torch.tensor([2.0])
    torch.autograd.graph.increment_version(x)
    with pytest.raises(RuntimeError, match="increment_version expect a Iterable"):
        torch.autograd.graph.increment_version(3)
    torch.autograd.graph.increment_version([x, y])
    assert (x._version, y._version) == (2, 1)
    a = leaf(torch, [1.0])
    out = (a * x).sum()
    torch.autograd.graph.increment_version(x)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.backward()
    with torch.inference_mode():
        z = torch.ones(1)
    torch.autograd.graph.increment_version(z)


# -------------------------------------------------------------------- hooks on several tensors


@on_each_engine
def test_a_multi_grad_hook_waits_for_all(torch):
    calls = []
    a, b, c = leaf(torch, 2.0), leaf(torch, 3.0), leaf(torch, 4.0)
    product = a * b

    def hook(grads):
        calls.append([None if g is None else g.item() for g in grads])

    handle = torch.autograd.graph.register_multi_grad_hook((a, product, c, b), hook)
    (product * 5).backward(retain_graph=True)
    assert calls == [[15.0, 5.0, None, 10.0]]
    (product * c).backward(retain_graph=True)
    assert calls[1:] == [[12.0, 4.0, 6.0, 8.0]]
    (c * 2).backward()
    assert calls[2:] == [[None, None, 2.0, None]]
    handle.remove()
    product.backward()
    assert len(calls) == 3


def test_a_multi_grad_hook_on_leaves_runs_in_grad():
    """PyTorch refuses leaves in `grad` and calls too early with `inputs`."""
    calls = []
    a, b, c = leaf(minigrad, 2.0), leaf(minigrad, 3.0), leaf(minigrad, 4.0)
    minigrad.autograd.graph.register_multi_grad_hook(
        (a, b), lambda grads: calls.append([None if g is None else g.item() for g in grads]))
    minigrad.autograd.grad(a * b, a)
    assert calls == [[3.0, None]]
    (a * b * c).backward(inputs=[b, c])
    assert calls[1:] == [[None, 8.0]]


@on_each_engine
def test_a_multi_grad_hook_for_any_takes_the_first(torch):
    calls = []
    a, b = leaf(torch, 2.0), leaf(torch, 3.0)
    product = a * b
    handle = torch.autograd.graph.register_multi_grad_hook(
        (a, torch.tensor(1.0), product, b), lambda g: calls.append(g.item()), mode="any")
    (product * 5).backward(retain_graph=True)
    assert calls == [5.0]
    (product * 7).backward(retain_graph=True)
    assert calls == [5.0, 7.0]
    handle.remove()
    product.backward()
    assert len(calls) == 2


@on_each_engine
def test_a_multi_grad_hook_survives_a_failed_pass(torch):
    calls, fail = [], [True]
    a, b = leaf(torch, 2.0), leaf(torch, 3.0)

    def guard(g):
        if fail[0]:
            raise ValueError("not now")

    middle = b * 1
    middle.register_hook(guard)
    torch.autograd.graph.register_multi_grad_hook((a, b), lambda gs: calls.append(len(gs)))
    loss = middle + (a * 1)
    with pytest.raises(ValueError, match="not now"):
        loss.backward(retain_graph=True)
    assert calls == []
    fail[0] = False
    loss.backward()
    assert calls == [2]


@on_each_engine
def test_a_multi_grad_hook_in_every_thread(torch):
    calls = []
    a, b = leaf(torch, 2.0), leaf(torch, 3.0)
    torch.autograd.graph.register_multi_grad_hook(
        (a, b), lambda grads: calls.append([g.item() for g in grads]))
    threads = [threading.Thread(target=lambda: (a * b).backward()) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert calls == [[3.0, 2.0]] * 4


@on_each_engine
def test_multi_grad_hook_errors(torch):
    x = leaf(torch, 2.0)
    register = torch.autograd.graph.register_multi_grad_hook
    with pytest.raises(ValueError, match=r"Expects mode to be one of \('all', 'any'\) but got so"):
        register([x], print, mode="so")
    with pytest.raises(AssertionError, match="Expected gradient function to be set"):
        register([x, x.detach()], print)


def test_a_multi_grad_hook_makes_no_cycle():
    x = leaf(minigrad, 2.0)
    y = x * 2
    minigrad.autograd.graph.register_multi_grad_hook((x, y), print)
    kept, node = weakref.ref(x), weakref.ref(y.grad_fn)
    gc.disable()
    try:
        del y
        assert node() is None
        del x
        assert kept() is None
    finally:
        gc.enable()


def test_a_name_for_the_running_pass():
    assert minigrad._C._current_graph_task_id() == -1
    seen = []
    x = leaf(minigrad, 2.0)
    x.register_hook(lambda g: seen.append(minigrad._C._current_graph_task_id()))
    (x * 2).backward()
    assert seen != [-1]
    with pytest.raises(RuntimeError, match="should only be called during the backward pass"):
        minigrad._C._will_engine_execute_node((x * 2).grad_fn)


# -------------------------------------------------------------------- threads


@on_each_engine
def test_multithreading_can_be_switched(torch):
    switch, enabled = torch.autograd.set_multithreading_enabled, torch._C._is_multithreading_enabled
    assert enabled()
    with switch(False):
        assert not enabled()
        with switch(True):
            assert enabled()
        assert not enabled()
        x = leaf(torch, 2.0)
        (x * x).backward()
    assert enabled()
    switch(False)
    assert not enabled()
    switch(True)

    @switch(False)
    def inside():
        return enabled()

    switch(True)
    assert inside() is False
    assert enabled()


# -------------------------------------------------------------------- Variable


@on_each_engine
def test_variable_returns_a_tensor(torch):
    variable = torch.autograd.Variable
    assert variable is torch.autograd.variable.Variable
    x = leaf(torch, [1.0])
    plain = variable(x * 2)
    assert type(plain) is torch.Tensor
    assert not plain.requires_grad and plain.is_leaf
    assert variable(x, requires_grad=True).requires_grad
    assert variable(x, True).data_ptr() == x.data_ptr()
    assert variable(x, name="me").name == "me"
    assert isinstance(x, variable)
    assert isinstance(torch.nn.Parameter(x.detach()), variable)
    assert not isinstance(3, variable)
    assert variable().shape == (0,)


@on_each_engine
def test_variable_errors(torch):
    variable = torch.autograd.Variable
    x = torch.tensor([1.0])
    with pytest.raises(TypeError, match=r"^Variable data has to be a tensor, but got list$"):
        variable([1.0])
    with pytest.warns(UserWarning, match="volatile was removed and now has no effect"):
        variable(x, volatile=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # looked at above; here it is the error
        with pytest.raises(ValueError, match="can't be volatile and require_grad"):
            variable(x, volatile=True, requires_grad=True)
    with pytest.raises(TypeError, match="_grad_fn has to be a Function object or None, but got in"):
        variable(x, _grad_fn=3)


@on_each_engine
def test_the_execution_engine(torch):
    engine = torch.autograd.Variable._execution_engine
    x = leaf(torch, [1.0, 2.0])
    y = (x * x).sum()
    one = torch.tensor(1.0)
    found = engine.run_backward((y,), (one,), True, False, (x,), allow_unreachable=True,
                                accumulate_grad=False)
    assert [g.tolist() for g in found] == [[2.0, 4.0]]
    assert x.grad is None
    engine.run_backward((y,), (one,), True, False, (), allow_unreachable=True,
                        accumulate_grad=True)
    assert x.grad.tolist() == [2.0, 4.0]
    with pytest.raises(RuntimeError, match="element 0 of gradients tuple is None"):
        engine.run_backward((y,), (None,), True, False, (), allow_unreachable=True,
                            accumulate_grad=True)
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
        engine.run_backward((y,), (one,), True, False, (leaf(torch, 1.0),),
                            allow_unreachable=False, accumulate_grad=False)
    with pytest.raises(RuntimeError, match="Final callbacks can only be installed during backward"):
        engine.queue_callback(lambda: None)
    log = []
    x.register_hook(lambda g: engine.queue_callback(lambda: log.append("end")))
    x.register_hook(lambda g: log.append("hook"))
    y.backward()
    assert log == ["hook", "end"]


# -------------------------------------------------------------------- NestedIOFunction


def test_nested_io_function():
    class Swap(minigrad.autograd.NestedIOFunction):
        def forward_extended(self, pair, scale):
            a, (b,) = pair
            self.save_for_backward(pair, scale)
            return [b * scale], a + b

        def backward_extended(self, from_product, from_sum):
            (product,) = from_product
            (_, (b,)), scale = self.saved_tensors
            return [from_sum, [product * scale + from_sum]], (product * b).sum()

    a, b, scale = leaf(minigrad, [1.0]), leaf(minigrad, [2.0]), leaf(minigrad, 10.0)
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        function = Swap()
    (product,), total = function([a, [b]], scale)
    assert (product.item(), total.item()) == (20.0, 3.0)
    (product * 5 + total * 7).backward()
    assert (a.grad.item(), b.grad.item(), scale.grad.item()) == (7.0, 57.0, 10.0)


def test_the_public_names_are_there():
    graph = importlib.import_module("minigrad.autograd.graph")
    assert all(hasattr(graph, name) for name in graph.__all__)
    assert all(hasattr(minigrad.autograd, name) for name in minigrad.autograd.__all__)


def test_a_tensor_is_never_volatile():
    import minigrad

    x = minigrad.ones(2)
    with pytest.warns(UserWarning, match="Variable.volatile is always False"):
        assert x.volatile is False
    with pytest.warns(UserWarning, match="volatile was removed and now has no effect"):
        x.volatile = True
