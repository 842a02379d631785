"""A student's feedback, as a page and as text for an e-mail."""

from __future__ import annotations

import html
import re
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

from .printable import one_line, printable
from .report import Report
from .writers import explained

__all__ = ["as_page", "as_text", "write_feedback"]

#: The most bytes of a file's name, to which a number and an ending are added.  Most file systems
#: allow 255 bytes, and a character has up to four.
STEM = 200

STYLE = ("body{font:16px/1.5 sans-serif;margin:2em auto;max-width:44em;padding:0 1em}"
         "pre{white-space:pre-wrap;margin:.2em 0}h2{font-size:1.1em;margin:1.2em 0 .2em}")


def as_text(report: Report) -> str:
    """Return a report as plain text with short lines."""
    lines = [f"{one_line(report.submission)}: {report.points} of {report.max_points} points", ""]
    for note in (*report.said, *report.notes):
        lines += [*textwrap.wrap(printable(note), 76), ""]
    for hole in report.holes:
        lines.append(f"{hole.hole} {hole.title}: {hole.points} of {hole.max_points}")
        for paragraph in printable(explained(hole)).splitlines():
            lines += textwrap.wrap(paragraph, 72, initial_indent="    ", subsequent_indent="    ",
                                   break_on_hyphens=False)
        lines.append("")
    return "\n".join(lines)


def as_page(report: Report) -> str:
    """Return a report as a complete HTML page."""
    parts = [f"<p><b>{report.points} of {report.max_points} points</b></p>",
             *(f"<pre>{html.escape(printable(note))}</pre>"
               for note in (*report.said, *report.notes))]
    for hole in report.holes:
        parts.append(f"<h2>{html.escape(hole.hole)} {html.escape(hole.title)}: {hole.points} of "
                     f"{hole.max_points}</h2><pre>{html.escape(printable(explained(hole)))}</pre>")
    title = html.escape(one_line(report.submission))
    return (f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
            f"<style>{STYLE}</style><h1>{title}</h1>" + "\n".join(parts) + "</html>\n")


def write_feedback(folder: Path, reports: Sequence[Report], owners: Mapping[int, str]) -> None:
    """Write `NAME.html` and `NAME.txt` for each report; repeated names get a number.

    The name is the owner's, by the report's index, or else the submission's.
    """
    folder.mkdir(parents=True, exist_ok=True)
    taken: dict[str, int] = {}  # names, and the number to try next
    for index, report in enumerate(reports):
        name = owners.get(index, report.submission)
        plain = re.sub(r"[^\w.@-]+", "_", name).strip("._")[:80] or "submission"
        plain = plain.encode()[:STEM].decode(errors="ignore")
        stem = plain
        while stem.casefold() in taken:
            taken[plain.casefold()] += 1
            stem = f"{plain}-{taken[plain.casefold()]}"
        taken[stem.casefold()] = 1
        (folder / f"{stem}.html").write_text(as_page(report), encoding="utf-8")
        (folder / f"{stem}.txt").write_text(as_text(report), encoding="utf-8")
