"""The models of the site's figures, run by Node as the reader's browser runs them."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "site/runtime/python"


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


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Any]]:
    """Ask as the page does: a function by its name, and arguments that are JSON."""
    monkeypatch.syspath_prepend(FOLDER)
    import questions

    yield lambda call, *given: json.loads(questions.answered(call, json.dumps(given)))
    for name in ("questions", "stepping", "digit", "cell"):
        sys.modules.pop(name, None)
