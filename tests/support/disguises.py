"""Copies of the package's answers in disguise: each works, and each is still the package's code."""

from __future__ import annotations

import ast
import base64
import builtins
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from minigrad_course.content.source import Module, body_span, docstring_of, module
from minigrad_course.content.stages import Stage

Texts = dict[str, str]


@dataclass(frozen=True)
class Copied:
    """A function of the package that is an exercise."""

    path: str
    symbol: str
    arguments: str  # as they are declared
    given: str  # as they are handed on
    body: str  # the text of its statements, not indented
    decorators: tuple[str, ...]
    is_generator: bool

    @property
    def flat(self) -> str:
        """A name of one's own for it."""
        return "_own_" + self.symbol.replace(".", "_").lower().strip("_")

    def function(self, name: str) -> str:
        """Return it as a function of the module with this name."""
        return f"def {name}({self.arguments}):\n" + indented(self.body)

    @property
    def handing_on(self) -> str:
        """Return the statement that hands all arguments on to `%s`."""
        return f"return {'(yield from %s(' if self.is_generator else '%s('}{self.given})" + (
            ")" if self.is_generator else "")


def indented(text: str, by: str = "    ") -> str:
    return "".join(by + line if line.strip() else line for line in text.splitlines(keepends=True))


def package(stage: Stage) -> Texts:
    """The package's own modules."""
    return {path: module(stage.package, path).text for path in stage.modules}


def shipped(stage: Stage) -> Texts:
    """The exercise as students get it."""
    return {path: stage.handed_out(path) for path in stage.modules}


def copied(stage: Stage) -> list[Copied]:
    """The bodies that the exercise asks for, as the package has them."""
    found = []
    for hole in stage.holes:
        for path, _, symbol in (each.partition(":") for each in hole.symbols):
            node = module(stage.package, path).function(symbol)
            body = node.body[docstring_of(node) is not None :]
            arguments = ast.parse(ast.unparse(node.args).join(("def f(", "): pass"))).body[0].args
            for each in ast.walk(arguments):
                if isinstance(each, ast.arg):
                    each.annotation = None
            is_generator = any(isinstance(each, ast.Yield | ast.YieldFrom)
                               for each in ast.walk(node))
            found.append(Copied(path, symbol, ast.unparse(arguments), _handed_on(arguments),
                                "\n".join(map(ast.unparse, body)) + "\n",
                                tuple(map(ast.unparse, node.decorator_list)), is_generator))
    return found


def _handed_on(arguments: ast.arguments) -> str:
    parts = [each.arg for each in [*arguments.posonlyargs, *arguments.args]]
    parts += [f"*{arguments.vararg.arg}"] if arguments.vararg else []
    parts += [f"{each.arg}={each.arg}" for each in arguments.kwonlyargs]
    parts += [f"**{arguments.kwarg.arg}"] if arguments.kwarg else []
    return ", ".join(parts)


def with_bodies(stage: Stage, write: Callable[[Copied], str],
                after: Callable[[Copied], str] = lambda _: "") -> Texts:
    """Write a body into each exercise, and something of its own at the end of its module."""
    texts = shipped(stage)
    for each in copied(stage):
        target = Module.from_text(each.path, texts[each.path])
        node = target.function(each.symbol)
        first, last = body_span(target, node)
        lines = target.lines
        body = indented(write(each), " " * (node.col_offset + 4)).rstrip("\n")
        lines[first - 1 : last] = body.split("\n") if body else []
        texts[each.path] = "\n".join([*lines, "", after(each)]) + "\n"
    for text in texts.values():
        ast.parse(text)
    return texts


def at_the_end(stage: Stage, write: Callable[[Copied], str]) -> Texts:
    """Leave every body as shipped and write something at the end of each module."""
    texts = shipped(stage)
    for each in copied(stage):
        texts[each.path] += f"\n\n{write(each)}\n"
        ast.parse(texts[each.path])
    return texts


class Renamed(ast.NodeTransformer):
    """Gives every parameter and every local name of functions another name."""

    def __init__(self) -> None:
        self.inside = 0
        self.names: dict[str, str] = {}

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.inside += 1
        for each in ast.walk(node):
            found = [each.arg] if isinstance(each, ast.arg) else [each.id] if isinstance(
                each, ast.Name) and isinstance(each.ctx, ast.Store) else []
            for name in found:
                self.names.setdefault(name, f"thing{len(self.names)}")
        self.generic_visit(node)
        self.inside -= 1
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.arg, node.annotation = self.names.get(node.arg, node.arg), None
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if self.inside and not hasattr(builtins, node.id):
            node.id = self.names.get(node.id, node.id)
        return node


def renamed(texts: Texts, seed: int = 0) -> Texts:
    """Rename what can be renamed, drop the old comments and strew new ones between the lines."""
    rng = random.Random(seed)
    dressed = {}
    for path, text in texts.items():
        lines = []
        for line in ast.unparse(Renamed().visit(ast.parse(text))).splitlines():
            if rng.random() < 0.3 and line.strip():
                lines.append(" " * (len(line) - len(line.lstrip())) + f"# step {rng.random()}")
            lines.append(line)
        dressed[path] = "\n".join(lines) + "\n"
        ast.parse(dressed[path])
    return dressed


def _strewn(body: str, pieces: Iterator[str]) -> str:
    """Put a statement of no use before each statement of a body, at every depth."""
    tree = ast.parse(body)
    for node in list(ast.walk(tree)):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                setattr(node, name, [each for statement in block
                                     for each in (*ast.parse(next(pieces)).body, statement)])
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def _cycle(*pieces: str) -> Iterator[str]:
    while True:
        yield from pieces


class _ByWords(ast.NodeTransformer):
    """Asks for every attribute by its name in quotes."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load):
            return ast.Call(ast.Name("getattr", ast.Load()), [node.value, ast.Constant(node.attr)],
                            [])
        return node


class _Turned(ast.NodeTransformer):
    """Turns comparisons round, writes `x += y` out and negates conditions with two branches."""

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        swapped = {ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE,
                   ast.Eq: ast.Eq, ast.NotEq: ast.NotEq, ast.Is: ast.Is, ast.IsNot: ast.IsNot}
        if len(node.ops) == 1 and type(node.ops[0]) in swapped:
            return ast.Compare(node.comparators[0], [swapped[type(node.ops[0])]()], [node.left])
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.target, ast.Name):
            return ast.Assign([node.target], ast.BinOp(ast.Name(node.target.id, ast.Load()),
                                                       node.op, node.value))
        return node

    def visit_If(self, node: ast.If) -> ast.AST:
        self.generic_visit(node)
        if node.orelse:
            return ast.If(ast.UnaryOp(ast.Not(), node.test), node.orelse, node.body)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        return ast.IfExp(ast.UnaryOp(ast.Not(), node.test), node.orelse, node.body)


class _Named(ast.NodeTransformer):
    """Gives each returned value a name first."""

    def visit_Return(self, node: ast.Return) -> object:
        if node.value is None:
            return node
        return [ast.Assign([ast.Name("outcome", ast.Store())], node.value),
                ast.Return(ast.Name("outcome", ast.Load()))]


def _changed(body: str, change: ast.NodeTransformer) -> str:
    return ast.unparse(ast.fix_missing_locations(change.visit(ast.parse(body)))) + "\n"


def _quoted(each: Copied) -> str:
    return f"_space = dict(globals())\nexec({each.function(each.flat)!r}, _space)\n"


def _encoded(each: Copied) -> str:
    text = base64.b64encode(each.function(each.flat).encode()).decode()
    return ("import base64\n_space = dict(globals())\n"
            f"exec(base64.b64decode({text!r}), _space)\n")


def _numbers(each: Copied) -> str:
    return ("_space = dict(globals())\nexec(bytes("
            f"{list(each.function(each.flat).encode())}).decode(), _space)\n")


def _subclassed(each: Copied) -> str:
    owner, _, name = each.symbol.rpartition(".")
    if not owner:
        return each.function(each.symbol)
    return (f"class {owner}({owner}):\n    __slots__ = ()\n"
            + "".join(f"    @{decorator}\n" for decorator in each.decorators)
            + indented(each.function(name)))


def _rebound(each: Copied, value: str = "") -> str:
    value = value or each.flat
    for decorator in each.decorators:
        value = f"{decorator}({value})"
    return f"{each.symbol} = {value}\n"


def _in_pieces(each: Copied) -> str:
    return f"class _Tools:\n    @staticmethod\n{indented(each.function('work'))}\n"


#: By name, what makes the copy of a stage.  All of these are Python that intake takes.
DISGUISES: dict[str, Callable[[Stage], Texts]] = {
    "as it is": package,
    "other names": lambda stage: renamed(package(stage)),
    "under if True": lambda stage: with_bodies(
        stage, lambda each: "if True:\n" + indented(each.body)),
    "in a loop of one turn": lambda stage: with_bodies(
        stage, lambda each: "for _turn in range(1):\n" + indented(each.body)),
    "in try and finally": lambda stage: with_bodies(
        stage, lambda each: "try:\n" + indented(each.body) + "finally:\n    pass\n"),
    "in a with block": lambda stage: with_bodies(
        stage, lambda each: "import contextlib\nwith contextlib.nullcontext():\n"
                            + indented(each.body)),
    "constants between": lambda stage: with_bodies(
        stage, lambda each: _strewn(each.body, _cycle("0", "'text'", "...", "pass", "(1, 2)"))),
    "names that nobody reads": lambda stage: with_bodies(
        stage, lambda each: _strewn(each.body, _cycle("a1 = 0", "b2 = [1, 2]", "c3: int = 4",
                                                      "d4 = a1 = 'x'"))),
    "calls of no use": lambda stage: with_bodies(
        stage, lambda each: _strewn(each.body, _cycle("len(())", "print(end='')", "'x'.strip()",
                                                      "assert True", "int('3')"))),
    "calls that look like work": lambda stage: with_bodies(
        stage, lambda each: _strewn(each.body, _cycle("_idle(1)", "_idle(2, 3)")),
        lambda each: "def _idle(*numbers):\n    return sum(numbers)\n"),
    "branches never taken": lambda stage: with_bodies(
        stage, lambda each: _strewn(each.body, _cycle("if False:\n    x = 1", "while 0:\n    y = 2",
                                                      "if not True:\n    print(3)"))),
    "attributes in quotes": lambda stage: with_bodies(
        stage, lambda each: _changed(each.body, _ByWords())),
    "turned round": lambda stage: with_bodies(
        stage, lambda each: _changed(each.body, _Turned())),
    "results with a name": lambda stage: with_bodies(
        stage, lambda each: _changed(each.body, _Named())),
    "in a function inside": lambda stage: with_bodies(
        stage, lambda each: each.function("inner") + each.handing_on % "inner" + "\n"),
    "in a helper": lambda stage: with_bodies(
        stage, lambda each: each.handing_on % each.flat + "\n",
        lambda each: each.function(each.flat)),
    "in a helper class": lambda stage: with_bodies(
        stage, lambda each: each.handing_on % f"_Tools{each.flat}.work" + "\n",
        lambda each: _in_pieces(each).replace("_Tools", f"_Tools{each.flat}")),
    "in a table of helpers": lambda stage: with_bodies(
        stage, lambda each: each.handing_on % f"_TABLE_{each.flat}['work']" + "\n",
        lambda each: each.function(each.flat) + f"_TABLE_{each.flat} = {{'work': {each.flat}}}\n"),
    "by assignment": lambda stage: at_the_end(
        stage, lambda each: each.function(each.flat) + _rebound(each)),
    "by assignment of a method": lambda stage: at_the_end(
        stage, lambda each: _in_pieces(each).replace("_Tools", f"_Tools{each.flat}")
        + _rebound(each, f"_Tools{each.flat}.work")),
    "by a second definition": lambda stage: at_the_end(stage, _subclassed),
    "executed from a string": lambda stage: at_the_end(
        stage, lambda each: _quoted(each) + _rebound(each, f"_space[{each.flat!r}]")),
    "executed from base64": lambda stage: at_the_end(
        stage, lambda each: _encoded(each) + _rebound(each, f"_space[{each.flat!r}]")),
    "executed from numbers": lambda stage: at_the_end(
        stage, lambda each: _numbers(each) + _rebound(each, f"_space[{each.flat!r}]")),
    "executed inside": lambda stage: with_bodies(
        stage, lambda each: _quoted(each) + each.handing_on % f"_space[{each.flat!r}]" + "\n"),
    "executed by another name": lambda stage: with_bodies(
        stage, lambda each: _encoded(each).replace("exec(", "getattr(__builtins__, 'ex' 'ec')(")
        + each.handing_on % f"_space[{each.flat!r}]" + "\n"),
}


