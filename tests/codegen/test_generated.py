"""The function written for each op gives what the taught functions give, bit for bit.

Values, dtypes, strides, edges, saved values and gradients are compared for all samples.
"""

from __future__ import annotations

import bdb
import inspect
import linecache
import traceback
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import _state
from minigrad.engine.engine import execute
from minigrad.engine.graph_task import GraphTask
from minigrad.op.apply import run_op
from minigrad.op.arguments import bind
from minigrad.op.declaration import REGISTRY, F, Op
from minigrad.op.publish import caller
from tests.ops.test_registry import assert_identical, in_single
from tests.support.samples import IDS, OPS, Sample, cotangents_of, each, outputs_of, reseed, samples

if not _state.codegen:
    pytest.skip("codegen/ is switched off", allow_module_level=True)

from minigrad.codegen.planned_task import PlannedTask
from minigrad.codegen.written import Text, Written

every_op = pytest.mark.parametrize("op", OPS, ids=IDS)


def is_generated(function: Any) -> bool:
    code = getattr(function, "__code__", None)
    return code is not None and "<generated>" in code.co_filename


def assert_same(op: type[Op], ours: Any, theirs: Any) -> None:
    for a, b in zip(outputs_of(ours), outputs_of(theirs), strict=True):
        assert_identical(a._array, b._array, "result")
        assert a.requires_grad == b.requires_grad and (a._view is None) == (b._view is None)
        assert type(a.grad_fn) is type(b.grad_fn)
        if a.grad_fn is None:
            continue
        assert a.grad_fn.next_functions == b.grad_fn.next_functions
        assert (a.grad_fn.shape, a.grad_fn.dtype) == (b.grad_fn.shape, b.grad_fn.dtype)
        for name in (*op.node_type.saves, *op.node_type.keeps):
            one, other = (getattr(o.grad_fn, "_saved_" + name) for o in (a, b))
            assert type(one) is type(other), name
            if isinstance(one, minigrad.Tensor):
                assert_identical(one._array, other._array, name)
                assert one.requires_grad == other.requires_grad
            elif not isinstance(one, list):
                assert repr(one) == repr(other), name


def assert_same_gradients(op: type[Op], ours: Any, theirs: Any) -> None:
    """Compare the steps of a node with the taught pass, on arrays and on tensors, until freed."""
    if not getattr(op.node_type, "is_written", False) or ours.grad_fn is None:
        return
    (g,) = cotangents_of([ours])
    inputs = [edge for edge in ours.grad_fn.edges if edge[0] is not None]

    def gradients(output: Any, create_graph: bool, task_type: Any) -> list[Any]:
        given = g if create_graph else g._array
        return execute([output._edge()], [given], True, create_graph, inputs, False, task_type)

    for create_graph in (False, True):
        for one, another in zip(gradients(ours, create_graph, PlannedTask),
                                gradients(theirs, create_graph, GraphTask), strict=True):
            assert (one is None) == (another is None)
            if one is not None:
                one, another = (np.asarray(getattr(x, "_array", x)) for x in (one, another))
                assert_identical(one, another, "gradient")
    node = ours.grad_fn
    saves = [name for name in op.node_type.saves if node.kept(name) is not None]
    node.step_on_arrays(PlannedTask(retain_graph=False, create_graph=False, order=[]), g._array)
    if saves:
        with pytest.raises(RuntimeError, match="a second time"):
            gradients(ours, False, PlannedTask)


@every_op
def test_the_generated_steps_agree_with_the_taught_ones(op):
    if not is_generated(op.written_out):
        return

    def check(sample: Sample) -> None:
        values = bind(op, sample.args, sample.kwargs)
        reseed()
        ours = op.written_out(*values)
        reseed()
        theirs = run_op(op, list(values))
        assert_same(op, ours, theirs)
        if not op.view:
            assert_same_gradients(op, ours, theirs)

    each([*samples(op), *map(in_single, samples(op))], check)


@every_op
def test_the_generated_function_agrees_with_the_taught_one(op):
    """By position, by name, as method, as operator."""
    function = vars(F).get(op.name)
    taught = caller(op)
    if not op.public or not is_generated(function):
        return
    names = [name for name, found in vars(minigrad.Tensor).items()
             if name in op.dunder[:1] and is_generated(found)]

    def check(sample: Sample) -> None:
        reseed()
        theirs = taught(*sample.args, **sample.kwargs)
        reseed()
        assert_same(op, function(*sample.args, **sample.kwargs), theirs)
        for name in names:
            if not sample.kwargs and len(sample.args) == len(op.tensors):
                reseed()
                assert_same(op, getattr(minigrad.Tensor, name)(*sample.args), theirs)
        for first in ("self", "input"):
            by_name = dict(zip(op.parameters, sample.args, strict=False))
            if "self" in by_name:
                by_name[first] = by_name.pop("self")
            reseed()
            assert_same(op, function(**by_name, **sample.kwargs), theirs)
        reseed()
        rest = dict(zip(op.parameters[1:], sample.args[1:], strict=False))
        assert_same(op, function(*sample.args[:1], **rest, **sample.kwargs), theirs)

    each(samples(op), check)


def test_most_ops_are_generated():
    assert sum(is_generated(op.written_out) for op in OPS) > 250
    for name in ("add", "mul", "exp", "tanh", "neg"):
        assert is_generated(vars(F)[name]) and is_generated(getattr(minigrad, name))


def test_the_text_is_where_debuggers_and_tracebacks_look_for_it():
    source = inspect.getsource(minigrad.tanh)
    assert source.startswith("def tanh(")
    for step in ("# Prepare", "# Forward", "# Record", "# Wrap"):
        assert step in source
    x = minigrad.ones(2)
    with pytest.raises(RuntimeError) as caught:
        x * minigrad.ones(3)
    shown = "".join(traceback.format_exception(caught.value))
    assert "return taught(self, other)" in shown
    assert linecache.getline(minigrad.tanh.__code__.co_filename, 1).startswith("def tanh(")


@pytest.mark.parametrize("function", ["tanh", "sub", "expand"])
def test_a_debugger_finds_the_lines_of_a_text(function):
    """Before and after the first call; `bdb` looks for a file under its whole path."""
    code = getattr(vars(F)[function], "__code__")  # noqa: B009  # mypy sees no function
    assert is_generated(vars(F)[function])
    name = bdb.Bdb().canonic(code.co_filename)
    assert linecache.getline(name, code.co_firstlineno).startswith(f"def {function}(")


def test_two_texts_of_one_name_are_both_found():
    one, two = (Written("twice", "twice.py", lambda n=n: Text(f"def twice(): return {n}\n", {}))
                for n in (1, 2))
    assert (one.function(), two.function()) == (1, 2)
    assert one.source() == "def twice(): return 1\n" and two.source().endswith("2\n")


def test_a_wrong_shape_is_told_without_the_error_of_the_text():
    with pytest.raises(RuntimeError) as caught:
        minigrad.ones(2) * minigrad.ones(3)
    shown = "".join(traceback.format_exception(caught.value))
    assert shown.count("During handling") <= 1 and "The size of tensor a" in shown


def test_a_formula_that_is_changed_is_the_one_that_runs(monkeypatch):
    op = REGISTRY["Sinh"]

    def slope():
        x = minigrad.ones(2, requires_grad=True)
        minigrad.sinh(x).sum().backward()
        return x.grad.tolist()

    slope()  # written, with the formula as it is declared
    monkeypatch.setattr(op, "grad_self", staticmethod(lambda g, self: g * 7.0))
    assert slope() == [7.0, 7.0]
    monkeypatch.undo()
    assert slope() == pytest.approx([np.cosh(1.0)] * 2)
    monkeypatch.setattr(op, "forward", staticmethod(lambda xp, self: self * 3.0))
    assert minigrad.sinh(minigrad.ones(2)).tolist() == [3.0, 3.0]


def test_an_op_declared_late_runs_and_is_written_anew_under_the_same_name():
    from minigrad.op.declaration import Unary

    for factor in (2.0, 5.0):
        class Stretched(Unary):
            def forward(xp, self, factor=factor):
                return self * factor

            def grad_self(g, factor):
                return g * factor

        try:
            x = minigrad.ones(2, requires_grad=True)
            y = Stretched(x)
            y.sum().backward()
            assert y.tolist() == [factor] * 2 and x.grad.tolist() == [factor] * 2
        finally:
            REGISTRY.pop("Stretched")
