"""No call loses a gradient silently: a result without a derivative refuses, and so do numbers.

Where PyTorch's result requires grad, so does minigrad's, even if backward can only raise.  A tensor
that requires grad is rejected where a function needs a number.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

import minigrad
from minigrad.autograd import forward_ad, grad
from minigrad.op.apply import apply
from minigrad.op.arguments import bind
from minigrad.op.declaration import Op
from minigrad.tensor.tensor import Tensor, from_array
from tests.support.gathered import check_all
from tests.support.samples import OPS, Sample, each, outputs_of, samples

WITHOUT_FORMULA = [op for op in OPS if op.nondifferentiable]


def with_grad(sample: Sample) -> Sample:
    """Return the call with a fresh leaf in the place of each floating tensor."""
    return sample.replaced(lambda t: from_array(t._array.copy(), t._array.dtype.kind == "f"))


def is_floating(tensor: Any) -> bool:
    return tensor.dtype.is_floating_point  # type: ignore[no-any-return]  # torch is Any here


@pytest.mark.parametrize("op", WITHOUT_FORMULA, ids=[op.__name__ for op in WITHOUT_FORMULA])
def test_a_floating_result_without_a_formula_refuses(op):
    """The declaration says that backward raises, or that PyTorch detaches the result too."""

    def check(sample: Sample) -> None:
        sample = with_grad(sample)
        floating = [output for output in outputs_of(sample.run()) if is_floating(output)]
        if not floating or not sample.leaves():
            return
        assert bool(op.not_implemented_derivative) != op.detached, (
            "set `not_implemented_derivative`, or `detached` if PyTorch's result has no history")
        for output in floating:
            assert output.requires_grad != op.detached
            if output.requires_grad:
                with pytest.raises(RuntimeError, match="derivative|differentiable|unsupported"):
                    grad(output.sum(), sample.leaves(), allow_unused=True)

    each(samples(op), check)


@pytest.mark.parametrize("op", [op for op in WITHOUT_FORMULA if op.not_implemented_derivative],
                         ids=lambda op: op.__name__)
def test_a_tangent_without_a_formula_refuses(op):
    def check(sample: Sample) -> None:
        with forward_ad.dual_level():
            dual = sample.replaced(lambda t: t.detach() if t._array.dtype.kind != "f" else (
                forward_ad.make_dual(t.detach(), minigrad.ones_like(t))))
            if any(is_floating(t) for t in sample.tensors()):
                with pytest.raises((RuntimeError, NotImplementedError),
                                   match="forward AD|differentiable|unsupported"):
                    dual.run()

    each(samples(op), check)


def numbers_of(sample: Sample) -> list[int]:
    """Return the positions of the plain numbers among a call's arguments."""
    values = bind(sample.op, sample.args, sample.kwargs)
    return [i for i in sample.op.plain_positions if type(values[i]) in (int, float)]


@pytest.mark.parametrize("op", [op for op in OPS if any(map(numbers_of, samples(op)))],
                         ids=lambda op: op.__name__)
def test_a_number_of_an_op_refuses_a_tensor_that_requires_grad(op):
    def check(sample: Sample) -> None:
        for i in numbers_of(sample):
            values = bind(op, sample.args, sample.kwargs)
            values[i] = minigrad.tensor(float(values[i]), requires_grad=True)
            by_name = dict(zip(op.parameters[op.positional:], values[op.positional:]))
            with pytest.raises((TypeError, RuntimeError)):
                apply(op, bind(op, values[:op.positional], by_name))

    each(samples(op), check)


#: Calls of composed functions with a scalar `w` that requires grad in the place of a number.
CALLS = """
F.batch_norm(x, None, None, training=True, eps=w); F.celu(x, w); F.cosine_similarity(x, x, eps=w)
F.cosine_embedding_loss(x, x, torch.ones(2), margin=w); F.dropout(x, w); F.elu(x, w)
F.group_norm(x[None], 1, eps=w); F.hardtanh(x, w, 2.0); F.hinge_embedding_loss(x, x, margin=w)
F.huber_loss(x, x, delta=w); F.layer_norm(x, (3,), eps=w); F.leaky_relu(x, w)
F.interpolate(x[None, None], scale_factor=w); F.margin_ranking_loss(x, x, x, margin=w)
F.multi_margin_loss(x, torch.tensor([0, 1]), margin=w); F.normalize(x, p=w)
F.pad(x, (1, 1), value=w); F.pairwise_distance(x, x, p=w); F.poisson_nll_loss(x, x, eps=w)
F.rrelu(x, w, 0.7); F.scaled_dot_product_attention(x, x, x, scale=w)
F.smooth_l1_loss(x, x, beta=w); F.softplus(x, w); F.softshrink(x, w); F.threshold(x, w, 0.0)
F.triplet_margin_loss(x, x, x, margin=w); torch.add(x, x, alpha=w); torch.addcdiv(x, x, x, value=w)
torch.addcmul(x, x, x, value=w); torch.arange(w, 3.0); torch.bernoulli(x, w)
torch.cdist(x, x, p=w); torch.dist(x, x, w); torch.full((2,), w); torch.full_like(x, w)
torch.histc(x, 2, w, 1.0); torch.isclose(x, x, rtol=w); torch.linalg.norm(x, w)
torch.linalg.vector_norm(x, w); torch.logit(x, w); torch.nan_to_num(x, w); torch.norm(x, w)
torch.normal(w, 1.0, (2,)); torch.range(w, 3.0); torch.renorm(x, 2, 0, w); torch.scalar_tensor(w)
torch.std(x, correction=w); torch.trapz(x, dx=w); x.add_(x, alpha=w); x.clone().normal_(w, 1.0)
x.clone().uniform_(0.0, w); x.new_full((2,), w); torch.gradient(x, spacing=w)
"""
#: Calls in which PyTorch keeps the gradient, or drops it too.
ACCEPTED = """
F.gumbel_softmax(x, tau=w); F.local_response_norm(x[None], 2, alpha=w); F.lp_pool1d(x[None], w, 2)
F.triplet_margin_with_distance_loss(x, x, x, margin=w); torch.clamp(x, w); torch.lerp(x, x, w)
torch.linspace(w, 3.0, 4); torch.logspace(w, 3.0, 4); torch.pow(x, w); torch.quantile(x, w)
torch.masked_fill(x, x > 1, w); x.index_fill(0, torch.tensor([0]), w); torch.where(x > 1, x, w)
"""


def calls(text: str) -> list[str]:
    return re.split(r"[;\n]\s*", text.strip())


def evaluate(torch: Any, call: str) -> Any:
    torch.manual_seed(0)
    names = {"torch": torch, "F": torch.nn.functional, "x": torch.rand(2, 3),
             "w": torch.tensor(0.5, requires_grad=True)}
    return eval(call, names)


@pytest.mark.filterwarnings("ignore:torch.range is deprecated")  # the call's own
def test_a_number_of_a_function_refuses_a_tensor_that_requires_grad():
    def check(call: str) -> None:
        with pytest.raises((TypeError, RuntimeError)):
            evaluate(minigrad, call)

    check_all(check, calls(CALLS))


@pytest.mark.filterwarnings("ignore:torch.range is deprecated")  # the call's own
def test_pytorch_refuses_the_same_numbers():
    torch = pytest.importorskip("torch", reason="compares with PyTorch")

    def refused(call: str) -> None:
        with pytest.raises((TypeError, RuntimeError)):
            evaluate(torch, call)

    def accepted(call: str) -> None:
        ours, theirs = evaluate(minigrad, call), evaluate(torch, call)
        assert ours.requires_grad == theirs.requires_grad

    check_all(refused, calls(CALLS))
    check_all(accepted, calls(ACCEPTED))


@pytest.mark.filterwarnings("ignore:Using a target size")  # the call's own
@pytest.mark.filterwarnings("ignore:The reduce argument of torch.scatter")  # the call's own
@pytest.mark.filterwarnings(r"ignore:index_reduce\(\) is in beta")  # the call's own
@pytest.mark.filterwarnings(r"ignore:torch.searchsorted\(\)")  # the call's own
def test_results_require_grad_as_pytorchs_do():
    pytest.importorskip("torch", reason="compares with PyTorch")
    from tests.ops import test_registry_parity as parity

    def check(op: type[Op]) -> None:
        for sample in map(with_grad, parity.samples(op)):
            try:
                expected, _ = parity.theirs(sample)
            except RuntimeError:  # an argument that must not require grad
                continue
            for ours, other in zip(outputs_of(sample.run()), expected):
                assert ours.requires_grad == other.requires_grad, sample.label

    check_all(check, parity.COMPARED)


def histograms(torch: Any, which: str) -> list[Any]:
    """Return the results of a histogram in which one argument requires grad."""
    x, w = torch.tensor([[0.1, 0.6], [0.3, 0.2]]), torch.tensor([1.0, 2.0])
    edges = torch.tensor([0.0, 0.5, 1.0])
    {"x": x, "weight": w, "edges": edges}[which].requires_grad_()
    of_x, of_w = torch.histogramdd(x, [edges, edges], weight=w), torch.histogram(w, edges, weight=w)
    even = torch.histogramdd(x, [2, 2], weight=w)
    return [*of_w, of_x.hist, *of_x.bin_edges, even.hist, *even.bin_edges]


@pytest.mark.parametrize("which", ["x", "weight", "edges"])
def test_histograms_refuse_like_pytorchs(which):
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    for ours, theirs in zip(histograms(minigrad, which), histograms(torch, which), strict=True):
        assert ours.requires_grad == theirs.requires_grad
        if theirs.grad_fn is not None:
            with pytest.raises(RuntimeError) as expected:
                theirs.sum().backward()
            with pytest.raises(RuntimeError, match=re.escape(str(expected.value))):
                ours.sum().backward()


def test_a_complete_qr_refuses_like_pytorchs():
    x = minigrad.ones(3, 2, requires_grad=True)
    q, r = minigrad.linalg.qr(x, "complete")
    for output in (q, r):
        with pytest.raises(RuntimeError, match="mode='complete' and nrows > ncols"):
            output.sum().backward()


def test_an_unused_number_of_a_tensor_is_still_accepted():
    x: Tensor = minigrad.ones(2)
    assert minigrad.add(x, x, alpha=minigrad.tensor(2.0)).tolist() == [3.0, 3.0]
