"""Modules whose `__init__` doesn't call `super().__init__()`."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.engines import ENGINES, NAMES


@pytest.mark.parametrize("torch", ENGINES, ids=NAMES)
def test_a_call_names_the_missing_table(torch: Any) -> None:
    class Bare(torch.nn.Module):
        def __init__(self) -> None:
            self.x = 5

        def forward(self, x: Any) -> Any:
            return x

    with pytest.raises(AttributeError, match="'Bare' object has no attribute '_backward_hooks'"):
        Bare()(1)
