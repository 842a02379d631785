"""The course's machinery: lessons are cut and filled, bodies blanked, wrong answers made."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import textwrap
from collections import Counter
from dataclasses import replace

import pytest

pytest.importorskip("typer", reason="the course's commands need Typer")

from typer.testing import CliRunner

from minigrad_course.app import app
from minigrad_course.content import lesson_blocks, source
from minigrad_course.content import stages as course
from minigrad_course.content.stages import MASTER, CourseError
from minigrad_course.dev import build, fill_lesson, notebook
from minigrad_course.running.trial import try_files

STAGES = course.stages()
EXERCISES = [stage for stage in STAGES if stage.holes]


@pytest.fixture
def small(tmp_path):
    """A project of one stage with one module."""
    (tmp_path / "lessons" / "stages").mkdir(parents=True)
    (tmp_path / "minigrad").mkdir()
    (tmp_path / "minigrad" / "double.py").write_text(textwrap.dedent('''
        """Doubling."""

        FACTOR = 2


        # Why it is here.
        def double(x):
            """Return twice x."""
            # a secret of the solution
            result = FACTOR * x
            return result


        class Twice:
            """Holds x."""

            def get(self):
                """Return twice x."""
                return double(self.x)
    ''').lstrip())
    (tmp_path / "lessons" / "stages" / "01_double.toml").write_text(textwrap.dedent('''
        minutes = 5
        modules = ["double.py"]
        [[hole]]
        id = "01.1"
        symbols = ["double.py:double"]
        points = 10
    '''))
    (tmp_path / "lessons" / "01_double.toml").write_text(
        '[hole."01.1"]\ntitle = "Doubling"\ntask = "Multiply."\nhints = ["a", "b", "c"]\n')
    return course.stages(tmp_path)[0]


def test_a_hole_keeps_the_signature_and_the_docstring(small):
    text = source.blank(small, "double.py", list(small.holes))
    assert "secret" not in text and "FACTOR * x" not in text
    assert '"""Return twice x."""' in text
    assert 'raise NotImplementedError("01.1 Doubling is yours to write")' in text
    assert "# 01.1 Doubling (about 2 lines)\n    # Multiply.\n" in text
    ast.parse(text)


def test_a_pull_has_decorators_and_comments(small):
    module = source.module(small.package, "double.py")
    assert module.cut(module.find("double")).startswith("# Why it is here.\ndef double")
    assert module.cut(module.find("Twice.get")).startswith("def get")  # without its indent
    assert module.cut(module.find("FACTOR")) == "FACTOR = 2"
    with pytest.raises(CourseError, match=r"double.py does not define 'Twice.put'"):
        module.find("Twice.put")


def test_an_edit_has_to_fit_once(small):
    hole = small.holes[0]

    def mutant(*edits):
        return course.Mutant("wrong", None, edits)

    made = source.mutated(small, hole, mutant(("FACTOR * x", "x"), ("return result", "return 0")))
    assert "result = x\n    return 0" in made["double.py"]
    for text in ("result", "nowhere"):
        with pytest.raises(CourseError, match="exactly once"):
            source.mutated(small, hole, mutant((text, "x")))


LESSON = """
# Doubling

```python
print(1)
```

<!-- raises: ZeroDivisionError -->
```python
1 / 0
```

<!-- pull: double.py:double -->
```python
```

<!-- not run: torch -->
```python
import torch
```

```console
$ minigrad run 01
```

<!-- rest: double.py -->
"""


def test_a_lesson_is_filled_and_stays_as_it_is(small, monkeypatch):
    monkeypatch.setattr(course.Stage, "words", {"title": "Doubling"})
    blocks = lesson_blocks.parse(LESSON, "x")
    root = course.checkout()
    # The lesson's code runs in the real package; only pulls come from the small one.
    run = fill_lesson.subprocess.run
    monkeypatch.setattr(fill_lesson.subprocess, "run", lambda *a, **k: run(
        *a, **{**k, "cwd": root, "env": {**k["env"], "PYTHONPATH": str(root)}}))
    fill_lesson.fill(blocks, small)
    text = lesson_blocks.render(blocks)
    assert "<!-- output -->\n```text\n1\n```" in text
    assert "ZeroDivisionError: division by zero" in text
    assert "def double(x):" in text
    assert text.endswith("""
<!-- rest: double.py -->
Besides the code above, [`double.py`](../minigrad/double.py) has:

- `FACTOR = 2`
- `Twice`: Holds x.
<!-- /rest -->
""")
    again = lesson_blocks.parse(text, "x")
    fill_lesson.fill(again, small)
    assert lesson_blocks.render(again) == text


@pytest.mark.parametrize(("text", "told"), [
    ("```python\nx = 1\n", "x:1: the block has no closing fence"),
    ("<!-- draft -->\ntext\n", "x:2: expected a block of code"),
    ("<!-- not run: lazy -->\n```python\n```\n", "x:1: not run: 'lazy' is not one of"),
    ("text\n<!-- output -->\n```text\n```\n", "an output must directly follow a block that runs"),
    ("<!-- predict -->\n```text\n1\n```\n", "predict needs a block that runs"),
])
def test_an_error_in_a_lesson_is_described(text, told):
    with pytest.raises(CourseError, match=re.escape(told)):
        lesson_blocks.parse(text, "x")


FOLDED = """
What will it print?

<!-- predict -->
<!-- draft -->
```python
print(1)
```

<!-- output -->
<details markdown="1">
<summary>Predict first, then look</summary>

```text
1
```

</details>

No prediction here:

```python
x = 1
```
"""


def test_answers_to_a_prediction_are_read_and_written_back():
    text = FOLDED.replace("<!-- predict -->", "<!-- predict: 1 | one -->")
    blocks = lesson_blocks.parse(text, "x")
    assert lesson_blocks.render(blocks) == text
    assert [block.answers for block in blocks if block.runs] == [("1", "one"), ()]


def test_an_output_to_be_predicted_is_folded_and_hidden_in_the_notebook():
    blocks = lesson_blocks.parse(FOLDED, "x")
    assert lesson_blocks.render(blocks) == FOLDED
    draft, plain = (block for block in blocks if block.runs)
    assert draft.kind == "draft" and draft.predicted and draft.printed == "1"
    assert not plain.predicted and blocks[-1] is plain
    for block in (draft, plain):
        block.result = {"printed": "1\n", "value": "", "error": ""}
    cells = json.loads(notebook.notebook(blocks, "x"))["cells"]
    _, first, second = (cell for cell in cells if cell["cell_type"] == "code")
    assert first["metadata"] == {"collapsed": True, "jupyter": {"outputs_hidden": True}}
    assert first["outputs"] and not second["metadata"]


def test_a_cell_within_a_fold_is_hidden_and_what_follows_it_is_folded():
    fold = '<details markdown="1">\n<summary>Our experiment</summary>'
    blocks = lesson_blocks.parse(
        f"Try it.\n\n{fold}\n\n```python\nprint(1)\n```\n\nIt is one.\n\n</details>\n", "x")
    next(block for block in blocks if block.runs).result = {"printed": "1\n", "value": "",
                                                            "error": ""}
    before, _, cell, after = json.loads(notebook.notebook(blocks, "x"))["cells"]
    assert before["source"] == ["Try it."] and cell["source"] == ["print(1)"]
    assert cell["metadata"]["jupyter"] == {"outputs_hidden": True, "source_hidden": True}
    assert "".join(after["source"]) == f"{fold}\n\n\nIt is one.\n\n</details>"


def test_a_picture_is_drawn_noticed_when_stale_and_taken_away(small, monkeypatch):
    monkeypatch.setattr(course.Stage, "words", {"title": "Doubling"})
    root = course.checkout()
    run = fill_lesson.subprocess.run
    monkeypatch.setattr(fill_lesson.subprocess, "run", lambda *a, **k: run(
        *a, **{**k, "cwd": root, "env": {**k["env"], "PYTHONPATH": str(root)}}))
    functions = small.root / "lessons" / "pictures" / "01_double.py"
    functions.parent.mkdir()
    functions.write_text(textwrap.dedent("""
        from minigrad_course.pictures import Drawing, Picture

        def twice():
            return Picture(Drawing().text(9, 9, str(2 * 2)), "Twice", "The shape [2, 2].", "See.")
    """))
    small = replace(small, holes=())
    text = "# Doubling\n\n<!-- picture: twice -->\n\nMore.\n\n<!-- rest: double.py -->\n"
    small.lesson.write_text(text)
    svg = small.root / "lessons" / "pictures" / "01_twice.svg"
    copy = small.root / "notebooks" / "pictures" / "01_twice.svg"
    assert {svg, copy} <= set(build.write(small)) and build.differences(small) == []
    assert copy.read_text() == svg.read_text()
    assert ">4</text>" in svg.read_text() and "<desc" in svg.read_text()
    made = small.lesson.read_text()
    assert ("<!-- picture: twice -->\n![The shape \\[2, 2\\].](pictures/01_twice.svg)\n\n*See.*\n"
            "<!-- /picture -->\n\nMore.") in made
    (block,) = (each for each in lesson_blocks.parse(made, "x") if each.kind == "picture")
    assert lesson_blocks.picture_words(block) == ("The shape [2, 2].", "See.")
    written = (small.root / "notebooks" / "01_double.ipynb").read_text()
    assert "](pictures/01_twice.svg)" in written
    functions.write_text(functions.read_text().replace("2 * 2", "2 * 3"))
    assert build.differences(small) == [svg, copy]
    small.lesson.write_text("# Doubling\n\n<!-- rest: double.py -->\n")
    assert svg in build.differences(small)
    assert {svg, copy} <= set(build.write(small)) and not svg.exists() and not copy.exists()
    small.lesson.write_text(text.replace("twice", "thrice"))
    with pytest.raises(CourseError, match="has no function 'thrice'"):
        build.differences(small)


def test_a_stage_pulls_from_its_modules_alone(small):
    blocks = lesson_blocks.parse("<!-- pull: other.py:other -->\n```python\n```\n"
                          "<!-- rest: double.py -->\n", "x")
    with pytest.raises(CourseError, match=re.escape("other.py is not a module of this stage")):
        fill_lesson.fill(blocks, small)


def test_code_of_another_module_is_shown(small, monkeypatch):
    (small.package / "other.py").write_text("def other():\n    return 1\n", encoding="utf-8")
    monkeypatch.setattr(fill_lesson, "run", lambda blocks, stage: None)
    blocks = lesson_blocks.parse("<!-- show: other.py:other -->\n```python\n```\n"
                          "<!-- rest: double.py -->\n", "x")
    fill_lesson.fill(blocks, small)
    assert "<!-- show: other.py:other -->\n```python\ndef other():\n    return 1\n```" in (
        lesson_blocks.render(blocks))


def names_in(statements):
    """Return the names that statements define, dunder names and imports aside."""
    for each in statements:
        if isinstance(each, source.Definition):
            yield each.name
        elif isinstance(each, ast.Assign | ast.AnnAssign):
            targets = each.targets if isinstance(each, ast.Assign) else [each.target]
            yield from (name.id for target in targets for name in ast.walk(target)
                        if isinstance(name, ast.Name) and not name.id.startswith("__"))


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.key)
def test_a_lesson_put_together_gives_its_modules(stage):
    """Pulled code is the module's, and pulls and list together name each symbol, in order."""
    text = stage.lesson.read_text(encoding="utf-8")
    blocks = lesson_blocks.parse(text, stage.key)
    for path in stage.modules:
        package = (stage.root / "minigrad" / path).read_text(encoding="utf-8")
        module = source.Module.from_text(path, package)
        lines = module.lines
        pulled = {block.detail.partition(":")[2]: block.text for block in blocks
                  if block.kind in ("pull", "show") and block.detail.startswith(f"{path}:")}
        for symbol, code in pulled.items():
            first, last = module.span(module.find(symbol))
            indent = " " * module.find(symbol).col_offset
            put = textwrap.indent(code, indent).splitlines()
            lines[first - 1 : last] = put + [""] * (last - first + 1 - len(put))
        assert ast.dump(ast.parse("\n".join(lines))) == ast.dump(ast.parse(package))

        every = []
        for name in dict.fromkeys(names_in(module.tree.body)):
            every.append(name)
            if any(symbol.startswith(f"{name}.") for symbol in pulled):
                methods = names_in(each for each in module.find(name).body
                                   if isinstance(each, source.Function))
                every += [f"{name}.{method}" for method in dict.fromkeys(methods)]
        _, _, rest = text.partition(f"<!-- rest: {path} -->\n")
        rest = rest.partition("<!-- /rest -->")[0]
        listed = re.findall(r"^- `([\w.]+)", rest, re.MULTILINE)
        assert listed == [name for name in every if name not in pulled]
        assert pulled.keys() <= set(every)
        assert f"](../minigrad/{path})" in rest


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.key)
def test_a_made_file_says_so_once_at_its_top(stage):
    mark = "Made by `minigrad dev build`"
    files = [stage.lesson, *map(stage.exercise, stage.modules), *map(stage.solution, stage.modules)]
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert text.count(mark) == 1 and mark in "".join(text.splitlines()[:2]), file
    notebook = json.loads((stage.root / "notebooks" / f"{stage.key}.ipynb").read_text("utf-8"))
    assert notebook["metadata"]["made"] == (
        f"by `minigrad dev build` from lessons/{stage.key}.md: edit that")


def test_only_the_first_sentence_is_listed():
    sentence = "Return `a. B`, e.g. both, of a\nfile.  More."
    assert source.first_sentence(sentence) == "Return `a. B`, e.g. both, of a file."
    assert source.first_sentence("No end\n\nMore.") == "No end" and source.first_sentence("") == ""


@pytest.mark.parametrize("stage", EXERCISES, ids=lambda stage: stage.key)
def test_an_exercise_has_no_text_of_its_solution(stage):
    for path in stage.modules:
        # Comments are tasks, which may name what is to be called.
        exercise = {line.strip() for line in
                    stage.exercise(path).read_text(encoding="utf-8").splitlines()}
        package = source.module(stage.package, path)
        for hole in stage.holes:
            for symbol in source.symbols_in(hole, path):
                first, last = source.body_span(package, package.function(symbol))
                body = [line.strip() for line in package.lines[first - 1 : last]]
                outside = {line.strip() for line in
                           package.lines[: first - 1] + package.lines[last:]}
                given = [line for line in body
                         if len(line) > 24 and line in exercise and line not in outside]
                assert not given, f"{symbol}: the exercise shows {given}"


def test_every_module_belongs_to_one_stage():
    modules = [path for stage in STAGES for path in stage.modules]
    assert sorted(modules) == sorted(set(modules))


def test_nothing_is_tested_where_a_module_was_not_swapped(tmp_path):
    stage = EXERCISES[0]
    wrong = tmp_path / "wrong.py"
    wrong.write_text("raise SyntaxError('mine')\n")
    trial = try_files(stage, {stage.modules[0]: wrong})
    assert "SyntaxError: mine" in trial.problem
    assert not trial.outcomes


@pytest.mark.slow
def test_a_file_that_never_ends_is_ended(tmp_path):
    stage = EXERCISES[0]
    endless = tmp_path / "endless.py"
    endless.write_text("while True: pass\n")
    assert try_files(stage, {stage.modules[0]: endless}, timeout=5).problem == (
        "it did not end within 5 seconds")


def test_blocks_run_as_in_a_notebook():
    given = ["x = [1]", "print(x)\nx", "1 / 0", "x"]
    done = subprocess.run([sys.executable, "-m", "minigrad_course.child_process.code_blocks"],
                          input=json.dumps(given), text=True, capture_output=True, check=True,
                          cwd=course.checkout())
    results = json.loads(done.stdout)
    assert [each["value"] for each in results] == ["", "[1]", "", "[1]"]
    assert results[1]["printed"] == "[1]\n"
    assert results[2]["error"] == "ZeroDivisionError: division by zero"


def test_the_glossary_explains_the_inside_that_tasks_use():
    page = (course.checkout() / "docs" / "en" / "glossary.md").read_text(encoding="utf-8")
    explained = set(re.findall(r"_[a-z]\w+", page.partition("## Names in the exercises")[2]))
    used = Counter(name for stage in STAGES for words in stage.words.get("hole", {}).values()
                   for name in set(re.findall(r"(?<!\w)_[a-z]\w+",
                                              f"{words['task']} {' '.join(words['hints'])}")))
    assert {name for name, count in used.items() if count >= 3} <= explained


def test_master_copies_say_that_they_are_not_the_learner_s(tmp_path):
    stage = replace(course.find_stage("07"), root=tmp_path)
    (module,) = stage.modules
    for kind, file in (("exercise", stage.exercise(module)), ("solution", stage.solution(module))):
        text = build._header(course.find_stage("07"), module, kind)
        assert text.count(MASTER) >= 1 and len(max(text.splitlines(), key=len)) <= 100
        file.parent.mkdir(parents=True)
        file.write_text(f"{text}x = 1\n", encoding="utf-8")
    handed_out = stage.handed_out(module)
    assert MASTER not in handed_out and handed_out.endswith("\n\nx = 1\n")
    assert "docs/en/glossary.md" in handed_out and "minigrad run 07" in handed_out


def test_a_missing_library_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "nbformat", None)
    result = CliRunner().invoke(app, ["dev", "build", "07", "--check"])
    assert result.exit_code == 2
    assert "needs nbformat" in result.output and "pip install -e '.[authors]'" in result.output
