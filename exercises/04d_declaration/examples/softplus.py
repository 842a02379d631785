# Stage 04d, Declaring an operation: the exercise for minigrad/examples/softplus.py.
# Made by `minigrad dev build`. The lesson is lessons/04d_declaration.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 04d
# docs/en/glossary.md explains the names used inside the package.

"""An operation declared outside of `ops/`: log(1 + exp(x)), known as softplus."""

from __future__ import annotations

from typing import Any

from ..op.declaration import F, Op, Unary


def declare_log1p_exp() -> type[Op]:
    """Declare the elementwise log(1 + exp(x)) and return its class, `Log1pExp`.

    >>> from minigrad.op import REGISTRY
    >>> declare_log1p_exp().node_type.__name__
    'Log1pExpBackward'
    >>> _ = REGISTRY.pop("Log1pExp")
    """
    # 04d.1 An operation of your own (about 7 lines)
    # Declare log(1 + exp(x)) as a class `Log1pExp` that inherits from `Unary`, and return
    # the class. With x a leaf of 0.:
    #   y = F.log1p_exp(x)                        -> 0.6931, its grad_fn is Log1pExpBackward
    #   (g,) = grad(y, x, create_graph=True)      -> 0.5
    #   grad(g, x)                                -> 0.25, although you declare only the first derivative
    #   at 1000. and -1000.                       -> 1000. and 0., the slopes are 1. and 0., theirs are 0.
    # Mind:
    # - `forward(xp, self)` receives arrays and returns an array of the same dtype. `xp`
    #   has the same functions as NumPy.
    # - Formulas run on arrays and on Tensors, so use `F` and operators there.
    raise NotImplementedError("04d.1 An operation of your own is yours to write")
