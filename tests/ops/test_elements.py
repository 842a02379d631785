"""Reading and writing single elements gives what the operations would, errors included."""

from __future__ import annotations

import warnings
from contextlib import nullcontext

import numpy as np
import pytest

import minigrad as torch
from minigrad import Tensor
from minigrad.op.declaration import REGISTRY
from minigrad.op.publish import inplace_caller, operator
from minigrad.ops.indexing import index

WRITES = {"__iadd__": "Add", "__isub__": "Sub", "__imul__": "Mul", "__itruediv__": "Div"}
TAUGHT = {name: operator(inplace_caller(REGISTRY[op])) for name, op in WRITES.items()}


def matrix(dtype=torch.float32):
    return torch.arange(12).reshape(3, 4).to(dtype)


def read_only():
    array = np.ones((3, 4), np.float32)
    array.flags.writeable = False
    return Tensor._plain(array)


def inference():
    with torch.inference_mode():
        return torch.ones(3, 4)


def without_grad():
    with torch.no_grad():
        return torch.ones(4, 3, requires_grad=True).t()


def detached():
    x = (torch.ones(3, 4, requires_grad=True) * 2)
    return x.detach_()


class Special(Tensor):
    """A class of a program's own."""


TENSORS = {
    "float32": matrix, "float64": lambda: matrix(torch.float64),
    "float16": lambda: matrix(torch.float16), "int64": lambda: matrix(torch.int64),
    "uint8": lambda: matrix(torch.uint8), "bool": lambda: matrix(torch.bool),
    "scalar": lambda: torch.tensor(2.0), "empty": lambda: torch.ones(0, 4),
    "transposed": lambda: matrix().view(4, 3).t(), "expanded": lambda: torch.ones(4).expand(3, 4),
    "view of a view": lambda: torch.arange(48.0).view(4, 3, 4)[1][:, :], "read-only": read_only,
    "leaf": lambda: matrix().requires_grad_(), "result": lambda: matrix().requires_grad_() * 2,
    "parameter": lambda: torch.nn.Parameter(matrix()), "inference": inference,
    "frozen": lambda: torch.nn.Parameter(matrix(), False), "special": lambda: Special(3, 4),
    "view of a leaf": lambda: matrix().requires_grad_().t().t(), "no grad": without_grad,
    "detached": detached, "data": lambda: inference().data,
}
KEYS = [0, -1, 3, (1, 2), (-3, -4), (1, 4), (0, 0, 0), (1,), (), (..., 1), (1, slice(None)), True,
        (True, 1), (np.int64(1), 2), (None, 1), [1, 2], 1.0, (0, "a"), 2**70]
VALUES = [1, 2.5, -0.0, 0, float("nan"), 1e300, 2**70, 10**400, True, None, "a", np.float32(2.0),
          torch.tensor(3.0), torch.tensor(3.0, dtype=torch.float64), torch.tensor(3),
          torch.tensor([3.0]), torch.ones(3, 4), torch.ones(1, 4), torch.ones(5),
          torch.tensor(3.0, requires_grad=True), inference(), inference()[0, 0],
          torch.nn.Parameter(torch.ones(())), np.ones(4)]
MODES = {"grad": nullcontext, "no grad": torch.no_grad, "inference": torch.inference_mode}
every_tensor = pytest.mark.parametrize("make", TENSORS.values(), ids=TENSORS)
every_mode = pytest.mark.parametrize("mode", MODES.values(), ids=MODES)


def state(x):
    """Return all that a tensor is: bits, memory, version, place in the graph."""
    if not isinstance(x, Tensor):
        return x
    view = x._view
    counter = x._counter
    inside = x._version if not x.is_inference() else (type(counter), getattr(counter, "count", 0))
    return (type(x), x._array.tobytes(), x._array.dtype, x._array.shape, x._array.strides, inside,
            x.requires_grad, type(x._node), view and (view.creation, view.version))


def outcome(call, x, *arguments):
    """Return what a call gives and makes of its tensor, or the error."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", UserWarning)
        try:
            result = call(x, *arguments)
        except Exception as error:  # whichever it is, the other has to be the same
            result = type(error), str(error)
    found = [state(x), state(result), [str(each.message) for each in told]]
    if isinstance(result, Tensor):
        found.append((result is x, result._base is (x._base if x._is_view() else x),
                      result._array.base is None, np.shares_memory(result._array, x._array),
                      result._counter is x._counter))
    return found


def by_operations(name, x, *arguments):
    """Call a method without the short ways."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(index, "element_view", lambda *_: None)
        patched.setattr(index, "chosen_rows", lambda *_: None)
        patched.setattr(index, "write_element", lambda *_: False)
        return TAUGHT.get(name, getattr(Tensor, name))(x, *arguments)


def check(name, make, arguments, mode):
    x, y = make(), make()
    with mode():
        ours = outcome(getattr(Tensor, name), x, *arguments)
        theirs = outcome(lambda *given: by_operations(name, *given), y, *arguments)
        assert ours == theirs, arguments


@every_mode
@every_tensor
def test_reading(make, mode):
    for key in KEYS:
        check("__getitem__", make, (key,), mode)


@every_mode
@every_tensor
def test_writing(make, mode):
    for key in KEYS:
        for value in VALUES if key in ((1, 2), (-3, -4), 0, ()) else VALUES[:3]:
            check("__setitem__", make, (key, value), mode)


def tensors_as_indices(elements):
    """Return masks and lists of indices, right and wrong ones."""
    return [
        elements == elements.flatten()[:1].sum(), torch.ones(3, 4).bool(), torch.zeros(3, 4).bool(),
        torch.tensor([True, False, True]), torch.ones(5).bool(), torch.ones(()).bool(),
        torch.tensor([[True], [False], [True]]).expand(3, 4),
        torch.ones(4, 3, dtype=torch.bool).t(), (elements > 1).to(torch.uint8),
        torch.tensor([2, 0, 2]), torch.tensor([[0, -1], [-3, 1]]), torch.tensor([0, 3]),
        torch.tensor([-4]), torch.tensor([1], dtype=torch.int32), torch.tensor(1),
        torch.tensor([], dtype=torch.int64), torch.tensor([1.0]), torch.arange(6)[::3],
        torch.tensor([1], dtype=torch.int16),
    ]


@every_mode
@every_tensor
def test_tensors_as_indices(make, mode):
    with torch.no_grad():
        indices = tensors_as_indices(make().detach())
    for chosen in indices:
        check("__getitem__", make, (chosen,), mode)
        for value in VALUES[::4]:
            check("__setitem__", make, (chosen, value), mode)


def test_a_mask_or_number_that_is_part_of_the_target_is_read_first():
    x = torch.tensor([3.0, 1.0, 2.0])
    x[x > 0] = x[1]
    assert x.tolist() == [1, 1, 1]
    y = torch.tensor([True, True, False])
    y[:2][y[1:]] = False
    assert y.tolist() == [False, True, False]


@every_mode
@every_tensor
@pytest.mark.parametrize("name", WRITES)
def test_operators(name, make, mode):
    for value in VALUES:
        check(name, make, (value,), mode)


@pytest.mark.parametrize("name", WRITES)
def test_a_tensor_beside_its_own_memory(name):
    for view in (lambda x: x, lambda x: x[0, 0], lambda x: x[0], lambda x: x.flip(0),
                 lambda x: x[:, :1].expand(3, 3), lambda x: x.t()):
        x, y = torch.arange(9.0).view(3, 3), torch.arange(9.0).view(3, 3)
        assert outcome(getattr(Tensor, name), x, view(x)) == outcome(TAUGHT[name], y, view(y))


def test_a_write_is_noticed_by_backward():
    x, w = torch.ones(2, 2), torch.ones(2, 2, requires_grad=True)
    for write in (lambda: x.__setitem__((0, 1), 3.0), lambda: x.__iadd__(1),
                  lambda: x[1, 1].__imul__(2.0)):
        product = (w * x).sum()
        write()
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            product.backward()


def test_a_profiler_sees_the_operations():
    x = torch.zeros(3, 3)
    x[1, 2] += 1
    with torch.autograd.profiler.profile() as profile:
        x[1, 2] += 1
    assert {"aten::select", "aten::add_"} <= {each.key for each in profile.key_averages()}
    assert x[1, 2].item() == 2.0


def test_warnings_point_to_the_line_of_the_program():
    x = torch.zeros(3, 3)
    with pytest.warns(UserWarning) as told:
        x[[[0, 1], [1, 0]]]
        x[[[0, 1], [1, 0]]] = 1.0
        x[torch.tensor([1, 0, 1], dtype=torch.uint8)]
    assert {each.filename for each in told} == {__file__}
