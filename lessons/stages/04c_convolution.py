"""Symptoms of stage 04c."""

import numpy as np

from minigrad.backend import kernels_conv, kernels_window
from minigrad.backend import numpy_backend as xp


def _same(got, *wanted) -> bool:
    return isinstance(got, np.ndarray) and any(
        np.shape(each) == got.shape and np.allclose(got, each) for each in wanted)


# ------------------------------------------------------------------- 04c.1


def _steps(size, k, s=1, p=0, d=1):
    """How many steps it says there are; None where there is an error."""
    try:
        (count,) = kernels_window.conv_output_sizes((size,), (k,), (s,), (p,), (d,))
    except Exception:
        return None
    return count


def symptom_04c_1_padding_once() -> bool:
    return _steps(5, 3) == 3 and _steps(5, 3, p=1) == 4


def symptom_04c_1_padding_ignored() -> bool:
    return _steps(5, 3) == 3 and _steps(5, 3, p=1) == 3


def symptom_04c_1_dilation_ignored() -> bool:
    return _steps(7, 3) == 5 and _steps(7, 3, d=2) == 5


def symptom_04c_1_dilation_times_kernel() -> bool:
    return _steps(7, 3) == 5 and _steps(7, 3, d=2) == 2


def symptom_04c_1_one_too_few() -> bool:
    return _steps(5, 3) == 2 and _steps(7, 3) == 4


def symptom_04c_1_stride_ignored() -> bool:
    return _steps(7, 3) == 5 and _steps(7, 3, s=2) == 5


def symptom_04c_1_hangs_over() -> bool:
    return _steps(5, 3) == 3 and _steps(7, 3, s=2) == 3 and _steps(6, 3, s=2) == 3


def symptom_04c_1_reach_too_short() -> bool:
    return _steps(5, 3) == 4 and _steps(7, 3) == 6


def symptom_04c_1_one_before_dividing() -> bool:
    return _steps(5, 3) == 3 and _steps(7, 3, s=2) == 2


def symptom_04c_1_no_error() -> bool:
    return _steps(5, 3) == 3 and _steps(2, 4) is not None


def _pools(size, k, s, p=0, ceil=True):
    try:
        (count,) = kernels_window.pool_output_sizes((size,), (k,), (s,), (p,), (1,), ceil)
    except Exception:
        return None
    return count


def symptom_04c_1_ceil_ignored() -> bool:
    return _pools(6, 3, 2, ceil=False) == 2 and _pools(6, 3, 2) == 2


def symptom_04c_1_ceil_always() -> bool:
    return _pools(6, 3, 2, ceil=False) == 3


def symptom_04c_1_window_outside() -> bool:
    return _pools(6, 3, 2) == 3 and _pools(3, 1, 3) == 2


# ------------------------------------------------------------------- 04c.2

TWO = np.array([1.0, 2.0])


def _padded(value=0):
    try:
        return kernels_window.pad(xp, TWO, (1,), (2,), value)
    except Exception:
        return None


def symptom_04c_2_sides_exchanged() -> bool:
    return _same(_padded(), [0, 0, 1, 2, 0])


def symptom_04c_2_front_only() -> bool:
    return _same(_padded(), [0, 1, 2])


def symptom_04c_2_back_only() -> bool:
    return _same(_padded(), [1, 2, 0, 0])


def symptom_04c_2_before_on_both_sides() -> bool:
    return _same(_padded(), [0, 1, 2, 0])


def symptom_04c_2_always_zero() -> bool:
    return _same(_padded(), [0, 1, 2, 0, 0]) and _same(_padded(7.0), [0, 1, 2, 0, 0])


def symptom_04c_2_copied_for_nothing() -> bool:
    return (_same(_padded(), [0, 1, 2, 0, 0])
            and kernels_window.pad(xp, TWO, (0,), (0,)) is not TWO)


def _cropped():
    return kernels_window.crop(xp, np.arange(12.0).reshape(2, 6), (2,), (3,))


def symptom_04c_2_crop_from_start() -> bool:
    return _same(_cropped(), [[0, 1, 2], [6, 7, 8]])


def symptom_04c_2_crop_to_the_end() -> bool:
    return _same(_cropped(), [[2, 3, 4, 5], [8, 9, 10, 11]])


def symptom_04c_2_crop_size_as_end() -> bool:
    return _same(_cropped(), [[2], [8]])


def symptom_04c_2_crop_not_contiguous() -> bool:
    return _same(_cropped(), [[2, 3, 4], [8, 9, 10]]) and not _cropped().flags.c_contiguous


# ------------------------------------------------------------------- 04c.3


def _met(at, s, d, count):
    """The elements of 0 ... 19 that a kernel position meets; None where there is an error."""
    try:
        return np.arange(20)[kernels_window.position_slices((at,), (s,), (d,), (count,))].tolist()
    except Exception:
        return None


def symptom_04c_3_position_not_dilated() -> bool:
    return _met(2, 1, 3, 2) == [2, 3] and _met(1, 2, 1, 3) == [1, 3, 5]


def symptom_04c_3_position_strided() -> bool:
    return _met(1, 2, 1, 3) == [2, 4, 6]


def symptom_04c_3_slice_without_stride() -> bool:
    return _met(1, 2, 1, 3) == [1, 2, 3]


def symptom_04c_3_not_moved() -> bool:
    return _met(1, 2, 1, 3) == [0, 2, 4]


def symptom_04c_3_one_too_few() -> bool:
    return _met(1, 2, 1, 3) == [1, 3]


def symptom_04c_3_to_the_end() -> bool:
    return _met(1, 2, 1, 3) == list(range(1, 20, 2))


def _windows(kernel, stride, dilation, counts):
    try:
        x = np.arange(40.0)
        return kernels_window.windows(xp, x, (kernel,), (stride,), (dilation,), (counts,))
    except Exception:
        return None


def symptom_04c_3_steps_first() -> bool:
    return _same(_windows(2, 1, 1, 3), [[0, 1], [1, 2], [2, 3]])


def symptom_04c_3_stride_ignored() -> bool:
    return _same(_windows(2, 3, 1, 3), [[0, 1, 2], [1, 2, 3]])


def symptom_04c_3_dilation_ignored() -> bool:
    return (_same(_windows(2, 3, 1, 3), [[0, 3, 6], [1, 4, 7]])
            and _same(_windows(2, 1, 3, 3), [[0, 1, 2], [1, 2, 3]]))


def symptom_04c_3_exchanged() -> bool:
    return _same(_windows(2, 3, 1, 3), [[0, 1, 2], [3, 4, 5]])


def symptom_04c_3_copied() -> bool:
    x = np.arange(4.0)
    got = kernels_window.windows(xp, x, (2,), (1,), (1,), (3,))
    return _same(got, [[0, 1, 2], [1, 2, 3]]) and not np.shares_memory(got, x)


# ------------------------------------------------------------------- 04c.4


def _added(size=4, kernel=2, counts=3, stride=1, dilation=1, fill=1.0):
    target = np.full(size, fill)
    values = np.arange(1.0, 1 + kernel * counts).reshape(kernel, counts)
    try:
        return kernels_window.add_windows(target, values, (stride,), (dilation,)), target
    except Exception:
        return None, target


RIGHT = [2, 7, 9, 7]  # ones, with [1, 2, 3] and, one further, [4, 5, 6]


def symptom_04c_4_returns_nothing() -> bool:
    got, target = _added()
    return got is None and _same(target, RIGHT)


def symptom_04c_4_target_unchanged() -> bool:
    got, target = _added()
    return _same(target, [1, 1, 1, 1]) and _same(got, RIGHT, np.array(RIGHT) - 1)


def symptom_04c_4_overwritten() -> bool:
    return _same(_added()[1], [1, 4, 5, 6], [1, 2, 3, 6])


def symptom_04c_4_first_position_only() -> bool:
    return _same(_added()[1], [2, 3, 4, 1])


def symptom_04c_4_exchanged() -> bool:
    if not _same(_added()[1], RIGHT):
        return False
    spread = _added(12, stride=3)[1]  # [1, 2, 3] at 0, 3, 6 and [4, 5, 6] at 1, 4, 7
    close = [2, 3, 4, 5, 6, 7] + [1] * 6
    return _same(spread, close)


def symptom_04c_4_stride_ignored() -> bool:
    if not _same(_added()[1], RIGHT):
        return False
    return _same(_added(12, stride=3)[1], [*RIGHT, *[1] * 8])


def symptom_04c_4_dilation_ignored() -> bool:
    if not _same(_added()[1], RIGHT):
        return False
    wrong = _same(_added(12, dilation=3)[1], [*RIGHT, *[1] * 8])
    return wrong and _same(_added(12, stride=3)[1], [2, 5, 1, 3, 6, 1, 4, 7, 1, 1, 1, 1])


# ------------------------------------------------------------------- 04c.5

X = np.array([[[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]]])
W = np.array([[[1.0, 10.0, 100.0]]])


def _conv(x=X, w=W, bias=None, stride=1, padding=0, dilation=1, groups=1):
    try:
        return kernels_conv.conv_forward(xp, x, w, bias, (stride,), (padding,), (dilation,), groups)
    except Exception:
        return None


def _plain(x=X, w=W, bias=0.0, stride=1, padding=0, dilation=1):
    """The right convolution of one channel."""
    line = np.pad(x[0, 0], padding)
    reach = dilation * (w.shape[2] - 1) + 1
    places = range(0, len(line) - reach + 1, stride)
    return np.array([[[(line[i : i + reach : dilation] * w[0, 0]).sum() + bias for i in places]]])


def symptom_04c_5_mirrored() -> bool:
    return _same(_conv(), _plain(w=W[..., ::-1]))


def symptom_04c_5_no_bias() -> bool:
    return _same(_conv(), _plain()) and _same(_conv(bias=np.array([5.0])), _plain())


def symptom_04c_5_stride_ignored() -> bool:
    got = _conv(stride=2)
    return _same(_conv(), _plain()) and _same(got, _plain(), _plain()[..., :3])


def symptom_04c_5_padding_ignored() -> bool:
    return _same(_conv(), _plain()) and _same(_conv(padding=1), _plain())


def symptom_04c_5_padding_one_side() -> bool:
    right = _plain(padding=1)
    return _same(_conv(padding=1), right[..., :-1], right[..., 1:])


def symptom_04c_5_dilation_ignored() -> bool:
    return (_same(_conv(), _plain())
            and _same(_conv(dilation=2), _plain(), _plain()[..., :3]))


def _two_channels():
    """Two filters on one channel with a bias each, on as many steps as there are filters."""
    return _conv(np.ones((1, 1, 3)), np.ones((2, 1, 2)), np.array([10.0, 20.0]))


def symptom_04c_5_bias_along_last() -> bool:
    return _same(_two_channels(), [[[12, 22], [12, 22]]])


def _grouped():
    """Two groups of one channel and two filters each: what each filter makes of each channel."""
    x = np.array([[[1.0], [10.0]]])
    w = np.array([1.0, 2.0, 3.0, 4.0]).reshape(4, 1, 1)
    return _conv(x, w, groups=2)  # [1, 2, 30, 40]


def symptom_04c_5_groups_interleaved() -> bool:
    got = _grouped()
    return got is not None and got.ravel().tolist() in ([1, 3, 20, 40], [1, 20, 3, 40])


def symptom_04c_5_first_group_for_all() -> bool:
    got = _grouped()
    return got is not None and got.ravel().tolist() == [1, 2, 3, 4]


def symptom_04c_5_groups_ignored() -> bool:
    got = _grouped()
    return got is not None and got.ravel().tolist() == [11, 22, 33, 44]


def symptom_04c_5_channels_not_summed() -> bool:
    got = _conv(np.array([[[1.0], [10.0]]]), np.ones((1, 2, 1)))
    return _same(got, [[[1]]], [[[10]]])


# ------------------------------------------------------------------- 04c.6


def _by_weight(g, x, w_sizes, stride=1, padding=0, dilation=1, groups=1):
    try:
        return kernels_conv.conv_grad_weight(
            xp, np.asarray(g, np.float64), np.asarray(x, np.float64), w_sizes, (stride,),
            (padding,), (dilation,), groups)
    except Exception:
        return None


ONE_G, ONE_X = [[[1.0, 10.0]]], [[[2.0, 3.0, 5.0]]]  # 32 and 53


def _one():
    return _by_weight(ONE_G, ONE_X, (1, 1, 2))


def _batch():
    """Samples alone and together, so long that each is a block of its own."""
    g = np.arange(1.0, 141.0).reshape(2, 1, 70)
    x = np.ones((2, 1, 70))
    return _by_weight(g, x, (1, 1, 1)), g[0].sum(), g[1].sum()


def symptom_04c_6_mirrored() -> bool:
    return _same(_one(), [[[53, 32]]])


def symptom_04c_6_overwritten() -> bool:
    got, _, last = _batch()
    return _same(_one(), [[[32, 53]]]) and _same(got, [[[last]]])


def symptom_04c_6_first_sample_only() -> bool:
    got, first, _ = _batch()
    return _same(got, [[[first]]])


def symptom_04c_6_mean_of_batch() -> bool:
    got, first, last = _batch()
    return _same(got, [[[(first + last) / 2]]])


def symptom_04c_6_first_step_only() -> bool:
    return _same(_one(), [[[2, 3]]], [[[30, 50]]])


def symptom_04c_6_stride_ignored() -> bool:
    got = _by_weight(ONE_G, [[[2.0, 3.0, 5.0, 7.0]]], (1, 1, 2), stride=2)  # 52, 73
    return _same(_one(), [[[32, 53]]]) and _same(got, [[[32, 53]]])


def symptom_04c_6_groups_interleaved() -> bool:
    g = np.array([1.0, 2.0, 3.0, 4.0]).reshape(1, 4, 1)
    got = _by_weight(g, [[[1.0], [10.0]]], (4, 1, 1), groups=2)  # [1, 2, 30, 40]
    return got is not None and got.ravel().tolist() in ([1, 30, 2, 40], [1, 20, 3, 40],
                                                        [1, 3, 20, 40])


# ------------------------------------------------------------------- 04c.7


def _by_input(g, w, sizes, stride=1, padding=0, dilation=1, groups=1):
    try:
        return kernels_conv.conv_grad_input(
            xp, np.asarray(g, np.float64), np.asarray(w, np.float64), sizes, (stride,), (padding,),
            (dilation,), groups)
    except Exception:
        return None


def _simple():
    return _by_input([[[1.0, 2.0]]], [[[3.0, 5.0]]], (1, 1, 3))  # [3, 11, 10]


def _strided():
    """Windows two apart that overlap in one element, padded by one."""
    return _by_input([[[1.0, 2.0, 4.0]]], [[[3.0, 5.0, 7.0]]], (1, 1, 5), stride=2, padding=1)


STRIDED = [3, 5, 7 + 6, 10, 14 + 12, 20, 28]  # with the padding


def symptom_04c_7_not_mirrored() -> bool:
    return _same(_simple(), [[[5, 13, 6]]])


def symptom_04c_7_overwritten() -> bool:
    wrong = [[3, 5, 6, 10, 12, 20, 28], [3, 5, 7, 10, 14, 20, 28]]
    return _same(_simple(), [[[3, 6, 10]]], [[[3, 5, 10]]]) or any(
        _same(_strided(), [[each[1:-1]]]) for each in wrong)


def symptom_04c_7_padding_not_cut() -> bool:
    return _same(_strided(), [[STRIDED]])


def symptom_04c_7_cut_from_start() -> bool:
    return _same(_strided(), [[STRIDED[:5]]])


def symptom_04c_7_stride_ignored() -> bool:
    got = _by_input([[[1.0, 2.0, 4.0]]], [[[3.0, 5.0]]], (1, 1, 6), stride=2)
    return _same(_simple(), [[[3, 11, 10]]]) and _same(got, [[[3, 11, 22, 20, 0, 0]]])


def symptom_04c_7_dilation_ignored() -> bool:
    got = _by_input([[[1.0, 2.0]]], [[[3.0, 5.0]]], (1, 1, 4), dilation=2)  # [3, 6, 5, 10]
    return _same(_simple(), [[[3, 11, 10]]]) and _same(got, [[[3, 11, 10, 0]]])


def symptom_04c_7_padding_not_mirrored() -> bool:
    got = _simple()
    return got is not None and got.shape == (1, 1, 1)


def symptom_04c_7_filters_not_summed() -> bool:
    got = _by_input([[[1.0], [2.0]]], np.array([3.0, 5.0]).reshape(2, 1, 1), (1, 1, 1))  # 13
    return _same(got, [[[3]]], [[[10]]])
