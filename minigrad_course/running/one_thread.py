"""Settings for the processes that run a learner's code."""

from __future__ import annotations

__all__ = ["ONE_THREAD"]

#: Environment variables that keep matrix products on one core.  The products of the course are
#: small, so sharing one between cores costs more than it saves, above all on a busy machine.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
                            "VECLIB_MAXIMUM_THREADS"), "1")
