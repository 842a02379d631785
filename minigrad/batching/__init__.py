"""Batches: run ops on many values of one shape at once, for `vmap` and batched backward passes."""

from .array import BatchedArray, NotBatchable, batched, examples, level_of, next_level, vmaps
from .backend import BatchedBackend
from .dispatch import DECOMPOSED, RULES, SLOW, Call, rule_of
from .table import without_rule

__all__ = ["DECOMPOSED", "RULES", "SLOW", "BatchedArray", "BatchedBackend", "Call",
           "NotBatchable", "batched", "examples", "level_of", "next_level", "rule_of",
           "vmaps", "without_rule"]
