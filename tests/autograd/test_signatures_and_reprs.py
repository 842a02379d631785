"""Names, default arguments, printed forms, and the line that a warning points to."""

from __future__ import annotations

import inspect
import warnings
from functools import reduce

import numpy as np
import pytest

import minigrad
from minigrad.op.declaration import F, Op
from tests.support.engines import leaf, on_each_engine

SIGNATURES = ["autograd.gradcheck", "autograd.gradgradcheck",
              "autograd.functional.vjp", "autograd.functional.jvp",
              "autograd.functional.jacobian", "autograd.functional.hessian",
              "autograd.functional.vhp", "autograd.functional.hvp", "autograd.backward",
              "autograd.grad", "autograd.graph.save_on_cpu.__init__",
              "autograd.forward_ad.make_dual", "autograd.forward_ad.unpack_dual"]


def warned_at(call):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        call()
    assert len(seen) == 1
    first = call.__code__.co_firstlineno
    return seen[0].filename, first <= seen[0].lineno <= first + 1


def test_an_operation_that_is_not_there_is_named():
    with pytest.raises(AttributeError, match=r"^there is no operation named 'nothing_like_it'$"):
        F.nothing_like_it


def test_no_two_ops_have_one_name():
    with pytest.raises(TypeError, match=r"^an op named Mul is registered already$"):
        class Mul(Op):
            """A second one."""

            nondifferentiable = True

            def forward(xp, self):
                return self


@on_each_engine
def test_how_several_outputs_are_shown(torch):
    both = torch.tensor([[1.0, 3.0], [2.0, 0.0]]).max(1)
    assert repr(both) == ("torch.return_types.max(\nvalues=tensor([3., 2.]),\n"
                          "indices=tensor([1, 0]))")
    assert type(both).__module__ == f"{torch.__name__}.return_types"
    assert type(both).__qualname__ == "max"


@pytest.mark.parametrize("mode", [True, False])
def test_how_set_grad_enabled_is_shown(mode):
    made = minigrad.set_grad_enabled(mode)
    minigrad.set_grad_enabled(True)
    assert repr(made) == str(made) == f"set_grad_enabled(mode={mode})"


def test_warnings_point_to_the_user():
    x = leaf(minigrad, [1.0, 2.0])
    here = (__file__, True)
    assert warned_at(lambda: x.sum().backward(create_graph=True)) == here
    assert warned_at(lambda: minigrad.autograd.Variable(x, volatile=True)) == here
    assert warned_at(lambda: x.volatile) == here
    assert warned_at(lambda: setattr(x, "volatile", True)) == here
    assert warned_at(lambda: minigrad.autograd.grad(x.sum(), x, only_inputs=False)) == here
    assert warned_at(lambda: minigrad.autograd.backward(
        x.sum(), grad_variables=minigrad.tensor(1.0))) == here


@on_each_engine
def test_a_decorated_generator_takes_keywords(torch):
    @torch.no_grad()
    def count(start, *, step=1):
        yield start
        yield start + step, torch.is_grad_enabled()

    assert list(count(1, step=4)) == [1, (5, False)]
    assert list(count(start=2)) == [2, (3, False)]


def test_the_memory_of_an_array_on_borrowed_memory():
    from minigrad.autograd.profiler.recorder import memory_of

    borrowed = np.frombuffer(memoryview(bytearray(16)), dtype=np.float32)
    assert memory_of(borrowed[1:])


def test_how_a_node_is_shown():
    node = (leaf(minigrad, [1.0]) * 2).grad_fn
    assert repr(node) == f"<MulBackward0 object at {id(node):#x}>"


@pytest.mark.parametrize("name", SIGNATURES)
def test_defaults_are_pytorchs(name):
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    ours, theirs = (inspect.signature(reduce(getattr, name.split("."), engine)).parameters
                    for engine in (minigrad, torch))
    assert [p for p in ours if p in theirs] == list(theirs)
    for parameter in theirs:
        assert ours[parameter].default == theirs[parameter].default, parameter
    # Run here, so that mutation testing counts this test among theirs.
    x = leaf(minigrad, [1.0], dtype=minigrad.float64)
    with minigrad.autograd.graph.save_on_cpu():
        assert minigrad.autograd.gradgradcheck(lambda t: t * t, x)
