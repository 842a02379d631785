"""Follow the statements of an answer, which bind its names to values."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ..content.source import Function
from .flow_expressions import OPPOSITE, Expressions, entry_of, loaded, operator_kind
from .flow_features import Features
from .flow_values import Value, flat

__all__ = ["Frame", "follow"]


def follow(features: Features, node: ast.stmt) -> None:
    """Follow a function, a class, or another statement of a module."""
    if isinstance(node, Function):
        features.followed.add(id(node))
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        names = {each.arg: Value(f"input {number}") for number, each in enumerate(arguments)}
        for each, kind in ((node.args.vararg, "inputs"), (node.args.kwarg, "options")):
            if each is not None:
                names[each.arg] = Value(kind)
        Frame(features, names, 0, True).block(node.body)
    elif isinstance(node, ast.ClassDef):
        for inner in node.body:
            if isinstance(inner, Function):
                follow(features, inner)
    else:
        Frame(features, {}, 0, False).block([node])


class Frame(Expressions):
    """A call that is followed: the values of its names, and its result."""

    def block(self, statements: Sequence[ast.stmt]) -> None:
        for each in statements:
            self.flow.spend()
            if hasattr(each, "lineno"):
                path = self.flow.about.paths.get(id(each), self.flow.line[0])
                self.flow.line = path, each.lineno
            method = getattr(self, f"do_{type(each).__name__}", None)
            if method is not None:
                method(each)
            else:
                self.other(each)

    def other(self, node: ast.AST) -> None:
        for each in ast.iter_child_nodes(node):
            if isinstance(each, ast.expr):
                self.value(each)
            elif isinstance(each, ast.stmt):
                self.block([each])
            else:
                self.other(each)

    def do_Assign(self, node: ast.Assign) -> None:
        value = self.value(node.value)
        for target in node.targets:
            self.store(target, value)

    def do_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.store(node.target, self.value(node.value))

    def do_AugAssign(self, node: ast.AugAssign) -> None:
        value, kind = self.value(node.value), operator_kind(node.op)
        if isinstance(node.target, ast.Name):
            self.names[node.target.id] = self.flow.note(kind, self.name(node.target.id), value)
            return
        before = self.value(loaded(node.target))
        self.flow.note(f"{kind}=", before, value)

    def store(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            self.names[target.id] = value
        elif isinstance(target, ast.Tuple | ast.List):
            for number, each in enumerate(target.elts):
                if isinstance(each, ast.Starred):
                    self.store(each.value, Value("list", [value]))
                elif value.kind in ("tuple", "list") and len(value.inputs) == len(target.elts):
                    self.store(each, value.inputs[number])
                else:
                    self.store(each, Value(f"part {number}", [value]))
        elif isinstance(target, ast.Attribute):
            self.flow.note(f"set {self.attribute(target.attr)}", self.value(target.value), value)
        elif isinstance(target, ast.Subscript):
            self.filled(self.value(target.value), self.value(target.slice), value)

    def filled(self, owner: Value, key: Value, value: Value) -> None:
        if entry := entry_of(owner, key):
            self.names[entry] = value
        if owner.kind == "dict":
            self.flow.note("fill dict", key, value)
        else:
            self.flow.note("set []", owner, key, value)

    def do_If(self, node: ast.If) -> None:
        self.test(node.test)
        self.branches([node.body, node.orelse])

    def branches(self, blocks: Sequence[Sequence[ast.stmt]]) -> None:
        before, after = self.names, []
        for block in blocks:
            self.names = dict(before)
            self.block(block)
            if not (block and isinstance(block[-1], ast.Return | ast.Raise | ast.Continue
                                         | ast.Break)):
                after.append(self.names)
        self.names = before
        for name in dict.fromkeys(name for each in after for name in each):
            values = list({id(each[name]): each[name] for each in after if name in each}.values())
            self.names[name] = values[0] if len(values) == 1 else Value("either", values)

    def test(self, node: ast.expr) -> None:
        while isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            node = node.operand
        if isinstance(node, ast.BoolOp):
            for each in node.values:
                self.test(each)
        elif not isinstance(node, ast.Constant):
            value = self.value(node)
            kind = value.kind
            if kind in OPPOSITE:
                value = Value(OPPOSITE[kind], value.inputs)
            self.flow.note("test", value)

    def loop(self, body: Sequence[ast.stmt], *heads: ast.stmt) -> None:
        stored = [each for head in (*heads, *body) for each in ast.walk(head)
                  if isinstance(getattr(each, "ctx", None), ast.Store)]
        changed = {each.id for each in stored if isinstance(each, ast.Name)}
        for each in stored:
            if isinstance(each, ast.Subscript) and isinstance(each.value, ast.Name) \
                    and isinstance(each.slice, ast.Constant):
                changed.add(entry_of(self.name(each.value.id), self.value(each.slice)))
        carried = {name: Value("either", [self.names[name]]) for name in changed
                   if name in self.names}
        self.names.update(carried)
        self.block(body)
        for name, node in carried.items():
            if self.names[name] is not node:
                node.inputs.append(self.names[name])

    def do_For(self, node: ast.For) -> None:
        each = self.flow.note("each", self.value(node.iter))
        self.store(node.target, each)
        if _is_single(node.iter):
            self.block(node.body)
        else:
            self.loop(node.body)
        self.block(node.orelse)

    do_AsyncFor = do_For

    def do_While(self, node: ast.While) -> None:
        self.test(node.test)
        if isinstance(node.test, ast.Constant) and isinstance(node.body[-1],
                                                              ast.Break | ast.Return):
            self.block(node.body)  # it runs once
        else:
            self.loop(node.body)
        self.block(node.orelse)

    def do_With(self, node: ast.With) -> None:
        for each in node.items:
            value = self.flow.note("with", self.value(each.context_expr))
            if each.optional_vars is not None:
                self.store(each.optional_vars, value)
        self.block(node.body)

    do_AsyncWith = do_With

    def do_Try(self, node: ast.Try) -> None:
        self.block(node.body)
        for each in node.handlers:
            value = Value("error") if each.type is None else self.flow.note(
                "except", self.value(each.type))
            if each.name:
                self.names[each.name] = value
            self.block(each.body)
        self.block(node.orelse)
        self.block(node.finalbody)

    def do_Return(self, node: ast.Return) -> None:
        value = Value("None") if node.value is None else self.value(node.value)
        self.returned.append(value)
        if self.is_counted:
            self.returns(value)

    def returns(self, value: Value) -> None:
        for each in flat(value):
            self.flow.note("return", each)

    def do_Raise(self, node: ast.Raise) -> None:
        if node.exc is not None:
            self.flow.note("raise", self.value(node.exc))

    def do_Expr(self, node: ast.Expr) -> None:
        self.value(node.value)

    def do_Delete(self, node: ast.Delete) -> None:
        for each in node.targets:
            if not isinstance(each, ast.Name):
                self.flow.note("del", self.value(loaded(each)))

    def do_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.names[node.name] = self.own_function(node)

    do_AsyncFunctionDef = do_FunctionDef

    def do_ClassDef(self, node: ast.ClassDef) -> None:
        for each in node.body:
            if isinstance(each, Function):
                follow(self.flow, each)

    def do_Import(self, node: ast.Import) -> None:
        for each in node.names:
            self.names[each.asname or each.name.partition(".")[0]] = Value(
                each.name if each.asname else each.name.partition(".")[0])

    def do_ImportFrom(self, node: ast.ImportFrom) -> None:
        for each in node.names:
            self.names[each.asname or each.name] = Value(each.name)


def _is_single(values: ast.expr) -> bool:
    """Return whether a loop over these values has one turn."""
    if isinstance(values, ast.Tuple | ast.List):
        return len(values.elts) == 1 and not isinstance(values.elts[0], ast.Starred)
    return isinstance(values, ast.Call) and isinstance(values.func, ast.Name) \
        and values.func.id == "range" and len(values.args) == 1 \
        and isinstance(values.args[0], ast.Constant) and values.args[0].value == 1
