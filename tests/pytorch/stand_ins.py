"""Stand-ins for the private modules that PyTorch's tests import: test cases, parameters, devices.

They cover what `test/test_autograd.py` of PyTorch 1.13 uses, for one device, the CPU.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import gc
import importlib
import inspect
import itertools
import random
import re
import sys
import unittest
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

import minigrad as torch


class TestCase(unittest.TestCase):
    """A test case that compares tensors and numbers within a tolerance."""

    precision = 0.0

    def setUp(self) -> None:
        torch.manual_seed(1234)
        np.random.seed(1234)
        random.seed(1234)

    def assertEqual(self, first: Any, second: Any, msg: Any = None, *, atol: float | None = None,
                    rtol: float | None = None, exact_dtype: bool = True, **options: Any) -> None:
        self._compare(first, second, msg, atol, rtol, exact_dtype)

    def _compare(self, first: Any, second: Any, msg: Any, atol: float | None, rtol: float | None,
                 exact_dtype: bool = True) -> None:
        deeper = functools.partial(self._compare, msg=msg, atol=atol, rtol=rtol,
                                   exact_dtype=exact_dtype)
        if isinstance(first, torch.Tensor) or isinstance(second, torch.Tensor):
            both = isinstance(first, torch.Tensor) and isinstance(second, torch.Tensor)
            a, b = (x.detach() if isinstance(x, torch.Tensor) else torch.tensor(x)
                    for x in (first, second))
            if both:
                super().assertEqual(a.shape, b.shape, msg)
                if exact_dtype:
                    super().assertEqual(a.dtype, b.dtype, msg)
            self._close(a.numpy(), b.numpy(), msg, atol, rtol)
        elif isinstance(first, str) or isinstance(second, str):
            super().assertEqual(first, second, msg)
        elif isinstance(first, Mapping) and isinstance(second, Mapping):
            super().assertEqual(set(first), set(second), msg)
            for key in first:
                deeper(first[key], second[key])
        elif isinstance(first, Sequence) and isinstance(second, Sequence):
            super().assertEqual(len(first), len(second), msg)
            for a, b in zip(first, second, strict=True):
                deeper(a, b)
        elif isinstance(first, int) and isinstance(second, int):
            super().assertEqual(first, second, msg)
        elif isinstance(first, (int, float, np.ndarray, np.generic)) and isinstance(
                second, (int, float, np.ndarray, np.generic)):
            self._close(np.asarray(first), np.asarray(second), msg, atol, rtol)
        else:
            super().assertEqual(first, second, msg)

    def _close(self, a: Any, b: Any, msg: Any, atol: float | None, rtol: float | None) -> None:
        """Compare as PyTorch does: the tolerances are those of the least precise dtype."""
        kinds = {x.dtype for x in (a, b) if x.dtype.kind == "f"}
        small = {np.dtype("float64"): (1e-7, 1e-7), np.dtype("float32"): (1.3e-6, 1e-5),
                 np.dtype("float16"): (1e-3, 1e-5)}
        relative, absolute = max((small[kind] for kind in kinds), default=(0.0, 0.0))
        np.testing.assert_allclose(
            a, b, rtol=relative if rtol is None else rtol,
            atol=max(absolute if atol is None else atol, self.precision),
            err_msg="" if msg is None else str(msg), equal_nan=True)

    def assertEqualIgnoreType(self, *args: Any, **options: Any) -> None:
        self.assertEqual(*args, exact_dtype=False, **options)

    def assertNotEqual(self, first: Any, second: Any, msg: Any = None, **options: Any) -> None:
        with self.assertRaises(AssertionError, msg=msg):
            self.assertEqual(first, second, **options)

    def assertExpected(self, text: str, subname: str | None = None) -> None:
        cls, name = self.id().split(".")[-2:]
        file = Path(inspect.getfile(type(self))).with_name("expect") / (
            f"{cls}.{name}{'' if subname is None else '-' + subname}.expect")
        self.assertEqual(text.strip(), file.read_text(encoding="utf-8").strip())

    def assertExpectedInline(self, actual: str, expected: str, skip: int = 0) -> None:
        self.assertEqual(actual, expected)

    def assertNotWarn(self, call: Callable[[], Any], msg: str = "") -> None:
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            call()
        self.assertTrue(not seen, msg)

    @contextlib.contextmanager
    def assertWarnsOnceRegex(self, category: Any, regex: str = "") -> Iterator[None]:
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            yield
        texts = [str(each.message) for each in seen if issubclass(each.category, category)]
        self.assertTrue(any(re.search(regex, text) for text in texts), f"{regex!r} in {texts}")


class subtest:  # PyTorch's name
    """One set of arguments of a parametrised test."""

    def __init__(self, values: Any, name: str = "", decorators: Sequence[Any] = ()) -> None:
        self.values, self.name, self.decorators = values, name, decorators


def parametrize(names: str, values: Sequence[Any]) -> Callable[[Any], Any]:
    """Note the parameters of a test; `instantiate_parametrized_tests` makes the tests."""
    keys = [name.strip() for name in names.split(",")]

    def note(test: Any) -> Any:
        test.parameters = [(keys, list(values)), *getattr(test, "parameters", [])]
        return test

    return note


def _cases(test: Any) -> Iterator[tuple[str, dict[str, Any], list[Any]]]:
    """Yield the name, the arguments and the decorators of each case of a parametrised test."""
    for chosen in itertools.product(*(values for _, values in test.parameters)):
        suffix, arguments, decorators = "", {}, []
        for (keys, _), value in zip(test.parameters, chosen, strict=True):
            each = value if isinstance(value, subtest) else subtest(value)
            parts = each.values if len(keys) > 1 else (each.values,)
            arguments |= dict(zip(keys, parts, strict=True))
            suffix = f"{suffix}_{each.name}" if each.name else "_".join(
                [suffix, *(f"{k}_{v}" for k, v in zip(keys, parts, strict=True))])
            decorators += each.decorators
        yield suffix, arguments, decorators


def instantiate_parametrized_tests(cls: type) -> type:
    """Replace each parametrised test of a class by one test for each case."""
    for name, test in list(vars(cls).items()):
        if getattr(test, "parameters", None):
            delattr(cls, name)
            for suffix, arguments, decorators in _cases(test):
                setattr(cls, name + suffix, _bound(test, arguments, decorators))
    return cls


def _bound(test: Any, arguments: dict[str, Any], decorators: Sequence[Any] = ()) -> Any:
    @functools.wraps(test)
    def call(self: Any) -> Any:
        return test(self, **arguments)

    vars(call).pop("__wrapped__", None)  # its arguments are no fixtures
    for decorate in decorators:
        call = decorate(call)
    return call


def instantiate_device_type_tests(generic: type, scope: dict[str, Any], **options: Any) -> None:
    """Make the class of a device's tests: with `CPU` after the name, and `device="cpu"`."""
    name = generic.__name__ + "CPU"
    body: dict[str, Any] = {"__module__": generic.__module__, "device_type": "cpu"}
    for each, test in vars(generic).items():
        if not each.startswith("test"):
            if not each.startswith("__"):
                body[each] = test
            continue
        takes_dtype = "dtype" in inspect.signature(test).parameters
        for dtype in getattr(test, "dtypes", [None]) if takes_dtype else [None]:
            suffix = "" if dtype is None else "_" + str(dtype).removeprefix("torch.")
            more = {} if dtype is None else {"dtype": dtype}
            cases = _cases(test) if getattr(test, "parameters", None) else [("", {}, [])]
            for case, arguments, decorators in cases:
                body[f"{each}{case}_cpu{suffix}"] = _bound(
                    test, {"device": "cpu", **more, **arguments}, decorators)
    scope[name] = type(name, generic.__bases__, body)
    del scope[generic.__name__]


def dtypes(*kinds: Any) -> Callable[[Any], Any]:
    """Note the dtypes of a test on the CPU; those that minigrad lacks are left out."""

    def note(test: Any) -> Any:
        test.dtypes = [kind for kind in kinds if kind is not None]
        return test

    return note


def unchanged(*args: Any, **options: Any) -> Any:
    """Decorate nothing: a condition that is about other devices."""
    return args[0] if len(args) == 1 and callable(args[0]) and not options else unchanged_test


def unchanged_test(test: Any) -> Any:
    """Return the test."""
    return test


def only_cuda(test: Any) -> Any:
    """Skip a test of GPUs."""
    return unittest.skip("runs on a GPU")(test)


def device_count_at_least(count: int) -> Callable[[Any], Any]:
    """Skip a test of several devices; one of a list of devices gets a list of one."""
    if count > 1:
        return only_cuda

    def with_list(test: Any) -> Any:
        @functools.wraps(test)
        def call(self: Any, device: Any, **more: Any) -> Any:
            return test(self, [device], **more)

        return call

    return with_list


def disable_gc(*args: Any) -> Any:
    """Switch the garbage collector off for a block."""
    @contextlib.contextmanager
    def block() -> Iterator[None]:
        enabled = gc.isenabled()
        gc.disable()
        try:
            yield
        finally:
            if enabled:
                gc.enable()

    return block()


@contextlib.contextmanager
def set_warn_always_context(new: bool) -> Iterator[None]:
    """Do nothing: warnings are filtered by Python."""
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        yield


def gradcheck(function: Any, inputs: Any, **options: Any) -> Any:
    """Run gradcheck with small Jacobians, as PyTorch's tests do by default."""
    return torch.autograd.gradcheck(function, inputs, **options)


def gradgradcheck(function: Any, inputs: Any, grad_outputs: Any = None, **options: Any) -> Any:
    """Run gradgradcheck."""
    return torch.autograd.gradgradcheck(function, inputs, grad_outputs, **options)


def make_tensor(*shape: Any, dtype: Any, device: Any = "cpu", low: float | None = None,
                high: float | None = None, requires_grad: bool = False, **options: Any) -> Any:
    """Return a tensor of random values between `low` and `high`."""
    sizes = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
    low, high = -9 if low is None else low, 9 if high is None else high
    values = torch.rand(sizes) * (high - low) + low
    return values.to(device, dtype).detach().requires_grad_(requires_grad)


def mask_not_all_zeros(shape: Any) -> Any:
    """Return a random mask in which at least one element is set."""
    while True:
        mask = torch.randn(shape).gt(0)
        if mask.sum() > 0:
            return mask


class LoggingTensor:
    """A subclass with `__torch_dispatch__`, which minigrad does not have."""

    def __init__(self, *args: Any, **options: Any) -> None:
        raise unittest.SkipTest("wants __torch_dispatch__")


def floating_types_and(*more: Any) -> tuple[Any, ...]:
    """Return the floating dtypes that every device has, and some more."""
    return (torch.float32, torch.float64, *more)


def as_torch() -> None:
    """Let minigrad go by the name torch, with the private modules that the tests import."""
    utils: dict[str, Any] = {
        "TestCase": TestCase, "run_tests": unittest.main, "slowTest": unchanged_test,
        "skipIfNoLapack": unchanged_test, "skipIfMps": unchanged_test, "IS_WINDOWS": False,
        "IS_MACOS": False, "disable_gc": disable_gc, "gradcheck": gradcheck,
        "gradgradcheck": gradgradcheck, "parametrize": parametrize, "subtest": subtest,
        "instantiate_parametrized_tests": instantiate_parametrized_tests,
        "set_warn_always_context": set_warn_always_context}
    internal = {
        "": {}, ".common_cuda": {"TEST_CUDA": False}, ".common_utils": utils,
        ".common_methods_invocations": {"mask_not_all_zeros": mask_not_all_zeros},
        ".common_device_type": {
            "instantiate_device_type_tests": instantiate_device_type_tests,
            "onlyCPU": unchanged_test, "onlyCUDA": only_cuda, "dtypes": dtypes,
            "dtypesIfCUDA": unchanged, "dtypesIfMPS": unchanged, "skipMeta": unchanged_test,
            "deviceCountAtLeast": device_count_at_least},
        ".common_dtype": {"floating_types_and": floating_types_and},
        ".logging_tensor": {"LoggingTensor": LoggingTensor}}
    torch.as_torch()
    for name, contents in internal.items():
        _add("torch.testing._internal" + name, contents)
    _add("torch.utils._mode_utils", {"no_dispatch": contextlib.nullcontext})
    vars(torch.testing).setdefault("make_tensor", make_tensor)
    # Read where tests are declared:
    vars(torch._C).setdefault("has_mkldnn", False)
    vars(torch).setdefault("cdouble", None)
    vars(torch.profiler).setdefault("itt", SimpleNamespace(is_available=lambda: False))


def add_missing(tree: ast.Module) -> None:
    """Let each name that a file imports from torch, and minigrad lacks, skip the test using it."""
    for each in tree.body:
        if isinstance(each, ast.ImportFrom) and (each.module or "").partition(".")[0] == "torch":
            assert each.module is not None
            try:
                module = importlib.import_module(each.module)
            except ImportError:
                _add(each.module, {})
                module = sys.modules[each.module]
            for alias in each.names:
                if not hasattr(module, alias.name):
                    setattr(module, alias.name, _missing(f"{each.module}.{alias.name}"))


def _missing(name: str) -> Any:
    def call(*args: Any, **options: Any) -> Any:
        raise unittest.SkipTest(f"wants {name}")

    return call


def _add(name: str, contents: dict[str, Any]) -> None:
    module = ModuleType(name)
    module.__path__ = []
    vars(module).update(contents)
    sys.modules[name] = module
