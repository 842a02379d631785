def extent(sizes, dim):
    return numel([n for i, n in enumerate(sizes) if i in wrap_dims(dim, len(sizes))])

def unsqueeze_reduced(value, sizes, dim, keepdim):
    if keepdim or dim is None:
        return value
    return F.reshape(value, reduced(sizes, dim, True))

class SumAll:
    def grad_self(g, self_sizes):
        return F.expand(g, self_sizes)

class Sum:
    def grad_self(g, self_sizes, dim, keepdim):
        return F.expand(unsqueeze_reduced(g, self_sizes, dim, keepdim), self_sizes)

class MeanAll:
    def grad_self(g, self_sizes):
        return F.expand(g, self_sizes) / extent(self_sizes, None)

class Mean:
    def grad_self(g, self_sizes, dim, keepdim):
        g = unsqueeze_reduced(g, self_sizes, dim, keepdim)
        return F.expand(g, self_sizes) / extent(self_sizes, dim)

# right: slices of the sizes, and dimensions that are put back one by one
def extent(sizes, dim):
    count = 1
    for d in wrap_dims(dim, len(sizes)):
        for n in sizes[d : d + 1]:
            count *= n
    return count

def unsqueeze_reduced(value, sizes, dim, keepdim):
    if not keepdim and dim is not None and sizes:
        for d in sorted(wrap_dims(dim, len(sizes))):
            value = F.unsqueeze(value, d)
    return value

# right: the shape is written by hand
def unsqueeze_reduced(value, sizes, dim, keepdim):
    if keepdim or dim is None:
        return value
    lost = set(wrap_dims(dim, len(sizes)))
    return value.reshape([1 if i in lost else n for i, n in enumerate(sizes)])

# right: the sum adds zeros, and the mean copies a share
class Sum:
    def grad_self(g, self_sizes, dim, keepdim):
        return unsqueeze_reduced(g, self_sizes, dim, keepdim) + F.new_zeros(g, self_sizes)

class MeanAll:
    def grad_self(g, self_sizes):
        return F.clone(F.expand(g / max(math.prod(self_sizes), 1), self_sizes))

# right: a mean is a sum whose gradient is divided
class MeanAll:
    def grad_self(g, self_sizes):
        return SumAll.grad_self(g, self_sizes) / extent(self_sizes, None)

class Mean:
    def grad_self(g, self_sizes, dim, keepdim):
        return Sum.grad_self(g, self_sizes, dim, keepdim) / extent(self_sizes, dim)

# right: a copy that is divided in place
class Mean:
    def grad_self(g, self_sizes, dim, keepdim):
        grad = F.clone(F.expand(unsqueeze_reduced(g, self_sizes, dim, keepdim), self_sizes))
        grad /= extent(self_sizes, dim)
        return grad

# wrong -: all elements divided by those that stay
def extent(sizes, dim):
    kept = numel(reduced(sizes, dim, False))
    return numel(sizes) // kept if kept else 0

# right: the product of the sizes at the dimensions
def extent(sizes, dim):
    return numel(sizes[d] for d in wrap_dims(dim, len(sizes)))

# wrong -: the dimensions are put back in the order in which they are given
def unsqueeze_reduced(value, sizes, dim, keepdim):
    if keepdim or dim is None or not sizes:
        return value
    for d in wrap_dims(dim, len(sizes)):
        value = F.unsqueeze(value, d)
    return value

# wrong -: the dimensions are put back from the last one on
def unsqueeze_reduced(value, sizes, dim, keepdim):
    if keepdim or dim is None or not sizes:
        return value
    for d in sorted(wrap_dims(dim, len(sizes)), reverse=True):
        value = F.unsqueeze(value, d)
    return value

# wrong -: the first dimension whose size is missing is put back
def unsqueeze_reduced(value, sizes, dim, keepdim):
    if keepdim or dim is None:
        return value
    have, shape = list(value.shape), []
    for n in sizes:
        shape.append(have.pop(0) if have and have[0] == n else 1)
    return F.reshape(value, shape)

# wrong -: how many share is found from the shape of g
class Mean:
    def grad_self(g, self_sizes, dim, keepdim):
        count = math.prod(self_sizes) // math.prod(g.shape)
        return F.expand(unsqueeze_reduced(g, self_sizes, dim, keepdim), self_sizes) / count

# wrong -: a factor of one over the count
class Mean:
    def grad_self(g, self_sizes, dim, keepdim):
        g = unsqueeze_reduced(g, self_sizes, dim, keepdim)
        return F.expand(g, self_sizes) * (1 / extent(self_sizes, dim))

# wrong -: the share of no elements is infinite
class MeanAll:
    def grad_self(g, self_sizes):
        return F.clone(F.expand(g / extent(self_sizes, None), self_sizes))

# wrong -: g itself is divided
class MeanAll:
    def grad_self(g, self_sizes):
        g /= max(extent(self_sizes, None), 1)
        return F.clone(F.expand(g, self_sizes))

# wrong 04b_1_mean_is_a_view: at least one share, and then expanded
class Mean:
    def grad_self(g, self_sizes, dim, keepdim):
        share = unsqueeze_reduced(g, self_sizes, dim, keepdim) / max(extent(self_sizes, dim), 1)
        return F.expand(share, self_sizes)

# wrong -: NumPy's ones are multiplied
import numpy as np
class Sum:
    def grad_self(g, self_sizes, dim, keepdim):
        g = unsqueeze_reduced(g, self_sizes, dim, keepdim)
        return np.ones(self_sizes) * (g if isinstance(g, np.ndarray) else g.detach().numpy())
