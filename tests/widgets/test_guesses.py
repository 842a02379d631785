"""How guesses of what a lesson prints are judged, by Node as by the reader's browser."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from minigrad_course.content.lesson_blocks import Block, parse
from minigrad_course.content.stages import stages

GUESS = Path(__file__).resolve().parents[2] / "site" / "runtime" / "static" / "guess.js"
ASK = f"""
const {{ judged }} = await import({json.dumps(GUESS.as_uri())});
let text = "";
for await (const piece of process.stdin) text += piece;
console.log(JSON.stringify(JSON.parse(text).map((each) => judged(...each))));
"""
FOLDED = {f"{stage.key}-{number}": block for stage in stages()
          for number, block in enumerate((each for each in parse(
              stage.text(), stage.key) if each.predicted), 1)}

#: What readers answered or might, and how that has to be judged.
CASES = [
    ("00_chain_rule-1", "0.001", "right"),
    ("00_chain_rule-1", "by 1e-3", "right"),
    ("00_chain_rule-1", "6.001", "right"),
    ("00_chain_rule-1", "0.01", "wrong"),
    ("00_chain_rule-1", "6", "open"),
    ("00_chain_rule-1", "very little", "open"),
    ("00_chain_rule-3", "the slope to y", "right"),
    ("00_chain_rule-3", "y, as x is the other factor", "open"),
    ("00_chain_rule-3", "0.5, 2", "right"),
    ("00_chain_rule-4", "0 and 1", "right"),
    ("00_chain_rule-4", "0 and 2", "open"),  # any other number is right too
    ("00_chain_rule-5", "1.3591 5.4366 1", "right"),
    ("00_chain_rule-5", "a 1.36, b 5.44, e 1", "right"),
    ("00_chain_rule-5", "1.35914 5.43656 1.0", "right"),
    ("00_chain_rule-5", "b 1.3591, a 5.4366, e 1", "open"),
    ("00_chain_rule-5", "1, 1.4, 5.4", "open"),  # in another order, with fewer digits
    ("00_chain_rule-5", "2.718 5.4366 1", "wrong"),
    ("00_chain_rule-6", "24 and 40", "right"),
    ("00_chain_rule-6", "a.grad 24, b.grad 40", "open"),  # names that are not printed
    ("00_chain_rule-6", "24, 36", "wrong"),
    ("00_chain_rule-6", "4 \u00d7 6, 40", "open"),
    ("01_function-1", "[6, 100]", "right"),
    ("01_function-1", "tensor([6., 100.])", "right"),
    ("01_function-7", "no, yes", "open"),
    ("01_function-7", "false, then true", "right"),
    ("01_function-7", "False tensor(8.) True", "right"),
    ("03_engine-1", "17,710", "right"),
    ("03_engine-1", "20", "wrong"),
    ("03_engine-1", "2^20", "open"),
    ("03_engine-4", "nothing", "right"),
    ("03b_backward-1", "[4, 1] and [6, 6]", "right"),
    ("04b_reductions-1", "-0.5 0 0.5", "right"),
    ("04b_reductions-1", "\u22120.5, 0, 0.5", "right"),
    ("04b_reductions-1", "-1, 0, 1", "wrong"),
    ("05_hooks-1", "None", "right"),
    ("05_hooks-5", "9.5e-07", "open"),  # a bound: the question asks how much about
    ("08_functional-5", "W; (2, 2, 4, 4)", "right"),
    ("08b_forward_mode-2", "3, 1", "right"),
    ("10_anomaly-1", "[False, False, False] [False, True, False]", "right"),
    ("10_anomaly-1", "[False True False] [False True False]", "open"),
    ("12_backend-1", "object", "right"),
    ("12_backend-1", "", "open"),
]


def judged(cases: list[tuple[str, Block]]) -> list[str]:
    if shutil.which("node") is None:
        pytest.skip("Node runs the site's scripts")
    asked = [(guess, block.printed, block.answers) for guess, block in cases]
    told: list[str] = json.loads(subprocess.run(
        ["node", "--input-type=module", "-e", ASK], input=json.dumps(asked), text=True,
        capture_output=True, check=True, timeout=60).stdout)
    return told


def test_a_right_answer_is_never_called_wrong() -> None:
    found = judged([(guess, FOLDED[name]) for name, guess, _ in CASES])
    assert [(*case[:2], how) for case, how in zip(CASES, found, strict=True)] == CASES


def plainly(printed: str) -> str:
    """The numbers and truths of an output, without its words."""
    number = r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?"
    return " ".join(re.findall(rf"{number}|\b(?:True|False|None)\b", printed.replace(",", ", ")))


@pytest.mark.parametrize("change", [
    str, str.lower, lambda text: " ".join(text.split()), lambda text: text.replace("\n", " and ")])
def test_what_each_lesson_prints_and_lists_is_right(change: Any) -> None:
    cases = [(change(guess), block) for block in FOLDED.values()
             for guess in (block.printed or "", *block.answers)]
    told = zip(cases, judged(cases), strict=True)
    assert [(guess, how) for (guess, _), how in told if how != "right"] == []


def test_where_no_answer_is_listed_nothing_is_called_wrong() -> None:
    cases = [(guess, block) for block in FOLDED.values() if not block.answers
             for guess in ("1", "1 2", "no", plainly(block.printed or "") + " 7")]
    assert "wrong" not in judged(cases)
