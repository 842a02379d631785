"""Dual numbers agree with the package's forward mode on random programs."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import minigrad as torch
from minigrad.examples import dual_numbers
from minigrad.examples.dual_numbers import Dual, jacobian_vector_product

STEPS = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
         "/": lambda a, b: a / (b * b + 1.0), "r-": lambda a, b: 1.5 - a,
         "r/": lambda a, b: 2.0 / (a * a + 1.0), "r+": lambda a, b: 0.5 + a,
         "r*": lambda a, b: 3.0 * a, "neg": lambda a, b: -a}


def program(seed, values, exp):
    """Run a random program of 10 steps on numbers of either kind."""
    rng, made = random.Random(seed), list(values)
    for _ in range(10):
        a, b = rng.choice(made[-5:]), rng.choice(made[-5:])
        name = rng.choice([*STEPS, "exp"])
        made.append(exp(1.0 / (a * a + 1.0)) if name == "exp" else STEPS[name](a, b))
    return made[-1] + made[-2]


@given(st.integers(0, 10**9))
def test_random_programs_have_the_packages_tangents(seed):
    rng = random.Random(seed)
    point, direction = ([rng.uniform(-2, 2) for _ in range(3)] for _ in range(2))
    value, tangent = jacobian_vector_product(
        lambda *duals: program(seed, duals, dual_numbers.exp), point, direction)
    output, product = torch.func.jvp(
        lambda *tensors: program(seed, tensors, torch.exp),
        tuple(torch.tensor(x, dtype=torch.float64) for x in point),
        tuple(torch.tensor(t, dtype=torch.float64) for t in direction))
    assert value == pytest.approx(output.item(), rel=1e-9, abs=1e-9)
    assert tangent == pytest.approx(product.item(), rel=1e-7, abs=1e-7)


def test_the_parabola_of_the_lesson():
    x = Dual(3.0, 1.0)
    assert x * x + 2 * x == Dual(15.0, 8.0)
    assert Dual(2.0) == Dual(2.0, 0.0)


def test_each_input_needs_its_direction():
    with pytest.raises(ValueError, match=r"zip"):
        jacobian_vector_product(lambda x, y: x * y, (1.0, 2.0), (1.0,))
