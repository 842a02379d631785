# right: the version before and after the hook
class SavedTensor:
    def pack(self, pack_hook, tensor):
        before = version_of(tensor)
        with having(grad_enabled, False):
            packed = pack_hook(tensor)
        if version_of(tensor) != before:
            raise RuntimeError(PACK_HOOK_WRITES)
        self.remember_place()
        self.packed, self.tensor, self._array = packed, None, None

    def unpacked(self):
        got = self.hooks[1](self.packed)
        if not hasattr(got, "_array"):
            raise TypeError(NOT_UNPACKED.format(type(got).__name__))
        return got._array

# wrong 06_3_earlier_write_refused: the version at the saving in place of that before the hook
class SavedTensor:
    def pack(self, pack_hook, tensor):
        with having(grad_enabled, False):
            packed = pack_hook(tensor)
        if version_of(tensor) != self.version:
            raise RuntimeError(PACK_HOOK_WRITES)
        self.remember_place()
        self.packed, self.tensor, self._array = packed, None, None

    def unpacked(self):
        got = self.hooks[1](self.packed)
        if not hasattr(got, "_array"):
            raise TypeError(NOT_UNPACKED.format(type(got).__name__))
        return got._array

# wrong 06_3_write_passes: the values are compared
class SavedTensor:
    def pack(self, pack_hook, tensor):
        before = tensor._array.copy()
        with having(grad_enabled, False):
            packed = pack_hook(tensor)
        if not (before == tensor._array).all():
            raise RuntimeError(PACK_HOOK_WRITES)
        self.remember_place()
        self.packed, self.tensor, self._array = packed, None, None

    def unpacked(self):
        got = self.hooks[1](self.packed)
        if not hasattr(got, "_array"):
            raise TypeError(NOT_UNPACKED.format(type(got).__name__))
        return got._array

# wrong 06_3_place_forgotten: the place is remembered when the tensor is gone
class SavedTensor:
    def pack(self, pack_hook, tensor):
        before = version_of(tensor)
        with having(grad_enabled, False):
            self.packed = pack_hook(tensor)
        if version_of(tensor) != before:
            raise RuntimeError(PACK_HOOK_WRITES)
        self.tensor = self._array = None
        self.remember_place()

    def unpacked(self):
        got = self.hooks[1](self.packed)
        if not hasattr(got, "_array"):
            raise TypeError(NOT_UNPACKED.format(type(got).__name__))
        return got._array
