"""What a page of the site leaves out: indentation, addresses of lines, code in the search index.

MkDocs is not needed here, so that tests without it can look at each rule.
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import lesson_pages
from made import stages_here
from public_names import MODULES

#: Sentences about how to get to the site, and what readers of the site see instead.
HERE = {"If you run `make serve` to build the site and serve it, its readers don't need to install "
        "anything. On the site, you run":
        "In your browser, you don't need to install anything. You run",
        "**On the site**, each lesson is a page": "**Here**, each lesson is a page"}


#: The questions that search_questions.js answers with a section, besides the headings of errors.
QUESTIONS = Path(__file__).with_name("questions.toml")


def without_indentation(html: str) -> str:
    """Return a page without the spaces at the beginning of its lines, a tenth of a long page.

    >>> without_indentation("<p>\\n  <b>1</b>\\n</p><pre>\\n  x</pre>")
    '<p>\\n<b>1</b>\\n</p><pre>\\n  x</pre>'
    """
    pieces = re.split(r"(<(pre|script|style|textarea)\b.*?</\2>)", html, flags=re.DOTALL)
    return "".join(piece if place % 3 else re.sub(r"\n\s+", "\n", piece)
                   for place, piece in enumerate(pieces) if place % 3 < 2)


def without_line_anchors(html: str) -> str:
    """Return a page whose lines of code have no addresses of their own, a third of a long page.

    >>> without_line_anchors('<code><a id="f--__codelineno-0-1" name="1" href="#1"></a>x</code>')
    '<code>x</code>'
    """
    return re.sub(r'<a id="[^"]*__codelineno-[^>]*></a>', "", html)


def smaller_index(path: Path) -> None:
    """Leave code out of the search's index, which every reader fetches: it is two thirds of it.

    Lessons get the words by which they are looked for, the API's entries the names by which they
    are written, and sections the questions that they answer. A method that writes in place comes
    after the one that does not.
    """
    index = json.loads(path.read_text(encoding="utf-8"))
    tags = {f"lessons/{key}/": lesson_pages.search_tags(stage)
            for key, stage in stages_here().items()}
    questions = tomllib.loads(QUESTIONS.read_text(encoding="utf-8"))
    for entry in index["docs"]:
        if entry["location"] in tags:
            entry["tags"] = tags[entry["location"]]
            # "lesson 3" begins "lesson 3b" too, which is the rarer word
            entry["boost"] *= 1 + entry["tags"][0][-1].isdigit()
        entry["title"] = _named(entry["title"], entry["location"])
        if entry["title"].endswith("_()</code>"):  # "detach" asks for detach() before detach_()
            entry["boost"] = entry.get("boost", 1) / 2
        if asked := _asked(entry, questions):
            entry["asked"] = asked
        text = re.sub(r"<pre>.*?</pre>", "", entry["text"], flags=re.DOTALL)
        entry["text"] = re.sub(r"Source code in <code>[^<]*</code>", "", text).strip()
    path.write_text(json.dumps(index, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")


def _asked(entry: dict[str, Any], questions: dict[str, list[str]]) -> list[str]:
    """Return the questions that a section answers, and the error that its heading quotes."""
    location = entry["location"]
    is_error = location.startswith("error_messages/#")
    return [entry["title"]] * is_error + questions.get(location, [])


def _named(title: str, location: str) -> str:
    """Return the title of an entry of the API: its module and its name, without arguments.

    >>> _named("Conv1d", "api/nn/conv/#minigrad.nn.conv.Conv1d")
    'nn.Conv1d'
    """
    if location.startswith("api/"):  # who looks for a gradient does not ask for an argument
        title = re.sub(r"\(.*\)", "()", title)
    found = re.match(r"api/([^/#]+)/(?:[^/#]+/)?#minigrad\.", location)
    is_module = found and MODULES[found[1]] == f"minigrad.{found[1]}"
    return f"{found[1]}.{title}" if is_module else title
