"""`torch.nn.parallel`: run a module on a device; minigrad never splits a batch over several."""

from typing import TYPE_CHECKING

from ... import on_demand

if TYPE_CHECKING:
    from .data_parallel import DataParallel, data_parallel
else:
    __getattr__, __dir__ = on_demand.attributes(__name__)

__all__ = ["DataParallel", "data_parallel"]
