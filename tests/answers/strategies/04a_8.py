def stable_softmax(xp, x, axis):
    e = xp.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)

def stable_log_softmax(xp, x, axis):
    x = x - x.max(axis=axis, keepdims=True)
    return x - xp.log(xp.exp(x).sum(axis=axis, keepdims=True))

class Softmax:
    def grad_self(g, result, dim):
        return result * (g - F.sum(g * result, dim, True))

class LogSoftmax:
    def grad_self(g, result, dim):
        return g - F.exp(result) * F.sum(g, dim, True)

# right: one of the two is made from the other
def stable_softmax(xp, x, axis):
    return xp.exp(stable_log_softmax(xp, x, axis))

class Softmax:
    def grad_self(g, result, dim):
        part = g * result
        return part - result * F.sum(part, dim, True)

class LogSoftmax:
    def grad_self(g, result, dim):
        return g - F.softmax(result, dim) * F.sum(g, dim, True)

# right: the sum of exponentials stays a logarithm
def stable_softmax(xp, x, axis):
    return xp.exp(x - xp.logaddexp.reduce(x, axis=axis, keepdims=True))

def stable_log_softmax(xp, x, axis):
    return x - xp.logaddexp.reduce(x, axis=axis, keepdims=True)

# right: the axis is moved to the front
def stable_softmax(xp, x, axis):
    rows = xp.moveaxis(x, axis, 0)
    e = xp.exp(rows - rows.max(0))
    return xp.moveaxis(e / e.sum(0), 0, axis)

def stable_log_softmax(xp, x, axis):
    rows = xp.moveaxis(x, axis, 0)
    most = rows.max(0)
    return xp.moveaxis(rows - (most + xp.log(xp.exp(rows - most).sum(0))), 0, axis)

# right: slice by slice
import numpy as np
def stable_softmax(xp, x, axis):
    def one(row):
        e = np.exp(row - np.max(row))
        return e / np.sum(e)
    return np.apply_along_axis(one, axis, x)

def stable_log_softmax(xp, x, axis):
    def one(row):
        most = max(row)
        return row - most - np.log(sum(np.exp(each - most) for each in row))
    return np.apply_along_axis(one, axis, x)

# right: all differences of two elements, so that the own one cancels
def stable_softmax(xp, x, axis):
    rows = xp.moveaxis(x, axis, -1)
    apart = xp.minimum(rows[..., None, :] - rows[..., :, None], 700)
    return xp.moveaxis(1 / xp.exp(apart).sum(axis=-1), -1, axis)

# right: the gradients are deviations from a weighted mean
class Softmax:
    def grad_self(g, result, dim):
        mean = F.sum(result * g, dim, True) / F.sum(result, dim, True)
        return (g - mean) * result

# wrong -: numbers of more bits
def stable_softmax(xp, x, axis):
    e = xp.exp(x.astype(xp.longdouble))
    return (e / e.sum(axis=axis, keepdims=True)).astype(x.dtype)

# wrong -: the logarithm of numbers of more bits
def stable_log_softmax(xp, x, axis):
    x = x.astype(xp.longdouble)
    return (x - xp.log(xp.exp(x).sum(axis=axis, keepdims=True))).astype(float)

# wrong -: the mean is subtracted
def stable_softmax(xp, x, axis):
    e = xp.exp(x - x.mean(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)

# wrong -: the smallest element is subtracted
def stable_softmax(xp, x, axis):
    e = xp.exp(x - x.min(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)

# wrong -: the first element is subtracted
def stable_softmax(xp, x, axis):
    e = xp.exp(x - xp.take(x, [0], axis=axis))
    return e / e.sum(axis=axis, keepdims=True)

# wrong -: the arguments of exp are cut off
def stable_softmax(xp, x, axis):
    e = xp.exp(xp.clip(x, -700, 700))
    return e / e.sum(axis=axis, keepdims=True)

# wrong -: nan becomes 1
def stable_softmax(xp, x, axis):
    e = xp.exp(x)
    return xp.nan_to_num(e / e.sum(axis=axis, keepdims=True), nan=1.0)

# wrong -: a little is added before the logarithm
def stable_log_softmax(xp, x, axis):
    return xp.log(stable_softmax(xp, x, axis) + 1e-300)

# wrong -: the largest of all elements is subtracted before the logarithm
def stable_log_softmax(xp, x, axis):
    most = x.max()
    return x - most - xp.log(xp.exp(x - most).sum(axis=axis, keepdims=True))

# wrong -: the weighted gradients are written to g
class Softmax:
    def grad_self(g, result, dim):
        g *= result
        return g - result * F.sum(g, dim, True)

# wrong -: the sum is taken from g itself
class LogSoftmax:
    def grad_self(g, result, dim):
        g -= F.exp(result) * F.sum(g, dim, True)
        return g

# wrong -: the mean of g
class LogSoftmax:
    def grad_self(g, result, dim):
        return g - F.exp(result) * F.mean(g, dim, True)

# wrong -: the softmax of g
class LogSoftmax:
    def grad_self(g, result, dim):
        return g - F.softmax(g, dim) * F.sum(g, dim, True)

# wrong -: always along the last dimension
class Softmax:
    def grad_self(g, result, dim):
        return result * (g - F.sum(g * result, -1, True))
