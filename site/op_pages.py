"""A page for each operation, from its declaration, and the files that the declarations stand in."""

from __future__ import annotations

import contextvars
import importlib
import inspect
import textwrap
from collections import defaultdict
from doctest import DocTestParser, DocTestRunner
from functools import cache
from pathlib import Path
from typing import Any
from zlib import crc32

from examples import complete
from prose import code, fenced, front_matter, summary, table

import minigrad
from minigrad.codegen.functions import texts_of
from minigrad.op.apply import apply
from minigrad.op.arguments import bind
from minigrad.op.declaration import REGISTRY, F, Op
from minigrad.tensor.tensor import Tensor

__all__ = ["families", "index_page", "op_page", "page_name", "pages"]

OpType = type[Op]
#: Behind a heading: the search leaves out what stands below it.
QUIET = "{ data-search-exclude }"

PACKAGE = Path(minigrad.__file__).parent

#: The texts that are written for an op, as readers know them.
TITLES = {"function": "A call: prepare, forward, record, wrap",
          "operator": "The operator: prepare, forward, record, wrap",
          "backward on arrays": "Its node in a backward pass",
          "backward on tensors": "Its node in a backward pass with <code>create_graph=True</code>"}


def pages() -> dict[str, list[OpType]]:
    """Return the operations by the name of their page: those of one name share one."""
    found: dict[str, list[OpType]] = defaultdict(list)
    for op in REGISTRY.values():
        found[op.name].append(op)
    return dict(sorted(found.items()))


def page_name(name: str) -> str:
    """Return the file's name of an operation's page, without ending; `index` is the list's."""
    return "index_" if name == "index" else name


def families() -> dict[str, list[OpType]]:
    """Return the operations by the module that declares them."""
    found: dict[str, list[OpType]] = defaultdict(list)
    for op in REGISTRY.values():
        found[op.__module__.removeprefix("minigrad.")].append(op)
    return dict(sorted(found.items()))


def index_page() -> str:
    """Return the page that lists all operations, family by family."""
    named = pages()
    parts = [front_matter(title="Operations"), "# Operations\n",
             f"{len(REGISTRY)} operations are declared once each, and everything else follows "
             "from the declaration: the function, the method, the operator, the node, what is "
             "saved, the variant that writes in place, and these pages. Those of one name share a "
             "page. Names in brackets have no function of their own: another one calls them.\n",
             '<div class="mg-filter mg-guessed"></div>\n'
             '<script type="module" src="../runtime/filter.js"></script>\n']
    for module, ops in families().items():
        doc = summary(importlib.import_module(f"minigrad.{module}").__doc__)
        parts.append(f"## {module.removeprefix('ops.')}\n\n{doc}\n\n"
                     f"[The source](../source/{module}.md)\n")
        seen = dict.fromkeys(op.name for op in ops)
        rows = []
        for name in seen:
            op = named[name][0]
            shown = f"`{name}`" if is_called(name) else f"(`{name}`)"
            rows.append([f"[{shown}]({page_name(name)}.md)", summary(op.__doc__)])
        parts.append(table(["operation", "what it computes"], rows))
    return "\n".join(parts)


def is_called(name: str) -> bool:
    """Whether the package or tensors offer something of that name."""
    return name in minigrad.__dict__ or hasattr(Tensor, name)


def op_page(name: str, ops: list[OpType]) -> str:
    """Return the page of the operations of one name."""
    description = summary(ops[0].__doc__)
    parts = [front_matter(title=name, description=description), f"# {name}\n",
             "[All operations](index.md)\n{ .mg-facts }\n"]
    for op in ops:
        if len(ops) > 1:
            parts.append(f"## {op.__name__}\n")
        parts.append(_body(op, "##" + "#" * (len(ops) > 1)))
    return "\n".join(parts)


def _body(op: OpType, level: str) -> str:
    doc, example = _examples(op)
    source, first = _source(op)
    module = op.__module__.removeprefix("minigrad.")
    place = f"../../source/{module}/#__codelineno-0-{first}"
    parts = [f"{doc}\n", _facts(op)]
    if example:
        parts.append(f"{level} Example\n\n{code(example, 'pycon')}")
    parts.append(f"{level} Derivative\n\n{_derivative(op)}")
    shapes = _shapes(op)
    if shapes:
        parts.append(f"{level} Shapes {QUIET}\n\nOf the samples that the tests run on.\n\n{shapes}")
    backward = _backward(op)
    if backward:
        parts.append(f"{level} A gradient {QUIET}\n\nOne sample, run while this page was made. The "
                     "gradients are those of the sum of the result's elements.\n\n"
                     + code(backward, "text"))
    parts.append(f"{level} Declaration {QUIET}\n\n{code(source)}\n"
                 f'<a href="{place}">`{op.__module__}`, line {first}</a>\n')
    if texts := texts_of(op):
        parts.append(f"{level} What runs {QUIET}\n\nThe code that minigrad writes from the "
                     f"declaration. `minigrad show {op.name}` prints it too.\n")
        parts += [_folded(TITLES[title], text) for title, text in texts.items()]
    return "\n".join(parts)


def _folded(title: str, text: str) -> str:
    return (f'<details markdown="1">\n<summary>{title}</summary>\n\n{code(text)}\n</details>\n')


def _facts(op: OpType) -> str:
    facts = ["Called as " + ", ".join(f"`{each}`" for each in _spellings(op))]
    if op.node_type is not None and op.differentiable:
        facts.append(f"Its node is `{op.node_type.__name__}`")
    if op.outputs:
        facts.append("Returns " + ", ".join(f"`{each}`" for each in op.outputs))
    traits = [words for holds, words in (
        (op.promote == "result", "It brings its inputs to one dtype"),
        (op.promote == "float", "It brings its inputs to one floating dtype"),
        (op.view, "Its result is a view of the first input"),
        (op.inplace, "A variant of it writes to the first input")) if holds]
    return "".join(f"- {fact}.\n" for fact in facts + traits)


def _spellings(op: OpType) -> list[str]:
    arguments = ", ".join(str(each).replace(" ", "") for each in
                          list(inspect.signature(op.forward).parameters.values())[1:])
    called = []
    if op.public:
        called.append(f"minigrad.{op.name}({arguments})")
        if op.method:
            called.append(f"Tensor.{op.name}")
    elif is_called(op.name):
        where = "minigrad" if op.name in minigrad.__dict__ else "Tensor"
        called.append(f"{where}.{op.name}")
    else:
        called.append(f"F.{op.name}({arguments})" if op.public else f"{op.__name__}({arguments})")
    if op.inplace and op.public and op.method:
        called.append(f"Tensor.{op.name}_")
    return called + [f"Tensor.{each}" for each in op.dunder]


def _source(op: OpType) -> tuple[str, int]:
    lines, first = inspect.getsourcelines(op)
    return "".join(lines), first


def _examples(op: OpType) -> tuple[str, str]:
    """Return the docstring without its examples, and the examples with what they print now."""
    text = inspect.cleandoc(op.__doc__ or "")
    words = "\n".join(piece for piece in DocTestParser().parse(text) if isinstance(piece, str))
    text = complete(text, importlib.import_module(op.__module__))
    test = DocTestParser().get_doctest(text, {}, op.__name__, None, None)
    shown = []

    class Runner(DocTestRunner):
        def report_start(self, out: Any, test: Any, example: Any) -> None:
            pass

        def report_success(self, out: Any, test: Any, example: Any, got: str) -> None:
            first, *more = example.source.rstrip("\n").split("\n")
            shown.append("\n".join([f">>> {first}", *(f"... {line}" for line in more)])
                         + "\n" + got)

        def report_failure(self, out: Any, test: Any, example: Any, got: str) -> None:
            raise ValueError(f"the example of {op.__name__} gives {got!r}, not {example.want!r}")

        def report_unexpected_exception(self, out: Any, test: Any, example: Any, info: Any) -> None:
            raise ValueError(f"the example of {op.__name__} fails") from info[1]

    _reseed()
    contextvars.Context().run(Runner(verbose=False).run, test)
    return fenced(words.strip()), "".join(shown)


def _derivative(op: OpType) -> str:
    if not op.formulas:
        return "None: PyTorch has none either.\n"
    parts = []
    for name, (formula, needs) in op.formulas.items():
        saved = [each for each in needs if each in op.parameters or each in ("result", *op.outputs)]
        lines = textwrap.dedent(inspect.getsource(formula))
        note = f"By `{name}`" + (f"; it uses {', '.join(f'`{each}`' for each in saved)}, kept from "
                                 "the forward pass" if saved else "")
        parts.append(f"{note}:\n\n{code(lines)}")
    return "\n".join(parts)


# --- samples ----------------------------------------------------------------------------------


@cache
def _make() -> Any:
    """Return the maker of samples that the tests use."""
    import sys

    root = str(PACKAGE.parent)
    if root not in sys.path:
        sys.path.append(root)
    return importlib.import_module("tests.support.samples").Make


def _reseed() -> None:
    F.manual_seed(0)


def _calls(op: OpType) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
    found = []
    for given in op.samples(_make()(crc32(op.__name__.encode()))):
        args = given if isinstance(given, tuple) else (given,)
        kwargs = args[-1] if args and isinstance(args[-1], dict) else {}
        found.append((args[: len(args) - bool(kwargs)], kwargs))
    return found


def _tensors(value: Any) -> list[Tensor]:
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, list | tuple):
        return [tensor for each in value for tensor in _tensors(each)]
    return []


def _shape(value: Any) -> str:
    if isinstance(value, Tensor):
        shape = "(" + ", ".join(map(str, value.shape)) + ("," * (len(value.shape) == 1)) + ")"
        kind = str(value.dtype).removeprefix("torch.")
        return shape if kind == "float64" else f"{shape} {kind}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_shape(each) for each in value) + "]"
    return repr(value)


def _shapes(op: OpType) -> str:
    rows: dict[tuple[str, str], None] = {}
    for args, kwargs in _calls(op):
        _reseed()
        result = apply(op, bind(op, args, kwargs))
        given = ", ".join([*map(_shape, args), *(f"{k}={_shape(v)}" for k, v in kwargs.items())])
        outputs = result if isinstance(result, list | tuple) else [result]
        rows[f"`{given}`", ", ".join(f"`{_shape(each)}`" for each in outputs)] = None
        if len(rows) == 8:
            break
    return table(["arguments", "result"], [list(row) for row in rows])


def _backward(op: OpType) -> str:
    """Return what a small sample gives forward and backward, or "" where there is no gradient."""
    if not op.formulas:
        return ""
    sizes = {}
    for number, (args, kwargs) in enumerate(calls := _calls(op)):
        tensors = _tensors([*args, *kwargs.values()])
        if any(t.requires_grad and t.numel() for t in tensors):
            sizes[number] = sum(t.numel() for t in tensors)
    if not sizes or min(sizes.values()) > 40:
        return ""
    args, kwargs = calls[min(sizes, key=lambda number: abs(sizes[number] - 6))]
    _reseed()
    given = [*zip(op.parameters, args), *kwargs.items()]
    parts = [f"{name} = {_indented(_detached(value), len(name) + 3)}" for name, value in given]
    outputs = _tensors(apply(op, bind(op, args, kwargs)))
    for name, value in zip(op.outputs or ("result",), outputs):
        parts.append(f"{name} = {_indented(value, len(name) + 3)}")
    differentiable = next((each for each in outputs if each.requires_grad), None)
    if differentiable is None:
        return ""
    leaves = [(name, t) for name, value in given for t in _tensors(value) if t.requires_grad]
    grads = minigrad.autograd.grad(differentiable.sum(), [t for _, t in leaves], allow_unused=True)
    parts.append("")
    counts = [name for name, _ in leaves]
    for (name, _), grad in zip(leaves, grads):
        label = f"gradient by {name}" if counts.count(name) == 1 else f"gradient by one of {name}"
        parts.append(f"{label}: {_indented(grad, len(label) + 2)}")
    return "\n".join(parts)


def _detached(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.detach()
    return [t.detach() for t in value] if _tensors(value) else value


def _indented(value: Any, by: int) -> str:
    return repr(value).replace("\n", "\n" + " " * by)
