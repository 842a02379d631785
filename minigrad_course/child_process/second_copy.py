"""Load a second copy of `op/` beside the package, so that a learner's `op/` can be tested.

NOTE [A second copy of op/]
    The package declares its own ops while it is imported, so a broken `op/` in the package's place
    breaks everything.  Therefore an exercise of a stage with `beside = true` is tested on a second
    copy, and the package stays unchanged.  The modules of the copy have separate names such as
    `minigrad_beside_04d_1.op.apply` and are loaded again, so the copy has its own `REGISTRY` and
    its own `F`.  Their relative imports resolve to the package: `minigrad_beside_04d_1.graph` is
    `minigrad.graph`, and so on.  Only `Tensor` is another class there, a subclass with the methods
    that the copy publishes.  Functions of the copy accept the package's tensors too, because the
    engine creates some.  `examples/` is loaded again as well, so that ops declared there are
    declared in the copy.

NOTE [A copy for each exercise]
    The copy for exercise 04d.1 has the learner's answer to 04d.1 and the package's answers to all
    others.  So an exercise never waits for another, and an endless loop uses up the time of only
    one exercise.  A plan (JSON, at the path in the environment variable MINIGRAD_BESIDE) has the
    learner's modules for each exercise; without a plan every copy is the package's own.  The first
    test that needs a copy loads it, so loading counts as that test's time.

This module does not import the package before a copy is requested: on the site it is loaded before
the package and stays when the package is unloaded.
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

__all__ = ["PLAN", "PREFIX", "SecondCopy", "prepare", "second_copy"]

#: The prefix of the names of all second copies.
PREFIX = "minigrad_beside_"
#: The environment variable with the path of the plan.
PLAN = "MINIGRAD_BESIDE"

class SwappedBeside(Swapped):
    """Finds the modules of a second copy, and ignores all others, such as `minigrad.codegen`."""

    def find_spec(self, name: str, path: Any = None, target: ModuleType | None = None
                  ) -> ModuleSpec | None:
        """Return the spec of a module of the copy; `None` leaves the name to other finders."""
        return super().find_spec(name, path, target) if name in self.files else None


@dataclass(frozen=True)
class SecondCopy:
    """A second copy of `op/`, with the ops of second_copy_ops.py declared and published in it."""

    name: str
    Tensor: Any  # a subclass of the package's Tensor

    def module(self, path: str) -> Any:
        """Return a module of the copy, such as "op.node"."""
        return import_module(f"{self.name}.{path}")

    @property
    def REGISTRY(self) -> dict[str, Any]:
        """The ops declared in the copy, by class name."""
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
    """Return the copy for an exercise; the first call loads it.

    Raises LookupError if there is a plan and the exercise is not in it.

    >>> copy = second_copy("04d.1")
    >>> x = copy.tensor([1.0, 2.0], requires_grad=True)
    >>> (x * x).grad_fn.op is copy.REGISTRY["Mul"]
    True
    >>> from minigrad.op import REGISTRY
    >>> copy.REGISTRY["Mul"] is REGISTRY["Mul"]
    False
    """
    name = PREFIX + exercise.replace(".", "_")
    if "copy" not in vars(sys.modules.get(name, object)):
        modules = _planned(exercise)
        try:
            prepare(exercise)
            vars(sys.modules[name])["copy"] = _load(name, modules)
        except BaseException:
            _forget(name)
            raise
    copy: SecondCopy = vars(sys.modules[name])["copy"]
    return copy


def prepare(exercise: str) -> None:
    """Make everything of an exercise's copy that belongs to the package, unless it is made."""
    name = PREFIX + exercise.replace(".", "_")
    if name not in sys.modules:
        _prepare(name)


def _planned(exercise: str) -> dict[str, Any]:
    """Return the modules of an exercise's copy that are not the package's, by name."""
    if PLAN not in os.environ:
        return {}
    plan = json.loads(Path(os.environ[PLAN]).read_text(encoding="utf-8"))["beside"]
    if exercise not in plan:
            raise LookupError(f"no second copy was planned for {exercise}, only for "
                              f"{', '.join(plan)}")
    modules: dict[str, Any] = plan[exercise]
    return modules


def _prepare(name: str) -> None:
    """Give every module of the package except `op/` a second name."""
    for path in ("autograd.backward", "autograd.function"):  # for `examples`
        import_module(f"minigrad.{path}")
    import_module("minigrad.ops").load_all()
    for each, module in list(sys.modules.items()):
        if re.match(r"minigrad\.(?!op\b|codegen\b|examples\b)", each):
            sys.modules[name + each.removeprefix("minigrad")] = module
    top = sys.modules[name] = ModuleType(name, "A second copy of op/ beside the package.")
    top.__path__ = []  # only modules already registered here can be imported under this name
    tensor = sys.modules[f"{name}.tensor.tensor"] = _tensor_module(f"{name}.tensor.tensor")
    around = sys.modules[f"{name}.tensor"] = ModuleType(f"{name}.tensor")
    vars(around).update({**vars(sys.modules["minigrad.tensor"]), "tensor": tensor,
                         "Tensor": tensor.Tensor, "__name__": f"{name}.tensor"})


def _tensor_module(name: str) -> Any:
    """Return `tensor/tensor.py` with its Tensor replaced with a subclass."""
    original: Any = sys.modules["minigrad.tensor.tensor"]

    def plain(array: Any) -> Any:
        return original._retype(original.Tensor._plain(array), Tensor)

    class Kind(type):
        def __instancecheck__(cls, value: Any) -> bool:
            # With create_graph=True the engine passes tensors of the package's class to formulas.
            return isinstance(value, original.Tensor)

    Tensor: Any = Kind("Tensor", (original.Tensor,), {
        "__slots__": (), "__module__": name, "_plain": staticmethod(plain),
        "__torch_function__": staticmethod(original.keep_out)})

    def method(called: str) -> Callable[[Any], Any]:
        def give(function: Any) -> Any:
            if called in vars(Tensor):
                raise TypeError(f"Tensor already has a method {called!r}")
            setattr(Tensor, called, function)
            return function

        return give

    module = ModuleType(name)
    vars(module).update({**vars(original), "Tensor": Tensor, "method": method, "__name__": name})
    return module


def _load(name: str, modules: dict[str, Any]) -> SecondCopy:
    """Import `op/` under its second name, with the learner's modules, and declare the ops."""
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
    """Remove a copy from the interpreter."""
    for each in [each for each in sys.modules if f"{each}.".startswith(f"{name}.")]:
        del sys.modules[each]
    sys.meta_path[:] = [each for each in sys.meta_path
                        if not (isinstance(each, Swapped) and f"{name}.op" in each.files)]
    importlib.invalidate_caches()
