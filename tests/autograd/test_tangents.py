"""Tangents: their dtypes, memory and history, levels inside each other, and ops without a rule."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import minigrad
from minigrad.autograd.forward_ad.pushforward import has_gradient
from minigrad.autograd.forward_ad.tangents import TangentLevel
from minigrad.autograd.gradcheck.numerical import GradcheckError
from tests.support.engines import forward_ad, function_of, leaf, on_each_engine, with_jvp

# PyTorch's own forward mode warns when it is first used.
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script:DeprecationWarning")

Function = minigrad.autograd.Function


@on_each_engine
def test_unpack_dual_outside_of_every_level(torch):
    fwd = torch.autograd.forward_ad
    x = torch.ones(2)
    primal, tangent = fwd.unpack_dual(x)
    assert primal.tolist() == [1.0, 1.0] and tangent is None
    assert tuple(fwd.unpack_dual(3)) == (3, None)
    with fwd.dual_level():
        primal, tangent = fwd.unpack_dual(x)
        assert tangent is None
        dual = fwd.make_dual(x, torch.zeros(2))
        assert fwd.unpack_dual(dual, level=0).tangent.tolist() == [0.0, 0.0]


def test_a_tangent_is_in_memory_of_its_own():
    fwd = minigrad.autograd.forward_ad
    given = minigrad.ones(2)
    with fwd.dual_level():
        dual = fwd.make_dual(minigrad.tensor([3.0, 4.0]), given)
        for out in (dual + 1, dual.clone(), dual * 1):
            tangent = fwd.unpack_dual(out).tangent
            tangent.add_(5)
            assert given.tolist() == [1.0, 1.0]


@on_each_engine
@pytest.mark.parametrize("asked", [True, False])
def test_whole_numbers_have_no_tangent_in_jvp(torch, asked):
    seen = []

    def jvp(ctx, *tangents):
        seen.extend(tangents)
        return tangents[0], None

    def forward(ctx, x, n):
        ctx.set_materialize_grads(asked)
        return x * 1, n * 1

    f, fw = function_of(torch, forward, jvp=staticmethod(jvp)), forward_ad(torch)
    with fw.dual_level():
        _, n = f.apply(fw.make_dual(torch.ones(2), torch.ones(2)), torch.tensor(3))
        assert fw.unpack_dual(n).tangent is None
    assert seen[1] is None


@on_each_engine
def test_in_inference_mode_there_are_no_tangents(torch):
    fw = forward_ad(torch)
    with fw.dual_level():
        outside = fw.make_dual(torch.ones(2), torch.ones(2))
        with torch.inference_mode():
            inside = fw.make_dual(torch.ones(2), torch.ones(2))
            for dual in (outside, inside):
                assert fw.unpack_dual(dual).tangent is None
                assert fw.unpack_dual(dual * 2).tangent is None
                dual += 1
                assert dual.tolist() == [2.0, 2.0]
                assert fw.unpack_dual(dual).tangent is None
        assert fw.unpack_dual(outside).tangent.tolist() == [1.0, 1.0]


def test_views_of_what_has_no_tangent_have_none():
    fwd = minigrad.autograd.forward_ad
    with fwd.dual_level():
        # A result, which is the base of what is unpacked.
        dual = fwd.make_dual(minigrad.ones(3), minigrad.tensor([1.0, 2.0, 3.0])) * 1
        primal = fwd.unpack_dual(dual).primal
        part = primal[1:]
        for tensor in (primal, part, part[0], part.view(2, 1)[1], part * 2):
            assert fwd.unpack_dual(tensor).tangent is None
        assert fwd.unpack_dual(dual[1:]).tangent.tolist() == [2.0, 3.0]


def test_an_output_without_a_derivative_has_no_tangent():
    fwd = minigrad.autograd.forward_ad
    with fwd.dual_level():
        sign, log = minigrad.linalg.slogdet(
            fwd.make_dual(minigrad.eye(2) * 2, minigrad.ones(2, 2)))
        assert fwd.unpack_dual(sign).tangent is None
        assert fwd.unpack_dual(log).tangent.item() == 1.0


def test_which_output_a_formula_has_the_gradient_of():
    two = SimpleNamespace(outputs=("low", "high"))
    assert has_gradient(SimpleNamespace(outputs=()), 0, set())
    assert has_gradient(two, 0, {"g"}) and not has_gradient(two, 1, {"g"})
    assert has_gradient(two, 0, {"grads"}) and has_gradient(two, 1, {"grads"})
    assert has_gradient(two, 1, {"g_high"}) and not has_gradient(two, 0, {"g_high", "low"})


# `group_norm` has no rule for batches.
@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_an_op_without_a_rule_has_tangents_for_some_of_its_outputs():
    x = minigrad.tensor([[[1.0, 2.0, 4.0], [1.0, 5.0, 2.0]]], dtype=minigrad.float64)
    weight = minigrad.ones(2, dtype=minigrad.float64)

    def norm(t):
        return minigrad.nn.functional.group_norm(t, 1, weight)

    found = minigrad.func.jacfwd(norm)(x)
    assert minigrad.allclose(found, minigrad.func.jacrev(norm)(x))


def test_an_inner_level_hands_on_what_only_the_outer_one_moves():
    one, x = minigrad.tensor(1.0), minigrad.tensor(3.0)

    def outer(t):
        def inner(u):
            v = t * t  # has no tangent at the inner level
            w = t * 1
            w.mul_(t)
            return u * v + u * w

        return minigrad.func.jvp(inner, (x,), (one,))[1]

    value, slope = minigrad.func.jvp(outer, (x,), (one,))
    assert value.item() == 18.0 and slope.item() == 12.0


def test_levels_stand_on_each_other():
    x, y = minigrad.tensor(3.0), minigrad.tensor(4.0)
    with TangentLevel() as outer:
        outer.hold(x, minigrad.tensor(1.0))
        with TangentLevel() as inner:
            inner.hold(y, minigrad.tensor(1.0))
            square, product = x * x, x * y  # of which the first moves outside alone
            written = x * 1
            written.mul_(x)
            assert inner.tangent(square) is None and inner.tangent(written) is None
            slope = inner.tangent(product)
        assert slope.item() == 3.0 and outer.tangent(slope).item() == 1.0
        assert outer.tangent(square).item() == outer.tangent(written).item() == 6.0


@pytest.mark.parametrize("recorded", [True, False])
def test_tangents_of_tangents_where_nothing_is_recorded(recorded):
    x = minigrad.tensor([1.0, 2.0, 4.0], dtype=minigrad.float64)
    v = minigrad.tensor([1.0, -1.0, 0.5], dtype=minigrad.float64)

    def first(t):
        return minigrad.func.jvp(lambda u: minigrad.logsumexp(u, 0), (t,), (v,))[1]

    with minigrad.set_grad_enabled(recorded):
        _, second = minigrad.func.jvp(first, (x,), (v,))
    p = minigrad.softmax(x, 0)
    assert second.item() == pytest.approx(((p * v * v).sum() - (p * v).sum() ** 2).item())


@pytest.mark.parametrize("recorded", [True, False])
def test_tangents_have_no_history_of_their_own(recorded):
    fwd = minigrad.autograd.forward_ad
    with minigrad.set_grad_enabled(recorded), fwd.dual_level():
        dual = fwd.make_dual(minigrad.ones(3), minigrad.ones(3))
        for out in (minigrad.logsumexp(dual, 0), dual.norm(), minigrad.softmax(dual, 0)):
            assert not fwd.unpack_dual(out).tangent.requires_grad


def test_keywords_reach_a_function_in_forward_mode():
    class Scale(Function):
        @staticmethod
        def forward(ctx, x, factor=1.0):
            ctx.factor = factor
            return x * factor

        @staticmethod
        def jvp(ctx, t, _=None):
            return t * ctx.factor

    fwd = minigrad.autograd.forward_ad
    with fwd.dual_level():
        dual = fwd.make_dual(minigrad.ones(2), minigrad.ones(2))
        out = fwd.unpack_dual(Scale.apply(dual, factor=3.0))
    assert out.primal.tolist() == out.tangent.tolist() == [3.0, 3.0]


def test_every_tangent_of_a_function_is_looked_at():
    fwd = minigrad.autograd.forward_ad

    def run(jvp):
        made = function_of(minigrad, lambda ctx, x: (x * 1, x * 2), jvp=staticmethod(jvp))
        with fwd.dual_level():
            dual = fwd.make_dual(minigrad.ones(2), minigrad.ones(2))
            return [fwd.unpack_dual(out).tangent for out in made.apply(dual)]

    assert run(lambda ctx, t: (None, t * 2))[1].tolist() == [2.0, 2.0]
    with pytest.raises(RuntimeError, match="expected Variable or None"):
        run(lambda ctx, t: (None, 5))


def test_a_tangent_keeps_its_dtype_in_another_layout():
    fwd = minigrad.autograd.forward_ad
    made = function_of(minigrad, lambda ctx, x: minigrad.cat([x, x])[::2],
                   jvp=staticmethod(lambda ctx, t: minigrad.cat([t, t])[::2].to(minigrad.float32)))
    with fwd.dual_level():
        x = minigrad.ones(2, dtype=minigrad.float64)
        out = fwd.unpack_dual(made.apply(fwd.make_dual(x, x * 3)))
        assert out.primal.dtype == minigrad.float64 and out.tangent.dtype == minigrad.float32
        assert out.tangent.stride() == out.primal.stride() == (2,)


def test_inference_mode_makes_no_tangents_of_functions():
    fwd = minigrad.autograd.forward_ad
    made = function_of(minigrad, lambda ctx, x: x * 2, jvp=staticmethod(lambda ctx, t: t * 2))
    with fwd.dual_level():
        dual = fwd.make_dual(minigrad.ones(2), minigrad.ones(2))
        assert fwd.unpack_dual(made.apply(dual)).tangent.tolist() == [2.0, 2.0]
        with minigrad.inference_mode():
            assert fwd.unpack_dual(made.apply(dual)).tangent is None


# PyTorch's forward mode says that its compiler is old.
@pytest.mark.filterwarnings("ignore:.*jit.script.*:DeprecationWarning")
@on_each_engine
@pytest.mark.parametrize("moved", ["both", "the viewed one"])
def test_a_view_of_one_of_two_inputs_has_its_tangent(torch, moved):
    fwd = torch.autograd.forward_ad
    made = function_of(torch, lambda ctx, x, y: y.view(2, 1),
                   jvp=staticmethod(lambda ctx, s, t: t.view(2, 1)))
    with fwd.dual_level():
        x = torch.ones(2)
        if moved == "both":
            x = fwd.make_dual(x, torch.ones(2) * 5)
        out = made.apply(x, fwd.make_dual(torch.ones(2), torch.tensor([2.0, 3.0])))
        assert fwd.unpack_dual(out).tangent.tolist() == [[2.0], [3.0]]


def test_an_op_in_place_that_only_turns_moves_its_tangent():
    fwd = minigrad.autograd.forward_ad
    with fwd.dual_level():
        dual = fwd.make_dual(minigrad.tensor([[1.0, 2.0], [3.0, 4.0]]),
                             minigrad.tensor([[5.0, 6.0], [7.0, 8.0]])) * 1
        part = dual[0]
        dual.t_()
        assert fwd.unpack_dual(dual).tangent.tolist() == [[5.0, 7.0], [6.0, 8.0]]
        part.mul_(2)
        assert fwd.unpack_dual(dual).tangent.tolist() == [[10.0, 7.0], [12.0, 8.0]]


def test_unpacking_outside_of_every_level():
    fwd = minigrad.autograd.forward_ad
    x = minigrad.ones(2)
    for options in ({}, {"level": 0}):
        primal, tangent = fwd.unpack_dual(x, **options)
        assert primal is x and tangent is None


def test_a_tangent_has_the_layout_of_its_tensor():
    fwd = minigrad.autograd.forward_ad
    x = minigrad.ones(6, dtype=minigrad.float64)[::2]
    with fwd.dual_level():
        tangent = fwd.unpack_dual(fwd.make_dual(
            x, minigrad.tensor([1.0, 2.0, 3.0], dtype=minigrad.float64))).tangent
        assert tangent.stride() == (2,) and tangent.dtype == minigrad.float64
        assert tangent.tolist() == [1.0, 2.0, 3.0]


# A float32 input is what is tested; PyTorch's forward mode says that its compiler is old.
@pytest.mark.filterwarnings("ignore:Input #0 requires gradient and is not a double",
                            "ignore:.*jit.script.*:DeprecationWarning")
@on_each_engine
def test_tangents_have_the_dtype_of_the_input(torch):
    x = leaf(torch, [1.0, 2.0])
    assert torch.autograd.gradcheck(lambda t: t.view(2, 1), x, eps=1e-2, atol=1e-1,
                                    check_forward_ad=True, check_grad_dtypes=True)


def test_a_tangent_of_another_dtype_is_refused():
    narrow = with_jvp(minigrad, lambda t: t.to(minigrad.float32))
    x = leaf(minigrad, [1.0], dtype=minigrad.float64)
    options = {"check_forward_ad": True, "check_undefined_grad": False}
    assert minigrad.autograd.gradcheck(narrow.apply, x, **options)
    with pytest.raises(GradcheckError, match=r"^Forward AD gradient has dtype mismatch\.$"):
        minigrad.autograd.gradcheck(narrow.apply, x, check_grad_dtypes=True, **options)


@on_each_engine
def test_a_tangent_computed_under_no_grad_has_no_graph(torch):
    fwd = torch.autograd.forward_ad
    x = leaf(torch, [1.0, 2.0])
    for f in (lambda t: t.softmax(0), lambda t: t.cumprod(0), lambda t: t.norm(), lambda t: t * t):
        with fwd.dual_level():
            dual = fwd.make_dual(x, torch.ones(2))
            assert fwd.unpack_dual(f(dual)).tangent.requires_grad
            with torch.no_grad():
                assert not fwd.unpack_dual(f(dual)).tangent.requires_grad
