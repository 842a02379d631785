"""Array kernels against plain loops written here, and against PyTorch where it is installed."""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minigrad.backend import (
    conv_columns,
    kernels_conv,
    kernels_index,
    kernels_mask,
    kernels_norm,
    kernels_pool,
    kernels_scan,
    kernels_window,
    strict,
)
from minigrad.backend import numpy_backend as xp

Ints = tuple[int, ...]
Array = np.ndarray[Any, Any]

TOLERANCE = {np.float32: 1e-5, np.float64: 1e-12}


def close(actual: Array, expected: Array, dtype: type = np.float64) -> None:
    """Equal in shape and, relative to the largest value, in every element; of `dtype`."""
    assert actual.shape == expected.shape
    assert actual.dtype == dtype
    finite = np.abs(expected[np.isfinite(expected)])
    scale = max(1.0, float(finite.max())) if finite.size else 1.0
    np.testing.assert_allclose(actual, expected, rtol=0, atol=TOLERANCE[dtype] * scale)


def normal(*shape: int, seed: int = 0, dtype: type = np.float64) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def boxes(*sizes: Sequence[int]) -> itertools.product:  # type: ignore[type-arg]  # untyped here
    return itertools.product(*(range(n) for n in itertools.chain(*sizes)))


# Convolution by its definition


def naive_pairs(input_sizes: Ints, weight_sizes: Ints, steps: Ints, s: Ints, p: Ints, d: Ints):
    """Every (output channel, output step, input channel, place, weight position) that meet."""
    channels, (out_channels, in_group, *kernel) = input_sizes[1], weight_sizes
    out_group = out_channels // (channels // in_group) if in_group else 1
    for o in range(out_channels):
        for step in boxes(steps):
            for c in range(in_group):
                for k in boxes(kernel):
                    at = tuple(i * si + ki * di - pi for i, si, ki, di, pi in zip(step, s, k, d, p))
                    if all(0 <= a < n for a, n in zip(at, input_sizes[2:])):
                        yield o, step, o // out_group * in_group + c, at, (o, c, *k)


def naive_forward(x: Array, w: Array, s: Ints, p: Ints, d: Ints) -> Array:
    steps = tuple(
        (n + 2 * pi - di * (k - 1) - 1) // si + 1
        for n, k, si, pi, di in zip(x.shape[2:], w.shape[2:], s, p, d)
    )
    out = np.zeros((x.shape[0], w.shape[0], *steps))
    for o, step, c, at, k in naive_pairs(x.shape, w.shape, steps, s, p, d):
        out[(slice(None), o, *step)] += x[(slice(None), c, *at)] * w[k]
    return out


def naive_grad_input(g: Array, w: Array, sizes: Ints, s: Ints, p: Ints, d: Ints) -> Array:
    grad = np.zeros(sizes)
    for o, step, c, at, k in naive_pairs(sizes, w.shape, g.shape[2:], s, p, d):
        grad[(slice(None), c, *at)] += g[(slice(None), o, *step)] * w[k]
    return grad


def naive_grad_weight(g: Array, x: Array, sizes: Ints, s: Ints, p: Ints, d: Ints) -> Array:
    grad = np.zeros(sizes)
    for o, step, c, at, k in naive_pairs(x.shape, sizes, g.shape[2:], s, p, d):
        grad[k] += g[(slice(None), o, *step)] @ x[(slice(None), c, *at)]
    return grad


# x, weight, stride, padding, dilation, groups
CONVOLUTIONS: list[tuple[Ints, Ints, Ints, Ints, Ints, int]] = [
    ((2, 3, 7), (4, 3, 3), (1,), (0,), (1,), 1),
    ((2, 3, 8), (4, 3, 3), (2,), (1,), (1,), 1),  # the last element is met by no window
    ((1, 4, 9), (6, 2, 2), (3,), (2,), (2,), 2),
    ((3, 2, 5), (2, 2, 5), (1,), (0,), (1,), 1),
    ((2, 2, 4), (2, 2, 2), (1,), (3,), (1,), 1),  # padding beyond the kernel: no flip
    ((2, 2, 4), (3, 2, 1), (1,), (0,), (1,), 1),
    ((2, 2, 4), (3, 2, 1), (2,), (0,), (1,), 1),
    ((2, 2, 4), (3, 2, 1), (1,), (1,), (1,), 1),
    ((2, 4, 5, 6), (6, 4, 3, 3), (1, 1), (1, 1), (1, 1), 1),
    ((2, 4, 5, 6), (6, 2, 3, 2), (1, 1), (1, 0), (1, 1), 2),
    ((2, 4, 8, 7), (4, 1, 3, 3), (2, 2), (1, 1), (1, 1), 4),
    ((1, 3, 8, 9), (2, 3, 3, 2), (3, 2), (0, 1), (2, 3), 1),
    ((2, 2, 6, 6), (2, 2, 3, 3), (1, 1), (2, 2), (2, 2), 1),
    ((1, 64, 2, 2), (5, 64, 3, 3), (1, 1), (1, 1), (1, 1), 1),  # a weight too large to flip
    ((3, 4, 5, 5), (6, 2, 1, 1), (1, 1), (0, 0), (1, 1), 2),
    ((3, 4, 5, 5), (6, 4, 1, 1), (2, 2), (0, 0), (1, 1), 1),
    ((1, 4, 5, 5), (6, 4, 1, 1), (1, 1), (0, 0), (1, 1), 1),
    ((1, 2, 4, 5, 3), (4, 1, 2, 3, 2), (1, 2, 1), (1, 0, 1), (2, 1, 1), 2),
    ((2, 2, 3, 3, 3), (2, 2, 3, 3, 3), (1, 1, 1), (1, 1, 1), (1, 1, 1), 1),
    ((0, 2, 5, 5), (3, 2, 3, 3), (2, 2), (1, 1), (1, 1), 1),
    ((0, 2, 5, 5), (3, 2, 1, 1), (1, 1), (0, 0), (1, 1), 1),
]


def forward(x: Array, w: Array, s: Ints, p: Ints, d: Ints, groups: int) -> Array:
    return kernels_conv.conv_forward(xp, x, w, None, s, p, d, groups)


def conv_case(case: tuple[Ints, Ints, Ints, Ints, Ints, int], dtype: type = np.float64):
    x_sizes, w_sizes, *window = case
    x, w = normal(*x_sizes, seed=1, dtype=dtype), normal(*w_sizes, seed=2, dtype=dtype)
    g = normal(*forward(x, w, *window).shape, seed=3, dtype=dtype)
    return x, w, g, window


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("case", CONVOLUTIONS)
def test_convolution_is_its_definition(case, dtype):
    x, w, g, (s, p, d, groups) = conv_case(case, dtype)
    bias = normal(w.shape[0], seed=4, dtype=dtype)
    expected = naive_forward(x, w, s, p, d)
    close(forward(x, w, s, p, d, groups), expected, dtype)
    shift = bias.reshape(-1, *(1,) * len(s))
    out = kernels_conv.conv_forward(xp, x, w, bias, s, p, d, groups)
    close(out, expected + shift, dtype)
    grad_x = kernels_conv.conv_grad_input(xp, g, w, x.shape, s, p, d, groups)
    close(grad_x, naive_grad_input(g, w, x.shape, s, p, d), dtype)
    grad_w = kernels_conv.conv_grad_weight(xp, g, x, w.shape, s, p, d, groups)
    close(grad_w, naive_grad_weight(g, x, w.shape, s, p, d), dtype)
    assert all(a.flags.c_contiguous for a in (out, grad_x, grad_w))


@pytest.mark.parametrize("case", CONVOLUTIONS)
def test_both_ways_to_the_input_gradient_agree(case, monkeypatch):
    x, w, g, (s, p, d, groups) = conv_case(case)
    expected = naive_grad_input(g, w, x.shape, s, p, d)
    monkeypatch.setattr(kernels_conv, "flip_pays", lambda *_: False)
    close(kernels_conv.conv_grad_input(xp, g, w, x.shape, s, p, d, groups), expected)


@pytest.mark.parametrize("case", CONVOLUTIONS)
def test_convolution_in_chunks_of_one_sample(case, monkeypatch):
    monkeypatch.setattr(conv_columns, "COLUMN_BYTES", 1)
    monkeypatch.setattr(kernels_conv, "flip_pays", lambda *_: False)
    x, w, g, (s, p, d, groups) = conv_case(case)
    close(forward(x, w, s, p, d, groups), naive_forward(x, w, s, p, d))
    grad_x = kernels_conv.conv_grad_input(xp, g, w, x.shape, s, p, d, groups)
    close(grad_x, naive_grad_input(g, w, x.shape, s, p, d))
    grad_w = kernels_conv.conv_grad_weight(xp, g, x, w.shape, s, p, d, groups)
    close(grad_w, naive_grad_weight(g, x, w.shape, s, p, d))


def check_convolution(case, dtype: type = np.float64) -> None:
    x, w, g, (s, p, d, groups) = conv_case(case, dtype)
    close(forward(x, w, s, p, d, groups), naive_forward(x, w, s, p, d), dtype)
    grad_x = kernels_conv.conv_grad_input(xp, g, w, x.shape, s, p, d, groups)
    close(grad_x, naive_grad_input(g, w, x.shape, s, p, d), dtype)
    grad_w = kernels_conv.conv_grad_weight(xp, g, x, w.shape, s, p, d, groups)
    close(grad_w, naive_grad_weight(g, x, w.shape, s, p, d), dtype)


@pytest.mark.parametrize("flips", [True, False])
@pytest.mark.parametrize("channels_last", [True, False])
@pytest.mark.parametrize("case", CONVOLUTIONS)
def test_both_layouts_of_columns(case, channels_last, flips, monkeypatch):
    """See NOTE [Short lines] in conv_columns.py: which one is used must not be seen."""
    for module in (conv_columns, kernels_conv):
        monkeypatch.setattr(module, "has_short_lines",
                            lambda channels, counts, groups: channels_last and groups == 1)
    if not flips:
        monkeypatch.setattr(kernels_conv, "flip_pays", lambda *_: False)
    check_convolution(case)


@pytest.mark.parametrize("case", CONVOLUTIONS)
def test_samples_of_a_pointwise_convolution_one_by_one(case, monkeypatch):
    monkeypatch.setattr(conv_columns, "MANY_STEPS", 0)
    check_convolution(case)


def test_blocks_cover_all_steps_once():
    for batch, rows, counts in itertools.product((0, 1, 5), (1, 100, 10**6), ((1,), (7, 3))):
        met = np.zeros((batch, *counts), int)
        for samples, lines in conv_columns.column_blocks(batch, rows, counts, 4):
            met[samples, lines] += 1
            one_line = samples.stop - samples.start == 1 == lines.stop - lines.start
            size = met[samples, lines].size * rows * 4
            assert one_line or size <= 1.5 * conv_columns.COLUMN_BYTES
        assert (met == 1).all()


def test_an_uneven_last_chunk_of_samples(monkeypatch):
    x, w, g, (s, p, d, groups) = conv_case(((5, 2, 4, 4), (3, 2, 3, 3), (2, 2), (1, 1), (1, 1), 1))
    per_sample = 2 * 9 * 4 * 8
    monkeypatch.setattr(conv_columns, "COLUMN_BYTES", 2 * per_sample)
    close(forward(x, w, s, p, d, groups), naive_forward(x, w, s, p, d))
    grad_x = kernels_conv.conv_grad_input(xp, g, w, x.shape, s, p, d, groups)
    close(grad_x, naive_grad_input(g, w, x.shape, s, p, d))
    grad_w = kernels_conv.conv_grad_weight(xp, g, x, w.shape, s, p, d, groups)
    close(grad_w, naive_grad_weight(g, x, w.shape, s, p, d))


@st.composite
def convolutions(draw):
    dims = draw(st.integers(1, 3))
    groups = draw(st.integers(1, 2))

    def each(low: int, high: int) -> Ints:
        return tuple(draw(st.integers(low, high)) for _ in range(dims))

    kernel, stride, padding, dilation = each(1, 3), each(1, 3), each(0, 2), each(1, 2)
    room = each(0, 3)
    sizes = tuple(
        max(1, d * (k - 1) + 1 - 2 * p + r) for k, p, d, r in zip(kernel, padding, dilation, room)
    )
    in_group, out_group = draw(st.integers(1, 2)), draw(st.integers(1, 2))
    batch = draw(st.integers(0, 2))
    return (
        (batch, in_group * groups, *sizes),
        (out_group * groups, in_group, *kernel),
        stride,
        padding,
        dilation,
        groups,
    )


@given(convolutions())
@settings(max_examples=150, deadline=None)
def test_convolution_of_any_shape(case):
    x, w, g, (s, p, d, groups) = conv_case(case)
    close(forward(x, w, s, p, d, groups), naive_forward(x, w, s, p, d))
    grad_x = kernels_conv.conv_grad_input(xp, g, w, x.shape, s, p, d, groups)
    close(grad_x, naive_grad_input(g, w, x.shape, s, p, d))
    grad_w = kernels_conv.conv_grad_weight(xp, g, x, w.shape, s, p, d, groups)
    close(grad_w, naive_grad_weight(g, x, w.shape, s, p, d))


@given(convolutions(), st.integers(1, 400))
@settings(max_examples=100, deadline=None)
def test_convolution_in_blocks_of_any_size(case, column_bytes):
    kept = conv_columns.COLUMN_BYTES
    conv_columns.COLUMN_BYTES = column_bytes
    try:
        check_convolution(case)
    finally:
        conv_columns.COLUMN_BYTES = kept


@pytest.mark.parametrize("stride", [1, 2])
def test_fewer_steps_than_would_fit(stride):
    """What a transposed convolution with output padding asks for."""
    window: Any = ((stride,), (1,), (2,))
    g, w, x = normal(2, 3, 3, seed=1), normal(3, 2, 3, seed=2), normal(2, 2, 9, seed=3)
    grad_x = kernels_conv.conv_grad_input(xp, g, w, x.shape, *window, 1)
    close(grad_x, naive_grad_input(g, w, x.shape, *window))
    grad_w = kernels_conv.conv_grad_weight(xp, g, x, w.shape, *window, 1)
    close(grad_w, naive_grad_weight(g, x, w.shape, *window))


def test_pointwise_with_fewer_steps_than_elements():
    g, w, x = normal(1, 3, 2, seed=1), normal(3, 2, 1, seed=2), normal(1, 2, 4, seed=3)
    window: Any = ((1,), (0,), (1,))
    grad_x = kernels_conv.conv_grad_input(xp, g, w, x.shape, *window, 1)
    close(grad_x, naive_grad_input(g, w, x.shape, *window))
    grad_w = kernels_conv.conv_grad_weight(xp, g, x, w.shape, *window, 1)
    close(grad_w, naive_grad_weight(g, x, w.shape, *window))


def test_convolution_of_strided_arrays():
    x = normal(5, 6, 3, 2, seed=1).transpose(3, 2, 0, 1)
    w = normal(3, 3, 3, 4, seed=2).transpose(3, 2, 0, 1)[:, :, ::-1]
    window: Any = ((1, 2), (1, 1), (1, 1))
    close(forward(x, w, *window, 1), naive_forward(x, w, *window))
    g = normal(5, 3, 4, 2, seed=3).transpose(3, 2, 0, 1)
    grad_x = kernels_conv.conv_grad_input(xp, g, w, x.shape, *window, 1)
    close(grad_x, naive_grad_input(g, w, x.shape, *window))
    grad_w = kernels_conv.conv_grad_weight(xp, g, x, w.shape, *window, 1)
    close(grad_w, naive_grad_weight(g, x, w.shape, *window))


def test_convolution_leaves_its_arguments_alone():
    x, w, g, (s, p, d, groups) = conv_case(CONVOLUTIONS[14])
    copies = x.copy(), w.copy(), g.copy()
    out = kernels_conv.conv_forward(xp, x, w, np.ones(6), s, p, d, groups)
    out += 1
    grad = kernels_conv.conv_grad_input(xp, g, w, x.shape, s, p, d, groups)
    grad += 1
    grad = kernels_conv.conv_grad_weight(xp, g, x, w.shape, s, p, d, groups)
    grad += 1
    assert all((a == b).all() for a, b in zip((x, w, g), copies))


def test_kernel_larger_than_the_input():
    with pytest.raises(RuntimeError) as raised:
        forward(np.ones((1, 1, 2, 2)), np.ones((1, 1, 3, 3)), (1, 1), (0, 0), (1, 1), 1)
    assert str(raised.value) == (
        "Calculated padded input size per channel: (2 x 2). Kernel size: (3 x 3). "
        "Kernel size can't be greater than actual input size"
    )


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("case", CONVOLUTIONS)
def test_convolution_as_pytorch(case, dtype):
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    x, w, g, (s, p, d, groups) = conv_case(case, dtype)
    bias = normal(w.shape[0], seed=4, dtype=dtype)
    tx, tw = (torch.from_numpy(a).requires_grad_() for a in (x, w))
    function = getattr(torch.nn.functional, f"conv{len(s)}d")
    expected = function(tx, tw, torch.from_numpy(bias), s, p, d, groups)
    expected.backward(torch.from_numpy(g))
    out = kernels_conv.conv_forward(xp, x, w, bias, s, p, d, groups)
    close(out, expected.detach().numpy(), dtype)
    grad_x = kernels_conv.conv_grad_input(xp, g, w, x.shape, s, p, d, groups)
    close(grad_x, tx.grad.numpy(), dtype)
    grad_w = kernels_conv.conv_grad_weight(xp, g, x, w.shape, s, p, d, groups)
    close(grad_w, tw.grad.numpy(), dtype)


# Pooling by its definition

# input, kernel, stride, padding, dilation, ceil_mode
POOLINGS: list[tuple[Ints, Ints, Ints, Ints, Ints, bool]] = [
    ((2, 3, 7), (3,), (2,), (1,), (1,), False),
    ((2, 3, 8), (3,), (2,), (0,), (1,), True),
    ((2, 3, 7), (2,), (3,), (1,), (1,), True),
    ((3, 9), (3,), (1,), (1,), (2,), False),
    ((2, 3, 6), (1,), (1,), (0,), (1,), False),
    ((2, 2, 6, 8), (2, 2), (2, 2), (0, 0), (1, 1), False),
    ((2, 2, 7, 8), (3, 3), (2, 2), (1, 1), (1, 1), False),
    ((2, 7, 6), (3, 2), (2, 3), (1, 0), (1, 1), True),
    ((1, 2, 9, 8), (2, 3), (1, 2), (1, 1), (3, 2), True),
    ((1, 2, 5, 4, 6), (2, 2, 3), (2, 1, 2), (1, 0, 1), (1, 2, 1), True),
    ((0, 2, 4, 4), (2, 2), (2, 2), (0, 0), (1, 1), False),
]


def naive_steps(n: int, k: int, s: int, p: int, d: int, ceil_mode: bool) -> int:
    """Counts the windows that start inside the input or its left padding."""
    steps = 0
    while True:
        start = steps * s
        fits = start + d * (k - 1) + 1 <= n + 2 * p
        # ceil_mode keeps one more window, the first that does not fit, where it starts inside.
        before_fit = steps == 0 or start - s + d * (k - 1) + 1 < n + 2 * p
        if not fits and not (ceil_mode and before_fit and start < n + p):
            return steps
        steps += 1


def naive_windows(sizes: Ints, k: Ints, s: Ints, p: Ints, d: Ints, ceil_mode: bool):
    """Every step with the places its window covers, in row-major order."""
    steps = tuple(naive_steps(*a, ceil_mode) for a in zip(sizes, k, s, p, d))
    for step in boxes(steps):
        covered = []
        for at in boxes(k):
            place = tuple(i * si + a * di - pi for i, si, a, di, pi in zip(step, s, at, d, p))
            if all(0 <= q < n for q, n in zip(place, sizes)):
                covered.append(place)
        yield steps, step, covered


def naive_maxima(x: Array, dims: int, windows) -> tuple[Array, Array]:
    lead, sizes = x.shape[: x.ndim - dims], x.shape[x.ndim - dims :]
    windows = list(windows)
    steps = windows[0][0]
    values, indices = np.empty(lead + steps, x.dtype), np.empty(lead + steps, np.int64)
    for plane in boxes(lead):
        for _, step, covered in windows:
            best = covered[0]
            for place in covered:
                value = x[plane + place]
                if value > x[plane + best] or value != value:
                    best = place
            values[plane + step] = x[plane + best]
            indices[plane + step] = np.ravel_multi_index(best, sizes)
    return values, indices


def awkward(*shape: int, seed: int = 0) -> Array:
    """Small whole numbers, so that maxima tie, some NaN and infinities."""
    rng = np.random.default_rng(seed)
    x = rng.integers(-2, 3, shape).astype(np.float64)
    for value in (np.nan, np.inf, -np.inf):
        x[rng.random(shape) < 0.06] = value
    return x


@pytest.mark.parametrize("make", [normal, awkward, lambda *shape: np.full(shape, -np.inf)])
@pytest.mark.parametrize("case", POOLINGS)
def test_max_pooling_is_its_definition(case, make):
    sizes, k, s, p, d, ceil_mode = case
    dims = len(k)
    x = make(*sizes)
    values, indices = kernels_pool.max_pool_forward(xp, x, k, s, p, d, ceil_mode)
    windows = naive_windows(sizes[len(sizes) - dims :], k, s, p, d, ceil_mode)
    expected, places = naive_maxima(x, dims, windows)
    np.testing.assert_array_equal(values, expected)
    np.testing.assert_array_equal(indices, places)
    assert indices.dtype == np.int64
    assert values.flags.c_contiguous and indices.flags.c_contiguous
    assert not np.shares_memory(values, x)
    gathered = kernels_pool.max_pool_gather(xp, x, indices, dims)
    np.testing.assert_array_equal(gathered, expected)


def test_max_pooling_of_whole_numbers():
    x = np.random.default_rng(0).integers(-9, 9, (2, 5, 6))
    low = np.full((1, 4), np.iinfo(np.int64).min)
    for array, k, p in ((x, (3, 2), (1, 1)), (low, (3,), (1,))):
        ones = (1,) * len(k)
        values, indices = kernels_pool.max_pool_forward(xp, array, k, ones, p, ones, False)
        plane = array.shape[array.ndim - len(k) :]
        expected, places = naive_maxima(
            array, len(k), naive_windows(plane, k, ones, p, ones, False)
        )
        np.testing.assert_array_equal(values, expected)
        np.testing.assert_array_equal(indices, places)
        assert values.dtype == array.dtype


def test_max_pooling_with_a_kernel_of_more_than_255_positions():
    x = np.arange(380.0).reshape(1, 20, 19)  # each maximum is at its window's last position
    window: Any = ((17, 18), (1, 1), (0, 0), (1, 1), False)
    values, indices = kernels_pool.max_pool_forward(xp, x, *window)
    expected, places = naive_maxima(x, 2, naive_windows((20, 19), *window))
    np.testing.assert_array_equal(values, expected)
    np.testing.assert_array_equal(indices, places)


@pytest.mark.parametrize("case", POOLINGS)
def test_max_pooling_backward_adds_per_plane(case):
    sizes, k, s, p, d, ceil_mode = case
    dims = len(k)
    x = normal(*sizes)
    _, indices = kernels_pool.max_pool_forward(xp, x, k, s, p, d, ceil_mode)
    g = normal(*indices.shape, seed=1)
    expected = np.zeros(sizes)
    for place in boxes(indices.shape):
        at = np.unravel_index(indices[place], sizes[len(sizes) - dims :])
        expected[place[: len(sizes) - dims] + at] += g[place]
    close(kernels_pool.max_pool_backward(xp, g, indices, sizes, dims), expected)


def naive_average(x: Array, case, count_include_pad: bool, divisor: int | None) -> Array:
    """Average pooling as a matrix: (outputs of a plane, inputs of a plane)."""
    sizes, k, s, p, ceil_mode = case
    ones = (1,) * len(k)
    rows = []
    for _, step, covered in naive_windows(sizes, k, s, p, ones, ceil_mode):
        within_padding = math.prod(
            sum(i * si + a < n + 2 * pi for a in range(ki))
            for i, si, ki, n, pi in zip(step, s, k, sizes, p)
        )
        count = divisor or (within_padding if count_include_pad else len(covered))
        row = np.zeros(sizes)
        for place in covered:
            row[place] += 1 / count
        rows.append(row.reshape(-1))
    return np.array(rows)


@pytest.mark.parametrize("divisor", [None, 5])
@pytest.mark.parametrize("include", [True, False])
@pytest.mark.parametrize("case", POOLINGS)
def test_average_pooling_is_its_definition(case, include, divisor):
    sizes, k, s, p, _, ceil_mode = case
    dims = len(k)
    lead, plane = sizes[: len(sizes) - dims], sizes[len(sizes) - dims :]
    matrix = naive_average(normal(*sizes), (plane, k, s, p, ceil_mode), include, divisor)
    x = normal(*sizes)
    out = kernels_pool.avg_pool_forward(xp, x, k, s, p, ceil_mode, include, divisor)
    flat = x.reshape(*lead, math.prod(plane)) @ matrix.T
    close(out.reshape(flat.shape), flat)
    assert out.shape[: len(lead)] == lead and out.ndim == len(sizes)
    g = normal(*out.shape, seed=1)
    grad = kernels_pool.avg_pool_backward(xp, g, sizes, k, s, p, ceil_mode, include, divisor)
    close(grad, (g.reshape(flat.shape) @ matrix).reshape(sizes))
    assert out.flags.c_contiguous and grad.flags.c_contiguous


ADAPTIVE: list[tuple[Ints, Ints]] = [
    ((2, 3, 7), (3,)),
    ((2, 3, 6), (3,)),
    ((3, 5), (1,)),
    ((3, 4), (4,)),
    ((3, 3), (5,)),
    ((2, 2, 7, 9), (3, 4)),
    ((2, 6, 8), (3, 2)),
    ((2, 2, 5, 6), (1, 1)),
    ((2, 2, 5, 6), (1, 6)),
    ((2, 4, 6), (2, 4)),
    ((1, 2, 4, 5, 3), (2, 3, 2)),
    ((0, 2, 5, 6), (2, 4)),
]


def naive_adaptive(sizes: Ints, counts: Ints):
    for step in boxes(counts):
        spans = [
            range(math.floor(i * n / c), math.ceil((i + 1) * n / c))
            for i, n, c in zip(step, sizes, counts)
        ]
        yield counts, step, list(itertools.product(*spans))


@pytest.mark.parametrize("case", ADAPTIVE)
def test_adaptive_average_pooling_is_its_definition(case):
    sizes, counts = case
    dims = len(counts)
    lead, plane = sizes[: len(sizes) - dims], sizes[len(sizes) - dims :]
    rows = []
    for _, _, covered in naive_adaptive(plane, counts):
        row = np.zeros(plane)
        for place in covered:
            row[place] = 1 / len(covered)
        rows.append(row.reshape(-1))
    matrix = np.array(rows)
    x = normal(*sizes)
    out = kernels_pool.adaptive_avg_pool_forward(xp, x, counts)
    close(out, (x.reshape(*lead, math.prod(plane)) @ matrix.T).reshape(lead + counts))
    assert not np.shares_memory(out, x)
    g = normal(*out.shape, seed=1)
    grad = kernels_pool.adaptive_avg_pool_backward(xp, g, sizes, dims)
    close(grad, (g.reshape(*lead, math.prod(counts)) @ matrix).reshape(sizes))


@pytest.mark.parametrize("make", [normal, awkward])
@pytest.mark.parametrize("case", ADAPTIVE)
def test_adaptive_max_pooling_is_its_definition(case, make):
    sizes, counts = case
    dims = len(counts)
    x = make(*sizes)
    values, indices = kernels_pool.adaptive_max_pool_forward(xp, x, counts)
    expected, places = naive_maxima(x, dims, naive_adaptive(sizes[len(sizes) - dims :], counts))
    np.testing.assert_array_equal(values, expected)
    np.testing.assert_array_equal(indices, places)
    assert indices.dtype == np.int64


def test_an_infinity_stays_in_its_own_window():
    x = np.array([np.inf, 1.0, 1.0, 1.0, 1.0])
    assert kernels_pool.adaptive_avg_pool_forward(xp, x, (3,)).tolist() == [np.inf, 1.0, 1.0]


def test_no_window_fits():
    window: Any = ((3, 3), (1, 1), (0, 0))
    with pytest.raises(RuntimeError, match="Output size is too small"):
        kernels_pool.max_pool_forward(xp, np.ones((1, 2, 2)), *window, (1, 1), False)
    with pytest.raises(RuntimeError, match="Output size is too small"):
        kernels_pool.avg_pool_forward(xp, np.ones((1, 2, 2)), *window, False, True, None)


# Shapes that PyTorch takes: batched, and padding at most half of the kernel.
TORCH_POOLINGS = [case for case in POOLINGS if 2 * case[3][0] <= case[1][0]]


@pytest.mark.parametrize("make", [normal, awkward])
@pytest.mark.parametrize("case", TORCH_POOLINGS)
def test_max_pooling_as_pytorch(case, make):
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    sizes, k, s, p, d, ceil_mode = case
    x = make(*sizes)
    function = getattr(torch.nn.functional, f"max_pool{len(k)}d")
    tx = torch.from_numpy(x).requires_grad_()
    expected, places = function(tx, k, s, p, d, ceil_mode, return_indices=True)
    values, indices = kernels_pool.max_pool_forward(xp, x, k, s, p, d, ceil_mode)
    np.testing.assert_array_equal(values, expected.detach().numpy())
    np.testing.assert_array_equal(indices, places.numpy())
    g = normal(*values.shape, seed=1)
    expected.backward(torch.from_numpy(g))
    close(kernels_pool.max_pool_backward(xp, g, indices, sizes, len(k)), tx.grad.numpy())


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("include", [True, False])
@pytest.mark.parametrize("case", TORCH_POOLINGS)
def test_average_pooling_as_pytorch(case, include, dtype):
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    sizes, k, s, p, _, ceil_mode = case
    x = normal(*sizes, dtype=dtype)
    function = getattr(torch.nn.functional, f"avg_pool{len(k)}d")
    tx = torch.from_numpy(x).requires_grad_()
    expected = function(tx, k, s, p, ceil_mode, include)
    out = kernels_pool.avg_pool_forward(xp, x, k, s, p, ceil_mode, include, None)
    close(out, expected.detach().numpy(), dtype)
    g = normal(*out.shape, seed=1, dtype=dtype)
    expected.backward(torch.from_numpy(g))
    grad = kernels_pool.avg_pool_backward(xp, g, sizes, k, s, p, ceil_mode, include, None)
    close(grad, tx.grad.numpy(), dtype)


@pytest.mark.parametrize("case", ADAPTIVE)
def test_adaptive_pooling_as_pytorch(case):
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    sizes, counts = case
    functional, dims = torch.nn.functional, len(counts)
    x = normal(*sizes)
    tx = torch.from_numpy(x).requires_grad_()
    average = getattr(functional, f"adaptive_avg_pool{dims}d")(tx, counts)
    close(kernels_pool.adaptive_avg_pool_forward(xp, x, counts), average.detach().numpy())
    g = normal(*average.shape, seed=1)
    average.backward(torch.from_numpy(g))
    grad = kernels_pool.adaptive_avg_pool_backward(xp, g, sizes, dims)
    close(grad, tx.grad.numpy())
    x = awkward(*sizes)
    function = getattr(functional, f"adaptive_max_pool{dims}d")
    expected, places = function(torch.from_numpy(x), counts, return_indices=True)
    values, indices = kernels_pool.adaptive_max_pool_forward(xp, x, counts)
    np.testing.assert_array_equal(values, expected.numpy())
    np.testing.assert_array_equal(indices, places.numpy())


# Writing to many places


def transposed(*shape: int) -> Array:
    return normal(*reversed(shape)).transpose()


SCATTERS: list[tuple[Ints, int, Ints, Ints]] = [
    ((5,), 0, (7,), (7,)),
    ((4, 3), 0, (6, 2), (6, 3)),
    ((4, 3), 1, (3, 5), (4, 6)),
    ((4, 3), -1, (4, 5), (4, 5)),
    ((2, 3, 4), 1, (2, 5, 3), (2, 5, 4)),
    ((2, 3), 0, (0, 3), (2, 3)),
]


@pytest.mark.parametrize("make", [normal, transposed])
@pytest.mark.parametrize("case", SCATTERS)
def test_scatter_is_its_definition(case, make):
    sizes, dim, index_sizes, source_sizes = case
    source = normal(*source_sizes, seed=1)
    index = np.random.default_rng(2).integers(0, sizes[dim], index_sizes)
    added, written = make(*sizes), make(*sizes)
    sums, writes = added.copy(), [{value} for value in written.reshape(-1)]
    fresh = np.zeros(sizes, bool)
    for place in boxes(index_sizes):
        at = list(place)
        at[dim] = index[place]
        sums[tuple(at)] += source[place]
        cell = writes[np.ravel_multi_index(at, sizes)]
        if not fresh[tuple(at)]:
            cell.clear()
            fresh[tuple(at)] = True
        cell.add(source[place])
    assert kernels_index.scatter_add(np, added, dim, index, source) is added
    close(added, sums)
    assert kernels_index.scatter_write(np, written, dim, index, source) is written
    assert all(value in cell for value, cell in zip(written.reshape(-1), writes))
    constant = kernels_index.scatter_write(np, make(*sizes), dim, index, 2.5)
    assert (constant[fresh] == 2.5).all() and (constant == make(*sizes))[~fresh].all()


def test_scatter_into_one_element():
    index, source = np.array(0), np.array(2.0)
    assert kernels_index.scatter_add(np, np.array(1.0), 0, index, source).tolist() == 3
    assert kernels_index.scatter_write(np, np.array(1.0), 0, index, source).tolist() == 2
    assert kernels_index.index_add(np, np.array(1.0), 0, index, source).tolist() == 3


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
@pytest.mark.parametrize("make", [normal, transposed])
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_index_add_is_its_definition(dim, make, dtype):
    target = (make(3, 4, 2) * 9).astype(dtype)
    index = np.array([1, 0, 1, 1, 0])
    shape = [3, 4, 2]
    shape[dim] = 5
    source = (normal(*shape, seed=1) * 9).astype(dtype)
    expected = target.astype(np.float64)
    for i, at in enumerate(index):
        np.moveaxis(expected, dim, 0)[at] += np.moveaxis(source, dim, 0)[i]
    assert kernels_index.index_add(np, target, dim, index, source) is target
    assert target.dtype == dtype
    np.testing.assert_allclose(target, expected, rtol=1e-5)


KEYS: list[Any] = [
    1,
    slice(1, None, 2),
    (0, slice(None), -1),
    (Ellipsis, None, 0),
    (),
    None,
    (1, 2, 3),
    np.array([0, 1, 1, -1]),
    np.array([[0, 1], [1, 1]]),
    np.array(1),
    np.array([], np.int64),
    [0, 0, 1],
    (slice(None), [0, 0, 2]),
    (np.array([0, 1, 1]), np.array([2, 0, 0])),
    (np.array([0, 1, 1]), slice(None), np.array([2, 0, 0])),
    (np.array([[0], [1]]), np.array([[2, -1, -1]])),
    (Ellipsis, np.array([3, 3, 0])),
    (1, Ellipsis, np.array([3, 3, 0])),
    (None, np.array([1, 1]), slice(None, 2)),
    (np.int64(1), slice(0, 2)),
    np.arange(24).reshape(2, 3, 4) % 3 == 0,
    np.array([True, False]),
    (np.array([True, False]), np.array([1]), np.array([2])),
    (slice(None), np.array([True, False, True]), np.array([2, 2])),
]


@pytest.mark.parametrize("broadcast", [False, True])
@pytest.mark.parametrize("make", [normal, transposed])
@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_put_accumulate_counts_every_place(key, make, broadcast):
    target = make(2, 3, 4)
    places = np.arange(24).reshape(2, 3, 4)[key]
    values = np.array(1.5) if broadcast else normal(*np.shape(places), seed=1)
    expected = target.copy()
    spread = np.broadcast_to(values, np.shape(places))
    for place, value in zip(np.ravel(places), spread.ravel()):
        expected[np.unravel_index(place, (2, 3, 4))] += value
    assert kernels_index.put_accumulate(np, target, key, values) is target
    close(target, expected)


def test_put_accumulate_keeps_the_dtype():
    target = np.zeros(2, np.float32)
    kernels_index.put_accumulate(np, target, np.array([0, 0]), np.array([0.5, 1.0]))
    assert target.dtype == np.float32 and target.tolist() == [1.5, 0.0]


@pytest.mark.parametrize("key", [np.array([5]), np.array([-6]), (np.array([0]), np.array([9]))])
def test_put_accumulate_out_of_bounds(key):
    target = np.zeros((5, 2))
    with pytest.raises(IndexError):
        kernels_index.put_accumulate(np, target, key, 1.0)
    assert not target.any()


STRIDED: list[tuple[Ints, Ints, int]] = [
    ((2, 3), (3, 1), 0),
    ((3, 2), (1, 3), 2),
    ((2, 2), (5, 2), 1),
    ((3, 3), (1, 1), 0),
    ((4,), (0,), 3),
    ((3, 2), (2, 3), 0),
    ((), (), 4),
    ((0, 3), (3, 1), 0),
    ((2, 1), (4, 0), 1),
]


@pytest.mark.parametrize(("sizes", "strides", "offset"), STRIDED)
def test_strided_writes_are_their_definition(sizes, strides, offset):
    storage = normal(10)
    values = np.random.default_rng(1).permutation(math.prod(sizes)).reshape(sizes) + 10.0
    sums, candidates = storage.copy(), {}
    for place in boxes(sizes):
        at = offset + sum(i * s for i, s in zip(place, strides))
        sums[at] += values[place]
        candidates.setdefault(at, set()).add(values[place])
    added = storage.copy()
    assert kernels_index.as_strided_add(np, added, values, sizes, strides, offset) is added
    close(added, sums)
    written = storage.copy()
    kernels_index.as_strided_scatter(np, written, values, sizes, strides, offset)
    for at, value in enumerate(written):
        assert value in candidates.get(at, {storage[at]})


@pytest.mark.parametrize("function", ["as_strided_add", "as_strided_scatter"])
def test_strided_writes_stay_inside(function: str):
    write: Callable[..., Any] = getattr(kernels_index, function)
    with pytest.raises(RuntimeError, match=r"storage size of 88 .* storage of size 80"):
        write(np, np.zeros(10), np.ones((2, 2)), (2, 2), (8, 1), 1)


UNFOLDS = [
    ((7,), 0, 3, 2),
    ((4, 6), 1, 2, 3),
    ((4, 6), 0, 4, 1),
    ((2, 5, 3), -2, 2, 1),
    ((2, 9), 1, 5, 4),
    ((3, 2), 1, 2, 5),
]


@pytest.mark.parametrize("make", [normal, transposed])
@pytest.mark.parametrize(("sizes", "dim", "size", "step"), UNFOLDS)
def test_unfold_is_its_definition(sizes, dim, size, step, make):
    x = make(*sizes)
    out = kernels_index.unfold(np, x, dim, size, step)
    assert np.shares_memory(out, x)
    starts = range(0, sizes[dim] - size + 1, step)
    windows = [np.moveaxis(np.moveaxis(x, dim, 0)[start : start + size], 0, -1) for start in starts]
    np.testing.assert_array_equal(out, np.stack(windows, dim % x.ndim))
    g = normal(*out.shape, seed=1)
    expected = np.zeros(sizes)
    for i, start in enumerate(starts):
        part = np.moveaxis(np.moveaxis(g, dim % x.ndim, 0)[i], -1, 0)
        np.moveaxis(expected, dim, 0)[start : start + size] += part
    close(kernels_index.unfold_backward(np, g, sizes, dim, size, step), expected)


def test_unfold_of_one_element():
    x = np.array(3.0)
    assert kernels_index.unfold(np, x, 0, 1, 1).tolist() == [3.0]
    grad = kernels_index.unfold_backward(np, np.array([2.0]), (), 0, 1, 1)
    assert type(grad) is np.ndarray and grad.shape == () and grad == 2


def test_scatters_and_unfold_as_pytorch():
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    for sizes, dim, index_sizes, source_sizes in SCATTERS:
        target, source = normal(*sizes), normal(*source_sizes, seed=1)
        index = np.random.default_rng(2).integers(0, sizes[dim], index_sizes)
        expected = torch.from_numpy(target.copy()).scatter_add(
            dim, torch.from_numpy(index), torch.from_numpy(source)
        )
        close(kernels_index.scatter_add(np, target, dim, index, source), expected.numpy())
    for sizes, dim, size, step in UNFOLDS:
        x = normal(*sizes)
        tx = torch.from_numpy(x).requires_grad_()
        expected = tx.unfold(dim, size, step)
        out = kernels_index.unfold(np, x, dim, size, step)
        np.testing.assert_array_equal(out, expected.detach().numpy())
        g = normal(*out.shape, seed=1)
        expected.backward(torch.from_numpy(g))
        grad = kernels_index.unfold_backward(np, g, sizes, dim, size, step)
        close(grad, tx.grad.numpy())


# Windows


@given(
    st.integers(1, 9), st.integers(1, 4), st.integers(1, 4), st.integers(0, 2), st.integers(1, 3)
)
@settings(max_examples=200, deadline=None)
def test_how_many_windows_fit(size, kernel, stride, padding, dilation):
    window = (size,), (kernel,), (stride,), (padding,), (dilation,)
    if size + 2 * padding < dilation * (kernel - 1) + 1:
        with pytest.raises(RuntimeError, match="greater than actual input size"):
            kernels_window.conv_output_sizes(*window)
        return
    plain = naive_steps(size, kernel, stride, padding, dilation, False)
    assert kernels_window.conv_output_sizes(*window) == (plain,)
    if 2 * padding > dilation * (kernel - 1) + 1:
        return  # PyTorch refuses such pooling, and a window may hold padding alone
    assert kernels_pool.pool_output_sizes(*window, False) == (plain,)
    ceil = naive_steps(size, kernel, stride, padding, dilation, True)
    assert kernels_pool.pool_output_sizes(*window, True) == (ceil,)


def test_adding_windows_transposes_showing_them():
    x, stride, dilation, counts = normal(2, 7, 8), (2, 1), (1, 2), (3, 4)
    view = kernels_window.windows(np, x, (3, 2), stride, dilation, counts)
    assert np.shares_memory(view, x)
    g = normal(*view.shape, seed=1)
    back = kernels_window.add_windows(np.zeros(x.shape), g, stride, dilation)
    np.testing.assert_allclose((view * g).sum(), (x * back).sum(), rtol=1e-12)


# Running results


@pytest.mark.parametrize("length", [0, 1, 2, 3, 7, 8, 9])
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("name", ["maximum", "minimum", "logaddexp", "add"])
def test_accumulate_without_the_ufuncs_own(name, axis, length):
    shape = [3, 3]
    shape[axis] = length
    x = normal(*shape)
    ours = kernels_scan.accumulate(
        strict.backend, getattr(strict.backend, name), strict.backend.from_host(x), axis)
    close(strict.backend.to_host(ours), getattr(np, name).accumulate(x, axis=axis))


# Normalisation by its definition


def naive_batch_norm(x: Array, weight: Array, bias: Array, eps: float) -> Array:
    out = np.empty(x.shape)
    for c in range(x.shape[1]):
        one = x[:, c].astype(np.float64)
        variance = ((one - one.mean()) ** 2).mean()
        out[:, c] = (one - one.mean()) / math.sqrt(variance + eps) * weight[c] + bias[c]
    return out


BATCHES: list[Ints] = [(4, 3), (2, 3, 5), (1, 4, 3, 3), (3, 2, 2, 3, 2), (5, 1, 1, 1), (2, 7, 1)]


@pytest.mark.parametrize("block", [1, 100, 1 << 20])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", BATCHES)
def test_batch_norm_is_its_definition(shape, dtype, block, monkeypatch):
    monkeypatch.setattr(kernels_norm, "_BLOCK_BYTES", block)
    x, g = normal(*shape, seed=1, dtype=dtype) + 3, normal(*shape, seed=2, dtype=dtype)
    weight, bias = normal(shape[1], seed=3, dtype=dtype), normal(shape[1], seed=4, dtype=dtype)
    x = x.astype(dtype)
    out, mean, var, invstd = kernels_norm.batch_norm_forward(xp, x, weight, bias, 0.25)
    close(out, naive_batch_norm(x, weight, bias, 0.25), dtype)
    axes = (0, *range(2, x.ndim))
    close(mean, x.mean(axes, np.float64), dtype)
    close(var, x.var(axes, np.float64), dtype)
    close(invstd, 1 / np.sqrt(x.var(axes, np.float64) + 0.25), dtype)
    plain, *_ = kernels_norm.batch_norm_forward(xp, x, None, None, 0.25)
    close(plain, naive_batch_norm(x, np.ones(shape[1]), np.zeros(shape[1]), 0.25), dtype)
    close(kernels_norm.channel_sums(xp, g), g.sum(axes, np.float64), dtype)
    close(
        kernels_norm.batch_norm_grad_weight(xp, g, x, mean, invstd),
        (g.astype(np.float64) * plain).sum(axes),
        dtype,
    )


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("shape", BATCHES)
def test_batch_norm_input_gradient_by_differences(shape, weighted, monkeypatch):
    monkeypatch.setattr(kernels_norm, "_BLOCK_BYTES", 1)
    x, g = normal(*shape, seed=1), normal(*shape, seed=2)
    weight = normal(shape[1], seed=3) if weighted else None
    _, mean, _, invstd = kernels_norm.batch_norm_forward(xp, x, weight, None, 0.25)
    grad = kernels_norm.batch_norm_grad_input(xp, g, x, weight, mean, invstd)
    for at in boxes(shape):
        moved = []
        for step in (1e-6, -1e-6):
            there = x.copy()
            there[at] += step
            out, *_ = kernels_norm.batch_norm_forward(xp, there, weight, None, 0.25)
            moved.append((out * g).sum())
        assert grad[at] == pytest.approx((moved[0] - moved[1]) / 2e-6, abs=1e-7)


def test_batch_norm_of_strided_arrays():
    x, g = normal(3, 4, 5, 2).transpose(3, 0, 2, 1), np.broadcast_to(normal(3, 1, 1), (2, 3, 5, 4))
    weight = normal(6)[::2]
    wanted = [a.copy() for a in (x, g, weight)]
    for function in (
        lambda x, g, w: kernels_norm.batch_norm_forward(xp, x, w, w, 0.1)[0],
        lambda x, g, w: kernels_norm.batch_norm_grad_input(xp, g, x, w, w, w),
        lambda x, g, w: kernels_norm.batch_norm_grad_weight(xp, g, x, w, w),
    ):
        close(function(x, g, weight), function(*wanted))


# Masks


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int64", "int8", "bool"])
@pytest.mark.parametrize("kinds", ["xx", "x0", "0x", "x5", "5x", "x-0", "05"])
@pytest.mark.parametrize("size", [0, 7, 5000])
def test_select_is_where(size, kinds, dtype):
    rng = np.random.default_rng(0)

    def values(kind: str) -> Array:
        if kind == "x":
            made = (rng.standard_normal((2, size)) * 3).astype(dtype)
            if made.dtype.kind == "f" and size:
                made[0, :3] = np.nan, np.inf, -0.0
            return made
        return np.array(-0.0 if kind == "-0" else float(kind), dtype)

    x, y = values(kinds[0]), values(kinds[1:])
    condition = rng.standard_normal((2, size)) > 0
    expected = np.where(condition, x, y)
    found = kernels_mask.select(xp, condition, x, y)
    assert found.dtype == expected.dtype and found.tobytes() == expected.tobytes()
    assert found.base is None  # the engine may write to it


def test_select_broadcasts_and_takes_any_strides():
    condition = normal(60, 50).T > 0
    x, y = normal(100, 60)[::2], normal(60)
    for a, b in ((x, y), (y, x), (x, x[:, :1]), (x[..., ::-1], x)):
        np.testing.assert_array_equal(
            kernels_mask.select(xp, condition, a, b), np.where(condition, a, b))
        one = kernels_mask.select(xp, condition[:1], a, b)
        np.testing.assert_array_equal(one, np.where(condition[:1], a, b))
