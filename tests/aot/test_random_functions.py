"""Random functions, compiled beside eager mode: the same results, writes, draws and gradients."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.support.slow import DAY

from .random_functions import difference, generate

#: Reasons to refuse a function, and the greatest part of all functions.
REFUSED = {"refused: torch.compile: a branch depends on a value": 0.15,
           "refused: torch.compile: a value is read": 0.15,
           "refused: torch.compile: the backward pass raises": 0.1,
           "refused: torch.compile: two tensors that share memory": 0.1,
           "refused: torch.compile: an input that is a part of": 0.2,
           "refused: torch.compile: the storage offset of an input": 0.05,
           "refused: torch.compile: A view was": 0.05,
           "refused: torch.compile: bias was changed after the call": 0.05,
           "refused: torch.compile: Output": 0.05}


@pytest.mark.parametrize("count", [60, pytest.param(1000, marks=pytest.mark.slow)])
def test_random_functions_agree_with_eager_mode(count):
    refused: Counter[str] = Counter()
    for seed in range(DAY * 1000, DAY * 1000 + count):
        found = difference(generate(seed))
        if found is not None:
            reason = next((each for each in REFUSED if found.startswith(each)), None)
            assert reason, f"seed {seed}:\n{generate(seed).source}{found}"
            refused[reason] += 1
    assert all(refused[each] <= REFUSED[each] * count + 2 for each in REFUSED), refused
