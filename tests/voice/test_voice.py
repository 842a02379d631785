"""The rates of wooden turns of phrase can only fall: `python -m tests.voice` prints them."""

from __future__ import annotations

import json

import pytest

from .rates import CAUSES, LIMITS, PATTERNS, rates_of, risen
from .texts import ROOT, comments, corpora, of_page


def test_no_rate_has_risen():
    found = {name: rates_of(text) for name, text in corpora(ROOT).items()}
    limits = json.loads(LIMITS.read_text(encoding="utf-8"))
    worse = risen(found, limits)
    assert not worse, "\n".join([*worse, "CONTRIBUTING.md, Voice, says how to write"])


@pytest.mark.parametrize(("text", "row"), list(zip((
    "It stands here.", "Nobody reads it.", "The gradient is that of x.", "It COMES late.",
    "It says so.", "It lies there.", "A loop of its own.", "x, which is y",
    "Done. What is left is y.", "None is left.", "It runs because y."),
    (*PATTERNS, CAUSES), strict=True)))
def test_a_turn_of_phrase_is_counted(text, row):
    assert rates_of(text)[row] > 0


def test_natural_sentences_score_zero():
    found = rates_of("`backward` seeds the pass with a gradient of ones. You can call it twice.")
    assert not any(found[row] for row in PATTERNS)


def test_a_rate_above_its_limit_is_named():
    limits = {"page": rates_of("It runs because y.")}
    assert risen({"page": rates_of("It stands.")}, limits) == [
        "page: stand(s), stood: 5000.0 per 10,000 words; the limit is 0.0",
        "page: causes (more is better): 0.0 per 10,000 words; the limit is 2500.0"]


def test_code_and_tables_and_pragmas_are_left_out(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Stands\n\n```\nstands\n```\n\n| stands |\n\n`stands` [here](stands.md)\n")
    assert "stands" not in of_page(page).lower().replace("code", "")
    assert list(comments("x = 1  # why\ny = 2  # type: ignore\n")) == ["why"]
