"""Three seeded trainings that have to succeed: digits, a GPT on characters, an LSTM that counts.

    python benchmarks/trainings.py --json benchmarks/results/trainings.json

Where PyTorch is installed, the GPT's losses stand beside those of PyTorch with the same source,
seed and data. Nothing is timed beside anything here; see sequence.py and resnet.py for that. The
exit status is 1 where an aim is missed.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import _harness as harness

import minigrad
from minigrad_course.demos import brackets, characters, digits

SEED = 0
COMPARED = 50  # steps of the GPT beside PyTorch
SMALL = {"layers": 2, "width": 32, "context": 32}  # the GPT of a quick run
#: What each training has to reach, in full and when it is quick.
AIMS = {"digits": (0.985, 0.9), "gpt": (1.6, 3.4), "gpt beside PyTorch": (1e-3, 1e-3),
        "lstm": (0.99, 0.9)}


def train_digits(quick: bool) -> dict[str, Any]:
    """The small ResNet: the share of held-out digits that it reads."""
    minigrad.manual_seed(SEED)
    data, net = digits.load(SEED), digits.network()
    epochs = 2 if quick else 16
    losses = [loss for _, loss in digits.train(net, data, epochs)]
    right = digits.correct(net.eval(), data.test_images, data.test_digits)
    return {"losses": losses, "held_out": len(data.test_images), "right": right,
            "measured": right / len(data.test_images)}


def train_gpt(quick: bool) -> dict[str, Any]:
    """The small GPT on Python's reference: the mean loss of the last steps, and what it says."""
    minigrad.manual_seed(SEED)
    text = characters.load(50_000 if quick else None)
    net = characters.network(text, **(SMALL if quick else {}))
    losses = list(characters.train(net, text, 60 if quick else 1500))
    first = text.numbers[:1].reshape(1, 1)
    said = net.eval().generate(first, 40 if quick else 200, temperature=0.8)
    return {"losses": losses, "sample": text.decode(said[0]),
            "measured": statistics.mean(losses[-20:])}


def compare_gpt(quick: bool) -> dict[str, Any]:
    """The first steps of the GPT beside PyTorch's: the largest difference of two losses."""
    if importlib.util.find_spec("torch") is None:
        return {"measured": None, "reason": "PyTorch is not installed"}
    theirs = harness.from_package("torch", "minigrad_course/demos/characters.py")
    sizes: dict[str, Any] = SMALL if quick else {}
    curves = []
    for package, module in ((minigrad, characters), (theirs.torch, theirs)):
        package.manual_seed(SEED)
        text = module.load(50_000)
        net = module.network(text, **sizes)
        curves.append(list(module.train(net, text, COMPARED)))
    apart = max(abs(a - b) for a, b in zip(*curves, strict=True))
    return {"minigrad": curves[0], "pytorch": curves[1], "measured": apart}


def train_lstm(quick: bool) -> dict[str, Any]:
    """The LSTM: the share of right depths in bracket sequences twice as long as those seen."""
    minigrad.manual_seed(SEED)
    net = brackets.Counter()
    losses = list(brackets.train(net, 150 if quick else 300))
    return {"losses": losses, "measured": brackets.accuracy(net.eval())}


#: Title, what runs it, and whether more is better.
TRAININGS: dict[str, tuple[str, Callable[[bool], dict[str, Any]], bool]] = {
    "digits": ("digits with a small ResNet, share of held-out images", train_digits, True),
    "gpt": ("GPT on characters, loss of the last 20 steps", train_gpt, False),
    "gpt beside PyTorch": (f"GPT, {COMPARED} losses beside PyTorch's, largest difference",
                           compare_gpt, False),
    "lstm": ("LSTM that counts brackets, share of right depths", train_lstm, True),
}


def run(quick: bool, chosen: list[str]) -> dict[str, Any]:
    """Run the trainings and return the report."""
    report: dict[str, Any] = {"benchmark": "trainings", "date": harness.now(),
                              "machine": harness.machine(), "settings": {"quick": quick},
                              "trainings": {}}
    for name in chosen:
        title, train, more_is_better = TRAININGS[name]
        harness.progress(title)
        start, limit = time.perf_counter(), AIMS[name][quick]
        found = train(quick)
        measured = found["measured"]
        met = measured is None or (measured >= limit if more_is_better else measured <= limit)
        report["trainings"][name] = {
            **found, "title": title, "aim": limit, "relation": ">=" if more_is_better else "<=",
            "met": met, "seconds": round(time.perf_counter() - start, 1)}
    harness.progress("")
    return report


def render(report: dict[str, Any]) -> str:
    """The report as plain text."""
    rows = [["training", "aim", "reached", "", "seconds"]]
    for each in report["trainings"].values():
        measured = each["measured"]
        rows.append([each["title"], f"{each['relation']} {each['aim']:g}",
                     each["reason"] if measured is None else f"{measured:.4g}",
                     "met" if each["met"] else "MISSED", f"{each['seconds']:g}"])
    text = harness.table(rows)
    if (said := report["trainings"].get("gpt", {}).get("sample")) is not None:
        text += f"\n\nWhat the GPT says:\n{said}"
    return text


def main(arguments: list[str] | None = None) -> int:
    """Train, print what was reached and write the JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", type=Path, metavar="PATH", help="write every loss here")
    parser.add_argument("--quick", action="store_true", help="small ones, to see that they work")
    parser.add_argument("--only", default=",".join(TRAININGS),
                        help="comma-separated: %(default)s")
    options = parser.parse_args(arguments)
    chosen = options.only.split(",")
    for name in chosen:
        if name not in TRAININGS:
            parser.error(f"unknown {name!r}; choose from {', '.join(TRAININGS)}")
    report = run(options.quick, chosen)
    print(render(report))
    if options.json:
        harness.write_json(options.json, report)
    return 0 if all(each["met"] for each in report["trainings"].values()) else 1


if __name__ == "__main__":
    sys.exit(main())
