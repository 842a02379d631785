"""The small ops that a second copy of `op/` declares (NOTE [A second copy of op/]).

There is one for each case that recording must handle: one input, two inputs, a saved output, a list
of tensors, several outputs, a view.
"""

from __future__ import annotations

from typing import Any

__all__ = ["declare_ops"]


def declare_ops(Op: Any, Unary: Any, Binary: Any, F: Any) -> None:
    """Declare the ops in the copy that these classes and this namespace belong to."""

    class Exp(Unary):
        """One input; its formula uses the output."""

        def grad_self(g, result):
            return g * result

    class Sin(Unary):
        """One input; its formula uses the input."""

        def grad_self(g, self):
            return g * F.cos(self)

    class Cos(Unary):
        """One input; together with `Sin` it has derivatives of every order."""

        def grad_self(g, self):
            return -g * F.sin(self)

    class Mul(Binary):
        """Two inputs; the formula for each uses the other."""

        function = "multiply"
        dunder = ("__mul__", "__rmul__")
        commutative = True
        numbers = True

        def grad_self(g, other):
            return g * other

        def grad_other(g, self):
            return g * self

    class Sigmoid(Unary):
        """One input; its formula computes with the output."""

        def forward(xp, self):
            return 1 / (1 + xp.exp(-self))

        def grad_self(g, result):
            return g * result * (1 - result)

    class Sub(Binary):
        """Two inputs whose order matters; its formulas use neither."""

        function = "subtract"
        dunder = ("__sub__", "__rsub__")
        numbers = True

        def grad_self(g):
            return g

        def grad_other(g):
            return -g

    class AddScaled(Op):
        """A list of tensors of equal shape, summed and scaled: `add_scaled([x, y], 3.0)`."""

        list_of_tensors = "tensors"
        public = True
        method = False

        def shape(tensors, scale):
            return tensors[0]

        def forward(xp, tensors, scale):
            total = tensors[0]
            for each in tensors[1:]:
                total = total + each
            return total * scale

        def grad_tensors(g, tensors_sizes, scale):
            return [g * scale for _ in tensors_sizes]

        def samples(make):
            yield [make(3), make(3)], 2.0

    class SinCos(Op):
        """Two named outputs; the formula uses both."""

        kind = "elementwise"
        outputs = ("sin", "cos")

        def forward(xp, self):
            return xp.sin(self), xp.cos(self)

        def grad_self(g_sin, g_cos, sin, cos):
            return g_sin * cos - g_cos * sin

        def samples(make):
            yield make(3)

    class Transposed(Op):
        """A view that swaps the rows and columns of a matrix."""

        kind = "view"

        def shape(self):
            return tuple(reversed(self))

        def forward(xp, self):
            return self.swapaxes(0, 1)

        def grad_self(g):
            return F.transposed(g)

        def samples(make):
            yield make(2, 3)
