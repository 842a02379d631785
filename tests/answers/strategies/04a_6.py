class PowNumber:
    def grad_self(g, self, exponent):
        if exponent == 0:
            return F.zeros_like(self)
        return g * exponent * F.pow(self, exponent - 1)

class PowTensor:
    def grad_self(g, self, exponent, result):
        slope = g * exponent * F.pow(self, exponent - 1)
        return F.where(F.eq(exponent, 0), 0, slope)

    def grad_exponent(g, self, exponent, result):
        flat = F.logical_and(F.eq(self, 0), F.ge(exponent, 0))
        return F.where(flat, 0, g * result * F.log(self))

# right: operators instead of functions
class PowNumber:
    def grad_self(g, self, exponent):
        return g * (exponent * self ** (exponent - 1)) if exponent else F.zeros_like(g)

class PowTensor:
    def grad_self(g, self, exponent, result):
        return F.where(exponent == 0, F.zeros_like(g), g * (exponent * self ** (exponent - 1)))

    def grad_exponent(g, self, exponent, result):
        return F.where((self == 0) & (exponent >= 0), F.zeros_like(g), F.log(self) * result * g)

# right: chosen before and after, so that no nan is computed
class PowTensor:
    def grad_self(g, self, exponent, result):
        none = F.eq(exponent, 0)
        lowered = F.where(none, 0, exponent - 1)
        return F.where(none, 0, exponent * g) * F.pow(self, lowered)

    def grad_exponent(g, self, exponent, result):
        none = F.logical_and(F.eq(self, 0), F.ge(exponent, 0))
        return F.where(none, 0, g * result) * F.log(F.where(none, 1, self))

# right: the result says where 0 was raised to no negative power
class PowTensor:
    def grad_exponent(g, self, exponent, result):
        slope = g * result * F.log(self)
        small = F.logical_or(F.eq(result, 0), F.eq(result, 1))
        return F.where(F.logical_and(F.eq(self, 0), small), 0, slope)

# right: two choices, one inside the other
class PowTensor:
    def grad_self(g, self, exponent, result):
        return F.where(F.ne(exponent, 0), g * F.pow(self, exponent - 1) * exponent, 0)

    def grad_exponent(g, self, exponent, result):
        slope = g * (result * F.log(self))
        return F.where(F.ne(self, 0), slope, F.where(F.lt(exponent, 0), slope, F.zeros_like(slope)))

# wrong 04a_6_zero_times_g: the exponent 0 is not lowered, and its factor of 0 does the rest
class PowTensor:
    def grad_self(g, self, exponent, result):
        lowered = F.where(F.eq(exponent, 0), exponent, exponent - 1)
        return g * exponent * F.pow(self, lowered)

# right: the logarithm is taken of 1 where the base is 0
class PowTensor:
    def grad_exponent(g, self, exponent, result):
        none = F.logical_and(F.eq(self, 0), F.ge(exponent, 0))
        return g * result * F.log(F.where(none, 1, self))

# wrong -: the result divided by the base
class PowTensor:
    def grad_self(g, self, exponent, result):
        return F.where(F.eq(exponent, 0), 0, g * exponent * result / self)

# wrong 04a_6_nan_replaced: what is nan becomes 0
class PowTensor:
    def grad_self(g, self, exponent, result):
        slope = g * exponent * F.pow(self, exponent - 1)
        return F.where(F.isnan(slope), 0, slope)

# wrong 04a_6_nan_replaced: what is nan becomes 0, for the exponent
class PowTensor:
    def grad_exponent(g, self, exponent, result):
        slope = g * result * F.log(self)
        flat = F.logical_and(F.eq(self, 0), F.ge(exponent, 0))
        return F.where(F.logical_or(F.isnan(slope), flat), 0, slope)

# wrong -: a little is added before the logarithm
class PowTensor:
    def grad_exponent(g, self, exponent, result):
        return g * result * F.log(self + 1e-12)

# wrong -: the logarithm of the size
class PowTensor:
    def grad_exponent(g, self, exponent, result):
        flat = F.logical_and(F.eq(self, 0), F.ge(exponent, 0))
        return F.where(flat, 0, g * result * F.log(F.abs(self)))

# wrong 04a_6_zero_times_g: the base 0 has no slope
class PowTensor:
    def grad_self(g, self, exponent, result):
        slope = g * exponent * F.pow(self, exponent - 1)
        return F.where(F.eq(self, 0), 0, slope)

# wrong -: only a positive exponent is special
class PowTensor:
    def grad_exponent(g, self, exponent, result):
        flat = F.logical_and(F.eq(self, 0), F.gt(exponent, 0))
        return F.where(flat, 0, g * result * F.log(self))

# wrong -: zeros are written where the exponent is 0
class PowTensor:
    def grad_self(g, self, exponent, result):
        slope = g * exponent * F.pow(self, exponent - 1)
        slope[exponent == 0] = 0
        return slope

# wrong -: the power 0 gives a plain number
class PowNumber:
    def grad_self(g, self, exponent):
        return 0.0 if exponent == 0 else g * exponent * F.pow(self, exponent - 1)

# wrong -: the power 0 gives no gradient
class PowNumber:
    def grad_self(g, self, exponent):
        if exponent == 0:
            return None
        return g * exponent * F.pow(self, exponent - 1)

# wrong 04a_6_zero_times_g: every exponent up to 1 has the slope at 0 taken away
class PowNumber:
    def grad_self(g, self, exponent):
        slope = g * exponent * F.pow(self, exponent - 1)
        return F.where(F.eq(self, 0), 0, slope)

# wrong -: the products are written to g
class PowNumber:
    def grad_self(g, self, exponent):
        if exponent == 0:
            return F.zeros_like(self)
        g *= exponent
        g *= F.pow(self, exponent - 1)
        return g
