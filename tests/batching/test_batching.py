"""Batching: an op on a batch gives what it gives for each example, forward and backward."""

from __future__ import annotations

import itertools
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as torch
from minigrad.autograd import grad
from minigrad.batching import RULES, BatchedArray, NotBatchable, next_level, without_rule
from minigrad.op.apply import apply
from minigrad.op.arguments import bind
from minigrad.op.declaration import REGISTRY
from minigrad.tensor.tensor import Tensor, from_array
from tests.support.samples import (
    IDS,
    OPS,
    Sample,
    cotangents_of,
    each,
    outputs_of,
    samples,
    with_formula,
)
from tests.support.slow import slow_but_one_in

DOCS = Path(__file__).resolve().parents[2] / "docs" / "en" / "batching.md"
SIZE = 5  # no sample has a dimension of this size but where it must

every_op = pytest.mark.parametrize("op", OPS, ids=IDS)

#: A random draw has no equal; where the shape depends on values a batch has no shape.
RANDOM = {"Bernoulli", "BernoulliFill", "Binomial", "Dropout", "Exponential", "Normal", "NormalOf",
          "Poisson", "Random", "SampleDirichlet", "StandardGamma", "Uniform"}
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
@pytest.mark.filterwarnings("ignore:There is a performance drop")  # the fallback is what is tested
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


@pytest.mark.parametrize("op", [op for op in OPS if op.formulas],
                         ids=[op.__name__ for op in OPS if op.formulas])
@pytest.mark.filterwarnings("ignore:There is a performance drop")  # the fallback is what is tested
def test_a_batched_backward_equals_the_loop(op: Any) -> None:
    def check(sample: Sample) -> None:
        outputs, leaves = with_formula(op, sample.run()), sample.leaves()
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


#: Ops with a first derivative; PyTorch has no second one of these.
ONCE = {"CtcLoss", "SampleDirichlet", "StandardGamma"}
TWICE = [op for op in OPS if op.formulas and op.__name__ not in ONCE]


@pytest.mark.parametrize("op", slow_but_one_in(3, TWICE), ids=[op.__name__ for op in TWICE])
@pytest.mark.filterwarnings("ignore:There is a performance drop")  # the fallback is what is tested
def test_a_batched_backward_can_be_differentiated(op: Any) -> None:
    def check(sample: Sample) -> None:
        outputs, leaves = with_formula(op, sample.run()), sample.leaves()
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


def rows_by_loop(output: Any, inputs: Any, batch: Any, **options: Any) -> Any:
    """Return the gradients for each row of a batch, one pass after the other."""
    return [grad(output, inputs, row, retain_graph=True, **options) for row in batch]


def batch_for(output: Any) -> Any:
    return batched_cotangents([output])[0]


def test_one_pass_runs_for_all_rows():
    passes = []

    class Counted(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            passes.append(tuple(g.shape))
            return 2 * g * ctx.saved_tensors[0]

    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    jacobian = torch.autograd.functional.jacobian(Counted.apply, x, vectorize=True)
    assert jacobian.tolist() == [[2.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 6.0]]
    assert passes == [(3,)]  # and the batch dimension does not show


@pytest.mark.parametrize("create_graph", [False, True])
def test_a_function_runs_for_each_row_and_says_so(create_graph):
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            assert g.sum().item() > -1e9  # it may look at values
            return g * 3 * x * x

    x = torch.tensor([1.0, -2.0], dtype=torch.float64, requires_grad=True)
    y = Cube.apply(x).sin()
    with pytest.warns(UserWarning, match="CubeBackward runs once for each row"):
        got = grad(y, x, batch_for(y), retain_graph=True, create_graph=create_graph,
                   is_grads_batched=True)
    compare([g.detach() for g in got], rows_by_loop(y, x, batch_for(y)))
    if create_graph:
        wanted = [torch.stack([r[0] for r in rows_by_loop(y, x, batch_for(y), create_graph=True)])]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the cycle that create_graph makes
            compare_second(got, wanted, [x])


def test_an_op_without_a_rule_warns_with_its_name():
    x = torch.tensor([[1.0, 2.0]], dtype=torch.float64, requires_grad=True)
    y = torch.block_diag(x, x * x).as_strided((2, 2), (1, 2))
    with pytest.warns(UserWarning) as found:
        got = grad(y, x, batch_for(y), is_grads_batched=True, retain_graph=True)
    assert any("batching rule for aten::restride:" in str(w.message) for w in found)
    compare(got, rows_by_loop(y, x, batch_for(y)))


def test_a_formula_that_looks_at_values_runs_for_each_row(monkeypatch):
    op = REGISTRY["Sin"]
    formula, names = op.formulas["self"]

    def curious(g, x):
        array = g._array if isinstance(g, Tensor) else g
        array.max()
        return formula(g, x)

    monkeypatch.setitem(op.formulas, "self", (curious, names))
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    y = x.sin() * 2
    for create_graph in (False, True):
        with pytest.warns(UserWarning, match="aten::sin"):
            got = grad(y, x, batch_for(y), create_graph=create_graph, retain_graph=True,
                       is_grads_batched=True)
        compare([g.detach() for g in got], rows_by_loop(y, x, batch_for(y)))


def test_hooks_see_one_example_of_a_batch():
    seen = []
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    middle = x * x
    middle.register_hook(lambda g: seen.append(tuple(g.shape)) or g * 3)
    y = middle.exp()
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] + outputs[0],))
    got = grad(y, x, batch_for(y), retain_graph=True, is_grads_batched=True)
    assert seen == [(2,)]
    compare(got, rows_by_loop(y, x, batch_for(y)))


@pytest.mark.parametrize("create_graph", [False, True])
def test_writes_to_views(create_graph):
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64, requires_grad=True)
    y = x * x
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the cycle that create_graph makes
        y[0].mul_(x[1])
        z = y.sin()
        got = grad(z, x, batch_for(z), create_graph=create_graph, retain_graph=True,
                   is_grads_batched=True)
    compare([g.detach() for g in got], rows_by_loop(z, x, batch_for(z)))


def test_several_outputs_some_without_a_gradient():
    x = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)
    w = torch.ones(2, dtype=torch.float64, requires_grad=True)
    a, b = x * 2, (x * x).sum()
    batch = batch_for(a)
    rows = batch_for(b)
    got = grad((a, b), (x, w), (batch, rows), retain_graph=True, allow_unused=True,
               is_grads_batched=True)
    wanted = [grad((a, b), x, (u, v), retain_graph=True)[0] for u, v in zip(batch, rows)]
    compare(got[:1], [[g] for g in wanted])
    assert got[1] is None
    zeros = grad(a, (x, w), batch, retain_graph=True, is_grads_batched=True,
                 materialize_grads=True)[1]
    assert zeros.tolist() == [0.0, 0.0]
    with pytest.raises(RuntimeError, match="appears to not have been used"):
        grad(a, (x, w), batch, is_grads_batched=True)


def test_a_batched_pass_frees_the_graph():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp()
    grad(y, x, torch.ones(3, 2), is_grads_batched=True)
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        grad(y, x, torch.ones(3, 2), is_grads_batched=True)


def test_a_write_since_is_noticed():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp()
    z = y * y
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        grad(z, x, torch.ones(3, 2), is_grads_batched=True)


@pytest.mark.parametrize(("batch", "error"), [
    (torch.ones(4, 2), RuntimeError), (torch.ones(()), RuntimeError), (torch.ones(3), RuntimeError),
], ids=["example", "no batch", "one example"])
def test_gradients_of_a_wrong_shape(batch, error):
    x = torch.ones(3, requires_grad=True)
    with pytest.raises(error, match="we interpret the first dimension of each grad_output"):
        grad(x * 2, x, batch, is_grads_batched=True)


def test_batches_of_different_sizes():
    x = torch.ones(3, requires_grad=True)
    with pytest.raises(ValueError, match=r"got sizes \[4, 5\] for the mapped dimension"):
        grad((x * 2, x * 3), x, (torch.ones(4, 3), torch.ones(5, 3)), is_grads_batched=True)


def test_a_batch_has_no_one_value():
    array = BatchedArray(np.ones((3, 2)), next_level())
    for look in (np.asarray, np.sum, float, bool, list, lambda a: a[0], lambda a: a == 1,
                 lambda a: a.max(), lambda a: a.item()):
        with pytest.raises((NotBatchable, TypeError)):
            look(array)
    with pytest.raises(TypeError):
        array += array


def test_a_write_in_place_keeps_what_its_gradient_needs():
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    torch.vmap(lambda row: row.clone().mul_(row))(x).sum().backward()
    assert x.grad.tolist() == [[2, 4], [6, 8]]


def test_a_product_with_a_zero_has_its_gradient_in_a_batch():
    # its backward formula runs cumprod, which takes one dimension as one number
    x = torch.tensor([[[1.0, 0.0, 3.0]], [[2.0, 5.0, 3.0]]])
    for dim in (1, -1):
        found = torch.func.vmap(torch.func.grad(lambda row, dim=dim: row.prod(dim).sum()))(x)
        assert found.tolist() == [[[0, 3, 0]], [[15, 6, 10]]]


# -------------------------------------------------------------------- the documentation


def test_the_page_lists_the_ops_without_a_rule():
    text = DOCS.read_text(encoding="utf-8")
    listed = text.partition("<!-- ops without a batching rule -->")[2].partition("<!-- end -->")[0]
    wanted = {f"`{REGISTRY[name].name}` ({name})" for name in without_rule()}
    assert set(re.findall(r"`\w+` \(\w+\)", listed)) == wanted
    assert set(RULES) <= set(REGISTRY)
