"""The databases that come with PyTorch, and what of them is out of minigrad's scope."""

from __future__ import annotations

import functools
import importlib
import re
import sys
import types
import unittest
from typing import Any

#: Ops that minigrad leaves out, as patterns of their names, and why.
LEFT_OUT = {
    r"fft\..*|i?stft|complex|polar|c(double|float|half)|chalf|view_as_(complex|real)|imag|real"
    r"|angle|linalg\.eig|linalg\.eigvals|conj|conj_physical|resolve_conj|resolve_neg|isreal|sgn":
        "complex numbers",
    r"sparse\..*|to_sparse|torch\.ops\.aten.*sparse.*": "sparse tensors",
    r"bfloat16": "NumPy has no such numbers",
    r"jiterator_.*": "compiles code for a GPU",
    r"_(?!_).*|torch\._.*|ops\..*|nn\.functional\.linear_cross_entropy|hash_tensor"
    r"|.*_backward|native_.*|.*_copy|alias_copy|special\.airy_ai|grid_sampler_.*":
        "internal functions of ATen, not for users",
}

#: Optimizers that are left out.
LEFT_OUT_OPTIMIZERS = {"SparseAdam": "sparse gradients"}


def why_left_out(name: str) -> str | None:
    """Return why an op is out of scope; None for one that is in it."""
    return next((why for pattern, why in LEFT_OUT.items() if re.fullmatch(pattern, name)), None)


def dtype_for(op: Any) -> Any:
    """Return the dtype to try an op in; None for one that has none of ours on a CPU."""
    import torch

    known = op.supported_dtypes("cpu")
    return next((d for d in (torch.float64, torch.float32, torch.int64, torch.bool) if d in known),
                None)


@functools.cache
def load() -> tuple[list[Any], list[Any], list[Any]]:
    """Return the ops, modules and optimizers that are in scope; importing takes ten seconds.

    The databases import a package for tests of printed text, of which they need one class here.
    """
    if "expecttest" not in sys.modules:
        stand_in = types.ModuleType("expecttest")
        vars(stand_in)["TestCase"] = unittest.TestCase
        sys.modules["expecttest"] = stand_in
    internal = "torch.testing._internal."
    ops = importlib.import_module(internal + "common_methods_invocations").op_db
    modules = importlib.import_module(internal + "common_modules").module_db
    optimizers = importlib.import_module(internal + "common_optimizers").optim_db
    return ([op for op in ops if why_left_out(op.name) is None and dtype_for(op) is not None],
            list(modules),
            [o for o in optimizers if o.optim_cls.__name__ not in LEFT_OUT_OPTIMIZERS])
