def position_slices(position, stride, dilation, counts):
    return (..., *(slice(at * d, at * d + s * count, s)
                   for at, s, d, count in zip(position, stride, dilation, counts)))

def windows(xp, x, kernel, stride, dilation, counts):
    lead = x.ndim - len(kernel)
    own = x.strides[lead:]
    return xp.lib.stride_tricks.as_strided(
        x, (*x.shape[:lead], *kernel, *counts),
        (*x.strides[:lead], *(a * d for a, d in zip(own, dilation)),
         *(a * s for a, s in zip(own, stride))))

# right: the end is one stride after the last step, and numpy's own windows are thinned out
def position_slices(position, stride, dilation, counts):
    return (Ellipsis,) + tuple(slice(at * d, at * d + s * count, s)
                               for at, s, d, count in zip(position, stride, dilation, counts))

def windows(xp, x, kernel, stride, dilation, counts):
    dims = len(kernel)
    lead = x.ndim - dims
    reach = tuple(d * (k - 1) + 1 for k, d in zip(kernel, dilation))
    view = xp.lib.stride_tricks.sliding_window_view(x, reach, tuple(range(lead, x.ndim)))
    steps = tuple(slice(0, s * count, s) for s, count in zip(stride, counts))
    view = view[(slice(None),) * lead + steps + tuple(slice(None, None, d) for d in dilation)]
    order = [*range(lead), *range(lead + dims, lead + 2 * dims), *range(lead, lead + dims)]
    return view.transpose(order)

# right: numpy finds the strides of the steps and of the positions, from slices of x
def position_slices(position, stride, dilation, counts):
    key = [...]
    for dim in range(len(position)):
        if counts[dim] == 0:
            key.append(slice(0, 0))
            continue
        start = position[dim] * dilation[dim]
        last = start + (counts[dim] - 1) * stride[dim]
        key.append(slice(start, last + 1, stride[dim]))
    return tuple(key)

def windows(xp, x, kernel, stride, dilation, counts):
    lead = x.ndim - len(kernel)
    by_step = x[(..., *(slice(None, None, s) for s in stride))].strides
    by_position = x[(..., *(slice(None, None, d) for d in dilation))].strides
    return xp.lib.stride_tricks.as_strided(
        x, (*x.shape[:lead], *kernel, *counts),
        (*x.strides[:lead], *by_position[lead:], *by_step[lead:]), writeable=False)

# right: one dimension after the other, each split in two
def position_slices(position, stride, dilation, counts):
    slices = []
    for at, s, d, count in zip(position, stride, dilation, counts):
        inside = range(at * d, at * d + count * s, s)
        slices.append(slice(inside.start, inside.stop, inside.step))
    return (..., *slices)

def windows(xp, x, kernel, stride, dilation, counts):
    dims = len(kernel)
    lead = x.ndim - dims
    for dim in range(dims):
        at = lead + 2 * dim
        shape, steps = list(x.shape), list(x.strides)
        shape[at : at + 1] = [kernel[dim], counts[dim]]
        steps[at : at + 1] = [steps[at] * dilation[dim], steps[at] * stride[dim]]
        x = xp.lib.stride_tricks.as_strided(x, shape, steps)
    return x.transpose(*range(lead), *range(lead, x.ndim, 2), *range(lead + 1, x.ndim, 2))

# right: strides as arrays
def position_slices(position, stride, dilation, counts):
    first = [p * d for p, d in zip(position, dilation)]
    beyond = [f + s * c for f, s, c in zip(first, stride, counts)]
    return (Ellipsis, *map(slice, first, beyond, stride))

def windows(xp, x, kernel, stride, dilation, counts):
    lead = x.ndim - len(kernel)
    own = xp.array(x.strides[lead:], dtype=int)
    moves = xp.concatenate([own * dilation, own * stride])
    return xp.lib.stride_tricks.as_strided(
        x, x.shape[:lead] + tuple(kernel) + tuple(counts), x.strides[:lead] + tuple(moves.tolist()))

# wrong -: numpy's own windows, with every step that fits
def windows(xp, x, kernel, stride, dilation, counts):
    dims = len(kernel)
    lead = x.ndim - dims
    reach = tuple(d * (k - 1) + 1 for k, d in zip(kernel, dilation))
    view = xp.lib.stride_tricks.sliding_window_view(x, reach, tuple(range(lead, x.ndim)))
    view = view[(slice(None),) * lead + tuple(slice(None, None, s) for s in stride)
                + tuple(slice(None, None, d) for d in dilation)]
    return view.transpose(*range(lead), *range(lead + dims, lead + 2 * dims),
                          *range(lead, lead + dims))

# wrong 04c_3_steps_first: numpy's own windows, in numpy's order
def windows(xp, x, kernel, stride, dilation, counts):
    lead = x.ndim - len(kernel)
    reach = tuple(d * (k - 1) + 1 for k, d in zip(kernel, dilation))
    view = xp.lib.stride_tricks.sliding_window_view(x, reach, tuple(range(lead, x.ndim)))
    return view[(slice(None),) * lead
                + tuple(slice(0, s * count, s) for s, count in zip(stride, counts))
                + tuple(slice(None, None, d) for d in dilation)]

# wrong -: the kernel and the steps of one dimension next to each other
def windows(xp, x, kernel, stride, dilation, counts):
    lead = x.ndim - len(kernel)
    shape, steps = list(x.shape[:lead]), list(x.strides[:lead])
    for dim, (k, count) in enumerate(zip(kernel, counts)):
        shape += [k, count]
        steps += [x.strides[lead + dim] * dilation[dim], x.strides[lead + dim] * stride[dim]]
    return xp.lib.stride_tricks.as_strided(x, shape, steps)

# wrong 04c_3_own_strides_only: strides from the sizes, as in a contiguous array
def windows(xp, x, kernel, stride, dilation, counts):
    lead = x.ndim - len(kernel)
    own, size = [], x.itemsize
    for n in reversed(x.shape):
        own.insert(0, size)
        size *= n
    return xp.lib.stride_tricks.as_strided(
        x, (*x.shape[:lead], *kernel, *counts),
        (*own[:lead], *(a * d for a, d in zip(own[lead:], dilation)),
         *(a * s for a, s in zip(own[lead:], stride))))

# wrong 04c_3_copied_first: an array that is not contiguous is copied first
def windows(xp, x, kernel, stride, dilation, counts):
    x = xp.ascontiguousarray(x)
    lead = x.ndim - len(kernel)
    own = x.strides[lead:]
    return xp.lib.stride_tricks.as_strided(
        x, (*x.shape[:lead], *kernel, *counts),
        (*x.strides[:lead], *(a * d for a, d in zip(own, dilation)),
         *(a * s for a, s in zip(own, stride))))

# wrong 04c_3_copied: the positions are stacked
def windows(xp, x, kernel, stride, dilation, counts):
    lead = x.ndim - len(kernel)
    found = [x[position_slices(at, stride, dilation, counts)] for at in kernel_positions(kernel)]
    together = xp.stack(found, lead)
    return together.reshape(*x.shape[:lead], *kernel, *counts)

# wrong -: the end of an empty slice is left to the formula
def position_slices(position, stride, dilation, counts):
    return (..., *(slice(at * d, at * d + (count - 1) * s + 1, s)
                   for at, s, d, count in zip(position, stride, dilation, counts)))

# wrong -: the end does not move with the position
def position_slices(position, stride, dilation, counts):
    return (..., *(slice(at * d, s * count, s)
                   for at, s, d, count in zip(position, stride, dilation, counts)))

# wrong -: the last stride of x for every dimension
def windows(xp, x, kernel, stride, dilation, counts):
    lead, step = x.ndim - len(kernel), x.strides[-1]
    return xp.lib.stride_tricks.as_strided(
        x, (*x.shape[:lead], *kernel, *counts),
        (*x.strides[:lead], *(step * d for d in dilation), *(step * s for s in stride)))
