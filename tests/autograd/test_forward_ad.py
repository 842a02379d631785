"""Forward mode: the tangents of every op, and of programs with views, writes and Functions."""

from __future__ import annotations

import gc
import threading
import warnings
import weakref
from typing import Any

import numpy as np
import pytest

from minigrad.autograd.forward_ad.tangents import TangentLevel
from minigrad.batching import batched, examples, next_level
from minigrad.tensor.tensor import from_array
from tests import _oracle
from tests.support.engines import forward_ad, leaf, on_each_engine
from tests.support.samples import (
    IDS,
    OPS,
    Sample,
    cotangents_of,
    each,
    flat,
    outputs_of,
    samples,
    with_formula,
)
from tests.support.slow import slow_but_one_in

#: PyTorch warns of itself when it first makes a dual tensor.
# PyTorch's own forward mode gives it
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script:DeprecationWarning")

#: Those that refuse tangents, as PyTorch's do.
NO_FORWARD_MODE = {"CtcLoss", "Geqrf"}
DIFFERENTIABLE = [op for op in OPS if op.formulas and op.__name__ not in NO_FORWARD_MODE]
every_op = pytest.mark.parametrize(
    "op", DIFFERENTIABLE, ids=[op.__name__ for op in DIFFERENTIABLE])

#: Where the slope is by design not what differences of the function say, and for which samples.
NOT_THE_SLOPE = {
    "NormalOf": lambda *_: True,  # a random draw has no derivative
    "Binomial": lambda *_: True,
    "StandardGamma": lambda *_: True,  # or that of implicit reparametrisation
    "SampleDirichlet": lambda *_: True,
    "ToCopy": lambda _, dtype, *rest: "32" in str(dtype),  # rounded too much for differences
}
#: Where PyTorch's backward leaves out a part that its forward mode has.
NOT_THE_TRANSPOSE = {"Embedding"}


# -------------------------------------------------------------------- every op


def directions_of(sample: Sample) -> list[Any]:
    rng = np.random.default_rng(11)
    return [rng.uniform(-1, 1, t.shape) for t in sample.leaves()]


def tangents_of(sample: Sample, directions: list[Any]) -> list[Any]:
    """Return the tangents of the outputs whose gradient some formula takes, as arrays."""
    with TangentLevel() as level:
        for tensor, direction in zip(sample.leaves(), directions, strict=True):
            level.hold(tensor, from_array(np.asarray(direction, tensor._array.dtype)))
        outputs = sample.run()
        for output in outputs_of(outputs):
            tangent = level.tangent(output)
            assert tangent is None or (tangent.dtype, tangent.shape) == (
                output.dtype, output.shape)
        return [level.tangent(o)._array for o in with_formula(sample.op, outputs)]


def test_there_are_ops():
    assert len(DIFFERENTIABLE) > 150 and len(OPS) == len(IDS)


@every_op
def test_tangent_is_the_slope(op):
    """The tangent of the outputs is the difference quotient along the inputs' tangents."""

    def check(sample: Sample) -> Any:
        exempt = NOT_THE_SLOPE.get(op.__name__, lambda *_: False)(*sample.args)
        if exempt or not sample.leaves() or not with_formula(op, sample.run()):
            return False
        directions = directions_of(sample)
        found = np.concatenate([t.reshape(-1) for t in tangents_of(sample, directions)])
        around = []
        for eps in (1e-6, -1e-6):
            moved = [t._array + eps * d for t, d in zip(sample.leaves(), directions)]
            around.append(flat(with_formula(op, sample.with_leaves(moved).run())))
        if not np.isfinite(around).all():  # the mean of no elements has no slope
            return False
        expected = (around[0] - around[1]) / 2e-6
        scale = 1 + np.abs(expected).max() if expected.size else 1
        _oracle.assert_close(found, expected, 1e-5, 1e-6 * scale, "tangent")
        return True

    assert each(samples(op), check) or op.__name__ in NOT_THE_SLOPE


@every_op
def test_tangent_and_gradient_are_transposes(op):
    """<v, J t> is <J^T v, t>."""

    def check(sample: Sample) -> None:
        outputs = with_formula(op, sample.run())
        if op.__name__ in NOT_THE_TRANSPOSE or not sample.leaves() or not outputs:
            return
        if not np.isfinite(flat(outputs)).all():  # the mean of no elements
            return
        directions, vs = directions_of(sample), cotangents_of(outputs)
        forward = sum(float((t * v._array).sum())
                      for t, v in zip(tangents_of(sample, directions), vs, strict=True))
        backward = sum(float((g._array * d).sum())
                       for g, d in zip(sample.gradients(vs), directions) if g is not None)
        assert forward == pytest.approx(backward, rel=1e-6, abs=1e-7)

    each(samples(op), check)


DECLARED = [op for op in DIFFERENTIABLE if op.jvp is not None or op.view]


@pytest.mark.parametrize("op", DECLARED, ids=[op.__name__ for op in DECLARED])
def test_declared_rules_agree_with_the_derived_one(op, monkeypatch):
    """What an op declares is only faster than the rule that follows from its formulas."""

    def check(sample: Sample) -> None:
        if op.__name__ in NOT_THE_TRANSPOSE or not sample.leaves():
            return
        directions = directions_of(sample)
        declared = [t.copy() for t in tangents_of(sample, directions)]
        with monkeypatch.context() as patch:
            patch.setattr(op, "jvp", None)
            patch.setattr(op, "view", False)
            derived = tangents_of(sample, directions)
        for one, other in zip(declared, derived, strict=True):
            _oracle.assert_close(one, other, 1e-6, 1e-12)

    each(samples(op), check)


@every_op
def test_in_place_tangent(op):
    """In place, the tangent is that of the op out of place, in the same memory as before."""

    def check(sample: Sample) -> None:
        target = sample.args[0]
        result = sample.run()
        if result.shape != target.shape or result.dtype != target.dtype:
            return
        if op.inplace_shape is not None and not target.shape:
            return  # addmv of nothing, which has a rule of its own in place
        (expected,) = tangents_of(sample, directions_of(sample))
        with TangentLevel() as level:
            plain = sample.with_arrays(np.array)
            duals = [from_array(np.array(d)) for d in directions_of(sample)]
            for tensor, tangent in zip(plain.leaves(), duals, strict=True):
                level.hold(tensor.requires_grad_(False), tangent)
            getattr(plain.args[0], op.name + "_")(*plain.args[1:], **plain.kwargs)
            found = level.tangent(plain.args[0])
            if not op.view:
                assert found is duals[0]
            _oracle.assert_close(found._array, expected, 1e-6, 1e-12)

    if op.inplace and op.public and op.method:
        each([s for s in samples(op) if s.leaves() and s.args[0].requires_grad], check)


@pytest.mark.parametrize("op", slow_but_one_in(3, DIFFERENTIABLE),
                         ids=[op.__name__ for op in DIFFERENTIABLE])
def test_a_batch_of_tangents(op):
    """A batch goes through an op as its rows do one by one, if need be with a warning."""

    def check(sample: Sample) -> None:
        if not sample.leaves() or not with_formula(op, sample.run()):
            return
        rows = [[np.cos(i + d) for d in directions_of(sample)] for i in range(3)]
        expected = [np.stack(outputs) for outputs in zip(
            *([t.copy() for t in tangents_of(sample, row)] for row in rows), strict=True)]
        batch = next_level()
        with TangentLevel() as level, warnings.catch_warnings():
            # batches go row by row here
            warnings.filterwarnings("ignore", "There is a performance drop")
            for tensor, stacked in zip(sample.leaves(), zip(*rows), strict=True):
                stack = np.stack(stacked).astype(tensor._array.dtype)
                level.hold(tensor, batched(from_array(stack), batch))
            found = [examples(level.tangent(o), batch) for o in with_formula(op, sample.run())]
        for one, other in zip(found, expected, strict=True):
            _oracle.assert_close(one._array, other, 1e-6, 1e-12)

    each(samples(op), check)


def test_rules_leave_unnamed_outputs_without_tangent():
    from minigrad import float64, nn, tensor

    x = tensor([[1.0, 2.0, 4.0]], dtype=float64)
    with TangentLevel() as level:
        level.hold(x, x * x)
        y = nn.functional.layer_norm(x, [3])
        assert level.tangent(y) is not None
        assert level.tangent(x.max(1).indices) is None


# -------------------------------------------------------------------- the functions, on each engine


def doubles(torch: Any, *values: float) -> Any:
    return torch.tensor(values, dtype=torch.float64)


@on_each_engine
def test_make_and_unpack(torch):
    fw = forward_ad(torch)
    x, t = doubles(torch, 1.0, 2.0), doubles(torch, 3.0, 4.0)
    with fw.dual_level() as level:
        assert level == 0
        dual = fw.make_dual(x, t)
        assert dual is not x and dual._base is x
        primal, tangent = fw.unpack_dual(dual)
        assert primal.tolist() == [1.0, 2.0] and tangent is t
        assert fw.unpack_dual(primal).tangent is None
        assert fw.unpack_dual(primal[:1]).tangent is None
        assert fw.unpack_dual(x).tangent is None
        assert fw.unpack_dual(dual * dual).tangent.tolist() == [6.0, 16.0]
        assert fw.unpack_dual(dual.detach()).tangent is None
        assert fw.unpack_dual(dual.data).tangent is None
        assert fw.unpack_dual(dual > 1).tangent is None
        assert fw.unpack_dual(dual * 0).tangent.tolist() == [0.0, 0.0]
        assert type(fw.unpack_dual(dual)).__name__ == "UnpackedDualTensor"
    assert fw.unpack_dual(dual).tangent is None
    assert fw.unpack_dual(dual).primal is dual


@on_each_engine
def test_repr_shows_the_tangent(torch):
    fw = forward_ad(torch)
    with fw.dual_level():
        dual = fw.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([0.5, 1.0]))
        assert repr(dual) == "tensor([1., 2.], tangent=tensor([0.5000, 1.0000]))"
    assert repr(dual) == "tensor([1., 2.])"


@on_each_engine
def test_errors(torch):
    fw = forward_ad(torch)
    x, whole = torch.ones(3), torch.tensor([1, 2])

    def fails(kind, message, call, *args, **kwargs):
        with pytest.raises(kind) as caught:
            call(*args, **kwargs)
        assert str(caught.value) == message

    no_level = ("Trying to create a dual Tensor for forward AD but no level exists, make sure to "
                "enter_dual_level() first.")
    fails(RuntimeError, no_level, fw.make_dual, x, x)
    fails(RuntimeError, "Dual level must be a positive number.", fw.exit_dual_level)
    fails(RuntimeError, "Trying to access a forward AD level with an invalid index. This index was "
          "either not created or is already deleted.", fw.make_dual, x, x, level=0)
    not_last = ("Trying to exit a forward AD level that was not the last one that was created. "
                "This is not supported.")
    fails(RuntimeError, not_last, fw.exit_dual_level, level=2)
    with fw.dual_level():
        fails(RuntimeError, "Nested forward mode AD is not supported at the moment",
              fw.enter_dual_level)
        fails(RuntimeError, not_last, fw.exit_dual_level, level=1)
        kinds = "Expected {} to be floating point or complex, but got: torch.int64"
        fails(ValueError, kinds.format("primal"), fw.make_dual, whole, whole)
        fails(ValueError, kinds.format("tangent"), fw.make_dual, torch.ones(2), whole)
        fails(RuntimeError, "Trying to set a forward gradient that has a different size than that "
              "of the original Tensor, this is not supported. Tensor is of size [3] while the "
              "given forward gradient is of size [2].", fw.make_dual, x, torch.ones(2))
        dual = fw.make_dual(x, x)
        fails(RuntimeError, "Making a dual Tensor based on a Tensor that already has a forward "
              "gradient at the same level 0 is not supported.", fw.make_dual, dual, x)
        fails(RuntimeError, "Setting a forward grad that itself has a forward gradient at the same "
              "level0 is not supported.", fw.make_dual, x, dual)
        with pytest.raises(TypeError, match=r"argument 'dual' \(position 1\) must be Tensor"):
            fw.unpack_dual(1.0)
    fails(RuntimeError, no_level, fw.make_dual, x, x)


@on_each_engine
def test_the_level_ends_with_an_error_and_decorates(torch):
    fw = forward_ad(torch)
    with pytest.raises(KeyError), fw.dual_level():
        raise KeyError

    @fw.dual_level()
    def slope(x):
        return fw.unpack_dual(fw.make_dual(x, torch.ones_like(x)).exp()).tangent

    assert slope(torch.zeros(2)).tolist() == [1.0, 1.0]
    assert fw.enter_dual_level() == 0
    fw.exit_dual_level()


@on_each_engine
def test_tangents_are_dropped_with_the_level(torch):
    fw = forward_ad(torch)
    with fw.dual_level():
        dual = fw.make_dual(torch.ones(2), torch.ones(2))
        result = dual * 2
        held = weakref.ref(fw.unpack_dual(result).tangent)
        assert held() is not None
    gc.collect()
    assert held() is None
    with fw.dual_level():
        assert fw.unpack_dual(result).tangent is None


def test_tangents_die_with_their_tensors():
    """Nothing but the level holds them, and not longer than the tensor lives."""
    import minigrad as torch

    with TangentLevel() as level:
        x = torch.ones(2)
        level.hold(x, torch.ones(2))
        for _ in range(5):
            x = x * 2
        assert len(level._held) == 1


@on_each_engine
def test_grad_modes(torch):
    fw = forward_ad(torch)
    x = leaf(torch, [1.0, 2.0])
    with fw.dual_level():
        dual = fw.make_dual(x, torch.ones(2))
        with torch.no_grad():
            y = dual * dual
        assert not y.requires_grad and fw.unpack_dual(y).tangent.tolist() == [2.0, 4.0]
        with torch.inference_mode():
            assert fw.unpack_dual(dual * dual).tangent is None


@on_each_engine
def test_dtypes_and_broadcasting(torch):
    fw = forward_ad(torch)
    with fw.dual_level():
        dual = fw.make_dual(torch.ones(2), torch.tensor([1.0, 2.0]))
        wide = dual.double() * doubles(torch, 2.0, 3.0).reshape(2, 1)
        tangent = fw.unpack_dual(wide).tangent
        assert tangent.dtype == torch.float64 and tangent.tolist() == [[2.0, 4.0], [3.0, 6.0]]
        mixed = fw.unpack_dual(dual + doubles(torch, 1.0).reshape(1, 1)).tangent
        assert mixed.dtype == torch.float64 and mixed.shape == (1, 2)


@on_each_engine
def test_several_outputs_and_lists(torch):
    fw = forward_ad(torch)
    x, t = doubles(torch, 3.0, 1.0, 2.0), doubles(torch, 10.0, 20.0, 30.0)
    with fw.dual_level():
        dual = fw.make_dual(x, t)
        values, indices = dual.sort()
        assert fw.unpack_dual(values).tangent.tolist() == [20.0, 30.0, 10.0]
        assert fw.unpack_dual(indices).tangent is None
        joined = torch.cat([x, dual[1:], dual * 2])
        assert fw.unpack_dual(joined).tangent.tolist() == [
            0.0, 0.0, 0.0, 20.0, 30.0, 20.0, 40.0, 60.0]
        assert [fw.unpack_dual(p).tangent.tolist() for p in dual.split(2)] == [[10.0, 20.0], [30.0]]


# -------------------------------------------------------------------- views and writes


@on_each_engine
def test_a_view_of_a_dual_has_the_view_of_the_tangent(torch):
    fw = forward_ad(torch)
    t = torch.arange(6.0).view(2, 3)
    with fw.dual_level():
        dual = fw.make_dual(torch.ones(2, 3), t)
        part = dual.t()[1:]
        tangent = fw.unpack_dual(part).tangent
        assert tangent.tolist() == [[1.0, 4.0], [2.0, 5.0]]
        assert tangent.stride() == part.stride()
        t[0, 1] = 100
        assert fw.unpack_dual(part).tangent[0, 0] == 100


@on_each_engine
def test_in_place_on_a_dual(torch):
    fw = forward_ad(torch)
    with fw.dual_level():
        t = torch.tensor([1.0, 2.0])
        dual = fw.make_dual(torch.tensor([3.0, 4.0]), t)
        before = dual[1:]
        dual.mul_(10)
        assert fw.unpack_dual(dual).tangent is t and t.tolist() == [10.0, 20.0]
        assert fw.unpack_dual(before).tangent.tolist() == [20.0]
        dual[0] = 5
        assert t.tolist() == [0.0, 20.0]
        dual.zero_()
        assert t.tolist() == [0.0, 0.0]
        result = dual + 1
        result.mul_(7)
        assert fw.unpack_dual(dual).tangent is not fw.unpack_dual(result).tangent


@on_each_engine
def test_a_write_gives_a_plain_tensor_a_tangent(torch):
    fw = forward_ad(torch)
    with fw.dual_level():
        dual = fw.make_dual(torch.tensor([3.0, 4.0]), torch.tensor([1.0, 2.0]))
        base = torch.zeros(3)
        view = base[1:]
        base[:2] = dual
        assert fw.unpack_dual(base).tangent.tolist() == [1.0, 2.0, 0.0]
        assert fw.unpack_dual(view).tangent.tolist() == [2.0, 0.0]
        other = torch.ones(2, 3)
        row, turned = other[1], other.t()
        turned[1:, 1].mul_(dual)
        assert fw.unpack_dual(other).tangent.tolist() == [[0.0, 0.0, 0.0], [0.0, 1.0, 2.0]]
        assert fw.unpack_dual(row).tangent.tolist() == [0.0, 1.0, 2.0]
        row += row
        assert fw.unpack_dual(other).tangent.tolist() == [[0.0, 0.0, 0.0], [0.0, 2.0, 4.0]]


@on_each_engine
def test_a_write_through_a_view_of_a_dual(torch):
    fw = forward_ad(torch)
    with fw.dual_level():
        dual = fw.make_dual(torch.ones(3), torch.ones(3))
        tail = dual[1:]
        tail += 1
        tail *= 7
        assert fw.unpack_dual(dual).primal.tolist() == [1.0, 14.0, 14.0]
        assert fw.unpack_dual(dual).tangent.tolist() == [1.0, 7.0, 7.0]


def test_an_operand_that_is_written_to():
    """The value before the write counts for both operands; PyTorch takes the one after."""
    import minigrad as torch

    fw = forward_ad(torch)
    with fw.dual_level():
        dual = fw.make_dual(torch.tensor([3.0]), torch.tensor([1.0]))
        dual.mul_(dual)
        assert fw.unpack_dual(dual).tangent.tolist() == [6.0]


@on_each_engine
def test_tangents_get_the_strides_of_their_tensor(torch):
    fw = forward_ad(torch)
    with fw.dual_level():
        turned = torch.arange(6.0).view(2, 3).t()
        t = torch.ones(3, 2)
        dual = fw.make_dual(turned, t)
        tangent = fw.unpack_dual(dual).tangent
        assert tangent is not t and tangent.stride() == (1, 3) and tangent.tolist() == t.tolist()


# -------------------------------------------------------------------- with backward


@on_each_engine
def test_backward_through_a_tangent(torch):
    fw = forward_ad(torch)
    x = leaf(torch, [0.5, 1.0], dtype=torch.float64)
    v = leaf(torch, [2.0, 3.0], dtype=torch.float64)
    with fw.dual_level():
        primal, tangent = fw.unpack_dual((fw.make_dual(x, v) ** 3).sin())
    by_x, by_v = torch.autograd.grad(tangent.sum(), [x, v], retain_graph=True)
    cube, slope, bend = x.detach() ** 3, 3 * x.detach() ** 2, 6 * x.detach()
    assert torch.allclose(by_v, cube.cos() * slope)
    assert torch.allclose(by_x, v.detach() * (bend * cube.cos() - slope**2 * cube.sin()))
    (plain,) = torch.autograd.grad(primal.sum(), [x])
    assert torch.allclose(plain, by_v)


@on_each_engine
@pytest.mark.parametrize("create_graph", [True, False])
def test_forward_through_backward(torch, create_graph):
    """The tangent of a gradient is the product of the hessian with the tangent."""
    fw = forward_ad(torch)
    x = leaf(torch, [0.5, 1.0], dtype=torch.float64)
    v = doubles(torch, 2.0, 3.0)
    with fw.dual_level():
        dual = fw.make_dual(x, v)
        loss = (dual.exp() * dual.sum()).sum()  # exp saves its output
        (slope,) = torch.autograd.grad(loss, x, create_graph=create_graph)
        tangent = fw.unpack_dual(slope).tangent
    e, total = x.detach().exp(), x.detach().sum()
    row = e.reshape(2, 1) + e.reshape(1, 2) + torch.diag(e * total)
    assert torch.allclose(tangent, row @ v)


def test_levels_nest():
    """The inner level's tangents have tangents of the outer one: second derivatives."""
    import minigrad as torch

    x = torch.tensor(0.5, dtype=torch.float64)
    one = torch.ones_like(x)
    with TangentLevel() as outer:
        outer.hold(x, one)
        with TangentLevel() as inner:
            inner.hold(x, one)
            y = (x * x).sin()
            first = inner.tangent(y)
        second = outer.tangent(first)
        assert outer.tangent(y).item() == pytest.approx(np.cos(0.25))
    assert first.item() == pytest.approx(np.cos(0.25))
    assert second.item() == pytest.approx(2 * np.cos(0.25) - np.sin(0.25))


def test_another_thread_has_no_level():
    import minigrad as torch

    fw = forward_ad(torch)
    seen: list[Any] = []
    with fw.dual_level():
        dual = fw.make_dual(torch.ones(1), torch.ones(1))
        thread = threading.Thread(target=lambda: seen.append(fw.unpack_dual(dual * 2).tangent))
        thread.start()
        thread.join()
    assert seen == [None]


# -------------------------------------------------------------------- Functions


def scaled_function(torch: Any, **methods: Any) -> Any:
    """Return a Function of `forward(ctx, x)` that doubles x, with the given methods."""
    body = {"forward": staticmethod(lambda ctx, x: x * 2)}
    body.update({name: staticmethod(f) for name, f in methods.items()})
    return type("Scaled", (torch.autograd.Function,), body)


@on_each_engine
def test_function_with_jvp(torch):
    fw = forward_ad(torch)
    seen = []

    def forward(ctx, x, factor, y):
        ctx.save_for_forward(x, y)
        ctx.factor = factor
        return x * y * factor

    def jvp(ctx, x_tangent, none, y_tangent):
        seen.append((none, y_tangent.tolist()))
        x, y = ctx.saved_tensors
        return (x_tangent * y + x * y_tangent) * ctx.factor

    product = scaled_function(torch, forward=forward, jvp=jvp)
    x, y = doubles(torch, 1.0, 2.0), doubles(torch, 3.0, 4.0)
    with fw.dual_level():
        dual = fw.make_dual(x, doubles(torch, 1.0, 10.0))
        result = product.apply(dual, 5, y)
        assert fw.unpack_dual(result).primal.tolist() == [15.0, 40.0]
        assert fw.unpack_dual(result).tangent.tolist() == [15.0, 200.0]
    assert seen == [(None, [0.0, 0.0])]
    assert product.apply(x, 5, y).tolist() == [15.0, 40.0] and len(seen) == 1


@on_each_engine
def test_function_without_jvp(torch):
    fw = forward_ad(torch)
    with fw.dual_level():
        doubled = scaled_function(torch)
        assert doubled.apply(torch.ones(1)).tolist() == [2.0]
        with pytest.raises(NotImplementedError, match=r"^You must implement the jvp function for "
                           r"custom autograd.Function to use it with forward mode AD\.$"):
            doubled.apply(fw.make_dual(torch.ones(1), torch.ones(1)))


@on_each_engine
def test_function_materializes_tangents_unless_told(torch):
    fw = forward_ad(torch)

    def forward(ctx, x, y):
        ctx.set_materialize_grads(False)
        return x * 2 + y

    def jvp(ctx, x_tangent, y_tangent):
        assert y_tangent is None
        return x_tangent * 2

    with fw.dual_level():
        dual = fw.make_dual(torch.ones(1), torch.ones(1))
        function = scaled_function(torch, forward=forward, jvp=jvp)
        assert fw.unpack_dual(function.apply(dual, torch.ones(1))).tangent.tolist() == [2.0]


BAD_JVPS = [
    (lambda ctx, t: (t, t), "Function's jvp returned an invalid number of forward gradients "
     "(expected 1 but got 2)"),
    (lambda ctx, t: 3, "expected Variable or None (got int) for grad output 0."),
    (lambda ctx, t: t[:1], "Trying to set a forward gradient that has a different size than that "
     "of the original Tensor, this is not supported. Tensor is of size [2] while the given forward "
     "gradient is of size [1]."),
]


@on_each_engine
@pytest.mark.parametrize(("jvp", "message"), BAD_JVPS, ids=["number", "type", "size"])
def test_function_with_a_bad_jvp(torch, jvp, message):
    fw = forward_ad(torch)
    with fw.dual_level(), pytest.raises(RuntimeError) as caught:
        scaled_function(torch, jvp=jvp).apply(fw.make_dual(torch.ones(2), torch.ones(2)))
    assert str(caught.value) == message


@on_each_engine
def test_function_with_an_output_that_has_no_derivative(torch):
    fw = forward_ad(torch)

    def forward(ctx, x):
        return x.long(), x * 2

    with fw.dual_level():
        dual = fw.make_dual(torch.ones(2), torch.ones(2))
        right = scaled_function(torch, forward=forward, jvp=lambda ctx, t: (None, t * 2))
        assert fw.unpack_dual(right.apply(dual)[1]).tangent.tolist() == [2.0, 2.0]
        wrong = scaled_function(torch, forward=forward, jvp=lambda ctx, t: (t, t * 2))
        with pytest.raises(RuntimeError, match="returned a gradient at position 0, but  the "
                           "corresponding forward output is not a differentiable Tensor"):
            wrong.apply(dual)


@on_each_engine
def test_function_that_returns_a_view_or_writes(torch):
    fw = forward_ad(torch)

    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    with fw.dual_level():
        dual = fw.make_dual(torch.ones(2), torch.ones(2))
        seen = scaled_function(torch, forward=lambda ctx, x: x.view_as(x),
                               jvp=lambda ctx, t: t.view_as(t))
        assert fw.unpack_dual(seen.apply(dual)).tangent.tolist() == [1.0, 1.0]
        copied = scaled_function(torch, forward=lambda ctx, x: x.view_as(x),
                                 jvp=lambda ctx, t: t * 1)
        with pytest.raises(RuntimeError, match="is returning a view .* the jvp is not returning"):
            copied.apply(dual)
        unwritten = scaled_function(torch, forward=forward, jvp=lambda ctx, t: t * 2)
        with pytest.raises(RuntimeError, match="not modifying the forward mode gradients inplace"):
            unwritten.apply(dual)
        written = scaled_function(torch, forward=forward, jvp=lambda ctx, t: t.mul_(2))
        assert fw.unpack_dual(written.apply(dual)).tangent.tolist() == [2.0, 2.0]
        with pytest.raises(RuntimeError, match="not returning the forward mode gradients as-is"):
            unwritten.apply(dual)


@on_each_engine
def test_function_with_setup_context(torch):
    fw = forward_ad(torch)

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_forward(*inputs)

        @staticmethod
        def jvp(ctx, tangent):
            (x,) = ctx.saved_tensors
            return 2 * x * tangent

    with fw.dual_level():
        dual = fw.make_dual(doubles(torch, 3.0), doubles(torch, 1.0))
        assert fw.unpack_dual(Square.apply(dual)).tangent.tolist() == [6.0]


# -------------------------------------------------------------------- whole jacobians


def written(torch: Any, x: Any) -> Any:
    """Return what x makes of a tensor that has no tangent at first, through its views."""
    y = torch.zeros(2, 3, dtype=torch.float64).t()
    tail = y[1:]
    y[0] = x[1] * 3
    tail[0].add_(x[2])
    return y * tail.sum()


def floored(torch: Any, x: Any) -> Any:
    """Return what is written to a tensor whose tangent is zero."""
    y = x.floor()
    y.mul_(x).add_(x)
    return y


JACOBIANS = {
    "one": lambda torch, x: (x * x).sin(),
    "several": lambda torch, x: (x.t() @ x, x.sum(0), torch.ones(2, dtype=torch.float64)),
    "written": written,
    "floored": floored,
    "constant": lambda torch, x: torch.ones(2, dtype=torch.float64),
    "scalar": lambda torch, x: x.exp().prod(),
}


@on_each_engine
@pytest.mark.parametrize("name", JACOBIANS)
def test_forward_mode_jacobian(torch, name):
    def function(x):
        return JACOBIANS[name](torch, x)

    x = torch.tensor([[0.5, 1.5], [2.5, -1.0], [0.25, 3.0]], dtype=torch.float64)
    found = torch.autograd.functional.jacobian(
        function, x, vectorize=True, strategy="forward-mode")
    expected = torch.autograd.functional.jacobian(function, x)
    if not isinstance(found, tuple):
        found, expected = (found,), (expected,)
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert one.shape == other.shape and torch.allclose(one, other)
        assert not one.requires_grad


@on_each_engine
def test_forward_over_reverse_hessian(torch):
    x, y = doubles(torch, 0.5, 1.0), doubles(torch, 2.0)

    def function(x, y):
        return (x.exp() * x.sum() * y).sum()

    found = torch.autograd.functional.hessian(
        function, (x, y), vectorize=True, outer_jacobian_strategy="forward-mode")
    expected = torch.autograd.functional.hessian(function, (x, y))
    for row, wanted in zip(found, expected, strict=True):
        for one, other in zip(row, wanted, strict=True):
            assert torch.allclose(one, other)


def test_forward_mode_runs_the_function_once():
    import minigrad as torch

    calls = []

    def function(x):
        calls.append(1)
        return x * 2

    torch.autograd.functional.jacobian(
        function, torch.ones(4), vectorize=True, strategy="forward-mode")
    assert calls == [1]


def test_tangents_inside_a_batch():
    """What is done to the examples of a batch reaches the tangent of the whole."""
    import minigrad as torch

    x, t = torch.rand(4, 3), torch.rand(4, 3)
    with TangentLevel() as level:
        level.hold(x, t)
        batch = batched(x, number := next_level())
        rows = examples((batch * batch).sum(), number)
        found = level.tangent(rows)
    assert torch.allclose(found, 2 * (x * t).sum(1))


@on_each_engine
def test_a_tangent_where_a_logarithm_is_infinite(torch):
    fwd = torch.autograd.forward_ad
    with fwd.dual_level():
        x = fwd.make_dual(torch.tensor([2.0, 0.0, 3.0]), torch.ones(3))
        tangent = fwd.unpack_dual(x.xlogy(torch.tensor([0.0, 0.0, 1.0]))).tangent
    assert tangent.tolist() == [-float("inf"), 0, 0]
