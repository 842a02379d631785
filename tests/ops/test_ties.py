"""Every op at ties, zeros and repeated indices: values, gradients, tangents and second derivatives.

Elsewhere, the samples avoid the points at which a function has a kink, because a difference
quotient is wrong there.  Which of its one-sided derivatives a program gets is PyTorch's choice, and
here it is compared with PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad.autograd import forward_ad, grad
from minigrad.tensor.tensor import Tensor, from_array
from tests.support.gathered import check_all
from tests.support.samples import Sample, cotangents_of, outputs_of, reseed
from tests.support.slow import slow_but_one_in

torch = pytest.importorskip("torch", reason="compares with PyTorch")
spellings = pytest.importorskip("tests.support.spellings", reason="compares with PyTorch")
parity = pytest.importorskip("tests.ops.test_registry_parity", reason="compares with PyTorch")

#: How a sample's values change: to whole numbers, signs and zeros, zeros in part, or constants.
FORMS: dict[str, Callable[[Any], Any]] = {
    "whole": np.round,
    "signs": lambda a: np.sign(np.round(a / 1.5)),
    "partly zero": lambda a: np.where(np.arange(a.size).reshape(a.shape) % 2, 0, np.round(a)),
    "halves": lambda a: np.round(a * 2) / 2,
    "zeros": np.zeros_like,
    "ones": np.ones_like,
}

#: Ops that are left out, and why.
LEFT_OUT = {
    **dict.fromkeys(("Kthvalue", "Sort", "Topk"), "PyTorch chooses among equal elements at random"),
    **dict.fromkeys(("Bernoulli", "BernoulliOfNumber", "Binomial", "DirichletGrad", "NormalOf",
                     "SampleDirichlet", "StandardGamma", "StandardGammaGrad"), "random numbers"),
    **dict.fromkeys(("Geqrf", "LinalgDet", "LinalgEigh", "LinalgLuFactorEx", "LinalgQr",
                     "LinalgSvd", "QrComplete", "Slogdet"), "rounding decides if singular"),
    **dict.fromkeys(("Embedding", "EmbeddingWeight"), "PyTorch's second derivative is wrong"),
    "HistogramddBinEdges": "the edges belong to the sample's points",
    "CtcLoss": "a blank is no label",
}
#: What differs, by op: deliberately, or at points where both results mean nothing.
DIFFERS = {
    "Div": {"tangent": "x / 0 has the tangent nan here, in PyTorch an infinite one"},
    "Logsumexp": {"tangent": "of no elements, which is nan in PyTorch"},
    "PreluKernel": {"second": "at 0, PyTorch's second derivative is that of the identity"},
    "ScatterReduce": {"tangent": "PyTorch has none for a product"},
    **{name: {"second": "of orders other than 2 at 0, where PyTorch's formulas give nan or zero"}
       for name in ("LinalgVectorNorm", "Norm", "NormAll")},
    **{name: {"second": "of equal elements: zero here, nan in PyTorch"}
       for name in ("Std", "StdAll")},
}
COMPARED = [op for op in parity.COMPARED if op.__name__ not in LEFT_OUT and op.formulas]
BATCHES = [COMPARED[i::12] for i in range(12)]


def tied(sample: Sample) -> Iterator[Sample]:
    """Yield the call with tied values, and with the same index everywhere."""
    for form in FORMS.values():
        def change(a: Any, form: Any = form) -> Any:
            floating = a.dtype.kind == "f"
            return np.asarray(np.asarray(form(a)) + 0.0, a.dtype) if floating else a.copy()

        yield sample.with_arrays(change)
    if any(t._array.dtype.kind == "i" and t._array.size > 1 for t in sample.tensors()):
        yield sample.with_arrays(
            lambda a: np.full_like(a, a.reshape(-1)[0]) if a.dtype.kind == "i" and a.size else
            a.copy())


class Call:
    """One call in both libraries."""

    def __init__(self, sample: Sample) -> None:
        self.sample, self.known = sample, {}
        sample.replaced(lambda t: self.known.setdefault(id(t), spellings.to_torch(t)))
        self.leaves = sample.leaves()
        self.theirs = [self.known[id(t)] for t in self.leaves]

    def in_torch(self, known: dict[int, Any]) -> list[Any]:
        """Run PyTorch's function with these tensors, by the id of ours."""
        changed = self.sample.replaced(lambda t: known[id(t)])
        args = [spellings.constant_to_torch(a) for a in changed.args]
        kwargs = {k: spellings.constant_to_torch(v) for k, v in changed.kwargs.items()}
        torch.manual_seed(0)
        result = spellings.spelling(self.sample.op)(*args, **kwargs)
        return [result] if isinstance(result, torch.Tensor) else list(result)

    def in_minigrad(self, sample: Sample) -> list[Tensor]:
        reseed()
        return outputs_of(sample.run())


def assert_equal(ours: Any, theirs: Any, what: str, sample: Sample) -> None:
    """Assert that two results agree; a missing one equals zeros."""
    if ours is None or theirs is None:
        present = theirs if ours is None else ours
        values = None if present is None else as_array(present)
        assert values is None or not values.any(), f"{what} of {sample.label}: one is missing"
        return
    a, b = as_array(ours), as_array(theirs)
    assert a.shape == b.shape, f"{what} of {sample.label}: {a.shape} is not {b.shape}"
    assert np.allclose(a, b, 1e-7, 1e-9, equal_nan=True), (
        f"{what} of {sample.label}:\n{a}\nis not\n{b}\nfor "
        f"{[t.tolist() for t in sample.tensors()]}")


def as_array(tensor: Any) -> Any:
    return tensor._array if isinstance(tensor, Tensor) else tensor.detach().numpy(force=True)


def compare(sample: Sample) -> None:
    """Compare one call."""
    call, differs = Call(sample), DIFFERS.get(sample.op.__name__, {})
    try:
        found = call.in_torch(call.known)
    except (RuntimeError, IndexError, NotImplementedError):  # these values are not legal
        return
    mine = call.in_minigrad(sample)[: len(found)]
    for a, b in zip(mine, found, strict=True):
        assert_equal(a, b, "the value", sample)
    pairs = [(a, b) for a, b in zip(mine, found) if parity.has_derivative(b)]
    if pairs and call.leaves:
        compare_gradients(call, pairs, "second" not in differs)
    if call.leaves and "tangent" not in differs:
        compare_tangents(call, len(found))


def compare_gradients(call: Call, pairs: list[Any], twice: bool) -> None:
    """Compare first and second gradients."""
    ours, theirs = map(list, zip(*pairs))
    slopes = cotangents_of(ours, requires_grad=True)
    their_slopes = [spellings.to_torch(s) for s in slopes]
    try:
        wanted = torch.autograd.grad(theirs, call.theirs, their_slopes, create_graph=True,
                                     allow_unused=True)
    except RuntimeError:  # PyTorch has no derivative
        return
    firsts = grad(ours, call.leaves, slopes, create_graph=True, allow_unused=True)
    plain = grad(ours, call.leaves, [s.detach() for s in slopes], retain_graph=True,
                 allow_unused=True)
    for a, b, c in zip(firsts, wanted, plain, strict=True):
        assert_equal(a, b, "a gradient", call.sample)
        assert_equal(c, b, "a gradient on arrays", call.sample)
    both = [(a, b) for a, b in zip(firsts, wanted)
            if a is not None and b is not None and b.requires_grad]
    if not (both and twice):
        return
    directions = cotangents_of([a for a, _ in both])
    inputs, their_inputs = call.leaves + slopes, call.theirs + their_slopes
    try:
        expected = torch.autograd.grad([b for _, b in both], their_inputs, [
            spellings.to_torch(d) for d in directions], allow_unused=True)
    except RuntimeError:
        return
    live = [(a, d) for (a, _), d in zip(both, directions) if a.requires_grad]
    seconds = grad(*map(list, (
        [a for a, _ in live], inputs, [d for _, d in live])), allow_unused=True) if live else (
        [None] * len(inputs))
    for a, b in zip(seconds, expected, strict=True):
        assert_equal(a, b, "a second gradient", call.sample)


def compare_tangents(call: Call, count: int) -> None:
    """Compare the tangents of forward mode."""
    rng = np.random.default_rng(3)
    directions = {id(t): np.asarray(rng.uniform(0.5, 1.5, t.shape), t._array.dtype)
                  for t in call.leaves}
    ad = torch.autograd.forward_ad
    with ad.dual_level():
        known = {k: t.detach() if k not in directions else ad.make_dual(
            t.detach(), torch.from_numpy(directions[k])) for k, t in call.known.items()}
        try:
            wanted = [ad.unpack_dual(o).tangent if o.is_floating_point() else None
                      for o in call.in_torch(known)]
        except (RuntimeError, NotImplementedError):
            return
    with forward_ad.dual_level():
        duals: dict[int, Tensor] = {}

        def dual(t: Tensor) -> Tensor:
            if id(t) not in directions:
                return t
            return duals.setdefault(id(t), forward_ad.make_dual(
                t.detach(), from_array(directions[id(t)])))

        found = [forward_ad.unpack_dual(o).tangent if o.is_floating_point() else None
                 for o in call.in_minigrad(call.sample.replaced(dual))[:count]]
        for a, b in zip(found, wanted, strict=True):
            assert_equal(a, b, "a tangent", call.sample)


@pytest.mark.filterwarnings("ignore")  # of shapes and options that samples have
@pytest.mark.parametrize("ops", slow_but_one_in(12, BATCHES, 4), ids=[
    f"{batch[0].__name__} to {batch[-1].__name__}" for batch in BATCHES])
def test_ties_and_zeros_are_pytorchs(ops):
    check_all(lambda op: check_all(compare, [
        tie for sample in parity.samples(op) for tie in tied(sample)]), ops)


def test_the_tables_name_only_ops():
    names = {op.__name__ for op in parity.OPS}
    assert names >= {*LEFT_OUT, *DIFFERS}


# ------------------------------------------------------------------------ further calls

WRITES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "scatter": lambda z, at, y: z.scatter(0, at, y),
    "index_put": lambda z, at, y: z.index_put((at,), y),
    "index_copy": lambda z, at, y: z.index_copy(0, at, y),
    "put": lambda z, at, y: z.put(at, y),
    "setitem": lambda z, at, y: written(z, at, y),
    "index_add": lambda z, at, y: z.index_add(0, at, y),
    "scatter_add": lambda z, at, y: z.scatter_add(0, at, y),
    "accumulate": lambda z, at, y: z.index_put((at,), y, accumulate=True),
}


def written(z: Any, at: Any, y: Any) -> Any:
    z = z * 1
    z[at] = y
    return z


@pytest.mark.filterwarnings("ignore:There is a performance drop",
                            "ignore:.torch.jit.script:DeprecationWarning")  # PyTorch's own
@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize("both", [True, False], ids=["both tangents", "the source's tangent"])
def test_a_write_to_repeated_indices_keeps_the_last_tangent(name, both):
    assert jacobian_and_tangent(minigrad, WRITES[name], both) == jacobian_and_tangent(
        torch, WRITES[name], both)


def jacobian_and_tangent(engine: Any, write: Any, both: bool) -> list[Any]:
    """Return the value, the tangent and the Jacobian of a write, as lists."""
    at, z, y = engine.tensor([0, 0, 2]), engine.zeros(3), engine.tensor([1.0, 2, 3])
    ones, tangent = engine.ones(3), engine.tensor([1.0, 10, 100])

    def of_source(y: Any) -> Any:
        return write(engine.zeros(3), at, y)

    one = (engine.func.jvp(lambda z, y: write(z, at, y), (z, y), (ones, tangent)) if both else
           engine.func.jvp(of_source, (y,), (tangent,)))
    return [t.tolist() for t in (*one, engine.func.jacfwd(of_source)(y))]


LOSSES: dict[str, Callable[[Any, Any], Any]] = {
    "multilabel_margin": lambda t, x: t.nn.functional.multilabel_margin_loss(
        x, t.tensor([[3, 0, -1, 1]])),
    "multi_margin": lambda t, x: t.nn.functional.multi_margin_loss(x, t.tensor([2])),
    "squared multi_margin": lambda t, x: t.nn.functional.multi_margin_loss(x, t.tensor([2]), p=2),
    "margin_ranking": lambda t, x: t.nn.functional.margin_ranking_loss(
        x, x.detach() - 1, t.ones(1, 4), 1.0),
    "hinge_embedding": lambda t, x: t.nn.functional.hinge_embedding_loss(x, -t.ones(1, 4)),
    "triplet_margin": lambda t, x: t.nn.functional.triplet_margin_loss(
        x, x.detach(), x.detach(), p=1.0, eps=0.0),
    "nll without weight": lambda t, x: t.nn.functional.nll_loss(
        x, t.tensor([1]), weight=t.zeros(4)),
    "rrelu": lambda t, x: t.nn.functional.rrelu(x),
    "smooth_l1": lambda t, x: t.nn.functional.smooth_l1_loss(x, t.zeros(1, 4)),
    "huber": lambda t, x: t.nn.functional.huber_loss(x, t.zeros(1, 4)),
    "largest distance": lambda t, x: t.cdist(x, t.zeros(1, 4), float("inf")),
    "counted distance": lambda t, x: t.cdist(x, t.zeros(1, 4), 0.0),
    "pdist": lambda t, x: t.nn.functional.pdist(t.cat([x, t.zeros(2, 4)]), float("inf")),
    "norm of order 0": lambda t, x: t.norm(x, 0),
    "vector_norm of order 0": lambda t, x: t.linalg.vector_norm(x, 0),
    "norm": lambda t, x: t.norm(x * 0),
    "prod": lambda t, x: t.prod(x, 1),
    "cumprod": lambda t, x: t.cumprod(x, 1),
    "amax": lambda t, x: t.amax(x, 1), "aminmax": lambda t, x: t.aminmax(x).max,
    "max": lambda t, x: t.max(x), "median": lambda t, x: t.median(x),
    "cummax": lambda t, x: t.cummax(x, 1).values, "logaddexp": lambda t, x: t.logaddexp(x, x),
    "max_pool": lambda t, x: t.nn.functional.max_pool1d(x, 2, 1),
    "relu6": lambda t, x: t.nn.functional.relu6(x * 6), "hypot": lambda t, x: t.hypot(x, x),
}


@pytest.mark.parametrize("name", LOSSES)
def test_functions_break_ties_like_pytorchs(name):
    for values in ([1.0, 0.0, 1.0, 2.0], [0.0, 0.0, 0.0, 0.0], [1.0, -1.0, 1.0, 0.0]):
        found = []
        for engine in (minigrad, torch):
            engine.manual_seed(0)
            x = engine.tensor([values], dtype=engine.float32, requires_grad=True)
            result = LOSSES[name](engine, x)
            (first,) = engine.autograd.grad(result.sum(), x, create_graph=True, allow_unused=True)
            second = None
            if first is not None and first.requires_grad:
                try:
                    (second,) = engine.autograd.grad(first.sum(), x, allow_unused=True)
                except RuntimeError:  # PyTorch has no derivative
                    second = "refused"
            found.append((result, first, second))
        for ours, theirs, what in zip(*found, ("value", "gradient", "second gradient")):
            if isinstance(theirs, str) or (what == "second gradient" and ours is None):
                continue
            assert (ours is None) == (theirs is None), what
            if ours is not None:
                assert np.allclose(as_array(ours), as_array(theirs), 1e-5, 1e-6, equal_nan=True), (
                    f"{what} at {values}: {ours.tolist()}, {as_array(theirs).tolist()}")
