"""Profile some steps of training and draw the profile as a flame graph.

    minigrad python --mine 11 flame.py                  writes flame.svg here
    minigrad python --mine 11 flame.py --out -          draws it in characters instead
"""

from __future__ import annotations

import argparse
from html import escape
from pathlib import Path
from typing import Any

import minigrad as torch
from minigrad import nn
from minigrad.autograd.profiler import profile, record_function

COLOURS = {"forward": "#9ecae1", "backward": "#fdae6b", "step": "#c7e9c0"}


def profiled(steps: int) -> Any:
    """Return the events of some steps of training a small network."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Flatten(),
                        nn.Linear(8 * 64, 10))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    images, wanted = torch.rand(32, 1, 8, 8), torch.arange(32) % 10
    with profile() as found:
        for _ in range(steps):
            with record_function("step"):
                with record_function("forward"):
                    loss = nn.functional.cross_entropy(net(images), wanted)
                with record_function("backward"):
                    loss.backward()
                optimizer.step()
    return found.function_events


class Frame:
    """All events of a name inside the same frames: their time, and the frames inside them."""

    def __init__(self, name: str) -> None:
        self.name, self.time, self.calls = name, 0.0, 0
        self.inside: dict[str, Frame] = {}

    def add(self, event: Any) -> None:
        """Add an event and, below it, those that lie in it."""
        frame = self.inside.setdefault(event.name, Frame(event.name))
        frame.time += event.cpu_time_total
        frame.calls += 1
        for child in event.cpu_children:
            frame.add(child)

    def sorted(self) -> list[Frame]:
        """Return the frames inside, the longest first."""
        return sorted(self.inside.values(), key=lambda each: (-each.time, each.name))


def flame(events: Any) -> Frame:
    """Return a frame that holds all others."""
    root = Frame("all")
    children = {id(child) for event in events for child in event.cpu_children}
    for event in events:
        if id(event) not in children:
            root.add(event)
    root.time = sum(each.time for each in root.inside.values())
    root.calls = 1
    return root


def svg(root: Frame, width: int = 1000, height: int = 22) -> str:
    """Return the picture: a frame is as wide as it is long, and lies on the one it is part of."""
    boxes: list[str] = []

    def draw(frame: Frame, left: float, level: int, colour: str) -> int:
        colour = COLOURS.get(frame.name, colour)
        size = width * frame.time / max(root.time, 1e-9)
        text = frame.name if size > 8 * len(frame.name) else ""
        boxes.append(
            f'<g><title>{escape(frame.name)}: {frame.time:.0f} us, {frame.calls} calls</title>'
            f'<rect x="{left:.1f}" y="{level * height}" width="{size:.1f}" height="{height - 1}" '
            f'fill="{colour}"/><text x="{left + 3:.1f}" y="{level * height + 15}">{escape(text)}'
            "</text></g>")
        deepest = level
        for each in frame.sorted():
            deepest = max(deepest, draw(each, left, level + 1, colour))
            left += width * each.time / max(root.time, 1e-9)
        return deepest

    levels = draw(root, 0, 0, "#d9d9d9") + 1
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{levels * height}" '
            f'font-family="monospace" font-size="12">{"".join(boxes)}</svg>\n')


def text(frame: Frame, whole: float, depth: int = 0, width: int = 40) -> list[str]:
    """Return a line for each frame that has a hundredth of the time."""
    share = frame.time / max(whole, 1e-9)
    name = f"{'  ' * depth}{frame.name}"
    lines = [f"{name:40} {share:6.1%} {frame.calls:6} {'█' * round(width * share)}".rstrip()]
    for each in frame.sorted():
        if each.time > whole / 100:
            lines += text(each, whole, depth + 1, width)
    return lines


def main() -> None:
    """Profile, and draw."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--steps", type=int, default=20, help="steps to profile (20)")
    parser.add_argument("--out", default="flame.svg", help="the file; - draws in characters")
    options = parser.parse_args()
    root = flame(profiled(options.steps))
    if options.out == "-":
        print("\n".join(text(root, root.time)))
        return
    Path(options.out).write_text(svg(root), encoding="utf-8")
    calls = {name: frame.calls for name, frame in root.inside["step"].inside.items()}
    print(f"{options.out}: {calls['forward']} times forward, {calls['backward']} times backward")


if __name__ == "__main__":
    main()
