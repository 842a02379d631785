# right: one step at a time, for all positions of the kernel
def add_windows(target, values, stride, dilation):
    dims = len(stride)
    lead = target.ndim - dims
    kernel, counts = values.shape[lead : lead + dims], values.shape[lead + dims :]
    for step in kernel_positions(counts):
        window = tuple(slice(i * s, i * s + d * (k - 1) + 1, d)
                       for i, s, d, k in zip(step, stride, dilation, kernel))
        target[(..., *window)] += values[(..., *step)]
    return target

# right: add.at, with the place of every value
def add_windows(target, values, stride, dilation):
    import numpy

    dims = len(stride)
    lead = target.ndim - dims
    places = numpy.indices(values.shape)
    first = [places[dim] for dim in range(lead)]
    inside = [places[lead + dims + dim] * stride[dim] + places[lead + dim] * dilation[dim]
              for dim in range(dims)]
    numpy.add.at(target, (*first, *inside), values)
    return target

# right: one dimension at a time, the first one first
def add_windows(target, values, stride, dilation):
    import numpy

    dims = len(stride)
    lead = target.ndim - dims
    for dim in range(dims):
        at = lead + dim  # the kernel's next dimension
        steps = at + dims - dim
        values = numpy.moveaxis(values, (at, steps), (0, 1))
        total = numpy.zeros((target.shape[at], *values.shape[2:]), values.dtype)
        for k in range(values.shape[0]):
            for i in range(values.shape[1]):
                total[i * stride[dim] + k * dilation[dim]] += values[k, i]
        values = numpy.moveaxis(total, 0, at)
    target += values
    return target

# right: bincount of flat places
def add_windows(target, values, stride, dilation):
    import numpy

    dims = len(stride)
    lead = target.ndim - dims
    place = numpy.zeros(values.shape, int)
    grid = numpy.indices(values.shape, sparse=True)
    for dim in range(target.ndim):
        if dim < lead:
            at = grid[dim]
        else:
            at = (grid[dim] * dilation[dim - lead]) + grid[dim + dims] * stride[dim - lead]
        place = place * target.shape[dim] + at
    total = numpy.bincount(place.ravel(), values.ravel(), target.size)
    target += total.reshape(target.shape).astype(target.dtype)
    return target

# right: a view of one position of all windows
def add_windows(target, values, stride, dilation):
    dims = len(stride)
    lead = target.ndim - dims
    counts = values.shape[lead + dims :]
    for position in kernel_positions(values.shape[lead : lead + dims]):
        part = target[position_slices(position, stride, dilation, counts)]
        part += values[(slice(None),) * lead + position]
    return target

# wrong 04c_4_overlap_counts_once: a view of all windows
def add_windows(target, values, stride, dilation):
    import numpy

    dims = len(stride)
    lead = target.ndim - dims
    view = windows(numpy, target, values.shape[lead : lead + dims], stride, dilation,
                   values.shape[lead + dims :])
    view += values
    return target

# wrong -: a view of all windows where the stride is as large as the kernel
def add_windows(target, values, stride, dilation):
    import numpy

    dims = len(stride)
    lead = target.ndim - dims
    kernel, counts = values.shape[lead : lead + dims], values.shape[lead + dims :]
    if all(s >= k for s, k in zip(stride, kernel)):
        view = windows(numpy, target, kernel, stride, dilation, counts)
        view += values
        return target
    for position in kernel_positions(kernel):
        target[position_slices(position, stride, dilation, counts)] += values[
            (slice(None),) * lead + position]
    return target

# wrong -: add.at in a flat view, which is a copy if the target is a view
def add_windows(target, values, stride, dilation):
    import numpy

    dims = len(stride)
    lead = target.ndim - dims
    numbers = numpy.arange(target.size).reshape(target.shape)
    places = windows(numpy, numbers, values.shape[lead : lead + dims], stride, dilation,
                     values.shape[lead + dims :])
    numpy.add.at(target.reshape(-1), places.ravel(), values.ravel())
    return target

# wrong 04c_4_overlap_counts_once: the places of all values, in one addition
def add_windows(target, values, stride, dilation):
    import numpy

    dims = len(stride)
    lead = target.ndim - dims
    places = numpy.indices(values.shape)
    first = [places[dim] for dim in range(lead)]
    inside = [places[lead + dims + dim] * stride[dim] + places[lead + dim] * dilation[dim]
              for dim in range(dims)]
    target[(*first, *inside)] += values
    return target

# wrong 04c_4_leading_dimensions: one leading dimension more or less is not expected
def add_windows(target, values, stride, dilation):
    dims = len(stride)
    kernel, counts = values.shape[:dims], values.shape[dims:]
    for position in kernel_positions(kernel):
        target[position_slices(position, stride, dilation, counts)] += values[position]
    return target

# wrong 04c_4_target_unchanged: a new array
def add_windows(target, values, stride, dilation):
    import numpy

    dims = len(stride)
    lead = target.ndim - dims
    kernel, counts = values.shape[lead : lead + dims], values.shape[lead + dims :]
    total = numpy.zeros_like(target)
    for position in kernel_positions(kernel):
        total[position_slices(position, stride, dilation, counts)] += values[
            (slice(None),) * lead + position]
    return target + total

# wrong -: as many steps as the target has room for
def add_windows(target, values, stride, dilation):
    dims = len(stride)
    lead = target.ndim - dims
    kernel = values.shape[lead : lead + dims]
    counts = conv_output_sizes(target.shape[lead:], kernel, stride, (0,) * dims, dilation)
    for position in kernel_positions(kernel):
        target[position_slices(position, stride, dilation, counts)] += values[
            (slice(None),) * lead + position]
    return target

# wrong 04c_4_dilation_ignored: one step at a time, of windows without gaps
def add_windows(target, values, stride, dilation):
    dims = len(stride)
    lead = target.ndim - dims
    kernel, counts = values.shape[lead : lead + dims], values.shape[lead + dims :]
    for step in kernel_positions(counts):
        window = tuple(slice(i * s, i * s + k) for i, s, k in zip(step, stride, kernel))
        target[(..., *window)] += values[(..., *step)]
    return target

# wrong -: one stride and one dilation for all dimensions
def add_windows(target, values, stride, dilation):
    dims = len(stride)
    lead = target.ndim - dims
    kernel, counts = values.shape[lead : lead + dims], values.shape[lead + dims :]
    for position in kernel_positions(kernel):
        for step in kernel_positions(counts):
            place = tuple(i * stride[0] + k * dilation[0] for i, k in zip(step, position))
            target[(..., *place)] += values[(..., *position, *step)]
    return target
