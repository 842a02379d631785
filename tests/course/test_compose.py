"""Modules that are composed symbol by symbol: which code runs, which lines a traceback names."""

from __future__ import annotations

import ast
import importlib.util
import textwrap
import traceback
from pathlib import Path
from types import ModuleType

import pytest

from minigrad_course.child_process.swap import ComposedLoader
from minigrad_course.content.source import blank, module
from minigrad_course.content.stages import CourseError, Hole, Stage, stages
from minigrad_course.running.compose import (
    Source,
    compose,
    open_symbols,
    repaired_source,
    source_of,
)
from minigrad_course.running.learner_files import LearnerFiles, combine_files
from minigrad_course.running.trial import as_plan
from tests.support.slow import one_in

PACKAGE = textwrap.dedent('''\
    """A module."""

    from __future__ import annotations

    import math
    from functools import wraps

    STEPS = 3


    def halved(x):
        """Return half of x."""
        return x / 2


    def traced(function):
        @wraps(function)
        def inner(*args):
            return ("traced", function(*args))
        return inner


    def root(x):
        return math.sqrt(halved(x))


    class Base:
        def name(self):
            return "base"


    class Thing(Base):
        """A thing."""

        __slots__ = ("size",)

        def __init__(self, size):
            self.size = size

        def name(self):
            return f"{super().name()} {self._sized()}"

        def _sized(self):
            return self.size

        @property
        def area(self):
            return self.size ** 2

        @area.setter
        def area(self, value):
            self.size = value ** 0.5

        @traced
        def wrapped(self):
            return self.size

        @staticmethod
        def counter():
            count = STEPS

            def more():
                nonlocal count
                count += 1
                return count
            return more


    def made(size):
        return Thing(size)
    ''')
SYMBOLS = ("root", "Thing.name", "Thing.area", "Thing.wrapped", "Thing.counter", "made")


def text(source: str, file: str) -> Source:
    return source_of("m.py", file, textwrap.dedent(source))


ORIGINAL = text(PACKAGE, "package.py")


def loaded(source: Source) -> ModuleType:
    """The module that `swap.py` would make of a source."""
    (plan,) = as_plan({"m.py": source}).values()
    loader = ComposedLoader("minigrad.m", source.file, plan)
    made = importlib.util.module_from_spec(
        importlib.util.spec_from_loader("minigrad.m", loader))
    loader.exec_module(made)
    return made


def mine(*changes: tuple[str, str]) -> Source:
    """A learner's file: the package's with two lines before it and some text replaced."""
    changed = PACKAGE
    for before, after in changes:
        assert changed.count(before) == 1, before
        changed = changed.replace(before, after)
    return text(f"# mine\n# in two lines\n{changed}", "mine.py")


def composed(base: Source, *symbols: str) -> ModuleType:
    return loaded(compose(base, ORIGINAL, symbols, SYMBOLS))


def blamed(function, *args) -> tuple[str, int]:
    """File and line in which a call raises."""
    try:
        function(*args)
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        return last.filename, last.lineno
    raise AssertionError("it raises nothing")


def line_of(source: str, words: str) -> int:
    return next(i for i, line in enumerate(source.splitlines(), 1) if words in line)


# --- lines ------------------------------------------------------------------------------------


def test_a_traceback_names_the_learners_file_and_line():
    base = mine(("return math.sqrt(halved(x))", 'return math.sqrt(halved(x)) + "x"'))
    file = composed(base, "Thing.name", "Thing.area")
    assert blamed(file.root, 8) == ("mine.py", line_of(base.text, '+ "x"'))


def test_a_traceback_names_the_packages_file_and_line_in_what_was_taken_from_it():
    base = mine(("return math.sqrt(halved(x))", "pass\n    # more\n    return None"))
    file = composed(base, "root", "Thing.counter")
    assert blamed(file.root, "x") == ("mine.py", line_of(base.text, "return x / 2"))
    assert blamed(file.root, -1) == ("package.py", line_of(PACKAGE, "math.sqrt"))
    counter = file.Thing.counter()
    assert (counter.__code__.co_filename, counter.__code__.co_firstlineno) == (
        "package.py", line_of(PACKAGE, "def more"))


def test_an_error_while_the_module_is_imported_names_the_learners_line():
    base = mine(("STEPS = 3", "STEPS = 3 / 0"))
    assert blamed(composed, base, "root") == ("mine.py", line_of(base.text, "STEPS = 3"))


# --- what is taken ----------------------------------------------------------------------------


def test_only_the_named_symbols_are_taken():
    base = mine(("return math.sqrt(halved(x))", "return 'my root'"),
                ('return f"{super().name()} {self._sized()}"', "return 'my name'"))
    file = composed(base, "root")
    assert (file.root(8), file.Thing(2).name()) == (2.0, "my name")
    file = composed(base, "Thing.name")
    assert (file.root(8), file.Thing(2).name()) == ("my root", "base 2")


def test_super_closures_decorators_and_setters_work():
    open_ = mine(*((before, "raise NotImplementedError") for before in (
        'return f"{super().name()} {self._sized()}"', "return self.size ** 2",
        "self.size = value ** 0.5", "count = STEPS")))
    file = composed(open_, *SYMBOLS)
    thing = file.Thing(3)
    thing.area = 16
    assert (thing.area, thing.name(), thing.wrapped()) == (16, "base 4.0", ("traced", 4.0))
    more = file.Thing.counter()
    assert (more(), more()) == (4, 5)


def test_the_learners_own_imports_helpers_and_methods_stay():
    base = mine(("STEPS = 3", "import cmath\nSTEPS = 3\n\n\ndef my_helper(x):\n"
                              "    return cmath.sqrt(x)"),
                ("return math.sqrt(halved(x))", "return my_helper(x)"),
                ("    def _sized(self):", "    def mine(self):\n        return 'mine'\n\n"
                                          "    def _sized(self):"))
    file = composed(base, "Thing.name")
    assert (file.root(-1), file.Thing(1).mine()) == (1j, "mine")


def test_imports_helpers_and_methods_that_the_learner_removed_come_with_what_uses_them():
    base = mine(("import math\n", ""), ("    def _sized(self):\n        return self.size\n\n", ""),
                ('def halved(x):\n    """Return half of x."""\n    return x / 2\n\n\n', ""))
    file = composed(base, "root", "Thing.name")
    assert (file.root(8), file.Thing(2).name()) == (2.0, "base 2")
    assert blamed(file.root, "x") == ("package.py", line_of(PACKAGE, "return x / 2"))


def test_a_helper_that_the_learner_changed_stays_and_the_packages_comes_beside_it():
    base = mine(("return x / 2", "return (x, 2)"),
                ("return Thing(size)", "return halved(size)"))
    file = composed(base, "root")
    assert (file.made(8), file.root(8)) == ((8, 2), 2.0)


def test_a_changed_constructor_stays():
    base = mine(('__slots__ = ("size",)', '__slots__ = ("size", "seen")'),
                ("self.size = size\n", "self.size = size\n        self.seen = []\n"))
    assert composed(base, "Thing.name", "root").Thing(1).seen == []


def test_other_indentation_works():
    base = text('''\
        class Base:
          def name(self): return "base"
        class Thing(Base):
          def __init__(self, size):
            self.size = size
          def name(self): return None
        ''', "mine.py")
    assert composed(base, "Thing.name").Thing(2).name() == "base 2"


def test_an_answer_that_deletes_its_function_does_not_get_the_packages():
    """`made` uses `Thing`, and `root` is an exercise: neither is brought along."""
    base = text("def made(size):\n    return None\n", "mine.py")
    file = composed(base, "made")
    assert not hasattr(file, "Thing")
    assert blamed(file.made, 1)[0] == "package.py"
    base = mine(("def root(x):", "def other(x):"), ("return Thing(size)", "return None"))
    assert not hasattr(composed(base, "made"), "root")


def test_a_class_that_the_learner_removed_is_not_brought():
    base = text("def root(x):\n    return 1\n", "mine.py")
    assert not hasattr(composed(base, "Thing.name"), "Thing")


def test_a_name_that_is_bound_again_is_taken_whole():
    base = mine(("def made(size):\n    return Thing(size)\n",
                 "def made(size):\n    return 1\n\n\nmade = lambda size: 2\n"))
    assert composed(base, "made").made(3).size == 3


# --- what is no Python ------------------------------------------------------------------------


EXERCISES = {symbol: f"07.{i}" for i, symbol in enumerate(SYMBOLS, 1)}


def repaired(source: str) -> Source:
    return repaired_source("m.py", "folder/mine.py", source, EXERCISES, ORIGINAL)


@pytest.mark.parametrize(("before", "after", "broken"), [
    ("return math.sqrt(halved(x))", "return math.sqrt(halved(x)", ["root"]),
    ("return math.sqrt(halved(x))", "return = 1", ["root"]),
    ("return math.sqrt(halved(x))", 'return "open', ["root"]),
    ("def root(x):\n    return math.sqrt(halved(x))", "def root(x)\n    return 1", ["root"]),
    ('return f"{super().name()} {self._sized()}"', "if self.size\n            return 1",
     ["Thing.name"]),
    ("return self.size ** 2", "return [self.size", ["Thing.area"]),
    ("count = STEPS", "count = (", ["Thing.counter"]),
    ("return Thing(size)", "  return 1\n return 2", ["made"]),
])
def test_an_exercise_that_is_no_python_leaves_the_others(before, after, broken):
    assert PACKAGE.count(before) == 1
    source = repaired(PACKAGE.replace(before, after))
    assert list(source.broken) == broken
    file = loaded(source)
    for symbol, use in {"root": lambda: file.root(8), "Thing.name": lambda: file.Thing(2).name(),
                        "Thing.area": lambda: file.Thing(2).area, "made": lambda: file.made(1),
                        "Thing.counter": lambda: file.Thing.counter()}.items():
        if symbol not in broken:
            use()
            continue
        with pytest.raises(SyntaxError, match=f"{EXERCISES[symbol]} cannot be read: .*mine.py, "):
            use()
        assert blamed(use)[0] == "folder/mine.py"


def test_the_error_names_its_line():
    source = repaired(PACKAGE.replace("return Thing(size)", "size = 1\n    size = = 2"))
    with pytest.raises(SyntaxError, match=rf"line {len(PACKAGE.splitlines()) + 1}\)"):
        loaded(source).made(1)


@pytest.mark.parametrize(("wrong", "words"), [
    ("if size:\n    return Thing(size)", "after 'if' statement on line {}"),
    ("return Thing(\n        size]", r"opening parenthesis '\(' on line {}"),
])
def test_a_line_in_the_error_s_words_is_one_of_the_file(wrong, words):
    source = repaired(PACKAGE.replace("return Thing(size)", wrong))
    with pytest.raises(SyntaxError, match=words.format(len(PACKAGE.splitlines()))):
        loaded(source).made(1)


def test_several_broken_exercises_are_all_told():
    source = repaired(PACKAGE.replace("return Thing(size)", "return (").replace(
        "return math.sqrt(halved(x))", "return )"))
    assert source.broken == ("root", "made")


@pytest.mark.parametrize("before", ["STEPS = 3", "import math\n", 'return "base"'])
def test_an_error_outside_of_the_exercises_is_as_python_tells_it(before):
    with pytest.raises(SyntaxError):
        repaired(PACKAGE.replace(before, "("))


def test_a_broken_exercise_can_be_taken_from_the_package():
    source = repaired(PACKAGE.replace("return Thing(size)", "return ("))
    whole = compose(source, ORIGINAL, ["made"], SYMBOLS)
    assert whole.broken == () and loaded(whole).made(2).size == 2


@pytest.mark.parametrize("hostile", [
    "x = " + "-" * 100_000 + "1", "(" * 5000, "x" + ".y" * 50_000, "x = 1" + " + 1" * 50_000,
    "[" * 90 + "]" * 90, "if 1:\n" * 90, "f'{" * 200, "x = " + "a[" * 150, "\0", "lambda: " * 5000,
    "class Thing:\n" + "  def name(self):\n" * 3000, "def root" + "(" * 1000,
])
def test_reading_ends_in_a_result_or_an_error_that_is_expected(hostile):
    """What is handed in is read by the grader's own process."""
    stage = STAGES[0]
    path = stage.modules[0]
    for before in ("", PACKAGE, stage.exercise(path).read_text(encoding="utf-8")):
        learner_files = LearnerFiles(stage, {path: f"{before}\n{hostile}\n"})
        learner_files.open()
        try:
            learner_files.without([hole.id for hole in stage.holes])
        except CourseError:
            pass


# --- the course's own modules -----------------------------------------------------------------


STAGES = [stage for stage in stages() if stage.holes]


def symbols_of(stage: Stage, path: str, holes: list[Hole] | tuple[Hole, ...]) -> list[str]:
    return [symbol for hole in holes for where, _, symbol in
            (each.partition(":") for each in hole.symbols) if where == path]


@pytest.mark.parametrize("stage", [*STAGES[:2], *one_in(3, STAGES[2:])],
                         ids=lambda stage: stage.key)
def test_every_exercise_can_be_taken_from_the_package(stage):
    for path in stage.modules:
        original = source_of(path, "package", module(stage.package, path).text)
        base = source_of(path, "mine", blank(stage, path, list(stage.holes)))
        symbols = symbols_of(stage, path, stage.holes)
        whole = compose(base, original, symbols, symbols)
        assert ast.dump(whole.tree) == ast.dump(original.tree)
        for hole in stage.holes:
            taken = symbols_of(stage, path, [hole])
            assert set(open_symbols(compose(base, original, taken, symbols))) == (
                set(symbols) - set(taken))


@pytest.mark.parametrize("stage", [STAGES[0], *one_in(3, STAGES[1:])], ids=lambda stage: stage.key)
def test_every_exercise_may_be_no_python(stage, tmp_path):
    """An open bracket in one exercise: the package can be composed of all the others."""
    for hole in stage.holes:
        for symbol in hole.symbols:
            path, _, name = symbol.partition(":")
            source = module(stage.package, path)
            lines = list(source.lines)
            function = source.function(name)
            lines[function.body[-1].lineno - 1] = " " * function.body[-1].col_offset + "return ("
            del lines[function.body[-1].lineno : function.end_lineno]
            learner_files = LearnerFiles(stage, {path: "\n".join(lines) + "\n"})
            assert learner_files.broken() == {hole.id}, symbol
            assert path in learner_files.without({hole.id})


@pytest.mark.parametrize("stage", [STAGES[0], *one_in(3, STAGES[1:])], ids=lambda stage: stage.key)
def test_every_exercise_can_be_taken_where_all_is_from_scratch(stage):
    pytest.importorskip("rich", reason="the course's commands need the extra 'course'")
    from minigrad_course.learner.from_scratch import from_scratch

    texts = {path: from_scratch(stage, path) for path in stage.modules}
    whole = LearnerFiles(stage, texts).without([hole.id for hole in stage.holes])
    for path, source in whole.items():
        assert open_symbols(source) == []
        defined = {each.name for each in ast.walk(source.tree)
                   if isinstance(each, ast.FunctionDef | ast.ClassDef)}
        used = {each.id for each in ast.walk(source.tree) if isinstance(each, ast.Name)}
        wanted = {each.name for each in module(stage.package, path).tree.body
                  if isinstance(each, ast.FunctionDef | ast.ClassDef)}
        assert not (used & wanted) - defined


# --- two stages in one file -------------------------------------------------------------------


def test_two_stages_share_a_module(tmp_path):
    """Each file has answers of its own, helpers of the same name, and a changed constructor."""
    stage = next(each for each in STAGES if each.number == "07")
    (path,) = stage.modules
    text = stage.solution(path).read_text(encoding="utf-8")
    first, second = (tmp_path / f"{i}.py" for i in (1, 2))
    holes = [next(hole for hole in stage.holes if hole.id == number) for number in ("07.1", "07.5")]
    stages_ = [Stage(stage.key, stage.root, 1, stage.modules, (hole,)) for hole in holes]
    names = [hole.symbols[-1].partition(":")[2] for hole in holes]
    for file, name, word in zip((first, second), names, "ab", strict=True):
        lines = text.splitlines()
        node = source_of(path, "x", text)
        at = next(each for each in ast.walk(node.tree) if isinstance(each, ast.ClassDef)
                  and each.name == name.partition(".")[0])
        method = next(each for each in at.body if getattr(each, "name", "") == "__exit__")
        lines.insert(method.body[-1].end_lineno, f"        _told({word!r})")
        lines += ["", "", "def _told(x):", f"    SAID.append(x + {word!r})", "", "", "SAID = []"]
        file.write_text("\n".join(lines) + "\n")
    files, shared = combine_files([(stages_[0], {path: first}), (stages_[1], {path: second})])
    assert files == {path: second}
    source = shared[path]
    for name, file, word in zip(names, (first, second), "ab", strict=True):
        lines = [line for line in source.lines if f"({word!r})" in line.text]
        assert [line.file for line in lines] == [str(file.resolve())], name
        assert lines[0].text.strip().startswith("_given__told(" if word == "a" else "_told(")
    assert [line.text for line in source.lines].count("SAID = []") == 1


def test_one_file_of_each_stage_is_left_as_it_is():
    stage = STAGES[0]
    files = {path: stage.solution(path) for path in stage.modules}
    assert combine_files([(stage, files)]) == (files, {})


def test_a_file_that_is_no_text_is_left_to_the_import(tmp_path):
    stage = STAGES[0]
    file = tmp_path / "x.py"
    file.write_bytes(b"\xff\xfe\x00")
    learner_files = LearnerFiles(stage, {stage.modules[0]: Path(file)})
    assert learner_files.repaired() == {} and learner_files.open() == set()
    with pytest.raises(CourseError, match="it is not valid Python"):
        learner_files.without({hole.id for hole in stage.holes})
