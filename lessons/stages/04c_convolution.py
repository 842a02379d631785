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


def _refused(sizes=(5, 5), kernel=(4, 2), padding=(0, 1), dilation=(2, 2)):
    """What is raised for a kernel too large in its first dimension: (7 x 3) over (5 x 7)."""
    try:
        kernels_window.conv_output_sizes(sizes, kernel, (1, 1), padding, dilation)
    except RuntimeError as error:
        return str(error)
    return ""


def symptom_04c_1_error_only_if_all() -> bool:
    return _steps(2, 4) is None and _refused((2, 5), (4, 2), (0, 0), (1, 1)) == ""


def symptom_04c_1_exact_fit_refused() -> bool:
    return _steps(5, 3) == 3 and _steps(3, 3) is None


def symptom_04c_1_names_the_kernel() -> bool:
    return "Kernel size: (4 x 2)" in _refused()


def symptom_04c_1_names_the_input() -> bool:
    return "per channel: (5 x 5)" in _refused()


def symptom_04c_1_a_list() -> bool:
    return isinstance(kernels_window.conv_output_sizes((5,), (3,), (1,), (0,), (1,)), list)


def symptom_04c_1_no_error() -> bool:
    return _steps(5, 3) == 3 and _steps(2, 4) is not None


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


def _behind_alone():
    return kernels_window.pad(xp, np.array([1.0, 2.0]), (0,), (2,))


def symptom_04c_2_behind_alone_ignored() -> bool:
    return _same(_behind_alone(), np.array([1.0, 2.0]))


def symptom_04c_2_dtype_changes() -> bool:
    x = np.ones(2, np.float32)
    made = [kernels_window.pad(xp, x, (1,), (1,), value) for value in (0, 7)]
    return any(each.dtype != np.float32 for each in made)


def symptom_04c_2_channels_apart() -> bool:
    made = kernels_window.pad(xp, np.ones((1, 3, 2, 2)), (1, 1), (1, 1), 0, True)
    return made.shape == (1, 3, 4, 4) and made.strides[1] != made.itemsize


def symptom_04c_2_dimensions_turned() -> bool:
    made = kernels_window.pad(xp, np.ones((2, 2)), (1, 0), (2, 0))
    return made.shape == (2, 5)


def symptom_04c_2_crop_counts_from_the_end() -> bool:
    padded = np.arange(6.0)
    return (_same(kernels_window.crop(xp, padded, (1,), (2,)), padded[1:-1])
            and not _same(kernels_window.crop(xp, padded, (0,), (2,)), padded[:2]))


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
    return _met(1, 2, 1, 3) == [1, 3] and _met(1, 1, 1, 3) == [1, 2]


def symptom_04c_3_count_as_length() -> bool:
    return _met(1, 2, 1, 3) == [1, 3] and _met(1, 1, 1, 3) == [1, 2, 3]


def _slices(at=1, stride=2, dilation=1, count=3):
    return kernels_window.position_slices((at,), (stride,), (dilation,), (count,))


def _elements(at, stride, count):
    found = _slices(at, stride, 1, count)
    return np.arange(40)[found if isinstance(found, tuple) else (found,)].tolist()


def symptom_04c_3_no_ellipsis() -> bool:
    return len(_slices()) == 1 and isinstance(_slices()[0], slice)


def symptom_04c_3_every_element() -> bool:
    return _elements(1, 2, 3) == [1, 2, 3, 4, 5] and _elements(1, 1, 3) == [1, 2, 3]


def symptom_04c_3_one_too_many() -> bool:
    return (_elements(1, 1, 3), _elements(1, 2, 3)) == ([1, 2, 3, 4], [1, 3, 5, 7])


def symptom_04c_3_own_strides_only() -> bool:
    x = np.arange(8.0)[::2]
    made = kernels_window.windows(xp, x, (2,), (1,), (1,), (3,))
    plain = kernels_window.windows(xp, np.arange(4.0), (2,), (1,), (1,), (3,))
    return (_same(plain, np.array([[0.0, 1, 2], [1, 2, 3]]))
            and not _same(made, np.array([[0.0, 2, 4], [2, 4, 6]])))


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


def symptom_04c_3_copied_first() -> bool:
    line = np.arange(8.0)
    found = [kernels_window.windows(xp, x, (2,), (1,), (1,), (3,)) for x in (line, line[::2])]
    return (_same(found[0], [[0, 1, 2], [1, 2, 3]]) and _same(found[1], [[0, 2, 4], [2, 4, 6]])
            and [np.shares_memory(each, line) for each in found] == [True, False])


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


def symptom_04c_4_overlap_counts_once() -> bool:
    return _same(_added()[1], [2, 5, 6, 7], [2, 3, 4, 7])


def symptom_04c_4_starts_at_zero() -> bool:
    return _same(_added()[1], np.array(RIGHT) - 1)


def symptom_04c_4_kernel_and_steps_exchanged() -> bool:
    return _added()[0] is None and _added(3, 2, 2)[0] is not None


def symptom_04c_4_leading_dimensions() -> bool:
    if not _same(_added()[1], RIGHT):
        return False
    values = np.stack([np.arange(1.0, 7).reshape(2, 3)] * 2)
    try:
        got = kernels_window.add_windows(np.ones((2, 4)), values, (1,), (1,))
    except Exception:
        return True
    return not _same(got, [RIGHT, RIGHT])


def _three_positions():
    """Ones, with [1, 2], [3, 4] and [5, 6], each one further: [2, 6, 10, 7]."""
    return _added(kernel=3, counts=2)[1]


def symptom_04c_4_first_position_only() -> bool:
    return _same(_three_positions(), [2, 3, 1, 1])


def symptom_04c_4_last_position_missing() -> bool:
    return _same(_three_positions(), [2, 6, 5, 1])


def symptom_04c_4_first_position_missing() -> bool:
    return _same(_three_positions(), [1, 4, 10, 7])


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


def symptom_04c_5_none_as_bias() -> bool:
    return _conv() is None and _same(_conv(bias=np.array([0.0])), _plain())


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


def symptom_04c_5_bias_subtracted() -> bool:
    return _same(_conv(), _plain()) and _same(_conv(bias=np.array([5.0])), _plain(bias=-5.0))


def symptom_04c_5_writes_to_inputs() -> bool:
    x, w, bias = X.copy(), W.copy(), np.array([5.0])
    _conv(x, w, bias, padding=1)
    return bool((x != X).any() or (w != W).any() or bias[0] != 5)


def _dtypes():
    """The sizes of the elements of results, for inputs of several dtypes."""
    found = [_conv(X.astype(a), W.astype(b)) for a, b in (("f4", "f8"), ("f8", "f4"), ("f4", "f4"))]
    return [each is not None and each.dtype.itemsize for each in found]


def symptom_04c_5_always_float64() -> bool:
    return _dtypes() == [8, 8, 8]


def symptom_04c_5_dtype() -> bool:
    found = [_conv(X.astype(a), W.astype(b)) for a, b in (("f4", "f8"), ("f8", "f4"), ("f4", "f4"))]
    return (all(each is not None for each in found)
            and [each.dtype.itemsize for each in found] != [8, 8, 4])


#: What a case has besides two channels, two filters, a kernel of two and some steps.
CASES = {"": {}, "stride": {"stride": 2}, "padding": {"padding": 1}, "dilation": {"dilation": 2},
         "groups": {"groups": 2}, "both": {"stride": 2, "dilation": 2}, "batch": {"batch": 2},
         "fewer": {"fewer": 1}}


def _case(stride=1, padding=0, dilation=1, groups=1, batch=1, fewer=0):
    """Inputs of a case, and what the package has to make of them, by plain loops."""
    x = np.arange(1.0, 1 + batch * 14).reshape(batch, 2, 7) ** 2
    w = np.array([2.0, 3, 5, 7, 11, 13, 17, 19])[: 8 // groups].reshape(2, 2 // groups, 2)
    steps = (7 + 2 * padding - dilation - 1) // stride + 1 - fewer
    g = np.cos(np.arange(batch * 2.0 * steps)).reshape(batch, 2, steps)
    out, by_w, by_x = np.zeros((batch, 2, steps)), np.zeros(w.shape), np.zeros(x.shape)
    for n, o, c, k, i in np.ndindex(batch, 2, w.shape[1], 2, steps):
        at, channel = i * stride + k * dilation - padding, c + (o if groups == 2 else 0)
        if 0 <= at < 7:
            out[n, o, i] += w[o, c, k] * x[n, channel, at]
            by_w[o, c, k] += g[n, o, i] * x[n, channel, at]
            by_x[n, channel, at] += g[n, o, i] * w[o, c, k]
    return x, w, g, (stride,), (padding,), (dilation,), groups, out, by_w, by_x


def _fails(kind, name):
    """Whether a case fails: its output (5), gradient of the weight (6) or of the input (7)."""
    x, w, g, *options, out, by_w, by_x = _case(**CASES[name])
    try:
        if kind == 5:
            return not _same(kernels_conv.conv_forward(xp, x, w, None, *options), out)
        if kind == 6:
            return not _same(kernels_conv.conv_grad_weight(xp, g, x, w.shape, *options), by_w)
        return not _same(kernels_conv.conv_grad_input(xp, g, w, x.shape, *options), by_x)
    except Exception:
        return True


def _only(kind, name):
    """Whether of all cases just this one fails."""
    others = [each for each in CASES if each not in (name, "both", "fewer" if kind == 5 else "")]
    return _fails(kind, name) and not any(_fails(kind, each) for each in ["", *others])


def _exchanged(kind):
    """Whether stride and dilation fail alone, and are right where they are equal."""
    return (not _fails(kind, "") and _fails(kind, "stride") and _fails(kind, "dilation")
            and not _fails(kind, "both"))


def symptom_04c_5_exchanged() -> bool:
    return _exchanged(5)


def symptom_04c_5_only_stride_fails() -> bool:
    return _only(5, "stride")


def symptom_04c_5_only_padding_fails() -> bool:
    return _only(5, "padding")


def symptom_04c_5_only_dilation_fails() -> bool:
    return _only(5, "dilation")


def symptom_04c_5_only_groups_fail() -> bool:
    return _only(5, "groups")


def symptom_04c_5_only_batches_fail() -> bool:
    return _only(5, "batch")


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


def symptom_04c_6_mean_of_steps() -> bool:
    return _same(_one(), [[[16, 26.5]]])


def symptom_04c_6_negated() -> bool:
    return _same(_one(), [[[-32, -53]]])


def symptom_04c_6_empty_batch() -> bool:
    g, x = np.ones((0, 1, 2)), np.ones((0, 1, 3))
    found = []
    for _ in range(3):
        np.full(64, 7.0)  # memory that is used again is not zero
        found.append(_by_weight(g, x, (1, 1, 2)))
    return (_same(_one(), [[[32, 53]]]) and all(each is not None for each in found)
            and not all(_same(each, [[[0, 0]]]) for each in found))


def symptom_04c_6_dtype() -> bool:
    g, x = np.array(ONE_G), np.array(ONE_X)
    made = [kernels_conv.conv_grad_weight(xp, g.astype(a), x.astype(b), (1, 1, 2), (1,), (0,), (1,),
                                          1).dtype.itemsize
            for a, b in (("f4", "f8"), ("f8", "f4"), ("f4", "f4"))]
    return made != [8, 8, 4]


def symptom_04c_6_exchanged() -> bool:
    return _exchanged(6)


def symptom_04c_6_only_stride_fails() -> bool:
    return _only(6, "stride")


def symptom_04c_6_only_padding_fails() -> bool:
    return _only(6, "padding")


def symptom_04c_6_only_dilation_fails() -> bool:
    return _only(6, "dilation")


def symptom_04c_6_only_groups_fail() -> bool:
    return _only(6, "groups")


def symptom_04c_6_only_batches_fail() -> bool:
    return _only(6, "batch")


def symptom_04c_6_only_fewer_steps_fail() -> bool:
    return _only(6, "fewer")


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


def symptom_04c_7_mirrored_and_added() -> bool:
    added, kept = [], kernels_conv.add_windows

    def watched(*args, **more):
        added.append(True)
        return kept(*args, **more)

    kernels_conv.add_windows = watched
    try:
        return _same(_simple(), [[[5, 13, 6]]]) and bool(added)
    finally:
        kernels_conv.add_windows = kept


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


def symptom_04c_7_always_mirrored() -> bool:
    got = _by_input([[[1.0, 2.0, 4.0]]], [[[3.0, 5.0]]], (1, 1, 6), stride=2)
    return _same(_simple(), [[[3, 11, 10]]]) and np.asarray(got).shape in ((1, 1, 1), (1, 1, 2))


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


def symptom_04c_7_dtype() -> bool:
    g, w = np.ones((1, 1, 2)), np.ones((1, 1, 2))
    made = [kernels_conv.conv_grad_input(xp, g.astype(a), w.astype(b), (1, 1, 3), (1,), (0,), (1,),
                                         1).dtype.itemsize
            for a, b in (("f4", "f8"), ("f8", "f4"), ("f4", "f4"))]
    return made != [8, 8, 4]


def symptom_04c_7_twice() -> bool:
    return _same(_simple(), [[[6, 22, 20]]]) or _same(_strided(), [[np.array(STRIDED[1:-1]) * 2]])


def symptom_04c_7_exchanged() -> bool:
    return _exchanged(7)


def symptom_04c_7_only_stride_fails() -> bool:
    return _only(7, "stride")


def symptom_04c_7_only_padding_fails() -> bool:
    return _only(7, "padding")


def symptom_04c_7_only_dilation_fails() -> bool:
    return _only(7, "dilation")


def symptom_04c_7_only_groups_fail() -> bool:
    return _only(7, "groups")


def symptom_04c_7_only_batches_fail() -> bool:
    return _only(7, "batch")


def symptom_04c_7_only_fewer_steps_fail() -> bool:
    return _only(7, "fewer")
