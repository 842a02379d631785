"""The triage desk of lesson 14: ten programs, and the functions that its answers name."""

from __future__ import annotations

import re
import warnings

import pytest

import minigrad
from minigrad_course.content.lesson_blocks import parse
from minigrad_course.content.source import module
from minigrad_course.content.stages import find_stage

STAGE = find_stage("14")
SECTION = re.search(r"^## 9\. The triage desk\n(.*?)^## 10\.", STAGE.text(), re.M | re.S)[1]
POSTS = re.split(r"^### ", SECTION, flags=re.MULTILINE)[1:]
TITLES = [post.partition("\n")[0].strip('"') for post in POSTS]
BLOCKS = [next(block for block in parse(post, "lessons/14_capstone.md") if block.runs)
          for post in POSTS]
#: "`rebase_history` in `tensor/views.py`"
NAMED = re.compile(r"`([\w.]+)` in `([\w/]+\.py)`")


def test_there_are_ten_posts_with_a_prediction_each():
    assert len(POSTS) == 10
    assert all(block.predicted and block.printed for block in BLOCKS)


@pytest.mark.parametrize("post", POSTS, ids=TITLES)
def test_each_answer_names_functions_that_exist(post):
    named = NAMED.findall(post)
    assert named, "the answer names no function"
    for symbol, path in named:
        known = [name for name, _ in module(STAGE.package, path).functions()]
        assert any(name == symbol or name.endswith(f".{symbol}") for name in known), path


@pytest.mark.parametrize("block", BLOCKS, ids=TITLES)
@pytest.mark.parametrize("engine", ["minigrad", "torch"])
def test_the_programs_print_what_the_lesson_shows(block, engine, capsys):
    torch = minigrad if engine == "minigrad" else pytest.importorskip(
        "torch", reason="compares with PyTorch")
    raised = ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # reading `.grad` of a non-leaf warns
        try:
            exec(block.text.replace("minigrad.", f"{engine}."), {"torch": torch})
        except RuntimeError as error:
            raised = f"RuntimeError: {error}"
    shown = (capsys.readouterr().out + raised).strip()
    assert shown.split() == block.printed.split()
