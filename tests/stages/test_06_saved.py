"""Stage 06: saved tensors, version counters, in-place writes and views."""

import gc
import weakref
from types import SimpleNamespace

import numpy as np
import pytest

import minigrad as torch
from minigrad.autograd.graph import increment_version
from minigrad.copy_slices import CopySlices
from minigrad.saved import SavedTensor, Version, version_of
from minigrad.views import (
    DEFAULT,
    INFERENCE_MODE,
    MULTI_OUTPUT,
    NO_GRAD,
    check_inplace,
    rebase_history,
)

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
    increment_version(x)
    increment_version(x)
    assert version_of(x) == 2, f"expected 2, got {version_of(x)}"
    assert x._version == 2


@pytest.mark.hole("06.1")
def test_what_was_not_written_to_passes_the_check():
    x = leaf([1.0, 2.0])
    assert SavedTensor(x).check(None) is None
    y = torch.ones(2)
    increment_version(y)
    increment_version(y)
    saved = SavedTensor(y)
    assert saved.check(None) is None, "a write before the saving does no harm"


@pytest.mark.hole("06.1")
@pytest.mark.parametrize("writes", [1, 2])
def test_what_was_written_to_fails_the_check(writes):
    x = torch.ones(2)
    saved = SavedTensor(x)
    for _ in range(writes):
        increment_version(x)
    told = rf"{MODIFIED}: \[torch.FloatTensor \[2\]\] is at version {writes}; expected version 0"
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


@pytest.mark.hole("06.1")
def test_the_error_names_the_operation_that_made_the_tensor():
    x = leaf([1.0, 2.0])
    y = x + 1
    saved, user = SavedTensor(y), (x + 2).grad_fn
    increment_version(y)
    with pytest.raises(RuntimeError, match="which is output 0 of Add"):
        saved.check(user)
    saved = SavedTensor(x)
    increment_version(x)
    with pytest.raises(RuntimeError, match=r"\[torch.FloatTensor \[2\]\] is at version"):
        saved.check(user)


@pytest.mark.hole("06.1")
def test_an_output_of_which_only_the_array_was_kept():
    y = leaf([1.0, 2.0]) + 1
    saved = SavedTensor(y)
    saved.tensor = saved._counter = None
    assert saved.check(y.grad_fn) is None
    saved._counter = y._shared_counter()
    assert saved.check(y.grad_fn) is None
    increment_version(y)
    with pytest.raises(RuntimeError, match="which is output 0 of Add, is at version 1; expected"):
        saved.check(y.grad_fn)


# --- 06.2 Inputs and outputs ---------------------------------------------------------------------


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
def test_a_second_derivative_through_a_saved_output():
    x = leaf(1.5)
    (first,) = torch.autograd.grad(x.exp(), x, create_graph=True)
    (second,) = torch.autograd.grad(first, x)
    np.testing.assert_allclose(second.item(), np.exp(1.5), rtol=1e-6)


@pytest.mark.hole("06.2")
def test_the_second_of_two_outputs_keeps_its_number():
    class Both(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            square, cube = x * x, x * x * x
            ctx.save_for_backward(x, cube)
            return square, cube

        @staticmethod
        def backward(ctx, by_square, by_cube):
            x, cube = ctx.saved_tensors
            seen.append((x, cube))
            return by_square * 2 * x + by_cube * 3 * cube / x

    seen, x = [], leaf(2.0)
    square, cube = Both.apply(x)
    (square + cube).backward()
    assert x.grad.item() == 16.0, f"expected 2x + 3x^2 = 16, got {x.grad.item()}"
    assert seen[0][0] is x
    assert seen[0][1].output_nr == 1, f"expected output 1, got {seen[0][1].output_nr}"
    assert seen[0][1].grad_fn is cube.grad_fn


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
    saved = SavedTensor(x)
    assert saved.unpack(None) is x
    saved.release()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        saved.unpack(None)
    written = SavedTensor(torch.ones(2))
    increment_version(written.tensor)
    written.release()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        written.unpack(None)


@pytest.mark.hole("06.2")
def test_an_output_that_is_a_view_comes_back_with_its_own_node():
    gc.disable()
    y = leaf([1.0, 2.0]) * 1
    y._view = SimpleNamespace(current_node=lambda view: view._node)  # stands for a view
    gone, user = weakref.ref(y.grad_fn), (leaf([1.0, 2.0]) * 2).grad_fn
    saved = SavedTensor(y, is_output=True)
    found = saved.unpack(user)
    assert found._node is y._node, f"expected the node of the view, got {found._node}"
    del y, found
    assert gone() is None, "the node of the view is held: keep a weak reference"


@pytest.mark.hole("06.2")
def test_what_requires_no_grad_comes_back_so():
    x = torch.ones(2)
    found = SavedTensor(x).rebuild(x._array, (leaf([1.0, 2.0]) * 2).grad_fn)
    assert not found.requires_grad
    assert found.grad_fn is None


@pytest.mark.hole("06.2")
def test_a_saved_tensor_with_hooks_asks_for_what_they_give():
    class Hooked(SavedTensor):
        __slots__ = ()

        def unpacked(self):
            return np.array([5.0, 6.0], np.float32)

    x = leaf([1.0, 2.0])
    for t, node in ((x, None), (x * 2, (x * 3).grad_fn)):
        saved = Hooked(t)
        saved.hooks, saved.origin = (None, None), t._edge()[0]
        saved._array = saved.tensor = None
        found = saved.unpack(node)
        assert found.tolist() == [5.0, 6.0], f"expected what the hook gave, got {found.tolist()}"
        assert found.requires_grad
        assert found._edge()[0] is t._edge()[0], "the place in the graph is lost"
        assert found.is_leaf is t.is_leaf


# --- 06.3 Packing --------------------------------------------------------------------------------


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


@pytest.mark.hole("06.3")
def test_packing_is_not_recorded_and_the_mode_comes_back():
    modes = []

    def failing(t):
        modes.append(torch.is_grad_enabled())
        raise ValueError("no room")

    x = leaf(3.0)
    y = x.exp()
    y.grad_fn._raw_saved_result.register_hooks(
        lambda t: modes.append(torch.is_grad_enabled()), lambda nothing: torch.tensor(1.0))
    assert modes == [False], "the pack hook ran with recording on"
    assert torch.is_grad_enabled()
    with torch.no_grad():
        SavedTensor(torch.ones(2)).register_hooks(lambda t: t.tolist(), torch.tensor)
        assert not torch.is_grad_enabled(), "packing under no_grad switched recording on"
    with pytest.raises(ValueError, match="no room"):
        x.exp().grad_fn._raw_saved_result.register_hooks(failing, torch.tensor)
    assert torch.is_grad_enabled(), "recording stays off after a pack hook failed"


@pytest.mark.hole("06.3")
def test_only_one_pair_of_hooks():
    y = leaf(3.0).exp()
    saved = y.grad_fn._raw_saved_result
    saved.register_hooks(lambda t: t.item(), torch.tensor)
    with pytest.raises(RuntimeError, match="Calling register_hooks on a saved tensor whose hooks "
                                           "have already been set"):
        saved.register_hooks(lambda t: t.item(), torch.tensor)
    saved = leaf(3.0).exp().grad_fn._raw_saved_result
    saved.register_hooks(lambda t: None, lambda nothing: torch.tensor(1.0))
    with pytest.raises(RuntimeError, match="have already been set"):
        saved.register_hooks(lambda t: None, lambda nothing: torch.tensor(1.0))


@pytest.mark.hole("06.3")
def test_no_hooks_for_what_was_freed():
    saved = SavedTensor(torch.ones(2))
    saved.release()
    with pytest.raises(RuntimeError, match="Calling register_hooks on a saved tensor after it has "
                                           "been freed"):
        saved.register_hooks(lambda t: t, lambda t: t)


@pytest.mark.hole("06.3")
def test_hooks_have_to_be_callable():
    saved = leaf(3.0).exp().grad_fn._raw_saved_result
    for pair in ((1, lambda t: t), (lambda t: t, None)):
        with pytest.raises(TypeError, match="pack_hook and unpack_hook must be callable"):
            saved.register_hooks(*pair)


@pytest.mark.hole("06.3")
def test_a_pack_hook_may_not_write():
    saved = leaf(3.0).exp().grad_fn._raw_saved_result
    with pytest.raises(RuntimeError, match="A saved tensor pack hook is modifying its input"):
        saved.register_hooks(increment_version, lambda t: t)


@pytest.mark.hole("06.3")
def test_a_pack_hook_gets_a_tensor_that_shares_the_version():
    y, seen = torch.ones(2), []
    increment_version(y)
    increment_version(y)
    SavedTensor(y).register_hooks(lambda t: seen.append(t), torch.tensor)
    assert type(seen[0]) is torch.Tensor, f"expected a Tensor, got {type(seen[0]).__name__}"
    assert seen[0] is not y
    assert seen[0].tolist() == [1.0, 1.0]
    assert seen[0]._version == 2, f"expected the version of y, 2, got {seen[0]._version}"


@pytest.mark.hole("06.3")
def test_unpacked_gives_an_array():
    saved = SavedTensor(leaf([1.0, 2.0]))
    saved.register_hooks(lambda t: t.tolist(), torch.tensor)
    found = saved.unpacked()
    assert isinstance(found, np.ndarray), f"expected an array, got {type(found).__name__}"
    assert found.tolist() == [1.0, 2.0]


@pytest.mark.hole("06.3")
@pytest.mark.parametrize("given", [2.0, None, "text", [1.0]])
def test_an_unpack_hook_has_to_give_a_tensor(given):
    y = leaf(3.0).exp()
    y.grad_fn._raw_saved_result.register_hooks(lambda t: t.item(), lambda number: given)
    told = f"unpack_hook expected to be a Tensor but got result of type {type(given).__name__}"
    with pytest.raises(TypeError, match=f"Output of saved tensor {told}"):
        y.backward()


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
def test_views_and_base_share_one_version():
    x = torch.zeros(2, 3)
    row, column = x[0], x.t()[1]
    increment_version(column)
    versions = [t._version for t in (x, row, column, x[1])]
    assert versions == [1, 1, 1, 1], f"expected one write seen by all, got {versions}"
    assert row._view.version == 0
    assert x[0]._view.version == 1, "the view was made at version 1"


@pytest.mark.hole("06.4")
def test_how_a_view_was_made():
    x = torch.zeros(2, 3)
    assert x[0]._view.creation == DEFAULT
    assert [v._view.creation for v in x.unbind()] == [MULTI_OUTPUT] * 2
    with torch.no_grad():
        quiet = x[0]
    assert quiet._view.creation == NO_GRAD
    with torch.inference_mode():
        assert x[0]._view.creation == INFERENCE_MODE


@pytest.mark.hole("06.4")
def test_a_view_of_a_doubtful_view_is_doubtful():
    x = torch.zeros(2, 3)
    with torch.no_grad():
        quiet = x[0]
    assert quiet[1:]._view.creation == NO_GRAD, "how the first view was made is forgotten"
    assert x.unbind()[0][1:]._view.creation == MULTI_OUTPUT
    row = x[0]
    with torch.no_grad():
        assert x.unbind()[0]._view.creation == NO_GRAD
        assert row[1:]._view.creation == NO_GRAD, "a harmless view makes all views of it harmless"
    part = x.unbind()[0]
    with torch.no_grad():
        assert part[1:]._view.creation == NO_GRAD, "how the new view is made comes first"
    assert x._version == 0, "making a view is no write"


@pytest.mark.hole("06.4")
def test_a_view_of_an_inference_tensor_is_one():
    with torch.inference_mode():
        x = torch.zeros(2, 3)
    row = x[0]
    assert row.is_inference()
    assert not row._is_view()


# --- 06.5 What may be written to -----------------------------------------------------------------


@pytest.mark.hole("06.5")
def test_plain_tensors_may_be_written_to():
    x = torch.zeros(2, 3)
    x.add_(1)
    x[0].mul_(5)
    x.t()[2] = 7.0
    assert x.tolist() == [[5.0, 5.0, 7.0], [1.0, 1.0, 7.0]]
    assert x._version == 3


@pytest.mark.hole("06.5")
def test_a_leaf_that_requires_grad_is_refused_unless_nothing_is_recorded():
    x = leaf([1.0, 2.0])
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an "
                                           "in-place operation"):
        x.add_(1)
    assert x.tolist() == [1.0, 2.0]
    with torch.no_grad():
        x.add_(1)
    assert x.tolist() == [2.0, 3.0]


@pytest.mark.hole("06.5")
def test_a_view_of_such_a_leaf_is_refused():
    x = leaf([1.0, 2.0])
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad is being "
                                           "used in an in-place operation"):
        x[0].mul_(3)
    with torch.no_grad():
        x[0].mul_(3)
    assert x.tolist() == [3.0, 2.0]


@pytest.mark.hole("06.5")
def test_a_view_of_a_tensor_with_history_may_be_written_to():
    y = leaf([1.0, 2.0]) * 1
    assert check_inplace(y, True) is None
    assert check_inplace(y[0], True) is None


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


@pytest.mark.hole("06.5")
@pytest.mark.parametrize("grad", [True, False])
def test_elements_at_one_place_in_memory_are_refused(grad):
    wide = torch.ones(2, 1).expand(2, 3)
    with torch.set_grad_enabled(grad), pytest.raises(
            RuntimeError, match="more than one element of the written-to tensor refers to a single "
                                "memory location"):
        wide.add_(torch.ones(2, 3))
    narrow = torch.ones(3, 1).expand(3, 2)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        check_inplace(narrow, grad)
    assert check_inplace(wide, False, alike=True) is None, "one value for all does no harm"
    assert check_inplace(torch.ones(1).expand(1, 1), True) is None
    assert check_inplace(torch.ones(0, 1).expand(0, 3), True) is None
    assert check_inplace(torch.ones(3).as_strided((1, 3), (0, 1)), True) is None


@pytest.mark.hole("06.5")
def test_an_inference_tensor_is_refused_outside_inference_mode():
    with torch.inference_mode():
        x = torch.ones(2)
        x.add_(1)
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside "
                                           "InferenceMode is not allowed"):
        x.add_(1)
    assert x.tolist() == [2.0, 2.0]


# --- 06.6 The gradient of a write through a view -------------------------------------------------


def through(base, view, result, *grads, position=0):
    """Return the gradients that a write of `result` through a view gives for `grads`.

    `result` is made from a leaf that stands for what the view held before.
    """
    node = CopySlices(base, base._edge(), view, result.grad_fn, position)
    with torch.no_grad():  # as in a backward pass
        return list(node.apply_tensors(grads))


@pytest.mark.hole("06.6")
def test_the_covered_part_goes_through_the_write_and_the_rest_passes():
    base = leaf([1.0, 2.0, 3.0]) * 1
    view, before = base[1:], leaf([2.0, 3.0])
    given = torch.tensor([1.0, 2.0, 3.0])
    result = through(base, view, before * 10, given)[0]
    assert result.tolist() == [1.0, 20.0, 30.0], f"expected [1, 20, 30], got {result.tolist()}"
    assert given.tolist() == [1.0, 2.0, 3.0], "the gradient that came in was written to"


@pytest.mark.hole("06.6")
def test_what_is_overwritten_gets_no_gradient():
    base, source = leaf([1.0, 2.0, 3.0]) * 1, leaf([7.0, 8.0])
    view = base[1:]
    given = torch.tensor([1.0, 10.0, 100.0])
    by_base, by_source = through(base, view, view.detach() * source, given)
    assert by_base.tolist() == [1.0, 0.0, 0.0], f"expected [1, 0, 0], got {by_base.tolist()}"
    assert by_source.tolist() == [20.0, 300.0]


@pytest.mark.hole("06.6")
def test_what_the_write_gives_others_is_not_written_to():
    base, source = leaf([1.0, 2.0, 3.0]) * 1, leaf([7.0, 8.0])
    view = base[1:]  # the node of an addition gives on the very gradient that it gets
    given = torch.tensor([1.0, 10.0, 100.0])
    by_base, by_source = through(base, view, view.detach() + source, given)
    assert by_base.tolist() == [1.0, 0.0, 0.0], f"expected [1, 0, 0], got {by_base.tolist()}"
    assert by_source.tolist() == [10.0, 100.0], f"expected [10, 100], got {by_source.tolist()}"


@pytest.mark.hole("06.6")
def test_a_base_without_history_gets_none():
    base, source = torch.tensor([1.0, 2.0, 3.0]), leaf([7.0, 8.0])
    view = base[1:]
    by_base, by_source = through(base, view, view * source, torch.tensor([1.0, 10.0, 100.0]))
    assert by_base is None, f"expected None, got {by_base}"
    assert by_source.tolist() == [20.0, 300.0]


@pytest.mark.hole("06.6")
def test_the_tensor_written_to_may_be_any_input():
    base, source = leaf([1.0, 2.0, 3.0]) * 1, leaf([7.0, 8.0])
    view, before = base[1:], leaf([2.0, 3.0])
    given = torch.tensor([1.0, 10.0, 100.0])
    by_source, by_base = through(base, view, source * before, given, position=1)
    assert by_source.tolist() == [20.0, 300.0]
    assert by_base.tolist() == [1.0, 70.0, 800.0]


@pytest.mark.hole("06.6")
def test_no_gradient_gives_none():
    base = leaf([1.0, 2.0, 3.0]) * 1
    view, before = base[1:], leaf([2.0, 3.0])
    results = through(base, view, before * leaf([7.0, 8.0]), None)
    assert results == [None, None], f"expected two times None, got {results}"


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
def test_a_base_that_begins_inside_its_memory():
    base = torch.tensor([0.0, 0.0, 1.0, 2.0, 3.0])[2:].data.requires_grad_()
    assert base.storage_offset() == 2
    view, before = base[1:], leaf([2.0, 3.0])
    result = through(base, view, before * 10, torch.ones(3))[0]
    assert result.tolist() == [1.0, 10.0, 10.0], f"got {result.tolist()}"


# --- 06.7 History after a write ------------------------------------------------------------------


@pytest.mark.hole("06.7")
def test_a_write_becomes_the_history():
    x = leaf([1.0, 2.0])
    y = x * 2
    before = y.grad_fn
    y.mul_(torch.tensor([10.0, 100.0]))
    assert y.grad_fn is not before
    assert y.grad_fn.next_functions[0][0] is before
    y.backward(torch.ones(2))
    assert x.grad.tolist() == [20.0, 200.0], f"expected 2 * [10, 100], got {x.grad.tolist()}"


@pytest.mark.hole("06.7")
def test_any_output_and_any_input_of_the_write():
    y, source = leaf([1.0, 2.0]) * 2, leaf([7.0, 8.0])
    node = (y * 3).grad_fn
    rebase_history(y, node, 1)
    assert y.grad_fn is node
    assert y.output_nr == 1, f"expected output 1, got {y.output_nr}"
    base = leaf([1.0, 2.0, 3.0]) * 2
    before, view = base.grad_fn, base[1:]
    rebase_history(view, (source * view.detach()).grad_fn, 0, 1)
    nodes = [edge[0] for edge in base.grad_fn.next_functions]
    assert nodes[1] is before, "the base's earlier history belongs at `position`"
    assert nodes[0] is source._edge()[0]


@pytest.mark.hole("06.7")
def test_a_tensor_without_history_gets_one():
    x, y = leaf([1.0, 2.0]), torch.ones(2)
    y.mul_(x)
    assert y.requires_grad
    (y * 5).backward(torch.ones(2))
    assert x.grad.tolist() == [5.0, 5.0]


@pytest.mark.hole("06.7")
def test_a_write_through_a_view_is_part_of_the_base():
    x = leaf([1.0, 2.0, 3.0])
    y = x * 2
    y[1:].mul_(10)
    assert y.tolist() == [2.0, 40.0, 60.0]
    y.backward(torch.ones(3))
    assert x.grad.tolist() == [2.0, 20.0, 20.0], f"expected [2, 20, 20], got {x.grad.tolist()}"


@pytest.mark.hole("06.7")
def test_a_base_without_history_gets_one_from_a_write_through_a_view():
    x, y = leaf([1.0, 2.0]), torch.ones(3)
    y[1:].mul_(x)
    assert y.requires_grad
    assert type(y.grad_fn).__name__ == "CopySlices"
    y.backward(torch.tensor([1.0, 10.0, 100.0]))
    assert x.grad.tolist() == [10.0, 100.0]


@pytest.mark.hole("06.7")
def test_the_view_that_was_written_through_has_the_new_history():
    x = leaf([1.0, 2.0, 3.0])
    y = x * 2
    view = y[1:]
    view.mul_(10)
    assert view.requires_grad
    assert view.grad_fn.next_functions[0][0] is y.grad_fn, "expected a view of the new base"
    view.backward(torch.ones(2))
    assert x.grad.tolist() == [0.0, 20.0, 20.0], f"expected [0, 20, 20], got {x.grad.tolist()}"


@pytest.mark.hole("06.7")
def test_older_views_see_a_write_to_the_base():
    x = leaf([1.0, 2.0, 3.0])
    y = x * 2
    view = y[1:]
    old = view.grad_fn
    y.mul_(10)
    assert view.grad_fn is not old, "the view still has the history from before the write"
    assert view.grad_fn is view.grad_fn, "the node is made anew each time it is asked for"
    view.backward(torch.ones(2))
    assert x.grad.tolist() == [0.0, 20.0, 20.0], f"expected [0, 20, 20], got {x.grad.tolist()}"


@pytest.mark.hole("06.7")
def test_a_view_without_a_write_keeps_its_node():
    y = leaf([1.0, 2.0, 3.0]) * 2
    view = y[1:]
    assert view.grad_fn is view.grad_fn
    assert type(view.grad_fn).__name__ != "AsStridedBackward"


@pytest.mark.hole("06.7")
def test_one_view_sees_what_was_written_through_another():
    x = leaf([1.0, 2.0, 3.0])
    y = x * 2
    first, last = y[:2], y[1:]
    first.mul_(10)
    assert last.tolist() == [40.0, 6.0]
    last.backward(torch.ones(2))
    assert x.grad.tolist() == [0.0, 20.0, 2.0], f"expected [0, 20, 2], got {x.grad.tolist()}"


@pytest.mark.hole("06.7")
def test_a_view_of_a_base_that_requires_grad_only_since_the_write():
    x, y = leaf([1.0, 2.0]), torch.ones(3)
    view = y[:2]
    assert view.grad_fn is None
    y[1:].mul_(x)
    assert view.requires_grad
    view.backward(torch.ones(2))
    assert x.grad.tolist() == [1.0, 0.0], f"expected [1, 0], got {x.grad.tolist()}"


@pytest.mark.hole("06.7")
def test_writes_one_after_the_other():
    x = leaf([1.0, 2.0, 3.0])
    y = x * 1
    y[0].mul_(10)
    y[0].mul_(10)
    y.mul_(2)
    y[1].add_(y[0])
    y.backward(torch.ones(3))  # of [200 a, 2 b + 200 a, 2 c]
    assert x.grad.tolist() == [400.0, 2.0, 2.0], f"expected [400, 2, 2], got {x.grad.tolist()}"


@pytest.mark.hole("06.7")
def test_a_write_that_is_not_recorded_leaves_the_history():
    x = leaf([1.0, 2.0])
    y = x * 3
    node = y.grad_fn
    view = y[1:]
    with torch.no_grad():
        y.mul_(100)
        assert view.grad_fn is not None
        assert not torch.is_grad_enabled(), "asking a view for its node switched recording on"
    assert y.grad_fn is node
    (y * 1).backward(torch.ones(2), retain_graph=True)
    view.backward(torch.ones(1))
    assert x.grad.tolist() == [3.0, 6.0], f"expected [3, 6], got {x.grad.tolist()}"


@pytest.mark.hole("06.7")
def test_a_view_made_under_no_grad_gets_no_history_from_later_writes():
    y = leaf([1.0, 2.0]) * 3
    with torch.no_grad():
        quiet = y[1:]
    y.mul_(2)
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode and its base or "
                                           "another view of its base has been modified inplace"):
        _ = quiet.grad_fn


@pytest.mark.hole("06.7")
def test_retain_grad_follows_a_tensor_to_its_new_node():
    x = leaf([1.0, 2.0])
    y = x * 3
    y.retain_grad()
    y.mul_(2)
    (y * 5).backward(torch.ones(2))
    assert y.grad.tolist() == [5.0, 5.0], f"expected the gradient of the new value, got {y.grad}"
    base = leaf([1.0, 2.0]) * 3
    base.retain_grad()
    base[0].mul_(2)
    (base * 5).backward(torch.ones(2))
    assert base.grad.tolist() == [5.0, 5.0]


@pytest.mark.hole("06.7")
def test_retain_grad_follows_a_view_too():
    y = leaf([1.0, 2.0, 3.0]) * 2
    view = y[1:]
    view.retain_grad()
    y.mul_(10)
    (view * 5).backward(torch.ones(2))
    assert view.grad is not None, "retain_grad stayed with the view's old node"
    assert view.grad.tolist() == [5.0, 5.0]


@pytest.mark.hole("06.7")
def test_a_saved_output_that_is_a_view():
    x = leaf([0.0, 1.0])
    y = x * 1
    y[1:].exp_()
    y.backward(torch.ones(2))
    np.testing.assert_allclose(x.grad.tolist(), [1.0, np.e], rtol=1e-6)
