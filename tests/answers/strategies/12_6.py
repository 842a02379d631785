class strict_function:
    def __call__(self, *args, **kwargs):
        return wrap(self.function(*unwrap(args), **unwrap(kwargs)))

    def __getattr__(self, name):
        refuse_missing(self.function, name)
        return strict_function(getattr(self.function, name))

# right: the host's own methods
class StrictArray:
    def __getitem__(self, key):
        return wrap(self.host.__getitem__(unwrap(key)))

    def __setitem__(self, key, value):
        self.host.__setitem__(unwrap(key), unwrap(value))

# wrong 12_6_numbers_are_no_arrays: what indexing returns is put into a StrictArray as it is
class StrictArray:
    def __getitem__(self, key):
        return StrictArray(self.host[unwrap(key)])

    def __setitem__(self, key, value):
        self.host[unwrap(key)] = unwrap(value)

# wrong 12_6_place_stays_wrapped: the value is unwrapped, but not the key
class StrictArray:
    def __getitem__(self, key):
        return wrap(self.host[unwrap(key)])

    def __setitem__(self, key, value):
        self.host[key] = unwrap(value)

# right: the operator module's functions, made strict
class StrictArray:
    def __getitem__(self, key):
        return strict_function(operator.getitem)(self, key)

    def __setitem__(self, key, value):
        strict_function(operator.setitem)(self, key, value)

# right: what goes in is unwrapped as one list
class strict_function:
    def __call__(self, *args, **kwargs):
        plain, names = unwrap([list(args), kwargs])
        result = self.function(*plain, **names)
        return wrap(result)

    def __getattr__(self, name):
        refuse_missing(self.function, name)
        found = getattr(self.function, name)
        return type(self)(found)

class StrictArray:
    def __getitem__(self, key):
        return wrap(self.host[unwrap(key)])

    def __setitem__(self, key, value):
        np.ndarray.__setitem__(self.host, unwrap(key), unwrap(value))

# wrong -: a single element is always an array without dimensions, in a new memory
class StrictArray:
    def __getitem__(self, key):
        return wrap(np.array(self.host[unwrap(key)]))

    def __setitem__(self, key, value):
        self.host[unwrap(key)] = unwrap(value)

# wrong -: a function's result is wrapped only if an array went in
class strict_function:
    def __call__(self, *args, **kwargs):
        result = self.function(*unwrap(args), **unwrap(kwargs))
        return wrap(result) if any(isinstance(each, StrictArray) for each in args) else result

class StrictArray:
    def __getitem__(self, key):
        return wrap(self.host[unwrap(key)])

    def __setitem__(self, key, value):
        self.host[unwrap(key)] = unwrap(value)

# wrong -: an array given as out is returned wrapped anew, and the others are converted
class strict_function:
    def __call__(self, *args, **kwargs):
        out = kwargs.pop("out", None)
        result = self.function(*unwrap(args), **unwrap(kwargs))
        if out is not None:
            out.host = np.asarray(result)
            return out
        return wrap(result)

class StrictArray:
    def __getitem__(self, key):
        return wrap(self.host[unwrap(key)])

    def __setitem__(self, key, value):
        self.host[unwrap(key)] = unwrap(value)

# wrong -: only reduce and accumulate are strict functions
class strict_function:
    def __getattr__(self, name):
        refuse_missing(self.function, name)
        found = getattr(self.function, name)
        return strict_function(found) if name in ("reduce", "accumulate") else found

class StrictArray:
    def __getitem__(self, key):
        return wrap(self.host[unwrap(key)])

    def __setitem__(self, key, value):
        self.host[unwrap(key)] = unwrap(value)

# wrong 12_6_more_than_a_gpu_has: refuse_missing is asked when the attribute is called
class strict_function:
    def __getattr__(self, name):
        def later(*args, **kwargs):
            refuse_missing(self.function, name)
            return getattr(self.function, name)(*args, **kwargs)
        return strict_function(later)

class StrictArray:
    def __getitem__(self, key):
        return wrap(self.host[unwrap(key)])

    def __setitem__(self, key, value):
        self.host[unwrap(key)] = unwrap(value)
