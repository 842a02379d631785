# right: einsum over windows, one group at a time
def conv_forward(xp, x, weight, bias, stride, padding, dilation, groups):
    kernel = weight.shape[2:]
    dims = len(kernel)
    counts = conv_output_sizes(x.shape[2:], kernel, stride, padding, dilation)
    seen = windows(xp, pad(xp, x, padding, padding), kernel, stride, dilation, counts)
    k, s = list(range(2, 2 + dims)), list(range(2 + dims, 2 + 2 * dims))
    into, per = weight.shape[1], weight.shape[0] // groups
    out = xp.zeros((x.shape[0], weight.shape[0], *counts), xp.result_type(x, weight))
    last = 2 + 2 * dims
    for group in range(groups):
        out[:, group * per : (group + 1) * per] = xp.einsum(
            seen[:, group * into : (group + 1) * into], [0, 1, *k, *s],
            weight[group * per : (group + 1) * per], [last, 1, *k], [0, last, *s])
    if bias is not None:
        out += bias.reshape(-1, *[1] * dims)
    return out

# right: one kernel position at a time, with a dimension for the groups
def conv_forward(xp, x, weight, bias, stride, padding, dilation, groups):
    batch, outs, into, kernel = x.shape[0], weight.shape[0], weight.shape[1], weight.shape[2:]
    counts = conv_output_sizes(x.shape[2:], kernel, stride, padding, dilation)
    padded = pad(xp, x, padding, padding)
    out = xp.zeros((batch, groups, outs // groups, prod(counts)), xp.result_type(x, weight))
    rows = weight.reshape(groups, outs // groups, into, *kernel)
    for position in kernel_positions(kernel):
        key = tuple(slice(p * d, p * d + s * count, s)
                    for p, s, d, count in zip(position, stride, dilation, counts))
        met = padded[(..., *key)].reshape(batch, groups, into, prod(counts))
        out += rows[(..., *position)] @ met
    out = out.reshape(batch, outs, *counts)
    if bias is not None:
        out = (out.swapaxes(1, -1) + bias).swapaxes(1, -1).astype(out.dtype)
    return out

# right: one step at a time
def conv_forward(xp, x, weight, bias, stride, padding, dilation, groups):
    batch, outs, into, kernel = x.shape[0], weight.shape[0], weight.shape[1], weight.shape[2:]
    counts = conv_output_sizes(x.shape[2:], kernel, stride, padding, dilation)
    padded = pad(xp, x, padding, padding)
    out = xp.empty((batch, outs, *counts), xp.result_type(x, weight))
    for step in kernel_positions(counts):
        window = padded[(..., *(slice(i * s, i * s + d * (k - 1) + 1, d)
                                for i, s, d, k in zip(step, stride, dilation, kernel)))]
        for o in range(outs):
            first = o // (outs // groups) * into
            products = window[:, first : first + into] * weight[o]
            out[(slice(None), o, *step)] = products.reshape(batch, into * prod(kernel)).sum(1)
    if bias is not None:
        for o in range(outs):
            out[:, o] += bias[o]
    return out

# right: a weight with zeros for the channels of other groups
def conv_forward(xp, x, weight, bias, stride, padding, dilation, groups):
    outs, into, kernel = weight.shape[0], weight.shape[1], weight.shape[2:]
    counts = conv_output_sizes(x.shape[2:], kernel, stride, padding, dilation)
    whole = xp.zeros((outs, into * groups, *kernel), weight.dtype)
    for o in range(outs):
        group = o * groups // outs
        whole[o, group * into : (group + 1) * into] = weight[o]
    seen = windows(xp, pad(xp, x, padding, padding), kernel, stride, dilation, counts)
    out = xp.tensordot(whole, seen, (tuple(range(1, whole.ndim)), tuple(range(1, whole.ndim))))
    out = xp.ascontiguousarray(out.swapaxes(0, 1)).astype(xp.result_type(x, weight))
    if bias is not None:
        out += bias.reshape(outs, *(1 for _ in counts))
    return out

# right: one product of columns for each sample, into a list that starts empty
def conv_forward(xp, x, weight, bias, stride, padding, dilation, groups):
    outs, into, kernel = weight.shape[0], weight.shape[1], weight.shape[2:]
    counts = conv_output_sizes(x.shape[2:], kernel, stride, padding, dilation)
    rows = weight.reshape(groups, outs // groups, -1)
    out = xp.zeros((len(x), outs, *counts), xp.result_type(x, weight))
    for n, sample in enumerate(x):
        seen = windows(xp, pad(xp, sample, padding, padding), kernel, stride, dilation, counts)
        out[n] = (rows @ seen.reshape(groups, into * prod(kernel), prod(counts))).reshape(out[n].shape)
    return out if bias is None else out + bias.reshape(-1, *(1,) * len(counts)).astype(out.dtype)

# wrong -: the results of the samples are stacked
def conv_forward(xp, x, weight, bias, stride, padding, dilation, groups):
    outs, into, kernel = weight.shape[0], weight.shape[1], weight.shape[2:]
    counts = conv_output_sizes(x.shape[2:], kernel, stride, padding, dilation)
    rows, made = weight.reshape(groups, outs // groups, -1), []
    for sample in x:
        seen = windows(xp, pad(xp, sample, padding, padding), kernel, stride, dilation, counts)
        columns = seen.reshape(groups, into * prod(kernel), prod(counts))
        made.append((rows @ columns).reshape(outs, *counts))
    out = xp.stack(made)
    return out if bias is None else out + bias.reshape(-1, *(1,) * len(counts)).astype(out.dtype)

# wrong -: the bias may change the dtype
def conv_forward(xp, x, weight, bias, stride, padding, dilation, groups):
    batch, outs, into, kernel = x.shape[0], weight.shape[0], weight.shape[1], weight.shape[2:]
    counts = conv_output_sizes(x.shape[2:], kernel, stride, padding, dilation)
    seen = windows(xp, pad(xp, x, padding, padding), kernel, stride, dilation, counts)
    columns = seen.reshape(batch, groups, into * prod(kernel), prod(counts))
    out = (weight.reshape(groups, outs // groups, -1) @ columns).reshape(batch, outs, *counts)
    return out if bias is None else out + bias.reshape(-1, *(1,) * len(counts))

# wrong -: the bias is added at each kernel position
def conv_forward(xp, x, weight, bias, stride, padding, dilation, groups):
    batch, outs, into, kernel = x.shape[0], weight.shape[0], weight.shape[1], weight.shape[2:]
    counts = conv_output_sizes(x.shape[2:], kernel, stride, padding, dilation)
    padded = pad(xp, x, padding, padding)
    out = xp.zeros((batch, outs, *counts), xp.result_type(x, weight))
    for position in kernel_positions(kernel):
        key = tuple(slice(p * d, p * d + s * count, s)
                    for p, s, d, count in zip(position, stride, dilation, counts))
        met = padded[(..., *key)].reshape(batch, groups, into, prod(counts))
        rows = weight[(..., *position)].reshape(groups, outs // groups, into)
        out += (rows @ met).reshape(out.shape)
        if bias is not None:
            out += bias.reshape(-1, *(1,) * len(counts))
    return out

# wrong -: the number of steps by itself, without a look at whether the kernel fits
def conv_forward(xp, x, weight, bias, stride, padding, dilation, groups):
    batch, outs, into, kernel = x.shape[0], weight.shape[0], weight.shape[1], weight.shape[2:]
    counts = [max(0, (n + 2 * p - d * (k - 1) - 1) // s + 1)
              for n, k, s, p, d in zip(x.shape[2:], kernel, stride, padding, dilation)]
    padded = pad(xp, x, padding, padding)
    out = xp.zeros((batch, outs, *counts), xp.result_type(x, weight))
    for position in kernel_positions(kernel):
        key = tuple(slice(p * d, p * d + s * count, s)
                    for p, s, d, count in zip(position, stride, dilation, counts))
        met = padded[(..., *key)].reshape(batch, groups, into, prod(counts))
        rows = weight[(..., *position)].reshape(groups, outs // groups, into)
        out += (rows @ met).reshape(out.shape)
    return out if bias is None else out + bias.reshape(-1, *(1,) * len(counts)).astype(out.dtype)

# wrong 04c_5_groups_interleaved: channel c belongs to group c % groups
def conv_forward(xp, x, weight, bias, stride, padding, dilation, groups):
    kernel = weight.shape[2:]
    counts = conv_output_sizes(x.shape[2:], kernel, stride, padding, dilation)
    seen = windows(xp, pad(xp, x, padding, padding), kernel, stride, dilation, counts)
    out = xp.zeros((x.shape[0], weight.shape[0], *counts), xp.result_type(x, weight))
    for o in range(weight.shape[0]):
        part = seen[:, o % groups :: groups]
        both = weight[o].reshape(*weight.shape[1:], *(1,) * len(counts)) * part
        out[:, o] = both.sum(tuple(range(1, 2 + len(kernel))))
    if bias is not None:
        out += bias.reshape(-1, *(1,) * len(counts))
    return out

# wrong -: filters are consecutive, but channels alternate
def conv_forward(xp, x, weight, bias, stride, padding, dilation, groups):
    kernel, outs = weight.shape[2:], weight.shape[0]
    counts = conv_output_sizes(x.shape[2:], kernel, stride, padding, dilation)
    seen = windows(xp, pad(xp, x, padding, padding), kernel, stride, dilation, counts)
    out = xp.zeros((x.shape[0], outs, *counts), xp.result_type(x, weight))
    for o in range(outs):
        part = seen[:, o // (outs // groups) :: groups]
        both = weight[o].reshape(*weight.shape[1:], *(1,) * len(counts)) * part
        out[:, o] = both.sum(tuple(range(1, 2 + len(kernel))))
    if bias is not None:
        out += bias.reshape(-1, *(1,) * len(counts))
    return out

# wrong 04c_5_groups_interleaved: as many filters in a group as channels
def conv_forward(xp, x, weight, bias, stride, padding, dilation, groups):
    batch, outs, into, kernel = x.shape[0], weight.shape[0], weight.shape[1], weight.shape[2:]
    counts = conv_output_sizes(x.shape[2:], kernel, stride, padding, dilation)
    seen = windows(xp, pad(xp, x, padding, padding), kernel, stride, dilation, counts)
    out = xp.zeros((batch, outs, *counts), xp.result_type(x, weight))
    for o in range(outs):
        first = (o // into * into if groups > 1 else 0) % x.shape[1]
        part = seen[:, first : first + into]
        both = weight[o].reshape(*weight.shape[1:], *(1,) * len(counts)) * part
        out[:, o] = both.sum(tuple(range(1, 2 + len(kernel))))
    if bias is not None:
        out += bias.reshape(-1, *(1,) * len(counts))
    return out

# wrong -: the sum of a pointwise convolution is begun in the input
def conv_forward(xp, x, weight, bias, stride, padding, dilation, groups):
    batch, outs, into, kernel = x.shape[0], weight.shape[0], weight.shape[1], weight.shape[2:]
    counts = conv_output_sizes(x.shape[2:], kernel, stride, padding, dilation)
    padded = pad(xp, x, padding, padding)
    if outs == into == groups == 1 and prod(kernel) == 1 and tuple(counts) == padded.shape[2:]:
        out = padded.astype(xp.result_type(x, weight), copy=False)
        out *= weight.item()
    else:
        seen = windows(xp, padded, kernel, stride, dilation, counts)
        columns = seen.reshape(batch, groups, into * prod(kernel), prod(counts))
        out = (weight.reshape(groups, outs // groups, -1) @ columns).reshape(batch, outs, *counts)
    if bias is not None:
        out += bias.reshape(-1, *(1,) * len(counts))
    return out

# wrong -: the bias only where it is true
def conv_forward(xp, x, weight, bias, stride, padding, dilation, groups):
    batch, outs, into, kernel = x.shape[0], weight.shape[0], weight.shape[1], weight.shape[2:]
    counts = conv_output_sizes(x.shape[2:], kernel, stride, padding, dilation)
    seen = windows(xp, pad(xp, x, padding, padding), kernel, stride, dilation, counts)
    columns = seen.reshape(batch, groups, into * prod(kernel), prod(counts))
    out = (weight.reshape(groups, outs // groups, -1) @ columns).reshape(batch, outs, *counts)
    if bias:
        out += bias.reshape(-1, *(1,) * len(counts))
    return out

# wrong -: einsum with letters for at most two dimensions
def conv_forward(xp, x, weight, bias, stride, padding, dilation, groups):
    batch, outs, into, kernel = x.shape[0], weight.shape[0], weight.shape[1], weight.shape[2:]
    counts = conv_output_sizes(x.shape[2:], kernel, stride, padding, dilation)
    seen = windows(xp, pad(xp, x, padding, padding), kernel, stride, dilation, counts)
    seen = seen.reshape(batch, groups, into, *kernel, *counts)
    rows = weight.reshape(groups, outs // groups, into, *kernel)
    k, s = "kl"[: len(kernel)], "xy"[: len(kernel)]
    out = xp.einsum(f"gfc{k},ngc{k}{s}->ngf{s}", rows, seen).reshape(batch, outs, *counts)
    if bias is not None:
        out += bias.reshape(-1, *(1,) * len(counts))
    return out
