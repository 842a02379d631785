"""Symptoms of stage 03b: what the mistakes of its exercises do."""

import importlib
import warnings

import numpy as np

import minigrad as torch
from minigrad.autograd import forward_ad
from minigrad.autograd.graph import get_gradient_edge
from minigrad.engine.graph_task import GraphTask

_front = importlib.import_module("minigrad.autograd.backward")


def _leaf(values):
    return torch.tensor(values, requires_grad=True)


def _error(function, *args, **kwargs):
    """The kind and the text of what a call raises; None and "" where it raises nothing."""
    try:
        function(*args, **kwargs)
    except Exception as error:
        return type(error), str(error)
    return None, ""


# ---------------------------------------------------------------- 03b.1


def symptom_03b_1_takes_apart() -> bool:
    x = _leaf([1.0, 2.0])
    try:
        found = _front.as_tuple(x)
    except TypeError:
        return False
    return len(found) == 2 and found[0] is not x


def symptom_03b_1_edge_apart() -> bool:
    return len(_front.as_tuple(get_gradient_edge(_leaf([1.0]) * 2))) > 1


def symptom_03b_1_iterator_wrapped() -> bool:
    x, y = _leaf(1.0), _leaf(2.0)
    found = _front.as_tuple(iter([x, y]))
    return len(found) == 1 and not isinstance(found[0], torch.Tensor)


def symptom_03b_1_order_lost() -> bool:
    x, y = _leaf(1.0), _leaf(2.0)
    found = _front.as_tuple([x, y])
    return len(found) == 2 and found[0] is y and found[1] is x


def symptom_03b_1_keys() -> bool:
    return tuple(_front.as_tuple({"x": _leaf(1.0)})) == ("x",)


def symptom_03b_1_no_tuple() -> bool:
    x = _leaf(1.0)
    return type(_front.as_tuple([x])) is not tuple or type(_front.as_tuple(x)) is not tuple


def symptom_03b_1_one_none() -> bool:
    return tuple(_front.matched(None, 3) or ()) in ((None,), ())


def symptom_03b_1_count_unchecked() -> bool:
    return _error(_front.matched, [torch.ones(1)], 2)[0] is None


def symptom_03b_1_count_error() -> bool:
    text = _error(_front.matched, [torch.ones(1)], 2)[1]
    return text == "got 1 tensors and 2 gradients"


# ---------------------------------------------------------------- 03b.2


def symptom_03b_2_leaf_refused() -> bool:
    return "does not require grad" in _error(_front.root_edges, [_leaf(1.0)])[1]


def symptom_03b_2_no_history_accepted() -> bool:
    return _error(_front.root_edges, [torch.ones(1)])[0] is None


def symptom_03b_2_kind_unchecked() -> bool:
    kind, text = _error(_front.root_edges, [1.0])
    return kind is None or "has to be a Tensor" not in text


def symptom_03b_2_wrong_class() -> bool:
    kind, text = _error(_front.root_edges, [1.0])
    other, said = _error(_front.root_edges, [torch.ones(1)])
    return (("has to be a Tensor" in text and kind is not TypeError)
            or ("does not require grad" in said and other is not RuntimeError))


def symptom_03b_2_constants_skipped() -> bool:
    x = _leaf([1.0]) * 2
    return len(_front.root_edges([x, torch.ones(1)])) == 1


def symptom_03b_2_place() -> bool:
    text = _error(_front.root_edges, [_leaf([1.0]) * 2, torch.ones(1)])[1]
    return "does not require grad" in text and not text.startswith("element 1 ")


def symptom_03b_2_leaf_lost() -> bool:
    return _front.edge_of(_leaf(1.0))[0] is None


def symptom_03b_2_number_lost() -> bool:
    part = _leaf([1.0, 2.0]).unbind()[1]
    return _front.edge_of(part)[1] != 1


def symptom_03b_2_edge_whole() -> bool:
    return len(_front.edge_of(get_gradient_edge(_leaf([1.0]) * 2))) != 2


def _pair():
    return _leaf([1.0, 2.0]) * 2


def symptom_03b_2_wrong_place() -> bool:
    text = _error(_front.checked, torch.ones(3), _pair(), 1)[1]
    return "has a shape of" in text and "grad_output[1]" not in text


def symptom_03b_2_shape_unchecked() -> bool:
    return any(_error(_front.checked, torch.ones(shape), _pair(), 0)[0] is None
               for shape in ((1,), (), (2, 1), (3,)))


def symptom_03b_2_shape_error_swapped() -> bool:
    text = _error(_front.checked, torch.ones(3), _pair(), 0)[1]
    return "grad_output[0] has a shape of torch.Size([2])" in text


def symptom_03b_2_gradient_dtype_refused() -> bool:
    kind, _ = _error(_front.checked, torch.ones(2, dtype=torch.float64), _pair(), 0)
    return kind is not None and _error(_front.checked, torch.ones(2), _pair(), 0)[0] is None


def symptom_03b_2_gradient_dtype() -> bool:
    made = _front.checked(torch.ones(2, dtype=torch.float64), _pair(), 0)
    return made.dtype is torch.float64


def symptom_03b_2_gradient_history_lost() -> bool:
    given = torch.ones(2, dtype=torch.float64, requires_grad=True)
    return not _front.checked(given, _pair(), 0).requires_grad


def symptom_03b_2_gradient_kind_unchecked() -> bool:
    return "either Tensors or None" not in _error(_front.checked, 1.0, _pair(), 0)[1]


# ---------------------------------------------------------------- 03b.3


def _first(root, given=None, create_graph=False):
    return _front.root_gradients([root], [given], create_graph)[0]


def symptom_03b_3_root_changed() -> bool:
    root = _leaf([2.0]) * 3
    _first(root)
    return root.tolist() != [6.0]


def symptom_03b_3_complains_first() -> bool:
    return _error(_first, torch.ones(1))[0] is RuntimeError


def symptom_03b_3_constants_left_out() -> bool:
    y = _leaf([1.0]) * 2
    return len(_front.root_gradients([torch.ones(1), y], [None, None], False)) == 1


def symptom_03b_3_given_for_constant_lost() -> bool:
    return _first(torch.ones(1), torch.tensor([5.0])) is None


def symptom_03b_3_leaf_begins_with_nothing() -> bool:
    return _first(_leaf([1.0])) is None and _first(_leaf([1.0]) * 2) is not None


def symptom_03b_3_ones_for_all() -> bool:
    return _error(_first, _leaf([1.0, 2.0]) * 2)[0] is None


def symptom_03b_3_only_zero_d() -> bool:
    return "scalar outputs" in _error(_first, _leaf([1.0]) * 2)[1]


def symptom_03b_3_not_one() -> bool:
    return np.asarray(_first(_leaf(1.0) * 2)).item() != 1.0


def symptom_03b_3_ignores_given() -> bool:
    made = _first(_leaf([1.0]) * 2, torch.tensor([5.0]))
    return np.asarray(made).tolist() == [1.0]


def symptom_03b_3_one_without_dimensions() -> bool:
    return np.shape(_first(_leaf([[1.0]]) * 2)) == () and np.shape(_first(_leaf(1.0) * 2)) == ()


def symptom_03b_3_arrays_always() -> bool:
    given = _first(_leaf(1.0) * 2, torch.tensor(1.0), create_graph=True)
    made = _first(_leaf(1.0) * 2, create_graph=True)
    return isinstance(given, np.ndarray) or isinstance(made, np.ndarray)


def symptom_03b_3_tensors_always() -> bool:
    return (isinstance(_first(_leaf(1.0) * 2), torch.Tensor)
            or isinstance(_first(_leaf(1.0) * 2, torch.tensor(1.0)), torch.Tensor))


def symptom_03b_3_only_create_graph() -> bool:
    with forward_ad.dual_level():
        inside = _first(_leaf(1.0) * 2)
    return isinstance(inside, np.ndarray) and isinstance(
        _first(_leaf(1.0) * 2, create_graph=True), torch.Tensor)


def symptom_03b_3_history_lost() -> bool:
    made = _first(_leaf(1.0) * 2, torch.tensor(1.0, requires_grad=True), create_graph=True)
    return isinstance(made, torch.Tensor) and not made.requires_grad


# ---------------------------------------------------------------- 03b.4


def _found(roots, goals, keep=False, create=False, unused=False):
    return _front.gradients(roots, goals, [None] * len(roots), keep, create, unused)


def symptom_03b_4_accumulates() -> bool:
    x = _leaf([2.0])
    _found([x * 3], (x,), unused=True)
    return x.grad is not None


def symptom_03b_4_checked_too_late() -> bool:
    x = _leaf([3.0])
    y = x * x
    refused = "does not require grad" in _error(_found, [y], (x, torch.ones(1)), unused=True)[1]
    return refused and "second time" in _error(_found, [y], (x,))[1]


def symptom_03b_4_constant_accepted() -> bool:
    text = _error(_found, [_leaf([1.0]) * 2], (torch.ones(1),), unused=True)[1]
    x = _leaf([1.0])
    return "does not require grad" not in text and _error(_found, [x * 2], (x,))[0] is None


def symptom_03b_4_arrays() -> bool:
    x = _leaf([2.0])
    return isinstance(_found([x * 3], (x,))[0], np.ndarray)


def symptom_03b_4_unused_accepted() -> bool:
    x, other = _leaf([2.0]), _leaf([2.0])
    return _error(_found, [x * 3], (x, other))[0] is None


def symptom_03b_4_unused_refused() -> bool:
    x, other = _leaf([2.0]), _leaf([2.0])
    return "not have been used" in _error(_found, [x * 3], (x, other), unused=True)[1]


def symptom_03b_4_never_kept() -> bool:
    x = _leaf([2.0])
    y = x * x
    _found([y], (x,), keep=True)
    return "second time" in _error(_found, [y], (x,))[1]


def symptom_03b_4_always_kept() -> bool:
    x = _leaf([2.0])
    y = x * x
    _found([y], (x,))
    return _error(_found, [y], (x,))[0] is None


def symptom_03b_4_no_graph() -> bool:
    x = _leaf([2.0])
    return not _found([x**3], (x,), keep=True, create=True)[0].requires_grad


def symptom_03b_4_tuple() -> bool:
    x = _leaf([2.0])
    return type(_found([x * 3], (x,))) is tuple


def symptom_03b_4_unused_left_out() -> bool:
    x, other = _leaf([2.0]), _leaf([2.0])
    return len(_found([x * 3], (other, x), unused=True)) == 1


def symptom_03b_4_wrong_index() -> bool:
    x, other = _leaf([2.0]), _leaf([2.0])
    text = _error(_found, [x * 3], (x, other))[1]
    other_way = _error(_found, [x * 3], (other, x))[1]
    return ("not have been used" in text and "at index 1 " not in text
            and not ("at index 0 " in text and "at index 1 " in other_way))


def symptom_03b_4_results_reversed() -> bool:
    a, b = _leaf([2.0]), _leaf([5.0])
    found = [g.tolist() for g in _found([a * b], (a, b))]
    return found == [[2.0], [5.0]]


def _wishes(keep, create):
    """What a pass was made with, and what came of it."""
    made = []

    class Made(GraphTask):
        def __init__(self, *wishes, **more):
            made.append(wishes[:2])
            super().__init__(*wishes, **more)

    x = _leaf([2.0])
    found = None
    try:
        found = _front.gradients([x * 3], (x,), [None], keep, create, False, Made)
    except Exception:  # a pass of arrays that records, or one of Tensors that does not
        pass
    return made, found


def symptom_03b_4_wishes_swapped() -> bool:
    return _wishes(True, False)[0] == [(False, True)] and _wishes(False, True)[0] == [(True, False)]


def symptom_03b_4_task_class_ignored() -> bool:
    made, found = _wishes(False, False)
    return not made and found is not None and found[0] is not None


# ---------------------------------------------------------------- 03b.5


def symptom_03b_5_inputs_ignored() -> bool:
    a, b = _leaf([2.0]), _leaf([5.0])
    torch.autograd.backward(a * b, inputs=[a])
    return b.grad is not None


def symptom_03b_5_given_ignored() -> bool:
    x = _leaf([2.0])
    torch.autograd.backward(x * 3, torch.tensor([10.0]))
    return x.grad.tolist() == [3.0]


def _backward(y, _, **options):
    torch.autograd.backward(y, **options)


def _again(function, retain, create):
    """What a second pass raises after one with these options: kind and text."""
    x = _leaf([2.0])
    y = x * x
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        function(y, x, retain_graph=retain, create_graph=create)
    x.grad = None
    return _error(function, y, x)


def _kept(function, retain, create):
    return _again(function, retain, create)[0] is None


def _freed(function, retain, create):
    return "second time" in _again(function, retain, create)[1]


def symptom_03b_5_kept_always() -> bool:
    return _kept(_backward, False, False) or _kept(_backward, None, False)


def symptom_03b_5_freed_always() -> bool:
    return _freed(_backward, True, False)


def symptom_03b_5_freed_under_create() -> bool:
    return _freed(_backward, None, True)


def symptom_03b_5_create_overrules() -> bool:
    return _kept(_backward, False, True)


def symptom_03b_5_nothing_for_inputs() -> bool:
    a, b = _leaf([2.0]), _leaf([5.0])
    torch.autograd.backward(a * b, inputs=[a])
    return a.grad is None and b.grad is None


def symptom_03b_5_no_warning() -> bool:
    x = _leaf([2.0])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        torch.autograd.backward(x * x, create_graph=True)
    x.grad = None
    return not any("reference cycle" in str(each.message) for each in told)


def symptom_03b_5_warns_first() -> bool:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        kinds = [_error(torch.autograd.backward, root, create_graph=True)[0]
                 for root in (_leaf([1.0, 2.0]) * 2, torch.ones(1))]
        kinds.append(_error(torch.autograd.backward, _leaf([2.0]) * 2, create_graph=True,
                            inputs=[])[0])
    return kinds == [RuntimeError] * 3 and any(
        "reference cycle" in str(each.message) for each in told)


def symptom_03b_5_one_pass_per_root() -> bool:
    seen, x = [], _leaf([2.0])
    y = x * 3
    y.register_hook(lambda g: seen.append(g.tolist()))
    torch.autograd.backward([y * 2, y * 5])
    return sorted(seen) == [[2.0], [5.0]]


def symptom_03b_5_grad_replaced() -> bool:
    a = _leaf([2.0])
    for _ in range(2):
        torch.autograd.backward(a * 3, inputs=[a])
    return a.grad is not None and a.grad.tolist() == [3.0]


def symptom_03b_5_not_retained() -> bool:
    a = _leaf([2.0])
    c = a * 3
    torch.autograd.backward(c * 5, inputs=[c])
    return c._grad is None


# ---------------------------------------------------------------- 03b.6


def _seen(found):
    """The first gradient as a list, however it came."""
    found = next(iter(found.values() if isinstance(found, dict) else found)) if not isinstance(
        found, torch.Tensor) else found
    return None if found is None else found.tolist()


def symptom_03b_6_given_ignored() -> bool:
    x = _leaf([2.0])
    return _seen(torch.autograd.grad(x * 3, x, torch.tensor([10.0]))) == [3.0]


def symptom_03b_6_kept_always() -> bool:
    return _kept(torch.autograd.grad, False, False) or _kept(torch.autograd.grad, None, False)


def symptom_03b_6_freed_always() -> bool:
    return _freed(torch.autograd.grad, True, False)


def symptom_03b_6_freed_under_create() -> bool:
    return _freed(torch.autograd.grad, None, True)


def symptom_03b_6_create_overrules() -> bool:
    return _kept(torch.autograd.grad, False, True)


def symptom_03b_6_unused_always_allowed() -> bool:
    x, other = _leaf([2.0]), _leaf([2.0])
    return _error(torch.autograd.grad, x * 3, (x, other))[0] is None


def symptom_03b_6_batches_ignored() -> bool:
    x = _leaf([2.0, 3.0])
    batch = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    kind, text = _error(torch.autograd.grad, x * 3, x, batch, is_grads_batched=True)
    return kind is not None and "Mismatch in shape" in text


def symptom_03b_6_options_unchecked() -> bool:
    x = _leaf([2.0])
    return _error(torch.autograd.grad, x * 3, x, allow_unused=False,
                  materialize_grads=True)[0] is None


def symptom_03b_6_zeros_without_grad() -> bool:
    x, other = _leaf([2.0]), _leaf([2.0])
    found = torch.autograd.grad(x * x, (x, other), create_graph=True, materialize_grads=True)
    return not found[1].requires_grad


def symptom_03b_6_bare() -> bool:
    x = _leaf([2.0])
    return isinstance(torch.autograd.grad(x * 3, x), torch.Tensor)


def symptom_03b_6_list() -> bool:
    x = _leaf([2.0])
    return type(torch.autograd.grad(x * 3, x)) is list


def symptom_03b_6_no_dictionary() -> bool:
    x = _leaf([2.0])
    return not isinstance(torch.autograd.grad(x * 3, {"x": x}), dict)


def symptom_03b_6_no_zeros() -> bool:
    x, other = _leaf([2.0]), _leaf([2.0])
    return torch.autograd.grad(x * 3, (x, other), materialize_grads=True)[1] is None


def symptom_03b_6_zeros_need_permission() -> bool:
    x, other = _leaf([2.0]), _leaf([2.0])
    return "not have been used" in _error(torch.autograd.grad, x * 3, (x, other),
                                          materialize_grads=True)[1]


def symptom_03b_6_fills_grad() -> bool:
    x = _leaf([2.0])
    torch.autograd.grad(x * 3, x)
    return x.grad is not None
