"""The version of minigrad."""

__version__ = "0.1.0"

#: The CUDA version PyTorch would have been built for: minigrad is not built for one.
cuda = None
