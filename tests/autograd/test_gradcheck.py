"""`gradcheck` and `gradgradcheck`: what they accept, what they find, and in which words."""

from __future__ import annotations

import importlib
import warnings

import pytest

from tests.support.engines import leaf, on_each_engine

#: PyTorch warns of itself when it first makes a dual tensor.
pytestmark = [on_each_engine,
              # PyTorch's own forward mode gives it
              pytest.mark.filterwarnings("ignore:.torch.jit.script:DeprecationWarning")]


def doubles(torch, *values):
    return leaf(torch, list(values), dtype=torch.float64)


def negated(x):
    """Return x² with a gradient of the wrong sign."""
    y = x * x
    y.register_hook(lambda g: -g)
    return y


def check_error(torch):
    return importlib.import_module(torch.__name__ + ".autograd.gradcheck").GradcheckError


def test_the_function_has_the_name_of_its_module(torch):
    module = importlib.import_module(torch.__name__ + ".autograd.gradcheck")
    assert torch.autograd.gradcheck is module.gradcheck
    assert torch.autograd.gradgradcheck is module.gradgradcheck
    assert issubclass(module.GradcheckError, RuntimeError)


def test_right_derivatives_pass(torch):
    x, y = doubles(torch, 1.0, -2.0, 0.5), doubles(torch, 3.0)
    assert torch.autograd.gradcheck(lambda a, b: a.exp() * b, (x, y)) is True
    assert torch.autograd.gradcheck(lambda a: (a.sin(), a.sum(), (a * 2).view(3, 1)), x) is True
    assert torch.autograd.gradgradcheck(lambda a, b: a.exp() * b, [x, y]) is True
    assert torch.autograd.gradgradcheck(
        lambda a: a.tanh(), (x,), gen_non_contig_grad_outputs=True) is True
    assert torch.autograd.gradgradcheck(
        lambda a: a * a, (x,), doubles(torch, 1.0, 2.0, 3.0)) is True


def test_inputs_come_out_as_they_went_in(torch):
    x = doubles(torch, 1.0, -2.0)
    torch.autograd.gradcheck(lambda x: x * x, x)
    assert x.tolist() == [1.0, -2.0] and x._version == 0 and x.grad is None


def test_a_wrong_sign_is_found(torch):
    x = doubles(torch, 1.0, -2.0)
    with pytest.raises(check_error(torch)) as caught:
        torch.autograd.gradcheck(negated, x)
    text = str(caught.value)
    assert text.startswith("Jacobian mismatch for output 0 with respect to input 0,\n"
                           "numerical:tensor([[ 2.0000,  0.0000],\n")
    assert "\nanalytical:tensor([[-2., " in text and text.endswith("dtype=torch.float64)\n")
    assert torch.autograd.gradcheck(negated, x, raise_exception=False) is False


def test_the_mismatch_names_output_and_input(torch):
    x, y, constant = doubles(torch, 1.0), doubles(torch, 2.0), torch.ones(1)
    with pytest.raises(RuntimeError, match="mismatch for output 1 with respect to input 0"):
        torch.autograd.gradcheck(lambda c, x, y: (c + 1, x * y, negated(x)), (constant, x, y))
    with pytest.raises(RuntimeError, match="mismatch for output 0 with respect to input 1"):
        torch.autograd.gradcheck(lambda x, y: x + negated(y), (x, y))


def test_one_wrong_element_among_many_is_found(torch):
    x = doubles(torch, 1.0, 2.0, 3.0, 4.0)

    def cut(x):
        y = x * 3
        factors = torch.tensor([1.0, 1.0, 1.0, 1.01], dtype=torch.float64)
        y.register_hook(lambda g: None if g is None else g * factors)
        return y

    assert torch.autograd.gradcheck(cut, x, raise_exception=False) is False
    assert torch.autograd.gradcheck(cut, x, rtol=0.1) is True


def test_the_second_derivative_is_checked(torch):
    def once(x):
        y = x * x
        y.register_hook(lambda g: g * x.detach())
        return y * 1

    def half(x):
        """Return x³, whose gradient is right and is cut off from x in part."""
        y = x.detach() * x.detach() * x * 3
        return y - 2 * x.detach() ** 3

    x = doubles(torch, 1.5, 2.0)
    assert torch.autograd.gradcheck(lambda x: half(x) * 0 + x, x) is True
    assert torch.autograd.gradgradcheck(half, x, raise_exception=False) is False
    assert torch.autograd.gradcheck(once, x, raise_exception=False) is False


def test_single_precision_warns_and_fails(torch):
    x = leaf(torch, [1.0, 2.0])
    with pytest.warns(UserWarning, match=r"^Input #1 requires gradient and is not a double "
                      "precision floating point or complex. This check will likely fail if all "
                      "the inputs are not of double precision floating point or complex. $"):
        assert not torch.autograd.gradcheck(
            lambda _, x: x * x, (1, x), raise_exception=False, eps=1e-7)
    with pytest.warns(UserWarning):
        assert torch.autograd.gradcheck(lambda x: x * x, x, eps=1e-2)


def test_no_input_requires_grad(torch):
    with pytest.raises(ValueError, match=r"^gradcheck expects at least one input tensor to require "
                       "gradient, but none of them have requires_grad=True.$"):
        torch.autograd.gradcheck(lambda x: x, torch.ones(2), raise_exception=False)


def test_overlapping_input(torch):
    x = doubles(torch, 1.0).expand(3)
    with pytest.raises(RuntimeError, match=r"^The 0th input has a dimension with stride 0. "
                       "gradcheck only supports inputs that are non-overlapping"):
        torch.autograd.gradcheck(lambda x: x * 2, x)


def test_no_differentiable_output(torch):
    x = doubles(torch, 1.0, 2.0)
    assert torch.autograd.gradcheck(lambda x: torch.ones(2), x) is True
    assert torch.autograd.gradcheck(lambda x: (), x) is True
    expected = "^Numerical gradient for function expected to be zero$"
    with pytest.raises(RuntimeError, match=expected):
        torch.autograd.gradcheck(lambda x: x.detach() * 2, x)


def test_integer_outputs_are_left_out(torch):
    x, places = doubles(torch, 1.0, 2.0), torch.tensor([1, 0])
    assert torch.autograd.gradcheck(lambda x, i: (x[i] * 2, i + 1), (x, places)) is True


def test_empty_and_0d(torch):
    for values in ([], 3.0, [[2.0]]):
        x = leaf(torch, values, dtype=torch.float64)
        assert torch.autograd.gradcheck(lambda x: x * x, x) is True


def test_a_backward_that_differs_from_run_to_run(torch):
    def noisy(x):
        y = x * 2
        y.register_hook(lambda g: g if g is None else g * (1 + 1e-6 * torch.rand(())))
        return y

    x = doubles(torch, 1.0, 2.0)
    with pytest.raises(RuntimeError, match=r"^Backward is not reentrant, i.e., running backward "
                       "with same input and grad_output multiple times gives different values, "
                       "although analytical gradient matches numerical gradient.The tolerance for "
                       r"nondeterminism was 0.0\."):
        torch.autograd.gradcheck(noisy, x)
    assert torch.autograd.gradcheck(noisy, x, nondet_tol=1e-4) is True


def test_outputs_that_change_with_the_values(torch):
    x = doubles(torch, 1.0)
    with pytest.raises(AssertionError, match=r"outputs with the same shape when inputs are "
                       r"perturbed on index \(0,\) by 1e-06, but got: shapes torch.Size\(\[2\]\) "
                       r"and torch.Size\(\[1\]\)\."):
        torch.autograd.gradcheck(lambda x: x if x.item() >= 1 else torch.cat([x, x]), x)
    with pytest.raises(AssertionError, match=r"outputs with the same dtype when inputs are "
                       r"perturbed on index \(0,\) by 1e-06, but got: dtypes torch.float32 and "
                       r"torch.float64\."):
        torch.autograd.gradcheck(lambda x: x if x.item() >= 1 else x.float(), x)


def test_missing_gradients_must_count_as_zeros(torch):
    def added(x):
        y = x * 1
        y.register_hook(lambda g: g + 0 if (g != 0).any() else g + 1)
        return y

    x = doubles(torch, 1.0)
    with pytest.raises(RuntimeError, match=r"^backward not multiplied by grad_output$"):
        torch.autograd.gradcheck(added, x)

    def refused(x):
        y = x.clone()

        def hook(g):
            if g is None:
                raise RuntimeError("g is undefined")

        y.register_hook(hook)
        return y

    expected = "^Expected backward function to handle undefined output grads"
    with (pytest.warns(UserWarning, match="Backwards compatibility: New undefined gradient"),
          pytest.raises(RuntimeError, match=expected)):
        torch.autograd.gradcheck(refused, x)
    assert torch.autograd.gradcheck(refused, x, check_undefined_grad=False) is True


def test_flags_that_contradict(torch):
    x = doubles(torch, 1.0)
    check, check2 = torch.autograd.gradcheck, torch.autograd.gradgradcheck
    with pytest.raises(AssertionError, match="at least one of check_forward_ad or check_backward"):
        check(lambda x: x, x, check_backward_ad=False)
    with pytest.raises(AssertionError, match="check_batched_forward_grad=True requires"):
        check(lambda x: x, x, check_batched_forward_grad=True)
    with pytest.raises(AssertionError, match="at least one of check_fwd_over_rev or"):
        check2(lambda x: x, x, check_rev_over_rev=False)


def test_other_errors_pass_through(torch):
    def broken(x):
        raise KeyError("broken")

    with pytest.raises(KeyError, match="broken"):
        torch.autograd.gradcheck(broken, doubles(torch, 1.0), raise_exception=False)


def test_batched_gradients(torch):
    x = doubles(torch, 1.0, 2.0)
    assert torch.autograd.gradcheck(lambda x: x * x, x, check_batched_grad=True) is True


def test_deprecated_jacobians(torch):
    module = importlib.import_module(torch.__name__ + ".autograd.gradcheck")
    a, b = doubles(torch, 1.0, 2.0), doubles(torch, 3.0)
    private = "was part of PyTorch's private API"
    with pytest.warns(FutureWarning, match="`get_numerical_jacobian` " + private):
        by_a, by_b = module.get_numerical_jacobian(
            lambda inputs: inputs[0] * inputs[1], (a, b), eps=1e-6)
    assert by_a.round(decimals=6).tolist() == [[3.0, 0.0], [0.0, 3.0]]
    assert by_b.round(decimals=6).tolist() == [[1.0, 2.0]]
    with pytest.warns(FutureWarning, match="`get_analytical_jacobian` " + private):
        jacobians, agree, sizes, dtypes = module.get_analytical_jacobian((a, b), a * b)
    assert [j.tolist() for j in jacobians] == [[[3.0, 0.0], [0.0, 3.0]], [[1.0, 2.0]]]
    assert agree and sizes and dtypes
    with warnings.catch_warnings(), pytest.raises(ValueError, match=r"Expected grad_out to be 1.0"):
        warnings.simplefilter("ignore")  # that the function is deprecated
        module.get_numerical_jacobian(lambda inputs: inputs[0], (a,), grad_out=2.0)


# -------------------------------------------------------------------- forward mode


def lopsided(torch, backward, forward):
    """Return a Function that squares; its derivatives carry the given factors."""

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.save_for_forward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * x * 2 * backward

        @staticmethod
        def jvp(ctx, t):
            (x,) = ctx.saved_tensors
            return t * x * 2 * forward

    return Square.apply


@pytest.mark.parametrize("fast_mode", [False, True])
def test_forward_mode_is_checked(torch, fast_mode):
    check, x = torch.autograd.gradcheck, doubles(torch, 1.0, -2.0, 0.5)
    right, no_forward, no_backward = (
        lopsided(torch, *factors) for factors in ((1, 1), (1, 3), (3, 1)))
    options = {"fast_mode": fast_mode, "raise_exception": False}
    assert check(right, x, check_forward_ad=True, **options)
    assert check(no_forward, x, **options)
    assert not check(no_forward, x, check_forward_ad=True, **options)
    assert not check(no_backward, x, **options)
    assert check(no_backward, x, check_backward_ad=False, check_forward_ad=True, **options)
    with pytest.raises(RuntimeError, match=r"^Jacobian computed with forward mode mismatch for "
                       r"output 0 with respect to input 0,\nnumerical:tensor\("):
        check(no_forward, x, check_forward_ad=True, fast_mode=fast_mode)


def test_forward_mode_of_several_inputs_and_outputs(torch):
    x, y = doubles(torch, 1.0, 2.0), doubles(torch, 0.5, -1.0)
    places = torch.tensor([1, 0])

    def function(a, i, b):
        return a.exp() * b, a[i].sum(), (a * b).view(2, 1), i + 1

    for fast_mode in (False, True):
        assert torch.autograd.gradcheck(function, (x, places, y), check_forward_ad=True,
                                        fast_mode=fast_mode)
    with pytest.raises(RuntimeError, match="forward mode mismatch for output 1 with respect to "
                       "input 1"):
        torch.autograd.gradcheck(lambda a, b: (a * b, lopsided(torch, 1, 3)(b) + a), (x, y),
                                 check_forward_ad=True)


def test_forward_over_reverse(torch):
    check, x = torch.autograd.gradgradcheck, doubles(torch, 1.0, -2.0)
    assert check(lambda x: x.exp() * x.sum(), x, check_fwd_over_rev=True)
    assert check(lambda x: x.tanh(), x, check_fwd_over_rev=True, check_rev_over_rev=False,
                 check_undefined_grad=False, fast_mode=True)


def test_undefined_tangents_must_count_as_zeros(torch):
    class Careless(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.set_materialize_grads(False)
            return x + y

        @staticmethod
        def jvp(ctx, t, u):
            return t + u if t is not None and u is not None else (t if u is None else u) * 3

    x, y = doubles(torch, 1.0), doubles(torch, 2.0)
    with pytest.raises(RuntimeError, match="Mismatch in tangent values for output with index"):
        torch.autograd.gradcheck(Careless.apply, (x, y), check_forward_ad=True,
                                 check_backward_ad=False)
    assert torch.autograd.gradcheck(Careless.apply, (x, y), check_forward_ad=True,
                                    check_backward_ad=False, check_undefined_grad=False)


# -------------------------------------------------------------------- fast mode, dtypes, sizes


def test_fast_mode(torch):
    check, x = torch.autograd.gradcheck, doubles(torch, 1.0, -2.0, 0.5)
    assert check(lambda a: (a.sin(), a.sum(), (a * 2).view(3, 1)), x, fast_mode=True)
    assert torch.autograd.gradgradcheck(lambda a: a.tanh(), x, fast_mode=True)
    assert check(lambda x: torch.ones(2, dtype=torch.float64), x, fast_mode=True)
    with pytest.raises(RuntimeError) as caught:
        check(negated, x, fast_mode=True)
    text = str(caught.value)
    assert text.startswith("Jacobian mismatch for output 0 with respect to input 0,\n"
                           "numerical:-")
    assert "in slow mode:\n\nNumerical:\n tensor([[ 2.0000," in text
    assert "The max per-element difference (slow mode) is: 8." in text
    assert x._version == 0 and x.tolist() == [1.0, -2.0, 0.5]


def test_fast_mode_leaves_the_random_numbers_alone(torch):
    x = doubles(torch, 1.0)
    torch.manual_seed(3)
    expected = torch.rand(2).tolist()
    torch.manual_seed(3)
    torch.autograd.gradcheck(lambda x: x * x, x, fast_mode=True)
    assert torch.rand(2).tolist() == expected


def test_fast_mode_finds_constants_that_vary(torch):
    with pytest.raises(RuntimeError, match="^Numerical gradient for function expected to be zero$"):
        torch.autograd.gradcheck(lambda x: x.detach() * 2, doubles(torch, 1.0), fast_mode=True)


@pytest.mark.parametrize("fast_mode", [False, True])
def test_a_gradient_of_a_wrong_size(torch, fast_mode):
    class Wide(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g.new_ones(5)

    with pytest.raises(RuntimeError, match="returned an invalid gradient at index 0"):
        torch.autograd.gradcheck(Wide.apply, doubles(torch, 1.0, 2.0), fast_mode=fast_mode)


def test_noncontiguous_inputs(torch):
    base = torch.arange(12, dtype=torch.float64).reshape(3, 4) + 1
    for x in (base.t(), base[:, ::2], base[1]):
        x = x.detach().requires_grad_()
        for fast_mode in (False, True):
            assert torch.autograd.gradcheck(lambda x: x.log() * x, x, check_forward_ad=True,
                                            fast_mode=fast_mode)


def test_masked_allows_nearly_zero(torch):
    def nearly(x):
        y = x * 1
        y.register_hook(lambda g: g + 1e-12)
        return y

    x = doubles(torch, 1.0)
    with pytest.raises(RuntimeError, match="^backward not multiplied by grad_output$"):
        torch.autograd.gradcheck(nearly, x, check_undefined_grad=False)
    assert torch.autograd.gradcheck(nearly, x, check_undefined_grad=False, masked=True)


def test_the_float32_story(torch):
    """Single precision passes with a step of 1e-3 and fails with a smaller one."""
    x = leaf(torch, [[0.3, 0.7], [1.1, 0.2]])
    with pytest.warns(UserWarning, match="not a double precision"):
        assert torch.autograd.gradcheck(lambda x: x.sigmoid(), x, eps=1e-3, atol=1e-3)
    with pytest.warns(UserWarning):
        assert not torch.autograd.gradcheck(
            lambda x: x.sigmoid(), x, eps=1e-7, raise_exception=False)
    wide = x.detach().double().requires_grad_()
    assert torch.autograd.gradcheck(lambda x: x.sigmoid(), wide, eps=1e-4)
    assert torch.autograd.gradcheck(lambda x: x.sigmoid(), wide, eps=1e-6)


def test_batched_tangents(torch):
    x, y = doubles(torch, 1.0, -2.0), doubles(torch, 0.5, 3.0)
    options = {"check_forward_ad": True, "check_batched_forward_grad": True}
    assert torch.autograd.gradcheck(lambda x, y: (x.exp() * y, x.sum()), (x, y), **options)

    def unbatchable(x):
        class Read(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2

            @staticmethod
            def backward(ctx, g):
                return g * 2

            @staticmethod
            def jvp(ctx, t):
                return t * 2 if float(t.sum()) < 1e9 else t

        return Read.apply(x)

    with pytest.raises(RuntimeError, match="gradcheck failed while testing batched gradient "
                       "computation with forward-mode AD"):
        torch.autograd.gradcheck(unbatchable, x, **options)
