# Stage 13a, Modules: the exercise for minigrad/nn/module_tables.py.
# Made by `minigrad dev build`. The lesson is lessons/13a_modules.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 13a
# docs/en/glossary.md explains the names used inside the package.

"""A module's parameters, buffers and submodules by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..tensor.tensor import Parameter, Tensor
from .global_hooks import on_module, replaced
from .member_tables import TABLES, MemberTables, type_name
from .parameter import Buffer


class ModuleTables(MemberTables):
    """The members of a module as its attributes, and walks through the tables."""

    # ---------------------------------------------------------------- as attributes

    def __getattr__(self, name: str) -> Any:
        """Return a member from the tables; Python calls this when no plain attribute exists."""
        # 13a.1 Attributes of a module (about 13 lines)
        # `__setattr__` puts each assigned value into the table for its type. Any other value
        # becomes a plain attribute, unless a table already holds its name: then it belongs in
        # that table. `__getattr__` finds the members again.
        #   m.w = Parameter(...)   -> m._parameters["w"], and nothing in vars(m)
        #   m.w = 3.0 or a module  -> TypeError: a parameter's name takes a Parameter or None
        #   m.x = 3.0, or a tensor -> vars(m)["x"]; then m.x = Parameter(...) moves the name
        #   m.none                 -> AttributeError "'Net' object has no attribute 'none'"
        # Mind:
        # - Parameters take precedence over modules, and modules over buffers.
        # - A member that is `None` keeps its name in the table.
        # - Plain attributes may be set before `Module.__init__` has created the tables.
        # Use: `self._set_parameter(name, value)`, `_set_module`, `_set_buffer`,
        # `self._table("_parameters")`, `TABLES`; the classes are Parameter, ModuleTables and
        # Buffer.
        raise NotImplementedError("13a.1 Attributes of a module is yours to write")

    def __setattr__(self, name: str, value: Any) -> None:
        """Put a value into the table of its type, or into the table that already has this name."""
        # 13a.1 Attributes of a module: see the task at `ModuleTables.__getattr__`.
        raise NotImplementedError("13a.1 Attributes of a module is yours to write")

    def _table(self, table: str) -> Mapping[str, Any]:
        """Return one of the tables, or an empty one before `Module.__init__` has run."""
        found: Mapping[str, Any] = self.__dict__.get(table, {})
        return found

    def _set_parameter(self, name: str, value: Any) -> None:
        """Move a name to the parameters; `None` keeps the name, other values raise `TypeError`."""
        if isinstance(value, Parameter):
            self._make_way(name, "_parameters", "parameters")
        elif value is not None:
            raise TypeError(f"cannot assign '{type_name(value)}' as parameter '{name}' "
                            "(torch.nn.Parameter or None expected)")
        self.register_parameter(name, value)

    def _set_module(self, name: str, value: Any) -> None:
        """Move a name to the submodules; `None` keeps the name, other values raise `TypeError`."""
        if isinstance(value, ModuleTables):
            self._make_way(name, "_modules", "module")
        elif value is not None:
            raise TypeError(f"cannot assign '{type_name(value)}' as child module '{name}' "
                            "(torch.nn.Module or None expected)")
        self._modules[name] = replaced(on_module, self, name, value)

    def _set_buffer(self, name: str, value: Any) -> None:
        """Put a Tensor or `None` into the table of buffers; other values raise `TypeError`.

        A `Buffer` brings its own `persistent` flag; for other tensors the flag stays as it was.
        """
        if value is not None and not isinstance(value, Tensor):
            raise TypeError(f"cannot assign '{type_name(value)}' as buffer '{name}' "
                            "(torch.nn.Buffer, torch.Tensor or None expected)")
        kept = name not in self.__dict__.get("_non_persistent_buffers_set", ())
        self.register_buffer(name, value, getattr(value, "persistent", kept))

    def _make_way(self, name: str, table: str, what: str) -> None:
        """Remove an attribute from everywhere except `table`."""
        if table not in self.__dict__:
            raise AttributeError(f"cannot assign {what} before Module.__init__() call")
        self.__dict__.pop(name, None)
        for other in TABLES:
            if other != table:
                self.__dict__[other].pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def __delattr__(self, name: str) -> None:
        for table in (self._parameters, self._buffers, self._modules):
            if name in table:
                del table[name]
                self._non_persistent_buffers_set.discard(name)
                return
        super().__delattr__(name)

    def __dir__(self) -> list[str]:
        names = [*super().__dir__(), *self._parameters, *self._buffers, *self._modules]
        return sorted(name for name in names if not name[:1].isdigit())

    # ---------------------------------------------------------------- walking

    def named_modules(self, memo: set[Any] | None = None, prefix: str = "",
                      remove_duplicate: bool = True) -> Iterator[tuple[str, Any]]:
        """Yield the module and all its submodules, depth first, with dotted names.

        `memo` is the set of modules seen so far; a module in it is skipped with everything below
        it. With `remove_duplicate=False` the walk adds no modules to it.

        >>> from minigrad import nn
        >>> [name for name, _ in nn.Sequential(nn.ReLU(), nn.Tanh()).named_modules()]
        ['', '0', '1']
        """
        # 13a.2 Walking the tree (about 20 lines)
        # `named_modules` yields (name, module) for a module and for everything below it.
        # `_named_members` yields (name, value) for the entries of one table in all of these
        # modules.
        #   net has the parameter bias and the parts a and b, b has the part c; a and c have w
        #   net.named_modules()            -> ("", net), ("a", a), ("b", b), ("b.c", c)
        #   net.named_modules(None, "top") -> ("top", net), ("top.a", a), ("top.b", b) ...
        #   _named_members("_parameters", "", True, True)     -> "bias", "a.w", "b.c.w"
        #   _named_members("_parameters", "top", False, True) -> "top.bias"; no recursion
        #   b.d = a: a appears once, as "a"; with remove_duplicate=False also as "b.d"
        # Mind:
        # - The walk goes depth first, in the order in which the parts were assigned.
        # - It skips names that are `None` and continues after them.
        # - With `remove_duplicate`, it yields each module and each value once, under its
        #   first name.
        # - One walk has one memo: the caller's, even if it's empty, or else a new one.
        raise NotImplementedError("13a.2 Walking the tree is yours to write")

    def modules(self) -> Iterator[Any]:
        """Yield the module and all its submodules, each once.

        >>> from minigrad import nn
        >>> [type(m).__name__ for m in nn.Sequential(nn.ReLU(), nn.Tanh()).modules()]
        ['Sequential', 'ReLU', 'Tanh']
        """
        return (module for _, module in self.named_modules())

    def named_children(self) -> Iterator[tuple[str, Any]]:
        """Yield the immediate submodules with their names, each once.

        >>> from minigrad import nn
        >>> list(nn.Sequential(nn.ReLU(), nn.Tanh()).named_children())
        [('0', ReLU()), ('1', Tanh())]
        """
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self) -> Iterator[Any]:
        """Yield the immediate submodules, each once.

        >>> from minigrad import nn
        >>> list(nn.Sequential(nn.ReLU(), nn.Tanh()).children())
        [ReLU(), Tanh()]
        """
        return (module for _, module in self.named_children())

    def _named_members(self, table: str, prefix: str, recurse: bool,
                       remove_duplicate: bool) -> Iterator[tuple[str, Any]]:
        """Yield the entries of one table of the module and, with `recurse`, of its submodules."""
        # 13a.2 Walking the tree: see the task at `ModuleTables.named_modules`.
        raise NotImplementedError("13a.2 Walking the tree is yours to write")

    def named_parameters(self, prefix: str = "", recurse: bool = True,
                         remove_duplicate: bool = True) -> Iterator[tuple[str, Parameter]]:
        """Yield all parameters with their dotted names, each once.

        >>> from minigrad import nn
        >>> [name for name, _ in nn.Linear(3, 2).named_parameters()]
        ['weight', 'bias']
        """
        return self._named_members("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Yield all parameters, each once.

        >>> from minigrad import nn
        >>> [p.shape for p in nn.Linear(3, 2).parameters()]
        [torch.Size([2, 3]), torch.Size([2])]
        """
        return (parameter for _, parameter in self.named_parameters(recurse=recurse))

    def named_buffers(self, prefix: str = "", recurse: bool = True,
                      remove_duplicate: bool = True) -> Iterator[tuple[str, Tensor]]:
        """Yield all buffers with their dotted names, each once.

        >>> from minigrad import nn
        >>> [name for name, _ in nn.BatchNorm1d(3).named_buffers()]
        ['running_mean', 'running_var', 'num_batches_tracked']
        """
        return self._named_members("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Yield all buffers, each once.

        >>> from minigrad import nn
        >>> [b.shape for b in nn.BatchNorm1d(3).buffers()]
        [torch.Size([3]), torch.Size([3]), torch.Size([])]
        """
        return (buffer for _, buffer in self.named_buffers(recurse=recurse))

    # ---------------------------------------------------------------- by dotted name

    def get_submodule(self, target: str) -> Any:
        """Return the submodule with a dotted name, or the module itself if the name is empty.

        >>> from minigrad import nn
        >>> nn.Sequential(nn.ReLU()).get_submodule("0")
        ReLU()
        """
        module: Any = self
        for name in target.split(".") if target else ():
            module = module._attribute(name)
            if not isinstance(module, ModuleTables):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def set_submodule(self, target: str, module: Any, strict: bool = False) -> None:
        """Put a module at a dotted name; with `strict` the name must already hold one.

        >>> from minigrad import nn
        >>> net = nn.Sequential(nn.Sequential(nn.ReLU()))
        >>> net.set_submodule("0.0", nn.Tanh()); net[0][0]
        Tanh()
        """
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, ModuleTables):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if (strict or hasattr(parent, name)) and not isinstance(parent._attribute(name),
                                                                ModuleTables):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """Return the parameter with a dotted name.

        >>> from minigrad import nn
        >>> nn.Sequential(nn.Linear(3, 2)).get_parameter("0.bias").shape
        torch.Size([2])
        """
        path, _, name = target.rpartition(".")
        parameter = self.get_submodule(path)._attribute(name)
        if not isinstance(parameter, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return parameter

    def get_buffer(self, target: str) -> Tensor:
        """Return the buffer with a dotted name.

        >>> from minigrad import nn
        >>> nn.BatchNorm1d(3).get_buffer("running_mean")
        tensor([0., 0., 0.])
        """
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        buffer: Tensor = module._attribute(name)
        if name not in module._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return buffer

    def _attribute(self, name: str) -> Any:
        """Return an attribute, or raise the error of the `get_` methods."""
        if not hasattr(self, name):
            raise AttributeError(f"{type(self).__name__} has no attribute `{name}`")
        return getattr(self, name)
