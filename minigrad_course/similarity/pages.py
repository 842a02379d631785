"""The similarity report: a table, CSV, and a page with both texts side by side."""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Sequence

from ..content.stages import Stage
from ..grading.printable import printable
from ..grading.writers import unformula
from .compare import Likeness, text_of
from .signs import Sign

__all__ = ["Named", "as_csv", "as_html", "exercises"]

#: For each stage, the compared texts by submission and path in the package.
Texts = dict[str, dict[str, dict[str, str]]]
#: Signs with the stage and the submission.
Named = Sequence[tuple[str, str, Sign]]


def exercises(found: Likeness) -> str:
    """Return the exercises in which two answers are similar, with their shares.

    >>> from minigrad_course.similarity.compare import Share
    >>> exercises(Likeness("03", "a", "b", (Share("03.1", 9, 10), Share("03.2", 0, 70))))
    '03.1 90 %'
    """
    return ", ".join(f"{each.hole} {each.part:.0%}".replace("%", " %")
                     for each in found.shares if each.common)


def as_csv(found: Sequence[Likeness], named: Named = ()) -> str:
    """Return a line for each similarity and each sign."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["stage", "one", "other", "share", "in_common", "countable",
                     "exercises", "sign"])
    for each in found:
        whole = each.whole
        writer.writerow([each.stage, unformula(each.one), unformula(each.other),
                         f"{whole.part:.2f}", f"{whole.common:.0f}", f"{whole.of:.0f}",
                         exercises(each), ""])
    for stage, name, sign in named:
        writer.writerow([stage, unformula(name), "", "", "", "", "", unformula(str(sign))])
    return out.getvalue()


def as_html(found: Sequence[Likeness], named: Named, stages: Sequence[Stage], texts: Texts) -> str:
    """Return a page with a table, and both texts of each similarity with the matches marked."""
    by_number = {stage.number: stage for stage in stages}
    parts = []
    for each in found:
        whole = each.whole
        parts.append(
            f"<tr><td>{each.stage}</td><td>{_safe(each.one)}</td><td>{_safe(each.other)}</td>"
            f"<td>{whole.part:.0%}</td><td>{whole.common:.0f} of {whole.of:.0f}</td>"
            f"<td><details><summary>{exercises(each)}</summary>"
            f"{_side_by_side(each, by_number[each.stage], texts)}</details></td></tr>")
    return ('<!doctype html><html lang="en"><meta charset="utf-8"><title>Similarity</title>'
            "<style>body{font:16px sans-serif;margin:2em}td,th{padding:.3em 1em;text-align:left;"
            "vertical-align:top}pre{margin:0;font-size:13px}mark{background:#fd8}"
            ".pair{display:flex;gap:2em}</style><h1>Similarity</h1><p>Marked lines are in both "
            "texts and were not given by the task. Read them before you judge.</p>"
            "<table><tr><th>stage</th><th>one</th><th>other</th><th>share</th><th>in common</th>"
            "<th>exercises</th></tr>" + "\n".join(parts) + "</table><ul>" + "\n".join(
                f"<li>{stage} {_safe(name)}: {_safe(str(sign))}</li>"
                for stage, name, sign in named) + "</ul></html>\n")


def _safe(text: str) -> str:
    return html.escape(printable(text))


def _side_by_side(found: Likeness, stage: Stage, texts: Texts) -> str:
    parts = []
    for share in found.shares:
        columns = []
        for name in (found.one, found.other):
            lines = []
            for (who, hole, path), marked in sorted(found.lines.items()):
                if (who, hole) == (name, share.hole) and marked:
                    text = text_of(stage, name, path, texts[stage.number]).splitlines()
                    first, last = min(marked), max(marked)
                    lines += [f"<mark>{_safe(text[i - 1])}</mark>" if i in marked
                              else _safe(text[i - 1]) for i in range(first, last + 1)]
            columns.append(f"<div><b>{_safe(name)}</b><pre>" + "\n".join(lines) + "</pre></div>")
        if share.common:
            parts.append(f'<h3>{share.hole}</h3><div class="pair">{"".join(columns)}</div>')
    return "".join(parts)
