"""Tensors of the host beside those of a device, and work on a device that is not the current one.

`test_gpu.py` does the same on a real one.
"""

from __future__ import annotations

import io
import pickle
from copy import deepcopy

import numpy as np
import pytest

import minigrad as torch
from minigrad import nn

FORMULAS = [
    lambda x, t: x * t, lambda x, t: x / t, lambda x, t: t / x, lambda x, t: x ** t,
    lambda x, t: t ** x, lambda x, t: torch.atan2(x, t), lambda x, t: (x * 1).mul_(t),
    lambda x, t: torch.where(x > 1, x, t), lambda x, t: x * (t * 2).exp(),
    lambda x, t: x * 3 / 7 * t,
]


def check_gradients(f, dtype, both):
    """Compare gradients by a tensor of the device and a number of the host with the CPU's."""
    def gradients(place):
        x = torch.tensor([0.5, 1.5], dtype=dtype).to(place).requires_grad_(both)
        t = torch.tensor(1.25, dtype=dtype, requires_grad=True)
        inputs = [i for i in (x, t) if i.requires_grad]
        found = torch.autograd.grad((f(x, t) ** 2).sum(), inputs, create_graph=True)
        second = torch.autograd.grad(sum((g.cpu() ** 2).sum() for g in found), inputs,
                                     allow_unused=True)
        f(x, t).sum().backward()
        given = [i.grad for i in inputs]
        for i, *grads in zip(inputs, found, given, strict=True):
            assert {g.device for g in grads} == {i.device}
        return [g.detach().cpu().numpy() for g in (*found, *second, *given) if g is not None]

    for there, here in zip(gradients("cuda"), gradients("cpu"), strict=True):
        np.testing.assert_allclose(there, here, rtol=1e-2 if dtype is torch.float16 else 1e-5)


KEYS = [
    True, False, (True, 0), [1, 0], np.array([True, False]), torch.tensor([1, 1]),
    torch.tensor([True, False]), (slice(None), torch.tensor([2, 0])),
    (torch.tensor([[0], [1]]), [0, 2]), torch.tensor(True),
]


def check_elements(place, key):
    """Compare what an index of the host picks from a device, and what is written there."""
    def found(place):
        x = torch.arange(6.0).view(2, 3).to(place).requires_grad_()
        picked, y = x[key], x * 1
        y[key] = 7.0
        y[key] += 1
        grad, = torch.autograd.grad((picked * picked).sum() + (y * y).sum(), x)
        assert picked.device == grad.device == x.device
        return [t.detach().cpu().numpy() for t in (picked, y, grad)]

    for there, here in zip(found(place), found("cpu"), strict=True):
        np.testing.assert_array_equal(there, here)


class Plain(torch.autograd.Function):
    """Twice x, with a gradient of another dtype."""

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g.double() * 2


def hooked(x):
    x.register_hook(lambda g: g.clone())
    return x * 2


def written_in_inference_mode(x):
    with torch.inference_mode():
        made = x.detach() * 1
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
        made[:, 0] *= 2
    return x


WORK = [
    lambda x: x + x.detach().double(), lambda x: torch.cat([x, x.half()]), lambda x: x[x > 1],
    lambda x: nn.functional.pad(x[None], (1, 1), "reflect"), lambda x: Plain.apply(x).exp(),
    lambda x: x, deepcopy, lambda x: deepcopy(nn.Parameter(x.detach())), hooked,
    written_in_inference_mode,
    lambda x: nn.functional.binary_cross_entropy(x.sigmoid(), x.detach().sigmoid()),
    lambda x: x * float(torch.equal(x, x)) * float(torch.allclose(x, x)) * float(1.5 in x),
    lambda x: x * nn.functional.one_hot(x.detach().long(), 3).sum(-1),
]


def check_work(place, work):
    """Compare results and gradients on a device with the CPU's."""
    def found(place):
        x = torch.tensor([[0.5, 1.5, 2.5], [1.0, 2.0, 0.0]]).to(place).requires_grad_()
        y = work(x)
        y.backward(torch.full_like(y, 2.0))
        grad = y.grad if y.is_leaf else x.grad
        assert y.device == grad.device == x.device
        return [t.detach().cpu().numpy() for t in (y, grad)]

    for there, here in zip(found(place), found("cpu"), strict=True):
        np.testing.assert_allclose(there, here, rtol=1e-5)


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32], ids=str)
@pytest.mark.parametrize("f", FORMULAS)
def test_gradients_meet_numbers_of_the_host(fake, f, dtype, both):
    check_gradients(f, dtype, both)


@pytest.mark.parametrize("place", ["cuda", "cuda:1"])
@pytest.mark.parametrize("key", KEYS, ids=str)
def test_indices_of_the_host(fake, place, key):
    check_elements(place, key)


def test_an_index_of_another_device_is_refused(fake):
    with pytest.raises(RuntimeError, match=r"on the same device as the indexed tensor \(cpu\)"):
        torch.ones(2)[torch.tensor([0], device="cuda")]


@pytest.mark.parametrize("work", WORK)
def test_work_on_a_device_that_is_not_the_current_one(fake, work):
    check_work("cuda:1", work)


@pytest.mark.parametrize("f", [lambda x: x[[1, 0]] * 2,
                               lambda x: nn.functional.pad(x[None], (1, 1), "reflect")])
def test_indices_inside_vmap(fake, f):
    x = torch.arange(6.0).view(2, 3)
    assert torch.func.vmap(f)(x.cuda()).tolist() == torch.func.vmap(f)(x).tolist()


def test_tensors_made_of_others_stay_or_go(fake):
    x = torch.ones(2, device="cuda:1")
    with pytest.warns(UserWarning, match="To copy construct from a tensor"):
        assert torch.tensor(x).device == x.device
    assert torch.as_tensor(x, device="cuda:0").device.index == 0


@pytest.mark.parametrize("divide", [lambda x: x // 2, lambda x: x % 2,
                                    lambda x: torch.div(x, 2, rounding_mode="trunc")])
def test_whole_numbers_divided_by_numbers(fake, divide):
    x = torch.tensor([-3, 4])
    assert divide(x.cuda()).tolist() == divide(x).tolist()
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        x.cuda() // 0


def stored(tensors):
    """Return tensors after a way through `save` and `load`."""
    file = io.BytesIO()
    torch.save(tensors, file)
    file.seek(0)
    return torch.load(file)


@pytest.mark.parametrize("there_and_back", [stored, lambda x: pickle.loads(pickle.dumps(x))],
                         ids=["save", "pickle"])
@pytest.mark.parametrize("place", ["cpu", "cuda:0", "cuda:1"])
def test_what_is_stored_comes_back_to_its_device(fake, there_and_back, place):
    x = torch.arange(6.0).view(2, 3).to(place).requires_grad_()
    found = there_and_back([x, x.detach().t()])
    assert [str(t.device) for t in found] == [place] * 2
    assert found[0].tolist() == x.tolist() and found[1].tolist() == x.t().tolist()
    assert found[0].requires_grad and torch.cuda.current_device() == 0


def test_examples_of_a_batch_know_their_device(fake):
    x = torch.ones(2, 3, device="cuda:1")

    def seen(row):
        assert row.device == x.device
        return row * 2 + torch.ones_like(row) + row.new_zeros(3) + row.to(row.device)

    assert torch.func.vmap(seen)(x).tolist() == [[4.0] * 3] * 2
    assert torch.func.vmap(torch.func.vmap(seen))(x[None]).device == x.device
    assert torch.func.vmap(lambda row: row.cpu())(x).device == torch.device("cpu")
