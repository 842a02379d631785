class StrictArray:
    def __array__(self, *args, **kwargs):
        raise TypeError(NO_CONVERSION)

    def __bool__(self):
        if self.host.dtype.kind == "b":
            return bool(self.host)
        return self._refuse()

    def _refuse(self, *_):
        raise TypeError(HIDDEN_TRANSFER)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(self.host, name)
        return strict_function(found) if callable(found) else wrap(found)

# right: the host is asked whether it has the name
class StrictArray:
    def __getattr__(self, name):
        if name[:2] == "__" or not hasattr(self.host, name):
            raise AttributeError(f"'StrictArray' object has no attribute '{name}'")
        found = getattr(self.host, name)
        if callable(found):
            return strict_function(found)
        return wrap(found)

# right: the dtype is compared, and item reads the value
class StrictArray:
    def __bool__(self):
        if self.host.dtype != np.bool_:
            raise TypeError(HIDDEN_TRANSFER)
        return self.host.item()

# right: the truth value through the host
class StrictArray:
    def __bool__(self):
        if self.dtype.kind in "iufc":
            self._refuse()
        return self.host.__bool__()

# wrong -: all(), whatever the shape
class StrictArray:
    def __bool__(self):
        if self.host.dtype.kind != "b":
            self._refuse()
        return bool(self.host.all())

# wrong 12_5_any_truth_value: a number with the value 0 or 1 is an outcome
class StrictArray:
    def __bool__(self):
        if self.host.dtype.kind != "b" and self.host.item() not in (0, 1):
            self._refuse()
        return bool(self.host)

# wrong 12_5_value_read_silently: a single value may be read
class StrictArray:
    def _refuse(self, *_):
        if self.host.ndim == 0 and not _:
            return self.host.item()
        raise TypeError(HIDDEN_TRANSFER)

# wrong -: only the names of arrays are hidden
class StrictArray:
    def __getattr__(self, name):
        if name.startswith("__array") and name.endswith("__"):
            raise AttributeError(name)
        found = getattr(self.host, name)
        return strict_function(found) if callable(found) else wrap(found)

# wrong -: three of the names are hidden
class StrictArray:
    def __getattr__(self, name):
        if name in ("__array_interface__", "__array_struct__", "__complex__"):
            raise AttributeError(name)
        found = getattr(self.host, name)
        return strict_function(found) if callable(found) else wrap(found)

# wrong -: hidden names are refused as a transfer
class StrictArray:
    def __getattr__(self, name):
        if name.startswith("__"):
            raise TypeError(HIDDEN_TRANSFER)
        found = getattr(self.host, name)
        return strict_function(found) if callable(found) else wrap(found)

# wrong -: an unknown name is None
class StrictArray:
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(self.host, name, None)
        return strict_function(found) if callable(found) else wrap(found)

# wrong -: methods are those of the array's class
class StrictArray:
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if callable(getattr(np.ndarray, name)):
            return strict_function(getattr(np, name))
        return wrap(getattr(self.host, name))

# wrong -: an attribute is wrapped if it has a shape
class StrictArray:
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(self.host, name)
        if hasattr(found, "__call__"):
            return strict_function(found)
        return StrictArray(found) if hasattr(found, "shape") else found

# wrong -: methods are functions of Python that wrap what they return
class StrictArray:
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(self.host, name)
        return (lambda *args, **kwargs: wrap(found(*args, **kwargs))) if callable(found) else wrap(found)

# wrong -: an attribute is a copy
class StrictArray:
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(self.host, name)
        if callable(found):
            return strict_function(found)
        return wrap(found.copy() if isinstance(found, np.ndarray) else found)

# wrong 12_5_converts_silently: the host is returned if a dtype is asked for
class StrictArray:
    def __array__(self, *args, **kwargs):
        if kwargs.get("copy") is None:
            return self.host
        raise TypeError(NO_CONVERSION)

# wrong -: a conversion is refused as a hidden transfer
class StrictArray:
    def __array__(self, *args, **kwargs):
        return self._refuse()
