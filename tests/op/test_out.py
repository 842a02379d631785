"""`out=` of every function that has it, held against the plain call and against PyTorch."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad.op.publish import FUNCTIONS
from minigrad.ops import load_all
from minigrad.tensor.tensor import Tensor
from tests.support.samples import OPS, samples
from tests.support.slow import slow_but_one_in

load_all()  # which the tables below are made of

pytestmark = [pytest.mark.filterwarnings("ignore:" + text) for text in (
    # of old names, which take `out=` too, and of results that need another shape
    "torch.(cholesky|range|qr|triangular_solve|chain_matmul|lu_solve) is deprecated",
    "at.*nuclear_norm is",
    r"index_reduce\(\) is in beta", r"torch.searchsorted\(\)", "An output with one or more elem",
    "The number of elements in the out tensor", "The reduce argument of torch.scatter")]

#: Arguments for functions that are composed of ops, in the names of `values`.
CALLS = {
    "arange": "1, 7", "argsort": "m, stable=True", "bernoulli": "u", "bucketize": "m, v.sort()[0]",
    "cat": "(m, m)", "chain_matmul": "m, m.t(), m", "cholesky": "s", "cholesky_inverse": "s",
    "cholesky_solve": "sq, s", "clamp": "m, -0.5, 0.5", "clamp_max": "m, 0.5",
    "clamp_min": "m, 0.5", "column_stack": "(m, m)", "conj_physical": "m",
    "copysign": "m, 2.0 - m",
    "cross": "m[:, :3], 2 * m[:, :3], 1", "diff": "m", "div": "m, u", "dstack": "(m, m)",
    "empty": "0, 3", "eye": "3", "float_power": "u, 2", "fmod": "m, u", "full": "(2, 3), 1.5",
    "gelu": "m", "hstack": "(m, m)", "slice_scatter": "m, m[:1], 0, 0, 1",
    "inner": "m, v", "inverse": "s", "isin": "i, i[:2]",
    "kron": "v, v", "lerp": "m, u, 0.25", "linalg_cond": "s", "linalg_eigvalsh": "s",
    "linalg_matrix_norm": "m", "linalg_matrix_rank": "s", "linalg_multi_dot": "(m, m.t(), m)",
    "linalg_norm": "m", "linalg_pinv": "m", "linalg_qr": "m", "linalg_slogdet": "s",
    "linalg_solve": "s, m", "linalg_svdvals": "m", "linalg_vecdot": "m, m",
    "linalg_vector_norm": "m, 2, 1", "linalg_lstsq": "s, m", "linspace": "0, 1, 5",
    "linalg_cholesky_ex": "s", "linalg_inv_ex": "s", "linalg_solve_ex": "s, m",
    "linalg_tensorinv": "s, 1", "linalg_tensorsolve": "s, m[:, 0]",
    "linalg_householder_product": "m.t().contiguous(), v[:3]", "linalg_ldl_factor": "s",
    "linalg_ldl_factor_ex": "s", "linalg_lu": "m", "linalg_lu_factor": "m",
    "linalg_lu_factor_ex": "m", "linalg_lu_solve": "*torch.linalg.lu_factor(s), m",
    "lu_solve": "m, *torch.linalg.lu_factor(s)", "lu_unpack": "*torch.linalg.lu_factor(m)",
    "orgqr": "m.t().contiguous(), v[:3]", "ormqr": "m.t().contiguous(), v[:3], m.t().contiguous()",
    "logspace": "0, 1, 5", "matmul": "m, v", "matrix_power": "s, 3", "max": "m, 1",
    "mean": "m, 1", "median": "m, 1", "min": "m, 1", "msort": "m", "multinomial": "u, 2",
    "nanmean": "m, 1", "nanmedian": "m, 1", "nonzero": "m", "norm": "m, 2, 1", "normal": "m, u",
    "nuclear_norm": "m", "ones": "2, 3", "outer": "v, v", "polygamma": "1, u", "pow": "u, 2",
    "prod": "m, 1", "qr": "m", "rand": "2, 3", "randint": "5, (2, 3)", "randn": "2, 3",
    "randperm": "5", "range": "1, 4", "remainder": "m, u", "round": "m", "scatter": "m, 1, j, m",
    "square": "m",
    "stack": "(m, m)", "std": "m, 1", "sum": "m, 1", "svd": "m", "take_along_dim": "m, j, 1",
    "tensordot": "m, m.t(), 1", "triangular_solve": "m, s", "true_divide": "m, u", "var": "m, 1",
    "histogram": "m, 4", "mvlgamma": "u + 2, 2", "nanquantile": "m, 0.3, 1",
    "nonzero_static": "m, size=3", "quantile": "m, 0.3, 1", "renorm": "m, 2, 0, 1.0",
    "vdot": "v, v", "vstack": "(m, m)", "where": "m > 0, m, u", "xlogy": "m, u", "zeros": "2, 3",
}

BY_NAME = {op.name: op for op in OPS if op.public}
ALIASES = {name for name, function in FUNCTIONS.items() if function.__name__ != name}
TAKING = sorted(name for name, function in FUNCTIONS.items()
                if "out" in inspect.signature(function).parameters and name not in ALIASES)
REFUSING = sorted(name for name, op in BY_NAME.items() if not op.out and name not in ALIASES)


def values(library: Any) -> dict[str, Any]:
    """Return the tensors that `CALLS` name, made by one of the two libraries."""
    rng = np.random.default_rng(0)
    m = rng.standard_normal((3, 4))
    s = m @ m.T + 3 * np.eye(3)
    arrays = {"m": m, "u": rng.uniform(0.1, 0.9, (3, 4)), "v": rng.standard_normal(4), "s": s,
              "sq": rng.standard_normal((3, 3)), "i": np.array([3, 1, 2, 1]),
              "j": rng.integers(0, 3, (3, 4))}
    return {"torch": library, **{k: library.from_numpy(a) for k, a in arrays.items()}}


def twin(library: Any, value: Any) -> Any:
    """Return an argument of a sample for one of the two libraries, tensors copied."""
    if isinstance(value, Tensor):
        return library.from_numpy(value.detach().numpy().copy())
    if isinstance(value, minigrad.dtype):
        return getattr(library, str(value).removeprefix("torch."))
    return type(value)(twin(library, v) for v in value) if type(value) in (tuple, list) else value


def function_of(library: Any, name: str) -> Any:
    """Return a function by its name in `FUNCTIONS`."""
    if library is minigrad:
        return FUNCTIONS[name]
    if name.startswith("linalg_"):
        return getattr(library.linalg, name.removeprefix("linalg_"))
    if name.startswith("special_"):
        return getattr(library.special, name.removeprefix("special_"))
    return (getattr(library, name, None) or getattr(library._C._nn, name, None)
            or getattr(library.nn.functional, name))


def example(library: Any, name: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of one call of a function."""
    if name in CALLS:
        return eval(f"(lambda *args, **kwargs: (args, kwargs))({CALLS[name]})", values(library))
    several = [s for s in samples(BY_NAME[name]) if has_elements(name, s)]
    sample = (several or samples(BY_NAME[name]))[0]
    return (twin(library, sample.args), {k: twin(library, v) for k, v in sample.kwargs.items()})


def has_elements(name: str, sample: Any) -> bool:
    result = FUNCTIONS[name](*twin(minigrad, sample.args), **sample.kwargs)
    return all(r.numel() > 1 for r in (result if isinstance(result, tuple) else (result,)))


def plain(library: Any, name: str) -> Any:
    """Return what the function returns without `out`."""
    library.manual_seed(0)
    args, kwargs = example(library, name)
    return function_of(library, name)(*args, **kwargs)


def with_out(library: Any, name: str, out: Any) -> Any:
    """Return what the function returns with `out`."""
    library.manual_seed(0)
    args, kwargs = example(library, name)
    return function_of(library, name)(*args, **kwargs, out=out)


def several(make: Any, results: Any) -> Any:
    """Make an `out` for one result, or a tuple for several."""
    return tuple(map(make, results)) if isinstance(results, tuple) else make(results)


def each(results: Any) -> tuple[Any, ...]:
    return tuple(results) if isinstance(results, tuple) else (results,)


def strided(result: Any, library: Any) -> Any:
    """Return an `out` with gaps between its elements."""
    wide = library.ones([2 * n for n in result.shape], dtype=result.dtype)
    return wide[tuple([slice(None, None, 2)] * result.ndim)]


#: How an `out` may look, given the result and the library.
SHAPES = {
    "like the result": lambda r, lib: lib.ones_like(r),
    "empty": lambda r, lib: lib.empty(0, dtype=r.dtype),
    "of another shape": lambda r, lib: lib.ones((*r.shape, 2), dtype=r.dtype),
    "strided": strided,
    "turned": lambda r, lib: lib.ones(tuple(r.shape)[::-1], dtype=r.dtype).permute(
        *range(r.ndim)[::-1]) if r.ndim > 1 else lib.ones_like(r),
}
#: And which of them are errors for most functions.
TYPES = {
    "wider": lambda r, lib: lib.ones(r.shape, dtype=lib.float64 if r.dtype is lib.float32
                                     else lib.float32),
    "integral": lambda r, lib: lib.ones(r.shape, dtype=lib.int64),
    "boolean": lambda r, lib: lib.ones(r.shape, dtype=lib.bool),
    "expanded": lambda r, lib: lib.ones((), dtype=r.dtype).expand(r.shape),
    "with a gradient": lambda r, lib: lib.ones_like(r).requires_grad_(r.is_floating_point()),
}


#: Functions whose random numbers depend on the strides of `out`; PyTorch is asked below.
BY_STRIDES = {"bernoulli", "normal", "rand", "randint", "randn"}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", slow_but_one_in(3, [n for n in TAKING if n != "empty"]))
def test_out_gets_the_result(name, shape):
    if name in BY_STRIDES and shape in ("strided", "turned"):
        return
    expected = plain(minigrad, name)
    outs = several(lambda r: SHAPES[shape](r, minigrad), expected)
    versions = [out._version for out in each(outs)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that `out` gets another shape
        returned = with_out(minigrad, name, outs)
    assert type(returned) is type(expected)
    for out, got, wanted, version in zip(each(outs), each(returned), each(expected), versions):
        assert got is out and out._version > version
        assert out.dtype is wanted.dtype and out.shape == wanted.shape
        assert np.array_equal(out.numpy(), wanted.numpy(), equal_nan=wanted.is_floating_point())


@pytest.mark.parametrize("name", TAKING)
def test_the_method_takes_no_out(name):
    args, kwargs = example(minigrad, name)
    if not (args and isinstance(args[0], Tensor) and hasattr(args[0], name)):
        return
    with pytest.raises(TypeError, match="unexpected keyword argument 'out'"):
        getattr(args[0], name)(*args[1:], **kwargs, out=minigrad.zeros(1))


@pytest.mark.parametrize("name", REFUSING)
def test_other_functions_refuse_out(name):
    sample = samples(BY_NAME[name])[0]
    with pytest.raises(TypeError, match="unexpected keyword argument 'out'"):
        FUNCTIONS[name](*sample.args, **sample.kwargs, out=minigrad.zeros(1))


# -------------------------------------------------------------------- beside PyTorch


def outcome(library: Any, name: str, make: Any) -> Any:
    """Return the error's class, or values, strides and warnings of a call with `out`."""
    outs = several(lambda r: make(r, library), plain(library, name))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with_out(library, name, outs)
        except Exception as error:
            return type(error).__name__
    resized = any("was resized" in str(w.message) for w in caught)
    found = []
    for out in each(outs):
        out = out.detach()
        found.append((str(out.dtype), tuple(out.shape), out.numpy()))
    return resized, found


def agree(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, str) or isinstance(theirs, str):
        return bool(ours == theirs)
    if any(0 in a.strides and a.size > 1 for _, _, a in ours[1]):
        return True  # which of the values stays is not defined
    return ours[0] == theirs[0] and all(
        a[:2] == b[:2] and np.allclose(a[2], b[2], 1e-5, 1e-7, equal_nan=True)
        for a, b in zip(ours[1], theirs[1], strict=True))


def short(outcome: Any) -> str:
    """Return an outcome without its values."""
    if isinstance(outcome, str):
        return outcome
    return f"{'resized, ' if outcome[0] else ''}{[(d, s, a.flat[:2]) for d, s, a in outcome[1]]}"


#: Where `out=` is not treated as in PyTorch, and why that is so.
OTHERWISE: dict[tuple[str, str], str] = {
    **{(name, what): "PyTorch raises TypeError here, elsewhere RuntimeError"
       for name in ("cat", "column_stack", "dstack", "hstack", "stack", "vstack")
       for what in ("integral", "boolean")},
    **{(name, what): "PyTorch finds no kernel: NotImplementedError"
       for name in ("nanmean", "nansum", "normal") for what in ("integral", "boolean")},
    **{(name, "wider"): "PyTorch casts beside tensors as bounds, not beside numbers" for name in (
        "clamp", "clamp_max", "clamp_min")},
    **{(name, "of another shape"): "PyTorch resizes without its warning" for name in (
        "addbmm", "bernoulli", "logsigmoid", "multinomial")},
    **{(name, "expanded"): "PyTorch writes several values to one place" for name in (
        "matmul", "randperm", "threshold")},
    ("histc", "with a gradient"): "PyTorch writes to a leaf without a word",
    **{(name, "with a gradient"): "PyTorch writes to a leaf without a word" for name in TAKING
       if name.startswith("special_") and BY_NAME[name].nondifferentiable},
}


@pytest.mark.parametrize("name", slow_but_one_in(3, TAKING))
def test_out_is_treated_as_in_pytorch(name):
    torch = pytest.importorskip("torch", reason="the other side of the comparison")
    told = []
    for what, make in {**SHAPES, **TYPES}.items():
        ours, theirs = outcome(minigrad, name, make), outcome(torch, name, make)
        if agree(ours, theirs) == ((name, what) in OTHERWISE):
            told.append(f"{what}: {short(ours)}; PyTorch: {short(theirs)}")
    assert not told, "\n".join(told)
