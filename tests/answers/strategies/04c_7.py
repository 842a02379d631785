# right: the gradient of all windows, added back
def conv_grad_input(xp, g, weight, input_sizes, stride, padding, dilation, groups):
    outs, into, *kernel = weight.shape
    batch, counts = g.shape[0], g.shape[2:]
    rows = weight.reshape(groups, outs // groups, into * prod(kernel)).swapaxes(1, 2)
    seen = rows @ g.reshape(batch, groups, outs // groups, prod(counts))
    seen = seen.reshape(batch, groups * into, *kernel, *counts)
    sizes = [n + 2 * p for n, p in zip(input_sizes[2:], padding)]
    padded = xp.zeros((*input_sizes[:2], *sizes), xp.result_type(g, weight))
    return crop(xp, add_windows(padded, seen, stride, dilation), padding, input_sizes[2:])

# right: g spread out with zeros between, then a convolution with the mirrored weight
def conv_grad_input(xp, g, weight, input_sizes, stride, padding, dilation, groups):
    batch, counts, kernel, sizes = g.shape[0], g.shape[2:], weight.shape[2:], input_sizes[2:]
    reach = [d * (k - 1) for k, d in zip(kernel, dilation)]
    padded = [n + 2 * p for n, p in zip(sizes, padding)]
    wide = xp.zeros((*g.shape[:2], *(n + r for n, r in zip(padded, reach))), g.dtype)
    wide[(..., *(slice(r, r + s * count, s) for r, s, count in zip(reach, stride, counts)))] = g
    outs, into = weight.shape[:2]
    rows = weight.reshape(groups, outs // groups, into, *kernel)
    grad = xp.zeros((batch, groups, into, *padded), xp.result_type(g, weight))
    wide = wide.reshape(batch, groups, outs // groups, *wide.shape[2:])
    for position in kernel_positions(kernel):
        key = tuple(slice(r - p * d, r - p * d + n)
                    for r, p, d, n in zip(reach, position, dilation, padded))
        met = wide[(..., *key)].reshape(batch, groups, outs // groups, prod(padded))
        grad += (rows[(..., *position)].swapaxes(1, 2) @ met).reshape(grad.shape)
    return crop(xp, grad.reshape(batch, groups * into, *padded), padding, sizes)

# right: one step of one filter at a time, straight to the input
def conv_grad_input(xp, g, weight, input_sizes, stride, padding, dilation, groups):
    outs, into, *kernel = weight.shape
    grad = xp.zeros(tuple(input_sizes), xp.result_type(g, weight))
    for o in range(outs):
        first = o // (outs // groups) * into
        for step in kernel_positions(g.shape[2:]):
            for position in kernel_positions(kernel):
                at = tuple(i * s + k * d - p for i, s, k, d, p
                           in zip(step, stride, position, dilation, padding))
                if all(0 <= a < n for a, n in zip(at, input_sizes[2:])):
                    grad[(slice(None), slice(first, first + into), *at)] += xp.outer(
                        g[(slice(None), o, *step)], weight[(o, slice(None), *position)])
    return grad

# right: mirrored where the flip pays, windows elsewhere
def conv_grad_input(xp, g, weight, input_sizes, stride, padding, dilation, groups):
    outs, into, *kernel = weight.shape
    batch, counts, sizes = g.shape[0], g.shape[2:], input_sizes[2:]
    if flip_pays(g, weight, sizes, stride, padding, dilation):
        around = [d * (k - 1) - p for k, d, p in zip(kernel, dilation, padding)]
        return conv_forward(xp, g, flipped(xp, weight, groups), None, stride, around, dilation,
                            groups)
    padded = xp.zeros((batch, input_sizes[1], *(n + 2 * p for n, p in zip(sizes, padding))),
                      xp.result_type(g, weight))
    per = outs // groups
    for group in range(groups):
        rows = weight[group * per : (group + 1) * per].reshape(per, into * prod(kernel)).T
        seen = rows @ g[:, group * per : (group + 1) * per].reshape(batch, per, prod(counts))
        add_windows(padded[:, group * into : (group + 1) * into],
                    seen.reshape(batch, into, *kernel, *counts), stride, dilation)
    return crop(xp, padded, padding, sizes)

# wrong 04c_7_always_mirrored: always mirrored
def conv_grad_input(xp, g, weight, input_sizes, stride, padding, dilation, groups):
    kernel = weight.shape[2:]
    mirrored = [d * (k - 1) - p for k, d, p in zip(kernel, dilation, padding)]
    return conv_forward(xp, g, flipped(xp, weight, groups), None, stride, mirrored, dilation,
                        groups)

# wrong 04c_7_only_fewer_steps_fail: mirrored whenever the stride is 1
def conv_grad_input(xp, g, weight, input_sizes, stride, padding, dilation, groups):
    outs, into, *kernel = weight.shape
    batch, counts, sizes = g.shape[0], g.shape[2:], input_sizes[2:]
    around = [d * (k - 1) - p for k, d, p in zip(kernel, dilation, padding)]
    if prod(stride) == 1 and min(around) >= 0:
        return conv_forward(xp, g, flipped(xp, weight, groups), None, stride, around, dilation,
                            groups)
    rows = weight.reshape(groups, outs // groups, into * prod(kernel)).swapaxes(1, 2)
    seen = rows @ g.reshape(batch, groups, outs // groups, prod(counts))
    padded = xp.zeros((*input_sizes[:2], *(n + 2 * p for n, p in zip(sizes, padding))),
                      xp.result_type(g, weight))
    add_windows(padded, seen.reshape(batch, groups * into, *kernel, *counts), stride, dilation)
    return crop(xp, padded, padding, sizes)

# wrong -: the padded input is as large as the windows reach
def conv_grad_input(xp, g, weight, input_sizes, stride, padding, dilation, groups):
    outs, into, *kernel = weight.shape
    batch, counts = g.shape[0], g.shape[2:]
    rows = weight.reshape(groups, outs // groups, into * prod(kernel)).swapaxes(1, 2)
    seen = rows @ g.reshape(batch, groups, outs // groups, prod(counts))
    covered = [s * (c - 1) + d * (k - 1) + 1
               for s, c, d, k in zip(stride, counts, dilation, kernel)]
    padded = xp.zeros((*input_sizes[:2], *covered), xp.result_type(g, weight))
    add_windows(padded, seen.reshape(batch, groups * into, *kernel, *counts), stride, dilation)
    return crop(xp, padded, padding, input_sizes[2:])

# wrong -: padding is cut off with a negative end
def conv_grad_input(xp, g, weight, input_sizes, stride, padding, dilation, groups):
    outs, into, *kernel = weight.shape
    batch, counts = g.shape[0], g.shape[2:]
    rows = weight.reshape(groups, outs // groups, into * prod(kernel)).swapaxes(1, 2)
    seen = rows @ g.reshape(batch, groups, outs // groups, prod(counts))
    sizes = [n + 2 * p for n, p in zip(input_sizes[2:], padding)]
    padded = xp.zeros((*input_sizes[:2], *sizes), xp.result_type(g, weight))
    add_windows(padded, seen.reshape(batch, groups * into, *kernel, *counts), stride, dilation)
    if any(padding):
        padded = padded[(..., *(slice(p, -p) for p in padding))]
    return padded

# wrong -: spread by the stride and mirrored, with room for the steps only
def conv_grad_input(xp, g, weight, input_sizes, stride, padding, dilation, groups):
    counts, kernel = g.shape[2:], weight.shape[2:]
    wide = xp.zeros((*g.shape[:2], *(s * (c - 1) + 1 for s, c in zip(stride, counts))), g.dtype)
    wide[(..., *(slice(None, None, s) for s in stride))] = g
    around = [d * (k - 1) for k, d in zip(kernel, dilation)]
    ones = (1,) * len(kernel)
    out = conv_forward(xp, wide, flipped(xp, weight, groups), None, ones, around, dilation, groups)
    return crop(xp, out, padding, input_sizes[2:])

# wrong 04c_7_only_groups_fail: the rows are transposed before they are divided into groups
def conv_grad_input(xp, g, weight, input_sizes, stride, padding, dilation, groups):
    outs, into, *kernel = weight.shape
    batch, counts = g.shape[0], g.shape[2:]
    rows = weight.reshape(outs, into * prod(kernel)).T.reshape(groups, -1, outs // groups)
    seen = rows @ g.reshape(batch, groups, outs // groups, prod(counts))
    sizes = [n + 2 * p for n, p in zip(input_sizes[2:], padding)]
    padded = xp.zeros((*input_sizes[:2], *sizes), xp.result_type(g, weight))
    add_windows(padded, seen.reshape(batch, groups * into, *kernel, *counts), stride, dilation)
    return crop(xp, padded, padding, input_sizes[2:])

# wrong 04c_7_dtype: zeros of the default dtype
def conv_grad_input(xp, g, weight, input_sizes, stride, padding, dilation, groups):
    outs, into, *kernel = weight.shape
    batch, counts = g.shape[0], g.shape[2:]
    rows = weight.reshape(groups, outs // groups, into * prod(kernel)).swapaxes(1, 2)
    seen = rows @ g.reshape(batch, groups, outs // groups, prod(counts))
    padded = xp.zeros((*input_sizes[:2], *(n + 2 * p for n, p in zip(input_sizes[2:], padding))))
    add_windows(padded, seen.reshape(batch, groups * into, *kernel, *counts), stride, dilation)
    return crop(xp, padded, padding, input_sizes[2:])

# wrong 04c_7_only_padding_fails: the gradient straight into the input, where negative places count from the end
def conv_grad_input(xp, g, weight, input_sizes, stride, padding, dilation, groups):
    outs, into, *kernel = weight.shape
    grad = xp.zeros(tuple(input_sizes), xp.result_type(g, weight))
    for o in range(outs):
        first = o // (outs // groups) * into
        for step in kernel_positions(g.shape[2:]):
            for position in kernel_positions(kernel):
                at = tuple(i * s + k * d - p for i, s, k, d, p
                           in zip(step, stride, position, dilation, padding))
                if all(a < n for a, n in zip(at, input_sizes[2:])):
                    grad[(slice(None), slice(first, first + into), *at)] += xp.outer(
                        g[(slice(None), o, *step)], weight[(o, slice(None), *position)])
    return grad
