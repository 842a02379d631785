"""The version of minigrad."""

__version__ = "0.1.0"

#: The CUDA version PyTorch would have been built for: minigrad is not built for one.
cuda: str | None = None
#: The same for AMD's and Intel's GPUs.
hip: str | None = None
rocm: str | None = None
xpu: str | None = None
debug = False
git_version = "unknown"
