"""Symptoms of stage 06: each runs a tiny program and tells whether it shows one mistake."""

import gc
import warnings
import weakref

import numpy as np

import minigrad as torch
from minigrad.autograd.graph import increment_version
from minigrad.graph.copy_slices import CopySlices
from minigrad.graph.saved_tensor import SavedTensor
from minigrad.graph.version import Version, version_of
from minigrad.tensor.creation_meta import (
    DEFAULT,
    INFERENCE_MODE,
    LEAF_WRITTEN,
    MULTI_OUTPUT,
    NO_GRAD,
    VIEW_OF_LEAF_WRITTEN,
)
from minigrad.tensor.views import check_recorded, rebase_history


def leaf(value):
    torch._state.grad_enabled.set(True)  # a wrong answer may have left it off
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


class Watched(SavedTensor):
    """Notes the version that it is asked to make an error for."""

    __slots__ = ()
    told: list = []

    def modified(self, version, node):
        self.told.append(version)
        return RuntimeError("modified")


def watched():
    """Return what checking says after a write to a tensor that was written to twice before."""
    x = torch.ones(2)
    increment_version(x)
    increment_version(x)
    saved = Watched(x)
    increment_version(x)
    Watched.told.clear()
    return raised(lambda: saved.check(None)), list(Watched.told)


def symptom_06_1_not_raised() -> bool:
    error, told = watched()
    return error is None and told == [3]


def symptom_06_1_wrong_version() -> bool:
    error, told = watched()
    return error is not None and told not in ([3], [])


def symptom_06_1_late_counter() -> bool:
    return told_after(1) is None and told_after(1, 1) is not None


def symptom_06_1_any_write() -> bool:
    return told_after(0, 2) is not None and told_after(0) is None


def symptom_06_1_unwritten_refused() -> bool:
    return told_after(0) is not None


def symptom_06_1_newer_only() -> bool:
    return told_after(1) is not None and told_after(1, 1) is None


# --- 06.2 ----------------------------------------------------------------------------------------


def symptom_06_2_held() -> bool:
    enabled = gc.isenabled()
    gc.disable()
    try:
        y = leaf(2.0).exp()
        gone, node = weakref.ref(y), y.grad_fn
        del y
        return gone() is not None and node is not None
    finally:
        if enabled:
            gc.enable()


def symptom_06_2_made_anew_kept() -> bool:
    """Tell whether a tensor made anew, for an output or by hooks, lives after it was dropped."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        x = leaf([1.0, 2.0])
        y = x * 2
        hooked = Hooked(x)
        hooked.hooks, hooked.origin = (None, None), x._edge()[0]
        hooked._array = hooked.tensor = None
        again = [SavedTensor(y, is_output=True), hooked]
        gone = [weakref.ref(saved.unpack(y.grad_fn)) for saved in again]
        return y.grad_fn is not None and any(
            found() is not None and found() is not y and found() is saved.tensor
            for found, saved in zip(gone, again, strict=True))
    finally:
        if enabled:
            gc.enable()


def symptom_06_2_input_made_anew() -> bool:
    a, b = leaf(2.0), leaf(3.0)
    found = (a * b).grad_fn._saved_self
    return found is not a and found is not None and found.item() == 2.0


def told_at_backward(kind):
    """Return what backward says after a write to a saved input or output."""
    x = leaf(2.0)
    y = x * 1
    z = y * y if kind == "input" else y.exp()
    increment_version(y if kind == "input" else z)
    return raised(z.backward)


def symptom_06_2_unchecked() -> bool:
    return told_at_backward("input") is None and told_at_backward("output") is None


def symptom_06_2_input_unwatched() -> bool:
    return told_at_backward("input") is None and "modified" in str(told_at_backward("output"))


def output_alone_unwatched() -> bool:
    return "modified" in str(told_at_backward("input")) and told_at_backward("output") is None


def counter_is_shared() -> bool:
    y = leaf(2.0) * 1  # no node has saved it yet
    return SavedTensor(y, is_output=True)._counter is y._shared_counter()


def symptom_06_2_output_unwatched() -> bool:
    return output_alone_unwatched() and not counter_is_shared()


def symptom_06_2_output_unchecked() -> bool:
    return output_alone_unwatched() and counter_is_shared()


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


def symptom_06_2_array_returned() -> bool:
    x = torch.ones(2)
    return SavedTensor(x).rebuild(x._array, None) is x._array


def symptom_06_2_packed_checked() -> bool:
    x = leaf([1.0, 2.0])
    saved = Hooked(x)
    saved.hooks, saved.origin = (None, None), x._edge()[0]
    increment_version(x)  # `tensor` is still there, so a check notices
    return "modified" in str(raised(lambda: saved.unpack(None)))


def symptom_06_2_another_array() -> bool:
    x, other = torch.ones(2), torch.tensor([5.0, 6.0])
    return SavedTensor(x).rebuild(other._array, None).tolist() == [1.0, 1.0]


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


def symptom_06_2_own_counter() -> bool:
    y, found = rebuilt()
    increment_version(y)
    return (y._version, found._version) == (1, 0)


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


def symptom_06_3_another_tensor() -> bool:
    x, seen = leaf([1.0, 2.0]), []
    SavedTensor(x).pack(seen.append, x)
    return len(seen) == 1 and seen[0] is not x and seen[0]._array is x._array


def symptom_06_3_dropped_too_early() -> bool:
    def failing(t):
        raise ValueError

    x = torch.ones(2)
    saved = SavedTensor(x)
    try:
        return (isinstance(raised(lambda: saved.register_hooks(failing, torch.tensor)), ValueError)
                and (saved.tensor is None or saved._array is None))
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


def symptom_06_3_unpack_unchecked() -> bool:
    for given in (2.0, None, "text"):
        y, _, _ = packed(lambda t: 2.0, lambda number, given=given: given)
        if good() and "unpack_hook expected to be a Tensor" not in str(raised(y.backward)):
            return True
    return False


def symptom_06_3_type_unnamed() -> bool:
    """Tell whether a TypeError for 2.5 is there, and says something else than float."""
    y, _, _ = packed(lambda t: 2.0, lambda number: 2.5)
    error = raised(y.backward)
    text = "unpack_hook expected to be a Tensor but got result of type "
    return (good() and isinstance(error, TypeError) and text in str(error)
            and not str(error).endswith("of type float"))


def symptom_06_3_array_copied() -> bool:
    saved, given = SavedTensor(leaf([1.0, 2.0])), torch.tensor([1.0, 2.0])
    saved.register_hooks(lambda t: None, lambda packed: given)
    found = saved.unpacked()
    return (found is not given._array and type(found) is type(given._array)
            and found.tolist() == given.tolist())


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


def symptom_06_3_itself_packed() -> bool:
    given, y = given_to_pack()
    return given is y


def symptom_06_3_tensor_unpacked() -> bool:
    saved = SavedTensor(leaf([1.0, 2.0]))
    saved.register_hooks(lambda t: 2.0, torch.tensor)
    return isinstance(saved.unpacked(), torch.Tensor)


def symptom_06_3_earlier_write_refused() -> bool:
    y = torch.ones(2)
    increment_version(y)  # now it has a counter, which the saved tensor shares
    saved = SavedTensor(y)
    increment_version(y)
    error = raised(lambda: saved.register_hooks(lambda t: 2.0, torch.tensor))
    return "modifying its input" in str(error) and not symptom_06_3_write_refused_always()


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


def versions_of_a_view(writes):
    """Return the versions of a base and its view, after writes before and one after the making."""
    x = torch.zeros(2, 3)
    for _ in range(writes):
        increment_version(x)
    row = x[0]
    increment_version(x)
    return x._version, row._version


def symptom_06_4_first_write_unseen() -> bool:
    return versions_of_a_view(0) == (1, 0) and versions_of_a_view(2) == (3, 3)


def symptom_06_4_own_counter() -> bool:
    seen = versions_of_a_view(2)
    return seen[0] != seen[1]


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


def symptom_06_4_counts_as_a_write() -> bool:
    x = torch.zeros(2, 3)
    return x[0]._is_view() and x._version != 0


def symptom_06_4_old_creation_first() -> bool:
    part = torch.zeros(2, 3).unbind()[0]
    with torch.no_grad():
        found = part[1:]._view.creation
    return found == MULTI_OUTPUT and made() == RIGHT


def symptom_06_4_old_version() -> bool:
    x = torch.zeros(2, 3)
    row = x[0]
    increment_version(x)
    found = row[1:]
    return found._version == 1 and x[0]._view.version == 1 and found._view.version == 0


def symptom_06_4_another_base() -> bool:
    x = torch.zeros(2, 3)
    row = x[0]
    return row._is_view() and row._base is not x


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


# --- 06.5 ----------------------------------------------------------------------------------------


def symptom_06_5_plain_refused() -> bool:
    return raised(lambda: check_recorded(torch.zeros(2))) is not None


def symptom_06_5_creation_asked_last() -> bool:
    x = leaf([1.0, 2.0])
    with torch.no_grad():
        quiet = x[0]
    made = leaf([1.0, 2.0]) * 1
    with torch.no_grad():
        other = made[0]
    return (str(raised(lambda: check_recorded(quiet))) in (VIEW_OF_LEAF_WRITTEN, LEAF_WRITTEN)
            and "no_grad" in str(raised(lambda: check_recorded(other))))


def symptom_06_5_texts_exchanged() -> bool:
    x = leaf([1.0, 2.0])
    told = [str(raised(lambda t=t: check_recorded(t))) for t in (x, x[0])]
    texts = [LEAF_WRITTEN, VIEW_OF_LEAF_WRITTEN]
    return told != texts and all(each in texts for each in told)


def symptom_06_5_leaf_accepted() -> bool:
    x = leaf([1.0, 2.0])
    return raised(lambda: check_recorded(x)) is None


def symptom_06_5_view_of_leaf_accepted() -> bool:
    x = leaf([1.0, 2.0])
    return (raised(lambda: check_recorded(x[0])) is None
            and raised(lambda: check_recorded(x)) is not None)


def symptom_06_5_creation_unasked() -> bool:
    y = leaf([1.0, 2.0]) * 1
    with torch.no_grad():
        quiet = y[0]
    several = y.unbind()[0]
    return (raised(lambda: check_recorded(several)) is None
            and "no_grad" not in str(raised(lambda: check_recorded(quiet))))


def symptom_06_5_own_flag_alone() -> bool:
    base = torch.zeros(3)
    older = base[:2]
    base.requires_grad_()
    return (raised(lambda: check_recorded(older)) is None
            and str(raised(lambda: check_recorded(base[:2]))) == VIEW_OF_LEAF_WRITTEN)


def symptom_06_5_creation_asked_only_with_gradient() -> bool:
    x, plain = leaf([1.0, 2.0]) * 1, torch.zeros(2)
    with torch.no_grad():
        quiet, plain_quiet = x[0], plain[0]
    return ("no_grad" in str(raised(lambda: check_recorded(quiet)))
            and raised(lambda: check_recorded(plain_quiet)) is None
            and raised(lambda: check_recorded(plain.unbind()[0])) is None)


def symptom_06_5_inner_view_refused() -> bool:
    y = leaf([1.0, 2.0]) * 1
    return (raised(lambda: check_recorded(y)) is None
            and raised(lambda: check_recorded(y[0])) is not None)


def symptom_06_5_made_ones_refused() -> bool:
    y = leaf([1.0, 2.0]) * 1
    return raised(lambda: check_recorded(y)) is not None


def symptom_06_5_plain_view_refused() -> bool:
    plain = raised(lambda: check_recorded(torch.zeros(2))) is None
    return plain and isinstance(raised(lambda: check_recorded(torch.zeros(2, 3)[0])),
                                RuntimeError)


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


def symptom_06_6_zero_by_arithmetic() -> bool:
    base, source = leaf([1.0, 2.0, 3.0]) * 1, leaf([7.0, 8.0])
    view = base[1:]
    grad = torch.tensor([1.0, float("inf"), 1.0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = through(base, view, view.detach() * source, grad)[0].tolist()
    return overwritten()[0].tolist() == [1.0, 0.0, 0.0] and found[1] != found[1]


def symptom_06_6_layout_of_the_gradient() -> bool:
    by_columns = torch.from_numpy(np.asfortranarray([[1.0, 3.0], [2.0, 4.0]], np.float32))
    base = by_columns.requires_grad_() * 1
    with torch.no_grad():
        view = base[0]
    grad = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    found = through(base, view, leaf([5.0, 6.0]) * 10, grad)[0].tolist()
    return scaled(torch.ones(3)) == [1.0, 10.0, 10.0] and found != [[10.0, 20.0], [3.0, 4.0]]


def symptom_06_6_inner_none_fails() -> bool:
    error = raised(overwritten)
    return isinstance(error, (AttributeError, TypeError)) and scaled(torch.ones(3))[1] == 10.0


def symptom_06_6_inner_none_drops_all() -> bool:
    return overwritten()[0] is None


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


def symptom_06_6_others_lost() -> bool:
    return len(overwritten()) != 2


def symptom_06_6_others_written() -> bool:
    base, source = leaf([1.0, 2.0, 3.0]) * 1, leaf([7.0, 8.0])
    view = base[1:]
    found = through(base, view, view.detach() + source, torch.ones(3))
    return found[1].tolist() == [0.0, 0.0] and overwritten()[1].tolist() == [2.0, 3.0]


# --- 06.7 ----------------------------------------------------------------------------------------


def rebased(position=0):
    """Return a base, its node before, a view, its node before, and the node of a write through it.

    The view's own history is not asked for: that is another exercise.
    """
    base, source, held = leaf([1.0, 2.0, 3.0]) * 2, leaf([7.0, 8.0]), leaf([4.0, 6.0])
    view = base[1:]
    before, own = base._node, view._node
    node = (held * source if position == 0 else source * held).grad_fn
    increment_version(view)
    rebase_history(view, node, 0, position)
    return base, before, view, own, node


def regenerated():
    """Return a view, its node before, and the version that it had noted, after `regenerate`."""
    base = leaf([1.0, 2.0, 3.0]) * 2
    view = base[1:]
    own = view._node
    increment_version(base)
    view._view.regenerate(view)
    return view, own


def symptom_06_7_plain_not_rebased() -> bool:
    y = leaf([1.0, 2.0]) * 2
    before = y._node
    rebase_history(y, (y * 3).grad_fn)
    return y._node is before


def symptom_06_7_output_zero() -> bool:
    y = leaf([1.0, 2.0]) * 2
    rebase_history(y, (y * 3).grad_fn, 1)
    return y._index == 0


def symptom_06_7_view_alone() -> bool:
    base, before, view, _, node = rebased()
    return base._node is before and view._node is node


def symptom_06_7_base_not_rebased() -> bool:
    base, before, view, _, node = rebased()
    return base._node is before and view._node is not node


def symptom_06_7_base_without_slices() -> bool:
    base, _, _, _, node = rebased()
    return base._node is node


def sliced(base):
    return isinstance(base._node, CopySlices)


def symptom_06_7_earlier_history_lost() -> bool:
    base, before, *_ = rebased()
    return sliced(base) and all(edge[0] is not before for edge in base._node.next_functions)


def symptom_06_7_first_input() -> bool:
    base, before, *_ = rebased(1)
    return sliced(base) and base._node.next_functions[0][0] is before


def symptom_06_7_view_before_base() -> bool:
    base, before, view, own, _ = rebased()
    return sliced(base) and view._node is not own and view._node.edges[0][0] is before


def symptom_06_7_view_has_the_write() -> bool:
    base, _, view, _, node = rebased()
    return sliced(base) and view._node is node


def symptom_06_7_node_dropped() -> bool:
    view, own = regenerated()
    return view._node is own


def symptom_06_7_written_view_stale() -> bool:
    base, _, view, own, _ = rebased()
    return sliced(base) and view._node is own and not symptom_06_7_node_dropped()


def symptom_06_7_version_not_noted() -> bool:
    view, own = regenerated()
    return view._node is not own and view._view.version == 0


def symptom_06_7_retained_lost() -> bool:
    _, view = written_base()
    view.retain_grad()
    before = view._node
    view._view.regenerate(view)
    y = leaf([1.0, 2.0]) * 2
    y.retain_grad()
    rebase_history(y, (y * 3).grad_fn)
    return view._node is not before and any(
        each._node.extras is None or not each._node.extras.retained for each in (view, y))


def written_base():
    """Return a base that was written to, and a view of it from before."""
    base = leaf([[1.0, 2.0], [3.0, 4.0]]) * 2
    view = base.t()
    increment_version(base)
    return base, view


# --- 06.8 ----------------------------------------------------------------------------------------


def written():
    """Return a view of a base that was written to after the view was made."""
    base = leaf([1.0, 2.0, 3.0]) * 2
    view = base[1:]
    increment_version(base)
    return base, view


def node(view):
    return view._view.current_node(view)


def quiet(writes):
    """Return a view made under no_grad, whose base was written to so often."""
    base = leaf([1.0, 2.0, 3.0]) * 2
    with torch.no_grad():
        view = base[1:]
    for _ in range(writes):
        increment_version(base)
    return view


def symptom_06_8_node_for_plain() -> bool:
    base = torch.ones(3)
    view = base[1:]
    increment_version(base)
    found = []
    return raised(lambda: found.append(node(view))) is not None or found != [None]


def symptom_06_8_turned_around() -> bool:
    unwritten, (_, view) = (leaf([1.0, 2.0]) * 2)[1:], written()
    before, old = unwritten._node, view._node
    return node(unwritten) is not before and node(view) is old


def symptom_06_8_old_returned() -> bool:
    _, view = written()
    old = view._node
    return node(view) is old and node(view) is not old


def symptom_06_8_views_stale() -> bool:
    _, view = written()
    old = view._node
    return node(view) is old and node(view) is old


def symptom_06_8_always_anew() -> bool:
    _, view = written()
    return node(view) is not node(view)


def symptom_06_8_creation_asked_always() -> bool:
    view = quiet(0)
    return "no_grad" in str(raised(lambda: node(view)))


def symptom_06_8_creation_unasked() -> bool:
    view = quiet(1)
    return raised(lambda: node(view)) is None


def symptom_06_8_direct_text() -> bool:
    view = quiet(1)
    told = str(raised(lambda: node(view)))
    return "no_grad mode" in told and "its base or another view" not in told


def symptom_06_8_late_base() -> bool:
    x, y = leaf([1.0, 2.0]), torch.ones(3)
    view = y[:2]
    y[1:].mul_(x)
    return y.requires_grad and node(view) is None


def symptom_06_8_base_detached() -> bool:
    base, view = written()
    base.detach_()
    return view._node is not None and node(view) is None
