"""How the site's pages are made: what stands in them, where they lead, what a runtime gets."""

from __future__ import annotations

import doctest
import gzip
import importlib.metadata
import json
import posixpath
import re
import shutil
import threading
import tomllib
import urllib.error
import urllib.request
from pathlib import Path

import api_pages
import course_map
import examples
import exercise_pages
import lesson_pages
import made
import maths
import op_pages
import other_pages
import pictures
import prose
import public_names
import pytest
import serve
import shorten
import source_pages
from api_families import FAMILIES, family_of

from minigrad.codegen.functions import texts_of
from minigrad.op.declaration import REGISTRY
from minigrad_course.content.stages import stages
from tests.support.slow import slow_but

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "site"

STAGES = stages(ROOT)
WITH_HOLES = [stage for stage in STAGES if stage.holes]
DOCS = {path.relative_to(ROOT / "docs/en").as_posix() for path in (ROOT / "docs/en").rglob("*.md")}
MADE = made.made_pages()
PAGES = {**MADE, **made.made_files()}
KINDS = {"run", "draft", "raises", "pull", "show", "not run"}


def key(stage) -> str:
    return stage.key


def without_code(text: str) -> str:
    text = re.sub(r"^(`{3,}).*?^\1$", "", text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"`[^`\n]*`", "", text)


def links(text: str) -> list[str]:
    return re.findall(r"\]\((?!https?:|#)([^)\s#]+)", without_code(text))


def test_no_made_page_takes_the_place_of_a_written_one_or_of_another():
    assert not set(MADE) & DOCS
    assert len(PAGES) == len({address.lower() for address in PAGES})
    sources = {op_pages.page_name(name) for name in op_pages.pages()}
    assert len(sources) == len(op_pages.pages()) and "index" not in sources


def test_what_the_plan_leaves_to_be_made_is_made_and_leads_somewhere():
    plan = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    sections = made.in_nav()
    assert set(re.findall(r"made/\w+", plan)) == set(sections)
    for section in sections.values():
        for entry in section:
            for value in entry.values():
                pages = [value] if isinstance(value, str) else value
                assert {page if isinstance(page, str) else next(iter(page.values()))
                        for page in pages} <= set(MADE)


@pytest.mark.parametrize("stage", STAGES, ids=key)
def test_a_lesson_shows_every_block_once_and_no_directive(stage):
    page, data = lesson_pages.lesson_page(stage), lesson_pages.page_data(stage, "lesson")
    marks = "pull|show|draft|raises|not run|output|/?rest|/?picture|predict"
    assert not re.search(f"<!-- ({marks})", page)
    assert re.findall(r'id="(block-\d+)"', page) == [block["id"] for block in data["blocks"]]
    assert {block["kind"] for block in data["blocks"]} <= KINDS
    for block in data["blocks"]:
        assert block["code"] in page
        assert block["expected"] is None or block["expected"] in page
    assert page.count("<details") == page.count("</details>")
    assert page.count("<div") == page.count("</div>")


def test_a_picture_stands_within_its_page_and_what_is_predicted_is_folded():
    (stage,) = (each for each in STAGES if each.number == "00")
    page, text = lesson_pages.lesson_page(stage), stage.text()
    still = len(re.findall("<!-- /picture -->\n+<!-- widget", text))  # a figure replaces these
    assert page.count("<svg ") == text.count("<!-- picture: ") - still > 1
    assert still == 1
    assert "<style" not in page and "prefers-color-scheme" not in page  # the page has its own
    assert ".mg-drawing .box{" in PAGES["pictures.css"]()
    assert page.count('<details class="mg-predict"') == text.count("<!-- predict") > 1
    folded = page.partition('<details class="mg-predict"')[2].partition("</details>")[0]
    assert "6.000999999999479" in folded


@pytest.mark.parametrize("stage", STAGES, ids=key)
def test_the_blocks_that_run_expect_what_the_notebook_prints(stage):
    notebook = json.loads((ROOT / "notebooks" / f"{stage.key}.ipynb").read_text(encoding="utf-8"))
    loads, *cells = ["".join(cell["source"]) for cell in notebook["cells"]
                     if cell["cell_type"] == "code"]
    assert loads == "%load_ext minigrad_course.jupyter"
    exercises = [each for each in cells if each.startswith("%exercise ")]
    assert exercises == [f"%exercise {hole.id}" for hole in stage.holes]
    cells = [each.removeprefix("%%predict\n") for each in cells if each not in exercises]
    blocks = lesson_pages.page_data(stage, "lesson")["blocks"]
    running = [block for block in blocks if block["kind"] in ("run", "draft", "raises")]
    assert [block["code"] for block in running] == cells


@pytest.mark.parametrize("stage", STAGES, ids=key)
def test_links_of_lessons_and_exercises_lead_to_pages(stage):
    found = [(f"lessons/{stage.key}.md", lesson_pages.lesson_page(stage))]
    if stage.holes:
        found.append((f"exercises/{stage.key}.md", exercise_pages.exercise_page(stage)))
    for address, text in found:
        for link in links(text):
            place = posixpath.normpath(posixpath.join(posixpath.dirname(address), link))
            assert place in PAGES or place in DOCS, f"{address}: {link}"


@pytest.mark.parametrize("stage", WITH_HOLES, ids=key)
def test_a_page_of_exercises_has_each_hole_with_its_hints_and_hands_over_its_files(stage):
    page, data = exercise_pages.exercise_page(stage), lesson_pages.page_data(stage, "exercises")
    assert re.findall(r'data-hole="([^"]+)"', page) == [hole.id for hole in stage.holes]
    hints = sum(len(stage.words["hole"][hole["id"]]["hints"]) for hole in data["holes"])
    assert page.count('class="mg-hint"') == hints
    texts = json.loads(PAGES[f"runtime/stages/{stage.key}.json"]())
    assert set(texts["files"]) == set(texts["solutions"]) == set(data["files"])
    assert set(data["files"]) == set(stage.modules)
    raising = "is yours to write"
    assert sum(text.count(raising) for text in texts["files"].values()) >= len(stage.holes)
    assert not any(raising in text for text in texts["solutions"].values())


@pytest.mark.parametrize("stage", WITH_HOLES, ids=key)
def test_each_exercise_stands_in_its_lesson_below_your_turn_with_the_function_to_write(stage):
    page, data = lesson_pages.lesson_page(stage), lesson_pages.page_data(stage, "lesson")
    holes = [hole.id for hole in stage.holes]
    assert re.findall(r'data-hole="([^"]+)"', page) == [hole["id"] for hole in data["holes"]]
    assert [hole["id"] for hole in data["holes"]] == holes
    turns = re.split(r"^### Your turn: ", page, flags=re.MULTILINE)[1:]
    named = re.compile(r"\b\w+\.\d+\b")
    assert [hole for turn in turns for hole in named.findall(turn.partition("\n")[0])] == holes
    for turn in turns:
        before, _, rest = turn.partition('<section class="mg-exercise"')
        assert "mg-block" not in before and "<details" not in before
        for hole in named.findall(turn.partition("\n")[0]):
            title = stage.words["hole"][hole]["title"]
            assert f'raise NotImplementedError("{hole} {title} is yours to write")' in rest
    assert "Then:\n\n```text\nminigrad run" not in page


#: The exercises whose examples show an error, with its text.
RAISING = {"06.1": "modified by an inplace operation", "06b.6": "differentiate twice"}


def test_what_is_tried_on_a_solved_exercise_runs(capsys):
    own = 0
    for stage in WITH_HOLES:
        for hole, program in exercise_pages.stage_file(stage)["trials"].items():
            own += program != exercise_pages.PASS
            if hole in RAISING:
                with pytest.raises(RuntimeError, match=RAISING[hole]):
                    exec(program, {"__name__": "trial"})
            else:
                exec(program, {"__name__": "trial"})
    assert own > 20 and capsys.readouterr().out.startswith("6.0\n")


@pytest.mark.parametrize("stage", WITH_HOLES, ids=key)
def test_each_exercise_leads_once_from_its_task_to_the_glossary(stage):
    address = f"glossary.md#{prose.anchor('Names in the exercises')}"
    assert "## Names in the exercises" in (ROOT / "docs/en/glossary.md").read_text("utf-8")
    sections = exercise_pages.exercise_page(stage).split('<section class="mg-exercise"')[1:]
    assert len(sections) == len(stage.holes)
    for section in sections:
        task, _, hints = section.partition('class="mg-hint"')
        assert f"](../{address})" in task and "glossary" not in hints


def test_a_task_has_paragraphs_examples_and_items():
    task = "One `a*b`.\nTwo *args.\n  f(1) -> 2\nMind:\n- <This>.\n- That.\nUse: `f`."
    assert exercise_pages._task(task).split("\n\n") == [
        "One `a*b`. Two \\*args.", "```text\nf(1) -> 2\n```", "Mind:", "- &lt;This>.\n- That.",
        "Use: `f`."]


def test_no_solution_stands_in_the_text_of_an_exercise():
    (stage,) = (each for each in STAGES if each.number == "03")
    page = exercise_pages.exercise_page(stage)
    assert "def add(self" in page and ": ..." in page
    assert "self.owned[index] = not isinstance" not in page.partition("mg-hint")[0]


def test_what_a_page_hands_over_cannot_end_its_element():
    element = lesson_pages.script_element({"code": "</script><!-- <script>"})
    inner = element.partition(">")[2].removesuffix("</script>")
    assert "</" not in inner and "<!--" not in inner
    assert json.loads(inner) == {"code": "</script><!-- <script>"}


def test_the_site_does_not_tell_how_to_come_to_it():
    assert not doctest.testmod(lesson_pages).failed
    for stage in STAGES:
        page = lesson_pages.lesson_page(stage)
        assert not re.search(r"\bOn the site\b|on the site you can", page), stage.key
    text = (ROOT / "docs/en/course.md").read_text(encoding="utf-8")
    for words in shorten.HERE:
        assert text.count(words) == 1


def test_indentation_is_not_sent_but_where_it_is_seen():
    page = "<p>\n  <b>1</b>\n</p><pre class='x'>\n  y</pre>\n  <script>\n  z</script>"
    assert shorten.without_indentation(page) == (
        "<p>\n<b>1</b>\n</p><pre class='x'>\n  y</pre>\n<script>\n  z</script>")


def test_the_search_has_a_method_before_its_twin_that_writes_in_place(tmp_path):
    docs = [{"location": name, "title": f"<code>Tensor.{name}()</code>", "text": "", "boost": 4}
            for name in ("detach_", "detach")]
    file = tmp_path / "search_index.json"
    file.write_text(json.dumps({"docs": docs}), encoding="utf-8")
    shorten.smaller_index(file)
    boosts = {each["location"]: each["boost"]
              for each in json.loads(file.read_text(encoding="utf-8"))["docs"]}
    assert boosts == {"detach": 4, "detach_": 2}


def test_the_search_knows_names_of_the_api_as_they_are_written(tmp_path):
    named = {"api/nn/linear/#minigrad.nn.linear.Linear.reset_parameters":
             ("Linear.reset_parameters", "nn.Linear.reset_parameters"),
             "api/func/#minigrad.func.vmap.vmap": ("vmap", "func.vmap"),
             "api/minigrad/making/#minigrad.ops.creation.create.ones": ("ones", "ones"),
             "api/tensor/#minigrad.Tensor.add_": ("<code>Tensor.add_(other)</code>",
                                                  "<code>Tensor.add_()</code>"),
             "api/nn/#linear": ("Linear layers", "Linear layers"), "ops/add/": ("add", "add")}
    file = tmp_path / "search_index.json"
    docs = [{"location": place, "title": title, "text": ""} for place, (title, _) in named.items()]
    file.write_text(json.dumps({"docs": docs}), encoding="utf-8")
    shorten.smaller_index(file)
    titles = [each["title"] for each in json.loads(file.read_text(encoding="utf-8"))["docs"]]
    assert titles == [title for _, title in named.values()]


def test_the_search_knows_the_errors_and_the_questions_that_sections_answer(tmp_path):
    ours = tomllib.loads(shorten.QUESTIONS.read_text(encoding="utf-8"))
    file = tmp_path / "search_index.json"
    docs = [{"location": place, "title": "An error", "text": ""}
            for place in ("error_messages/", "error_messages/#some", "grad_is_none/", "viz/#some")]
    file.write_text(json.dumps({"docs": docs}), encoding="utf-8")
    shorten.smaller_index(file)
    asked = [each.get("asked") for each in json.loads(file.read_text(encoding="utf-8"))["docs"]]
    assert asked == [None, ["An error"], ours["grad_is_none/"], None]


def test_the_course_map_marks_the_stages_after_which_any_order_is_possible():
    ways = [stage.number for stage in STAGES if course_map.is_way_in(stage, STAGES)]
    assert {"03b", "05", "11"} <= set(ways)
    assert not {"00", "01", "02", "03", "04b", "06", "14"} & set(ways)  # first, or built on those
    made = course_map.course_map(ROOT, "lessons/")
    assert made.count('<span class="mg-mark"') == len(ways) + 1  # the sentence shows it too
    assert "builds on 02, 03<" in made and "Begin with 00, 01, 02, 03." in made


def test_the_courses_table_leads_to_every_lesson():
    text = (ROOT / "docs/en/course.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\|.*$", lesson_pages.course_table(text, ROOT), re.MULTILINE)
    assert [links(row) for row in rows[2 : 2 + len(STAGES)]] == [
        [f"lessons/{stage.key}.md"] for stage in STAGES]


def test_a_graph_that_a_lesson_prints_is_drawn():
    if shutil.which("dot") is None:
        pytest.skip("Graphviz, which draws, is not installed")
    (stage,) = (each for each in STAGES if each.number == "00")
    ((name, picture),) = lesson_pages.graphs_of(stage).items()
    assert f"lessons/{name}" in PAGES and f"]({name})" in lesson_pages.lesson_page(stage)
    assert picture.count("PowBackward0") == 2 and picture.count("AccumulateGrad") == 2


def test_a_block_that_raises_does_not_end_the_drawing():
    if shutil.which("dot") is None:
        pytest.skip("Graphviz, which draws, is not installed")
    sources = ["import minigrad as torch\nfrom minigrad import viz",
               "x = torch.tensor(1.0, requires_grad=True)", "1 / 0", "print(viz.graph(x * 2))"]
    (drawn,) = pictures.pictures(sources)
    assert "MulBackward0" in drawn


OPS = ["abs", "cat", "index", "max", "mul", "prelu_kernel", "sign", "sum", "transpose", "conv2d"]


@pytest.mark.parametrize("name", [name for name in OPS if name in op_pages.pages()])
def test_a_page_of_an_operation_tells_what_its_declaration_says(name):
    ops = op_pages.pages()[name]
    page = op_pages.op_page(name, ops)
    for op in ops:
        assert prose.summary(op.__doc__) in " ".join(page.split())
        assert f"class {op.__name__}(" in page
        for formula in op.formulas:
            assert f"def grad_{formula}(" in page
        if op.formulas:
            assert f"`{op.node_type.__name__}`" in page


@pytest.mark.parametrize("name", [name for name in OPS if name in op_pages.pages()])
def test_a_page_of_an_operation_folds_what_runs(name):
    ops = op_pages.pages()[name]
    page = op_pages.op_page(name, ops)
    texts = [text for op in ops for text in texts_of(op).values()]
    assert page.count("<details") == page.count("</details>") == len(texts)
    assert all(text.rstrip() in page for text in texts)


def test_the_gradient_on_a_page_is_right():
    page = op_pages.op_page("mul", op_pages.pages()["mul"])
    assert "other = 1.5" in page and "gradient by self: tensor([[1.5000, 1.5000, 1.5000]," in page


def test_an_example_that_prints_something_else_stops_the_build():
    class Wrong:
        """Adds.

        >>> 1 + 1
        3
        """

    with pytest.raises(ValueError, match="the example of Wrong gives '2"):
        op_pages._examples(Wrong)


def test_every_operation_stands_in_the_list():
    page = op_pages.index_page()
    for op in REGISTRY.values():
        assert f"]({op_pages.page_name(op.name)}.md)" in page


def test_the_line_that_a_page_names_is_the_declarations():
    op = REGISTRY["Exp"]
    page = op_pages.op_page("exp", [op])
    module, line = re.search(r'href="../../source/([\w.]+)/#__codelineno-0-(\d+)"', page).groups()
    assert f"source/{module}.md" in MADE
    text = (ROOT / "minigrad" / (module.replace(".", "/") + ".py")).read_text(encoding="utf-8")
    assert text.splitlines()[int(line) - 1].startswith("class Exp(")


@pytest.mark.parametrize("stage", STAGES, ids=key)
def test_a_lesson_leads_to_the_text_of_each_file_that_it_rebuilds(stage):
    page = lesson_pages.lesson_page(stage)
    for path in stage.modules:
        address = f"source/{source_pages.source_name(path)}.md"
        assert page.count(f"](../{address})") == 2  # at the top and at the end
        assert "](../minigrad/" not in page
        source = MADE[address]()
        assert (ROOT / "minigrad" / path).read_text(encoding="utf-8").strip() in source
        assert f"](../lessons/{stage.key}.md)" in source


API = [address for address in MADE if address.startswith("api/")]


@pytest.mark.parametrize("address", API)
def test_a_page_of_the_api_names_what_is_there_and_leads_to_pages(address):
    page = MADE[address]()
    told = re.findall(r"^::: (\S+)$", page, re.MULTILINE)
    assert told or links(page)
    for path in told:
        module, _, attribute = path.rpartition(".")
        assert hasattr(importlib.import_module(module), attribute)
    for link in links(page):
        assert posixpath.normpath(posixpath.join(posixpath.dirname(address), link)) in MADE


@pytest.mark.parametrize("name", FAMILIES)
def test_each_name_of_a_parted_module_is_told_on_the_page_that_its_table_names(name):
    table = api_pages.api_page(name)
    listed = {f"{page}#{path}" for page, path in re.findall(r"\]\(([\w.]+)#([\w.]+)\)", table)}
    told = {f"{address.partition('/')[2]}#{path}" for address, _ in api_pages.family_pages(name)
            for path in re.findall(r"^::: (\S+)$", api_pages.family_page(name, address), re.M)}
    assert listed == told and len(told) > 5
    assert set(FAMILIES[name]) <= {
        Path(address).stem for address, _ in api_pages.family_pages(name)}


def test_the_families_name_files_that_are_there():
    there = {path.stem for path in (ROOT / "minigrad").rglob("*.py")}
    for families in FAMILIES.values():
        for _, files in families.values():
            assert set(files.split()) <= there


def test_a_name_of_no_family_has_a_page_all_the_same():
    assert family_of("nn", "minigrad.nn.never_heard_of") == ("further", "Further")


def test_every_public_module_with_functions_has_a_page():
    assert "::: minigrad.autograd.function.function.Function" in MADE["api/autograd/function.md"]()
    assert "](../../ops/relu.md)" in api_pages.api_page("minigrad")


def test_changelog_and_contributing_lead_to_pages_only():
    for text in (other_pages.changelog(ROOT), other_pages.contributing(ROOT)):
        for link in links(text):
            assert link in DOCS | set(MADE), link


def test_licences_name_what_is_served_each_with_its_text():
    pytest.importorskip("material", reason="Material, the site's theme, is not installed")
    page = other_pages.licences(ROOT)
    texts = {part.partition("\n")[0]: part for part in re.split(r"^## ", page, flags=re.M)[1:]}
    wanted = ["minigrad", "Material for MkDocs", "Material Design Icons", "Font Awesome", "CPython",
              "Emscripten and musl", "Graphviz", "Expat"]
    if (SITE / "node_modules" / "katex").is_dir():
        lock = json.loads((SITE / "package-lock.json").read_text(encoding="utf-8"))["packages"]
        wanted += [path.removeprefix("node_modules/") for path, about in lock.items()
                   if path and not about.get("dev")]
    if any((ROOT / "build" / "cache").rglob("*.whl")):
        wanted += ["numpy", *(line.split("==")[0] for line in
                              (SITE / "runtime" / "wheels.txt").read_text().splitlines()
                              if line and not line.startswith("#"))]
    for name in wanted:
        [text] = [text for heading, text in texts.items()
                  if re.fullmatch(rf"{re.escape(name)}( [\d.]+)?", heading)]
        folded = text.partition("<summary>The text of the licence</summary>")[2]
        assert len(folded) > 500, name
    assert "BSD 3-Clause" in texts["minigrad"]


def test_what_comes_from_npm_is_pinned_by_its_hash_and_by_no_address():
    text = (SITE / "package-lock.json").read_text(encoding="utf-8")
    assert "http" not in re.sub(r'"(url|funding)": ?("[^"]*"|\[[^]]*\])', "", text)
    for path, about in json.loads(text)["packages"].items():
        assert not path or about["integrity"].startswith("sha512-"), path
    wanted = json.loads((SITE / "package.json").read_text(encoding="utf-8"))
    for version in {**wanted["dependencies"], **wanted["devDependencies"]}.values():
        assert re.fullmatch(r"\d+\.\d+\.\d+", version)


#: The name "minigrad" of a package index is not this project: it is installed from a clone.
OTHERS = re.compile(r"(pip|uv|pipx|conda)\s+(install|add)[^\n`]*\bminigrad(?![\w-])")


def test_nothing_tells_to_install_a_package_of_another_project():
    for path in (path for folder in ("docs", "lessons", "exercises")
                 for path in (ROOT / folder).rglob("*") if path.suffix in (".md", ".py", ".toml")):
        told = OTHERS.search(path.read_text(encoding="utf-8"))
        assert told is None, f"{path}: {told}"
    assert OTHERS.search("$ pip install minigrad") and not OTHERS.search("pip install minigrad-x")


#: One page of each kind: all of them take seconds to make.
FIRST = {address.rpartition("/")[0]: address for address in reversed(list(PAGES))}


@pytest.mark.parametrize("address", slow_but(lambda page: page in FIRST.values(), PAGES))
def test_no_page_tells_to_install_a_package_of_another_project(address):
    try:
        text = PAGES[address]()
    except importlib.metadata.PackageNotFoundError as error:
        pytest.skip(f"{error.name}, whose licence it shows, is not installed")
    assert OTHERS.search(text) is None


def test_formulas_are_drawn_with_the_mark_behind_them():
    if not maths.KATEX.is_dir() or shutil.which("node") is None:
        pytest.skip("Node or KaTeX, which draw the formulas, is not installed")
    drawing = maths.Maths()
    try:
        page = drawing.draw('<p><span class="arithmatex">\\(a &lt; b\\)</span>, and '
                            '<div class="arithmatex">\\[\\sum_i x_i\\]</div></p>')
        assert drawing.draw("<p>none</p>") == "<p>none</p>"
    finally:
        drawing.close()
    assert "arithmatex" not in page and page.count("<math") == 2
    assert "</span>,</span> and" in page and "katex-display" in page
    assert "a &lt; b</annotation>" in page


def test_a_formula_that_cannot_be_drawn_stops_the_build(capfd):
    if not maths.KATEX.is_dir() or shutil.which("node") is None:
        pytest.skip("Node or KaTeX, which draw the formulas, is not installed")
    drawing = maths.Maths()
    try:
        with pytest.raises(ValueError, match="KaTeX cannot draw"):
            drawing.draw('<span class="arithmatex">\\(\\frac{a\\)</span>')
    finally:
        drawing.close()
    assert "ParseError" in capfd.readouterr().err


@pytest.mark.parametrize("module", [examples, pictures, prose, public_names, shorten, source_pages])
def test_the_examples_of_the_sites_own_modules(module):
    failed, run = doctest.testmod(module)
    assert run and not failed


def test_the_site_is_served_isolated_from_other_origins(tmp_path):
    (tmp_path / "a.mjs").write_text("1", encoding="utf-8")
    running = serve.server(tmp_path)
    thread = threading.Thread(target=running.serve_forever)
    thread.start()
    try:
        address = f"http://127.0.0.1:{running.server_port}/a.mjs"
        with urllib.request.urlopen(address, timeout=10) as answer:
            headers = dict(answer.headers)
    finally:
        running.shutdown()
        running.server_close()
        thread.join()
    assert headers["Content-type"] == "text/javascript"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert headers["Cross-Origin-Embedder-Policy"] == "require-corp"


def test_text_is_served_compressed_to_those_who_take_it(tmp_path):
    text = "a line of a script\n" * 500
    (tmp_path / "a.js").write_text(text, encoding="utf-8")
    (tmp_path / "b.whl").write_text(text, encoding="utf-8")
    running = serve.server(tmp_path)
    thread = threading.Thread(target=running.serve_forever)
    thread.start()

    def got(name, **headers):
        address = f"http://127.0.0.1:{running.server_port}/{name}"
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers),
                                    timeout=10) as answer:
            return answer.headers["Content-Encoding"], answer.read(), int(
                answer.headers["Content-Length"])

    try:
        encoding, packed, length = got("a.js", **{"Accept-Encoding": "gzip, br"})
        plain, packed_already = got("a.js"), got("b.whl", **{"Accept-Encoding": "gzip"})
    finally:
        running.shutdown()
        running.server_close()
        thread.join()
    assert (encoding, length) == ("gzip", len(packed)) and len(packed) < len(text) / 10
    assert gzip.decompress(packed).decode() == text
    assert plain == (None, text.encode(), len(text)) == packed_already


def test_a_folder_without_a_page_is_answered_with_the_site_s_own_words(tmp_path):
    (tmp_path / "404.html").write_text("There is no page here", encoding="utf-8")
    (tmp_path / "notebooks").mkdir()
    running = serve.server(tmp_path)
    thread = threading.Thread(target=running.serve_forever)
    thread.start()
    try:
        with pytest.raises(urllib.error.HTTPError) as told:
            urllib.request.urlopen(f"http://127.0.0.1:{running.server_port}/notebooks/", timeout=10)
    finally:
        running.shutdown()
        running.server_close()
        thread.join()
    assert told.value.code == 404 and told.value.read() == b"There is no page here"


def test_names_of_the_api_stand_in_an_order_that_no_build_changes():
    for name in api_pages.MODULES:
        told, _ = api_pages._told(name)
        assert told == sorted(told, key=lambda path: (path.rpartition(".")[2].lower(), path))


def test_a_lesson_is_found_by_its_number():
    tags = {stage.number: lesson_pages.search_tags(stage) for stage in STAGES}
    assert tags["00"] == ["lesson 0"] and tags["03"] == ["lesson 3"]
    assert tags["03b"] == ["lesson 3b"] and tags["10"] == ["lesson 10"]
