"""Stable formulas beside PyTorch's at zeros, ties, infinities, subnormal, vast and tiny numbers.

Values, gradients and second gradients, in both float dtypes.  Where the two differ on purpose, a
line of `KNOWN` says for which op, at which numbers, in which derivative, and why; a test fails
where such a line is no longer needed.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest

import minigrad
from tests.support.slow import slow_but

torch = pytest.importorskip("torch", reason="the numbers are compared with PyTorch's")

INF, NAN = math.inf, math.nan

POINTS = {
    "zeros": [0.0, 0.0, 0.0], "negative zeros": [-0.0, 0.0, -0.0], "ties": [1.0, 1.0, 1.0],
    "tied largest": [2.0, 2.0, -1.0], "infinite": [INF, 1.0, 2.0],
    "negative infinite": [-INF, 1.0, 2.0], "all negative infinite": [-INF] * 3,
    "all infinite": [INF] * 3, "both infinities": [INF, -INF, 0.0], "NaN": [NAN, 1.0, 2.0],
    "subnormal": [1e-310, -1e-310, 0.0], "tiny": [1e-160, -1e-170, 3e-200],
    "large": [1e3, -1e3, 7e2], "vast": [1e200, -1e180, 3e155], "one zero": [0.0, 2.0, 3.0],
    "two zeros": [0.0, 0.0, 3.0], "negative": [-1.0, -2.0, -3.0], "one number": [5.0],
}
ONLY_FLOAT64 = ("subnormal", "tiny", "vast")
NUMBERS = [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, INF, -INF, NAN, 1e-310, 1e200, -1e200, 1e-200]
PAIRS = list(itertools.product(NUMBERS, NUMBERS))

ONE = {
    "softmax": lambda t, x: t.softmax(x, 0),
    "log_softmax": lambda t, x: t.log_softmax(x, 0),
    "logsumexp": lambda t, x: t.logsumexp(x, 0),
    "logcumsumexp": lambda t, x: x.logcumsumexp(0),
    "softplus": lambda t, x: t.nn.functional.softplus(x),
    "softplus(3, 5)": lambda t, x: t.nn.functional.softplus(x, 3.0, 5.0),
    "logsigmoid": lambda t, x: t.nn.functional.logsigmoid(x),
    "std": lambda t, x: x.std(), "std(0)": lambda t, x: x.std(unbiased=False),
    "var": lambda t, x: x.var(), "var(0)": lambda t, x: x.var(unbiased=False),
    "prod": lambda t, x: x.prod(), "prod along": lambda t, x: x.prod(0),
    "cumprod": lambda t, x: x.cumprod(0), "cumsum": lambda t, x: x.cumsum(0),
    "normalize": lambda t, x: t.nn.functional.normalize(x, dim=0),
    "layer_norm": lambda t, x: t.nn.functional.layer_norm(x, (x.shape[0],)),
    "gelu": lambda t, x: t.nn.functional.gelu(x),
    "gelu(tanh)": lambda t, x: t.nn.functional.gelu(x, approximate="tanh"),
    "clamp": lambda t, x: x.clamp(0.0, 1.0), "amax": lambda t, x: x.amax(0),
    "max along": lambda t, x: x.max(0)[0],
    **{f"norm({p})": lambda t, x, p=p: x.norm(p=p) for p in (2, 1, 3, INF, -INF, 0, 0.5)},
    **{f"x ** {p}": lambda t, x, p=p: x**p for p in (0, 1, 2, 3, 0.5, -1, -2, -0.5, 2.5)},
    **{f"{b} ** x": lambda t, x, b=b: b**x for b in (0.0, 1.0, 2.0, -1.0, INF)},
    **{name: lambda t, x, name=name: getattr(t.nn.functional, name)(x) for name in (
        "silu", "elu", "relu", "hardtanh", "leaky_relu", "mish", "softsign", "tanhshrink")},
    **{name: lambda t, x, name=name: getattr(x, name)() for name in (
        "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "erf", "exp", "expm1", "log",
        "log1p", "log2", "max", "median", "min", "reciprocal", "rsqrt", "sigmoid", "sign", "sinh",
        "sqrt", "square", "tanh")},
}
TWO = {
    "x ** y": lambda t, x, y: x**y, "x / y": lambda t, x, y: x / y, "x * y": lambda t, x, y: x * y,
    "where": lambda t, x, y: t.where(x > y, x, y),
    **{name: lambda t, x, y, name=name: getattr(t, name)(x, y) for name in (
        "atan2", "fmod", "hypot", "logaddexp", "maximum", "minimum", "nextafter", "remainder",
        "xlogy")},
    **{name: lambda t, x, y, name=name: getattr(t.nn.functional, name)(x, y, reduction="none")
       for name in ("binary_cross_entropy_with_logits", "huber_loss", "kl_div", "l1_loss",
                    "smooth_l1_loss")},
}


@dataclass
class Known:
    """Where our numbers differ on purpose."""

    op: str
    why: str
    at: str | tuple[str, ...] = ()  # names of points; none: everywhere
    parts: tuple[str, ...] = ("second",)
    pairs: Callable[[float, float], bool] = lambda x, y: True  # for an op of two inputs
    used: bool = field(default=False, compare=False)

    def covers(self, op: str, at: str, part: str) -> bool:
        """Tell whether this line is about that."""
        points = (self.at,) if isinstance(self.at, str) else self.at
        return (self.op == op and (not points or at in points)
                and part.split()[0] in self.parts)


AT_ZERO = ("zeros", "negative zeros", "subnormal")
FLAT = "zero where a norm has no slope; PyTorch divides zero by zero"
FINITE = "PyTorch meets infinity minus infinity, or its like, where a limit exists"
KNOWN = [
    Known("norm(0.5)", FLAT, (*AT_ZERO, "one zero", "two zeros")),
    Known("norm(0.5)", FINITE, "both infinities", ("first",)),
    Known("norm(3)", "PyTorch's power overflows", "vast", ("first", "second")),
    Known("cumprod", FINITE, "both infinities", ("first", "second")),
    Known("gelu", "PyTorch's vectorised float32 has NaN at infinity", ("infinite", "all infinite",
                                                                  "both infinities"), ("value",)),
    Known("gelu", FINITE, "vast"),
    Known("mish", FINITE, ("large", "vast")),
    Known("layer_norm", "the variance overflows: our numbers are zero, PyTorch's NaN", "vast",
          ("value", "first", "second")),
    Known("logcumsumexp", FINITE, ("negative infinite", "all negative infinite", "infinite",
                                   "both infinities"), ("first", "second")),
    Known("logcumsumexp", "PyTorch's backward goes through the logarithm of the gradient, which "
                          "loses small parts of a sum", ("vast", "large"), ("first", "second")),
    Known("0.0 ** x", FINITE),
    Known("gelu(tanh)", "both are rounding errors of float32", "one number"),
    Known("logaddexp", FINITE, pairs=lambda x, y: not abs(x - y) < 700),
    Known("hypot", "the derivative of a quotient, rounded otherwise",
          pairs=lambda x, y: max(abs(x), abs(y)) > 1e100 or min(abs(x), abs(y)) < 1e-100),
    *(Known(op, "PyTorch's quotient overflows and it has NaN", parts=("value",),
            pairs=lambda x, y: 0 < abs(y) < 1e-100 and abs(x) >= 0.5)
      for op in ("fmod", "remainder")),
    *(Known(op, "of a distance that is no number the second derivative is not asked for there",
            pairs=lambda x, y: math.isnan(x - y)) for op in ("huber_loss", "smooth_l1_loss")),
]


def computed(engine, function, inputs, dtype) -> dict[str, np.ndarray | None]:
    """Return an op's value and its first and second gradients, by name."""
    def weights(like, low, high):
        return engine.tensor(np.linspace(low, high, like.numel()).reshape(tuple(like.shape)),
                             dtype=getattr(engine, dtype))

    def bare(tensor):
        if engine is torch:  # a gradient may be a promise of zeros there
            return None if tensor is None else tensor.detach().numpy(force=True)
        return None if tensor is None else tensor.detach().numpy()

    leaves = [engine.tensor(each, dtype=getattr(engine, dtype), requires_grad=True)
              for each in inputs]
    value = function(engine, *leaves)
    found = {"value": bare(value)}
    first = engine.autograd.grad(value, leaves, weights(value, 0.5, 1.5), create_graph=True,
                                 allow_unused=True)
    for i, slope in enumerate(first):
        found[f"first {i}"] = bare(slope)
        if slope is not None and slope.requires_grad:
            second = engine.autograd.grad(slope, leaves, weights(slope, 0.7, 1.3),
                                          allow_unused=True, retain_graph=True)
            found |= {f"second {i}{j}": bare(each) for j, each in enumerate(second)}
    return found


def agrees(ours, theirs, dtype) -> np.ndarray | bool:
    """Tell, element by element, whether two arrays agree; None is as good as zeros."""
    if ours is None or theirs is None:
        rest = theirs if ours is None else ours
        return rest is None or not np.any(rest)
    assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
    close, least = (1e-10, 1e-290) if dtype == "float64" else (2e-4, 1e-37)
    with np.errstate(all="ignore"):  # inf - inf is among what is compared
        size = np.maximum(np.abs(ours), np.abs(theirs))
        finite = np.where(np.isfinite(theirs), np.abs(theirs), 0)
        # what cancels to rounding errors is measured by the largest number around it
        around = min(1.0, finite.max(initial=0)) * close * (1e-3 if dtype == "float64" else 1e-2)
        error = np.abs(ours - theirs)
        return ((ours == theirs) | (np.isnan(ours) & np.isnan(theirs)) | (error <= close * size)
                | (size < least) | (error <= around) | (error < np.finfo(dtype).eps * 4))


def differences(name, function, at, inputs, dtype):
    """Return what differs and no line of KNOWN covers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # overflow is what is tried
        ours = computed(minigrad, function, inputs, dtype)
        theirs = computed(torch, function, inputs, dtype)
    left = []
    for part in sorted({*ours, *theirs}):
        good = agrees(ours.get(part), theirs.get(part), dtype)
        for line in KNOWN:
            if not np.all(good) and line.covers(name, at, part):
                known = [line.pairs(*each) for each in PAIRS] if at == "pairs" else True
                line.used |= bool(np.any(~np.asarray(good) & known))
                good = good | np.asarray(known)
        if not np.all(good):
            left.append(f"{part} at {at}: {ours.get(part)}, PyTorch {theirs.get(part)}")
    return left


@pytest.mark.parametrize("dtype", slow_but(1, ["float64", "float32"]))
@pytest.mark.parametrize("name", ONE)
def test_an_op_of_one_input(name, dtype):
    points = {at: x for at, x in POINTS.items() if dtype == "float64" or at not in ONLY_FLOAT64}
    assert [line for at, x in points.items()
            for line in differences(name, ONE[name], at, [x], dtype)] == []


@pytest.mark.parametrize("name", TWO)
def test_an_op_of_two_inputs(name):
    inputs = [[x for x, _ in PAIRS], [y for _, y in PAIRS]]
    assert differences(name, TWO[name], "pairs", inputs, "float64") == []


@pytest.mark.parametrize("line", KNOWN, ids=lambda line: f"{line.op} {line.at}")
def test_each_known_difference_is_still_one(line):
    points = (line.at,) if isinstance(line.at, str) else line.at or tuple(POINTS)
    line.used = False
    if line.op in TWO:
        test_an_op_of_two_inputs(line.op)
    for dtype in ("float64", "float32") if line.op in ONE else ():
        for at in points:
            if dtype == "float64" or at not in ONLY_FLOAT64:
                differences(line.op, ONE[line.op], at, [POINTS[at]], dtype)
    assert line.used


def test_half_numbers_are_computed_in_float32():
    x = minigrad.tensor([12.0, 15.0, 19.0, 21.0], dtype=minigrad.float16)
    assert minigrad.nn.functional.softplus(x).tolist() == x.tolist()
    assert minigrad.sinc(x).abs().max() < 1e-7
