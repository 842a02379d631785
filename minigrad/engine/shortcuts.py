"""Shorter ways to run a backward pass, for `fast/` to register; without it the engine runs all.

Each is None, or a function that returns False or None when the engine must run the pass instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: `run_task(task, root)` runs a whole pass and returns True, or returns False before it begins.
run_task: Callable[[Any, Any], bool] | None = None
#: `gradients_at(edges, grads, inputs, retain_graph, create_graph, batched)` returns the gradients
#: that arrive at the edges `inputs`, or None.
gradients_at: Callable[..., list[Any] | None] | None = None
#: `jacobian_rows(output, inputs)` returns, for each input, the rows of the jacobian of one output
#: as one tensor (None where nothing depends on the input), or None in place of the list.
jacobian_rows: Callable[[Any, Any], list[Any] | None] | None = None
