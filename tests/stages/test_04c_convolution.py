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


# what is new in it: x, weight, stride, padding, dilation, groups
CASES = {
    "one channel": ((1, 1, 5), (1, 1, 3), (1,), (0,), (1,), 1),
    "a kernel as large as the input": ((1, 1, 3), (1, 1, 3), (1,), (0,), (1,), 1),
    "several input channels": ((1, 2, 5), (1, 2, 3), (1,), (0,), (1,), 1),
    "several filters": ((1, 2, 5), (3, 2, 3), (1,), (0,), (1,), 1),
    "several samples": ((3, 2, 5), (3, 2, 3), (1,), (0,), (1,), 1),
    "a stride": ((1, 1, 5), (1, 1, 3), (2,), (0,), (1,), 1),
    "a stride that leaves elements out": ((1, 1, 6), (1, 1, 2), (3,), (0,), (1,), 1),
    "padding": ((1, 1, 5), (1, 1, 3), (1,), (1,), (1,), 1),
    "a dilation": ((1, 1, 7), (1, 1, 3), (1,), (0,), (2,), 1),
    "2 groups": ((1, 4, 5), (4, 2, 3), (1,), (0,), (1,), 2),
    "a group for each channel": ((1, 4, 5), (8, 1, 3), (2,), (0,), (1,), 4),
    "two dimensions": ((2, 2, 4, 4), (3, 2, 2, 2), (1, 1), (0, 0), (1, 1), 1),
    "a kernel of one element": ((2, 3, 2, 3), (2, 3, 1, 1), (1, 1), (0, 0), (1, 1), 1),
    "other numbers for each dimension": ((2, 2, 5, 4), (2, 2, 3, 2), (2, 1), (1, 0), (1, 2), 1),
    "samples, channels and padding": ((2, 2, 5), (3, 2, 3), (1,), (1,), (1,), 1),
    "stride, padding and dilation": ((1, 1, 7), (1, 1, 2), (3,), (2,), (2,), 1),
    "groups and padding": ((2, 4, 5), (4, 2, 3), (1,), (1,), (1,), 2),
    "groups, stride and padding": ((1, 4, 4, 3), (2, 2, 2, 2), (1, 2), (1, 1), (1, 1), 2),
    "three dimensions": ((1, 1, 3, 3, 3), (1, 1, 2, 2, 2), (1, 1, 1), (0, 0, 0), (1, 1, 1), 1),
}
COMBINED = pytest.mark.parametrize("case", list(CASES)[11:])


def cases(*names):
    return pytest.mark.parametrize("case", names)


def arrays_of(case):
    return doubles(*case[0]), doubles(*case[1], start=7)


# ------------------------------------------------------------------- 04c.1

def numbered(names, cases):
    return pytest.mark.parametrize(names + ", expected", [
        pytest.param(*case, id=", ".join(f"{name.strip()} {value}" for name, value in zip(
            names.split(","), case, strict=False)) + f": {case[-1]}") for case in cases])


def steps(size, kernel, stride, padding, dilation):
    return kernels_window.conv_output_sizes((size,), (kernel,), (stride,), (padding,), (dilation,))


@pytest.mark.hole("04c.1")
@numbered("size, kernel", [(5, 3, 3), (3, 3, 1), (4, 1, 4)])
def test_steps_of_a_kernel(size, kernel, expected):
    got = steps(size, kernel, 1, 0, 1)
    assert got == (expected,), f"expected {(expected,)}, got {got}"


@pytest.mark.hole("04c.1")
@numbered("size, kernel, stride", [(5, 3, 2, 2), (6, 3, 2, 2), (3, 3, 5, 1), (9, 2, 3, 3)])
def test_steps_with_a_stride(size, kernel, stride, expected):
    got = steps(size, kernel, stride, 0, 1)
    assert got == (expected,), f"expected {(expected,)}, got {got}"


@pytest.mark.hole("04c.1")
@numbered("size, kernel, padding", [(5, 3, 1, 5), (1, 3, 1, 1), (4, 2, 2, 7)])
def test_steps_with_padding(size, kernel, padding, expected):
    got = steps(size, kernel, 1, padding, 1)
    assert got == (expected,), f"expected {(expected,)}, got {got}"


@pytest.mark.hole("04c.1")
@numbered("size, kernel, dilation", [(7, 3, 2, 3), (7, 3, 3, 1), (5, 1, 4, 5)])
def test_steps_with_a_dilation(size, kernel, dilation, expected):
    got = steps(size, kernel, 1, 0, dilation)
    assert got == (expected,), f"expected {(expected,)}, got {got}"


@pytest.mark.hole("04c.1")
@numbered("size, kernel, stride, padding, dilation", [(7, 3, 2, 1, 2, 3), (224, 7, 2, 3, 1, 112)])
def test_how_many_steps_a_kernel_takes(size, kernel, stride, padding, dilation, expected):
    got = steps(size, kernel, stride, padding, dilation)
    assert got == (expected,), f"expected {(expected,)}, got {got}"


@pytest.mark.hole("04c.1")
def test_each_dimension_has_its_own():
    got = kernels_window.conv_output_sizes((5, 7), (3, 2), (1, 3), (1, 0), (1, 2))
    assert got == (5, 2), f"expected (5, 2), got {got}"


OF_ITS_OWN = "^(?!04c)"  # any text but that of an exercise still to be written


@pytest.mark.hole("04c.1")
@pytest.mark.parametrize("sizes", [(2, 2), (2, 9), (9, 2)], ids=str)
def test_a_kernel_that_reaches_too_far(sizes):
    with pytest.raises(RuntimeError, match=OF_ITS_OWN):
        kernels_window.conv_output_sizes(sizes, (3, 3), (1, 1), (0, 0), (1, 1))


@pytest.mark.hole("04c.1")
@pytest.mark.parametrize("why", ["of its dilation", "it is too large for the padded input"])
def test_what_makes_a_kernel_too_large(why):
    with pytest.raises(RuntimeError, match=OF_ITS_OWN):
        kernels_window.conv_output_sizes(
            *(((4,), (3,), (1,), (0,), (2,)) if why == "of its dilation" else
              ((1,), (4,), (1,), (1,), (1,))))


@pytest.mark.hole("04c.1")
def test_a_kernel_larger_than_its_input():
    with pytest.raises(RuntimeError) as caught:
        kernels_window.conv_output_sizes((5, 2), (3, 3), (1, 1), (1, 0), (1, 2))
    assert str(caught.value) == (
        "Calculated padded input size per channel: (7 x 2). Kernel size: (3 x 5). "
        "Kernel size can't be greater than actual input size")


@pytest.mark.hole("04c.1")
def test_counts_come_as_a_tuple():
    got = steps(5, 3, 1, 0, 1)
    assert type(got) is tuple, f"expected a tuple, got {got!r}"


# ------------------------------------------------------------------- 04c.2

def check_pad(shape, before, after, value=0):
    x = doubles(*shape)
    widths = [(0, 0)] * (len(shape) - len(before)) + list(zip(before, after, strict=True))
    got = kernels_window.pad(xp, x, before, after, value)
    assert_close(got, np.pad(x, widths, constant_values=value), what="pad")
    assert got.dtype == x.dtype


@pytest.mark.hole("04c.2")
@pytest.mark.parametrize(("before", "after"), [(1, 2), (1, 0), (0, 2), (2, 2)],
                         ids=lambda n: str(n))
def test_elements_in_front_and_behind(before, after):
    check_pad((3,), (before,), (after,))


@pytest.mark.hole("04c.2")
@pytest.mark.parametrize("value", [-1.5, -math.inf])
def test_what_is_put_around(value):
    check_pad((3,), (1,), (2,), value)


@pytest.mark.hole("04c.2")
def test_leading_dimensions_get_no_padding():
    check_pad((2, 2, 3), (1,), (2,))


@pytest.mark.hole("04c.2")
@pytest.mark.parametrize(("before", "after"), [((1, 0), (2, 3)), ((0, 2), (1, 1))],
                         ids=lambda n: str(n))
def test_each_dimension_has_its_own_padding(before, after):
    check_pad((2, 3), before, after)
    check_pad((2, 2, 3), before, after, 2.5)


@pytest.mark.hole("04c.2")
@pytest.mark.parametrize("value", [0, 2.0])
def test_padding_keeps_the_dtype(value):
    got = kernels_window.pad(xp, np.ones(2, np.float32), (1,), (1,), value)
    assert got.dtype == np.float32 and got.tolist() == [value, 1, 1, value]


@pytest.mark.hole("04c.2")
def test_nothing_to_pad_gives_the_array_itself():
    x = doubles(2, 3)
    assert kernels_window.pad(xp, x, (0, 0), (0, 0)) is x
    assert kernels_window.pad(xp, x, (0,), (0,), 1.0) is x


@pytest.mark.hole("04c.2")
def test_channels_may_lie_next_to_each_other():
    x = doubles(2, 3, 4)
    got = kernels_window.pad(xp, x, (1,), (1,), channels_last=True)
    assert_close(got, np.pad(x, [(0, 0), (0, 0), (1, 1)]), what="pad")
    assert got.strides[1] == got.itemsize, "the channels are to be adjacent in memory"


@pytest.mark.hole("04c.2")
@pytest.mark.parametrize("shape, before, sizes", [
    pytest.param(*case, id=f"before={case[1]}, sizes={case[2]} of shape {case[0]}")
    for case in [((5,), (0,), (2,)), ((5,), (1,), (2,)), ((5,), (1,), (4,)), ((2, 6), (2,), (3,)),
                 ((2, 5, 6), (1, 0), (3, 4)), ((3, 4), (0, 0), (3, 4))]])
def test_cutting(shape, before, sizes):
    x = doubles(*shape)
    key = (..., *(slice(b, b + n) for b, n in zip(before, sizes, strict=True)))
    assert_close(kernels_window.crop(xp, x, before, sizes), x[key], what="crop")


@pytest.mark.hole("04c.2")
def test_what_was_cut_is_contiguous():
    got = kernels_window.crop(xp, doubles(3, 6), (1,), (2,))
    assert got.flags.c_contiguous, "the result is to be contiguous"


# ------------------------------------------------------------------- 04c.3

def check_slice(at, stride, dilation, count, expected):
    key = kernels_window.position_slices((at,), (stride,), (dilation,), (count,))
    got = np.arange(12)[key].tolist()
    assert got == expected, f"expected the elements {expected}, got {got}"


@pytest.mark.hole("04c.3")
@numbered("position, count", [(0, 3, [0, 1, 2]), (1, 1, [1]), (2, 3, [2, 3, 4])])
def test_what_a_position_meets(position, count, expected):
    check_slice(position, 1, 1, count, expected)


@pytest.mark.hole("04c.3")
@numbered("position, stride, count", [(0, 2, 3, [0, 2, 4]), (1, 3, 3, [1, 4, 7])])
def test_what_a_position_meets_with_a_stride(position, stride, count, expected):
    check_slice(position, stride, 1, count, expected)


@pytest.mark.hole("04c.3")
@numbered("position, dilation, count", [(1, 2, 3, [2, 3, 4]), (2, 3, 2, [6, 7])])
def test_what_a_position_meets_with_a_dilation(position, dilation, count, expected):
    check_slice(position, 1, dilation, count, expected)


@pytest.mark.hole("04c.3")
@numbered("position, stride, dilation, count", [(2, 3, 2, 2, [4, 7]), (1, 2, 3, 3, [3, 5, 7])])
def test_what_a_position_meets_with_both(position, stride, dilation, count, expected):
    check_slice(position, stride, dilation, count, expected)


@pytest.mark.hole("04c.3")
@pytest.mark.parametrize("position", [0, 1])
def test_no_step_meets_nothing(position):
    check_slice(position, 2, 2, 0, [])


@pytest.mark.hole("04c.3")
def test_what_a_position_meets_in_two_dimensions():
    key = kernels_window.position_slices((1, 0), (2, 1), (1, 3), (2, 3))
    got = np.arange(40).reshape(8, 5)[key]
    assert_close(got, [[5, 6, 7], [15, 16, 17]], what="the elements")


@pytest.mark.hole("04c.3")
def test_leading_dimensions_are_met_whole():
    key = kernels_window.position_slices((1,), (2,), (1,), (2,))
    got = np.arange(10).reshape(2, 5)[key]
    assert_close(got, [[1, 3], [6, 8]], what="the elements")


def check_windows(shape, kernel, stride, dilation, counts):
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


@pytest.mark.hole("04c.3")
def test_windows():
    check_windows((4,), (2,), (1,), (1,), (3,))


@pytest.mark.hole("04c.3")
def test_windows_with_a_stride():
    check_windows((7,), (3,), (2,), (1,), (3,))


@pytest.mark.hole("04c.3")
def test_windows_with_a_dilation():
    check_windows((7,), (3,), (1,), (2,), (3,))


@pytest.mark.hole("04c.3")
def test_windows_with_both():
    check_windows((8,), (2,), (3,), (2,), (2,))


@pytest.mark.hole("04c.3")
@pytest.mark.parametrize("lead", [(2,), (2, 3)], ids=str)
def test_windows_of_each_channel(lead):
    check_windows((*lead, 5), (2,), (2,), (1,), (2,))


@pytest.mark.hole("04c.3")
def test_windows_of_two_dimensions():
    check_windows((2, 5, 6), (2, 3), (1, 2), (2, 1), (3, 2))


@pytest.mark.hole("04c.3")
def test_fewer_windows_than_would_fit():
    check_windows((9,), (2,), (2,), (1,), (2,))


@pytest.mark.hole("04c.3")
@pytest.mark.parametrize("kind", ["transposed", "every second element", "in reverse"])
def test_windows_of_any_layout(kind):
    x = {"transposed": doubles(5, 2).T, "every second element": doubles(2, 10)[:, ::2],
         "in reverse": doubles(2, 5)[:, ::-1]}[kind]
    got = kernels_window.windows(xp, x, (2,), (2,), (1,), (2,))
    assert_close(got[1], [[x[1, 0], x[1, 2]], [x[1, 1], x[1, 3]]], what="windows")


@pytest.mark.hole("04c.3")
def test_no_window_is_copied():
    for x in (doubles(2, 5), doubles(5, 2).T, doubles(2, 10)[:, ::2]):
        got = kernels_window.windows(xp, x, (2,), (1,), (1,), (4,))
        assert np.shares_memory(got, x), "expected a view, but the elements were copied"


# ------------------------------------------------------------------- 04c.4

def check_add(shape, kernel, stride, dilation, counts):
    lead = shape[: len(shape) - len(kernel)]
    values, expected = doubles(*lead, *kernel, *counts), np.zeros(shape)
    for at in product(*map(range, kernel)):
        for step in product(*map(range, counts)):
            place = tuple(i * s + a * d
                          for i, s, a, d in zip(step, stride, at, dilation, strict=True))
            expected[(..., *place)] += values[(..., *at, *step)]
    got = np.zeros(shape)
    kernels_window.add_windows(got, values, stride, dilation)
    assert_close(got, expected, what="the target")


@pytest.mark.hole("04c.4")
def test_windows_apart_are_added_back():
    check_add((6,), (2,), (2,), (1,), (3,))


@pytest.mark.hole("04c.4")
def test_windows_that_overlap_add_up():
    check_add((4,), (2,), (1,), (1,), (3,))
    check_add((13,), (3,), (3,), (3,), (3,))  # they overlap because of their gaps


@pytest.mark.hole("04c.4")
@pytest.mark.parametrize("stride", [2, 3])
def test_adding_back_with_a_stride(stride):
    check_add((9,), (3,), (stride,), (1,), (3,))


@pytest.mark.hole("04c.4")
def test_adding_back_with_a_dilation():
    check_add((7,), (3,), (1,), (2,), (3,))


@pytest.mark.hole("04c.4")
def test_adding_back_with_both():
    check_add((8,), (2,), (3,), (2,), (2,))


@pytest.mark.hole("04c.4")
@pytest.mark.parametrize("lead", [(2,), (2, 3)], ids=str)
def test_leading_dimensions_stay_apart(lead):
    check_add((*lead, 5), (2,), (2,), (1,), (2,))


@pytest.mark.hole("04c.4")
def test_adding_back_in_two_dimensions():
    check_add((2, 5, 6), (2, 3), (1, 2), (2, 1), (3, 2))


@pytest.mark.hole("04c.4")
def test_no_step_adds_nothing():
    check_add((2, 3), (2,), (1,), (1,), (0,))


@pytest.mark.hole("04c.4")
def test_what_the_target_held_stays():
    target = np.array([10.0, 20.0, 30.0])
    kernels_window.add_windows(target, np.array([[1.0, 2.0], [3.0, 4.0]]), (1,), (1,))
    assert_close(target, [11, 25, 34], what="the target")


@pytest.mark.hole("04c.4")
def test_the_target_itself_comes_back():
    target = np.zeros(3)
    got = kernels_window.add_windows(target, np.ones((2, 2)), (1,), (1,))
    assert got is target, "it writes to the target and returns it"


@pytest.mark.hole("04c.4")
def test_adding_back_into_a_view():
    memory = np.zeros((4, 2))
    kernels_window.add_windows(memory.T, np.ones((2, 2, 3)), (1,), (1,))
    assert_close(memory, [[1, 1], [2, 2], [2, 2], [1, 1]], what="the target's memory")


# ------------------------------------------------------------------- 04c.5

def check_forward(case, with_bias=False):
    x, weight = arrays_of(CASES[case])
    bias = doubles(CASES[case][1][0]) if with_bias else None
    got = kernels_conv.conv_forward(xp, x, weight, bias, *CASES[case][2:])
    assert_close(got, convolved(x, weight, bias, *CASES[case][2:]), what="the convolution")


@pytest.mark.hole("04c.5")
def test_a_weight_is_not_mirrored():
    x, weight = np.array([[[1.0, 10.0, 100.0, 1000.0]]]), np.array([[[2.0, 3.0]]])
    got = kernels_conv.conv_forward(xp, x, weight, None, (1,), (0,), (1,), 1)
    assert_close(got, [[[32, 320, 3200]]], what="the convolution")


@pytest.mark.hole("04c.5")
@cases("one channel", "a kernel as large as the input")
def test_forward_with_one_channel(case):
    check_forward(case)


@pytest.mark.hole("04c.5")
def test_forward_with_several_input_channels():
    check_forward("several input channels")


@pytest.mark.hole("04c.5")
def test_forward_with_several_filters():
    check_forward("several filters")


@pytest.mark.hole("04c.5")
def test_forward_with_several_samples():
    check_forward("several samples")


@pytest.mark.hole("04c.5")
@cases("a stride", "a stride that leaves elements out")
def test_forward_with_a_stride(case):
    check_forward(case)


@pytest.mark.hole("04c.5")
def test_forward_with_padding():
    check_forward("padding")


@pytest.mark.hole("04c.5")
def test_forward_with_a_dilation():
    check_forward("a dilation")


@pytest.mark.hole("04c.5")
@cases("2 groups", "a group for each channel")
def test_forward_with_groups(case):
    check_forward(case)


@pytest.mark.hole("04c.5")
@COMBINED
def test_convolution(case):
    check_forward(case)


@pytest.mark.hole("04c.5")
@pytest.mark.parametrize("case", list(CASES))
def test_forward_with_a_bias(case):
    check_forward(case, True)


@pytest.mark.hole("04c.5")
def test_nothing_given_is_changed():
    for kernel, padding in ((3, 1), (1, 0)):
        x, weight, bias = doubles(1, 1, 5), doubles(1, 1, kernel), doubles(1)
        kernels_conv.conv_forward(xp, x, weight, bias, (1,), (padding,), (1,), 1)
        assert np.array_equal(x, doubles(1, 1, 5))
        assert np.array_equal(weight, doubles(1, 1, kernel))
        assert np.array_equal(bias, doubles(1))


@pytest.mark.hole("04c.5")
@pytest.mark.parametrize(("x", "weight", "expected"), [
    ("float32", "float64", "float64"), ("float64", "float32", "float64"),
    ("float32", "float32", "float32"), ("float64", "float64", "float64")], ids=lambda kind: kind)
def test_the_dtype_is_that_of_both(x, weight, expected):
    ones = [np.ones((2, 1, 4), x), np.ones((3, 1, 2), weight), np.ones(3, "float64")]
    got = kernels_conv.conv_forward(xp, *ones, (1,), (0,), (1,), 1)
    assert got.dtype == expected, f"expected {expected}, got {got.dtype}"
    assert got.shape == (2, 3, 3), f"expected shape (2, 3, 3), got {got.shape}"


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


def check_weight(name):
    case = CASES[name]
    (x, weight), g = arrays_of(case), gradient_for(case)
    (want,) = central_difference_vjp(
        lambda w: convolved(x, w, None, *case[2:]), [weight], g, 1e-4)
    got = kernels_conv.conv_grad_weight(xp, g, x, weight.shape, *case[2:])
    assert_close(got, want, 1e-6, 1e-6, "the gradient of the weight")


@pytest.mark.hole("04c.6")
@cases("one channel", "a kernel as large as the input")
def test_weight_with_one_channel(case):
    check_weight(case)


@pytest.mark.hole("04c.6")
def test_weight_with_several_input_channels():
    check_weight("several input channels")


@pytest.mark.hole("04c.6")
def test_weight_with_several_filters():
    check_weight("several filters")


@pytest.mark.hole("04c.6")
def test_weight_with_several_samples():
    check_weight("several samples")


@pytest.mark.hole("04c.6")
@cases("a stride", "a stride that leaves elements out")
def test_weight_with_a_stride(case):
    check_weight(case)


@pytest.mark.hole("04c.6")
def test_weight_with_padding():
    check_weight("padding")


@pytest.mark.hole("04c.6")
def test_weight_with_a_dilation():
    check_weight("a dilation")


@pytest.mark.hole("04c.6")
@cases("2 groups", "a group for each channel")
def test_weight_with_groups(case):
    check_weight(case)


@pytest.mark.hole("04c.6")
def test_the_weight_where_g_has_fewer_steps_than_would_fit():
    g, x = np.array([[[1.0, 10.0]]]), np.array([[[2.0, 3.0, 5.0, 7.0, 11.0]]])
    got = kernels_conv.conv_grad_weight(xp, g, x, (1, 1, 2), (1,), (0,), (1,), 1)
    assert_close(got, [[[32, 53]]], what="the gradient of the weight")


@pytest.mark.hole("04c.6")
@COMBINED
def test_gradient_of_the_weight(case):
    check_weight(case)


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


@pytest.mark.hole("04c.6")
@pytest.mark.parametrize(("g", "x", "expected"), [
    ("float32", "float64", "float64"), ("float64", "float32", "float64"),
    ("float32", "float32", "float32")], ids=lambda kind: kind)
def test_the_dtype_of_the_weight_s_gradient(g, x, expected):
    got = kernels_conv.conv_grad_weight(xp, np.ones((1, 1, 3), g), np.ones((1, 1, 4), x),
                                        (1, 1, 2), (1,), (0,), (1,), 1)
    assert got.dtype == expected, f"expected {expected}, got {got.dtype}"


# ------------------------------------------------------------------- 04c.7

def check_input(name):
    case = CASES[name]
    (x, weight), g = arrays_of(case), gradient_for(case)
    (want,) = central_difference_vjp(
        lambda a: convolved(a, weight, None, *case[2:]), [x], g, 1e-4)
    got = kernels_conv.conv_grad_input(xp, g, weight, x.shape, *case[2:])
    assert_close(got, want, 1e-6, 1e-6, "the gradient of the input")


@pytest.mark.hole("04c.7")
def test_one_step_reaches_its_own_window():
    got = kernels_conv.conv_grad_input(xp, np.array([[[0.0, 1.0]]]), np.array([[[2.0, 3.0]]]),
                                       (1, 1, 3), (1,), (0,), (1,), 1)
    assert_close(got, [[[0, 2, 3]]], what="the gradient")


@pytest.mark.hole("04c.7")
@cases("one channel", "a kernel as large as the input")
def test_input_with_one_channel(case):
    check_input(case)


@pytest.mark.hole("04c.7")
def test_input_with_several_input_channels():
    check_input("several input channels")


@pytest.mark.hole("04c.7")
def test_input_with_several_filters():
    check_input("several filters")


@pytest.mark.hole("04c.7")
def test_input_with_several_samples():
    check_input("several samples")


@pytest.mark.hole("04c.7")
@cases("a stride", "a stride that leaves elements out")
def test_input_with_a_stride(case):
    check_input(case)


@pytest.mark.hole("04c.7")
def test_input_with_padding():
    check_input("padding")


@pytest.mark.hole("04c.7")
def test_input_with_a_dilation():
    check_input("a dilation")


@pytest.mark.hole("04c.7")
@cases("2 groups", "a group for each channel")
def test_input_with_groups(case):
    check_input(case)


@pytest.mark.hole("04c.7")
def test_what_no_window_met_gets_zero():
    got = kernels_conv.conv_grad_input(xp, np.ones((1, 1, 2)), np.ones((1, 1, 2)), (1, 1, 6),
                                       (3,), (0,), (1,), 1)
    assert_close(got, [[[1, 1, 0, 1, 1, 0]]], what="the gradient")


@pytest.mark.hole("04c.7")
def test_the_input_where_g_has_fewer_steps_than_would_fit():
    got = kernels_conv.conv_grad_input(xp, np.array([[[1.0, 10.0]]]), np.array([[[2.0, 3.0]]]),
                                       (1, 1, 5), (1,), (0,), (1,), 1)
    assert_close(got, [[[2, 23, 30, 0, 0]]], what="the gradient")


@pytest.mark.hole("04c.7")
@COMBINED
def test_gradient_of_the_input(case):
    check_input(case)


@pytest.mark.hole("04c.7")
@pytest.mark.parametrize(("g", "weight", "expected"), [
    ("float32", "float64", "float64"), ("float64", "float32", "float64"),
    ("float32", "float32", "float32")], ids=lambda kind: kind)
def test_the_dtype_of_the_input_s_gradient(g, weight, expected):
    got = kernels_conv.conv_grad_input(xp, np.ones((1, 1, 3), g), np.ones((1, 1, 2), weight),
                                       (1, 1, 4), (1,), (0,), (1,), 1)
    assert got.dtype == expected, f"expected {expected}, got {got.dtype}"


@pytest.mark.hole("04c.7")
@pytest.mark.parametrize("name", ["input", "weight", "bias"])
def test_all_gradients_of_a_layer(name):
    arrays = [doubles(2, 2, 4, 4), doubles(2, 2, 3, 3, start=5), doubles(2)]
    place, g = ["input", "weight", "bias"].index(name), doubles(2, 2, 2, 2, start=2)
    want = central_difference_vjp(
        lambda x, w, b: convolved(x, w, b, (2, 2), (1, 1), (1, 1), 1), arrays, g, 1e-4)[place]
    tensors = [torch.tensor(each, requires_grad=True) for each in arrays]
    torch.conv2d(*tensors, stride=2, padding=1).backward(torch.tensor(g))
    assert_close(tensors[place].grad.numpy(), want, 1e-6, 1e-6, f"the gradient of the {name}")


@pytest.mark.hole("04c.7")
@pytest.mark.parametrize("stride, padding", [(1, 0), (2, 1)],
                         ids=["stride=1, padding=0", "stride=2, padding=1"])
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
