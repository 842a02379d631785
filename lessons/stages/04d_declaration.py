"""Symptoms of stage 04d: each asks the second copy whether it shows one mistake."""

import contextlib
import inspect

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


# ---------------------------------------------------------------- 04d.1


def _declared():
    """The class that the learner's function returned, kept for the next symptom."""
    copy = second_copy("04d.1")
    module = copy.module("examples.softplus")
    if not hasattr(module, "_found"):
        for name in [key for key, op in copy.REGISTRY.items() if op.__module__ == module.__name__]:
            del copy.REGISTRY[name]  # the tests have declared it
        module._found = module.declare_log1p_exp()
    return copy, module._found


def _at(value, g=1.0, dtype=np.float64):
    """Value and slope at a number."""
    copy, op = _declared()
    x = copy.tensor(np.array([value], dtype), requires_grad=True)
    y = op(x)
    (slope,) = torch.autograd.grad(y, x, torch.tensor(np.array([g], dtype)))
    return y.tolist()[0], slope.tolist()[0]


def _newly_declared():
    """The error with which the learner's function fails, and its text."""
    copy = second_copy("04d.1")
    for name in [key for key in copy.REGISTRY if key.startswith("Log1p")]:
        del copy.REGISTRY[name]
    return raised(copy.module("examples.softplus").declare_log1p_exp)


def symptom_04d_1_instance():
    kind, text = _newly_declared()
    return kind is TypeError and text.startswith("log1p_exp() missing")


def symptom_04d_1_no_backend():
    names = list(inspect.signature(_declared()[1].forward).parameters)
    return names != ["xp", "self"]


def symptom_04d_1_forward_in_F():
    copy, op = _declared()
    return "F" in op.forward.__code__.co_names and raised(
        lambda: op(copy.tensor(np.array([0.0]))))[0] is AttributeError


def symptom_04d_1_returns_none():
    return _declared()[1] is None


def symptom_04d_1_name():
    op = _declared()[1]
    return op is not None and op.__name__ != "Log1pExp"


def symptom_04d_1_method():
    kind, text = raised(lambda: _at(0.0))
    return kind is AttributeError and "ndarray" in text


def symptom_04d_1_value():
    copy, op = _declared()
    return abs(op(copy.tensor(np.array([0.0]))).item() - 0.6931) > 1e-3


def symptom_04d_1_float32():
    copy, op = _declared()
    return op(copy.tensor(np.array([0.0])))._array.dtype == np.float32


def symptom_04d_1_overflow():
    copy, op = _declared()
    with np.errstate(all="ignore"):
        return op(copy.tensor(np.array([1000.0]))).tolist() != [1000.0]


def symptom_04d_1_float64():
    copy, op = _declared()
    return op(copy.tensor(np.array([0.0], np.float32)))._array.dtype == np.float64


def symptom_04d_1_slope_is_nan():
    with np.errstate(all="ignore"):
        return bool(np.isnan(_at(1000.0)[1])) and abs(_at(0.0)[1] - 0.5) < 1e-3


def symptom_04d_1_second_slope_is_nan():
    copy, op = _declared()
    x = copy.tensor(np.array([-1000.0]), requires_grad=True)
    with np.errstate(all="ignore"):
        (first,) = torch.autograd.grad(op(x), x, create_graph=True)
        if not first.requires_grad:
            return False
        (second,) = torch.autograd.grad(first, x)
    return first.item() == 0 and bool(np.isnan(second.item()))


def symptom_04d_1_no_g():
    return _at(0.3, 1.0)[1] == _at(0.3, 10.0)[1]


def symptom_04d_1_slope():
    return abs(_at(0.0)[1] - 0.5) > 1e-3


def symptom_04d_1_no_second():
    copy, op = _declared()
    x = copy.tensor(np.array([0.0]), requires_grad=True)
    (first,) = torch.autograd.grad(op(x), x, create_graph=True)
    if not first.requires_grad:
        return True
    (second,) = torch.autograd.grad(first, x, allow_unused=True)
    return second is None or abs(second.item() - 0.25) > 1e-3


# ---------------------------------------------------------------- 04d.2


def _loading():
    """The error with which the copy for 04d.1 cannot be loaded, as text; "" if it can."""
    kind, text = raised(lambda: second_copy("04d.2"))
    return text if kind is TypeError else ""


def _saves(**body):
    """The two save lists of an op of two inputs; None if it was refused."""
    copy = second_copy("04d.2")
    try:
        with declared(copy, "Asked", forward=lambda xp, self, other: self, **body) as op:
            tensors, arguments = copy.module("op.node").save_list(op)
            return list(tensors), list(arguments)
    except TypeError:
        return None


def symptom_04d_2_gradients_refused():
    return "asks for 'g'" in _loading()


def symptom_04d_2_sizes_refused():
    return "_sizes'" in _loading()


def symptom_04d_2_outputs_refused():
    return "asks for 'result'" in _loading()


def symptom_04d_2_defaults():
    needed_by = second_copy("04d.2").module("op.node").needed_by
    return "shared" in needed_by(lambda g, shared=None: g)


def symptom_04d_2_defaults_saved():
    needed_by = second_copy("04d.2").module("op.node").needed_by
    if needed_by(lambda g, shared=None: g) != ("g",):
        return False
    saved = []

    def program():
        saved.append(_saves(grad_self=lambda g, self, shared=None: g))

    kind, text = raised(program)
    return "'shared'" in text or (kind is None and saved == [None])


def symptom_04d_2_named_gradients():
    return "asks for 'g_" in _loading()


def symptom_04d_2_gradients_saved():
    found = _saves(grad_self=lambda g, other: g)
    return found is not None and "g" in found[0] + found[1]


def _unknown():
    """The error that `save_list` raises for a name of no kind, and its text."""
    save_list = second_copy("04d.2").module("op.node").save_list
    op = type("Odd", (), {"outputs": (), "tensors": ("self",), "list_of_tensors": None,
                          "parameters": ("self",), "name": "small", "formulas": {
                              "self": (lambda g, weight: g, ("g", "weight"))}})
    return raised(lambda: save_list(op))


def symptom_04d_2_unknown_accepted():
    return _unknown()[0] is None


def symptom_04d_2_other_name():
    kind, text = _unknown()
    return kind is TypeError and "small" in text and "Odd" not in text


def symptom_04d_2_other_error():
    return _unknown()[0] not in (None, TypeError)


def symptom_04d_2_first_formula():
    found = _saves(grad_self=lambda g, other: g, grad_other=lambda g, self: g)
    return found is not None and found[0] == ["other"]


def symptom_04d_2_twice():
    found = _saves(grad_self=lambda g, other: g, grad_other=lambda g, other: g)
    return found is not None and found[0] == ["other", "other"]


def symptom_04d_2_order():
    found = _saves(grad_self=lambda g, self, result: g)
    return found is not None and found[0] == ["result", "self"]


def symptom_04d_2_list_as_argument():
    copy = second_copy("04d.2")
    with declared(copy, "Listed", list_of_tensors="items", forward=lambda xp, items: items[0],
                  grad_items=lambda g, items: [g for _ in items]) as op:
        return list(copy.module("op.node").save_list(op)[1]) == ["items"]


# ---------------------------------------------------------------- 04d.3


def _total(hole):
    copy = second_copy(hole)
    return copy.F.add_scaled([leaf(copy, 2.0)], 3.0).grad_fn


def symptom_04d_3_saved_slots():
    kind, text = raised(lambda: second_copy("04d.3"))
    return kind is ValueError and "'_saved_" in text and "__slots__" in text


def symptom_04d_3_dictionary():
    return hasattr(product("04d.3"), "__dict__")


def symptom_04d_3_no_argument_slots():
    product("04d.3")
    kind, text = raised(lambda: _total("04d.3"))
    return kind is AttributeError and "_arg_" in text


def symptom_04d_3_no_tensor_slots():
    kind, text = raised(lambda: product("04d.3"))
    return kind is AttributeError and "_value_" in text


def symptom_04d_3_other_slot_names():
    types = [second_copy("04d.3").REGISTRY[name].node_type for name in ("Mul", "AddScaled")]
    return (any(not slot.startswith("_value_") for slot in types[0].value_slots.values())
            or any(not slot.startswith("_arg_") for slot in types[1].arg_slots.values()))


def symptom_04d_3_arguments_hidden():
    return not hasattr(type(_total("04d.3")), "_saved_scale")


def symptom_04d_3_arguments_as_tensors():
    node = _total("04d.3")
    return hasattr(type(node), "_saved_scale") and raised(lambda: node._saved_scale)[0] is not None


def symptom_04d_3_tensors_as_arguments():
    node = product("04d.3")
    return (hasattr(type(node), "_saved_self")
            and raised(lambda: node._saved_self)[0] is not None)


def symptom_04d_3_no_raw():
    return not hasattr(type(product("04d.3")), "_raw_saved_self")


def symptom_04d_3_raw_arguments():
    return hasattr(type(_total("04d.3")), "_raw_saved_scale")


def symptom_04d_3_other_name():
    return second_copy("04d.3").REGISTRY["Mul"].node_type.__name__ != "MulBackward"


def symptom_04d_3_base_ignored():
    copy = second_copy("04d.3")
    base = type("Flat", (copy.module("graph.node").NaryNode,), {"__slots__": ()})
    made = copy.module("op.node").make_node_type(copy.REGISTRY["Exp"], base)
    return base not in made.__mro__


# ---------------------------------------------------------------- 04d.4


def symptom_04d_4_set_of_the_class():
    copy = second_copy("04d.4")
    with declared(copy, "Crossed", forward=lambda xp, a, b: a * b, grad_a=lambda g, b: g * b,
                  grad_b=lambda g, a: g * a) as op:
        node = op(leaf(copy, 2.0), leaf(copy, 3.0)).grad_fn
        return node.names_to_save() == {"a", "b"} and bool(type(node).always_saved)


def symptom_04d_4_saves_everything():
    copy = second_copy("04d.4")
    x, y = leaf(copy, 2.0), copy.tensor([3.0])
    return copy.F.mul(x, y).grad_fn.names_to_save() == {"self", "other"}


def symptom_04d_4_dead_edges():
    copy = second_copy("04d.4")
    return not _asked_by_none() and copy.F.mul(
        leaf(copy, 2.0), copy.tensor([3.0])).grad_fn.names_to_save() == {"self"}


def _asked_by_none():
    """The names that a difference saves, whose formulas ask for nothing."""
    copy = second_copy("04d.4")
    return copy.F.sub(leaf(copy, 2.0), leaf(copy, 3.0)).grad_fn.names_to_save()


def symptom_04d_4_own_names():
    copy = second_copy("04d.4")
    return _asked_by_none() == {"self", "other"} and copy.F.mul(
        leaf(copy, 2.0), copy.tensor([3.0])).grad_fn.names_to_save() == {"self"}


def symptom_04d_4_strict():
    copy = second_copy("04d.4")
    kind, text = raised(lambda: copy.F.add_scaled([leaf(copy, 2.0), leaf(copy, 3.0)], 3.0))
    return kind is ValueError and "zip()" in text


def symptom_04d_4_outputs_as_inputs():
    copy = second_copy("04d.4")
    return raised(lambda: copy.F.exp(leaf(copy, 2.0)))[0] is KeyError


def symptom_04d_4_always_forgotten():
    copy = second_copy("04d.4")
    with declared(copy, "Three", forward=lambda xp, a, b, c: a + b + c,
                  grad_a=lambda g, c: g * c, grad_b=lambda g, c: g * c,
                  grad_c=lambda g, a: g * a) as op:
        node = op(copy.tensor([1.0]), copy.tensor([2.0]), leaf(copy, 3.0)).grad_fn
        return node.names_to_save() == {"a"}


def symptom_04d_4_promotion_lost():
    copy = second_copy("04d.4")
    x = torch.tensor([2.0], dtype=torch.float32).requires_grad_()
    node = copy.F.mul(copy.tensor(np.array([3.0]), requires_grad=True), x).grad_fn
    return node.unpack("other", arrays=True).dtype == np.float32


def symptom_04d_4_arrays():
    value = getattr(product("04d.4"), "_value_self", None)
    return type(value).__name__ == "SavedNumber"


def symptom_04d_4_arguments_lost():
    return getattr(_total("04d.4"), "_arg_scale", None) is None


def symptom_04d_4_slots_unset():
    copy = second_copy("04d.4")
    node = copy.F.mul(leaf(copy, 2.0), copy.tensor([3.0])).grad_fn
    return not hasattr(node, "_value_self")


def symptom_04d_4_order_of_slots():
    copy = second_copy("04d.4")
    x, y = leaf(copy, 2.0), leaf(copy, 3.0)
    return copy.F.mul(x, y).grad_fn._saved_other is x


def symptom_04d_4_unchecked():
    copy = second_copy("04d.4")
    x, y = leaf(copy, 2.0), leaf(copy, 3.0)
    saved = copy.F.mul(x, y).grad_fn._saved_other
    return isinstance(saved, torch.Tensor) and not saved.requires_grad


# ---------------------------------------------------------------- 04d.5


def symptom_04d_5_needed_none():
    node, found = _run()
    return len(found) == 2 and all(each is None for each in found) and node.apply_arrays(
        [np.array([10.0])], {edge[0] for edge in node.edges})[0] is not None


def _run(arrays=True, needed=None, second_requires_grad=True):
    """The results of the node of a difference, as lists."""
    copy = second_copy("04d.5")
    node = copy.F.sub(leaf(copy, 2.0), copy.tensor([3.0], requires_grad=second_requires_grad)
                      ).grad_fn
    g = np.array([10.0]) if arrays else copy.tensor([10.0])
    return node, (node.apply_arrays if arrays else node.apply_tensors)([g], needed)


def symptom_04d_5_arrays_as_tensors():
    node = product("04d.5")
    found = []
    kind, text = raised(lambda: found.extend(node.apply_arrays([np.ones(1)], None)))
    return (any(isinstance(each, torch.Tensor) for each in found)
            or (kind is TypeError and "'Tensor'" in text))


def symptom_04d_5_tensors_as_arrays():
    node, copy = product("04d.5"), second_copy("04d.5")
    found = []
    raised(lambda: found.extend(node.apply_tensors([copy.tensor([1.0])])))
    return bool(found) and found[0] is not None and not getattr(found[0], "requires_grad", False)


def symptom_04d_5_no_gradient():
    copy = second_copy("04d.5")
    node = copy.F.sub(leaf(copy, 2.0), leaf(copy, 3.0)).grad_fn
    return raised(lambda: node.apply_arrays([None], None))[0] is not None


def symptom_04d_5_results_left_out():
    _, found = _run(second_requires_grad=False)
    return len(found) == 1


def symptom_04d_5_dead_edges_run():
    _, found = _run(second_requires_grad=False)
    return len(found) == 2 and found[1] is not None and found[0].tolist() == [10.0]


def symptom_04d_5_needed_ignored():
    _, found = _run(needed=set())
    return any(each is not None for each in found)


def symptom_04d_5_order():
    _, found = _run()
    return [each.tolist() for each in found] == [[-10.0], [10.0]]


def symptom_04d_5_list():
    copy = second_copy("04d.5")
    node = copy.F.add_scaled([leaf(copy, 2.0), leaf(copy, 3.0)], 3.0).grad_fn
    return raised(lambda: node.apply_arrays([np.ones(1)], None))[0] is not None or [
        each.tolist() for each in node.apply_arrays([np.ones(1)], None)] != [[3.0], [3.0]]


def _shared():
    """How often the common part of two formulas was computed: on arrays, and then on tensors."""
    copy, calls = second_copy("04d.5"), []

    def shared(self, other):
        calls.append(1)
        return self * other

    def formula(g, self, other, shared=None):
        return g * (self * other if shared is None else shared)

    with declared(copy, "Common", forward=lambda xp, self, other: self + other, shared=shared,
                  grad_self=formula, grad_other=formula) as op:
        node = op(leaf(copy, 2.0), leaf(copy, 3.0)).grad_fn
        node.apply_arrays([np.ones(1)], None)
        on_arrays = len(calls)
        node.apply_tensors([copy.tensor([1.0])])
        return on_arrays, len(calls) - on_arrays


def symptom_04d_5_not_shared():
    return _shared()[0] == 0


def symptom_04d_5_shared_on_tensors():
    return _shared()[1] > 0
