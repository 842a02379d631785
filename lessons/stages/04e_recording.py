"""Symptoms of stage 04e: each asks the second copy whether it shows one mistake."""

import contextlib
import gc
import weakref
from dataclasses import replace

import numpy as np

import minigrad as torch
from minigrad_course.child_process.second_copy import second_copy


@contextlib.contextmanager
def declared(copy, name, **body):
    """Declare an op in a copy for a block."""
    body.setdefault("public", False)
    try:
        yield type(name, (copy.module("op.declaration").Op,), body)
    finally:
        copy.REGISTRY.pop(name, None)


def leaf(copy, *values):
    return copy.tensor(list(values), requires_grad=True)


def raised(program):
    """Return the class of the error that a program raises, and its text."""
    try:
        program()
    except Exception as error:
        return type(error), str(error)
    return None, ""


def product(hole):
    """Return the node of a product of two leaves."""
    copy = second_copy(hole)
    return copy.F.mul(leaf(copy, 2.0), leaf(copy, 3.0)).grad_fn


# ---------------------------------------------------------------- 04e.1


class _Log:
    def __init__(self, kept, name):
        self.kept, self.name = kept, name

    def op(self, op, values, proceed):
        self.kept.append(self.name)
        return proceed(op, values)


def _asked():
    """The interceptors that were asked, in their order, and the error that ended it."""
    copy, kept = second_copy("04e.1"), []
    error, _ = raised(lambda: copy.module("op.apply").intercepted(
        copy.REGISTRY["Exp"], [copy.tensor([2.0])], (_Log(kept, 1), _Log(kept, 2))))
    return kept, error


def symptom_04e_1_endless_interceptor():
    return _asked()[1] is RecursionError


def symptom_04e_1_empty_stack():
    return _asked() == ([1, 2], IndexError)


def symptom_04e_1_first_interceptor():
    return _asked() == ([1], None)


def symptom_04e_1_interceptors_reversed():
    return _asked() == ([2, 1], None)


def symptom_04e_1_handed_on_ignored():
    class Instead:
        def op(self, op, values, proceed):
            return proceed(copy.REGISTRY["Sub"], values)

    copy = second_copy("04e.1")
    found = copy.module("op.apply").intercepted(
        copy.REGISTRY["Mul"], [copy.tensor([2.0]), copy.tensor([3.0])], (Instead(),))
    return found.tolist() == [6.0]


def symptom_04e_1_elsewhere():
    copy = second_copy("04e.1")
    apply, asked = copy.module("op.apply"), []
    before = apply.prepare, apply.run_elsewhere
    apply.prepare = lambda op, values: replace(before[0](op, values), xp="a GPU")
    apply.run_elsewhere = lambda op, call: asked.append(op)
    try:
        raised(lambda: apply.run_op(copy.REGISTRY["Exp"], [copy.tensor([2.0])]))
    finally:
        apply.prepare, apply.run_elsewhere = before
    return not asked


def symptom_04e_1_arrays_wrapped():
    copy = second_copy("04e.1")
    return isinstance(copy.F.exp(np.ones(1)), torch.Tensor)


def symptom_04e_1_constants_unwrapped():
    copy = second_copy("04e.1")
    return (isinstance(copy.F.sin(leaf(copy, 2.0)), torch.Tensor)
            and isinstance(copy.F.sin(copy.tensor([2.0])), np.ndarray))


def symptom_04e_1_not_recorded():
    copy = second_copy("04e.1")
    result = copy.F.sin(leaf(copy, 2.0))
    return result.grad_fn is None and not result.requires_grad


# ---------------------------------------------------------------- 04e.2


def symptom_04e_2_numbers():
    copy = second_copy("04e.2")
    return raised(lambda: copy.F.mul(leaf(copy, 2.0), 3.0))[0] is AttributeError


def symptom_04e_2_records_in_no_grad():
    copy = second_copy("04e.2")
    with torch.no_grad():
        return copy.F.exp(leaf(copy, 2.0)).grad_fn is not None


def symptom_04e_2_records_in_inference_mode():
    copy = second_copy("04e.2")
    x = leaf(copy, 2.0)
    with torch.inference_mode(), torch.enable_grad():
        return copy.F.mul(x, 2.0).grad_fn is not None


def symptom_04e_2_without_formula():
    copy = second_copy("04e.2")
    with declared(copy, "Odd", forward=lambda xp, self: xp.exp(self), tensors=("self",),
                  not_implemented_derivative=True) as op:
        return not op(leaf(copy, 2.0)).requires_grad


def symptom_04e_2_records_constants():
    copy = second_copy("04e.2")
    return copy.F.exp(copy.tensor([2.0])).grad_fn is not None


def symptom_04e_2_edges_left_out():
    copy = second_copy("04e.2")
    try:
        copy.F.mul(leaf(copy, 2.0), copy.tensor([3.0]))
    except ValueError as error:  # a node of two edges gets one
        return "has 2 edges, but got 1" in str(error)
    return False


def symptom_04e_2_leaf_lost():
    copy = second_copy("04e.2")
    return copy.F.exp(leaf(copy, 2.0)).grad_fn.edges[0][0] is None


def symptom_04e_2_output_lost():
    copy = second_copy("04e.2")
    both = copy.F.sin_cos(leaf(copy, 0.5))
    return copy.F.exp(both[1]).grad_fn.edges[0] == (both[1].grad_fn, 0)


def symptom_04e_2_list_lost():
    copy = second_copy("04e.2")
    found = copy.F.add_scaled([leaf(copy, 2.0)], 3.0)
    return found.grad_fn is None or len(found.grad_fn.edges) != 1


def symptom_04e_2_all_required():
    copy = second_copy("04e.2")
    x, y = leaf(copy, 2.0), copy.tensor([3.0])
    return copy.F.mul(x, y).grad_fn is None and copy.F.mul(y, x).grad_fn is None


def symptom_04e_2_last_counts():
    copy = second_copy("04e.2")
    x, y = leaf(copy, 2.0), copy.tensor([3.0])
    return copy.F.mul(x, y).grad_fn is None and copy.F.mul(y, x).grad_fn is not None


def symptom_04e_2_edges_decide():
    copy = second_copy("04e.2")
    base = torch.ones(3)
    view = base[:2]
    base.requires_grad_()
    of_leaf = copy.F.mul(leaf(copy, 2.0), 3.0)
    return of_leaf.requires_grad and not copy.F.mul(view, 3.0).requires_grad


def symptom_04e_2_nothing_saved():
    return not hasattr(product("04e.2"), "_value_other")


def symptom_04e_2_no_sequence():
    return not hasattr(product("04e.2"), "sequence")


def symptom_04e_2_promotion_lost():
    copy = second_copy("04e.2")
    x = torch.tensor([2.0], dtype=torch.float32).requires_grad_()
    node = copy.F.mul(copy.tensor(np.array([3.0]), requires_grad=True), x).grad_fn
    return node.unpack("other", arrays=True).dtype == np.float32


# ---------------------------------------------------------------- 04e.3


def symptom_04e_3_several():
    copy = second_copy("04e.3")
    return isinstance(copy.F.sin_cos(copy.tensor([0.5])), torch.Tensor)


def symptom_04e_3_no_requires_grad():
    copy = second_copy("04e.3")
    result = copy.F.sin(leaf(copy, 2.0))
    return result._node is not None and not result.requires_grad


def symptom_04e_3_no_shape():
    copy = second_copy("04e.3")
    node = copy.F.sin(leaf(copy, 2.0)).grad_fn
    return node is not None and not hasattr(node, "shape")


def symptom_04e_3_no_base():
    copy = second_copy("04e.3")
    return copy.F.transposed(copy.tensor([[1.0, 2.0]]))._base is None


def symptom_04e_3_integers():
    copy = second_copy("04e.3")
    with declared(copy, "Rounded", forward=lambda xp, self: self.astype("int64"),
                  grad_self=lambda g: g) as op:
        return op(leaf(copy, 2.5)).grad_fn is not None


def symptom_04e_3_output_not_saved():
    copy = second_copy("04e.3")
    node = copy.F.exp(leaf(copy, 2.0)).grad_fn
    return node is not None and node._value_result is None


def symptom_04e_3_cycle():
    copy = second_copy("04e.3")
    result = copy.F.exp(leaf(copy, 2.0))
    node, was_on = weakref.ref(result.grad_fn), gc.isenabled()
    gc.disable()
    try:
        del result
        return node() is not None
    finally:
        if was_on:
            gc.enable()


def symptom_04e_3_inference():
    copy = second_copy("04e.3")
    x = copy.tensor([2.0])
    with torch.inference_mode():
        return not copy.F.exp(x).is_inference()


# ---------------------------------------------------------------- 04e.4


def symptom_04e_4_no_first():
    return "__sub__" not in vars(second_copy("04e.4").Tensor)


def symptom_04e_4_no_reflected():
    copy = second_copy("04e.4")
    return "__sub__" in vars(copy.Tensor) and "__rsub__" not in vars(copy.Tensor)


def symptom_04e_4_not_swapped():
    copy = second_copy("04e.4")
    reflected = vars(copy.Tensor).get("__rsub__")
    return reflected is not None and reflected(copy.tensor([2.0]), 5).tolist() == [-3.0]


def symptom_04e_4_commutative_swapped():
    copy = second_copy("04e.4")
    node = (4 * leaf(copy, 2.0)).grad_fn
    return len(node.edges) == 2 and node.edges[0][0] is None


def symptom_04e_4_refuses():
    copy = second_copy("04e.4")
    multiply = vars(copy.Tensor).get("__mul__")
    return multiply is not None and raised(lambda: multiply(copy.tensor([2.0]), "text"))[0] \
        is TypeError


def symptom_04e_4_two_operands():
    copy = second_copy("04e.4")
    dunder = copy.module("op.publish").operator(copy.F.exp)
    return raised(lambda: dunder(copy.tensor([0.0])))[0] is TypeError


def symptom_04e_4_numbers():
    copy = second_copy("04e.4")
    multiply = vars(copy.Tensor).get("__mul__")
    return multiply is not None and multiply(copy.tensor([2.0]), 3.0) is NotImplemented


def symptom_04e_4_not_asked():
    def eq(self, other):
        return "equal"

    copy = second_copy("04e.4")
    equal = copy.module("op.publish").operator(eq)
    return equal(copy.tensor([2.0]), np.array([2.0])) is NotImplemented


def symptom_04e_4_reflected_refuses():
    copy = second_copy("04e.4")
    methods, x = vars(copy.Tensor), copy.tensor([2.0])
    return (methods["__sub__"](x, "text") is NotImplemented
            and raised(lambda: methods["__rsub__"](x, "text"))[0] is TypeError)
