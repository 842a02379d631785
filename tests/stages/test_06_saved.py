"""Stage 06: saved tensors, version counters, in-place writes and views."""

import gc
import weakref

import numpy as np
import pytest

import minigrad as torch
from minigrad.autograd.graph import increment_version
from minigrad.engine.engine import execute
from minigrad.graph.copy_slices import CopySlices
from minigrad.graph.node import NaryNode
from minigrad.graph.saved_tensor import SavedTensor
from minigrad.graph.version import Version, version_of
from minigrad.tensor.creation_meta import DEFAULT, IN_CUSTOM_FUNCTION, MULTI_OUTPUT, NO_GRAD
from minigrad.tensor.views import ViewInfo, check_recorded, link_to_base, rebase_history

MODIFIED = "has been modified by an inplace operation"


@pytest.fixture(autouse=True)
def restored():
    yield
    torch._state.grad_enabled.set(True)
    torch._state.inference_enabled.set(False)
    gc.enable()


def leaf(value):
    return torch.tensor(value, requires_grad=True)


# --- 06.1 Versions -------------------------------------------------------------------------------


@pytest.mark.hole("06.1")
def test_a_counter_counts_writes():
    counter, other = Version(), Version()
    for expected in (1, 2, 3):
        counter.bump()
        assert counter.value == expected, f"expected {expected}, got {counter.value}"
    assert other.value == 0


@pytest.mark.hole("06.1")
def test_a_tensor_never_written_to_is_at_version_zero():
    x = torch.ones(2)
    assert x._counter is None
    assert version_of(x) == 0, f"expected 0, got {version_of(x)}"


@pytest.mark.hole("06.1")
def test_the_version_of_a_tensor_is_its_counter_s_value():
    x = torch.ones(2)
    x._counter = Version()
    x._counter.value = 7
    assert version_of(x) == 7, f"expected 7, got {version_of(x)}"


@pytest.mark.hole("06.1")
def test_what_was_not_written_to_passes_the_check():
    assert SavedTensor(leaf([1.0, 2.0])).check(None) is None


@pytest.mark.hole("06.1")
def test_a_write_before_the_saving_does_no_harm():
    y = torch.ones(2)
    increment_version(y)
    increment_version(y)
    assert SavedTensor(y).check(None) is None


class Tells(SavedTensor):
    """Makes an error that says what `modified` was given first."""

    __slots__ = ()

    def modified(self, version, node):
        return RuntimeError(f"modified({version}, node)")


@pytest.mark.hole("06.1")
def test_the_error_is_the_one_that_modified_error_makes():
    x = torch.ones(2)
    saved = Tells(x)
    increment_version(x)
    with pytest.raises(RuntimeError, match=r"modified\(1, node\)"):
        saved.check(None)


@pytest.mark.hole("06.1")
@pytest.mark.parametrize("kind", ["a leaf", "a result"])
@pytest.mark.parametrize("writes", [1, 2], ids=["one write", "two writes"])
def test_what_was_written_to_fails_the_check(writes, kind):
    x = leaf([1.0, 2.0]) if kind == "a leaf" else leaf([1.0, 2.0]) + 1
    saved = SavedTensor(x)
    for _ in range(writes):
        increment_version(x)
    with pytest.raises(Exception, match=MODIFIED):
        saved.check(None)


@pytest.mark.hole("06.1")
def test_a_write_after_others_fails_the_check():
    x = torch.ones(2)
    increment_version(x)
    saved = SavedTensor(x)
    increment_version(x)
    with pytest.raises(RuntimeError, match=MODIFIED):
        saved.check(None)


@pytest.mark.hole("06.1")
def test_a_version_that_went_back_fails_the_check():
    x = torch.ones(2)
    increment_version(x)
    increment_version(x)
    saved = SavedTensor(x)
    x._counter.value = 1
    with pytest.raises(RuntimeError, match=MODIFIED):
        saved.check(None)


@pytest.mark.hole("06.1")
def test_the_error_tells_both_versions():
    x = torch.ones(2)
    saved = SavedTensor(x)
    increment_version(x)
    told = rf"{MODIFIED}: \[torch.FloatTensor \[2\]\] is at version 1; expected version 0"
    with pytest.raises(RuntimeError, match=told):
        saved.check(None)


@pytest.mark.hole("06.1")
def test_the_check_compares_with_the_version_at_the_saving():
    x = torch.ones(2)
    increment_version(x)
    before = SavedTensor(x)
    increment_version(x)
    after = SavedTensor(x)
    assert after.check(None) is None
    with pytest.raises(RuntimeError, match="is at version 2; expected version 1 instead"):
        before.check(None)


def kept_as_an_array(y):
    saved = SavedTensor(y)
    saved.tensor = saved._counter = None
    return saved


@pytest.mark.hole("06.1")
def test_an_array_without_a_counter_is_at_version_zero():
    y = leaf([1.0, 2.0]) + 1
    assert kept_as_an_array(y).check(y.grad_fn) is None


@pytest.mark.hole("06.1")
def test_an_output_of_which_only_the_array_was_kept():
    y = leaf([1.0, 2.0]) + 1
    saved = kept_as_an_array(y)
    saved._counter = y._shared_counter()
    assert saved.check(y.grad_fn) is None
    increment_version(y)
    with pytest.raises(RuntimeError, match=MODIFIED):
        saved.check(y.grad_fn)


@pytest.mark.hole("06.1")
def test_the_error_names_the_node_that_saved_its_own_output():
    y = leaf([1.0, 2.0]) + 1
    saved = kept_as_an_array(y)
    saved._counter = y._shared_counter()
    increment_version(y)
    with pytest.raises(RuntimeError, match="which is output 0 of Add, is at version 1; expected"):
        saved.check(y.grad_fn)


# --- 06.2 Inputs and outputs ---------------------------------------------------------------------


@pytest.mark.hole("06.2")
def test_letting_go_drops_the_tensor():
    saved = SavedTensor(leaf(2.0) * 3)
    saved.let_go()
    assert saved.tensor is None


@pytest.mark.hole("06.2")
def test_letting_go_keeps_the_counter():
    y = leaf(2.0) * 3
    saved = SavedTensor(y)
    saved.let_go()
    assert saved._counter is not None, "no counter was kept"
    assert saved._counter is y._counter, "expected the counter of the tensor itself"


@pytest.mark.hole("06.2")
def test_a_tensor_that_is_there_is_unpacked_itself():
    x = leaf(2.0)
    assert SavedTensor(x).unpack(None) is x


@pytest.mark.hole("06.2")
@pytest.mark.parametrize("kind", ["input", "output"])
def test_unpacking_checks_the_version(kind):
    y = leaf([1.0, 2.0]) * 3
    saved = SavedTensor(y, is_output=kind == "output")
    increment_version(y)
    with pytest.raises(RuntimeError, match=MODIFIED):
        saved.unpack(y.grad_fn)


@pytest.mark.hole("06.2")
def test_unpacking_what_was_freed():
    saved = SavedTensor(leaf(2.0))
    saved.release()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        saved.unpack(None)


@pytest.mark.hole("06.2")
def test_freed_is_asked_before_the_version():
    tensor = torch.ones(2)
    increment_version(tensor)  # now it has a counter
    written = SavedTensor(tensor)
    increment_version(tensor)
    written.release()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        written.unpack(None)


class Hooked(SavedTensor):
    __slots__ = ()

    def unpacked(self):
        return np.array([5.0, 6.0], np.float32)


@pytest.mark.hole("06.2")
@pytest.mark.parametrize("kind", ["a leaf", "a result"])
def test_a_saved_tensor_with_hooks_asks_for_what_they_give(kind):
    x = leaf([1.0, 2.0])
    t, node = (x, None) if kind == "a leaf" else (x * 2, (x * 3).grad_fn)
    saved = Hooked(t)
    saved.hooks, saved.origin = (None, None), t._edge()[0]
    saved._array = saved.tensor = None
    found = saved.unpack(node)
    assert found.tolist() == [5.0, 6.0], f"expected what the hook gave, got {found.tolist()}"
    assert found.requires_grad
    assert found._edge()[0] is t._edge()[0], "the place in the graph is lost"
    assert found.is_leaf is t.is_leaf


@pytest.mark.hole("06.2")
def test_what_was_packed_is_not_checked():
    x = torch.ones(2)
    increment_version(x)
    saved = Hooked(x)
    saved.hooks, saved._array, saved.tensor = (None, None), None, None
    increment_version(x)
    assert saved.unpack(None).tolist() == [5.0, 6.0]


@pytest.mark.hole("06.2")
@pytest.mark.parametrize("kind", ["array", "counter", "requires_grad", "index"])
def test_what_is_made_anew_is_like_what_was_saved(kind):
    y = leaf(2.0) * 3
    y._index = 1  # as if it were a second output
    saved = SavedTensor(y, is_output=True)
    array = np.array(9.0, np.float32)
    found = saved.rebuild(array, y.grad_fn)
    got, want = {"array": (found._array, array), "counter": (found._counter, y._counter),
                 "requires_grad": (found._requires_grad, True), "index": (found._index, 1)}[kind]
    assert got is want, f"expected {want}, got {got}"


@pytest.mark.hole("06.2")
def test_an_output_made_anew_has_the_node_that_saved_it():
    y = leaf([1.0, 2.0]) * 3
    saved = SavedTensor(y, is_output=True)
    assert saved.rebuild(y._array, y.grad_fn)._node is y.grad_fn


@pytest.mark.hole("06.2")
def test_a_leaf_made_anew_adopts_its_place():
    x, user = leaf([1.0, 2.0]), (leaf(1.0) * 2).grad_fn
    saved = SavedTensor(x)
    saved.origin = x._edge()[0]
    found = saved.rebuild(x._array, user)
    assert found._node is None, "a leaf has no node"
    assert found._edge()[0] is x._edge()[0], "expected the place of x"


@pytest.mark.hole("06.2")
def test_an_input_comes_back_as_the_tensor_it_was():
    a, b = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    node = (a * b).grad_fn
    assert node._saved_self is a
    assert node._saved_other is b


@pytest.mark.hole("06.2")
def test_gradients_from_saved_inputs_and_outputs():
    x = leaf(2.0)
    y = (x * x).exp()
    y.backward()
    np.testing.assert_allclose(x.grad.item(), 4 * np.exp(4.0), rtol=1e-5)


@pytest.mark.hole("06.2")
def test_an_output_is_made_anew_with_its_place_in_the_graph():
    x = leaf([1.0, 2.0])
    y = x.exp()
    found = y.grad_fn._saved_result
    np.testing.assert_allclose(found.tolist(), np.exp([1.0, 2.0]), rtol=1e-6)
    assert found.grad_fn is y.grad_fn, f"expected the node of y, got {found.grad_fn}"
    assert found.requires_grad
    assert found.output_nr == 0
    increment_version(y)
    assert found._version == 1, "the tensor made anew does not share the version counter"


@pytest.mark.hole("06.2")
def test_the_graph_does_not_hold_its_own_output():
    gc.disable()
    x = leaf([1.0, 2.0])
    y = x.exp()
    gone = weakref.ref(y)
    node = y.grad_fn
    del y
    assert gone() is None, "the node holds its output: a circle"
    np.testing.assert_allclose(node._saved_result.tolist(), np.exp([1.0, 2.0]), rtol=1e-6)


@pytest.mark.hole("06.2")
@pytest.mark.parametrize("kind", ["an output", "with hooks"])
def test_a_tensor_made_anew_is_not_kept(kind):
    gc.disable()
    y = leaf([1.0, 2.0]) * 3
    saved = SavedTensor(y, is_output=True)
    if kind == "with hooks":
        saved = Hooked(y)
        saved.hooks, saved.origin = (None, None), y._edge()[0]
        saved._array = saved.tensor = None
    gone = weakref.ref(saved.unpack(y.grad_fn))
    assert gone() is None, "the tensor made anew is kept, and it holds the node: a circle"


@pytest.mark.hole("06.2")
def test_a_second_derivative_through_a_saved_output():
    x = leaf(1.5)
    (first,) = torch.autograd.grad(x.exp(), x, create_graph=True)
    (second,) = torch.autograd.grad(first, x)
    np.testing.assert_allclose(second.item(), np.exp(1.5), rtol=1e-6)


@pytest.mark.hole("06.2")
@pytest.mark.parametrize("kind", ["input", "output"])
def test_a_write_after_the_saving_is_found_at_backward(kind):
    x = leaf([1.0, 2.0])
    y = x * 1
    z = y * y if kind == "input" else y.exp()
    increment_version(y if kind == "input" else z)
    with pytest.raises(RuntimeError, match=f"{MODIFIED}.* is at version 1; expected version 0"):
        z.backward(torch.ones(2))
    assert x.grad is None


@pytest.mark.hole("06.2")
def test_what_was_freed_is_refused():
    x = leaf(2.0)
    y = x * x
    y.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        _ = y.grad_fn._saved_self
    assert x.grad.item() == 4.0


# --- 06.3 Packing --------------------------------------------------------------------------------


def twice(t):
    return torch.tensor((t * 2).tolist())


@pytest.mark.hole("06.3")
def test_what_the_pack_hook_returns_is_kept():
    saved, answer = SavedTensor(torch.ones(2)), object()
    assert saved.register_hooks(lambda t: answer, twice) is None
    assert saved.packed is answer


@pytest.mark.hole("06.3")
def test_the_pack_hook_gets_the_tensor_itself():
    x, seen = leaf([1.0, 2.0]), []
    SavedTensor(x).pack(seen.append, x)
    assert len(seen) == 1 and seen[0] is x, f"expected the tensor itself, got {seen}"


@pytest.mark.hole("06.3")
def test_the_tensor_is_forgotten():
    saved = SavedTensor(torch.ones(2))
    saved.register_hooks(twice, twice)
    assert saved.tensor is None, "the tensor is still held"
    assert saved._array is None, "the array is still held"


@pytest.mark.hole("06.3")
@pytest.mark.parametrize("kind", ["a leaf", "a result"])
def test_the_place_in_the_graph_is_kept(kind):
    x = leaf([1.0, 2.0])
    t = x if kind == "a leaf" else x * 2
    saved = SavedTensor(t)
    saved.register_hooks(twice, twice)
    assert saved.origin is t._edge()[0], f"expected {t._edge()[0]}, got {saved.origin}"


@pytest.mark.hole("06.3")
def test_unpacking_calls_the_second_hook():
    saved = SavedTensor(torch.ones(2))
    saved.register_hooks(lambda t: 5.0, lambda number: torch.tensor([number]))
    assert saved.unpacked().tolist() == [5.0]


@pytest.mark.hole("06.3")
def test_unpacked_gives_an_array():
    saved = SavedTensor(leaf([1.0, 2.0]))
    saved.register_hooks(lambda t: t.tolist(), torch.tensor)
    found = saved.unpacked()
    assert isinstance(found, np.ndarray), f"expected an array, got {type(found).__name__}"
    assert found.tolist() == [1.0, 2.0]


@pytest.mark.hole("06.3")
def test_unpacked_gives_the_array_itself():
    saved, given = SavedTensor(leaf([1.0, 2.0])), torch.tensor([1.0, 2.0])
    saved.register_hooks(lambda t: None, lambda packed: given)
    assert saved.unpacked() is given._array, "expected the array of the tensor that the hook gave"


@pytest.mark.hole("06.3")
@pytest.mark.parametrize("given", [2.0, None, "text", [1.0], np.ones((), np.float32)],
                         ids=["a number", "None", "a string", "a list", "an array"])
def test_an_unpack_hook_has_to_give_a_tensor(given):
    y = leaf(3.0).exp()
    y.grad_fn._raw_saved_result.register_hooks(lambda t: t.item(), lambda number: given)
    name = type(given).__name__.replace("ndarray", r"(numpy\.)?ndarray")
    told = f"unpack_hook expected to be a Tensor but got result of type {name}"
    with pytest.raises(TypeError, match=f"Output of saved tensor {told}"):
        y.backward()


@pytest.mark.hole("06.3")
def test_packing_is_not_recorded():
    modes = []
    SavedTensor(torch.ones(2)).register_hooks(
        lambda t: modes.append(torch.is_grad_enabled()), twice)
    assert modes == [False], "the pack hook ran with recording on"


@pytest.mark.hole("06.3")
@pytest.mark.parametrize("on", [True, False], ids=["on", "off"])
def test_the_mode_comes_back_after_packing(on):
    with torch.set_grad_enabled(on):
        SavedTensor(torch.ones(2)).register_hooks(twice, twice)
        assert torch.is_grad_enabled() is on, f"recording was {on}"


@pytest.mark.hole("06.3")
def test_the_mode_comes_back_after_a_pack_hook_that_failed():
    def failing(t):
        raise ValueError("no room")

    with pytest.raises(ValueError, match="no room"):
        SavedTensor(torch.ones(2)).register_hooks(failing, twice)
    assert torch.is_grad_enabled(), "recording stays off after a pack hook failed"


@pytest.mark.hole("06.3")
def test_a_pack_hook_that_failed_leaves_what_was_saved():
    def failing(t):
        raise ValueError("no room")

    x = torch.ones(2)
    saved = SavedTensor(x)
    with pytest.raises(ValueError, match="no room"):
        saved.register_hooks(failing, twice)
    assert saved.tensor is x, "the tensor is no longer saved, although the hook failed"
    assert saved._array is x._array, "the array is no longer saved, although the hook failed"


@pytest.mark.hole("06.3")
def test_a_pack_hook_may_not_write():
    saved = leaf(3.0).exp().grad_fn._raw_saved_result
    with pytest.raises(RuntimeError, match="A saved tensor pack hook is modifying its input"):
        saved.register_hooks(increment_version, lambda t: t)


@pytest.mark.hole("06.3")
def test_a_write_before_the_packing_does_no_harm():
    y = torch.ones(2)
    increment_version(y)
    saved = SavedTensor(y)
    increment_version(y)
    assert saved.register_hooks(twice, twice) is None


@pytest.mark.hole("06.3")
def test_hooks_pack_and_unpack_one_saved_tensor():
    x, packed = leaf(3.0), []
    y = x.exp()
    y.grad_fn._raw_saved_result.register_hooks(
        lambda t: packed.append(t.item()) or "two", lambda text: torch.tensor(2.0))
    y.backward()
    np.testing.assert_allclose(packed, [np.exp(3.0)], rtol=1e-6)
    assert x.grad.item() == 2.0, f"expected what unpack gave, 2.0, got {x.grad.item()}"


@pytest.mark.hole("06.3")
def test_hooks_for_all_that_is_saved_inside_a_block():
    x, log = leaf(3.0), []

    def pack(t):
        log.append("pack")
        return t.item()

    def unpack(number):
        log.append("unpack")
        return torch.tensor(number)

    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = x * x
    assert log == ["pack", "pack"]
    z = y * y
    assert log == ["pack", "pack"]
    z.backward()
    assert x.grad.item() == 108.0, f"expected 4 x^3 = 108, got {x.grad.item()}"
    assert log == ["pack", "pack", "unpack", "unpack"]


@pytest.mark.hole("06.3")
def test_what_is_packed_is_no_longer_held():
    gc.disable()
    x = leaf([1.0, 2.0])
    y = x + 1
    z = y * 3 * y
    node = z.grad_fn
    node._raw_saved_other.register_hooks(lambda t: None, lambda nothing: torch.ones(2))
    node._raw_saved_self.register_hooks(lambda t: None, lambda nothing: torch.ones(2))
    gone, memory = weakref.ref(y), weakref.ref(y._array)
    del y
    assert gone() is None, "the saved tensor still holds what it packed"
    assert memory() is None, "the saved tensor still holds the array of what it packed"


@pytest.mark.hole("06.3")
def test_a_packed_copy_is_safe_from_writes():
    x = leaf([1.0, 2.0])
    y = x * 1
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.tolist(), torch.tensor):
        z = y * y
    increment_version(y)
    z.backward(torch.ones(2))
    assert x.grad.tolist() == [2.0, 4.0]


@pytest.mark.hole("06.3")
def test_second_derivatives_reach_the_leaf_through_hooks():
    x = leaf(3.0)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.item(), torch.tensor):
        y = x * x * x
        (first,) = torch.autograd.grad(y, x, create_graph=True)
    (second,) = torch.autograd.grad(first, x)
    assert (first.item(), second.item()) == (27.0, 18.0), (
        f"expected 3x^2 = 27 and 6x = 18, got {first.item()} and {second.item()}")


# --- 06.4 Views ----------------------------------------------------------------------------------


@pytest.mark.hole("06.4")
def test_a_view_knows_its_base():
    x = torch.zeros(2, 3)
    row = x[0]
    assert row._is_view()
    assert row._base is x
    assert not x._is_view()
    assert not (x + 1)._is_view()


@pytest.mark.hole("06.4")
def test_a_view_of_a_view_knows_the_base_of_all():
    x = torch.zeros(2, 3)
    part = x.t()[1:]
    assert part[0]._base is x, f"expected the base itself, got {part[0]._base}"


@pytest.mark.hole("06.4")
@pytest.mark.parametrize("kind", ["never written to", "written to"])
def test_a_view_shares_the_counter_of_its_base(kind):
    x, view = torch.zeros(2, 3), torch.zeros(3)
    if kind == "written to":
        increment_version(x)
    link_to_base(view, x, DEFAULT)
    assert view._counter is not None and view._counter is x._counter


@pytest.mark.hole("06.4")
def test_views_and_base_share_one_version():
    x = torch.zeros(2, 3)
    row, column = x[0], x.t()[1]
    increment_version(column)
    versions = [t._version for t in (x, row, column, x[1])]
    assert versions == [1, 1, 1, 1], f"expected one write seen by all, got {versions}"


@pytest.mark.hole("06.4")
def test_a_view_notes_the_version_at_which_it_was_made():
    x = torch.zeros(2, 3)
    assert x[0]._view.version == 0
    increment_version(x)
    assert x[0]._view.version == 1, "the view was made at version 1"


@pytest.mark.hole("06.4")
def test_a_view_of_an_older_view_notes_the_version_now():
    x = torch.zeros(2, 3)
    row = x[0]
    increment_version(x)
    part = row[1:]
    assert part._view.version == 1, "part was made at version 1"
    assert row._view.version == 0, "row was made at version 0"


@pytest.mark.hole("06.4")
def test_making_a_view_is_no_write():
    x = torch.zeros(2, 3)
    assert x[0][1:]._version == 0
    assert x._version == 0


def creation(base, given):
    """Return the creation that `link_to_base` notes for a view of `base`."""
    view = torch.zeros(3)
    link_to_base(view, base, given)
    assert isinstance(view._view, ViewInfo), f"expected a ViewInfo, got {view._view}"
    return view._view.creation


@pytest.mark.hole("06.4")
@pytest.mark.parametrize("given", [DEFAULT, MULTI_OUTPUT, NO_GRAD],
                         ids=["DEFAULT", "MULTI_OUTPUT", "NO_GRAD"])
def test_how_a_view_was_made_is_noted(given):
    assert creation(torch.zeros(2, 3), given) == given


@pytest.mark.hole("06.4")
@pytest.mark.parametrize("old", [NO_GRAD, MULTI_OUTPUT], ids=["NO_GRAD", "MULTI_OUTPUT"])
def test_a_view_of_a_doubtful_view_is_doubtful(old):
    x, view = torch.zeros(2, 3), torch.zeros(3)
    link_to_base(view, x, old)
    assert creation(view, DEFAULT) == old


@pytest.mark.hole("06.4")
@pytest.mark.parametrize("old", [DEFAULT, MULTI_OUTPUT, IN_CUSTOM_FUNCTION],
                         ids=["DEFAULT", "MULTI_OUTPUT", "IN_CUSTOM_FUNCTION"])
def test_how_the_new_view_is_made_comes_first(old):
    x, view = torch.zeros(2, 3), torch.zeros(3)
    link_to_base(view, x, old)
    assert creation(view, NO_GRAD) == NO_GRAD


# --- 06.5 Writes that can be recorded -------------------------------------------------------------


@pytest.mark.hole("06.5")
@pytest.mark.parametrize("kind", ["a tensor", "a view"])
def test_what_requires_no_grad_may_be_written_to(kind):
    x = torch.zeros(2, 3)
    assert check_recorded(x if kind == "a tensor" else x[0]) is None


@pytest.mark.hole("06.5")
@pytest.mark.parametrize("kind", ["a result", "a view"])
def test_what_has_a_history_may_be_written_to(kind):
    y = leaf([1.0, 2.0]) * 1
    view = y[0]
    assert check_recorded(y if kind == "a result" else view) is None
    increment_version(y)
    assert check_recorded(y if kind == "a result" else view) is None, "a second write is refused"


@pytest.mark.hole("06.5")
def test_a_leaf_that_requires_grad_is_refused():
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an "
                                           "in-place operation"):
        check_recorded(leaf([1.0, 2.0]))


@pytest.mark.hole("06.5")
def test_a_view_of_such_a_leaf_is_refused():
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad is being "
                                           "used in an in-place operation"):
        check_recorded(leaf([1.0, 2.0])[0])


@pytest.mark.hole("06.5")
@pytest.mark.parametrize("part", [lambda t: t[:2], lambda t: t.view(-1, 1), lambda t: t.t()[1:]],
                         ids=["a slice", "another shape", "a view of a view"])
def test_a_view_that_is_older_than_its_base_s_flag_is_refused(part):
    base = torch.tensor([1.0, 2.0, 3.0])
    view = part(base)
    base.requires_grad_()
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad is being "
                                           "used in an in-place operation"):
        check_recorded(view)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable"):
        view.mul_(3)
    assert base.tolist() == [1.0, 2.0, 3.0], f"the leaf was written to: {base.tolist()}"


@pytest.mark.hole("06.5")
@pytest.mark.parametrize("kind", ["under no_grad", "by unbind", "by split"])
def test_how_a_view_was_made_matters_without_a_gradient_too(kind):
    base, factor = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), leaf([5.0, 6.0])
    with torch.set_grad_enabled(kind != "under no_grad"):
        view = (base[0] if kind == "under no_grad" else
                base.unbind()[0] if kind == "by unbind" else base.split(1)[0])
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode"):
        check_recorded(view)
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode"):
        view.mul_(factor)
    assert base.tolist() == [[1.0, 2.0], [3.0, 4.0]], f"it was written to: {base.tolist()}"


@pytest.mark.hole("06.5")
def test_how_a_view_was_made_is_asked_first():
    x = leaf([1.0, 2.0])
    with torch.no_grad():
        quiet = x[0]
        plain = torch.zeros(2)[0]
    for view in (quiet, plain):
        with pytest.raises(RuntimeError, match="A view was created in no_grad mode"):
            check_recorded(view)


@pytest.mark.hole("06.5")
def test_a_leaf_is_written_to_under_no_grad():
    x = leaf([1.0, 2.0])
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        x.add_(1)
    assert x.tolist() == [1.0, 2.0]
    with torch.no_grad():
        x.add_(1)
        x[0].mul_(3)
    assert x.tolist() == [6.0, 3.0]


@pytest.mark.hole("06.5")
def test_a_view_made_under_no_grad_is_refused_afterwards():
    y = leaf([1.0, 2.0]) * 1
    with torch.no_grad():
        quiet = y[0]
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode and is being "
                                           "modified inplace with grad mode enabled"):
        quiet.mul_(3)
    with torch.no_grad():
        quiet.mul_(3)
    assert y.tolist() == [3.0, 2.0]


@pytest.mark.hole("06.5")
def test_one_of_several_views_is_refused():
    y = leaf([1.0, 2.0]) * 1
    with pytest.raises(RuntimeError, match="This view is the output of a function that returns "
                                           "multiple views"):
        y.unbind()[0].mul_(3)
    with torch.no_grad():
        y.unbind()[0].mul_(3)
    plain = torch.ones(2)
    plain.unbind()[0].mul_(3)
    assert plain.tolist() == [3.0, 1.0]


# --- 06.6 The gradient of a write through a view -------------------------------------------------


def through(base, view, result, *grads, position=0):
    """Return the gradients that a write of `result` through a view gives for `grads`.

    `result` is made from a leaf that stands for what the view held before.
    """
    node = CopySlices(base, base._edge(), view, result.grad_fn, position)
    with torch.no_grad():  # as in a backward pass
        return list(node.apply_tensors(grads))


def written_through(given):
    base = leaf([1.0, 2.0, 3.0]) * 1
    return through(base, base[1:], leaf([2.0, 3.0]) * 10, given)


@pytest.mark.hole("06.6")
def test_what_is_not_covered_passes():
    result = written_through(torch.tensor([1.0, 2.0, 3.0]))[0]
    assert result.shape == (3,), f"expected the base's shape, got {tuple(result.shape)}"
    assert result[0].item() == 1.0, f"expected 1 for the element before the view, got {result[0]}"


@pytest.mark.hole("06.6")
def test_the_covered_part_goes_through_the_write():
    result = written_through(torch.tensor([1.0, 2.0, 3.0]))[0]
    assert result.tolist() == [1.0, 20.0, 30.0], f"expected [1, 20, 30], got {result.tolist()}"


@pytest.mark.hole("06.6")
def test_the_gradient_that_came_in_stays():
    given = torch.tensor([1.0, 2.0, 3.0])
    written_through(given)
    assert given.tolist() == [1.0, 2.0, 3.0], "the gradient that came in was written to"


@pytest.mark.hole("06.6")
def test_what_is_overwritten_gets_no_gradient():
    base, source = leaf([1.0, 2.0, 3.0]) * 1, leaf([7.0, 8.0])
    view = base[1:]
    given = torch.tensor([1.0, 10.0, 100.0])
    by_base = through(base, view, view.detach() * source, given)[0]
    assert by_base is not None and by_base.tolist() == [1.0, 0.0, 0.0], (
        f"expected [1, 0, 0], got {by_base}")
    by_base = through(base, view, view.detach() * source, torch.tensor([1.0, np.inf, 100.0]))[0]
    assert by_base.tolist() == [1.0, 0.0, 0.0], f"expected [1, 0, 0], got {by_base}"


@pytest.mark.hole("06.6")
def test_the_other_inputs_of_the_write_get_theirs():
    base, source = leaf([1.0, 2.0, 3.0]) * 1, leaf([7.0, 8.0])
    view = base[1:]
    results = through(base, view, leaf([2.0, 3.0]) * source, torch.tensor([1.0, 10.0, 100.0]))
    assert len(results) == 2 and results[1] is not None, f"got {results}"
    assert results[1].tolist() == [20.0, 300.0], f"expected [20, 300], got {results[1].tolist()}"


@pytest.mark.hole("06.6")
def test_what_the_write_gives_others_is_not_written_to():
    base, source = leaf([1.0, 2.0, 3.0]) * 1, leaf([7.0, 8.0])
    view = base[1:]  # the node of an addition gives on the very gradient that it gets
    given = torch.tensor([1.0, 10.0, 100.0])
    by_base, by_source = through(base, view, view.detach() + source, given)
    assert by_base.tolist() == [1.0, 0.0, 0.0], f"expected [1, 0, 0], got {by_base.tolist()}"
    assert by_source.tolist() == [10.0, 100.0], f"expected [10, 100], got {by_source.tolist()}"
    node = HandsOn()
    node.extras, node.shape, node.dtype = None, (), None
    node.set_edges([(None, 0)] * 2)
    slices = CopySlices(base, base._edge(), view, node, 0)
    with torch.no_grad():
        _, by_source = slices.apply_tensors([given])
    assert by_source.tolist() == [[10.0], [100.0]], f"got {by_source.tolist()}"


class HandsOn(NaryNode):
    """The node of an overwriting write; the other input gets a view of the gradient."""

    def apply_tensors(self, grads):
        return [None, grads[0].reshape(2, 1)]


@pytest.mark.hole("06.6")
def test_the_tensor_written_to_may_be_any_input():
    base, source = leaf([1.0, 2.0, 3.0]) * 1, leaf([7.0, 8.0])
    view, before = base[1:], leaf([2.0, 3.0])
    given = torch.tensor([1.0, 10.0, 100.0])
    by_source, by_base = through(base, view, source * before, given, position=1)
    assert by_source.tolist() == [20.0, 300.0]
    assert by_base.tolist() == [1.0, 70.0, 800.0]


@pytest.mark.hole("06.6")
def test_views_with_strides():
    base = leaf([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]) * 1
    with torch.no_grad():
        view = base.t()[::2]  # columns 0 and 2, as rows
    weights = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    before = leaf([[1.0, 4.0], [3.0, 6.0]])
    result = through(base, view, before * weights, torch.full((2, 3), 10.0))[0]
    expected = [[10.0, 10.0, 30.0], [20.0, 10.0, 40.0]]
    assert result.tolist() == expected, f"expected {expected}, got {result.tolist()}"


@pytest.mark.hole("06.6")
def test_a_base_with_another_memory_layout_than_its_gradient():
    by_columns = torch.from_numpy(np.asfortranarray([[1.0, 3.0], [2.0, 4.0]], np.float32))
    base = by_columns.requires_grad_() * 1
    assert base.stride() == (1, 2), f"expected columns, not strides {base.stride()}"
    with torch.no_grad():
        view = base[0]
    given = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    result = through(base, view, leaf([5.0, 6.0]) * 10, given)[0]
    assert result.tolist() == [[10.0, 20.0], [3.0, 4.0]], f"got {result.tolist()}"


# --- 06.7 History after a write ------------------------------------------------------------------


@pytest.mark.hole("06.7")
def test_the_node_of_a_write_becomes_the_history():
    y = leaf([1.0, 2.0]) * 2
    node = (y * 3).grad_fn
    rebase_history(y, node)
    assert y._node is node and y._index == 0


@pytest.mark.hole("06.7")
def test_a_write_gives_the_tensor_its_output_s_number():
    y = leaf([1.0, 2.0]) * 2
    rebase_history(y, (y * 3).grad_fn, 1)
    assert y._index == 1, f"expected 1, got {y._index}"


@pytest.mark.hole("06.7")
def test_a_tensor_that_was_written_to_requires_grad():
    y = torch.ones(2)
    rebase_history(y, (leaf([1.0, 2.0]) * 3).grad_fn)
    assert y._requires_grad is True


def rebased_view(position=0, index=0):
    """Return a base, its earlier node, a view of it and the node of a write through the view."""
    base, source = leaf([1.0, 2.0, 3.0]) * 2, leaf([7.0, 8.0])
    before, view = base.grad_fn, base[1:]
    held = leaf([4.0, 6.0])
    node = (held * source if position == 0 else source * held).grad_fn
    increment_version(view)
    rebase_history(view, node, index, position)
    return base, before, view, node


@pytest.mark.hole("06.7")
@pytest.mark.parametrize("index", [0, 1])
def test_the_base_gets_copy_slices(index):
    base, _, _, node = rebased_view(index=index)
    assert isinstance(base._node, CopySlices), f"expected CopySlices, got {base._node}"
    assert base._node.fn is node and base._index == 0


@pytest.mark.hole("06.7")
def test_copy_slices_knows_what_the_view_covers():
    base, *_ = rebased_view()
    assert (base._node.base_geometry, base._node.view_geometry) == (
        ((3,), (1,), 0), ((2,), (1,), 1)), "CopySlices takes the base first, then the view"


@pytest.mark.hole("06.7")
@pytest.mark.parametrize("position", [0, 1])
def test_the_earlier_history_of_the_base_stands_at_position(position):
    base, before, _, _ = rebased_view(position)
    nodes = [edge[0] for edge in base._node.next_functions]
    assert nodes[position] is before, f"expected {before} at {position}, got {nodes}"


@pytest.mark.hole("06.7")
def test_base_and_view_require_grad_after_a_write_through_the_view():
    base, source = torch.ones(3), leaf([7.0, 8.0])
    view = base[1:]
    increment_version(view)
    rebase_history(view, (view.detach() * source).grad_fn)
    assert base._requires_grad is True, "the base does not require grad"
    assert view._requires_grad is True, "the view does not require grad"


@pytest.mark.hole("06.7")
def test_the_view_leads_to_the_new_base():
    base, _, view, node = rebased_view()
    assert view._node is not node, "the view has the node of the write"
    edges = view._node.next_functions
    assert edges[0][0] is base._node, f"expected a view of the new base, got {edges}"


def stale_view():
    """Return a base that was written to and a view of it from before."""
    base = leaf([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]) * 2
    view = base.t()
    increment_version(base)
    return base, view


@pytest.mark.hole("06.7")
def test_regenerating_gives_the_view_a_node_from_its_base():
    base, view = stale_view()
    old = view._node
    view._view.regenerate(view)
    assert view._node is not old, "it is still the node from before the write"
    assert view._index == 0 and view._requires_grad is True
    assert view._node.next_functions[0][0] is base._node, "expected a node made from the base"


@pytest.mark.hole("06.7")
def test_regenerating_notes_the_version():
    _, view = stale_view()
    view._view.regenerate(view)
    assert view._view.version == 1, f"expected version 1, got {view._view.version}"


def gradient_kept(tensor, node):
    """Run a pass from output 0 of a node; return what `retain_grad` keeps for a tensor."""
    execute([(node, 0)], [np.ones(tensor.shape, np.float32)], True, False)
    kept = tensor._grad
    return None if kept is None else kept.tolist()


@pytest.mark.hole("06.7")
def test_retain_grad_follows_a_tensor_that_is_written_to():
    x = leaf([1.0, 2.0])
    y = x * 2
    y.retain_grad()
    rebase_history(y, (x * 3).grad_fn)
    kept = gradient_kept(y, y._node)
    assert kept == [1.0, 1.0], f"y retains its gradient, [1, 1], and got {kept}"


@pytest.mark.hole("06.7")
def test_retain_grad_follows_a_base_that_is_written_to_through_a_view():
    base, source = leaf([1.0, 2.0, 3.0]) * 2, leaf([7.0, 8.0])
    base.retain_grad()
    view = base[1:]
    increment_version(view)
    rebase_history(view, (leaf([4.0, 6.0]) * source).grad_fn)
    kept = gradient_kept(base, base._node)
    assert kept == [1.0, 1.0, 1.0], f"base retains its gradient, [1, 1, 1], and got {kept}"


@pytest.mark.hole("06.7")
def test_retain_grad_follows_a_view_that_is_regenerated():
    _, view = stale_view()
    record, view._view = view._view, None  # so that its node isn't looked up: that is 06.8
    view.retain_grad()
    view._view = record
    view._view.regenerate(view)
    kept = gradient_kept(view, view._node)
    assert kept == [[1.0, 1.0]] * 3, f"the view retains its gradient, six ones, and got {kept}"


# --- 06.8 The other views ------------------------------------------------------------------------


def current(view):
    return view._view.current_node(view)


@pytest.mark.hole("06.8")
def test_a_view_that_was_not_written_to_has_its_node():
    view = (leaf([1.0, 2.0, 3.0]) * 2)[1:]
    node = view._node
    assert current(view) is node


@pytest.mark.hole("06.8")
def test_a_view_of_what_requires_no_grad_has_no_node():
    base = torch.ones(3)
    view = base[1:]
    increment_version(base)
    assert current(view) is None


@pytest.mark.hole("06.8")
def test_a_view_of_what_was_written_to_gets_a_new_node():
    base, view = stale_view()
    old, new = view._node, current(view)
    assert new is not old, "it is still the node from before the write"
    assert new is view._node
    assert new.next_functions[0][0] is base._node, "expected a node made from the base"


@pytest.mark.hole("06.8")
def test_a_new_node_is_made_once():
    _, view = stale_view()
    node = current(view)
    assert current(view) is node, "the node is made anew each time"


@pytest.mark.hole("06.8")
def test_a_base_that_no_longer_requires_grad():
    base, view = stale_view()
    base.detach_()
    assert current(view) is not None, "expected a node"


@pytest.mark.hole("06.8")
def test_a_view_of_a_base_that_requires_grad_only_since_the_write():
    x, y = leaf([1.0, 2.0]), torch.ones(3)
    view = y[:2]
    assert view.grad_fn is None
    y[1:].mul_(x)
    view.backward(torch.ones(2))
    assert x.grad is not None and x.grad.tolist() == [1.0, 0.0], f"expected [1, 0], got {x.grad}"


@pytest.mark.hole("06.8")
def test_a_view_made_under_no_grad_takes_no_part_in_later_writes():
    y = leaf([1.0, 2.0]) * 3
    with torch.no_grad():
        quiet = y[1:]
    before = quiet._view.version
    y.mul_(2)
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode and its base or "
                                           "another view of its base has been modified inplace"):
        _ = quiet.grad_fn
    assert quiet._view.version == before, "refuse before the node is made anew"


@pytest.mark.hole("06.8")
def test_a_view_made_under_no_grad_is_fine_while_nothing_is_written():
    y = leaf([1.0, 2.0]) * 3
    with torch.no_grad():
        quiet = y[1:]
    assert current(quiet) is None


@pytest.mark.hole("06.8")
def test_older_views_see_a_write_to_the_base():
    x = leaf([1.0, 2.0, 3.0])
    y = x * 2
    view = y[1:]
    y.mul_(10)
    view.backward(torch.ones(2))
    assert x.grad.tolist() == [0.0, 20.0, 20.0], f"expected [0, 20, 20], got {x.grad.tolist()}"


@pytest.mark.hole("06.8")
def test_one_view_sees_what_was_written_through_another():
    x = leaf([1.0, 2.0, 3.0])
    y = x * 2
    first, last = y[:2], y[1:]
    first.mul_(10)
    assert last.tolist() == [40.0, 6.0]
    last.backward(torch.ones(2))
    assert x.grad.tolist() == [0.0, 20.0, 2.0], f"expected [0, 20, 2], got {x.grad.tolist()}"


@pytest.mark.hole("06.8")
def test_writes_one_after_the_other():
    x = leaf([1.0, 2.0, 3.0])
    y = x * 1
    y[0].mul_(10)
    y[0].mul_(10)
    y.mul_(2)
    y[1].add_(y[0])
    y.backward(torch.ones(3))  # of [200 a, 2 b + 200 a, 2 c]
    assert x.grad.tolist() == [400.0, 2.0, 2.0], f"expected [400, 2, 2], got {x.grad.tolist()}"
