"""On a real GPU: every op against NumPy, no hidden transfer, streams, graphs and mixed precision.

Skipped where CuPy or a GPU is missing: `pytest -m gpu` runs these, and nothing else does.
"""

from __future__ import annotations

import numpy as np
import pytest

import minigrad as torch
from minigrad import nn, optim
from tests.gpu.test_cuda_fake import OPTIMIZERS, compare_quotients, step_of, steps
from tests.gpu.test_cudnn_fake import three
from tests.gpu.test_kernels_on_host import CONVOLUTIONS
from tests.gpu.test_places_fake import (
    FORMULAS,
    KEYS,
    WORK,
    check_elements,
    check_gradcheck,
    check_gradients,
    check_work,
)
from tests.gpu.test_random_fake import SEED, dropped_step, units, words
from tests.gpu.test_registry_fake import compare
from tests.support.samples import IDS, OPS

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device and CuPy"),
]


@pytest.fixture
def gpu():
    from minigrad.backend import load_cuda

    with torch.backends.cudnn.flags(enabled=True, allow_tf32=False):  # for comparisons with the CPU
        yield load_cuda()


#: What these give has either sign, as the library that computes it likes.
DECOMPOSITIONS = ("LinalgSvd", "LinalgEigh", "LinalgQr", "QrComplete")


@pytest.mark.parametrize("op", [op for op in OPS if op.__name__ not in DECOMPOSITIONS],
                         ids=[name for name in IDS if name not in DECOMPOSITIONS])
def test_op_against_numpy(gpu, op):
    compare(gpu, op, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("decompose", [torch.linalg.svd, torch.linalg.eigh, torch.linalg.qr])
@pytest.mark.parametrize("batch", [(), (2,)])
def test_decompositions_but_for_signs(gpu, decompose, batch):
    def found(device):
        A = torch.as_tensor(host).to(device).requires_grad_()
        by = torch.arange(1.0, 4.0, dtype=torch.float64, device=device)
        parts = decompose(A @ A.mT if decompose is torch.linalg.eigh else A)
        values = [x for x in parts if x.ndim == len(batch) + 1]
        left, *right = (x for x in parts if x.ndim == len(batch) + 2)  # signs of columns, of rows
        values += [(left * by) @ left.mT, *((x.mT * by) @ x for x in right)]
        first, = torch.autograd.grad(sum((x * x).sum() for x in values), A, create_graph=True)
        second, = torch.autograd.grad((first * first).sum(), A)
        return [x.detach().cpu().numpy() for x in (*values, first, second)]

    host = np.random.default_rng(0).normal(size=(*batch, 3, 3))
    for there, here in zip(found("cuda"), found("cpu"), strict=True):
        np.testing.assert_allclose(there, here, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("make", OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_training_is_the_cpus(gpu, make):
    np.testing.assert_allclose(steps("cuda", make, 4), steps("cpu", make, 4), rtol=1e-3)


@pytest.mark.parametrize("index", [[0, 3], [-4, 1]])
def test_indices_out_of_range_raise(gpu, index):
    x, at = torch.arange(3.0, device="cuda"), torch.tensor(index, device="cuda")
    with pytest.raises(IndexError, match="is out of bounds for dimension 0 with size 3"):
        x[at]


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32], ids=str)
@pytest.mark.parametrize("f", FORMULAS)
def test_gradients_meet_numbers_of_the_host(gpu, f, dtype, both):
    check_gradients(f, dtype, both)


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_indices_of_the_host(gpu, key):
    check_elements("cuda", key)


@pytest.mark.parametrize("work", WORK)
def test_work_is_the_cpus(gpu, work):
    check_work(f"cuda:{torch.cuda.device_count() - 1}", work)


@pytest.mark.parametrize("divide", [lambda x: x // 2, lambda x: x % 2])
def test_whole_numbers_divided_by_numbers(gpu, divide):
    x = torch.tensor([-3, 4])
    assert divide(x.cuda()).tolist() == divide(x).tolist()


def test_numpy_arrays_do_not_slip_in(gpu):
    x = torch.ones(3, device="cuda")
    with pytest.raises(TypeError):
        np.asarray(x._array)
    with pytest.raises(TypeError):
        np.add(x._array, np.ones(3))


def test_memory_comes_back(gpu):
    torch.cuda.empty_cache()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    x = torch.zeros(1 << 20, device="cuda")
    y = x * 2
    assert torch.cuda.memory_allocated() - before == 2 * x.nbytes
    del x, y
    assert torch.cuda.memory_allocated() == before
    assert torch.cuda.max_memory_allocated() - before == 2 << 22


def test_memory_of_a_graph_comes_back(gpu):
    def free():
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        return torch.cuda.mem_get_info()[0]

    x = torch.ones(1 << 22, device="cuda")
    free_before = 0
    for _ in range(2):  # the first time kernels are loaded
        free_before = free()
        repeat = torch.cuda.graph(lambda: x * 2)
        result = repeat()
        assert result[0].item() == 2 and free() <= free_before - x.nbytes
        del repeat
        assert result[0].item() == 2
        del result
    assert free() == free_before


@pytest.mark.parametrize("current", [0, -1])
def test_backward_on_a_side_stream(gpu, current):
    last = torch.cuda.device_count() - 1
    x = torch.ones(1 << 20, device=f"cuda:{last}", requires_grad=True)
    with torch.cuda.device(last if current else 0):
        for _ in range(3):
            side = torch.cuda.Stream(last)
            side.wait_stream(torch.cuda.current_stream(last))
            with torch.cuda.stream(side):
                y = x.sin() ** 2
            torch.cuda.current_stream(last).wait_stream(side)
            y.backward(torch.ones_like(x))
    np.testing.assert_allclose(x.grad[:3].cpu().numpy(), 3 * np.sin(2), rtol=1e-5)


@pytest.mark.parametrize("fast_mode", [False, True])
def test_gradcheck_on_a_device(gpu, fast_mode):
    check_gradcheck(f"cuda:{torch.cuda.device_count() - 1}", fast_mode)


def test_a_captured_step_with_smoothed_labels(gpu):
    x = torch.randn(4, 3, device="cuda", requires_grad=True)
    y = torch.tensor([0, 1, 2, 1], device="cuda")

    def step():
        x.grad = None
        loss = nn.functional.cross_entropy(x, y, label_smoothing=0.1)
        loss.backward()
        return loss

    repeat = torch.cuda.graph(step)
    with torch.no_grad():
        x *= 2
    assert repeat().item() == pytest.approx(step().item(), rel=1e-5)


def test_events_take_time(gpu):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    x = torch.ones(1024, 1024, device="cuda")
    start.record()
    for _ in range(10):
        x = x @ x * 1e-3
    end.record()
    end.synchronize()
    assert end.query() and 0 < start.elapsed_time(end) < 10_000


def test_a_captured_step_repeats_it(gpu):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 4)).cuda()
    twin = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 4)).cuda()
    twin.load_state_dict(net.state_dict())
    x, y = torch.randn(5, 8).cuda(), torch.tensor([0, 1, 2, 3, 0]).cuda()

    def trained(module):
        optimizer = optim.SGD(module.parameters(), lr=0.05, momentum=0.9)
        return step_of(module, optimizer, x, y)

    plain, repeat = trained(twin), torch.cuda.graph(trained(net), warmup=2)
    expected = [plain().item() for _ in range(5)]
    np.testing.assert_allclose([repeat().item() for _ in range(3)], expected[2:], rtol=1e-4)


def test_convolutions_in_half_precision(gpu):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(),
                        nn.MaxPool2d(2), nn.Flatten(), nn.Linear(128, 5)).cuda()
    x, y = torch.randn(4, 3, 8, 8).cuda(), torch.tensor([0, 1, 2, 3]).cuda()
    full = nn.functional.cross_entropy(net(x), y).item()
    scaler = torch.amp.GradScaler("cuda")
    optimizer = optim.SGD(net.parameters(), lr=0.1)
    with torch.autocast("cuda"):
        assert net[:2](x).dtype is torch.float16
        loss = nn.functional.cross_entropy(net(x), y)
    assert loss.dtype is torch.float32 and abs(loss.item() - full) < 2e-2
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    with torch.no_grad():
        assert nn.functional.cross_entropy(net(x), y).item() < full


def test_memory_is_shared_with_pytorch(gpu):
    theirs = pytest.importorskip("torch", reason="compares with PyTorch")
    if not theirs.cuda.is_available():
        pytest.skip("this PyTorch has no CUDA")
    x = torch.ones(3, device="cuda")
    shared = theirs.from_dlpack(x)
    shared[0] = 5
    theirs.cuda.synchronize()
    assert x.tolist() == [5.0, 1.0, 1.0]
    back = torch.from_dlpack(theirs.arange(3.0, device="cuda"))
    assert back.is_cuda and back.tolist() == [0.0, 1.0, 2.0]
    assert theirs.as_tensor(x.detach(), device="cuda").data_ptr() == x.data_ptr()


def test_every_kernel_compiles(gpu):
    from minigrad.backend.cupy import launch
    from minigrad.backend.cupy.sources import KERNELS

    for name in KERNELS:
        for dtype in ("float16", "float32", "float64"):
            attributes = launch.kernel(name, np.dtype(dtype)).attributes
            assert attributes["max_threads_per_block"] >= launch.most_threads(name)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_random_numbers_are_numpys_model_of_them(gpu, dtype):
    count = 1 << 16 | 3
    source = gpu.generators.default()
    unit, log = (u.reshape(-1)[:count] for u in units(SEED, 0, count, dtype))

    def drawn(method, *args):
        return gpu.to_host(getattr(source.manual_seed(SEED), method)(*args))

    near = {"rtol": 3e-6 if dtype == np.float32 else 1e-12, "atol": 1e-6}
    np.testing.assert_array_equal(drawn("uniform", count, dtype), unit)
    np.testing.assert_allclose(drawn("exponential", count, dtype), -np.log(log), **near)
    normal = drawn("normal", count, dtype)
    assert abs(normal.mean()) < 0.02 and abs(normal.std() - 1) < 0.02
    half = drawn("normal", count, np.float16)
    np.testing.assert_allclose(half, drawn("normal", count, np.float32), rtol=2e-3, atol=1e-6)
    whole = words(SEED, 0, count, 4).reshape(-1)[:count]
    np.testing.assert_array_equal(drawn("randint", 0, 10, count), whole % 10)
    assert sorted(torch.randperm(1000, device="cuda").tolist()) == list(range(1000))


def test_a_captured_step_drops_anew(gpu):
    torch.manual_seed(0)
    w, step = dropped_step()
    expected = [(step().item(), w.grad.tolist()) for _ in range(6)]
    torch.manual_seed(0)
    w, step = dropped_step()
    repeat = torch.cuda.graph(step, warmup=3)
    assert [(repeat().item(), w.grad.tolist()) for _ in range(3)] == expected[3:]


@pytest.mark.skipif(not torch.backends.cudnn.is_available(),
                    reason="needs cuDNN and NVIDIA's frontend of it")
@pytest.mark.parametrize("switches", [{}, {"deterministic": True}, {"benchmark": True}], ids=str)
@pytest.mark.parametrize("case", CONVOLUTIONS.values(), ids=CONVOLUTIONS)
def test_convolutions_through_cudnn(gpu, case, switches):
    from minigrad.backend.cupy import dnn

    for dtype, near in ((np.float32, 1e-4), (np.float16, 2e-2)):
        with torch.backends.cudnn.flags(enabled=True, allow_tf32=False, **switches):
            found, expected = three(gpu, case, dtype)
        for ours, theirs in zip(found, expected, strict=True):
            np.testing.assert_allclose(gpu.to_host(ours), theirs, rtol=near, atol=near)
    planned = [key[0] for key, plan in dnn._plans.items() if plan is not None]
    assert planned, "cuDNN has no plan for anything"


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_quotients_are_rounded_down(gpu, dtype):
    compare_quotients(getattr(torch, dtype))
