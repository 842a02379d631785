"""Compare answers with the package's and with each other.

NOTE [What counts]
    An answer is compared by its operations and by what flows into them (NOTE [Flow] in flow.py).
    An operation that the exercise already contains does not count, and one that independent answers
    have in common counts little or 0 (NOTE [Calibration] in calibrated.py).  Between submissions,
    operations of the package's own answer do not count either, nor do operations of more than a
    quarter of a class (of eight or more), because both follow from the task.

NOTE [Two ways of looking]
    The share of the package's operations that an answer has is taken over a whole stage.  They are
    searched for in everything that the student wrote, so moving code does not hide it.  It is
    reported from the stage's own threshold on, and for a single exercise from HOLE_SHARE on.  Two
    students' answers are compared in both directions: how much of the one is in the other.  Other
    functions of the package are searched for by runs of tokens (fingerprints.py) and by whole
    statements.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import combinations

from ..content.source import module
from ..content.stages import Stage
from .calibrated import LEAST, least, threshold, weight
from .fingerprints import WINDOW, covered, fingerprints, runs
from .flow import Flow
from .siblings import Sibling, references, siblings
from .tokens import Token, answers, shipped, statements

__all__ = ["PACKAGE", "Answer", "Answers", "Likeness", "Share", "compare", "compare_answers",
           "given_statements", "read_answers", "text_of"]

PACKAGE = "the package"
#: Report a stage of two students from this share of their operations on.
PAIR_SHARE = 0.8
#: Report a single exercise from this share on, if at least this many operations are in common.
HOLE_SHARE, HOLE_LEAST = 0.85, 12.0
#: Report an exercise and another function of the package from this share of its countable tokens
#: on, if at least this many are in common.
SIBLING_SHARE, SIBLING_TOKENS = 0.8, 40
#: Statements with fewer tokens occur in many programs.
STATEMENT = 5


@dataclass(frozen=True)
class Share:
    """How many of an exercise's operations, or of its tokens, two answers have in common."""

    hole: str
    common: float
    of: float

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
    threshold: float = PAIR_SHARE  # the share of the stage from which it is reported
    least: float = LEAST  # how many operations of the stage must be in common

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
        return ((whole.part >= self.threshold and whole.common >= self.least)
                or any(each.part >= HOLE_SHARE and each.common >= HOLE_LEAST
                       and each.common >= self.least for each in self.shares))


@dataclass(frozen=True)
class Answer:
    """Some tokens, their fingerprints, and the statements that do not count."""

    tokens: list[Token]
    marks: dict[int, list[int]]
    given: frozenset[tuple[str, ...]] = frozenset()  # statements that do not count
    flow: Mapping[str, int] = field(default_factory=dict)  # operations, and how often they occur
    where: Mapping[str, Sequence[tuple[str, int]]] = field(default_factory=dict)  # their lines

    def without(self, left_out: set[int]) -> Answer:
        """Return the answer without some fingerprints."""
        return Answer(self.tokens, {mark: where for mark, where in self.marks.items()
                                     if mark not in left_out}, self.given, self.flow, self.where)

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
    found = [_with_package(stage, name, written[name]) for name in written]
    known = {each.one: {share.hole for share in each.shares if share.part >= SIBLING_SHARE}
             for each in found}
    found += [each for name, mine in written.items()
              for each in _like_siblings(stage, name, mine, known[name])]
    common = _common(stage, written)
    owners = defaultdict(list)
    for name, mine in written.items():
        for feature in set(mine.all.flow) - common:
            owners[feature].append(name)
    pairs = Counter(pair for names in owners.values() for pair in combinations(names, 2))
    found += [_pair(stage, (one, written[one]), (other, written[other]), common)
              for (one, other), count in sorted(pairs.items()) if count >= LEAST]
    return sorted((each for each in found if each.reported),
                  key=lambda each: -each.whole.common)


def _common(stage: Stage, written: dict[str, Answers]) -> set[str]:
    """Return the operations that do not count between submissions."""
    most = len(written) / 4 if len(written) >= 8 else len(written)
    counts = Counter(feature for each in written.values() for feature in each.all.flow)
    return {*_package(stage).all.flow, *_unwritten(stage),
            *(feature for feature, count in counts.items() if count > most)}


@cache
def _package(stage: Stage) -> Answers:
    return read_answers(stage, {path: module(stage.package, path).text for path in stage.modules})


@cache
def _unwritten(stage: Stage) -> frozenset[str]:
    """Return the operations of exercises that are not written yet."""
    return frozenset(read_answers(stage, _stubs(stage)).all.flow)


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

    def answer(tokens: list[Token], *flows: Flow) -> Answer:
        found = fingerprints([each.text for each in tokens])
        counts: Counter[str] = Counter()
        where: dict[str, set[tuple[str, int]]] = {}
        for each in flows:
            counts.update(each.features)
            for feature, lines in each.lines.items():
                where.setdefault(feature, set()).update(lines)
        return Answer(tokens, found, given, dict(counts), {
            feature: sorted(lines) for feature, lines in where.items()}).without(set(marks))

    written = answers(stage, texts, _stubs(stage))
    every = [token for part in (*written.holes.values(), written.elsewhere) for token in part]
    return Answers({hole: answer(part, written.flows[hole])
                    for hole, part in written.holes.items()},
                   answer(every, *written.flows.values()))


#: A name and that person's answers.
_Side = tuple[str, Answers]


def _with_package(stage: Stage, name: str, mine: Answers) -> Likeness:
    """Return how much of the package's answer is in someone's code."""
    shares, lines = [], _Lines()
    for hole in stage.holes:
        if hole.forced:
            continue
        theirs = _package(stage).holes[hole.id]
        counted = {feature: weight(hole.id, feature) for feature in theirs.flow}
        shared = {feature for feature in counted if feature in mine.all.flow and counted[feature]}
        lines.mark_flow(name, hole.id, mine.all, shared)
        lines.mark_flow(PACKAGE, hole.id, theirs, shared)
        shares.append(_share(hole.id, theirs, mine.all, counted))
    return Likeness(stage.number, name, PACKAGE, tuple(shares), lines.found,
                    threshold=threshold(stage.number), least=least(stage.number))


def _pair(stage: Stage, one: _Side, other: _Side, common: set[str]) -> Likeness:
    """Return how much of one student's code is in the other's, in the direction with more."""
    ways = []
    for mine, theirs in ((one, other), (other, one)):
        shares, lines = [], _Lines()
        for hole in stage.holes:
            if hole.forced:
                continue
            answer, whole = mine[1].holes[hole.id], theirs[1].all
            counted = {feature: 0.0 if feature in common else weight(hole.id, feature)
                       for feature in answer.flow}
            shared = {feature for feature in counted if feature in whole.flow and counted[feature]}
            lines.mark_flow(mine[0], hole.id, answer, shared)
            lines.mark_flow(theirs[0], hole.id, whole, shared)
            shares.append(_share(hole.id, answer, whole, counted))
        ways.append(Likeness(stage.number, one[0], other[0], tuple(shares), lines.found,
                             least=least(stage.number)))
    return max(ways, key=lambda each: (each.reported, each.whole.part))


def _share(hole: str, answer: Answer, whole: Answer, counted: Mapping[str, float]) -> Share:
    """Return the share of an answer's operations that are in some other code."""
    return Share(hole, sum(min(count, whole.flow.get(feature, 0)) * counted[feature]
                           for feature, count in answer.flow.items()),
                 sum(count * counted[feature] for feature, count in answer.flow.items()))


def _by_runs(answer: Answer, whole: Answer) -> tuple[int, set[int], set[int]]:
    shared = set(answer.marks) & set(whole.marks)
    countable = answer.countable(set())
    return len(countable), covered(answer.marks, shared) & countable, covered(whole.marks, shared)


def _by_statements(answer: Answer, whole: Answer) -> tuple[int, set[int], set[int]]:
    of, common, found = 0, set(), set()
    for words, positions_there in answer.statements.items():
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
                    for each in (*siblings(stage.package), *references(stage))]
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
                of, common, there = by(answer, other)
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

    def mark_flow(self, name: str, hole: str, answer: Answer, features: set[str]) -> None:
        """Add the lines of some operations of an answer."""
        for feature in features:
            for path, line in answer.where[feature]:
                self.found.setdefault((name, hole, path), set()).add(line)

    def mark(self, name: str, hole: str, answer: Answer, positions: set[int]) -> None:
        """Mark the lines of some tokens."""
        for position in positions:
            token = answer.tokens[position]
            self.found.setdefault((name, hole, token.path), set()).add(token.line)
