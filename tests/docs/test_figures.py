"""Figures in documents are those of the committed results, or of the tree itself."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results"


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def result(page: str, kind: str) -> dict:
    """Return the committed result that a page names."""
    (name,) = set(re.findall(rf"benchmarks/results/({kind}-[\d-]+\.json)", page))
    return json.loads((RESULTS / name).read_text(encoding="utf-8"))


RELIABILITY = text("docs/en/reliability.md") + text("docs/en/reliability_appendix.md")


def percent(share: float) -> str:
    return f"{100 * share:.2f}%"


def test_the_figures_of_the_fuzzer():
    found = result(RELIABILITY, "fuzz")
    compared, different = found["compared"], found["different"]
    explained = percent(1 - found["in_no_line_of_the_list"] / compared)
    rows = [
        f"| programs | {found['programs']:,} |",
        f"| crashed PyTorch | {found['pytorch_crashed']} |",
        f"| compared | {compared:,} |",
        f"| differ in at least one respect | {different} "
        f"({percent(found['agreement'])} agree completely) |",
        f"| still differ if we ignore results that PyTorch leaves open | "
        f"{different - found['different_in_what_pytorch_leaves_open']} "
        f"({percent(found['agreement_in_what_it_defines'])} agree) |",
        f"| differ for a reason that isn't in our list of known differences | "
        f"{found['in_no_line_of_the_list']} "
        f"({explained} agree or differ for a known reason) |",
    ]
    for row in rows:
        assert row in RELIABILITY, row
    agree = f"{percent(found['agreement'])} agree completely"
    both = f"{agree}, and {explained} either agree or differ for a known reason"
    assert both in text("CHANGELOG.md")
    assert f"Of {compared:,} random programs, {both}" in RELIABILITY


def test_the_figures_of_mutation_testing():
    found = result(RELIABILITY, "mutation")
    first, after = found["first_pass"], found["after_the_new_tests"]
    assert f"allows {found['mutants_made']:,} mutants" in RELIABILITY
    row = re.search(
        r"^\| all \| ([\d,]+) \| (\d+) \| \*\*([\d.]+)%\*\* \| (\d+) \| ([\d.]+)% \|$",
        RELIABILITY, re.MULTILINE)
    assert row is not None
    run = int(row[1].replace(",", ""))
    assert run == found["mutants_run"]
    assert int(row[2]) == len(found["survivors_of_the_first_pass"])
    assert int(row[4]) == len(found["survivors"]) == after["alive"]
    assert [row[3], row[5]] == [f"{100 * part['killed']:.1f}" for part in (first, after)]
    assert f"noticed {row[3]}% at first, and {row[5]}% after" in RELIABILITY


def test_the_figures_of_ten_million_nodes():
    chains = result(RELIABILITY, "nodes")["chains"]
    steps = r"value \+ y|value \* y|tanh\(value\)"
    rows = re.findall(rf"^\| `({steps})` \| .*? \| (\d+) \| (\d+) \| (\d+) \|$", RELIABILITY,
                      re.MULTILINE)
    assert len(rows) == len(chains) == 3
    for (_, *shown), found in zip(rows, chains.values(), strict=True):
        assert shown == [f"{found[key]:.0f}" for key in (
            "bytes_per_node", "most_in_backward_per_node", "left_per_node")]


def test_the_number_of_texts_that_are_held_to_pytorchs():
    tree = ast.parse(text("tests/engine/test_error_messages.py"))
    (same,) = (node.value for node in tree.body
               if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "SAME")
    number = len(getattr(same, "keys", None) or same.elts)
    assert f"Now {number} programs compare the whole message with the one in PyTorch" in RELIABILITY


def test_the_numbers_of_stages_exercises_and_hours():
    # `minigrad dev build` makes this table
    table = re.findall(r"^\| \d+\w? \|.*\| (\d*) \| (\d+) \|$", text("docs/en/course.md"), re.M)
    every = [int(number or 0) for number, _ in table]
    hours = round(sum(int(minutes) for _, minutes in table) / 60)
    readme = text("README.md")
    assert f"{len(every)} stages with {sum(every)} exercises" in readme
    assert f"takes about {hours} hours" in readme
    assert f"After {len(every)} stages" in readme
    assert f"in {len(every)} lessons" in text("docs/en/index.md")
    assert f"with {sum(every)} exercises" in text("docs/en/first_evening.md")
