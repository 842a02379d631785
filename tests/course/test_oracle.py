"""The oracle against derivatives worked out by hand."""

import numpy as np
import pytest

from tests import _oracle


def test_jacobian_has_output_dimensions_first():
    a, b = np.arange(6.0).reshape(2, 3), np.arange(3.0)
    by_a, by_b = _oracle.numerical_jacobian(lambda a, b: a @ b, [a, b])
    expected = np.zeros((2, 2, 3))
    expected[0, 0] = expected[1, 1] = b
    _oracle.assert_close(by_a, expected)
    _oracle.assert_close(by_b, a)


def test_jacobian_of_functions_that_write_or_return_numbers():
    def double(x):
        x *= 2
        return x

    x = np.array([1.0, 2.0])
    _oracle.assert_close(_oracle.numerical_jacobian(double, [x])[0], 2 * np.eye(2))
    assert x.tolist() == [1.0, 2.0]
    _oracle.assert_close(_oracle.numerical_jacobian(np.sum, [x])[0], np.ones(2))
    assert _oracle.numerical_jacobian(np.sin, [np.ones((0, 2))])[0].shape == (0, 2, 0, 2)


def test_vjp_of_a_product():
    rng = np.random.default_rng(0)
    a, b, g = rng.normal(size=(2, 3)), rng.normal(size=(3, 4)), rng.normal(size=(2, 4))
    by_a, by_b = _oracle.central_difference_vjp(np.matmul, [a, b], g)
    _oracle.assert_close(by_a, g @ b.T)
    _oracle.assert_close(by_b, a.T @ g)
    with pytest.raises(AssertionError, match="output's shape"):
        _oracle.central_difference_vjp(np.matmul, [a, b], g.T)


def test_second_order_of_a_quotient():
    rng = np.random.default_rng(0)
    a, b, g, v, w = rng.uniform(1, 2, (5, 4))
    (by_a, by_b), by_g = _oracle.second_order_vjp(np.divide, [a, b], g, [v, w])
    # grads = g / b, -g a / b^2; s = sum(v g / b - w g a / b^2)
    _oracle.assert_close(by_a, -w * g / b**2, 1e-6)
    _oracle.assert_close(by_b, -v * g / b**2 + 2 * w * g * a / b**3, 1e-6)
    _oracle.assert_close(by_g, v / b - w * a / b**2, 1e-6)


@pytest.mark.parametrize(
    ("actual", "expected", "message"),
    [
        ([1.0], [[1.0]], r"loss: got shape \(1,\), expected \(1, 1\)"),
        ([1.0, np.nan], [1.0, 2.0], r"1 of 2 .* at \(1,\): got nan, expected 2.0"),
        ([np.inf, 1.0], [-np.inf, 2.0], r"2 of 2 .* at \(0,\): got inf, expected -inf"),
        ([[0.0, 1e-7]], [[0.0, 0.0]], r"1 of 2 .* at \(0, 1\): got 1e-07, expected 0.0"),
        (True, False, r"1 of 1 .* at \(\): got True, expected False"),
    ],
)
def test_a_difference_is_described(actual, expected, message):
    with pytest.raises(AssertionError, match=message):
        _oracle.assert_close(actual, expected, what="loss")


def test_close_arrays_pass():
    _oracle.assert_close([np.nan, np.inf, 1.0], [np.nan, np.inf, 1.0 + 1e-9])
    _oracle.assert_close(np.ones((0, 2)), np.ones((0, 2)))
    _oracle.assert_close([100.0], [101.0], rtol=0.1)


EXPECTED = np.array([[1.5, -2.0, 0.5], [3.0, 0.25, -0.75]])


@pytest.mark.parametrize("actual, told", [
    (EXPECTED, ""),
    (EXPECTED * 0, "every element is 0"),
    (-EXPECTED, "every element has the other sign"),
    (np.abs(EXPECTED), "every element has lost its sign"),
    (EXPECTED.T, "it is transposed"),
    (EXPECTED / 2, "every element is 1/2 times what is expected"),
    (EXPECTED * 180 / np.pi, "every element is 57.3 times what is expected"),
    (-3 * EXPECTED, "every element is -3 times what is expected"),
    (EXPECTED + 1, "every element is +1 away from what is expected"),
    (EXPECTED**2, "every element is the square of what is expected"),
    (np.flip(EXPECTED), "the elements come in reverse order"),
    (np.roll(EXPECTED, 1), "the elements are right but in another order"),
    (EXPECTED * 1.2345, ""),
    (np.add(EXPECTED, [[0, 0, 1], [0, 0, 0]]), ""),
    (EXPECTED * np.nan, ""),
    ("a", ""),
])
def test_slips(actual, told):
    assert _oracle.slip(actual, EXPECTED) == told


@pytest.mark.parametrize("actual, expected, told", [
    (2.0, 4.0, ""),  # half of it, its root, or two less
    (-2.0, 2.0, "every element has the other sign"),
    ([2.0, 2.0], [4.0, 4.0], ""),
    ([], [], ""),
    ([1, 2], [2, 4], "every element is 1/2 times what is expected"),
    ([True], [False], ""),
])
def test_slips_of_few_numbers(actual, expected, told):
    assert _oracle.slip(actual, expected) == told


def test_a_wrong_sign_is_named():
    with pytest.raises(AssertionError, match="expected 3.0; every element has the other sign$"):
        _oracle.assert_close([-1.0, -3.0], [1.0, 3.0])
