"""Every known mistake still edits the package's answer after changes of code or comments."""

from __future__ import annotations

from typing import Any

import pytest

from minigrad_course.content.source import mutated
from minigrad_course.content.stages import CourseError, stages
from tests.support.slow import slow_but_one_in

WITH_HOLES = [stage for stage in stages() if stage.holes]


@pytest.mark.parametrize("stage", slow_but_one_in(3, WITH_HOLES), ids=lambda stage: stage.key)
def test_known_mistakes_edit_the_answer(stage: Any) -> None:
    wrong = []
    for hole in stage.holes:
        for mutant in hole.mutants:
            try:
                mutated(stage, hole, mutant)
            except (CourseError, SyntaxError) as error:
                wrong.append(str(error))
    assert not wrong, "\n".join(wrong)
