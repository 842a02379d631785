"""The pages that count stages, exercises and hours agree with the course."""

from __future__ import annotations

import pytest

from minigrad_course.content.stages import checkout, stages

STAGES = stages()
EXERCISES = sum(len(stage.holes) for stage in STAGES)
HOURS = round(sum(stage.minutes for stage in STAGES) / 60)


@pytest.mark.parametrize(("page", "sentence"), [
    ("README.md", f"{len(STAGES)} stages with {EXERCISES} exercises and takes about {HOURS} hours"),
    ("README.md", f"After {len(STAGES)} stages,"),
    ("CHANGELOG.md", f"{len(STAGES)} stages with {EXERCISES} exercises"),
    ("docs/en/first_evening.md", f"a workspace with {EXERCISES} exercises"),
    ("docs/en/index.md", f"in {len(STAGES)} lessons"),
])
def test_a_page_counts_as_the_course_does(page, sentence):
    assert sentence in (checkout() / page).read_text(encoding="utf-8")
