"""What the site's build does besides MkDocs: makes pages, draws formulas, copies what is served.

README.md tells what each part is for.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
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

RUNTIME = SITE / "runtime"

#: How one comes to the site, of which its reader has no need.
_HERE = {"`make serve` builds the course's site and serves it, and a reader of it has nothing to "
         "install.": "In the browser there is nothing to install.",
         "or read it on the site": "or read it here"}

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
    """Lead from the course's table to the lessons, and put the map where a page asks for it."""
    if COMMENT in markdown:
        markdown = markdown.replace(COMMENT, course_map(ROOT, "lessons/"))
    if page.file.src_uri == "course.md":
        for words, here in _HERE.items():
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
    output = output.replace('data-md-component="search" role="dialog"',
                            'data-md-component="search" role="dialog" aria-label="Search"')
    output = output.replace("</head>", f"{head_of(page, config)}</head>", 1)
    if Figures.in_page(output):
        if _figures is None:
            _figures = Figures()
        output = _figures.draw(output, "../" * page.url.count("/"))
    if 'class="arithmatex"' in output:
        if _maths is None:
            _maths = Maths()
        output = _maths.draw(output)
    return without_indentation(output)


def without_indentation(html: str) -> str:
    """Return a page without the spaces at the beginning of its lines, a tenth of a long page.

    >>> without_indentation("<p>\\n  <b>1</b>\\n</p><pre>\\n  x</pre>")
    '<p>\\n<b>1</b>\\n</p><pre>\\n  x</pre>'
    """
    pieces = re.split(r"(<(pre|script|style|textarea)\b.*?</\2>)", html, flags=re.DOTALL)
    return "".join(piece if place % 3 else re.sub(r"\n\s+", "\n", piece)
                   for place, piece in enumerate(pieces) if place % 3 < 2)


def smaller_index(path: Path) -> None:
    """Leave code out of the search's index, which every reader fetches: it is two thirds of it.

    Lessons get the words by which they are looked for; a method that writes in place comes after
    the one that does not.
    """
    index = json.loads(path.read_text(encoding="utf-8"))
    tags = {f"lessons/{key}/": lesson_pages.search_tags(stage)
            for key, stage in stages_here().items()}
    for entry in index["docs"]:
        if entry["location"] in tags:
            entry["tags"] = tags[entry["location"]]
            # "lesson 3" begins "lesson 3b" too, which is the rarer word
            entry["boost"] *= 1 + entry["tags"][0][-1].isdigit()
        if entry["title"].endswith("_()</code>"):  # "detach" asks for detach() before detach_()
            entry["boost"] = entry.get("boost", 1) / 2
        text = re.sub(r"<pre>.*?</pre>", "", entry["text"], flags=re.DOTALL)
        entry["text"] = re.sub(r"Source code in <code>[^<]*</code>", "", text).strip()
    path.write_text(json.dumps(index, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")


def on_post_build(config: Any) -> None:
    """Copy what pages refer to, and let the runtime add its own."""
    global _maths, _figures
    for process in (_maths, _figures):
        if process is not None:
            process.close()
    _maths = _figures = None
    built = Path(config["site_dir"])
    smaller_index(built / "search" / "search_index.json")
    copy_styles(built / "assets" / "katex")
    publish(built)
    copy_fonts(built / "assets" / "fonts")
    copy_scripts(built / "widgets")
    shutil.copytree(RUNTIME / "static", built / "runtime", dirs_exist_ok=True)
    _of_runtime("build.py").build(built, ROOT)
    write_service_worker(built)
