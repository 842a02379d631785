"""Stage 08b: dual numbers, tangents of operations, batching rules, vmap, jacobians and hessians.

Expected numbers are worked out by hand next to the functions, or come from central differences.
"""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from _oracle import assert_close, numerical_jacobian

import minigrad as torch
from minigrad.autograd import forward_ad
from minigrad.autograd.forward_ad import jacobian, pushforward
from minigrad.batching import batched, examples, next_level, rules
from minigrad.examples import dual_numbers
from minigrad.examples.dual_numbers import Dual
from minigrad.func import jacobians
from minigrad.func import vmap as vmapped
from minigrad.func.levels import VmapLevels
from minigrad.func.transforms import Derivation
from minigrad.op.apply import apply
from minigrad.op.declaration import REGISTRY
from minigrad.ops.reduction.minmax import MaxDim

DOUBLE = torch.float64
RNG = np.random.default_rng(8)
POINT = np.array([[0.3, -0.7, 0.5], [1.1, 0.2, -0.4]])
WAY = np.array([[1.0, -2.0, 0.5], [0.25, 3.0, -1.0]])


@pytest.fixture(autouse=True)
def recording():
    """Recording is on before each test and after it, whatever the code under test does."""
    torch.set_grad_enabled(True)
    yield
    torch.set_grad_enabled(True)


def double(values, requires_grad=False):
    return torch.tensor(np.array(values, np.float64), requires_grad=requires_grad)


def same(found, expected, atol=1e-8):
    """Compare a tensor's numbers; how they are off is told."""
    assert isinstance(found, torch.Tensor), f"expected a tensor, got {type(found).__name__}"
    assert_close(found.detach().numpy(), expected, atol=atol)


# ------------------------------------------------------------------------------------ 08b.1


@pytest.mark.hole("08b.1")
@pytest.mark.parametrize("made, expected", [
    (lambda: dual_numbers.add(Dual(3.0, 1.0), Dual(4.0, 10.0)), (7.0, 11.0)),
    (lambda: dual_numbers.mul(Dual(3.0, 1.0), Dual(4.0, 10.0)), (12.0, 34.0)),
    (lambda: dual_numbers.exp(Dual(2.0, 3.0)), (math.exp(2), 3 * math.exp(2))),
    (lambda: dual_numbers.reciprocal(Dual(4.0, 16.0)), (0.25, -1.0))],
    ids=["add", "mul", "exp", "reciprocal"])
def test_steps_by_hand(made, expected):
    found = made()
    assert isinstance(found, Dual), f"expected a Dual, got {found!r}"
    assert found.value == pytest.approx(expected[0]), f"value: got {found.value}"
    assert found.tangent == pytest.approx(expected[1]), f"tangent: got {found.tangent}"


@pytest.mark.hole("08b.1")
def test_the_parabola():
    x = Dual(3.0, 1.0)
    found = x * x + 2 * x
    assert found == Dual(15.0, 8.0), f"x*x + 2*x at 3: expected Dual(15, 8), got {found}"


@pytest.mark.hole("08b.1")
@pytest.mark.parametrize("step", ["add", "mul", "exp", "reciprocal"])
def test_what_does_not_move_has_no_tangent(step):
    inputs = [Dual(3.0), Dual(4.0)][: 2 if step in ("add", "mul") else 1]
    found = getattr(dual_numbers, step)(*inputs)
    assert found.tangent == 0, f"no input moves, so the tangent is 0; got {found.tangent}"


def composed(exp, x, y):
    """A function of two numbers, for Duals and for arrays."""
    return exp(x * y) / (y + 2.0) - 1.0 / (exp(x) + x * x)


@pytest.mark.hole("08b.1")
@pytest.mark.parametrize("direction", [(1.0, 0.0), (0.0, 1.0), (1.0, 10.0), (-2.0, 0.5)],
                         ids=str)
def test_products_agree_with_differences(direction):
    point = (0.7, -0.4)
    found = dual_numbers.jacobian_vector_product(
        lambda x, y: composed(dual_numbers.exp, x, y), point, direction)
    slopes = numerical_jacobian(lambda x, y: composed(np.exp, x, y), point)
    assert found[0] == pytest.approx(composed(math.exp, *point))
    assert found[1] == pytest.approx(sum(float(s) * t for s, t in zip(slopes, direction)), rel=1e-6)


@pytest.mark.hole("08b.1")
def test_a_product_is_a_pair_of_numbers():
    found = dual_numbers.jacobian_vector_product(
        lambda x, y: x * y + x, (3.0, 4.0), (1.0, 10.0))
    assert isinstance(found, tuple), f"expected a tuple of two floats, got {found!r}"
    assert found == (15.0, 35.0), f"expected (15.0, 35.0), got {found}"


@pytest.mark.hole("08b.1")
def test_a_product_is_one_run():
    runs = []

    def f(x, y):
        runs.append((x, y))
        return x * y

    assert dual_numbers.jacobian_vector_product(f, (3.0, 4.0), (1.0, 10.0))[1] == 34.0
    assert len(runs) == 1, f"f is called once, not {len(runs)} times"


# ------------------------------------------------------------------------------------ 08b.2

A, B = double([[1.0, 2.0], [3.0, 4.0]]), double([[0.5, -1.0], [2.0, 1.0]])
TA, TB = double([[1.0, 0.0], [2.0, -1.0]]), double([[3.0, 1.0], [0.0, 2.0]])


def one(found):
    """The only tensor of a rule's answer."""
    assert isinstance(found, (list, tuple)), f"expected a list, got {type(found).__name__}"
    assert len(found) == 1, f"the op has one output; got {len(found)} tangents"
    return found[0]


def pushed(rule, name, values, tangents, outputs=None):
    """Call a rule as the package does, on an op of this name."""
    op = REGISTRY[name]
    if outputs is None:
        outputs = pushforward.as_sequence(apply(op, list(values)))
    return getattr(pushforward, rule)(op, list(values), outputs, tangents)


def tangent_of(f, x, t):
    """The tangent of `f(x)` by forward mode, for the tangent `t` of x."""
    with forward_ad.dual_level():
        out = f(forward_ad.make_dual(x, t))
        return forward_ad.unpack_dual(out).tangent


def product_of(f, x, t):
    """J t by central differences."""
    (slopes,) = numerical_jacobian(f, [x])
    return np.tensordot(slopes, t, np.ndim(t))


@pytest.mark.hole("08b.2")
@pytest.mark.parametrize("moving, expected", [
    ({0: TA}, TA.numpy() @ B.numpy()), ({1: TB}, A.numpy() @ TB.numpy()),
    ({0: TA, 1: TB}, TA.numpy() @ B.numpy() + A.numpy() @ TB.numpy())],
    ids=["the first", "the second", "both"])
def test_multilinear_moves_one_input_at_a_time(moving, expected):
    same(one(pushed("multilinear", "Mm", [A, B], moving)), expected)


@pytest.mark.hole("08b.2")
def test_multilinear_leaves_the_list_of_values_alone():
    op, values = REGISTRY["Mm"], [A, B]
    pushforward.multilinear(op, values, (A @ B,), {0: TA, 1: TB})
    assert values[0] is A and values[1] is B, "the list of values changed"


@pytest.mark.hole("08b.2")
@pytest.mark.parametrize("rule, name, values, tangents", [
    ("elementwise", "Mul", [A, B], {0: TA, 1: TB}), ("elementwise", "Exp", [A], {0: TA}),
    ("linear", "Sum", [A, 0, True, None], {0: TA}), ("linear", "Transpose", [A, 0, 1], {0: TA}),
    ("linear", "Stack", [[A, B], 0], {0: [None, TB]})],
    ids=["elementwise of mul", "elementwise of exp", "linear of sum", "linear of transpose",
         "linear of stack"])
def test_the_list_of_values_stays_as_it_is(rule, name, values, tangents):
    given = [list(each) if isinstance(each, list) else each for each in values]
    before = list(given)
    outputs = pushforward.as_sequence(apply(REGISTRY[name], given))
    getattr(pushforward, rule)(REGISTRY[name], given, outputs, tangents)
    assert all(a is b for a, b in zip(given, before, strict=True)), "the list of values changed"
    assert not isinstance(values[0], list) or all(
        a is b for a, b in zip(given[0], values[0], strict=True)), "the inner list changed"


@pytest.mark.hole("08b.2")
def test_elementwise_uses_the_formula_of_the_input():
    x, y, t = double([1.0, 2.0]), double([5.0, -3.0]), double([10.0, 0.5])
    same(one(pushed("elementwise", "Mul", [x, y], {0: t})), [50.0, -1.5])
    same(one(pushed("elementwise", "Mul", [x, y], {1: t})), [10.0, 1.0])
    same(one(pushed("elementwise", "Exp", [x], {0: t})), np.exp([1.0, 2.0]) * [10.0, 0.5])


@pytest.mark.hole("08b.2")
def test_elementwise_adds_what_the_inputs_give():
    x, y = double([1.0, 2.0]), double([5.0, -3.0])
    s, t = double([10.0, 0.5]), double([1.0, 3.0])
    same(one(pushed("elementwise", "Mul", [x, y], {0: s, 1: t})), [51.0, 4.5])
    same(one(pushed("elementwise", "Sub", [x, y, 2.0], {0: s, 1: t})), [8.0, -5.5])


@pytest.mark.hole("08b.2")
def test_linear_runs_the_op_on_the_tangent():
    same(one(pushed("linear", "Sum", [A, 0, True, None], {0: TA})), [[3.0, -1.0]])
    same(one(pushed("linear", "Transpose", [A, 0, 1], {0: TA})), TA.numpy().T)


@pytest.mark.hole("08b.2")
def test_linear_takes_zeros_for_missing_tangents():
    x = double([1.0, 2.0])
    same(one(pushed("linear", "Stack", [[x, x, x], 0], {0: [None, double([5.0, 6.0]), None]})),
         [[0.0, 0.0], [5.0, 6.0], [0.0, 0.0]])


@pytest.mark.hole("08b.2")
def test_linear_leaves_indices_alone():
    rows = torch.tensor([1, 1, 0])
    same(one(pushed("linear", "Embedding", [A, rows, -1, False], {0: TA})),
         [[2.0, -1.0], [2.0, -1.0], [1.0, 0.0]])


@pytest.mark.hole("08b.2")
def test_a_small_tangent_of_a_large_value():
    same(one(pushed("multilinear", "Mm", [A * 1e20, B], {0: TA})), TA.numpy() @ B.numpy())


@pytest.mark.hole("08b.2")
def test_linear_gives_a_tangent_for_each_output():
    found = pushed("linear", "Unbind", [A, 0], {0: TA})
    assert len(found) == 2, f"unbind has two outputs; got {len(found)} tangents"
    same(found[0], [1.0, 0.0])
    same(found[1], [2.0, -1.0])


def mixed(xp, x):
    """Products, functions and sums: each kind once, on arrays and on tensors."""
    first = np.sin(np.arange(12.0)).reshape(3, 4)
    y = xp.tanh(x @ (torch.tensor(first) if xp is torch else first)) * 2.0
    return xp.exp(y.sum(1)) - y.mean(1) / (1.0 + y[:, 0] * y[:, 0])


@pytest.mark.hole("08b.2")
def test_tangents_agree_with_differences():
    found = tangent_of(lambda x: mixed(torch, x), double(POINT), double(WAY))
    same(found, product_of(lambda x: mixed(np, x), POINT, WAY), atol=1e-7)


@pytest.mark.hole("08b.2")
def test_a_tangent_that_goes_two_ways_is_added():
    x, t = double([1.0, 2.0]), double([1.0, 10.0])
    same(tangent_of(lambda x: x * x, x, t), [2.0, 40.0])
    same(tangent_of(lambda x: torch.dot(x, x), x, t), 42.0)


# ------------------------------------------------------------------------------------ 08b.3


def softmax(x):
    made = np.exp(x - x.max(-1, keepdims=True))
    return made / made.sum(-1, keepdims=True)


FROM_FORMULAS = {
    "cumsum": (lambda x: torch.cumsum(x, 1), lambda x: np.cumsum(x, 1)),
    "softmax": (lambda x: torch.softmax(x, 1), softmax),
    "cumprod": (lambda x: torch.cumprod(x, 1), lambda x: np.cumprod(x, 1)),
    "norm": (lambda x: torch.norm(x), lambda x: np.sqrt((x * x).sum())),
    "logsumexp": (lambda x: torch.logsumexp(x, 1), lambda x: np.log(np.exp(x).sum(1))),
    "flip": (lambda x: torch.flip(x, (1,)), lambda x: x[:, ::-1]),
    "max": (lambda x: torch.max(x, 1)[0], lambda x: x.max(1)),
}


@pytest.mark.hole("08b.3")
@pytest.mark.parametrize("name", FROM_FORMULAS)
def test_formulas_give_tangents(name):
    ours, reference = FROM_FORMULAS[name]
    found = tangent_of(ours, double(POINT), double(WAY))
    same(found, product_of(reference, POINT, WAY), atol=1e-7)


@pytest.mark.hole("08b.3")
def test_the_tangent_is_no_gradient():
    # the sum so far: t = (1, 10, 100) gives (1, 11, 111); as a gradient it would give 111, 110, 100
    found = tangent_of(lambda x: torch.cumsum(x, 0), double([1.0, 2.0, 3.0]),
                       double([1.0, 10.0, 100.0]))
    same(found, [1.0, 11.0, 111.0])


@pytest.mark.hole("08b.3")
def test_several_inputs_add_up():
    x, y = double([1.0, 2.0, 4.0]), double([3.0, 3.0, 3.0])
    s, t = double([1.0, 0.0, 3.0]), double([0.0, 5.0, 1.0])
    # mean of (x - y)^2: 2 (x - y) (s - t) / 3
    found = one(pushed("transposed_twice", "MseLoss", [x, y, "mean"], {0: s, 1: t}))
    same(found, (2 * np.array([-2.0, -1.0, 1.0]) * [1.0, -5.0, 2.0]).mean())
    same(one(pushed("transposed_twice", "MseLoss", [x, y, "mean"], {1: t})),
         (2 * np.array([-2.0, -1.0, 1.0]) * [0.0, -5.0, -1.0]).mean())


@pytest.mark.hole("08b.3")
def test_an_output_without_a_gradient_has_none():
    found = pushed("transposed_twice", "MaxDim", [A, 1, False], {0: TA})
    assert len(found) == 2, f"max has two outputs, values and indices; got {len(found)}"
    same(found[0], [0.0, -1.0])
    assert found[1] is None, f"indices have no tangent: expected None, got {found[1]!r}"


@pytest.mark.hole("08b.3")
def test_an_output_that_no_formula_uses():
    x = double([[2.0, 1.0], [0.5, 3.0]])
    found = pushed("transposed_twice", "Slogdet", [x], {0: TA})
    assert len(found) == 2, f"slogdet has two outputs; got {len(found)} tangents"
    same(found[1], np.trace(np.linalg.inv(x.numpy()) @ TA.numpy()))


@pytest.mark.hole("08b.3")
def test_nothing_depends_on_the_gradients(monkeypatch):
    outputs = torch.max(A, 1)
    monkeypatch.setattr(MaxDim, "formulas", {"self": (lambda indices: None, ("indices",))})
    found = pushforward.transposed_twice(MaxDim, [A, 1, False], tuple(outputs), {0: TA})
    assert list(found) == [None, None], f"expected [None, None], got {found}"


@pytest.mark.hole("08b.3")
def test_formulas_are_recorded_under_no_grad():
    x = double([1.0, 2.0], requires_grad=True)
    with torch.no_grad():
        found = tangent_of(lambda x: torch.cumprod(x, 0), x, double([1.0, 10.0]))
        assert not torch.is_grad_enabled(), "recording was off before, and is on afterwards"
    assert found is not None
    same(found, [1.0, 12.0])
    assert not found.requires_grad, "under no_grad a tangent has no graph"


@pytest.mark.hole("08b.3")
def test_the_mode_is_restored_after_an_error(monkeypatch):
    def fails(indices):
        raise KeyError("from the formula")

    outputs = tuple(torch.max(A, 1))
    monkeypatch.setattr(MaxDim, "formulas", {"self": (fails, ("indices",))})
    with torch.no_grad():
        with pytest.raises(KeyError, match="from the formula"):
            pushforward.transposed_twice(MaxDim, [A, 1, False], outputs, {0: TA})
        assert not torch.is_grad_enabled(), "an error left recording on"


@pytest.mark.hole("08b.3")
def test_a_tangent_can_be_differentiated():
    # the product so far of (a, b) is (a, ab); its tangent for (1, 10) is (1, b + 10 a)
    x = double([1.0, 2.0], requires_grad=True)
    found = tangent_of(lambda x: torch.cumprod(x, 0), x, double([1.0, 10.0]))
    assert found.requires_grad, "while recording is on a tangent has a graph"
    (slope,) = torch.autograd.grad(found[1], x)
    same(slope, [10.0, 1.0])


# ------------------------------------------------------------------------------------ 08b.4


def on_batches(f, *arrays, shared=()):
    """Run `f` on batches, without vmap; those at the places `shared` are the same for all."""
    level = next_level()
    inputs = [double(a) if i in shared else batched(double(a), level)
              for i, a in enumerate(arrays)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a rule that runs the op once for each example warns
        return examples(f(*inputs), level)


def one_by_one(f, *arrays, shared=()):
    """The same by a loop over NumPy arrays."""
    size = next(len(a) for i, a in enumerate(arrays) if i not in shared)
    return np.stack([f(*[a if i in shared else a[n] for i, a in enumerate(arrays)])
                     for n in range(size)])


def numbers(*shape):
    return RNG.normal(size=shape)


@pytest.mark.hole("08b.4")
@pytest.mark.parametrize("dim, n, expected", [
    (0, 3, 1), (2, 3, 3), (-1, 3, 3), (-3, 3, 1), ((0, -1), 2, (1, 2)), ([1, -3], 3, (2, 1)),
    ((), 2, ())], ids=["moved(0, 3)", "moved(2, 3)", "moved(-1, 3)", "moved(-3, 3)",
                       "moved((0, -1), 2)", "moved([1, -3], 3)", "moved((), 2)"])
def test_dimensions_of_an_example_are_moved(dim, n, expected):
    found = rules.moved(dim, n)
    assert found == expected, f"moved({dim}, {n}): expected {expected}, got {found}"
    assert type(found) is type(expected)


@pytest.mark.hole("08b.4")
@pytest.mark.parametrize("dim", [2, -3, (0, 2)], ids=str)
def test_dimensions_that_are_not_there(dim):
    with pytest.raises(IndexError, match="Dimension out of range"):
        rules.moved(dim, 2)


@pytest.mark.hole("08b.4")
@pytest.mark.parametrize("shapes, shared", [
    ([(5, 2), (3, 2)], (1,)), ([(3, 2), (5, 2)], (0,)), ([(5, 3, 2), (2,)], (1,)),
    ([(5, 2), (5, 3, 2)], ()), ([(5,), (3, 2)], (1,)), ([(5,), (5, 3)], ()),
    ([(2, 2), (2, 2)], (1,)), ([(3, 1), (3, 4, 2)], ()), ([(5, 2), ()], (1,)),
    ([(4,), (4,)], ())], ids=str)
def test_operands_are_aligned_behind_the_batch(shapes, shared):
    arrays = [numbers(*shape) for shape in shapes]
    found = on_batches(lambda x, y: x * y, *arrays, shared=shared)
    same(found, one_by_one(lambda x, y: x * y, *arrays, shared=shared))


@pytest.mark.hole("08b.4")
def test_numbers_have_no_dimensions():
    x = numbers(5, 2)
    same(on_batches(lambda x: 2.0 * x + 1.0, x), 2 * x + 1)
    same(on_batches(lambda x: torch.exp(x), x), np.exp(x))


@pytest.mark.hole("08b.4")
def test_three_operands_are_aligned():
    chosen, x, y = numbers(4, 3) > 0, numbers(2, 3), numbers(4)
    level = next_level()
    found = torch.where(batched(torch.tensor(chosen), level), double(x),
                        batched(double(y), level))
    same(examples(found, level), np.stack([np.where(c, x, b) for c, b in zip(chosen, y)]))


@pytest.mark.hole("08b.4")
@pytest.mark.parametrize("dim", [0, -1, 2, (0, -1), (1,), (-3, 1), ()], ids=str)
def test_reductions_of_each_example(dim):
    x = numbers(5, 2, 3, 4)
    axis = tuple(range(3)) if dim == () else dim
    for keepdim in (False, True):
        same(on_batches(lambda x, kept=keepdim: torch.sum(x, dim, keepdim=kept), x),
             one_by_one(lambda x, kept=keepdim: x.sum(axis, keepdims=kept), x))


@pytest.mark.hole("08b.4")
def test_other_reductions_of_each_example():
    x = numbers(5, 2, 3)
    same(on_batches(lambda x: torch.prod(x, 1), x), x.prod(2))
    same(on_batches(lambda x: torch.amax(x, -1), x), x.max(2))
    same(on_batches(lambda x: torch.logsumexp(x, 0), x), np.log(np.exp(x).sum(1)))
    same(on_batches(lambda x: x.mean((0, 1)), x), x.mean((1, 2)))
    same(on_batches(lambda x: torch.sum(x, None, keepdim=True), x), x.sum((1, 2), keepdims=True))
    same(on_batches(lambda x: torch.var(x), x), x.var((1, 2), ddof=1))


@pytest.mark.hole("08b.4")
def test_one_dimension_stays_one_number():
    # the gradient of a product with a zero in it is made of products along that one dimension
    x, level = double([[[1.0, 0.0, 3.0]], [[2.0, 5.0, 3.0]]], requires_grad=True), next_level()
    found = examples(torch.prod(batched(x, level), 1), level)
    (slope,) = torch.autograd.grad(found.sum(), x)
    same(slope, [[[0.0, 3.0, 0.0]], [[15.0, 6.0, 10.0]]])


@pytest.mark.hole("08b.4")
def test_reductions_of_numbers():
    x = numbers(5)
    same(on_batches(lambda x: torch.sum(x, 0), x), x)
    same(on_batches(lambda x: torch.mean(x, -1, keepdim=True), x), x)


# ------------------------------------------------------------------------------------ 08b.5


@pytest.mark.hole("08b.5")
def test_a_function_of_one_example_runs_on_all():
    x = numbers(3, 2)
    same(vmapped(lambda x: x * 2)(double(x)), x * 2)
    same(vmapped(lambda x: x * x.sum(0))(double(x)), x * x.sum(1, keepdims=True))


@pytest.mark.hole("08b.5")
def test_the_function_sees_one_example():
    seen = []
    vmapped(lambda x: seen.append(tuple(x.shape)) or x)(torch.ones(3, 2))
    assert seen == [(2,)], f"one call with an example of shape (2,); got the shapes {seen}"


@pytest.mark.hole("08b.5")
def test_shared_arguments_stay_as_they_are():
    x, y, seen = numbers(3, 2), numbers(2), []

    def f(x, y):
        seen.append(tuple(y.shape))
        return x + y

    same(vmapped(f, (0, None))(double(x), double(y)), x + y)
    assert seen == [(2,)], f"the shared argument has the shape (2,); got {seen}"


@pytest.mark.hole("08b.5")
def test_a_shared_argument_that_is_returned():
    x, y = numbers(3, 2), numbers(2)
    found, shared = vmapped(lambda x, y: (x * y, y), (0, None), (0, None))(double(x), double(y))
    same(found, x * y)
    same(shared, y)


@pytest.mark.hole("08b.5")
@pytest.mark.parametrize("place", [0, 1, 2, -1])
def test_the_batch_is_put_where_it_is_wanted(place):
    x = numbers(5, 2, 3)
    same(vmapped(lambda x: x * 2, out_dims=place)(double(x)), np.moveaxis(x * 2, 0, place))


@pytest.mark.hole("08b.5")
def test_each_output_has_its_own_dim():
    x = numbers(5, 2)
    first, second = vmapped(lambda x: (x, x * 2), out_dims=(1, 0))(double(x))
    same(first, x.T)
    same(second, x * 2)


@pytest.mark.hole("08b.5")
def test_an_output_without_a_batch_is_repeated():
    constant = double([7.0, 8.0])
    same(vmapped(lambda x: constant)(torch.ones(3)), [[7.0, 8.0]] * 3)
    same(vmapped(lambda x: constant, out_dims=1)(torch.ones(3)), np.array([[7.0, 8.0]] * 3).T)


@pytest.mark.hole("08b.5")
def test_arguments_and_outputs_may_be_nested():
    x, y = numbers(3, 2), numbers(3)

    def f(given, *, times):
        return {"a": given["a"] * times, "b": (given["b"][0] * 2, 5)}

    found = vmapped(f, out_dims={"a": 0, "b": (0, None)})(
        {"a": double(x), "b": [double(y)]}, times=3.0)
    same(found["a"], x * 3)
    same(found["b"][0], y * 2)
    assert found["b"][1] == 5, "an output with out_dims None is left as it is"


@pytest.mark.hole("08b.5")
def test_maps_nest():
    x, y = numbers(3), numbers(4)
    table = vmapped(lambda a: vmapped(lambda b: a * b)(double(y)))(double(x))
    same(table, np.outer(x, y))


@pytest.mark.hole("08b.5")
def test_a_map_that_uses_an_older_batch():
    x, y = numbers(4), numbers(3)
    for level in [next_level() and number for number in (1, 2, 3)]:  # levels of long ago
        batch = batched(double(x), level)
        found = vmapped(lambda b, batch=batch: batch * b)(double(y))
        same(examples(found, level), np.outer(x, y))


@pytest.mark.hole("08b.5")
def test_outputs_that_cannot_have_a_batch_are_refused():
    with pytest.raises(ValueError, match="must only return Tensors"):
        vmapped(lambda x: 5)(torch.ones(3))
    with pytest.raises(ValueError, match="can not return a BatchedTensor"):
        vmapped(lambda x: x, out_dims=None)(torch.ones(3))


@pytest.mark.hole("08b.5")
def test_the_level_is_active_while_the_function_runs():
    with pytest.raises(RuntimeError, match="random operation"):
        vmapped(lambda x: x + torch.rand(2))(torch.ones(3, 2))
    same(vmapped(lambda x: x + 0 * torch.rand(2), randomness="same")(torch.ones(3, 2)),
         np.ones((3, 2)))


@pytest.mark.hole("08b.5")
def test_chunks_are_put_together():
    x = numbers(5, 2)
    same(vmapped(lambda x: x * 2, out_dims=1, chunk_size=2)(double(x)), x.T * 2)


# ------------------------------------------------------------------------------------ 08b.6


def at(levels, value):
    """A tensor that is batched at these levels, the first of them outermost."""
    for level in levels:
        value = batched(value, level)
    return value


@pytest.fixture
def two():
    """Two levels, of sizes 3 and 5."""
    outer, inner = next_level(), next_level()
    return outer, inner, VmapLevels(((outer, 3), (inner, 5)))


@pytest.mark.hole("08b.6")
def test_a_batch_is_unwrapped(two):
    outer, inner, levels = two
    value = numbers(3, 5, 2)
    same(levels.of(at((outer, inner), double(value))), value)


@pytest.mark.hole("08b.6")
def test_a_shared_tensor_gets_a_row_for_each_example(two):
    _, inner, levels = two
    w = numbers(2)
    same(VmapLevels(((inner, 5),)).of(double(w)), [w] * 5)
    same(levels.of(double(w)), np.broadcast_to(w, (3, 5, 2)))
    same(levels.of(double(4.0)), np.full((3, 5), 4.0))


@pytest.mark.hole("08b.6")
def test_what_is_batched_at_one_of_two_levels(two):
    outer, inner, levels = two
    x, y = numbers(3, 2), numbers(5, 2)
    same(levels.of(at((outer,), double(x))), np.broadcast_to(x[:, None], (3, 5, 2)))
    same(levels.of(at((inner,), double(y))), np.broadcast_to(y, (3, 5, 2)))


@pytest.mark.hole("08b.6")
def test_without_levels_a_tensor_is_itself():
    x = double([1.0, 2.0])
    none = VmapLevels(())
    assert none.of(x) is x, "without a level there is nothing to unwrap"
    assert none.example(x) is x, "without a level there is nothing to wrap"


@pytest.mark.hole("08b.6")
def test_an_example_looks_like_one(two):
    outer, inner, levels = two
    value = double(numbers(3, 5, 2))
    found = levels.example(value)
    assert tuple(found.shape) == (2,), f"one example has the shape (2,), not {tuple(found.shape)}"
    middle = examples(found, inner)
    assert middle is not None, "the last level is wrapped last: it is unwrapped first"
    same(examples(middle, outer), value.numpy())
    same(levels.of(found), value.numpy())


@pytest.mark.hole("08b.6")
def test_the_value_keeps_its_history(two):
    _, _, levels = two
    w = double([1.0, 2.0], requires_grad=True)
    value = levels.of(w)
    assert value.requires_grad, "a path leads from the rows to the shared tensor"
    (slope,) = torch.autograd.grad(value.sum(), w)
    same(slope, [15.0, 15.0])
    x = (double(numbers(5, 2)) * w)
    assert VmapLevels(((7, 5),)).of(at((7,), x)).requires_grad


ROWS, WEIGHTS = [[1.0, 2.0], [3.0, 4.0]], [1.0, 1.0]


def squared(w, x):
    """(x w)^2, whose gradient with respect to w is 2 (x w) x."""
    return (x * w).sum() ** 2


@pytest.mark.hole("08b.6")
def test_each_sample_has_its_gradient():
    found = vmapped(torch.func.grad(squared), (None, 0))(double(WEIGHTS), double(ROWS))
    same(found, [[6.0, 12.0], [42.0, 56.0]])


@pytest.mark.hole("08b.6")
def test_gradients_in_two_levels():
    x, y = numbers(3, 2), numbers(5, 2)

    def inner(x):
        return vmapped(lambda y: torch.func.grad(lambda w: ((w * x).sum() * y).sum() ** 2)(
            double(WEIGHTS)))(double(y))

    # f = (x1 + x2)^2 (y1 + y2)^2 in w = 1; its gradient is 2 (x w) (sum y)^2 x
    expected = (2 * x.sum(1)[:, None, None] * (y.sum(1) ** 2)[None, :, None] * x[:, None, :])
    same(vmapped(inner)(double(x)), expected)


@pytest.mark.hole("08b.6")
def test_products_inside_vmap():
    def along(x, t):
        return torch.func.jvp(lambda w: squared(w, x), (double(WEIGHTS),), (t,))[1]

    found = vmapped(along)(double(ROWS), double([[1.0, 0.0], [0.0, 1.0]]))
    same(found, [6.0, 56.0])


# ------------------------------------------------------------------------------------ 08b.7


def wide(x):
    """(x0, x1, x0 x1): J = [[1, 0], [0, 1], [x1, x0]]."""
    return torch.stack([x[0], x[1], x[0] * x[1]])


@pytest.mark.hole("08b.7")
def test_each_row_of_directions_gives_a_row():
    rows = double([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, -1.0]])
    output, (found,) = jacobian.columns_along(wide, [double([2.0, 3.0])], [rows])
    same(output, [2.0, 3.0, 6.0])
    same(found, [[1.0, 0.0, 3.0], [0.0, 1.0, 2.0], [1.0, 1.0, 5.0], [2.0, -1.0, 4.0]])


@pytest.mark.hole("08b.7")
def test_the_function_runs_once():
    calls = []

    def f(x):
        calls.append(x)
        return x * x

    jacobian.columns_along(f, [double([1.0, 2.0, 3.0])], [double(np.eye(3))])
    assert len(calls) == 1, f"one run for all directions, not {len(calls)}"


@pytest.mark.hole("08b.7")
def test_several_inputs_and_outputs():
    x, y = double([1.0, 2.0]), double(3.0)
    outputs, found = jacobian.columns_along(
        lambda x, y: (x * y, x.sum(), torch.ones(2, dtype=DOUBLE)), [x, y],
        [double([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]), double([0.0, 0.0, 1.0])])
    assert len(outputs) == 3 and len(found) == 3, "a table of rows for each output"
    same(found[0], [[3.0, 0.0], [0.0, 3.0], [1.0, 2.0]])
    same(found[1], [1.0, 1.0, 0.0])
    same(found[2], np.zeros((3, 2)))


@pytest.mark.hole("08b.7")
def test_a_block_has_the_output_first():
    levels = VmapLevels(())
    columns = double(np.arange(15.0).reshape(5, 3))  # an output of 3, inputs of (2, 2) and 1
    first = jacobians.column_block(levels, columns, slice(0, 4), (2, 2))
    same(first, np.arange(12.0).reshape(4, 3).T.reshape(3, 2, 2))
    same(jacobians.column_block(levels, columns, slice(4, 5), ()), [12.0, 13.0, 14.0])


@pytest.mark.hole("08b.7")
def test_jacfwd_by_hand():
    same(torch.func.jacfwd(wide)(double([2.0, 3.0])), [[1.0, 0.0], [0.0, 1.0], [3.0, 2.0]])


@pytest.mark.hole("08b.7")
def test_jacfwd_agrees_with_differences():
    (expected,) = numerical_jacobian(lambda x: mixed(np, x), [POINT])
    same(torch.func.jacfwd(lambda x: mixed(torch, x))(double(POINT)), expected, atol=1e-7)


@pytest.mark.hole("08b.7")
def test_jacfwd_inside_vmap():
    x = numbers(4, 2)
    found = vmapped(torch.func.jacfwd(wide))(double(x))
    same(found, [[[1.0, 0.0], [0.0, 1.0], [b, a]] for a, b in x])


@pytest.mark.hole("08b.7")
def test_jacfwd_with_respect_to_two_inputs():
    first, second = torch.func.jacfwd(lambda x, y: x * y, (0, 1))(
        double([1.0, 2.0]), double([3.0, 4.0]))
    same(first, [[3.0, 0.0], [0.0, 4.0]])
    same(second, [[1.0, 0.0], [0.0, 2.0]])


def curved(x):
    """x0^2 x1 + x1^3: H = [[4, 2], [2, 12]] at (1, 2)."""
    return x[0] ** 2 * x[1] + x[1] ** 3


@pytest.mark.hole("08b.7")
def test_hessian_by_hand():
    same(torch.func.hessian(curved)(double([1.0, 2.0])), [[4.0, 2.0], [2.0, 12.0]])


@pytest.mark.hole("08b.7")
def test_hessian_with_respect_to_another_argument():
    found = torch.func.hessian(lambda x, y: (x * y**3).sum(), 1)(
        double([5.0, 7.0]), double([1.0, 2.0]))
    same(found, [[30.0, 0.0], [0.0, 84.0]])


@pytest.mark.hole("08b.7")
def test_hessian_with_respect_to_both():
    (xx, xy), (yx, yy) = torch.func.hessian(lambda x, y: x * x * y, (0, 1))(
        double(3.0), double(5.0))
    same(xx, 10.0)
    same(xy, 6.0)
    same(yx, 6.0)
    same(yy, 0.0)


@pytest.mark.hole("08b.7")
def test_hessian_runs_forward_mode_and_reverse_mode(monkeypatch):
    ran = []
    forward, reverse = jacobians.columns_along, Derivation.pull
    monkeypatch.setattr(jacobians, "columns_along",
                        lambda *given: ran.append("forward") or forward(*given))
    monkeypatch.setattr(Derivation, "pull", lambda self, *given, **named: (
        ran.append("reverse") or reverse(self, *given, **named)))
    same(torch.func.hessian(curved)(double([1.0, 2.0])), [[4.0, 2.0], [2.0, 12.0]])
    assert set(ran) == {"forward", "reverse"}, f"passes that ran: {ran}"


@pytest.mark.hole("08b.7")
def test_hessian_agrees_with_differences():
    def loss(xp, x):
        return (mixed(xp, x) ** 2).sum()

    def slopes(x):
        (found,) = numerical_jacobian(lambda x: loss(np, x), [x], eps=1e-4)
        return found

    (expected,) = numerical_jacobian(slopes, [POINT], eps=1e-4)
    same(torch.func.hessian(lambda x: loss(torch, x))(double(POINT)), expected, atol=1e-4)
