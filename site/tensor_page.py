"""The page of `Tensor`: all its attributes and methods, wherever their code stands."""

from __future__ import annotations

import inspect
import sys
from types import ModuleType
from typing import Any

from examples import complete
from op_pages import page_name
from op_pages import pages as op_names
from prose import fenced, summary, table

from minigrad import Tensor
from minigrad.compat.left_out import METHODS

__all__ = ["tensor_sections"]

#: The attributes by which a tensor takes part in autograd, in the order of their telling.
AUTOGRAD = ("requires_grad", "requires_grad_", "grad", "backward", "grad_fn", "is_leaf",
            "register_hook", "register_post_accumulate_grad_hook", "retain_grad", "retains_grad",
            "detach", "detach_", "data", "output_nr", "is_inference")
#: Methods that the package's functions of these names tell in full.
AS_FUNCTIONS = ("adjoint", "as_strided_scatter", "cholesky", "cholesky_inverse", "cholesky_solve",
                "conj", "conj_physical", "corrcoef", "cov", "diagonal_scatter", "dist", "dsplit",
                "eig", "fliplr", "flipud", "ger", "hsplit", "is_conj", "is_neg", "kron", "lstsq",
                "lu", "lu_solve", "matrix_exp", "matrix_power", "moveaxis", "movedim", "msort",
                "nanquantile", "orgqr", "ormqr", "qr", "quantile", "resolve_conj", "resolve_neg",
                "select_scatter", "slice_scatter", "solve", "svd", "swapaxes", "swapdims",
                "symeig", "take_along_dim", "tensor_split", "tile", "triangular_solve",
                "unsafe_chunk", "vsplit")
#: Methods that only say why they are left out.
REFUSED = " ".join(METHODS.values()).split()


def tensor_sections() -> str:
    """Return the sections of the page: autograd, operations, variants, others, what is left out."""
    rest, variants = [], []
    for name in dir(Tensor):
        listed = name in op_names() or name in (*AUTOGRAD, *REFUSED, *AS_FUNCTIONS)
        if name.startswith("_") or listed:
            continue
        page = _op_of(name)
        if page:
            variants.append([f"[`{name}`](../ops/{page}.md)", summary(_doc(name))])
        else:
            rest.append(_entry(name))
    ops = [[f"[`{name}`](../ops/{page_name(name)}.md)", summary(found[0].__doc__)]
           for name, found in op_names().items() if hasattr(Tensor, name)]
    return "\n".join([
        "## Autograd { #autograd }\n", *map(_entry, AUTOGRAD),
        "## Operations { #methods }\n\nEach has a page with its formula.\n",
        table(["method", "what it computes"], ops),
        "## In place, and by other names { #variants }\n\n"
        "A name that ends with an underscore writes its result to the tensor itself.\n",
        table(["method", "what it computes"], variants),
        "## Functions that are methods too { #as-functions }\n\n"
        "The tensor is the first argument of the function.\n",
        table(["method", "what it computes"],
              [[f"`{name}`", summary(_doc(name))] for name in AS_FUNCTIONS]),
        "## Other attributes and methods { #others }\n", *rest,
        "## Left out { #left-out }\n\nThese raise `NotImplementedError`.\n",
        table(["minigrad", "methods"], [[why, " ".join(f"`{name}`" for name in names.split())]
                                        for why, names in METHODS.items()])])


def _value(name: str) -> Any:
    return inspect.getattr_static(Tensor, name)


def _doc(name: str) -> str:
    """A constant has no words of its own: its class's are not about it."""
    value = _value(name)
    is_told = inspect.isroutine(value) or inspect.isdatadescriptor(value)
    return (inspect.getdoc(value) or "") if is_told else f"Always {value!r}."


def _op_of(name: str) -> str | None:
    """Return the page of the operation whose variant or second name this is."""
    value = _value(name)
    if not inspect.isfunction(value) or value.__module__ != "minigrad":
        return None
    made = value.__name__
    return next((page_name(each) for each in (made, made.removesuffix("_")) if each in op_names()),
                None)


def _entry(name: str) -> str:
    value = _value(name)
    signature = f"Tensor.{name}"
    if inspect.isfunction(value):
        arguments = [each.replace(annotation=inspect.Parameter.empty)
                     for each in inspect.signature(value).parameters.values()][1:]
        signature += str(inspect.Signature(arguments))
    return (f"### `{signature}` {{ #minigrad.Tensor.{name} data-toc-label='{name}' }}\n\n"
            f"{fenced(complete(_doc(name), _module(value)))}\n")


def _module(value: Any) -> ModuleType:
    """Return the module whose names the docstring of a method or property may use."""
    function = inspect.unwrap(getattr(value, "fget", None) or getattr(value, "__func__", value))
    return sys.modules[getattr(function, "__globals__", {"__name__": "minigrad"})["__name__"]]
