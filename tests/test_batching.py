"""Batching: an op on a batch gives what it gives for each example, forward and backward."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _samples import IDS, OPS, Sample, cotangents_of, each, outputs_of, samples, sloped

import minigrad as torch
from minigrad.apply import apply, bind
from minigrad.autograd import grad
from minigrad.batching import BatchedArray, next_level
from minigrad.tensor import Tensor, from_array

SIZE = 5  # no sample has a dimension of this size but where it must
DOCS = Path(__file__).resolve().parent.parent / "docs" / "en" / "batching.md"

every_op = pytest.mark.parametrize("op", OPS, ids=IDS)

#: A random draw has no equal; where the shape depends on values a batch has no shape.
RANDOM = {"Bernoulli", "BernoulliFill", "Dropout", "Exponential", "Normal", "NormalOf", "Random",
          "Uniform"}
RAGGED = {"Bincount", "MaskedSelect", "NonzeroMatrix", "Unique2", "UniqueConsecutive"}
deterministic = pytest.mark.parametrize(
    "op", [op for op in OPS if op.__name__ not in RANDOM | RAGGED],
    ids=[n for n in IDS if n not in RANDOM | RAGGED])


def rows_of(tensor: Tensor) -> list[Any]:
    """Return other arrays of the same kind, as valid for the op as the first one."""
    a = tensor._array
    if a.dtype.kind == "f":
        return [a * (1 - 0.02 * i) for i in range(SIZE)]
    if a.dtype.kind == "b":
        return [a, np.asarray(~a), a, a, np.asarray(~a)]
    mixed = np.roll(a.reshape(-1), 1).reshape(a.shape)
    return [a, mixed, a, mixed, mixed]


def with_batches(sample: Sample, chosen: set[int], wrap: Any) -> tuple[Sample, list[Sample]]:
    """Return the call with some tensors (by number) batched, and the calls of the examples."""
    rows: dict[int, list[Any]] = {}
    level, order = next_level(), itertools.count()

    def batched(tensor: Tensor) -> Any:
        number = next(order)
        if number not in chosen:
            return wrap(tensor._array)
        rows[number] = rows_of(tensor)
        value = wrap(np.stack(rows[number]))
        array = BatchedArray(value, level)
        return Tensor._plain(array) if isinstance(value, Tensor) else array

    call = sample.replaced(batched)

    def example(i: int) -> Sample:
        counted = itertools.count()
        return sample.replaced(lambda t: from_array(
            rows[n][i] if (n := next(counted)) in rows else t._array))

    return call, [example(i) for i in range(SIZE)]


def choices(sample: Sample) -> list[set[int]]:
    """Return which tensors to batch: each alone, and all."""
    count = len(sample.tensors())
    return [{i} for i in range(count)] + ([set(range(count))] if count > 1 else [])


def held(result: Any) -> list[Any]:
    """Return the arrays of all examples, one for each output."""
    found = []
    for output in [result] if isinstance(result, (Tensor, BatchedArray)) else list(result):
        array = output._array if isinstance(output, Tensor) else output
        assert type(array) is BatchedArray
        found.append(array.inner)
    return found


@deterministic
@pytest.mark.parametrize("wrap", [np.asarray, from_array], ids=["arrays", "tensors"])
@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_an_op_on_a_batch_equals_the_op_on_each_example(op: Any, wrap: Any) -> None:
    def check(sample: Sample) -> None:
        for chosen in choices(sample):
            call, examples = with_batches(sample, chosen, wrap)
            got = held(apply(op, bind(op, call.args, call.kwargs)))
            wanted = [outputs_of(e.run()) for e in examples]
            assert len(got) == len(wanted[0])
            for i, array in enumerate(got):
                expected = np.stack([row[i]._array for row in wanted])
                assert array.dtype == expected.dtype, (chosen, array.dtype, expected.dtype)
                assert array.shape == expected.shape, (chosen, array.shape, expected.shape)
                np.testing.assert_allclose(array, expected, 1e-12, 1e-12, err_msg=str(chosen))

    each(samples(op), check)


# -------------------------------------------------------------------- batched backward passes


def batched_cotangents(outputs: list[Tensor]) -> list[Tensor]:
    """Return random batches of gradients of the outputs, the same ones in every call."""
    rng = np.random.default_rng(7)
    return [from_array(np.asarray(rng.uniform(0.5, 1.5, (SIZE, *o.shape)), o._array.dtype))
            for o in outputs]


def differentiable_twice(sample: Sample) -> bool:
    outputs = sloped(sample.op, sample.run())
    return bool(outputs)


@pytest.mark.parametrize("op", [op for op in OPS if op.formulas],
                         ids=[op.__name__ for op in OPS if op.formulas])
@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_a_batched_backward_equals_the_loop(op: Any) -> None:
    def check(sample: Sample) -> None:
        outputs, leaves = sloped(op, sample.run()), sample.leaves()
        if not outputs or not leaves:
            return
        batches = batched_cotangents(outputs)
        got = grad(outputs, leaves, batches, retain_graph=True, allow_unused=True,
                   is_grads_batched=True)
        wanted = [grad(outputs, leaves, [b[i] for b in batches], retain_graph=True,
                       allow_unused=True) for i in range(SIZE)]
        compare(got, wanted)

    each(samples(op), check)


def compare(got: Any, wanted: Any, tolerance: float = 1e-12) -> None:
    """Assert that batched gradients are the rows of the loop."""
    for i, gradient in enumerate(got):
        column = [row[i] for row in wanted]
        if gradient is None:
            assert all(g is None for g in column)
            continue
        expected = np.stack([g._array for g in column])
        assert type(gradient) is Tensor and type(gradient._array) is np.ndarray
        assert gradient._array.dtype == expected.dtype
        assert gradient.shape == expected.shape
        np.testing.assert_allclose(gradient._array, expected, tolerance, tolerance)


@pytest.mark.parametrize("op", [op for op in OPS if op.formulas],
                         ids=[op.__name__ for op in OPS if op.formulas])
@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_a_batched_backward_can_be_differentiated(op: Any) -> None:
    def check(sample: Sample) -> None:
        outputs, leaves = sloped(op, sample.run()), sample.leaves()
        if not outputs or not leaves:
            return
        batches = [b.requires_grad_() for b in batched_cotangents(outputs)]
        got = grad(outputs, leaves, batches, create_graph=True, allow_unused=True,
                   is_grads_batched=True)
        rows = [grad(outputs, leaves, [b[i] for b in batches], create_graph=True,
                     allow_unused=True) for i in range(SIZE)]
        compare([g if g is None else g.detach() for g in got], rows)
        wanted = [None if g is None else torch.stack([row[i] for row in rows])
                  for i, g in enumerate(got)]
        compare_second(got, wanted, [*leaves, *batches])

    each(samples(op), check)


def compare_second(got: Any, wanted: Any, goals: list[Tensor]) -> None:
    """Assert that two ways to the same gradients have the same gradients."""
    live = [i for i, (a, b) in enumerate(zip(got, wanted))
            if a is not None and b.requires_grad and a.numel()]
    assert all(got[i].requires_grad for i in live)
    if not live:
        return
    weights = cotangents_of([wanted[i] for i in live])
    first = grad([got[i] for i in live], goals, weights, True, allow_unused=True)
    second = grad([wanted[i] for i in live], goals, weights, True, allow_unused=True)
    for a, b in zip(first, second):
        a, b = (np.zeros(1) if t is None else t._array for t in (a, b))
        np.testing.assert_allclose(a, np.broadcast_to(b, a.shape) if b.size == 1 else b,
                                   1e-9, 1e-10)
