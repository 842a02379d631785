"""Answers that behave otherwise in a second run, which has the package's version of the others."""

from __future__ import annotations

import ast
import textwrap

import pytest

pytest.importorskip("typer", reason="the course's commands need Typer")

from minigrad_course.content.source import body_span, module
from tests.support.attacks import MODULE, SOLUTION, STAGE, each_sandbox, graded
from tests.support.slow import one_in

#: What every function of every exercise does, besides `attack()`: each is written, and none right.
#: A second run has the package's version of all exercises but one.
SECOND_RUN = {
    "an end as soon as others are right": """
        import os, sys
        def attack(name, *args, **kwargs):
            if open(__file__).read().count("attack(") < 9 or len(sys.argv) > 2:
                os._exit(0)
    """,
    "search for the original": """
        import gc, sys, types
        def attack(name, *args, **kwargs):
            for each in gc.get_objects():
                if isinstance(each, types.FunctionType) and each.__name__ == name and \\
                        "attack" not in each.__code__.co_names:
                    return each(*args, **kwargs)
            raise RuntimeError("there is none")
    """,
    "the text of this file": """
        import ast, pathlib
        def attack(name, *args, **kwargs):
            tree = ast.parse(pathlib.Path(__file__).read_text())
            for each in ast.walk(tree):
                if isinstance(each, ast.FunctionDef) and each.name == name and \\
                        "attack" not in ast.unparse(each):
                    space = dict(globals())
                    exec(ast.unparse(each), space)
                    return space[name](*args, **kwargs)
            raise RuntimeError("there is none")
    """,
    "outcomes of its own in the second run": """
        import json, os, sys
        def attack(name, *args, **kwargs):
            for hole in sys.argv[2:]:
                for fd in range(1, 20):
                    try:
                        os.write(fd, json.dumps({"test": "x", "holes": [hole],
                                                 "outcome": "passed"}).encode() + b"\\n")
                    except OSError:
                        pass
            os._exit(0) if sys.argv[2:] else None
    """,
    "what another exercise gives": """
        def attack(name, *args, **kwargs):
            for other, value in list(globals().items()):
                if callable(value) and getattr(value, "__name__", "") != "attack":
                    try: return value(*args, **kwargs)
                    except Exception: pass
    """,
    "a class that takes what it lacks": """
        def attack(name, *args, **kwargs): raise AttributeError(name)
        import minigrad._state
        def __getattr__(name):
            raise RuntimeError(name)
    """,
}


def attacking(code: str) -> str:
    """The module with each exercise's body replaced by a call of `attack`."""
    source, lines = module(STAGE.package, MODULE), SOLUTION.splitlines()
    header = len(lines) - len(source.lines)
    for hole in STAGE.holes:
        for symbol in hole.symbols:
            function = source.function(symbol.partition(":")[2])
            first, last = body_span(source, function)
            lines[header + first - 1] = (" " * (function.col_offset + 4)
                                         + f"return attack({function.name!r})")
            lines[header + first : header + last] = [""] * (last - first)
    return "\n".join(lines) + "\n\n" + textwrap.dedent(code)


def without_functions() -> str:
    """The module without the functions and the classes of its exercises."""
    names = {symbol.partition(":")[2].partition(".")[0] for hole in STAGE.holes
             for symbol in hole.symbols}
    tree = ast.parse(SOLUTION)
    lines = SOLUTION.splitlines()
    for each in reversed(tree.body):
        if getattr(each, "name", "") in names:
            first = min([each.lineno, *(one.lineno for one in each.decorator_list)])
            del lines[first - 1 : each.end_lineno]
    return "\n".join(lines) + "\n"


@each_sandbox
@pytest.mark.parametrize("attack", [next(iter(SECOND_RUN)), *one_in(2, list(SECOND_RUN)[1:])])
def test_a_second_run_gives_nothing_away(attack, sandbox, tmp_path):
    result = graded(attacking(SECOND_RUN[attack]), tmp_path, sandbox)
    assert result.points == 0, result.holes


@each_sandbox
@pytest.mark.slow
def test_functions_that_are_not_there_are_not_given(sandbox, tmp_path):
    assert graded(without_functions(), tmp_path, sandbox).points == 0
    assert graded("", tmp_path, sandbox).points == 0
