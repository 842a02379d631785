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

# right: in the order of the task
# These are the functions above.

# wrong 06_2_made_anew_kept: the rebuilt tensor is kept
class SavedTensor:
    def unpack(self, node):
        if self.hooks is not None:
            return self.rebuild(self.unpacked(), node)
        if self._array is None:
            raise RuntimeError(FREED_MESSAGE)
        self.check(node)
        if self.tensor is None:
            self.tensor = self.rebuild(self._array, node)
        return self.tensor

# wrong 06_2_output_unwatched: the counter as it is now, which may be None
class SavedTensor:
    def let_go(self):
        self._counter = self.tensor._counter
        self.tensor = None

# wrong 06_2_output_unchecked: checked only where the tensor is there
class SavedTensor:
    def unpack(self, node):
        if self.hooks is not None:
            return self.rebuild(self.unpacked(), node)
        if self._array is None:
            raise RuntimeError(FREED_MESSAGE)
        if self.tensor is not None:
            self.check(node)
            return self.tensor
        return self.rebuild(self._array, node)

# right: what is not freed is checked, and each case has its return
class SavedTensor:
    def let_go(self):
        tensor, self.tensor = self.tensor, None
        self._counter = tensor._shared_counter()

    def unpack(self, node):
        if self.hooks is None:
            if self._array is None:
                raise RuntimeError(FREED_MESSAGE)
            self.check(node)
            if self.tensor is not None:
                return self.tensor
        array = self._array if self.hooks is None else self.unpacked()
        return self.rebuild(array, node)

    def rebuild(self, array, node):
        tensor = self.plain(array)
        self.put_in_graph(tensor, node)
        tensor._counter = self._counter
        return tensor

# wrong -: rebuilt on a copy of the array
class SavedTensor:
    def unpack(self, node):
        if self._array is None and self.hooks is None:
            raise RuntimeError(FREED_MESSAGE)
        if self.hooks is None:
            self.check(node)
        if self.tensor is not None:
            return self.tensor
        return self.rebuild(self._array if self.hooks is None else self.unpacked(), node)

    def rebuild(self, array, node):
        tensor = self.plain(array.copy())
        tensor._counter = self._counter
        self.put_in_graph(tensor, node)
        return tensor

# wrong 06_2_packed_checked: the version first, whatever was saved
class SavedTensor:
    def unpack(self, node):
        self.check(node)
        if self.hooks is not None:
            return self.rebuild(self.unpacked(), node)
        if self._array is None:
            raise RuntimeError(FREED_MESSAGE)
        return self.rebuild(self._array, node) if self.tensor is None else self.tensor
