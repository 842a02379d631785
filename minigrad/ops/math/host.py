"""Functions that run only on NumPy arrays: arrays on a GPU are copied to the CPU and back."""


def of_host(function):
    """Return a `forward` that calls a function of one NumPy array."""
    return staticmethod(lambda xp, self: xp.from_host(function(xp.to_host(self))))


def of_host_pair(function):
    """Return a `forward` that calls a function of two NumPy arrays."""
    return staticmethod(lambda xp, self, other: xp.from_host(
        function(xp.to_host(self), xp.to_host(other))))
