"""Stage 04e: the four steps, interceptors, recording, wrapping, operators.

Each exercise is tested on a second copy of `op/`; tests marked with the stage's number run when
all of them are right, with the learner's files below the whole package.
"""

import contextlib
import gc
import weakref
from dataclasses import replace

import _oracle as oracle
import numpy as np
import pytest

import minigrad as torch
from minigrad import _state
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


@contextlib.contextmanager
def without_collector():
    """Keep Python from looking for cycles, so that what is in one stays."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


# ------------------------------------------------------------------ 04e.1


class Log:
    """An interceptor that keeps the names of the ops that it hands on."""

    def __init__(self, kept, name=""):
        self.kept, self.name = kept, name

    def op(self, op, values, proceed):
        self.kept.append(self.name + op.name)
        return proceed(op, values)


@pytest.mark.hole("04e.1")
def test_tensors_give_tensors_and_arrays_give_arrays(copy):
    x = copy.tensor([2.0], requires_grad=True)
    assert type(copy.F.exp(x)) is copy.Tensor
    assert type(copy.F.exp(copy.tensor([2.0]))) is copy.Tensor, "without a node, too"
    bare = copy.F.mul(np.array([2.0]), np.array([3.0]))
    assert type(bare) is np.ndarray and bare.tolist() == [6.0]


@pytest.mark.hole("04e.1")
def test_an_op_on_tensors_is_recorded(copy):
    x = copy.tensor([2.0], requires_grad=True)
    assert copy.F.sin(x).grad_fn.op is copy.REGISTRY["Sin"]


@pytest.mark.hole("04e.1")
def test_interceptors_are_asked_in_their_order(copy):
    apply, kept = copy.module("op.apply"), []
    stack = (Log(kept, "first: "), Log(kept, "second: "))
    x, y = pair(copy)
    result = apply.intercepted(copy.REGISTRY["Mul"], [x, y], stack)
    assert kept == ["first: mul", "second: mul"]
    assert result.tolist() == [6.0] and result.grad_fn.op is copy.REGISTRY["Mul"]


@pytest.mark.hole("04e.1")
def test_an_interceptor_may_hand_on_something_else(copy):
    class Instead:
        def op(self, op, values, proceed):
            return proceed(copy.REGISTRY["Sub"], values)

    kept = []
    result = copy.module("op.apply").intercepted(
        copy.REGISTRY["Mul"], [copy.tensor([2.0]), copy.tensor([3.0])], (Instead(), Log(kept)))
    assert (kept, result.tolist()) == (["sub"], [-1.0])


@pytest.mark.hole("04e.1")
def test_an_interceptor_may_run_an_op_twice(copy):
    class Twice:
        def op(self, op, values, proceed):
            proceed(op, values)
            return proceed(op, values)

    kept = []
    copy.module("op.apply").intercepted(
        copy.REGISTRY["Mul"], list(pair(copy)), (Twice(), Log(kept, "second: "), Log(kept)))
    assert kept == ["second: mul", "mul"] * 2, f"the others are to see both, but got {kept}"


@pytest.mark.hole("04e.1")
def test_other_backends_run_elsewhere(copy, monkeypatch):
    apply = copy.module("op.apply")
    prepare = apply.prepare
    monkeypatch.setattr(apply, "prepare", lambda op, values: replace(
        prepare(op, values), xp="a GPU"))
    monkeypatch.setattr(apply, "run_elsewhere", lambda op, call: (op, call.xp))
    op = copy.REGISTRY["Exp"]
    assert apply.run_op(op, [copy.tensor([2.0])]) == (op, "a GPU")


# ------------------------------------------------------------------ 04e.2


@pytest.mark.hole("04e.2")
def test_nothing_is_recorded_without_need(copy):
    x = copy.tensor([2.0], requires_grad=True)
    assert copy.F.exp(copy.tensor([2.0])).grad_fn is None
    with torch.no_grad():
        assert copy.F.exp(x).grad_fn is None
    assert copy.F.exp(x).grad_fn is not None


@pytest.mark.hole("04e.2")
def test_inference_mode_records_nothing(copy):
    x = copy.tensor([2.0], requires_grad=True)
    with torch.inference_mode(), torch.enable_grad():
        assert copy.F.mul(x, 2.0).grad_fn is None


@pytest.mark.hole("04e.2")
def test_an_op_whose_derivative_is_missing(copy):
    with declared(copy, "Odd", forward=lambda xp, self: xp.exp(self), tensors=("self",),
                  not_implemented_derivative=True) as op:
        result = op(copy.tensor([2.0], requires_grad=True))
        assert result.requires_grad and result.grad_fn is not None


@pytest.mark.hole("04e.2")
def test_one_input_that_requires_grad_is_enough(copy):
    x, y = copy.tensor([2.0], requires_grad=True), copy.tensor([3.0])
    assert (x * y).requires_grad and (y * x).requires_grad


@pytest.mark.hole("04e.2")
def test_an_input_that_requires_grad_and_whose_edge_is_empty(copy):
    b = torch.ones(3)
    view = b[:2]
    b.requires_grad_()
    empty = view.requires_grad and view._edge()[0] is None
    assert empty, "the view requires grad as its base does, and was made before"
    result = copy.F.mul(view, 3.0)
    assert result.requires_grad, "an input requires grad, and the result does not"
    assert result.grad_fn.next_functions[0] == (None, 0)


@pytest.mark.hole("04e.2")
def test_there_is_an_edge_for_each_input(copy):
    x, y = copy.tensor([2.0], requires_grad=True), copy.tensor([3.0])
    (first, number), second = (x * y).grad_fn.next_functions
    assert (first.name(), number) == ("AccumulateGrad", 0)
    assert second == (None, 0)
    assert (x * 2.0).grad_fn.next_functions[1] == (None, 0)


@pytest.mark.hole("04e.2")
def test_a_list_has_an_edge_for_each_tensor(copy):
    x, y = pair(copy)
    total = copy.F.add_scaled([x, copy.tensor([1.0]), y], 3.0)
    assert [node is not None for node, _ in total.grad_fn.next_functions] == [True, False, True]


@pytest.mark.hole("04e.2")
def test_an_edge_knows_the_output(copy):
    both = copy.F.sin_cos(copy.tensor([0.5], requires_grad=True))
    assert copy.F.exp(both[1]).grad_fn.next_functions == ((both[1].grad_fn, 1),)


@pytest.mark.hole("04e.2")
def test_the_node_is_numbered_and_has_saved(copy):
    x, y = pair(copy)
    first, second = (x * y).grad_fn, (x * y).grad_fn
    assert second.sequence == first.sequence + 1
    assert first._saved_other is y


@pytest.mark.hole("04e.2")
def test_converted_inputs_are_saved_as_such(copy):
    x = torch.tensor([2.0], dtype=torch.float32).requires_grad_()
    y = copy.tensor(np.array([3.0]), requires_grad=True)
    (y * x).backward()
    assert x.grad.tolist() == [3.0]
    assert (y * x).grad_fn.unpack("other", arrays=True).dtype == np.float64


# ------------------------------------------------------------------ 04e.3


@pytest.mark.hole("04e.3")
def test_the_result_is_joined_to_its_node(copy):
    result = copy.F.sin(copy.tensor([[2.0]], requires_grad=True))
    assert result.requires_grad and result.grad_fn.op is copy.REGISTRY["Sin"]
    assert (result.grad_fn.shape, result.grad_fn.dtype) == ((1, 1), np.float32)
    half = copy.tensor(np.array([2.0], np.float16), requires_grad=True)
    wide = copy.F.mul(half, copy.tensor(np.array([3.0, 4.0], np.float16)))
    assert wide.requires_grad and wide.grad_fn is not None, "float16 has a gradient, too"
    assert (wide.grad_fn.shape, wide.grad_fn.dtype) == ((2,), np.float16)


@pytest.mark.hole("04e.3")
def test_an_output_is_saved(copy):
    x = copy.tensor([2.0], requires_grad=True)
    result = copy.F.exp(x)
    assert result.grad_fn._saved_result.item() == result.item()
    result.backward()
    assert x.grad.item() == result.item()
    assert copy.F.sin(x).grad_fn._saved_self is x, "the result was saved in place of the input"


@pytest.mark.hole("04e.3")
def test_a_result_and_its_node_are_no_cycle(copy):
    result = copy.F.exp(copy.tensor([2.0], requires_grad=True))
    node = weakref.ref(result.grad_fn)
    with without_collector():
        del result
        assert node() is None


@pytest.mark.hole("04e.3")
def test_results_in_inference_mode(copy):
    x = copy.tensor([2.0])
    with torch.inference_mode():
        result = copy.F.exp(x)
    assert result.is_inference() and not copy.F.exp(x).is_inference()


@pytest.mark.hole("04e.3")
def test_a_view_has_a_base(copy):
    x = copy.tensor([[1.0, 2.0]], requires_grad=True)
    result = copy.F.transposed(x)
    assert result._base is x
    assert np.shares_memory(result._array, x._array)


@pytest.mark.hole("04e.3")
def test_integers_have_no_gradient(copy):
    with declared(copy, "Whole", forward=lambda xp, self: self.astype("int64"),
                  grad_self=lambda g: g) as op:
        result = op(copy.tensor([2.5], requires_grad=True))
        assert result.tolist() == [2]
        assert (result.grad_fn, result.requires_grad) == (None, False)


@pytest.mark.hole("04e.3")
def test_several_outputs_have_their_numbers(copy):
    x = copy.tensor([0.5], requires_grad=True)
    both = copy.F.sin_cos(x)
    assert [each._index for each in both] == [0, 1]
    both.sin.backward()
    np.testing.assert_allclose(x.grad.numpy(), np.cos([0.5]), rtol=1e-6)


# ------------------------------------------------------------------ 04e.4


@pytest.mark.hole("04e.4")
def test_operators(copy):
    x, y = pair(copy)
    for result, value, op in ((x * y, 6.0, "Mul"), (x - y, -1.0, "Sub"), (x * 4, 8.0, "Mul")):
        assert (result.tolist(), result.grad_fn.op) == ([value], copy.REGISTRY[op])


@pytest.mark.hole("04e.4")
def test_operators_the_other_way_round(copy):
    x = copy.tensor([2.0], requires_grad=True)
    result = 5 - x
    assert (result.tolist(), result.grad_fn.op) == ([3.0], copy.REGISTRY["Sub"])
    assert (4 * x).tolist() == [8.0]
    # a product is the same either way, so the tensor stays the first operand
    assert (4 * x).grad_fn.next_functions[1] == (None, 0)


@pytest.mark.hole("04e.4")
def test_an_operand_that_is_none_is_left_to_the_other_side(copy):
    class Other:
        def __rmul__(self, left):
            return "mine"

    x = copy.tensor([2.0])
    assert x * Other() == "mine"
    assert copy.Tensor.__mul__(x, "text") is NotImplemented


@pytest.mark.hole("04e.4")
def test_the_other_way_round_too(copy):
    assert copy.Tensor.__rsub__(copy.tensor([2.0]), "text") is NotImplemented
    assert copy.Tensor.__rmul__(copy.tensor([2.0]), "text") is NotImplemented


@pytest.mark.hole("04e.4")
def test_with_another_decides(copy):
    asked = []

    def eq(self, other):
        asked.append(type(other))
        return "equal"

    equal = copy.module("op.publish").operator(eq)
    assert equal(copy.tensor([0.5]), np.array([0.5])) == "equal"
    assert issubclass(asked[0], torch.Tensor)


@pytest.mark.hole("04e.4")
def test_an_operator_of_one_operand(copy):
    dunder = copy.module("op.publish").operator(copy.F.exp)
    assert dunder(copy.tensor([0.0])).tolist() == [1.0]


# ------------------------------------------------------------------ below the whole package


@pytest.mark.hole("04e")
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


@pytest.mark.hole("04e")
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


@pytest.mark.hole("04e")
def test_interceptors_see_ops_and_not_their_recording():
    class Log:
        quick = False

        def op(self, op, values, proceed):
            kept.append(op.name)
            return proceed(op, values)

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    for mode in (torch.enable_grad, torch.no_grad):
        kept = []
        _state.observers.enter()
        try:
            with _state.having(_state.recorder, Log()), mode():
                (x * 2 + 1).sum()
        finally:
            _state.observers.leave()
        assert kept == ["mul", "add", "sum"]


@pytest.mark.hole("04e")
def test_inference_mode_leaves_no_graph():
    x = torch.tensor([2.0], requires_grad=True)
    with torch.inference_mode(), torch.enable_grad():
        assert (x * 2).grad_fn is None
        assert (torch.ones(2) * 2).is_inference()


@pytest.mark.hole("04e")
def test_ops_without_a_formula():
    x, values = torch.tensor([0.5], requires_grad=True), torch.tensor([1.0])
    result = torch.heaviside(x, values)
    assert result.requires_grad
    with pytest.raises(RuntimeError, match="is not implemented"):
        result.backward()


@pytest.mark.hole("04e")
def test_a_result_and_its_node_go_together():
    result = torch.tensor([2.0], requires_grad=True).exp()
    node = weakref.ref(result.grad_fn)
    with without_collector():
        del result
        assert node() is None


@pytest.mark.hole("04e")
def test_operators_and_other_operands():
    x = torch.tensor([0.5])
    assert (x == np.array([0.5])).tolist() == [True]
    assert x.__rsub__("text") is NotImplemented
    for name in ("__rfloordiv__", "__rlshift__", "__rpow__"):
        assert getattr(torch.tensor([2]), name)("text") is NotImplemented


@pytest.mark.hole("04e")
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
