"""Reads a pickle without running any of its code; see NOTE [The format] in files.py.

The interpreter knows the instructions that `torch.save` writes.  They build plain containers, and
call what `names` returns for a name.  It refuses every other instruction or name.
"""

from __future__ import annotations

import pickletools
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, BinaryIO

__all__ = ["Refused", "unpickle"]

#: Maximum depth of nested containers.
DEPTH = 500

#: Types allowed as keys of dicts and items of sets, besides tuples of them.
KEYS = (str, int, float, bool, bytes, type(None))

#: Instructions that push their argument on the stack.
ARGUMENT = {"BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT", "BINUNICODE", "SHORT_BINUNICODE",
            "BINBYTES", "SHORT_BINBYTES", "BINSTRING", "SHORT_BINSTRING"}
#: Instructions that push a constant on the stack.
CONSTANTS: dict[str, Callable[[], Any]] = {
    "NONE": lambda: None, "NEWTRUE": lambda: True, "NEWFALSE": lambda: False,
    "EMPTY_DICT": dict, "EMPTY_LIST": list, "EMPTY_TUPLE": tuple, "EMPTY_SET": set}
SMALL_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}


class Refused(ValueError):
    """Raised for a pickle that requires more than plain data."""


def unpickle(program: BinaryIO, names: Callable[[str, str], Any],
             persistent: Callable[[Any], Any], trusted: Sequence[Any] = ()) -> Any:
    """Return the object that a pickle describes, and leave the file at the pickle's end.

    `names` returns the constructor or constant for a module and a name, or raises; `persistent`
    resolves an external reference; `trusted` lists classes and functions that the pickle may call.

    >>> import io, pickle
    >>> unpickle(io.BytesIO(pickle.dumps({"a": [1, (2.5, None)]}, protocol=2)), None, None)
    {'a': [1, (2.5, None)]}
    """
    machine = Machine(names, persistent, trusted)
    for opcode, argument, _ in pickletools.genops(program):
        if machine.run(opcode.name, argument):
            return machine.pop()
    raise Refused("the pickle has no end")


class Constructor:
    """A function in the table; a pickle may call only these."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self.call = call


class Machine:
    """The stack and the memo while a pickle is read."""

    def __init__(self, names: Callable[[str, str], Any], persistent: Callable[[Any], Any],
                 trusted: Sequence[Any]) -> None:
        self.names = names
        self.persistent = persistent
        self.trusted = trusted
        self.stack: list[Any] = []
        self.marks: list[list[Any]] = []  # the stacks below each mark
        self.memo: dict[int, Any] = {}

    def pop(self) -> Any:
        """Pop the top of the stack."""
        if not self.stack:
            raise Refused("the pickle takes from an empty stack")
        return self.stack.pop()

    def top(self, wanted: type) -> Any:
        """Return the top of the stack; raise unless it is a container of this type."""
        if not self.stack or not isinstance(self.stack[-1], wanted):
            raise Refused(f"the pickle fills something that is not a {wanted.__name__}")
        return self.stack[-1]

    def to_mark(self) -> list[Any]:
        """Pop everything above the last mark."""
        if not self.marks:
            raise Refused("the pickle has no mark")
        items, self.stack = self.stack, self.marks.pop()
        return items

    def run(self, name: str, argument: Any) -> bool:
        """Run one instruction; return whether it was the last."""
        if name in ARGUMENT:
            self.stack.append(argument)
        elif name in CONSTANTS:
            self.stack.append(CONSTANTS[name]())
        elif name in SMALL_TUPLES:
            items = [self.pop() for _ in range(SMALL_TUPLES[name])]
            self.stack.append(tuple(items[::-1]))
        elif name in INSTRUCTIONS:
            INSTRUCTIONS[name](self, argument)
        elif name not in ("PROTO", "FRAME", "STOP"):
            raise Refused(f"the pickle has the instruction {name}, which plain data never needs")
        return name == "STOP"

    # ---------------------------------------------------------------- instructions

    def mark(self, _: Any) -> None:
        """Start the items of a container."""
        if len(self.marks) >= DEPTH:
            raise Refused(f"the pickle nests containers more than {DEPTH} deep")
        self.marks.append(self.stack)
        self.stack = []

    def tuple(self, _: Any) -> None:
        """Build a tuple from everything above the mark."""
        items = self.to_mark()
        self.stack.append(tuple(items))

    def append(self, _: Any) -> None:
        """Append one item to a list."""
        item = self.pop()
        self.top(list).append(item)

    def appends(self, _: Any) -> None:
        """Append everything above the mark to a list."""
        items = self.to_mark()
        self.top(list).extend(items)

    def additems(self, _: Any) -> None:
        """Add everything above the mark to a set."""
        items = self.to_mark()
        self.top(set).update(map(checked_key, items))

    def setitem(self, _: Any) -> None:
        """Set one item of a dict."""
        value, key = self.pop(), self.pop()
        self.top(dict)[checked_key(key)] = value

    def setitems(self, _: Any) -> None:
        """Set several items of a dict, given as alternating keys and values."""
        items = self.to_mark()
        if len(items) % 2:
            raise Refused("the pickle has a key without a value")
        self.top(dict).update(zip(map(checked_key, items[::2]), items[1::2], strict=True))

    def remember(self, place: Any) -> None:
        """Store the top of the stack in the memo."""
        self.memo[len(self.memo) if place is None else place] = self.top(object)

    def fetch(self, place: Any) -> None:
        """Push an object from the memo on the stack."""
        if place not in self.memo:
            raise Refused("the pickle fetches an object that it has not created")
        self.stack.append(self.memo[place])

    def name(self, qualified: Any) -> None:
        """Look up a name in the table."""
        module, _, name = qualified.partition(" ")
        self.stack.append(self.names(module, name))

    def name_from_stack(self, _: Any) -> None:
        """Look up a name whose two parts are on the stack."""
        name, module = self.pop(), self.pop()
        self.stack.append(self.names(str(module), str(name)))

    def reduce(self, _: Any) -> None:
        """Call a function from the table."""
        args, function = self.pop(), self.pop()
        if not isinstance(args, tuple):
            raise Refused("the pickle calls a function with something that is not a tuple")
        if isinstance(function, Constructor):
            self.stack.append(function.call(*args))
        elif self.trusts(function):
            self.stack.append(function(*args))
        else:
            raise Refused("the pickle calls something that is not a function")

    def trusts(self, value: Any) -> bool:
        """Return whether the caller of `load` declared a class or function safe."""
        return any(value is each for each in self.trusted)

    def new_object(self, _: Any) -> None:
        """Create an object of a trusted class, without calling `__init__`."""
        args, cls = self.pop(), self.pop()
        if not self.trusts(cls) or not isinstance(args, tuple):
            raise Refused("Can only create new object for nn.Parameter or classes allowlisted via "
                          f"`add_safe_globals` but got {cls}")
        self.stack.append(cls.__new__(cls, *args))

    def build(self, _: Any) -> None:
        """Set the attributes of a trusted object, or a state dict's metadata."""
        state = self.pop()
        if self.stack and self.trusts(type(self.stack[-1])):
            set_state(self.stack[-1], state)
            return
        target = self.top(OrderedDict)
        if not isinstance(state, dict) or set(state) != {"_metadata"}:
            raise Refused("the pickle sets attributes of an object")
        vars(target).update(state)

    def external(self, _: Any) -> None:
        """Replace a reference by the object it refers to."""
        self.stack.append(self.persistent(self.pop()))


INSTRUCTIONS: dict[str, Callable[[Machine, Any], None]] = {
    "MARK": Machine.mark, "TUPLE": Machine.tuple, "APPEND": Machine.append,
    "APPENDS": Machine.appends, "ADDITEMS": Machine.additems, "SETITEM": Machine.setitem,
    "SETITEMS": Machine.setitems, "BINPUT": Machine.remember, "LONG_BINPUT": Machine.remember,
    "MEMOIZE": Machine.remember, "BINGET": Machine.fetch, "LONG_BINGET": Machine.fetch,
    "GLOBAL": Machine.name, "STACK_GLOBAL": Machine.name_from_stack, "REDUCE": Machine.reduce,
    "NEWOBJ": Machine.new_object, "BUILD": Machine.build, "BINPERSID": Machine.external}


def set_state(target: Any, state: Any) -> None:
    """Set an object's attributes as Python's unpickler does."""
    if hasattr(target, "__setstate__"):
        target.__setstate__(state)
        return
    slots = None
    if isinstance(state, tuple) and len(state) == 2:
        state, slots = state
    target.__dict__.update(state or {})
    for name, value in (slots or {}).items():
        setattr(target, name, value)


def checked_key(key: Any, depth: int = 2) -> Any:
    """Return a dict key; raise if its type could take forever to compare, as nested tuples can."""
    if not isinstance(key, KEYS) and not (
            isinstance(key, (tuple, frozenset)) and depth
            and all(checked_key(item, depth - 1) is item for item in key)):
        raise Refused(f"the pickle has a key of type {type(key).__name__}")
    return key
