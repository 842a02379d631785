"""Stage 04a: broadcasting, what undoes it on the way back, and derivatives in one line."""

import numpy as np
import pytest
from _oracle import assert_close, central_difference_vjp, second_order_vjp

import minigrad as torch
from minigrad import shapes
from minigrad.autograd import fitting


def doubles(value):
    return np.array(value, np.float64)


def gradients(fn, arrays, g):
    """Return the package's gradients of `fn`, a function of tensors, for the result's `g`."""
    inputs = [torch.tensor(array, dtype=torch.float64, requires_grad=True) for array in arrays]
    result = fn(*inputs)
    result.backward(torch.tensor(g, dtype=torch.float64))
    return [each.grad.numpy() for each in inputs]


def check(fn, reference, *arrays):
    """Compare gradients of `fn` on tensors with differences of `reference` on arrays."""
    arrays = [doubles(array) for array in arrays]
    out = reference(*arrays)
    g = np.linspace(-1.0, 2.0, out.size).reshape(out.shape) + 0.25
    expected = central_difference_vjp(reference, arrays, g)
    for place, (got, want) in enumerate(zip(gradients(fn, arrays, g), expected, strict=True)):
        assert_close(got, want, 1e-5, 1e-7, f"gradient {place}")


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


def node_for(*shape, dtype=torch.float32):
    """Return a node whose forward gave one output of this shape and dtype."""
    return torch.exp(torch.zeros(shape, dtype=dtype, requires_grad=True)).grad_fn


# ------------------------------------------------------------------- 04a.1


@pytest.mark.hole("04a.1")
@pytest.mark.parametrize("given, expected", [
    (((3, 1), (4,)), (3, 4)),
    (((4,), (3, 1)), (3, 4)),
    (((2, 3), (3,)), (2, 3)),
    (((3,), (2, 3)), (2, 3)),
    (((1, 4), (3, 4)), (3, 4)),
    (((3, 4), (1, 4)), (3, 4)),
    (((), (2,)), (2,)),
    (((3,), (1,)), (3,)),
    (((5,),), (5,)),
    ((), ()),
    (((), ()), ()),
    (((2, 1, 1), (3, 1), (4,)), (2, 3, 4)),
    (((4,), (3, 1), (2, 1, 1)), (2, 3, 4)),
    (((0, 3), (1, 3)), (0, 3)),
    (((1, 3), (0, 1)), (0, 3)),
])
def test_shapes_broadcast(given, expected):
    got = shapes.broadcast(*given)
    assert got == expected, f"broadcast{given}: expected {expected}, got {got}"


@pytest.mark.hole("04a.1")
def test_what_is_no_shape_counts_as_one_number():
    assert shapes.broadcast((2, 3), 1.5) == (2, 3)
    assert shapes.broadcast(2, (3,), None, alpha=2) == (3,)


@pytest.mark.hole("04a.1")
@pytest.mark.parametrize("given, sizes, dimension", [
    (((3,), (4,)), (3, 4), 0),
    (((2, 3), (4,)), (3, 4), 1),
    (((4,), (2, 3)), (4, 3), 1),
    (((2, 3), (4, 3)), (2, 4), 0),
    (((0,), (2,)), (0, 2), 0),
    (((2, 1), (1, 3), (2, 2)), (3, 2), 1),
])
def test_shapes_that_do_not_fit(given, sizes, dimension):
    with pytest.raises(RuntimeError) as caught:
        shapes.broadcast(*given)
    assert str(caught.value) == (
        f"The size of tensor a ({sizes[0]}) must match the size of tensor b ({sizes[1]}) "
        f"at non-singleton dimension {dimension}")


@pytest.mark.hole("04a.1")
def test_operations_tell_the_error():
    with pytest.raises(RuntimeError, match=r"tensor a \(3\) must match the size of tensor b \(4\)"):
        torch.maximum(torch.ones(3), torch.ones(4))


@pytest.mark.hole("04a.1")
@pytest.mark.parametrize("shape, target, expected", [
    ((3, 1), (2, 3, 4), True),
    ((3,), (2, 3), True),
    ((3,), (3,), True),
    ((), (2, 3), True),
    ((1,), (0,), True),
    ((2,), (3,), False),
    ((3,), (1,), False),
    ((2,), (2, 3), False),
    ((2, 3), (3,), False),
    ((1, 3), (3,), False),
    ((2, 3), (2, 1), False),
])
def test_expandable(shape, target, expected):
    got = shapes.is_expandable_to(shape, target)
    assert got is expected, f"{shape} to {target}: expected {expected}, got {got}"


# ------------------------------------------------------------------- 04a.2

SUMS = [
    ([[1, 2], [3, 5]], (2,), [4, 7]),
    ([[1, 2], [3, 5]], (1, 2), [[4, 7]]),
    ([[1, 2], [3, 5]], (2, 1), [[3], [8]]),
    ([[1, 2], [3, 5]], (1,), [11]),
    ([[1, 2], [3, 5]], (), 11),
    ([[1, 2], [3, 5]], (1, 1), [[11]]),
    ([[1, 2], [3, 5]], (2, 2), [[1, 2], [3, 5]]),
    ([[[1, 2], [3, 5]], [[10, 20], [30, 50]]], (2, 1), [[33], [88]]),
    ([[[1, 2], [3, 5]], [[10, 20], [30, 50]]], (2,), [44, 77]),
    ([[[1], [2]]], (2, 1), [[1], [2]]),
    ([[1, 2]], (2,), [1, 2]),
    (np.zeros((0, 2)), (2,), [0, 0]),
]


@pytest.mark.hole("04a.2")
@pytest.mark.parametrize("grad, shape, expected", SUMS)
def test_sum_of_an_array(grad, shape, expected):
    assert_close(fitting.sum_to(doubles(grad), shape), doubles(expected), what=f"sum to {shape}")


@pytest.mark.hole("04a.2")
@pytest.mark.parametrize("grad, shape, expected", SUMS)
def test_sum_of_a_tensor(grad, shape, expected):
    got = fitting.sum_to(torch.tensor(doubles(grad)), shape)
    assert isinstance(got, torch.Tensor), f"expected a Tensor, got {type(got).__name__}"
    assert_close(got.numpy(), doubles(expected), what=f"sum to {shape}")


@pytest.mark.hole("04a.2")
@pytest.mark.parametrize("shape", [(2,), (3, 1), ()])
def test_a_tensor_stays_in_its_graph(shape):
    grad = torch.ones(3, 2, requires_grad=True)
    got = fitting.sum_to(grad, shape)
    assert got.requires_grad and got.grad_fn is not None, "the sum is to be recorded"


@pytest.mark.hole("04a.2")
def test_the_given_array_stays_as_it_is():
    grad = doubles([[1, 2], [3, 5]])
    fitting.sum_to(grad, (2,))
    assert grad.tolist() == [[1, 2], [3, 5]]


# ------------------------------------------------------------------- 04a.3


@pytest.mark.hole("04a.3")
def test_what_fits_is_left_alone():
    grad = np.ones((2, 3), np.float32)
    got = fitting.fit(grad, node_for(2, 3), 0, node_for(1), 0)
    assert_close(got, np.ones((2, 3)))
    assert got.dtype == np.float32


@pytest.mark.hole("04a.3")
@pytest.mark.parametrize("shape", [(3,), (2, 1), (1, 3), (1,), ()])
@pytest.mark.parametrize("make", [np.asarray, torch.tensor])
def test_copies_are_summed(shape, make):
    grad = doubles([[1, 2, 3], [10, 20, 30]])
    expected = central_difference_vjp(lambda x: x + np.zeros((2, 3)), [np.zeros(shape)], grad)[0]
    got = fitting.fit(make(grad), node_for(*shape, dtype=torch.float64), 0, node_for(1), 0)
    assert isinstance(got, type(make(grad))), f"got a {type(got).__name__}"
    assert_close(np.asarray(got.numpy() if isinstance(got, torch.Tensor) else got), expected)


@pytest.mark.hole("04a.3")
@pytest.mark.parametrize("got, wanted", [
    ((4,), (3,)), ((1,), (3,)), ((), (3,)), ((3,), (2, 3)), ((3, 2), (2, 3)), ((2, 3), (2,))])
@pytest.mark.parametrize("on_tensors", [False, True])
def test_what_cannot_be_copies_is_refused(got, wanted, on_tensors):
    grad = torch.ones(got) if on_tensors else np.ones(got, np.float32)
    source = torch.ones(1, requires_grad=True).sin().grad_fn
    with pytest.raises(RuntimeError) as caught:
        fitting.fit(grad, node_for(*wanted), 0, source, 1)
    assert str(caught.value) == (
        f"Function {source.name()} returned an invalid gradient at index 1 - got {list(got)} but "
        f"expected shape compatible with {list(wanted)}")


@pytest.mark.hole("04a.3")
@pytest.mark.parametrize("given, wanted", [("float64", "float32"), ("float32", "float64")])
@pytest.mark.parametrize("shape", [(3,), (2, 3)])
def test_the_dtype_becomes_that_of_the_output(given, wanted, shape):
    target = node_for(3, dtype=getattr(torch, wanted))
    for grad in (np.ones(shape, given), torch.ones(*shape, dtype=getattr(torch, given))):
        got = fitting.fit(grad, target, 0, node_for(1), 0)
        assert str(got.dtype).removeprefix("torch.") == wanted, f"expected {wanted}, {got.dtype}"
        assert isinstance(got, type(grad))


@pytest.mark.hole("04a.3")
def test_a_cast_of_a_tensor_stays_in_its_graph():
    grad = torch.ones(3, dtype=torch.float64, requires_grad=True)
    assert fitting.fit(grad, node_for(3), 0, node_for(1), 0).requires_grad


@pytest.mark.hole("04a.3")
@pytest.mark.parametrize("dtype", ["int64", "bool"])
def test_gradients_that_are_not_floating_are_refused(dtype):
    source = torch.ones(1, requires_grad=True).sin().grad_fn
    with pytest.raises(RuntimeError) as caught:
        fitting.fit(np.ones(3, dtype), node_for(3), 0, source, 1)
    assert str(caught.value) == (f"Function {source.name()} returned an invalid gradient at "
                                 f"index 1 - expected type float32 but got {dtype}")


@pytest.mark.hole("04a.3")
def test_the_output_that_index_names_counts():
    node = torch.split(torch.ones(3, requires_grad=True), [1, 2])[0].grad_fn
    assert fitting.fit(np.ones(2, np.float32), node, 1, node_for(1), 0).shape == (2,)
    assert fitting.fit(np.ones(2, np.float32), node, 0, node_for(1), 0).shape == (1,)


@pytest.mark.hole("04a.3")
def test_numbers_become_arrays():
    got = fitting.fit(np.float64(2.0), node_for(), 0, node_for(1), 0)
    assert isinstance(got, np.ndarray), f"expected an array, got {type(got).__name__}"
    assert got.shape == () and got.dtype == np.float32 and got == 2


@pytest.mark.hole("04a.3")
def test_a_backward_pass_sums_what_was_broadcast():
    x = torch.tensor([1.0, 5.0, 3.0], requires_grad=True)
    y = torch.tensor([[2.0], [4.0]], requires_grad=True)
    torch.maximum(x, y).sum().backward()
    assert x.grad.tolist() == [0.0, 2.0, 1.0]
    assert y.grad.tolist() == [[1.0], [2.0]]


# ------------------------------------------------------------------- 04a.4

PAIRS = [
    ([1.0, -2.0, 3.0], [4.0, 5.0, -6.0]),
    ([[1.0], [2.0]], [3.0, 4.0, 5.0]),
    ([[1.0, 2.0, 3.0]], 2.5),
    (2.0, [[1.0, 2.0]]),
]


@pytest.mark.hole("04a.4")
@pytest.mark.parametrize("a, b", PAIRS)
@pytest.mark.parametrize("alpha", [1, 2.5, -3])
def test_sums(a, b, alpha):
    check(lambda x, y: torch.add(x, y, alpha=alpha), lambda x, y: x + alpha * y, a, b)


@pytest.mark.hole("04a.4")
@pytest.mark.parametrize("a, b", PAIRS)
@pytest.mark.parametrize("alpha", [1, 2.5, -3])
def test_differences(a, b, alpha):
    check(lambda x, y: torch.sub(x, y, alpha=alpha), lambda x, y: x - alpha * y, a, b)


@pytest.mark.hole("04a.4")
@pytest.mark.parametrize("a, b", PAIRS)
@pytest.mark.parametrize("alpha", [1, 2.5])
def test_differences_with_the_operands_swapped(a, b, alpha):
    check(lambda x, y: torch.rsub(x, y, alpha=alpha), lambda x, y: y - alpha * x, a, b)


@pytest.mark.hole("04a.4")
def test_a_number_minus_a_tensor():
    check(lambda x: 5 - x, lambda x: 5 - x, [1.0, 2.0])


@pytest.mark.hole("04a.4")
@pytest.mark.parametrize("a, b", PAIRS)
def test_products(a, b):
    check(lambda x, y: x * y, lambda x, y: x * y, a, b)


@pytest.mark.hole("04a.4")
def test_a_number_times_a_tensor():
    check(lambda x: 3 * x, lambda x: 3 * x, [1.0, 2.0])
    check(lambda x: x * 0.5, lambda x: x * 0.5, [[1.0, 2.0]])


@pytest.mark.hole("04a.4")
def test_negation():
    check(lambda x: -x, lambda x: -x, [1.0, -2.0])


@pytest.mark.hole("04a.4")
@pytest.mark.parametrize("value", [1, -0.5, 3])
def test_addcmul(value):
    check(lambda x, y, z: torch.addcmul(x, y, z, value=value),
          lambda x, y, z: x + value * y * z,
          [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[2.0], [-1.0]], [3.0, 0.5, 4.0])


@pytest.mark.hole("04a.4")
def test_a_factor_that_is_used_twice():
    check(lambda x: x * x, lambda x: x * x, [3.0, -2.0])


@pytest.mark.hole("04a.4")
def test_second_derivatives_of_products():
    check_twice(lambda x, y: x * y * x, lambda x, y: x * y * x, [1.5, 2.0], [3.0, -1.0])


# ------------------------------------------------------------------- 04a.5

QUOTIENTS = [
    ([1.0, -2.0, 3.0], [4.0, 5.0, -6.0]),
    ([[1.0], [2.0]], [3.0, 4.0, 5.0]),
    ([[1.0, 2.0, 3.0]], 2.5),
]


@pytest.mark.hole("04a.5")
@pytest.mark.parametrize("a, b", QUOTIENTS)
def test_quotients(a, b):
    check(lambda x, y: x / y, lambda x, y: x / y, a, b)


@pytest.mark.hole("04a.5")
def test_quotients_with_numbers():
    check(lambda x: x / 4, lambda x: x / 4, [1.0, 2.0])
    check(lambda x: 6 / x, lambda x: 6 / x, [1.5, -2.0])


@pytest.mark.hole("04a.5")
def test_reciprocals():
    check(torch.reciprocal, lambda x: 1 / x, [2.0, -0.5, 4.0])


@pytest.mark.hole("04a.5")
@pytest.mark.parametrize("value", [1, -0.5, 3])
def test_addcdiv(value):
    check(lambda x, y, z: torch.addcdiv(x, y, z, value=value),
          lambda x, y, z: x + value * y / z,
          [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[2.0], [-1.0]], [3.0, 0.5, 4.0])


@pytest.mark.hole("04a.5")
def test_the_square_of_a_large_divisor_is_never_formed():
    x = torch.tensor(1e30, requires_grad=True)
    y = torch.tensor(1e25, requires_grad=True)
    (x / y).backward()
    assert_close(y.grad.item(), -1e-20, 1e-5, 0, "the gradient of 1e30 / y at y = 1e25")


@pytest.mark.hole("04a.5")
def test_second_derivatives_of_quotients():
    check_twice(lambda x, y: x / y, lambda x, y: x / y, [1.5, 2.0], [3.0, -1.0])
    check_twice(torch.reciprocal, lambda x: 1 / x, [2.0, -0.5])


# ------------------------------------------------------------------- 04a.6


@pytest.mark.hole("04a.6")
@pytest.mark.parametrize("exponent", [2, 3, 5, 1, 0, -1, -2, 0.5, -1.5, 2.0])
def test_powers_with_a_number_as_exponent(exponent):
    check(lambda x: x ** exponent, lambda x: x ** exponent, [0.5, 2.0, 3.0])


@pytest.mark.hole("04a.6")
def test_negative_bases():
    check(lambda x: x ** 3, lambda x: x ** 3, [-2.0, -0.5])


@pytest.mark.hole("04a.6")
def test_powers_at_zero():
    for exponent, slope in ((0, 0.0), (1, 1.0), (2, 0.0), (3, 0.0)):
        (got,) = gradients(lambda x, n=exponent: x ** n, [doubles([0.0])], [2.0])
        assert_close(got, [2 * slope], what=f"the gradient of x ** {exponent} at 0")


@pytest.mark.hole("04a.6")
def test_powers_of_two_tensors():
    check(torch.pow, np.power, [[0.5], [2.0]], [1.5, -2.0, 3.0])
    check(torch.pow, np.power, 2.5, [1.5, -2.0])


@pytest.mark.hole("04a.6")
def test_powers_of_two_tensors_where_they_are_zero():
    base, exponent = doubles([0.0, 0.0, 0.0, 3.0, -2.0]), doubles([0.0, 1.0, 2.0, 0.0, 2.0])
    by_base, by_exponent = gradients(torch.pow, [base, exponent], np.full(5, 2.0))
    assert_close(by_base, [0.0, 2.0, 0.0, 0.0, -8.0], what="the gradient by the base")
    assert_close(by_exponent, [0.0, 0.0, 0.0, 2 * np.log(3.0), np.nan],
                 what="the gradient by the exponent")


@pytest.mark.hole("04a.6")
def test_powers_of_a_number():
    check(lambda x: 2.5 ** x, lambda x: 2.5 ** x, [1.5, -2.0, 0.0])
    (got,) = gradients(lambda x: 0 ** x, [doubles([0.0, 1.0, 2.5])], [1.0, 1.0, 1.0])
    assert_close(got, [0.0, 0.0, 0.0], what="the gradient of 0 ** x")


@pytest.mark.hole("04a.6")
def test_square_roots():
    check(torch.sqrt, np.sqrt, [0.25, 2.0, 9.0])
    check(torch.rsqrt, lambda x: 1 / np.sqrt(x), [0.25, 2.0, 9.0])


@pytest.mark.hole("04a.6")
def test_second_derivatives_of_powers():
    check_twice(lambda x: x ** 3, lambda x: x ** 3, [1.5, 2.0])
    check_twice(lambda x: x ** 2, lambda x: x ** 2, [1.5, -2.0])
    check_twice(torch.pow, np.power, [1.5, 2.0], [2.0, 3.0])
    check_twice(torch.sqrt, np.sqrt, [1.5, 4.0])
    check_twice(torch.rsqrt, lambda x: 1 / np.sqrt(x), [1.5, 4.0])
