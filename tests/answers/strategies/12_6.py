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
