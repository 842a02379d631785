"""Every op of the registry against PyTorch: values, dtypes, strides, two orders of gradients."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad.autograd import grad
from minigrad.op.declaration import Op
from minigrad.tensor.tensor import Tensor
from tests import _oracle
from tests.support.samples import IDS, OPS, Sample, cotangents_of, each, outputs_of, reseed, spread
from tests.support.samples import samples as all_samples
from tests.support.slow import slow_but, slow_but_one_in

pytestmark = [pytest.mark.filterwarnings("ignore:" + text) for text in (
    # of shapes, strides and options that samples have
    "Using a target size", r"torch.searchsorted\(\)", "The reduce argument of torch.scatter",
    r"index_reduce\(\) is in beta",
    "invalid value encountered in cast")]  # huge samples as integers
torch = pytest.importorskip("torch", reason="compares with PyTorch")
spellings = pytest.importorskip("tests.support.spellings", reason="compares with PyTorch")

COMPARED = [op for op in OPS if op.__name__ not in spellings.SERVANTS]
every_op = pytest.mark.parametrize("op", COMPARED, ids=[op.__name__ for op in COMPARED])
sampled_op = pytest.mark.parametrize("op", slow_but_one_in(3, COMPARED),
                                     ids=[op.__name__ for op in COMPARED])

#: How far apart values may lie, relatively.
TOLERANCE = {"float64": 1e-9, "float32": 2e-5, "float16": 2e-3}


def samples(op: type[Op]) -> list[Sample]:
    """Return the samples for which PyTorch is right."""
    return [s for s in all_samples(op) if not spellings.pytorch_fails(op.__name__, s.args)]


def theirs(sample: Sample) -> tuple[Any, dict[int, Any]]:
    """Run the sample in PyTorch; return its outputs, and its tensors by the id of ours."""
    known: dict[int, Any] = {}

    def change(tensor: Tensor) -> Any:
        if id(tensor) not in known:
            known[id(tensor)] = spellings.to_torch(tensor)
        return known[id(tensor)]

    changed = sample.replaced(change)
    args = [spellings.constant_to_torch(a) for a in changed.args]
    kwargs = {k: spellings.constant_to_torch(v) for k, v in changed.kwargs.items()}
    torch.manual_seed(0)
    result = spellings.spelling(sample.op)(*args, **kwargs)
    return [result] if isinstance(result, torch.Tensor) else list(result), known


def dtype_name(tensor: Any) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def assert_close(ours: Any, theirs: Any, what: str, slack: float = 1) -> None:
    """Assert that values agree to what the dtype allows, and dtype and shape exactly."""
    assert dtype_name(ours) == dtype_name(theirs), f"{what}: {ours.dtype} is not {theirs.dtype}"
    expected = theirs.detach().numpy(force=True)
    assert tuple(ours.shape) == tuple(expected.shape), f"{what}: {ours.shape}, {expected.shape}"
    rtol = TOLERANCE.get(dtype_name(ours), 0) * slack
    finite = np.abs(expected[np.isfinite(expected)]) if expected.dtype.kind == "f" else np.zeros(0)
    atol = rtol * max(finite.max(initial=0), 1e-3)
    _oracle.assert_close(ours._array, expected, rtol, atol, what)


def strides(tensor: Any) -> list[int]:
    return [s for s, n in zip(tensor.stride(), tensor.shape) if n > 1] if tensor.numel() else []


def has_derivative(theirs: Any) -> bool:
    """Tell whether backward through a tensor of PyTorch's can work."""
    node = theirs.grad_fn
    return theirs.requires_grad and (node is None or not node.name().endswith("NotImplemented"))


def compare(sample: Sample, slack: float = 1) -> None:
    """Compare outputs, first and second gradients of one call."""
    reseed()
    mine = outputs_of(sample.run())
    found, known = theirs(sample)
    assert len(found) == len(mine) or not sample.op.public
    mine = mine[: len(found)]
    if sample.op.__name__ in spellings.UP_TO_SIGNS:
        for i, (a, b) in enumerate(zip(mine, found)):
            assert_close(abs(a.detach()), abs(b.detach()), f"output {i}", slack)
        return
    slack *= spellings.ROUGH.get(sample.op.__name__, 1)
    for i, (a, b) in enumerate(zip(mine, found)):
        assert_close(a, b, f"output {i}", slack)
        if sample.op.view:
            assert strides(a) == strides(b), f"strides {a.stride()} are not {b.stride()}"
            assert a._is_view() == b._is_view()
    pairs = [(a, b) for a, b in zip(mine, found) if has_derivative(b)]
    for a, b in pairs:
        assert a.requires_grad, f"no gradient, but PyTorch has {b.grad_fn}"
    if not sample.op.outputs:
        assert all(b.requires_grad for a, b in zip(mine, found) if a.requires_grad), (
            "a gradient where PyTorch has none")
    leaves = sample.leaves()
    if not pairs or not leaves or spellings.pytorch_errs(sample.op.__name__, sample.args):
        return
    outputs, their_outputs = map(list, zip(*pairs))
    cotangents = cotangents_of(outputs, requires_grad=True)
    their_cotangents = [spellings.to_torch(c) for c in cotangents]
    their_leaves = [known[id(t)] for t in leaves]
    try:
        wanted = torch.autograd.grad(their_outputs, their_leaves, their_cotangents,
                                     create_graph=True, allow_unused=True)
    except RuntimeError as error:  # PyTorch cannot, or fails on mixed dtypes of its own
        reasons = "derivative|not implemented|can't be cast|must have the same dtype"
        assert re.search(reasons, str(error)), error
        return
    firsts = grad(outputs, leaves, cotangents, create_graph=True, allow_unused=True)
    plain = grad(outputs, leaves, [c.detach() for c in cotangents], retain_graph=True,
                 allow_unused=True)
    for i, (a, p, b) in enumerate(zip(firsts, plain, wanted)):
        assert_none_alike(a, b, f"gradient {i}")
        if a is not None and b is not None:
            assert_close(a, b, f"gradient {i}", slack)
            assert_close(p, b, f"gradient {i} on arrays", slack)
    both = [(a, b) for a, b in zip(firsts, wanted)
            if a is not None and b is not None and b.requires_grad]
    if both:
        second_order(both, leaves + cotangents, their_leaves + their_cotangents, slack)


def assert_none_alike(a: Any, b: Any, what: str) -> None:
    """Assert that where one side has no gradient the other has none, or zeros."""
    if a is None and b is not None:
        assert not b.detach().numpy(force=True).any(), f"{what} is missing"
    if b is None and a is not None:
        assert not a._array.any(), f"{what} should be missing"


def second_order(both: list[Any], inputs: list[Any], their_inputs: list[Any],
                 slack: float) -> None:
    """Compare the gradients of the first gradients."""
    firsts, wanted = map(list, zip(*both))
    directions = cotangents_of(firsts)
    try:
        expected = torch.autograd.grad(wanted, their_inputs, [
            spellings.to_torch(d) for d in directions], allow_unused=True)
    except RuntimeError as error:  # PyTorch cannot
        reasons = r"derivative for|not implemented|reshape tensor of 0 elements"
        assert re.search(reasons, str(error)), error
        return
    live = [(f, d) for f, d in zip(firsts, directions) if f.requires_grad]
    found = [None] * len(inputs) if not live else list(grad(
        [f for f, _ in live], inputs, [d for _, d in live], allow_unused=True))
    for i, (a, b) in enumerate(zip(found, expected, strict=True)):
        assert_none_alike(a, b, f"second gradient {i}")
        if a is not None and b is not None:
            assert_close(a, b, f"second gradient {i}", 10 * slack)


@pytest.mark.parametrize("op", OPS, ids=IDS)
def test_pytorch_has_the_op(op):
    if op.__name__ in spellings.SERVANTS:
        assert not hasattr(torch, op.name) and not hasattr(torch.Tensor, op.name)
        assert not op.method or not op.public, "a method that PyTorch lacks"
    else:
        assert callable(spellings.spelling(op))


def test_the_tables_name_only_ops():
    names = set(IDS)
    assert set(spellings.SPELLINGS) <= names, set(spellings.SPELLINGS) - names
    assert names >= spellings.SERVANTS, spellings.SERVANTS - names


@every_op
def test_double_precision(op):
    each(samples(op), compare)


#: Ops of which a gradient is a view in one library alone, by what differs.
VIEW_IN_ONE = {
    # PyTorch pools and resizes rows as images of height one; `max_pool1d` does so here too.
    "AdaptiveAvgPool", "AdaptiveMaxPool", "AvgPool", "MaxPool", "Resample",
    # PyTorch's formula ends in a view (`expand_as`, `squeeze` ...), ours in what made the array.
    "ConvInput", "Einsum", "IndexAdd", "IndexCopy", "IndexSelectBackward", "NllLoss",
    "NllLossInput", "Trilinear",
    # Ours ends in a view (a transpose, a reshape), PyTorch's in what made the array.
    "NativeGroupNorm", "TransposedConvolution",
}


def shares(gradient: Any, slopes: list[Any]) -> bool:
    """Tell whether the memory of a gradient is that of one which the pass was given."""
    arrays = [t.detach().numpy() for t in (gradient, *slopes)]
    return any(np.may_share_memory(arrays[0], slope) for slope in arrays[1:])


@sampled_op
def test_gradients_are_views_where_pytorchs_are(op):
    alike = []

    def check(sample: Sample) -> None:
        found, known = theirs(sample)
        pairs = [(a, b) for a, b in zip(outputs_of(sample.run()), found) if has_derivative(b)]
        leaves = sample.leaves()
        if not pairs or not leaves or spellings.pytorch_errs(op.__name__, sample.args):
            return
        outputs, their_outputs = map(list, zip(*pairs))
        slopes = [minigrad.ones_like(y) for y in outputs]
        their_slopes = [torch.ones_like(y) for y in their_outputs]
        ours = grad(outputs, leaves, slopes, allow_unused=True)
        wanted = torch.autograd.grad(their_outputs, [known[id(t)] for t in leaves], their_slopes,
                                     allow_unused=True)
        for a, b in zip(ours, wanted):
            if a is not None and b is not None:
                alike.append(a._is_view() == b._is_view())
                if shares(a, slopes) and not b._is_zerotensor():
                    assert shares(b, their_slopes), "the memory of what the pass was given"

    each(samples(op), check)
    assert all(alike) == (op.__name__ not in VIEW_IN_ONE)


@sampled_op
def test_single_precision(op):
    def check(sample: Sample) -> None:
        compare(sample.with_arrays(
            lambda a: a.astype(np.float32) if a.dtype == np.float64 else a.copy()))

    each(samples(op), check)


@pytest.mark.slow  # `make test` compares layouts without PyTorch, in test_registry.py
@every_op
def test_strided_inputs(op):
    def check(sample: Sample) -> None:
        for change in (lambda a: a.copy("F"), spread):
            changed = sample.with_arrays(change)
            try:
                compare(changed)
            except RuntimeError as error:
                if "view size is not compatible" not in str(error):
                    raise
                with pytest.raises(RuntimeError, match="view size is not compatible"):
                    theirs(changed)

    if op.__name__ != "AsStrided":  # which looks at the memory, whatever the strides
        each(samples(op), check)


def assert_refused(sample: Sample, error: Exception) -> None:
    """Assert that a call raises as it does in PyTorch, unless that only lacks a kernel for it."""
    if re.search(r"not implemented for|of floating point.* can require", str(error)):
        return
    try:
        sample.run()
    except (RuntimeError, TypeError, NotImplementedError, ValueError):
        return
    raise AssertionError(f"did not raise as PyTorch does: {error}")


def integers(sample: Sample, dtype: Any) -> Sample:
    """Return the call with small positive integers, or mixed truth values, in the floats' place."""

    def change(array: Any) -> Any:
        if array.dtype.kind != "f":
            return array.copy()
        small = np.abs(array * 2).astype(np.int64)
        return (small % 2 if dtype == np.bool_ else small + 1).astype(dtype)

    return sample.with_arrays(change)


@pytest.mark.parametrize("dtype", slow_but(lambda dtype: dtype in (np.int64, np.bool_), [
    np.int64, np.int32, np.uint8, np.bool_]), ids=lambda d: d.__name__)
@sampled_op
def test_integers(op, dtype):
    """What is legal gives the same; what PyTorch refuses is refused."""

    def check(sample: Sample) -> Any:
        changed = integers(sample, dtype)
        if not sample.leaves():
            return False
        try:
            expected, _ = theirs(changed)
        except Exception as error:
            if (op.__name__, dtype.__name__.rstrip("_")) not in spellings.LENIENT:
                assert_refused(changed, error)
            return True
        if (op.__name__, dtype.__name__.rstrip("_")) in spellings.LENIENT:
            return True
        found = outputs_of(changed.run())
        for i, (a, b) in enumerate(zip(found, expected)):
            assert_close(a, b, f"output {i}")
        return True

    each(samples(op), check)


def mixed(sample: Sample) -> list[Sample]:
    """Return the call with each of its float tensors in turn made float32, or int64."""
    made = []
    for tensor in sample.tensors():
        if tensor._array.dtype != np.float64:
            continue
        for dtype in (np.float32, np.int64):
            made.append(sample.replaced(
                lambda t, old=tensor, dtype=dtype: cast(t, dtype) if t is old else t))
    return made


def cast(tensor: Tensor, dtype: Any) -> Tensor:
    array = tensor._array
    if dtype == np.int64:
        array = np.abs(array * 2) + 1
    return Sample(Op, (tensor,), {}).with_arrays(lambda _: array.astype(dtype)).args[0]


def takes_several(op: type[Op]) -> bool:
    return bool(op.promote) and any(len(s.tensors()) > 1 for s in samples(op))


PROMOTING = [op for op in COMPARED if takes_several(op)]


@pytest.mark.parametrize("op", slow_but_one_in(3, PROMOTING), ids=[op.__name__ for op in PROMOTING])
def test_mixed_dtypes(op):
    def check(sample: Sample) -> Any:
        changed = mixed(sample)
        for one in changed:
            try:
                theirs(one)
            except Exception as error:
                assert_refused(one, error)
                continue
            compare(one, slack=1e4)
        return bool(changed)

    if (op.__name__, "mixed") not in spellings.LENIENT:
        each([s for s in samples(op) if len(s.tensors()) > 1], check)


NO_DERIVATIVE = "derivative|implement|not differentiable"


def has_no_formula(op: type[Op]) -> bool:
    return op.nondifferentiable


NONDIFFERENTIABLE = [op for op in COMPARED if has_no_formula(op)]


@pytest.mark.parametrize("op", NONDIFFERENTIABLE, ids=[op.__name__ for op in NONDIFFERENTIABLE])
def test_pytorch_has_no_derivative_either(op):
    """`nondifferentiable` is allowed only where PyTorch's result has no usable gradient."""

    def check(sample: Sample) -> None:
        found, known = theirs(sample)
        outputs = [f for f in found if f.requires_grad]
        leaves = [t for t in known.values() if t.requires_grad]
        if outputs and leaves:
            with pytest.raises((RuntimeError, NotImplementedError), match=NO_DERIVATIVE):
                torch.autograd.grad(outputs, leaves, [torch.ones_like(o) for o in outputs])

    each(samples(op), check)
