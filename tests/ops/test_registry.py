"""Every op of the registry, held against its own declaration and against finite differences.

Each test takes one op through all its samples; what is compared with PyTorch is in
`test_registry_parity.py`.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import re
import textwrap
from typing import Any

import numpy as np
import pytest

from minigrad.autograd import grad
from minigrad.batching import rule_of
from minigrad.op.arguments import bind
from minigrad.op.declaration import REGISTRY, F, Op
from minigrad.op.node import OpNode
from minigrad.op.publish import FUNCTIONS, inplace_caller
from minigrad.shapes import broadcast, same
from minigrad.tensor.tensor import Tensor, from_array
from tests import _oracle
from tests.support.samples import (
    IDS,
    OPS,
    Sample,
    cotangents_of,
    differentiable,
    each,
    flat,
    forms,
    outputs_of,
    reseed,
    samples,
    with_formula,
)
from tests.support.slow import slow_but_one_in

every_op = pytest.mark.parametrize("op", OPS, ids=IDS)


def only(condition: Any) -> Any:
    """Parametrise over the ops that fulfil a condition, of which there must be some."""
    chosen = [op for op in OPS if condition(op)]
    assert chosen
    return pytest.mark.parametrize("op", chosen, ids=[op.__name__ for op in chosen])


def is_differentiable(op: type[Op]) -> bool:
    return bool(op.formulas)


#: For tests that take long over each op: `make test` runs a third of them each day.
sampled_op = pytest.mark.parametrize("op", slow_but_one_in(3, OPS), ids=IDS)
sampled_differentiable = pytest.mark.parametrize(
    "op", slow_but_one_in(3, filter(is_differentiable, OPS)),
    ids=[op.__name__ for op in OPS if is_differentiable(op)])


def is_inplace(op: type[Op]) -> bool:
    return op.inplace


def layout(array: Any) -> tuple[int, ...]:
    """Return the strides of the dimensions that have more than one element."""
    if not array.size:
        return ()
    return tuple(s for s, n in zip(array.strides, array.shape) if n > 1)


def assert_identical(actual: Any, expected: Any, what: str) -> None:
    """Assert that two arrays agree exactly in value, dtype and strides."""
    assert actual.dtype == expected.dtype, f"{what}: {actual.dtype} is not {expected.dtype}"
    assert actual.shape == expected.shape, f"{what}: {actual.shape} is not {expected.shape}"
    assert np.array_equal(actual, expected, equal_nan=actual.dtype.kind == "f"), (
        f"{what}: {actual} is not {expected}")
    assert layout(actual) == layout(expected), (
        f"{what}: strides {actual.strides} are not {expected.strides}")


# -------------------------------------------------------------------- the declaration


@every_op
def test_declaration_is_complete(op):
    assert op.__doc__ and op.__doc__ != Op.__doc__, "no docstring"
    assert ">>>" in op.__doc__, "the docstring has no example"
    assert "samples" in dir(op) and samples(op), "no samples"
    assert op.formulas or op.nondifferentiable, (
        "neither a formula nor an explicit `nondifferentiable`")
    assert not (op.formulas and op.nondifferentiable), "both formulas and `nondifferentiable`"
    known = {op.list_of_tensors, *op.tensors} - {None}
    for name in known:
        assert name in op.parameters, f"{name!r} is no argument of forward"
    for name in vars(op):
        if name.startswith("grad_"):
            assert name.removeprefix("grad_") in op.parameters, f"{name} belongs to no argument"


@pytest.mark.parametrize("missing", ["doc", "samples", "derivative", "example"])
def test_an_incomplete_declaration_is_found(missing):
    body = {
        "__doc__": None if missing == "doc" else "Twice." if missing == "example" else "T. >>> 1",
        "forward": staticmethod(lambda xp, self: self + self),
        "tensors": ("self",), "method": False, "public": False,
    }
    if missing != "samples":
        body["samples"] = lambda make: iter([make(2)])
    if missing != "derivative":
        body["grad_self"] = lambda g: g + g
    try:
        with pytest.raises((AssertionError, AttributeError, TypeError)):
            test_declaration_is_complete(type("Incomplete", (Op,), body))
    finally:
        REGISTRY.pop("Incomplete", None)


#: Names with which a class may carry more than attributes of Op: formulas.
FORMULAS = re.compile(r"grad_\w+")


@every_op
def test_every_attribute_is_declared_on_op(op):
    declared = {name for base in Op.__mro__[:-1]
                for name in (*vars(base), *getattr(base, "__annotations__", ()))}
    unknown = {name for base in op.__mro__[: op.__mro__.index(Op)] for name in vars(base)
               if not name.startswith("__") and not FORMULAS.fullmatch(name)} - declared
    assert not unknown, f"{sorted(unknown)} are no attributes of Op"


@every_op
def test_a_batching_rule_or_the_reason_why_there_is_none(op):
    assert (rule_of(op) is not None) != bool(op.no_batching), (
        "give it a kind that has a rule, a line in batching/table.py, or `no_batching`")


def test_an_unknown_kind_is_found():
    with pytest.raises(TypeError, match="unknown kind 'elementwize'"):
        type("Misspelt", (Op,), {"kind": "elementwize", "forward": lambda xp, self: self})


def test_a_missing_shape_rule_is_found():
    body = {"forward": lambda xp, self: self[..., 0], "grad_self": lambda g: g, "method": False,
            "public": False, "samples": lambda make: iter([(make(2, 3),)])}
    try:
        op = type("Incomplete", (Op,), body)
        assert op.shape is same
        with pytest.raises(AssertionError):
            test_forward_has_the_shape_that_the_rule_gives(op)
    finally:
        REGISTRY.pop("Incomplete", None)


@every_op
def test_public_ops_are_published(op):
    if op.public:
        assert op.name in vars(F) and op.name in FUNCTIONS
        assert not op.method or hasattr(Tensor, op.name)
        assert not (op.inplace and op.method) or hasattr(Tensor, op.name + "_")


# -------------------------------------------------------------------- which code a formula may hold

ALLOWED_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.MatMult, ast.USub)
ALLOWED_MODULES = {"F", "math"}  # whose attributes may be used


def code_of(function: Any) -> ast.FunctionDef:
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(tree, ast.FunctionDef)
    return tree


def tensor_names(op: type[Op]) -> set[str]:
    """Return the names that stand for tensors in the formulas of an op, in some sample at least."""
    names = {"g", "result", *op.outputs, *("g_" + n for n in op.outputs)}
    for sample in samples(op):
        values = bind(op, sample.args, sample.kwargs)
        names |= {n for n, v in zip(op.parameters, values) if isinstance(v, Tensor)}
    return names


def forbidden(tree: ast.FunctionDef, tensors: set[str], is_helper: bool = False) -> list[str]:
    """Return what a formula does with tensors that has no array or no tensor realisation."""
    found = []

    def is_tensor(node: ast.AST) -> bool:
        return (isinstance(node, ast.Name) and node.id in tensors) or (
            isinstance(node, ast.BinOp) and (is_tensor(node.left) or is_tensor(node.right))) or (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
            and getattr(node.func.value, "id", "") == "F" and node.func.attr not in NO_TENSOR)

    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and not isinstance(node.op, ALLOWED_OPERATORS):
            if is_tensor(node.left) or is_tensor(node.right):
                found.append(ast.unparse(node))
        elif isinstance(node, ast.UnaryOp) and not isinstance(node.op, ALLOWED_OPERATORS):
            if is_tensor(node.operand):
                found.append(ast.unparse(node))
        elif isinstance(node, ast.Compare):
            against_none = all(isinstance(o, (ast.Is, ast.IsNot)) for o in node.ops)
            if not against_none and any(map(is_tensor, [node.left, *node.comparators])):
                found.append(ast.unparse(node))
        elif isinstance(node, ast.Subscript) and is_tensor(node.value):
            found.append(ast.unparse(node))
        elif isinstance(node, ast.Attribute) and not (is_helper and node.attr == "shape"):
            owner = node.value.id if isinstance(node.value, ast.Name) else ""
            if owner not in ALLOWED_MODULES and (is_tensor(node.value) or owner == "xp"):
                found.append(ast.unparse(node))
    return found


NO_TENSOR: set[str] = set()  # functions of F that give no tensor


def helpers(function: Any, tree: ast.FunctionDef) -> list[Any]:
    """Return the plain functions of the ops package that the code calls."""
    scope = {**vars(builtins), **function.__globals__}
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            called = scope.get(node.func.id)
            if inspect.isfunction(called) and called.__module__.startswith("minigrad.ops"):
                found.append((called, node))
    return found


def violations(function: Any, tensors: set[str], seen: frozenset[Any] = frozenset()) -> list[str]:
    """Return what is wrong in a formula and in the helpers to which it hands its tensors.

    Helpers, which have no save list, may ask for `.shape`: arrays and tensors both have it.
    """
    tree = code_of(function)
    found = [f"{function.__qualname__}: {text}"
             for text in forbidden(tree, tensors, is_helper=bool(seen))]
    seen |= {function}
    for called, node in helpers(function, tree):
        if called in seen or called in vars(F).values():
            continue
        names = list(inspect.signature(called).parameters)
        given = {n for n, a in zip(names, node.args)
                 if any(isinstance(x, ast.Name) and x.id in tensors for x in ast.walk(a))}
        given |= {k.arg for k in node.keywords
                  if any(isinstance(x, ast.Name) and x.id in tensors for x in ast.walk(k.value))}
        if given:
            found += violations(called, given, seen)
    return found


@only(is_differentiable)
def test_formulas_use_only_operators_and_functions_of_F(op):
    found = []
    for formula, _ in op.formulas.values():
        found += violations(formula, tensor_names(op))
    assert not found, f"not allowed in a formula: {found}"


def test_forbidden_code_is_found():
    def formula(g, self, dim):
        h = g.sum(dim)
        return g**2 + self[0] + abs(dim) + (g > 0) + h

    def allowed(g, self, self_sizes, dim):
        n = self_sizes[dim] ** 2 // 3
        return -g * F.sum(self, dim) / n

    assert len(forbidden(code_of(formula), {"g", "self"})) == 4
    assert forbidden(code_of(allowed), {"g", "self"}) == []


# -------------------------------------------------------------------- forward


#: Ops the shape of whose result depends on values: their rule checks the input and says None.
DEPENDS_ON_VALUES = {"Bincount", "MaskedSelect", "NonzeroMatrix", "Unique2", "UniqueConsecutive"}


@every_op
def test_forward_has_the_shape_that_the_rule_gives(op):
    def check(sample: Sample) -> None:
        outputs = outputs_of(sample.run())
        shapes = sample.replaced(lambda t: tuple(t.shape))
        rule = op.shape(*bind(op, shapes.args, shapes.kwargs)) if not op.keyword_only else (
            call_rule(op, bind(op, shapes.args, shapes.kwargs)))
        for output in outputs:
            assert type(output) is Tensor and type(output._array) is np.ndarray
        if op.__name__ in DEPENDS_ON_VALUES:
            assert rule is None
            return
        several = bool(op.outputs) or getattr(op, "many", False) or isinstance(rule, list)
        given = list(rule) if several else [rule]
        assert [tuple(o.shape) for o in outputs] == [tuple(s) for s in given]

    each(samples(op), check)


def call_rule(op: type[Op], values: list[Any]) -> Any:
    """Call a shape rule with keyword-only arguments as such where it has them so."""
    split = len(op.parameters) - len(op.keyword_only)
    keywords = dict(zip(op.parameters[split:], values[split:]))
    taken = inspect.signature(op.shape).parameters
    if not any(p.kind is p.VAR_KEYWORD for p in taken.values()) and any(
            taken.get(k) is None for k in keywords):
        return op.shape(*values)
    return op.shape(*values[:split], **keywords)


#: Ops that give memory of an input without being views in the eyes of autograd, as in PyTorch.
SHARES_MEMORY = {
    "Copy",  # only ever written in place: `copy_`
    "NativeBatchNorm",  # hands the running statistics on, to the node alone
    "UnsafeSplit", "UnsafeSplitWithSizes", "UnsafeView",
}


@every_op
def test_inputs_are_left_alone(op):
    def check(sample: Sample) -> None:
        before = [t._array.copy() for t in sample.tensors()]
        outputs = outputs_of(sample.run())
        for tensor, kept in zip(sample.tensors(), before):
            assert np.array_equal(tensor._array, kept, equal_nan=kept.dtype.kind == "f")
            assert tensor._version == 0
        if not op.view and op.__name__ not in SHARES_MEMORY:
            shared = [o for o in outputs for t in sample.tensors()
                      if np.may_share_memory(o._array, t._array)
                      and np.shares_memory(o._array, t._array)]
            assert not shared, "an op that is no view gives memory of its input"

    each(samples(op), check)


@every_op
def test_nothing_is_recorded_without_grad(op):
    def check(sample: Sample) -> None:
        plain = sample.replaced(lambda t: from_array(t._array))
        assert not differentiable(plain.run())

    each(samples(op), check)


# -------------------------------------------------------------------- derivatives


#: Where PyTorch's gradient is by design not the slope, and for which samples.
NOT_THE_SLOPE = {
    "NormalOf": lambda *_: True,  # a random draw has no gradient
    "Binomial": lambda *_: True,
    # or that of implicit reparametrisation, see tests/distributions/test_pathwise.py
    "StandardGamma": lambda *_: True,
    "SampleDirichlet": lambda *_: True,
    "CtcLoss": lambda *_: True,  # it is that of what log_softmax was given
    "Geqrf": lambda *_: True,  # there is none: backward raises
    # nor has padding, and gradients may be divided by how often a row is looked up
    "Embedding": lambda weight, indices, padding_idx=-1, scaled=False, *_: (
        padding_idx != -1 or scaled),
}


def not_the_slope(sample: Sample) -> bool:
    """Tell whether differences cannot say what the gradient is: by design, or for rounding."""
    exempt = NOT_THE_SLOPE.get(sample.op.__name__)
    return bool(exempt and exempt(*sample.args)) or any(
        o._array.dtype not in (np.float64, np.int64, np.int32, np.bool_)
        for o in outputs_of(sample.run()))


def function_of(sample: Sample) -> Any:
    """Return the op as a function from the leaves' arrays to all its outputs in one array."""

    def call(*arrays: Any) -> Any:
        return flat(with_formula(sample.op, sample.with_leaves(arrays).run()))

    return call


@only(is_differentiable)
def test_first_derivative(op):
    def check(sample: Sample) -> Any:
        outputs = with_formula(op, sample.run())
        if not outputs or not sample.leaves() or not_the_slope(sample):
            return False
        cotangents = cotangents_of(outputs)
        found = sample.gradients(cotangents)
        expected = _oracle.central_difference_vjp(
            function_of(sample), [t._array for t in sample.leaves()], flat(cotangents))
        for leaf, gradient, wanted in zip(sample.leaves(), found, expected):
            if gradient is None:
                assert not wanted.any(), "no gradient where the result depends on the input"
                continue
            assert gradient._array.dtype == leaf._array.dtype
            _oracle.assert_close(gradient._array, wanted, 1e-5, 1e-6 * (1 + np.abs(wanted).max())
                                 if wanted.size else 0, "gradient")
        return True

    assert each(samples(op), check) or op.__name__ in NOT_THE_SLOPE, "no sample requires grad"


def gradient_function(sample: Sample) -> Any:
    """Return the first gradients, in one array, as a function of the leaves and cotangents."""
    count = len(sample.leaves())

    def call(*arrays: Any) -> Any:
        changed = sample.with_leaves(arrays[:count])
        return flat(changed.gradients([from_array(a) for a in arrays[count:]]))

    return call


@sampled_differentiable
def test_second_derivative(op):
    def check(sample: Sample) -> None:
        outputs = with_formula(op, sample.run())
        if not outputs or not sample.leaves() or not_the_slope(sample):
            return
        inputs = [*sample.leaves(), *(cotangents := cotangents_of(outputs, requires_grad=True))]
        firsts = list(grad(outputs, sample.leaves(), cotangents, create_graph=True,
                           allow_unused=True))
        present = [f for f in firsts if f is not None]
        if not present:
            return
        directions = cotangents_of(present)
        recorded = [(f, d) for f, d in zip(present, directions) if f.requires_grad]
        expected = _oracle.central_difference_vjp(
            gradient_function(sample), [t._array for t in inputs], flat(directions))
        if recorded:
            found = grad([f for f, _ in recorded], inputs, [d for _, d in recorded],
                         allow_unused=True)
        else:
            found = (None,) * len(inputs)
        for gradient, wanted in zip(found, expected, strict=True):
            actual = np.zeros_like(wanted) if gradient is None else gradient._array
            scale = 1 + np.abs(wanted).max() if wanted.size else 1
            _oracle.assert_close(actual, wanted, 1e-5, 1e-6 * scale, "second gradient")

    each(samples(op), check)


# -------------------------------------------------------------------- formulas, array and tensor


def node_of(outputs: list[Tensor]) -> Any:
    """Return the op's node, which all outputs share."""
    node = next((o.grad_fn for o in outputs if o.grad_fn is not None), None)
    return node if isinstance(node, OpNode) else None


def gradients_for(node: Any, outputs: list[Tensor]) -> list[Any]:
    """Return a gradient for each output of the node; those that are not float have none."""
    cotangents = iter(cotangents_of([o for o in outputs if o._array.dtype.kind == "f"]))
    return [next(cotangents) if o._array.dtype.kind == "f" else None for o in outputs]


#: Ops whose tensor formulas recompute in a differentiable way what the array formulas have saved.
RECOMPUTES = {"GruLayer", "LstmLayer", "NativeBatchNorm", "NativeGroupNorm", "NativeLayerNorm",
              "RnnLayer", "ScaledDotProduct"}


@sampled_differentiable
def test_formulas_agree_on_arrays_and_tensors(op):
    def check(sample: Sample) -> None:
        for changed in (sample, in_single(sample)):
            outputs = outputs_of(changed.run())
            if (node := node_of(outputs)) is None:
                continue
            grads = gradients_for(node, outputs)
            arrays = node.apply_arrays([None if g is None else g._array for g in grads], None)
            tensors = node.apply_tensors(grads)
            assert len(arrays) == len(tensors) == len(node.edges)
            for i, (array, tensor) in enumerate(zip(arrays, tensors)):
                assert (array is None) == (tensor is None)
                if array is None:
                    continue
                assert isinstance(tensor, Tensor), f"result {i} is a {type(tensor).__name__}"
                if op.__name__ in RECOMPUTES:
                    assert array.dtype == tensor._array.dtype
                    tolerance = 1e-4 if array.dtype == np.float32 else 1e-12
                    _oracle.assert_close(array, tensor._array, tolerance, tolerance, "result")
                else:
                    assert_identical(np.asarray(array), tensor._array, f"result {i}")

    each(samples(op), check)


def in_single(sample: Sample) -> Sample:
    """Return the call with float32 in place of float64."""
    return sample.with_arrays(
        lambda a: a.astype(np.float32) if a.dtype == np.float64 else a.copy())


@only(is_differentiable)
def test_formulas_give_no_saved_memory_away(op):
    def check(sample: Sample) -> None:
        outputs = outputs_of(sample.run())
        if (node := node_of(outputs)) is None:
            return
        grads = [None if g is None else g._array for g in gradients_for(node, outputs)]
        results = node.apply_arrays(grads, None)
        saved = [node.unpack(name, arrays=True) for name in node.saves]
        saved = [s for group in saved for s in (group if isinstance(group, list) else [group])]
        for result in results:
            for array in saved:
                if type(array) is np.ndarray and type(result) is np.ndarray:
                    assert not (np.may_share_memory(result, array)
                                and np.shares_memory(result, array)), (
                        "a formula returns memory that is saved")

    each(samples(op), check)


@only(is_differentiable)
def test_saved_tensors_are_watched(op):
    """A formula does not run on an input or output that was written to since it was saved."""

    def check(sample: Sample) -> None:
        outputs = outputs_of(sample.run())
        for name in getattr(node_of(outputs), "saves", ()):
            outputs = outputs_of(sample.run())
            node = node_of(outputs)
            saved = node.unpack(name, arrays=False)
            watched = [t for t in [*sample.tensors(), *outputs] if t is saved or (
                isinstance(saved, Tensor) and t._array is saved._array)]
            if not watched:
                continue  # not needed by these edges, a number, or an array of the op's own
            grads = [None if g is None else g._array for g in gradients_for(node, outputs)]
            watched[0]._bump()
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                node.apply_arrays(grads, None)

    each(samples(op), check)


@only(is_differentiable)
def test_gradients_do_not_alias_the_cotangent(op):
    def check(sample: Sample) -> None:
        outputs = with_formula(op, sample.run())
        if not outputs or not sample.leaves():
            return
        cotangents = cotangents_of(outputs)
        kept = [c._array.copy() for c in cotangents]
        for output, cotangent in zip(outputs, cotangents):
            output.backward(cotangent, retain_graph=True)
        for leaf in sample.leaves():
            if leaf.grad is not None and leaf.grad._array.size:
                assert not any(np.shares_memory(leaf.grad._array, c._array) for c in cotangents)
        for cotangent, before in zip(cotangents, kept):
            assert np.array_equal(cotangent._array, before)

    each(samples(op), check)


# -------------------------------------------------------------------- other ways to the same result


def assert_same_result(actual: Sample, expected: Sample, exact: bool = True) -> None:
    """Assert that two calls give the same outputs and gradients."""
    ours, theirs = outputs_of(actual.run()), outputs_of(expected.run())
    compare = np.array_equal if exact else _close
    for a, b in zip(ours, theirs, strict=True):
        assert a._array.dtype == b._array.dtype
        assert a._array.shape == b._array.shape
        assert compare(a._array, b._array, equal_nan=a._array.dtype.kind == "f"), "other values"
    if expected.op.formulas and expected.leaves() and differentiable(theirs):
        for a, b in zip(actual.gradients(), expected.gradients(), strict=True):
            assert (a is None) == (b is None)
            if a is not None:
                _oracle.assert_close(a._array, b._array, 1e-9, 1e-12, "gradient")


def _close(a: Any, b: Any, equal_nan: bool) -> bool:
    return bool(np.allclose(a, b, 1e-10, 1e-12, equal_nan=equal_nan))


#: Ops whose result depends on strides by their very meaning, or that refuse some strides.
SEES_STRIDES = {"AsStrided", "Restride"}


@sampled_op
def test_layout_in_memory_does_not_matter(op):
    def check(sample: Sample) -> Any:
        ran = False
        for name, change in forms():
            changed = sample.with_arrays(change)
            try:
                assert_same_result(changed, sample, exact=False)
                ran = True
            except RuntimeError as error:
                if "view size is not compatible" not in str(error) or name == "offset":
                    raise
        return ran

    if op.__name__ not in SEES_STRIDES:
        assert each(samples(op), check)


@sampled_differentiable
def test_single_precision_stays_single(op):
    def check(sample: Sample) -> None:
        changed = in_single(sample)
        outputs = differentiable(changed.run())
        if not changed.leaves() or not outputs:
            return
        for gradient in changed.gradients():
            assert gradient is None or gradient._array.dtype == np.float32
        node = node_of(outputs)
        if node is not None and all(o._array.dtype == np.float32 for o in outputs):
            grads = gradients_for(node, outputs_of(changed.run()))
            raw = node.apply_arrays([None if g is None else g._array for g in grads], None)
            assert all(r is None or r.dtype == np.float32 for r in raw), (
                "a formula computes in double precision")

    each(samples(op), check)


# -------------------------------------------------------------------- in place


@only(is_inplace)
def test_inplace_variant(op):
    def check(sample: Sample) -> Any:
        plain = sample.run()
        target, *rest = sample.args
        if not isinstance(target, Tensor) or (not op.view and plain.shape != target.shape):
            return False
        if op.inplace_shape is not None and not target.shape:
            return False  # addmv of nothing, which has a rule of its own in place
        written = target * 1 if target.requires_grad else from_array(target._array.copy())
        version, address = written._version, written.data_ptr()
        reseed()
        result = inplace_caller(op)(written, *rest, **sample.kwargs)
        assert result is written
        assert result._version == version + 1
        assert result.data_ptr() == address or op.view or not result.numel()
        expected = plain._array.astype(target._array.dtype)
        assert np.array_equal(result._array, expected, equal_nan=expected.dtype.kind == "f")
        if not op.formulas:
            return True
        assert result.requires_grad == plain.requires_grad
        if plain.requires_grad:
            (g,) = cotangents_of([plain])
            found = grad(result, sample.leaves(), g, allow_unused=True)
            for a, b in zip(found, sample.gradients([g]), strict=True):
                zero = np.zeros(())
                _oracle.assert_close(*np.broadcast_arrays(
                    zero if a is None else a._array, zero if b is None else b._array),
                    1e-12, 1e-14, "gradient")
        return True

    assert each(samples(op), check), "no sample can be written in place"


INTEGERS_ONLY = {"Gcd", "Lcm", *(
    op.__name__ for op in OPS if op.__name__.startswith("Bitwise"))}


def second_gradients(result: Tensor, leaves: list[Tensor]) -> list[Any]:
    """Return what the squares of a result's gradients have as gradients."""
    first = [g for g in grad((result * result).sum(), leaves, create_graph=True, allow_unused=True)
             if g is not None and g.requires_grad]
    if not first:
        return [np.zeros(())] * len(leaves)
    total = sum([(g * g).sum() for g in first[1:]], (first[0] * first[0]).sum())
    return [np.zeros(()) if g is None else g._array
            for g in grad(total, leaves, allow_unused=True)]


@only(lambda op: op.inplace and op.formulas and not op.view)
def test_second_gradients_of_a_write_through_a_view_that_is_gone(op):
    def check(sample: Sample) -> Any:
        target, *rest = sample.args
        plain = sample.run()
        if not target.requires_grad or not plain.requires_grad or plain.shape != target.shape:
            return False
        if op.inplace_shape is not None and not target.shape:
            return False  # addmv of nothing, which has a rule of its own in place
        base = (target * 1).reshape(-1)
        reseed()
        inplace_caller(op)(base.view(target.shape), *rest, **sample.kwargs)
        found = second_gradients(base.view(target.shape), sample.leaves())
        for a, b in zip(found, second_gradients(plain, sample.leaves()), strict=True):
            _oracle.assert_close(*np.broadcast_arrays(a, b), 1e-11, 1e-13, "second gradient")
        return True

    assert each(samples(op), check), "no sample can be written in place"


@only(is_inplace)
def test_inplace_on_a_leaf_or_with_another_shape_raises(op):
    leaf_was_tried = False
    for sample in samples(op):
        target, *rest = sample.args
        if not isinstance(target, Tensor) or target._array.dtype.kind != "f":
            continue
        if target.requires_grad:
            leaf_was_tried = True
            if op.no_history:
                continue
            with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
                inplace_caller(op)(target, *rest, **sample.kwargs)
        plain = sample.run()
        if plain.shape != target.shape and not op.view:
            with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
                inplace_caller(op)(from_array(target._array.copy()), *rest, **sample.kwargs)
    assert leaf_was_tried or op.__name__ in INTEGERS_ONLY


# -------------------------------------------------------------------- broadcasting, empty and 0-d


@only(lambda op: op.shape is broadcast)
def test_broadcasting_equals_repeating(op):
    """A dimension cut to one element gives what its repetition gives; its gradient is the sum."""

    def check(sample: Sample) -> Any:
        tensors = sample.tensors()
        big = [t for t in tensors if t.ndim and t.numel()]
        if len(tensors) < 2 or not big:
            return False
        for cut in big:
            place = next(i for i, t in enumerate(tensors) if t is cut)
            for dim in range(cut.ndim):
                index = (slice(None),) * dim + (slice(0, 1),)
                small = cut._array[index].copy()
                narrow = swap(sample, cut, small)
                wide = swap(sample, cut, np.repeat(small, cut.shape[dim], dim))
                assert_broadcast(narrow, wide, place, dim)
        return True

    each(samples(op), check)


def swap(sample: Sample, old: Tensor, array: Any) -> Sample:
    """Return the call with another array in the place of one tensor."""
    return sample.replaced(lambda t: from_array(array if t is old else t._array, t.requires_grad))


def assert_broadcast(narrow: Sample, wide: Sample, place: int, dim: int) -> None:
    """Assert that outputs and gradients agree where broadcasting alone makes up the shape."""
    ours, theirs = outputs_of(narrow.run()), outputs_of(wide.run())
    for a, b in zip(ours, theirs, strict=True):
        full = np.broadcast_to(a._array, b._array.shape)
        assert np.array_equal(full, b._array, equal_nan=b._array.dtype.kind == "f")
    if not differentiable(theirs):
        return
    (g,) = cotangents_of(theirs)
    lost = [i for i, (m, n) in enumerate(zip(ours[0].shape, theirs[0].shape)) if m != n]
    shrunk = g._array.sum(tuple(lost), keepdims=True)
    found = grad(ours[0], narrow.leaves(), from_array(shrunk), allow_unused=True)
    expected = grad(theirs[0], wide.leaves(), g, allow_unused=True)
    for a, b in zip(found, expected, strict=True):
        if a is None or b is None:
            assert a is b
            continue
        b = b._array
        if a._array.shape != b.shape:
            b = b.sum(dim, keepdims=True)
        _oracle.assert_close(a._array, b, 1e-9, 1e-12, "gradient")


#: Ops whose result has the shape of an input, but that are not elementwise: they need a dimension.
NEEDS_DIMENSIONS = {"LinalgCholesky", "LinalgInv", "LinearScan"}


@only(lambda op: op.shape in (same, broadcast) and op.__name__ not in NEEDS_DIMENSIONS)
def test_empty_and_0d_inputs(op):
    """Elementwise ops take tensors without elements and without dimensions."""

    def check(sample: Sample) -> Any:
        tensors = sample.tensors()
        if not tensors or any(not t.numel() for t in tensors):
            return False
        for change in (lambda a: np.asarray(a.reshape(-1)[0]),
                       lambda a: a.reshape(-1)[:0] if a.ndim else a,
                       lambda a: a.reshape(1, -1)[:0, :1] if a.ndim else a):
            changed = sample.with_arrays(change)
            try:
                outputs = outputs_of(changed.run())
            except (IndexError, RuntimeError):
                if any(isinstance(a, (int, tuple, list)) and not isinstance(a, bool)
                       for a in sample.args):
                    continue  # a dimension that is not there
                raise
            expected = np.broadcast_shapes(*(t.shape for t in changed.tensors()))
            assert all(o.shape == expected for o in outputs)
            if differentiable(outputs):
                for leaf, gradient in zip(changed.leaves(), changed.gradients()):
                    assert gradient is None or gradient.shape == leaf.shape
        return True

    each(samples(op), check)
