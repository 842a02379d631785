"""What held when a program went another way: memory shared, elements equal.

Each condition runs the program on minigrad and looks at its tensors, so that a known difference
is bound to its cause and not to a word in the program.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import minigrad
from minigrad.tensor.attributes import bytes_of_memory
from minigrad.tensor.tensor import Tensor

from .compare import Difference, compare
from .interpret import Machine, run
from .program import Program

WRITTEN = re.compile(r"_\(|\] [-+*/]?= | [-+*/]= |inplace=True|_\.apply")

ATOM = re.compile(r"\b[a-z]\d+(?:\[\d+\])?(?:\.grad\b)?")


def tensors_of(line: str, names: dict[str, Any]) -> list[Tensor]:
    """Return the tensors that a line names."""
    found = []
    for atom in dict.fromkeys(ATOM.findall(line)):
        try:
            value = eval(atom, names)
        except Exception:
            continue
        found += [v for v in (value if isinstance(value, (tuple, list)) else (value,))
                  if isinstance(v, Tensor)]
    return found


def states(program: Program, torch: Any = minigrad) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each line with the names as they are before it runs in a library."""
    machine = Machine(torch)
    for line in program:
        yield line, machine.names
        machine.step(line)
    yield "", machine.names


def anywhere(holds: Callable[[str, list[Tensor]], bool], program: Program) -> bool:
    """Tell whether something holds for the tensors of a line, before it runs."""
    return any(holds(line, tensors_of(line, names)) for line, names in states(program))


def calls_of(line: str, *methods: str) -> Iterator[ast.Call]:
    """Yield the calls in a line of something with one of these names, as of `torch.name`."""
    for call in ast.walk(ast.parse(line)):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and (
                call.func.attr in methods):
            yield call


def equal_elements(program: Program, difference: Difference) -> bool:
    """Tell whether a choice among elements was one among equal ones."""
    def tied(line: str, tensors: list[Tensor]) -> bool:
        chosen = re.search(r"topk\(|median\(|mode\(|kthvalue\(|sort\(", line)
        return bool(chosen) and any(
            np.unique(t.detach().numpy()).size < t.numel() for t in tensors)

    return anywhere(tied, program)


def overlap(program: Program, difference: Difference) -> bool:
    """Tell whether a write met memory that it reads too, in another place, or writes twice."""
    def meets(line: str, tensors: list[Tensor]) -> bool:
        if not WRITTEN.search(line) or not tensors:
            return False
        arrays = [t._array for t in tensors] + [t._view.base._array for t in tensors if t._view]
        return any(overlaps_itself(a) for a in arrays) or any(
            np.may_share_memory(a, b) and not alike(a, b)
            for i, a in enumerate(arrays) for b in arrays[i + 1:]) or any(
            line.count(atom) > 1 for atom in ATOM.findall(line))

    return anywhere(meets, program)


def alike(a: Any, b: Any) -> bool:
    """Tell whether two arrays look at memory in the same way."""
    return bool(a.shape == b.shape and a.strides == b.strides)


def overlaps_itself(array: Any) -> bool:
    """Tell whether several elements of an array may be one place in memory."""
    places: Any = np.zeros((), np.int64)
    for n, stride in zip(array.shape, array.strides):
        places = np.add.outer(places, np.arange(n) * stride)
    return bool(np.unique(places).size < array.size)


def writes_to_overlapping_memory(line: str, names: dict[str, Any]) -> bool:
    """Tell whether a line writes to a view that overlaps itself, and PyTorch does not refuse it.

    "The behavior of inplace operations on this view is undefined (and might not throw runtime
    errors)", PyTorch's documentation of `as_strided` says, and that of `expand` warns of
    incorrect behavior.
    """
    if not WRITTEN.search(line):
        return False
    tensors = tensors_of(line, names)
    return any((0 not in t._array.strides or "tri" in line) and overlaps_itself(t._array)
               for t in (tensors if "_.apply" in line else tensors[:1]))


def looks_behind_a_number(line: str, names: dict[str, Any]) -> bool:
    """Tell whether a line looks at memory behind a single element that has no more memory here.

    PyTorch computes the mean of some losses, `mse_loss` for one, in memory for all elements, and
    what is left there behind the mean is not defined.
    """
    return "as_strided_(" in line and any(
        t.numel() == 1 == bytes_of_memory(t._array) // t.element_size()
        for t in tensors_of(line, names)[:1])


def taken_over(program: Program, difference: Difference) -> bool:
    """Tell whether in PyTorch a pass made memory of the program's the `.grad` of a leaf."""
    import torch

    memory: set[int] = set()  # of all tensors before a line
    had_grad: set[str] = set()
    for _, names in states(program, torch):
        tensors = {name: t for name, t in names.items() if isinstance(t, torch.Tensor)}
        grads = {name: t.grad for name, t in tensors.items() if t.is_leaf and t.grad is not None}
        if any(memory_of(g) in memory for name, g in grads.items() if name not in had_grad):
            return True
        had_grad = set(grads)
        memory = {memory_of(t) for t in tensors.values()}
    return False


def memory_of(tensor: Any) -> int:
    """Return what is the same for all views of one memory in PyTorch, and for no other tensor."""
    return int(tensor.untyped_storage()._cdata)


def view_as_second_input(program: Program, difference: Difference) -> bool:
    """Tell whether a Function wrote to a view that was not its first input."""
    def second(line: str, tensors: list[Tensor]) -> bool:
        call = re.search(r"(?:Into_|AddTo_)\.apply\((.*)\)", line)
        return bool(call) and len(tensors) > 0 and (
            tensors[-1]._is_view() or call[1].endswith("]") or call[1].endswith(")"))

    return anywhere(second, program)


def ill_conditioned(program: Program, difference: Difference) -> bool:
    """Tell whether a matrix that was taken apart is nearly singular, or close to a multiple of I.

    Or has something in it that is no number. There the factors, or the gradient through them, are
    anything at all.
    """
    def taken_apart(line: str, names: dict[str, Any]) -> Iterator[Any]:
        for call in calls_of(line, "qr", "svdvals", "inv", "pinverse", "pinv"):
            yield eval(ast.unparse(call.args[0]), names).detach().double().numpy()

    def at_the_edge(matrix: Any) -> bool:
        if not np.isfinite(matrix).all():
            return True
        values = np.linalg.svd(matrix[..., :matrix.shape[-2]], compute_uv=False)
        return bool((np.diff(values) > -1e-6 * values[..., :1]).any()
                    or (values[..., -1] < 1e-6 * values[..., 0]).any())

    return any(at_the_edge(m)
               for line, names in states(program) for m in taken_apart(line, names))


def by_what_is_saved(program: Program, difference: Difference) -> bool:
    """Tell whether the libraries agree once the hooks on saved tensors double no value."""
    import torch

    plain = [line.replace("lambda x: x * 2 if x.is_floating_point() else x", "lambda x: x")
             for line in program]
    return plain != list(program) and compare(plain, run(torch, plain),
                                              run(minigrad, plain)) is None


def parallel_vectors(program: Program, difference: Difference) -> bool:
    """Tell whether a cross product was taken of vectors of one direction, so that it is zero."""
    def product(call: ast.Call, names: dict[str, Any]) -> Any:
        try:
            return eval(ast.unparse(call), names).detach().numpy()
        except Exception:  # what is refused has no value
            return np.ones(1)

    return any(bool((np.abs(product(call, names)) < 1e-6).all())
               for line, names in states(program) for call in calls_of(line, "cross"))


def had(call: str, holds: Callable[[Any], Any]) -> Callable[[Program, Difference], bool]:
    """Return the condition that a call had an operand with elements for which something holds."""
    def met(line: str, tensors: list[Tensor]) -> bool:
        return bool(re.search(call, line)) and any(
            holds(t.detach().numpy()).any() for t in tensors)

    return lambda program, difference: anywhere(met, program)


infinite = had(r"polygamma\(", np.isinf)
infinite_mean = had(r"(var|std)_mean\(", np.isinf)
not_a_number = had("signbit|copysign", np.isnan)
