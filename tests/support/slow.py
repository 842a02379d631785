"""Which cases of a parametrised test `make test` runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def slow_but(quick: int | Callable[[Any], bool], cases: Iterable[Any]) -> list[Any]:
    """Mark cases as slow, all but the first `quick` or those for which `quick` is true.

    Each stays a case of its own; `make test-all` runs them all.
    """
    made = []
    for number, case in enumerate(cases):
        keep = quick(case) if callable(quick) else number < quick
        if not keep:
            known = isinstance(case, type(pytest.param()))
            values, marks, name = (case.values, case.marks, case.id) if known else (
                case if isinstance(case, tuple) else (case,), (), None)
            case = pytest.param(*values, marks=[*marks, pytest.mark.slow], id=name)
        made.append(case)
    return made
