"""Answers to exercises on `op/` that hand their work on to the package's version.

These exercises are tested beside the package, which needs its own version in the same process.
"""

from __future__ import annotations

import textwrap
from dataclasses import replace

import pytest

pytest.importorskip("typer", reason="the course's commands need Typer")

from minigrad_course.content.source import Module, body_span, module
from minigrad_course.content.stages import find_stage
from minigrad_course.grading import sealed
from minigrad_course.grading.grade import grade
from minigrad_course.grading.intake import Submission
from minigrad_course.grading.sandbox import Limits, Sandbox
from tests.support.slow import one_in

#: What an answer does with its module's name, its function's name and its arguments.
HANDED_ON = {
    "as it is": """
        def handed(module, symbol, args):
            return found(module, symbol)(*args)
    """,
    "with the guard replaced": """
        import minigrad_course.child_process as beside
        from minigrad_course.child_process import closing, second_copy
        def handed(module, symbol, args):
            for place in (beside, second_copy, closing):
                for name in ("refuse", "_check", "_gone", "_bound", "_snapshot", "_subclasses"):
                    setattr(place, name, lambda *_: None)
            closing.GUARD = ""
            return found(module, symbol)(*args)
    """,
    "with the built-in functions replaced": """
        import builtins
        def handed(module, symbol, args):
            before = {name: getattr(builtins, name)
                      for name in ("id", "type", "isinstance", "tuple", "map", "vars", "locals")}
            function, builtins_of = found(module, symbol), found(module, symbol).__globals__
            try:
                builtins.id = lambda value: 0
                builtins.isinstance = lambda value, kinds: True
                builtins.map = lambda function, values: ()
                builtins.vars = builtins.locals = lambda *value: {}
                builtins_of.update(RuntimeError=ImportWarning)
                return function(*args)
            finally:
                vars(builtins).update(before)
    """,
    "for objects that pretend": """
        class Like:
            def __init__(self, value):
                object.__setattr__(self, "value", value)
            def __getattribute__(self, name):
                return getattr(object.__getattribute__(self, "value"), name)
            def __setattr__(self, name, value):
                setattr(object.__getattribute__(self, "value"), name, value)
        def handed(module, symbol, args):
            return found(module, symbol)(*(Like(each) if hasattr(each, "op") or isinstance(
                each, type) else each for each in args))
    """,
    "in the package's classes": """
        import minigrad
        def handed(module, symbol, args):
            from minigrad.graph.node import NaryNode
            from minigrad.op.node import OpNode
            op = args[0] if isinstance(args[0], type) else getattr(args[0], "op", None)
            names = dict(vars(op or object))
            mine = type(op.__name__, (minigrad.op.declaration.Op,), {
                **{name: value for name, value in names.items() if name[:2] != "__"},
                "public": False})
            if op is args[0]:
                return found(module, symbol)(mine, *args[1:])
            node = type(args[0].__class__.__name__, (OpNode, NaryNode), {
                **vars(type(args[0])), "op": mine})
            return found(module, symbol)(node(), *args[1:])
    """,
    "for the package's op of the same name": """
        from minigrad.op import REGISTRY
        def handed(module, symbol, args):
            if isinstance(args[0], type):
                args = (REGISTRY.get(args[0].__name__, args[0]), *args[1:])
            else:
                args[0].__class__.op = REGISTRY.get(args[0].op.__name__)
            return found(module, symbol)(*args)
    """,
    "with the package's op changed": """
        from minigrad.op import REGISTRY
        def handed(module, symbol, args):
            theirs = REGISTRY["Mul"]
            mine = args[0] if isinstance(args[0], type) else args[0].op
            for name in dir(mine):
                if name[:2] != "__":
                    try: setattr(theirs, name, getattr(mine, name))
                    except Exception: pass
            if isinstance(args[0], type):
                return found(module, symbol)(theirs, *args[1:])
            node, self = theirs.node_type, args[0]
            for name in dir(self):
                if name[:2] != "__":
                    try: setattr(node, name, getattr(self, name))
                    except Exception: pass
            return found(module, symbol)(object.__new__(node), *args[1:])
    """,
    "to a package that is imported again": """
        import sys
        def handed(module, symbol, args):
            kept = {name: sys.modules.pop(name) for name in list(sys.modules)
                    if name.partition(".")[0] == "minigrad"}
            try:
                import minigrad
                return found(module, symbol)(*args)
            finally:
                for name in [name for name in sys.modules if name.partition(".")[0] == "minigrad"]:
                    del sys.modules[name]
                sys.modules.update(kept)
    """,
    "to a second second copy": """
        from minigrad_course.child_process import second_copy as copies
        def handed(module, symbol, args):
            import os
            os.environ.pop(copies.PLAN, None)
            copy = copies.second_copy("04z.9")
            return found(copy.name + module.removeprefix("minigrad"), symbol)(*args)
    """,
    "to what its input or a file holds": """
        import base64, json, marshal, os, pathlib, sys, types
        def handed(module, symbol, args):
            texts = [os.pread(0, 1 << 22, 0)]
            for folder in (pathlib.Path(sys.path[0]), pathlib.Path(sys.path[1])):
                texts += [each.read_bytes() for each in folder.rglob("*.json")]
            for text in texts:
                packed = json.loads(text or b"{}").get("sealed", {}).get(module)
                if packed:
                    space = dict(vars(sys.modules[module]))
                    exec(marshal.loads(base64.b64decode(packed["plain"])), space)
                    value = space[symbol.split(".")[0]]
                    for name in symbol.split(".")[1:]:
                        value = getattr(value, name)
                    return value(*args)
            raise RuntimeError("there is none")
    """,
}
FOUND = """
def found(module, symbol):
    import importlib
    value = importlib.import_module(module)
    for name in symbol.split("."):
        value = getattr(value, name)
    return value
"""


def attacking(stage, code):
    """Return the stage's modules in which each function hands its work on."""
    texts = {}
    for path in stage.modules:
        source = module(stage.package, path)
        lines = source.lines
        name = "minigrad." + path.removesuffix(".py").replace("/", ".")
        spans = []
        for symbol in (each.partition(":")[2] for hole in stage.holes for each in hole.symbols
                       if each.startswith(f"{path}:")):
            function = source.function(symbol)
            arguments = "".join(f"{each.arg}, " for each in function.args.args)
            spans.append((*body_span(source, function), " " * (function.col_offset + 4)
                          + f"return handed({name!r}, {symbol!r}, ({arguments}))"))
        for first, last, line in sorted(spans, reverse=True):
            lines[first - 1 : last] = [line]
        texts[path] = "\n".join(lines) + "\n\n" + FOUND + textwrap.dedent(code)
        Module.from_text(path, texts[path])
    return texts


STAGES = ["04d", "04e"]


@pytest.mark.slow
@pytest.mark.parametrize(("attack", "stage"), one_in(10, [
    (attack, stage) for attack in HANDED_ON for stage in STAGES]))
def test_no_work_is_handed_on(attack, stage):
    found = find_stage(stage)
    result = grade(found, Submission("x", attacking(found, HANDED_ON[attack])), Sandbox("limits"),
                   limits=Limits(seconds=60))
    assert [hole for hole in result.holes if hole.points] == []


@pytest.mark.slow
def test_unsealed_functions_would_do_the_work(monkeypatch):
    """The attacks fail because of the seal."""
    whole = sealed._sealed.__wrapped__
    monkeypatch.setattr(sealed, "_sealed", lambda stage, hole: {
        name: {**each, "running": [], "declaring": []}
        for name, each in whole(stage, hole).items()})
    found = find_stage("04d")
    found = replace(found, holes=(found.holes[1], found.holes[4]))
    result = grade(found, Submission("x", attacking(found, HANDED_ON["as it is"])),
                   Sandbox("limits"), limits=Limits(seconds=60))
    assert all(hole.points for hole in result.holes)
