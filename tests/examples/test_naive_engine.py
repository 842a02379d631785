"""The naive engine agrees with backward on random programs, and calls a node once for each path."""

import random

import numpy as np
import pytest

import minigrad as torch
from minigrad.examples.naive_engine import NaiveEngine


def program(seed):
    """Return the leaves and the result of a random program with shared results and outputs."""
    rng = random.Random(seed)
    leaves = [torch.tensor([rng.uniform(1, 2) for _ in range(3)], requires_grad=True)
              for _ in range(2)]
    leaves.append(torch.tensor(rng.uniform(1, 2), requires_grad=True))  # which is broadcast
    made = [leaf * 1.0 for leaf in leaves]
    for _ in range(6):
        a, b = rng.choice(made[-4:]), rng.choice(made)
        made.append(rng.choice([
            lambda a, b: a + b, lambda a, b: a * b, lambda a, b: a - b, lambda a, b: a.exp() / b,
            lambda a, b: (a * torch.ones(3)).unbind()[1] + b])(a, b))
    return leaves, (made[-1] + made[-2]).sum()


@pytest.mark.parametrize("seed", range(20))
def test_random_programs_have_the_gradients_of_backward(seed):
    leaves, result = program(seed)
    found = NaiveEngine().backward(result)
    result.backward()
    assert {id(leaf) for leaf in found} == {id(leaf) for leaf in leaves if leaf.grad is not None}
    for leaf, grad in found.items():
        assert grad.shape == leaf.shape
        np.testing.assert_allclose(grad, leaf.grad.numpy(), rtol=1e-4)


def test_it_calls_a_node_once_for_each_path():
    p = q = x = torch.tensor(1.0, requires_grad=True)
    for _ in range(20):
        p, q = q, p + q
    engine = NaiveEngine()
    assert engine.backward(q)[x] == 17711.0
    assert engine.calls == 17710


def test_a_leaf_is_its_own_result_and_no_array_is_written_to():
    x, y = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    found = NaiveEngine().backward(x)
    assert found[x].tolist() == [1.0, 1.0]
    found = NaiveEngine().backward(x + y + x)
    assert (found[x].tolist(), found[y].tolist()) == ([2.0, 2.0], [1.0, 1.0])
    assert NaiveEngine().backward(torch.ones(2)) == {}
