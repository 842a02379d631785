def strict(value):
    if isinstance(value, ModuleType):
        return StrictModule(value)
    if callable(value) and not isinstance(value, type):
        return strict_function(value)
    return value


class StrictBackend:
    def __getattr__(self, name):
        if name == "errstate":
            raise AttributeError(name)
        return strict(getattr(numpy_backend, name))

    def as_array(self, value):
        return value if isinstance(value, StrictArray) else StrictArray(np.asarray(value))

    def from_host(self, array):
        return StrictArray(array.copy("K"))

    def to_host(self, array):
        return array.host.copy("K")

# right: types first
def strict(value):
    if isinstance(value, type) or not (callable(value) or isinstance(value, ModuleType)):
        return value
    return (StrictModule if isinstance(value, ModuleType) else strict_function)(value)

# right: NumPy copies in the order of memory
class StrictBackend:
    def from_host(self, array):
        return StrictArray(np.array(array, order="K", copy=True))

    def to_host(self, array):
        return np.copy(array.host, order="K")

# right: an empty array is filled
class StrictBackend:
    def from_host(self, array):
        made = np.empty_like(array)
        made[...] = array
        return StrictArray(made)

    def to_host(self, array):
        made = np.empty_like(array.host, order="K")
        np.copyto(made, array.host)
        return made

# right: a number is wrapped
class StrictBackend:
    def as_array(self, value):
        if type(value) is StrictArray:
            return value
        return wrap(np.array(value))

# wrong 12_7_order_is_lost: the copy has the order of NumPy's function
class StrictBackend:
    def from_host(self, array):
        return StrictArray(array.copy())

    def to_host(self, array):
        return array.host.copy()

# wrong 12_7_order_is_lost: an array that is not contiguous is copied in the order of rows
class StrictBackend:
    def from_host(self, array):
        return StrictArray(array.copy("A"))

    def to_host(self, array):
        return array.host.copy("A")

# wrong 12_7_order_is_lost: columns if the transposed array is contiguous
class StrictBackend:
    def from_host(self, array):
        return StrictArray(array.T.copy().T)

    def to_host(self, array):
        return array.host.T.copy().T

# wrong 12_7_order_is_lost: to_host reads the values one by one
class StrictBackend:
    def to_host(self, array):
        return np.array(array.tolist(), dtype=array.host.dtype)

# wrong -: a ufunc alone is a function
def strict(value):
    if isinstance(value, ModuleType):
        return StrictModule(value)
    if isinstance(value, np.ufunc):
        return strict_function(value)
    return value

# wrong -: only NumPy's own types stay
def strict(value):
    if isinstance(value, ModuleType):
        return StrictModule(value)
    if isinstance(value, type) and issubclass(value, np.generic):
        return value
    return strict_function(value) if callable(value) else value

# wrong 12_7_constants_become_functions: numbers become arrays
def strict(value):
    if isinstance(value, ModuleType):
        return StrictModule(value)
    if isinstance(value, type):
        return value
    return strict_function(value) if callable(value) else wrap(np.asarray(value))

# wrong -: a module is its functions in a dictionary
def strict(value):
    if isinstance(value, ModuleType):
        module = ModuleType(value.__name__)
        module.__dict__.update({name: strict(each) for name, each in vars(value).items()
                                if not isinstance(each, ModuleType)})
        return module
    if callable(value) and not isinstance(value, type):
        return strict_function(value)
    return value

# wrong -: names come from NumPy itself
class StrictBackend:
    def __getattr__(self, name):
        if name == "errstate":
            raise AttributeError(name)
        return strict(getattr(np, name))

# wrong -: an unknown name is refused like errstate, with None
class StrictBackend:
    def __getattr__(self, name):
        if name == "errstate":
            raise AttributeError(name)
        return strict(getattr(numpy_backend, name, None))

# wrong -: everything that is no StrictArray crosses by copy, arrays of the host by their values
class StrictBackend:
    def as_array(self, value):
        return wrap(value)

# wrong -: arrays are taken as they are
class StrictBackend:
    def as_array(self, value):
        if isinstance(value, (StrictArray, np.ndarray)):
            return value
        return StrictArray(np.asarray(value))

# wrong -: a number becomes an array with one element
class StrictBackend:
    def as_array(self, value):
        return value if isinstance(value, StrictArray) else StrictArray(np.atleast_1d(value))
