"""Lowering: NumPy calls in place of ops compute the same bits, and both halves share them."""

from __future__ import annotations

import random
import threading
from typing import Any

import numpy as np
import pytest

import minigrad as torch
from minigrad.aot.compiled import Compiled, CompiledFunction
from minigrad.aot.lowering.backend import sketching
from minigrad.aot.lowering.lower import calls_of, lower, stand_in
from minigrad.aot.lowering.sketch import Opaque, Sketch
from minigrad.aot.program import Step, Value
from minigrad.aot.trace.record import record
from minigrad.nn import functional as F

#: Expressions of {x} of any shape and of {y}, which may have any shape that broadcasts to it.
EXPRESSIONS = (
    "F.gelu({x})", "F.gelu({x}, approximate='tanh')", "F.layer_norm({x}, {x}.shape[-1:])",
    "F.softmax({x}, -1)", "F.log_softmax({x}, 0)", "F.relu({x}) * {y}", "{x}.sigmoid() + {y}",
    "{x}.tanh() / ({y} * {y} + 1)", "F.silu({x})", "F.elu({x})", "F.softplus({x})",
    "{x}.abs().sqrt()", "F.leaky_relu({x}, 0.1)", "F.hardtanh({x})", "{x}**2",
    "torch.where({x} > 0, {x}, {y})",
    "F.dropout({x}, 0.3)", "{x}.mean(-1, keepdim=True) * {y}", "{x} - {x}.sum(0)",
    "{x}.exp() * {y}", "F.mse_loss({x}, {y}.expand({x}.shape)) * {x}",
    "{x}.transpose(0, -1).contiguous().transpose(0, -1)",
    "{x} * s", "{x}.clamp(-0.5, 0.5)", "F.smooth_l1_loss({x}, {x} * 2, reduction='none')",
)
SHAPES = ((3, 4), (2, 3, 5), (17, 9), (1, 6), (4, 1), (0, 3), (2, 0), (64, 33), (5,))


def a_chain(seed: int) -> tuple[Any, list[Any]]:
    """Return a random function of two tensors and a captured one, and arguments for two calls."""
    rng, numbers = random.Random(seed), np.random.default_rng(seed)
    shape = rng.choice(SHAPES)
    dtype = rng.choice(["float32", "float32", "float64", "float16"])
    lines = [f"x = {rng.choice(EXPRESSIONS).format(x='x', y=rng.choice('xy'))}"
             for _ in range(rng.randint(1, 5))]
    source = "def f(x, y):\n" + "".join(f"    {line}\n" for line in [*lines, "return x"])
    names = {"torch": torch, "F": F, "s": torch.tensor(0.5)}
    exec(source, names)

    def new(*sizes: int) -> Any:
        return torch.from_numpy(numbers.normal(size=sizes).astype(dtype))

    def one() -> Any:
        form = rng.randrange(4) if shape == one.shape else 0
        if form == 1:
            return new(*shape[::-1]).permute(*range(len(shape))[::-1])
        return new(*shape[:-1], 2 * shape[-1])[..., ::2] if form == 2 else new(*shape)

    one.shape = shape
    small = tuple(n if rng.random() < 0.5 else 1 for n in shape)[rng.randrange(len(shape)):]
    state = rng.getstate()
    calls = []
    for _ in range(2):
        rng.setstate(state)  # the same layouts, with other values
        calls.append((one().requires_grad_(), new(*small).requires_grad_(seed % 2 == 0)))
    return source, [names["f"], calls]


def outcome(function: Any, arguments: Any) -> list[Any]:
    """Return the result and the gradients."""
    torch.manual_seed(0)
    for each in arguments:
        each.grad = None
    result = function(*arguments)
    weights = torch.linspace(-1, 1, max(result.numel(), 1)).to(result.dtype)
    (result * weights[:result.numel()].reshape(result.shape)).sum().backward()
    return [result.detach()._array, *(None if t.grad is None else t.grad._array for t in arguments)]


@pytest.mark.parametrize("seed", range(120))
def test_chains_of_ops_compute_the_same_bits(seed: int) -> None:
    source, (function, calls) = a_chain(seed)
    compiled = CompiledFunction(function, fullgraph=True)
    for arguments in calls:
        wanted = outcome(function, arguments)
        for one, other in zip(wanted, outcome(compiled, arguments), strict=True):
            if one is None or other is None:
                assert one is other or not np.any(one if other is None else other), source
                continue
            assert one.dtype == other.dtype and one.strides == other.strides, source
            np.testing.assert_array_equal(one, other, err_msg=source)
    assert compiled.count == 1


def names_of(steps: Any) -> list[str]:
    return [step.name for step in steps]


def test_both_halves_share_the_error_function_of_gelu() -> None:
    recorded = record(lambda x: F.gelu(x).sum(), (torch.randn(8, 9, requires_grad=True),))
    assert names_of(recorded.forward) == ["gelu_op", "sum"]
    lower(recorded)
    assert names_of([*recorded.forward, *recorded.backward]).count("erf") == 1
    compiled = Compiled(record(lambda x: F.gelu(x).sum(), (torch.randn(8, 9, requires_grad=True),)))
    assert "erf" not in names_of(compiled.recorded.backward)
    assert sum(v.nbytes for v in compiled.saved) <= 2 * 8 * 9 * 4  # x and one more


def test_a_forward_that_reads_values_keeps_its_step() -> None:
    x, y = torch.randn(3, 4, requires_grad=True), torch.tensor([0, 1, 3])
    recorded = record(lambda x: F.cross_entropy(x, y), (x,))
    lower(recorded)
    names = names_of(recorded.forward)
    assert "nll_loss" in names and "log_softmax" not in names
    assert names[:3] == ["max", "subtract", "exp"]


def value(*shape: int, dtype: str = "float32") -> Value:
    array = np.zeros(shape, dtype)
    return Value("x", array.shape, array.dtype, array.strides)


@pytest.mark.parametrize("forward", [
    lambda xp, x: x**2, lambda xp, x: x if x.sum() > 0 else -x, lambda xp, x: x * float(x.max()),
    lambda xp, x: x[0], lambda xp, x: [each for each in x], lambda xp, x: x, lambda xp, x: x.T + 1,
    lambda xp, x: x.__imul__(2), lambda xp, x: xp.sort(x), lambda xp, x: np.exp(x),
    lambda xp, x: xp.maximum(x, 0, out=x), lambda xp, x: x + 1 if xp.may_ask() else x,
    lambda xp, x: xp.zeros(3), lambda xp, x: [x + 1, x + 1][:1] * 2, lambda xp, x: xp.modf(x)[0],
    lambda xp, x: xp.multiply.reduce(x), lambda xp, x: x.reshape(4, 3),
    lambda xp, x: xp.matmul(x, x), lambda xp, x: [x + 1, x * 2],
    lambda xp, x: xp.einsum(x, [0, 1], x, [1, 0], [0]), lambda xp, x: xp.sum(x, dtype="float64"),
    lambda xp, x: x.astype("float64") * 2, lambda xp, x: x.copy() * 2,
])
def test_what_is_no_elementwise_call_keeps_its_step(forward: Any) -> None:
    operand, result = value(3, 4), value(3, 4)
    step = Step("op", forward, [operand], [result])
    assert calls_of(step) == [step]


def test_in_place_calls_become_new_values() -> None:
    def forward(xp: Any, x: Any) -> Any:
        centered = x - 1
        squares = xp.sum(centered * centered, (1,), keepdims=True)
        centered *= 2
        xp.exp(centered, out=centered)
        centered += squares
        return centered

    operand, result = value(3, 4), value(3, 4)
    steps = calls_of(Step("op", forward, [operand], [result]))
    assert names_of(steps) == ["subtract", "multiply", "sum", "multiply", "exp", "add"]
    assert steps[1].arguments == steps[0].outputs * 2 and steps[-1].outputs == [result]


def test_a_part_of_an_array_is_not_written_to() -> None:
    def forward(xp: Any, x: Any) -> Any:
        made = x * 2
        flat = made.reshape(12)
        flat += 1
        return made

    step = Step("op", forward, [value(3, 4)], [value(3, 4)])
    assert calls_of(step) == [step]


def test_a_sketch_has_a_layout_but_no_values() -> None:
    steps: list[Step] = []
    strided = Value("x", (3, 4), np.dtype("int16"), (2, 6))
    sketch = Sketch(stand_in(strided), steps, strided)
    assert (sketch.shape, sketch.ndim, sketch.dtype, sketch.strides) == ((3, 4), 2, "int16", (2, 6))
    assert sketch.size == 12 and sketch.nbytes == 24 and not sketch.flags.c_contiguous
    assert stand_in(value(0, 3)).shape == (0, 3) and not hasattr(sketch, "T")
    backwards = stand_in(Value("x", (3, 4), np.dtype("int16"), (-8, 2)))
    assert backwards.strides == (-8, 2) and backwards.tolist() == [[1] * 4] * 3
    with pytest.raises(Opaque, match="values are needed"):
        bool(sketch)
    assert sketching.place_of([sketch]) is None and sketching.exp(0.0) == 1
    assert (sketch + 1).value is steps[-1].outputs[0]


def test_a_result_may_be_written_to_if_eager_mode_does_not_save_it() -> None:
    def function(x: Any) -> Any:
        logs = F.log_softmax(x, 1)
        return logs[:, 0].sum(), logs.detach().exp()  # the derivative of the first needs the second

    x, found = torch.randn(4, 5, requires_grad=True), []
    for each in (function, CompiledFunction(function, fullgraph=True)):
        loss, chances = each(x)
        chances.mul_(3)
        found.append(torch.autograd.grad(loss, x)[0])
    assert found[0].equal(found[1])


def test_threads_and_nested_calls_share_no_memory() -> None:
    fast = CompiledFunction(lambda x: F.gelu(F.layer_norm(x, (50,))).sum(1), fullgraph=True)
    inputs = [torch.randn(40, 50) for _ in range(8)]
    wanted = [fast(x) for x in inputs]
    wrong: list[int] = []

    def work(number: int) -> None:
        for _ in range(20):
            if not fast(inputs[number]).equal(wanted[number]):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not wrong and fast.count == 1
