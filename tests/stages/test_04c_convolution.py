"""Stage 04c: windows over arrays, convolution and its two derivatives."""

import math
from itertools import product

import numpy as np
import pytest
from _oracle import assert_close, central_difference_vjp, second_order_vjp

import minigrad as torch
from minigrad.backend import kernels_conv, kernels_window
from minigrad.backend import numpy_backend as xp


def doubles(*shape, start=0):
    """Return numbers that are all different, of either sign."""
    count = np.arange(math.prod(shape)) + start
    return (np.where(count % 3 == 0, -1, 1) * (0.5 + 0.13 * count)).reshape(shape)


def convolved(x, weight, bias, stride, padding, dilation, groups):
    """Convolve as the definition says, one product at a time."""
    x = np.pad(x, [(0, 0), (0, 0), *((p, p) for p in padding)])
    reach = [d * (k - 1) + 1 for k, d in zip(weight.shape[2:], dilation, strict=True)]
    counts = [(n - r) // s + 1 for n, r, s in zip(x.shape[2:], reach, stride, strict=True)]
    out = np.zeros((x.shape[0], weight.shape[0], *counts))
    per_in, per_out = weight.shape[1], weight.shape[0] // groups
    for o in range(weight.shape[0]):
        first = o // per_out * per_in
        for step in product(*map(range, counts)):
            window = x[(slice(None), slice(first, first + per_in), *(
                slice(i * s, i * s + r, d)
                for i, s, r, d in zip(step, stride, reach, dilation, strict=True)))]
            axes = tuple(range(1, window.ndim))
            out[(slice(None), o, *step)] = (window * weight[o]).sum(axes)
    return out if bias is None else out + bias.reshape(-1, *(1,) * len(counts))


# x, weight, stride, padding, dilation, groups
CASES = [
    ((1, 1, 5), (1, 1, 3), (1,), (0,), (1,), 1),
    ((2, 1, 5), (1, 1, 3), (2,), (0,), (1,), 1),
    ((2, 2, 5), (3, 2, 3), (1,), (1,), (1,), 1),
    ((1, 1, 7), (1, 1, 3), (1,), (0,), (2,), 1),
    ((1, 1, 7), (1, 1, 2), (3,), (2,), (2,), 1),
    ((1, 1, 6), (1, 1, 2), (3,), (0,), (1,), 1),
    ((2, 4, 5), (4, 2, 3), (1,), (1,), (1,), 2),
    ((1, 4, 5), (8, 1, 3), (2,), (0,), (1,), 4),
    ((2, 2, 4, 4), (3, 2, 2, 2), (1, 1), (0, 0), (1, 1), 1),
    ((2, 2, 5, 4), (2, 2, 3, 2), (2, 1), (1, 0), (1, 2), 1),
    ((2, 3, 2, 3), (2, 3, 1, 1), (1, 1), (0, 0), (1, 1), 1),
    ((1, 4, 4, 3), (2, 2, 2, 2), (1, 2), (1, 1), (1, 1), 2),
    ((1, 1, 3, 3, 3), (1, 1, 2, 2, 2), (1, 1, 1), (0, 0, 0), (1, 1, 1), 1),
]


def arrays_of(case):
    return doubles(*case[0]), doubles(*case[1], start=7)


# ------------------------------------------------------------------- 04c.1


@pytest.mark.hole("04c.1")
def test_windows_in_the_padding_behind_count_without_ceil_mode():
    got = kernels_window.pool_output_sizes((2,), (1,), (1,), (2,), (1,), False)
    assert tuple(got) == (6,), f"expected 2 + 2 * 2 windows of one element, got {got}"


@pytest.mark.hole("04c.1")
@pytest.mark.parametrize("size, k, s, p, d, expected", [
    (5, 3, 1, 0, 1, 3), (5, 3, 1, 1, 1, 5), (5, 3, 2, 0, 1, 2), (6, 3, 2, 0, 1, 2),
    (7, 3, 1, 0, 2, 3), (7, 3, 2, 1, 2, 3), (3, 3, 1, 0, 1, 1), (3, 3, 5, 0, 1, 1),
    (1, 3, 1, 1, 1, 1), (224, 7, 2, 3, 1, 112),
])
def test_how_many_steps_a_kernel_takes(size, k, s, p, d, expected):
    got = kernels_window.conv_output_sizes((size,), (k,), (s,), (p,), (d,))
    assert got == (expected,), f"expected {(expected,)}, got {got}"


@pytest.mark.hole("04c.1")
def test_each_dimension_has_its_own():
    got = kernels_window.conv_output_sizes((5, 7), (3, 2), (1, 3), (1, 0), (1, 2))
    assert got == (5, 2), f"expected (5, 2), got {got}"


@pytest.mark.hole("04c.1")
def test_a_kernel_larger_than_its_input():
    with pytest.raises(RuntimeError) as caught:
        kernels_window.conv_output_sizes((5, 2), (3, 3), (1, 1), (1, 0), (1, 2))
    assert str(caught.value) == (
        "Calculated padded input size per channel: (7 x 2). Kernel size: (3 x 5). "
        "Kernel size can't be greater than actual input size")


@pytest.mark.hole("04c.1")
@pytest.mark.parametrize("size, k, s, p, d, ceil, expected", [
    (6, 3, 2, 0, 1, False, 2), (6, 3, 2, 0, 1, True, 3), (7, 3, 2, 0, 1, True, 3),
    (5, 2, 2, 1, 1, False, 3), (3, 1, 3, 0, 1, False, 1), (3, 1, 3, 0, 1, True, 1),
    (4, 2, 2, 1, 1, True, 3), (8, 3, 2, 0, 2, False, 2), (8, 3, 3, 0, 2, True, 2),
])
def test_how_many_steps_a_pool_takes(size, k, s, p, d, ceil, expected):
    got = kernels_window.pool_output_sizes((size,), (k,), (s,), (p,), (d,), ceil)
    assert got == (expected,), f"expected {(expected,)}, got {got}"


@pytest.mark.hole("04c.1")
def test_a_pool_without_a_step():
    with pytest.raises(RuntimeError) as caught:
        kernels_window.pool_output_sizes((5, 2), (3, 4), (1, 1), (0, 0), (1, 1), False)
    assert str(caught.value) == ("Given input size: (5x2). Calculated output size: (3x-1). "
                                 "Output size is too small")


# ------------------------------------------------------------------- 04c.2


@pytest.mark.hole("04c.2")
def test_padding_behind_alone():
    x = np.array([1.0, 2.0])
    got = kernels_window.pad(xp, x, (0,), (2,))
    assert got.tolist() == [1.0, 2.0, 0.0, 0.0], f"expected two zeros behind, got {got}"


@pytest.mark.hole("04c.2")
@pytest.mark.parametrize("shape, before, after", [
    ((3,), (1,), (2,)), ((2, 3), (1,), (0,)), ((2, 3), (1, 0), (2, 3)), ((2, 2, 3), (0, 2), (1, 1)),
])
@pytest.mark.parametrize("value", [0, -1.5, -math.inf])
def test_padding(shape, before, after, value):
    x = doubles(*shape)
    widths = [(0, 0)] * (len(shape) - len(before)) + list(zip(before, after, strict=True))
    got = kernels_window.pad(xp, x, before, after, value)
    assert_close(got, np.pad(x, widths, constant_values=value), what="pad")
    assert got.dtype == x.dtype


@pytest.mark.hole("04c.2")
def test_padding_keeps_the_dtype():
    got = kernels_window.pad(xp, np.ones(2, np.float32), (1,), (1,), 2.0)
    assert got.dtype == np.float32 and got.tolist() == [2, 1, 1, 2]


@pytest.mark.hole("04c.2")
def test_nothing_to_pad_gives_the_array_itself():
    x = doubles(2, 3)
    assert kernels_window.pad(xp, x, (0, 0), (0, 0)) is x


@pytest.mark.hole("04c.2")
def test_channels_may_lie_next_to_each_other():
    x = doubles(2, 3, 4)
    got = kernels_window.pad(xp, x, (1,), (1,), channels_last=True)
    assert_close(got, np.pad(x, [(0, 0), (0, 0), (1, 1)]), what="pad")
    assert got.strides[1] == got.itemsize, "the channels are to be adjacent in memory"


@pytest.mark.hole("04c.2")
@pytest.mark.parametrize("shape, before, sizes", [
    ((5,), (1,), (2,)), ((2, 6), (2,), (3,)), ((2, 5, 6), (1, 0), (3, 4)), ((3, 4), (0, 0), (3, 4)),
])
def test_cutting(shape, before, sizes):
    x = doubles(*shape)
    key = (..., *(slice(b, b + n) for b, n in zip(before, sizes, strict=True)))
    got = kernels_window.crop(xp, x, before, sizes)
    assert_close(got, x[key], what="crop")
    assert got.flags.c_contiguous, "the result is to be contiguous"


# ------------------------------------------------------------------- 04c.3


@pytest.mark.hole("04c.3")
@pytest.mark.parametrize("at, s, d, count, expected", [
    (0, 1, 1, 3, [0, 1, 2]), (1, 2, 1, 3, [1, 3, 5]), (2, 1, 3, 2, [6, 7]), (2, 3, 2, 2, [4, 7]),
    (1, 1, 1, 1, [1]), (1, 2, 2, 0, []),
])
def test_what_a_position_meets(at, s, d, count, expected):
    key = kernels_window.position_slices((at,), (s,), (d,), (count,))
    got = np.arange(10)[key].tolist()
    assert got == expected, f"expected the elements {expected}, got {got}"


@pytest.mark.hole("04c.3")
def test_what_a_position_meets_in_two_dimensions():
    key = kernels_window.position_slices((1, 0), (2, 1), (1, 3), (2, 3))
    got = np.arange(40).reshape(1, 8, 5)[key]
    assert_close(got, [[[5, 6, 7], [15, 16, 17]]], what="the elements")


@pytest.mark.hole("04c.3")
@pytest.mark.parametrize("shape, kernel, stride, dilation, counts", [
    ((4,), (2,), (1,), (1,), (3,)),
    ((7,), (3,), (2,), (1,), (3,)),
    ((7,), (3,), (1,), (2,), (3,)),
    ((8,), (2,), (3,), (2,), (2,)),
    ((2, 3, 5), (2,), (2,), (1,), (2,)),
    ((2, 5, 6), (2, 3), (1, 2), (2, 1), (3, 2)),
])
def test_windows(shape, kernel, stride, dilation, counts):
    x = doubles(*shape)
    lead = shape[: len(shape) - len(kernel)]
    expected = np.empty((*lead, *kernel, *counts))
    for at in product(*map(range, kernel)):
        for step in product(*map(range, counts)):
            place = tuple(i * s + a * d
                          for i, s, a, d in zip(step, stride, at, dilation, strict=True))
            expected[(..., *at, *step)] = x[(..., *place)]
    got = kernels_window.windows(xp, x, kernel, stride, dilation, counts)
    assert_close(got, expected, what="windows")
    assert np.shares_memory(got, x), "no element is to be copied"


@pytest.mark.hole("04c.3")
def test_windows_of_any_layout():
    x = doubles(5, 2).T
    got = kernels_window.windows(xp, x, (2,), (2,), (1,), (2,))
    assert_close(got[1], [[x[1, 0], x[1, 2]], [x[1, 1], x[1, 3]]], what="windows")


# ------------------------------------------------------------------- 04c.4


@pytest.mark.hole("04c.4")
@pytest.mark.parametrize("shape, kernel, stride, dilation, counts", [
    ((4,), (2,), (1,), (1,), (3,)),
    ((7,), (3,), (2,), (1,), (3,)),
    ((7,), (3,), (1,), (2,), (3,)),
    ((8,), (2,), (3,), (2,), (2,)),
    ((2, 3, 5), (2,), (2,), (1,), (2,)),
    ((2, 5, 6), (2, 3), (1, 2), (2, 1), (3, 2)),
    ((2, 3), (2,), (1,), (1,), (0,)),
])
def test_windows_are_added_back(shape, kernel, stride, dilation, counts):
    lead = shape[: len(shape) - len(kernel)]
    values, expected = doubles(*lead, *kernel, *counts), np.ones(shape)
    for at in product(*map(range, kernel)):
        for step in product(*map(range, counts)):
            place = tuple(i * s + a * d
                          for i, s, a, d in zip(step, stride, at, dilation, strict=True))
            expected[(..., *place)] += values[(..., *at, *step)]
    target = np.ones(shape)
    got = kernels_window.add_windows(target, values, stride, dilation)
    assert got is target, "it writes to the target and returns it"
    assert_close(got, expected, what="add_windows")


@pytest.mark.hole("04c.4")
def test_adding_back_into_a_view():
    memory = np.zeros((4, 2))
    kernels_window.add_windows(memory.T, np.ones((2, 2, 3)), (1,), (1,))
    assert_close(memory, [[1, 1], [2, 2], [2, 2], [1, 1]], what="the target's memory")


# ------------------------------------------------------------------- 04c.5


@pytest.mark.hole("04c.5")
@pytest.mark.parametrize(("kinds", "expected"), [(("f4", "f8"), "f8"), (("f8", "f4"), "f8"),
                                                 (("f4", "f4"), "f4")])
def test_the_dtype_is_that_of_both(kinds, expected):
    x, weight = np.ones((1, 1, 3), kinds[0]), np.ones((1, 1, 2), kinds[1])
    got = kernels_conv.conv_forward(xp, x, weight, None, (1,), (0,), (1,), 1)
    assert got.dtype == expected, f"expected {expected}, got {got.dtype}"


@pytest.mark.hole("04c.5")
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("with_bias", [False, True])
def test_convolution(case, with_bias):
    x, weight = arrays_of(case)
    bias = doubles(case[1][0]) if with_bias else None
    got = kernels_conv.conv_forward(xp, x, weight, bias, *case[2:])
    assert_close(got, convolved(x, weight, bias, *case[2:]), what="the convolution")


@pytest.mark.hole("04c.5")
def test_nothing_given_is_changed():
    x, weight, bias = doubles(1, 1, 5), doubles(1, 1, 3), doubles(1)
    kernels_conv.conv_forward(xp, x, weight, bias, (1,), (1,), (1,), 1)
    assert np.array_equal(x, doubles(1, 1, 5)) and np.array_equal(weight, doubles(1, 1, 3))
    assert np.array_equal(bias, doubles(1))


@pytest.mark.hole("04c.5")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_dtype_stays(dtype):
    ones = [np.ones(shape, dtype) for shape in ((2, 1, 4), (3, 1, 2), (3,))]
    got = kernels_conv.conv_forward(xp, *ones, (1,), (0,), (1,), 1)
    assert got.dtype == dtype and got.shape == (2, 3, 3)


@pytest.mark.hole("04c.5")
def test_an_empty_batch():
    got = kernels_conv.conv_forward(xp, np.ones((0, 1, 4)), np.ones((3, 1, 2)), None, (1,), (0,),
                                    (1,), 1)
    assert got.shape == (0, 3, 3)


@pytest.mark.hole("04c.5")
def test_a_larger_image():
    x, weight = doubles(3, 4, 20, 20) / 100, doubles(6, 4, 3, 3)
    got = kernels_conv.conv_forward(xp, x, weight, None, (1, 1), (1, 1), (1, 1), 1)
    want = convolved(x, weight, None, (1, 1), (1, 1), (1, 1), 1)
    assert_close(got, want, what="the convolution")


@pytest.mark.hole("04c.5")
def test_a_kernel_that_does_not_fit():
    with pytest.raises(RuntimeError, match="Kernel size can't be greater than actual input size"):
        kernels_conv.conv_forward(xp, np.ones((1, 1, 2)), np.ones((1, 1, 3)), None, (1,), (0,),
                                  (1,), 1)


@pytest.mark.hole("04c.5")
def test_conv2d_of_tensors():
    x, weight = doubles(1, 2, 4, 4), doubles(3, 2, 3, 3, start=5)
    got = torch.conv2d(torch.tensor(x), torch.tensor(weight), stride=2, padding=1)
    assert_close(got.numpy(), convolved(x, weight, None, (2, 2), (1, 1), (1, 1), 1))


# ------------------------------------------------------------------- 04c.6


def gradient_for(case):
    x, weight = arrays_of(case)
    return doubles(*convolved(x, weight, None, *case[2:]).shape, start=3)


@pytest.mark.hole("04c.6")
def test_the_weight_where_g_has_fewer_steps_than_would_fit():
    g, x = np.array([[[1.0, 10.0]]]), np.array([[[2.0, 3.0, 5.0, 7.0, 11.0]]])
    got = kernels_conv.conv_grad_weight(xp, g, x, (1, 1, 2), (1,), (0,), (1,), 1)
    assert got.tolist() == [[[32.0, 53.0]]], f"expected [32, 53], got {got}"


@pytest.mark.hole("04c.6")
@pytest.mark.parametrize("case", CASES)
def test_gradient_of_the_weight(case):
    (x, weight), g = arrays_of(case), gradient_for(case)
    (want,) = central_difference_vjp(
        lambda w: convolved(x, w, None, *case[2:]), [weight], g, 1e-4)
    got = kernels_conv.conv_grad_weight(xp, g, x, weight.shape, *case[2:])
    assert_close(got, want, 1e-6, 1e-6, "the gradient of the weight")


@pytest.mark.hole("04c.6")
def test_samples_and_steps_add_up():
    x, g = doubles(5, 2, 9, 9), doubles(5, 3, 9, 9, start=1)
    got = kernels_conv.conv_grad_weight(xp, g, x, (3, 2, 1, 1), (1, 1), (0, 0), (1, 1), 1)
    assert_close(got[:, :, 0, 0], np.einsum("nohw,nchw->oc", g, x), what="the gradient")


@pytest.mark.hole("04c.6")
def test_the_weight_of_an_empty_batch():
    got = kernels_conv.conv_grad_weight(xp, np.ones((0, 3, 3)), np.ones((0, 1, 4)), (3, 1, 2),
                                        (1,), (0,), (1,), 1)
    assert_close(got, np.zeros((3, 1, 2)), what="the gradient")


# ------------------------------------------------------------------- 04c.7


@pytest.mark.hole("04c.7")
@pytest.mark.parametrize("case", CASES)
def test_gradient_of_the_input(case):
    (x, weight), g = arrays_of(case), gradient_for(case)
    (want,) = central_difference_vjp(
        lambda a: convolved(a, weight, None, *case[2:]), [x], g, 1e-4)
    got = kernels_conv.conv_grad_input(xp, g, weight, x.shape, *case[2:])
    assert_close(got, want, 1e-6, 1e-6, "the gradient of the input")


@pytest.mark.hole("04c.7")
def test_what_no_window_met_gets_zero():
    got = kernels_conv.conv_grad_input(xp, np.ones((1, 1, 2)), np.ones((1, 1, 2)), (1, 1, 6),
                                       (3,), (0,), (1,), 1)
    assert_close(got, [[[1, 1, 0, 1, 1, 0]]], what="the gradient")


@pytest.mark.hole("04c.7")
def test_all_gradients_of_a_layer():
    x, weight, bias = doubles(2, 2, 4, 4), doubles(2, 2, 3, 3, start=5), doubles(2)
    g = doubles(2, 2, 2, 2, start=2)
    want = central_difference_vjp(
        lambda x, w, b: convolved(x, w, b, (2, 2), (1, 1), (1, 1), 1), [x, weight, bias], g, 1e-4)
    tensors = [torch.tensor(each, requires_grad=True) for each in (x, weight, bias)]
    torch.conv2d(*tensors, stride=2, padding=1).backward(torch.tensor(g))
    for name, tensor, each in zip(("input", "weight", "bias"), tensors, want, strict=True):
        assert_close(tensor.grad.numpy(), each, 1e-6, 1e-6, f"the gradient of the {name}")


@pytest.mark.hole("04c.7")
@pytest.mark.parametrize("stride, padding", [(1, 0), (2, 1)])
def test_second_derivatives(stride, padding):
    x, weight = doubles(1, 2, 4) / 2, doubles(2, 2, 2, start=5) / 2

    def reference(x, w):
        return convolved(x, w, None, (stride,), (padding,), (1,), 1)

    g, directions = np.ones_like(reference(x, weight)), [np.cos(x), np.sin(weight)]
    want, _ = second_order_vjp(reference, [x, weight], g, directions)
    inputs = [torch.tensor(each, requires_grad=True) for each in (x, weight)]
    out = torch.conv1d(*inputs, stride=stride, padding=padding)
    first = torch.autograd.grad(out, inputs, torch.tensor(g), create_graph=True)
    total = sum((f * torch.tensor(d)).sum() for f, d in zip(first, directions, strict=True))
    for got, each in zip(torch.autograd.grad(total, inputs), want, strict=True):
        assert_close(got.numpy(), each, 1e-4, 1e-4, "a second gradient")
