"""Follow the expressions of an answer: each becomes a value, from the values that flow in."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ..content.source import Function
from .flow_features import Features
from .flow_values import Value

__all__ = ["OPPOSITE", "Expressions", "entry_of", "loaded", "operator_kind"]

#: How deep calls are followed.
DEPTH = 6
#: Functions of `operator`, and the kind of value or the comparison that each is.
_ARITHMETIC = {"add": "+Add", "sub": "Sub", "mul": "+Mult", "truediv": "Div",
               "floordiv": "FloorDiv", "mod": "Mod", "pow": "Pow", "matmul": "MatMult"}
_COMPARISONS = {"lt": ast.Lt, "le": ast.LtE, "gt": ast.Gt, "ge": ast.GtE, "eq": ast.Eq,
                "ne": ast.NotEq, "is_": ast.Is, "is_not": ast.IsNot}
_FILLING = {"append": "list", "add": "set", "extend": "list", "update": "dict"}
#: Tests that are the same if the two branches are exchanged.
OPPOSITE = {"=NotEq": "=Eq", "=IsNot": "=Is", "NotIn": "In"}


class Expressions:
    """The values of a call's names, and the values of expressions in which these occur."""

    def __init__(self, flow: Features, names: dict[str, Value], depth: int, is_counted: bool
                 ) -> None:
        self.flow, self.names, self.depth, self.is_counted = flow, names, depth, is_counted
        self.returned: list[Value] = []

    # see flow_statements.py
    def block(self, statements: Sequence[ast.stmt]) -> None:
        """Follow the statements of an own function that is called."""
        raise NotImplementedError

    def store(self, target: ast.expr, value: Value) -> None:
        """Bind a target to a value."""
        raise NotImplementedError

    def test(self, node: ast.expr) -> None:
        """Follow a condition."""
        raise NotImplementedError

    def name(self, name: str) -> Value:
        if name in self.names:
            return self.names[name]
        about = self.flow.about
        if name in about.functions and name in about.own:
            return self.own_function(about.functions[name])
        if name in about.tables and name in about.own and self.depth < DEPTH:
            return type(self)(self.flow, {}, self.depth + 1, False).value(about.tables[name])
        return Value(about.modules.get(name, "own" if name in about.own else name))

    def own_function(self, code: Function | ast.Lambda) -> Value:
        made = Value("own function")
        made.code, made.names = code, self.names
        self.flow.passed_on.append(made)
        return made

    def attribute(self, name: str) -> str:
        return ".own" if f".{name}" in self.flow.about.own else f".{name}"

    def value(self, node: ast.expr | None) -> Value:
        if node is None:
            return Value("None")
        method = getattr(self, f"of_{type(node).__name__}", None)
        if method is not None:
            made: Value = method(node)
            return made
        inputs = [self.value(each) for each in ast.iter_child_nodes(node)
                  if isinstance(each, ast.expr)]
        return self.flow.note(type(node).__name__, *inputs)

    def of_Name(self, node: ast.Name) -> Value:
        return self.name(node.id)

    def of_Constant(self, node: ast.Constant) -> Value:
        value = node.value
        if isinstance(value, str | bytes):
            return Value("text" if len(value) > 20 or " " in str(value) else f"text {value!r}")
        return Value(f"{value!r:.20}")

    def of_Attribute(self, node: ast.Attribute) -> Value:
        path = _path(node)
        if path and path in self.flow.about.functions and path.partition(".")[0] in \
                self.flow.about.own:
            return self.own_function(self.flow.about.functions[path])
        return self.flow.note(self.attribute(node.attr), self.value(node.value))

    def of_Subscript(self, node: ast.Subscript) -> Value:
        owner, key = self.value(node.value), self.value(node.slice)
        if (entry := entry_of(owner, key)) in self.names:
            return self.names[entry]
        if owner.kind == "dict" and owner.inputs:
            keys = owner.inputs[::2]
            for number, each in enumerate(keys):
                if each.kind == key.kind and each.kind.startswith("text"):
                    return owner.inputs[2 * number + 1]
        return self.flow.note("[]", owner, key)

    def of_Call(self, node: ast.Call) -> Value:
        function = self.value(node.func)
        given = [self.value(each.value if isinstance(each, ast.Starred) else each)
                 for each in node.args]
        options = [(each.arg or "**", self.value(each.value)) for each in node.keywords]
        if function.kind == "getattr" and len(given) == 2 and (word := _word(given[1])):
            return self.flow.note(self.attribute(word), given[0])
        if function.kind == "setattr" and len(given) == 3 and (word := _word(given[1])):
            return self.flow.note(f"set {self.attribute(word)}", given[0], given[2])
        if function.code is not None and (made := self.call(function, given, options)) is not None:
            return made
        if function.kind in ("list", "dict", "set", "tuple") and function.code is None \
                and not function.inputs and not options:
            if not given:
                return Value(function.kind)
            if function.kind != "tuple" and given[0].kind in ("list", "set") \
                    and not given[0].inputs:
                return Value(function.kind)
        owner = function.inputs[0] if function.inputs else None
        word = function.kind.removeprefix(".")
        if owner is not None and owner.kind == "operator" and len(given) == 2 and not options:
            if word in _ARITHMETIC:
                self.flow.forget(function)
                return self.flow.note(_ARITHMETIC[word], *given)
            if word in _COMPARISONS:
                self.flow.forget(function)
                return self.compared(_COMPARISONS[word](), *given)
        if owner is not None and owner.kind == _FILLING.get(word) and word in ("append", "add") \
                and len(given) == 1:
            self.flow.forget(function)
            self.flow.note("fill", given[0])
            return Value("None")
        return self.flow.note("call", function, *given, *(
            Value(f"{name}=", [value]) for name, value in sorted(options, key=lambda each: each[0]))
                              )

    def call(self, function: Value, given: Sequence[Value], options: Sequence[tuple[str, Value]]
             ) -> Value | None:
        """Return what an own function returns, or `None` if it is not followed."""
        code = function.code
        assert code is not None
        arguments = [*code.args.posonlyargs, *code.args.args]
        is_method = bool(arguments) and arguments[0].arg == "self" and len(given) < len(arguments)
        if self.depth >= DEPTH:
            return None
        self.flow.followed.add(id(code))
        names = dict(function.names)
        names |= {each.arg: Value("input") for each in (*arguments, *code.args.kwonlyargs)}
        for each, default in zip(arguments[::-1], code.args.defaults[::-1], strict=False):
            names[each.arg] = self.value(default)
        for option, given_by in zip(code.args.kwonlyargs, code.args.kw_defaults, strict=True):
            names[option.arg] = self.value(given_by)
        names |= dict(zip((each.arg for each in arguments[is_method:]), given, strict=False))
        names |= {name: value for name, value in options if name in names}
        if code.args.vararg is not None:
            names[code.args.vararg.arg] = Value("tuple", given[len(arguments):])
        if code.args.kwarg is not None:
            names[code.args.kwarg.arg] = Value("options")
        frame = type(self)(self.flow, names, self.depth + 1, False)
        if isinstance(code, ast.Lambda):
            return frame.value(code.body)
        frame.block(code.body)
        if not frame.returned:
            return Value("None")
        return frame.returned[0] if len(frame.returned) == 1 else Value("either", frame.returned)

    def of_Lambda(self, node: ast.Lambda) -> Value:
        return self.own_function(node)

    def of_IfExp(self, node: ast.IfExp) -> Value:
        self.test(node.test)
        return Value("either", [self.value(node.body), self.value(node.orelse)])

    def of_NamedExpr(self, node: ast.NamedExpr) -> Value:
        value = self.value(node.value)
        self.store(node.target, value)
        return value

    def of_BinOp(self, node: ast.BinOp) -> Value:
        return self.flow.note(operator_kind(node.op), self.value(node.left), self.value(node.right))

    def of_UnaryOp(self, node: ast.UnaryOp) -> Value:
        value = self.value(node.operand)
        if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            return Value(f"-{value.kind}")
        return self.flow.note(type(node.op).__name__, value)

    def of_BoolOp(self, node: ast.BoolOp) -> Value:
        return self.flow.note(f"={type(node.op).__name__}", *(self.value(each)
                                                             for each in node.values))

    def of_Compare(self, node: ast.Compare) -> Value:
        values = [self.value(each) for each in (node.left, *node.comparators)]
        made = [self.compared(operator, one, other) for operator, one, other in
                zip(node.ops, values, values[1:], strict=False)]
        return made[0] if len(made) == 1 else self.flow.note("=And", *made)

    def compared(self, operator: ast.cmpop, one: Value, other: Value) -> Value:
        kind = type(operator).__name__
        if kind in ("Gt", "GtE"):
            kind, one, other = {"Gt": "Lt", "GtE": "LtE"}[kind], other, one
        if kind in ("Eq", "NotEq", "Is", "IsNot"):
            kind = f"={kind}"
        return self.flow.note(kind, one, other)

    def of_Tuple(self, node: ast.Tuple) -> Value:
        return Value("tuple", [self.value(each) for each in node.elts])

    def of_List(self, node: ast.List) -> Value:
        return Value("list", [self.value(each) for each in node.elts])

    def of_Set(self, node: ast.Set) -> Value:
        return Value("set", [self.value(each) for each in node.elts])

    def of_Dict(self, node: ast.Dict) -> Value:
        return Value("dict", [self.value(each) for pair in zip(node.keys, node.values, strict=True)
                              for each in pair])

    def of_Starred(self, node: ast.Starred) -> Value:
        return self.value(node.value)

    def of_JoinedStr(self, node: ast.JoinedStr) -> Value:
        for each in ast.walk(node):
            if isinstance(each, ast.FormattedValue):
                self.value(each.value)
        return Value("text")

    def comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
                      ) -> Value:
        before = self.names
        self.names = dict(before)
        for each in node.generators:
            self.store(each.target, self.flow.note("each", self.value(each.iter)))
            for condition in each.ifs:
                self.test(condition)
        if isinstance(node, ast.DictComp):
            self.flow.note("fill dict", self.value(node.key), self.value(node.value))
        else:
            self.flow.note("fill", self.value(node.elt))
        self.names = before
        return Value({ast.DictComp: "dict", ast.SetComp: "set"}.get(type(node), "list"))

    of_ListComp = of_SetComp = of_GeneratorExp = of_DictComp = comprehension

    def of_Yield(self, node: ast.Yield) -> Value:
        return self.flow.note("yield", self.value(node.value))

    def of_YieldFrom(self, node: ast.YieldFrom) -> Value:
        value = self.value(node.value)
        return value if value.kind in ("None", "either") else self.flow.note("yield from", value)


def entry_of(owner: Value, key: Value) -> str:
    """Return the name for an entry of a dictionary with a written key, which is used like a name.

    "" if it is no such entry.
    """
    is_written = owner.kind == "dict" and key.kind.startswith("text '")
    return f"{id(owner)} {key.kind}" if is_written else ""


def operator_kind(operator: ast.operator) -> str:
    kind = type(operator).__name__
    return f"+{kind}" if kind in ("Add", "Mult", "BitAnd", "BitOr") else kind


def _word(node: Value) -> str:
    if not node.kind.startswith("text '"):
        return ""
    word = node.kind[6:-1]
    return word if word.isidentifier() else ""


def _path(node: ast.Attribute) -> str:
    return f"{node.value.id}.{node.attr}" if isinstance(node.value, ast.Name) else ""


def loaded(node: ast.expr) -> ast.expr:
    """Return a target as an expression that reads it."""
    if isinstance(node, ast.Attribute):
        return ast.copy_location(ast.Attribute(node.value, node.attr, ast.Load()), node)
    if isinstance(node, ast.Subscript):
        return ast.copy_location(ast.Subscript(node.value, node.slice, ast.Load()), node)
    return node
