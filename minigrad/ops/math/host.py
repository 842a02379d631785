"""Functions that only NumPy arrays have: on a device the arrays go to the host and back."""


def of_host(function):
    """Return the `forward` that calls a function of one NumPy array."""
    return staticmethod(lambda xp, self: xp.from_host(function(xp.to_host(self))))


def of_host_pair(function):
    """Return the `forward` that calls a function of two NumPy arrays."""
    return staticmethod(lambda xp, self, other: xp.from_host(
        function(xp.to_host(self), xp.to_host(other))))
