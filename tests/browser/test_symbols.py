"""The page finds the functions that are to be written in a file's text, as Python does."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from minigrad_course.content.source import Module
from minigrad_course.content.stages import stages

SYMBOLS = Path(__file__).resolve().parents[2] / "site" / "runtime" / "static" / "symbols.js"
PROGRAM = """
const { located } = await import(process.argv[1]);
const asked = JSON.parse(await new Response(process.stdin).text());
console.log(JSON.stringify(asked.map(([text, name]) => located(text, name))));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
@pytest.mark.slow
def test_every_function_to_write_is_found_in_exercise_and_solution():
    asked, wanted = [], []
    for stage in stages():
        for symbol in (symbol for hole in stage.holes for symbol in hole.symbols):
            path, _, name = symbol.partition(":")
            for file in (stage.exercise(path), stage.solution(path)):
                source = Module.read(file, path)
                function = source.function(name)
                first = min([function.lineno, *(d.lineno for d in function.decorator_list)])
                asked.append([source.text, name])
                wanted.append([first, function.end_lineno])
    done = subprocess.run(["node", "--no-warnings", "--input-type=module", "-e", PROGRAM,
                           SYMBOLS.as_uri()], input=json.dumps(asked), text=True,
                          capture_output=True, check=True)
    found = json.loads(done.stdout)
    assert len(found) > 200
    for (_, name), lines, here in zip(asked, wanted, found):
        assert here == lines, name
