# right: in the order of the task
class SavedTensor:
    def let_go(self):
        self._counter = self.tensor._shared_counter()
        self.tensor = None

    def unpack(self, node):
        if self.hooks is not None:
            return self.rebuild(self.unpacked(), node)
        if self._array is None:
            raise RuntimeError(FREED_MESSAGE)
        self.check(node)
        return self.rebuild(self._array, node) if self.tensor is None else self.tensor

    def rebuild(self, array, node):
        made = self.plain(array)
        made._counter = self._counter
        self.put_in_graph(made, node)
        return made

# wrong 06_2_made_anew_kept: the rebuilt tensor is kept
class SavedTensor:
    def let_go(self):
        self._counter = self.tensor._shared_counter()
        self.tensor = None

    def unpack(self, node):
        if self.hooks is not None:
            return self.rebuild(self.unpacked(), node)
        if self._array is None:
            raise RuntimeError(FREED_MESSAGE)
        self.check(node)
        if self.tensor is None:
            self.tensor = self.rebuild(self._array, node)
        return self.tensor

    def rebuild(self, array, node):
        made = self.plain(array)
        made._counter = self._counter
        self.put_in_graph(made, node)
        return made

# wrong 06_2_output_unwatched: the counter as it is now, which may be None
class SavedTensor:
    def let_go(self):
        self._counter = self.tensor._counter
        self.tensor = None

    def unpack(self, node):
        if self.hooks is not None:
            return self.rebuild(self.unpacked(), node)
        if self._array is None:
            raise RuntimeError(FREED_MESSAGE)
        self.check(node)
        return self.rebuild(self._array, node) if self.tensor is None else self.tensor

    def rebuild(self, array, node):
        made = self.plain(array)
        made._counter = self._counter
        self.put_in_graph(made, node)
        return made

# wrong 06_2_output_unchecked: checked only where the tensor is there
class SavedTensor:
    def let_go(self):
        self._counter = self.tensor._shared_counter()
        self.tensor = None

    def unpack(self, node):
        if self.hooks is not None:
            return self.rebuild(self.unpacked(), node)
        if self._array is None:
            raise RuntimeError(FREED_MESSAGE)
        if self.tensor is not None:
            self.check(node)
            return self.tensor
        return self.rebuild(self._array, node)

    def rebuild(self, array, node):
        made = self.plain(array)
        made._counter = self._counter
        self.put_in_graph(made, node)
        return made
