"""Bars and curves as pictures: each one self-contained SVG, readable on light and on dark pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import chain

#: Longer bars are cut off here; the number beside a bar always tells the whole length.
CAP = 3.0
LEFT, SCALE, BAR, GAP, TOP = 158, 62, 14, 14, 34  # LEFT has room for 21 letters
WIDTH = LEFT + int(CAP * SCALE) + 70  # a phone shows all of it
STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#222}.head{font-weight:600}.one{stroke:#222}"
    ".aim{stroke:#c00;stroke-width:3}.bar{fill:#9aa5b1}.ours{fill:#2f6fb2}"
    ".curve{fill:none;stroke:#2f6fb2;stroke-width:5}.other{stroke:#c00;stroke-width:1.5}"
    "@media(prefers-color-scheme:dark){text{fill:#ddd}.one{stroke:#ddd}.aim{stroke:#f66}"
    ".bar{fill:#6b7580}.ours{fill:#5a9be0}}"
)

#: A bar: what it is of, how long, and whether it is to stand out.
Bar = tuple[str, float, bool]
#: A group: its heading, its bars and, where there is one, the target for those that stand out.
Group = tuple[str, Sequence[Bar], float | None]


def bars(title: str, groups: Sequence[Group]) -> str:
    """Groups of bars whose lengths are ratios; a line marks 1 and a red one each group's target.

    >>> "minigrad" in bars("Steps", [("batch 64", [("minigrad", 0.9, True)], 1.0)])
    True
    """
    y, parts = TOP, []
    for heading, members, aim in groups:
        parts.append(f'<text class="head" x="8" y="{y + 11}">{escape(heading)}</text>')
        y += BAR + 6
        start = y
        for name, ratio, ours in members:
            length = min(ratio, CAP) * SCALE
            parts.append(f'<text x="{LEFT - 8}" y="{y + 11}" text-anchor="end">{escape(name)}'
                         "</text>")
            parts.append(f'<rect class="{"ours" if ours else "bar"}" x="{LEFT}" y="{y}" '
                         f'width="{length:.1f}" height="{BAR}"/>')
            parts.append(f'<text x="{LEFT + CAP * SCALE + 8:g}" y="{y + 11}">{ratio:.2f}'
                         f'{" →" if ratio > CAP else ""}</text>')
            if ours and aim is not None:
                at = LEFT + aim * SCALE
                parts.append(f'<path class="aim" d="M{at:.1f} {y - 2}v{BAR + 4}"/>')
            y += BAR + 4
        parts.append(f'<path class="one" d="M{LEFT + SCALE} {start - 2}V{y - 2}"/>')
        y += GAP
    parts.append(f'<text x="{LEFT + SCALE}" y="{y}" text-anchor="middle">1: PyTorch</text>')
    return picture(title, y + GAP, parts)


def curves(title: str, lines: Mapping[str, Sequence[float]]) -> str:
    """Two curves over the same steps: the first broad, the second thin and on top of it.

    >>> curves("Loss", {"ours": [3.0, 1.0], "theirs": [3.0, 2.0]}).count("<polyline")
    2
    """
    low, high = min(chain(*lines.values())), max(chain(*lines.values()))
    left, right, bottom, height = 60, WIDTH - 20, 230, 190
    parts = [f'<text x="{left - 8}" y="{bottom + 4}" text-anchor="end">{low:.2f}</text>',
             f'<text x="{left - 8}" y="{bottom - height + 4}" text-anchor="end">{high:.2f}</text>']
    for place, (name, values) in enumerate(lines.items()):
        step = (right - left) / (len(values) - 1)
        points = " ".join(f"{left + step * i:.1f},{bottom - height * (v - low) / (high - low):.1f}"
                          for i, v in enumerate(values))
        kind = "curve other" if place else "curve"
        parts.append(f'<polyline class="{kind}" points="{points}"/>')
        at = right - 110, 60 + 20 * place
        parts.append(f'<path class="{kind}" d="M{at[0]} {at[1] - 4}h30"/>')
        parts.append(f'<text x="{at[0] + 38}" y="{at[1]}">{escape(name)}</text>')
    return picture(title, bottom + 20, parts)


def picture(title: str, height: int, parts: Sequence[str]) -> str:
    """The parts below their title, as one SVG."""
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
        f"<title>{escape(title)}</title>", f"<style>{STYLE}</style>",
        f'<text class="head" x="8" y="18">{escape(title)}</text>', *parts, "</svg>", ""])
