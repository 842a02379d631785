"""`torch.nn.parallel`: run a module on a device; minigrad splits no batch over several."""

from .data_parallel import DataParallel, data_parallel

__all__ = ["DataParallel", "data_parallel"]
