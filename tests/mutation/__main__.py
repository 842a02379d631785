"""`python -m tests.mutation`: how many small wrong changes do the engine's tests notice?"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import shutil
import sys
import tempfile
import time
import tomllib
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]
MODULES = "graph op engine autograd"
ALIVE = ("survived", "not covered")
OPEN = (*ALIVE, "not applied")
#: The tests of the engine: quick, and with its parts for their subject.
TESTS = """autograd/graph graph/nodes graph/saved_tensors engine/backward_and_grad graph/hooks
autograd/function autograd/function_outputs autograd/functional autograd/gradcheck autograd/anomaly
autograd/forward_ad autograd/grad_mode engine/grad_ownership batching/batching codegen/planned_pass
engine/reentrant engine/interrupted_passes engine/threads autograd/profiler utils/checkpoint
tensor/views_inplace ops/user_errors func/func op/inplace op/interrupted_writes
engine/error_messages engine/passes engine/engine_calls autograd/gradcheck_modes
autograd/profiler_output autograd/functional_graphs autograd/tangents autograd/function_rules
autograd/leaf_memory autograd/signatures_and_reprs op/declaration ops/registry
tensor/repr course/roster"""

STAGES = """01_function 02_graph 03_engine 03b_backward 05_hooks 06_saved 07_grad_mode 08_functional
08b_forward_mode 09_gradcheck 10_anomaly 11_profiler"""


def main() -> None:
    options = read_options()
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        root = Path(folder).resolve()
        for part in ("minigrad", "minigrad_course", "tests", "lessons", "site",
                     "pyproject.toml"):
            place = REPOSITORY / part
            if place.is_dir():
                shutil.copytree(place, root / part, ignore=shutil.ignore_patterns(
                    "__pycache__", "node_modules"))
            else:
                shutil.copy(place, root / part)
        os.chdir(root)
        os.environ.update(PYTHONPATH=str(root), OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1",
                          PYTHONDONTWRITEBYTECODE="1")
        sys.path[:0] = [str(root)]
        run(root, options)


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="mutation", description=__doc__)
    parser.add_argument("--modules", default=MODULES, help="files and folders of minigrad/")
    parser.add_argument("--sample", type=int, default=0, help="so many mutants; 0: all")
    parser.add_argument("--seed", type=int, default=0, help="of the sample and the order")
    parser.add_argument("--minutes", type=float, default=0, help="stop after so long; 0: never")
    parser.add_argument("--seconds", type=float, default=0.7, help="of tests, in the first pass")
    parser.add_argument("--most", type=float, default=4, help="of tests, for its survivors")
    parser.add_argument("--longest", type=float, default=1, help="test, in seconds")
    parser.add_argument("--again", type=Path,
                        help="a result: try its survivors again; what was killed stands")
    parser.add_argument("--known", type=Path,
                        help="where to keep what the unchanged tests did, for the next run")
    parser.add_argument("--tests", help="files, in place of the engine's")
    parser.add_argument("--result", type=Path, default=Path("build/mutation.json"))
    options = parser.parse_args()
    options.result = options.result.resolve()
    for name in "again", "known":
        if place := getattr(options, name):
            setattr(options, name, place.resolve())
    return options


def run(root: Path, options: argparse.Namespace) -> None:
    import pytest

    from .mutants import modules, mutants
    from .runner import Runner, path_of

    files = list(modules(root, options.modules.split()))
    todo = [mutant for path in files for mutant in mutants(root, path)]
    made = len(todo)
    random.Random(options.seed).shuffle(todo)  # so that what was run of them is a sample
    fates: Counter[tuple[str, str]] = Counter()
    before = 0.0
    if options.again:
        result = json.loads(options.again.read_text(encoding="utf-8"))
        todo = again(todo, result["survivors"])
        before, made = result["minutes"], result["mutants_made"]
        for path, counts in result["by_module"].items():
            fates.update({(path, fate): n for fate, n in counts.items() if fate not in OPEN})
    elif options.sample:
        todo = todo[:options.sample]
    todo = [mutant for mutant in todo if mutant.compiles()]
    begin, done = time.monotonic(), 0
    alive: list[dict[str, Any]] = []

    def note(mutant: Any, fate: str, detail: Any) -> bool:
        fates[mutant.path, fate] += 1
        if fate in OPEN:
            alive.append({"path": mutant.path, "function": mutant.function, "line": mutant.line,
                          "before": mutant.before, "after": mutant.after, "fate": fate,
                          "tests": detail})
        nonlocal done
        done += 1
        minutes = (time.monotonic() - begin) / 60
        if done % 20 == 0 or done == len(todo):
            print(f"{done} of {len(todo)}, {len(alive)} alive, {minutes:.1f} min", flush=True)
            write(options, made, fates, alive, runner.doubted, before + minutes)
        return not options.minutes or minutes < options.minutes

    runner = Runner(root, files, todo, options.seconds, options.most, options.longest,
                    options.known, note)
    runner.coverage.start()
    tests = (options.tests.split() if options.tests else
             [path_of(name) for name in TESTS.split()]
             + ["tests/conformance", "tests/gpu/test_cuda_fake.py"]
             + [path_of(f"stages/{stage}") for stage in STAGES.split()])
    status = pytest.main(["-q", "-s", "-p", "no:cacheprovider", "-p", "no:xdist", *tests],
                         plugins=[runner])
    if done < 1 or status not in (0, 5):
        raise SystemExit(f"mutation: the tests could not be collected (status {int(status)})")
    write(options, made, fates, alive, runner.doubted, before + (time.monotonic() - begin) / 60)
    print(summary(fates))
    if done and all(fate == "not applied" for _, fate in fates):
        raise SystemExit("mutation: no change could be made, so these figures say nothing")


def write(options: argparse.Namespace, made: int, fates: Counter[tuple[str, str]],
          alive: list[dict[str, Any]], doubted: list[dict[str, str]], minutes: float) -> None:
    import numpy

    reasons = {key(row): row["reason"] for row in tomllib.loads(
        (Path(__file__).parent / "survivors.toml").read_text(encoding="utf-8"))["survivor"]}
    for row in alive:
        row["reason"] = reasons.get(key(row), "")
    explained = sum(bool(row["reason"]) for row in alive if row["fate"] in ALIVE)
    total: Counter[str] = Counter()
    for (_, fate), count in fates.items():
        total[fate] += count
    left = sum(total[fate] for fate in ALIVE)
    judged = total.total() - total["not applied"]
    options.result.parent.mkdir(parents=True, exist_ok=True)
    options.result.write_text(json.dumps({
        "date": date.today().isoformat(), "python": platform.python_version(),
        "numpy": numpy.__version__, "modules": options.modules, "seed": options.seed,
        "mutants_made": made, "mutants_run": total.total(), "minutes": round(minutes, 1),
        "fates": dict(total), "killed": round(1 - left / max(judged, 1), 4),
        "killed_by_a_failing_test": round(1 - (left + total["timeout"]) / max(judged, 1), 4),
        "equivalent": explained,
        "killed_without_equivalent": round(
            1 - (left - explained) / max(judged - explained, 1), 4),
        "by_module": {path: {fate: fates[path, fate] for fate in total if fates[path, fate]}
                      for path in sorted({path for path, _ in fates})},
        "failures_that_did_not_count": doubted,
        "survivors": sorted(alive, key=lambda row: (row["path"], row["line"], row["after"])),
    }, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def key(row: dict[str, Any]) -> tuple[str, str, str, str]:
    """What names a mutant in results and in the list of survivors."""
    return row["path"], row["function"], row["before"], row["after"]


def again(todo: list[Any], survivors: list[dict[str, Any]]) -> list[Any]:
    """Return the mutants that survived, of several alike those on the same line as then."""
    lines = {key(row): {other["line"] for other in survivors if key(other) == key(row)}
             for row in survivors}
    here = {mutant.key for mutant in todo if mutant.line in lines.get(mutant.key, ())}
    return [mutant for mutant in todo if mutant.key in lines
            and (mutant.line in lines[mutant.key] or mutant.key not in here)]


def summary(fates: Counter[tuple[str, str]]) -> str:
    lines = [f"{'module':40} mutants  alive  killed"]
    for path in [*sorted({path for path, _ in fates}), ""]:
        counts = {fate: n for (one, fate), n in fates.items() if not path or one == path}
        if not path:
            counts = Counter(f for (_, f), n in fates.items() for _ in range(n))
        count = sum(n for fate, n in counts.items() if fate != "not applied")
        left = sum(counts.get(fate, 0) for fate in ALIVE)
        lines.append(f"{path or 'all':40} {count:7} {left:6}  {1 - left / max(count, 1):6.1%}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
