"""The random numbers are PyTorch's: golden numbers, then PyTorch itself, states included."""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from minigrad.backend import fused
from minigrad.backend.random_mt import DEFAULT_SEED, MersenneTwister

FLOATS = [np.float16, np.float32, np.float64]
INTEGERS = [np.uint8, np.int8, np.int16, np.int32, np.int64, np.bool_]
SEEDS = [0, 1, 42, -3, 2**32 + 7, 2**64 - 1, -(2**63)]
SIZES = [0, 1, 2, 3, 7, 14, 15, 16, 17, 31, 32, 33, 47, 100, 623, 624, 625, 5000]


def from_hex(*numbers: str) -> list[float]:
    return [float.fromhex(number) for number in numbers]


# Golden numbers, made by PyTorch 2.13 after torch.manual_seed(0), one call after the other.


def test_golden_sequence() -> None:
    random = MersenneTwister(0)
    assert random.uniform(4).tolist() == from_hex(
        "0x1.fc2abp-2", "0x1.89545ep-1", "0x1.6a675p-4", "0x1.0e66p-3"
    )
    assert random.uniform(3, np.float64).tolist() == from_hex(
        "0x1.d6687b744a5f6p-2", "0x1.d76c3d8e57d67p-1", "0x1.4a4099fa1ded3p-1"
    )
    assert random.normal(3).tolist() == from_hex(
        "0x1.4875f8p-3", "-0x1.3680c6p-1", "-0x1.90edc8p-1"
    )
    assert random.normal(17).tolist() == from_hex(
        "0x1.222008p-1", "0x1.fcc0ep-3", "0x1.c23fap-2", "0x1.cc6facp-4", "0x1.4815fp-1",
        "0x1.c3be78p-2", "-0x1.ba1684p-3", "-0x1.7c2f46p-1", "0x1.201d04p-1", "0x1.ae242ep-5",
        "0x1.0bb45ep-1", "0x1.26aeaap+1", "-0x1.78096ep+0", "-0x1.96313cp+0", "0x1.340678p+0",
        "0x1.5a410ep-4", "-0x1.333c56p+0",
    )
    assert random.normal(16, np.float16).tolist() == [
        0.1778564453125, -0.2303466796875, -0.391845703125, 0.54345703125, -0.395263671875,
        0.20556640625, -0.450439453125, -0.5732421875, 3.41015625, -1.53125, -1.234375,
        1.8193359375, -0.5517578125, -1.3251953125, 0.1885986328125, -0.069091796875,
    ]
    np.testing.assert_array_max_ulp(
        random.normal(16, np.float64),
        np.array([
            2.282426997133331, -0.8827263771024026, 0.6024184596320747, -0.5914098608385674,
            1.2152343964958534, -1.214003035146356, -0.9712935347054689, 0.6619458330822282,
            0.1419929337793272, 1.701672688677523, 1.0792368042983245, -0.6360554528115856,
            0.17554443616183238, 0.03323020640886181, 0.6581958473501329, -1.0846963401732275,
        ]),
        maxulp=4,
    )
    assert random.randint(-5, 100, 6).tolist() == [17, 75, 91, 86, 55, 39]
    assert random.randint(0, 2**40, 2).tolist() == [26208082884, 202760581759]
    assert random.randperm(10).tolist() == [8, 3, 6, 9, 2, 1, 0, 4, 7, 5]
    assert random.bernoulli(0.5, 8).tolist() == [0, 0, 1, 1, 0, 0, 1, 1]
    assert random.exponential(3, rate=2.0).tolist() == from_hex(
        "0x1.fda024p-1", "0x1.e2b4f8p-5", "0x1.a8826p-1"
    )
    weights = np.array([1, 2, 3, 4], dtype=np.float32)
    assert random.multinomial(weights, 3).tolist() == [2, 3, 1]
    assert random.multinomial(weights, 5, replacement=True).tolist() == [0, 1, 1, 1, 2]
    assert random.uniform(3, low=-0.1, high=0.3).tolist() == from_hex(
        "0x1.d8d34ep-5", "0x1.35bf4ep-6", "0x1.f79e8p-5"
    )
    assert random.get_state().view(np.uint32)[:7].tolist() == [0, 0, 464, 1, 161, 0, 2443250962]
    assert random.randint(0, 2**31, ()) == 1779245987


def test_golden_large_seed() -> None:
    random = MersenneTwister(1234567890123)
    assert random.uniform(2).tolist() == [0.35532909631729126, 0.050422072410583496]
    assert random.randint(0, 1000, 3).tolist() == [988, 124, 608]


# Seeds, states and errors


def test_seeds() -> None:
    random = MersenneTwister()
    assert random.initial_seed() == DEFAULT_SEED
    assert random.manual_seed(-5).initial_seed() == 2**64 - 5
    chosen = random.seed()
    assert random.initial_seed() == chosen != random.seed()
    for seed in (2**64, -(2**63) - 1):
        with pytest.raises(ValueError, match="Overflow when unpacking long long"):
            random.manual_seed(seed)


@pytest.mark.parametrize("drawn", [0, 1, 5, 623, 624, 625])
def test_a_state_brings_the_sequence_back(drawn: int) -> None:
    random = MersenneTwister(3)
    random.random_raw(drawn)
    random.normal(drawn % 2)
    state = random.get_state()
    first = random.normal(3), random.uniform(700), random.randperm(5)
    other = MersenneTwister(99)
    other.set_state(state)
    assert (other.get_state() == state).all()
    assert other.initial_seed() == 3
    for made, expected in zip((other.normal(3), other.uniform(700), other.randperm(5)), first):
        assert (made == expected).all()


def test_a_state_is_a_copy() -> None:
    random = MersenneTwister(3)
    state = random.get_state()
    random.set_state(state)
    state[:] = 0
    assert (random.uniform(3) == MersenneTwister(3).uniform(3)).all()


def test_reseeding_forgets_the_kept_normal_number() -> None:
    random = MersenneTwister(3)
    first = random.normal(1)
    random.manual_seed(3)
    assert random.normal(1) == first


def test_wrong_states_raise() -> None:
    random = MersenneTwister(0)
    with pytest.raises(
        RuntimeError, match="of size 5056 but found the input RNG state size to be 3"
    ):
        random.set_state(np.zeros(3, np.uint8))
    with pytest.raises(RuntimeError, match="Invalid mt19937 state"):
        random.set_state(np.zeros(5056, np.uint8))
    with pytest.raises(TypeError, match=r"must be a torch\.ByteTensor"):
        random.set_state(np.zeros(5056, np.float32))


WRONG: list[tuple[Callable[[MersenneTwister], Any], str, str]] = [
    (lambda r: r.uniform(2, low=2, high=1), "t.empty(2).uniform_(2, 1)", "found from=2 > to=1"),
    (lambda r: r.normal(2, std=-1), "t.empty(2).normal_(0, -1)", "found std -1"),
    (lambda r: r.randint(5, 5, 2), "t.randint(5, 5, (2,))", "got from=5 >= to=5"),
    (
        lambda r: r.randint(0, 300, 2, np.uint8),
        "t.randint(0, 300, (2,), dtype=t.uint8)",
        "to - 1 is out of bounds for unsigned char",
    ),
    (
        lambda r: r.randint(-40000, 3, 2, np.int16),
        "t.randint(-40000, 3, (2,), dtype=t.int16)",
        "from is out of bounds for short int",
    ),
    (
        lambda r: r.randint(0, 3, 2, np.bool_),
        "t.randint(0, 3, (2,), dtype=t.bool)",
        "to - 1 is out of bounds for bool",
    ),
    (
        lambda r: r.randint(0, 70000, 2, np.float16),
        "t.randint(0, 70000, (2,), dtype=t.float16)",
        "to - 1 is out of bounds for c10::Half",
    ),
    (lambda r: r.randperm(-1), "t.randperm(-1)", "negative dimension -1"),
    (lambda r: r.bernoulli(2.0, 2), "t.empty(2).bernoulli_(2.)", "but got p=2"),
    (
        lambda r: r.bernoulli(np.array([1.5])),
        "t.bernoulli(t.tensor([1.5]))",
        "Expected p_in >= 0 && p_in <= 1 to be true",
    ),
    (lambda r: r.exponential(2, rate=-1), "t.empty(2).exponential_(-1.)", "found lambda=-1"),
    (lambda r: r.multinomial(np.ones(2), 0), "t.multinomial(t.ones(2), 0)", "n_sample <= 0"),
    (
        lambda r: r.multinomial(np.ones(2), 3),
        "t.multinomial(t.ones(2), 3)",
        "samples without replacement",
    ),
    (
        lambda r: r.multinomial(np.array([-1.0, 2.0]), 1),
        "t.multinomial(t.tensor([-1., 2.]), 1)",
        "either `inf`, `nan` or element < 0",
    ),
    (
        lambda r: r.multinomial(np.zeros(2), 1),
        "t.multinomial(t.zeros(2), 1)",
        "sum of probabilities <= 0",
    ),
]


@pytest.mark.parametrize(("call", "torch_call", "message"), WRONG, ids=[row[1] for row in WRONG])
def test_wrong_arguments_raise(call: Any, torch_call: str, message: str) -> None:
    with pytest.raises(RuntimeError) as caught:
        call(MersenneTwister(0))
    assert message in str(caught.value)


@pytest.mark.parametrize(("call", "torch_call", "message"), WRONG, ids=[row[1] for row in WRONG])
def test_messages_agree_with_torch(call: Any, torch_call: str, message: str) -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    with pytest.raises(RuntimeError) as ours:
        call(MersenneTwister(0))
    with pytest.raises(RuntimeError) as theirs:
        eval(torch_call, {"t": torch})
    assert str(ours.value) == str(theirs.value)


# The numbers' own properties


@pytest.mark.parametrize("dtype", FLOATS)
def test_the_upper_bound_is_left_out(dtype: Any) -> None:
    values = MersenneTwister(0).uniform(200_000, dtype)
    assert values.dtype == dtype
    assert values.min() >= 0 and values.max() < 1


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("count", [1999, 2000, 32768, 32769, 70_000])
def test_uniform_numbers_come_alike_however_many_there_are(count: int, dtype: Any) -> None:
    at_once, in_parts = MersenneTwister(1), MersenneTwister(1)
    numbers = at_once.uniform(count, dtype, -0.3, 0.7)
    parts = [in_parts.uniform(min(999, count - i), dtype, -0.3, 0.7) for i in range(0, count, 999)]
    assert numbers.tobytes() == np.concatenate(parts).tobytes()
    assert at_once.get_state().tobytes() == in_parts.get_state().tobytes()
    out = np.empty((count, 1), dtype)
    assert MersenneTwister(1).uniform(out.shape, dtype, -0.3, 0.7, out) is out
    assert out.tobytes() == numbers.tobytes()


def test_shapes() -> None:
    random = MersenneTwister(0)
    assert random.uniform((2, 3)).shape == random.normal((2, 3)).shape == (2, 3)
    assert random.normal(()).shape == random.randint(0, 2, ()).shape == ()
    assert random.bernoulli(np.array([[0.0], [1.0]]), (2, 3)).tolist() == [[0, 0, 0], [1, 1, 1]]
    assert random.multinomial(np.ones((4, 5)), 2).shape == (4, 2)


def test_threads_share_one_sequence() -> None:
    random = MersenneTwister(5)
    made: list[list[float]] = []

    def draw() -> None:
        for _ in range(200):
            made.append(random.normal(2, np.float64).tolist())

    threads = [threading.Thread(target=draw) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    alone = MersenneTwister(5)
    expected = [alone.normal(2, np.float64).tolist() for _ in range(800)]
    assert sorted(made) == sorted(expected)
    assert (random.get_state() == alone.get_state()).all()


def test_fused_multiply_add_rounds_once() -> None:
    # (1 + e)(1 - e) - 1 is -e*e exactly; a product rounded first gives 0.
    for dtype in (np.float32, np.float64):
        e = np.finfo(dtype).eps
        made = fused.multiply_add(np.array([1 + e], dtype), dtype(1 - e), dtype(-1))
        assert made.dtype == dtype
        assert made[0] == -e * e


def test_float32_functions_are_close_to_float64() -> None:
    x = np.linspace(2**-24, 1, 100_001).astype(np.float32)
    np.testing.assert_allclose(fused.log(x), np.log(x.astype(np.float64)), rtol=2e-7, atol=1e-9)
    x = np.linspace(0, 2 * np.pi, 100_001).astype(np.float32)
    for made, exact in zip(fused.sincos(x), (np.sin, np.cos)):
        np.testing.assert_allclose(made, exact(x.astype(np.float64)), atol=1e-7)


# Against PyTorch


class Pair:
    """Our generator and PyTorch's, asked for the same numbers."""

    def __init__(self, seed: int) -> None:
        self.torch = pytest.importorskip("torch", reason="compares with PyTorch")
        self.ours = MersenneTwister(seed)
        self.theirs = self.torch.Generator()
        self.theirs.manual_seed(seed)

    def dtype(self, dtype: Any) -> Any:
        return self.torch.from_numpy(np.zeros(1, dtype)).dtype

    def check(self, made: np.ndarray, expected: Any, maxulp: int = 0) -> None:
        expected = expected.numpy()
        assert made.shape == expected.shape
        assert made.dtype == expected.dtype
        if maxulp:
            np.testing.assert_array_max_ulp(made, expected, maxulp)
        else:
            np.testing.assert_array_equal(made, expected)
        self.check_states()

    def check_states(self) -> None:
        made, expected = self.ours.get_state(), self.theirs.get_state().numpy()
        kept = slice(5024, 5032)
        np.testing.assert_array_max_ulp(
            made[kept].view(np.float64), expected[kept].view(np.float64), 4
        )
        # The kept number has passed through the C library's functions; the rest is exact.
        made[kept] = expected[kept]
        assert (made == expected).all()

    def empty(self, shape: Any, dtype: Any) -> Any:
        return self.torch.empty(shape, dtype=self.dtype(dtype))

    def uniform(self, size: int, dtype: Any, low: float, high: float) -> None:
        expected = self.empty(size, dtype).uniform_(low, high, generator=self.theirs)
        self.check(self.ours.uniform(size, dtype, low, high), expected)

    def normal(self, size: int, dtype: Any, mean: float, std: float) -> None:
        expected = self.empty(size, dtype).normal_(mean, std, generator=self.theirs)
        # Below 16 and in float64 the C library's functions enter.
        loose = 4 if size < 16 or dtype == np.float64 else 0
        self.check(self.ours.normal(size, dtype, mean, std), expected, loose)

    def exponential(self, size: int, dtype: Any, rate: float) -> None:
        expected = self.empty(size, dtype).exponential_(rate, generator=self.theirs)
        self.check(self.ours.exponential(size, dtype, rate), expected, 4)

    def bernoulli(self, size: int, dtype: Any, p: float) -> None:
        expected = self.empty(size, dtype).bernoulli_(p, generator=self.theirs)
        self.check(self.ours.bernoulli(p, size, dtype), expected)

    def bernoulli_array(self, size: int, dtype: Any) -> None:
        p = np.linspace(0, 1, size).astype(dtype)
        expected = self.torch.bernoulli(self.torch.from_numpy(p), generator=self.theirs)
        self.check(self.ours.bernoulli(p), expected)

    def randint(self, low: int, high: int, shape: Any, dtype: Any) -> None:
        expected = self.torch.randint(
            low, high, shape, dtype=self.dtype(dtype), generator=self.theirs
        )
        self.check(self.ours.randint(low, high, shape, dtype), expected)

    def randperm(self, size: int) -> None:
        self.check(self.ours.randperm(size), self.torch.randperm(size, generator=self.theirs))

    def multinomial(self, p: np.ndarray, count: int, replacement: bool) -> None:
        expected = self.torch.multinomial(
            self.torch.from_numpy(p), count, replacement, generator=self.theirs
        )
        self.check(self.ours.multinomial(p, count, replacement), expected)


def test_a_new_generator_agrees_with_torch() -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    assert (MersenneTwister().get_state() == torch.Generator().get_state().numpy()).all()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_real_numbers_agree_with_torch(dtype: Any, seed: int) -> None:
    pair = Pair(seed)
    for size in SIZES:
        for low, high in ((0, 1), (-0.3, 0.7), (2, 3.7), (5, 5)):
            pair.uniform(size, dtype, low, high)
        for mean, std in ((0, 1), (0, 0.02), (5, 0.3), (1, 0)):
            pair.normal(size, dtype, mean, std)
        pair.exponential(size, dtype, 2.5)
        pair.bernoulli(size, dtype, 0.3)
        pair.bernoulli_array(size, dtype)


@pytest.mark.parametrize("seed", SEEDS)
def test_whole_numbers_agree_with_torch(seed: int) -> None:
    pair = Pair(seed)
    for low, high in (
        (0, 10), (-5, 7), (0, 1), (0, 2**28 - 1), (0, 2**28), (-(2**31), 2**31),
        (-(2**62), 2**63 - 1), (-(2**63), 2**63 - 1),
    ):
        pair.randint(low, high, (3, 50), np.int64)
    for dtype in (*INTEGERS, *FLOATS):
        pair.randint(0, 2, (40,), dtype)
    pair.randint(-100, 100, (40,), np.int8)
    for size in (0, 1, 2, 3, 10, 1000):
        pair.randperm(size)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_multinomial_agrees_with_torch(dtype: Any, seed: int) -> None:
    pair = Pair(seed)
    # Without replacement PyTorch's order among equals is arbitrary, and float16 has many equals.
    weights = np.random.default_rng(0).random((4, 50)).astype(dtype)
    for count in (1, 3, 60):
        pair.multinomial(weights, count, True)
        pair.multinomial(weights[0], count, True)
    pair.multinomial(weights, 1, False)
    if dtype != np.float16:
        pair.multinomial(weights, 20, False)
        pair.multinomial(weights[0], 50, False)


def test_a_long_normal_sequence_agrees_with_torch() -> None:
    Pair(1).normal(300_001, np.float32, 0, 1)


@pytest.mark.parametrize("seed", range(20))
def test_mixed_calls_agree_with_torch(seed: int) -> None:
    pair = Pair(seed)
    choose = np.random.default_rng(seed)
    for _ in range(60):
        size, dtype = int(choose.integers(0, 40)), FLOATS[choose.integers(3)]
        match choose.integers(6):
            case 0:
                pair.uniform(size, dtype, -1, 1)
            case 1 | 2:
                pair.normal(size, dtype, 0, 1)
            case 3:
                pair.randint(0, 100, (size,), np.int64)
            case 4:
                pair.randperm(size)
            case 5:
                pair.bernoulli(size, dtype, 0.5)


@pytest.mark.parametrize("drawn", [0, 1, 3, 100, 623, 624, 625])
def test_states_move_both_ways(drawn: int) -> None:
    pair = Pair(11)
    torch = pair.torch
    torch.randn(drawn, generator=pair.theirs)
    pair.ours.manual_seed(0).set_state(pair.theirs.get_state().numpy())
    pair.normal(3, np.float32, 0, 1)
    pair.normal(700, np.float32, 0, 1)
    pair.theirs.manual_seed(0)
    pair.theirs.set_state(torch.from_numpy(pair.ours.get_state()))
    pair.uniform(700, np.float32, 0, 1)
    pair.normal(3, np.float32, 0, 1)
