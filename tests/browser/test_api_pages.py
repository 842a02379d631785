"""The pages of names: how classes are made, under which headings, and examples that can be copied.

They look at the built pages; no browser is needed.
"""

from __future__ import annotations

import ast
import contextvars
import doctest
import html
import importlib
import inspect
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from api_pages import MODULES, _told
from examples import free_names

OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
#: A class whose constructor takes only these shows none, unless it is the class's own.
ANYTHING = [inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD]


@cache
def sections(page: Path) -> dict[str, tuple[str, str]]:
    """Return heading and HTML of each part of a page, by the anchor of its heading."""
    found = {}
    text = page.read_text(encoding="utf-8")
    text = re.sub(r"<details.*?</details>", "", text, flags=re.DOTALL)  # the source
    for part in re.split(r"(?=<h[1-6]\b)", text)[1:]:
        heading, _, below = part.partition("</h")
        anchor = re.search(r'\bid="([^"]+)"', heading)
        if anchor:
            found[anchor[1]] = (plain(heading).removesuffix("¶").strip(), below)
    return found


def plain(piece: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", "", piece))


@pytest.fixture(scope="module")
def told(built) -> dict[str, tuple[str, str]]:
    """Headings and texts of the API's pages, by the path of what they tell."""
    return {name: part for page in sorted((built / "api").rglob("*.html"))
            for name, part in sections(page).items()}


def classes() -> Iterator[tuple[str, type]]:
    for name in MODULES:
        for path in _told(name)[0]:
            module, _, last = path.rpartition(".")
            value = getattr(importlib.import_module(module), last)
            if inspect.isclass(value):
                yield path, value


def shown_arguments(below: str) -> dict[str, str | None]:
    """Return the arguments of the signature below a heading, with the text of their defaults."""
    block = re.match(r'\w>\s*<div class="[^"]*doc-signature.*?</div>', below, re.DOTALL)
    if block is None:
        return {}
    made = ast.parse(f"def {plain(block[0].partition('<pre>')[2]).strip()}: ...").body[0].args
    plain_ones = [*made.posonlyargs, *made.args]
    defaults = [None] * (len(plain_ones) - len(made.defaults)) + made.defaults
    pairs = [*zip(plain_ones, defaults), *([(made.vararg, None)] if made.vararg else []),
             *zip(made.kwonlyargs, made.kw_defaults), *([(made.kwarg, None)] if made.kwarg else [])]
    return {name.arg: default and ast.unparse(default) for name, default in pairs}


def constructor(kind: type) -> Any:
    """Return the constructor that is written in this project, and where it is handed on to."""
    for base in kind.__mro__:
        for name in ("__init__", "__new__"):
            made = vars(base).get(name)
            code = getattr(getattr(made, "__func__", made), "__code__", None)
            if code is not None and (base.__module__.startswith("minigrad")
                                     or code.co_filename == "<string>"):
                return base, inspect.signature(kind)
    return None, None


def test_the_heading_of_a_class_is_followed_by_the_arguments_of_its_constructor(told):
    looked_at = 0
    for path, kind in classes():
        base, signature = constructor(kind)
        if signature is None or issubclass(kind, tuple | Exception):
            continue
        given = {name: each for name, each in signature.parameters.items() if name[0] != "_"}
        shown = shown_arguments(told[path][1])
        if [each.kind for each in given.values()][-2:] == ANYTHING:
            # these it hands to its base's constructor, whose arguments are shown
            assert set(given) - {*list(given)[-2:]} <= set(shown), path
            assert bool(shown) or base is not kind or len(given) == 2, path
            continue
        assert list(shown) == list(given), path
        for name, each in given.items():
            assert (shown[name] is None) == (each.default is each.empty), (path, name)
            try:
                assert ast.literal_eval(shown[name] or "None") == (
                    None if each.default is each.empty else each.default), (path, name)
            except ValueError:
                pass  # no literal
        looked_at += bool(given)
    assert looked_at > 230
    assert shown_arguments(told["minigrad.optim.lr_scheduler.factors.StepLR"][1])["gamma"] == "0.1"
    assert {"input_size", "batch_first"} < shown_arguments(
        told["minigrad.nn.rnn.GRU"][1]).keys()  # it hands them on


def test_a_methods_heading_names_its_class(told):
    assert told["minigrad.nn.linear.Linear.reset_parameters"][0] == "Linear.reset_parameters"
    assert told["minigrad.nn.linear.Linear"][0] == "Linear"
    for path, kind in classes():
        for name in vars(kind):
            heading = told.get(f"{path}.{name}", (f"{kind.__name__}.{name}",))[0]
            assert heading.startswith(f"{kind.__name__}.{name}"), heading


def test_a_class_tells_what_it_has_from_bases_without_a_page(told):
    for name in ("parameters", "state_dict", "register_buffer", "register_forward_hook", "train"):
        heading, below = told[f"minigrad.nn.module.Module.{name}"]
        assert heading == f"Module.{name}" and f">{name}</span>" in below
    assert "minigrad.nn.linear.Linear.parameters" not in told  # the page of Module tells it


@pytest.fixture(scope="module")
def shown_examples(built) -> dict[str, str]:
    """The examples below each heading of the pages of names, as one that runs in one go."""
    found = {}
    for folder in ("api", "ops"):
        for page in sorted((built / folder).rglob("*.html")):
            text = page.read_text(encoding="utf-8")
            whole = {page.parent.name: (page.parent.name, text)}
            for anchor, (_, below) in (whole if folder == "ops" else sections(page)).items():
                blocks = [block for block in re.findall(r"<pre>.*?</pre>", below, re.DOTALL)
                          if '<span class="gp">' in block]
                if blocks:
                    found[f"{folder}/{page.parent.name}#{anchor}"] = "\n\n".join(map(plain, blocks))
    return found


def test_an_example_imports_every_name_that_it_uses(shown_examples):
    assert len(shown_examples) > 1300
    missing = {}
    for place, text in shown_examples.items():
        source = "".join(each.source for each in doctest.DocTestParser().get_examples(text))
        if free := free_names(source):
            missing[place] = free
    assert not missing


def test_examples_run_when_they_are_copied(shown_examples):
    shown: list[str] = []
    for place, text in shown_examples.items():
        test = doctest.DocTestParser().get_doctest(text, {}, place, place, 0)
        runner = doctest.DocTestRunner(optionflags=OPTIONS)
        contextvars.Context().run(runner.run, test, out=shown.append)
    assert not shown, "".join(shown)
