# Stage 04a, Operators, element by element: the solution for minigrad/ops/math/exp_log.py.
# Made by `minigrad dev build`. The lesson is lessons/04a_elementwise.md.
# MASTER COPY: a copy of the package's module, which never runs. Your answers are in a workspace.

"""The exponential function, the logarithm, and two S-shaped curves: sigmoid and tanh.

Variants of exp and log are in exp_log_variants.py, and the other hyperbolic functions in
trigonometric.py.

Source: https://docs.pytorch.org/docs/stable/special.html
"""

from .smooth import Above, Smooth


class Exp(Smooth):
    """e to the power of each element.

    >>> from minigrad import exp, tensor
    >>> exp(tensor([0.0, 1.0]))
    tensor([1.0000, 2.7183])
    """

    def grad_self(g, result):
        return g * result


class Log(Above):
    """The natural logarithm.

    >>> from minigrad import log, tensor
    >>> log(tensor([1.0, 0.0]))
    tensor([0., -inf])
    """

    def grad_self(g, self):
        return g / self


class Sigmoid(Smooth):
    """The logistic function, 1 / (1 + exp(-x)).

    >>> from minigrad import sigmoid, tensor
    >>> sigmoid(tensor([0.0, 100.0]))
    tensor([0.5000, 1.0000])
    """

    in_float32 = True

    def forward(xp, self):
        return 1 / (1 + xp.exp(-self))

    def grad_self(g, result):
        return g * (1 - result) * result


class Tanh(Smooth):
    """The hyperbolic tangent.

    >>> from minigrad import tanh, tensor
    >>> tanh(tensor([0.0, 1.0]))
    tensor([0.0000, 0.7616])
    """

    def grad_self(g, result):
        return g * (1 - result * result)
