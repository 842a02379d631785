"""Reductions, scans and sorting beyond the samples: ties, zeros, nan, empty input, errors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import minigrad as torch
from minigrad.autograd import grad
from tests.support.engines import on_each_engine

nan, inf = math.nan, math.inf


def slope(function: Any, values: Any) -> Any:
    """Return the gradient of the sum of `function` at `values`."""
    x = torch.tensor(values, dtype=torch.float64, requires_grad=True)
    return grad(function(x).sum(), x)[0].tolist()


@on_each_engine
@pytest.mark.parametrize("name", ["var_mean", "std_mean"])
def test_a_spread_and_the_mean_are_outputs_of_one_node(torch: Any, name: str) -> None:
    x = torch.tensor([[1.0, 2.0, 6.0], [0.0, 4.0, 5.0]], requires_grad=True)
    for arguments in ((), (1,), ((0, 1),), (0, False, True)):
        spread, mean = getattr(torch, name)(x, *arguments)
        alone = getattr(torch, name[:3])(x, *arguments)
        assert spread.grad_fn is mean.grad_fn and spread.grad_fn.next_functions[0][1] == 0
        assert spread.grad_fn.name() == name.title().replace("_", "") + "Backward0"
        assert (spread.output_nr, mean.output_nr) == (0, 1) and torch.equal(spread, alone)
        for result, reference in ((spread, alone), (mean, x.mean(arguments[0] if arguments else
                                                                 (0, 1), mean.dim() == 2)),
                                  (spread * mean, alone * mean.detach() + alone.detach() * mean)):
            if not arguments or arguments[0] != (0, 1):
                got, wanted = (torch.autograd.grad(y.sum(), x, retain_graph=True)[0]
                               for y in (result, reference))
                assert torch.allclose(got, wanted)


@on_each_engine
@pytest.mark.parametrize("name", ["var_mean", "std_mean", "var", "std"])
def test_the_warning_of_a_spread_without_freedom_names_its_function(torch: Any, name: str) -> None:
    with pytest.warns(UserWarning, match=rf"^{name}\(\): degrees of freedom is <= 0"):
        getattr(torch, name)(torch.ones(1))


@on_each_engine
@pytest.mark.parametrize("arguments", [(), (0,), (-1,)])
@pytest.mark.parametrize("value", [0.0, 2.0])
def test_the_product_of_one_element_has_a_constant_gradient(
        torch: Any, value: float, arguments: Any) -> None:
    x = torch.tensor([value], requires_grad=True)
    (g,) = torch.autograd.grad(x.prod(*arguments), x, torch.tensor(3.0), create_graph=True)
    assert g.tolist() == [3.0] and g.requires_grad is (value != 0)


def slope_of_slope(function: Any, values: Any) -> Any:
    """Return the gradient of the sum of the gradient."""
    x = torch.tensor(values, dtype=torch.float64, requires_grad=True)
    (first,) = grad(function(x).sum(), x, create_graph=True)
    return grad(first.sum(), x)[0].tolist()


@pytest.mark.parametrize(("name", "expected"), [("max", [3.0, 5.0]), ("min", [1.0, 2.0])])
def test_the_larger_or_smaller_of_two_tensors(name, expected):
    a, b = torch.tensor([1.0, 5.0], requires_grad=True), torch.tensor([3.0, 2.0])
    for result in (getattr(torch, name)(a, b), getattr(a, name)(b),
                   getattr(torch, name)(a, other=b)):
        assert result.tolist() == expected
        (gradient,) = grad(result.sum(), a)
        assert gradient.tolist() == [float(x in expected) for x in a.tolist()]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: x.max(), [0, 0.5, 0.5]),
        (lambda x: x.amax(), [0, 0.5, 0.5]),
        (lambda x: x.amax(0), [0, 0.5, 0.5]),
        (lambda x: x.aminmax().max, [0, 0.5, 0.5]),
        (lambda x: x.max(0).values, [0, 1, 0]),
        (lambda x: x.median(), [0, 0.5, 0.5]),
        (lambda x: x.norm(inf), [0, 0.5, 0.5]),
        (lambda x: x.mode().values, [0, 0, 1]),
        (lambda x: x.cummax(0).values, [1, 1, 1]),
    ],
)
def test_ties(function: Any, expected: list[float]) -> None:
    assert slope(function, [1, 3, 3]) == expected


def test_nan_is_the_maximum_and_takes_the_gradient() -> None:
    assert slope(lambda x: x.max(), [1, nan, nan]) == [0, 0.5, 0.5]
    assert slope(lambda x: x.nanmedian(), [1, nan, 2]) == [1, 0, 0]
    assert slope(lambda x: x.nansum(), [1, nan, 2]) == [1, 0, 1]


@pytest.mark.parametrize(
    ("values", "expected"),
    [([2, 3, 4], [12, 8, 6]), ([0, 3, 4], [12, 0, 0]), ([0, 3, 0], [0, 0, 0])],
)
def test_products_with_zeros(values: list[float], expected: list[float]) -> None:
    assert slope(lambda x: x.prod(), values) == expected
    assert slope(lambda x: x.prod(0), values) == expected


def test_second_derivatives_of_products_with_zeros() -> None:
    assert slope_of_slope(lambda x: x.prod(), [0, 2, 3]) == [5, 3, 2]
    assert slope(lambda x: x.cumprod(0), [2, 0, 3, 0]) == [1, 8, 0, 0]
    assert slope_of_slope(lambda x: x.cumprod(0), [2, 0, 3, 0]) == [4, 12, 2, 6]


def test_no_slope_where_nothing_varies() -> None:
    assert slope(lambda x: x.std(), [1, 1, 1]) == [0, 0, 0]
    for p in (2, 3, 1.5, 0.5, inf):
        assert slope(lambda x, p=p: x.norm(p), [0, 0]) == [0, 0]


def test_logcumsumexp_of_masked_and_large_elements() -> None:
    assert slope(lambda x: x.logcumsumexp(0), [-inf, 0, 1000])[0] == 0
    assert slope(lambda x: x.logcumsumexp(0)[2:], [0, 1000, 1000]) == pytest.approx([0, 0.5, 0.5])


def test_gradient_of_logcumsumexp_keeps_its_slope_where_it_is_zero() -> None:
    """The square's slope is zero at 0 and its second derivative is not."""
    x = torch.zeros(1, dtype=torch.float64, requires_grad=True)
    (first,) = grad(x.logcumsumexp(0).square().sum(), x, create_graph=True)
    assert first.tolist() == [0]
    assert grad(first.sum(), x)[0].tolist() == [2]


def test_integers_are_summed_as_int64() -> None:
    for dtype in (torch.bool, torch.uint8, torch.int32):
        x = torch.ones(3, dtype=dtype)
        for result in (x.sum(), x.sum(0), x.prod(), x.cumsum(0), x.cumprod(0), x.nansum()):
            assert result.dtype is torch.int64
    assert torch.ones(2, dtype=torch.int32).sum(dtype=torch.float64).dtype is torch.float64


@pytest.mark.parametrize(
    ("function", "error", "text"),
    [
        (lambda: torch.arange(3).mean(), RuntimeError,
         "mean(): could not infer output dtype. Input dtype must be either a floating point or "
         "complex dtype. Got: Long"),
        (lambda: torch.arange(3).std(), RuntimeError,
         "std and var only support floating point and complex dtypes"),
        (lambda: torch.ones(2, 3).sum(5), IndexError,
         "Dimension out of range (expected to be in range of [-2, 1], but got 5)"),
        (lambda: torch.ones(2, 3).sum((0, 0)), RuntimeError,
         "dim 0 appears multiple times in the list of dims"),
        (lambda: torch.zeros(0).max(), RuntimeError,
         "max(): Expected reduction dim to be specified for input.numel() == 0. Specify the "
         "reduction dim with the 'dim' argument."),
        (lambda: torch.zeros(0, 3).max(0), IndexError,
         "max(): Expected reduction dim 0 to have non-zero size."),
        (lambda: torch.zeros(0).argmax(), IndexError,
         "argmax(): Expected reduction dim to be specified for input.numel() == 0."),
        (lambda: torch.ones(3).kthvalue(4), RuntimeError,
         "kthvalue(): selected number k out of range for dimension 0"),
        (lambda: torch.ones(3).topk(4), RuntimeError, "selected index k out of range"),
        (lambda: torch.arange(3).softmax(0), NotImplementedError,
         "\"softmax_lastdim_kernel_impl\" not implemented for 'Long'"),
        (lambda: torch.tensor([1, -1]).bincount(), RuntimeError,
         "bincount only supports 1-d non-negative integral inputs."),
    ],
)
def test_errors(function: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        function()
    assert str(caught.value).splitlines()[0] == text


def test_empty_reductions() -> None:
    empty = torch.zeros(0, 3)
    assert empty.sum().item() == 0 and math.isnan(empty.mean().item())
    assert empty.prod(0).tolist() == [1, 1, 1]
    assert empty.all().item() is True and empty.any().item() is False
    assert empty.logsumexp(0).tolist() == [-inf] * 3


def test_var_without_degrees_of_freedom_warns() -> None:
    with pytest.warns(UserWarning, match="degrees of freedom is <= 0"):
        assert math.isnan(torch.ones(1).var().item())


def test_var_takes_unbiased_in_three_ways() -> None:
    x = torch.tensor([1.0, 3.0])
    assert x.var(False).item() == x.var(unbiased=False).item() == x.var(correction=0).item() == 1
    assert x.var(0, False).item() == 1 and x.var().item() == 2


def test_named_results_print_as_in_pytorch() -> None:
    result = torch.tensor([1.0, 3.0]).max(0)
    assert repr(result) == "torch.return_types.max(\nvalues=tensor(3.),\nindices=tensor(1))"


def test_sorting_is_stable_in_both_directions_and_nan_is_the_largest() -> None:
    x = torch.tensor([2.0, 1.0, 2.0, 1.0])
    assert x.sort().indices.tolist() == [1, 3, 0, 2]
    assert x.sort(descending=True).indices.tolist() == [0, 2, 1, 3]
    y = torch.tensor([2.0, nan, 1.0])
    assert y.argsort().tolist() == [2, 0, 1]
    assert y.argsort(descending=True).tolist() == [1, 0, 2]
    assert y.max(0).indices.item() == 1 and y.median(0).indices.item() == 1


def test_histc_counts_both_ends_and_nothing_outside() -> None:
    assert torch.tensor([-1.0, 0.0, 1.0, 3.0, 4.0]).histc(3, 0, 3).tolist() == [1, 1, 1]


def test_softmax_of_large_numbers() -> None:
    x = torch.tensor([1000.0, 0.0, -1000.0])
    assert x.softmax(0).tolist() == [1, 0, 0]
    assert x.log_softmax(0).tolist() == [0, -1000, -2000]


def test_half_precision_is_accumulated_in_single() -> None:
    x = torch.full((1000,), 300.0, dtype=torch.float16)
    assert x.mean().item() == 300 and x.var().item() == 0


def test_cumulative_trapezoid_ends_at_the_area() -> None:
    y, x = torch.tensor([1.0, 2.0, 4.0]), torch.tensor([0.0, 1.0, 3.0])
    assert torch.trapezoid(y, x).item() == 7.5
    assert torch.cumulative_trapezoid(y, x).tolist() == [1.5, 7.5]


def test_unique_gives_back_its_input() -> None:
    x = torch.tensor(np.array([[3, 1], [3, 2]]))
    values, inverse, counts = x.unique(return_inverse=True, return_counts=True)
    assert values[inverse].tolist() == x.tolist() and counts.tolist() == [1, 1, 2]


@pytest.mark.parametrize("none", [(), []])
def test_any_and_all_over_no_dimensions_ask_each_element(none: Any) -> None:
    x = torch.tensor([[0.0, 2.0], [3.0, 0.0]])
    for ask in (torch.Tensor.any, torch.Tensor.all):
        assert ask(x, dim=none).tolist() == [[False, True], [True, False]]
        assert ask(x, dim=none, keepdim=True).shape == (2, 2)


def test_no_differences_are_the_numbers_themselves() -> None:
    x = torch.tensor([1.0, 4.0], requires_grad=True)
    same = torch.diff(x, n=0, prepend=x)
    assert same.tolist() == [1, 4] and same is not x and same.requires_grad


def test_each_nan_differs_from_every_other() -> None:
    values, inverse, counts = torch.unique(torch.tensor([nan, 1.0, nan]), return_inverse=True,
                                           return_counts=True)
    assert values[0] == 1 and values.isnan().tolist() == [False, True, True]
    assert sorted(inverse.tolist()) == [0, 1, 2] and counts.tolist() == [1, 1, 1]
    for find in (torch.unique, torch.unique_consecutive):
        with pytest.raises(IndexError, match="Dimension out of range"):
            find(torch.ones(2, 2), dim=2)


def test_a_scan_of_nothing_has_gradients() -> None:
    x = torch.zeros(2, 0, requires_grad=True)
    assert grad(x.logcumsumexp(-1).sum(), x, create_graph=True)[0].shape == (2, 0)


@pytest.mark.parametrize("name", ["rtol", "atol"])
def test_tolerances_are_not_negative(name: str) -> None:
    for ask in (torch.isclose, torch.allclose):
        with pytest.raises(RuntimeError, match=f"{name} must be greater than or equal to zero"):
            ask(torch.ones(1), torch.ones(1), **{name: -0.4})


@on_each_engine
@pytest.mark.parametrize(("size", "expected"), [
    ((1, 3), [[5, 7, 9]]), ((3,), [5, 7, 9]), ((2, 1), [[6], [15]]), ((), 21), ((1, 1), [[21]]),
    ((2, 3), [[1, 2, 3], [4, 5, 6]]),
])
def test_sum_to_size(torch: Any, size: Any, expected: Any) -> None:
    x = torch.tensor([[1.0, 2, 3], [4, 5, 6]], requires_grad=True)
    summed = x.sum_to_size(size)
    assert summed.tolist() == x.sum_to_size(size=list(size)).tolist() == expected
    assert (summed is x) == (size == (2, 3))
    assert torch.autograd.grad(summed.sum(), x)[0].tolist() == [[1, 1, 1]] * 2
    assert torch.ones(2, 3, dtype=torch.bool).sum_to_size(1, 3).dtype is torch.int64


@on_each_engine
@pytest.mark.parametrize(("size", "error", "text"), [
    ((2,), RuntimeError, "size {[2]} is not expandable to size {[2, 3]}."),
    ((1, 1, 1), RuntimeError, "size {[1, 1, 1]} is not expandable to size {[2, 3]}."),
    ((), TypeError, 'sum_to_size() missing 1 required positional arguments: "size"'),
    ((1.5,), TypeError, "sum_to_size(): argument 'size' (position 1) must be tuple of ints, not "
                        "float"),
])
def test_what_sum_to_size_refuses(torch: Any, size: Any, error: Any, text: str) -> None:
    with pytest.raises(error) as caught:
        torch.ones(2, 3).sum_to_size(*size)
    assert str(caught.value) == text
