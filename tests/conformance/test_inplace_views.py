"""Writes in place and views: whose history changes, what is refused, what is noticed."""

from __future__ import annotations

import pytest


def test_a_write_becomes_the_history(leaf):
    x = leaf(2.0)
    y = x * 3
    y.mul_(4)
    y.backward()
    assert (type(y.grad_fn).__name__, x.grad.tolist()) == ("MulBackward0", 12.0)


def test_a_plain_tensor_takes_part_once_it_is_written_to(torch, leaf):
    x, total = leaf(2.0), torch.zeros((), dtype=torch.float64)
    total += x * 3
    total.backward()
    assert (total.requires_grad, x.grad.tolist()) == (True, 3.0)


def test_a_leaf_that_requires_grad_cannot_be_written_to(torch, leaf):
    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used"):
        x += 1
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        x[0] = 1
    with torch.no_grad():
        x += 1
    assert (x.tolist(), x.grad_fn) == ([2.0, 3.0], None)


def test_an_overwritten_input_is_noticed(leaf):
    x = leaf(2.0) * 1
    y = x * x
    x += 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation.*version 1; expected"):
        y.backward()


def test_an_overwritten_result_is_noticed(leaf):
    y = leaf(2.0).exp()
    y += 1
    with pytest.raises(RuntimeError, match="output 0 of .*Backward0?, is at version 1|version 1"):
        y.backward()


def test_what_backward_does_not_need_may_be_overwritten(leaf):
    x = leaf(2.0)
    y = x * 1
    z = y + 1
    y += 5
    (z + y).backward()
    assert x.grad.tolist() == 2.0


def test_a_write_through_detach_is_noticed(leaf):
    x = leaf(2.0)
    y = x**2
    x.detach().zero_()
    with pytest.raises(RuntimeError, match="has been modified by an inplace"):
        y.backward()


def test_a_write_through_data_is_not(leaf):
    x = leaf(2.0)
    y = x**2
    x.data.zero_()
    y.backward()
    assert x.grad.tolist() == 0.0


def test_versions_count_writes(torch):
    x = torch.zeros(3)
    assert x._version == 0
    x += 1
    x[0] = 2
    assert (x._version, x[1:]._version, x.detach()._version, x.data._version) == (2, 2, 2, 0)
    x.detach().zero_()
    assert x._version == 3


def test_a_view_knows_its_base(torch):
    base = torch.zeros(2, 3)
    view = base[0].view(3, 1)
    assert view._base is base
    assert (view._is_view(), base._is_view(), base._base) == (True, False, None)


def test_a_copy_is_no_view(torch):
    assert not torch.zeros(2, 3).clone()._is_view()


def test_a_write_through_a_view_reaches_the_base(torch, leaf):
    x = leaf(1.0, 2.0, 3.0)
    y = x * 1
    y[1:].mul_(10)
    y.sum().backward()
    assert type(y.grad_fn).__name__ == "CopySlices"
    assert x.grad.tolist() == [1.0, 10.0, 10.0]


def test_a_write_to_the_base_reaches_the_view(leaf):
    x = leaf(1.0, 2.0, 3.0)
    y = x * 1
    view = y[1:]
    y.mul_(10)
    view.sum().backward()
    assert x.grad.tolist() == [0.0, 10.0, 10.0]


def test_a_write_through_one_view_reaches_another(leaf):
    x = leaf(1.0, 2.0, 3.0)
    y = x * 1
    front, back = y[:2], y[1:]
    front.mul_(10)
    back.sum().backward()
    assert x.grad.tolist() == [0.0, 10.0, 1.0]


def test_a_write_through_a_view_of_a_view(leaf):
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    y = x * 1
    y[0][1:].mul_(10)
    y.sum().backward()
    assert x.grad.tolist() == [[1.0, 10.0], [1.0, 1.0]]


def test_two_writes_through_two_views(leaf):
    x = leaf(1.0, 2.0)
    y = x * 1
    y[:1].mul_(3)
    y[:].mul_(10)
    y.sum().backward()
    assert x.grad.tolist() == [30.0, 10.0]


def test_a_part_written_over_loses_its_gradient(torch, leaf):
    x, v = leaf(1.0, 2.0), leaf(7.0)
    y = x * 1
    y[0] = v * 2
    y.sum().backward()
    assert (x.grad.tolist(), v.grad.tolist()) == ([0.0, 1.0], 2.0)


def test_parts_of_a_plain_tensor_are_written(torch, leaf):
    v = leaf(1.0, 2.0)
    y = torch.zeros(2, 2, dtype=torch.float64)
    y[0] = v
    y[1] = v * 10
    y.sum().backward()
    assert v.grad.tolist() == [11.0, 11.0]


def test_a_write_of_many_places(torch, leaf):
    v = leaf(1.0, 2.0)
    y = torch.zeros(4, dtype=torch.float64)
    y[torch.tensor([3, 0])] = v
    (y * torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=torch.float64)).sum().backward()
    assert v.grad.tolist() == [4.0, 1.0]


def test_a_write_through_a_mask(torch, leaf):
    x = leaf(1.0, -2.0)
    y = x * 1
    y[y < 0] = 0.0
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 0.0]


def test_a_base_that_starts_without_history_gets_one_through_its_view(torch, leaf):
    v, base = leaf(2.0), torch.zeros(3, dtype=torch.float64)
    view = base[1:]
    view.copy_(v * 3)
    assert base.requires_grad
    base.sum().backward()
    assert v.grad.tolist() == 6.0


def test_a_view_made_without_grad_cannot_be_written_to(torch, leaf):
    y = leaf(1.0, 2.0) * 1
    with torch.no_grad():
        view = y[:1]
    with pytest.raises(RuntimeError, match="view was created in no_grad mode and is being modifie"):
        view += 1


def test_a_view_made_without_grad_cannot_follow_its_base(torch, leaf):
    y = leaf(1.0, 2.0) * 1
    with torch.no_grad():
        view = y[:1]
    y += 1
    with pytest.raises(RuntimeError, match="its base or another view of its base has been modifie"):
        view.grad_fn  # reading it is what raises


@pytest.mark.parametrize("split", [
    lambda t: t.unbind(0), lambda t: t.split(1), lambda t: t.chunk(2),
    lambda t: t.split_with_sizes([1, 1])])
def test_one_of_many_views_cannot_be_written_to(leaf, split):
    parts = split(leaf(1.0, 2.0) * 1)
    with pytest.raises(RuntimeError, match="output of a function that returns multiple views"):
        parts[0].mul_(2)


@pytest.mark.parametrize("split", ["unsafe_split", "unsafe_chunk"])
def test_the_unsafe_splits_allow_it(leaf, split):
    parts = getattr(leaf(1.0, 2.0) * 1, split)(2 if split == "unsafe_chunk" else 1)
    parts[0].mul_(2)
    parts[0].sum().backward()


def test_an_expanded_tensor_cannot_be_written_to(torch):
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        torch.zeros(1).expand(3).add_(1)


def test_detach_in_place_of_a_view_is_refused(leaf):
    with pytest.raises(RuntimeError, match="Can't detach views in-place"):
        (leaf(1.0, 2.0) * 1)[:1].detach_()


def test_detach_in_place_leaves_views_attached(leaf):
    y = leaf(1.0, 2.0) * 1
    view = y[:1]
    y.detach_()
    assert (y.requires_grad, y.grad_fn, view.requires_grad) == (False, None, True)


def test_views_that_change_their_own_shape(leaf):
    x = leaf([[1.0, 2.0]])
    y = x * 1
    y.t_().squeeze_(1).unsqueeze_(0)
    (y[0, 1] * 5).backward()
    assert x.grad.tolist() == [[0.0, 5.0]]


@pytest.mark.parametrize("name", ["transpose_", "swapaxes_", "swapdims_"])
def test_dimensions_are_swapped_in_place(leaf, name):
    y = leaf([[1.0, 2.0, 3.0]]) * 1
    assert tuple(getattr(y, name)(0, 1).shape) == (3, 1)
    assert y._version == 0 or y._version == 1


def test_as_strided_in_place(leaf):
    x = leaf(1.0, 2.0, 3.0, 4.0)
    y = x * 1
    y.as_strided_((2,), (2,), 1)
    y.sum().backward()
    assert x.grad.tolist() == [0.0, 1.0, 0.0, 1.0]


def test_a_relu_in_place_keeps_its_result(leaf):
    x = leaf(-1.0, 2.0)
    y = x * 1
    y.relu_()
    y.sum().backward()
    assert x.grad.tolist() == [0.0, 1.0]


def test_writing_under_no_grad_keeps_the_history(torch, leaf):
    x = leaf(2.0)
    y = x * 3
    node = y.grad_fn
    with torch.no_grad():
        y.mul_(100)
    assert y.grad_fn is node
    y.backward()
    assert x.grad.tolist() == 3.0


def test_a_leaf_view_made_without_grad_may_be_written_to_without_it(torch, leaf):
    x = leaf(1.0, 2.0)
    with torch.no_grad():
        x[0] = 5.0
    assert (x.tolist(), x.is_leaf, x.requires_grad) == ([5.0, 2.0], True, True)


def test_copying_from_another_dtype(torch, leaf):
    x = leaf(1.0, 2.0)
    y = torch.zeros(2, dtype=torch.float32)
    y.copy_(x)
    y.sum().backward()
    assert x.grad.dtype == torch.float64


def test_a_tensor_written_to_itself(leaf):
    x = leaf(3.0)
    y = x * 1
    y.add_(y)
    y.backward()
    assert x.grad.tolist() == 2.0


def test_data_may_be_exchanged(torch, leaf):
    x = leaf(1.0, 2.0)
    x.data = torch.zeros(3, dtype=torch.float64)
    x.sum().backward()
    assert (tuple(x.shape), tuple(x.grad.shape)) == ((3,), (3,))


def test_data_has_to_be_a_tensor(leaf):
    with pytest.raises(TypeError, match="Variable data has to be a tensor"):
        leaf(1.0).data = 3


def test_set_changes_memory_and_shape(torch):
    weight = torch.nn.Parameter(torch.ones(4))
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        weight.set_(weight[1:])
    with torch.no_grad():
        weight.set_(weight[1:])
    (weight * 2).sum().backward()
    assert weight.grad.tolist() == [2.0, 2.0, 2.0]


def test_out_arguments_are_not_recorded(torch, leaf):
    x, out = leaf(1.0, 2.0), torch.zeros(2, dtype=torch.float64)
    with pytest.raises(RuntimeError, match="out=... arguments don't support automatic differentia"):
        torch.mul(x, x, out=out)
    with torch.no_grad():
        assert torch.mul(x, x, out=out) is out
    assert out.tolist() == [1.0, 4.0]


def test_the_gradient_of_an_overlapping_view(torch, leaf):
    x = leaf(1.0, 2.0, 3.0)
    x.as_strided((2, 2), (1, 1)).sum().backward()
    assert x.grad.tolist() == [1.0, 2.0, 1.0]


def test_the_gradient_of_an_expanded_view(leaf):
    x = leaf([1.0])
    x.expand(4).sum().backward()
    assert x.grad.tolist() == [4.0]


def test_view_as_of_a_leaf_cannot_be_written_to(torch, leaf):
    x = leaf([1.0])
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad is being"):
        x.view_as(x).add_(1)


def test_requires_grad_comes_through_a_base_written_to(torch, leaf):
    base = torch.zeros(2, dtype=torch.float64)
    view = base[:1]
    base.mul_(leaf(1.0))
    assert view.requires_grad
    assert view.grad_fn is not None
