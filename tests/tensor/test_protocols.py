"""Tensors among NumPy's numbers and arrays, copied and pickled: as on PyTorch, where installed."""

import copy
import pickle

import numpy as np
import pytest

from tests.support.engines import leaf, on_each_engine

pytestmark = on_each_engine


@pytest.mark.parametrize("number", [np.float64(2), np.float32(2), np.int64(2)])
@pytest.mark.parametrize(("operate", "values", "slope"), [
    (lambda n, x: n * x, [2, 8], 2), (lambda n, x: n + x, [3, 6], 1),
    (lambda n, x: n - x, [1, -2], -1), (lambda n, x: x / n, [0.5, 2], 0.5),
    (lambda n, x: x - n, [-1, 2], 1),
])
def test_numbers_of_numpys_are_numbers(torch, number, operate, values, slope):
    x = leaf(torch, [1.0, 4.0])
    out = operate(number, x)
    assert out.dtype == torch.float32 and out.tolist() == values
    out.sum().backward()
    assert x.grad.tolist() == [slope, slope]


def test_a_number_of_numpys_does_not_widen_a_tensor(torch):
    assert (np.float64(2) * torch.tensor(3)).dtype == torch.float32
    assert (np.float64(2) * torch.ones(2, dtype=torch.float16)).dtype == torch.float16
    assert (np.float64(2) < torch.ones(2)).tolist() == [False, False]


def test_arrays_are_compared_element_by_element(torch):
    x = torch.tensor([1.0, 2.0])
    for result in (x == np.ones(2), np.ones(2) == x):
        assert isinstance(result, torch.Tensor) and result.tolist() == [True, False]
    if torch.__name__ == "minigrad":  # PyTorch compares whether the two are one object
        assert (x != np.ones(2)).tolist() == [False, True]


def test_an_array_on_the_left_is_refused_and_not_split_into_its_elements(torch):
    with pytest.raises(TypeError):
        np.ones(2) * torch.ones(2)


@pytest.mark.filterwarnings("ignore:__array_wrap__ must accept:DeprecationWarning")  # PyTorch's
def test_functions_of_numpys_give_tensors(torch):
    x = torch.tensor([1.0, 4.0])
    assert isinstance(np.sqrt(x), torch.Tensor) and np.sqrt(x).tolist() == [1, 2]
    assert isinstance(x + np.ones(2), torch.Tensor)
    assert np.isnan(x).dtype == torch.uint8
    with pytest.raises(RuntimeError, match="Can't call numpy"):
        np.sqrt(leaf(torch, [1.0]))


def test_values_may_be_looked_at_where_nothing_is_recorded(torch):
    x = leaf(torch, [1.0, 4.0])
    with pytest.raises(RuntimeError, match="Can't call numpy"):
        x.numpy()
    with torch.no_grad():
        assert x.numpy().tolist() == np.asarray(x * 1).tolist() == [1, 4]


@pytest.mark.parametrize("copied", [copy.copy, lambda x: pickle.loads(pickle.dumps(x))],
                         ids=["copy", "pickle"])
def test_what_has_a_history_is_copied_as_a_leaf(torch, copied):
    x = leaf(torch, [1.0, 4.0])
    again = copied(x * 2)
    assert again.tolist() == [2, 8] and again.is_leaf and again.requires_grad
    (again * 3).sum().backward()
    assert again.grad.tolist() == [3, 3] and x.grad is None


def test_float16_is_computed_in_float32(torch):
    x = torch.tensor([-15.0, 15.0], dtype=torch.float16)
    functional = torch.nn.functional
    assert functional.softplus(x)[1].item() == 15.0
    assert x.sigmoid()[0].item() > 0
    assert functional.silu(x)[0].item() < 0
