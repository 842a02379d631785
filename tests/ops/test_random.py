"""Random tensors: PyTorch's numbers after the same seed, and no gradient through what is random."""

import copy
import pickle
import re

import numpy as np
import pytest

import minigrad
from minigrad import Generator, manual_seed
from minigrad.ops.random.generator import fork_rng
from tests.support.parity import outcome

SEEDED = """
torch.rand(3)
torch.rand((2, 3))
torch.rand(100)
torch.rand(2, dtype=torch.int64)
torch.rand(3, requires_grad=True)
torch.rand(3, generator=torch.Generator().manual_seed(5))
torch.randn(3)
torch.randn(100)
torch.randn(20, dtype=torch.float16)
torch.randn(2, dtype=torch.int64)
torch.randint(10, (2,))
torch.randint(3, 10, (2,))
torch.randint(3, 10, size=(2,), dtype=torch.float32)
torch.randint(high=10, size=(2,))
torch.randint(low=3, high=10, size=(2,))
torch.randint(0, 2**40, (3,))
torch.randint(10, 2)
torch.randint(5, 5, (2,))
torch.randint(300, (2,), dtype=torch.uint8)
torch.randint(2.5, (2,))
torch.randperm(20)
torch.randperm(4, dtype=torch.float32)
torch.randperm(-1)
torch.randperm(300, dtype=torch.uint8)
torch.rand_like(torch.from_numpy(np.ones((4, 3)).T))
torch.rand_like(torch.ones(2, dtype=torch.int64))
torch.rand_like(torch.ones(2, dtype=torch.int64), dtype=torch.float32)
torch.randn_like(torch.ones(3))
torch.randint_like(torch.ones(2), 10)
torch.randint_like(torch.ones(2), 5, 10)
torch.normal(0., 1., (2,))
torch.normal(1., 2., size=(3, 4))
torch.normal(torch.arange(20.), torch.ones(20))
torch.normal(torch.arange(20.), 2.)
torch.normal(1., torch.arange(20.))
torch.normal(torch.zeros(2, 1), torch.ones(3))
torch.normal(torch.zeros(2), -1.)
torch.normal(torch.zeros(2), -torch.ones(2))
torch.normal(torch.zeros(2), torch.ones(3))
torch.bernoulli(torch.full((3, 2), 0.5))
torch.bernoulli(torch.tensor([0.5, .5]), 0.5)
torch.poisson(torch.arange(12.).reshape(3, 4).t())
torch.poisson(torch.linspace(0, 200, 1000, dtype=torch.float64))
torch.poisson(torch.full((700,), 9.5, dtype=torch.float16))
torch.poisson(torch.tensor([3., 20.], requires_grad=True))
torch.poisson(torch.tensor([3., 20.]), generator=torch.Generator().manual_seed(5))
torch.poisson(torch.tensor([1]))
torch.poisson(torch.tensor([-1.]))
torch.poisson(torch.tensor([float('nan')]))
torch.poisson([1.])
torch.bernoulli(torch.tensor([0.5, .5], requires_grad=True))
torch.bernoulli(torch.tensor([0, 1]))
torch.bernoulli(torch.tensor([0., 2.]))[0]
torch.tensor([1, 2]).bernoulli_(0.5)
torch.tensor([1, 2]).bernoulli_(torch.tensor([0., 1.]))
torch.tensor([1., 2]).bernoulli_(torch.tensor([0, 1]))
torch.tensor([1., 2]).bernoulli_(torch.tensor([0., 1., 1.]))
torch.tensor([1., 2]).bernoulli_(2.)
torch.zeros(2, 3).bernoulli_(torch.full((3,), 0.5))
torch.tensor([1., 2]).uniform_(2, 5)
torch.tensor([1, 2]).uniform_()
torch.tensor([1., 2]).uniform_(2, 1)
torch.tensor([1., 2]).uniform_(0, float('inf'))
torch.from_numpy(np.ones((4, 3)).T).uniform_()
torch.from_numpy(np.ones((2, 3)).T).normal_()
torch.tensor([1., 2]).normal_(3, 2)
torch.tensor([1, 2]).normal_()
torch.tensor([1., 2]).normal_(0, -1)
torch.ones(5).exponential_(2.)
torch.tensor([1, 2]).exponential_()
torch.tensor([1., 2]).exponential_(0)
torch.ones(9, dtype=torch.bool).random_()
torch.ones(9, dtype=torch.uint8).random_()
torch.ones(9, dtype=torch.int8).random_()
torch.ones(9, dtype=torch.int16).random_()
torch.ones(9, dtype=torch.int32).random_()
torch.ones(9, dtype=torch.int64).random_()
torch.ones(9, dtype=torch.float16).random_()
torch.ones(9, dtype=torch.float32).random_()
torch.ones(9, dtype=torch.float64).random_()
torch.tensor([1, 2]).random_(5)
torch.tensor([1., 2]).random_(5, 7)
torch.tensor([1, 2]).random_(7, 5)
torch.ones(2, requires_grad=True).uniform_()
torch.multinomial(torch.tensor([[1., 2., 3.], [1., 1., 0.]]), 2)
torch.multinomial(torch.tensor([1., 2.], requires_grad=True), 3, replacement=True)
torch.multinomial(torch.tensor([1, 2]), 1)
torch.multinomial(torch.tensor([1., 2.]), 3)
torch.multinomial(torch.ones(2, 2, 2), 3)
torch.dropout(torch.arange(8.), 0.3, True)
torch.dropout(torch.arange(8., requires_grad=True), 0.5, True)
torch.dropout(torch.ones(3, requires_grad=True), 0.5, False)
torch.dropout(torch.ones(3, requires_grad=True), 1., True)
torch.dropout(torch.ones(3), 1.5, True)
torch.dropout(torch.tensor([1, 2]), .5, True)
torch.dropout_(torch.ones(3), .5, True)
torch.feature_dropout(torch.ones(2, 2, 2), .5, True)
torch.alpha_dropout(torch.arange(8.), 0.3, True)
torch.feature_alpha_dropout(torch.ones(2, 2, 2), .5, True)
tuple(torch.native_dropout(torch.arange(8.), 0.3, True))
tuple(torch.native_dropout(torch.arange(8., dtype=torch.float64), 0.3, False))
torch.manual_seed('a')
torch.manual_seed(2**64)
torch.manual_seed(-1).initial_seed()
torch.get_rng_state()
torch.set_rng_state(3)
torch.set_rng_state(torch.ones(3))
torch.set_rng_state(torch.ones(3, dtype=torch.uint8))
"""


@pytest.fixture(autouse=True)
def state_put_back():
    with fork_rng():
        yield


@pytest.mark.parametrize("expression", [line for line in SEEDED.split("\n") if line])
def test_agrees_with_torch(expression: str) -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    found = []
    for module in (minigrad, torch):
        module.manual_seed(3)
        text = outcome(module, expression)
        next_number = outcome(module, "torch.rand(1, dtype=torch.float64)")
        failed = re.match(r"\w+(Error|Exception): ", text)
        found.append((text, None if failed else next_number))
    assert found[0] == found[1]


def test_numbers_of_seed_zero():
    manual_seed(0)
    assert minigrad.randint(10, (5,)).tolist() == [4, 9, 3, 0, 3]
    manual_seed(0)
    assert repr(minigrad.rand(2)) == "tensor([0.4963, 0.7682])"
    manual_seed(0)
    assert repr(minigrad.randn(3)) == "tensor([ 1.5410, -0.2934, -2.1788])"


def test_the_state_can_be_kept_and_put_back():
    state = minigrad.get_rng_state()
    first = minigrad.randn(5).tolist()
    minigrad.set_rng_state(state)
    assert minigrad.randn(5).tolist() == first
    assert state.dtype is minigrad.uint8


def test_generators_have_states_of_their_own():
    one, two = Generator().manual_seed(1), Generator().manual_seed(1)
    manual_seed(5)
    before = minigrad.rand(2).tolist()
    manual_seed(5)
    drawn = [getattr(minigrad, name)(3, generator=one).tolist() for name in ("rand", "randn")]
    assert minigrad.rand(2).tolist() == before
    assert [getattr(minigrad, name)(3, generator=two).tolist()
            for name in ("rand", "randn")] == drawn
    assert one.initial_seed() == 1 and one.device == minigrad.device("cpu")
    assert minigrad.rand(2, generator=one.clone_state()).tolist() == minigrad.rand(
        2, generator=one).tolist()


def test_every_random_function_takes_a_generator():
    generator = Generator()
    x, p = minigrad.ones(4), minigrad.full((4,), 0.5)
    calls = [
        lambda: minigrad.rand(4, generator=generator),
        lambda: minigrad.randn(4, generator=generator),
        lambda: minigrad.randint(100, (4,), generator=generator),
        lambda: minigrad.randperm(9, generator=generator),
        lambda: minigrad.rand_like(x, generator=generator),
        lambda: minigrad.randn_like(x, generator=generator),
        lambda: minigrad.randint_like(x, 100, generator=generator),
        lambda: minigrad.normal(x, 1.0, generator=generator),
        lambda: minigrad.normal(0.0, 1.0, (4,), generator=generator),
        lambda: minigrad.bernoulli(p, generator=generator),
        lambda: minigrad.multinomial(x, 3, generator=generator),
        lambda: x.clone().uniform_(generator=generator),
        lambda: x.clone().normal_(generator=generator),
        lambda: x.clone().bernoulli_(0.5, generator=generator),
        lambda: x.clone().exponential_(generator=generator),
        lambda: x.clone().random_(generator=generator),
    ]
    state = minigrad.get_rng_state().tolist()
    for call in calls:
        generator.manual_seed(1)
        first = call().tolist()
        generator.manual_seed(1)
        assert call().tolist() == first
    assert minigrad.get_rng_state().tolist() == state
    with pytest.raises(TypeError, match="generator"):
        minigrad.rand(2, generator=3)


@pytest.mark.parametrize("write", ["uniform_", "normal_", "bernoulli_", "exponential_", "random_"])
def test_a_random_write_cuts_the_gradient(write):
    x = minigrad.ones(3, requires_grad=True)
    y = x * 2
    version = y._version
    assert getattr(y, write)() is y
    assert y._version == version + 1 and y.requires_grad
    assert write.removesuffix("_").capitalize() in y.grad_fn.name()
    y.backward(minigrad.ones(3))
    assert x.grad.tolist() == [0, 0, 0]


def test_a_random_write_through_a_view_cuts_that_part_only():
    x = minigrad.ones(4, requires_grad=True)
    y = x * 2
    y[:2].uniform_()
    y.backward(minigrad.ones(4))
    assert x.grad.tolist() == [0, 0, 2, 2]


def test_a_random_write_spoils_what_was_saved():
    x = minigrad.ones(3, requires_grad=True)
    y = x * 2
    z = y * y
    y.uniform_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward(minigrad.ones(3))


def test_random_writes_follow_the_rules_of_writes():
    leaf = minigrad.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        leaf.normal_()
    with minigrad.no_grad():
        leaf.normal_()
    assert leaf.is_leaf and leaf.requires_grad
    with pytest.raises(RuntimeError, match="single memory location"):
        minigrad.ones(1).expand(3).uniform_()


def test_writes_reach_only_the_view():
    x = minigrad.zeros(2, 3)
    x[:, 1].uniform_(1, 2)
    values = x.numpy()
    assert (values[:, 1] >= 1).all() and not values[:, [0, 2]].any()


def test_dropout_scales_what_it_keeps_and_sends_gradients_there():
    manual_seed(1)
    x = minigrad.ones(1000, requires_grad=True)
    y = minigrad.dropout(x, 0.25, True)
    kept = y.detach().numpy() != 0
    assert 0.7 < kept.mean() < 0.8
    assert np.allclose(y.detach().numpy()[kept], 1 / 0.75)
    y.backward(minigrad.ones(1000))
    assert (x.grad.numpy() == y.detach().numpy()).all()


def test_native_dropout_saves_the_mask_alone():
    x = minigrad.ones(10, requires_grad=True)
    y, mask = minigrad.native_dropout(x, 0.5, True)
    assert mask.dtype is minigrad.bool and not mask.requires_grad
    y.backward(minigrad.ones(10))
    assert x.grad.tolist() == [2.0 if kept else 0.0 for kept in mask.tolist()]


@pytest.mark.parametrize(("p", "expected"), [(0.0, [1, 2]), (1.0, [0, 0])])
def test_dropout_at_its_ends(p, expected):
    x = minigrad.tensor([1.0, 2.0])
    assert minigrad.dropout(x, p, True).tolist() == expected
    assert minigrad.dropout(x, p, False) is x
    for wrong in (-0.1, 1.1, float("nan")):
        with pytest.raises(RuntimeError, match="dropout probability has to be between 0 and 1"):
            minigrad.dropout(x, wrong, True)


def test_fork_rng_puts_the_state_back_even_after_an_error():
    state = minigrad.get_rng_state().tolist()
    with pytest.raises(KeyError), minigrad.random.fork_rng():
        manual_seed(9)
        raise KeyError
    assert minigrad.get_rng_state().tolist() == state


def test_numbers_for_transposed_tensors_are_drawn_in_the_order_of_memory():
    # Made by PyTorch 2.13, one after the other.
    manual_seed(0)
    ones = minigrad.ones
    assert minigrad.multinomial(ones(3, 2).t(), 2).tolist() == [[1, 2], [0, 2]]
    assert minigrad.multinomial(ones(5, 4).t(), 3).tolist() == [
        [4, 0, 1], [1, 0, 2], [3, 4, 1], [2, 0, 4]]
    drawn = minigrad.empty(2, 3).t().bernoulli_(minigrad.full((3, 2), 0.5))
    assert drawn.tolist() == [[0, 1], [0, 0], [0, 1]]


@pytest.mark.parametrize("copied", [
    copy.copy, copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g)),
], ids=["copy", "deepcopy", "pickle"])
def test_a_copied_generator_goes_on_by_itself_from_the_same_state(copied):
    pytorch = pytest.importorskip("torch", reason="compares with PyTorch")
    drawn = []
    for torch in (minigrad, pytorch):
        generator = torch.Generator().manual_seed(7)
        torch.randn(3, generator=generator)  # also keeps half of a pair of normal numbers
        other = copied(generator)
        assert other is not generator and other != generator and other.initial_seed() == 7
        first = torch.randn(5, generator=other)
        drawn.append(first.tolist())
        assert torch.randn(5, generator=generator).tolist() == first.tolist()
        torch.rand(9, generator=other)
        later = [torch.rand(2, generator=g).tolist() for g in (generator, other)]
        assert later[0] != later[1]
    assert drawn[0] == pytest.approx(drawn[1], rel=1e-6)
