def register(backend):
    BACKENDS[backend.array_type] = backend
    DEVICES[backend.device_type] = backend


def backend_of(array):
    try:
        return BACKENDS[type(array)]
    except KeyError:
        raise TypeError(f"no backend supports arrays of type {type(array).__name__}") from None

# right: the tables are updated
def register(backend):
    BACKENDS.update({backend.array_type: backend})
    DEVICES.update({backend.device_type: backend})

# right: the types are gone through
def backend_of(array):
    for kind, found in BACKENDS.items():
        if kind is type(array):
            return found
    raise TypeError(f"no backend supports arrays of type {array.__class__.__name__}")

# right: it is asked whether the type is there
def backend_of(array):
    kind = type(array)
    if kind not in BACKENDS:
        raise TypeError("no backend supports arrays of type " + kind.__name__)
    return BACKENDS[kind]

# wrong -: the earlier backend of the same device leaves the table of types
def register(backend):
    earlier = DEVICES.get(backend.device_type)
    if earlier is not None:
        BACKENDS.pop(earlier.array_type, None)
    BACKENDS[backend.array_type] = backend
    DEVICES[backend.device_type] = backend

# wrong 12_1_takes_subclasses: the classes of the type, the nearest first
def backend_of(array):
    for kind in type(array).__mro__:
        if kind in BACKENDS:
            return BACKENDS[kind]
    raise TypeError(f"no backend supports arrays of type {type(array).__name__}")

# wrong -: the device's backends are asked for their type of arrays
def backend_of(array):
    for found in DEVICES.values():
        if found.array_type is type(array):
            return found
    raise TypeError(f"no backend supports arrays of type {type(array).__name__}")

# wrong -: types are compared by name
def backend_of(array):
    for kind, found in BACKENDS.items():
        if kind.__name__ == type(array).__name__:
            return found
    raise TypeError(f"no backend supports arrays of type {type(array).__name__}")

# wrong 12_1_takes_subclasses: what looks like an array of the CPU is one
def backend_of(array):
    if hasattr(array, "__array_interface__"):
        return numpy_backend
    if type(array) in BACKENDS:
        return BACKENDS[type(array)]
    raise TypeError(f"no backend supports arrays of type {type(array).__name__}")
