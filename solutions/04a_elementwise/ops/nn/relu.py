# Stage 04a, Operators, element by element: the solution for minigrad/ops/nn/relu.py.
# Made by `minigrad dev build`. The lesson is lessons/04a_elementwise.md.
# MASTER COPY: a copy of the package's module, which never runs. Your answers are in a workspace.

"""The rectifier, max(x, 0).

A backend may supply its own kernel, named by `own_kernel`, which then runs instead of the formula.

Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.relu.html
"""

from ...op.declaration import F
from ..kernels import own_kernel
from .activation_base import Activation, zero_depending_on


class Relu(Activation):
    """max(x, 0); the derivative at zero is defined as zero.

    >>> from minigrad import relu, tensor
    >>> relu(tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """

    node = "ReluBackward0"
    method = True

    def forward(xp, self):
        if self.dtype.kind == "b":
            raise RuntimeError("Boolean inputs not supported for relu")
        return xp.maximum(0, self)  # this order preserves -0.0

    def forward_inplace(xp, self): xp.maximum(0, self, out=self)

    @own_kernel("relu_gradient")
    def grad_self(g, result):
        return F.where(F.le(result, 0), zero_depending_on(result), g)


class ReluInPlace(Relu):
    """max(x, 0), written to x in place.

    >>> from minigrad import tensor
    >>> tensor([-1.0, 2.0]).relu_()
    tensor([0., 2.])
    """

    inplace_of = Relu
