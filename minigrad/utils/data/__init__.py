"""Data sets, samplers and loaders of batches.

With the same seed, the order equals PyTorch's.

Source: https://docs.pytorch.org/docs/stable/data.html
"""

from typing import TYPE_CHECKING

from ... import on_demand

if TYPE_CHECKING:
    from . import dataloader, dataset, sampler
    from .collate import default_collate, default_convert
    from .dataloader import DataLoader
    from .dataset import (
        ChainDataset,
        ConcatDataset,
        Dataset,
        IterableDataset,
        StackDataset,
        Subset,
        TensorDataset,
        random_split,
    )
    from .sampler import (
        BatchSampler,
        RandomSampler,
        Sampler,
        SequentialSampler,
        SubsetRandomSampler,
        WeightedRandomSampler,
    )
    from .workers import WorkerInfo, get_worker_info
else:
    __getattr__, __dir__ = on_demand.attributes(__name__)

__all__ = [
    "BatchSampler", "ChainDataset", "ConcatDataset", "DataLoader", "Dataset", "IterableDataset",
    "RandomSampler", "Sampler", "SequentialSampler", "StackDataset", "Subset",
    "SubsetRandomSampler", "TensorDataset", "WeightedRandomSampler", "WorkerInfo", "dataloader",
    "dataset", "default_collate", "default_convert", "get_worker_info", "random_split", "sampler",
]
