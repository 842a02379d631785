"""Which pages and files of the site are made, by their address."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import api_pages
import exercise_pages
import lesson_pages
import op_pages
import other_pages
import source_pages
from course_stages import stages_of

from minigrad_course.content.stages import Stage
from minigrad_course.pictures.drawing import site_style

__all__ = ["ROOT", "SITE", "in_nav", "made_files", "made_pages", "stages_here"]

SITE = Path(__file__).resolve().parent
ROOT = SITE.parent


def stages_here() -> dict[str, Stage]:
    """Return the stages by key."""
    return {stage.key: stage for stage in stages_of(ROOT)}


def made_pages() -> dict[str, Callable[[], str]]:
    """Return the pages that are made: address in the site to the function that makes the text."""
    found: dict[str, Callable[[], str]] = {
        "lessons/index.md": partial(lesson_pages.lessons_index, ROOT),
        "exercises/index.md": partial(exercise_pages.exercises_index, ROOT),
        "api/index.md": api_pages.index_page,
        "ops/index.md": op_pages.index_page,
        "changelog.md": partial(other_pages.changelog, ROOT),
        "contributing.md": partial(other_pages.contributing, ROOT),
        "licences.md": partial(other_pages.licences, ROOT),
    }
    for key, stage in stages_here().items():
        found[f"lessons/{key}.md"] = partial(lesson_pages.lesson_page, stage)
        if stage.holes:
            found[f"exercises/{key}.md"] = partial(exercise_pages.exercise_page, stage)
    for name in api_pages.MODULES:
        found[f"api/{api_pages.page_of(name)}"] = partial(api_pages.api_page, name)
        for address, _ in api_pages.family_pages(name):
            found[f"api/{address}"] = partial(api_pages.family_page, name, address)
    for name, ops in op_pages.pages().items():
        found[f"ops/{op_pages.page_name(name)}.md"] = partial(op_pages.op_page, name, ops)
    for name, (path, links) in source_pages.source_pages().items():
        found[f"source/{name}.md"] = partial(source_pages.source_page, path, links)
    return found


def made_files() -> dict[str, Callable[[], str]]:
    """Return what else is made: address in the site to the function that makes the text."""
    found: dict[str, Callable[[], str]] = {"pictures.css": site_style,
                                           "runtime/holes.json": _holes}
    for key, stage in stages_here().items():
        notebook = ROOT / "notebooks" / f"{key}.ipynb"
        found[f"notebooks/{key}.ipynb"] = partial(notebook.read_text, encoding="utf-8")
        for name, picture in lesson_pages.graphs_of(stage).items():
            found[f"lessons/{name}"] = partial(str, picture)
        if stage.holes:
            found[f"runtime/stages/{key}.json"] = partial(_stage_file, stage)
    return found


def _holes() -> str:
    """What progress is of: each stage with its exercises."""
    return json.dumps({"stages": [
        {"key": key, "title": stage.words["title"], "holes": [
            {"id": hole.id, "title": stage.words["hole"][hole.id]["title"]}
            for hole in stage.holes]}
        for key, stage in stages_here().items() if stage.holes]}, ensure_ascii=False)


def _stage_file(stage: Stage) -> str:
    return json.dumps(exercise_pages.stage_file(stage), ensure_ascii=False)


def in_nav() -> dict[str, list[dict[str, Any]]]:
    """Return what stands in the navigation for the sections that `mkdocs.yml` calls made/..."""
    titles = {stage: f"{stage.number} {stage.words['title']}" for stage in stages_here().values()}
    return {
        "made/lessons": [{"All lessons": "lessons/index.md"}] + [
            {title: f"lessons/{stage.key}.md"} for stage, title in titles.items()],
        "made/exercises": [{"All exercises": "exercises/index.md"}] + [
            {title: f"exercises/{stage.key}.md"} for stage, title in titles.items() if stage.holes],
        "made/ops": [{"All operations": "ops/index.md"}, *_ops_nav()],
        "made/api": [{"All modules": "api/index.md"}] + [
            {api_pages.TITLES.get(name, module): _api_nav(name)}
            for name, module in api_pages.MODULES.items()],
    }


def _ops_nav() -> list[dict[str, list[dict[str, str]]]]:
    """Return the operations' pages by family, each once."""
    left = set(op_pages.pages())
    found = []
    for family, ops in op_pages.families().items():
        names = [name for name in dict.fromkeys(op.name for op in ops) if name in left]
        left -= set(names)
        if names:
            found.append({family.removeprefix("ops."): [
                {name: f"ops/{op_pages.page_name(name)}.md"} for name in names]})
    return found


def _api_nav(name: str) -> str | list[str | dict[str, str]]:
    families = api_pages.family_pages(name)
    page = f"api/{api_pages.page_of(name)}"
    return [page, *({title: f"api/{address}"} for address, title in families)] if families else page
