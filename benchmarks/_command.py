"""What the commands of all benchmarks share: their options, and how a report begins and ends."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import _harness as harness
from _harness import Unavailable

VERDICTS = {True: "met", False: "MISSED", None: "not measured"}
NOT_FOR_QUOTING = "A quick run shows that everything works; its figures are not for quoting."


def parser(description: str | None, engines: Iterable[str]) -> argparse.ArgumentParser:
    """The options that every benchmark has; `description` is the docstring of the script."""
    made = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    made.add_argument("--json", type=Path, metavar="PATH", help="write every round here")
    made.add_argument("--quick", action="store_true", help="a small run, to see that it works")
    made.add_argument("--engines", default=",".join(engines), help="comma-separated: %(default)s")
    made.add_argument("--worker", help=argparse.SUPPRESS)
    return made


def chosen(made: argparse.ArgumentParser, given: str, known: Iterable[str],
           what: str = "engine") -> list[str]:
    """The names in a comma-separated list, each once; ends the program at an unknown one."""
    names = list(dict.fromkeys(given.split(",")))
    for name in names:
        if name not in known:
            made.error(f"unknown {what} {name!r}; choose from {', '.join(known)}")
    return names


def start(script: str, keys: Iterable[str], hello: Mapping[str, Any], engines: dict[str, Any],
          stack: ExitStack, threads: int = 1,
          without: Callable[[str], Sequence[str]] = lambda key: ()) -> dict[str, harness.Worker]:
    """Start a worker for each engine that answers `hello`; what each one said goes to `engines`.

    `without(key)` names the environment variables that the worker is not to see.
    """
    workers = {}
    for key in keys:
        worker = stack.enter_context(
            harness.Worker(script, key, threads=threads, without=without(key)))
        try:
            engines[key] = {"status": "measured", **worker.ask({"task": "hello", **hello})}
            workers[key] = worker
        except Unavailable as reason:
            absent = str(reason).startswith("not installed")
            engines[key] = {"status": "not installed" if absent else "failed",
                            "reason": str(reason)}
    return workers


def ask_each(workers: Mapping[str, harness.Worker], request: Mapping[str, Any],
             not_available: dict[str, str]) -> dict[str, Any]:
    """One round: the engines in turn; one that cannot do it says why and is not asked again."""
    answers = {}
    for key, worker in workers.items():
        if key in not_available:
            continue
        try:
            answers[key] = worker.ask(request)
        except Unavailable as reason:
            not_available[key] = str(reason)
    return answers


def headline(report: Mapping[str, Any]) -> str:
    """When and where: a report's first line."""
    machine = report["machine"]
    return (f"{report['date']}  {machine['cpu']}, {machine['cores']} cores, {machine['python']}, "
            f"load {machine['load_average'][0]} to {machine['load_average_at_end'][0]}")


def cell(figure: Mapping[str, Any], digits: str = ".3f") -> str:
    """'1.234 (0.56)', a median and its ratio, or 'n/a'."""
    if figure["median"] is None:
        return "n/a"
    ratio = "n/a" if figure["ratio"] is None else f"{figure['ratio']:.2f}"
    return f"{figure['median']:{digits}} ({ratio})"


def verdict(name: str, limit: float, measured: float | None, relation: str = "<=",
            **more: Any) -> dict[str, Any]:
    """One target, what was measured (None: it was not) and whether that meets it."""
    met = None
    if measured is not None:
        met = measured <= limit if relation == "<=" else measured >= limit
    return {"name": name, "relation": relation, "limit": limit, "measured": measured, **more,
            "met": met}


def verdicts(targets: Iterable[Mapping[str, Any]], more: Mapping[str, str] | None = None,
             digits: str = ".3g") -> str:
    """All targets as a table; `more` names further figures of a target and their titles."""
    figures = {"measured": "measured", **(more or {})}
    rows = [["minigrad's targets", "target", *figures.values(), ""]]
    for each in targets:
        values = ["n/a" if each[name] is None else f"{each[name]:{digits}}" for name in figures]
        rows.append([each["name"], f"{each['relation']} {each['limit']:g}", *values,
                     VERDICTS[each["met"]]])
    return harness.table(rows)


def text(report: Mapping[str, Any], parts: Sequence[str]) -> str:
    """A report as plain text: its headline, its parts, and a warning where the run was quick."""
    closing = [NOT_FOR_QUOTING] if report["settings"]["quick"] else []
    return "\n\n".join([headline(report), *parts, *closing])


def run(options: argparse.Namespace, measure: Callable[[argparse.Namespace], dict[str, Any]],
        render: Callable[[dict[str, Any]], str], work: Callable[[str], None] | None = None) -> None:
    """Be a worker, where that is asked for; else measure, print the report and write its JSON."""
    if options.worker and work is not None:
        work(options.worker)
        return
    report = measure(options)
    report["machine"]["load_average_at_end"] = harness.machine()["load_average"]
    harness.progress("")
    print(render(report))
    if options.json:
        harness.write_json(options.json, report)
