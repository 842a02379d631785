# Stage 04a, Operators, element by element: the exercise for minigrad/ops/nn/relu.py.
# Made by `minigrad dev build`. The lesson is lessons/04a_elementwise.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 04a
# docs/en/glossary.md explains the names used inside the package.

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
        # 04a.7 Gradients at a kink (about 2 lines)
        # relu passes `g` on where its result is positive, and returns 0 elsewhere, even at 0.
        # `share` returns the part of `g` that one operand of maximum or minimum gets: 0 if it
        # loses, half at a tie, and otherwise everything.
        #   relu at [-2, 0, 3], g = [5, 6, 7]  -> [0, 0, 7]
        #   share([8, 6, 5], loses=[False, True, False], tie=[False, False, True])  -> [8, 0, 2.5]
        # Mind:
        # - An infinite `g` must not turn a 0 into nan.
        # - Don't write to the arguments.
        # Use: `F.where(condition, a, b)`, `F.le`; `zero_depending_on(result)`, a 0 that keeps
        # second derivatives possible.
        raise NotImplementedError("04a.7 Gradients at a kink is yours to write")


class ReluInPlace(Relu):
    """max(x, 0), written to x in place.

    >>> from minigrad import tensor
    >>> tensor([-1.0, 2.0]).relu_()
    tensor([0., 2.])
    """

    inplace_of = Relu
