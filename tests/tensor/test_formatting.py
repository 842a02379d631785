"""Printing agrees with PyTorch's, character for character: golden strings, then PyTorch itself."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from minigrad.tensor import formatting as printing
from minigrad.tensor.formatting import (
    format_array,
    format_tensor,
    get_printoptions,
    set_printoptions,
)

DTYPES = [
    np.float16, np.float32, np.float64, np.int8, np.int16, np.int32, np.int64, np.uint8, np.bool_,
]
SHAPES = [
    (), (1,), (3,), (30,), (1000,), (1001,), (2, 3), (1, 1), (4, 40), (30, 50), (2, 2, 2),
    (7, 8, 20), (1, 1001), (1001, 1), (2, 1, 3, 2), (3, 11, 3, 11), (0,), (0, 3), (2, 0, 4),
]
SPECIAL = [
    [0.0], [-0.0], [1.0, 2.0], [1.5], [1e-5, 1.0], [1e-4], [9.9e-5], [1e8], [1e8 + 8], [1e9],
    [1.0, 1000.0], [1.0, 1001.0], [0.5, 500.1], [float("inf")], [float("nan")],
    [1.0, float("inf"), -float("inf"), float("nan")], [1.5, float("inf"), float("nan")],
    [1e10, float("nan"), -float("inf")], [-1.0, 10.0, -100.0], [0.99999], [0.00005, 0.00015],
    [1e-30, 1e30], [123456.789], [16777217.0], [0.1, 0.25, 1234.5],
]


@pytest.fixture(autouse=True)
def default_options() -> Iterator[None]:
    set_printoptions(profile="default")
    yield
    set_printoptions(profile="default")


def shown(array: Any, dtype: Any = np.float32, **suffixes: Any) -> str:
    arguments = {"dtype_suffix": None, "grad_fn_name": None, "requires_grad": False}
    return format_tensor(np.array(array, dtype=dtype), **(arguments | suffixes))


def some_values(shape: tuple[int, ...], dtype: Any, seed: int = 0) -> np.ndarray:
    random = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        return np.asarray(random.normal(size=shape), dtype=dtype)
    if np.dtype(dtype) == np.bool_:
        return np.asarray(random.random(shape) < 0.5)
    info = np.iinfo(dtype)
    return np.asarray(random.integers(max(info.min, -5000), min(info.max, 5000), shape), dtype)


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (5.0, "5."),
        (3.14159, "3.1416"),
        ([1, 2], "[1., 2.]"),
        ([1.5, -2], "[ 1.5000, -2.0000]"),
        ([1e-5, 1], "[1.0000e-05, 1.0000e+00]"),
        ([1, 1001], "[1.0000e+00, 1.0010e+03]"),
        ([1, 1000], "[   1., 1000.]"),
        ([1, np.inf, np.nan], "[1., inf, nan]"),
        ([0.5, -np.inf, np.nan], "[0.5000,   -inf,    nan]"),
        ([0, 0], "[0., 0.]"),
        ([[1, 2], [3, 4]], "[[1., 2.],\n [3., 4.]]"),
        ([[[1]], [[2]]], "[[[1.]],\n\n [[2.]]]"),
    ],
)
def test_float_arrays(array: Any, expected: str) -> None:
    assert format_array(np.array(array, dtype=np.float32)) == expected


def test_integers_and_bools_share_one_width() -> None:
    assert format_array(np.array([1, -20, 300])) == "[  1, -20, 300]"
    assert format_array(np.array([True, False])) == "[ True, False]"


def test_rows_are_indented_below_the_prefix() -> None:
    assert shown([[1, 2], [3, 4]]) == "tensor([[1., 2.],\n        [3., 4.]])"
    assert shown([[1], [2]], prefix="Mine(") == "Mine([[1.],\n      [2.]])"


def test_suffixes_stand_in_pytorchs_order() -> None:
    assert shown(6.0, grad_fn_name="MulBackward0", requires_grad=True) == (
        "tensor(6., grad_fn=<MulBackward0>)"
    )
    assert shown([1], requires_grad=True) == "tensor([1.], requires_grad=True)"
    assert shown(
        [1], np.float64, dtype_suffix="torch.float64", device_suffix="cuda:0", requires_grad=True
    ) == "tensor([1.], device='cuda:0', dtype=torch.float64, requires_grad=True)"


def test_int64_and_bool_need_no_dtype_unless_empty() -> None:
    assert shown([1], np.int64, dtype_suffix="torch.int64") == "tensor([1])"
    assert shown([True], np.bool_, dtype_suffix="torch.bool") == "tensor([True])"
    assert shown([1], np.int32, dtype_suffix="torch.int32") == "tensor([1], dtype=torch.int32)"
    assert shown([], np.int64, dtype_suffix="torch.int64") == "tensor([], dtype=torch.int64)"


def test_empty_tensors_show_their_size() -> None:
    assert shown([]) == "tensor([])"
    assert shown(np.zeros((0, 3))) == "tensor([], size=(0, 3))"
    assert shown(np.zeros((2, 0)), np.float64, dtype_suffix="torch.float64") == (
        "tensor([], size=(2, 0), dtype=torch.float64)"
    )


def test_long_rows_wrap_and_the_suffix_takes_a_new_line() -> None:
    assert shown(np.arange(12) / 10, grad_fn_name="DivBackward0") == (
        "tensor([0.0000, 0.1000, 0.2000, 0.3000, 0.4000, 0.5000, 0.6000, 0.7000, 0.8000,\n"
        "        0.9000, 1.0000, 1.1000], grad_fn=<DivBackward0>)"
    )
    assert shown(np.arange(8) / 10, grad_fn_name="DivBackward0") == (
        "tensor([0.0000, 0.1000, 0.2000, 0.3000, 0.4000, 0.5000, 0.6000, 0.7000],\n"
        "       grad_fn=<DivBackward0>)"
    )


def test_more_than_a_thousand_elements_are_summarised() -> None:
    assert format_array(np.arange(1001)) == "[   0,    1,    2,  ...,  998,  999, 1000]"
    assert format_array(np.arange(1000)).count(",") == 999
    assert shown(np.zeros((7, 200))) == (
        "tensor([[0., 0., 0.,  ..., 0., 0., 0.],\n"
        "        [0., 0., 0.,  ..., 0., 0., 0.],\n"
        "        [0., 0., 0.,  ..., 0., 0., 0.],\n"
        "        ...,\n"
        "        [0., 0., 0.,  ..., 0., 0., 0.],\n"
        "        [0., 0., 0.,  ..., 0., 0., 0.],\n"
        "        [0., 0., 0.,  ..., 0., 0., 0.]])"
    )


def test_the_format_comes_from_the_shown_numbers_only() -> None:
    values = np.zeros(2000, dtype=np.float32)
    values[1000] = 0.123
    assert format_array(values) == "[0., 0., 0.,  ..., 0., 0., 0.]"


def test_options() -> None:
    set_printoptions(precision=2)
    assert shown([1.12345]) == "tensor([1.12])"
    set_printoptions(profile="full")
    assert format_array(np.arange(1001)).count(",") == 1000
    set_printoptions(profile="short", sci_mode=True)
    assert shown([1.5]) == "tensor([1.50e+00])"
    set_printoptions()
    assert get_printoptions() == {
        "precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80, "sci_mode": None,
    }


def test_the_array_is_left_alone() -> None:
    array = some_values((40, 40), np.float32)
    before = array.copy()
    format_array(array)
    assert (array == before).all()


# Against PyTorch


def agree(array: np.ndarray, **flags: Any) -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    tensor = torch.from_numpy(np.ascontiguousarray(array).reshape(array.shape))
    if flags.get("requires_grad"):
        tensor.requires_grad_()
    if flags.get("grad_fn_name"):
        tensor = tensor.requires_grad_().view(tensor.shape)
        flags["grad_fn_name"] = type(tensor.grad_fn).__name__
    name = None if tensor.dtype == torch.float32 else str(tensor.dtype)
    arguments = {"dtype_suffix": name, "grad_fn_name": None, "requires_grad": False} | flags
    assert format_tensor(array, **arguments) == repr(tensor)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_shapes_agree_with_torch(shape: tuple[int, ...], dtype: Any) -> None:
    agree(some_values(shape, dtype))
    if np.dtype(dtype).kind == "f":
        agree(some_values(shape, dtype), requires_grad=True)
        agree(np.round(some_values(shape, dtype)), grad_fn_name="ViewBackward0")
        agree(some_values(shape, dtype) * 1000, grad_fn_name="ViewBackward0")


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("values", SPECIAL, ids=str)
# infinity is among the values meant
@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
def test_special_values_agree_with_torch(values: list[float], dtype: Any) -> None:
    array = np.array(values).astype(dtype)
    agree(array)
    agree(array[0])
    agree(np.resize(array, (5, 3)), requires_grad=True)


@pytest.mark.parametrize("length", range(1, 40))
def test_every_suffix_position_agrees_with_torch(length: int) -> None:
    agree(some_values((length,), np.float32), grad_fn_name="ViewBackward0")
    agree(some_values((length,), np.float64), requires_grad=True)
    agree(some_values((2, length), np.float64), requires_grad=True)


@pytest.mark.parametrize(
    "settings",
    [
        {"precision": 2},
        {"precision": 0},
        {"threshold": 5},
        {"threshold": 5, "edgeitems": 1},
        {"threshold": 0, "edgeitems": 0},
        {"linewidth": 30},
        {"linewidth": 1},
        {"sci_mode": True},
        {"sci_mode": False},
        {"profile": "short"},
        {"profile": "full", "precision": 6},
        {"profile": "no such profile"},
    ],
    ids=str,
)
@pytest.mark.parametrize("shape", [(), (4,), (12,), (3, 4), (9, 9), (3, 9, 2), (0, 2)], ids=str)
def test_options_agree_with_torch(settings: dict[str, Any], shape: tuple[int, ...]) -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    try:
        torch.set_printoptions(**settings)
        set_printoptions(**settings)
        agree(some_values(shape, np.float32), requires_grad=True)
        agree(some_values(shape, np.float64) * 1e6)
        agree(np.round(some_values(shape, np.float32) * 10))
        agree(some_values(shape, np.int64))
    finally:
        torch.set_printoptions(profile="default")


def test_random_magnitudes_agree_with_torch() -> None:
    random = np.random.default_rng(1)
    for _ in range(300):
        spread = random.uniform(0, 6)
        values = random.normal(size=random.integers(1, 9)) * 10 ** random.uniform(-spread, spread)
        agree(np.round(values, int(random.integers(0, 6))).astype(np.float32))
        agree(values)


def test_non_contiguous_arrays_agree_with_torch() -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    array = some_values((20, 90), np.float32)
    assert format_tensor(
        array.T[::2], dtype_suffix=None, grad_fn_name=None, requires_grad=False
    ) == repr(torch.from_numpy(array.T[::2].copy()))
    assert printing.options == printing.PrintOptions()
