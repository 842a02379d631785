"""`gradcheck` and `gradgradcheck`: what passes, what fails, and in which words."""

from __future__ import annotations

from importlib import import_module

import pytest

MODES = pytest.mark.parametrize("fast_mode", [False, True], ids=["slow", "fast"])


def wrong(torch, factor=2.0, twice=False):
    """Return `x * x` whose backward is off by a factor."""

    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * x * factor

    return Wrong.apply


@pytest.fixture
def failure(torch):
    return import_module(f"{torch.__name__}.autograd.gradcheck").GradcheckError


@pytest.fixture
def check(torch):
    return torch.autograd.gradcheck


@pytest.fixture
def check_twice(torch):
    return torch.autograd.gradgradcheck


@MODES
def test_right_derivatives_pass(leaf, check, check_twice, fast_mode):
    x = leaf([[0.5, -1.0], [2.0, 3.0]])
    assert check(lambda x: x.exp() * x, (x,), fast_mode=fast_mode)
    assert check_twice(lambda x: x.exp() * x, (x,), fast_mode=fast_mode)


@MODES
def test_wrong_derivatives_fail(torch, leaf, check, fast_mode, failure):
    with pytest.raises(failure, match="Jacobian mismatch for output 0 with resp"):
        check(wrong(torch, 2.1), (leaf(1.0, 2.0),), fast_mode=fast_mode)


@MODES
def test_wrong_derivatives_give_false_on_request(torch, leaf, check, fast_mode):
    passed = check(wrong(torch, 2.1), (leaf(1.0),), raise_exception=False, fast_mode=fast_mode)
    assert passed is False


def test_its_failure_is_a_runtime_error(failure):
    assert issubclass(failure, RuntimeError)


def test_both_jacobians_are_shown(torch, leaf, check):
    with pytest.raises(RuntimeError, match=r"numerical:tensor\(\[\[2\..*\nanalytical:tensor\(\[\["):
        check(wrong(torch, 3.0), (leaf([1.0]),))


def test_one_tensor_needs_no_tuple(leaf, check):
    assert check(lambda x: x * x, leaf(1.0))


def test_inputs_that_require_no_grad_are_left_out(torch, leaf, check):
    assert check(lambda x, y, n: x * y * n, (leaf(1.0), torch.ones(()), 3))


def test_one_input_at_least_has_to_require_grad(torch, check):
    with pytest.raises(ValueError, match="at least one input tensor to require gradient"):
        check(lambda x: x, (torch.ones(2, dtype=torch.float64),))


def test_single_precision_warns(torch, check):
    x = torch.ones(2, requires_grad=True)
    with pytest.warns(UserWarning, match="Input #0 requires gradient and is not a double precisio"):
        check(lambda x: x * 2, (x,), atol=1e-1, eps=1e-2)


def test_inputs_may_not_overlap_themselves(torch, check):
    x = torch.ones(1, dtype=torch.float64).expand(3).requires_grad_()
    with pytest.raises(RuntimeError, match="0th input has a dimension with stride 0"):
        check(lambda x: x * 2, (x,))


@MODES
def test_inputs_need_not_be_contiguous(torch, check, fast_mode):
    x = torch.rand(3, 2, dtype=torch.float64).t().requires_grad_()
    assert check(lambda x: x * x, (x,), fast_mode=fast_mode)


@MODES
def test_inputs_may_be_unused(leaf, check, check_twice, fast_mode):
    assert check(lambda x, y: x * x, (leaf(1.0), leaf(2.0)), fast_mode=fast_mode)
    assert check_twice(lambda x, y: x * x, (leaf(1.0), leaf(2.0)), fast_mode=fast_mode)


@MODES
def test_outputs_may_be_several(leaf, check, fast_mode):
    assert check(lambda x: (x * 2, x * x, x.detach()), (leaf(1.0, 2.0),), fast_mode=fast_mode)


@MODES
def test_an_output_without_history_has_to_be_constant(torch, leaf, check, fast_mode):
    with pytest.raises(RuntimeError, match="Numerical gradient for function expected to be zero"):
        check(lambda x: (x * 2).detach(), (leaf(1.0, 2.0),), fast_mode=fast_mode)


@MODES
def test_no_outputs_pass(leaf, check, fast_mode):
    assert check(lambda x: (), (leaf(1.0),), fast_mode=fast_mode)


@MODES
def test_a_random_backward_fails(torch, leaf, check, fast_mode):
    class Noisy(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g * (1 + 1e-6 * torch.rand_like(g))

    with pytest.raises(RuntimeError, match="Backward is not reentrant, i.e., running backward wit"):
        check(Noisy.apply, (leaf(1.0, 2.0),), fast_mode=fast_mode)
    assert check(Noisy.apply, (leaf(1.0, 2.0),), nondet_tol=1e-4, fast_mode=fast_mode)


@MODES
# PyTorch's, of what it cannot check
@pytest.mark.filterwarnings("ignore:Backwards compatibility. New undefined gradient support")
def test_backward_has_to_stand_missing_gradients(torch, leaf, check, fast_mode):
    class Stiff(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            if g is None:
                raise RuntimeError("no gradient has come")
            return g * 2

    with pytest.raises(RuntimeError, match="Expected backward function to handle undefined output"):
        check(Stiff.apply, (leaf(1.0, 2.0),), fast_mode=fast_mode)
    assert check(Stiff.apply, (leaf(1.0, 2.0),), check_undefined_grad=False, fast_mode=fast_mode)


def test_gradients_have_to_keep_the_dtype_on_request(torch, leaf, check):
    assert check(lambda x: x.float().double() * 0 + x, (leaf(1.0),), check_grad_dtypes=True)


def test_batched_gradients_are_checked_on_request(leaf, check, check_twice):
    assert check(lambda x: x.sin() * x, (leaf(1.0, 2.0),), check_batched_grad=True)
    assert check_twice(lambda x: x.sin() * x, (leaf(1.0, 2.0),), check_batched_grad=True)


def test_a_wrong_second_derivative_fails(torch, leaf, check_twice):
    class Flat(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            return g * 2 * ctx.saved_tensors[0].detach()

    assert torch.autograd.gradcheck(Flat.apply, (leaf(1.0),))
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        check_twice(Flat.apply, (leaf(1.0),))


def test_the_gradients_of_the_outputs_may_be_given(torch, leaf, check_twice):
    g = torch.tensor([3.0, 4.0], dtype=torch.float64, requires_grad=True)
    assert check_twice(lambda x: x**3, (leaf(1.0, 2.0),), (g,))


@MODES
# PyTorch's own forward mode gives it
@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")
def test_forward_mode_is_checked_on_request(leaf, check, fast_mode):
    assert check(lambda x: x.sin() * x, (leaf(1.0, 2.0),), check_forward_ad=True,
                 check_backward_ad=False, fast_mode=fast_mode)


def test_one_mode_has_to_be_checked(leaf, check):
    with pytest.raises(AssertionError, match="Expected at least one of check_forward_ad or check_"):
        check(lambda x: x, (leaf(1.0),), check_forward_ad=False, check_backward_ad=False)


def test_tolerances_are_obeyed(torch, leaf, check):
    almost = wrong(torch, 2.001)
    assert check(almost, (leaf(1.0),), atol=1e-2)
    assert check(almost, (leaf(1.0),), atol=0.0, rtol=1e-2)
    assert not check(almost, (leaf(1.0),), atol=1e-5, rtol=1e-5, raise_exception=False)


def test_an_error_of_the_function_is_not_hidden(leaf, check):
    with pytest.raises(ZeroDivisionError):
        check(lambda x: 1 / 0, (leaf(1.0),))


def test_non_contiguous_gradients_are_generated_on_request(leaf, check_twice):
    assert check_twice(lambda x: x**3, (leaf([[1.0, 2.0]]),), gen_non_contig_grad_outputs=True)
