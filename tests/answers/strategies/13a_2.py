class ModuleTables:
    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        if memo is None:
            memo = set()
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, part in self._modules.items():
            if part is not None:
                path = f"{prefix}.{name}" if prefix else name
                yield from part.named_modules(memo, path, remove_duplicate)

    def _named_members(self, table, prefix, recurse, remove_duplicate):
        modules = [(prefix, self)]
        if recurse:
            modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
        seen = set()
        for path, module in modules:
            for name, value in getattr(module, table).items():
                if value is None or id(value) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(value))
                yield f"{path}.{name}" if path else name, value

# right: recursion
# These are the functions above.

# right: a stack, filled from the last part to the first
class ModuleTables:
    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        memo = set() if memo is None else memo
        stack = [(prefix, self)]
        while stack:
            path, module = stack.pop()
            if module is None or module in memo:
                continue
            if remove_duplicate:
                memo.add(module)
            yield path, module
            stack += [(".".join(filter(None, (path, name))), part)
                      for name, part in reversed(list(module._modules.items()))]

    def _named_members(self, table, prefix, recurse, remove_duplicate):
        known = {}
        start = f"{prefix}." if prefix else ""
        walk = self.named_modules(None, "", remove_duplicate) if recurse else iter([("", self)])
        for path, module in walk:
            for name, value in module.__dict__[table].items():
                if value is not None and not (remove_duplicate and id(value) in known):
                    known[id(value)] = value
                    yield start + (f"{path}." if path else "") + name, value

# right: a stack of iterators
class ModuleTables:
    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        memo = set() if memo is None else memo
        stack = [iter([(prefix, self)])]
        while stack:
            for path, module in stack[-1]:
                if module is None or module in memo:
                    continue
                if remove_duplicate:
                    memo.add(module)
                yield path, module
                dotted = path + "." if path else path
                stack.append(iter([(dotted + n, m) for n, m in module._modules.items()]))
                break
            else:
                stack.pop()

# wrong 13a_2_breadth_first: breadth first
class ModuleTables:
    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        memo = set() if memo is None else memo
        stack = [(prefix, self)]
        while stack:
            path, module = stack.pop(0)
            if module is None or module in memo:
                continue
            if remove_duplicate:
                memo.add(module)
            yield path, module
            stack += [(".".join(filter(None, (path, name))), part)
                      for name, part in module._modules.items()]

# wrong -: a module is known as soon as it is put on the stack
class ModuleTables:
    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        stack = [(prefix, self)]
        while stack:
            path, module = stack.pop()
            yield path, module
            new = []
            for name, part in module._modules.items():
                if part is None or part in memo:
                    continue
                if remove_duplicate:
                    memo.add(part)
                new.append((f"{path}.{name}" if path else name, part))
            stack += new[::-1]

# wrong 13a_2_empty_memo_not_filled: an empty memo of the caller is replaced
class ModuleTables:
    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        memo = memo or set()
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, part in self._modules.items():
            if part is not None:
                path = f"{prefix}.{name}" if prefix else name
                yield from part.named_modules(memo, path, remove_duplicate)

# wrong -: values that share memory are one value
class ModuleTables:
    def _named_members(self, table, prefix, recurse, remove_duplicate):
        modules = [(prefix, self)]
        if recurse:
            modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
        seen = set()
        for path, module in modules:
            for name, value in getattr(module, table).items():
                if value is None or id(value._array) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(value._array))
                yield f"{path}.{name}" if path else name, value

# wrong 13a_2_apart_by_name: a value is known by its name
class ModuleTables:
    def _named_members(self, table, prefix, recurse, remove_duplicate):
        modules = [(prefix, self)]
        if recurse:
            modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
        seen = set()
        for path, module in modules:
            for name, value in getattr(module, table).items():
                if value is None or name in seen:
                    continue
                if remove_duplicate:
                    seen.add(name)
                yield f"{path}.{name}" if path else name, value

# wrong 13a_2_stops_at_none: the walk ends at a name that is None
class ModuleTables:
    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        if memo is None:
            memo = set()
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, part in self._modules.items():
            if part is None:
                return
            path = f"{prefix}.{name}" if prefix else name
            yield from part.named_modules(memo, path, remove_duplicate)

# wrong -: the memo holds numbers instead of modules
class ModuleTables:
    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        memo = set() if memo is None else memo
        if id(self) in memo:
            return
        if remove_duplicate:
            memo.add(id(self))
        yield prefix, self
        for name, part in self._modules.items():
            if part is not None:
                path = f"{prefix}.{name}" if prefix else name
                yield from part.named_modules(memo, path, remove_duplicate)

# wrong -: the members of the parts come before the module's own
class ModuleTables:
    def _named_members(self, table, prefix, recurse, remove_duplicate):
        modules = [(prefix, self)]
        if recurse:
            modules = list(self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate))
            modules = modules[1:] + modules[:1]
        seen = set()
        for path, module in modules:
            for name, value in getattr(module, table).items():
                if value is None or id(value) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(value))
                yield f"{path}.{name}" if path else name, value
