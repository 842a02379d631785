"""`torch.storage`: the memory of tensors.

Source: https://docs.pytorch.org/docs/stable/storage.html
"""

from .ops.shape.storages import TypedStorage, UntypedStorage

__all__ = ["TypedStorage", "UntypedStorage"]
