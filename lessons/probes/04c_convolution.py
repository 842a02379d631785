"""Probes of stage 04c: the kernels of windows and convolutions, called with random sizes.

A gradient of a convolution is asked for directly, so that the forward has no part in it.
"""

import numpy as np
from probing import tried

from minigrad.backend import conv_columns, kernels_conv, kernels_window


def array(random, shape, dtype=np.float64):
    """Return a random array; row-major, or with its dimensions stored in another order."""
    size = int(np.prod(shape, dtype=int))
    made = np.array([random.uniform(-2, 2) for _ in range(size)], dtype).reshape(shape).copy()
    if random.random() < 0.3:
        made = np.asfortranarray(made)
    return made


def geometry(random, dims, fits=True):
    """Return sizes, kernel, stride, padding and dilation, and how many steps there are."""
    while True:
        sizes = tuple(random.randint(1, 7) for _ in range(dims))
        kernel = tuple(random.randint(1, 4) for _ in range(dims))
        stride = tuple(random.randint(1, 3) for _ in range(dims))
        padding = tuple(random.randint(0, 2) for _ in range(dims))
        dilation = tuple(random.randint(1, 3) for _ in range(dims))
        counts = tuple((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in
                       zip(sizes, kernel, stride, padding, dilation, strict=True))
        if not fits or all(
                n + 2 * p >= d * (k - 1) + 1
                for n, k, p, d in zip(sizes, kernel, padding, dilation, strict=True)):
            return sizes, kernel, stride, padding, dilation, counts


def probe_04c_1(random):
    seen = []
    for _ in range(60):
        *given, _ = geometry(random, random.randint(1, 3), random.random() < 0.75)
        kinds = random.choice([tuple, list])
        given = [kinds(each) for each in given]
        seen.append(tried(lambda given=given: kernels_window.conv_output_sizes(*given)))
    return seen


def probe_04c_2(random):
    seen = []
    for _ in range(20):
        dims = random.randint(1, 3)
        x = array(random, [random.randint(1, 2) for _ in range(random.randint(0, 2))]
                  + [random.randint(1, 3) for _ in range(dims)],
                  random.choice([np.float64, np.float32]))
        if x.dtype == np.float32:
            x = np.round(x * 8) / 8
        before = [random.randint(0, 2) for _ in range(dims)]
        after = [random.randint(0, 2) for _ in range(dims)]
        if random.random() < 0.15:
            before, after = [0] * dims, [0] * dims
        value, kept = random.choice([0, 0, -1.5, -np.inf, random.randint(1, 9)]), x.copy()
        padded = kernels_window.pad(np, x, before, after, value, value == 0 and x.ndim > dims
                                    and x.ndim == 4 and random.random() < 0.5)
        seen.append([padded is x, str(padded.dtype), padded.astype(np.float64),
                     np.array_equal(x, kept)])
        sizes = [n for n in x.shape[x.ndim - dims:]]
        if random.random() < 0.4:
            sizes = [random.randint(0, n) for n in sizes]
        cut = kernels_window.crop(np, padded, before, sizes)
        seen.append([cut.flags.c_contiguous, cut.astype(np.float64)])
    for channels_last in (True, False):
        image = array(random, [2, 3, random.randint(2, 4), 2], np.float64)
        padded = kernels_window.pad(np, image, (1, 0), (0, 2), 0, channels_last)
        seen.append([list(padded.strides), padded])
    return seen


def probe_04c_3(random):
    seen = []
    for _ in range(15):
        dims = random.randint(1, 3)
        sizes, kernel, stride, _, dilation, _ = geometry(random, dims)
        counts = tuple(random.randint(1, 3) for _ in range(dims))
        sizes = [(c - 1) * s + (k - 1) * d + 1 + random.randint(0, 2) for c, s, k, d in
                 zip(counts, stride, kernel, dilation, strict=True)]
        x = array(random, [random.randint(1, 2) for _ in range(random.randint(0, 2))] + sizes)
        if random.random() < 0.3:
            x = np.repeat(x, 2, -1)[..., ::2]
        some = tuple(random.choice([0, c]) if random.random() < 0.2 else c for c in counts)
        place = tuple(random.randrange(k) for k in kernel)
        key = kernels_window.position_slices(place, stride, dilation, some)
        seen.append([type(key).__name__, len(key), key[0] is Ellipsis, x[key].copy()])
        shown = kernels_window.windows(np, x, kernel, stride, dilation, counts)
        seen.append([shown.copy(), bool(np.shares_memory(shown, x))])
    return seen


def probe_04c_4(random):
    seen = []
    for _ in range(15):
        dims = random.randint(1, 3)
        _, kernel, stride, _, dilation, _ = geometry(random, dims)
        counts = tuple(random.randint(1, 4) for _ in range(dims))
        sizes = [(c - 1) * s + (k - 1) * d + 1 + random.randint(0, 2) for c, s, k, d in
                 zip(counts, stride, kernel, dilation, strict=True)]
        lead = [random.randint(1, 2) for _ in range(random.randint(0, 2))]
        target = array(random, lead + sizes)
        values = array(random, [*lead, *kernel, *counts])
        kept = values.copy()
        got = kernels_window.add_windows(target, values, stride, dilation)
        seen.append([got is target, target.copy(), np.array_equal(kept, values)])
    return seen


def layer(random):
    """Return random sizes of a convolution."""
    dims, groups = random.choice([1, 2, 2, 3]), random.choice([1, 1, 2, 3])
    sizes, kernel, stride, padding, dilation, counts = geometry(random, dims)
    batch = random.choice([0, 1, 2, 3]) if random.random() < 0.9 else 5
    channels, filters = groups * random.randint(1, 2), groups * random.randint(1, 3)
    return (sizes, kernel, (stride, padding, dilation, groups), counts, batch, channels, filters,
            groups)


def in_small_blocks(probe):
    """Let a probe run with blocks of random size, so that its small arrays take several."""
    def probed(random):
        before = conv_columns.COLUMN_BYTES
        conv_columns.COLUMN_BYTES = random.choice([256, 1024, 4096])
        try:
            return probe(random)
        finally:
            conv_columns.COLUMN_BYTES = before

    return probed


@in_small_blocks
def probe_04c_5(random):
    seen = []
    for _ in range(20):
        sizes, kernel, how, _, batch, channels, filters, groups = layer(random)
        x = array(random, [batch, channels, *sizes])
        weight = array(random, [filters, channels // groups, *kernel])
        bias = array(random, [filters]) if random.random() < 0.5 else None
        kept = x.copy(), weight.copy()
        seen.append(tried(lambda x=x, weight=weight, bias=bias, how=how: np.array(
            kernels_conv.conv_forward(np, x, weight, bias, *how))))
        seen.append([np.array_equal(kept[0], x), np.array_equal(kept[1], weight)])
    x, weight = array(random, [1, 1, 3, 2]), array(random, [2, 1, 4, random.randint(1, 4)])
    seen.append(tried(lambda: kernels_conv.conv_forward(np, x, weight, None, (1, 1), (0, 0),
                                                        (1, 1), 1)))
    point, bias = array(random, [1, 1, 1, 1]), array(random, [1])
    for kind, offset in [(np.float64, None), (np.float32, None), (np.float32, bias)]:
        x = x.astype(np.float32)
        made = kernels_conv.conv_forward(np, x, point.astype(kind), offset, (1, 1), (0, 0),
                                         (1, 1), 1)
        seen.append(str(made.dtype))
    kept = x.copy()
    kernels_conv.conv_forward(np, x, point.astype(np.float32), bias, (1, 1), (0, 0), (1, 1), 1)
    seen.append(np.array_equal(kept, x))
    return seen


def fewer(random, counts):
    """Return the counts, or now and then fewer."""
    if random.random() < 0.3:
        return [random.randint(1, count) for count in counts]
    return list(counts)


def dtypes(random, gradient):
    """Return the dtypes of a gradient, for `g` and the other array with or without one dtype."""
    found = []
    for kinds in [("f4", "f8"), ("f8", "f4"), ("f4", "f4")]:
        g, other = (array(random, [1, 1, 2]).astype(kind) for kind in kinds)
        found.append(str(gradient(np, g, other, (1, 1, 1 if "weight" in gradient.__name__ else 3),
                                  (1,), (0,), (1,), 1).dtype))
    return found


@in_small_blocks
def probe_04c_6(random):
    seen = []
    for _ in range(20):
        sizes, kernel, how, counts, batch, channels, filters, groups = layer(random)
        x = array(random, [batch, channels, *sizes])
        g = array(random, [batch, filters, *fewer(random, counts)])
        kept = x.copy(), g.copy()
        seen.append(tried(lambda g=g, x=x, how=how, kernel=kernel, filters=filters, groups=groups,
                          channels=channels: np.array(kernels_conv.conv_grad_weight(
                              np, g, x, (filters, channels // groups, *kernel), *how))))
        seen.append([np.array_equal(kept[0], x), np.array_equal(kept[1], g)])
    seen += dtypes(random, kernels_conv.conv_grad_weight)
    return seen


@in_small_blocks
def probe_04c_7(random):
    seen = []
    for _ in range(24):
        sizes, kernel, how, counts, batch, channels, filters, groups = layer(random)
        if random.random() < 0.5:  # no step was skipped
            how = ((1,) * len(kernel), *how[1:])
            counts = [n + 2 * p - d * (k - 1) for n, k, p, d in
                      zip(sizes, kernel, how[1], how[2], strict=True)]
        weight = array(random, [filters, channels // groups, *kernel])
        g = array(random, [batch, filters, *fewer(random, counts)])
        kept = weight.copy(), g.copy()
        seen.append(tried(lambda g=g, weight=weight, how=how, batch=batch, channels=channels,
                          sizes=sizes: np.array(kernels_conv.conv_grad_input(
                              np, g, weight, (batch, channels, *sizes), *how))))
        seen.append([np.array_equal(kept[0], weight), np.array_equal(kept[1], g)])
    seen += dtypes(random, kernels_conv.conv_grad_input)
    return seen
