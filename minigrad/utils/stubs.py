"""Type stubs for the tensor methods and package functions that declarations publish.

Methods and functions of ops are created at import, so type checkers do not see them.  This module
writes their signatures to `_tensor_methods.pyi` and `_functions.pyi`, and the module of each name
in the package to `_names.py`:

    python -m minigrad.utils.stubs            # write them
    python -m minigrad.utils.stubs --check    # fail if they are out of date
"""

from __future__ import annotations

import argparse
import ast
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from ..autograd.variable import Variable as Variable  # it gives tensors a property
from ..op.declaration import REGISTRY, Op
from ..op.publish import AUGMENTED, FUNCTIONS
from ..ops import load_all
from ..tensor.tensor import Tensor
from .name_tables import tables

PACKAGE = Path(__file__).resolve().parent.parent
_PACKAGE = __spec__.name.partition(".")[0]
METHODS, FUNCTIONS_STUB = PACKAGE / "_tensor_methods.pyi", PACKAGE / "_functions.pyi"
NAMES = PACKAGE / "_names.py"

#: Names that annotations may use, and their names in a stub. Tensors have methods called `float`
#: and `int`, so these names would hide the types.
KNOWN = {
    **{name: f"builtins.{name}" for name in (
        "bool", "int", "float", "str", "bytes", "object", "tuple", "list", "dict", "set", "type")},
    **{name: name for name in (
        "Any", "Callable", "Iterator", "Sequence", "Iterable", "None", "Tensor", "Generator",
        "Options", "SizedOptions", "Unpack", "Self")},
    "dtype": "_dtype", "device": "_device", "Size": "_Size", "Array": "Any",
    "Shape": "builtins.tuple[builtins.int, ...]",
}

HEADER = '''\
# Written by `python -m minigrad.utils.stubs`; do not edit.
import builtins
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Self, Unpack, overload

from .tensor.attributes import Size as _Size
from .device import device as _device
from .dtypes import dtype as _dtype
from .ops.random.generator import Generator
from .ops.creation.tensor_options import Options, SizedOptions
from .tensor.tensor import Tensor

_Number = builtins.int | builtins.float
'''

TENSORS = "builtins.tuple[Tensor, ...]"

#: Results of handwritten functions and methods without an annotation; all others return a tensor.
#: `Any` means that the result depends on the arguments, or has special fields.
RESULTS = {
    **dict.fromkeys(("allclose", "equal", "is_conj", "is_contiguous", "is_neg", "volatile"),
                    "builtins.bool"),
    **dict.fromkeys((
        "broadcast_tensors", "chunk", "dsplit", "gradient", "hsplit", "meshgrid", "native_dropout",
        "split", "std_mean", "tensor_split", "unravel_index", "unsafe_chunk", "var_mean",
        "vsplit"), TENSORS),
    **dict.fromkeys(("gru", "lstm_cell", "rnn_relu", "rnn_tanh"), "builtins.tuple[Tensor, Tensor]"),
    **dict.fromkeys((
        "atleast_1d", "atleast_2d", "atleast_3d", "histogram", "histogramdd", "layout",
        "linalg_cholesky_ex", "linalg_inv_ex", "linalg_ldl_factor", "linalg_ldl_factor_ex",
        "linalg_lstsq", "linalg_lu", "linalg_lu_factor", "linalg_lu_factor_ex", "linalg_qr",
        "linalg_slogdet", "linalg_solve_ex", "lu", "lu_unpack", "max_pool1d", "max_pool2d",
        "max_pool3d", "nonzero", "qr", "svd", "triangular_solve", "type", "unique",
        "unique_consecutive"), "Any"),
    "__setitem__": "None",
    "_node_for": "Any",
    "broadcast_shapes": "_Size",
    "lstm": "builtins.tuple[Tensor, Tensor, Tensor]",
}

#: Handwritten binary operators.
OPERATORS = {"__imod__", "__ipow__", "__mod__", "__pow__", "__rmod__", "__rpow__", "__rsub__"}

#: Functions and methods with several forms: the arguments after the first, and the result of each.
FORMS = {
    **{name: (("*, out: Any = ...", "Tensor"),
              ("other: Tensor, *, out: Any = ...", "Tensor"),
              ("dim: builtins.int, keepdim: builtins.bool = ..., *, out: Any = ...", result))
       for name, result in (("max", "_MaxDimResult"), ("min", "_MinDimResult"))},
    **{name: (("", "Tensor"),
              ("dim: builtins.int, keepdim: builtins.bool = ..., *, out: Any = ...", result))
       for name, result in (("median", "_MedianDimResult"), ("nanmedian", "_NanmedianDimResult"))},
}

#: The same for functions whose first argument has another name: all arguments.
FUNCTION_FORMS = {
    "where": (("condition: Tensor", TENSORS),
              ("condition: Tensor, input: Tensor | _Number, other: Tensor | _Number, *, "
               "out: Any = ...", "Tensor")),
}

#: Dunder methods that `object` declares with other types.
OVERRIDES = {"__eq__", "__ne__"}


def main(arguments: list[str] | None = None) -> int:
    """Write the stubs, or with `--check` report which of them are out of date."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing, only compare")
    check = parser.parse_args(arguments).check
    stale = []
    for path, text in stubs().items():
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        if check:
            stale.append(path.name)
        else:
            path.write_text(text, encoding="utf-8")
    if stale:
        print(f"not current: {', '.join(stale)}; run python -m minigrad.utils.stubs",
              file=sys.stderr)
    return 1 if stale else 0


def stubs() -> dict[Path, str]:
    """Return the text of each file."""
    load_all()
    results = "\n".join(named_results())
    methods = "\n".join(method_lines())
    functions = "\n".join(function_lines())
    exported = "\n".join(f'    "{name}",' for name in sorted(FUNCTIONS))
    return {
        METHODS: f"{HEADER}\n{results}\nclass TensorMethods:\n{methods}\n",
        FUNCTIONS_STUB: f"{HEADER}\n{results}\n{functions}\n\n"
        f"__all__: builtins.list[builtins.str] = [\n{exported}\n]\n",
        NAMES: tables({name: vars(Tensor)[name] for name in published_methods()}),
    }


def named_results() -> Iterator[str]:
    """Yield the named tuples that ops with several outputs return."""
    for op in sorted(REGISTRY.values(), key=lambda op: op.__name__):
        if op.outputs:
            yield f"class _{op.__name__}Result(NamedTuple):"
            for output in op.outputs:
                yield f"    {output}: Tensor"
            yield ""


def method_lines() -> Iterator[str]:
    """Yield every method that layers above `tensor` add to tensors."""
    ops = published_ops()
    for name in sorted(published_methods()):
        attribute = inspect.getattr_static(Tensor, name)
        if isinstance(attribute, property):
            yield "    @property"
            yield f"    def {name}(self) -> {RESULTS.get(name, 'Tensor')}: ..."
            continue
        if isinstance(attribute, staticmethod):
            yield "    @staticmethod"
            attribute = attribute.__func__
            text = signature_of(attribute)
        elif name in dunders() or name in OPERATORS:
            text = dunder_signature(name)
        elif (op := ops.get(name) or ops.get(attribute.__name__)) is not None:
            text = op_signature(op)
        else:
            text = signature_of(attribute, first="self", name=name)
        if name in FORMS:
            yield from forms(FORMS[name], name, "self", "    ")
            continue
        note = "  # type: ignore[override]  # a tensor, no bool" if name in OVERRIDES else ""
        yield f"    def {name}{text}: ...{note}"


def function_lines() -> Iterator[str]:
    """Yield every function of the package."""
    ops = published_ops()
    for name in sorted(FUNCTIONS):
        if name in FUNCTION_FORMS:
            yield from forms(FUNCTION_FORMS[name], name, "", "")
            continue
        if name in FORMS:
            yield from forms(FORMS[name], name, "input: Tensor", "")
            continue
        op = ops.get(name) or ops.get(FUNCTIONS[name].__name__)
        text = op_signature(op, first="input") if op else signature_of(FUNCTIONS[name], name=name)
        yield f"def {name}{text}: ..."


def forms(several: Iterable[tuple[str, str]], name: str, first: str, indent: str) -> Iterator[str]:
    """Yield the overloads of a function or method with several forms."""
    for arguments, result in several:
        yield f"{indent}@overload"
        yield f"{indent}def {name}({', '.join(filter(None, (first, arguments)))}) -> {result}: ..."


def published_methods() -> set[str]:
    """Return the names in `Tensor` that its own class body does not define.

    It excludes methods that minigrad leaves out, so that a type checker reports them as missing.
    """
    source = ast.parse((PACKAGE / "tensor" / "tensor.py").read_text(encoding="utf-8"))
    body = next(node for node in source.body
                if isinstance(node, ast.ClassDef) and node.name == "Tensor")
    own: set[str] = set()
    for node in body.body:
        if isinstance(node, ast.FunctionDef):
            own.add(node.name)
        elif isinstance(node, ast.Assign):
            own.update(t.id for t in node.targets if isinstance(t, ast.Name))
    own.update(Tensor.__slots__)
    own.update(name for name, value in vars(Tensor).items()
               if getattr(value, "__module__", None) == f"{_PACKAGE}.compat.stand_ins")
    return {name for name in vars(Tensor) if name not in own and not name.startswith("_Tensor")
            and name not in ("__module__", "__doc__", "__annotations__", "__slots__",
                             "__static_attributes__", "__firstlineno__")}


def published_ops() -> dict[str, type[Op]]:
    """Return the ops that are published as functions and methods, including in-place variants."""
    ops: dict[str, type[Op]] = {}
    for op in REGISTRY.values():
        if op.public:
            ops[op.name] = op
            if (op.inplace or op.inplace_op):
                ops[op.name + "_"] = op
    return ops


def dunders() -> dict[str, type[Op]]:
    """Return the operators of all ops."""
    found: dict[str, type[Op]] = {}
    for op in REGISTRY.values():
        found.update(dict.fromkeys(op.dunder, op))
        if (op.inplace or op.inplace_op) and op.dunder and op.dunder[0] in AUGMENTED:
            found[AUGMENTED[op.dunder[0]]] = op
    return found


def dunder_signature(name: str) -> str:
    """Return the signature of an operator."""
    if name not in OPERATORS and len(dunders()[name].parameters) == 1:
        return "(self) -> Tensor"
    operand = "Any" if name in OVERRIDES else "Tensor | _Number"
    return f"(self, other: {operand}) -> {'Self' if name in AUGMENTED.values() else 'Tensor'}"


def op_signature(op: type[Op], first: str = "self") -> str:
    """Return the signature of an op's function and method, from its declaration."""
    parts, star = [], False
    for position, name in enumerate(op.parameters):
        if name in op.keyword_only and not star:
            parts.append("*")
            star = True
        if position == 0 and name == "self" and first == "self":
            parts.append("self")
            continue
        default = " = ..." if name in op.defaults else ""
        shown = first if position == 0 and name == "self" else name
        if name == op.varargs:
            parts.append(f"*{shown}: Any")
            star = True
        else:
            annotation = parameter_type(op, name)
            parts.append(f"{shown}: {'Tensor' if shown == 'input' else annotation}{default}")
    if first != "self":
        parts += [] if star else ["*"]
        parts.append("out: Any = ...")
    return f"({', '.join(parts)}) -> {result_of(op)}"


def parameter_type(op: type[Op], name: str) -> str:
    """Return the type of an op's argument, as far as the declaration determines it."""
    default = op.defaults.get(name, inspect.Parameter.empty)
    if name == op.list_of_tensors:
        return "Sequence[Tensor]"
    if name in (op.tensors or ()):
        annotation = "Tensor | _Number" if op.promote else "Tensor"
        return f"{annotation} | None" if default is None else annotation
    return "builtins.bool" if isinstance(default, bool) else "Any"


def result_of(op: type[Op]) -> str:
    """Return the type of an op's result."""
    if op.outputs:
        return f"_{op.__name__}Result"
    return "builtins.tuple[Tensor, ...]" if op.many else "Tensor"


def signature_of(function: Callable[..., Any], first: str | None = None, name: str = "") -> str:
    """Return the signature of a handwritten function, with annotations in known names.

    If the result has no annotation, RESULTS gives it for the public `name`.
    """
    parts: list[str] = []
    star = False
    signature = inspect.signature(function)
    for position, parameter in enumerate(signature.parameters.values()):
        sort = parameter.kind
        if position == 0 and first is not None:
            parts.append(first)
            if sort is not parameter.VAR_POSITIONAL:
                continue
        if sort is parameter.KEYWORD_ONLY and not star:
            parts.append("*")
        star = star or sort in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
        mark = "*" if sort is parameter.VAR_POSITIONAL else ""
        mark = "**" if sort is parameter.VAR_KEYWORD else mark
        default = "" if parameter.default is parameter.empty else " = ..."
        parts.append(f"{mark}{parameter.name}: {annotation(parameter.annotation)}{default}")
    result = annotation(signature.return_annotation)
    if signature.return_annotation is signature.empty:
        result = RESULTS.get(name, "Tensor")
    return f"({', '.join(parts)}) -> {result}"


def annotation(given: Any) -> str:
    """Return an annotation in the stub's names, or `Any` if there is no name for it."""
    if given is inspect.Parameter.empty:
        return "Any"
    text = given if isinstance(given, str) else getattr(given, "__name__", str(given))
    tree = ast.parse(text, mode="eval")
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) or (
            isinstance(node, ast.Name) and node.id not in KNOWN
        ):
            return "Any"
        if isinstance(node, ast.Name):
            node.id = KNOWN[node.id]
    return ast.unparse(tree)


if __name__ == "__main__":
    sys.exit(main())
