"""The GPUs of the machine, and the current one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from ..backend import DEVICES
from ..device import as_device, backend_for
from ..device import device as Device

Where = Device | str | int | None


def backend() -> Any:
    """Return the CUDA backend, or raise `RuntimeError` if it is not available."""
    return backend_for("cuda")


def index_of(where: Where) -> int:
    """Return the number of a GPU; `None` and plain "cuda" mean the current one."""
    chosen = None if where is None else as_device(where)
    if chosen is not None and chosen.type != "cuda":
        raise ValueError(f"Expected a cuda device, but got: {chosen}")
    if chosen is None or chosen.index is None:
        return int(backend().current_device())
    if not 0 <= chosen.index < backend().device_count():
        raise AssertionError("Invalid device id")
    return chosen.index


def is_available() -> bool:
    """Return whether tensors can be on a GPU.

    >>> isinstance(is_available(), bool)
    True
    """
    return device_count() > 0


def device_count() -> int:
    """Return the number of GPUs; 0 if CuPy or the driver is missing.

    >>> from minigrad import cuda
    >>> [cuda.device(index).index for index in range(cuda.device_count())]  # [] without a GPU
    [...]
    """
    try:
        found = backend()
    except RuntimeError:
        return 0
    return int(found.device_count())


def is_initialized() -> bool:
    """Return whether a GPU has been used.

    >>> from minigrad import cuda, zeros
    >>> if cuda.is_available():
    ...     x = zeros(2, device="cuda")
    >>> cuda.is_initialized() == cuda.is_available()
    True
    """
    return "cuda" in DEVICES


def init() -> None:
    """Look for GPUs now; raise `RuntimeError` if no GPU is found.

    >>> from minigrad import cuda
    >>> if cuda.is_available():
    ...     cuda.init()
    >>> cuda.is_initialized() == cuda.is_available()
    True
    """
    backend()


def current_device() -> int:
    """Return the number of the current GPU, on which new tensors are created.

    >>> from minigrad import cuda
    >>> cuda.current_device() if cuda.is_available() else 0
    0
    """
    return int(backend().current_device())


def set_device(device: Where) -> None:
    """Make another GPU the current one.

    >>> from minigrad import cuda
    >>> for index in range(cuda.device_count()):
    ...     cuda.set_device(index); assert cuda.current_device() == index
    >>> if cuda.is_available():
    ...     cuda.set_device(0)
    """
    backend().cuda.Device(index_of(device)).use()


class device:
    """Make another GPU the current one in a `with` block; a no-op for `None`.

    >>> from minigrad import cuda, zeros
    >>> for index in range(cuda.device_count()):
    ...     with cuda.device(index):
    ...         assert zeros(2, device="cuda").get_device() == index
    >>> with cuda.device(None):
    ...     zeros(2).device
    device(type='cpu')
    """

    def __init__(self, device: Where) -> None:
        self.index = -1 if device is None else index_of(device)
        self._before: list[int] = []

    def __enter__(self) -> None:
        self._before.append(current_device() if self.index >= 0 else -1)
        if self.index >= 0:
            set_device(self.index)

    def __exit__(self, *exc: object) -> None:
        before = self._before.pop()
        if before >= 0:
            set_device(before)


class device_of(device):
    """Make a tensor's GPU the current one in a `with` block; a no-op for a CPU tensor.

    >>> from minigrad import cuda, zeros
    >>> x = zeros(2, device="cuda" if cuda.is_available() else "cpu")
    >>> with cuda.device_of(x):  # a tensor made here with device="cuda" is on the GPU of x
    ...     y = x + 1
    >>> y.device == x.device
    True
    """

    def __init__(self, obj: Any) -> None:
        super().__init__(obj.get_device() if obj.is_cuda else None)


def get_device_properties(device: Where = None) -> SimpleNamespace:
    """Return name, capability (`major`, `minor`), memory and multiprocessors of a GPU.

    >>> from minigrad import cuda
    >>> for index in range(cuda.device_count()):
    ...     found = cuda.get_device_properties(index)
    ...     assert (found.major, found.minor) == cuda.get_device_capability(index)
    """
    found = backend().device_properties(index_of(device))
    name = found["name"]
    return SimpleNamespace(name=name.decode() if isinstance(name, bytes) else str(name),
                           major=int(found["major"]), minor=int(found["minor"]),
                           total_memory=int(found["totalGlobalMem"]),
                           multi_processor_count=int(found["multiProcessorCount"]))


def get_device_name(device: Where = None) -> str:
    """Return the name of a GPU.

    >>> from minigrad import cuda
    >>> names = [cuda.get_device_name(index) for index in range(cuda.device_count())]
    >>> len(names) == cuda.device_count()  # such as ["NVIDIA H100 80GB HBM3"], or []
    True
    """
    return str(get_device_properties(device).name)


def get_device_capability(device: Where = None) -> tuple[int, int]:
    """Return the compute capability of a GPU.

    >>> from minigrad import cuda
    >>> cuda.get_device_capability() > (3, 0) if cuda.is_available() else True  # an H100 has (9, 0)
    True
    """
    found = get_device_properties(device)
    return found.major, found.minor


def is_bf16_supported() -> bool:
    """Return False, because minigrad does not support bfloat16 on any GPU.

    >>> from minigrad import cuda
    >>> cuda.is_bf16_supported()
    False
    """
    return False

