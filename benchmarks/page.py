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
import compile as compiling
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
NAMES = ("op_overhead", "functional", "compile", "mlp", "resnet", "sequence", "everyday",
         "trainings", "kernels", "profiler", "memory", "step_memory", "class_of_200",
         "site_visit")

HEAD = """# Figures

How fast is minigrad, and how much memory does it need? This page compares minigrad with PyTorch
and other libraries, and explains why it misses some of its targets.
{headline}

All the libraries in a table were measured together on one machine, taking turns in each round. The
line above each table names the command, the date and the machine. This page is generated from the
committed results with `python benchmarks/page.py`, and `benchmarks/README.md` in the repository
describes the method in detail.

A ratio is a library's time relative to PyTorch time in the same round, so a library with a ratio
of 0.5 is twice as fast as PyTorch, and one with a ratio of 2 is half as fast. The tables show the
median over all rounds. In the plots, the thin line marks PyTorch and the red line marks the target
for minigrad. Bars are cut off at 3.
"""

OVERHEAD = """This benchmark measures the cost of a single operation on eight float32 values. Since
the arithmetic on eight values takes almost no time, nearly all of the cost comes from the
engine. The table shows microseconds per operation, with the ratio to PyTorch in parentheses.
"""
CHAIN = """For the next two tables, we build a chain of a million additions, run the backward pass
and release the graph, while Python's garbage collector runs with its default settings.
"""
FUNCTIONAL = """Here we compute complete derivatives of functions with 100 inputs. Times are in
milliseconds. HIPS autograd doesn't support batched passes, and we measured JAX only with functions
that were compiled and batched, so the remaining cells contain n/a.
"""
COMPILE = """We measured whole training steps, from the call of the loss to the gradients in
`.grad`, with [a compiled function](compile.md) and without. Times are in milliseconds on one
thread.
"""
MLP = """The benchmark measures a training step of a 784-256-128-10 network with ReLU,
cross-entropy loss and plain gradient descent.
"""
RESNET = """We measured two cases. In training mode, a step computes the cross-entropy loss and all
of its gradients, but doesn't run an optimizer. In evaluation mode, it runs only the forward pass
and doesn't record a graph. *NumPy by hand* performs the training step without an engine, and
*matrix products alone* is a lower bound for any program that relies on NumPy's BLAS.
"""
SEQUENCE = """The benchmark measures a training step of a small GPT and of an LSTM, including the
optimizer.
"""
EVERYDAY = """This table covers other things that programs often do, in families of cases. A seed
draws the sizes, dtypes, layouts, and functions or modules of each case, so no case can be tuned to.
We looked for speed with seed {first} only, and drew the cases of seed {last} after the last change.
A family's figures are the geometric mean of its ratios, by seed and over all {count} cases, and its
largest ratio. Ratios compare processor time on one thread.
"""
TRAININGS = """We train three models from fixed seeds, and each of them has to reach a certain
goal. For the GPT, we also train the same model with PyTorch and compare the losses of the first 50
steps.
"""
KERNELS = """The map shows how long single operations take on a million numbers in float32, relative
to PyTorch and on one thread, sorted by the larger ratio. `python benchmarks/kernels.py
--seed 7` draws other sizes, dtypes and memory layouts.
"""
PROFILER = """The table shows how many microseconds it takes to profile one event, with the ratio
to PyTorch's profiler in parentheses.
"""
MEMORY = """The table shows the peak memory of an inference run in MB, not counting the weights and
the images.
"""
STEP_MEMORY = """The table shows by how many MB a process grows at its peak during a step. Before
we start measuring, the process has already loaded the library, the weights and the input, and has
performed one step.
"""
REASONS = """Some of the figures below don't appear in any of the tables above. We measured these
with `python benchmarks/limits.py` on the same machine, on 2026-11-27 and, for everyday work, on
2026-11-29.
"""
CLASS = """To test the grader, this benchmark grades a class of submissions with a single command.
The class contains solutions, other correct answers, partly written answers, known mistakes,
attacks, and files that aren't programs. The benchmark kills the command after a quarter of the
class, starts it again, and compares each verdict with the expected one.
"""
SITE = """This benchmark opens the site in Chromium, on simulated connections that differ in speed
and delay. It measures how long it takes until you see the first text of the home page, until you
can change the figure there, and then, in a lesson, from pressing *Run* to the block's output, for
which the first visit loads Python.
"""
PINNED = """In this environment, OpenBLAS is configured to use the kernels for another processor
({pins}), so NumPy's products are slower than PyTorch's.
*OpenBLAS unpinned* is the same measurement without that setting.
"""
RESTLESS = """For the measurements listed here, other programs disturbed more than half of the
{rounds} rounds, so these figures are only approximate. The number of undisturbed rounds is in
parentheses.

{names}
"""
THREADS = {1: "one thread", 2: "two threads"}
#: What the page calls each training run.
RUNS = {
    "digits": "small ResNet on handwritten digits: share of held-out images it reads correctly",
    "gpt": "GPT on characters: mean loss over the last 20 steps",
    "gpt beside PyTorch": "the same GPT: largest difference from PyTorch's losses over 50 steps",
    "lstm": "LSTM that counts brackets: share of depths it predicts correctly",
}
#: What the page calls each kind of submission.
KINDS = {"the solution": "the solution", "another answer": "another correct answer",
         "partly written": "a partly written answer", "a known mistake": "a known mistake",
         "hostile": "an attack", "no program": "a file that isn't a program"}


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
                f"{title}: time relative to PyTorch", records, titles, engines, limits)


def headline() -> str:
    """Say how long training steps take, compared with PyTorch's."""
    found = []
    for name, what in (("mlp", "a small network"), ("resnet", "ResNet-18"),
                       ("sequence", "a small GPT")):
        case = next(iter(newest(name)["workloads"].values()))
        found.append(f"{case['ms']['minigrad']['ratio']:.2f} for {what} ({case['case']})")
    return ("Relative to PyTorch, the time that minigrad takes for a training step on one thread "
            "is\n"
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
            targets(report)], plot("Small operations: time relative to PyTorch", small,
                                   op_overhead.WORKLOADS, engines, limits)


def of_functional() -> tuple[list[str], str]:
    """The section of whole derivatives, and its plot."""
    report = newest("functional")
    records = {name: each["ms"] for name, each in report["workloads"].items()}
    return ["## Jacobians and Hessians\n", FUNCTIONAL,
            where("functional", report, functional.ENGINES),
            picture("functional", "Jacobians and Hessians: ratios to PyTorch"),
            figures(records, functional.WORKLOADS, functional.ENGINES), targets(report)], plot(
                "Jacobians and Hessians: time relative to PyTorch", records, functional.WORKLOADS,
                functional.ENGINES, functional.TARGETS)


def of_compile() -> tuple[list[str], str]:
    """The section of compiled functions, and its plot."""
    report = newest("compile")
    records = {name: each["ms"] for name, each in report["workloads"].items()}
    rows = [["", "compiled / eager", "first call, ms"]]
    rows += [[title, f"{report['workloads'][name]['compiled_to_eager']:.2f}",
              f"{report['workloads'][name]['first_call_ms']['compiled']:.0f}"]
             for name, title in compiling.WORKLOADS.items()]
    saved = {key: f"{count / 1e6:.1f} MB" for key, count in report["saved_bytes"].items()}
    held = (f"Between its two passes, the GPT saves {saved['eager']} in eager mode. Compiled, it "
            f"saves {saved['budget 1.0']} by default. A smaller memory budget costs time:\n")
    budgets = [["budget", "saved", "time of a step, relative to saving everything"]]
    budgets += [[name.removeprefix("budget "), saved[name], f"{ratio:.2f}"]
                for name, ratio in report["times_by_budget"].items()]
    limits = {name: limit for name, (limit, _) in compiling.TARGETS.items() if limit}
    return ["## Compiled functions\n", COMPILE, where("compile", report, compiling.ENGINES),
            picture("compile", "Compiled functions: ratios to PyTorch"),
            figures(records, compiling.WORKLOADS, compiling.ENGINES), table(rows), held,
            table(budgets), targets(report)], plot(
                "Compiled functions: time relative to PyTorch", records, compiling.WORKLOADS,
                compiling.ENGINES, limits)


def of_everyday() -> tuple[list[str], str]:
    """The section of everyday work, and its plot."""
    report = newest("everyday")
    families, seeds = report["families"], report["settings"]["seeds"]
    rows = [["family", *(f"seed {seed}" for seed in seeds), "mean", "largest", "in"]]
    rows += [[name, *(f"{each['by_seed'][str(seed)]:.2f}" for seed in seeds),
              f"{each['mean']:.2f}", f"{each['worst']:.2f}", each["worst_case"]]
             for name, each in families.items()]
    groups = [(name, [("mean", each["mean"], True), ("largest", each["worst"], True)],
               everyday.FAMILIES[name].mean) for name, each in families.items()]
    text = EVERYDAY.format(first=seeds[0], last=seeds[-1],
                           count=max(len(each["cases"]) for each in families.values()))
    engines = {key: everyday.TITLES[key] for key in report["engines"]}
    return ["## Everyday work\n", text, where("everyday", report, engines),
            picture("everyday", "Everyday work: ratios to PyTorch"), table(rows),
            targets(report)], _plot.bars("Everyday work: time relative to PyTorch", groups)


def of_kernels() -> list[str]:
    """The section of single operations on large arrays."""
    report = newest("kernels")
    rows = [["", "forward", "forward and backward"]]
    rows += [[each["kernel"], *(f"{each[task]['ratio']:.2f}" for task in ("forward", "both"))]
             for each in report["cases"]]
    return ["## A map of operations\n", KERNELS, where("kernels", report), table(rows),
            targets(report)]


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
    return ["## Memory during inference\n", MEMORY, where("memory", report, memory.ENGINES),
            table(rows), targets(report)]


def of_step_memory() -> list[str]:
    """The section of the memory of steps; empty before the first result."""
    if "step_memory" not in measured():
        return []
    report = newest("step_memory")
    return ["## Memory during a step\n", STEP_MEMORY,
            where("step_memory", report, step_memory.ENGINES),
            table(step_memory.rows(report)), targets(report)]


def of_trainings() -> tuple[list[str], str]:
    """The section of the trainings, and the GPT's losses beside PyTorch's."""
    report = newest("trainings")
    rows = [["training run", "goal", "reached", "", "seconds"]]
    rows += [[RUNS[key], f"{each['relation']} {each['aim']:g}", f"{each['measured']:.4g}",
              "met" if each["met"] else "**missed**", f"{each['seconds']:g}"]
             for key, each in report["trainings"].items()]
    beside = report["trainings"]["gpt beside PyTorch"]
    losses = {"minigrad": beside["minigrad"], "PyTorch": beside["pytorch"]}
    title = f"Loss of the GPT, {len(beside['minigrad'])} steps from the same seed"
    return ["## Training runs\n", TRAININGS, where("trainings", report), table(rows),
            picture("trainings", title)], _plot.curves(title, losses)


def of_reasons() -> list[str]:
    """The section that says what limits the targets that are missed."""
    rows = [["target", "reason"]]
    for name in measured():
        for each in newest(name).get("targets", ()):
            if each["met"] is False:
                short = each["name"].removesuffix(" / PyTorch")
                if short not in WHY:
                    raise SystemExit(f"{short!r} is missed: say in benchmarks/reasons.py why")
                rows.append([short.removesuffix(", minigrad"), WHY[short]])
    return ["## Why does minigrad miss some targets?\n", REASONS, table(rows)] if rows[1:] else []


def of_class() -> list[str]:
    """The section of the class that is graded."""
    report = newest("class_of_200")
    rows = [["kind of submission", "graded", "graded correctly"], *(
        [KINDS[kind], str(graded), str(right)]
        for kind, (graded, right) in report["kinds"].items())]
    seconds = report["seconds_before"] + report["seconds_after"]
    return ["## Grading a class\n", CLASS, where("class_of_200", report), table(rows),
            f"Grading {report['count']} submissions for stage {report['stage']} took {seconds:.0f} "
            f"s, or {report['per_minute']:.0f} a minute. The grader processed {report['workers']} "
            f"submissions at a time, each of them in a {report['sandbox']} sandbox.\n"]


def of_site() -> list[str]:
    """The section of a visit to the site."""
    report = newest("site_visit")
    rows = [["connection", "visit", "first text", "figure", "Python", "MB"], *(
        [f"{each['rate']:g} Mbit/s, {each['trip']:g} ms", each["visit"], f"{each['painted']:.1f} s",
         f"{each['figure']:.1f} s", f"{each['python']:.1f} s", f"{each['bytes'] / 1e6:.1f}"]
        for each in report["visits"])]
    machine = report["machine"]
    load = max(machine["load_average"][0], machine["load_average_at_end"][0])
    busy = (f"Other programs kept the machine busy during the measurement (a load of {load:.1f} on "
            f"{machine['cores']} cores), so Python took longer than it would on a quiet machine.\n")
    return ["## A visit to the site\n", SITE, where("site_visit", report), table(rows),
            *([busy] if load > machine["cores"] + 1 else [])]


def made() -> dict[Path, str]:
    """The page and its plots: what each file has to hold."""
    overhead, of_small = of_overhead()
    whole, of_whole = of_functional()
    programs, of_programs = of_compile()
    network, of_network = of_steps("mlp", "A small network", MLP, mlp.BENCHMARK)
    residual, of_residual = of_steps("resnet", "ResNet-18", RESNET, resnet.BENCHMARK)
    sequences, of_sequences = of_steps("sequence", "Sequences", SEQUENCE, sequence.BENCHMARK)
    daily, of_daily = of_everyday()
    trainings, of_losses = of_trainings()
    parts: Iterable[str] = [HEAD.format(headline=headline()), *network, *residual, *sequences,
                            *daily, *trainings, *programs, *overhead, *whole, *of_kernels(),
                            *of_profiler(), *of_memory(), *of_step_memory(), *of_reasons(),
                            *of_class(), *of_site()]
    plots = {"mlp": of_network, "resnet": of_residual, "sequence": of_sequences,
             "everyday": of_daily, "trainings": of_losses, "op_overhead": of_small,
             "functional": of_whole, "compile": of_programs}
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
