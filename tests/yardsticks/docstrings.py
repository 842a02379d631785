"""Runs the examples in PyTorch's docstrings on PyTorch and on minigrad, and compares them.

    python -m tests.yardsticks.docstrings                 the figures
    python -m tests.yardsticks.docstrings --notes topk    the differences, for some names
    python -m tests.yardsticks.docstrings --write         write known_docstrings.json

The examples of each docstring in the installed wheel are joined into one program, which starts with
a seed.  A program counts if PyTorch runs all of it.  The output and the warnings of each statement
are compared with today's PyTorch, not with the output printed in the docstring.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import contextlib
import importlib
import io
import json
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
KNOWN = Path(__file__).with_name("known_docstrings.json")

#: The modules and classes whose public names have examples.
HOMES = ("torch", "torch.Tensor", "torch.nn", "torch.nn.functional", "torch.nn.init",
         "torch.nn.utils", "torch.nn.utils.parametrizations", "torch.optim",
         "torch.optim.lr_scheduler", "torch.autograd", "torch.autograd.functional",
         "torch.autograd.graph", "torch.autograd.forward_ad", "torch.func", "torch.linalg",
         "torch.special", "torch.distributions", "torch.utils.data", "torch.utils.checkpoint",
         "torch.nn.parameter", "torch.random", "torch.signal.windows")
SECONDS = 5
#: Examples whose output varies, because it shows rounding errors or uninitialised memory.
VARYING = ("torch.conv_transpose3d", "torch.nn.utils.parametrizations.orthogonal", "torch.empty",
           "torch.nn.utils.skip_init", "torch.distributions.Wishart")
#: The start of every program: docstrings use these names without importing them.
BEGIN = """
import io, math, os, numpy, warnings
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import autograd, distributions, linalg, optim, special, tensor
torch.manual_seed(0)
"""

Program = list[str]


def collect() -> dict[str, Program]:
    """Return the statements of the examples of each public name of PyTorch, by its full name."""
    programs: dict[str, Program] = {}
    seen: set[str] = set()
    for home in HOMES:
        place = located(home)
        for name in sorted(vars(place) if isinstance(place, type) else
                           getattr(place, "__all__", dir(place))):
            found = getattr(place, name, None)
            text = getattr(found, "__doc__", None)
            if name.startswith("_") or isinstance(found, ModuleType) or f"{home}.{name}" in VARYING:
                continue
            if not isinstance(text, str) or ">>>" not in text or text in seen:
                continue
            seen.add(text)
            programs[f"{home}.{name}"] = statements(text)
    return programs


def statements(text: str) -> list[str]:
    """Return the statements of the examples in a docstring.

    Some docstrings begin each line of a statement with the first prompt, so the lines are parsed
    together; if that fails, each first prompt begins a statement.

    >>> statements(">>> if a:\\n>>>     a\\n1\\n>>> b")
    ['if a:\\n    a\\n', 'b\\n']
    """
    lines = re.findall(r"^[ ]*(>>>|\.\.\.)(?: |$)(.*)", text, flags=re.M)
    code = "\n".join(line for _, line in lines) + "\n"
    try:
        body = ast.parse(code).body
    except SyntaxError:
        begun: list[str] = []
        for prompt, line in lines:
            if prompt == ">>>" or not begun:
                begun.append("")
            begun[-1] += line + "\n"
        return begun
    starts = [min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
              for node in body]
    rows = code.splitlines(keepends=True)
    return ["".join(rows[start - 1:node.end_lineno])
            for start, node in zip(starts, body, strict=True)]


def located(home: str) -> Any:
    """Return a module, or the class `Tensor`."""
    if home == "torch.Tensor":
        return importlib.import_module("torch").Tensor
    return importlib.import_module(home)


class TooLong(Exception):
    """A program that takes longer than `SECONDS`."""


def out_of_time(number: int, frame: Any) -> None:
    """Raise in a program that runs too long."""
    raise TooLong


def shown(home: str, program: Program) -> list[str]:
    """Return the output of each statement; "!" and the error ends that of one that raises."""
    place = located(home)
    names = {name: getattr(place, name) for name in dir(place) if isinstance(place, ModuleType)
             and not name.startswith("_") and name not in vars(builtins)}
    exec(BEGIN, names)
    answers: list[str] = []
    signal.signal(signal.SIGALRM, out_of_time)
    signal.alarm(SECONDS)
    try:
        for statement in program:
            out = io.StringIO()
            with contextlib.redirect_stdout(out), warnings.catch_warnings(record=True) as found:
                warnings.simplefilter("always")
                error = ended_by(statement, names)
            texts = [out.getvalue(), *(f"warns: {each.message}" for each in found
                                       if "`torch.jit.script` is deprecated" not in str(each))]
            answers.append(normal("\n".join(texts)))
            if error is not None:
                answers[-1] = f"!{error}"
                break
    finally:
        signal.alarm(0)
    return answers


def ended_by(statement: str, names: dict[str, Any]) -> str | None:
    """Run a statement as the prompt does; return the error that it raises."""
    try:
        exec(compile(statement, "<example>", "single"), names)
    except BaseException as error:
        return f"{type(error).__name__}: {normal(str(error))}"
    return None


def normal(text: str) -> str:
    """Return a text without addresses, places in PyTorch's source and the numbers of nodes.

    >>> normal("<f at 0x7f31>, grad_fn=<MulBackward0>")
    '<f at 0x>, grad_fn=<MulBackward>'
    """
    text = re.sub(r"0x[0-9a-f]+", "0x", text)
    text = re.sub(r"(Backward)\d+\b", r"\1", text).replace("minigrad.", "torch.")
    text = text.replace("torch._C.Generator", "torch.Generator")
    text = re.sub(r"\(Triggered internally at [^)]*\)", "", text)
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def is_error(answer: str) -> bool:
    """Return whether a program ended with this answer."""
    return answer.startswith("!")


def worker(engine: str) -> None:
    """Read programs from the standard input, run them, and write their output as lines of JSON."""
    out = sys.stdout
    if engine == "minigrad":
        import minigrad

        minigrad.as_torch()
    for home in HOMES:
        located(home)
    programs = json.load(sys.stdin)
    os.chdir(tempfile.mkdtemp())
    for name, program in programs.items():
        if (child := os.fork()) == 0:  # so that programs don't affect each other
            print(json.dumps([name, shown(name.rpartition(".")[0], program)]), file=out, flush=True)
            os._exit(0)
        end = time.monotonic() + 2 * SECONDS
        while os.waitpid(child, os.WNOHANG) == (0, 0):
            if time.monotonic() > end:  # it waits for a thread that a fork does not have
                os.kill(child, signal.SIGKILL)
            time.sleep(0.003)


def on(engine: str, programs: dict[str, Program]) -> dict[str, list[str]]:
    """Return the output of each program on an engine; "!Ended" for one that ends its process."""
    answers = {name: ["!Ended: the process"] for name in programs}
    done = subprocess.run(
        [sys.executable, "-m", "tests.yardsticks.docstrings", "--worker", engine], cwd=ROOT,
        input=json.dumps(programs), text=True, capture_output=True, check=True)
    for line in done.stdout.splitlines():
        if line.startswith('["torch.'):
            name, shows = json.loads(line)
            answers[name] = shows
    return answers


def measure(programs: dict[str, Program]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return the output on both engines of the programs that PyTorch runs to their end."""
    theirs = {name: answers for name, answers in on("torch", programs).items()
              if not any(map(is_error, answers))}
    return theirs, on("minigrad", {name: programs[name] for name in theirs})


def alike(one: str, other: str) -> bool:
    """Return whether two texts are the same up to spaces and the rounding of numbers.

    >>> alike("tensor([1.0000, 2.])", "tensor([1.0001,  2.])"), alike("[1]", "[2]")
    (True, False)
    """
    number = r"-?\d+(?:\.\d*)?(?:e[+-]?\d+)?"
    words = [re.sub(r"\s+", "", re.sub(number, "#", text)) for text in (one, other)]
    numbers = [list(map(float, re.findall(number, text))) for text in (one, other)]
    return words[0] == words[1] and all(
        math.isclose(a, b, rel_tol=1e-3, abs_tol=1e-5) for a, b in zip(*numbers, strict=True))


def verdict(theirs: list[str], ours: list[str]) -> str:
    """Return "" if all answers are alike, or else how a program differs."""
    if any(map(is_error, ours)):
        return "ends early"
    return "" if all(map(alike, theirs, ours)) else "shows something else"


def main() -> None:
    """Run the programs, and print the figures."""
    parser = argparse.ArgumentParser(prog="python -m tests.yardsticks.docstrings")
    parser.add_argument("names", nargs="*", help="parts of names; all by default")
    parser.add_argument("--notes", action="store_true", help="show the differences")
    parser.add_argument("--write", action="store_true", help=f"write {KNOWN.name}")
    parser.add_argument("--worker", choices=("torch", "minigrad"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        worker(options.worker)
        return
    programs = {name: program for name, program in collect().items()
                if not options.names or any(part in name for part in options.names)}
    theirs, ours = measure(programs)
    verdicts = {name: verdict(theirs[name], ours[name]) for name in theirs}
    ran = sum(each != "ends early" for each in verdicts.values())
    print(f"{len(programs)} docstrings with examples; PyTorch runs {len(theirs)}, minigrad "
          f"{ran} of these; {sum(not each for each in verdicts.values())} show the same")
    if options.notes:
        notes(programs, theirs, ours, verdicts)
    if options.write:
        table = {name: each for name, each in sorted(verdicts.items()) if each}
        KNOWN.write_text(json.dumps(table, indent=1) + "\n", "utf-8")


def notes(programs: dict[str, Program], theirs: dict[str, list[str]], ours: dict[str, list[str]],
          verdicts: dict[str, str]) -> None:
    """Print the first statement of each program whose output differs."""
    for name, wrong in verdicts.items():
        if not wrong:
            continue
        at = next((i for i, (a, b) in enumerate(zip(theirs[name], ours[name], strict=False))
                   if not alike(a, b)), 0)
        print(f"\n{name} {wrong}: {programs[name][at].strip()}")
        print(f"  PyTorch:  {theirs[name][at]}\n  minigrad: {ours[name][at]}")


if __name__ == "__main__":
    main()
