class Exp:
    def grad_self(g, result):
        return g * result

class Log:
    def grad_self(g, self):
        return g / self

class Sqrt:
    def grad_self(g, result):
        return g / (2 * result)

class Sigmoid:
    def grad_self(g, result):
        return g * result * (1 - result)

class Tanh:
    def grad_self(g, result):
        return g * (1 - result * result)

# right: sums of products, and no parentheses
class Exp:
    def grad_self(g, result):
        return result * g

class Sqrt:
    def grad_self(g, result):
        return g / result / 2

class Sigmoid:
    def grad_self(g, result):
        return g * result - g * result * result

class Tanh:
    def grad_self(g, result):
        return g - g * result * result

# right: two factors for each curve, and quotients as products
class Log:
    def grad_self(g, self):
        return g * (1 / self)

class Sqrt:
    def grad_self(g, result):
        return g * (0.5 / result)

class Sigmoid:
    def grad_self(g, result):
        falling = 1 - result
        return g * (falling * result)

class Tanh:
    def grad_self(g, result):
        return (1 + result) * (1 - result) * g

# right: tanh is a sigmoid of the double, stretched to the range from -1 to 1
class Tanh:
    def grad_self(g, result):
        s = (1 + result) / 2
        return 4 * g * s * (1 - s)

# right: powers instead of squares and roots
class Sqrt:
    def grad_self(g, result):
        return 0.5 * g * result ** -1

class Tanh:
    def grad_self(g, result):
        return g * (1 - result ** 2)

# wrong 04a_5_sigmoid_of_e: the hint's e, found from the result
class Sigmoid:
    def grad_self(g, result):
        e = 1 / result - 1
        return g * e * result * result

# wrong -: the result of the root is taken for its input
class Sqrt:
    def grad_self(g, result):
        return g * 0.5 * result ** -0.5

# wrong -: the product is written to g
class Exp:
    def grad_self(g, result):
        g *= result
        return g

# wrong -: the product is written to the result
class Exp:
    def grad_self(g, result):
        result *= g
        return result

# wrong -: the slope of tanh is computed with NumPy
import numpy as np
class Tanh:
    def grad_self(g, result):
        values = result if isinstance(result, np.ndarray) else result.detach().numpy()
        return g * (1 - np.square(values))

# wrong -: the logarithm is taken as a difference on one side
class Log:
    def grad_self(g, self):
        return g * (1 / (self + 1e-3))
