class Relu:
    def grad_self(g, result):
        return F.where(F.le(result, 0), zero_depending_on(result), g)

def share(g, loses, tie):
    return F.where(loses, 0, F.where(tie, g / 2, g))

# right: the positive ones are asked, and a tie first
class Relu:
    def grad_self(g, result):
        return F.where(F.gt(result, 0), g, zero_depending_on(result))

def share(g, loses, tie):
    return F.where(tie, g * 0.5, F.where(loses, F.zeros_like(g), g))

# right: the result is 0 itself, and g is divided by 1 or 2
class Relu:
    def grad_self(g, result):
        return F.where(F.le(result, 0), result, g)

def share(g, loses, tie):
    return F.where(loses, 0, g) / F.where(tie, 2.0, 1.0)

# right: what is not 0, and a shared half
class Relu:
    def grad_self(g, result):
        return F.where(F.ne(result, 0), g, zero_depending_on(result))

def share(g, loses, tie):
    half = g / 2
    return F.where(loses, 0, half) + F.where(F.logical_or(loses, tie), 0, half)

# right: the result times 0, and a factor after the choice
class Relu:
    def grad_self(g, result):
        return F.where(F.le(result, 0), result * 0, g)

def share(g, loses, tie):
    return F.where(loses, 0, g) * F.where(tie, 0.5, 1.0)

# right: filled where it is to be 0
def share(g, loses, tie):
    return F.masked_fill(F.where(tie, g / 2, g), loses, 0)

# wrong 04a_7_relu_plain_zero: filled with a number
class Relu:
    def grad_self(g, result):
        return F.masked_fill(g, F.le(result, 0), 0)

# wrong 04a_7_relu_mask: the sign of the result is the slope
class Relu:
    def grad_self(g, result):
        return g * F.sign(result)

# wrong 04a_7_relu_mask: a choice between g and 0 times g
class Relu:
    def grad_self(g, result):
        return F.where(F.gt(result, 0), g, g * 0) + zero_depending_on(result)

# wrong -: the result divided by itself is the slope
class Relu:
    def grad_self(g, result):
        return g * result / result

# wrong -: the sign of g decides
class Relu:
    def grad_self(g, result):
        return F.where(F.le(g, 0), zero_depending_on(result), g)

# wrong 04a_7_relu_plain_zero: zeros are written to g
class Relu:
    def grad_self(g, result):
        g[result <= 0] = 0
        return g

# wrong 04a_7_share_mask: the part is a number between 0 and 1
def share(g, loses, tie):
    return g * F.where(loses, 0.0, F.where(tie, 0.5, 1.0))

# wrong 04a_7_share_mask: what the others get is taken away
def share(g, loses, tie):
    return g - F.where(loses, g, 0) - F.where(tie, g / 2, 0)

# wrong -: zeros and halves are written to g
def share(g, loses, tie):
    g[loses] = 0
    g[tie] /= 2
    return g

# wrong -: NumPy chooses
import numpy as np
def share(g, loses, tie):
    return np.where(loses, 0, np.where(tie, g / 2, g))

# wrong -: a tie gives whole halves
def share(g, loses, tie):
    return F.where(loses, 0, F.where(tie, g // 2, g))

# wrong -: zeros that depend on x are written to g
class Relu:
    def grad_self(g, result):
        g[result <= 0] = 0
        return g + zero_depending_on(result)
