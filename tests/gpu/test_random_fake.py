"""Random numbers of the device, on imaginary GPUs: the kernels' text against NumPy, and states."""

from __future__ import annotations

import numpy as np
import pytest

import minigrad as torch
from minigrad import nn
from minigrad.backend import load_cuda, random_philox
from minigrad.utils.checkpoint import checkpoint
from tests.gpu import _cuda_on_host, _fake_cupy

pytestmark = pytest.mark.skipif(_cuda_on_host.COMPILER is None,
                                reason="the kernels' text needs a C++ compiler to run on a CPU")

# -------------------------------------------------------------------- the words

# Known answers of the authors' library Random123: counter, key, words.
KNOWN = [
    ([0] * 4, [0] * 2, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
    ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
    ([0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344], [0xA4093822, 0x299F31D0],
     [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]),
]

PROBE = r"""
extern "C" __global__ void probe(u32* words, u32 key0, u32 key1) {
    if (blockIdx.x == 0 && threadIdx.x == 0) philox(words, key0, key1);
}
"""


@pytest.mark.parametrize(("counter", "key", "expected"), KNOWN)
def test_words_are_those_of_the_published_generator(fake, monkeypatch, counter, key, expected):
    from minigrad.backend.cupy import sources, sources_random

    words = np.array(counter, np.uint32)
    monkeypatch.setattr(sources, "KERNELS", {"probe": sources_random.PHILOX + PROBE})
    _cuda_on_host.run("probe", ("-DMINIGRAD_T=float", "-DMINIGRAD_W=int"),
                      (words, *np.array(key, np.uint32)))
    assert words.tolist() == expected == model(counter, key).tolist()


def model(counter, key):
    """Philox4x32-10 in NumPy; the counter's four words may be arrays."""
    c = [np.asarray(word, np.uint64) for word in counter]
    k0, k1 = key
    for _ in range(10):
        first, second = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [(second >> np.uint64(32)) ^ c[1] ^ np.uint64(k0), second & np.uint64(0xFFFFFFFF),
             (first >> np.uint64(32)) ^ c[3] ^ np.uint64(k1), first & np.uint64(0xFFFFFFFF)]
        k0, k1 = (k0 + 0x9E3779B9) % 2**32, (k1 + 0xBB67AE85) % 2**32
    return np.array(c)


def words(seed, offset, count, per):
    """The words of a draw, (per counter, counters) by the order of the elements."""
    position = np.arange(-(-count // per), dtype=np.uint64) + np.uint64(offset // 4)
    zero = np.zeros_like(position)
    return model([position & np.uint64(0xFFFFFFFF), position >> np.uint64(32), zero, zero],
                 (seed % 2**32, seed >> 32))


def units(seed, offset, count, dtype):
    """Numbers of [0, 1), and of (0, 1] for logarithms."""
    if dtype == np.float64:
        w = words(seed, offset, count, 2)
        bits = ((w[::2] << np.uint64(32) | w[1::2]) >> np.uint64(11)).astype(np.float64)
        return bits * 2.0**-53, (bits + 1) * 2.0**-53
    w = words(seed, offset, count, 4)
    near = w.astype(np.float32) * np.float32(2**-32) + np.float32(2**-33)
    return (w >> np.uint64(8)).astype(np.float32) * np.float32(2**-24), near


SEED, OFFSET = 0x0123456789ABCDEF, 4 * (2**32 - 3)  # the counter's low word runs over


@pytest.fixture
def source(fake):
    found = load_cuda().generators.default()
    found.manual_seed(SEED)
    found.offset = OFFSET
    return found


@pytest.mark.parametrize("count", [1, 6, 23])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_draws_are_numpys_model_of_them(source, dtype, count):
    flat = units(SEED, OFFSET, count, dtype)
    unit, log = (u.reshape(-1)[:count] for u in flat)
    near = {"rtol": 3e-6 if dtype == np.float32 else 1e-12, "atol": 1e-6}

    def again():
        source.offset = OFFSET

    np.testing.assert_allclose(source.uniform(count, dtype, -1, 3).host, unit * 4 - 1, **near)
    assert source.offset == OFFSET + 4 * flat[0].shape[1]
    again()
    np.testing.assert_allclose(source.exponential(count, dtype, 2.0).host, -np.log(log) / 2, **near)
    again()
    radius, angle = np.sqrt(-2 * np.log(flat[1][::2])), flat[0][1::2] * 2 * np.pi
    pairs = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).reshape(-1)[:count]
    np.testing.assert_allclose(source.normal(count, dtype, 5, 2).host, pairs * 2 + 5, **near)
    again()
    w = words(SEED, OFFSET, count, 4).reshape(-1)[:count]
    assert source.randint(-3, 7, count).host.tolist() == [int(n) % 10 - 3 for n in w]
    again()
    assert source.bernoulli(0.3, count).host.tolist() == [n < 0.3 * 2**32 for n in w]
    again()
    w = words(SEED, OFFSET, count, 2)
    whole = (w[::2] << np.uint64(32) | w[1::2]).reshape(-1)[:count].view(np.int64)
    assert source.randint(-(2**63), 2**63, count).host.tolist() == (whole ^ -(2**63)).tolist()


@pytest.mark.parametrize(("blocks", "threads"), [(1, 1), (2, 8)])
def test_numbers_do_not_depend_on_the_launch(source, monkeypatch, blocks, threads):
    expected = source.normal(50).host
    source.offset = OFFSET
    monkeypatch.setattr(_cuda_on_host, "BLOCKS", blocks)
    monkeypatch.setattr(_cuda_on_host, "THREADS", threads)
    assert (source.normal(50).host == expected).all()


# -------------------------------------------------------------------- what is drawn


def moments(x):
    return float(x.mean()), float(x.std()), float((x * x * x).mean())


def test_distributions_have_their_moments(fake):
    torch.manual_seed(0)
    count, near = 40_000, 0.03
    on = {"device": "cuda", "dtype": torch.float64}
    uniform = torch.rand(count, **on)._array.host
    assert moments(uniform) == pytest.approx((0.5, 12**-0.5, 0.25), abs=near)
    assert moments(torch.randn(count, **on)._array.host) == pytest.approx((0, 1, 0), abs=near)
    drawn = torch.zeros(count, **on).exponential_(2.0)._array.host
    assert drawn.min() > 0 and moments(drawn)[:2] == pytest.approx((0.5, 0.5), abs=near)
    for rate in (0.5, 9.0, 40.0):
        drawn = torch.poisson(torch.full((count,), rate, **on))._array.host
        assert moments(drawn)[:2] == pytest.approx((rate, rate**0.5), rel=near)
    assert 0 <= uniform.min() < uniform.max() < 1
    whole = torch.randint(-2, 3, (count,), device="cuda")._array.host
    assert np.bincount(whole + 2).tolist() == pytest.approx([count / 5] * 5, rel=0.1)
    chances = torch.tensor([0.0, 0.25, 1.0], device="cuda").expand(count // 4, 3)
    hits = torch.bernoulli(chances)._array.host.mean(0)
    assert hits.tolist() == pytest.approx([0, 0.25, 1], abs=near) and hits[0] == 0 and hits[2] == 1


def test_bounds_and_slopes(fake):
    near = torch.empty(300, device="cuda").uniform_(1, 1 + 2.0**-21)  # rounding would reach it
    assert 1 <= near.min().item() < near.max().item() < 1 + 2.0**-21
    x = torch.tensor([-1.0, -1.0, 2.0], device="cuda").expand(50, 3)
    y = nn.functional.rrelu(x, 0.25, 0.5, training=True)._array.host
    assert (y[:, 2] == 2).all() and -0.5 < y[:, :2].min() < y[:, :2].max() <= -0.25


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.int32, torch.int64, torch.bool,
                                   torch.float32])
def test_random_fills_of_every_type(fake, dtype):
    filled = torch.zeros(500, dtype=dtype, device="cuda").random_()
    assert filled.dtype is dtype
    host = filled._array.host.astype(np.float64)
    top = {"bool": 1, "float32": 2**24}.get(str(dtype)[6:]) or torch.iinfo(dtype).max
    assert host.min() >= 0 and 0.95 * top <= host.max() <= top
    assert torch.zeros(9, dtype=dtype, device="cuda").random_(1, 2).sum().item() == 9


def test_orders_and_choices(fake):
    torch.manual_seed(0)
    order = torch.randperm(40, device="cuda")
    assert order.dtype is torch.int64 and sorted(order.tolist()) == list(range(40))
    assert order.tolist() != list(range(40))
    weights = torch.tensor([[0.0, 1, 3, 0], [2, 0, 0, 2]], device="cuda")
    once = torch.multinomial(weights, 2).tolist()
    assert sorted(once[0]) == [1, 2] and sorted(once[1]) == [0, 3]
    many = torch.multinomial(weights, 4000, replacement=True)._array.host
    assert np.bincount(many[0], minlength=4).tolist() == pytest.approx([0, 1000, 3000, 0], abs=120)
    assert np.bincount(many[1], minlength=4).tolist() == pytest.approx([2000, 0, 0, 2000], abs=150)
    with pytest.raises(RuntimeError, match="either `inf`, `nan` or element < 0"):
        torch.multinomial(-weights, 1)
    with pytest.raises(RuntimeError, match="invalid multinomial distribution"):
        torch.multinomial(weights * 0, 1)


@pytest.mark.parametrize("call", [
    lambda x, g: x.uniform_(2, 1, generator=g), lambda x, g: x.normal_(0, -1, generator=g),
    lambda x, g: x.bernoulli_(2.0, generator=g), lambda x, g: x.exponential_(-1, generator=g),
    lambda x, g: x.random_(3, 3, generator=g), lambda x, g: x.long().uniform_(generator=g),
    lambda x, g: torch.bernoulli(x + 2, generator=g),
    lambda x, g: torch.multinomial(x, 9, generator=g),
])
def test_errors_are_those_of_the_cpu(fake, call):
    said = []
    for place in ("cpu", "cuda"):
        with pytest.raises((RuntimeError, NotImplementedError)) as caught:
            call(torch.ones(2, device=place), torch.Generator(place))
        said.append((caught.type, str(caught.value)))
    assert said[0] == said[1]


def test_nothing_crosses_to_the_host(fake):
    x = torch.zeros(3, 4, device="cuda")
    fake.log.clear()
    x.t().normal_()
    torch.rand(2, 3, device="cuda:1")
    torch.randn_like(x)
    torch.nn.functional.rrelu(x, training=True)
    torch.randperm(5, device="cuda")
    torch.nn.init.kaiming_uniform_(x)
    assert not {"from host", "get", "item", "bool"} & set(fake.names())


# -------------------------------------------------------------------- seeds and states


def test_a_seed_gives_the_same_numbers_on_every_device(fake):
    torch.manual_seed(5)
    first = [torch.rand(3, device=f"cuda:{i}").tolist() for i in range(2)]
    assert first[0] == first[1] and torch.cuda.initial_seed() == 5
    torch.manual_seed(5)
    assert torch.rand(3, device="cuda").tolist() == first[0] != torch.rand(3).tolist()
    torch.cuda.manual_seed(6)
    assert torch.cuda.initial_seed() == 6
    with torch.cuda.device(1):
        assert torch.cuda.initial_seed() == 5
    torch.cuda.manual_seed_all(7)
    assert [s.tolist()[:1] for s in torch.cuda.get_rng_state_all()] == [[7], [7]]
    assert torch.initial_seed() == 5
    assert torch.seed() == torch.initial_seed() == torch.cuda.initial_seed() != 5
    torch.cuda.seed_all()
    torch.cuda.seed()
    assert torch.cuda.initial_seed() != torch.initial_seed()


def test_a_seed_may_come_before_there_is_a_device(monkeypatch):
    monkeypatch.setattr(random_philox, "first_seeds", {})
    monkeypatch.setattr(torch.cuda.random, "first_seeds", random_philox.first_seeds)
    torch.manual_seed(11)
    torch.cuda.manual_seed(12)
    with _fake_cupy.installed(devices=2):
        load_cuda()
        assert torch.cuda.initial_seed() == 12
        with torch.cuda.device(1):
            assert torch.cuda.initial_seed() == 11


def test_states_are_kept_and_set_back(fake):
    torch.manual_seed(1)
    torch.rand(5, device="cuda")
    state = torch.cuda.get_rng_state()
    assert state.device.type == "cpu" and state.dtype is torch.uint8 and state.shape == (16,)
    expected = torch.randn(4, device="cuda").tolist()
    torch.cuda.set_rng_state(state)
    assert torch.randn(4, device="cuda").tolist() == expected
    torch.cuda.set_rng_state_all([state, state])
    assert torch.randn(4, device="cuda:1").tolist() == expected
    for wrong, error in ((state[:3], RuntimeError), (state.float(), TypeError), (3, TypeError)):
        with pytest.raises(error):
            torch.cuda.set_rng_state(wrong)


def test_generators_of_a_device(fake):
    one = torch.Generator(device="cuda").manual_seed(3)
    assert one.device.type == "cuda" and one.initial_seed() == 3
    torch.manual_seed(3)
    assert (torch.rand(3, device="cuda", generator=one).tolist()
            == torch.rand(3, device="cuda").tolist())
    two = one.clone_state()
    assert torch.equal(torch.randint(9, (8,), device="cuda", generator=one),
                       torch.randint(9, (8,), device="cuda", generator=two))
    assert torch.equal(one.get_state(), two.get_state())
    for place, other in (("cuda", "cpu"), ("cpu", "cuda")):
        said = f"Expected a '{place}' device type for generator but found '{other}'"
        with pytest.raises(RuntimeError, match=said):
            torch.zeros(2, device=place).normal_(generator=torch.Generator(other))


def test_fork_rng_covers_the_devices(fake):
    torch.rand(1, device="cuda")
    before = torch.cuda.get_rng_state_all()
    with torch.random.fork_rng():
        torch.manual_seed(0)
        torch.rand(9, device="cuda")
    assert all(map(torch.equal, before, torch.cuda.get_rng_state_all()))
    with torch.random.fork_rng(devices=[1]):
        torch.rand(9, device="cuda")
    assert not torch.equal(before[0], torch.cuda.get_rng_state(0))


@pytest.mark.parametrize("reentrant", [False, True])
def test_a_checkpoint_drops_the_same_twice(fake, reentrant):
    x = torch.ones(64, device="cuda", requires_grad=True)
    y = checkpoint(lambda x: nn.functional.dropout(x, 0.5), x, use_reentrant=reentrant)
    y.sum().backward()
    assert torch.equal(x.grad, y.detach()) and 0 < y.count_nonzero().item() < 64


# -------------------------------------------------------------------- dropout


def launches(machine):
    return [name for name in machine.names()
            if name not in ("ascontiguousarray", "empty", "empty_like")]


def test_dropout_is_one_launch_each_way(fake):
    x = torch.rand(200, device="cuda", requires_grad=True)
    nn.functional.dropout(x, 0.25)
    fake.log.clear()
    y = nn.functional.dropout(x, 0.25)
    assert launches(fake) == ["dropout"]
    kept = y.detach()._array.host != 0
    np.testing.assert_allclose(y.detach()._array.host, x.detach()._array.host * kept / 0.75,
                               rtol=1e-6)
    g = torch.ones_like(y)
    fake.log.clear()
    y.backward(g)
    assert launches(fake) == ["masked_scale"]
    np.testing.assert_allclose(x.grad._array.host, kept / 0.75, rtol=1e-6)
    assert 0.6 < kept.mean() < 0.9
    for layer in (nn.Dropout(0.5, inplace=True), nn.Dropout2d(0.5), nn.AlphaDropout(0.5)):
        assert layer.cuda()(torch.ones(2, 3, 4, 4, device="cuda")).shape == (2, 3, 4, 4)


# -------------------------------------------------------------------- graphs


def dropped_step():
    """A training step with dropout, and its weight."""
    w = torch.ones(6, device="cuda", requires_grad=True)
    x = torch.ones(6, device="cuda")

    def step():
        w.grad = None
        y = checkpoint(lambda w: nn.functional.dropout(w * x, 0.5), w, use_reentrant=False)
        loss = (y + torch.randn(6, device="cuda")).sum()
        loss.backward()
        return loss

    return w, step


def test_a_captured_step_draws_anew_what_it_would_draw_without(fake):
    torch.manual_seed(0)
    w, step = dropped_step()
    expected = []
    for _ in range(6):
        expected.append((step().item(), w.grad.tolist()))
    state = torch.cuda.get_rng_state()
    assert len({loss for loss, _ in expected}) == 6

    torch.manual_seed(0)
    w, step = dropped_step()
    repeat = torch.cuda.graph(step, warmup=3)
    found = []
    for _ in range(3):
        found.append((repeat().item(), w.grad.tolist()))
    assert found == expected[3:] and torch.equal(torch.cuda.get_rng_state(), state)
    torch.manual_seed(0)  # a seed set between repetitions counts
    assert repeat().item() == expected[0][0]
    fake.log.clear()
    repeat()
    assert fake.names() == ["hold_position", "launch"]


def test_several_generators_in_one_graph(fake):
    own = torch.Generator("cuda").manual_seed(4)
    graph = torch.cuda.CUDAGraph()
    graph.register_generator_state(own)
    torch.manual_seed(4)
    with torch.cuda.graph(graph):
        x = torch.rand(2, device="cuda", generator=own)
        y = torch.rand(2, device="cuda")
    graph.replay()
    first = x.tolist()
    assert first == y.tolist()
    graph.replay()
    assert x.tolist() == y.tolist() != first
    with pytest.raises(RuntimeError, match="a generator's seed cannot change while a graph is"):
        torch.cuda.graph(lambda: (torch.rand(2, device="cuda"), torch.manual_seed(1),
                                  torch.rand(2, device="cuda")), warmup=0)
    assert torch.cuda.graph(lambda: torch.rand(2, device="cuda"))().shape == (2,)
