"""Tensors of the host beside those of a device, and work on a device that is not the current one.

`test_gpu.py` does the same on a real one.
"""

from __future__ import annotations

import io
import pickle
import warnings
from copy import deepcopy

import numpy as np
import pytest

import minigrad as torch
from minigrad import nn, optim
from minigrad.autograd import functional

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


def through_packed(x):
    """Run a network over two sequences, the longer one second, which moved on the way."""
    torch.manual_seed(0)
    rows = x[..., None]
    packed = nn.utils.rnn.pack_padded_sequence(rows, [2, 3], True, enforce_sorted=False)
    packed = packed.cpu().to(x.device)
    return nn.GRU(1, 2).to(x.device)(packed)[0]


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
    lambda x: nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True),
    lambda x: nn.functional.rrelu(x - 1),
    lambda x: nn.functional.cross_entropy(x, torch.tensor([0, 2], device=x.device),
                                          label_smoothing=0.1),
    lambda x: x * torch.autograd.grad((x * x).sum(), torch.ones_like(x, requires_grad=True),
                                      allow_unused=True, materialize_grads=True)[0],
    lambda x: torch.func.jacrev(lambda x: x.softmax(-1))(x) ** 2,
    lambda x: torch.func.vmap(torch.func.jacrev(lambda x: x.logsumexp(-1)))(x) ** 2,
    lambda x: torch.func.jacfwd(lambda x: x.exp())(x),
    lambda x: torch.func.hessian(lambda x: (x ** 3).sum())(x),
    lambda x: x.repeat_interleave(torch.tensor([2, 0], device=x.device), 0),
    lambda x: nn.utils.rnn.pad_packed_sequence(through_packed(x))[0],
    lambda x: x * functional.jacobian(lambda x: x.exp() * x, x.detach()).sum(),
    lambda x: x * functional.jacobian(lambda x: x.exp(), x.detach(), vectorize=True).sum(),
    lambda x: x * functional.hessian(lambda x: (x ** 3).sum(), x.detach()).sum(),
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


@pytest.mark.parametrize("fast_mode", [False, True])
def test_gradcheck_where_that_is_not_the_current_device(fake, fast_mode):
    check_gradcheck("cuda:1", fast_mode)


def check_gradcheck(place, fast_mode):
    """Check derivatives on a device, and see that its work is done there."""
    x = torch.tensor([0.5, 1.5, 2.5], dtype=torch.float64, device=place, requires_grad=True)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "The device where the array resides")  # CuPy's
        assert torch.autograd.gradcheck(
            lambda x: (x.exp() * x.flip(0)).cumsum(0), x, check_forward_ad=True,
            check_batched_grad=True, fast_mode=fast_mode)
        assert torch.autograd.gradgradcheck(lambda x: x.exp() * x, x, fast_mode=fast_mode)


def test_gradients_on_several_devices_are_clipped_together(fake):
    places = ["cuda:1", "cuda:0", "cpu"]
    given = [torch.full((2,), 1.0, device=place, requires_grad=True) for place in places]
    for x in given:
        (x * x).sum().backward()
    total = nn.utils.clip_grad_norm_(given, 1.0)
    assert total.device == given[0].device and total.item() == pytest.approx(24 ** 0.5)
    for x in given:
        assert x.grad.device == x.device
        np.testing.assert_allclose(x.grad.tolist(), [6 ** -0.5] * 2, rtol=1e-5)


def test_a_sparse_start_on_a_device(fake):
    x = nn.init.sparse_(torch.ones(4, 3, device="cuda:1"), 0.5)
    assert (x == 0).sum(0).tolist() == [2, 2, 2]


def test_adagrads_sums_lie_beside_their_parameters(fake):
    x = torch.ones(2, device="cuda:1", requires_grad=True)
    optimizer = optim.Adagrad([x], initial_accumulator_value=0.5)
    assert optimizer.state[x]["sum"].device == x.device
    assert optimizer.state[x]["sum"].tolist() == [0.5, 0.5]


def test_results_are_written_where_out_lies(fake):
    out, other = torch.zeros(2, device="cuda:1"), torch.zeros(2, device="cuda:0")
    assert torch.ones(2, out=out, device="cuda:0") is out and out.tolist() == [1.0, 1.0]
    assert torch.zeros(2, out=out) is out and out.tolist() == [0.0, 0.0]
    with pytest.raises(RuntimeError, match=r"at least two devices, cuda:0 and cuda:1!"):
        torch.add(out, 1, out=other)
    with pytest.raises(RuntimeError, match=r"at least two devices, cpu and cuda:1!"):
        torch.exp(out, out=torch.zeros(2))
    with pytest.raises(RuntimeError, match=r"device type cpu does not match device type of out "
                                           r"parameter \(cuda\)"):
        torch.ones(2, out=out, device="cpu")
    assert out.tolist() == other.tolist() == [0.0, 0.0]


def test_devices_that_there_cannot_be(fake):
    with pytest.raises(RuntimeError, match="Device index must not be negative"):
        torch.device("cuda", -1)
    with pytest.raises(RuntimeError, match=r"The device_index is invalid\."):
        torch.Generator(device="cuda:2")


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
