"""Signs that an answer runs code which the comparison cannot see.

NOTE [Signs]
    To earn points with code that is not compared, an answer must run text or data as code, hide the
    code in a large literal, or bind an exercise's name to something else.  Python has more ways to
    run a text than a list of names can contain (`timeit`, `doctest` and `typing.get_type_hints` all
    do), so an answer may import only the modules of the exercise, the package and HARMLESS;
    a text that is itself a program, and an attribute whose name is computed, are signs too.  No
    exercise needs any of that.  So each case is reported with its line, unless the package's own
    answer to the stage does it too.  `minigrad grade`, which knows the points, also reports
    exercises that earned points although their body is unwritten or does nothing.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from ..content.source import Definition, Function, Module, module
from ..content.stages import Stage
from .normal import in_one_form
from .readable import parsed
from .tokens import tokens

__all__ = ["Sign", "idle_holes", "signs"]

#: Names that turn text or data into code, or that reach code outside the answer.
MAKERS = frozenset((
    "exec", "eval", "compile", "__import__", "open", "globals", "__builtins__", "builtins",
    "__self__", "__loader__", "__spec__", "__subclasses__", "__code__", "__globals__",
    "__closure__", "__doc__", "__file__", "__getattribute__", "__init_subclass__", "__set_name__",
    "f_globals", "f_locals", "f_back", "_getframe", "FunctionType", "CodeType", "importlib",
    "runpy", "marshal", "pickle", "ctypes", "gc", "inspect", "linecache", "tokenize", "imp",
    "pkgutil", "zipimport", "base64", "binascii", "zlib", "bz2", "lzma", "codecs", "subprocess",
    "urllib", "socket", "pathlib", "settrace", "setprofile", "timeit", "pydoc", "doctest",
    "attrgetter", "methodcaller", "get_type_hints", "ForwardRef", "make_dataclass",
))
#: Modules of Python that an answer may import, because they run no text.
HARMLESS = frozenset((
    "__future__", "abc", "bisect", "collections", "contextlib", "contextvars", "copy",
    "dataclasses", "enum", "fractions", "functools", "heapq", "itertools", "math", "numbers",
    "numpy", "operator", "queue", "random", "statistics", "threading", "time", "typing",
    "warnings", "weakref", "minigrad", "concurrent", "graphlib", "sys", "types", "traceback",
    "string", "re", "decimal", "cmath", "array", "struct", "reprlib", "textwrap",
))
#: Methods that can intercept others of their class.
_HOOKS = frozenset({"__getattribute__", "__getattr__", "__new__", "__init_subclass__"})
#: More characters of text, or more values in one statement, than any answer needs.
TEXT, VALUES = 300, 60


@dataclass(frozen=True)
class Sign:
    """Something suspicious in a submission."""

    told: str
    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.told} ({self.path}, line {self.line})"


def signs(stage: Stage, texts: dict[str, str]) -> list[Sign]:
    """Return the signs in a submission of a stage, without duplicates."""
    found: dict[tuple[str, str], Sign] = {}
    for path, text in texts.items():
        if (mine := parsed(text)) is None:
            continue
        stub = ast.parse(stage.handed_out(path))
        for each in (*_makers(stage, path, mine), *_imports(stage, path, mine, stub),
                     *_computed(stage, path, mine, stub), *_literals(path, mine, stub),
                     *_programs(path, mine, stub), *_rebound(stage, path, mine, stub)):
            found.setdefault((each.told, path), each)
    return sorted(found.values(), key=lambda each: (each.path, each.line))


def idle_holes(stage: Stage, texts: dict[str, str]) -> set[str]:
    """Return the exercises whose body is unchanged or does nothing."""
    written = {f"{path}:{name}": node for path, text in texts.items()
               if (tree := parsed(text)) is not None
               for name, node in reversed([*Module(path, text, tree).functions()])}
    return {hole.id for hole in stage.holes
            if any(symbol not in written or _is_idle(written[symbol]) for symbol in hole.symbols)}


def _is_idle(node: Function) -> bool:
    left = [each.text for each in tokens(in_one_form(node), "", set())]
    return not left or (left[0] == "Raise"  # the body of an unparsable exercise is a SyntaxError
                        and not {"NotImplementedError", "SyntaxError"}.isdisjoint(left))


def _words(node: ast.AST) -> Iterator[str]:
    """Yield the names in a node, and short strings, because `getattr` takes those."""
    for field in ("id", "attr", "name", "module"):
        if isinstance(word := getattr(node, field, None), str):
            yield from word.split(".")
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 40:
        yield node.value


@cache
def _known_words(stage: Stage) -> frozenset[str]:
    """Return the words in the package's own modules of a stage."""
    return frozenset(word for path in stage.modules
                     for node in ast.walk(module(stage.package, path).tree)
                     for word in _words(node))


def _makers(stage: Stage, path: str, mine: ast.Module) -> Iterator[Sign]:
    allowed = _known_words(stage) | {word for node in ast.walk(ast.parse(stage.handed_out(path)))
                                     for word in _words(node)}
    line = 1
    for node in ast.walk(mine):
        line = getattr(node, "lineno", line)
        for word in _words(node):
            if word in MAKERS and word not in allowed:
                yield Sign(f"uses `{word}`, which no answer needs", path, line)


def _imported(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield the top module of each absolute import, and its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((each.name.partition(".")[0], node.lineno) for each in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            yield node.module.partition(".")[0], node.lineno


def _imports(stage: Stage, path: str, mine: ast.Module, stub: ast.Module) -> Iterator[Sign]:
    """Yield each import of a module that no answer needs."""
    known = HARMLESS | {name for tree in (stub, *_trees(stage)) for name, _ in _imported(tree)}
    yield from (Sign(f"imports `{name}`, which no answer needs", path, line)
                for name, line in _imported(mine) if name not in known | MAKERS)


def _trees(stage: Stage) -> list[ast.Module]:
    return [module(stage.package, path).tree for path in stage.modules]


def _with_computed_names(tree: ast.Module) -> Iterator[ast.expr]:
    """Yield each use of `getattr` in which a name is not written out, and each one as a value."""
    called = {id(node.func): node for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == "getattr" and isinstance(node.ctx, ast.Load):
            call = called.get(id(node))
            if call is None or len(call.args) < 2 or not (
                    isinstance(call.args[1], ast.Constant) or _is_loop_over_words(call.args[1],
                                                                                  tree)):
                yield node


def _is_loop_over_words(name: ast.expr, tree: ast.Module) -> bool:
    """Return whether a name takes its values from texts that are written out."""
    if not isinstance(name, ast.Name):
        return False
    loops = [each.iter for each in ast.walk(tree) if isinstance(each, ast.For | ast.comprehension)
             and any(isinstance(one, ast.Name) and one.id == name.id
                     for one in ast.walk(each.target))]
    bound = {id(each) for loop in ast.walk(tree) if isinstance(loop, ast.For | ast.comprehension)
             for each in ast.walk(loop.target)}
    is_bound_elsewhere = any(
        (isinstance(each, ast.arg) and each.arg == name.id)
        or (isinstance(each, ast.Name) and each.id == name.id and isinstance(each.ctx, ast.Store)
            and id(each) not in bound) for each in ast.walk(tree))
    return bool(loops) and not is_bound_elsewhere


def _computed(stage: Stage, path: str, mine: ast.Module, stub: ast.Module) -> Iterator[Sign]:
    """Yield each attribute that is read by a computed name, unless the exercise needs that."""
    if any(True for tree in (stub, *_trees(stage)) for _ in _with_computed_names(tree)):
        return
    for node in _with_computed_names(mine):
        yield Sign("reads an attribute whose name is computed", path, node.lineno)


def _programs(path: str, mine: ast.Module, stub: ast.Module) -> Iterator[Sign]:
    """Yield each text that is a program, even a docstring."""
    given = {each.value for each in ast.walk(stub) if isinstance(each, ast.Constant)}
    for node in ast.walk(mine):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) \
                and node.value not in given and "\n" in node.value.strip():
            tree = parsed(textwrap.dedent(node.value.expandtabs()).strip())
            if tree is not None and any(not isinstance(each, ast.Expr) for each in tree.body):
                yield Sign("contains a text that is a program", path, node.lineno)


def _literals(path: str, mine: ast.Module, stub: ast.Module) -> Iterator[Sign]:
    kept = {ast.dump(each) for each in ast.walk(stub) if isinstance(each, ast.stmt)}
    texts = {each.value for each in ast.walk(stub) if isinstance(each, ast.Constant)}
    documents = {id(node.body[0].value) for node in ast.walk(mine)
                 if isinstance(node, Definition | ast.Module) and node.body
                 and isinstance(node.body[0], ast.Expr)}
    for node in ast.walk(mine):
        if not isinstance(node, ast.stmt) or ast.dump(node) in kept:
            continue
        values = [each for each in _inside(node) if isinstance(each, ast.Constant)
                  and id(each) not in documents and each.value not in texts]
        length = sum(len(each.value) for each in values if isinstance(each.value, str | bytes))
        if length > TEXT:
            yield Sign(f"contains a text of {length} characters", path, node.lineno)
        elif len(values) > VALUES:
            yield Sign(f"contains {len(values)} values in one statement", path, node.lineno)


def _inside(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yield the nodes of a statement, but skip nested statements."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += [each for each in ast.iter_child_nodes(node) if not isinstance(each, ast.stmt)]


def _rebound(stage: Stage, path: str, mine: ast.Module, stub: ast.Module) -> Iterator[Sign]:
    """Yield each place where a name of an exercise is bound to something else."""
    asked = {symbol.rpartition(":")[2] for hole in stage.holes for symbol in hole.symbols
             if symbol.startswith(f"{path}:")}
    tops = {symbol.partition(".")[0] for symbol in asked}
    before: dict[str, list[str]] = {}
    for name, node in _named(stub):
        before.setdefault(name, []).append(_frame(node))
    for name, node in _named(mine):
        owner, _, last = name.rpartition(".")
        if name in tops | asked:
            if not before.get(name):
                yield Sign(f"rebinds `{name}`", path, node.lineno)
            elif before[name].pop(0) != _frame(node):
                yield Sign(f"changes how `{name}` is declared", path, node.lineno)
        elif owner in tops and last in _HOOKS and name not in before:
            yield Sign(f"adds `{last}` to `{owner}`", path, node.lineno)
    kept = {ast.dump(each) for tree in (stub, module(stage.package, path).tree)
            for each in ast.walk(tree) if isinstance(each, ast.stmt)}
    # fields that the package writes, one of which has the name of an exercise
    fields = {target.attr for tree in (stub, *_trees(stage)) for each in ast.walk(tree)
              if isinstance(each, ast.stmt) for target in _targets(each)
              if isinstance(target, ast.Attribute)}
    outside = {id(each) for each in mine.body}
    known = {name for name, _ in _named(mine)}
    for each in ast.walk(mine):
        if not isinstance(each, ast.stmt) or ast.dump(each) in kept:
            continue
        node = each
        targets = [ast.unparse(one) for one in _targets(node) if isinstance(one, ast.Attribute)]
        targets += [f"{ast.unparse(one.args[0])}.{getattr(one.args[1], 'value', '')}"
                    for one in _inside(node) if isinstance(one, ast.Call) and len(one.args) > 1
                    and getattr(one.func, "id", "") in ("setattr", "delattr")]
        targets += node.names if isinstance(node, ast.Global) else []
        for target in targets:
            is_hidden = id(node) in outside and any(target.rpartition(".")[2] in
                                                    (symbol.rpartition(".")[2], "")
                                                    for symbol in asked)
            if is_hidden or any(f".{target}".endswith(f".{symbol}") for symbol in asked | tops
                                if "." in symbol or (symbol not in fields
                                                     and target.partition(".")[0] in known)):
                yield Sign(f"rebinds `{target}`", path, node.lineno)


def _frame(node: ast.stmt) -> str:
    """Return a definition without its body: decorators, bases, keywords."""
    if not isinstance(node, Definition):
        return type(node).__name__
    parts = [*node.decorator_list]
    if isinstance(node, ast.ClassDef):
        parts += [*node.bases, *(each.value for each in node.keywords)]
    return " ".join(map(ast.dump, parts))


def _targets(node: ast.stmt) -> list[ast.expr]:
    if isinstance(node, ast.Assign):
        return [each for target in node.targets for each in ast.walk(target)
                if isinstance(each, ast.expr)]
    if isinstance(node, ast.AnnAssign | ast.AugAssign | ast.For):
        return [node.target]
    return node.targets if isinstance(node, ast.Delete) else []


def _named(tree: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    """Yield what binds a name while a module is imported, as "Class.name" inside a class."""
    waiting: list[tuple[str, ast.stmt]] = [("", each) for each in tree.body]
    while waiting:
        before, node = waiting.pop(0)
        if isinstance(node, Definition):
            yield before + node.name, node
        if isinstance(node, ast.Import | ast.ImportFrom):
            for each in node.names:
                yield before + (each.asname or each.name), node
        for target in _targets(node):
            if isinstance(target, ast.Name) and not isinstance(target.ctx, ast.Load):
                yield before + target.id, node
        if isinstance(node, Function):
            continue
        inner = f"{before}{node.name}." if isinstance(node, ast.ClassDef) else before
        waiting += [(inner, each) for each in ast.iter_child_nodes(node)
                    if isinstance(each, ast.stmt)]
        for handler in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            waiting += [(before, each) for each in handler.body]
