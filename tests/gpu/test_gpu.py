"""On a real GPU: every op against NumPy, no hidden transfer, streams, graphs and mixed precision.

Skipped where CuPy or a GPU is missing: `pytest -m gpu` runs these, and nothing else does.
"""

from __future__ import annotations

import numpy as np
import pytest
from _samples import IDS, OPS
from test_cuda_fake import OPTIMIZERS, steps
from test_registry_fake import compare

import minigrad as torch
from minigrad import nn, optim

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device and CuPy"),
]


@pytest.fixture
def gpu():
    from minigrad.backend import load_cuda

    return load_cuda()


@pytest.mark.parametrize("op", OPS, ids=IDS)
def test_op_against_numpy(gpu, op):
    compare(gpu, op, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("make", OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_training_is_the_cpus(gpu, make):
    np.testing.assert_allclose(steps("cuda", make, 4), steps("cpu", make, 4), rtol=1e-3)


@pytest.mark.parametrize("index", [[0, 3], [-4, 1]])
def test_indices_out_of_range_raise(gpu, index):
    x, at = torch.arange(3.0, device="cuda"), torch.tensor(index, device="cuda")
    with pytest.raises(IndexError, match="is out of bounds for dimension 0 with size 3"):
        x[at]


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


def test_backward_on_a_side_stream(gpu):
    side = torch.cuda.Stream()
    x = torch.ones(1 << 20, device="cuda", requires_grad=True)
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = (x.sin() ** 2).sum()
    torch.cuda.current_stream().wait_stream(side)
    y.backward()
    np.testing.assert_allclose(x.grad[:3].cpu().numpy(), np.sin(2), rtol=1e-5)


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

    def step_of(module):
        optimizer = optim.SGD(module.parameters(), lr=0.05, momentum=0.9)

        def step():
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(module(x), y)
            loss.backward()
            optimizer.step()
            return loss

        return step

    plain, repeat = step_of(twin), torch.cuda.graph(step_of(net), warmup=2)
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
            assert launch.kernel(name, np.dtype(dtype)).attributes["max_threads_per_block"] >= 256
