"""`gradcheck` in batches, in forward mode and in fast mode: missing gradients, and its messages."""

from __future__ import annotations

import re

import pytest

import minigrad
from tests.support.engines import function_of, leaf, on_each_engine, with_jvp

# PyTorch's own forward mode warns when it is first used.
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script:DeprecationWarning")


def in_batches(g):
    return type(g._array).__name__ == "BatchedArray"


def batch_checked(backward, inputs=1):
    made = function_of(minigrad, lambda ctx, *t: t[0] * 1, backward, generate_vmap_rule=True)
    given = tuple(leaf(minigrad, [1.0, 2.0], dtype=minigrad.float64) for _ in range(inputs))
    return minigrad.autograd.gradcheck(made.apply, given, check_batched_grad=True,
                                       check_undefined_grad=False)


def both_modes(func, *inputs, **options):
    for fast in (False, True):
        assert minigrad.autograd.gradcheck(func, inputs, fast_mode=fast, **options)


@on_each_engine
def test_gradcheck_takes_no_gradient_of_another_dtype(torch):
    made = function_of(torch, lambda ctx, t: (t * 1).to(torch.float64), lambda ctx, g: g)
    x = leaf(torch, [1.0, 2.0], dtype=torch.float64)
    assert torch.autograd.gradcheck(made.apply, x, check_grad_dtypes=True)


@on_each_engine
@pytest.mark.filterwarnings("ignore:Backwards compatibility")  # the old flag is meant
def test_gradgradcheck_looks_at_missing_gradients_unless_told_not_to(torch):
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2

    def slope(ctx, g):
        return torch.ones(2, dtype=torch.float64) if g is None else g * 2

    twice = function_of(torch, forward, slope)
    made = function_of(torch, forward, lambda ctx, g: twice.apply(g))
    x = leaf(torch, [1.0, 2.0], dtype=torch.float64)
    assert torch.autograd.gradgradcheck(made.apply, x, check_undefined_grad=False)
    with pytest.raises(RuntimeError, match="undefined"):
        torch.autograd.gradgradcheck(made.apply, x)


def test_gradcheck_compares_a_batch_with_its_rows():
    assert batch_checked(lambda ctx, g: g * 1)
    with pytest.raises(RuntimeError, match="For output 0 and input 0:\n\n"):
        batch_checked(lambda ctx, g: g * (2 if in_batches(g) else 1))
    with pytest.raises(RuntimeError, match="For output 0 and input 1:\n\n"):
        minigrad.autograd.gradcheck(
            lambda x, y: y * 1 + function_of(
                minigrad, lambda ctx, t: t * 1,
                lambda ctx, g: g * (2 if in_batches(g) else 1),
                generate_vmap_rule=True).apply(y) + x, tuple(
                    leaf(minigrad, [1.0, 2.0], dtype=minigrad.float64) for _ in range(2)),
            check_batched_grad=True, check_undefined_grad=False)


def test_gradcheck_in_batches_allows_inputs_without_a_gradient():
    assert batch_checked(lambda ctx, g, *more: (g * 1, None), inputs=2)
    x, y = (leaf(minigrad, [1.0, 2.0], dtype=minigrad.float64) for _ in range(2))
    assert minigrad.autograd.gradcheck(lambda x, y: x * 2, (x, y), check_batched_grad=True)


def test_gradcheck_in_batches_tells_of_an_error():
    def backward(ctx, g):
        if in_batches(g):
            raise RuntimeError("not in a batch")
        return g * 1

    with pytest.raises(RuntimeError, match=r"^While computing batched gradients, got: not in a "
                       r"batch\n\n"):
        batch_checked(backward)


# A float32 input is what is tested.
@pytest.mark.filterwarnings("ignore:Input #0 requires gradient and is not a double")
def test_gradcheck_forward_keeps_the_dtype_of_its_input():
    x = leaf(minigrad, [1.0, 2.0])
    assert minigrad.autograd.gradcheck(lambda x: x * 2, x, eps=1e-2, atol=1e-1,
                                       check_forward_ad=True, check_grad_dtypes=True)


@on_each_engine
def test_gradcheck_forward_passes_on_what_has_no_gradient(torch):
    x = leaf(torch, [1.0, 2.0], dtype=torch.float64)
    plain = torch.tensor([3.0, 4.0], dtype=torch.float64)
    assert torch.autograd.gradcheck(lambda x, n, t: x * n * t, (x, 3, plain),
                                    check_forward_ad=True)


@on_each_engine
@pytest.mark.filterwarnings("ignore:Backwards compatibility")  # the old flag is meant
def test_gradcheck_says_what_is_expected_of_missing_gradients(torch):
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2

    def backward(ctx, g):
        return torch.ones(2, dtype=torch.float64) if g is None else g * 2

    x = leaf(torch, [1.0, 2.0], dtype=torch.float64)
    with pytest.raises(RuntimeError, match=r"^Expected all input grads to be undefined or zero when"
                       r" all output grads are undefined or zero\. Please look at \"Notes about "
                       r"undefined output gradients\" in"):
        torch.autograd.gradcheck(function_of(torch, forward, backward).apply, x)


@on_each_engine
def test_gradcheck_in_fast_mode_says_what_to_do(torch):
    made = function_of(torch, lambda ctx, t: t * 2, lambda ctx, g: g * 3)
    x = leaf(torch, [1.0, 2.0], dtype=torch.float64)
    with pytest.raises(RuntimeError) as caught:
        torch.autograd.gradcheck(made.apply, x, fast_mode=True)
    text = re.sub(r"[-+]?\d+\.\d+(e[-+]\d+)?", "#", " ".join(str(caught.value).split()))
    assert ("in fast mode. See: https://github.com/pytorch/pytorch/issues/53876 for more"
            in text), text
    assert "XX" not in text


def test_gradcheck_shows_both_sides_of_a_batch():
    with pytest.raises(RuntimeError, match=r"Got:\ntensor\(\[\[(.|\n)*Expected:\ntensor\(\[\["):
        batch_checked(lambda ctx, g: g * (2 if in_batches(g) else 1))


def test_gradcheck_compares_a_batch_of_tangents_with_its_rows():
    made = function_of(minigrad, lambda ctx, t: t * 1, lambda ctx, g: g * 1,
                    jvp=staticmethod(lambda ctx, t: t * (2 if in_batches(t) else 1)),
                    generate_vmap_rule=True)
    x = leaf(minigrad, [1.0, 2.0], dtype=minigrad.float64)
    options = {"check_forward_ad": True, "check_undefined_grad": False}
    assert minigrad.autograd.gradcheck(made.apply, x, **options)
    with pytest.raises(RuntimeError, match=r"^For output 0 and input 0:\n\n(.|\n)*Got:\ntensor\((.|"
                       r"\n)*Expected:\ntensor\("):
        minigrad.autograd.gradcheck(made.apply, x, check_batched_forward_grad=True, **options)


@on_each_engine
def test_gradgradcheck_forward_over_reverse_alone(torch):
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx, g):
            return Slope.apply(ctx.saved_tensors[0], g)

        @staticmethod
        def jvp(ctx, t):
            return t * 2 * ctx.saved_tensors[0]

    class Slope(torch.autograd.Function):
        @staticmethod
        def forward(x, g):
            return x * g * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx, g):
            raise RuntimeError("no reverse over reverse")

        @staticmethod
        def jvp(ctx, tx, tg):
            x, g = ctx.saved_tensors
            return 2 * (tx * g + x * tg)

    x = leaf(torch, [1.0, 2.0], dtype=torch.float64)
    assert torch.autograd.gradgradcheck(Square.apply, x, check_fwd_over_rev=True,
                                        check_rev_over_rev=False, check_undefined_grad=False)
    with pytest.raises(RuntimeError, match="^no reverse over reverse$"):
        torch.autograd.gradgradcheck(Square.apply, x, check_undefined_grad=False)


@on_each_engine
@pytest.mark.filterwarnings("ignore:Backwards compatibility")  # that this is checked at all
def test_messages_of_gradcheck_about_missing_gradients(torch):
    made = type("Made", (torch.autograd.Function,), {
        "forward": staticmethod(lambda ctx, x: (ctx.set_materialize_grads(False), x * 1)[1]),
        "backward": staticmethod(lambda ctx, g: torch.ones(2, dtype=torch.float64) if g is None
                                 else g)})
    x = leaf(torch, [1.0, 2.0], dtype=torch.float64)
    with pytest.raises(torch.autograd.gradcheck.GradcheckError if hasattr(
            torch.autograd.gradcheck, "GradcheckError") else RuntimeError) as caught:
        torch.autograd.gradcheck(made.apply, x)
    assert str(caught.value).endswith('Please look at "Notes about undefined output gradients" in '
                                      '"tools/autograd/derivatives.yaml"')


def test_gradcheck_takes_what_is_no_tensor():
    x = leaf(minigrad, [1.0, 2.0], dtype=minigrad.float64)
    both_modes(lambda a, factor: a * factor, x, 3.0, check_forward_ad=True,
               check_batched_forward_grad=True, check_batched_grad=True)
    both_modes(lambda factor, a: a * factor, 3.0, x, check_forward_ad=True,
               check_batched_forward_grad=True)


def test_gradcheck_looks_behind_what_is_no_tensor():
    wrong = with_jvp(minigrad,
                     lambda t: t * (3 if type(t._array).__name__ == "BatchedArray" else 1))
    x = leaf(minigrad, [1.0, 2.0], dtype=minigrad.float64)
    options = {"check_forward_ad": True, "check_undefined_grad": False}
    check = minigrad.autograd.gradcheck
    assert check(lambda _, a: wrong.apply(a), (3.0, x), **options)
    with pytest.raises(RuntimeError, match="^For output 0 and input 1:"):
        check(lambda _, a: wrong.apply(a), (3.0, x), check_batched_forward_grad=True, **options)


def test_gradcheck_takes_outputs_that_are_constant():
    x = leaf(minigrad, [1.0, 2.0], dtype=minigrad.float64)
    y = leaf(minigrad, [3.0, 4.0], dtype=minigrad.float64)
    both_modes(lambda a, b: (a * 2, b * 3, (a * b)), x, y, check_forward_ad=True,
               check_batched_forward_grad=True, check_batched_grad=True)


def test_gradcheck_takes_outputs_of_something_else():
    x, w = (leaf(minigrad, [1.0, 2.0], dtype=minigrad.float64) for _ in range(2))
    both_modes(lambda a: (a * 2, w * 3), x, check_forward_ad=True)


def test_gradcheck_shows_zeros_for_a_missing_tangent():
    x, w = (leaf(minigrad, [1.0, 2.0], dtype=minigrad.float64) for _ in range(2))
    with pytest.raises(RuntimeError, match="forward mode mismatch") as caught:
        minigrad.autograd.gradcheck(lambda a: a.detach() * w, x, fast_mode=True,
                                    check_forward_ad=True, check_backward_ad=False)
    assert "analytical:tensor([0., 0.], dtype=torch.float64)" in str(caught.value)


# A float32 input is what is tested.
@pytest.mark.filterwarnings("ignore:Input #0 requires gradient and is not a double")
def test_what_gradcheck_shows_has_the_dtype_of_the_result():
    wrong = with_jvp(minigrad, lambda t: t * 3)
    x = leaf(minigrad, [1.0, 2.0])
    with pytest.raises(RuntimeError, match="forward mode mismatch") as caught:
        minigrad.autograd.gradcheck(wrong.apply, x, eps=1e-2, atol=1e-1, check_forward_ad=True,
                                    check_undefined_grad=False)
    assert "float64" not in str(caught.value).partition("analytical:")[2]


def test_gradgradcheck_passes_its_tolerances_on():
    def square(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    def twice_the_product(ctx, x, g):
        ctx.save_for_backward(x, g)
        return 2 * x * g

    def nearly_its_slopes(ctx, h):
        x, g = ctx.saved_tensors
        return 2.01 * g * h, 2 * x * h

    slope = function_of(minigrad, twice_the_product, nearly_its_slopes)
    nearly = function_of(minigrad, square, lambda ctx, g: slope.apply(ctx.saved_tensors[0], g))
    x = leaf(minigrad, [1.0, 2.0], dtype=minigrad.float64)
    check = minigrad.autograd.gradgradcheck
    minigrad.manual_seed(0)  # a tolerance that is relative alone fails for small random slopes
    assert check(nearly.apply, x, atol=0.1, rtol=0.0)
    assert check(nearly.apply, x, atol=0.0, rtol=0.1)
    assert not check(nearly.apply, x, raise_exception=False)
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        check(nearly.apply, x, atol=1e-3, rtol=1e-3)
