"""Pieces along a named axis, a part replaced, and adjoints."""

from __future__ import annotations

import pytest


def test_pieces(torch):
    x = torch.arange(24.0).reshape(2, 3, 4)
    assert [p.shape for p in x.hsplit(3)] == [(2, 1, 4)] * 3
    assert [p.shape for p in torch.vsplit(x, [1])] == [(1, 3, 4), (1, 3, 4)]
    assert [p.shape for p in torch.dsplit(x, (1, 3))] == [(2, 3, 1), (2, 3, 2), (2, 3, 1)]
    assert [p.tolist() for p in torch.arange(4).hsplit([1])] == [[0], [1, 2, 3]]
    x.hsplit(3)[0].zero_()
    assert x[0, 0].tolist() == [0.0] * 4


WRONG = {
    "requires a tensor with at least 1 dimension": lambda t: t.hsplit(t.tensor(1.0), 1),
    "requires a tensor with at least 2 dimension": lambda t: t.ones(3).vsplit(1),
    "requires a tensor with at least 3 dimension": lambda t: t.ones(3, 3).dsplit(1),
    "not divisible by the split_size 2": lambda t: t.ones(3).hsplit(2),
    "not divisible by the split_size 0": lambda t: t.ones(3, 2).vsplit(0),
    "slice step must be positive": lambda t: t.ones(3).slice_scatter(t.ones(3), step=0),
    r"src size = \[2\], slice size = \[3\]": lambda t: t.ones(3).slice_scatter(t.ones(2)),
    "tensor.H is only supported on matrices": lambda t: t.ones(3).H,
    "tensor.mH is only supported on matrices": lambda t: t.ones(3).mH,
}


@pytest.mark.parametrize("text", WRONG)
def test_what_does_not_fit_is_refused(torch, text):
    with pytest.raises(RuntimeError, match=text):
        WRONG[text](torch)


def test_a_text_is_no_number_of_pieces(torch):
    with pytest.raises(TypeError, match="received an invalid combination of arguments"):
        torch.ones(3).hsplit("abc")


def test_a_part_replaced_has_two_gradients(torch, leaf):
    x, src = leaf([[1.0, 2.0], [3.0, 4.0]]), leaf(5.0, 6.0)
    y = torch.select_scatter(x, src, 1, -1)
    assert y.tolist() == [[1.0, 5.0], [3.0, 6.0]]
    y.pow(2).sum().backward()
    assert (x.grad.tolist(), src.grad.tolist()) == ([[2.0, 0.0], [6.0, 0.0]], [10.0, 12.0])
    z = x.slice_scatter(src.reshape(1, 2), 0, -1)
    assert z.tolist() == [[1.0, 2.0], [5.0, 6.0]]
    assert torch.arange(5).slice_scatter(torch.tensor([7, 8]), 0, 1, 4, 2).tolist() == [
        0, 7, 2, 8, 4]


def test_a_part_is_replaced_inside_vmap(torch):
    rows = torch.arange(6.0).reshape(3, 2)
    found = torch.func.vmap(lambda row: torch.zeros(4).slice_scatter(row, 0, 1, 3))(rows)
    assert found.tolist() == [[0.0, *row, 0.0] for row in rows.tolist()]


def test_adjoints_are_views(torch):
    x = torch.arange(6.0).reshape(2, 3)
    assert x.H.tolist() == x.mH.tolist() == x.t().tolist()
    assert x[None].mH.shape == (1, 3, 2)
    x.H.zero_()
    assert x.sum() == 0
