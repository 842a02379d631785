"""The page's Python: lessons run as their notebooks did, exercises are graded, loops are stopped.

Python takes some seconds to start in a page, so by default one lesson and two stages of
exercises are tried; with MINIGRAD_SITE_ALL=1 (`make site-browser`) all of them.
"""

from __future__ import annotations

import os
import re
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("typer", reason="the course's commands need Typer")

from minigrad_course.content.source import module, mutated
from minigrad_course.content.stages import stages
from minigrad_course.learner.workspace import find_workspace, make_workspace
from tests.browser.conftest import EVERYTHING
from tests.support.slow import slow_but

MINUTES = 60_000
STAGES = {stage.key: stage for stage in stages()}
LESSONS = list(STAGES) if EVERYTHING else ["02_graph"]
EXERCISES = ([key for key, stage in STAGES.items()
              if stage.holes and key != "03c_threads"]  # most of its tests need threads
             if EVERYTHING
             else ["03_engine", "12_backend"])  # the one with long graphs, which are freed
#: How this error ends depends on Python's version.
TOO_DEEP = "(maximum recursion depth exceeded).*", r"\1"
#: Blocks that need what a page has not: a thread, scikit-learn.
NOT_HERE = {("03c_threads", ""), ("07_grad_mode", "new thread"),
            ("14_capstone", "digits.images_and_digits")}


def opened(watched: Any, address: str) -> Any:
    """A page with its tools, before Python is started."""
    page = watched.open(address)
    page.set_default_timeout(5 * MINUTES)
    page.locator("html[data-mg-ready]").wait_for(state="attached")
    return page


def data_of(page: Any) -> dict[str, Any]:
    return page.evaluate("JSON.parse(document.getElementById('mg-data').textContent)")


A_FRAME_LATER = "() => new Promise(seen => requestAnimationFrame(() => setTimeout(seen, 50)))"


def write(page: Any, editor: Any, text: str) -> None:
    """Replace all that is in an editor, which is in sight, as it is for a reader who writes.

    CodeMirror measures its lines only there.  Scrolled by the heights that it guesses before, it
    corrects itself so often that it warns.
    """
    content = editor.locator(".cm-content").first
    content.scroll_into_view_if_needed()
    page.evaluate(A_FRAME_LATER)  # the editor hears of it after a frame
    content.focus()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(text)


# --- lessons ----------------------------------------------------------------------------------


def run_all(page: Any, last: str) -> None:
    """Run all blocks and wait for what the last one says."""
    page.get_by_role("button", name="Run all", exact=True).click()
    page.wait_for_function(
        "id => /^(?!runs …)./.test(document.querySelector(`#${id} .mg-result`).textContent)",
        arg=last)


@pytest.mark.parametrize("key", LESSONS)
def test_a_lessons_blocks_give_what_its_notebook_has(watched, key):
    page = opened(watched, f"lessons/{key}/")
    data = data_of(page)
    running = [block for block in data["blocks"]
               if block["kind"] in ("run", "draft", "raises")]
    run_all(page, running[-1]["id"])
    for block in running:
        element = page.locator(f"#{block['id']}")
        how = element.get_attribute("data-result")
        assert how, f"{block['id']} was not run"
        if how == "not here":
            assert any(key == stage and words in block["code"] for stage, words in NOT_HERE)
            continue
        assert how in ("same", "nearly"), \
            f"{block['id']}: {element.locator('.mg-live').inner_text()}"
        if how == "same" and block["expected"] is not None:
            shown = element.locator(".mg-live > pre:not(.mg-err)").all_text_contents()
            given, wanted = (re.sub(*TOO_DEEP, each).strip()
                             for each in ("".join(shown), block["expected"]))
            assert given == wanted


KEPT = "caches.open('minigrad-python').then(cache => cache.keys()).then(kept => kept.length)"


def test_python_begins_with_what_the_browser_kept_and_without_it_where_that_is_broken(watched):
    def ran() -> tuple[str, list[str]]:
        page.locator("html[data-mg-ready]").wait_for(state="attached")
        run_all(page, last)
        return (page.evaluate("document.documentElement.dataset.mgFrom"),
                page.locator(".mg-live").all_inner_texts())

    page = opened(watched, "lessons/02_graph/")
    last = [block["id"] for block in data_of(page)["blocks"] if block["kind"] == "run"
            ][-1]
    how, outputs = ran()
    assert how == "nothing"
    while page.evaluate(KEPT) == 0:
        page.wait_for_timeout(100)
    page.reload()
    assert ran() == ("memory", outputs)
    page.evaluate("""caches.open('minigrad-python').then(async cache =>
        cache.put((await cache.keys())[0], new Response("not what was kept")))""")
    page.reload()
    assert ran() == ("nothing", outputs)


POSITIONS = """import minigrad as torch
functional = torch.nn.functional
x = torch.tensor([[3.0, 1.0, 3.0], [0.0, 0.0, 5.0]])
whole, sequence = torch.tensor([1, 0, 1]), torch.tensor([1.0, 2.0])
results = dict(
    argmax=x.argmax(), argmin=x.argmin(1), argsort=x.argsort(), sort=x.sort(1)[1],
    topk=x.topk(2)[1], kthvalue=x.kthvalue(2)[1], max=x.max(1)[1], min=x.min(0)[1],
    median=x.median(1)[1], mode=x.mode(1)[1], cummax=x.cummax(1)[1], nonzero=x.nonzero(),
    columns=x.nonzero(as_tuple=True)[0], argwhere=torch.argwhere(x), where=torch.where(x > 1)[0],
    inverse=x.unique(return_inverse=True)[1], counts=x.unique(return_counts=True)[1],
    runs=x.unique_consecutive(return_inverse=True)[1], bincount=whole.bincount(),
    searchsorted=torch.searchsorted(sequence, x), bucketize=torch.bucketize(x, sequence),
    drawn=torch.multinomial(sequence, 1), again=torch.multinomial(sequence, 3, True),
    permutation=torch.randperm(3), repeated=torch.repeat_interleave(whole),
    pooled=functional.max_pool1d(x[None], 2, return_indices=True)[1], trues=(x > 1).sum(),
    count=x.count_nonzero(), range=torch.arange(3), given=torch.tensor([1, 2]))
functional.cross_entropy(x, x.argmax(1))
print(len(results), [name for name, each in results.items() if each.dtype != torch.int64])"""


def test_positions_and_counts_have_64_bits_where_an_address_has_32(watched):
    page = opened(watched, "lessons/02_graph/")
    block = page.locator(".mg-block:has(.mg-tools)").first
    block.get_by_role("button", name="Edit").click()
    write(page, block, f"{POSITIONS}\nimport numpy as np\nprint(np.dtype(np.intp).itemsize)")
    page.keyboard.press("Control+Enter")
    block.locator(".mg-result:not(:empty)", has_not_text="runs").wait_for()
    assert block.locator(".mg-live").inner_text().split("\n")[:2] == ["30 []", "4"]


def test_a_block_is_edited_drawn_stopped_and_put_back(watched):
    page = opened(watched, "lessons/02_graph/")
    page.get_by_role("button", name="Run all", exact=True).click()
    page.locator("html[data-mg-python=loading]").wait_for(state="attached")
    page.locator(".mg-bar").get_by_role("button", name="Stop").click()
    page.locator("html[data-mg-python=off]").wait_for(state="attached")

    block = page.locator(".mg-block:has(.mg-tools)").first
    lesson = block.locator(".mg-output").inner_text()
    block.get_by_role("button", name="Edit").click()
    write(page, block, "kept = 5\nprint(kept)\n1 / 0")
    page.keyboard.press("Control+Enter")
    block.locator(".mg-error", has_text="ZeroDivisionError").wait_for()
    assert block.locator(".mg-out").inner_text().strip() == "5"
    assert not block.locator(".mg-output").is_visible()

    write(page, block, "import minigrad.nothing")
    page.keyboard.press("Control+Enter")
    block.locator(".mg-error", has_text="No module named 'minigrad.nothing'").wait_for()
    write(page, block, "from minigrad import tensor, viz\nx = tensor(2.0, requires_grad=True)\n"
                       "viz.graph(x * x)")
    page.keyboard.press("Control+Enter")
    picture = block.locator("img.mg-picture")
    picture.wait_for()
    assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") > 50
    assert "MulBackward" in picture.get_attribute("alt")

    write(page, block, "print('first')\nprint('then', end='')\nwhile True:\n    pass")
    block.get_by_role("button", name="Run", exact=True).click()
    page.locator("html[data-mg-python=busy]").wait_for(state="attached")
    block.locator(".mg-out", has_text="then").wait_for()  # told before the loop, which never ends
    assert block.locator(".mg-out").inner_text() == "first\nthen"
    block.get_by_role("button", name="Stop").click()
    block.locator(".mg-result", has_text="stopped").wait_for()
    write(page, block, "print(kept)")  # the page is isolated: what was made is still there
    page.keyboard.press("Control+Enter")
    block.locator(".mg-out", has_text="5").wait_for()

    block.get_by_role("button", name="Reset").click()
    assert block.locator(".mg-output").inner_text() == lesson
    assert block.locator(".cm-editor").count() == 0 and block.locator(".mg-live").count() == 0


def test_a_prediction_is_folded_and_what_a_run_gives_is_not(watched):
    page = opened(watched, "lessons/02_graph/")
    block = page.locator(".mg-block:has(.mg-predict)").first
    output = block.locator(".mg-output")
    assert not output.is_visible()
    block.locator("summary").click()
    assert output.is_visible()
    block.locator("summary").click()
    block.get_by_role("button", name="Run", exact=True).click()
    block.locator(".mg-out").wait_for()
    assert block.locator(".mg-out").inner_text().strip() == output.text_content().strip()
    assert not block.locator("summary").is_visible()
    block.get_by_role("button", name="Reset").click()
    assert block.locator("summary").is_visible() and not output.is_visible()


def test_pictures_follow_the_page_s_switch(watched):
    page = opened(watched, "lessons/02_graph/")
    text = page.locator("svg.mg-drawing text").first
    colour = "element => getComputedStyle(element).fill"
    before = text.evaluate(colour)
    page.evaluate("""document.body.dataset.mdColorScheme =
        document.body.dataset.mdColorScheme === 'slate' ? 'default' : 'slate'""")
    assert {before, text.evaluate(colour)} == {"rgb(26, 30, 38)", "rgb(231, 234, 240)"}
    box = page.locator("svg.mg-drawing").first.bounding_box()
    assert box["width"] <= page.viewport_size["width"]


@pytest.fixture
def plain_site(site: str) -> Iterator[str]:
    """The site as a server gives it that does not isolate it from other origins."""
    import serve  # `site` put it on the path

    built = Path(os.environ.get("MINIGRAD_SITE", serve.BUILT))

    class Plain(serve.Handler):
        def send_header(self, name: str, value: str) -> None:
            if not name.startswith("Cross-Origin"):
                super().send_header(name, value)

    running = serve.http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), lambda *given: Plain(*given, directory=str(built)))
    threading.Thread(target=running.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{running.server_port}/"
    running.shutdown()
    running.server_close()


@pytest.mark.slow
def test_where_nothing_can_be_interrupted_python_is_started_anew(watched, plain_site):
    watched.site = plain_site
    page = opened(watched, "lessons/02_graph/")
    assert page.evaluate("crossOriginIsolated") is False
    block = page.locator(".mg-block:has(.mg-tools)").first
    block.get_by_role("button", name="Edit").click()
    write(page, block, "kept = 1\nprint('before', end='')\nwhile True:\n    pass")
    page.keyboard.press("Control+Enter")
    block.locator(".mg-out", has_text="before").wait_for()
    block.get_by_role("button", name="Stop").click()
    block.locator(".mg-result", has_text="stopped").wait_for()
    assert block.locator(".mg-out").inner_text() == "before"
    page.locator("html[data-mg-python=ready]").wait_for(state="attached")
    write(page, block, "kept")
    page.keyboard.press("Control+Enter")
    block.locator(".mg-error", has_text="NameError").wait_for()


# --- exercises --------------------------------------------------------------------------------


def verdicts(page: Any) -> dict[str, str]:
    """Test all exercises and return the states by hole."""
    page.get_by_role("button", name="Test all").click()
    page.wait_for_function("""document.querySelectorAll('.mg-verdict').length ===
                              document.querySelectorAll('.mg-exercise').length""")
    return page.evaluate("""Object.fromEntries([...document.querySelectorAll('.mg-exercise')].map(
        each => [each.dataset.hole, each.querySelector('.mg-verdict').dataset.state]))""")


def put(page: Any, section: Any, texts: dict[str, str]) -> None:
    """Write files into the editor of an exercise."""
    for path, text in texts.items():
        section.scroll_into_view_if_needed()
        if section.locator(".mg-files").count():
            section.locator(".mg-files").get_by_role("button", name=path, exact=True).click()
            pressed = section.locator(".mg-files [aria-pressed=true]")
            pressed.get_by_text(path, exact=True).wait_for()
        section.locator(".cm-content").first.wait_for()
        whole = section.get_by_role("button", name="Whole file")
        if whole.get_attribute("aria-pressed") == "false":
            whole.click()
        section.locator("button[aria-pressed=true]", has_text="Whole file").wait_for()
        write(page, section, text)


@pytest.mark.parametrize("key", EXERCISES)
def test_the_stub_fails_the_solution_passes_and_a_mistake_is_named(watched_again, key):
    stage = STAGES[key]
    page = opened(watched_again, f"exercises/{key}/")
    states = verdicts(page)
    assert set(states) == {hole.id for hole in stage.holes}
    assert set(states.values()) <= {"untouched", "waiting"}, states

    first = page.locator(".mg-exercise").first
    put(page, first, {path: stage.solution(path).read_text() for path in stage.modules})
    states = verdicts(page)
    assert set(states.values()) == {"solved"}, states
    notes = " ".join(page.locator(".mg-verdict .mg-note").all_text_contents())
    named = re.findall(r"^def (test_\w+)", stage.tests.read_text(), re.M)
    assert sum(name in notes for name in named) <= len(named) / 20
    assert page.locator(".mg-done").count() == len(stage.holes)

    whole = {path: module(stage.package, path).text for path in stage.modules}
    for hole in stage.holes if EVERYTHING else stage.holes[:2]:
        mutant = next((each for each in hole.mutants if each.symptom), hole.mutants[0])
        section = page.locator(f'.mg-exercise[data-hole="{hole.id}"]')
        put(page, section, whole | mutated(stage, hole, mutant))
        section.get_by_role("button", name="Run tests").click()
        section.locator('.mg-verdict[data-state="wrong"]').wait_for()
        assert section.locator(".mg-failure").inner_text().strip()
        if mutant.symptom:
            sentence = section.locator(".mg-diagnosis").text_content()
            wanted = stage.words["symptoms"][mutant.symptom].replace("`", "")
            assert sentence == wanted, mutant.name


def test_an_error_is_marked_in_its_line_right_answers_wait_and_prints_are_shown(watched):
    stage = STAGES["05_hooks"]
    path, before = "graph/hooks.py", "        self.id = next(self._ids)\n"
    texts = {each: module(stage.package, each).text for each in stage.modules}
    assert texts[path].count(before) == 1
    number = texts[path].partition(before)[0].count("\n") + 1
    page = opened(watched, f"exercises/{stage.key}/")
    section = page.locator('.mg-exercise[data-hole="05.1"]')
    marked = page.locator(".mg-marked")

    # not Python: the answer is wrong in its line, and others wait for it
    broken = texts[path].replace(before, f"        x = (1\n{before}")
    put(page, section, texts | {path: broken})
    states = verdicts(page)
    assert states["05.1"] == "wrong" and set(states.values()) == {"wrong", "solved", "right"}
    assert section.locator(".mg-diagnosis").inner_text() == (
        f"It is not valid Python: '(' was never closed (hooks.py, line {number})")
    assert marked.all_inner_texts() == ["        x = (1"]
    assert page.locator(".mg-results").all_inner_texts()[0].count("/tmp/") == 0
    right = [hole for hole, state in states.items() if state == "right"]
    for hole in stage.holes:
        shown = page.locator(f'.mg-exercise[data-hole="{hole.id}"]')
        after = shown.locator("h2").evaluate("each => getComputedStyle(each, '::after').content")
        if hole.id in right:
            points = f"{hole.points} of {hole.points} point{'s' * (hole.points > 1)}"
            assert f"Right; it waits for 05.1: {points}." in shown.inner_text()
            assert "correct, but waits for" in after and "05.1" in after
        assert ("✓" in after) == (hole.id != "05.1")
    points = sum(hole.points for hole in stage.holes)
    assert page.locator(".mg-points").inner_text() == (
        f"{points - stage.holes[0].points} of {points} points")
    kept = page.evaluate("JSON.parse(localStorage['minigrad/progress'])")["holes"]
    assert {hole for hole, known in kept.items() if known.get("waits_for") == "05.1"} == set(right)

    # the verdict leads to the line, and the mark goes when the line is edited
    section.locator(".mg-files").get_by_role("button", name=stage.modules[-1], exact=True).click()
    assert marked.count() == 0
    section.get_by_role("button", name=f"{path}, line {number}").click()
    marked.wait_for()
    page.keyboard.press("End")
    page.keyboard.insert_text(")")
    assert marked.count() == 0

    # what is printed stands under the exercise that printed it, where it passes and where it fails
    for line, state in (("print('here', len(hooks))", "solved"),
                        ("print('here', 1); return", "wrong")):
        put(page, section, {path: texts[path].replace(before, f"        {line}\n{before}")})
        section.get_by_role("button", name="Run tests").click()
        section.locator(f'.mg-verdict[data-state="{state}"]').wait_for()
        assert section.locator(".mg-printed").inner_text().startswith("here 1")
        assert "05.1 printed in test_hooks_stand_in_the_order" in section.inner_text()
    assert page.locator(".mg-printed").count() == 1

    # a file that cannot be read at all
    put(page, section, {path: f"{texts[path]}def broken(:\n"})
    section.get_by_role("button", name="Run tests").click()
    problem = section.locator('.mg-verdict[data-state="problem"]')
    problem.wait_for()
    last = texts[path].count("\n") + 1
    assert f"SyntaxError: invalid syntax at {path}, line {last}" in problem.inner_text()
    assert "importlib" not in problem.inner_text() and "/tmp/" not in problem.inner_text()
    assert marked.all_inner_texts() == ["def broken(:"]


def test_work_survives_a_reload_leaves_as_a_workspace_and_comes_back(watched, tmp_path):
    stage = STAGES["03b_backward"]
    page = opened(watched, f"exercises/{stage.key}/")
    page.on("dialog", lambda dialog: dialog.accept())
    section, hole = page.locator(".mg-exercise").first, stage.holes[0]
    path = hole.symbols[0].partition(":")[0]
    mine = stage.solution(path).read_text() + "\nMINE = 1  # größer\n"
    put(page, section, {path: mine})
    section.locator(".mg-hint summary").nth(1).click()
    section.locator(".mg-editor > .mg-code .cm-content").focus()
    page.keyboard.press("Control+Enter")
    section.locator('.mg-verdict[data-state="solved"]').wait_for()

    page.reload()
    page.locator("html[data-mg-ready]").wait_for(state="attached")
    assert page.locator(".mg-done").all_text_contents()[0].startswith(hole.id)
    with page.expect_download() as download:
        page.get_by_role("button", name="Export my work").click()
    file = tmp_path / "work.zip"
    download.value.save_as(file)
    with zipfile.ZipFile(file) as packed:
        assert packed.testzip() is None
        packed.extractall(tmp_path)
    space = find_workspace(tmp_path / "minigrad-work")
    assert space.solved(hole) and space.hints_taken(hole) == 2
    assert space.files(stage)[path].read_text() == mine
    assert not any(space.upgrade().values())

    page.evaluate("localStorage.clear()")
    page.reload()
    page.locator("html[data-mg-ready]").wait_for(state="attached")
    assert page.locator(".mg-done").count() == 0
    repacked = tmp_path / "packed.zip"  # deflated, as other programs pack
    with zipfile.ZipFile(repacked, "w", zipfile.ZIP_DEFLATED) as packed:
        for each in (tmp_path / "minigrad-work").rglob("*"):
            packed.write(each, each.relative_to(tmp_path / "minigrad-work"))
    with page.expect_navigation():
        page.locator("input[type=file]").set_input_files(repacked)
    page.locator("html[data-mg-ready]").wait_for(state="attached")
    assert page.locator(".mg-done").count() == 1
    kept = page.evaluate("key => localStorage.getItem(key)", f"minigrad/work/{stage.key}/{path}")
    assert kept == mine


def test_what_was_solved_in_the_terminal_is_solved_in_the_page(watched, tmp_path):
    stage = STAGES["03b_backward"]
    first, second, third = stage.holes[:3]
    space = make_workspace(tmp_path / "engine", [stage])
    space.record([(first, True), (second, False)])
    space.note(third, hints=2)
    page = opened(watched, f"exercises/{stage.key}/")
    page.on("dialog", lambda dialog: dialog.accept())
    with page.expect_navigation():
        page.locator("input[type=file]").set_input_files(tmp_path / "engine" / "progress.json")
    page.locator("html[data-mg-ready]").wait_for(state="attached")
    [done] = page.locator(".mg-done").all_text_contents()
    assert done.startswith(first.id)
    with page.expect_download() as download:
        page.get_by_role("button", name="Export my work").click()
    download.value.save_as(tmp_path / "work.zip")
    with zipfile.ZipFile(tmp_path / "work.zip") as packed:
        packed.extractall(tmp_path)
    back = find_workspace(tmp_path / "minigrad-work")
    assert back.progress()["holes"] == space.progress()["holes"]


# --- keyboard and screen reader ---------------------------------------------------------------


def test_the_keyboard_goes_into_the_editor_and_out_and_runs_what_is_there(watched):
    page = opened(watched, "exercises/03_engine/")
    section = page.locator(".mg-exercise").first
    inside = "document.activeElement.closest('.cm-editor') !== null"
    section.scroll_into_view_if_needed()
    section.locator(".cm-editor").wait_for()
    section.locator(".mg-files button").last.focus()
    page.keyboard.press("Tab")
    assert page.evaluate(inside), "Tab leads from the files to the editor"
    text = section.locator(".cm-content").inner_text()
    page.keyboard.press("Tab")
    assert page.evaluate(inside) and section.locator(".cm-content").inner_text() != text
    text = section.locator(".cm-content").inner_text()
    page.keyboard.press("Escape")
    for _ in range(2):  # what is folded above and below
        page.keyboard.press("Tab")
        assert "lines of the file" in page.evaluate("document.activeElement.textContent")
        page.wait_for_timeout(2500)  # it leads on without Escape, however long one waits
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Run tests"
    page.keyboard.press("Shift+Tab")
    assert page.evaluate(inside) and section.locator(".cm-content").inner_text() == text
    assert "Escape and then Tab" in section.locator(".cm-content").get_attribute("aria-label")
    assert "Escape and then Tab" in page.locator(".mg-note").first.inner_text()


@pytest.mark.parametrize("scheme", slow_but(1, ["light", "dark"]))
def test_what_is_told_is_announced_and_axe_finds_nothing_serious_in_it(watched, serious, scheme):
    watched.page.emulate_media(color_scheme=scheme)
    page = opened(watched, "lessons/02_graph/")
    block = page.locator(".mg-block:has(.mg-tools)").first
    block.get_by_role("button", name="Edit").click()
    write(page, block, "print('told')\n1 / 0")
    page.keyboard.press("Control+Enter")
    log = block.get_by_role("log")
    log.get_by_text("told", exact=True).wait_for()
    assert log.get_attribute("aria-label") == "Output of block 1"
    block.locator(".mg-error").wait_for()
    assert serious(page) == []

    page = opened(watched, "exercises/12_backend/")
    stage = STAGES["12_backend"]
    section = page.locator(".mg-exercise").first
    put(page, section, {path: stage.solution(path).read_text() for path in stage.modules[:1]})
    verdicts(page)
    states = page.locator(".mg-results[aria-live=polite] .mg-verdict")
    assert states.count() == len(stage.holes)
    page.locator("details").evaluate_all("all => all.forEach(each => { each.open = true; })")
    assert serious(page) == []


@pytest.mark.slow
def test_tests_that_do_not_end_are_stopped_and_what_cannot_be_read_is_said(watched):
    page = opened(watched, "exercises/03b_backward/")
    section = page.locator(".mg-exercise").first
    section.locator(".cm-content").focus()
    page.keyboard.press("Control+Home")
    page.keyboard.insert_text("def broken(:\n")
    page.keyboard.press("Control+Enter")
    problem = section.locator('.mg-verdict[data-state="problem"]')
    problem.wait_for()
    assert "SyntaxError" in problem.inner_text()
    page.keyboard.press("Control+Z")
    page.keyboard.press("Control+End")  # a loop before `from __future__` would be a SyntaxError
    page.keyboard.insert_text("\nwhile True:\n    pass\n")
    page.keyboard.press("Control+Enter")
    page.locator("html[data-mg-python=busy]").wait_for(state="attached")
    page.wait_for_timeout(1000)
    section.get_by_role("button", name="Stop").click()
    section.locator(".mg-results", has_text="Stopped.").wait_for()
    page.keyboard.press("Escape")
    page.locator("html[data-mg-python=ready]").wait_for(state="attached")


@pytest.mark.slow
def test_the_solution_is_shown_to_those_who_give_up(watched):
    page = opened(watched, "exercises/03b_backward/")
    section = page.locator(".mg-exercise").first
    answers = []
    page.on("dialog", lambda dialog: dialog.accept() if answers.pop() else dialog.dismiss())
    answers.append(False)
    section.get_by_role("button", name="Solution").click()
    assert section.locator(".mg-solution pre").count() == 0
    answers.append(True)
    section.get_by_role("button", name="Solution").click()
    hole = STAGES["03b_backward"].holes[0]
    name = hole.symbols[0].partition(":")[2].rpartition(".")[2]
    assert f"def {name}" in section.locator(".mg-solution pre").first.inner_text()
    assert page.evaluate("JSON.parse(localStorage['minigrad/progress'])")["holes"] == {
        hole.id: {"gave_up": True}}
