"""Checkpointing: the same gradients, with the forward run again in the backward pass."""

from __future__ import annotations

import pytest

BOTH = pytest.mark.parametrize("use_reentrant", [True, False], ids=["reentrant", "not_reentrant"])


@pytest.fixture
def checkpoint(torch):
    return torch.utils.checkpoint.checkpoint


@pytest.fixture(autouse=True)
def _import(torch):
    __import__(f"{torch.__name__}.utils.checkpoint")


@BOTH
def test_gradients_are_the_same(leaf, checkpoint, use_reentrant):
    x, w = leaf(2.0), leaf(3.0)
    checkpoint(lambda x: (x * w).exp() * x, x, use_reentrant=use_reentrant).backward()
    a, b = leaf(2.0), leaf(3.0)
    ((a * b).exp() * a).backward()
    assert (x.grad.tolist(), w.grad.tolist()) == (a.grad.tolist(), b.grad.tolist())


@BOTH
def test_the_function_runs_again_in_backward(leaf, checkpoint, use_reentrant):
    calls = []

    def work(x):
        calls.append(1)
        return x.exp()

    y = checkpoint(work, leaf(2.0), use_reentrant=use_reentrant)
    assert len(calls) == 1
    y.backward()
    assert len(calls) == 2


@BOTH
def test_several_inputs_and_outputs(leaf, checkpoint, use_reentrant):
    x, y = leaf(2.0), leaf(3.0)
    a, b = checkpoint(lambda x, y: (x * y, x + y), x, y, use_reentrant=use_reentrant)
    (a + 10 * b).backward()
    assert (x.grad.tolist(), y.grad.tolist()) == (13.0, 12.0)


@BOTH
def test_random_numbers_are_the_same_again(torch, leaf, checkpoint, use_reentrant):
    seen = []

    def work(x):
        noise = torch.rand((), dtype=torch.float64)
        seen.append(noise.tolist())
        return x.exp() * noise

    checkpoint(work, leaf(2.0), use_reentrant=use_reentrant).backward()
    assert seen[0] == seen[1]


def test_random_numbers_may_differ_on_request(torch, leaf, checkpoint):
    seen = []

    def work(x):
        seen.append(torch.rand(()).tolist())
        return x.exp()

    checkpoint(work, leaf(2.0), use_reentrant=False, preserve_rng_state=False).backward()
    assert seen[0] != seen[1]


def test_the_reentrant_kind_needs_an_input_with_grad(torch, leaf, checkpoint):
    w = leaf(3.0)
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True. Gradients w"):
        y = checkpoint(lambda x: x * w, torch.ones(()), use_reentrant=True)
    assert not y.requires_grad


def test_the_non_reentrant_kind_needs_no_input_with_grad(torch, leaf, checkpoint):
    w = leaf(3.0)
    checkpoint(lambda x: x * w, torch.ones((), dtype=torch.float64) * 5,
               use_reentrant=False).backward()
    assert w.grad.tolist() == 5.0


def test_the_reentrant_kind_knows_backward_only(torch, leaf, checkpoint):
    x = leaf(2.0)
    y = checkpoint(lambda x: x.exp(), x, use_reentrant=True)
    with pytest.raises(RuntimeError, match="incompatible with .grad\\(\\)|not compatible with .gr"):
        torch.autograd.grad(y, x)


def test_the_other_kind_knows_grad_and_second_derivatives(torch, leaf, checkpoint):
    x = leaf(2.0)
    y = checkpoint(lambda x: x**3, x, use_reentrant=False)
    (slope,) = torch.autograd.grad(y, x, create_graph=True)
    assert torch.autograd.grad(slope, x)[0].tolist() == 12.0


def test_keyword_arguments_are_for_the_other_kind(leaf, checkpoint):
    x = leaf(2.0)
    assert checkpoint(lambda x, k=1: x * k, x, k=3, use_reentrant=False).tolist() == 6.0
    with pytest.raises(ValueError, match="Unexpected keyword arguments: k"):
        checkpoint(lambda x, k=1: x * k, x, k=3, use_reentrant=True)


@BOTH
def test_leaf_hooks_run_once(leaf, checkpoint, use_reentrant):
    w, x, calls = leaf(3.0), leaf(2.0), []
    w.register_hook(lambda g: calls.append(1))
    checkpoint(lambda x: w * x, x, use_reentrant=use_reentrant).backward()
    assert calls == [1]


@BOTH
# run without a graph on purpose
@pytest.mark.filterwarnings("ignore:None of the inputs have requires_grad=True")
def test_checkpoints_nest(leaf, checkpoint, use_reentrant):
    def inner(x):
        return x.exp()

    def outer(x):
        return checkpoint(inner, x * 2, use_reentrant=use_reentrant) * x

    x, y = leaf(0.5), leaf(0.5)
    checkpoint(outer, x, use_reentrant=use_reentrant).backward()
    ((y * 2).exp() * y).backward()
    assert x.grad.tolist() == pytest.approx(y.grad.tolist())


@BOTH
@pytest.mark.parametrize("segments", [1, 2, 3])
def test_a_sequence_is_checkpointed_in_segments(torch, leaf, use_reentrant, segments):
    functions = [lambda x: x * 2, lambda x: x.exp(), lambda x: x + 1]
    x = leaf(0.5)
    y = torch.utils.checkpoint.checkpoint_sequential(functions, segments, x,
                                                     use_reentrant=use_reentrant)
    y.backward()
    z = leaf(0.5)
    ((z * 2).exp() + 1).backward()
    assert x.grad.tolist() == z.grad.tolist()


def test_the_kind_has_to_be_said(leaf, checkpoint):
    with pytest.warns(UserWarning, match="use_reentrant parameter should be passed explicitly"):
        checkpoint(lambda x: x.exp(), leaf(1.0))


def test_nothing_is_saved_inside(torch, leaf, checkpoint):
    packed = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(1) or t, lambda t: t):
        checkpoint(lambda x: x.exp().sin().cos(), leaf(1.0), use_reentrant=False)
    assert len(packed) <= 1


def test_an_early_stop_runs_no_more_than_needed(torch, leaf, checkpoint):
    calls = []

    def work(x):
        y = x.exp()
        calls.append("late")
        return y

    checkpoint(work, leaf(1.0), use_reentrant=False).backward()
    assert calls in (["late"], ["late", "late"])
