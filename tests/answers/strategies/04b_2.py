def variance_backward(g, x, sizes, dim, keepdim, correction):
    freedom = extent(sizes, dim) - correction
    if freedom <= 0:
        return undefined_variance_backward(g, x, sizes, dim, keepdim, freedom)
    g = unsqueeze_reduced(g, sizes, dim, keepdim)
    return 2 / freedom * g * (x - F.mean(x, dim, True))

class Std:
    def grad_self(g, self, result, self_sizes, dim, keepdim, correction):
        g = g / F.where(F.eq(result, 0), math.inf, 2 * result)
        return variance_backward(g, self, self_sizes, dim, keepdim, correction)

# right: the mean is a sum over n, and the choice comes after the quotient
def variance_backward(g, x, sizes, dim, keepdim, correction):
    n = extent(sizes, dim)
    if n <= correction:
        return undefined_variance_backward(g, x, sizes, dim, keepdim, n - correction)
    mean = F.sum(x, dim, True) / n
    return unsqueeze_reduced(g, sizes, dim, keepdim) * ((x - mean) * 2 / (n - correction))

class Std:
    def grad_self(g, self, result, self_sizes, dim, keepdim, correction):
        slope = F.where(F.eq(result, 0), 0, g / (2 * result))
        return variance_backward(slope, self, self_sizes, dim, keepdim, correction)

# right: the mean of the deviations is subtracted, too
def variance_backward(g, x, sizes, dim, keepdim, correction):
    freedom = extent(sizes, dim) - correction
    if freedom > 0:
        apart = 2 * (x - F.mean(x, dim, True))
        slope = (apart - F.mean(apart, dim, True)) / freedom
        return slope * unsqueeze_reduced(g, sizes, dim, keepdim)
    return undefined_variance_backward(g, x, sizes, dim, keepdim, freedom)

# right: the standard deviation on its own
class Std:
    def grad_self(g, self, result, self_sizes, dim, keepdim, correction):
        freedom = extent(self_sizes, dim) - correction
        if freedom <= 0:
            return variance_backward(g / result, self, self_sizes, dim, keepdim, correction)
        g = unsqueeze_reduced(g, self_sizes, dim, keepdim)
        root = unsqueeze_reduced(result, self_sizes, dim, keepdim)
        slope = g * (self - F.mean(self, dim, True)) / (root * freedom)
        return F.where(F.eq(root, 0), 0, slope)

# right: g is 0 and the root 1 where the root is 0
class Std:
    def grad_self(g, self, result, self_sizes, dim, keepdim, correction):
        flat = F.eq(result, 0)
        g = F.where(flat, 0, g) / F.where(flat, 1, result)
        return variance_backward(g, self, self_sizes, dim, keepdim, correction) / 2

# wrong -: a little is added to the root
class Std:
    def grad_self(g, self, result, self_sizes, dim, keepdim, correction):
        return variance_backward(g / (2 * result + 1e-12), self, self_sizes, dim, keepdim,
                                 correction)

# wrong -: a root below 1e-6 counts as 0
class Std:
    def grad_self(g, self, result, self_sizes, dim, keepdim, correction):
        slope = F.where(F.le(result, 1e-6), 0, g / (2 * result))
        return variance_backward(slope, self, self_sizes, dim, keepdim, correction)

# wrong 04b_2_nan_replaced: what is nan becomes 0
class Std:
    def grad_self(g, self, result, self_sizes, dim, keepdim, correction):
        grad = variance_backward(g / (2 * result), self, self_sizes, dim, keepdim, correction)
        return F.where(F.isnan(grad), 0, grad)

# wrong -: elements equal to their mean have no slope
class Std:
    def grad_self(g, self, result, self_sizes, dim, keepdim, correction):
        grad = variance_backward(g / (2 * result), self, self_sizes, dim, keepdim, correction)
        return F.where(F.eq(self, F.mean(self, dim, True)), 0, grad)

# wrong -: the choice meets the elements before the dimension is put back
class Std:
    def grad_self(g, self, result, self_sizes, dim, keepdim, correction):
        grad = variance_backward(g / (2 * result), self, self_sizes, dim, keepdim, correction)
        return F.where(F.eq(result, 0), 0, grad)

# wrong 04b_2_correction_is_one_or_none: a correction is one or none
def variance_backward(g, x, sizes, dim, keepdim, correction):
    n = extent(sizes, dim)
    freedom = n - 1 if correction else n
    if freedom <= 0:
        return undefined_variance_backward(g, x, sizes, dim, keepdim, freedom)
    g = unsqueeze_reduced(g, sizes, dim, keepdim)
    return 2 / freedom * g * (x - F.mean(x, dim, True))

# wrong -: a whole number of degrees of freedom
def variance_backward(g, x, sizes, dim, keepdim, correction):
    freedom = extent(sizes, dim) - int(correction)
    if freedom <= 0:
        return undefined_variance_backward(g, x, sizes, dim, keepdim, freedom)
    g = unsqueeze_reduced(g, sizes, dim, keepdim)
    return 2 / freedom * g * (x - F.mean(x, dim, True))

# wrong 04b_2_no_freedom_left: at least one degree of freedom
def variance_backward(g, x, sizes, dim, keepdim, correction):
    freedom = max(extent(sizes, dim) - correction, 1)
    g = unsqueeze_reduced(g, sizes, dim, keepdim)
    return 2 / freedom * g * (x - F.mean(x, dim, True))

# wrong 04b_2_no_freedom_left: only a single element is special
def variance_backward(g, x, sizes, dim, keepdim, correction):
    n = extent(sizes, dim)
    if n == 1 and correction == 1:
        return undefined_variance_backward(g, x, sizes, dim, keepdim, 0)
    g = unsqueeze_reduced(g, sizes, dim, keepdim)
    return 2 * g * (x - F.mean(x, dim, True)) / (n - correction)

# wrong -: the slope of the mean counts once more
def variance_backward(g, x, sizes, dim, keepdim, correction):
    n = extent(sizes, dim)
    if n - correction <= 0:
        return undefined_variance_backward(g, x, sizes, dim, keepdim, n - correction)
    g = unsqueeze_reduced(g, sizes, dim, keepdim)
    return 2 / (n - correction) * g * (x - F.mean(x, dim, True)) * (1 - 1 / n)

# wrong -: the deviations are written to x
def variance_backward(g, x, sizes, dim, keepdim, correction):
    freedom = extent(sizes, dim) - correction
    if freedom <= 0:
        return undefined_variance_backward(g, x, sizes, dim, keepdim, freedom)
    x -= F.mean(x, dim, True)
    return 2 / freedom * unsqueeze_reduced(g, sizes, dim, keepdim) * x

# wrong -: the quotient is written to g
class Std:
    def grad_self(g, self, result, self_sizes, dim, keepdim, correction):
        g /= F.where(F.eq(result, 0), math.inf, 2 * result)
        return variance_backward(g, self, self_sizes, dim, keepdim, correction)

# wrong -: the root is taken as a constant
import numpy as np
class Std:
    def grad_self(g, self, result, self_sizes, dim, keepdim, correction):
        held = result if isinstance(result, np.ndarray) else result.detach()
        g = g / F.where(F.eq(held, 0), math.inf, 2 * held)
        return variance_backward(g, self, self_sizes, dim, keepdim, correction)
