"""The process that reads submissions for a comparison; reader.py starts it and reads its lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple
from typing import Any

from ..content.stages import find_stage
from ..similarity.compare import Answer, read_answers
from ..similarity.readable import readable
from ..similarity.signs import signs
from .job import Files
from .obeying import run

__all__ = ["main"]

#: The most tokens to compare in one submission of a stage, a hundred times as many as needed.
TOKENS = 40_000
#: The most signs to report for one submission of a stage.
SIGNS = 20


def main() -> None:
    """Read the submissions that the input describes, and write what a comparison needs."""
    run(_steps)


def _steps(given: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for index, each in enumerate(given["files"][given["start"]:], given["start"]):
        yield {"begins": [index, "read"]}
        files = Files(**each)
        stage = find_stage(files.stage)
        texts = readable(stage, files.texts)
        answers = read_answers(stage, texts)
        if len(answers.all.tokens) > TOKENS:
            yield {"read": {"problem": f"it has {len(answers.all.tokens)} tokens, and the limit "
                                       f"is {TOKENS}"}}
            continue
        yield {"read": {"texts": texts, "signs": [astuple(sign) for sign in signs(stage, texts)][
            :SIGNS], "all": _plain(answers.all),
            "holes": {hole: _plain(answer) for hole, answer in answers.holes.items()}}}


def _plain(answer: Answer) -> dict[str, Any]:
    return {"tokens": [astuple(token) for token in answer.tokens],
            "marks": list(answer.marks.items()), "flow": answer.flow, "where": answer.where}
