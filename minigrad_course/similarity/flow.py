"""Follow an answer, to find out what flows into what: the values, the calls, and their order.

NOTE [Flow]
    An answer is followed as if it ran, with symbols in place of values.  A name is replaced by the
    value that was assigned to it, a call of the learner's own function by what that function
    returns, and a loop that fills a list becomes the same node as a comprehension.  So naming a
    subexpression, moving code into a helper, renaming, or exchanging independent statements leaves
    no trace.  Each operation then becomes a *feature*: its kind, and the kinds of the values that
    flow into it, two operations back.  A branch that is added, or code that computes something
    else, adds features, and removes no other.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

from ..content.source import Function

__all__ = ["Flow", "Globals"]

#: How far back a feature looks, how deep calls are followed, and the most steps for one exercise.
REACH, DEPTH, NODES = 2, 6, 50_000
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
_FILLING = {"append": "list", "add": "set", "extend": "list", "update": "dict"}


class _Node:
    """A value: its kind, and the values that flow into it."""

    __slots__ = ("code", "inputs", "kind", "names", "shapes")

    def __init__(self, kind: str, inputs: Iterable[_Node] = ()) -> None:
        self.kind, self.inputs = kind, list(inputs)
        self.shapes: dict[int, str] = {}
        self.code: Function | ast.Lambda | None = None  # of an own function
        self.names: dict[str, _Node] = {}  # that its code can read

    def shape(self, reach: int) -> str:
        """Return the kind and what flows in, `reach` operations back."""
        found = self.shapes.get(reach)
        if found is None:
            self.shapes[reach] = self.kind  # of a value that flows into itself
            found = self._shape(reach)
            self.shapes[reach] = found
        return found

    def _shape(self, reach: int) -> str:
        if self.kind == "either":
            values = {each.shape(reach) for each in _flat(self)}
            return values.pop() if len(values) == 1 else f"either({'|'.join(sorted(values))})"
        if reach == 0 or not self.inputs:
            return self.kind
        parts = [each.shape(reach - 1) for each in self.inputs]
        if self.kind.startswith(("=", "+")):  # the sides of == and of + can be exchanged
            parts.sort()
        return f"{self.kind}({','.join(parts)})"


def _flat(node: _Node, seen: set[int] | None = None) -> list[_Node]:
    """Return the values that a choice leads to, without choices among them."""
    seen = set() if seen is None else seen
    if id(node) in seen:
        return []
    seen.add(id(node))
    if node.kind != "either":
        return [node]
    return [each for one in node.inputs for each in _flat(one, seen)]


@dataclass
class Globals:
    """The names of a module, and which of them the learner chose."""

    modules: dict[str, str] = field(default_factory=dict)  # names of imports
    functions: dict[str, Function] = field(default_factory=dict)  # own ones, also "Class.name"
    tables: dict[str, ast.expr] = field(default_factory=dict)  # own values
    own: frozenset[str] = frozenset()  # own names, ".x" for an attribute
    paths: dict[int, str] = field(default_factory=dict)  # of statements, by id

    @classmethod
    def of(cls, statements: Sequence[ast.stmt], own: frozenset[str]) -> Globals:
        """Collect the names that an answer's statements bind."""
        made = cls(own=own)
        for each in statements:
            made.add(each)
        return made

    def add(self, node: ast.stmt) -> None:
        """Add what a statement of a module binds."""
        if isinstance(node, Function):
            self.functions.setdefault(node.name, node)
        elif isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, Function):
                    self.functions.setdefault(f"{node.name}.{inner.name}", inner)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    self.tables.setdefault(target.id, node.value)


class Flow:
    """The features of an answer, each with how often it occurs and the lines of one of them."""

    def __init__(self, about: Globals) -> None:
        self.about = about
        self.features: Counter[str] = Counter()
        self.lines: dict[str, set[tuple[str, int]]] = {}  # the path and line of each
        self.followed: set[int] = set()
        self.left = NODES
        self.line = ("", 0)
        self.waiting: list[tuple[_Node, tuple[str, int]]] = []  # values to count, and their lines
        self.passed_on: list[_Node] = []  # own functions that are values

    def run(self, node: ast.stmt) -> None:
        """Follow a function, or another statement of a module."""
        if isinstance(node, Function):
            self.followed.add(id(node))
            arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            names = {each.arg: _Node(f"input {number}") for number, each in enumerate(arguments)}
            for each, kind in ((node.args.vararg, "inputs"), (node.args.kwarg, "options")):
                if each is not None:
                    names[each.arg] = _Node(kind)
            _Frame(self, names, 0, True).block(node.body)
        elif isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, Function):
                    self.run(inner)
        else:
            _Frame(self, {}, 0, False).block([node])

    def note(self, kind: str, *inputs: _Node) -> _Node:
        """Return a new value, and count it as a feature."""
        made = _Node(kind, inputs)
        self.count(made)
        return made

    def spend(self) -> None:
        """Count a step, because calls of calls could take forever."""
        self.left -= 1
        if self.left < 0:
            raise MemoryError("this answer has too many operations")

    def count(self, node: _Node) -> None:
        """Count a value as a feature once all values that flow into it are known."""
        self.spend()
        self.waiting.append((node, self.line))

    def done(self) -> Flow:
        """Count the features, now that every value is known."""
        for each in self.passed_on:  # functions that something else calls; there may be more in one
            if id(each.code) not in self.followed:
                self.followed.add(id(each.code))
                frame = _Frame(self, dict(each.names), 1, True)
                assert each.code is not None
                for argument in ast.walk(each.code.args):
                    if isinstance(argument, ast.arg):
                        frame.names[argument.arg] = _Node("input")
                if isinstance(each.code, ast.Lambda):
                    frame.returns(frame.value(each.code.body))
                else:
                    frame.block(each.code.body)
        for node, _ in self.waiting:
            node.shapes.clear()
        for node, line in self.waiting:
            if not node.inputs:
                continue
            mark = blake2b(node.shape(REACH).encode(), digest_size=5).hexdigest()
            self.features[mark] += 1
            self.lines.setdefault(mark, set()).add(line)
        self.waiting.clear()
        return self


class _Frame:
    """One call: the values of its names, and what it returns."""

    def __init__(self, flow: Flow, names: dict[str, _Node], depth: int, is_counted: bool) -> None:
        self.flow, self.names, self.depth, self.is_counted = flow, names, depth, is_counted
        self.returned: list[_Node] = []

    # ------------------------------------------------------------------ statements

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
        value, kind = self.value(node.value), _operator(node.op)
        if isinstance(node.target, ast.Name):
            self.names[node.target.id] = self.flow.note(kind, self.name(node.target.id), value)
            return
        before = self.value(_loaded(node.target))
        self.flow.note(f"{kind}=", before, value)

    def store(self, target: ast.expr, value: _Node) -> None:
        if isinstance(target, ast.Name):
            self.names[target.id] = value
        elif isinstance(target, ast.Tuple | ast.List):
            for number, each in enumerate(target.elts):
                if isinstance(each, ast.Starred):
                    self.store(each.value, _Node("list", [value]))
                elif value.kind in ("tuple", "list") and len(value.inputs) == len(target.elts):
                    self.store(each, value.inputs[number])
                else:
                    self.store(each, _Node(f"part {number}", [value]))
        elif isinstance(target, ast.Attribute):
            self.flow.note(f"set {self.attribute(target.attr)}", self.value(target.value), value)
        elif isinstance(target, ast.Subscript):
            self.filled(self.value(target.value), self.value(target.slice), value)

    def filled(self, owner: _Node, key: _Node, value: _Node) -> None:
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
            self.names[name] = values[0] if len(values) == 1 else _Node("either", values)

    def test(self, node: ast.expr) -> None:
        while isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            node = node.operand
        if isinstance(node, ast.BoolOp):
            for each in node.values:
                self.test(each)
        elif not isinstance(node, ast.Constant):
            value = self.value(node)
            kind = value.kind
            if kind in _OPPOSITE:
                value = _Node(_OPPOSITE[kind], value.inputs)
            self.flow.note("test", value)

    def loop(self, body: Sequence[ast.stmt], *heads: ast.stmt) -> None:
        changed = {each.id for head in (*heads, *body) for each in ast.walk(head)
                   if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
        carried = {name: _Node("either", [self.names[name]]) for name in changed
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
            value = _Node("error") if each.type is None else self.flow.note(
                "except", self.value(each.type))
            if each.name:
                self.names[each.name] = value
            self.block(each.body)
        self.block(node.orelse)
        self.block(node.finalbody)

    def do_Return(self, node: ast.Return) -> None:
        value = _Node("None") if node.value is None else self.value(node.value)
        self.returned.append(value)
        if self.is_counted:
            self.returns(value)

    def returns(self, value: _Node) -> None:
        for each in _flat(value):
            self.flow.note("return", each)

    def do_Raise(self, node: ast.Raise) -> None:
        if node.exc is not None:
            self.flow.note("raise", self.value(node.exc))

    def do_Expr(self, node: ast.Expr) -> None:
        self.value(node.value)

    def do_Delete(self, node: ast.Delete) -> None:
        for each in node.targets:
            if not isinstance(each, ast.Name):
                self.flow.note("del", self.value(_loaded(each)))

    def do_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.names[node.name] = self.own_function(node)

    do_AsyncFunctionDef = do_FunctionDef

    def do_ClassDef(self, node: ast.ClassDef) -> None:
        for each in node.body:
            if isinstance(each, Function):
                self.flow.run(each)

    def do_Import(self, node: ast.Import) -> None:
        for each in node.names:
            self.names[each.asname or each.name.partition(".")[0]] = _Node(
                each.name if each.asname else each.name.partition(".")[0])

    def do_ImportFrom(self, node: ast.ImportFrom) -> None:
        for each in node.names:
            self.names[each.asname or each.name] = _Node(each.name)

    # ------------------------------------------------------------------ values

    def name(self, name: str) -> _Node:
        if name in self.names:
            return self.names[name]
        about = self.flow.about
        if name in about.functions and name in about.own:
            return self.own_function(about.functions[name])
        if name in about.tables and name in about.own and self.depth < DEPTH:
            return _Frame(self.flow, {}, self.depth + 1, False).value(about.tables[name])
        return _Node(about.modules.get(name, "own" if name in about.own else name))

    def own_function(self, code: Function | ast.Lambda) -> _Node:
        made = _Node("own function")
        made.code, made.names = code, self.names
        self.flow.passed_on.append(made)
        return made

    def attribute(self, name: str) -> str:
        return ".own" if f".{name}" in self.flow.about.own else f".{name}"

    def value(self, node: ast.expr | None) -> _Node:
        if node is None:
            return _Node("None")
        method = getattr(self, f"of_{type(node).__name__}", None)
        if method is not None:
            made: _Node = method(node)
            return made
        inputs = [self.value(each) for each in ast.iter_child_nodes(node)
                  if isinstance(each, ast.expr)]
        return self.flow.note(type(node).__name__, *inputs)

    def of_Name(self, node: ast.Name) -> _Node:
        return self.name(node.id)

    def of_Constant(self, node: ast.Constant) -> _Node:
        value = node.value
        if isinstance(value, str | bytes):
            return _Node("text" if len(value) > 20 or " " in str(value) else f"text {value!r}")
        return _Node(f"{value!r:.20}")

    def of_Attribute(self, node: ast.Attribute) -> _Node:
        path = _path(node)
        if path and path in self.flow.about.functions and path.partition(".")[0] in \
                self.flow.about.own:
            return self.own_function(self.flow.about.functions[path])
        return self.flow.note(self.attribute(node.attr), self.value(node.value))

    def of_Subscript(self, node: ast.Subscript) -> _Node:
        owner, key = self.value(node.value), self.value(node.slice)
        if owner.kind == "dict" and owner.inputs:
            keys = owner.inputs[::2]
            for number, each in enumerate(keys):
                if each.kind == key.kind and each.kind.startswith("text"):
                    return owner.inputs[2 * number + 1]
        return self.flow.note("[]", owner, key)

    def of_Call(self, node: ast.Call) -> _Node:
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
                return _Node(function.kind)
            if function.kind != "tuple" and given[0].kind in ("list", "set") \
                    and not given[0].inputs:
                return _Node(function.kind)
        owner = function.inputs[0] if function.inputs else None
        word = function.kind.removeprefix(".")
        if owner is not None and owner.kind == _FILLING.get(word) and word in ("append", "add") \
                and len(given) == 1:
            self.flow.waiting[:] = [each for each in self.flow.waiting if each[0] is not function]
            self.flow.note("fill", given[0])
            return _Node("None")
        return self.flow.note("call", function, *given, *(
            _Node(f"{name}=", [value]) for name, value in sorted(options, key=lambda each: each[0]))
                              )

    def call(self, function: _Node, given: Sequence[_Node], options: Sequence[tuple[str, _Node]]
             ) -> _Node | None:
        """Return what an own function returns, or `None` if it is not followed."""
        code = function.code
        assert code is not None
        arguments = [*code.args.posonlyargs, *code.args.args]
        is_method = bool(arguments) and arguments[0].arg == "self" and len(given) < len(arguments)
        if self.depth >= DEPTH:
            return None
        self.flow.followed.add(id(code))
        names = dict(function.names)
        names |= {each.arg: _Node("input") for each in (*arguments, *code.args.kwonlyargs)}
        for each, default in zip(arguments[::-1], code.args.defaults[::-1], strict=False):
            names[each.arg] = self.value(default)
        for option, given_by in zip(code.args.kwonlyargs, code.args.kw_defaults, strict=True):
            names[option.arg] = self.value(given_by)
        names |= dict(zip((each.arg for each in arguments[is_method:]), given, strict=False))
        names |= {name: value for name, value in options if name in names}
        if code.args.vararg is not None:
            names[code.args.vararg.arg] = _Node("tuple", given[len(arguments):])
        if code.args.kwarg is not None:
            names[code.args.kwarg.arg] = _Node("options")
        frame = _Frame(self.flow, names, self.depth + 1, False)
        if isinstance(code, ast.Lambda):
            return frame.value(code.body)
        frame.block(code.body)
        if not frame.returned:
            return _Node("None")
        return frame.returned[0] if len(frame.returned) == 1 else _Node("either", frame.returned)

    def of_Lambda(self, node: ast.Lambda) -> _Node:
        return self.own_function(node)

    def of_IfExp(self, node: ast.IfExp) -> _Node:
        self.test(node.test)
        return _Node("either", [self.value(node.body), self.value(node.orelse)])

    def of_NamedExpr(self, node: ast.NamedExpr) -> _Node:
        value = self.value(node.value)
        self.store(node.target, value)
        return value

    def of_BinOp(self, node: ast.BinOp) -> _Node:
        return self.flow.note(_operator(node.op), self.value(node.left), self.value(node.right))

    def of_UnaryOp(self, node: ast.UnaryOp) -> _Node:
        value = self.value(node.operand)
        if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            return _Node(f"-{value.kind}")
        return self.flow.note(type(node.op).__name__, value)

    def of_BoolOp(self, node: ast.BoolOp) -> _Node:
        return self.flow.note(f"={type(node.op).__name__}", *(self.value(each)
                                                             for each in node.values))

    def of_Compare(self, node: ast.Compare) -> _Node:
        values = [self.value(each) for each in (node.left, *node.comparators)]
        made = [self.compared(operator, one, other) for operator, one, other in
                zip(node.ops, values, values[1:], strict=False)]
        return made[0] if len(made) == 1 else self.flow.note("=And", *made)

    def compared(self, operator: ast.cmpop, one: _Node, other: _Node) -> _Node:
        kind = type(operator).__name__
        if kind in ("Gt", "GtE"):
            kind, one, other = {"Gt": "Lt", "GtE": "LtE"}[kind], other, one
        if kind in ("Eq", "NotEq", "Is", "IsNot"):
            kind = f"={kind}"
        return self.flow.note(kind, one, other)

    def of_Tuple(self, node: ast.Tuple) -> _Node:
        return _Node("tuple", [self.value(each) for each in node.elts])

    def of_List(self, node: ast.List) -> _Node:
        return _Node("list", [self.value(each) for each in node.elts])

    def of_Set(self, node: ast.Set) -> _Node:
        return _Node("set", [self.value(each) for each in node.elts])

    def of_Dict(self, node: ast.Dict) -> _Node:
        return _Node("dict", [self.value(each) for pair in zip(node.keys, node.values, strict=True)
                              for each in pair])

    def of_Starred(self, node: ast.Starred) -> _Node:
        return self.value(node.value)

    def of_JoinedStr(self, node: ast.JoinedStr) -> _Node:
        for each in ast.walk(node):
            if isinstance(each, ast.FormattedValue):
                self.value(each.value)
        return _Node("text")

    def comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
                      ) -> _Node:
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
        return _Node({ast.DictComp: "dict", ast.SetComp: "set"}.get(type(node), "list"))

    of_ListComp = of_SetComp = of_GeneratorExp = of_DictComp = comprehension

    def of_Yield(self, node: ast.Yield) -> _Node:
        return self.flow.note("yield", self.value(node.value))

    def of_YieldFrom(self, node: ast.YieldFrom) -> _Node:
        value = self.value(node.value)
        return value if value.kind in ("None", "either") else self.flow.note("yield from", value)


_OPPOSITE = {"=NotEq": "=Eq", "=IsNot": "=Is", "NotIn": "In"}


def _operator(operator: ast.operator) -> str:
    kind = type(operator).__name__
    return f"+{kind}" if kind in ("Add", "Mult", "BitAnd", "BitOr") else kind


def _is_single(values: ast.expr) -> bool:
    """Return whether a loop over these values has one turn."""
    if isinstance(values, ast.Tuple | ast.List):
        return len(values.elts) == 1 and not isinstance(values.elts[0], ast.Starred)
    return isinstance(values, ast.Call) and isinstance(values.func, ast.Name) \
        and values.func.id == "range" and len(values.args) == 1 \
        and isinstance(values.args[0], ast.Constant) and values.args[0].value == 1


def _word(node: _Node) -> str:
    if not node.kind.startswith("text '"):
        return ""
    word = node.kind[6:-1]
    return word if word.isidentifier() else ""


def _path(node: ast.Attribute) -> str:
    return f"{node.value.id}.{node.attr}" if isinstance(node.value, ast.Name) else ""


def _loaded(node: ast.expr) -> ast.expr:
    """Return a target as an expression that reads it."""
    if isinstance(node, ast.Attribute):
        return ast.copy_location(ast.Attribute(node.value, node.attr, ast.Load()), node)
    if isinstance(node, ast.Subscript):
        return ast.copy_location(ast.Subscript(node.value, node.slice, ast.Load()), node)
    return node

