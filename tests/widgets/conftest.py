"""The models of the site's figures, run by Node as the reader's browser runs them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest


@pytest.fixture(scope="session")
def figures() -> Iterator[Any]:
    """A process that draws figures and computes their numbers."""
    if shutil.which("node") is None:
        pytest.skip("Node runs the figures")
    from figures import Figures

    process = Figures()
    yield process
    process.close()


@pytest.fixture(scope="session")
def model(figures: Any) -> Callable[..., Any]:
    """Return the numbers that a figure shows in a state."""
    return lambda name, **state: figures.ask({"model": name, "state": state})
