def unwrap(value):
    if isinstance(value, StrictArray):
        return value.host
    if isinstance(value, np.ndarray):
        raise TypeError(MIXED)
    if isinstance(value, dict):
        return {key: unwrap(each) for key, each in value.items()}
    if type(value) in (tuple, list):
        return type(value)([unwrap(each) for each in value])
    return value


def wrap(value):
    if isinstance(value, (np.ndarray, np.generic)):
        return StrictArray(np.asarray(value))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[wrap(each) for each in value])
    if isinstance(value, (tuple, list)):
        return type(value)([wrap(each) for each in value])
    return value

# right: one walk with a function for the leaves
def mapped(leaf, value):
    if isinstance(value, dict):
        return {key: mapped(leaf, each) for key, each in value.items()}
    if hasattr(value, "_fields"):
        return type(value)(*(mapped(leaf, each) for each in value))
    if isinstance(value, (tuple, list)):
        return type(value)(mapped(leaf, each) for each in value)
    return leaf(value)

def unwrapped(value):
    if isinstance(value, np.ndarray):
        raise TypeError(MIXED)
    return value.host if isinstance(value, StrictArray) else value

def wrapped(value):
    if isinstance(value, np.generic):
        value = np.asarray(value)
    return StrictArray(value) if isinstance(value, np.ndarray) else value

def unwrap(value):
    return mapped(unwrapped, value)

def wrap(value):
    return mapped(wrapped, value)

# right: a match statement
def unwrap(value):
    match value:
        case StrictArray():
            return value.host
        case np.ndarray():
            raise TypeError(MIXED)
        case list():
            return [unwrap(each) for each in value]
        case tuple():
            return tuple(unwrap(each) for each in value)
        case dict():
            return dict(zip(value, map(unwrap, value.values())))
    return value

def wrap(value):
    match value:
        case np.generic():
            return StrictArray(np.array(value))
        case np.ndarray():
            return StrictArray(value)
        case list():
            return [wrap(each) for each in value]
        case tuple() if hasattr(value, "_fields"):
            return type(value)(*(wrap(each) for each in value))
        case tuple():
            return tuple(wrap(each) for each in value)
    return value

# right: the recursion of a list serves the others
def unwrap(value):
    if isinstance(value, list):
        return list(map(unwrap, value))
    if isinstance(value, tuple):
        return tuple(unwrap(list(value)))
    if isinstance(value, dict):
        return {key: unwrap(value[key]) for key in value}
    if type(value) is np.ndarray:
        raise TypeError(MIXED)
    return getattr(value, "host", value) if type(value) is StrictArray else value

# right: a named tuple by its own method
def wrap(value):
    if hasattr(value, "_replace"):
        return value._replace(**{name: wrap(each) for name, each in value._asdict().items()})
    if isinstance(value, (list, tuple)):
        return value.__class__(map(wrap, value))
    if isinstance(value, np.generic):
        return StrictArray(np.array(value, dtype=value.dtype))
    return StrictArray(value) if isinstance(value, np.ndarray) else value

# wrong -: whatever has a host is a StrictArray, and the rest is only looked at on the outside
def unwrap(value):
    if hasattr(value, "host"):
        return value.host
    if isinstance(value, np.ndarray):
        raise TypeError(MIXED)
    if isinstance(value, dict):
        return {key: getattr(each, "host", each) for key, each in value.items()}
    if type(value) in (tuple, list):
        return type(value)([unwrap(each) for each in value])
    return value

# wrong -: NumPy's scalars are plain arrays too
def unwrap(value):
    if isinstance(value, StrictArray):
        return value.host
    if isinstance(value, (np.ndarray, np.generic)):
        raise TypeError(MIXED)
    if isinstance(value, dict):
        return {key: unwrap(each) for key, each in value.items()}
    if type(value) in (tuple, list):
        return type(value)([unwrap(each) for each in value])
    return value

# wrong 12_4_plain_arrays_pass: a plain array is refused only where a strict one meets it
def unwrap(value):
    if isinstance(value, StrictArray):
        return value.host
    if isinstance(value, dict):
        return {key: unwrap(each) for key, each in value.items()}
    if type(value) in (tuple, list):
        kinds = {type(each) for each in value}
        if StrictArray in kinds and np.ndarray in kinds:
            raise TypeError(MIXED)
        return type(value)([unwrap(each) for each in value])
    return value

# wrong -: lists are unwrapped in place
def unwrap(value):
    if isinstance(value, StrictArray):
        return value.host
    if isinstance(value, np.ndarray):
        raise TypeError(MIXED)
    if isinstance(value, list):
        for i, each in enumerate(value):
            value[i] = unwrap(each)
        return value
    if isinstance(value, tuple):
        return tuple(unwrap(list(value)))
    if isinstance(value, dict):
        for key in value:
            value[key] = unwrap(value[key])
    return value

# wrong -: whatever can be walked through is a sequence
def unwrap(value):
    if isinstance(value, StrictArray):
        return value.host
    if isinstance(value, np.ndarray):
        raise TypeError(MIXED)
    if isinstance(value, dict):
        return {key: unwrap(each) for key, each in value.items()}
    try:
        return type(value)([unwrap(each) for each in value])
    except TypeError:
        return value

# wrong -: the list becomes one array
def unwrap(value):
    if isinstance(value, StrictArray):
        return value.host
    if isinstance(value, np.ndarray):
        raise TypeError(MIXED)
    if isinstance(value, dict):
        return {key: unwrap(each) for key, each in value.items()}
    if isinstance(value, (tuple, list)):
        parts = [unwrap(each) for each in value]
        if parts and all(isinstance(each, np.ndarray) for each in parts):
            return np.array(parts)
        return type(value)(parts)
    return value

# wrong -: numbers of Python become arrays inside a named tuple
def wrap(value):
    if isinstance(value, (np.ndarray, np.generic)):
        return StrictArray(np.asarray(value))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[StrictArray(np.asarray(each)) for each in value])
    if isinstance(value, (tuple, list)):
        return type(value)([wrap(each) for each in value])
    return value

# wrong -: NumPy's numbers alone are scalars, and its bools are not
def wrap(value):
    if isinstance(value, (np.ndarray, np.number)):
        return StrictArray(np.asarray(value))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[wrap(each) for each in value])
    if isinstance(value, (tuple, list)):
        return type(value)([wrap(each) for each in value])
    return value

# wrong -: a scalar by its value, in NumPy's default dtype
def wrap(value):
    if isinstance(value, np.generic):
        return StrictArray(np.array(value.item()))
    if isinstance(value, np.ndarray):
        return StrictArray(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[wrap(each) for each in value])
    if isinstance(value, (tuple, list)):
        return type(value)([wrap(each) for each in value])
    return value

# wrong -: an array that is contiguous
def wrap(value):
    if isinstance(value, (np.ndarray, np.generic)):
        return StrictArray(np.ascontiguousarray(value))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[wrap(each) for each in value])
    if isinstance(value, (tuple, list)):
        return type(value)([wrap(each) for each in value])
    return value

# wrong -: what has a dtype is an array, types and strict arrays too
def wrap(value):
    if hasattr(value, "dtype"):
        return StrictArray(np.asarray(getattr(value, "host", value)))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[wrap(each) for each in value])
    if isinstance(value, (tuple, list)):
        return type(value)([wrap(each) for each in value])
    return value
