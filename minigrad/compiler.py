"""`torch.compile`, and the annotations and switches in `torch.compiler`.

Source: https://docs.pytorch.org/docs/stable/torch.compiler_api.html
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, overload

from . import _state
from .aot import compiled
from .aot.compiled import CompiledFunction
from .compat import attribute
from .nn.module import Module

__all__ = ["allow_in_graph", "assume_constant_result", "compile", "cudagraph_mark_step_begin",
           "disable", "is_compiling", "is_dynamo_compiling", "is_exporting", "list_backends",
           "nested_compile_region", "reset", "set_stance", "substitute_in_graph"]

#: Backends that compile; both names mean the one in `aot/`.
BACKENDS = ("inductor", "minigrad")
#: Backends that do not compile in PyTorch either.
EAGER = ("eager", "eager_noexcept", "eager_debug")

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

MODES = ("default", "lite", "reduce-overhead", "max-autotune-no-cudagraphs", "max-autotune")


@overload
def compile(model: Module, *, fullgraph: bool = False, dynamic: bool | None = None,
            backend: Any = "inductor", mode: str | None = None, options: Any = None,
            disable: bool = False) -> OptimizedModule: ...
@overload
def compile(model: Callable[P, R], *, fullgraph: bool = False, dynamic: bool | None = None,
            backend: Any = "inductor", mode: str | None = None, options: Any = None,
            disable: bool = False) -> Callable[P, R]: ...
@overload
def compile(model: None = None, *, fullgraph: bool = False, dynamic: bool | None = None,
            backend: Any = "inductor", mode: str | None = None, options: Any = None,
            disable: bool = False) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def compile(model: Any = None, *, fullgraph: bool = False, dynamic: bool | None = None,
            backend: Any = "inductor", mode: str | None = None, options: Any = None,
            disable: bool = False) -> Any:
    """Return a function that records `model` at its first call and then runs the program.

    The program holds the forward and the backward pass.  It is recorded again if the shapes, the
    dtypes or anything else that it depends on changes, at most eight times.  If a call cannot be
    recorded, because a branch depends on a value, for example, it runs eagerly and warns, or raises
    with `fullgraph`.  A module becomes an `OptimizedModule` with the same parameters.  Without a
    model, return a decorator.

    The option `activation_memory_budget`, from 0 to 1, limits how much is saved for the backward
    pass, as a fraction of the bytes that eager mode saves.  With less, more is computed again.
    `dynamic` and `mode` are accepted and have no effect.

    Raises `TypeError` if `model` is not callable, and `RuntimeError` for an unknown backend or
    mode.  Source: `torch.compile`.

    >>> import minigrad as torch
    >>> @torch.compile
    ... def f(x):
    ...     return (x * x).sum()
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> f(x).backward(); x.grad
    tensor([2., 4.])
    """
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified "
                           "at the same time.")
    if mode is not None and mode not in MODES:
        raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {', '.join(MODES)}")
    if backend not in BACKENDS + EAGER:
        raise RuntimeError(f"torch.compile: Invalid backend: {backend!r}; minigrad has "
                           f"{', '.join(map(repr, BACKENDS + EAGER))}")
    budget = budget_in(options)
    if model is None:
        return lambda given: compile(given, fullgraph=fullgraph, dynamic=dynamic, backend=backend,
                                     mode=mode, options=options, disable=disable)
    if not callable(model):
        raise TypeError("torch.compile: a callable function is expected, but "
                        f"{type(model).__name__} is provided")
    if disable or backend in EAGER:
        return model
    if isinstance(model, Module):
        return OptimizedModule(model, fullgraph, budget)
    return CompiledFunction(model, fullgraph, budget)


def budget_in(options: Any) -> float:
    """Return the memory budget in the options of `compile`; raise for other options."""
    unknown = set(options or {}) - {"activation_memory_budget"}
    if unknown:
        raise RuntimeError(f"torch.compile: Unexpected optimization option {sorted(unknown)[0]}, "
                           "known options are ['activation_memory_budget']")
    budget = (options or {}).get("activation_memory_budget", 1.0)
    if isinstance(budget, bool) or not isinstance(budget, (int, float)) or not 0 <= budget <= 1:
        raise RuntimeError("torch.compile: activation_memory_budget must be a number from 0 to 1, "
                           f"but got {budget!r}")
    return float(budget)


class OptimizedModule(Module):
    """A module whose calls run a compiled program; `_orig_mod` is the module itself.

    Its parameters are the same objects, and the keys of its `state_dict` begin with `_orig_mod.`,
    as in PyTorch.  Every other attribute is read from the module.

    >>> import minigrad as torch
    >>> net = torch.nn.Linear(2, 1); compiled = torch.compile(net)
    >>> list(compiled.state_dict()), compiled.in_features
    (['_orig_mod.weight', '_orig_mod.bias'], 2)
    """

    def __init__(self, module: Module, fullgraph: bool = False, budget: float = 1.0) -> None:
        super().__init__()
        self._orig_mod = module
        self.__dict__["_compiled"] = CompiledFunction(module, fullgraph, budget)

    @property
    def training(self) -> bool:
        """Whether the module is in training mode."""
        return self._orig_mod.training

    @training.setter
    def training(self, mode: bool) -> None:
        if self.__dict__.get("_modules"):
            self._orig_mod.training = mode

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._compiled(*args, **kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Run the compiled program."""
        return self._compiled(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        modules = self.__dict__.get("_modules", {})
        if "_orig_mod" not in modules:
            raise AttributeError(name)
        if name == "_orig_mod":
            return modules[name]
        return getattr(modules["_orig_mod"], name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("_orig_mod", "training") or not self.__dict__.get("_modules"):
            super().__setattr__(name, value)
        else:
            setattr(self._orig_mod, name, value)


def compile_in_place(module: Module, *args: Any, **kwargs: Any) -> None:
    """Compile the `forward` of a module; `Module.compile` calls this."""
    forward = functools.partial(type(module).forward, module)
    module.__dict__["forward"] = compile(forward, *args, **kwargs)


@overload
def disable(fn: Callable[P, R], recursive: bool = True, *,
            reason: str | None = None) -> Callable[P, R]: ...
@overload
def disable(fn: None = None, recursive: bool = True, *, reason: str | None = None
            ) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """Return a function that runs eagerly, so that a recording ends where it is called.

    Without `fn`, return a decorator.  Source: `torch.compiler.disable`.

    >>> import minigrad as torch
    >>> torch.compiler.disable(abs)(-3)
    3
    """
    if fn is None:
        return lambda given: disable(given, recursive, reason=reason)

    @functools.wraps(fn, updated=())
    def run(*args: Any, **kwargs: Any) -> Any:
        if (recording := _state.program.get()) is not None:
            name = getattr(fn, "__name__", type(fn).__name__)
            raise recording.refuse(f"{name} is excluded by torch.compiler.disable")
        return fn(*args, **kwargs)

    return run


def unchanged(fn: T) -> T:
    """Return `fn`."""
    return fn


def allow_in_graph(fn: T) -> T:
    """Return `fn`: its ops are recorded like any others. Source: `torch.compiler`."""
    return fn


def assume_constant_result(fn: T) -> T:
    """Return `fn`: its result is recorded. Source: `torch.compiler.assume_constant_result`."""
    return fn


@overload
def nested_compile_region(fn: Callable[P, R], **options: Any) -> Callable[P, R]: ...
@overload
def nested_compile_region(fn: None = None, **options: Any
                          ) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def nested_compile_region(fn: Any = None, **options: Any) -> Any:
    """Return `fn`, or a decorator that returns its function: an annotation for the compiler."""
    return unchanged if fn is None else fn


def substitute_in_graph(original_fn: Any, *, can_constant_fold_through: bool = False,
                        skip_signature_check: bool = False) -> Callable[[T], T]:
    """Return a decorator that returns its function: an annotation for the compiler."""
    return unchanged


def reset() -> None:
    """Forget all programs, so that each function is recorded again. Source: `torch.compiler`."""
    compiled.forget_all()


def cudagraph_mark_step_begin() -> None:
    """Do nothing. Source: `torch.compiler.cudagraph_mark_step_begin`."""


def list_backends(exclude_tags: Any = ("debug", "experimental")) -> list[str]:
    """Return the names of the backends that compile. Source: `torch.compiler.list_backends`.

    >>> import minigrad as torch
    >>> torch.compiler.list_backends()
    ['inductor', 'minigrad']
    """
    return list(BACKENDS)


class set_stance:
    """Choose how compiled functions run; also a context manager and a decorator.

    "default" records when it has to, "force_eager" runs the functions themselves,
    "eager_on_recompile" records no further program, and "fail_on_recompile" raises instead of that.
    Raises `RuntimeError` for anything else.  Source: `torch.compiler.set_stance`.

    >>> import minigrad as torch
    >>> with torch.compiler.set_stance("force_eager"):
    ...     torch.compile(torch.exp)(torch.zeros(1))
    tensor([1.])
    """

    def __init__(self, stance: str = "default", *, skip_guard_eval_unsafe: bool = False,
                 force_backend: Any = None) -> None:
        if stance not in compiled.STANCES:
            raise RuntimeError(f"invalid torch.compile stance '{stance}'")
        self.before = compiled.stance.get()
        self.wanted = stance
        compiled.stance.set(stance)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        compiled.stance.set(self.before)

        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            with _state.having(compiled.stance, self.wanted):
                return function(*args, **kwargs)

        return run

    def __enter__(self) -> None:
        compiled.stance.set(self.wanted)

    def __exit__(self, *error: object) -> None:
        compiled.stance.set(self.before)


def is_compiling() -> bool:
    """Return whether a function is being recorded. Source: `torch.compiler.is_compiling`.

    >>> import minigrad as torch
    >>> torch.compiler.is_compiling()
    False
    """
    return _state.program.get() is not None


def is_dynamo_compiling() -> bool:
    """Return whether a function is being recorded. Source: `torch.compiler.is_dynamo_compiling`."""
    return is_compiling()


def is_exporting() -> bool:
    """Return False, since minigrad does not export. Source: `torch.compiler.is_exporting`."""
    return False


def __getattr__(name: str) -> Any:
    return attribute(__name__, name)
