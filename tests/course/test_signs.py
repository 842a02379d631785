"""Signs that an answer does not lie where it is asked for, and bodies that do nothing."""

from __future__ import annotations

import pytest

pytest.importorskip("typer", reason="the course's commands need Typer")

from minigrad_course.content import stages as course
from minigrad_course.similarity.signs import idle_holes, signs
from tests.support.answers import answered, answers
from tests.support.disguises import package, shipped, with_bodies
from tests.support.slow import slow_but_one_in

WITH_HOLES = [stage for stage in course.stages() if stage.holes]
INDEPENDENT = [(stage, name) for stage in WITH_HOLES for name in answers(stage)]


@pytest.mark.parametrize("stage", slow_but_one_in(4, WITH_HOLES), ids=lambda stage: stage.key)
def test_what_the_package_and_the_exercise_do_is_no_sign(stage):
    assert signs(stage, package(stage)) == signs(stage, shipped(stage)) == []
    assert idle_holes(stage, shipped(stage)) == {hole.id for hole in stage.holes}
    assert idle_holes(stage, package(stage)) == set()


@pytest.mark.parametrize(("stage", "name"), INDEPENDENT)
def test_an_independent_answer_shows_no_sign(stage, name):
    assert signs(stage, answered(stage, name)) == []
    assert idle_holes(stage, answered(stage, name)) == set()


@pytest.mark.parametrize(("code", "told"), [
    ("table = {'compile': 1}", "uses `compile`"),
    ("import importlib", "uses `importlib`"),
    ("f = getattr(print.__self__, 'ev' + 'al')", "uses `__self__`"),
    ("text = " + repr("x" * 301), "contains a text of 301 characters"),
    ("text = [" + ", ".join(map(repr, range(70))) + "]", "values in one statement"),
    ("GraphTask.count_dependencies = print", "rebinds `GraphTask.count_dependencies`"),
    ("def g():\n    GraphTask.run = print", "rebinds `GraphTask.run`"),
    ("C = GraphTask\nC.run = print", "rebinds `C.run`"),
    ("setattr(GraphTask, 'run', print)", "rebinds `GraphTask.run`"),
    ("if len('x'):\n    class GraphTask(GraphTask): pass", "rebinds `GraphTask`"),
    ("from x import y as GraphTask", "rebinds `GraphTask`"),
    ("try:\n    pass\nexcept OSError:\n    GraphTask = 1", "rebinds `GraphTask`"),
    ("del GraphTask", "rebinds `GraphTask`"),
    ("def g():\n    global GraphTask\n    GraphTask = 1", "rebinds `GraphTask`"),
])
def test_a_sign_is_named_with_its_line(code, told):
    stage = course.find_stage("03")
    path = "engine/graph_task.py"
    given = shipped(stage)
    given[path] += f"\n\n{code}\n"
    found = signs(stage, given)
    assert told in " ".join(map(str, found))
    assert all(each.line > len(shipped(stage)[path].splitlines()) for each in found)
    assert f"({path}, line " in str(found[0])


@pytest.mark.parametrize(("before", "after", "told"), [
    ("class GraphTask(ObservedTask):", "@print\nclass GraphTask(ObservedTask):",
     "changes how `GraphTask` is declared"),
    ("class GraphTask(ObservedTask):", "class GraphTask(dict):",
     "changes how `GraphTask` is declared"),
    ("    def count_dependencies", "    @property\n    def count_dependencies",
     "changes how `GraphTask.count_dependencies` is declared"),
    ("    def count_dependencies", "    def __getattribute__(self, name): pass\n\n"
     "    def count_dependencies", "uses `__getattribute__`"),
    ("    def count_dependencies", "    def __getattr__(self, name): pass\n\n"
     "    def count_dependencies", "adds `__getattr__` to `GraphTask`"),
])
def test_another_declaration_is_a_sign(before, after, told):
    stage = course.find_stage("03")
    given = shipped(stage)
    assert before in given["engine/graph_task.py"]
    given["engine/graph_task.py"] = given["engine/graph_task.py"].replace(before, after, 1)
    assert told in " ".join(map(str, signs(stage, given)))


@pytest.mark.parametrize("body", [
    "pass", "...", "'text'", "0\n1", "if True:\n    pass", "assert True", "x = 1",
    "raise NotImplementedError('later')"])
def test_a_body_that_does_nothing_is_idle(body):
    stage = course.find_stage("07")
    given = with_bodies(stage, lambda each: body + "\n")
    assert idle_holes(stage, given) == {hole.id for hole in stage.holes}
    for text in ("", "def (:"):
        assert idle_holes(stage, dict.fromkeys(given, text)) == {hole.id for hole in stage.holes}


WAYS_TO_RUN_TEXT = {
    "timeit": "import timeit\ntimeit.timeit('x = 1')",
    "timeit under another name": "from timeit import timeit as measure\nmeasure('x = 1')",
    "pydoc": "import pydoc\ntext = pydoc.getdoc(print)",
    "doctest": "def f():\n    import doctest\n    doctest.run_docstring_examples(f, {})",
    "an unlisted module": "import cProfile\ncProfile.run('x = 1')",
    "a helper around getattr": "def read(owner, name):\n    return getattr(owner, name)",
    "getattr by another name": "read = getattr\nread(print, 'x')",
    "a name from pieces": "getattr(print, 'ev' + 'al')",
    "importlib": "import importlib\nimportlib.import_module('x')",
    "hints": "import typing\ntyping.get_type_hints(print)",
    "operator": "import operator\noperator.attrgetter('x')(print)",
    "exec": "exec('x = 1')", "eval": "eval('1')", "compile": "compile('1', '', 'eval')",
    "a docstring": "def f():\n    '''\n    def g(x):\n        return x + 1\n    '''",
    "a text": "TEXT = 'def g(x):\\n    return x + 1\\n'",
}


@pytest.mark.parametrize("way", WAYS_TO_RUN_TEXT)
@pytest.mark.parametrize("number", ["03", "07", "13b"])
def test_running_text_by_any_route_is_a_sign(way, number):
    stage = course.find_stage(number)
    given = shipped(stage)
    path = stage.modules[-1]
    given[path] += f"\n\n{WAYS_TO_RUN_TEXT[way]}\n"
    found = signs(stage, given)
    assert found and all(each.line > len(shipped(stage)[path].splitlines()) for each in found)


@pytest.mark.parametrize("code", [
    "import math\nfrom collections import deque",
    "for name in ('a', 'b'):\n    getattr(print, name)",
    "def f():\n    '''Return the sum.\n\n    Of all values.\n    '''",
    "def f():\n    '''Add.\n\n    >>> f()\n    1\n    '''", "x = getattr(print, 'shape', None)"])
def test_what_honest_answers_do_is_no_sign(code):
    stage = course.find_stage("03")
    given = shipped(stage)
    given[stage.modules[-1]] += f"\n\n{code}\n"
    assert signs(stage, given) == []
