"""Runs a program on the reader's own engine: what is solved stands in for the package's modules."""

from __future__ import annotations

import importlib
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from blocks import Blocks, Told
from worlds import World, take_out

ROOT = Path(__file__).parent


class OwnEngine:
    """The reader's engine, made anew when the reader's files change.

    As `minigrad run --mine` does it: the stages that are solved, and the solved exercises of the
    one that is read.
    """

    def __init__(self) -> None:
        self._made_of = ""
        self._folder = Path(tempfile.mkdtemp()).resolve()
        self._begin("")

    def _begin(self, made_of: str) -> None:
        self._made_of, self._world = made_of, World()
        self._finder: Any = None
        self._blocks: Blocks | None = None

    def execute(self, source: str, name: str, told: Told, own: str) -> str:
        """Run a program and return what `Blocks.execute` does.

        `own` is JSON: the stage that is read, the facts about holes as in progress.json, and the
        files that the reader changed, by stage and path.
        """
        if own != self._made_of:
            self._begin(own)
        with self._world.entered():
            os.environ["MINIGRAD_GENERIC"] = "1"
            sys.dont_write_bytecode = True
            try:
                if self._finder is None:
                    self._finder = self._swapped(json.loads(own))
                    take_out()  # the course imports the package, which is not the reader's
                sys.meta_path.insert(0, self._finder)
                if self._blocks is None:
                    importlib.import_module("minigrad")
                    self._blocks = Blocks(afresh=False)
            except BaseException as problem:
                self._made_of = ""  # the next run tries again
                return json.dumps({
                    "value": "", "svg": "", "html": "", "traceback": "",
                    "error": "Your files cannot stand in for the package's: "
                             f"{type(problem).__name__}: {self._clean(str(problem))}"})
            given = json.loads(self._blocks.execute(source, name, told))
        given["traceback"] = self._clean(given["traceback"])
        given["error"] = self._clean(given["error"])
        return json.dumps(given)

    def _swapped(self, own: dict[str, Any]) -> Any:
        """Return the finder that answers for the package's modules with the reader's."""
        stages, swap, trial, workspace, engine = (
            importlib.import_module(f"minigrad_course.{name}")
            for name in ("content.stages", "child_process.swap", "running.trial",
                         "learner.workspace", "learner.own_engine"))
        space = workspace.Workspace(self._folder)
        for stage in stages.stages(ROOT):
            theirs = own["files"].get(stage.key, {})
            for path in stage.modules:
                text = theirs.get(path)
                if text is None:
                    text = (stage.package / path).read_text(encoding="utf-8")
                workspace.replace_file(stage.exercise(path, space.exercises), text)
        workspace.replace_file(space.root / "progress.json", json.dumps(
            {"form": workspace.FORM, "minigrad": "", "holes": own["holes"]}))
        files, composed = engine.own_engine(space, stages.find_stage(own["stage"], ROOT))
        return swap.Swapped(
            {trial.module_name(path): str(file.resolve()) for path, file in files.items()},
            trial.as_plan(composed))

    def _clean(self, text: str) -> str:
        """Return text with the reader's files as the page names them."""
        return text.replace(f"{self._folder}/exercises/", "").replace(f"{ROOT}/", "")
