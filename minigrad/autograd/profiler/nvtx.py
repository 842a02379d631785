"""A recorder that only marks ranges for NVIDIA's profilers.

Source: https://docs.pytorch.org/docs/stable/generated/torch.autograd.profiler.emit_nvtx.html
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...graph.node import Node
from ...op.declaration import Op
from .recorder import FUNCTION, name_of, node_name, shape_of


class NvtxRecorder:
    """Opens and closes an NVTX range for each event; see `Recorder`."""

    quick = False  # a range must be opened before its work

    def __init__(self, nvtx: Any, shapes: bool = False) -> None:
        self.push, self.pop = nvtx.RangePush, nvtx.RangePop
        self.shapes = shapes
        self.next_sequence = 0  # one more than the last node's number

    def begin(self, name: str, inputs: Sequence[Any] = (), sequence: int = -1) -> None:
        """Open a range inside the current one."""
        if sequence >= 0:
            name += f", seq = {sequence}"
        if self.shapes and inputs:
            name += f", sizes = {[list(shape_of(value)) for value in inputs]}"
        self.push(name)

    def finish(self, event: None) -> None:
        """Close the innermost range."""
        self.pop()

    def call(self, name: str, inputs: Sequence[Any], function: Callable[..., Any], *args: Any,
             **kwargs: Any) -> Any:
        """Return `function(*args, **kwargs)`, called in a range."""
        self.begin(name, inputs=inputs, sequence=self.next_sequence)
        try:
            return function(*args, **kwargs)
        finally:
            self.pop()

    def op(self, op: type[Op], values: list[Any], proceed: Callable[..., Any]) -> Any:
        """Apply an op in a range, with the sequence number of its node, if it gets one."""
        return self.call(name_of((op, ""), FUNCTION), values, proceed, op, values)

    def inplace(self, op: type[Op], values: list[Any], before: Any,
                proceed: Callable[..., Any]) -> Any:
        """Apply an op in place, in a range."""
        return self.call(name_of((op, "_"), FUNCTION), values, proceed, op, values, before)

    def node(self, node: Node, grads: Sequence[Any], apply: Callable[..., Any], *args: Any) -> Any:
        """Run a node in a range."""
        self.begin(node_name(type(node)), inputs=grads,
                   sequence=node.sequence if node.sequence < 1 << 60 else -1)
        try:
            return apply(*args)
        finally:
            self.pop()

    def made(self, node: Node) -> None:
        """Store the next sequence number."""
        self.next_sequence = max(self.next_sequence, node.sequence + 1)
