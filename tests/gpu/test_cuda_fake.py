"""`minigrad.cuda` and devices on imaginary GPUs: what is asked of CuPy, where and when."""

from __future__ import annotations

import sys
import weakref

import numpy as np
import pytest

import minigrad as torch
import minigrad.op.apply
from minigrad import _state, nn, optim
from minigrad.backend import load_cuda
from minigrad.backend.memory_layout import holds_alone
from minigrad.op.apply import run_op
from tests.gpu import _fake_cupy
from tests.support.slow import slow_but_one_in

TRANSFERS = {"get", "item", "tolist", "bool", "from host", "get without waiting",
             "device synchronize", "stream synchronize", "event synchronize"}


def transfers(machine):
    return [name for name in machine.names() if name in TRANSFERS]


# -------------------------------------------------------------------- is there one


def test_without_cupy_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    monkeypatch.delitem(sys.modules, "minigrad.backend.cupy", raising=False)
    with pytest.raises(RuntimeError, match="needs CuPy, which comes with the extra gpu-cuda12 or "
                                           "gpu-cuda13"):
        torch.zeros(2, device="cuda")
    assert not torch.cuda.is_available() and torch.cuda.device_count() == 0


def test_without_a_driver_one_sentence_says_so():
    with _fake_cupy.installed(devices=0):
        with pytest.raises(RuntimeError, match="finds no NVIDIA driver that it can use"):
            torch.zeros(2, device="cuda")
        assert not torch.cuda.is_available()


def test_without_a_gpu_no_memory_of_one_is_in_use():
    cuda = torch.cuda
    with _fake_cupy.installed(devices=0):
        for asked in (cuda.memory_allocated, cuda.max_memory_allocated, cuda.memory_reserved,
                      cuda.max_memory_reserved):
            assert asked() == asked(0) == 0


def test_devices_are_described(fake):
    assert torch.cuda.is_available() and torch.cuda.device_count() == 2
    assert torch.cuda.get_device_name(1) == "Imaginary GPU 1"
    assert torch.cuda.get_device_capability() == (9, 0)
    assert torch.cuda.current_device() == 0
    with pytest.raises(AssertionError, match="Invalid device id"):
        torch.cuda.get_device_name(2)
    with pytest.raises(ValueError, match="Expected a cuda device, but got: cpu"):
        torch.cuda.synchronize("cpu")


# -------------------------------------------------------------------- tensors on devices


def test_factories_and_moves(fake):
    x = torch.ones(2, 3, device="cuda")
    assert x.is_cuda and x.device == torch.device("cuda:0") and x.get_device() == 0
    y = torch.zeros(2, 3, device="cuda:1")
    assert y.device.index == 1 and torch.empty_like(y).device.index == 1
    assert torch.tensor([1.0], device=1).device == torch.device("cuda", 1)
    assert x.to("cuda") is x and x.to("cuda:0") is x and y.cuda() is y
    assert x.cuda(1).device.index == 1 and x.to(y.device).device.index == 1
    assert x.cpu().device.type == "cpu" and x.cpu().tolist() == [[1.0] * 3] * 2
    assert y.new_zeros(2).device.index == 1
    with torch.cuda.device(1):
        assert torch.ones(1, device="cuda").device.index == 1 and torch.cuda.current_device() == 1
    assert torch.cuda.current_device() == 0
    assert x.type() == "torch.cuda.FloatTensor"
    assert "device='cuda:0'" in repr(x)


def test_a_move_keeps_the_order_of_memory_and_the_values(fake):
    host = torch.arange(24.0).view(2, 3, 4).permute(2, 0, 1)
    there = host.cuda()
    assert there.stride() == host.stride()
    assert there.cpu().stride() == host.stride()
    np.testing.assert_array_equal(there.cpu().numpy(), host.numpy())
    gaps = torch.arange(10.0)[::3].cuda()
    assert gaps.tolist() == [0.0, 3.0, 6.0, 9.0] and gaps.is_contiguous()


def test_moves_are_differentiable(fake):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x.cuda() * 3).to("cuda:1").double()
    assert y.device.index == 1
    (y * y).cpu().sum().backward()
    assert x.grad.device.type == "cpu" and x.grad.tolist() == [18.0, 36.0]


def test_numpy_is_refused_and_explicit_ways_work(fake):
    x = torch.ones(2, device="cuda")
    with pytest.raises(TypeError, match="can't convert cuda:0 device type tensor to numpy. Use "
                                        r"Tensor.cpu\(\)"):
        x.numpy()
    with pytest.raises(TypeError, match="can't convert cuda:0"):
        np.asarray(x)
    assert x.numpy(force=True).tolist() == [1.0, 1.0] and x.sum().item() == 2.0


@pytest.mark.parametrize("mix", [
    lambda a, b, c: a + b, lambda a, b, c: a @ b.t(), lambda a, b, c: torch.cat([a, b]),
    lambda a, b, c: a.add_(b), lambda a, b, c: nn.functional.linear(a, b),
])
def test_devices_do_not_mix(fake, mix):
    host, first, second = torch.ones(2, 2), torch.ones(2, 2).cuda(), torch.ones(2, 2).cuda(1)
    message = "Expected all tensors to be on the same device, but found at least two devices, "
    with pytest.raises(RuntimeError, match=message + "cuda:0 and cpu!"):
        mix(first, host, None)
    with pytest.raises(RuntimeError, match=message + "cuda:0 and cuda:1!"):
        mix(first, second, None)


def test_numbers_and_zero_dimensional_host_tensors_may_come_along(fake):
    x = torch.ones(2, device="cuda")
    fake.log.clear()
    assert ((x * 2 + 1 - torch.tensor(0.5)) / 2).device.type == "cuda"
    assert x.masked_fill(x > 0, 3.0).device.type == "cuda"
    assert not transfers(fake)  # numbers go along with the kernels
    assert torch.where(x > 0, x, 0.0).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("op", [torch.lt, torch.eq, torch.maximum, torch.mul, torch.true_divide],
                         ids=lambda op: op.__name__)
@pytest.mark.parametrize("turned", [False, True])
def test_a_zero_dimensional_host_tensor_on_either_side(fake, op, turned):
    number, values = torch.tensor(2.0), torch.tensor([1.0, 2.0, 3.0])
    pair = (values, number) if turned else (number, values)
    moved = (values.cuda(), number) if turned else (number, values.cuda())
    assert op(*moved).device.type == "cuda"
    assert op(*moved).tolist() == op(*pair).tolist()


def test_common_operations_run_generated_functions_on_a_device_too(fake, monkeypatch):
    slow = []

    def noted(op, values):
        slow.append(op.name)
        return run_op(op, values)

    for name in ("minigrad.op.apply", "minigrad.codegen.functions"):
        if name in sys.modules:
            monkeypatch.setattr(sys.modules[name], "run_op", noted)
    x, weight = torch.ones(4, 3).cuda(), torch.ones(2, 3).cuda().requires_grad_()
    hidden = torch.relu(nn.functional.linear(x, weight) * 2.0 - 0.5).t()
    (hidden.exp() / hidden).clamp(0.1, 9.0).mean().backward()
    assert weight.grad.device.type == "cuda" and bool(slow) is not _state.codegen
    slow.clear()
    y = torch.ones(3, device="cuda:1")
    assert (y + y).tolist() == [2.0] * 3 and slow  # away from the default device


@pytest.mark.parametrize("shape", [(3,), (4, 1), ()])
def test_what_is_summed_for_a_leaf_becomes_its_gradient_without_a_copy(fake, shape):
    bias, weight = torch.ones(shape).cuda().requires_grad_(), torch.ones(4, 3).cuda()
    out = (weight + bias).sum()
    fake.log.clear()
    out.backward()
    assert bias.grad.shape == shape and bool((bias.grad == 12 / bias.numel()).all())
    assert ("setitem" in fake.names()) is not _state.codegen
    bias.grad.zero_()
    assert weight.sum().item() == 12


def test_work_on_another_device_is_done_there(fake):
    x = torch.ones(3, device="cuda:1", requires_grad=True)
    fake.log.clear()
    loss = (x * 2).exp().sum()
    loss.backward()
    assert x.grad.device.index == 1
    assert {device for _, device, *_ in fake.log if _ not in ("record", "wait")} >= {1}
    assert torch.cuda.current_device() == 0
    assert torch.cuda.memory_allocated(1) > 0


def test_gradients_must_be_on_the_leafs_device(fake):
    x = torch.ones(2, device="cuda", requires_grad=True)
    with pytest.raises(RuntimeError, match="with device type 'cpu' to a tensor with device type "
                                           "'cuda'. Please ensure"):
        x.grad = torch.ones(2)
    with pytest.raises(RuntimeError, match="located on device with index '1' to a tensor located "
                                           "on device with index '0'. Please ensure"):
        x.grad = torch.ones(2, device="cuda:1")


def test_views_and_writes_through_them(fake):
    x = torch.zeros(2, 3, device="cuda")
    x[0].fill_(1.0)
    x.t()[2, 1] = 5.0
    x.diagonal().add_(10)
    x.unsqueeze(1).mul_(2)
    assert x.tolist() == [[22.0, 2.0, 2.0], [0.0, 20.0, 10.0]]
    assert x[1, 1:].storage_offset() == 4 and x.unsqueeze(0)[0, 1].storage_offset() == 3
    assert x.as_strided((2,), (1,), 4).tolist() == [20.0, 10.0]
    with pytest.raises(RuntimeError, match="out of bounds for storage"):
        x.as_strided((1000,), (1,))


def test_a_gradient_never_shares_memory_with_another(fake):
    x = torch.ones(1, 3, device="cuda", requires_grad=True)
    w = torch.ones(3, device="cuda", requires_grad=True)
    g = torch.ones(3, device="cuda")
    (x.squeeze(0) + w).backward(g)
    memories = {t._array.data.mem.ptr for t in (x.grad, w.grad, g)}
    assert len(memories) == 3


@pytest.mark.parametrize("index", [[0, 3], [-4, 1]])
def test_indices_out_of_range_raise_as_on_the_cpu(fake, index):
    for place in ("cpu", "cuda"):
        x = torch.arange(3.0, device=place)
        at = torch.tensor(index, device=place)
        with pytest.raises(IndexError, match="is out of bounds for dimension 0 with size 3"):
            x[at]
        with pytest.raises(IndexError, match="is out of bounds for dimension 0 with size 3"):
            x[at] = 1.0
        with pytest.raises(IndexError):
            nn.functional.embedding(at, x.view(3, 1))


def test_factorising_what_cannot_be_raises(fake):
    with pytest.raises(torch.linalg.LinAlgError):
        torch.linalg.cholesky(-torch.eye(2, device="cuda"))


@pytest.mark.parametrize("dtype", [torch.int64, torch.uint8, torch.int16, torch.float32])
def test_scatter_add_of_every_dtype(fake, dtype):
    out = torch.zeros(3, dtype=dtype, device="cuda")
    out.scatter_add_(0, torch.tensor([1, 1, 2], device="cuda"),
                     torch.tensor([1, 2, 3], dtype=dtype, device="cuda"))
    assert out.tolist() == [0, 3, 3]


@pytest.mark.parametrize("combine", ["multiply", "maximum", "minimum"])
@pytest.mark.parametrize("dtype", [torch.int64, torch.float64, torch.float16])
@pytest.mark.parametrize("count", [0, 1, 2, 65])
def test_what_repeated_places_combine_to(fake, count, dtype, combine):
    rng = np.random.default_rng(0)
    target, index = rng.integers(1, 4, 5), rng.integers(0, 5, count)
    values = rng.choice([-1, 1, 2], count, p=[0.45, 0.45, 0.1])
    found, xp = load_cuda().from_host(target.astype(dtype.numpy)), load_cuda()
    xp.combine_at(getattr(xp, combine), found, xp.from_host(index),
                  xp.from_host(values.astype(dtype.numpy)))
    getattr(np, combine).at(target, index, values)
    assert xp.to_host(found).tolist() == target.tolist()


def test_dlpack_and_the_array_interface_share_memory(fake):
    x = torch.ones(3, device="cuda")
    assert x.__dlpack_device__() == (2, 0)
    y = torch.from_dlpack(x)
    y[0] = 5.0
    assert x.tolist() == [5.0, 1.0, 1.0] and y.is_cuda
    shown = x.__cuda_array_interface__
    assert shown["shape"] == (3,) and shown["typestr"] == "<f4"
    assert shown["data"] == (x.data_ptr(), False)
    with pytest.raises(AttributeError, match="on non-CUDA tensor type"):
        torch.ones(1).__cuda_array_interface__
    assert not hasattr(torch.ones(1), "__cuda_array_interface__")
    with pytest.raises(RuntimeError, match="that requires grad"):
        torch.ones(1, device="cuda", requires_grad=True).__cuda_array_interface__


def test_pinned_and_non_blocking_copies(fake):
    host = torch.ones(4).pin_memory()
    assert "pinned memory" in fake.names() and host.tolist() == [1.0] * 4
    there = host.to("cuda", non_blocking=True)
    fake.log.clear()
    back = there.to("cpu", non_blocking=True)
    assert "get without waiting" in fake.names() and "get" not in fake.names()
    torch.cuda.synchronize()
    assert back.tolist() == [1.0] * 4
    with pytest.raises(RuntimeError, match="only dense CPU tensors can be pinned"):
        there.pin_memory()


def test_weights_move_and_come_back(fake):
    net = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)).cuda()
    assert {p.device.type for p in net.parameters()} == {"cuda"}
    assert net[1].running_mean.is_cuda
    again = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
    again.load_state_dict(net.state_dict())
    assert again[0].weight.device.type == "cpu"
    assert torch.equal(again[0].weight, net.cpu()[0].weight)


# -------------------------------------------------------------------- streams and events


def test_work_goes_to_the_stream_it_is_queued_in(fake):
    side = torch.cuda.Stream()
    x = torch.ones(2, device="cuda")
    side.wait_stream(torch.cuda.current_stream())
    fake.log.clear()
    with torch.cuda.stream(side):
        assert torch.cuda.current_stream() == side
        x * 2
    x * 3
    streams = [stream for name, _, stream, *_ in fake.log if name == "multiply"]
    assert streams == [side.cuda_stream, 0]
    assert torch.cuda.current_stream() == torch.cuda.default_stream()


def test_the_default_stream_of_another_device_is_that_devices(fake):
    other, side = torch.cuda.default_stream(1), torch.cuda.Stream(0)
    fake.log.clear()
    other.wait_stream(side)
    other.synchronize()
    found = {name: device for name, device, *_ in fake.log}
    assert found == {"record": 0, "wait": 1, "stream synchronize": 1}
    assert torch.cuda.current_device() == 0


def test_backward_runs_in_the_forwards_stream(fake):
    side = torch.cuda.Stream()
    x = torch.ones(2, device="cuda", requires_grad=True)
    with torch.cuda.stream(side):
        y = x.sin()
    loss = (y * y).sum()
    fake.log.clear()
    loss.backward()
    cosine = next(entry for entry in fake.log if entry[0] == "cos")
    assert cosine[2] == side.cuda_stream
    names = [entry[0] for entry in fake.log]
    at = names.index("cos")
    assert "wait" in names[:at] and "wait" in names[at:], "streams meet before and after"
    assert torch.cuda.current_stream() == torch.cuda.default_stream()
    np.testing.assert_allclose(x.grad.cpu().numpy(), 2 * np.sin(1) * np.cos(1), rtol=1e-6)


def test_without_streams_nodes_carry_nothing(fake):
    x = torch.ones(2, device="cuda", requires_grad=True)
    assert (x * 2).grad_fn.extras is None


def test_a_devices_current_stream_waits_for_backward_in_another(fake):
    x = torch.ones(2, device="cuda:1", requires_grad=True)
    side = torch.cuda.Stream("cuda:1")
    with torch.cuda.stream(side):
        y = x.exp()
    grad = torch.ones(2, device="cuda:1")
    fake.log.clear()
    y.backward(grad)
    at, there = fake.names().index("mul"), side.cuda_stream
    assert ("record", 1, there, 0) in fake.log[:at], "what was queued there before"
    assert ("wait", 1, 0, 0) in fake.log[at:], "what is queued there afterwards"


def test_emptying_the_cache_empties_that_of_all_devices(fake):
    torch.zeros(1000, device="cuda:1").sum()
    assert torch.cuda.memory_reserved(1) > torch.cuda.memory_allocated(1)
    torch.cuda.empty_cache()
    assert torch.cuda.memory_reserved(1) == torch.cuda.memory_allocated(1)


def test_events_take_time_and_say_what_they_lack(fake):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    torch.ones(3, device="cuda") * 2
    end.record()
    end.synchronize()
    assert end.query() and start.elapsed_time(end) > 0
    with pytest.raises(ValueError, match="created with argument 'enable_timing=True'"):
        torch.cuda.Event().elapsed_time(end)
    with pytest.raises(ValueError, match="must be recorded"):
        torch.cuda.Event(enable_timing=True).elapsed_time(end)


def test_a_stream_of_another_device(fake):
    other = torch.cuda.Stream(1)
    with other:
        assert torch.cuda.current_device() == 1 and torch.cuda.current_stream() == other
        assert torch.ones(1, device="cuda").device.index == 1
    assert torch.cuda.current_device() == 0
    assert other.device == torch.device("cuda:1") and other.query()


# -------------------------------------------------------------------- memory


def test_memory_is_counted_and_has_a_peak(fake):
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    x = torch.zeros(1000, device="cuda")
    assert torch.cuda.memory_allocated() - before == 4096
    y = x + 1
    del y
    assert torch.cuda.memory_allocated() - before == 4096
    assert torch.cuda.max_memory_allocated() - before == 8192
    torch.cuda.reset_peak_memory_stats()
    assert torch.cuda.max_memory_allocated() - before == 4096
    del x
    torch.cuda.empty_cache()
    assert torch.cuda.memory_reserved() == torch.cuda.memory_allocated() == before
    free, total = torch.cuda.mem_get_info()
    assert 0 < free <= total


def test_the_peak_is_the_most_that_was_in_use(fake):
    rng, held, most = np.random.default_rng(0), [], 0
    used = torch.cuda.memory_allocated
    for turn in range(300):
        if turn % 100 == 0:
            torch.cuda.reset_peak_memory_stats()
            most = used()
        if rng.random() < 0.5 and held:
            held.pop(rng.integers(len(held)))
        else:
            held.append(torch.empty(int(rng.integers(1, 5000)), device="cuda"))
        most = max(most, used())
        assert torch.cuda.max_memory_allocated() == most
    asked = fake.pool.asked
    for _ in range(100):  # far below the peak nothing is added up
        torch.empty(1, device="cuda")
    assert fake.pool.asked - asked < 5



# -------------------------------------------------------------------- whole steps


def small_net():
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(),
                         nn.MaxPool2d(3, 2, 1), nn.Flatten(), nn.Linear(64, 8), nn.GELU(),
                         nn.LayerNorm(8), nn.Linear(8, 5))


def steps(place, make, count):
    """Return the losses of some training steps."""
    net = small_net().to(place)
    optimizer = make(net.parameters())
    x, y = torch.randn(2, 3, 8, 8).to(place), torch.tensor([1, 3]).to(place)
    losses = []
    for _ in range(count):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


OPTIMIZERS = {
    "sgd": lambda p: optim.SGD(p, lr=0.05, momentum=0.9, weight_decay=0.01),
    "adam": lambda p: optim.Adam(p, lr=0.01), "adamw": lambda p: optim.AdamW(p, lr=0.01),
    "rmsprop": lambda p: optim.RMSprop(p, lr=0.01), "adagrad": lambda p: optim.Adagrad(p, lr=0.1),
}


@pytest.mark.parametrize("make", slow_but_one_in(3, OPTIMIZERS.values()), ids=OPTIMIZERS)
def test_training_is_the_cpus(fake, make):
    np.testing.assert_allclose(steps("cuda", make, 4), steps("cpu", make, 4), rtol=2e-4)


def test_a_training_step_looks_at_nothing_but_its_labels(fake):
    net = small_net().cuda()
    optimizer = optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    x, y = torch.randn(2, 3, 8, 8).cuda(), torch.tensor([1, 3]).cuda()

    def step():
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()

    step()
    fake.log.clear()
    step()
    assert transfers(fake) == ["bool"], "whether the labels are classes, and nothing else"


def step_of(net, optimizer, x, y):
    """Return a step of training that gives its loss, as graphs capture it."""

    def step():
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return step


def test_a_captured_step_repeats_it_on_new_data(fake):
    net = small_net().cuda()
    optimizer = optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    x, y = torch.randn(2, 3, 8, 8).cuda(), torch.tensor([1, 3]).cuda()

    repeat = torch.cuda.graph(step_of(net, optimizer, x, y), warmup=2)
    fake.log.clear()
    losses = [repeat().item() for _ in range(3)]
    assert [name for name in fake.names() if name != "item"] == ["launch"] * 3
    expected = steps("cpu", lambda p: optim.SGD(p, lr=0.05, momentum=0.9), 5)
    np.testing.assert_allclose(losses, expected[2:], rtol=2e-4)
    x.copy_(torch.randn(2, 3, 8, 8).cuda())
    assert abs(repeat().item() - losses[-1]) > 1e-3


def test_what_looks_at_values_cannot_be_captured(fake):
    x = torch.ones(3, device="cuda")
    with pytest.raises(RuntimeError, match="not permitted when stream is capturing"):
        torch.cuda.graph(lambda: x.sum().item())
    assert not torch.cuda.is_current_stream_capturing()
    assert torch.cuda.current_stream() == torch.cuda.default_stream()


@pytest.mark.parametrize("work", [
    lambda x, at: x.scatter(0, at, 2.0), lambda x, at: x.masked_fill(x > 1, 2.0),
    lambda x, at: x.index_put((at,), torch.tensor(2.0, device=x.device)),
    lambda x, at: x * torch.tensor(2.0).to(x.device), lambda x, at: torch.full_like(x, 2.0),
    lambda x, at: torch.where(x > 1, x, 2.0),
], ids=["scatter", "masked_fill", "index_put", "move", "full", "where"])
def test_numbers_may_go_to_the_device_in_a_capture(fake, work):
    host = torch.tensor([1.0, 3.0, 2.0, 0.0]), torch.tensor([0, 2])
    there = [x.cuda() for x in host]
    assert torch.cuda.graph(lambda: work(*there))().tolist() == work(*host).tolist()


def test_a_number_for_elements_that_an_index_names_cannot_be_captured(fake):
    x, at = torch.zeros(4, device="cuda"), torch.tensor([0, 2]).cuda()
    with pytest.raises(RuntimeError, match="not permitted when stream is capturing"):
        torch.cuda.graph(lambda: x.__setitem__(at, 2.0))


def test_a_negative_zero_stays_one(fake):
    x = torch.tensor(-0.0).cuda()
    assert torch.signbit(x).item() and not torch.signbit(torch.tensor(0.0).cuda()).item()


def test_pytorchs_way_to_capture(fake):
    x = torch.ones(3, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with pytest.raises(RuntimeError, match="without a preceding successful capture"):
        graph.replay()
    with torch.cuda.graph(graph):
        y = x * 2
    x.fill_(4.0)
    graph.replay()
    assert y.tolist() == [8.0] * 3


def reserved(fake):
    """Return the bytes in pools that graphs made."""
    return sum(pool.total_bytes() for pool in fake.pools)


def test_wrong_captures_and_replays_raise(fake):
    x = torch.ones(2, device="cuda")
    with pytest.raises(RuntimeError, match="must be captured on a non-default stream"):
        torch.cuda.CUDAGraph().capture_begin()
    with pytest.raises(RuntimeError, match="without capture_begin"):
        torch.cuda.CUDAGraph().capture_end()
    graph = torch.cuda.CUDAGraph()
    with pytest.raises(RuntimeError, match=r"pool\(\) without a preceding successful capture"):
        graph.pool()
    with torch.cuda.graph(graph, pool=torch.cuda.graph_pool_handle()):
        y = x * 2
    pool = graph.pool()
    with pytest.raises(RuntimeError, match="already owns a captured graph"), (
            torch.cuda.graph(graph)):
        pass
    graph.replay()
    assert graph.pool() is pool and y.tolist() == [2.0, 2.0]
    graph.reset()
    with torch.cuda.graph(graph):
        y = x * 3
    graph.replay()
    assert y.tolist() == [3.0, 3.0]


def test_a_graphs_memory_goes_back(fake):
    x = torch.ones(1000, device="cuda")
    repeat = torch.cuda.graph(lambda: x * 2)
    assert reserved(fake) >= x.nbytes
    del repeat
    assert reserved(fake) == 0


def test_memory_that_graphs_share_goes_back_with_the_last(fake):
    x = torch.ones(1000, device="cuda")
    first = torch.cuda.graph(lambda: (x * 2).exp().log())
    second = torch.cuda.graph(lambda: x * 3, pool=first.graph.pool())
    del first
    assert reserved(fake) >= 2 * x.nbytes, "the second one may write where the first one worked"
    assert second()[:2].tolist() == [3.0, 3.0]
    second.graph.reset()
    assert reserved(fake) == 0


def test_what_a_graph_reads_lives_as_long(fake):
    def scaled(by):
        factor, x = torch.full((2,), by, device="cuda"), torch.ones(2, device="cuda")
        return torch.cuda.graph(lambda: x * factor), weakref.ref(factor)

    repeat, factor = scaled(3.0)
    assert factor() is not None and repeat().tolist() == [3.0, 3.0]
    repeat.graph.reset()
    assert factor() is None


def test_a_tensor_outlives_its_graph(fake):
    x = torch.ones(1000, device="cuda")
    repeat = torch.cuda.graph(lambda: x * 2)
    result = repeat()
    del repeat
    assert result[:2].tolist() == [2.0, 2.0] and reserved(fake) >= x.nbytes
    del result
    torch.cuda.empty_cache()
    assert reserved(fake) == 0


def test_autocast_and_scaler_on_the_device(fake):
    w = torch.ones(3, 3, device="cuda", requires_grad=True)
    x = torch.ones(2, 3, device="cuda")
    optimizer, scaler = optim.SGD([w], lr=0.5), torch.amp.GradScaler("cuda", init_scale=4.0)
    with torch.autocast("cuda"):
        y = x @ w
        loss = nn.functional.mse_loss(y, torch.zeros(2, 3, device="cuda"))
    assert y.dtype is torch.float16 and loss.dtype is torch.float32
    scaler.scale(loss).backward()
    fake.log.clear()
    scaler.step(optimizer)
    scaler.update()
    assert transfers(fake) == ["item"], "one question for all gradients"
    assert w.grad.tolist() == [[2.0] * 3] * 3 and w.tolist() == [[0.0] * 3] * 3


def test_registering_again_changes_nothing(fake):
    assert load_cuda() is load_cuda()


def test_nvtx_ranges(fake):
    with torch.cuda.nvtx.range("mine"):
        pass
    assert [entry[0] for entry in fake.log] == ["push", "pop"]


def test_profiles_take_times_on_the_gpu(fake):
    x = torch.ones(4, 4, device="cuda", requires_grad=True)
    with torch.autograd.profiler.profile(use_cuda=True) as record:
        fake.log.clear()
        (x @ x).exp().sum().backward()
        names = fake.names()
    at = names.index("exp")  # each op stands between two events in its stream
    assert "record" in names[:at] and "record" in names[at:]
    averages = {event.key: event for event in record.key_averages()}
    for key in ("aten::exp", "ExpBackward", "aten::mm"):
        assert averages[key].cuda_time_total > 0
        assert averages[key].self_cuda_time_total <= averages[key].device_time_total
    table = record.key_averages().table(sort_by="self_cuda_time_total")
    assert "Self CUDA" in table and "CUDA time avg" in table
    with torch.autograd.profiler.profile() as plain:
        x * 2
    assert "CUDA" not in plain.key_averages().table()


def test_emit_nvtx_marks_ops_and_nodes(fake):
    x = torch.ones(2, device="cuda", requires_grad=True)
    fake.log.clear()
    with torch.autograd.profiler.emit_nvtx():
        x.sin().sum().backward()
    pushed = [entry[3].partition(",")[0] for entry in fake.log if entry[0] == "push"]
    assert "aten::sin" in pushed and "SinBackward" in {name.rstrip("0") for name in pushed}
    assert fake.names().count("push") == fake.names().count("pop")


def test_a_leaf_takes_a_gradient_that_nobody_else_holds(fake):
    """What `t` gives back is a view of a whole array, which the memory's references tell alone."""
    w = torch.ones(4, 3, device="cuda", requires_grad=True)
    x = torch.ones(2, 3, device="cuda")
    (x @ w.t()).sum().backward()
    assert "setitem" not in fake.names() and w.grad.tolist() == [[2.0] * 3] * 4
    xp = load_cuda()
    for keep in (lambda a: a, lambda a: a.T, lambda a: a[:1], lambda a: a.reshape(-1),
                 lambda a: xp.as_strided(a, (2,), (4,)), lambda a: xp.as_strided(a, (), ()).base):
        whole = xp.empty((2, 3))
        view, kept = whole.T, keep(whole)
        del whole
        assert not holds_alone(view)
        del kept
        assert holds_alone(view)


def test_launches_of_a_step(fake):
    """Batch norm sums over its channels once in backward, for all three gradients."""
    net = nn.Sequential(nn.BatchNorm2d(3), nn.ReLU()).cuda()
    x = torch.randn(2, 3, 4, 4, device="cuda", requires_grad=True)
    g = torch.randn(2, 3, 4, 4, device="cuda")
    fake.log.clear()
    y = net(x)
    forward = set(fake.names()) - {"empty", "empty_like", "ascontiguousarray", "astype"}
    assert forward == {"add", "channel_parts", "channel_moments", "channel_normalize",
                       "move_moments", "relu"}
    fake.log.clear()
    y.backward(g)
    launched = ["relu_gradient", "channel_products", "channel_totals", "channel_gradient"]
    assert [name for name in fake.names() if name.startswith(("relu", "channel"))] == launched
    assert not {"where", "less_equal", "einsum", "mul"} & set(fake.names())


@pytest.mark.parametrize(("function", "kernels"), [
    (torch.relu, ["relu", "relu_gradient"]),
    (nn.functional.gelu, ["gelu", "gelu_gradient"]),
    (lambda x: torch.softmax(x, 1), ["softmax", "softmax_gradient"]),
    (lambda x: torch.log_softmax(x, -1), ["softmax", "softmax_gradient"]),
    (lambda x: nn.functional.max_pool2d(x, 2), ["max_pool", "max_pool_gradient"]),
    (lambda x: nn.functional.layer_norm(x, (4,)), ["layer_norm", "layer_norm_gradient"]),
    (lambda x: nn.functional.nll_loss(x[0, 0], torch.zeros(4, dtype=torch.int64).cuda()),
     ["nll_sums", "nll_gradient"]),
])
def test_each_way_is_one_kernel(fake, function, kernels):
    """The device's own kernels run in place of forward and formula, with the host's results."""
    torch.manual_seed(0)
    x = torch.randn(2, 3, 4, 4)
    ours, hosts = x.cuda().requires_grad_(), x.clone().requires_grad_()
    y = function(ours)
    g = torch.linspace(-1, 1, y.numel()).reshape(y.shape)
    y.backward(g.cuda())
    assert [name for name in fake.names() if name in kernels] == kernels
    if kernels[0] != "nll_sums":
        function(hosts).backward(g)
        assert torch.allclose(ours.grad.cpu(), hosts.grad, atol=1e-5)


@pytest.mark.parametrize("wanted", [(0,), (1,), (2,), (0, 2), (1, 2)])
def test_each_gradient_of_batch_norm_may_be_asked_for_alone(fake, wanted):
    found = []
    for place in ("cpu", "cuda"):
        torch.manual_seed(0)
        leaves = [torch.randn(size).to(place) for size in ((2, 3, 4), (3,), (3,))]
        for i in wanted:
            leaves[i].requires_grad_()
        y = nn.functional.batch_norm(leaves[0], None, None, *leaves[1:], training=True)
        y.backward(torch.arange(24.0).reshape(2, 3, 4).to(place))
        found.append([None if x.grad is None else x.grad.cpu().numpy() for x in leaves])
    for ours, theirs in zip(*found, strict=True):
        assert (ours is None) == (theirs is None)
        np.testing.assert_allclose(ours if ours is not None else 0.0,
                                   theirs if theirs is not None else 0.0, rtol=1e-4, atol=1e-4)


def compare_quotients(dtype):
    """Compare quotients that are rounded down with the CPU's, and a gradient that has one."""
    a = torch.tensor([1.0, np.inf, -1.0, 1.0, 5.0, -6.0, 0.0, -1.0, -0.0, 6.0], dtype=dtype)
    b = torch.tensor([0.1, 2.0, 0.1, 0.0, -2.0, 0.2, 0.0, np.inf, 3.0, 0.2], dtype=dtype)
    for left, right in ((a, b), (a, 0.1), (1.0, b)):
        expected = (left // right).numpy()
        found = ((left.cuda() if left is a else left) // (right.cuda() if right is b else right))
        found = found.cpu().numpy()
        np.testing.assert_array_equal(found, expected)
        zeros = expected == 0
        np.testing.assert_array_equal(np.signbit(found[zeros]), np.signbit(expected[zeros]))
    x, y = (t[:1].cuda().requires_grad_() for t in (a, b))
    (x % y).backward()
    assert y.grad.item() == -(a[:1] // b[:1]).item()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of NumPy in CuPy's place, which has none
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_quotients_are_rounded_down(fake, dtype):
    compare_quotients(getattr(torch, dtype))
