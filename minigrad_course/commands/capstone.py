"""`minigrad capstone`: the tasks at the end of the course."""

from __future__ import annotations

import json
import runpy
import shutil
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from ..capstone.certificate import WANTED, certificate, counted, operations_told, standing
from ..capstone.faults import COMPILER, Fault, candidates, engine_with, fault_with, plant
from ..capstone.results import keep_result, read_results
from ..content.selection import stages_named
from ..content.source import module
from ..content.stages import CourseError, Stage, checkout, find_stage
from ..learner import skipped_stages
from ..learner.workspace import Workspace, find_workspace, replace_file
from ..running.learner_files import combine_files
from ..running.program import run_script
from ..terminal.wrapping import print_wrapped
from .shared import Where, console, in_one_sentence

app = typer.Typer(rich_markup_mode=None)

#: The questions to ask about a fault before answering.
QUESTIONS = 2

#: The task of each part.
ASKED = {"digits": f"your network reads more than {WANTED:.0%} of the held-out digits",
         "spell": "a GPT learns to spell on your engine: half of its words are right",
         "fault": "find one changed line in your engine by bisection",
         "compile": "after stage 15, compile this GPT with your own compiler"}


@app.callback(invoke_without_command=True)
@in_one_sentence
def capstone(context: typer.Context) -> None:
    """Put your engine to work on three tasks, and print a certificate with the results.

    Without a task, shows which tasks are done. Lesson 14 explains them. A fourth task, compile,
    belongs to stage 15 and is optional.

    \b
    Examples:
      minigrad capstone
      minigrad capstone digits
      minigrad capstone spell
      minigrad capstone fault
      minigrad capstone compile
      minigrad capstone certificate
    """
    if context.invoked_subcommand is None:
        space = find_workspace(None)
        for part, is_done, figures in standing(space):
            mark = "[green]done[/]" if is_done else "    "
            print_wrapped(console(), f"{mark} minigrad capstone {part:8} {ASKED[part]}")
            print_wrapped(console(), f"     {figures}")
        print_wrapped(console(), "     minigrad capstone certificate   all results, in a file")


@app.command()
@in_one_sentence
def digits(where: Where = None) -> None:
    """Train the network in your network.py on handwritten digits, with your own engine.

    The first run creates the file. Change the network, EPOCHS and LEARNING_RATE until it reads
    more than 97 % of the held-out digits. Exits with 1 until then. The best result is kept.

    \b
    Example:
      minigrad capstone digits
    """
    space = find_workspace(where)
    file = space.root / "network.py"
    if not file.exists():
        shutil.copyfile(_program("own_network.py"), file)
        print_wrapped(console(), f"created {escape(str(file))}: the network is yours to change")
    facts = _measured(space, "digits.py", ["--network", str(file)])
    best = read_results(space).get("digits")
    if best is None or facts["right"] >= best["right"]:
        keep_result(space, "digits", facts)
    if facts["right"] > WANTED * facts["of"]:
        console().print(f"[green]done[/]: more than {WANTED:.0%} are right")
        return
    print_wrapped(console(), f"not yet: the goal is more than {WANTED:.0%}, at least "
                  f"{int(WANTED * facts['of']) + 1} of {facts['of']}. Change "
                  f"{escape(str(file))} and try again")
    raise typer.Exit(1)


@app.command()
@in_one_sentence
def spell(where: Where = None) -> None:
    """Train a small GPT to spell the words of this course, with your own engine.

    Takes up to three minutes. Exits with 1 if it spells less than half of its words correctly.

    \b
    Example:
      minigrad capstone spell
    """
    space = find_workspace(where)
    facts = _measured(space, "spell.py", [])
    keep_result(space, "spell", facts)
    if facts["spelled"] < 0.5:
        print_wrapped(console(), "not yet: at least half of the words must be right. If one of "
                      "your gradients is wrong, `minigrad python ten_probes.py` shows it")
        raise typer.Exit(1)
    console().print("[green]done[/]: it spells")


@app.command()
@in_one_sentence
def fault(
    mine: Annotated[
        str | None, typer.Option("--mine", metavar="STAGES",
                                 help="Ask a question: run the ten probes with only these stages "
                                      "from the faulty engine, such as 00-05.")
    ] = None,
    stage: Annotated[
        str | None, typer.Option("--stage", metavar="STAGE",
                                 help="Give your answer: the fault is in this stage.")
    ] = None,
    new: Annotated[bool, typer.Option("--new", help="Plant another fault.")] = False,
    where: Where = None,
) -> None:
    """Find a planted fault by bisection: one line of your engine changed; ten programs probe it.

    The fault is in a stage that you have solved. Without an option, the probes run on the whole
    faulty engine. With --mine, only those stages come from it and the package provides the rest,
    so the fault shows only if its stage is among them. After at least two questions, give your
    answer with --stage. The next fault is always a new one.

    \b
    Examples:
      minigrad capstone fault
      minigrad capstone fault --mine 01-05
      minigrad capstone fault --stage 03
      minigrad capstone fault --new
    """
    space = find_workspace(where)
    facts = {"number": 0, "digest": "", "planted": [], "questions": 0, "wrong": 0, "found": [],
             **read_results(space).get("fault", {})}
    if mine is not None and stage is not None:
        raise CourseError("use --mine to ask or --stage to answer, not both")
    if new or not facts["digest"]:
        if stage is not None:
            raise CourseError("no fault is planted yet: plant one with `minigrad capstone fault`")
        _plant(space, facts)
    planted = fault_with(facts["digest"])
    if stage is not None:
        _answer(space, facts, planted, stage)
        return
    chosen = None if mine is None else stages_named(mine)
    facts["questions"] += 1
    keep_result(space, "fault", facts)
    swapped = planted if chosen is None or planted.stage in chosen else None
    own = [each for each in _own(space) if chosen is None or each[0] in chosen]
    files, shared = engine_with(swapped, own)
    run_script(_program("ten_probes.py"), [], files, shared, one_thread=True)
    half = _half(space)
    way = (f"`--mine {half}` tests about half of your stages" if chosen is None and half else
           "`--mine` tests fewer stages")
    print_wrapped(console(), f"question {facts['questions']}. Next: {way}, `--stage NN` answers")


def _half(space: Workspace) -> str:
    """Return the first half of the stages that a fault may be in, as a range; "" for one stage."""
    among = {each.stage.key for each in candidates()}
    numbers = [stage.number for stage, _ in _own(space) if stage.key in among]
    half = numbers[:len(numbers) // 2]
    return "-".join(dict.fromkeys((half[0], half[-1]))) if half else ""


def _plant(space: Workspace, facts: dict[str, Any]) -> None:
    console().print("changing one line in a stage that you have solved ...")
    facts |= {"number": facts["number"] + 1, "questions": 0, "wrong": 0}
    expected = runpy.run_path(str(_program("ten_probes.py")))["EXPECTED"]
    facts["digest"] = plant(facts["number"], _own(space), expected, facts["planted"]).digest
    facts["planted"] = [*facts["planted"], facts["digest"]]
    keep_result(space, "fault", facts)


def _answer(space: Workspace, facts: dict[str, Any], planted: Fault, stage: str) -> None:
    named = stages_named(stage)
    if len(named) > 1:
        raise CourseError("--stage takes one stage, but "
                          + ", ".join(each.number for each in named) + " were named")
    if facts["questions"] < QUESTIONS:
        raise CourseError(f"run the probes at least {QUESTIONS} times before you answer: "
                          f"`minigrad capstone fault --mine {_half(space) or planted.stage.number}`"
                          " shows whether the fault is in these stages")
    if named[0] != planted.stage:
        facts["wrong"] += 1
        keep_result(space, "fault", facts)
        console().print(f"no: stage {named[0].number} is unchanged")
        raise typer.Exit(1)
    found = {key: facts[key] for key in ("number", "questions", "wrong")}
    keep_result(space, "fault", {**facts, "digest": "", "found": [*facts["found"], found]})
    before, after = planted.lines
    title = planted.stage.words["hole"][planted.hole.id]["title"]
    out = console()
    print_wrapped(out, f"[green]yes[/]: {planted.hole.id} {escape(title)}, after "
                  f"{counted(facts['questions'], 'question')}")
    for path in dict.fromkeys(each.partition(":")[0] for each in planted.hole.symbols):
        if before in module(planted.stage.package, path).text:
            out.print(f"  {path}")
    print_wrapped(out, f"  - {escape(before)}\n  + {escape(after)}")
    out.print("Your own files never changed. `minigrad capstone fault` plants another fault.")


@app.command("compile")
@in_one_sentence
def compile_step(where: Where = None) -> None:
    """Compile the GPT of `minigrad capstone spell` with your own compiler, and measure a step.

    Needs stage 15. Eager and compiled training steps run in turn, and have to give the same losses
    and gradients to the last bit. The certificate then shows the bytes that a step keeps between
    the forward and the backward pass, and its time, before and after.

    \b
    Example:
      minigrad capstone compile
    """
    space = find_workspace(where)
    stage = find_stage(COMPILER)
    if stage.number in skipped_stages.skipped(space):
        raise CourseError(f"stage {stage.number} is skipped, so this would run the package's "
                          f"compiler: `minigrad unskip {stage.number}` brings yours back")
    still_open = [hole.id for hole in stage.holes if not space.solved(hole)]
    if still_open:
        raise CourseError(f"this task runs the compiler that you write in stage {stage.number}, "
                          f"where you still have to solve {', '.join(still_open)}: "
                          f"`minigrad run {still_open[0]}` tests the first of them")
    facts = _measured(space, "compile_gpt.py", [])
    keep_result(space, "compile", facts)
    console().print("[green]done[/]: compiled, and the numbers are the same")


@app.command("certificate")
@in_one_sentence
def write_certificate(
    name: Annotated[str, typer.Option("--name", help="Name to print on the certificate.")] = "",
    where: Where = None,
) -> None:
    """Print the certificate, and write it to certificate.txt in your workspace.

    It combines progress.json with the results of the other capstone commands.

    \b
    Examples:
      minigrad capstone certificate
      minigrad capstone certificate --name "Ada Lovelace"
    """
    space = find_workspace(where)
    text = certificate(space, " ".join(name.split())[:60])
    file = space.root / "certificate.txt"
    replace_file(file, text)
    console().print(escape(text), end="", soft_wrap=True)
    print_wrapped(console(), f"written to {escape(str(file))}")


def _own(space: Workspace) -> list[tuple[Stage, dict[str, Path]]]:
    return skipped_stages.own_files(space, skipped_stages.solved_stages(space))


def _program(name: str) -> Path:
    return checkout() / "lessons" / "programs" / name


def _measured(space: Workspace, program: str, arguments: list[str]) -> dict[str, Any]:
    """Run a program on the learner's engine; return its results, and print whose code ran.

    A program that does not count operations leaves them out.
    """
    read_results(space)  # an unreadable file raises here, before the run takes minutes
    files, shared = combine_files(_own(space))
    if not files:
        console().print("no stage is solved yet, so this runs on the package's code only")
    with tempfile.TemporaryDirectory(prefix="minigrad-") as folder:
        result = Path(folder, "result.json")
        status = run_script(_program(program), [*arguments, "--result", str(result)], files, shared,
                            one_thread=True)
        if status or not result.is_file():
            raise typer.Exit(status or 1)
        facts: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))
    if "ran" in facts:
        console().print(operations_told(facts))
    return facts
