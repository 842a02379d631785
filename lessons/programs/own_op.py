"""Run the registry's tests on an operation of your own.

    minigrad python --mine 04d own_op.py

Every op of the package passes these tests, which take samples from its declaration. They are in
`tests/ops/test_registry.py`, beside the course.  `minigrad python` finds this program by its name.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from minigrad.examples.softplus import declare_log1p_exp
from minigrad.op.publish import publish

#: Tests that are for ops which the package brings, and why.
LEFT_OUT = {
    "test_declaration_is_complete": "the package's docstrings have an example",
    "test_a_batching_rule_or_the_reason_why_there_is_none":
        "batching rules are gathered while the package is imported",
}


def registry_tests(op: Any) -> Iterator[Callable[[Any], None]]:
    """Yield the tests of the registry that an op has to pass."""
    for name, test in vars(import_module("tests.ops.test_registry")).items():
        if name.startswith("test_") and list(inspect.signature(test).parameters) == ["op"]:
            (cases,) = (mark.args[1] for mark in test.pytestmark if mark.name == "parametrize")
            # a case that pytest may skip is wrapped, together with its marks
            ops = [getattr(case, "values", (case,))[0] for case in cases]
            if op in ops and name not in LEFT_OUT:
                yield test


def main() -> int:
    """Declare the op, run the tests, say how each ended, and return how many failed."""
    op = declare_log1p_exp()
    publish(op)
    failed = 0
    try:
        tests = list(registry_tests(op))
    except ModuleNotFoundError as error:
        sys.exit(f"the registry's tests cannot be run: {error}")
    for test in tests:
        try:
            test(op)
            state = "passed"
        except Exception as error:
            state, failed = f"failed ({type(error).__name__}: {error})", failed + 1
        print(f"{test.__name__.removeprefix('test_').replace('_', ' ')}: {state}")
    print(f"{len(tests) - failed} of {len(tests)} tests of the registry pass for {op.__name__}")
    return failed


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
