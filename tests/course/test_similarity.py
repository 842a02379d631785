"""Similarity: copies are found however they are dressed up, and independent answers are not."""

from __future__ import annotations

import ast
import csv
import io
import os
import random
from collections import Counter
from itertools import combinations

import pytest

pytest.importorskip("typer", reason="the course's commands need Typer")

from typer.testing import CliRunner

from minigrad_course.app import app
from minigrad_course.content import stages as course
from minigrad_course.content.source import Module, body_span, module, mutated
from minigrad_course.content.stages import Stage
from minigrad_course.dev.strategies import put_in, strategies
from minigrad_course.running.trial import try_each
from minigrad_course.similarity import calibrated, pages
from minigrad_course.similarity import compare as comparing
from minigrad_course.similarity.calibrated import LEAST
from minigrad_course.similarity.compare import (
    PACKAGE,
    SIBLING_TOKENS,
    Answer,
    Answers,
    Likeness,
    compare,
)
from minigrad_course.similarity.fingerprints import RUN, WINDOW, covered, fingerprints
from minigrad_course.similarity.flow import Flow, Globals
from minigrad_course.similarity.readable import readable
from minigrad_course.similarity.signs import idle_holes, signs
from tests.support.answers import answered, answers
from tests.support.disguises import DISGUISES, package, renamed, shipped, with_bodies
from tests.support.more_rewritings import MORE_REWRITINGS
from tests.support.rewritings import REWRITINGS
from tests.support.slow import DAY, slow_but_one_in

#: Whether every disguise is tried in every stage.
ALL = os.environ.get("MINIGRAD_ALL_MUTANTS") == "1"
STAGES = [stage for stage in course.stages() if answers(stage)]
SEVERAL = [stage for stage in STAGES if len(answers(stage)) > 1]
INDEPENDENT = [(stage, name) for stage in STAGES for name in answers(stage)]


def reported(stage: Stage, **submissions: dict[str, str]) -> set[tuple[str, str]]:
    return {(each.one, each.other) for each in compare(stage, submissions)}


def against_package(stage: Stage, texts: dict[str, str]) -> Likeness:
    return comparing._with_package(stage, "x", comparing.read_answers(stage, texts))


def counts_enough(stage: Stage) -> bool:
    """Whether an answer to a stage has more than what follows from the tasks."""
    return against_package(stage, package(stage)).whole.common >= LEAST


WITH_HOLES = [stage for stage in course.stages() if stage.holes]


def pairs():
    """Each disguise with each stage: a sixth of them each day, the others on demand.

    One stage is tried with all, and of these a third is quick.
    """
    on_demand = pytest.mark.skipif(not ALL, reason="MINIGRAD_ALL_MUTANTS=1 tries it")
    for i, name in enumerate(DISGUISES):
        for j, stage in enumerate(WITH_HOLES[6:] + WITH_HOLES[:6]):
            marks = [pytest.mark.slow] if j or (i + DAY) % 3 else []
            if j and (i + j + DAY) % 6:
                marks.append(on_demand)
            yield pytest.param(name, stage, marks=marks, id=f"{name}-{stage.key}")


@pytest.mark.parametrize(("name", "stage"), list(pairs()))
def test_the_package_in_disguise_is_named_in_every_stage(name, stage):
    """By its likeness, or by what is done to run code that cannot be compared."""
    copy = DISGUISES[name](stage)
    assert copy != shipped(stage)
    found = [each for each in compare(stage, {"copy": copy}) if each.other == PACKAGE]
    if not name.startswith("executed"):
        assert against_package(stage, copy).whole.part > 0.9
        assert len(found) == counts_enough(stage)
    if name.startswith(("executed", "by ")):
        assert signs(stage, copy)


@pytest.mark.parametrize("dress", [dict, renamed])
def test_a_sibling_as_an_answer_is_named(dress):
    """`codegen/` walks the graph too, to plan a pass."""
    stage = course.find_stage("03")
    twin = module(stage.package, "codegen/planned_task.py").function("PlannedTask.plan")
    body = "\n".join(map(ast.unparse, twin.body[1:])) + "\n"
    mine = with_bodies(stage, lambda each: body if each.symbol == "GraphTask.count_dependencies"
                       else "raise NotImplementedError\n")
    (found,) = compare(stage, {"mine": dress(mine)})
    assert found.other == "the package's codegen/planned_task.py:PlannedTask.plan"
    assert [each.hole for each in found.shares] == ["03.3"] and found.whole.part > 0.95
    page = pages.as_html([found], [], [stage], {"03": {"mine": dress(mine)}})
    assert page.count("<mark>") > 10


def test_a_reference_of_the_tests_as_an_answer_is_named():
    """The process that decides doesn't have it, but anybody can read and copy it."""
    stage = course.find_stage("04c")
    path, text = "backend/kernels_conv.py", stage.tests.read_text(encoding="utf-8")
    (reference,) = (each for each in ast.parse(text).body
                    if getattr(each, "name", "") == "convolved")
    source = Module.from_text(path, package(stage)[path])
    first, last = body_span(source, source.function("conv_forward"))
    lines = source.lines
    lines[first - 1 : last] = ["    return own(x, weight, bias, stride, padding, dilation, groups)"]
    copied = ast.unparse(reference).replace("def convolved", "def own").replace("window", "part")
    mine = {**shipped(stage), path: "\n".join([*lines, "", "", copied, ""])}
    (found,) = (each for each in compare(stage, {"mine": mine}) if each.sibling)
    assert found.other == "the tests' test_04c_convolution.py:convolved"
    page = pages.as_html([found], [], [stage], {"04c": {"mine": mine}})
    assert "test_04c_convolution.py:convolved" in page and page.count("<mark>") > 4


@pytest.mark.parametrize("number", ["03", "07", "04d", "04e"])
def test_an_error_in_one_exercise_hides_no_other(number):
    stage = course.find_stage(number)
    copy = package(stage)
    path, _, symbol = stage.holes[-1].symbols[-1].partition(":")
    source = module(stage.package, path)
    first, last = body_span(source, source.function(symbol))
    lines = source.lines
    lines[first - 1 : last] = ["        def (:"] * (last - first + 1)
    copy[path] = "\n".join(lines)
    with pytest.raises(SyntaxError):
        ast.parse(copy[path])
    (found,) = compare(stage, {"copy": readable(stage, copy)})
    assert found.other == PACKAGE and found.whole.part > 0.7


@pytest.mark.parametrize("stray", ["%matplotlib inline", "```python", "Here is my answer:"])
def test_a_line_that_is_not_python_hides_no_copy_and_empties_no_body(stray):
    stage = course.find_stage("07")
    copy = {path: f"{stray}\n{text}\n{stray}\n" for path, text in package(stage).items()}
    texts = readable(stage, copy)
    (found,) = compare(stage, {"copy": texts})
    assert found.other == PACKAGE and found.whole.part > 0.7
    assert not idle_holes(stage, texts)


def test_a_copy_in_another_file_of_the_stage_is_found():
    stage = course.find_stage("03")
    copy = shipped(stage)
    for text in package(stage).values():
        copy["engine/engine.py"] += "\n\n" + text.partition("from __future__ import annotations")[2]
    (found,) = compare(stage, {"copy": copy})
    assert found.whole.part > 0.9


@pytest.mark.parametrize(("stage", "name"), slow_but_one_in(3, INDEPENDENT))
def test_an_independent_answer_is_not_accused(stage, name):
    assert reported(stage, mine=answered(stage, name)) == set()


@pytest.mark.parametrize("stage", SEVERAL, ids=lambda stage: stage.key)
def test_independent_answers_are_not_each_others(stage):
    given = {name: answered(stage, name) for name in answers(stage)}
    assert reported(stage, **given) == set()


def test_the_figures_that_the_thresholds_rest_on():
    """What NOTE [What counts] says of answers that know nothing of the package's."""
    likenesses = [against_package(stage, answered(stage, name)) for stage, name in INDEPENDENT]
    shares = [share for each in likenesses for share in each.shares]
    assert max(each.whole.part for each in likenesses) < 0.5
    assert max(each.common for each in shares if each.part >= comparing.HOLE_SHARE) < \
        comparing.HOLE_LEAST / 2
    near = [each.whole for stage, name in INDEPENDENT
            for each in comparing._like_siblings(stage, name, comparing.read_answers(
                stage, answered(stage, name)), set())]
    assert max(each.part for each in near if each.of >= SIBLING_TOKENS) < 0.6


@pytest.mark.parametrize(("stage", "name"), slow_but_one_in(3, INDEPENDENT))
def test_who_copied_from_whom_is_found(stage, name):
    others = {other: answered(stage, other) for other in answers(stage) if other != name}
    mine = answered(stage, name)
    assert reported(stage, mine=mine, copy=renamed(mine), **others) == {("mine", "copy")}


def test_a_helper_of_ones_own_is_no_hiding_place():
    """What a hole's function calls is compared with it."""
    stage = course.find_stage("03")
    mine = answered(stage, "03_b")
    path = next(path for path in mine if "_nodes_below" in mine[path])
    answer = comparing.read_answers(stage, mine).holes["03.3"]
    lines = {mine[where].splitlines()[line - 1].strip()
             for each in answer.where.values() for where, line in each}
    assert path in {where for each in answer.where.values() for where, _ in each}
    assert "queue = deque([root])" in lines


def test_one_copied_exercise_among_ones_own_is_found():
    stage = course.find_stage("13b")
    mine = answered(stage, "13b_a")
    mine["optim/adam.py"] = renamed(package(stage))["optim/adam.py"]
    (found,) = compare(stage, {"mine": mine})
    assert [each.hole for each in found.shares if each.part > 0.8] == ["13b.4"]
    assert found.whole.part < found.threshold


@pytest.mark.parametrize("stage", SEVERAL, ids=lambda stage: stage.key)
def test_two_who_have_the_packages_code_are_not_said_to_have_each_others(stage):
    """Mistakes are planted in the package's code: it is that which both have."""
    given = {f"{hole.id} {mutant.name}": package(stage) | mutated(stage, hole, mutant)
             for hole in stage.holes[:2] for mutant in hole.mutants}
    assert reported(stage, **given) == {(name, PACKAGE) for name in given}


def test_what_many_of_a_class_have_is_not_counted():
    stage = course.find_stage("07")
    mine, other = answered(stage, "07_a"), answered(stage, "07_b")
    crowd = {f"m{i}": renamed(mine, i) for i in range(6)}
    assert len(reported(stage, **crowd)) == 15  # each pair of six: too few to be a class
    crowd |= {f"o{i}": renamed(other, i) for i in range(6)}
    assert reported(stage, **crowd) == set()


@pytest.mark.parametrize("text", ["", "def (:", "\0", "x = " * 5000 + "1", "1" + "+1" * 90_000,
                                  "-" * 100_000 + "1", "(" * 100_000, "a" + ".a" * 90_000])
def test_files_that_do_not_parse_are_compared_without_an_error(text):
    stage = course.find_stage("07")
    assert reported(stage, mine={stage.modules[0]: text}, other={stage.modules[0]: text}) == set()


def test_the_exercise_as_shipped_is_like_nothing():
    for stage in STAGES:
        stub = shipped(stage)
        assert reported(stage, one=stub, other=renamed(stub)) == set()


@pytest.mark.parametrize("seed", range(20))
def test_winnowing_keeps_its_promise(seed):
    """A passage of RUN + WINDOW - 1 tokens is seen wherever it stands, one below RUN never."""
    rng = random.Random(seed)
    passage = [f"p{i}" for i in range(RUN + WINDOW - 1)]
    one, other = ([f"{who}{i}" for i in range(60)] for who in "ab")
    at, there = rng.randrange(61), rng.randrange(61)
    for length in (len(passage), RUN - 1):
        marks = [fingerprints([*one[:at], *passage[:length], *one[at:]]),
                 fingerprints([*other[:there], *passage[:length], *other[there:]])]
        shared = set(marks[0]) & set(marks[1])
        assert bool(shared) == (length >= RUN)
        assert covered(marks[0], shared) <= set(range(at, at + length))


def test_formats(tmp_path):
    stage = course.find_stage("07")
    (path,) = stage.modules
    texts = {"ann": package(stage)[path], "=ben": renamed(package(stage))[path],
             "eve": answered(stage, "07_b")[path]}
    for name, text in texts.items():
        (tmp_path / f"{name}.py").write_text(text)
    words = ["similarity", *sorted(str(each) for each in tmp_path.iterdir()), "--stage", "07"]

    def call(*more: str, code: int = 0) -> str:
        result = CliRunner().invoke(app, [*words, *more])
        assert result.exit_code == code, result.output
        return result.output

    assert "2 to check among 3 answers" in call()
    rows = list(csv.DictReader(io.StringIO(call("--format", "csv"))))
    assert {(row["one"], row["other"]) for row in rows} == {("ann.py", PACKAGE),
                                                            ("'=ben.py", PACKAGE)}
    call("--format", "html", "--out", str(tmp_path / "page.html"))
    page = (tmp_path / "page.html").read_text()
    assert page.count("<tr><td>") == 2
    assert "<mark>" in page and "eve.py" not in page
    assert "unknown format; the formats are terminal" in call("--format", "xml", code=2)


def test_submissions_with_the_same_name_are_told_apart(tmp_path):
    stage = course.find_stage("07")
    (path,) = stage.modules
    for name in ("ann", "ben"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "hw.py").write_text(package(stage)[path])
    result = CliRunner().invoke(app, ["similarity", *map(str, tmp_path.glob("*/hw.py")),
                                      "--stage", "07", "--format", "csv"])
    assert {row["one"] for row in csv.DictReader(io.StringIO(result.output))} == {
        "ann/hw.py", "ben/hw.py"}


def test_independent_pairs_are_far_below_the_thresholds():
    for stage in SEVERAL:
        given = {name: answered(stage, name) for name in answers(stage)}
        written = {name: comparing.read_answers(stage, texts) for name, texts in given.items()}
        for one, other in combinations(written.items(), 2):
            found = comparing._pair(stage, one, other, comparing._common(stage, {}))
            assert found.whole.part < 0.4


def rewritten():
    """Each rewriting with each stage: an eighth of them each day, the others on demand."""
    on_demand = pytest.mark.skipif(not ALL, reason="MINIGRAD_ALL_MUTANTS=1 tries it")
    for i, name in enumerate(REWRITINGS):
        for j, stage in enumerate(WITH_HOLES):
            marks = [on_demand] if (i + j + DAY) % 8 else []
            yield pytest.param(name, stage, marks=marks, id=f"{name}-{stage.key}")


@pytest.mark.parametrize(("name", "stage"), list(rewritten()))
def test_a_rewriting_hides_no_copy(name, stage):
    copy = REWRITINGS[name](stage)
    found = against_package(stage, copy)
    assert signs(stage, copy) or (
        found.whole.part > found.threshold and found.reported == counts_enough(stage))


@pytest.mark.parametrize("stage", slow_but_one_in(6, WITH_HOLES), ids=lambda stage: stage.key)
def test_answers_put_together_from_independent_ones_are_not_accused(stage):
    """If this fails, the package's answers have changed: benchmarks/similarity.py --write."""
    rng, every = random.Random(stage.key), []
    for hole in stage.holes:
        known = strategies(stage, hole)
        texts = [put_in(stage, Module.from_text("strategy.py", each.text),
                        comparing._stubs(stage), [hole])
                 for each in rng.sample(known, min(3, len(known)))]
        every.append([comparing.read_answers(stage, each) for each in texts])
    accused = 0
    for _ in range(30):
        flow = Counter()
        for known in every:
            flow.update(rng.choice(known).all.flow if known else {})
        mine = Answers({}, Answer([], {}, flow=flow, where=dict.fromkeys(flow, ())))
        accused += comparing._with_package(stage, "x", mine).reported
    assert accused == 0


def test_most_stages_can_be_judged():
    assert sum(map(counts_enough, WITH_HOLES)) >= len(WITH_HOLES) - 1
    assert {stage.number for stage in WITH_HOLES} == set(calibrated._read()["thresholds"])


FLOWS = {
    "a name": ("return np.add(x.shape, y)", "part = x.shape\n    return np.add(part, y)"),
    "one name used twice": ("return np.add(x.a, x.b)",
                            "t = x.a\n    u = t\n    t = x.b\n    return np.add(u, t)"),
    "a helper": ("return np.add(x.shape, y)", "return _own(x, y)\n\ndef _own(a, b):\n"
                 "    return np.add(a.shape, b)"),
    "a helper around getattr": ("return x.shape", "return _own(x, 'shape')\n\ndef _own(a, b):\n"
                                "    return getattr(a, b)"),
    "functions of operator": ("return x.a + y < x @ y",
                              "import operator as o\n    return o.lt(o.add(x.a, y), "
                              "o.matmul(x, y))"),
    "a loop": ("return [np.abs(each) for each in x if each.a]",
               "made = []\n    for each in x:\n        if each.a:\n            made.append("
               "np.abs(each))\n    return made"),
    "a dict": ("return {a: np.abs(a) for a in x}",
               "made = {}\n    for a in x:\n        made[a] = np.abs(a)\n    return made"),
    "a condition": ("if x.a:\n        return y\n    return x",
                    "if not x.a:\n        return x\n    return y"),
    "a choice": ("return y if x.a else x", "if x.a:\n        z = y\n    else:\n        z = x\n"
                 "    return z"),
    "a comparison": ("return x < y", "return y > x"),
    "a generator": ("yield np.abs(x)", "yield from _own(x)\n\ndef _own(a):\n    yield np.abs(a)"),
}


def flow_of(body: str) -> Counter:
    tree = ast.parse(f"def f(x, y):\n    {body}\n")
    own = Globals.of(tree.body[1:], frozenset({"_own"}))
    made = Flow(own)
    made.run(tree.body[0])
    return made.done().features


@pytest.mark.parametrize("kind", FLOWS)
def test_what_flows_into_what_is_the_same(kind):
    one, other = map(flow_of, FLOWS[kind])
    assert one and one == other


@pytest.mark.parametrize("body", [
    "T = x.a\n    if T:\n        T = x.b\n    return np.add(T, y)",
    "T = x.a\n    for each in y:\n        T = np.add(T, each)\n    return T"])
def test_an_entry_of_a_dictionary_is_a_name(body):
    """It adds that a dictionary is filled, and removes no operation."""
    kept = flow_of("d = {}\n    " + body.replace("T", "d['t']"))
    assert flow_of(body) and not flow_of(body) - kept


@pytest.mark.parametrize(("one", "other"), [
    ("return x.a", "return x.b"), ("return np.add(x, y)", "return np.subtract(x, y)"),
    ("return np.subtract(x, y)", "return np.subtract(y, x)"), ("return x < y", "return x <= y"),
    ("return [x.a for a in x]", "return [x.a for a in y]")])
def test_other_values_are_another_flow(one, other):
    assert flow_of(one) != flow_of(other)


@pytest.mark.parametrize("body", [
    "while True:\n        x = x.a(x)", "return f(x, y)", "return _own(x)\n\ndef _own(a):\n"
    "    return _own(a.b)", "x = x\n    y = x\n    return y", "return (lambda z: z(z))(lambda z: "
    "z(z))", "for x in x:\n        for y in x:\n            x, y = y, x\n    return x"])
def test_an_answer_that_leads_back_to_itself_ends(body):
    assert flow_of(body) == flow_of(body)


def test_the_rewritings_keep_what_an_answer_computes(tmp_path):
    stage = course.find_stage("00")
    tries = []
    every = REWRITINGS | MORE_REWRITINGS
    for number, rewrite in enumerate(every.values()):
        files = {}
        for path, text in rewrite(stage).items():
            files[path] = tmp_path / str(number) / path
            files[path].parent.mkdir(parents=True, exist_ok=True)
            files[path].write_text(text, encoding="utf-8")
        tries.append((files, [hole.id for hole in stage.holes]))
    for name, trial in zip(every, try_each(stage, tries), strict=True):
        assert not trial.problem, (name, trial.problem)
        assert trial.outcomes and all(each.passed for each in trial.outcomes), name


@pytest.mark.parametrize("padding", [
    "def _pad0(x):\n    pass\n" + "".join(f"def _pad{i}(x):\n" + f"    _pad{i - 1}(x)\n" * 40
                                            for i in range(1, 7)),
    "def _pad6(x):\n" + "    x.go(x)\n" * 20_000], ids=["calls of calls", "length"])
def test_padding_is_not_a_way_to_hide_a_copy(padding):
    """The text is reported as one that cannot be compared."""
    stage = course.find_stage("07")
    copy = with_bodies(stage, lambda each: f"_pad6('x')\n{each.body}")
    with pytest.raises(MemoryError):
        comparing.read_answers(stage, {path: f"{text}\n{padding}" for path, text in copy.items()})
