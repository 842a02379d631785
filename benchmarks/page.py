"""The site's page of figures, docs/en/benchmarks.md, made from the committed results.

    python benchmarks/page.py            # write the page and its plots
    python benchmarks/page.py --check    # say whether they are current

Of each benchmark the newest JSON in results/ counts. No figure is written by hand.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import _plot
import everyday
import functional
import memory
import mlp
import op_overhead
import profiler
import resnet
import sequence
import step_memory
from _command import VERDICTS, cell
from _harness import ROOT
from _steps import Steps
from reasons import WHY

RESULTS = ROOT / "benchmarks" / "results"
DOCS = ROOT / "docs" / "en"
NAMES = ("op_overhead", "functional", "mlp", "resnet", "sequence", "everyday", "trainings",
         "profiler", "memory", "step_memory", "class_of_200")

HEAD = """# Figures

This page is for you if you want to know how fast minigrad is and how much memory it takes. It
compares minigrad with PyTorch and other libraries, and explains why some targets are missed.
{headline}

In each table, all libraries were measured side by side, taking turns on one machine. The line above
a table gives the command, the date and the machine. `python benchmarks/page.py` makes this page
from the committed results, and `benchmarks/README.md` in the repository describes the method.

A ratio is the time divided by PyTorch's time in the same round, so 0.5 is twice as fast and 2 is
half as fast. Tables show the median over the rounds. In the plots, a thin line marks PyTorch and a
red one the target for minigrad. Bars longer than 3 are cut off.
"""

OVERHEAD = """The cost of one operation on eight float32 values. They are so few that nearly all of
the time is the engine's. The table shows microseconds per operation, with the ratio to PyTorch in
brackets.
"""
CHAIN = """A chain of a million additions is built, run backward and released, with Python's garbage
collector at its default settings.
"""
FUNCTIONAL = """Complete derivatives of functions of 100 inputs, in milliseconds. HIPS autograd
cannot batch a pass, and JAX was only measured compiled and batched.
"""
MLP = """A training step of a network 784-256-128-10 with ReLU, cross entropy and plain gradient
descent.
"""
RESNET = """Two cases: in training mode, cross entropy forward and all gradients backward, without
an optimizer step; in evaluation mode, the forward pass alone, without a graph. *NumPy by hand* is
the training step without an engine. *Matrix products alone* is the minimum for any program that
uses NumPy's BLAS.
"""
SEQUENCE = """A training step of a small GPT and of an LSTM, including the optimizer.
"""
EVERYDAY = """Other work that programs do, in milliseconds on one thread. We chose each row because
minigrad was slow there. HIPS autograd and MyGrad were not measured.
"""
TRAININGS = """Three trainings from fixed seeds that have to reach an aim.
"""
PROFILER = """The cost of one event in microseconds, with the ratio to PyTorch's profiler in
brackets.
"""
MEMORY = """The peak memory of an inference in MB, not counting weights and images.
"""
STEP_MEMORY = """How much a process grows at most during a step, in MB. Before the measurement it
has loaded the library, weights and input, and has taken one step.
"""
REASONS = """Figures that are in no table above were measured by `python benchmarks/limits.py` on
2026-11-27, on the machine above.
"""
CLASS = """This class contains solutions, other right answers, partly written ones, known mistakes,
attacks, and files that are not programs. One command grades it. The benchmark kills that command
after a quarter of the class, calls it again, and checks every verdict against the expected one.
"""
PINNED = """This environment makes OpenBLAS use the kernels for another processor
({pins}), so NumPy's products are slower than PyTorch's.
*OpenBLAS unpinned* is the same without that setting.
"""
RESTLESS = """In these measurements, other programs disturbed more than half of the {rounds} rounds,
so the figures are only a hint. The number of undisturbed rounds is in brackets.

{names}
"""
THREADS = {1: "one thread", 2: "two threads"}


def measured() -> list[str]:
    """The benchmarks that have results."""
    return [name for name in NAMES if any(RESULTS.glob(f"{name}-*.json"))]


def newest(name: str) -> dict[str, Any]:
    """The latest report of a benchmark."""
    path = max(RESULTS.glob(f"{name}-*.json"))
    report: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return report


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows as Markdown, the first as its head."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:], ""])


def where(name: str, report: Mapping[str, Any], engines: Mapping[str, str] | None = None) -> str:
    """Return the command of a benchmark, its date, its machine and the versions of some engines."""
    machine = report["machine"]
    parts = [report["date"][:10], machine["cpu"], f"{machine['cores']} cores", machine["python"]]
    found = [(title, report["engines"].get(key, {})) for key, title in (engines or {}).items()]
    parts += [f"{title} {each['version']}" for title, each in found
              if each.get("status") == "measured" and each["version"] != each.get("numpy")]
    numpy = {each["numpy"] for _, each in found if "numpy" in each}
    parts += [f"NumPy {version}" for version in sorted(numpy)]
    return f"`python benchmarks/{name}.py`: *{', '.join(parts)}.*\n"


def targets(report: Mapping[str, Any], hand: str | None = None) -> str:
    """What was aimed at, what was measured; beside it, where there is one, the step by hand."""
    rows = [["target", "limit", "measured", *([hand] if hand else []), ""]]
    for each in report["targets"]:
        figures = [each["measured"], *([each["by_hand"]] if hand else [])]
        met = each["met"]
        rows.append([each["name"], f"{each['relation']} {each['limit']:g}",
                     *("n/a" if value is None else f"{value:.3g}" for value in figures),
                     VERDICTS[met].lower() if met is not False else "**missed**"])
    return table(rows)


def titles_of(engines: Mapping[str, Sequence[Any]]) -> dict[str, str]:
    """What tables call each engine, of a table whose rows begin with that."""
    return {key: str(title) for key, (title, *_) in engines.items()}


def figures(records: Mapping[str, Mapping[str, Any]], titles: Mapping[str, str],
            engines: Mapping[str, str], digits: str = ".3f") -> str:
    """A row for each workload and a column for each engine."""
    keys = [key for key in engines if any(key in each for each in records.values())]
    nothing = {"median": None}
    return table([["", *(engines[key] for key in keys)],
                  *([titles[name], *(cell(each.get(key, nothing), digits) for key in keys)]
                    for name, each in records.items())])


def plot(title: str, records: Mapping[str, Mapping[str, Any]], titles: Mapping[str, str],
         engines: Mapping[str, str], limits: Mapping[str, float]) -> str:
    """The ratios of all engines but the reference, as bars."""
    groups = [(titles[name], [(engines[key], figure["ratio"], key.startswith("minigrad"))
                              for key, figure in each.items()
                              if key in engines and figure["ratio"] and key != "pytorch"],
               limits.get(name)) for name, each in records.items()]
    return _plot.bars(title, [group for group in groups if group[1]])


def picture(name: str, what: str) -> str:
    """The line that shows a plot."""
    return f"![{what}](assets/benchmark-{name}.svg)\n"


def of_steps(name: str, title: str, text: str, benchmark: Steps) -> tuple[list[str], str]:
    """The section of a benchmark of steps, and its plot."""
    report = newest(name)
    keys = [key for key, each in report["engines"].items() if each["status"] == "measured"]
    engines = {key: benchmark.title(key) for key in keys}
    workloads = report["workloads"]
    records = {case: each["ms"] for case, each in workloads.items()}
    titles = {case: f"{each['case']}, {THREADS[each['threads']]}"
              for case, each in workloads.items()}
    limits = {case: benchmark.targets[each["case"], each["threads"]]
              for case, each in workloads.items()}
    rows = [["milliseconds (ratio)", *engines.values()]]
    rows += [[titles[case], *(cell(each[key], ".3g") if key in each else "n/a" for key in keys)]
             for case, each in records.items()]
    rounds = report["settings"]["rounds"]
    restless = [f"- {engines[key]}, {titles[case]} ({rounds - len(numbers)})"
                for case, each in workloads.items()
                for key, numbers in each["disturbed"].items() if len(numbers) > rounds // 2]
    pins = ", ".join(f"{key}={value}" for key, value in report["pins"].items())
    hand = benchmark.engines[benchmark.by_hand].title if benchmark.by_hand else None
    versions = {key: engines[key] for key in keys if "+" not in key}
    return [f"## {title}\n", text, where(name, report, versions),
            *([PINNED.format(pins=pins)] if pins else []),
            picture(name, f"{title}: ratios to PyTorch"), table(rows),
            *([RESTLESS.format(rounds=rounds, names="\n".join(restless))] if restless else []),
            targets(report, hand)], plot(
                f"{title}: time divided by PyTorch's", records, titles, engines, limits)


def headline() -> str:
    """Say how long training steps take, compared with PyTorch's."""
    found = []
    for name, what in (("mlp", "a small network"), ("resnet", "ResNet-18"),
                       ("sequence", "a small GPT")):
        case = next(iter(newest(name)["workloads"].values()))
        found.append(f"{case['ms']['minigrad']['ratio']:.2f} for {what} ({case['case']})")
    return ("With PyTorch as 1, the time of a training step on one thread is\n"
            f"**{', '.join(found[:-1])} and {found[-1]}**.")


def of_overhead() -> tuple[list[str], str]:
    """The section of small operations, and its plot."""
    report = newest("op_overhead")
    engines = titles_of(op_overhead.ENGINES)
    small = {name: each["us_per_op"] for name, each in report["small_ops"].items()}
    chain = {name: report["chain"]["default"][name] for name in ("build", "backward", "release")}
    memory_of = {"bytes_per_node": report["chain"]["default"]["bytes_per_node"]}
    limits = dict(zip(small, (each["limit"] for each in report["targets"]), strict=False))
    return ["## Small operations\n", OVERHEAD, where("op_overhead", report, engines),
            picture("op_overhead", "Small operations: ratios to PyTorch"),
            figures(small, op_overhead.WORKLOADS, engines), CHAIN,
            figures(chain, {name: f"{name}, µs per op" for name in chain}, engines),
            figures(memory_of, {"bytes_per_node": "bytes per node"}, engines, ".0f"),
            targets(report)], plot("Small operations: time divided by PyTorch's", small,
                                   op_overhead.WORKLOADS, engines, limits)


def of_functional() -> tuple[list[str], str]:
    """The section of whole derivatives, and its plot."""
    report = newest("functional")
    records = {name: each["ms"] for name, each in report["workloads"].items()}
    return ["## Whole derivatives\n", FUNCTIONAL, where("functional", report, functional.ENGINES),
            picture("functional", "Whole derivatives: ratios to PyTorch"),
            figures(records, functional.WORKLOADS, functional.ENGINES), targets(report)], plot(
                "Whole derivatives: time divided by PyTorch's", records, functional.WORKLOADS,
                functional.ENGINES, functional.TARGETS)


def of_everyday() -> tuple[list[str], str]:
    """The section of everyday work, and its plot."""
    report = newest("everyday")
    records = {each["case"]: each["ms"] for each in report["workloads"].values()}
    engines = {key: everyday.BENCHMARK.title(key) for key in report["engines"]}
    titles, limits = {name: name for name in records}, {
        name: aim for name, (_, aim) in everyday.CASES.items()}
    return ["## Everyday work\n", EVERYDAY, where("everyday", report, engines),
            picture("everyday", "Everyday work: ratios to PyTorch"),
            figures(records, titles, engines, ".3g"), targets(report)], plot(
                "Everyday work: time divided by PyTorch's", records, titles, engines, limits)


def of_profiler() -> list[str]:
    """The section of the profiler's cost."""
    report = newest("profiler")
    records = {f"{setting}, {title}": each[figure]
               for setting, each in report["profilers"].items()
               for figure, title in profiler.FIGURES.items()}
    return ["## The profiler\n", PROFILER, where("profiler", report, titles_of(profiler.ENGINES)),
            figures(records, {name: name for name in records}, titles_of(profiler.ENGINES), ".2f"),
            targets(report)]


def of_memory() -> list[str]:
    """The section of memory."""
    report = newest("memory")
    rows = [["", "with the graph", "under `no_grad`", "`no_grad` / graph"]]
    for each in report["workloads"].values():
        for key, title in memory.ENGINES.items():
            if key in each["bytes"]:
                most = each["bytes"][key]["arrays"]
                rows.append([f"{each['network']}, {each['batch']}×3×{each['size']}×{each['size']}, "
                             f"{title}", f"{most['graph'] / 1e6:.1f}",
                             f"{most['no_grad'] / 1e6:.1f}",
                             f"{most['no_grad'] / most['graph']:.2f}"])
    return ["## Memory of an inference\n", MEMORY, where("memory", report, memory.ENGINES),
            table(rows), targets(report)]


def of_step_memory() -> list[str]:
    """The section of the memory of steps; empty before the first result."""
    if "step_memory" not in measured():
        return []
    report = newest("step_memory")
    return ["## Memory of a step\n", STEP_MEMORY, where("step_memory", report, step_memory.ENGINES),
            table(step_memory.rows(report)), targets(report)]


def of_trainings() -> tuple[list[str], str]:
    """The section of the trainings, and the GPT's losses beside PyTorch's."""
    report = newest("trainings")
    rows = [["training", "aim", "reached", "", "seconds"]]
    rows += [[each["title"], f"{each['relation']} {each['aim']:g}", f"{each['measured']:.4g}",
              "met" if each["met"] else "**missed**", f"{each['seconds']:g}"]
             for each in report["trainings"].values()]
    beside = report["trainings"]["gpt beside PyTorch"]
    losses = {"minigrad": beside["minigrad"], "PyTorch": beside["pytorch"]}
    title = f"Loss of the GPT, {len(beside['minigrad'])} steps from the same seed"
    return ["## Trainings\n", TRAININGS, where("trainings", report), table(rows),
            picture("trainings", title)], _plot.curves(title, losses)


def of_reasons() -> list[str]:
    """The section that says what limits the targets that are missed."""
    rows = [["target", "what limits it"]]
    for name in measured():
        for each in newest(name).get("targets", ()):
            if each["met"] is False:
                short = each["name"].removesuffix(" / PyTorch")
                if short not in WHY:
                    raise SystemExit(f"{short!r} is missed: say in benchmarks/reasons.py why")
                rows.append([short.removesuffix(", minigrad"), WHY[short]])
    return ["## Why is a target missed?\n", REASONS, table(rows)] if rows[1:] else []


def of_class() -> list[str]:
    """The section of the class that is graded."""
    report = newest("class_of_200")
    rows = [["submission", "graded", "correctly"], *(
        [kind, str(graded), str(right)] for kind, (graded, right) in report["kinds"].items())]
    seconds = report["seconds_before"] + report["seconds_after"]
    return ["## Grading a class\n", CLASS, where("class_of_200", report), table(rows),
            f"Grading {report['count']} submissions of stage {report['stage']} took {seconds:.0f} "
            f"s ({report['per_minute']:.0f} a minute), with {report['workers']} at a time, each "
            f"in a {report['sandbox']} sandbox.\n"]


def made() -> dict[Path, str]:
    """The page and its plots: what each file has to hold."""
    overhead, of_small = of_overhead()
    whole, of_whole = of_functional()
    network, of_network = of_steps("mlp", "A small network", MLP, mlp.BENCHMARK)
    residual, of_residual = of_steps("resnet", "ResNet-18", RESNET, resnet.BENCHMARK)
    sequences, of_sequences = of_steps("sequence", "Sequences", SEQUENCE, sequence.BENCHMARK)
    daily, of_daily = of_everyday()
    trainings, of_losses = of_trainings()
    parts: Iterable[str] = [HEAD.format(headline=headline()), *network, *residual, *sequences,
                            *daily, *trainings, *overhead, *whole, *of_profiler(), *of_memory(),
                            *of_step_memory(), *of_reasons(), *of_class()]
    plots = {"mlp": of_network, "resnet": of_residual, "sequence": of_sequences,
             "everyday": of_daily, "trainings": of_losses, "op_overhead": of_small,
             "functional": of_whole}
    return {DOCS / "benchmarks.md": "\n".join(parts),
            **{DOCS / "assets" / f"benchmark-{name}.svg": text for name, text in plots.items()}}


def stale(files: Mapping[Path, str]) -> list[Path]:
    """Those files that do not hold what they have to."""
    return [path for path, text in files.items()
            if not path.exists() or path.read_text(encoding="utf-8") != text]


def main(arguments: list[str] | None = None) -> int:
    """Write the page, or check it; 1 if it is not current."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing, say what is not "
                                                             "current")
    options = parser.parse_args(arguments)
    files = made()
    old = stale(files)
    if options.check:
        for path in old:
            print(f"{path.relative_to(ROOT)} is not current: run python benchmarks/page.py")
        return 1 if old else 0
    for path in old:
        path.write_text(files[path], encoding="utf-8")
        print(f"wrote {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
