# Stage 04a, Operators, element by element: the exercise for minigrad/ops/math/exp_log.py.
# Made by `minigrad dev build`. The lesson is lessons/04a_elementwise.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 04a
# docs/en/glossary.md explains the names used inside the package.

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
        # 04a.5 Functions of one number (about 5 lines)
        # Return the gradient of exp, log, sqrt, sigmoid and tanh, from `g` and either the
        # input, `self`, or the `result` of forward. For self = 2, g = 10:
        #   Exp      -> 73.8906
        #   Log      -> 5
        #   Sqrt     -> 3.5355
        #   Sigmoid  -> 1.0499
        #   Tanh     -> 0.7065
        # Mind:
        # - At -1000 and 1000, the slopes of sigmoid and tanh are 0, not nan.
        # - The formulas are differentiated again, so use `+ - * /` and the arguments. Don't
        #   write to them.
        raise NotImplementedError("04a.5 Functions of one number is yours to write")


class Log(Above):
    """The natural logarithm.

    >>> from minigrad import log, tensor
    >>> log(tensor([1.0, 0.0]))
    tensor([0., -inf])
    """

    def grad_self(g, self):
        # 04a.5 Functions of one number: see the task at `Exp.grad_self`.
        raise NotImplementedError("04a.5 Functions of one number is yours to write")


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
        # 04a.5 Functions of one number: see the task at `Exp.grad_self`.
        raise NotImplementedError("04a.5 Functions of one number is yours to write")


class Tanh(Smooth):
    """The hyperbolic tangent.

    >>> from minigrad import tanh, tensor
    >>> tanh(tensor([0.0, 1.0]))
    tensor([0.0000, 0.7616])
    """

    def grad_self(g, result):
        # 04a.5 Functions of one number: see the task at `Exp.grad_self`.
        raise NotImplementedError("04a.5 Functions of one number is yours to write")
