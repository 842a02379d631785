"""What `vmap` refuses says what is wrong, in PyTorch's words."""

import pytest

import minigrad
from tests.support.gathered import check_all


def branch(x):
    return x if x > 0 else -x


def backward(x):
    (x * x).sum().backward()
    return x


LINES = {
    "if": (branch, ()), "while": (lambda x: -x if not (x > 0) else x, ()),
    "and": (lambda x: (x > 0) and x, ()), "if of several": (lambda x: x if x else -x, (2,)),
    "item": (lambda x: x.item(), ()), "float": (float, ()), "int": (int, ()),
    "in": (lambda x: 1.0 in x, (2,)), "format": (lambda x: f"{x:.2f}", ()),
    "backward": (backward, ()),
}


def outcome(t, name, requires_grad):
    function, shape = LINES[name]
    x = t.ones((2, *shape), requires_grad=requires_grad)
    with pytest.raises(RuntimeError) as caught:
        t.func.vmap(function)(x)
    return caught.type.__name__, str(caught.value)


def test_refusals_have_pytorchs_class_and_text():
    torch = pytest.importorskip("torch", reason="compares with PyTorch")

    def check(case):
        assert outcome(minigrad, *case) == outcome(torch, *case)

    check_all(check, [(name, needs) for name in LINES for needs in (False, True)])


def test_a_condition_is_not_called_item():
    assert "data-dependent control flow" in outcome(minigrad, "if", False)[1]
    assert "calling .item()" in outcome(minigrad, "item", False)[1]
    assert outcome(minigrad, "backward", True)[1].startswith("backward() called inside")
