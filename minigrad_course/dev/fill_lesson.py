"""Fill a lesson's blocks with the package's code, the pictures, and what the code prints."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap

from ..content.lesson_blocks import Block, fill_rests, in_repository, picture_file
from ..content.source import module
from ..content.stages import CourseError, Stage

__all__ = ["draw", "fill", "fill_pictures"]


def fill(blocks: list[Block], stage: Stage) -> None:
    """Put the package's code into pulls, and printed text into outputs."""
    pulled: set[str] = set()
    for block in blocks:
        if block.kind in ("pull", "show"):
            path, _, symbol = block.detail.partition(":")
            if block.kind == "pull" and path not in stage.modules:
                raise CourseError(f"{stage.key}: {path} is not a module of this stage")
            if block.detail in pulled:
                raise CourseError(f"{stage.key}: {block.detail} is pulled twice")
            pulled.add(block.detail)
            source = module(stage.package, path)
            block.text = source.cut(source.find(symbol))
    rests = [block.detail for block in blocks if block.kind == "rest"]
    if sorted(rests) != sorted(stage.modules):
        raise CourseError(f"{stage.key}: the lesson needs exactly one rest for each of "
                          f"{stage.modules}, but has {rests}")
    fill_rests(blocks, stage, in_repository)
    fill_pictures(blocks, stage)
    run(blocks, stage)


def fill_pictures(blocks: list[Block], stage: Stage) -> None:
    """Draw the pictures, and write each with its text and caption; `result` gets the SVG."""
    wanted = [block for block in blocks if block.kind == "picture"]
    drawn = draw(stage, [block.detail for block in wanted])
    for block in wanted:
        block.result = drawn[block.detail]
        alt = re.sub(r"([\[\]])", r"\\\1", block.result["alt"])
        block.text = (f"![{alt}](pictures/{picture_file(stage, block.detail).name})\n\n"
                      f"*{block.result['caption']}*")


def draw(stage: Stage, names: list[str]) -> dict[str, dict[str, str]]:
    """Run functions of a stage's pictures in a separate process.

    Returns for each the SVG, the alternative text and the caption.
    """
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise CourseError(f"{stage.key}: the picture {repeated[0]} is drawn twice")
    if not names:
        return {}
    done = subprocess.run([sys.executable, "-m", "minigrad_course.dev.draw", str(stage.pictures),
                           stage.number, *names], text=True, capture_output=True, check=False,
                          env=_environment(stage), cwd=stage.root, timeout=900)
    if done.returncode:
        raise CourseError(f"{stage.key}: drawing a picture failed:\n{done.stderr}")
    drawn: dict[str, dict[str, str]] = json.loads(done.stdout)
    return drawn


def _environment(stage: Stage) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(stage.root), "PYTHONHASHSEED": "0",
            "NO_COLOR": "1", "COLUMNS": "100", "OMP_NUM_THREADS": "1"}


def run(blocks: list[Block], stage: Stage) -> None:
    """Run the blocks in one namespace of a fresh process, and store their results.

    Raises CourseError if a block raises unexpectedly, or does not raise as expected.
    """
    running = [block for block in blocks if block.runs]
    done = subprocess.run([sys.executable, "-m", "minigrad_course.child_process.code_blocks"],
                          input=json.dumps([block.text for block in running]), text=True,
                          capture_output=True, env=_environment(stage), cwd=stage.root, check=False,
                          timeout=900)
    if done.returncode:
        raise CourseError(f"{stage.key}: the lesson's code ended the process:\n{done.stderr}")
    for block, result in zip(running, json.loads(done.stdout), strict=True):
        raised = result["error"].partition(":")[0]
        if raised != (block.detail if block.kind == "raises" else ""):
            wanted = f"raise {block.detail}" if block.kind == "raises" else "not raise"
            raise CourseError(f"{stage.key}: this block should {wanted}, but gave "
                              f"{result['traceback'] or 'no error'}\n"
                              f"{textwrap.indent(block.text, '    ')}")
        block.result = result
        given = result["printed"] + result["value"] + result["error"]
        block.printed = given.rstrip("\n") or None
