"""Saved tensors and views below the taught code: what its helpers do with corner cases."""

import gc
import weakref
from types import SimpleNamespace

import pytest

import minigrad as torch
from minigrad.graph.copy_slices import CopySlices
from minigrad.graph.saved_tensor import SavedTensor
from minigrad.tensor.creation_meta import DEFAULT, INFERENCE_MODE, MULTI_OUTPUT, NO_GRAD
from minigrad.tensor.views import ViewInfo, check_inplace, mark_view


@pytest.fixture(autouse=True)
def collected():
    yield
    gc.enable()


def leaf(value):
    return torch.tensor(value, requires_grad=True)


def twice(t):
    return torch.tensor((t * 2).tolist())


def through(base, view, result, *grads, position=0):
    """Return the gradients that a write of `result` through a view gives for `grads`."""
    node = CopySlices(base, base._edge(), view, result.grad_fn, position)
    with torch.no_grad():  # as in a backward pass
        return list(node.apply_tensors(grads))


def test_a_place_in_the_graph_comes_before_the_node_that_saved():
    y, user = leaf([1.0, 2.0]) * 3, (leaf(1.0) * 2).grad_fn
    saved = SavedTensor(y)
    saved.origin = y.grad_fn
    assert saved.rebuild(y._array, user)._node is y.grad_fn


def test_a_leaf_without_a_place_gets_no_node():
    x, user = torch.ones(2), (leaf(1.0) * 2).grad_fn
    found = SavedTensor(x).rebuild(x._array, user)
    assert found._node is None and not found.requires_grad


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


def test_an_output_whose_view_is_gone_has_the_node_that_saved_it():
    gc.disable()
    y = leaf([1.0, 2.0]) * 1
    y._view = SimpleNamespace(current_node=lambda view: view._node)  # stands for a view
    user = (leaf([1.0, 2.0]) * 2).grad_fn
    saved = SavedTensor(y, is_output=True)
    del y
    found = saved.unpack(user)
    assert found._node is user, f"expected the node that saved it, got {found._node}"


def test_what_requires_no_grad_has_no_place():
    saved = SavedTensor(torch.ones(2))
    saved.register_hooks(twice, twice)
    assert saved.origin is None, f"expected None, got {saved.origin}"


def test_the_hook_is_shown_what_was_handed_over():
    x, seen = leaf([1.0, 2.0]), []
    SavedTensor(x).register_hooks(seen.append, twice, x)
    assert len(seen) == 1 and seen[0] is x


def creation(base, *, multiple=False, given=None):
    """Return the creation that `mark_view` records for a view of `base`."""
    view = torch.zeros(3)
    mark_view(view, base, multiple=multiple, creation=given)
    assert isinstance(view._view, ViewInfo), f"expected a ViewInfo, got {view._view}"
    return view._view.creation


def test_a_plain_view():
    assert creation(torch.zeros(2, 3)) == DEFAULT


def test_one_of_several_views():
    x = torch.zeros(2, 3)
    assert creation(x, multiple=True) == MULTI_OUTPUT
    assert [v._view.creation for v in x.unbind()] == [MULTI_OUTPUT] * 2


@pytest.mark.parametrize("multiple", [False, True], ids=["a single one", "one of several"])
def test_a_view_where_nothing_is_recorded(multiple):
    with torch.no_grad():
        assert creation(torch.zeros(2, 3), multiple=multiple) == NO_GRAD


@pytest.mark.parametrize("recorded", [False, True], ids=["off", "on"])
def test_a_view_made_in_inference_mode(recorded):
    x = torch.zeros(2, 3)
    with torch.inference_mode(), torch.set_grad_enabled(recorded):
        assert creation(x) == INFERENCE_MODE


@pytest.mark.parametrize("given", [DEFAULT, MULTI_OUTPUT], ids=["DEFAULT", "MULTI_OUTPUT"])
def test_a_creation_that_is_given(given):
    with torch.no_grad():
        assert creation(torch.zeros(2, 3), given=given) == given


def test_a_view_of_an_inference_tensor_is_one():
    with torch.inference_mode():
        x = torch.zeros(2, 3)
    row = x[0]
    assert row.is_inference(), "its counter is to be INFERENCE"
    assert not row._is_view()


@pytest.mark.parametrize("recorded", [True, False], ids=["recorded", "not recorded"])
@pytest.mark.parametrize("shape", [(2, 3), (3, 2)], ids=["3", "2"])
def test_elements_at_one_place_in_memory_are_refused(shape, recorded):
    wide = torch.ones(shape[0], 1).expand(*shape)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor refers "
                                           "to a single memory location"):
        check_inplace(wide, recorded)


def test_one_value_for_all_does_no_harm():
    assert check_inplace(torch.ones(2, 1).expand(2, 3), False, alike=True) is None


@pytest.mark.parametrize("kind", ["one element alone", "no element", "a dimension of size one"])
def test_a_stride_of_zero_that_does_no_harm(kind):
    x = {"one element alone": torch.ones(1).expand(1, 1),
         "no element": torch.ones(0, 1).expand(0, 3),
         "a dimension of size one": torch.ones(3).as_strided((1, 3), (0, 1))}[kind]
    assert check_inplace(x, True) is None


@pytest.mark.parametrize("recorded", [True, False], ids=["recorded", "not recorded"])
def test_an_inference_tensor_is_refused_outside_inference_mode(recorded):
    with torch.inference_mode():
        x = torch.ones(2)
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside "
                                           "InferenceMode is not allowed"):
        check_inplace(x, recorded)


def test_an_inference_tensor_may_be_written_to_in_inference_mode():
    with torch.inference_mode():
        x = torch.ones(2)
        assert check_inplace(x, False) is None
        x.add_(1)
    assert x.tolist() == [2.0, 2.0]


@pytest.mark.parametrize("kind", ["a leaf", "a view of it"])
def test_a_leaf_may_be_written_to_where_nothing_is_recorded(kind):
    x = leaf([1.0, 2.0])
    assert check_inplace(x if kind == "a leaf" else x[0], False) is None


@pytest.mark.parametrize("inputs", [1, 2])
def test_no_gradient_gives_none_for_each_edge(inputs):
    base = leaf([1.0, 2.0, 3.0]) * 1
    before = leaf([2.0, 3.0])
    results = through(base, base[1:], before.exp() if inputs == 1 else before * leaf([7.0, 8.0]),
                      None)
    assert results == [None] * inputs, f"expected {inputs} times None, got {results}"


def test_a_base_without_history_gets_none():
    base, source = torch.tensor([1.0, 2.0, 3.0]), leaf([7.0, 8.0])
    view = base[1:]
    by_base, by_source = through(base, view, view * source, torch.tensor([1.0, 10.0, 100.0]))
    assert by_base is None, f"expected None, got {by_base}"
    assert by_source.tolist() == [20.0, 300.0]


def test_a_base_without_history_at_another_position():
    base, source = torch.tensor([1.0, 2.0, 3.0]), leaf([7.0, 8.0])
    by_source, by_base = through(base, base[1:], source * leaf([2.0, 3.0]),
                                 torch.tensor([1.0, 10.0, 100.0]), position=1)
    assert by_base is None, f"expected None for the base, got {by_base}"
    assert by_source.tolist() == [20.0, 300.0]


def test_a_base_with_strides_of_its_own():
    columns = torch.tensor([[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]])
    base = columns.t().data.requires_grad_()  # two rows of three, column by column
    assert base.stride() == (1, 2)
    with torch.no_grad():
        view = base[1]
    result = through(base, view, leaf([4.0, 5.0, 6.0]) * 10,
                     torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))[0]
    expected = [[1.0, 2.0, 3.0], [40.0, 50.0, 60.0]]
    assert result.tolist() == expected, f"expected {expected}, got {result.tolist()}"


def test_a_base_that_begins_inside_its_memory():
    base = torch.tensor([0.0, 0.0, 1.0, 2.0, 3.0])[2:].data.requires_grad_()
    assert base.storage_offset() == 2
    view, before = base[1:], leaf([2.0, 3.0])
    result = through(base, view, before * 10, torch.ones(3))[0]
    assert result.tolist() == [1.0, 10.0, 10.0], f"got {result.tolist()}"


def stale_view():
    """Return a base that was written to and a view of it from before."""
    base = leaf([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]) * 2
    view = base.t()[1:]
    torch.autograd.graph.increment_version(base)
    return base, view


@pytest.mark.parametrize("on", [True, False], ids=["on", "off"])
def test_making_a_node_anew_keeps_the_mode(on):
    _, view = stale_view()
    with torch.set_grad_enabled(on):
        assert view.grad_fn is not None, "no node was made"
        assert torch.is_grad_enabled() is on, f"recording was {on}"


def test_the_mode_comes_back_where_no_node_can_be_made():
    class Failing:
        def __getattr__(self, name):
            return getattr(base, name)

        def _node_for(self, view):
            raise ValueError("no view")

    base, view = stale_view()
    view._view.base = Failing()
    with torch.no_grad():
        with pytest.raises(ValueError, match="no view"):
            view._view.current_node(view)
        assert not torch.is_grad_enabled(), "recording stays on"


def test_a_base_that_no_longer_requires_grad():
    base, view = stale_view()
    base.detach_()
    assert [edge[0] for edge in view.grad_fn.next_functions] == [None], "the node is to end there"


def test_retain_grad_follows_a_view_to_its_new_node():
    y = leaf([1.0, 2.0, 3.0]) * 2
    view = y[1:]
    view.retain_grad()
    y.mul_(10)
    (view * 5).backward(torch.ones(2))
    assert view.grad is not None and view.grad.tolist() == [5.0, 5.0]
