"""Functions of `nn.functional` for grids, sequences and pairs: values and gradients of PyTorch."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import minigrad

LENGTHS = [((6, 6, 6), (3, 2, 0), False), ((6, 5, 2), (1, 3, 2), True)]


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch", reason="parity needs PyTorch")


def results(package: Any, run: Any, *arrays: Any) -> list[Any]:
    """Return the result of a function of tensors, and the gradients of a weighted sum of it."""
    package.manual_seed(0)
    inputs = [package.from_numpy(array.copy()).requires_grad_() for array in arrays]
    result = run(package, *inputs)
    weights = np.random.default_rng(1).standard_normal(tuple(result.shape))
    total = (result * package.from_numpy(np.asarray(weights))).sum()
    return [result.detach().numpy(),
            *(g.numpy() for g in package.autograd.grad(total, inputs))]


def same(torch: Any, run: Any, *arrays: Any) -> None:
    for ours, theirs in zip(results(minigrad, run, *arrays), results(torch, run, *arrays),
                            strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize(("inputs", "targets", "zero"), LENGTHS)
@pytest.mark.parametrize("flat", [False, True])
def test_ctc_loss(torch: Any, reduction: str, inputs: Any, targets: Any, zero: bool,
                  flat: bool) -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(1, 5, sum(targets) if flat else (3, 3))

    def loss(package: Any, x: Any) -> Any:
        return package.nn.functional.ctc_loss(
            x.log_softmax(2), package.from_numpy(labels), inputs, targets, reduction=reduction,
            zero_infinity=zero)

    same(torch, loss, rng.standard_normal((6, 3, 5)))


def test_the_gradient_of_ctc_loss_is_pytorchs_own(torch: Any) -> None:
    # of the log probabilities themselves it is not the derivative, in PyTorch either
    def loss(package: Any, x: Any) -> Any:
        return package.nn.functional.ctc_loss(x, package.tensor([[1, 1, 2]]), (6,), (3,))

    same(torch, loss, np.random.default_rng(0).standard_normal((6, 1, 3)))


# PyTorch's own forward mode gives it
@pytest.mark.filterwarnings("ignore:.torch.jit.script:DeprecationWarning")
def test_ctc_loss_refuses_tangents_as_pytorchs_does(torch: Any) -> None:
    for package in (minigrad, torch):
        x = package.zeros(5, 1, 3).log_softmax(2)
        with pytest.raises(NotImplementedError, match=r"forward AD with _ctc_loss that does not"):
            package.func.jvp(lambda x, t=package: t.nn.functional.ctc_loss(
                x, t.tensor([[1]]), (5,), (1,)), (x,), (x,))


def test_ctc_loss_has_no_second_derivative_and_refuses_a_label_that_is_no_class() -> None:
    x = minigrad.randn(5, 1, 3, requires_grad=True)
    loss = minigrad.nn.functional.ctc_loss(x.log_softmax(2), minigrad.tensor([[1]]), (5,), (1,))
    first, = minigrad.autograd.grad(loss, x, create_graph=True)
    with pytest.raises(RuntimeError, match="_ctc_loss_backward is not implemented"):
        first.sum().backward()
    with pytest.raises(IndexError, match="Target 7 is out of bounds"):
        minigrad.nn.functional.ctc_loss(x, minigrad.tensor([[7]]), (5,), (1,))


GRIDS = [case for case in product(("bilinear", "nearest", "bicubic"),
                                  ("zeros", "border", "reflection"), (True, False), (2, 3))
         if case[0] != "bicubic" or case[3] == 2]


@pytest.mark.parametrize(("mode", "padding", "corners", "dims"), GRIDS)
def test_grid_sample(torch: Any, mode: str, padding: str, corners: bool, dims: int) -> None:
    rng = np.random.default_rng(0)
    image = rng.standard_normal((2, 3, *(4, 5, 3)[:dims]))
    grid = rng.uniform(-1.8, 1.8, (2, *(3, 2, 4)[:dims], dims))

    def sample(package: Any, x: Any, at: Any) -> Any:
        return package.nn.functional.grid_sample(x, at, mode, padding, corners)

    same(torch, sample, image, grid)


def test_grid_sample_has_second_derivatives() -> None:
    rng = np.random.default_rng(0)
    image = minigrad.from_numpy(rng.standard_normal((1, 1, 3, 3))).requires_grad_()
    grid = minigrad.from_numpy(rng.uniform(-0.9, 0.9, (1, 2, 2, 2))).requires_grad_()
    assert minigrad.autograd.gradgradcheck(
        lambda x, at: minigrad.nn.functional.grid_sample(x, at, "bicubic", align_corners=False),
        (image, grid))


@pytest.mark.filterwarnings("ignore:Since version 1.3.0")  # of a size of one, PyTorch's alone
@pytest.mark.parametrize("size", [(2, 3, 4, 5), (2, 1, 1, 3), (2, 2, 3, 1, 2)])
@pytest.mark.parametrize("corners", [True, False])
def test_affine_grid(torch: Any, size: tuple[int, ...], corners: bool) -> None:
    dims = len(size) - 2
    same(torch, lambda package, theta: package.nn.functional.affine_grid(theta, size, corners),
         np.random.default_rng(0).standard_normal((2, dims, dims + 1)))


@pytest.mark.parametrize("p", [0.5, 1.0, 2.0, 3.0, float("inf")])
def test_pdist(torch: Any, p: float) -> None:
    same(torch, lambda package, x: package.nn.functional.pdist(x, p),
         np.random.default_rng(0).standard_normal((5, 3)))


@pytest.mark.parametrize("source", [
    "F.grid_sample(x, torch.ones(1, 4, 5, 2))", "F.grid_sample(x, torch.ones(2, 4, 5, 1))",
    "F.grid_sample(x, torch.ones(2, 4, 5, 2), mode='x')",
    "F.grid_sample(x, torch.ones(2, 4, 5, 2), padding_mode='x')",
    "F.grid_sample(x, torch.ones(2, 4, 5, 2).double())",
    "F.grid_sample(x[:, :, :0], torch.ones(2, 4, 5, 2))",
    "F.grid_sample(torch.ones(2, 3, 4, 5, 6), torch.ones(2, 4, 5, 6, 3), mode='bicubic')",
    "F.affine_grid(torch.ones(2, 2, 3), (2, 3, 4))",
    "F.affine_grid(torch.ones(2, 3, 3), (2, 3, 4, 5))",
    "F.affine_grid(torch.ones(2, 2, 3).long(), (2, 3, 4, 5))",
    "F.affine_grid(torch.ones(1, 2, 3), (1, 3, 0, 5))",
    "F.pdist(x)", "F.pdist(x[0, 0], -1)", "F.pdist(torch.ones(3, 2).long())",
    "F.linear_cross_entropy(x, torch.ones(4, 3), x)",
    "F.linear_cross_entropy(torch.ones(2, 3), torch.ones(3), x)",
    "F.fractional_max_pool2d(x, 2)", "F.fractional_max_pool2d(x[0, 0], 2, output_size=3)",
])
@pytest.mark.filterwarnings("ignore:Default grid_sample")  # the errors are what is tested
def test_errors_are_those_of_pytorch(torch: Any, source: str) -> None:
    def fail(package: Any) -> Any:
        names = {"torch": package, "F": package.nn.functional, "x": package.ones(2, 3, 7, 8)}
        with pytest.raises(Exception) as raised:
            eval(source, names)
        return type(raised.value), str(raised.value)

    assert fail(minigrad) == fail(torch)


@pytest.mark.parametrize("name", ["upsample", "upsample_nearest", "upsample_bilinear"])
def test_older_names_of_interpolate_warn(torch: Any, name: str) -> None:
    with pytest.warns(UserWarning, match=f"nn.functional.{name}` is deprecated"):
        same(torch, lambda package, x: getattr(package.nn.functional, name)(x, scale_factor=2),
             np.ones((1, 2, 3, 2)))
