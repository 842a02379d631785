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

# right: the version before and after the hook
# These are the functions above.

# wrong 06_3_earlier_write_refused: the version at the saving in place of that before the hook
class SavedTensor:
    def pack(self, pack_hook, tensor):
        with having(grad_enabled, False):
            packed = pack_hook(tensor)
        if version_of(tensor) != self.version:
            raise RuntimeError(PACK_HOOK_WRITES)
        self.remember_place()
        self.packed, self.tensor, self._array = packed, None, None

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

# right: the place first, and the array asked for by its attribute
class SavedTensor:
    def pack(self, pack_hook, tensor):
        self.remember_place()
        version = version_of(tensor)
        with having(grad_enabled, False):
            self.packed = pack_hook(tensor)
        if version != version_of(tensor):
            self.packed = None
            raise RuntimeError(PACK_HOOK_WRITES)
        self._array = None
        self.tensor = None

    def unpacked(self):
        result = self.hooks[1](self.packed)
        try:
            return result._array
        except AttributeError:
            raise TypeError(NOT_UNPACKED.format(type(result).__name__)) from None

# right: all inside the block, and a sentinel for the attribute
class SavedTensor:
    def pack(self, pack_hook, tensor):
        with having(grad_enabled, False):
            versions = [version_of(tensor)]
            packed = pack_hook(tensor)
            versions.append(version_of(tensor))
            if versions[0] != versions[1]:
                raise RuntimeError(PACK_HOOK_WRITES)
            self.remember_place()
            self.packed = packed
            self.tensor = self._array = None

    def unpacked(self):
        _, unpack = self.hooks
        found = unpack(self.packed)
        array = getattr(found, "_array", None)
        if array is None:
            raise TypeError(NOT_UNPACKED.format(type(found).__name__))
        return array

# right: the place by hand, and the version that the tensor shows
class SavedTensor:
    def pack(self, pack_hook, tensor):
        before = tensor._version
        with having(grad_enabled, False):
            answer = pack_hook(tensor)
        if tensor._version > before:
            raise RuntimeError(PACK_HOOK_WRITES)
        if self.tensor is not None and self.requires_grad:
            self.origin, _ = self.tensor._edge()
        self.packed = answer
        self._array, self.tensor = None, None

    def unpacked(self):
        tensor = self.hooks[-1](self.packed)
        if hasattr(tensor, "_array"):
            return tensor._array
        raise TypeError(NOT_UNPACKED.format(type(tensor).__name__))

# wrong 06_3_dropped_too_early: what was saved is dropped before the hook runs
class SavedTensor:
    def pack(self, pack_hook, tensor):
        self.remember_place()
        self.tensor = self._array = None
        before = version_of(tensor)
        with having(grad_enabled, False):
            self.packed = pack_hook(tensor)
        if version_of(tensor) != before:
            raise RuntimeError(PACK_HOOK_WRITES)

# wrong 06_3_another_tensor: the hook gets a detached tensor
class SavedTensor:
    def pack(self, pack_hook, tensor):
        before = version_of(tensor)
        with having(grad_enabled, False):
            packed = pack_hook(tensor.detach())
        if version_of(tensor) != before:
            raise RuntimeError(PACK_HOOK_WRITES)
        self.remember_place()
        self.packed, self.tensor, self._array = packed, None, None

# wrong 06_3_write_passes: the hook gets a copy that it may write to
class SavedTensor:
    def pack(self, pack_hook, tensor):
        with having(grad_enabled, False):
            packed = pack_hook(tensor.clone())
        self.remember_place()
        self.packed, self.tensor, self._array = packed, None, None

# wrong 06_3_earlier_write_refused: check says whether there was a write
class SavedTensor:
    def pack(self, pack_hook, tensor):
        with having(grad_enabled, False):
            packed = pack_hook(tensor)
        try:
            self.check(None)
        except RuntimeError:
            raise RuntimeError(PACK_HOOK_WRITES) from None
        self.remember_place()
        self.packed, self.tensor, self._array = packed, None, None

# wrong -: nothing packed, nothing to unpack
class SavedTensor:
    def unpacked(self):
        got = self.packed if self.packed is None else self.hooks[1](self.packed)
        if not hasattr(got, "_array"):
            raise TypeError(NOT_UNPACKED.format(type(got).__name__))
        return got._array

# wrong -: an array will do as well
class SavedTensor:
    def unpacked(self):
        got = self.hooks[1](self.packed)
        got = getattr(got, "_array", got)
        if not hasattr(got, "dtype"):
            raise TypeError(NOT_UNPACKED.format(type(got).__name__))
        return got

# wrong 06_3_held: the pack hook keeps the tensor, in what unpack is to be called with
class SavedTensor:
    def pack(self, pack_hook, tensor):
        before = version_of(tensor)
        with having(grad_enabled, False):
            packed = pack_hook(tensor)
        if version_of(tensor) != before:
            raise RuntimeError(PACK_HOOK_WRITES)
        self.remember_place()
        self.packed, self._array = packed, None
