"""A profile as a page with an interactive flame graph and the table of averages.

The page needs only a browser: it contains the events as JSON, and a short script draws the visible
ones on a canvas.
"""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from typing import Any


def page(events: Sequence[Any], title: str = "Profile") -> str:
    """Return the page for events that know their parents.

    >>> "<canvas" in page([]), "http" in page([])
    (True, False)
    """
    data = json.dumps(flames(events)).replace("</", "<\\/")
    return (_PAGE.replace("TITLE", html.escape(title)).replace("TABLE", averages_table(events))
            .replace("DATA", data))


def flames(events: Sequence[Any]) -> dict[str, Any]:
    """Return the data of the page: names, and the position of each event.

    An event is `[index of its name, start, duration, row, shape, details]`. Each thread has its own
    rows, and a nested event is one row below its parent.
    """
    names: dict[str, int] = {}
    depths: dict[int, int] = {}
    deepest: dict[int, int] = {}
    for event in events:
        parent = event.cpu_parent
        depth = depths[id(event)] = 0 if parent is None else depths[id(parent)] + 1
        deepest[event.thread] = max(deepest.get(event.thread, 0), depth)
    first, row = {}, 0
    for thread in sorted(deepest):
        first[thread] = row
        row += deepest[thread] + 2
    boxes = []
    for event in events:
        details = [f"thread {event.thread}"]
        if event.sequence_nr >= 0:
            details.append(f"sequence number {event.sequence_nr}")
        if event.input_shapes:
            details.append(f"shapes {event.input_shapes}")
        if event.cpu_memory_usage:
            details.append(f"{event.cpu_memory_usage} bytes")
        boxes.append([names.setdefault(event.name, len(names)), round(event.time_range.start, 3),
                      round(event.time_range.elapsed_us(), 3),
                      first[event.thread] + depths[id(event)], event.scope, ", ".join(details)])
    return {"names": list(names), "boxes": boxes, "rows": max(row - 1, 0)}


def averages_table(events: Sequence[Any]) -> str:
    """Return the rows of the table below the flame graph: names by their self time."""
    calls: dict[str, list[float]] = {}
    for event in events:
        sums = calls.setdefault(event.name, [0.0, 0.0, 0])
        sums[0] += event.self_cpu_time_total
        sums[1] += event.cpu_time_total
        sums[2] += 1
    ordered = sorted(calls.items(), key=lambda item: -item[1][0])
    return "".join(f"<tr><td>{html.escape(name)}</td><td>{own:.1f}</td><td>{total:.1f}</td>"
                   f"<td>{count}</td></tr>\n" for name, (own, total, count) in ordered)


_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>TITLE</title>
<style>
body { font: 14px system-ui, sans-serif; margin: 1.5em; color: #222; background: #fff }
canvas { width: 100%; display: block; border: 1px solid #bbb; cursor: grab; touch-action: none }
#about { min-height: 1.5em; margin: .5em 0; white-space: pre-wrap }
table { border-collapse: collapse; margin-top: 1em }
th, td { padding: .15em .8em; text-align: right }
th:first-child, td:first-child { text-align: left }
tr:nth-child(even) { background: #f3f3f3 }
</style>
</head>
<body>
<h1>TITLE</h1>
<p>Turn the wheel or press + and - to zoom, drag or press the arrows to move, click an event to fill
the window with it, double-click or press 0 to see all.
<label>Find <input id="find" type="search"></label></p>
<canvas id="flames" tabindex="0" role="img"
        aria-label="Flame graph; the table below has the figures">
</canvas>
<div id="about" role="status"></div>
<table><thead><tr><th>Name</th><th>Self CPU, us</th><th>CPU total, us</th><th># of Calls</th></tr>
</thead><tbody>
TABLE</tbody></table>
<script>
"use strict";
const {names, boxes, rows} = DATA;
const canvas = document.getElementById("flames"), about = document.getElementById("about");
const find = document.getElementById("find"), pen = canvas.getContext("2d");
const ROW = 18, end = boxes.reduce((t, b) => Math.max(t, b[1] + b[2]), 1);
let from = 0, to = end, grabbed = null, moved = false;

function hue(name) {
  let h = 0;
  for (const c of name) h = (h * 31 + c.codePointAt(0)) % 360;
  return h;
}
const colours = names.map((name) => `hsl(${hue(name)} 60% 75%)`);

function draw() {
  const width = canvas.clientWidth, ratio = window.devicePixelRatio || 1;
  canvas.width = width * ratio;
  canvas.height = Math.max(rows, 1) * ROW * ratio;
  canvas.style.height = Math.max(rows, 1) * ROW + "px";
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.font = "11px system-ui, sans-serif";
  pen.textBaseline = "middle";
  const scale = width / (to - from), sought = find.value.toLowerCase();
  for (const [name, start, length, row, shape] of boxes) {
    const left = Math.max((start - from) * scale, 0);
    const right = Math.min((start + length - from) * scale, width);
    if (right < 0 || left > width) continue;
    const hit = sought && names[name].toLowerCase().includes(sought);
    pen.fillStyle = hit ? "#d400d4" : sought ? "#e4e4e4" : colours[name];
    pen.fillRect(left, row * ROW, Math.max(right - left - 0.5, 0.5), ROW - 1);
    if (shape === 1) { pen.fillStyle = "#555"; pen.fillRect(left, row * ROW, 2, ROW - 1); }
    if (right - left > 30) {
      pen.fillStyle = hit ? "#fff" : "#111";
      const fits = Math.floor((right - left - 8) / 6);
      pen.fillText(names[name].slice(0, fits), left + 4, row * ROW + ROW / 2);
    }
  }
}
function show(a, b) {
  const span = Math.min(Math.max(b - a, 0.05), end);
  from = Math.min(Math.max(a, 0), end - span);
  to = from + span;
  draw();
}
function at(event) {
  const time = from + event.offsetX / canvas.clientWidth * (to - from);
  const row = Math.floor(event.offsetY / ROW);
  return boxes.find((b) => b[3] === row && b[1] <= time && time <= b[1] + b[2]);
}
function zoom(factor, middle) {
  show(middle - (middle - from) * factor, middle + (to - middle) * factor);
}
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  zoom(event.deltaY > 0 ? 1.25 : 0.8, from + event.offsetX / canvas.clientWidth * (to - from));
}, {passive: false});
canvas.addEventListener("pointerdown", (event) => {
  grabbed = [event.clientX, from, to];
  moved = false;
  canvas.setPointerCapture(event.pointerId);
});
canvas.addEventListener("pointerup", () => { grabbed = null; });
canvas.addEventListener("pointermove", (event) => {
  if (grabbed) {
    const shift = (grabbed[0] - event.clientX) / canvas.clientWidth * (to - from);
    moved = moved || Math.abs(grabbed[0] - event.clientX) > 3;
    if (moved) show(grabbed[1] + shift, grabbed[2] + shift);
    return;
  }
  const box = at(event);
  about.textContent = box ? `${names[box[0]]}: ${box[2]} us, at ${box[1]} us, ${box[5]}` : "";
});
canvas.addEventListener("click", (event) => {
  const box = moved ? null : at(event);
  if (box) show(box[1], box[1] + box[2]);
});
canvas.addEventListener("dblclick", () => show(0, end));
canvas.addEventListener("keydown", (event) => {
  const step = (to - from) / 5, middle = (from + to) / 2;
  if (event.key === "+" || event.key === "=") zoom(0.8, middle);
  else if (event.key === "-") zoom(1.25, middle);
  else if (event.key === "ArrowLeft") show(from - step, to - step);
  else if (event.key === "ArrowRight") show(from + step, to + step);
  else if (event.key === "0") show(0, end);
});
find.addEventListener("input", draw);
window.addEventListener("resize", draw);
draw();
</script>
</body>
</html>
"""
