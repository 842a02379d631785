"""The same as `op/` and `engine/`, quicker; with this folder deleted, every other test passes.

NOTE [The ring]
    Nothing imports `fast/` but the line in `minigrad/__init__.py` that switches it on.
    `switch_on` registers quicker twins: for the functions of each op, which also get node classes
    of their own, for the backward loop, and for methods of tensors.  Each twin names the function
    that it replaces.  It serves the common case, leaves every other case and every error to that
    function, and gives the same numbers, bit for bit; the tests compare the two for every op.  The
    environment variable `MINIGRAD_GENERIC=1` leaves it off.

    The figures of single operations in this folder's files are from

        python -m timeit -s 'import minigrad as t' -s 'x = t.ones(4, requires_grad=True)' 'x.exp()'

    and the like for the other operations, with and without that variable, on one thread
    (OMP_NUM_THREADS=1).
"""

from __future__ import annotations

from ..op import publish as op_publish
from .backward_loop import install_loop
from .elements import quicken_elements
from .flat_nodes import give_defaults
from .leaves import quicken_leaves
from .publish import make_quicker


def switch_on() -> None:
    """Register the quicker twins; called before the first op is published."""
    give_defaults()
    op_publish.QUICKER.append(make_quicker)
    install_loop()
    quicken_elements()
    quicken_leaves()
