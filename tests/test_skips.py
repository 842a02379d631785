"""Skips and ignores have their reason beside them, and a run says what skipped tests wait for."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests import conftest
from tests.support.skips import waiting

GPU = "needs a CUDA device and CuPy"
OTHERS = ["PyTorch is not installed", "Playwright drives the browser", "there is one"]


@pytest.mark.parametrize(("reasons", "line"), [
    ([], ""),
    (["Skipped: compares with PyTorch"] * 2, "2 skipped, waiting for: PyTorch (2)"),
    ([GPU] * 1200 + OTHERS * 3,
     "1,209 skipped, waiting for: a CUDA device and its libraries (1,200), PyTorch (3), "
     "`make site-check` (3), other things, listed by -rs (3)"),
])
def test_what_skipped_tests_wait_for(reasons, line):
    assert waiting(reasons) == line


@pytest.mark.parametrize("listed", [False, True])
def test_the_line_stands_at_the_end_of_a_run(listed):
    lines = []
    reporter = SimpleNamespace(
        stats={"skipped": [SimpleNamespace(longrepr=("file.py", 3, "Skipped: there is one"))]},
        write_line=lines.append, hasopt=lambda letter: listed)
    conftest.pytest_terminal_summary(reporter)
    assert lines == ([] if listed else ["1 skipped, waiting for: other things, listed by -rs (1)"])


ROOT = Path(__file__).resolve().parents[1]
SOURCES = [path for folder in ("minigrad", "tests") for path in (ROOT / folder).rglob("*.py")]
#: Calls that skip, and whether their first argument is the reason.
SKIPS = {"pytest.skip": True, "pytest.mark.skip": True, "pytest.xfail": True,
         "pytest.mark.skipif": False, "pytest.mark.xfail": False, "pytest.importorskip": False}
WARNINGS = "filterwarnings", "simplefilter", "catch_warnings"
ENDS = tuple(name.rpartition(".")[2] for name in SKIPS) + WARNINGS
#: What a module says that has any of this. Most modules do not, and need no parsing.
SAID = re.compile("type: ?ignore|noqa|TODO|FIXME|pragma: no cover|" + "|".join(ENDS))


def without_reason(text: str) -> list[int]:
    """Return the lines of skips, xfails, ignores and to-dos of a module that give no reason."""
    if not SAID.search(text):
        return []
    comments = {token.start[0]: token.string
                for token in tokenize.generate_tokens(io.StringIO(text).readline)
                if token.type == tokenize.COMMENT}
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)
             and getattr(node.func, "attr", getattr(node.func, "id", "")).endswith(ENDS)]
    return [*(line for line, comment in comments.items() if leaves_open(comment)),
            *(call.lineno for call in calls if skips_in_silence(call)),
            *(call.lineno for call in calls if ignores_warnings(call)
              and comments.keys().isdisjoint(lines_of(call)))]


def leaves_open(comment: str) -> bool:
    """Tell whether a comment switches a check off, or puts something off, and does not say why."""
    if re.search(r"type: ?ignore|noqa", comment):
        return comment.count("#") < 2
    return bool(re.search(r"\b(TODO|FIXME|pragma: no cover)\b(?!: \w)", comment))


def skips_in_silence(call: ast.Call) -> bool:
    first_is_reason = SKIPS.get(ast.unparse(call.func))
    return first_is_reason is not None and not (first_is_reason and call.args) and not any(
        each.arg == "reason" for each in call.keywords)


def ignores_warnings(call: ast.Call) -> bool:
    text = ast.unparse(call)
    return bool(re.match(rf"[\w.]*({'|'.join(WARNINGS)})\(", text)) and "ignore" in text


def lines_of(call: ast.Call) -> range:
    """Return a call's lines, with the one above it and the one below it."""
    return range(call.lineno - 1, (call.end_lineno or call.lineno) + 2)


@pytest.mark.parametrize(("line", "count"), [
    ("import pytest; pytest.skip('no compiler')", 0), ("pytest.skip()", 1),
    ("pytest.importorskip('torch')", 1), ("pytest.importorskip('torch', reason='compares')", 0),
    ("pytest.mark.skipif(True)", 1), ("pytest.mark.xfail(reason='a fault of NumPy')", 0),
    ("x = 1  # type: ignore[misc]", 1), ("x = 1  # type: ignore[misc]  # a number has none", 0),
    ("x = 1  # noqa: E501", 1), ("# TODO", 1), ("# TODO: float16 on a GPU", 0),
    ("warnings.simplefilter('ignore')", 1), ("warnings.simplefilter('error')", 0),
    ("warnings.catch_warnings(action='ignore')", 1), ("warnings.catch_warnings()", 0),
    ("warnings.simplefilter('ignore')  # slow on purpose", 0),
    ("# slow on purpose\nwarnings.simplefilter('ignore')", 0),
])
def test_what_lacks_a_reason_is_seen(line, count):
    assert len(without_reason(line)) == count


def test_every_skip_and_every_ignore_has_its_reason_beside_it():
    found = {f"{path.relative_to(ROOT)}:{number}" for path in SOURCES
             for number in without_reason(path.read_text(encoding="utf-8"))}
    assert found == set()
