# Stage 04d, Declaring an operation: the solution for minigrad/examples/softplus.py.
# Made by `minigrad dev build`. The lesson is lessons/04d_declaration.md.
# MASTER COPY: a copy of the package's module, which never runs. Your answers are in a workspace.

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

    class Log1pExp(Unary):
        """log(1 + exp(x)), even if exp(x) is too large for a float; its slope is sigmoid(x)."""

        def forward(xp: Any, self: Any) -> Any:
            return xp.logaddexp(self, 0.0)

        def grad_self(g: Any, self: Any) -> Any:
            return g * F.sigmoid(self)

    return Log1pExp
