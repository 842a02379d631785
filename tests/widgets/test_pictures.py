"""The numbers of the small figures, each beside what minigrad or NumPy computes."""

from __future__ import annotations

import random

import numpy as np
import pytest

import minigrad as torch
from minigrad.tiny import slope

CURVES = {"square": lambda x: x * x, "cube": lambda x: x * x * x, "exp": lambda x: x.exp(),
          "wave": lambda x: x.sin().exp()}


@pytest.mark.parametrize("curve", CURVES)
def test_nudge_measures_what_python_measures(model, curve):
    rng = random.Random(9)
    for _ in range(50):
        x, power = round(rng.uniform(-2, 2), 2), rng.choice([-1, -3, -5, -6, -8, -11])
        shown = model("nudge", f=curve, x=x, h=power, rule="central")
        point = torch.tensor(x, dtype=torch.float64, requires_grad=True)
        CURVES[curve](point).backward()
        assert shown["exact"] == pytest.approx(point.grad.item(), rel=1e-12, abs=1e-12)
        by_hand = slope(lambda at: CURVES[curve](torch.tensor(at, dtype=torch.float64)).item(),
                        x, 10.0**power)
        noise = 1e-15 / 10.0**power  # the last digit of exp may differ between two libraries
        assert shown["now"]["slope"] == pytest.approx(by_hand, abs=30 * noise)


def test_the_least_errors_lie_where_the_theory_puts_them(model):
    """Near sqrt(eps) to one side and its cube root to both, of float64 and of float32."""
    for dtype, rule, low, high in [("float64", "forward", 1e-9, 1e-7),
                                   ("float64", "central", 1e-6, 1e-4),
                                   ("float32", "forward", 1e-5, 1e-2),
                                   ("float32", "central", 1e-3, 1e-1)]:
        found = [model("nudge", x=x, rule=rule, dtype=dtype)["least"]["h"]
                 for x in (0.3, 0.7, 1.0, 1.3)]
        assert low < np.exp(np.mean(np.log(found))) < high


def test_broadcast_reads_and_sums_as_minigrad_does(model):
    shapes = [(), (1,), (4,), (1, 1), (1, 4), (3, 1), (3, 4), (2, 4), (3, 2)]
    for a in shapes:
        for b in shapes:
            shown = model("broadcast", a=", ".join(map(str, a)), b=", ".join(map(str, b)))
            try:
                expected = np.broadcast_shapes(a, b)
            except ValueError:
                assert "do not fit" in shown["error"]
                continue
            assert tuple(shown["result"]) == expected
            leaves = [torch.ones(*shape, requires_grad=True) if shape else
                      torch.tensor(1.0, requires_grad=True) for shape in (a, b)]
            (leaves[0] + leaves[1]).sum().backward()
            numbers = [np.arange(max(1, int(np.prod(shape)))).reshape(shape) for shape in (a, b)]
            for which, leaf in enumerate(leaves):
                assert shown["counts"][which] == leaf.grad.flatten().tolist()
                read = np.broadcast_to(numbers[which], expected).ravel().tolist()
                assert [cells[which] for cells in shown["reads"]] == read


def test_broadcast_refuses_what_is_no_small_shape(model):
    for words in ("3, x", "5", "0", "1, 2, 3", "1.5"):
        assert "from 1 to 4" in model("broadcast", a=words)["error"]


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("padding", [0, 1])
def test_a_convolution_and_both_its_gradients(model, stride, padding):
    shown = model("convolution", stride=stride, padding=padding)
    grid = torch.tensor(shown["input"], dtype=torch.float64).reshape(1, 1, 5, 5).requires_grad_()
    kernel = torch.tensor(shown["weight"], dtype=torch.float64).reshape(1, 1, 3, 3)
    kernel.requires_grad_()
    result = torch.nn.functional.conv2d(grid, kernel, stride=stride, padding=padding)
    assert shown["output"] == result.flatten().tolist()
    result.sum().backward()
    assert shown["grad_input"] == grid.grad.flatten().tolist()
    assert shown["grad_weight"] == kernel.grad.flatten().tolist()
    if stride == 1 and padding == 0:
        assert shown["counts"] == np.outer([1, 2, 3, 2, 1], [1, 2, 3, 2, 1]).ravel().tolist()
