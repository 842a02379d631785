"""Symptoms of stage 06: each runs a tiny program and tells whether it shows one mistake."""

import gc
import weakref

import minigrad as torch
from minigrad.autograd.graph import increment_version
from minigrad.graph.copy_slices import CopySlices
from minigrad.graph.saved_tensor import SavedTensor
from minigrad.graph.version import Version, version_of
from minigrad.tensor.views import (
    DEFAULT,
    INFERENCE_MODE,
    MULTI_OUTPUT,
    NO_GRAD,
    check_inplace,
    mark_view,
    rebase_history,
)


def leaf(value):
    return torch.tensor(value, requires_grad=True)


def raised(program):
    """Return what a program raises, or None; an open hole is passed on."""
    try:
        program()
    except NotImplementedError:
        raise
    except Exception as error:
        return error
    return None


# --- 06.1 ----------------------------------------------------------------------------------------


def symptom_06_1_counter_itself() -> bool:
    x = torch.tensor([1.0])
    x.add_(1.0)
    return isinstance(version_of(x), Version)


def symptom_06_1_no_counter() -> bool:
    return isinstance(raised(lambda: version_of(torch.ones(2))), AttributeError)


def symptom_06_1_not_counted() -> bool:
    counter = Version()
    counter.bump()
    return counter.value == 0


def symptom_06_1_counted_twice() -> bool:
    counter = Version()
    counter.bump()
    return counter.value not in (0, 1)


def symptom_06_1_starts_at_one() -> bool:
    return version_of(torch.ones(2)) != 0


def symptom_06_1_returned() -> bool:
    """Tell whether check returns something where it has to raise."""
    x = torch.ones(2)
    increment_version(x)
    saved = SavedTensor(x)
    found = [saved.check(None)]
    increment_version(x)
    found.append(saved.check(None))
    return found[0] is not found[1]


def symptom_06_1_one_forgiven() -> bool:
    return all(told_after(1, before) is None and told_after(2, before) is not None
               for before in (0, 1))


def symptom_06_1_some_unchecked() -> bool:
    y = leaf([1.0, 2.0]) + 1
    saved = SavedTensor(y)
    increment_version(y)
    return told_after(1) is not None and raised(lambda: saved.check(None)) is None


def symptom_06_1_output_unnamed() -> bool:
    y = leaf([1.0, 2.0]) + 1
    saved = SavedTensor(y)
    saved._counter, saved.tensor = y._shared_counter(), None
    increment_version(y)
    error = raised(lambda: saved.check(y.grad_fn))
    return "modified" in str(error) and "output 0 of Add" not in str(error)


def symptom_06_1_kept_array_fails() -> bool:
    y = leaf([1.0, 2.0]) + 1
    saved = SavedTensor(y)
    saved._counter, saved.tensor = y._shared_counter(), None
    return isinstance(raised(lambda: saved.check(y.grad_fn)), AttributeError | TypeError)


def symptom_06_1_written_only() -> bool:
    counter = Version()
    for _ in range(3):
        counter.bump()
    return counter.value == 1


def told_after(writes, before=0):
    """Return what checking a tensor says after some writes, or None."""
    x = torch.ones(2)
    for _ in range(before):
        increment_version(x)
    saved = SavedTensor(x)
    for _ in range(writes):
        increment_version(x)
    return raised(lambda: saved.check(None))


def symptom_06_1_unchecked() -> bool:
    return told_after(1) is None and told_after(1, 1) is None and told_after(2, 1) is None


def symptom_06_1_late_counter() -> bool:
    return told_after(1) is None and told_after(1, 1) is not None


def symptom_06_1_any_write() -> bool:
    return told_after(0, 2) is not None and told_after(0) is None


def symptom_06_1_unwritten_refused() -> bool:
    return told_after(0) is not None


def symptom_06_1_newer_only() -> bool:
    return told_after(1) is not None and told_after(1, 1) is None


def symptom_06_1_versions_exchanged() -> bool:
    return "is at version 1; expected version 3" in str(told_after(2, 1))


def symptom_06_1_wrong_origin() -> bool:
    x = leaf([1.0, 2.0])
    y = x + 1
    saved, user = SavedTensor(y), (x * 2).grad_fn
    increment_version(y)
    told = str(raised(lambda: saved.check(user)))
    return "modified" in told and "output 0 of Add" not in told


# --- 06.2 ----------------------------------------------------------------------------------------


def symptom_06_2_held() -> bool:
    enabled = gc.isenabled()
    gc.disable()
    try:
        y = leaf(2.0).exp()
        gone, node = weakref.ref(y), y.grad_fn
        del y
        return (gone() is not None and node is not None) or view_saved()[1].tensor is not None
    finally:
        if enabled:
            gc.enable()


def symptom_06_2_input_made_anew() -> bool:
    a, b = leaf(2.0), leaf(3.0)
    found = (a * b).grad_fn._saved_self
    return found is not a and found is not None and found.item() == 2.0


def written(kind):
    """Return what backward says after a write to a saved input or output."""
    x = leaf(2.0)
    y = x * 1
    z = y * y if kind == "input" else y.exp()
    increment_version(y if kind == "input" else z)
    return raised(z.backward)


def symptom_06_2_unchecked() -> bool:
    return written("input") is None and written("output") is None


def symptom_06_2_input_unwatched() -> bool:
    return written("input") is None and "modified" in str(written("output"))


def symptom_06_2_output_unwatched() -> bool:
    return "modified" in str(written("input")) and written("output") is None


def symptom_06_2_freed_used() -> bool:
    saved = SavedTensor(torch.ones(2))
    if saved.unpack(None) is None:
        return False
    saved.release()
    error = raised(lambda: saved.unpack(None))
    return "second time" not in str(error)


def rebuilt():
    y = leaf(2.0).exp()
    return y, y.grad_fn._saved_result


def symptom_06_2_no_node() -> bool:
    y, found = rebuilt()
    return found.grad_fn is None and y.grad_fn is not None


def symptom_06_2_requires_no_grad() -> bool:
    y, found = rebuilt()
    return found.grad_fn is y.grad_fn and not found.requires_grad


def symptom_06_2_leaf_gets_a_node() -> bool:
    x, node = torch.ones(2), (leaf([1.0, 2.0]) * 2).grad_fn
    return SavedTensor(x).rebuild(x._array, node)._node is not None


def symptom_06_2_leaf_not_adopted() -> bool:
    return not unhooked(leaf([1.0, 2.0]), None).is_leaf


def symptom_06_2_another_array() -> bool:
    x, other = torch.ones(2), torch.tensor([5.0, 6.0])
    return SavedTensor(x).rebuild(other._array, None).tolist() == [1.0, 1.0]


def symptom_06_2_requires_grad_always() -> bool:
    x = torch.ones(2)
    return SavedTensor(x).rebuild(x._array, None).requires_grad


class Hooked(SavedTensor):
    """Has hooks whose array is [5, 6]."""

    __slots__ = ()

    def unpacked(self):
        return torch.tensor([5.0, 6.0])._array


def unhooked(tensor, node):
    """Return what unpacking a tensor with hooks gives."""
    saved = Hooked(tensor)
    saved.hooks, saved.origin = (None, None), tensor._edge()[0]
    saved._array = saved.tensor = None
    return saved.unpack(node)


def symptom_06_2_hooks_unasked() -> bool:
    x = leaf([1.0, 2.0])
    found = []
    error = raised(lambda: found.append(unhooked(x, None)))
    return "second time" in str(error) or found == [None]


def symptom_06_2_origin_forgotten() -> bool:
    x = leaf([1.0, 2.0])
    y = x * 2
    found = unhooked(x, None), unhooked(y, (x * 3).grad_fn)
    return any(new._edge()[0] is not old._edge()[0] for new, old in zip(found, (x, y)))


def view_saved():
    """Return an output that passes for a view, and what keeps it."""
    y = leaf([1.0, 2.0]) * 1
    y._view = Passes()
    return y, SavedTensor(y, is_output=True)


class Passes:
    """Stands for what a view keeps about itself."""

    def current_node(self, view):
        return view._node


def symptom_06_2_node_of_view_lost() -> bool:
    y, saved = view_saved()
    saved.view_node = weakref.ref(y._node)  # whatever `let_go` did
    user = (leaf([1.0, 2.0]) * 2).grad_fn
    return saved.unpack(user)._node is user is not y._node


def symptom_06_2_node_of_view_not_kept() -> bool:
    _, saved = view_saved()
    return saved.tensor is None and saved.view_node is None


def symptom_06_2_node_of_view_held() -> bool:
    enabled = gc.isenabled()
    gc.disable()
    try:
        y, saved = view_saved()
        gone = weakref.ref(y._node)
        del y
        return saved.tensor is None and gone() is not None
    finally:
        if enabled:
            gc.enable()


def symptom_06_2_own_counter() -> bool:
    y, found = rebuilt()
    increment_version(y)
    return (y._version, found._version) == (1, 0)


def symptom_06_2_wrong_output() -> bool:
    class Both(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            one, two = x * 2, x * 3
            ctx.save_for_backward(two)
            return one, two

        @staticmethod
        def backward(ctx, by_one, by_two):
            seen.append(ctx.saved_tensors[0].output_nr)
            return by_one

    seen = []
    one, two = Both.apply(leaf(2.0))
    (one + two).backward()
    return seen == [0]


# --- 06.3 ----------------------------------------------------------------------------------------


def packed(pack, unpack):
    """Return y = exp(3) with hooks on what it saved, its leaf, and the saved tensor."""
    x = leaf(3.0)
    y = x.exp()
    saved = y.grad_fn._raw_saved_result
    saved.register_hooks(pack, unpack)
    return y, x, saved


def good():
    """Tell whether packing and unpacking a number works at all."""
    y, x, _ = packed(lambda t: 2.0, torch.tensor)
    y.backward()
    return x.grad.item() == 2.0


def symptom_06_3_recorded() -> bool:
    modes = []
    packed(lambda t: modes.append(torch.is_grad_enabled()), torch.tensor)
    return modes == [True]


def symptom_06_3_mode_stays_off() -> bool:
    try:
        packed(lambda t: 2.0, torch.tensor)
        return not torch.is_grad_enabled()
    finally:
        torch._state.grad_enabled.set(True)


def symptom_06_3_mode_on() -> bool:
    saved = leaf(3.0).exp().grad_fn._raw_saved_result
    with torch.no_grad():
        saved.register_hooks(lambda t: 2.0, torch.tensor)
        return torch.is_grad_enabled()


def symptom_06_3_mode_lost() -> bool:
    def failing(t):
        raise ValueError

    try:
        packed(lambda t: 2.0, torch.tensor)
        if not torch.is_grad_enabled():
            return False
        raised(lambda: packed(failing, torch.tensor))
        return not torch.is_grad_enabled()
    finally:
        torch._state.grad_enabled.set(True)


def symptom_06_3_pack_used() -> bool:
    calls = []

    def pack(t):
        calls.append("pack")
        return torch.tensor(2.0)

    y, _, _ = packed(pack, lambda t: calls.append("unpack") or t)
    raised(y.backward)
    return calls.count("pack") > 1


def symptom_06_3_packed_lost() -> bool:
    seen = []
    y, _, _ = packed(lambda t: 2.0, lambda v: seen.append(v) or torch.tensor(2.0))
    raised(y.backward)
    return bool(seen) and seen[0] != 2.0


def symptom_06_3_tensor_is_the_place() -> bool:
    saved = SavedTensor(leaf([1.0, 2.0]))
    saved.register_hooks(lambda t: 2.0, torch.tensor)
    return isinstance(saved.origin, torch.Tensor)


def symptom_06_3_hooks_unused() -> bool:
    calls = []
    y, _, _ = packed(lambda t: 2.0, lambda v: calls.append(v) or torch.tensor(v))
    return raised(y.backward) is None and not calls


def symptom_06_3_unpack_unchecked() -> bool:
    for given in (2.0, None, "text"):
        y, _, _ = packed(lambda t: 2.0, lambda number, given=given: given)
        if good() and "unpack_hook expected to be a Tensor" not in str(raised(y.backward)):
            return True
    return False


def symptom_06_3_twice() -> bool:
    for kept in (2.0, None):
        _, _, saved = packed(lambda t, kept=kept: kept, torch.tensor)
        error = raised(lambda saved=saved: saved.register_hooks(lambda t: 2.0, torch.tensor))
        if "already been set" not in str(error):
            return True
    return False


def symptom_06_3_freed() -> bool:
    saved = SavedTensor(torch.ones(2))
    saved.release()
    error = raised(lambda: saved.register_hooks(lambda t: 2.0, torch.tensor))
    return "after it has been freed" not in str(error)


def symptom_06_3_not_callable() -> bool:
    first, second = SavedTensor(torch.ones(2)), SavedTensor(torch.ones(2))
    told = (str(raised(lambda: first.register_hooks(1, torch.tensor))),
            str(raised(lambda: second.register_hooks(lambda t: 2.0, None))))
    return not all("must be callable" in each for each in told)


def symptom_06_3_write_passes() -> bool:
    error = raised(lambda: packed(increment_version, torch.tensor))
    return error is None and good()


def given_to_pack():
    """Return what the pack hook is given for a tensor that was written to twice."""
    y, seen = torch.ones(2), []
    increment_version(y)
    increment_version(y)
    raised(lambda: SavedTensor(y).register_hooks(lambda t: seen.append((t, y)), torch.tensor))
    return seen[0]


def symptom_06_3_array_packed() -> bool:
    return not isinstance(given_to_pack()[0], torch.Tensor)


def symptom_06_3_itself_packed() -> bool:
    given, y = given_to_pack()
    return given is y


def symptom_06_3_version_apart() -> bool:
    return given_to_pack()[0]._version != 2


def symptom_06_3_tensor_unpacked() -> bool:
    saved = SavedTensor(leaf([1.0, 2.0]))
    saved.register_hooks(lambda t: 2.0, torch.tensor)
    return isinstance(saved.unpacked(), torch.Tensor)


def symptom_06_3_write_refused_always() -> bool:
    error = raised(lambda: packed(lambda t: 2.0, torch.tensor))
    return "modifying its input" in str(error)


def symptom_06_3_held() -> bool:
    enabled = gc.isenabled()
    gc.disable()
    try:
        x = leaf(2.0)
        y = x + 1
        saved = SavedTensor(y)
        saved.register_hooks(lambda t: None, torch.tensor)
        gone, memory = weakref.ref(y), weakref.ref(y._array)
        del y
        return gone() is not None or memory() is not None
    finally:
        if enabled:
            gc.enable()


def symptom_06_3_place_forgotten() -> bool:
    x = leaf(3.0)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.item(), torch.tensor):
        (first,) = torch.autograd.grad(x * x * x, x, create_graph=True)
    if first.item() != 27.0:
        return False
    found = []
    error = raised(lambda: found.append(torch.autograd.grad(first, x)[0].item()))
    return error is not None or found != [18.0]


# --- 06.4 ----------------------------------------------------------------------------------------


def symptom_06_4_no_view() -> bool:
    return not torch.zeros(2, 3)[0]._is_view()


def symptom_06_4_base_is_a_view() -> bool:
    x = torch.zeros(2, 3)
    row = x[0]
    return row._base is x and row[1:]._base is row


def symptom_06_4_own_counter() -> bool:
    x = torch.zeros(2, 3)
    row = x[0]
    increment_version(x)
    return row._is_view() and row._version != 1


def symptom_06_4_pair_exchanged() -> bool:
    x = torch.zeros(2, 3)
    for _ in range(9):
        increment_version(x)
    view = x[0]._view
    return (view.creation, view.version) == (9, DEFAULT)


def symptom_06_4_version_zero() -> bool:
    x = torch.zeros(2, 3)
    increment_version(x)
    return x[0]._version == 1 and x[0]._view.version == 0


def made():
    """Return how views came about: plain, one of several, under no_grad, in inference mode."""
    x = torch.zeros(2, 3)
    with torch.no_grad():
        quiet = x[0]._view.creation
    with torch.inference_mode():
        inference = x[0]._view.creation
    return x[0]._view.creation, x.unbind()[0]._view.creation, quiet, inference


RIGHT = (DEFAULT, MULTI_OUTPUT, NO_GRAD, INFERENCE_MODE)


def symptom_06_4_no_grad_unnoticed() -> bool:
    found = made()
    return found[0] == DEFAULT and found[2] == DEFAULT


def symptom_06_4_inference_unnoticed() -> bool:
    return made() == (*RIGHT[:3], NO_GRAD) or made() == (*RIGHT[:3], DEFAULT)


def symptom_06_4_multiple_unnoticed() -> bool:
    found = made()
    return found[0] == DEFAULT and found[1] == DEFAULT


def symptom_06_4_multiple_first() -> bool:
    x = torch.zeros(2, 3)
    with torch.no_grad():
        quiet = x.unbind()[0]._view.creation
    return quiet == MULTI_OUTPUT and made() == RIGHT


def symptom_06_4_counts_as_a_write() -> bool:
    x = torch.zeros(2, 3)
    return x[0]._is_view() and x._version != 0


def symptom_06_4_old_creation_first() -> bool:
    part = torch.zeros(2, 3).unbind()[0]
    with torch.no_grad():
        found = part[1:]._view.creation
    return found == MULTI_OUTPUT and made() == RIGHT


def symptom_06_4_plain_is_doubtful() -> bool:
    return made()[0] != DEFAULT


def symptom_06_4_another_base() -> bool:
    x = torch.zeros(2, 3)
    row = x[0]
    return row._is_view() and row._base is not x


def symptom_06_4_given_creation_ignored() -> bool:
    x = torch.zeros(2, 3)
    result = torch.Tensor._plain(x._array[:1])
    mark_view(result, x, creation=NO_GRAD)
    return result._view is not None and result._view.creation != NO_GRAD and made() == RIGHT


def symptom_06_4_creation_forgotten() -> bool:
    x = torch.zeros(2, 3)
    with torch.no_grad():
        quiet = x[0]
    return quiet._view.creation == NO_GRAD and quiet[1:]._view.creation == DEFAULT


def symptom_06_4_creation_inherited() -> bool:
    x = torch.zeros(2, 3)
    row = x[0]
    with torch.no_grad():
        return (x[0]._view.creation == NO_GRAD) and row[1:]._view.creation == DEFAULT


def symptom_06_4_inference_view() -> bool:
    with torch.inference_mode():
        x = torch.zeros(2, 3)
    try:
        row = x[0]
    except RuntimeError as error:
        return "Inference tensors cannot be saved" in str(error)
    return row._is_view() or not row.is_inference()


# --- 06.5 ----------------------------------------------------------------------------------------


def symptom_06_5_plain_refused() -> bool:
    return isinstance(raised(lambda: torch.zeros(2).mul_(leaf([1.0, 2.0]))), RuntimeError)


def symptom_06_5_plain_refused_always() -> bool:
    return isinstance(raised(lambda: torch.zeros(2).add_(1)), RuntimeError)


def symptom_06_5_leaf_accepted() -> bool:
    x = leaf([1.0, 2.0])
    return raised(lambda: check_inplace(x, True)) is None


def symptom_06_5_leaf_refused_always() -> bool:
    x = leaf([1.0, 2.0])
    with torch.no_grad():
        error = raised(lambda: x.add_(1))
    return "leaf Variable" in str(error)


def symptom_06_5_turned_around() -> bool:
    return symptom_06_5_leaf_accepted() and symptom_06_5_leaf_refused_always()


def symptom_06_5_view_of_leaf_accepted() -> bool:
    x = leaf([1.0, 2.0])
    return (raised(lambda: check_inplace(x[0], True)) is None
            and raised(lambda: check_inplace(x, True)) is not None)


def symptom_06_5_creation_unasked() -> bool:
    y = leaf([1.0, 2.0]) * 1
    with torch.no_grad():
        quiet = y[0]
    several = y.unbind()[0]
    return (raised(lambda: check_inplace(several, True)) is None
            and "no_grad" not in str(raised(lambda: check_inplace(quiet, True))))


def symptom_06_5_view_refused_always() -> bool:
    x = leaf([1.0, 2.0])
    with torch.no_grad():
        error = raised(lambda: x[0].mul_(3))
    return "view of a leaf" in str(error) and not symptom_06_5_leaf_refused_always()


def symptom_06_5_inner_view_refused() -> bool:
    y = leaf([1.0, 2.0]) * 1
    return (raised(lambda: check_inplace(y, True)) is None
            and raised(lambda: check_inplace(y[0], True)) is not None)


def symptom_06_5_made_ones_refused() -> bool:
    y = leaf([1.0, 2.0]) * 1
    return raised(lambda: check_inplace(y, True)) is not None


def symptom_06_5_plain_view_refused() -> bool:
    plain = raised(lambda: check_inplace(torch.zeros(2), True)) is None
    return plain and isinstance(raised(lambda: check_inplace(torch.zeros(2, 3)[0], True)),
                                RuntimeError)


def wide():
    return torch.ones(2, 1).expand(2, 3)


def symptom_06_5_few_may_overlap() -> bool:
    return (raised(lambda: check_inplace(wide(), True)) is not None
            and raised(lambda: check_inplace(torch.ones(3, 1).expand(3, 2), True)) is None)


def symptom_06_5_overlap_accepted() -> bool:
    return (raised(lambda: check_inplace(wide(), True)) is None
            and raised(lambda: check_inplace(wide(), False)) is None)


def symptom_06_5_overlap_unrecorded() -> bool:
    return (raised(lambda: check_inplace(wide(), True)) is not None
            and raised(lambda: check_inplace(wide(), False)) is None)


def symptom_06_5_alike_refused() -> bool:
    return "single memory" in str(raised(lambda: check_inplace(wide(), False, alike=True)))


def symptom_06_5_single_refused() -> bool:
    single = torch.ones(1).expand(1, 1)
    empty, row = torch.ones(0, 1).expand(0, 3), torch.ones(3).as_strided((1, 3), (0, 1))
    return any("single memory" in str(raised(lambda t=t: check_inplace(t, False)))
               for t in (single, empty, row))


def symptom_06_5_inference_accepted() -> bool:
    with torch.inference_mode():
        x = torch.ones(2)
    return raised(lambda: check_inplace(x, False)) is None


def symptom_06_5_inference_refused_inside() -> bool:
    with torch.inference_mode():
        x = torch.ones(2)
        return raised(lambda: check_inplace(x, False)) is not None


# --- 06.6 ----------------------------------------------------------------------------------------


def through(base, view, result, grad, position=0):
    """Return the gradients that a write of `result` through a view gives for `grad`."""
    node = CopySlices(base, base._edge(), view, result.grad_fn, position)
    with torch.no_grad():  # as in a backward pass
        return list(node.apply_tensors((grad,)))


def scaled(grad):
    """Return the gradient of a base of 3 whose last 2 elements were multiplied by 10."""
    base = leaf([1.0, 2.0, 3.0]) * 1
    return through(base, base[1:], leaf([2.0, 3.0]) * 10, grad)[0].tolist()


def symptom_06_6_given_written() -> bool:
    grad = torch.ones(3)
    return scaled(grad) == [1.0, 10.0, 10.0] and grad.tolist() != [1.0, 1.0, 1.0]


def symptom_06_6_not_through() -> bool:
    return scaled(torch.ones(3)) == [1.0, 1.0, 1.0]


def symptom_06_6_rest_lost() -> bool:
    return scaled(torch.ones(3)) == [0.0, 10.0, 10.0]


def symptom_06_6_added() -> bool:
    return scaled(torch.ones(3)) == [1.0, 11.0, 11.0]


def symptom_06_6_whole_through() -> bool:
    base = leaf([2.0, 3.0]) * 1
    everything = raised(lambda: through(base, base[:], leaf([2.0, 3.0]) * 10, torch.ones(2)))
    return everything is None and isinstance(raised(lambda: scaled(torch.ones(3))), RuntimeError)


def overwritten():
    """Return the gradients of a base and of what overwrote its last 2 elements."""
    base, source = leaf([1.0, 2.0, 3.0]) * 1, leaf([7.0, 8.0])
    view = base[1:]
    return through(base, view, view.detach() * source, torch.ones(3))


def symptom_06_6_inner_none_kept() -> bool:
    return overwritten()[0].tolist() == [1.0, 1.0, 1.0] and not symptom_06_6_not_through()


def symptom_06_6_inner_none_fails() -> bool:
    error = raised(overwritten)
    return isinstance(error, (AttributeError, TypeError)) and scaled(torch.ones(3))[1] == 10.0


def symptom_06_6_inner_none_drops_all() -> bool:
    return overwritten()[0] is None


def symptom_06_6_none_fails() -> bool:
    base = leaf([1.0, 2.0, 3.0]) * 1
    error = raised(lambda: through(base, base[1:], leaf([2.0, 3.0]) * 10, None))
    return isinstance(error, (AttributeError, TypeError))


def symptom_06_6_offset_forgotten() -> bool:
    base = torch.tensor([0.0, 0.0, 1.0, 2.0, 3.0])[2:].data.requires_grad_()
    if scaled(torch.ones(3)) != [1.0, 10.0, 10.0]:
        return False
    try:
        found = through(base, base[1:], leaf([2.0, 3.0]) * 10, torch.ones(3))[0].tolist()
    except NotImplementedError:
        return False
    except Exception:
        return True
    return found != [1.0, 10.0, 10.0]


def symptom_06_6_gradient_without_history() -> bool:
    base, source = torch.tensor([1.0, 2.0, 3.0]), leaf([7.0, 8.0])
    view = base[1:]
    return through(base, view, view * source, torch.ones(3))[0] is not None


def symptom_06_6_first_input() -> bool:
    base, source = leaf([1.0, 2.0, 3.0]) * 1, leaf([7.0, 8.0])
    found = through(base, base[1:], source * leaf([2.0, 3.0]), torch.ones(3), 1)
    if found[0].shape == (3,) and found[1].shape == (2,):
        return True
    return [each.tolist() for each in found] == [[2.0, 3.0], [1.0, 2.0, 3.0]]


def symptom_06_6_inner_none_zeroes_all() -> bool:
    nothing = overwritten()[0].tolist() == [0.0, 0.0, 0.0]
    return nothing and scaled(torch.ones(3)) == [1.0, 10.0, 10.0]


def symptom_06_6_part_alone() -> bool:
    base = leaf([1.0, 2.0, 3.0]) * 1
    found = through(base, base[1:], leaf([2.0, 3.0]) * 10, torch.ones(3))
    return found[0].shape == (2,) and not any(
        each is not None and each.shape == (3,) for each in found)


def symptom_06_6_base_elsewhere() -> bool:
    base, source = leaf([1.0, 2.0, 3.0]) * 1, leaf([7.0, 8.0])
    found = through(base, base[1:], leaf([2.0, 3.0]) * source, torch.ones(3))
    return [None if each is None else each.shape for each in found] == [(2,), (3,)]


def symptom_06_6_strides_ignored() -> bool:
    if scaled(torch.ones(3)) != [1.0, 10.0, 10.0]:
        return False
    base = leaf([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]) * 1
    with torch.no_grad():
        view = base.t()[::2]
    weights = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    before = leaf([[1.0, 4.0], [3.0, 6.0]])
    found = through(base, view, before * weights, torch.full((2, 3), 10.0))[0]
    return found.tolist() != [[10.0, 10.0, 30.0], [20.0, 10.0, 40.0]]


def symptom_06_6_others_lost() -> bool:
    return len(overwritten()) != 2


def symptom_06_6_none_count() -> bool:
    base = leaf([1.0, 2.0, 3.0]) * 1
    found = through(base, base[1:], leaf([2.0, 3.0]) * leaf([7.0, 8.0]), None)
    return not isinstance(found, list) or len(found) != 2


def symptom_06_6_others_written() -> bool:
    base, source = leaf([1.0, 2.0, 3.0]) * 1, leaf([7.0, 8.0])
    view = base[1:]
    found = through(base, view, view.detach() + source, torch.ones(3))
    return found[1].tolist() == [0.0, 0.0] and overwritten()[1].tolist() == [2.0, 3.0]


# --- 06.7 ----------------------------------------------------------------------------------------


def gradient(program, *grads):
    """Return the gradient at a leaf [1, 2, 3] of what a program makes of it."""
    x = leaf([1.0, 2.0, 3.0])
    result = program(x)
    result.backward(torch.ones(tuple(result.shape)))
    return None if x.grad is None else x.grad.tolist()


def plain(x):
    y = x * 2
    y.mul_(10)
    return y


def of_base(x):
    y = x * 2
    y[1:].mul_(10)
    return y


def of_view(x):
    view = (x * 2)[1:]
    view.mul_(10)
    return view


def older(x):
    y = x * 2
    view = y[1:]
    y.mul_(10)
    return view


def symptom_06_7_not_rebased() -> bool:
    return gradient(plain) == [2.0, 2.0, 2.0]


def symptom_06_7_requires_grad_unset() -> bool:
    x, y = leaf([1.0, 2.0]), torch.ones(2)
    y.mul_(x)
    return not y.requires_grad and gradient(plain) == [20.0, 20.0, 20.0]


def symptom_06_7_view_alone() -> bool:
    return gradient(of_base) == [2.0, 2.0, 2.0] and gradient(of_view) == [0.0, 20.0, 20.0]


def symptom_06_7_base_not_rebased() -> bool:
    return gradient(of_base) == [2.0, 2.0, 2.0] and gradient(of_view) != [0.0, 20.0, 20.0]


def symptom_06_7_base_without_slices() -> bool:
    y = leaf([1.0, 2.0, 3.0]) * 2
    y[1:].mul_(10)
    return "Mul" in type(y.grad_fn).__name__ and len(y.grad_fn.next_functions) == 2 and (
        y.grad_fn.shape == (2,))


def symptom_06_7_views_stale() -> bool:
    return gradient(older) == [0.0, 2.0, 2.0]


def symptom_06_7_base_requires_no_grad() -> bool:
    x, y = leaf([1.0, 2.0]), torch.ones(3)
    y[1:].mul_(x)
    return type(y._node).__name__ == "CopySlices" and not y.requires_grad


def symptom_06_7_earlier_history_lost() -> bool:
    y = leaf([1.0, 2.0, 3.0]) * 2
    before = y.grad_fn
    y[1:].mul_(10)
    return type(y.grad_fn).__name__ == "CopySlices" and not any(
        node is before for node, _ in y.grad_fn.next_functions)


def symptom_06_7_view_retained_left() -> bool:
    y = leaf([1.0, 2.0, 3.0]) * 2
    view = y[1:]
    view.retain_grad()
    y.mul_(10)
    (view * 5).backward(torch.ones(2))
    return view.grad is None and gradient(older) == [0.0, 20.0, 20.0]


def symptom_06_7_view_has_the_write() -> bool:
    y = leaf([1.0, 2.0, 3.0]) * 2
    view = y[1:]
    view.mul_(10)
    return "Mul" in type(view.grad_fn).__name__ and type(y.grad_fn).__name__ == "CopySlices"


def symptom_06_7_written_view_stale() -> bool:
    return gradient(of_view) == [0.0, 2.0, 2.0] and gradient(older) == [0.0, 20.0, 20.0] and (
        gradient(of_base) == [2.0, 20.0, 20.0])


def symptom_06_7_output_zero() -> bool:
    y = leaf([1.0, 2.0]) * 2
    rebase_history(y, (y * 3).grad_fn, 1)
    return y.output_nr == 0


def symptom_06_7_first_input() -> bool:
    base, source = leaf([1.0, 2.0, 3.0]) * 2, leaf([7.0, 8.0])
    before, view = base.grad_fn, base[1:]
    rebase_history(view, (source * view.detach()).grad_fn, 0, 1)
    nodes = base.grad_fn.next_functions
    return nodes[0][0] is before and nodes[1][0] is not before


def symptom_06_7_always_anew() -> bool:
    y = leaf([1.0, 2.0, 3.0]) * 2
    view = y[1:]
    y.mul_(10)
    return view.grad_fn is not view.grad_fn


def symptom_06_7_mode_on() -> bool:
    y = leaf([1.0, 2.0, 3.0]) * 2
    view = y[1:]
    with torch.no_grad():
        y.mul_(10)
        _ = view.grad_fn
        return torch.is_grad_enabled()


def symptom_06_7_not_recorded() -> bool:
    y = leaf([1.0, 2.0, 3.0]) * 2
    view = y[1:]
    with torch.no_grad():
        y.mul_(10)
        error = raised(lambda: view.grad_fn)
    other = (leaf([1.0, 2.0, 3.0]) * 2)[1:]
    increment_version(other)
    fine = raised(lambda: other.grad_fn) is None and other.grad_fn is not None  # while recording
    return fine and (error is not None or view.grad_fn is None)


def symptom_06_7_creation_unasked() -> bool:
    y = leaf([1.0, 2.0, 3.0]) * 2
    with torch.no_grad():
        quiet = y[1:]
    y.mul_(10)
    return raised(lambda: quiet.grad_fn) is None


def symptom_06_7_offset_forgotten() -> bool:
    return gradient(older) == [20.0, 20.0, 0.0]


def symptom_06_7_retained_left() -> bool:
    y = leaf([1.0, 2.0]) * 3
    y.retain_grad()
    y.mul_(2)
    (y * 5).backward(torch.ones(2))
    return y.grad is None or y.grad.tolist() == [10.0, 10.0]


def symptom_06_7_base_retained_left() -> bool:
    y = leaf([1.0, 2.0]) * 3
    y.retain_grad()
    y[0].mul_(2)
    (y * 5).backward(torch.ones(2))
    return y.grad is None or y.grad.tolist() == [10.0, 5.0]


def symptom_06_7_late_base() -> bool:
    x, y = leaf([1.0, 2.0]), torch.ones(3)
    view = y[:2]
    y[1:].mul_(x)
    return y.requires_grad and (not view.requires_grad or view.grad_fn is None)
