"""Stage 04a: broadcasting, what undoes it on the way back, and derivatives in one line."""

import numpy as np
import pytest
from _oracle import assert_close, central_difference_vjp, second_order_vjp

import minigrad as torch
from minigrad import shapes
from minigrad.engine import validate
from minigrad.ops.math import maximum
from minigrad.ops.nn import softmax


def doubles(value):
    return np.array(value, np.float64)


def gradient(fn, arrays, g, of=0):
    """Return the package's gradient of `fn`, a function of tensors, by input `of` for `g`."""
    inputs = [torch.tensor(array, dtype=torch.float64, requires_grad=place == of)
              for place, array in enumerate(arrays)]
    result = fn(*inputs)
    result.backward(torch.tensor(g, dtype=torch.float64))
    return inputs[of].grad.numpy()


def check(fn, reference, *arrays, of=0):
    """Compare the gradient of `fn` by its input `of` with differences of `reference`."""
    arrays = [doubles(array) for array in arrays]
    out = reference(*arrays)
    g = np.linspace(-1.0, 2.0, out.size).reshape(out.shape) + 0.25
    expected = central_difference_vjp(reference, arrays, g)[of]
    assert_close(gradient(fn, arrays, g, of), expected, 1e-5, 1e-7, "the gradient")


def check_twice(fn, reference, *arrays):
    """Compare gradients of gradients with differences."""
    arrays = [doubles(array) for array in arrays]
    g = np.ones_like(reference(*arrays))
    directions = [np.cos(np.arange(a.size)).reshape(a.shape) for a in arrays]
    expected, _ = second_order_vjp(reference, arrays, g, directions)
    inputs = [torch.tensor(array, requires_grad=True) for array in arrays]
    first = torch.autograd.grad(fn(*inputs), inputs, torch.tensor(g), create_graph=True)
    total = sum((f * torch.tensor(d)).sum() for f, d in zip(first, directions, strict=True))
    second = torch.autograd.grad(total, inputs, allow_unused=True)
    for place, (got, want) in enumerate(zip(second, expected, strict=True)):
        got = np.zeros_like(want) if got is None else got.numpy()
        assert_close(got, want, 1e-4, 1e-5, f"second gradient {place}")


def assert_arguments_stay(fn, *arrays):
    """Check that the backward pass of `fn` writes to none of the inputs, the result and `g`."""
    inputs = [torch.tensor(array, dtype=torch.float64, requires_grad=True) for array in arrays]
    result = fn(*inputs)
    g = torch.tensor(np.linspace(2.0, 3.0, result.numel()).reshape(tuple(result.shape)))
    held = {"the result": result, "g": g, **{f"input {i}": x for i, x in enumerate(inputs)}}
    before = {name: each.tolist() for name, each in held.items()}
    result.backward(g)
    for name, each in held.items():
        assert each.tolist() == before[name], f"{name} has changed from {before[name]} to {each}"


def node_for(*shape, dtype=torch.float32):
    """Return a node whose forward gave one output of this shape and dtype."""
    return torch.exp(torch.zeros(shape, dtype=dtype, requires_grad=True)).grad_fn


# ------------------------------------------------------------------- 04a.1


def give(cases):
    """Name cases of two shapes by what they give."""
    return pytest.mark.parametrize("a, b, expected", [
        pytest.param(a, b, expected, id=f"{a} and {b} give {expected}")
        for first, second, expected in cases
        for a, b in dict.fromkeys([(first, second), (second, first)])])


def assert_size(a, b, expected):
    got = shapes.infer_size(a, b)
    assert got == expected, f"{a} and {b}: expected {expected}, got {got}"


@pytest.mark.hole("04a.1")
@give([((2, 3), (2, 3), (2, 3)), ((1, 4), (3, 4), (3, 4)), ((3, 1), (1, 4), (3, 4)),
       ((1,), (1,), (1,)), ((5, 1, 7), (5, 6, 1), (5, 6, 7))])
def test_sizes_of_one(a, b, expected):
    assert_size(a, b, expected)


@pytest.mark.hole("04a.1")
@give([((3, 1), (4,), (3, 4)), ((2, 3), (3,), (2, 3)), ((2, 2), (2,), (2, 2)), ((), (2,), (2,)),
       ((1, 1), (3,), (1, 3)), ((2, 3, 4), (4,), (2, 3, 4)), ((), (), ())])
def test_shapes_of_different_lengths(a, b, expected):
    assert_size(a, b, expected)


@pytest.mark.hole("04a.1")
@give([((0, 3), (1, 3), (0, 3)), ((1, 3), (0, 1), (0, 3)), ((0,), (0,), (0,)), ((0,), (), (0,))])
def test_empty_dimensions(a, b, expected):
    assert_size(a, b, expected)


@pytest.mark.hole("04a.1")
def test_a_shape_is_a_tuple():
    for a, b in (((2, 3), (3,)), ((), ())):
        got = shapes.infer_size(a, b)
        assert type(got) is tuple, f"expected a tuple, got {got!r}"


MISFITS = pytest.mark.parametrize("a, b, sizes, dimension", [
    pytest.param(a, b, *rest, id=f"{a} and {b}") for a, b, *rest in [
        ((3,), (4,), (3, 4), 0),
        ((2, 3), (4,), (3, 4), 1),
        ((4,), (2, 3), (4, 3), 1),
        ((2, 3), (4, 3), (2, 4), 0),
        ((0,), (2,), (0, 2), 0),
        ((2,), (0,), (2, 0), 0),
        ((3,), (2, 1, 4), (3, 4), 2),
        ((2, 1), (3, 4), (2, 3), 0),
        ((2, 4, 1), (3, 1, 5), (2, 3), 0),
    ]])


def misfit(a, b):
    """Return the text of the RuntimeError for two shapes."""
    with pytest.raises(RuntimeError) as caught:
        pytest.fail(f"{a} and {b} gave {shapes.infer_size(a, b)}")
    if isinstance(caught.value, NotImplementedError):  # it is a RuntimeError too
        raise caught.value
    return str(caught.value)


@pytest.mark.hole("04a.1")
@MISFITS
def test_shapes_that_do_not_fit(a, b, sizes, dimension):
    assert misfit(a, b).startswith("The size of tensor a (")


@pytest.mark.hole("04a.1")
@MISFITS
def test_the_error_names_both_sizes(a, b, sizes, dimension):
    assert f"a ({sizes[0]}) must match the size of tensor b ({sizes[1]}) at" in misfit(a, b)


@pytest.mark.hole("04a.1")
@MISFITS
def test_the_error_names_the_dimension(a, b, sizes, dimension):
    assert misfit(a, b).endswith(f"at non-singleton dimension {dimension}")


@pytest.mark.hole("04a.1")
def test_the_last_of_several_misfits_is_named():
    told = misfit((2, 3), (4, 5))
    assert "a (3)" in told and "b (5)" in told and told.endswith("dimension 1")


@pytest.mark.hole("04a.1")
def test_several_shapes():
    assert shapes.broadcast((2, 1, 1), (3, 1), 1.5, (4,)) == (2, 3, 4)


# ------------------------------------------------------------------- 04a.2

SQUARE = [[1, 2], [3, 5]]
CUBE = [[[1, 2], [3, 5]], [[10, 20], [30, 50]]]


def sums(cases):
    """Return the cases for arrays and for tensors, named by their shapes."""
    return pytest.mark.parametrize("make, grad, shape, expected", [
        pytest.param(make, doubles(grad), shape, doubles(expected),
                     id=f"{kind} of {np.shape(grad)} to {shape}")
        for kind, make in (("array", np.copy), ("tensor", torch.tensor))
        for grad, shape, expected in cases])


def assert_sum(make, grad, shape, expected):
    given = make(grad)
    got = validate.sum_to(given, shape)
    assert type(got) is type(given), f"expected a {type(given).__name__}, got {type(got).__name__}"
    got = got.numpy() if isinstance(got, torch.Tensor) else got
    assert_close(got, expected, what=f"the sum to {shape}")


@pytest.mark.hole("04a.2")
@sums([(SQUARE, (2,), [4, 7]), (CUBE, (2,), [44, 77]), (CUBE, (2, 2), [[11, 22], [33, 55]]),
       ([[1, 2], [3, 5], [4, 8]], (2,), [8, 15]), (SQUARE, (), 11), (CUBE, (), 121)])
def test_the_dimensions_in_front_are_summed_away(make, grad, shape, expected):
    assert_sum(make, grad, shape, expected)


@pytest.mark.hole("04a.2")
@sums([(SQUARE, (2, 1), [[3], [8]]), (SQUARE, (1, 2), [[4, 7]]), (SQUARE, (1, 1), [[11]]),
       ([1, 2, 5], (1,), [8]), (CUBE, (2, 1, 2), [[[4, 7]], [[40, 70]]])])
def test_dimensions_of_size_one_are_summed_and_stay(make, grad, shape, expected):
    assert_sum(make, grad, shape, expected)


@pytest.mark.hole("04a.2")
@sums([(SQUARE, (1,), [11]), (CUBE, (2, 1), [[33], [88]]), (CUBE, (1, 2), [[44, 77]]),
       ([[[1, 2, 3]], [[4, 5, 7]]], (1, 1), [[22]])])
def test_dimensions_in_front_and_ones_together(make, grad, shape, expected):
    assert_sum(make, grad, shape, expected)


@pytest.mark.hole("04a.2")
@sums([(SQUARE, (2, 2), SQUARE), ([[1], [2]], (2, 1), [[1], [2]]), (3, (), 3)])
def test_what_fits_is_not_summed(make, grad, shape, expected):
    assert_sum(make, grad, shape, expected)


@pytest.mark.hole("04a.2")
@sums([([[[1], [2]]], (2, 1), [[1], [2]]), ([[1, 2]], (2,), [1, 2]), ([[1]], (), 1),
       (np.zeros((0, 2)), (2,), [0, 0]), (np.zeros((2, 0)), (2, 1), [[0], [0]]),
       (np.zeros((3, 0)), (1, 0), np.zeros((1, 0)))])
def test_one_copy_or_none(make, grad, shape, expected):
    assert_sum(make, grad, shape, expected)


@pytest.mark.hole("04a.2")
@pytest.mark.parametrize("shape", [(2,), (3, 1), ()], ids=str)
def test_a_tensor_stays_in_its_graph(shape):
    grad = torch.ones(3, 2, requires_grad=True)
    got = validate.sum_to(grad, shape)
    assert got.requires_grad and got.grad_fn is not None, "the sum is to be recorded"


@pytest.mark.hole("04a.2")
@pytest.mark.parametrize("shape", [(2,), (2, 1), (2, 2)], ids=str)
def test_the_given_array_stays_as_it_is(shape):
    grad = doubles([[1, 2], [3, 5]])
    validate.sum_to(grad, shape)
    assert grad.tolist() == [[1, 2], [3, 5]] and grad.shape == (2, 2)


# ------------------------------------------------------------------- 04a.3


def to(cases):
    """Name cases by both shapes."""
    return [pytest.param(*case, id=f"{case[0]} to {case[1]}") for case in cases]


def assert_expandable(shape, target, expected):
    got = shapes.is_expandable_to(shape, target)
    assert got is expected, f"{shape} to {target}: expected {expected}, got {got!r}"


@pytest.mark.hole("04a.3")
@pytest.mark.parametrize("shape, target", to([
    ((2,), (3,)), ((2, 3), (4, 3)), ((2, 3), (2, 4)), ((2,), (2, 3)), ((0,), (2,)),
    ((2,), (0,)), ((2, 3), (0, 3))]))
def test_not_expandable_where_sizes_differ(shape, target):
    assert_expandable(shape, target, False)


@pytest.mark.hole("04a.3")
@pytest.mark.parametrize("shape, target", to([
    ((3,), (3,)), ((2, 1), (2, 3)), ((1, 3), (2, 3)), ((1,), (0,)), ((0,), (0,))]))
def test_expandable_by_copies_of_ones(shape, target):
    assert_expandable(shape, target, True)


@pytest.mark.hole("04a.3")
@pytest.mark.parametrize("shape, target", to([
    ((3,), (2, 3)), ((3, 1), (2, 3, 4)), ((1,), (2, 3)), ((), (2, 3)), ((), ())]))
def test_expandable_by_dimensions_in_front(shape, target):
    assert_expandable(shape, target, True)


@pytest.mark.hole("04a.3")
@pytest.mark.parametrize("shape, target", to([((3,), (1,)), ((2, 3), (2, 1)), ((0,), (1,))]))
def test_not_expandable_to_a_one(shape, target):
    assert_expandable(shape, target, False)


@pytest.mark.hole("04a.3")
@pytest.mark.parametrize("shape, target", to([
    ((2, 3), (3,)), ((1, 3), (3,)), ((1,), ()), ((1, 1), (1,))]))
def test_not_expandable_to_fewer_dimensions(shape, target):
    assert_expandable(shape, target, False)


@pytest.mark.hole("04a.3")
def test_what_fits_is_left_alone():
    grad = np.ones((2, 3), np.float32)
    got = validate.match_metadata(grad, node_for(2, 3), 0, node_for(1), 0)
    assert_close(got, np.ones((2, 3)))
    assert got.dtype == np.float32


@pytest.mark.hole("04a.3")
@pytest.mark.parametrize("shape, make", [
    pytest.param(shape, make, id=f"{kind} for {shape}")
    for shape in ((3,), (2, 1), (1, 3), (1,), ())
    for kind, make in (("an array", np.asarray), ("a tensor", torch.tensor))])
def test_copies_are_summed(shape, make):
    grad = doubles([[1, 2, 3], [10, 20, 30]])
    expected = central_difference_vjp(lambda x: x + np.zeros((2, 3)), [np.zeros(shape)], grad)[0]
    target = node_for(*shape, dtype=torch.float64)
    got = validate.match_metadata(make(grad), target, 0, node_for(1), 0)
    assert isinstance(got, type(make(grad))), f"got a {type(got).__name__}"
    assert_close(np.asarray(got.numpy() if isinstance(got, torch.Tensor) else got), expected)


REFUSED = [pytest.param(got, wanted, on_tensors, id=f"{kind} of {got} for {wanted}")
           for kind, on_tensors in (("an array", False), ("a tensor", True))
           for got, wanted in [((4,), (3,)), ((1,), (3,)), ((), (3,)), ((3,), (2, 3)),
                               ((3, 2), (2, 3)), ((2, 3), (2,)), ((3,), (1, 3)),
                               ((6,), (2, 3)), ((1,), (1, 1))]]


def other_node():
    """Return a node with another name than that of `node_for`."""
    return torch.ones(1, requires_grad=True).sin().grad_fn


def refusal(grad, wanted):
    """Return the text of the RuntimeError for a gradient at position 1."""
    with pytest.raises(RuntimeError) as caught:
        got = validate.match_metadata(grad, node_for(*wanted), 0, other_node(), 1)
        pytest.fail(f"a gradient of {grad.shape} for {wanted} came back as {got.shape}")
    return str(caught.value)


@pytest.mark.hole("04a.3")
@pytest.mark.parametrize("got, wanted, on_tensors", REFUSED)
def test_what_cannot_be_copies_is_refused(got, wanted, on_tensors):
    grad = torch.ones(got) if on_tensors else np.ones(got, np.float32)
    told = refusal(grad, wanted)
    assert "returned an invalid gradient at index" in told, told


@pytest.mark.hole("04a.3")
def test_the_refusal_names_the_source():
    told = refusal(np.ones(4, np.float32), (3,))
    assert told.startswith(f"Function {other_node().name()} returned "), told


@pytest.mark.hole("04a.3")
def test_the_refusal_names_the_position():
    assert "gradient at index 1 - " in refusal(np.ones(4, np.float32), (3,))


@pytest.mark.hole("04a.3")
@pytest.mark.parametrize("got, wanted, on_tensors", REFUSED)
def test_the_refusal_names_both_shapes(got, wanted, on_tensors):
    grad = torch.ones(got) if on_tensors else np.ones(got, np.float32)
    assert refusal(grad, wanted) == (
        f"Function {other_node().name()} returned an invalid gradient at index 1 - "
        f"got {list(got)} but expected shape compatible with {list(wanted)}")


@pytest.mark.hole("04a.3")
@pytest.mark.parametrize("shape, given, wanted, make", [
    pytest.param(shape, given, wanted, make, id=f"{kind} of {given} for {wanted}, {how}")
    for shape, how in (((3,), "of the right shape"), ((2, 3), "to be summed"))
    for given, wanted in (("float64", "float32"), ("float32", "float64"))
    for kind, make in (("an array", np.ones), ("a tensor", lambda shape, dtype: torch.ones(
        *shape, dtype=getattr(torch, dtype))))])
def test_the_dtype_becomes_that_of_the_output(shape, given, wanted, make):
    grad = make(shape, given)
    target = node_for(3, dtype=getattr(torch, wanted))
    got = validate.match_metadata(grad, target, 0, node_for(1), 0)
    assert str(got.dtype).removeprefix("torch.") == wanted, f"expected {wanted}, {got.dtype}"
    assert isinstance(got, type(grad))
    assert got.tolist() == [float(len(shape))] * 3


@pytest.mark.hole("04a.3")
@pytest.mark.parametrize("shape", [(3,), (2, 3)], ids=["cast", "summed and cast"])
def test_a_cast_of_a_tensor_stays_in_its_graph(shape):
    grad = torch.ones(*shape, dtype=torch.float64, requires_grad=True)
    assert validate.match_metadata(grad, node_for(3), 0, node_for(1), 0).requires_grad


@pytest.mark.hole("04a.3")
@pytest.mark.parametrize("dtype", ["int64", "bool"])
def test_gradients_that_are_not_floating_become_so(dtype):
    for grad in (np.ones(3, dtype), torch.tensor(np.ones(3, dtype))):
        got = validate.match_metadata(grad, node_for(3), 0, node_for(1), 0)
        assert str(got.dtype).removeprefix("torch.") == "float32", f"got {got.dtype}"
        assert got.tolist() == [1.0] * 3


@pytest.mark.hole("04a.3")
def test_the_output_that_index_names_counts():
    node = torch.split(torch.ones(3, requires_grad=True), [1, 2])[0].grad_fn
    assert validate.match_metadata(np.ones(2, np.float32), node, 1, node_for(1), 0).shape == (2,)
    assert validate.match_metadata(np.ones(2, np.float32), node, 0, node_for(1), 0).shape == (1,)


@pytest.mark.hole("04a.3")
def test_numbers_become_arrays():
    for number in (np.float64(2.0), np.float32(2.0), 2.0):
        got = validate.match_metadata(number, node_for(), 0, node_for(1), 0)
        assert isinstance(got, np.ndarray), f"expected an array, got {type(got).__name__}"
        assert got.shape == () and got.dtype == np.float32 and got == 2


@pytest.mark.hole("04a.3")
def test_a_backward_pass_sums_what_was_broadcast():
    x = torch.tensor([1.0, 5.0, 3.0], requires_grad=True)
    y = torch.tensor([[2.0], [4.0]], requires_grad=True)
    torch.fmax(x, y).sum().backward()
    assert x.grad.tolist() == [0.0, 2.0, 1.0]
    assert y.grad.tolist() == [[1.0], [2.0]]


# ------------------------------------------------------------------- 04a.4

SHAPES = [
    ([1.0, -2.0, 3.0], [4.0, 5.0, -6.0]),
    ([[1.0], [2.0]], [3.0, 4.0, 5.0]),
    ([[1.0, 2.0, 3.0]], 2.5),
    (2.0, [[1.0, 2.0]]),
]


def pairs(*alphas):
    """Return pairs of operands, with each of some numbers, named by that and their shapes."""
    return pytest.mark.parametrize("a, b, alpha", [
        pytest.param(a, b, alpha, id=f"alpha={alpha}, shapes {np.shape(a)} and {np.shape(b)}")
        for a, b in SHAPES for alpha in (alphas if (a, b) == SHAPES[0] else alphas[1:2])])


PAIRS = pytest.mark.parametrize("a, b", [
    pytest.param(a, b, id=f"shapes {np.shape(a)} and {np.shape(b)}") for a, b in SHAPES])


def add(alpha):
    return lambda x, y: torch.add(x, y, alpha=alpha), lambda x, y: x + alpha * y


def sub(alpha):
    return lambda x, y: torch.sub(x, y, alpha=alpha), lambda x, y: x - alpha * y


@pytest.mark.hole("04a.4")
@pairs(1, 2.5, -3)
def test_add_self(a, b, alpha):
    check(*add(alpha), a, b, of=0)


@pytest.mark.hole("04a.4")
@pairs(1, 2.5, -3)
def test_add_other(a, b, alpha):
    check(*add(alpha), a, b, of=1)


@pytest.mark.hole("04a.4")
@pairs(1, 2.5, -3)
def test_sub_self(a, b, alpha):
    check(*sub(alpha), a, b, of=0)


@pytest.mark.hole("04a.4")
@pairs(1, 2.5, -3)
def test_sub_other(a, b, alpha):
    check(*sub(alpha), a, b, of=1)


@pytest.mark.hole("04a.4")
@PAIRS
def test_mul_self(a, b):
    check(lambda x, y: x * y, lambda x, y: x * y, a, b, of=0)


@pytest.mark.hole("04a.4")
@PAIRS
def test_mul_other(a, b):
    check(lambda x, y: x * y, lambda x, y: x * y, a, b, of=1)


@pytest.mark.hole("04a.4")
@pytest.mark.parametrize("fn", [
    pytest.param(lambda x: 3 * x, id="3 * x"), pytest.param(lambda x: x * 0.5, id="x * 0.5")])
def test_a_number_times_a_tensor(fn):
    check(fn, fn, [[1.0, 2.0]])


@pytest.mark.hole("04a.4")
def test_negation():
    check(lambda x: -x, lambda x: -x, [1.0, -2.0])


@pytest.mark.hole("04a.4")
def test_a_factor_that_is_used_twice():
    check(lambda x: x * x, lambda x: x * x, [3.0, -2.0])


@pytest.mark.hole("04a.4")
@pytest.mark.parametrize("fn", [
    pytest.param(lambda x, y: x * y * x, id="x * y * x"),
    pytest.param(lambda x, y: (x - y) * (y - x) * -x, id="(x - y) * (y - x) * -x"),
    pytest.param(lambda x, y: x / y, id="x / y")])
def test_second_derivatives_of_arithmetic(fn):
    check_twice(fn, fn, [1.5, 2.0], [3.0, -1.0])


@pytest.mark.hole("04a.4")
@pytest.mark.parametrize("fn", [
    pytest.param(lambda x, y: torch.add(x, y, alpha=3), id="add"),
    pytest.param(lambda x, y: torch.sub(x, y, alpha=3), id="sub"),
    pytest.param(lambda x, y: x * y, id="a product"),
    pytest.param(lambda x, y: x / y, id="a quotient"),
    pytest.param(lambda x, y: -x, id="-x")])
def test_arithmetic_writes_to_no_argument(fn):
    assert_arguments_stay(fn, doubles([1.5, 2.0]), doubles([3.0, -1.0]))


QUOTIENTS = pytest.mark.parametrize("a, b", [
    pytest.param(a, b, id=f"shapes {np.shape(a)} and {np.shape(b)}") for a, b in SHAPES[:3]])


@pytest.mark.hole("04a.4")
@QUOTIENTS
def test_div_self(a, b):
    check(lambda x, y: x / y, lambda x, y: x / y, a, b, of=0)


@pytest.mark.hole("04a.4")
@QUOTIENTS
def test_div_other(a, b):
    check(lambda x, y: x / y, lambda x, y: x / y, a, b, of=1)


@pytest.mark.hole("04a.4")
def test_a_tensor_over_a_number():
    check(lambda x: x / 4, lambda x: x / 4, [1.0, 2.0])


@pytest.mark.hole("04a.4")
@pytest.mark.parametrize("of, x, y, g, expected", [
    pytest.param(0, 1e30, 1e25, 1.0, 1e-25, id="x of 1e30 / 1e25 for g = 1"),
    pytest.param(1, 1e10, 1e10, 1e30, -1e20, id="y of 1e10 / 1e10 for g = 1e30")])
def test_no_large_product_is_formed_on_the_way(of, x, y, g, expected):
    inputs = [torch.tensor(value, requires_grad=True) for value in (x, y)]
    (inputs[0] / inputs[1]).backward(torch.tensor(g))
    assert_close(inputs[of].grad.item(), expected, 1e-5, 0, "the gradient")


@pytest.mark.hole("04a.4")
def test_the_square_of_a_large_divisor_is_never_formed():
    x = torch.tensor(1e30, requires_grad=True)
    y = torch.tensor(1e25, requires_grad=True)
    (x / y).backward()
    assert_close(y.grad.item(), -1e-20, 1e-5, 0, "the gradient of 1e30 / y at y = 1e25")


# ------------------------------------------------------------------- 04a.5

FUNCTIONS = {"exp": np.exp, "log": np.log, "sqrt": np.sqrt, "tanh": np.tanh,
             "sigmoid": lambda x: 1 / (1 + np.exp(-x))}
each_function = pytest.mark.parametrize("name", FUNCTIONS)


@pytest.mark.hole("04a.5")
@each_function
def test_slopes_of_functions(name):
    check(getattr(torch, name), FUNCTIONS[name], [[0.25, 0.75], [1.5, 3.0]])


@pytest.mark.hole("04a.5")
@pytest.mark.parametrize("name", ["exp", "tanh", "sigmoid"])
def test_slopes_at_negative_numbers(name):
    check(getattr(torch, name), FUNCTIONS[name], [-0.25, -1.5, -3.0])


@pytest.mark.hole("04a.5")
@pytest.mark.parametrize("name", ["tanh", "sigmoid"])
def test_slopes_far_out_are_zero(name):
    got = gradient(getattr(torch, name), [doubles([-1000.0, 1000.0])], [2.0, 3.0])
    assert_close(got, [0.0, 0.0], what=f"the gradient of {name} at -1000 and 1000")


@pytest.mark.hole("04a.5")
@each_function
def test_second_derivatives_of_functions(name):
    check_twice(getattr(torch, name), FUNCTIONS[name], [0.5, 1.5, 2.5])


@pytest.mark.hole("04a.5")
@each_function
def test_functions_write_to_no_argument(name):
    assert_arguments_stay(getattr(torch, name), doubles([0.5, 1.5, 2.5]))


# ------------------------------------------------------------------- 04a.6


@pytest.mark.hole("04a.6")
@pytest.mark.parametrize("exponent", [3, 5, 2, 1, -1, -2, 0.5, -1.5, 2.0])
def test_powers_with_a_number_as_exponent(exponent):
    check(lambda x: x ** exponent, lambda x: x ** exponent, [0.5, 2.0, 3.0])


@pytest.mark.hole("04a.6")
def test_negative_bases():
    check(lambda x: x ** 3, lambda x: x ** 3, [-2.0, -0.5])


@pytest.mark.hole("04a.6")
@pytest.mark.parametrize("exponent, slope", [(3, 0.0), (2, 0.0), (1, 1.0)],
                         ids=["x ** 3", "x ** 2", "x ** 1"])
def test_powers_at_zero(exponent, slope):
    got = gradient(lambda x: x ** exponent, [doubles([0.0, 0.0])], [2.0, 3.0])
    assert_close(got, [2 * slope, 3 * slope], what=f"the gradient of x ** {exponent} at 0")


@pytest.mark.hole("04a.6")
@pytest.mark.parametrize("exponent", [0, 0.0])
def test_the_power_zero(exponent):
    got = gradient(lambda x: x ** exponent, [doubles([0.0, 2.0, -3.0])], [2.0, 3.0, 4.0])
    assert_close(got, [0.0, 0.0, 0.0], what=f"the gradient of x ** {exponent} at 0, 2 and -3")


@pytest.mark.hole("04a.6")
@pytest.mark.parametrize("x, g", [
    pytest.param(2.0, np.inf, id="g infinite"), pytest.param(np.inf, 2.0, id="x infinite")])
def test_the_power_zero_for_infinite_numbers(x, g):
    got = gradient(lambda x: x ** 0, [doubles([x, 3.0])], [g, 4.0])
    assert_close(got, [0.0, 0.0], what=f"the gradient of x ** 0 at {x} for g = {g}")


POWERS = pytest.mark.parametrize("base, exponent", [
    pytest.param([0.5, 2.0, 3.0], [1.5, -2.0, 3.0], id="shapes (3,) and (3,)"),
    pytest.param([[0.5], [2.0]], [1.5, -2.0, 3.0], id="shapes (2, 1) and (3,)"),
    pytest.param(2.5, [1.5, -2.0], id="shapes () and (2,)")])


@pytest.mark.hole("04a.6")
@POWERS
def test_pow_by_the_base(base, exponent):
    check(torch.pow, np.power, base, exponent, of=0)


@pytest.mark.hole("04a.6")
@POWERS
def test_pow_by_the_exponent(base, exponent):
    check(torch.pow, np.power, base, exponent, of=1)


@pytest.mark.hole("04a.6")
@pytest.mark.parametrize("base, exponent, expected", [
    pytest.param(base, exponent, expected, id=f"{base} ** {exponent} has {expected}")
    for base, exponent, expected in [(0.0, 0.0, 0.0), (3.0, 0.0, 0.0), (0.0, 1.0, 2.0),
                                     (0.0, 2.0, 0.0), (-2.0, 2.0, -8.0), (0.0, -1.0, -np.inf),
                                     (-2.0, 0.5, np.nan)]])
def test_pow_by_the_base_where_one_is_zero(base, exponent, expected):
    got = gradient(torch.pow, [doubles([base]), doubles([exponent])], [2.0], of=0)
    assert_close(got, [expected], what=f"the gradient of {base} ** {exponent} by the base")


@pytest.mark.hole("04a.6")
def test_pow_by_the_base_where_some_exponents_are_zero():
    got = gradient(torch.pow, [doubles([0.0, 2.0, 0.0]), doubles([0.0, 3.0, 2.0])],
                   [1.0, 1.0, 1.0], of=0)
    assert_close(got, [0.0, 12.0, 0.0], what="the gradient of [0, 2, 0] ** [0, 3, 2]")


@pytest.mark.hole("04a.6")
@pytest.mark.parametrize("base, exponent, expected", [
    pytest.param(base, exponent, expected, id=f"{base} ** {exponent} has {expected:.4g}")
    for base, exponent, expected in [
        (0.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 2.0, 0.0), (3.0, 0.0, 2 * np.log(3.0)),
        (-2.0, 2.0, np.nan), (0.0, -1.0, -np.inf)]])
def test_pow_by_the_exponent_where_one_is_zero(base, exponent, expected):
    got = gradient(torch.pow, [doubles([base]), doubles([exponent])], [2.0], of=1)
    assert_close(got, [expected], what=f"the gradient of {base} ** {exponent} by the exponent")


@pytest.mark.hole("04a.6")
@pytest.mark.parametrize("base", [0.0, 2.0])
def test_pow_by_the_base_for_an_infinite_g(base):
    got = gradient(torch.pow, [doubles([base, 2.0]), doubles([0.0, 3.0])], [np.inf, 1.0], of=0)
    assert_close(got, [0.0, 12.0], what=f"the gradient of {base} ** 0 for an infinite g")


@pytest.mark.hole("04a.6")
@pytest.mark.parametrize("fn, arrays", [
    pytest.param(lambda x: x ** 3, [[1.5, 2.0]], id="x ** 3"),
    pytest.param(torch.pow, [[1.5, 2.0], [2.0, 3.0]], id="pow of two tensors")])
def test_powers_write_to_no_argument(fn, arrays):
    assert_arguments_stay(fn, *map(doubles, arrays))


@pytest.mark.hole("04a.6")
@pytest.mark.parametrize("fn, reference, arrays", [
    pytest.param(lambda x: x ** 3, lambda x: x ** 3, [[1.5, 2.0]], id="x ** 3"),
    pytest.param(lambda x: x ** 2, lambda x: x ** 2, [[1.5, -2.0]], id="x ** 2"),
    pytest.param(torch.pow, np.power, [[1.5, 2.0], [2.0, 3.0]], id="pow of two tensors")])
def test_second_derivatives_of_powers(fn, reference, arrays):
    check_twice(fn, reference, *arrays)


# ------------------------------------------------------------------- 04a.7


@pytest.mark.hole("04a.7")
def test_relu_passes_where_it_is_positive():
    got = gradient(torch.relu, [doubles([[-2.0, 3.0], [0.5, -0.1]])], [[5.0, 6.0], [7.0, 8.0]])
    assert_close(got, [[0.0, 6.0], [7.0, 0.0]], what="the gradient of relu")


@pytest.mark.hole("04a.7")
def test_relu_has_slope_zero_at_zero():
    got = gradient(torch.relu, [doubles([0.0, -0.0])], [5.0, 6.0])
    assert_close(got, [0.0, 0.0], what="the gradient of relu at 0")


@pytest.mark.hole("04a.7")
def test_relu_chooses():
    got = gradient(torch.relu, [doubles([-1.0, 3.0])], [np.inf, 2.0])
    assert_close(got, [0.0, 2.0], what="the gradient of relu for an infinite g")


@pytest.mark.hole("04a.7")
def test_relu_writes_to_no_argument():
    assert_arguments_stay(torch.relu, doubles([-2.0, 0.0, 3.0]))


@pytest.mark.hole("04a.7")
def test_relu_differentiated_again():
    check_twice(lambda x: torch.relu(x) * x, lambda x: np.maximum(x, 0) * x, [1.5, -2.0])


@pytest.mark.hole("04a.7")
def test_the_zeros_of_relu_depend_on_x():
    x = torch.tensor([-2.0, 0.0, 3.0], requires_grad=True)
    (slope,) = torch.autograd.grad(torch.relu(x).sum(), x, create_graph=True)
    assert slope.requires_grad, "the gradient of relu no longer depends on x"
    (second,) = torch.autograd.grad(slope.sum(), x)
    assert second.tolist() == [0.0, 0.0, 0.0]


SHARES = [[8.0, -6.0, 5.0, 3.0], [False, True, False, False], [False, False, True, False]]


@pytest.mark.hole("04a.7")
def test_shares_of_arrays():
    g, loses, tie = map(np.array, SHARES)
    assert_close(maximum.share(g, loses, tie), [8.0, 0.0, 2.5, 3.0], what="the shares")
    assert g.tolist() == SHARES[0]


@pytest.mark.hole("04a.7")
def test_shares_of_an_infinite_gradient():
    loses, tie = map(np.array, SHARES[1:])
    got = maximum.share(doubles([8.0, np.inf, np.inf, 3.0]), loses, tie)
    assert_close(got, [8.0, 0.0, np.inf, 3.0], what="the shares")


@pytest.mark.hole("04a.7")
def test_shares_of_tensors():
    g, loses, tie = map(torch.tensor, SHARES)
    got = maximum.share(g.requires_grad_(), loses, tie)
    assert got.requires_grad, "the shares are to be recorded"
    assert_close(got.detach().numpy(), [8.0, 0.0, 2.5, 3.0], what="the shares")


@pytest.mark.hole("04a.7")
@pytest.mark.parametrize("name, first", [
    ("maximum", [0.0, 3.5, 6.0]), ("minimum", [5.0, 3.5, 0.0])], ids=["maximum", "minimum"])
def test_the_winner_gets_the_gradient(name, first):
    g, inputs = doubles([5.0, 7.0, 6.0]), [doubles([1.0, 2.0, 4.0]), doubles([3.0, 2.0, -1.0])]
    assert_close(gradient(getattr(torch, name), inputs, g, of=0), first, what="of self")
    assert_close(gradient(getattr(torch, name), inputs, g, of=1), g - first, what="of other")


# ------------------------------------------------------------------- 04a.8

ROWS = [[1.0, 2.0, 4.0], [0.5, -3.0, 0.25]]


def plain(x, axis):
    """Return the softmax of small numbers."""
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)


REFERENCES = {"softmax": plain, "log_softmax": lambda x, axis: np.log(plain(x, axis))}
BOTH = pytest.mark.parametrize("name, reference", [
    pytest.param(*pair, id=pair[0]) for pair in REFERENCES.items()])
BOTH_ALONG_AXES = pytest.mark.parametrize("name, reference, axis", [
    pytest.param(*pair, axis, id=f"{pair[0]} along axis {axis}")
    for axis in (0, 1) for pair in REFERENCES.items()])


def forward(name, x, axis):
    return getattr(softmax, f"stable_{name}")(np, x, axis)


@pytest.mark.hole("04a.8")
@BOTH_ALONG_AXES
def test_values_along_an_axis(name, reference, axis):
    assert_close(forward(name, doubles(ROWS), axis), reference(doubles(ROWS), axis), 1e-9, 1e-12)


@pytest.mark.hole("04a.8")
@BOTH
def test_a_cube(name, reference):
    x = np.linspace(-1.0, 2.0, 24).reshape(2, 3, 4) ** 2
    for axis in range(3):
        assert_close(forward(name, x, axis), reference(x, axis), 1e-9, 1e-12, f"axis {axis}")


@pytest.mark.hole("04a.8")
@pytest.mark.parametrize("name, expected", [
    ("softmax", [[0.5, 0.5, 0.0], [0.0, 0.0, 1.0], [0.5, 0.5, 0.0]]),
    ("log_softmax", [[-np.log(2)] * 2 + [-1000 - np.log(2)], [-2000.0, -1000.0, 0.0],
                     [-np.log(2)] * 2 + [-1e6 - np.log(2)]])],
    ids=["softmax", "log_softmax"])
def test_large_numbers(name, expected):
    x = doubles([[1000.0, 1000.0, 0.0], [-3000.0, -2000.0, -1000.0], [1e6, 1e6, 0.0]])
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        assert_close(forward(name, x, 1), expected, 1e-9, 1e-12)


@pytest.mark.hole("04a.8")
@BOTH
def test_the_argument_stays_as_it_is(name, reference):
    x = doubles(ROWS)
    forward(name, x, 1)
    assert x.tolist() == ROWS


@pytest.mark.hole("04a.8")
@BOTH_ALONG_AXES
def test_gradients_along_a_dimension(name, reference, axis):
    check(lambda x: getattr(torch, name)(x, axis), lambda x: reference(x, axis), ROWS)


@pytest.mark.hole("04a.8")
@BOTH
def test_softmax_writes_to_no_argument(name, reference):
    assert_arguments_stay(lambda x: getattr(torch, name)(x, 1), doubles(ROWS))


@pytest.mark.hole("04a.8")
@BOTH
def test_second_derivatives_of_softmax(name, reference):
    check_twice(lambda x: getattr(torch, name)(x, 1) * x, lambda x: reference(x, 1) * x,
                [[0.5, 1.5, 2.0]])
