"""Compare answers with the package's and with each other.

NOTE [What counts]
    Code that the exercise already contains does not count, and neither does a run of fewer than RUN
    tokens.  Between submissions, code in the package's own answer does not count either, nor code
    that more than a quarter of a class (of eight or more) share, because both follow from the task.
    A short answer that is nearly forced has few tokens, so it weighs little in the sum over its
    stage.  On its own it never leads to a report: that takes `HOLE_TOKENS`, about twelve lines.

NOTE [Three ways of looking]
    First, exercise by exercise, by runs of tokens: which share of the shorter answer is in the
    other one.  Then each exercise of one student is searched for in all code that the other wrote,
    wherever it is: by runs of tokens, and by whole statements in any order, with any code between
    them.  The largest share is reported.

    How high shares get: answers written from the tasks alone shared at most 52 % of a stage with
    the package, 76 % of an exercise with HOLE_TOKENS or more, and all of a short one.  With another
    function of the package they shared 52 % (tests/course/test_similarity.py, tests/answers/).
    Copies in 21 disguises share more than 80 % (tests/support/disguises.py).  Two exercises are
    marked `forced` and never count, because answers from the task alone shared 96 % and 78 % with
    the package.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import combinations

from ..content.source import module
from ..content.stages import Stage
from .fingerprints import WINDOW, covered, fingerprints, runs
from .siblings import Sibling, siblings
from .tokens import Token, answers, shipped, statements

__all__ = ["PACKAGE", "Answer", "Answers", "Likeness", "Share", "compare", "compare_answers",
           "given_statements", "read_answers", "text_of"]

PACKAGE = "the package"
#: Report a stage from this share of its countable tokens on, if at least this many are in common.
STAGE_SHARE, STAGE_TOKENS = 0.7, 60
#: The same for a single exercise.
HOLE_SHARE, HOLE_TOKENS = 0.85, 100
#: The same for an exercise and another function of the package.
SIBLING_SHARE, SIBLING_TOKENS = 0.8, 40
#: Statements with fewer tokens occur in many programs.
STATEMENT = 5


@dataclass(frozen=True)
class Share:
    """How many of an exercise's countable tokens two answers have in common."""

    hole: str
    common: int
    of: int

    @property
    def part(self) -> float:
        """The share, from 0 to 1."""
        return self.common / self.of if self.of else 0.0


@dataclass(frozen=True)
class Likeness:
    """Two answers to a stage, and how similar they are."""

    stage: str
    one: str
    other: str  # or PACKAGE, or another function of the package
    shares: tuple[Share, ...]
    lines: dict[tuple[str, str, str], set[int]] = field(default_factory=dict, compare=False)
    # the lines in common, by submission, exercise and path
    sibling: bool = False  # whether `other` is another function of the package

    @property
    def whole(self) -> Share:
        """The share over the whole stage."""
        return Share(self.stage, sum(each.common for each in self.shares),
                     sum(each.of for each in self.shares))

    @property
    def reported(self) -> bool:
        """Whether the share is higher than for answers written independently."""
        whole = self.whole
        if self.sibling:
            return whole.part >= SIBLING_SHARE and whole.common >= SIBLING_TOKENS
        return ((whole.part >= STAGE_SHARE and whole.common >= STAGE_TOKENS)
                or any(each.part >= HOLE_SHARE and each.common >= HOLE_TOKENS
                       for each in self.shares))


@dataclass(frozen=True)
class Answer:
    """Some tokens, their fingerprints, and the statements that do not count."""

    tokens: list[Token]
    marks: dict[int, list[int]]
    given: frozenset[tuple[str, ...]] = frozenset()  # statements that do not count

    def without(self, left_out: set[int]) -> Answer:
        """Return the answer without some fingerprints."""
        return Answer(self.tokens, {mark: where for mark, where in self.marks.items()
                                     if mark not in left_out}, self.given)

    def countable(self, left_out: set[int]) -> set[int]:
        """Return the positions of tokens outside all of these fingerprints."""
        return set(range(len(self.tokens))) - covered(self.marks, left_out)

    @cached_property
    def statements(self) -> dict[tuple[str, ...], list[list[int]]]:
        """The positions of each statement's tokens, for each time that it occurs."""
        found: dict[tuple[str, ...], list[list[int]]] = {}
        position = 0
        for each in statements(self.tokens):
            words = tuple(token.text for token in each)
            if len(each) >= STATEMENT and words not in self.given:
                found.setdefault(words, []).append(list(range(position, position + len(each))))
            position += len(each)
        return found


@dataclass(frozen=True)
class Answers:
    """One person's answers to a stage: by exercise, and all code together."""

    holes: dict[str, Answer]
    all: Answer


def text_of(stage: Stage, name: str, path: str, submissions: dict[str, dict[str, str]]) -> str:
    """Return the text of the module at `path`, from a submission or the package."""
    return submissions[name][path] if name in submissions else module(stage.package, path).text


def compare(stage: Stage, submissions: dict[str, dict[str, str]]) -> list[Likeness]:
    """Return the answers to a stage that are suspiciously like the package's or each other's.

    `submissions` has the texts by module path, for each name.
    """
    return compare_answers(stage, {name: read_answers(stage, texts)
                                   for name, texts in submissions.items()})


def compare_answers(stage: Stage, written: dict[str, Answers]) -> list[Likeness]:
    """Return the same for answers that have been read, by name."""
    package = _package(stage)
    found = [_likeness(stage, (name, written[name]), (PACKAGE, package), {}) for name in written]
    known = {each.one: {share.hole for share in each.shares if share.part >= SIBLING_SHARE}
             for each in found}
    found += [each for name, mine in written.items()
              for each in _like_siblings(stage, name, mine, known[name])]
    left_out = {hole.id: _Left(package.holes[hole.id], [each.holes[hole.id]
                                                        for each in written.values()])
                for hole in stage.holes}
    pairs: set[tuple[str, str]] = set()
    for hole in stage.holes:
        owners = defaultdict(list)
        for name, mine in written.items():
            answer, left = mine.holes[hole.id], left_out[hole.id]
            for mark in {*(set(answer.marks) - left.marks),
                         *(set(answer.statements) - left.statements)}:
                owners[mark].append(name)
        for names in owners.values():
            pairs.update(combinations(names, 2))
    found += [_likeness(stage, (one, written[one]), (other, written[other]), left_out)
              for one, other in sorted(pairs)]
    return sorted((each for each in found if each.reported),
                  key=lambda each: -each.whole.common)


class _Left:
    """The parts of an exercise that do not count between submissions."""

    def __init__(self, package: Answer, written: Sequence[Answer]) -> None:
        most = len(written) / 4 if len(written) >= 8 else len(written)
        marks = Counter(mark for each in written for mark in each.marks)
        counts = Counter(words for each in written for words in each.statements)
        self.marks = {*package.marks, *(mark for mark, count in marks.items() if count > most)}
        self.statements = {*package.statements,
                           *(words for words, count in counts.items() if count > most)}


@cache
def _package(stage: Stage) -> Answers:
    return read_answers(stage, {path: module(stage.package, path).text for path in stage.modules})


@cache
def _shipped(stage: Stage) -> tuple[frozenset[int], frozenset[tuple[str, ...]]]:
    """Return the runs and the statements that the exercise already contains."""
    given = shipped(_stubs(stage))
    return (frozenset(mark for each in given for mark in runs([token.text for token in each])),
            frozenset(tuple(token.text for token in part) for each in given
                      for part in statements(each)))


@cache
def _stubs(stage: Stage) -> dict[str, str]:
    return {path: stage.handed_out(path) for path in stage.modules}


def given_statements(stage: Stage) -> frozenset[tuple[str, ...]]:
    """Return the statements that the exercise already contains."""
    return _shipped(stage)[1]


def read_answers(stage: Stage, texts: dict[str, str]) -> Answers:
    """Return the tokens and fingerprints of a submission.  This parses the texts."""
    marks, given = _shipped(stage)

    def answer(tokens: list[Token]) -> Answer:
        found = fingerprints([each.text for each in tokens])
        return Answer(tokens, found, given).without(set(marks))

    written = answers(stage, texts, _stubs(stage))
    every = [token for part in (*written.holes.values(), written.elsewhere) for token in part]
    return Answers({hole: answer(part) for hole, part in written.holes.items()}, answer(every))


#: Compare an answer with another text: the number of countable tokens, and the positions that match
#: in each of them.
_Way = Callable[[Answer, Answer, _Left], tuple[int, set[int], set[int]]]
#: A name and that person's answers.
_Side = tuple[str, Answers]
_NOTHING = _Left(Answer([], {}), ())


def _likeness(stage: Stage, one: _Side, other: _Side, left_out: dict[str, _Left]) -> Likeness:
    """Return the similarity of two answers in the comparison that finds most."""
    ways = [_alike(stage, one, other, left_out)]
    for mine, theirs in ((one, other), (other, one)):
        if mine[0] != PACKAGE:
            ways += [_contained(stage, mine, theirs, (one[0], other[0]), left_out, by)
                     for by in (_by_runs, _by_statements)]
    return max(ways, key=lambda each: (each.reported, each.whole.part))


def _alike(stage: Stage, one: _Side, other: _Side, left_out: dict[str, _Left]) -> Likeness:
    """Compare exercise by exercise, relative to the shorter answer: a copy may contain more."""
    shares, lines = [], _Lines()
    for hole in stage.holes:
        if hole.forced:
            continue
        forced = left_out.get(hole.id, _NOTHING).marks
        sides = [(name, answers.holes[hole.id]) for name, answers in (one, other)]
        shared = set(sides[0][1].marks) & set(sides[1][1].marks) - forced
        counted = []
        for name, answer in sides:
            countable = answer.countable(forced)
            common = covered(answer.marks, shared) & countable
            counted.append((len(countable), len(common)))
            lines.mark(name, hole.id, answer, common)
        of, common_count = min(counted)
        shares.append(Share(hole.id, common_count, of))
    return Likeness(stage.number, one[0], other[0], tuple(shares), lines.found)


def _contained(stage: Stage, mine: _Side, theirs: _Side, names: tuple[str, str],
               left_out: dict[str, _Left], by: _Way) -> Likeness:
    """Search for one person's exercises in all code that another wrote, wherever it is."""
    shares, lines = [], _Lines()
    whole = mine[1].all
    for hole in stage.holes:
        if hole.forced:
            continue
        answer = theirs[1].holes[hole.id]
        of, common, found = by(answer, whole, left_out.get(hole.id, _NOTHING))
        lines.mark(theirs[0], hole.id, answer, common)
        lines.mark(mine[0], hole.id, whole, found)
        shares.append(Share(hole.id, len(common), of))
    return Likeness(stage.number, *names, tuple(shares), lines.found)


def _by_runs(answer: Answer, whole: Answer, left: _Left) -> tuple[int, set[int], set[int]]:
    shared = set(answer.marks) & set(whole.marks) - left.marks
    countable = answer.countable(left.marks)
    return len(countable), covered(answer.marks, shared) & countable, covered(whole.marks, shared)


def _by_statements(answer: Answer, whole: Answer, left: _Left) -> tuple[int, set[int], set[int]]:
    of, common, found = 0, set(), set()
    for words, positions_there in answer.statements.items():
        if words in left.statements:
            continue
        there = whole.statements.get(words, [])
        of += len(words) * len(positions_there)
        for mine, theirs in zip(positions_there, there, strict=False):
            common.update(mine)
            found.update(theirs)
    return of, common, found


class _Siblings:
    """The package's other functions, indexed by their statements."""

    def __init__(self, stage: Stage) -> None:
        marks, given = _shipped(stage)
        self.all = [(each, Answer(each.tokens, each.marks, given).without(set(marks)))
                    for each in siblings(stage.package)]
        self.where: dict[object, list[int]] = {}
        for index, (_, answer) in enumerate(self.all):
            for mark in (*answer.marks, *answer.statements):
                self.where.setdefault(mark, []).append(index)

    def nearest(self, answer: Answer) -> list[tuple[Sibling, Answer]]:
        """Return the few functions that have most in common with an answer."""
        counts: Counter[int] = Counter()
        for mark in answer.marks:
            counts.update(dict.fromkeys(self.where.get(mark, ()), WINDOW))
        for words in answer.statements:
            counts.update(dict.fromkeys(self.where.get(words, ()), len(words)))
        return [self.all[index] for index, _ in counts.most_common(5)]


_siblings = cache(_Siblings)


def _like_siblings(stage: Stage, name: str, mine: Answers, known: set[str]) -> Iterator[Likeness]:
    """Yield the most similar sibling for each exercise that is not in `known`."""
    for hole in stage.holes:
        answer = mine.holes[hole.id]
        if hole.forced or hole.id in known or len(answer.tokens) < SIBLING_TOKENS:
            continue
        found = []
        for sibling, other in _siblings(stage).nearest(answer):
            for by in (_by_runs, _by_statements):
                of, common, there = by(answer, other, _NOTHING)
                lines = _Lines()
                lines.mark(name, hole.id, answer, common)
                lines.mark(str(sibling), hole.id, other, there)
                found.append(Likeness(stage.number, name, str(sibling), (
                    Share(hole.id, len(common), of),), lines.found, sibling=True))
        yield from [max(found, key=lambda each: (each.reported, each.whole.part))] if found else ()


class _Lines:
    """The lines of matches, by submission, exercise and path."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, str, str], set[int]] = {}

    def mark(self, name: str, hole: str, answer: Answer, positions: set[int]) -> None:
        """Mark the lines of some tokens."""
        for position in positions:
            token = answer.tokens[position]
            self.found.setdefault((name, hole, token.path), set()).add(token.line)
