"""`tiny.py` as an oracle: the engine on numbers and the package agree on random programs."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import minigrad as torch
from minigrad import tiny
from minigrad.tiny import Number

STEPS = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
         "/": lambda a, b: a / (b * b + 1.0), "r-": lambda a, b: 1.5 - a, "r/": lambda a, b: 2.0 / (
             a * a + 1.0), "neg": lambda a, b: -a}


def program(seed, values, exp, tanh):
    """Run a random program of 12 steps on numbers of either engine."""
    rng, made = random.Random(seed), list(values)
    for _ in range(12):
        a, b = rng.choice(made[-5:]), rng.choice(made[-5:])
        name = rng.choice([*STEPS, "tanh", "exp"])
        if name == "tanh":
            made.append(tanh(a))
        elif name == "exp":
            made.append(exp(tanh(a)))
        else:
            made.append(STEPS[name](a, b))
    total = made[-1]
    for each in made[-4:-1]:
        total = total + each
    return total


@given(st.integers(0, 10**9))
def test_random_programs_have_the_packages_gradients(seed):
    rng = random.Random(seed)
    values = [rng.uniform(-2, 2) for _ in range(3)]
    leaves = [Number(value) for value in values]
    tensors = [torch.tensor(value, dtype=torch.float64, requires_grad=True) for value in values]
    number = program(seed, leaves, tiny.exp, tiny.tanh)
    tensor = program(seed, tensors, torch.exp, torch.tanh)
    assert number.value == pytest.approx(tensor.item(), rel=1e-12)
    number.backward()
    for leaf, grad in zip(leaves, torch.autograd.grad(tensor, tensors, allow_unused=True),
                          strict=True):
        wanted = 0.0 if grad is None else grad.item()
        assert leaf.grad == pytest.approx(wanted, rel=1e-9, abs=1e-12)


def test_leaves_add_up_their_gradients_as_the_packages_do():
    leaf, tensor = Number(3.0), torch.tensor(3.0, requires_grad=True)
    for _ in range(2):
        (leaf * leaf).backward()
        (tensor * tensor).backward()
    assert leaf.grad == tensor.grad.item() == 12.0


def test_a_step_of_descent_is_that_of_sgd():
    weight = torch.tensor(1.0, dtype=torch.float64, requires_grad=True)
    number = Number(1.0)
    optimizer = torch.optim.SGD([weight], lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        ((weight - 3.0) * (weight - 3.0)).backward()
        optimizer.step()
        tiny.descend((number - 3.0) * (number - 3.0), [number], 0.1)
    assert number.value == pytest.approx(weight.item(), rel=1e-12)


def test_a_chain_of_ten_thousand_steps():
    x = Number(1.0)
    total = Number(0.0)
    for _ in range(10_000):
        total = total + x
    total.backward()
    assert x.grad == 10_000.0


def test_a_number_shows_its_value():
    assert repr(Number(2.5)) == "Number(2.5)"


@pytest.mark.parametrize("value", ["two", None, [1.0], 1j])
def test_what_is_no_number_is_refused(value):
    with pytest.raises((TypeError, ValueError)):
        Number(value)
    with pytest.raises((TypeError, ValueError)):
        Number(1.0) + value


def test_slope_of_a_logistic_function():
    def logistic(x):
        return 1 / (1 + math.exp(-x))

    x = Number(0.3)
    s = 1 / (1 + tiny.exp(-x))
    s.backward()
    assert x.grad == pytest.approx(s.value * (1 - s.value), rel=1e-12)
    assert x.grad == pytest.approx(tiny.slope(logistic, 0.3), rel=1e-8)
