"""Comparing answers with the package's and with each other.

NOTE [What counts]
    What the exercise has already is not counted, and a run of fewer than RUN tokens is nothing.
    Between submissions what the package's own answer has is not counted either, and neither is what
    more than a quarter of a class (of eight or more) has: both are what the task asks for.  A short
    answer that is nearly forced has few tokens, so it weighs little in the sum over its stage, and
    by itself it never accuses: that takes `HOLE_TOKENS`, about twelve lines.

    The figures: of answers written from the tasks alone the highest share with the package, over a
    stage, was 50 %, that of an exercise with HOLE_TOKENS or more 67 %, and that of a short one 79 %
    (tests/course/test_similarity.py, tests/answers/).  A copy with other names and comments has
    more than 85 %.  Two exercises are marked `forced` and count for nothing: there an answer from
    the task alone had 96 % and 78 % of the package's.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations

from ..dev.source import module
from ..stages import Stage
from .fingerprints import covered, fingerprints, runs
from .tokens import Token, answers, shipped

__all__ = ["PACKAGE", "Likeness", "Share", "compare", "text_of"]

PACKAGE = "the package"
#: A stage is reported from this share of its countable tokens on, if it is so many at least.
STAGE_SHARE, STAGE_TOKENS = 0.7, 60
#: The same for one exercise.
HOLE_SHARE, HOLE_TOKENS = 0.8, 100


@dataclass(frozen=True)
class Share:
    """How much of an exercise's countable tokens two answers have in common."""

    hole: str
    common: int
    of: int

    @property
    def part(self) -> float:
        """The share, from 0 to 1."""
        return self.common / self.of if self.of else 0.0


@dataclass(frozen=True)
class Likeness:
    """Two answers to a stage that are too much alike."""

    stage: str
    one: str
    other: str  # or PACKAGE
    shares: tuple[Share, ...]
    lines: dict[tuple[str, str, str], set[int]] = field(default_factory=dict, compare=False)
    # by submission, hole and path the lines that are in common

    @property
    def whole(self) -> Share:
        """The share over the stage."""
        return Share(self.stage, sum(each.common for each in self.shares),
                     sum(each.of for each in self.shares))

    @property
    def reported(self) -> bool:
        """Whether it is more than answers that know nothing of each other have in common."""
        whole = self.whole
        return ((whole.part >= STAGE_SHARE and whole.common >= STAGE_TOKENS)
                or any(each.part >= HOLE_SHARE and each.common >= HOLE_TOKENS
                       for each in self.shares))


@dataclass(frozen=True)
class _Answer:
    """One answer to one exercise: tokens, fingerprints, and what of them may be counted."""

    tokens: list[Token]
    marks: dict[int, list[int]]

    def without(self, left_out: set[int]) -> _Answer:
        """Return the same without some fingerprints and the tokens in them."""
        return _Answer(self.tokens, {mark: where for mark, where in self.marks.items()
                                     if mark not in left_out})

    def countable(self, left_out: set[int]) -> set[int]:
        """Return the positions that are in none of some fingerprints."""
        return set(range(len(self.tokens))) - covered(self.marks, left_out)


def text_of(stage: Stage, name: str, path: str, submissions: dict[str, dict[str, str]]) -> str:
    """Return what somebody, or PACKAGE, has in the module at `path`."""
    return module(stage.package, path).text if name == PACKAGE else submissions[name][path]


def compare(stage: Stage, submissions: dict[str, dict[str, str]]) -> list[Likeness]:
    """Return which answers to a stage are too much like the package's or each other's.

    `submissions` holds texts by the path of the module, for each name.
    """
    package, given = _package(stage), _shipped(stage)
    written = {name: _answers(stage, texts, given) for name, texts in submissions.items()}
    found = [_likeness(stage, name, PACKAGE, written[name], package, {}) for name in written]
    left_out = {hole.id: set(package[hole.id].marks) | _common(written, hole.id)
                for hole in stage.holes}
    pairs: set[tuple[str, str]] = set()
    for hole in stage.holes:
        owners = defaultdict(list)
        for name, mine in written.items():
            for mark in mine[hole.id].marks:
                if mark not in left_out[hole.id]:
                    owners[mark].append(name)
        for names in owners.values():
            pairs.update(combinations(names, 2))
    found += [_likeness(stage, one, other, written[one], written[other], left_out)
              for one, other in sorted(pairs)]
    return sorted((each for each in found if each.reported),
                  key=lambda each: -each.whole.common)


@cache
def _package(stage: Stage) -> dict[str, _Answer]:
    texts = {path: module(stage.package, path).text for path in stage.modules}
    return _answers(stage, texts, _shipped(stage))


@cache
def _shipped(stage: Stage) -> frozenset[int]:
    return frozenset(mark for texts in shipped(_stubs(stage)) for mark in runs(texts))


@cache
def _stubs(stage: Stage) -> dict[str, str]:
    return {path: stage.handed_out(path) for path in stage.modules}


def _answers(stage: Stage, texts: dict[str, str], given: frozenset[int]) -> dict[str, _Answer]:
    return {hole: _Answer(tokens, fingerprints([each.text for each in tokens])).without(set(given))
            for hole, tokens in answers(stage, texts, _stubs(stage)).items()}


def _common(written: dict[str, dict[str, _Answer]], hole: str) -> set[int]:
    """Return the fingerprints that so many have that they say nothing."""
    counts = Counter(mark for mine in written.values() for mark in mine[hole].marks)
    most = len(written) / 4 if len(written) >= 8 else len(written)
    return {mark for mark, count in counts.items() if count > most}


def _likeness(stage: Stage, one: str, other: str, mine: dict[str, _Answer],
              theirs: dict[str, _Answer], left_out: dict[str, set[int]]) -> Likeness:
    shares: list[Share] = []
    lines: dict[tuple[str, str, str], set[int]] = {}
    for hole in stage.holes:
        if hole.forced:
            continue
        forced = left_out.get(hole.id, set())
        sides: Sequence[tuple[str, _Answer]] = ((one, mine[hole.id]), (other, theirs[hole.id]))
        shared = set(sides[0][1].marks) & set(sides[1][1].marks) - forced
        counted = []
        for name, answer in sides:
            countable = answer.countable(forced)
            common = covered(answer.marks, shared) & countable
            counted.append((len(countable), len(common)))
            for position in common:
                token = answer.tokens[position]
                lines.setdefault((name, hole.id, token.path), set()).add(token.line)
        of, common_count = min(counted)  # a copy may have more besides: the shorter one is asked
        shares.append(Share(hole.id, common_count, of))
    return Likeness(stage.number, one, other, tuple(shares), lines)
