"""Normalize syntax trees, so that rewriting code in an equivalent form leaves no trace.

NOTE [One form]
    Before two answers are compared, each function is normalized.  Statements without effect are
    dropped: constants, `pass`, `assert`, calls of built-in functions whose result is unused, names
    that are never read, branches that are never taken.  `x += y` is written out, comparisons and
    conditions get one direction, `getattr(x, "name")` becomes `x.name`, and a result that is only
    named to be returned is returned directly.  Both sides are treated alike, so a normalization
    that is not quite right cannot make two different answers look similar.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable
from typing import TypeVar

__all__ = ["in_one_form"]

Node = TypeVar("Node", bound=ast.AST)
#: Comparisons to write the other way round.
_TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Gt: ast.Lt, ast.GtE: ast.LtE}
_EITHER_WAY = (ast.Eq, ast.NotEq, ast.Is, ast.IsNot)
_NEGATED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.In: ast.NotIn, ast.NotIn: ast.In}
_BLOCKS = ("body", "orelse", "finalbody")


def in_one_form(node: Node) -> Node:
    """Normalize a tree in place, and return it."""
    try:
        _OneForm().visit(node)
        for _ in range(3):  # dropping a statement can leave another name unread
            if not _drop_unread(node):
                break
    except RecursionError:
        pass  # too deeply nested: compare it unchanged
    return node


class _OneForm(ast.NodeTransformer):
    """Normalizes expressions and blocks."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for name in _BLOCKS:
            block = getattr(node, name, None)
            if isinstance(block, list):
                setattr(node, name, _returned_at_once(block))
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if _calls(node, "getattr") and len(node.args) == 2 and (name := _word(node.args[1])):
            return ast.copy_location(ast.Attribute(node.args[0], name, ast.Load()), node)
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        self.generic_visit(node)
        value = node.value
        if isinstance(value, ast.Call) and _calls(value, "setattr") and len(value.args) == 3 \
                and (name := _word(value.args[1])):
            target = ast.copy_location(ast.Attribute(value.args[0], name, ast.Store()), node)
            return ast.copy_location(ast.Assign([target], value.args[2]), node)
        return None if _is_idle(value) else node

    def visit_Assert(self, _node: ast.Assert) -> None:
        return None

    def visit_Pass(self, _node: ast.Pass) -> None:
        return None

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        self.generic_visit(node)
        if node.value is None:
            return None
        return ast.copy_location(ast.Assign([node.target], node.value), node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.target, ast.Name):
            return node  # this may write a tensor in place, which has another effect
        before = ast.copy_location(ast.Name(node.target.id, ast.Load()), node)
        value = ast.copy_location(ast.BinOp(before, node.op, node.value), node)
        return ast.copy_location(ast.Assign([node.target], value), node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        inner = node.operand
        if isinstance(node.op, ast.Not) and isinstance(inner, ast.Compare) \
                and len(inner.ops) == 1 and type(inner.ops[0]) in _NEGATED:
            inner.ops = [_NEGATED[type(inner.ops[0])]()]
            return inner
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if len(node.ops) != 1:
            return node
        (operator,), (right,) = map(type, node.ops), node.comparators
        if operator in _TURNED:
            node.left, node.comparators, node.ops = right, [node.left], [_TURNED[operator]()]
        elif issubclass(operator, _EITHER_WAY) and _order(right) < _order(node.left):
            node.left, node.comparators = right, [node.left]
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        node.test, is_turned = _turned(node.test)
        if is_turned:
            node.body, node.orelse = node.orelse, node.body
        return node

    def visit_If(self, node: ast.If) -> object:
        self.generic_visit(node)
        if (known := _known(node.test)) is not None:
            return node.body if known else node.orelse
        if node.orelse:
            node.test, is_turned = _turned(node.test)
            if is_turned:
                node.body, node.orelse = node.orelse, node.body
        if not node.body and not node.orelse:
            return None
        return node

    def visit_While(self, node: ast.While) -> object:
        self.generic_visit(node)
        return node.orelse if _known(node.test) is False else node


def _turned(test: ast.expr) -> tuple[ast.expr, bool]:
    """Return a condition or its simpler opposite, and whether it is the opposite."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand, True
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(
            test.ops[0], ast.NotEq | ast.IsNot | ast.NotIn):
        test.ops = [_NEGATED[type(test.ops[0])]()]
        return test, True
    return test, False


def _known(test: ast.expr) -> bool | None:
    """Return the value of a condition that contains only constants, otherwise `None`."""
    if isinstance(test, ast.Constant):
        return bool(test.value)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _known(test.operand)
        return None if inner is None else not inner
    return None


def _order(node: ast.expr) -> tuple[bool, str, int]:
    """Return a sort key for the two sides of `==`: constants come last."""
    return isinstance(node, ast.Constant), type(node).__name__, sum(1 for _ in ast.walk(node))


def _calls(node: ast.Call, name: str) -> bool:
    return isinstance(node.func, ast.Name) and node.func.id == name and not node.keywords


def _word(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) \
        and node.value.isidentifier() else ""


def _is_idle(value: ast.expr) -> bool:
    """Return whether an expression has no effect as a statement: no calls, or harmless ones."""
    for each in ast.walk(value):
        if isinstance(each, ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr):
            return False
        if isinstance(each, ast.Call):
            root: ast.AST = each.func
            while isinstance(root, ast.Attribute):
                root = root.value
            is_own = isinstance(root, ast.Name) and isinstance(each.func, ast.Name) \
                and hasattr(builtins, root.id)
            if not is_own and not isinstance(root, ast.Constant):
                return False
    return True


def _returned_at_once(block: list[ast.stmt]) -> list[ast.stmt]:
    """Return a block in which `x = value; return x` becomes `return value`."""
    made: list[ast.stmt] = []
    for each in block:
        before = made[-1] if made else None
        if isinstance(each, ast.Return) and isinstance(each.value, ast.Name) \
                and isinstance(before, ast.Assign) and len(before.targets) == 1 \
                and isinstance(before.targets[0], ast.Name) \
                and before.targets[0].id == each.value.id:
            made[-1] = ast.copy_location(ast.Return(before.value), before)
        else:
            made.append(each)
    return made


def _drop_unread(tree: ast.AST) -> bool:
    """Drop assignments to names that are never read, and return whether there were any."""
    dropped = False
    nodes = list(ast.walk(tree))
    read = {each.id for each in nodes
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}
    for each in nodes:
        if isinstance(each, ast.Global | ast.Nonlocal):
            read.update(each.names)
    for node in nodes:
        if isinstance(node, ast.Module | ast.ClassDef):
            continue  # their names can be read from elsewhere
        for name in _BLOCKS:
            block = getattr(node, name, None)
            if isinstance(block, list):
                kept = list(_read_alone(block, read))
                if kept != block:
                    setattr(node, name, kept)
                    dropped = True
    return dropped


def _read_alone(block: Iterable[ast.stmt], read: set[str]) -> Iterable[ast.stmt]:
    for each in block:
        targets = each.targets if isinstance(each, ast.Assign) else ()
        if targets and all(isinstance(target, ast.Name) and target.id not in read
                           for target in targets):
            assert isinstance(each, ast.Assign)
            if not _is_idle(each.value):
                yield ast.copy_location(ast.Expr(each.value), each)
            continue
        if isinstance(each, ast.If) and not each.body and not each.orelse:
            continue
        yield each
