"""What the site's build does besides MkDocs: makes pages, draws formulas, copies what is served.

README.md tells what each part is for.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import lesson_pages
from course_map import COMMENT, course_map
from figures import Figures, copy_scripts
from fonts import copy_fonts
from made import ROOT, SITE, in_nav, made_files, made_pages, stages_here
from maths import Maths, copy_styles
from mkdocs.structure.files import File
from offline import write_service_worker
from publish import head_of, publish
from repository_links import with_site_anchors, with_site_links
from shorten import HERE, smaller_index, without_indentation, without_line_anchors

RUNTIME = SITE / "runtime"

_maths: Maths | None = None
_figures: Figures | None = None


def on_config(config: Any) -> Any:
    """Fill the navigation."""
    if not config["site_url"].endswith("/"):
        raise SystemExit(f"site: SITE_URL is {config['site_url']!r}; it is to end with a slash")
    config["nav"] = _filled(config["nav"], in_nav())
    date_of_sources()
    return config


def date_of_sources() -> None:
    """Let pages be of the last commit's day, so that two builds of it are the same."""
    if shutil.which("git") is None:
        return
    told = subprocess.run(["git", "-C", str(ROOT), "log", "-1", "--format=%ct"],
                          capture_output=True, text=True, check=False)
    if told.returncode == 0:
        os.environ.setdefault("SOURCE_DATE_EPOCH", told.stdout.strip())


def _filled(part: Any, made: dict[str, Any]) -> Any:
    if isinstance(part, list):
        return [_filled(each, made) for each in part]
    if isinstance(part, dict):
        return {key: _filled(value, made) for key, value in part.items()}
    return made.get(part, part)


def on_pre_build(config: Any) -> None:
    """Get what pages tell of: the wheels, whose licences are listed."""
    fetch = _of_runtime("fetch.py")
    fetch.numpy_wheel(SITE / "node_modules" / "pyodide", ROOT / "build" / "cache")
    fetch.tool_wheels(ROOT / "build" / "cache")


def _of_runtime(name: str) -> Any:
    spec = importlib.util.spec_from_file_location("minigrad_site_runtime", RUNTIME / name)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def on_files(files: Any, config: Any) -> Any:
    """Add the pages and files that are made."""
    for address, make in (made_pages() | made_files()).items():
        files.append(File.generated(config, address, content=make()))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Lead from the course's table to the lessons, and put the map where a page asks for it.

    Links to files of the repository become links to their pages.
    """
    if page.file.generated_by is None:
        file = f"docs/en/{page.file.src_uri}"
        markdown = with_site_anchors(with_site_links(markdown, file, page.file.src_uri))
    if COMMENT in markdown:
        markdown = markdown.replace(COMMENT, course_map(ROOT, "lessons/"))
    if page.file.src_uri == "course.md":
        for words, here in HERE.items():
            markdown = markdown.replace(words, here)
        return lesson_pages.course_table(markdown, ROOT)
    return markdown


def on_page_context(context: Any, page: Any, config: Any, nav: Any) -> Any:
    """Give pages of lessons and exercises what their runtime needs."""
    key = page.meta.get("stage")
    if key:
        data = lesson_pages.page_data(stages_here()[key], page.meta["page"])
        context["mg_data"] = lesson_pages.script_element(data)
    return context


def on_post_page(output: str, page: Any, config: Any) -> str:
    """Draw a page's formulas and figures, and give the search the name that the theme forgot."""
    global _maths, _figures
    output = _with_named_search(output)
    output = output.replace("</head>", f"{head_of(page, config)}</head>", 1)
    if Figures.in_page(output):
        if _figures is None:
            _figures = Figures()
        output = _figures.draw(output, "../" * page.url.count("/"))
    if 'class="arithmatex"' in output:
        if _maths is None:
            _maths = Maths()
        output = _maths.draw(output)
    if not page.url.startswith("source/"):  # links lead to lines of these pages alone
        output = without_line_anchors(output)
    return without_indentation(output)


def on_post_template(output: str, template_name: str, config: Any) -> str:
    """Give the search of 404.html and 503.html its name too."""
    return _with_named_search(output)


def _with_named_search(html: str) -> str:
    return html.replace('data-md-component="search" role="dialog"',
                        'data-md-component="search" role="dialog" aria-label="Search"')


def on_post_build(config: Any) -> None:
    """Copy what pages refer to, and let the runtime add its own."""
    global _maths, _figures
    for process in (_maths, _figures):
        if process is not None:
            process.close()
    _maths = _figures = None
    built = Path(config["site_dir"])
    smaller_index(built / "search" / "search_index.json")
    (worker,) = (built / "assets" / "javascripts" / "workers").glob("search.*.js")
    parts = [SITE / "search_questions.js", SITE / "search_names.js", worker]
    worker.write_text("".join(path.read_text("utf-8") for path in parts), encoding="utf-8")
    copy_styles(built / "assets" / "katex")
    publish(built)
    copy_fonts(built / "assets" / "fonts")
    copy_scripts(built / "widgets")
    shutil.copytree(RUNTIME / "static", built / "runtime", dirs_exist_ok=True)
    _of_runtime("build.py").build(built, ROOT)
    write_service_worker(built)
