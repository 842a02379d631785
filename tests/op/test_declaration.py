"""What `declare` reads from an op's declaration."""

from __future__ import annotations

import numpy as np
import pytest

import minigrad
from minigrad.backend import numpy_backend
from minigrad.op.declaration import REGISTRY, F, Op
from minigrad.op.results import named_result
from minigrad.shapes import same


@pytest.fixture
def declared():
    """Return a function that declares an op, which is forgotten after the test."""
    before = dict(REGISTRY)

    def declare(name="MadeHere", /, **body):
        return type(name, (Op,), {"shape": same, "method": False, "public": False, **body})

    yield declare
    REGISTRY.clear()
    REGISTRY.update(before)


def forward_of_all_kinds(xp, self, items, other, axis, scale=2.0, *, exact=True):
    return self


def gradient(g):
    return g


@pytest.fixture
def every_kind(declared):
    return declared(forward=forward_of_all_kinds, list_of_tensors="items", grad_self=gradient,
                    grad_items=lambda g, items: [g for _ in items],
                    grad_other=lambda g, other, axis: g * other)


def test_the_arguments_of_an_op(every_kind):
    assert every_kind.parameters == ("self", "items", "other", "axis", "scale", "exact")
    assert every_kind.keyword_only == frozenset({"exact"})
    assert every_kind.defaults == {"scale": 2.0, "exact": True}
    assert every_kind.default_values == [None, None, None, None, 2.0, True]
    assert every_kind.positional == 5
    assert every_kind.required == 4


def test_the_formulas_of_an_op(every_kind):
    assert list(every_kind.formulas) == ["self", "items", "other"]
    assert every_kind.formulas["self"] == (gradient, ("g",))
    assert every_kind.formulas["other"][1] == ("g", "other", "axis")
    assert every_kind.formulas["other"][0] is every_kind.grad_other
    assert every_kind.differentiable == ("self", "items", "other")
    assert every_kind.differentiable_positions == (0, 1, 2)


def test_which_arguments_of_an_op_are_tensors(every_kind, declared):
    assert every_kind.tensors == every_kind.promoted == ("self", "other")
    assert every_kind.tensor_positions == every_kind.promoted_positions == (0, 2)
    assert every_kind.list_position == 1
    assert every_kind.plain_positions == (3, 4, 5)
    some = declared("Some", forward=lambda xp, axis, self, other: self, tensors=("other", "self"),
                    promoted=("self", "axis"), grad_other=gradient)
    assert some.tensors == ("other", "self") and some.promoted == ("self", "axis")
    assert some.tensor_positions == (2, 1) and some.promoted_positions == (1,)
    assert some.differentiable == ("other",) and some.differentiable_positions == (2,)
    assert some.list_position is None and some.plain_positions == (0,)


def test_which_arguments_are_tensors_where_no_formula_says_so(declared):
    none = declared("None_", nondifferentiable=True,
                    forward=lambda xp, self, axis, other, third: self)
    assert none.tensors == ("self", "other") and none.plain_positions == (1, 3)
    items = declared("Items", nondifferentiable=True, list_of_tensors="items",
                     forward=lambda xp, items, self: self)
    assert items.tensors == () and items.list_position == 0 and items.plain_positions == (1,)
    plain = declared("Plain", forward=lambda xp, self, other: self)
    assert plain.tensors == () and plain.plain_positions == (0, 1)
    with_formula = declared("WithFormula", nondifferentiable=True, grad_third=gradient,
                            forward=lambda xp, self, other, third: self)
    assert with_formula.tensors == ("third",)


@pytest.mark.parametrize(("written", "name"), [
    ("MadeHere", "made_here"), ("Log7p", "log7p"), ("AddMM", "add_mm"),
    ("Fold2dBias", "fold2d_bias"), ("L9Loss", "l9_loss"), ("ABC", "abc")])
def test_an_op_is_called_as_its_class_in_small_letters(declared, written, name):
    op = declared(written, nondifferentiable=True, forward=lambda xp, self: self)
    assert op.name == name and REGISTRY[written] is op
    assert issubclass(op.node_type, minigrad.graph.node.Node)


def test_an_op_may_name_itself_and_heirs_do_not_take_the_name(declared):
    op = declared("Named", name="other_name", nondifferentiable=True,
                  forward=lambda xp, self: self)
    assert op.name == "other_name"
    assert type("NamedHeir", (op,), {}).name == "named_heir"


def test_functions_in_a_declaration_are_static(declared):
    op = declared(nondifferentiable=True, forward=lambda xp, self: self + 1,
                  samples=lambda make: iter([make(2)]), note="text")
    assert op.forward(None, 1) == 2
    assert all(isinstance(vars(op)[key], staticmethod) for key in ("forward", "samples", "shape"))
    assert op.note == "text"


def test_an_op_may_make_itself_otherwise(declared):
    def make(cls, *args):
        return cls, args

    op = declared(nondifferentiable=True, forward=lambda xp, self: self, __new__=make)
    assert op(1, 2) == (op, (1, 2))


def test_an_heir_with_another_forward_does_not_write_as_its_base_does(declared):
    base = declared("Base", nondifferentiable=True, forward=lambda xp, self: self,
                    forward_inplace=lambda xp, self: 1)
    assert base.forward_inplace(None, 0) == 1
    changed = type("Changed", (base,), {"forward": lambda xp, self: -self})
    assert changed.forward_inplace is None
    kept = type("Kept", (base,), {"note": 1})
    assert kept.forward_inplace(None, 0) == 1
    both = type("Both", (base,), {"forward": lambda xp, self: -self,
                                  "forward_inplace": lambda xp, self: 2})
    assert both.forward_inplace(None, 0) == 2


def test_an_abstract_op_is_not_registered(declared):
    class Abstract(Op, abstract=True):
        """A base."""

    assert "Abstract" not in REGISTRY and Abstract.name == ""
    assert declared(nondifferentiable=True, forward=lambda xp, self: self).name == "made_here"
    assert "MadeHere" in REGISTRY


def test_several_outputs_come_in_a_named_tuple(declared):
    op = declared(nondifferentiable=True, outputs=("low", "high"), forward=lambda xp, self: self)
    made = op.result_type(1, high=2)
    assert (made.low, made.high) == made == (1, 2)
    assert type(made).__name__ == type(made).__qualname__ == "made_here"
    assert type(made).__module__ == "minigrad.return_types"
    assert repr(made) == "torch.return_types.made_here(\nlow=1,\nhigh=2)"
    assert repr(named_result("alone", ("x",))("é")) == "torch.return_types.alone(\nx='é')"
    single = declared("Single", nondifferentiable=True, forward=lambda xp, self: self)
    assert not hasattr(single, "result_type")


def test_a_declared_op_runs(declared):
    op = declared(forward=lambda xp, self, other, scale=3.0: self * other * scale,
                  grad_self=lambda g, other, scale: g * other * scale,
                  grad_other=lambda g, self, scale: g * self * scale)
    x, y = (minigrad.tensor([n], requires_grad=True) for n in (2.0, 5.0))
    out = op(x, y, scale=4.0)
    assert out.tolist() == [40.0] and type(out.grad_fn).__name__ == "MadeHereBackward"
    out.backward()
    assert x.grad.tolist() == [20.0] and y.grad.tolist() == [8.0]
    assert op(x, y).tolist() == [30.0]


def test_a_name_that_is_taken_is_said_and_the_first_op_stays(declared):
    first = declared(nondifferentiable=True, forward=lambda xp, self: self)
    with pytest.raises(TypeError, match=r"^an op named MadeHere is registered already$"):
        declared(nondifferentiable=True, forward=lambda xp, self: -self)
    assert REGISTRY["MadeHere"] is first
    with pytest.raises(AttributeError, match=r"^there is no operation named 'made_here'$"):
        F.made_here


def test_an_overload_has_its_functions_name_and_a_numbered_node(declared):
    first = declared("FirstOfTwo", forward=lambda xp, self: self, grad_self=gradient,
                     overload=("both_of_them", 1), public=True)
    assert (first.name, first.public) == ("both_of_them", False)
    assert first.node_type.__name__ == "BothOfThemBackward1"


@pytest.mark.parametrize(("name", "error"), [("Hypot", "hypot_cpu"), ("Abs", "abs_cpu")])
def test_a_forward_that_calls_the_backend_checks_the_kernels_dtypes(name, error):
    op = REGISTRY[name]
    floats, bools = np.ones(2), np.ones(2, bool)
    operands = len(op.tensors)
    assert op.forward(numpy_backend, *[floats] * operands).shape == (2,)
    with pytest.raises(NotImplementedError, match=error):
        op.forward(numpy_backend, *[bools] * operands)
