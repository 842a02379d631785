"""Stage 04d: a declared op, save lists, classes of nodes, saving, running the formulas.

Each exercise is tested on a second copy of `op/`; tests marked with the stage's number run when
all of them are right, with the learner's files below the whole package.
"""

import contextlib

import _oracle as oracle
import numpy as np
import pytest

import minigrad as torch
from minigrad_course.child_process.second_copy import second_copy


@pytest.fixture
def copy(request):
    """The second copy of `op/` for the exercise that a test is for."""
    return second_copy(request.node.get_closest_marker("hole").args[0])


@contextlib.contextmanager
def declared(copy, name, **body):
    """Declare an op in the copy for a block; it is not published."""
    body.setdefault("public", False)
    try:
        yield type(name, (copy.module("op.declaration").Op,), body)
    finally:
        copy.REGISTRY.pop(name, None)


def pair(copy, first=2.0, second=3.0):
    """Two leaves that require grad."""
    return (copy.tensor([first], requires_grad=True), copy.tensor([second], requires_grad=True))


# ------------------------------------------------------------------ 04d.1


def own(copy):
    """The learner's op in the copy, declared and published once."""
    if "Log1pExp" not in copy.REGISTRY:
        module = copy.module("examples.softplus")
        for name in [key for key, op in copy.REGISTRY.items() if op.__module__ == module.__name__]:
            del copy.REGISTRY[name]
        op = module.declare_log1p_exp()
        assert op is not None, "declare_log1p_exp returned None, not a class"
        assert op.__name__ == "Log1pExp"
        copy.module("op.publish").publish(op)
    return copy.REGISTRY["Log1pExp"]


def softplus(x):
    return np.logaddexp(x, 0.0)


def leaf(copy, values):
    """A leaf of float64."""
    return copy.tensor(np.asarray(values, np.float64), requires_grad=True)


@pytest.mark.hole("04d.1")
def test_three_numbers(copy):
    op = own(copy)
    x = copy.tensor(0.0, requires_grad=True)
    y = copy.F.log1p_exp(x)
    assert y.grad_fn.op is op and y.item() == pytest.approx(0.6931, abs=1e-4)
    (first,) = torch.autograd.grad(y, x, create_graph=True)
    assert first.item() == pytest.approx(0.5, abs=1e-6)
    (second,) = torch.autograd.grad(first, x)
    assert second.item() == pytest.approx(0.25, abs=1e-6)


@pytest.mark.hole("04d.1")
def test_values_and_shapes(copy):
    op = own(copy)
    assert issubclass(op, copy.module("op.declaration").Unary)
    for shape in [(3, 4), (), (0, 2)]:
        values = np.linspace(-3, 3, int(np.prod(shape))).reshape(shape)
        found = copy.F.log1p_exp(leaf(copy, values))
        assert tuple(found.shape) == tuple(op.shape(shape)) == shape
        oracle.assert_close(found.detach().numpy(), softplus(values))
        found.backward(torch.ones(shape, dtype=torch.float64))
    for dtype in (np.float32, np.float64):
        assert copy.F.log1p_exp(copy.tensor(np.zeros(2, dtype)))._array.dtype == dtype


@pytest.mark.hole("04d.1")
def test_large_and_small_numbers(copy):
    own(copy)
    x = leaf(copy, [1000.0, -1000.0])
    with np.errstate(over="raise", invalid="raise"):
        y = copy.F.log1p_exp(x)
    assert y.tolist() == [1000.0, 0.0]
    with np.errstate(all="ignore"):
        (first,) = torch.autograd.grad(y.sum(), x)
    assert first.tolist() == [1.0, 0.0]


@pytest.mark.hole("04d.1")
@pytest.mark.parametrize("at", [1000.0, -1000.0], ids=["at 1000", "at -1000"])
def test_second_slopes_far_out(copy, at):
    own(copy)
    x = leaf(copy, [at])
    with np.errstate(all="ignore"):
        (first,) = torch.autograd.grad(copy.F.log1p_exp(x).sum(), x, create_graph=True)
        (second,) = torch.autograd.grad(first.sum(), x)
    assert second.tolist() == [0.0]


@pytest.mark.hole("04d.1")
def test_derivatives_as_measured(copy):
    own(copy)
    at, g = np.array([[-2.0, 0.3], [1.0, 4.0]]), np.array([[1.0, 10.0], [-3.0, 0.5]])
    x = leaf(copy, at)
    (found,) = torch.autograd.grad(copy.F.log1p_exp(x), x, torch.tensor(g))
    (expected,) = oracle.central_difference_vjp(softplus, [at], g)
    oracle.assert_close(found.numpy(), expected, rtol=1e-5)


@pytest.mark.hole("04d.1")
def test_second_derivatives_as_measured(copy):
    own(copy)
    at, g, v = np.array([-2.0, 0.3, 4.0]), np.array([1.0, 10.0, -3.0]), np.array([2.0, 1.0, 0.5])
    x, given = leaf(copy, at), torch.tensor(g).requires_grad_()
    (first,) = torch.autograd.grad(copy.F.log1p_exp(x), x, given, create_graph=True)
    found = torch.autograd.grad(first, (x, given), torch.tensor(v))
    (by_x,), by_g = oracle.second_order_vjp(softplus, [at], g, [v])
    oracle.assert_close(found[0].numpy(), by_x, rtol=1e-4, atol=1e-5)
    oracle.assert_close(found[1].numpy(), by_g, rtol=1e-4, atol=1e-5)


@pytest.mark.hole("04d.1")
def test_memory_in_another_order(copy):
    own(copy)
    values = np.arange(12.0).reshape(3, 4) - 6
    for array in (values.T, values[:, ::2], values[::-1]):
        x = copy.tensor([0.0]).detach()
        x._array = array
        x.requires_grad_()
        y = copy.F.log1p_exp(x)
        oracle.assert_close(y.detach().numpy(), softplus(array))
        (found,) = torch.autograd.grad(y.sum(), x)
        oracle.assert_close(found.numpy(), 1 / (1 + np.exp(-array)))


# ------------------------------------------------------------------ 04d.2


@pytest.mark.hole("04d.2")
def test_names_of_a_formula_s_arguments(copy):
    needed_by = copy.module("op.node").needed_by
    assert needed_by(lambda g, other: g * other) == ("g", "other")
    assert needed_by(lambda g, dim, keepdim, shared=None: g) == ("g", "dim", "keepdim")


@pytest.mark.hole("04d.2")
@pytest.mark.parametrize(("op", "lists"), [
    ("Mul", (["other", "self"], [])), ("Exp", (["result"], [])), ("Sub", ([], [])),
    ("SinCos", (["cos", "sin"], [])), ("AddScaled", ([], ["scale", "tensors_sizes"]))],
    ids=["Mul", "Exp", "Sub", "SinCos", "AddScaled"])
def test_save_lists_of_ops(copy, op, lists):
    found = copy.module("op.node").save_list(copy.REGISTRY[op])
    assert tuple(map(list, found)) == lists


@pytest.mark.hole("04d.2")
def test_a_list_of_tensors_is_saved(copy):
    with declared(copy, "Listed", list_of_tensors="items", forward=lambda xp, items: items[0],
                  grad_items=lambda g, items: [g for _ in items]) as op:
        assert tuple(map(list, copy.module("op.node").save_list(op))) == (["items"], [])


@pytest.mark.hole("04d.2")
def test_each_name_once_inputs_before_outputs(copy):
    with declared(copy, "Twice", forward=lambda xp, self, other: self,
                  grad_self=lambda g, other, result: g, grad_other=lambda g, other, self: g) as op:
        assert list(op.node_type.saves) == ["other", "self", "result"]


@pytest.mark.hole("04d.2")
def test_gradients_are_not_saved(copy):
    with declared(copy, "Grads", outputs=("a", "b"), forward=lambda xp, self: (self, self),
                  grad_self=lambda grads, g_a, g_b, b: g_a) as op:
        assert (list(op.node_type.saves), list(op.node_type.keeps)) == (["b"], [])


@pytest.mark.hole("04d.2")
def test_what_a_formula_can_do_without_is_not_saved(copy):
    with declared(copy, "Common", forward=lambda xp, self: self,
                  grad_self=lambda g, self, shared=None: g) as op:
        assert list(op.node_type.saves) == ["self"]


@pytest.mark.hole("04d.2")
def test_a_name_that_says_nothing_is_refused(copy):
    text = copy.module("op.node").NO_SUCH_NAME.format("Odd", "weight")
    with pytest.raises(TypeError) as error, declared(
            copy, "Odd", forward=lambda xp, self: self, grad_self=lambda g, weight: g):
        pass
    assert str(error.value) == text


# ------------------------------------------------------------------ 04d.3


@pytest.mark.hole("04d.3")
def test_the_class_has_the_op_s_name(copy):
    made = copy.module("op.node").make_node_type(copy.REGISTRY["Mul"])
    assert made.__name__ == "MulBackward"
    assert issubclass(made, copy.module("op.node").OpNode)
    assert made.op is copy.REGISTRY["Mul"] and made.saves == ("other", "self")


@pytest.mark.hole("04d.3")
def test_a_slot_for_each_name_and_no_dictionary(copy):
    node_type = copy.REGISTRY["Mul"].node_type
    assert node_type.value_slots == {"other": "_value_other", "self": "_value_self"}
    assert set(node_type.__slots__) == {"_value_other", "_value_self"}
    assert copy.REGISTRY["AddScaled"].node_type.arg_slots == {
        "scale": "_arg_scale", "tensors_sizes": "_arg_tensors_sizes"}
    x, y = pair(copy)
    assert not hasattr((x * y).grad_fn, "__dict__")


@pytest.mark.hole("04d.3")
def test_another_base(copy):
    Nary = copy.module("graph.node").NaryNode
    base = type("Flat", (Nary,), {"__slots__": ()})
    made = copy.module("op.node").make_node_type(copy.REGISTRY["Exp"], base)
    assert made.__bases__ == (copy.module("op.node").OpNode, base)


@pytest.mark.hole("04d.3")
def test_saved_values_can_be_looked_at(copy):
    x, y = pair(copy)
    node = (x * y).grad_fn
    assert node._saved_self is x and node._saved_other is y
    node = copy.F.add_scaled([x, y], 3.0).grad_fn
    assert (node._saved_scale, node._saved_tensors_sizes) == (3.0, [(1,), (1,)])


@pytest.mark.hole("04d.3")
def test_raw_views_of_saved_tensors_alone(copy):
    x, y = pair(copy)
    assert type((x * y).grad_fn._raw_saved_self).__name__ == "SavedTensor"
    assert not hasattr(copy.REGISTRY["AddScaled"].node_type, "_raw_saved_scale")


# ------------------------------------------------------------------ 04d.4


@pytest.mark.hole("04d.4")
def test_only_what_a_live_edge_needs_is_saved(copy):
    a, b = pair(copy)
    assert (a * b).grad_fn is not None  # it needs both, and leaves no trace in later nodes
    x, y = copy.tensor([2.0], requires_grad=True), copy.tensor([3.0])
    node = (x * y).grad_fn
    assert node.names_to_save() == {"other"}
    assert node._saved_other is y and node._saved_self is None


@pytest.mark.hole("04d.4")
def test_both_factors_are_saved(copy):
    x, y = pair(copy)
    node = (x * y).grad_fn
    assert node.names_to_save() == {"self", "other"}
    assert (node._saved_self is x, node._saved_other is y) == (True, True)


@pytest.mark.hole("04d.4")
def test_an_output_is_no_input(copy):
    x = copy.tensor([2.0], requires_grad=True)
    assert copy.F.exp(x).grad_fn.names_to_save() == set()
    assert copy.F.sin(x).grad_fn.names_to_save() == {"self"}


@pytest.mark.hole("04d.4")
def test_a_list_has_more_edges_than_formulas(copy):
    tensors = [copy.tensor([value], requires_grad=True) for value in (1.0, 2.0, 3.0)]
    node = copy.F.add_scaled(tensors, 2.0).grad_fn
    assert len(node.next_functions) == 3 and node.names_to_save() <= {"scale"}
    assert node._saved_scale == 2.0


@pytest.mark.hole("04d.4")
def test_what_is_always_saved(copy):
    with declared(copy, "Three", forward=lambda xp, a, b, c: a + b + c,
                  grad_a=lambda g, c: g * c, grad_b=lambda g, c: g * c,
                  grad_c=lambda g, a: g * a) as op:
        c = copy.tensor([3.0], requires_grad=True)
        node = op(copy.tensor([1.0]), copy.tensor([2.0]), c).grad_fn
        assert node.names_to_save() == {"a", "c"}
        assert node._saved_c is c


@pytest.mark.hole("04d.4")
def test_arguments_are_kept(copy):
    node = copy.F.add_scaled([copy.tensor([2.0], requires_grad=True)], 3.0).grad_fn
    assert node._saved_scale == 3.0


@pytest.mark.hole("04d.4")
def test_a_converted_input_is_kept_as_forward_saw_it(copy):
    x = torch.tensor([2.0], dtype=torch.float32).requires_grad_()
    y = copy.tensor(np.array([3.0]), requires_grad=True)
    node = (y * x).grad_fn
    assert node._saved_other is x
    assert node.unpack("other", arrays=True).dtype == np.float64


@pytest.mark.hole("04d.4")
def test_a_write_after_saving_is_noticed(copy):
    x, y = pair(copy)
    z = x * 1.0
    product = z * y
    with torch.no_grad():
        z.add_(10.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.backward()


# ------------------------------------------------------------------ 04d.5


@pytest.mark.hole("04d.5")
def test_gradients_in_the_order_of_the_edges(copy):
    x, y = pair(copy)
    node = (x * y).grad_fn
    found = node.apply_arrays([np.array([10.0])], None)
    assert [each.tolist() for each in found] == [[30.0], [20.0]]
    (x * y).backward()
    assert (x.grad.item(), y.grad.item()) == (3.0, 2.0)


@pytest.mark.hole("04d.5")
def test_on_arrays_everything_is_an_array(copy):
    x, y = pair(copy)
    node = (x * y).grad_fn
    assert all(type(each) is np.ndarray for each in node.apply_arrays([np.ones(1)], None))
    assert type(node.unpack("self", arrays=True)) is np.ndarray


@pytest.mark.hole("04d.5")
def test_on_tensors_the_formulas_are_recorded(copy):
    x, y = pair(copy)
    node = (x * y).grad_fn
    assert node.unpack("self", arrays=False) is x
    first, _ = node.apply_tensors([copy.tensor([10.0])])
    assert first.requires_grad and first.tolist() == [30.0]


@pytest.mark.hole("04d.5")
def test_second_derivatives(copy):
    x = copy.tensor([0.5, 1.5], requires_grad=True)
    y = copy.F.mul(copy.F.sin(x), x)
    (first,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    at = np.array([0.5, 1.5])
    np.testing.assert_allclose(second.numpy(), 2 * np.cos(at) - at * np.sin(at), rtol=1e-5)


@pytest.mark.hole("04d.5")
def test_no_formula_for_an_edge_that_leads_nowhere(copy):
    x = copy.tensor([2.0], requires_grad=True)
    node = (x * copy.tensor([3.0])).grad_fn
    assert node.unpack("self", arrays=True) is None
    first, second = node.apply_arrays([np.array([10.0])], None)
    assert (first.tolist(), second) == ([30.0], None)


@pytest.mark.hole("04d.5")
def test_no_formula_for_a_node_that_is_not_needed(copy):
    x, y = pair(copy)
    node = (x * y).grad_fn
    needed = {node.next_functions[1][0]}
    for found in (node.apply_arrays([np.array([10.0])], needed),
                  node.apply_needed_tensors([copy.tensor([10.0])], needed)):
        assert found[0] is None and found[1].tolist() == [20.0]


@pytest.mark.hole("04d.5")
def test_no_gradient_comes_in(copy):
    x, y = pair(copy)
    assert list((x * y).grad_fn.apply_arrays([None], None)) == [None, None]


@pytest.mark.hole("04d.5")
def test_a_list_and_several_outputs(copy):
    x, y = pair(copy, 0.5)
    copy.F.add_scaled([x, y], 3.0).backward()
    assert (x.grad.item(), y.grad.item()) == (3.0, 3.0)
    x.grad = None
    copy.F.sin_cos(x).cos.backward()
    np.testing.assert_allclose(x.grad.numpy(), -np.sin([0.5]), rtol=1e-6)


@pytest.mark.hole("04d.5")
def test_a_common_part_is_computed_once_on_arrays(copy):
    calls = []

    def shared(self, other):
        calls.append(type(self))
        return self * other

    def formula(g, self, other, shared=None):
        return g * (self * other if shared is None else shared)

    with declared(copy, "Common", forward=lambda xp, self, other: self + other, shared=shared,
                  grad_self=formula, grad_other=formula) as op:
        node = op(*pair(copy)).grad_fn
        found = node.apply_arrays([np.array([10.0])], None)
        assert ([each.tolist() for each in found], calls) == ([[60.0], [60.0]], [np.ndarray])
        found = node.apply_tensors([copy.tensor([10.0])])
        assert ([each.tolist() for each in found], len(calls)) == ([[60.0], [60.0]], 1)


# ------------------------------------------------------------------ below the whole package


@pytest.mark.hole("04d")
def test_the_whole_package_runs_on_it():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x * 2 + 1).sum()
    assert y.item() == 8.0
    nodes, waiting = [], [y.grad_fn]
    while waiting:
        nodes.append(waiting.pop())
        waiting += [node for node, _ in nodes[-1].next_functions if node is not None]
    assert [node.name() for node in nodes] == ["SumBackward0", "AddBackward0", "MulBackward0",
                                               "AccumulateGrad"]
    with torch.no_grad():
        assert (x * 2 + 1).sum().grad_fn is None


#: Ops of each shape that recording has to deal with.
SAMPLED = ("Add", "Mul", "Div", "Exp", "Tanh", "Sigmoid", "PowNumber", "Sum", "Mean", "Amax", "Mm",
           "Cat", "Stack", "Transpose", "Select", "Expand", "Cumsum", "Where", "LogSoftmax",
           "Norm", "Sort", "Index", "Gather", "Unbind", "Addmm", "Convolution")


def numbers(random, *shape, low=-2.0, high=2.0, dtype=None, distinct=False):
    """A leaf of random numbers, as declarations ask for it."""
    count = int(np.prod(shape))
    values = random.permutation(count) / max(count, 1) if distinct else random.uniform(size=shape)
    array = low + (high - low) * (np.reshape(values, shape) * 0.9 + 0.03)
    return torch.tensor(array).requires_grad_()


@pytest.mark.hole("04d")
@pytest.mark.parametrize("name", SAMPLED)
def test_the_registry(name):
    from minigrad.op import REGISTRY

    op, random = REGISTRY[name], np.random.default_rng(0)

    def make(*shape, **more):
        return numbers(random, *shape, **more)

    make.ints = lambda *shape, low=0, high=10: torch.tensor(random.integers(low, high, shape))
    make.bools = lambda *shape: torch.tensor(random.integers(0, 2, shape) > 0)
    for sample in list(op.samples(make))[:3]:
        args = sample if isinstance(sample, tuple) else (sample,)
        kwargs = args[-1] if isinstance(args[-1], dict) else {}
        args = args[: len(args) - bool(kwargs)]
        places = [i for i, each in enumerate(args)
                  if isinstance(each, torch.Tensor) and each.requires_grad]

        def call(*arrays, args=args, kwargs=kwargs, places=places):
            given = list(args)
            for place, array in zip(places, arrays, strict=True):
                given[place] = array
            found = op(*given, **kwargs)
            return found[0] if isinstance(found, tuple) else found

        leaves = [args[place] for place in places]
        if not leaves:
            continue
        result = call(*leaves)
        g = random.uniform(0.5, 1.5, tuple(result.shape))
        grads = torch.autograd.grad(result, leaves, torch.tensor(g), allow_unused=True)
        expected = oracle.central_difference_vjp(
            lambda *arrays, call=call: call(*map(torch.tensor, arrays)).numpy(),
            [each.detach().numpy() for each in leaves], g)
        for grad, wanted in zip(grads, expected, strict=True):
            oracle.assert_close(0 * wanted if grad is None else grad.numpy(), wanted,
                                rtol=1e-4, atol=1e-5)


@pytest.mark.hole("04d")
def test_a_network_learns():
    random = np.random.default_rng(0)
    inputs = torch.tensor(random.normal(size=(20, 3)))
    wanted = torch.tensor(random.normal(size=(20, 1)))
    first = torch.tensor(random.normal(size=(3, 5))).requires_grad_()
    last = torch.tensor(random.normal(size=(5, 1))).requires_grad_()
    losses = []
    for _ in range(50):
        loss = (((inputs @ first).tanh() @ last - wanted) ** 2).mean()
        losses.append(loss.item())
        loss.backward()
        with torch.no_grad():
            for weights in (first, last):
                weights -= 0.1 * weights.grad
                weights.grad = None
    assert losses[-1] < 0.5 * losses[0]


@pytest.mark.hole("04d")
def test_an_own_op_in_the_whole_package():
    from minigrad.examples.softplus import declare_log1p_exp
    from minigrad.op import REGISTRY
    from minigrad.op.publish import FUNCTIONS, F, publish

    op = declare_log1p_exp()
    try:
        publish(op)
        x = torch.tensor([0.0, 1.0], dtype=torch.float64).requires_grad_()
        y = x.log1p_exp()
        assert (y.grad_fn.name(), y.grad_fn.op) == ("Log1pExpBackward", op)
        (first,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        (second,) = torch.autograd.grad(first.sum(), x)
        s = 1 / (1 + np.exp(-np.array([0.0, 1.0])))
        oracle.assert_close(second.numpy(), s * (1 - s))
    finally:
        REGISTRY.pop("Log1pExp", None)
        for names in (vars(F), FUNCTIONS):
            for name in ("log1p_exp", "log1p_exp_"):
                names.pop(name, None)
        for name in ("log1p_exp", "log1p_exp_"):
            if name in vars(torch.Tensor):
                delattr(torch.Tensor, name)
