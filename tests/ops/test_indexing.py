"""Square brackets: what they read, write and send back, with NumPy as the oracle."""

from __future__ import annotations

import numpy as np
import pytest

import minigrad as torch

SHAPE = (3, 4, 5)
ROWS = np.array([2, 0, 2])
MASK = np.arange(12).reshape(3, 4) % 3 == 0

KEYS = [
    0, -1, slice(None), slice(1, None), slice(None, None, 2), slice(-2, 10), slice(2, 1), None, ...,
    (1, 2, 3), (0, ...), (..., -1), (slice(None), 1), (slice(None), slice(1, 4, 2), 0),
    (None, 0, None), (slice(1, 3), ..., None), ((),), ROWS, (slice(None), ROWS), (..., ROWS),
    (ROWS, ROWS), (ROWS[:, None], ROWS), (ROWS, slice(None), ROWS), (slice(None), ROWS, ROWS),
    (ROWS, slice(1, 3), None), (None, ROWS), MASK, (MASK, slice(1, 3)), (slice(None), MASK[0]),
    (MASK[:, 0], 1), np.array([], dtype=np.int64), np.arange(60).reshape(SHAPE) > 40,
    (0, np.array([1, -4]), slice(2)), -ROWS,
]


def spelt(key):
    """Return a key with tensors for its arrays."""
    if isinstance(key, tuple):
        return tuple(spelt(k) for k in key)
    return torch.from_numpy(key) if isinstance(key, np.ndarray) else key


def numbers(*shape, first=0):
    """Return an array of consecutive numbers."""
    return np.arange(first, first + np.prod(shape, dtype=int), dtype=np.float64).reshape(shape)


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_reading_and_its_gradients(key):
    array = numbers(*SHAPE)
    x = torch.from_numpy(array.copy()).requires_grad_()
    picked = x[spelt(key)]
    expected = array[key]
    assert picked.shape == expected.shape
    assert np.array_equal(picked.detach().numpy(), expected)

    weight = torch.from_numpy(numbers(*expected.shape, first=1)).requires_grad_()
    (gradient,) = torch.autograd.grad(picked, x, weight, create_graph=True)
    added = np.zeros(SHAPE)
    np.add.at(added, key, numbers(*expected.shape, first=1))
    assert np.array_equal(gradient.detach().numpy(), added)

    back = torch.from_numpy(array + 3)
    (second,) = torch.autograd.grad(gradient, weight, back)
    assert np.array_equal(second.numpy(), (array + 3)[key])


@pytest.mark.parametrize("key", [k for k in KEYS if not np.array_equal(k, ROWS)], ids=str)
def test_writing_and_its_gradients(key):
    array = numbers(*SHAPE)
    shape = array[key].shape
    x = torch.from_numpy(array.copy()).requires_grad_()
    v = torch.from_numpy(numbers(*shape, first=100)).requires_grad_()
    y = x * 1
    y[spelt(key)] = v
    reference = array.copy()
    reference[key] = numbers(*shape, first=100)
    assert np.array_equal(y.detach().numpy(), reference)

    covered = np.ones(SHAPE)
    covered[key] = 0
    (y * torch.from_numpy(1 + array)).sum().backward()
    assert np.array_equal(x.grad.numpy(), (1 + array) * covered)
    assert np.array_equal(v.grad.numpy(), (1 + array)[key])


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_writing_a_number(key):
    array = numbers(*SHAPE)
    x = torch.from_numpy(array.copy())
    x[spelt(key)] = 7
    array[key] = 7
    assert np.array_equal(x.numpy(), array)


@pytest.mark.parametrize("key, error, message", [
    (3, IndexError, "index 3 is out of bounds for dimension 0 with size 3"),
    ((0, -5), IndexError, "index -5 is out of bounds for dimension 1 with size 4"),
    (ROWS + 1, IndexError, "index 3 is out of bounds for dimension 0 with size 3"),
    ((0, 0, 0, 0), IndexError, "too many indices for tensor of dimension 3"),
    (slice(None, None, -1), ValueError, "step must be greater than zero"),
    (1.0, IndexError, "only integers, slices (`:`), ellipsis (`...`), None and long or byte "
                      "Variables are valid indices (got float)"),
    (np.array([1.0]), IndexError, "tensors used as indices must be long, int, byte or bool"),
    (MASK.T, IndexError, "The shape of the mask [4, 3] at index 0 does not match the shape of the "
                         "indexed tensor [3, 4, 5] at index 0"),
    ((ROWS, ROWS[:2]), IndexError, "shape mismatch: indexing tensors could not be broadcast "
                                   "together with shapes [3], [2]"),
], ids=str)
def test_a_wrong_index_raises_pytorchs_error(key, error, message):
    x = torch.from_numpy(numbers(*SHAPE))
    with pytest.raises(error) as caught:
        x[spelt(key)]
    assert str(caught.value).startswith(message)
    with pytest.raises(error) as caught:
        x[spelt(key)] = 1.0
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("call, message", [
    (lambda x, i: x.index_select(0, i), "index out of range in self"),
    (lambda x, i: x.gather(1, i[None]), "index 5 is out of bounds for dimension 1 with size 3"),
    (lambda x, i: x.gather(1, -i[None]), "index -5 is out of bounds for dimension 1 with size 3"),
    (lambda x, i: x.scatter(1, i[None], 1.0), "index 5 is out of bounds for dimension 1"),
    (lambda x, i: x.scatter_add(1, i[None], x), "index 5 is out of bounds for dimension 1"),
    (lambda x, i: x.index_add(1, i, x[:, :1]), "index 5 is out of bounds for dimension 1"),
    (lambda x, i: x.index_copy(1, i, x[:, :1]), "index_copy_(): index 5 is out of bounds"),
    (lambda x, i: x.index_fill(1, i, 0), "index 5 is out of bounds for dimension 1 with size 3"),
    (lambda x, i: x.take(i + 1), "out of range: tried to access index 6 on a tensor of 6 elements"),
    (lambda x, i: x.put(-i - 2, x[0, :1]), "out of range: tried to access index -7 on a tensor"),
])
def test_positions_out_of_range_never_wrap(call, message):
    x = torch.arange(6.0).reshape(2, 3)
    with pytest.raises((IndexError, RuntimeError)) as caught:
        call(x, torch.tensor([5]))
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(("numbers", "dtype"), [((1, 2), "int64"), ((1.0, 2), "float32")])
def test_where_between_numbers_alone_takes_their_default_dtype(numbers, dtype):
    made = torch.where(torch.tensor([True, False]), *numbers)
    assert str(made.dtype) == f"torch.{dtype}"
    assert made.tolist() == [1, 2]


@pytest.mark.parametrize("fill", [lambda x, i, v: x.index_fill(1, i, v),
                                  lambda x, i, v: x.clone().index_fill_(1, i, v)])
def test_index_fill_counts_a_slice_named_twice_once(fill):
    value = torch.tensor(3.0, requires_grad=True)
    fill(torch.zeros(2, 3), torch.tensor([0, 0, 2]), value).sum().backward()
    assert value.grad.item() == 4


def test_take_along_dim_wraps_its_indices_along_a_dimension():
    x = torch.arange(6.0).reshape(2, 3)
    for i, column in ((-1, 2), (-4, 2), (3, 0), (1, 1)):
        assert torch.take_along_dim(x, torch.tensor([[i]]), 1).tolist() == x[:, [column]].tolist()
    with pytest.raises(RuntimeError, match="out of bounds"):
        torch.take_along_dim(x, torch.tensor([-1]))


def test_variants_in_place_take_the_arguments_of_their_function():
    x = torch.zeros(3)
    assert x.scatter_(axis=0, index=torch.tensor([1]), value=2) is x
    assert x.tolist() == [0, 2, 0]
    assert torch.zeros(2, 1).squeeze_(axis=1).shape == (2,)
    assert torch.zeros(1, 2, 1).squeeze_(dim=(0, 2)).shape == (2,)
    assert torch.zeros(1, 2, 1).squeeze_(0, 2).shape == torch.zeros(1, 2, 1).squeeze(0, 2).shape


def test_a_number_is_scattered_along_an_index_longer_than_the_dimension():
    x = torch.zeros(2, 3, requires_grad=True)
    y = x.scatter(0, torch.tensor([[0, 1, 0], [0, 1, 0], [0, 1, 0]]), 5)
    assert y.tolist() == [[5, 0, 5], [0, 5, 0]]
    y.sum().backward()
    assert x.grad.tolist() == [[0, 1, 0], [1, 0, 1]]
