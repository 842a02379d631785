"""Load a second copy of `op/` beside the package, so that a learner's `op/` can be tested.

NOTE [A second copy of op/]
    The package declares its own ops while it is imported, so a broken `op/` in the package's place
    breaks everything.  An exercise of a stage with `beside = true` is tested on a second copy, and
    the package stays as it is.  The modules of the copy have names of their own, such as
    `minigrad_beside_04d_1.op.apply`, and are loaded anew: so the copy has a `REGISTRY` and an `F`
    of its own.  Relative imports lead from them to the rest of that name, which is the package:
    `minigrad_beside_04d_1.graph` is `minigrad.graph`, and likewise all others.  Only `Tensor` is
    another class there, a subclass: the methods that the copy publishes are its own.  Functions of
    the copy take the package's tensors too, because the engine makes some.  `examples/` is loaded
    anew as well: an op that is declared there is declared in the copy.

NOTE [A copy for each exercise]
    The copy of exercise 04d.1 has the learner's answer to 04d.1 and the package's to all others.
    So an exercise never waits for another, and a loop in one uses up the time of that one alone.
    A plan (JSON, at the path in the environment variable MINIGRAD_BESIDE) has the modules that the
    learner wrote, for each exercise; without a plan every copy is the package's own.  A copy is
    loaded by the first test that asks for it, so loading it counts as that test's time.

This module imports nothing of the package before it is asked for a copy: in a page it is there
before the package, and stays when that goes.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

from .second_copy_ops import declare_ops
from .swap import Swapped

__all__ = ["PLAN", "PREFIX", "SecondCopy", "refuse", "second_copy"]

#: The beginning of the names of all second copies.
PREFIX = "minigrad_beside_"
#: The environment variable with the path of the plan.
PLAN = "MINIGRAD_BESIDE"

_IN_A_COPY = re.compile(rf"{PREFIX}\w+\.op\b")


class SwappedBeside(Swapped):
    """Finds the modules of a second copy, and leaves others alone, such as `minigrad.codegen`."""

    def find_spec(self, name: str, path: Any = None, target: ModuleType | None = None
                  ) -> ModuleSpec | None:
        """Return where a module of the copy is; None leaves the name to the other finders."""
        return super().find_spec(name, path, target) if name in self.files else None


@dataclass(frozen=True)
class SecondCopy:
    """A second copy of `op/`, with the ops of second_copy_ops.py declared and published in it."""

    name: str
    Tensor: Any  # its subclass of the package's Tensor

    def module(self, path: str) -> Any:
        """Return a module of the copy, such as "op.node"."""
        return import_module(f"{self.name}.{path}")

    @property
    def REGISTRY(self) -> dict[str, Any]:
        """The ops that were declared in the copy, by the names of their classes."""
        registry: dict[str, Any] = self.module("op.declaration").REGISTRY
        return registry

    @property
    def F(self) -> Any:
        """The copy's functions on tensors and on bare arrays."""
        return self.module("op.declaration").F

    def tensor(self, values: Any, requires_grad: bool = False) -> Any:
        """Make a tensor of the copy's class."""
        data = import_module("minigrad").tensor(values)
        return self.Tensor._plain(data._array).requires_grad_(requires_grad)


def second_copy(exercise: str) -> SecondCopy:
    """Return the copy for an exercise, loaded if it is not there yet.

    LookupError if there is a plan and the exercise is not in it.

    >>> copy = second_copy("04d.1")
    >>> x = copy.tensor([1.0, 2.0], requires_grad=True)
    >>> (x * x).grad_fn.op is copy.REGISTRY["Mul"]
    True
    >>> from minigrad.op import REGISTRY
    >>> copy.REGISTRY["Mul"] is REGISTRY["Mul"]
    False
    """
    name = PREFIX + exercise.replace(".", "_")
    if name not in sys.modules:
        modules = _planned(exercise)
        try:
            _prepare(name)
            vars(sys.modules[name])["copy"] = _load(name, modules)
        except BaseException:
            _forget(name)
            raise
    copy: SecondCopy = vars(sys.modules[name])["copy"]
    return copy


def refuse(values: dict[str, Any]) -> None:
    """Raise if one of a function's arguments is of a second copy, or in a list there.

    A grader puts a call of this into the package's version of an exercise, so that no answer can
    hand its own work on to that.
    """
    for value in values.values():
        for each in value if isinstance(value, list | tuple) else (value,):
            its_type = each if isinstance(each, type) else type(each)
            if any(_IN_A_COPY.match(base.__module__) for base in its_type.__mro__):
                raise RuntimeError("the package's version of this exercise takes nothing of yours")


def _planned(exercise: str) -> dict[str, Any]:
    """Return the modules of an exercise's copy that are not the package's, by their names there."""
    if PLAN not in os.environ:
        return {}
    plan = json.loads(Path(os.environ[PLAN]).read_text(encoding="utf-8"))["beside"]
    if exercise not in plan:
        raise LookupError(f"no second copy was made for {exercise}, only for {', '.join(plan)}")
    modules: dict[str, Any] = plan[exercise]
    return modules


def _prepare(name: str) -> None:
    """Give every module of the package but `op/` a second name."""
    for path in ("autograd.backward", "autograd.function"):  # for `examples`
        import_module(f"minigrad.{path}")
    import_module("minigrad.ops").load_all()
    for each, module in list(sys.modules.items()):
        if re.match(r"minigrad\.(?!op\b|codegen\b|examples\b)", each):
            sys.modules[name + each.removeprefix("minigrad")] = module
    top = sys.modules[name] = ModuleType(name, "A second copy of op/ beside the package.")
    top.__path__ = []  # nothing that is not here yet can be imported by this name
    tensor = sys.modules[f"{name}.tensor.tensor"] = _tensor_module(f"{name}.tensor.tensor")
    around = sys.modules[f"{name}.tensor"] = ModuleType(f"{name}.tensor")
    vars(around).update({**vars(sys.modules["minigrad.tensor"]), "tensor": tensor,
                         "Tensor": tensor.Tensor, "__name__": f"{name}.tensor"})


def _tensor_module(name: str) -> Any:
    """Return `tensor/tensor.py` with a subclass in the place of its Tensor."""
    original: Any = sys.modules["minigrad.tensor.tensor"]

    def plain(array: Any) -> Any:
        return original._retype(original.Tensor._plain(array), Tensor)

    class Kind(type):
        def __instancecheck__(cls, value: Any) -> bool:
            # With create_graph=True the engine gives formulas tensors of the package's class.
            return isinstance(value, original.Tensor)

    Tensor: Any = Kind("Tensor", (original.Tensor,), {
        "__slots__": (), "__module__": name, "_plain": staticmethod(plain)})

    def method(called: str) -> Callable[[Any], Any]:
        def give(function: Any) -> Any:
            if called in vars(Tensor):
                raise TypeError(f"Tensor has a method {called!r} already")
            setattr(Tensor, called, function)
            return function

        return give

    module = ModuleType(name)
    vars(module).update({**vars(original), "Tensor": Tensor, "method": method, "__name__": name})
    return module


def _load(name: str, modules: dict[str, Any]) -> SecondCopy:
    """Import `op/` under its second name, with a learner's modules in it, and declare the ops."""
    package = Path(import_module("minigrad").__file__ or "").parent
    files = {f"{name}.{each}": str(package / each / "__init__.py") for each in ("op", "examples")}
    composed = {}
    for each, source in modules.items():
        here = name + each.removeprefix("minigrad")
        files[here], composed[here] = source["files"][0], source
    sys.meta_path.insert(0, SwappedBeside(files, composed))
    declaration, publish = (import_module(f"{name}.op.{each}")
                            for each in ("declaration", "publish"))
    declare_ops(declaration.Op, declaration.Unary, declaration.Binary, declaration.F)
    publish.publish_all()
    return SecondCopy(name, sys.modules[f"{name}.tensor.tensor"].Tensor)


def _forget(name: str) -> None:
    """Take a copy out of the interpreter."""
    for each in [each for each in sys.modules if f"{each}.".startswith(f"{name}.")]:
        del sys.modules[each]
    sys.meta_path[:] = [each for each in sys.meta_path
                        if not (isinstance(each, Swapped) and f"{name}.op" in each.files)]
    importlib.invalidate_caches()
