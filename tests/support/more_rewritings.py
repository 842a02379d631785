"""Eight more mechanical rewritings of the package's answers, found after the thresholds were set.

Nothing in `minigrad_course.similarity` was written with them in view, so they show how it does with
a rewriting that it has never seen.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from minigrad_course.content.stages import Stage
from tests.support.disguises import Copied, Texts, indented, with_bodies

__all__ = ["MORE_REWRITINGS"]

_TURNED = {ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE, ast.Eq: ast.Eq,
           ast.NotEq: ast.NotEq, ast.Is: ast.Is, ast.IsNot: ast.IsNot}
_OPERATORS = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv",
              ast.FloorDiv: "floordiv", ast.Mod: "mod", ast.Pow: "pow", ast.MatMult: "matmul",
              ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq",
              ast.NotEq: "ne", ast.Is: "is_", ast.IsNot: "is_not"}
#: Expressions whose meaning changes inside another function.
_BOUND = (ast.Yield, ast.YieldFrom, ast.Await, ast.NamedExpr)


def _load(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


def _call(name: str, *given: ast.expr) -> ast.expr:
    return ast.Call(_load(name), [*given], [])


class _Turned(ast.NodeTransformer):
    """Exchanges the sides of comparisons, and the branches of every `if`."""

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        turned = _TURNED.get(type(node.ops[0]))
        if len(node.ops) > 1 or turned is None:
            return node
        return ast.Compare(node.comparators[0], [turned()], [node.left])

    def visit_If(self, node: ast.If) -> ast.AST:
        self.generic_visit(node)
        return ast.If(ast.UnaryOp(ast.Not(), node.test), node.orelse or [ast.Pass()], node.body)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        return ast.IfExp(ast.UnaryOp(ast.Not(), node.test), node.orelse, node.body)


class _Numbered(ast.NodeTransformer):
    """Counts the turns of every loop."""

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        node.target = ast.Tuple([ast.Name("_turn", ast.Store()), node.target], ast.Store())
        node.iter = _call("enumerate", node.iter)
        return node


class _Whiles(ast.NodeTransformer):
    """Turns `for` into `while` and `next`."""

    def __init__(self) -> None:
        self.count = 0

    def visit_For(self, node: ast.For) -> object:
        self.generic_visit(node)
        if node.orelse:
            return node
        self.count += 1
        name = f"_values{self.count}"
        step = ast.Try([ast.Assign([node.target], _call("next", _load(name)))],
                       [ast.ExceptHandler(_load("StopIteration"), None, [ast.Break()])], [], [])
        return [ast.Assign([ast.Name(name, ast.Store())], _call("iter", node.iter)),
                ast.While(ast.Constant(True), [step, *node.body], [])]


class _Functions(ast.NodeTransformer):
    """Calls a function of `operator` in the place of each operator."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        return self._called(node.op, node.left, node.right) or node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if len(node.ops) > 1:
            return node
        return self._called(node.ops[0], node.left, node.comparators[0]) or node

    def _called(self, operator: ast.AST, *given: ast.expr) -> ast.expr | None:
        name = _OPERATORS.get(type(operator))
        return ast.Call(ast.Attribute(_load("_operator"), name, ast.Load()), [*given], []
                        ) if name else None


def _is_free(node: ast.AST) -> bool:
    """Whether an expression or a body means the same in another function."""
    return not any(isinstance(each, _BOUND) or (isinstance(each, ast.Name) and each.id in (
        "super", "__class__", "locals")) for each in ast.walk(node))


class _Lambdas(ast.NodeTransformer):
    """Computes each assigned or returned value in a lambda."""

    def _inside(self, node: ast.stmt) -> ast.AST:
        value = getattr(node, "value", None)
        if value is not None and not isinstance(value, ast.Name | ast.Constant) and _is_free(value):
            empty = ast.arguments([], [], None, [], [], None, [])
            node.value = ast.Call(ast.Lambda(empty, value), [], [])
        return node

    visit_Assign = visit_Return = _inside


class _InDict(ast.NodeTransformer):
    """Keeps local names in a dictionary."""

    def __init__(self, names: set[str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id not in self.names:
            return node
        return ast.Subscript(_load("_kept"), ast.Constant(node.id), node.ctx)


def _in_dict(each: Copied) -> str:
    tree = ast.parse(each.body)
    plain = {id(target) for node in ast.walk(tree) if isinstance(node, ast.Assign)
             for target in node.targets}
    stored: set[str] = set()
    others = {one.arg for one in ast.walk(ast.parse(f"def f({each.arguments}): pass"))
              if isinstance(one, ast.arg)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            (stored if id(node) in plain else others).add(node.id)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            others.update(node.names)
        elif isinstance(node, ast.FunctionDef | ast.Lambda):
            others.update(one.id for one in ast.walk(node) if isinstance(one, ast.Name))
            others.update(one.arg for one in ast.walk(node.args) if isinstance(one, ast.arg))
    made = _InDict(stored - others).visit(tree)
    return "_kept = {}\n" + ast.unparse(ast.fix_missing_locations(made)) + "\n"


class _Sums(ast.NodeTransformer):
    """Writes each whole number as a sum, and `if` as a statement."""

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if type(node.value) is not int:
            return node
        return ast.BinOp(ast.Constant(node.value - 1), ast.Add(), ast.Constant(1))

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return node

    def _parted(self, node: ast.Assign | ast.Return) -> ast.AST:
        self.generic_visit(node)
        value = node.value
        if not isinstance(value, ast.IfExp):
            return node

        def with_value(one: ast.expr) -> ast.stmt:
            return (ast.Return(one) if isinstance(node, ast.Return) else
                    ast.Assign(node.targets, one))

        return ast.If(value.test, [with_value(value.body)], [with_value(value.orelse)])

    visit_Assign = visit_Return = _parted


def _by(make: Callable[[], ast.NodeTransformer], after: str = "") -> Callable[[Stage], Texts]:
    def rewrite(stage: Stage) -> Texts:
        made = with_bodies(stage, lambda each: ast.unparse(ast.fix_missing_locations(
            make().visit(ast.parse(each.body)))) + "\n")
        return {path: text + after for path, text in made.items()}

    return rewrite


def _in_class(stage: Stage) -> Texts:
    """Do the work of each function in a class's method, where it means the same there."""
    def moved(each: Copied) -> bool:
        return _is_free(ast.parse(each.body)) or (
            each.is_generator and "super" not in each.body and "__class__" not in each.body)

    def body(each: Copied) -> str:
        return each.handing_on % f"_Work{each.flat}.run" + "\n" if moved(each) else each.body

    def after(each: Copied) -> str:
        text = f"class _Work{each.flat}:\n    @staticmethod\n" + indented(each.function("run"))
        return text if moved(each) else ""

    return with_bodies(stage, body, after)


#: By name, what makes a stage's copy.
MORE_REWRITINGS: dict[str, Callable[[Stage], Texts]] = {
    "turning comparisons and branches": _by(_Turned),
    "counting the turns of loops": _by(_Numbered),
    "while and next for loops": _by(_Whiles),
    "operators as functions": _by(_Functions, "\nimport operator as _operator\n"),
    "work in a class": _in_class,
    "a lambda for each value": _by(_Lambdas),
    "local names in a dictionary": lambda stage: with_bodies(stage, _in_dict),
    "numbers as sums, and conditions as statements": _by(_Sums),
}
