"""In-place writes to bases and views: values and gradients are those that PyTorch gives.

Each program is run with minigrad, and with PyTorch where that is installed; both have to give
what is written down here, or raise the error whose first words are written down here.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.engines import NAMES


def leaf(torch, *shape):
    """Return 1, 2, 3, ... in a leaf of this shape, and a copy that may be written to."""
    count = 1
    for n in shape:
        count *= n
    x = torch.arange(1.0, count + 1).reshape(shape).clone().requires_grad_()
    return x, x * 1


def grads(result, *leaves):
    """Return the gradients of the sum of `result`."""
    result.sum().backward()
    return [None if x.grad is None else x.grad.tolist() for x in leaves]


def node(tensor):
    """Return the name of a tensor's node, without PyTorch's numbering of overloads."""
    return None if tensor.grad_fn is None else re.sub(r"\d+$", "", type(tensor.grad_fn).__name__)

def write_to_select(torch):
    x, y = leaf(torch, 2, 3)
    y[0].mul_(10)
    return grads(y * y, x)


def write_to_slice(torch):
    x, y = leaf(torch, 5)
    y[1:4].mul_(10)
    return grads(y * y, x)


def write_to_strided_slice(torch):
    x, y = leaf(torch, 6)
    y[1::2].mul_(y[::2])
    return grads(y * y, x)


def write_to_transpose(torch):
    x, y = leaf(torch, 2, 3)
    y.t().mul_(torch.arange(6.0).reshape(3, 2))
    return grads(y * y, x)


def write_to_view_of_view(torch):
    x, y = leaf(torch, 3, 4)
    y[1:].t()[2].mul_(5)
    return grads(y * y, x)


def write_to_diagonal(torch):
    x, y = leaf(torch, 3, 3)
    y.diagonal().copy_(torch.ones(3))
    return grads(y * y, x)


def write_to_unsqueezed(torch):
    x, y = leaf(torch, 3)
    y.unsqueeze(0).unsqueeze(-1).mul_(3)
    return grads(y * y, x)


def write_to_permuted(torch):
    x, y = leaf(torch, 2, 2, 2)
    y.permute(2, 0, 1)[0].mul_(4)
    return grads(y * y, x)


def write_to_reshaped(torch):
    x, y = leaf(torch, 2, 3)
    y.view(-1)[2:4].zero_()
    return grads(y * y, x)


def write_to_as_strided(torch):
    x, y = leaf(torch, 6)
    y.as_strided((2, 2), (3, 1), 1).mul_(7)
    return grads(y * y, x)


def write_to_narrow_of_squeezed(torch):
    x, y = leaf(torch, 1, 4)
    y.squeeze(0).narrow(0, 1, 2).add_(10)
    return grads(y * y, x)


def value_gets_gradient(torch):
    x, y = leaf(torch, 2, 3)
    v = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y[1] = v * 2
    return grads(y * y, x, v)


def broadcast_value_gets_gradient(torch):
    x, y = leaf(torch, 2, 3)
    v = torch.tensor([[3.0]], requires_grad=True)
    y[:, 1:] = v
    return grads(y * y, x, v)


def scalar_value_gets_gradient(torch):
    x, y = leaf(torch, 2, 3)
    v = torch.tensor(2.0, requires_grad=True)
    y[1, 1:] = v
    return grads(y * y, x, v)


def write_to_base_reaches_view(torch):
    x, y = leaf(torch, 2, 3)
    view = y[0]
    y.mul_(2)
    return node(view), grads(view * view, x)


def write_to_one_view_reaches_another(torch):
    x, y = leaf(torch, 4)
    first, second = y[:3], y[1:]
    first.mul_(10)
    return second.tolist(), node(second), grads(second * second, x)


def views_written_in_turn(torch):
    x, y = leaf(torch, 4)
    first, second = y[:3], y[1:]
    first.mul_(second[0].clone())
    second.mul_(first[0].clone())
    return y.tolist(), grads(y, x)


def view_used_before_the_write(torch):
    x, y = leaf(torch, 3)
    view = y[:2]
    before = view * 3
    view.mul_(10)
    return grads(before.sum() + view.sum(), x)


def base_made_differentiable_by_view(torch):
    base = torch.zeros(3)
    v = torch.tensor(2.0, requires_grad=True)
    base[1] = v * v
    return base.requires_grad, node(base), grads(base * base, v)


def sibling_becomes_differentiable(torch):
    base = torch.zeros(3)
    sibling = base[:2]
    v = torch.tensor(2.0, requires_grad=True)
    base[1] = v * v
    return sibling.requires_grad, node(sibling), grads(sibling * sibling, v)


def chain_of_writes(torch):
    x, y = leaf(torch, 3)
    for i in range(3):
        y[i] = y[i - 1] * y[i]
    return y.tolist(), grads(y, x)


def nodes_after_a_write(torch):
    _x, y = leaf(torch, 2, 2)
    view = y[0]
    view.mul_(2)
    return node(y), node(view), view.is_leaf, y.is_leaf


def fill_and_zero(torch):
    x, y = leaf(torch, 4)
    y[0].fill_(5)
    y[1:3].zero_()
    return y.tolist(), grads(y * y, x)


def mask_written(torch):
    x, y = leaf(torch, 2, 3)
    y[y > 3] = 1
    return node(y), y.tolist(), grads(y * y, x)


def mask_of_row_written(torch):
    x, y = leaf(torch, 2, 3)
    v = torch.tensor([7.0, 8.0], requires_grad=True)
    y[0, torch.tensor([True, False, True])] = v
    return node(y), y.tolist(), grads(y * y, x, v)


def integers_written(torch):
    x, y = leaf(torch, 3, 2)
    v = torch.tensor([[5.0, 6.0]], requires_grad=True)
    y[torch.tensor([0, 2])] = v
    return y.tolist(), grads(y * y, x, v)


def index_put_accumulates(torch):
    x, y = leaf(torch, 3)
    v = torch.tensor([1.0, 2.0], requires_grad=True)
    y.index_put_((torch.tensor([1, 1]),), v, accumulate=True)
    return y.tolist(), grads(y * y, x, v)


def index_read_twice(torch):
    x, y = leaf(torch, 3)
    return grads(y[[0, 0, 2]] * torch.tensor([1.0, 10.0, 100.0]), x)


def index_add_in_place_on_view(torch):
    x, y = leaf(torch, 2, 3)
    v = torch.tensor([1.0, 2.0], requires_grad=True)
    y[1].index_add_(0, torch.tensor([2, 2]), v, alpha=3)
    return y.tolist(), grads(y * y, x, v)


def scatter_in_place_on_transpose(torch):
    x, y = leaf(torch, 2, 3)
    v = torch.tensor([[5.0, 6.0]], requires_grad=True)
    y.t().scatter_(0, torch.tensor([[2, 0]]), v)
    return y.tolist(), grads(y * y, x, v)


def write_to_expanded(torch):
    _x, y = leaf(torch, 3)
    y.expand(2, 3).mul_(2)


def write_to_row_of_expanded(torch):
    x, y = leaf(torch, 3)
    y.expand(2, 3)[0].mul_(2)
    return y.tolist(), grads(y, x)


def write_to_piece_of_split(torch):
    _x, y = leaf(torch, 4)
    y.split(2)[0].mul_(2)


def write_to_piece_of_unbind(torch):
    _x, y = leaf(torch, 2, 2)
    y.unbind()[1].mul_(2)


def write_to_view_of_piece_of_chunk(torch):
    _x, y = leaf(torch, 4)
    y.chunk(2)[0][0].mul_(2)


def base_written_after_split(torch):
    _x, y = leaf(torch, 4)
    piece = y.split(2)[0]
    y.mul_(2)
    return (piece * piece).sum()


def split_without_history_may_be_written(torch):
    base = torch.arange(4.0)
    first, second = base.split(2)
    first.mul_(10)
    return base.tolist(), second.requires_grad


def piece_of_unsafe_split_may_be_written(torch):
    x, y = leaf(torch, 4)
    first, second = (y * 1).unsafe_split(2)
    first.mul_(10)
    return first.tolist(), grads(first.sum() + second.sum(), x)


def view_made_without_grad(torch):
    _x, y = leaf(torch, 4)
    with torch.no_grad():
        view = y[:2]
    view.mul_(2)


def view_made_and_written_without_grad(torch):
    x, y = leaf(torch, 4)
    with torch.no_grad():
        y[:2].mul_(10)
    return y.tolist(), node(y), y._version, grads(y * 2, x)


def base_written_after_view_without_grad(torch):
    x, y = leaf(torch, 4)
    with torch.no_grad():
        view = y[:2]
    y.mul_(2)
    return node(view), grads(view, x)


def leaf_written(torch):
    torch.ones(2, requires_grad=True).mul_(2)


def view_of_leaf_written(torch):
    torch.ones(2, requires_grad=True)[0].mul_(2)


def leaf_assigned_through_index(torch):
    torch.ones(2, requires_grad=True)[0] = 1


def leaf_written_by_mask(torch):
    torch.ones(2, requires_grad=True)[torch.tensor([True, False])] = 1


def leaf_written_without_grad(torch):
    x = torch.ones(3, requires_grad=True)
    with torch.no_grad():
        x[1:].mul_(5)
        x[0] = 7
    return x.tolist(), x._version, x.is_leaf, grads(x * x, x)


def detached_shares_the_counter(torch):
    _x, y = leaf(torch, 3)
    other = y.detach()
    square = y * y
    other.mul_(2)
    return y._version, other._version, y.tolist(), square.sum().backward()


def detached_is_no_view(torch):
    x, y = leaf(torch, 3)
    other = y.detach()
    other[0] = 9
    return other._is_view(), node(y), y.tolist(), grads(y, x)


def data_has_its_own_counter(torch):
    x, y = leaf(torch, 3)
    square = y * y
    y.data.mul_(10)
    y.data[0] = 5
    return y._version, y.tolist(), grads(square, x)


def detach_in_place(torch):
    _x, y = leaf(torch, 3)
    y.detach_()
    return y.is_leaf, y.requires_grad, node(y)


def detach_in_place_of_view(torch):
    _x, y = leaf(torch, 3)
    y[0].detach_()


def versions_are_shared(torch):
    _x, y = leaf(torch, 2, 3)
    row, column, turned = y[0], y[:, 0], y.t()
    seen = [y._version]
    row.mul_(2)
    seen.append(turned._version)
    column[0] = 1
    seen.append(row._version)
    y.add_(1)
    return seen, [t._version for t in (y, row, column, turned)]


def saved_then_written_through_view(torch):
    _x, y = leaf(torch, 3)
    square = y * y
    y[0] = 1
    square.sum().backward()


def index_tensor_written_after_use(torch):
    _x, y = leaf(torch, 3)
    index = torch.tensor([0, 1])
    picked = y[index]
    index.add_(1)
    picked.sum().backward()


def retained_grad_of_base(torch):
    x, y = leaf(torch, 3)
    y.retain_grad()
    y[0].mul_(10)
    (y * y).sum().backward()
    return y.grad.tolist(), x.grad.tolist()


def retained_grad_of_view(torch):
    x, y = leaf(torch, 3)
    view = y[:2]
    view.retain_grad()
    view.mul_(10)
    (view * view).sum().backward()
    return view.grad.tolist(), x.grad.tolist()


def retained_grad_of_view_alone(torch):
    x, y = leaf(torch, 3)
    view = y[:2]
    view.retain_grad()
    (y.sum() + (view * view).sum()).backward()
    return view.grad.tolist(), x.grad.tolist()


def hook_on_view(torch):
    x, y = leaf(torch, 3)
    view, seen = y[:2], []
    view.register_hook(lambda g: seen.append(g.tolist()))
    view.mul_(10)
    (view * view).sum().backward()
    return seen, x.grad.tolist()


def bases_are_roots(torch):
    _x, y = leaf(torch, 3, 4)
    view = y[1:].t()[0]
    return view._base is y, y._base is None, view._is_view(), y._is_view()


def transpose_in_place(torch):
    x, y = leaf(torch, 2, 3)
    y.t_()
    y[0].mul_(10)
    return list(y.shape), y.stride(), y._version, grads(y * y, x)


def transpose_in_place_of_view(torch):
    x, y = leaf(torch, 3, 3)
    view = y[:2]
    view.t_()
    view[0].mul_(10)
    return list(view.shape), list(y.shape), grads(view.sum() + y.sum(), x)


def squeeze_and_unsqueeze_in_place(torch):
    x, y = leaf(torch, 1, 3)
    y.squeeze_().unsqueeze_(1).swapaxes_(0, 1)
    return list(y.shape), grads(y * y, x)


def as_strided_in_place(torch):
    x, y = leaf(torch, 6)
    y.as_strided_((2, 2), (1, 2), 1)
    return y.tolist(), grads(y * y, x)


def second_derivative_through_write(torch):
    x, y = leaf(torch, 3)
    y[:2] = y[:2].clone() * y[1:].clone()
    first, = torch.autograd.grad((y * y).sum(), x, create_graph=True)
    second, = torch.autograd.grad(first.sum(), x)
    return first.tolist(), second.tolist()


def overlapping_strides_read(torch):
    x, y = leaf(torch, 4)
    windows = y.as_strided((3, 2), (1, 1))
    return windows.tolist(), grads(windows * windows, x)


def as_strided_of_expanded(torch):
    x, y = leaf(torch, 3)
    return grads(y.expand(2, 3).as_strided((2, 2), (1, 1)), x)


def windows_read(torch):
    x, y = leaf(torch, 5)
    windows = y.unfold(0, 3, 1)
    return windows.tolist(), grads(windows * windows, x)


def custom_write_of_numbers_by_operator(torch):
    x, y = leaf(torch, 2, 2)
    y[0] += 5
    y[:, 1] *= 3
    y[1, 0] -= y[0, 1]
    return y.tolist(), grads(y * y, x)


def ellipsis_and_none_written(torch):
    x, y = leaf(torch, 2, 1, 2)
    y[..., 1] = 0
    y[None, :, 0, 0] = torch.tensor([[8.0, 9.0]])
    return y.tolist(), grads(y * y, x)


def integers_follow_the_dtype(torch):
    base = torch.arange(4)
    base[1:3] = 2.7
    base[torch.tensor([0, 0])] = 9
    return base.tolist(), str(base.dtype)


def shape_mismatch(torch):
    _x, y = leaf(torch, 2, 3)
    y[0] = torch.ones(2)


def index_out_of_bounds(torch):
    _x, y = leaf(torch, 2, 3)
    y[:, 3] = 1


def tensor_index_out_of_bounds(torch):
    _x, y = leaf(torch, 2, 3)
    y[torch.tensor([0, -3])] = 1


EXPECTED: dict[Callable[..., Any], Any] = {
    write_to_select: [[[200.0, 400.0, 600.0], [8.0, 10.0, 12.0]]],
    write_to_slice: [[2.0, 400.0, 600.0, 800.0, 10.0]],
    write_to_strided_slice:
        "RuntimeError: one of the variables needed for gradient computation has been modified",
    write_to_transpose: [[[0.0, 16.0, 96.0], [8.0, 90.0, 300.0]]],
    write_to_view_of_view:
        [[[2.0, 4.0, 6.0, 8.0], [10.0, 12.0, 350.0, 16.0], [18.0, 20.0, 550.0, 24.0]]],
    write_to_diagonal: [[[0.0, 4.0, 6.0], [8.0, 0.0, 12.0], [14.0, 16.0, 0.0]]],
    write_to_unsqueezed: [[18.0, 36.0, 54.0]],
    write_to_permuted: [[[[32.0, 4.0], [96.0, 8.0]], [[160.0, 12.0], [224.0, 16.0]]]],
    write_to_reshaped: [[[2.0, 4.0, 0.0], [0.0, 10.0, 12.0]]],
    write_to_as_strided: [[2.0, 196.0, 294.0, 8.0, 490.0, 588.0]],
    write_to_narrow_of_squeezed: [[[2.0, 24.0, 26.0, 8.0]]],
    value_gets_gradient: [[[2.0, 4.0, 6.0], [0.0, 0.0, 0.0]], [8.0, 16.0, 24.0]],
    broadcast_value_gets_gradient: [[[2.0, 0.0, 0.0], [8.0, 0.0, 0.0]], [[24.0]]],
    scalar_value_gets_gradient: [[[2.0, 4.0, 6.0], [8.0, 0.0, 0.0]], 8.0],
    write_to_base_reaches_view: ("AsStridedBackward", [[[8.0, 16.0, 24.0], [0.0, 0.0, 0.0]]]),
    write_to_one_view_reaches_another:
        ([20.0, 30.0, 4.0], 'AsStridedBackward', [[0.0, 400.0, 600.0, 8.0]]),
    views_written_in_turn: ([2.0, 8.0, 12.0, 8.0], [[30.0, 29.0, 4.0, 2.0]]),
    view_used_before_the_write: [[13.0, 13.0, 0.0]],
    base_made_differentiable_by_view: (True, "CopySlices", [32.0]),
    sibling_becomes_differentiable: (True, "AsStridedBackward", [32.0]),
    chain_of_writes:
        "RuntimeError: one of the variables needed for gradient computation has been modified",
    nodes_after_a_write: ("CopySlices", "AsStridedBackward", False, False),
    fill_and_zero: ([5.0, 0.0, 0.0, 4.0], [[0.0, 0.0, 0.0, 8.0]]),
    mask_written: ("IndexPutBackward", [[1.0, 2.0, 3.0], [1.0, 1.0, 1.0]],
                   [[[2.0, 4.0, 6.0], [0.0, 0.0, 0.0]]]),
    mask_of_row_written: ("CopySlices", [[7.0, 2.0, 8.0], [4.0, 5.0, 6.0]],
                          [[[0.0, 4.0, 0.0], [8.0, 10.0, 12.0]], [14.0, 16.0]]),
    integers_written: ([[5.0, 6.0], [3.0, 4.0], [5.0, 6.0]],
                       [[[0.0, 0.0], [6.0, 8.0], [0.0, 0.0]], [[20.0, 24.0]]]),
    index_put_accumulates: ([1.0, 5.0, 3.0], [[2.0, 10.0, 6.0], [10.0, 10.0]]),
    index_read_twice: [[11.0, 0.0, 100.0]],
    index_add_in_place_on_view:
        ([[1.0, 2.0, 3.0], [4.0, 5.0, 15.0]], [[[2.0, 4.0, 6.0], [8.0, 10.0, 30.0]], [90.0, 90.0]]),
    scatter_in_place_on_transpose:
        ([[1.0, 2.0, 5.0], [6.0, 5.0, 6.0]],
         [[[2.0, 4.0, 0.0], [0.0, 10.0, 12.0]], [[10.0, 12.0]]]),
    write_to_expanded:
        "RuntimeError: unsupported operation: more than one element of the written-to tensor",
    write_to_row_of_expanded: ([2.0, 4.0, 6.0], [[2.0, 2.0, 2.0]]),
    write_to_piece_of_split:
        "RuntimeError: Output 0 of Split is a view and is being modified inplace. This view",
    write_to_piece_of_unbind:
        "RuntimeError: Output 1 of Unbind is a view and is being modified inplace. This view",
    write_to_view_of_piece_of_chunk:
        "RuntimeError: Output 0 of Select is a view and is being modified inplace. This view",
    base_written_after_split:
        "RuntimeError: Output 0 of Split is a view and its base or another view of its base",
    split_without_history_may_be_written: ([0.0, 10.0, 2.0, 3.0], False),
    piece_of_unsafe_split_may_be_written: ([10.0, 20.0], [[10.0, 10.0, 1.0, 1.0]]),
    view_made_without_grad:
        "RuntimeError: A view was created in no_grad mode and is being modified inplace with",
    view_made_and_written_without_grad:
        ([10.0, 20.0, 3.0, 4.0], "MulBackward", 1, [[2.0, 2.0, 2.0, 2.0]]),
    base_written_after_view_without_grad:
        "RuntimeError: A view was created in no_grad mode and its base or another view of its",
    leaf_written: "RuntimeError: a leaf Variable that requires grad is being used in an in-place",
    view_of_leaf_written:
        "RuntimeError: a view of a leaf Variable that requires grad is being used in an",
    leaf_assigned_through_index:
        "RuntimeError: a view of a leaf Variable that requires grad is being used in an",
    leaf_written_by_mask:
        "RuntimeError: a leaf Variable that requires grad is being used in an in-place",
    leaf_written_without_grad: ([7.0, 5.0, 5.0], 2, True, [[14.0, 10.0, 10.0]]),
    detached_shares_the_counter:
        "RuntimeError: one of the variables needed for gradient computation has been modified",
    detached_is_no_view: (False, "MulBackward", [9.0, 2.0, 3.0], [[1.0, 1.0, 1.0]]),
    data_has_its_own_counter: (0, [5.0, 20.0, 30.0], [[10.0, 40.0, 60.0]]),
    detach_in_place: (True, False, None),
    detach_in_place_of_view:
        "RuntimeError: Can't detach views in-place. Use detach() instead. If you are using",
    versions_are_shared: ([0, 1, 2], [3, 3, 3, 3]),
    saved_then_written_through_view:
        "RuntimeError: one of the variables needed for gradient computation has been modified",
    index_tensor_written_after_use:
        "RuntimeError: one of the variables needed for gradient computation has been modified",
    retained_grad_of_base: ([20.0, 4.0, 6.0], [200.0, 4.0, 6.0]),
    retained_grad_of_view: ([20.0, 40.0], [200.0, 400.0, 0.0]),
    retained_grad_of_view_alone: ([2.0, 4.0], [3.0, 5.0, 1.0]),
    hook_on_view: ([], [200.0, 400.0, 0.0]),
    bases_are_roots: (True, True, True, False),
    transpose_in_place: ([3, 2], (1, 3), 2, [[[200.0, 4.0, 6.0], [800.0, 10.0, 12.0]]]),
    transpose_in_place_of_view:
        ([3, 2], [3, 3], [[[20.0, 2.0, 2.0], [20.0, 2.0, 2.0], [1.0, 1.0, 1.0]]]),
    squeeze_and_unsqueeze_in_place: ([1, 3], [[[2.0, 4.0, 6.0]]]),
    as_strided_in_place: ([[2.0, 4.0], [3.0, 5.0]], [[0.0, 4.0, 6.0, 8.0, 10.0, 0.0]]),
    second_derivative_through_write: ([8.0, 40.0, 30.0], [16.0, 52.0, 34.0]),
    overlapping_strides_read: ([[1.0, 2.0], [2.0, 3.0], [3.0, 4.0]], [[2.0, 8.0, 12.0, 8.0]]),
    as_strided_of_expanded: [[1.0, 2.0, 1.0]],
    windows_read:
        ([[1.0, 2.0, 3.0], [2.0, 3.0, 4.0], [3.0, 4.0, 5.0]], [[2.0, 8.0, 18.0, 16.0, 10.0]]),
    custom_write_of_numbers_by_operator:
        ([[6.0, 21.0], [-18.0, 12.0]], [[[12.0, 234.0], [-36.0, 72.0]]]),
    ellipsis_and_none_written: ([[[8.0, 0.0]], [[9.0, 0.0]]], [[[[0.0, 0.0]], [[0.0, 0.0]]]]),
    integers_follow_the_dtype: ([9, 2, 2, 3], "torch.int64"),
    shape_mismatch:
        "RuntimeError: The expanded size of the tensor (3) must match the existing size (2)",
    index_out_of_bounds: "IndexError: index 3 is out of bounds for dimension 1 with size 3",
    tensor_index_out_of_bounds: "IndexError: index -3 is out of bounds for dimension 0 with size 2",
}


def outcome(program: Callable[..., Any], library: str) -> Any:
    """Run a program; return what it returns, or what it raises."""
    try:
        return program(importlib.import_module(library))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("library", NAMES)
@pytest.mark.parametrize("program, expected", EXPECTED.items(), ids=lambda p: getattr(
    p, "__name__", ""))
def test_program(program, expected, library):
    result = outcome(program, library)
    if isinstance(expected, str):
        assert isinstance(result, str) and result.startswith(expected), result
    else:
        assert result == expected
