"""How tensors show themselves, and `assert_close`, which tells how two of them differ."""

import numpy as np
import pytest

import minigrad
from minigrad import tensor
from minigrad.tensor.tensor import Parameter, Tensor
from minigrad.testing import assert_close
from tests.support.parity import outcome


class Mine(Tensor):
    pass


def test_the_grad_fn_is_named():
    x = tensor([1.0, 2.0], requires_grad=True)
    assert repr(x) == str(x) == "tensor([1., 2.], requires_grad=True)"
    assert repr(x * x) == "tensor([1., 4.], grad_fn=<MulBackward0>)"
    assert repr((x * x).detach()) == "tensor([1., 4.])"


@pytest.mark.parametrize(("value", "expected"), [
    (tensor(1), "tensor(1)"),
    (tensor([1], dtype=minigrad.int32), "tensor([1], dtype=torch.int32)"),
    (tensor(1.0, dtype=minigrad.float64), "tensor(1., dtype=torch.float64)"),
    (tensor(1.0, dtype=minigrad.float64, requires_grad=True),
     "tensor(1., dtype=torch.float64, requires_grad=True)"),
    (minigrad.zeros(0), "tensor([])"),
    (minigrad.zeros(2, 0), "tensor([], size=(2, 0))"),
    (minigrad.zeros(0, dtype=minigrad.int64), "tensor([], dtype=torch.int64)"),
    (Parameter(tensor([1.0])), "Parameter containing:\ntensor([1.], requires_grad=True)"),
    (Mine([1.0]), "Mine([1.])"),
])
def test_the_repr_of_values_of_each_kind(value, expected):
    assert repr(value) == expected


def test_the_default_dtype_is_left_out():
    minigrad.set_default_dtype(minigrad.float64)
    try:
        assert repr(tensor(1.0)) == "tensor(1.)"
        assert repr(tensor(1.0, dtype=minigrad.float32)) == "tensor(1., dtype=torch.float32)"
    finally:
        minigrad.set_default_dtype(minigrad.float32)


def test_a_view_without_a_node_shows_invalid():
    with minigrad.no_grad():
        base = minigrad.ones(2, 2)
        view = base[0]
    leaf = minigrad.ones(2, 2, requires_grad=True)
    base.mul_(leaf)
    # the base's history has changed, and the view was made while nothing was recorded
    assert "[1., 1.]" in repr(view)
    x = minigrad.ones(2, 2, requires_grad=True) * 1
    one, _ = x.unbind(0)
    x.mul_(2)
    with pytest.raises(RuntimeError):
        one.grad_fn
    assert repr(one) == "tensor([2., 2.], grad_fn=<Invalid>)"


def test_dunder_str_and_format():
    x = tensor(3.14159)
    assert f"{x:.2f}" == "3.14" and f"{tensor([1.0])}" == "tensor([1.])"




CASES = """
torch.testing.assert_close(torch.tensor([1., 2.]), torch.tensor([1., 2.]))
torch.testing.assert_close(torch.tensor([1., 2., 4.]), torch.tensor([1., 2., 3.]))
torch.testing.assert_close(torch.tensor([1, 2, 4]), torch.tensor([1, 2, 3]))
torch.testing.assert_close(torch.tensor([[1.], [2.]]), torch.tensor([[1.], [3.]]), rtol=0, atol=.5)
torch.testing.assert_close(torch.tensor(1.), torch.tensor(2.))
torch.testing.assert_close(torch.tensor([1.]), torch.tensor([1.0 + 5e-6]))
torch.testing.assert_close(torch.tensor([1.]), torch.tensor([1.0 + 5e-5]), rtol=0, atol=1e-4)
torch.testing.assert_close(torch.tensor([1.]).double(), torch.tensor([1.0 + 5e-6]).double(), atol=1)
torch.testing.assert_close(torch.tensor([1.]), torch.tensor([1]))
torch.testing.assert_close(torch.tensor([1.]), torch.tensor([1]), check_dtype=False)
torch.testing.assert_close(torch.tensor([1., 2.]), torch.tensor([1.]))
torch.testing.assert_close(torch.tensor([float('nan')]), torch.tensor([1.]))
torch.testing.assert_close(torch.tensor([float('nan')]), torch.tensor([float('nan')]))
torch.testing.assert_close(torch.tensor([np.nan]), torch.tensor([np.nan]), equal_nan=True)
torch.testing.assert_close(torch.tensor([np.inf]), torch.tensor([np.inf]))
torch.testing.assert_close(torch.tensor([]), torch.tensor([]))
torch.testing.assert_close(1.0, 1.0 + 1e-9)
torch.testing.assert_close(1.0, 2.0)
torch.testing.assert_close(1, 2)
torch.testing.assert_close(1, 1.0)
torch.testing.assert_close([torch.tensor(1.), 2.], [torch.tensor(1.), 3.])
torch.testing.assert_close({'a': [1., 2.]}, {'a': [1., 5.]})
torch.testing.assert_close([1.], [1., 2.])
torch.testing.assert_close(np.ones(2), np.ones(2))
torch.testing.assert_close('a', 'a')
torch.testing.assert_close(torch.tensor(1.), torch.tensor(2.), msg='mine')
torch.testing.assert_close(torch.tensor(1.), torch.tensor(2.), msg=lambda text: text[:6])
torch.testing.assert_close(None, None)
"""


@pytest.mark.parametrize("expression", [line for line in CASES.split("\n") if line])
def test_assert_close_says_what_torchs_says(expression):
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    assert outcome(minigrad, expression) == outcome(torch, expression)


def test_assert_close_notices():
    assert_close(tensor([1.0, 2.0]), tensor([1.0, 2.0 + 1e-6]))
    for wrong in (tensor([1.0, 2.1]), tensor([1.0]), tensor([1.0, np.nan]),
                  tensor([1.0, 2.0], dtype=minigrad.float64)):
        with pytest.raises(AssertionError):
            assert_close(tensor([1.0, 2.0]), wrong)
    with pytest.raises(AssertionError, match="stride"):
        assert_close(tensor(np.ones((2, 2))), minigrad.from_numpy(np.ones((2, 2)).T),
                     check_stride=True)
    with pytest.raises(AssertionError, match=r"The failure occurred for item \['a'\]\[1\]"):
        assert_close({"a": [1.0, 2.0]}, {"a": [1.0, 3.0]})
