"""What grades a learner's code runs every taught step: break one, and the pass fails.

A generated function would go around a broken step, and a wrong answer would pass.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from minigrad_course.content.stages import find_stage
from minigrad_course.grading.bundle import make_bundle

#: The module and the name of each step from `x * y` to `x.grad`.
STEPS = [
    "op.apply:prepare", "op.apply:forward", "op.apply:record", "op.apply:wrap",
    "op.node:OpNode.save", "op.node:OpNode.run", "op.node:OpNode.release",
    "graph.node:BinaryNode.set_edges", "graph.saved_tensor:SavedTensor.unpack_array",
    "engine.engine:execute", "engine.graph_task:GraphTask.count_dependencies",
    "engine.graph_task:GraphTask.run", "engine.graph_task:GraphTask.in_turn",
    "engine.graph_task:GraphTask.evaluate", "engine.graph_task:GraphTask.route_gradients",
    "engine.graph_task:GraphTask.add_to_buffer", "engine.input_buffer:InputBuffer.add",
    "engine.validate:validate_outputs", "graph.accumulate_grad:AccumulateGrad.accumulate",
]

PROGRAM = """
import importlib, sys
import minigrad as torch

def gradient():
    x, y = (torch.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
    (x * y).sum().backward()
    return x.grad.tolist()

class Broken(Exception):
    pass

def broken(*args, **kwargs):
    raise Broken

assert not any(name.startswith("minigrad.codegen") for name in sys.modules)
for step in sys.argv[1:]:
    assert gradient() == [1.0, 2.0]
    module, _, path = step.partition(":")
    *owner, name = path.split(".")
    holder = importlib.import_module(f"minigrad.{module}")
    for each in owner:
        holder = getattr(holder, each)
    whole = getattr(holder, name)
    holders = [holder] if owner else [m for n, m in list(sys.modules.items()) if n.startswith(
        "minigrad.") and vars(m).get(name) is whole]
    for each in holders:
        setattr(each, name, broken)
    try:
        gradient()
    except Broken:
        pass
    else:
        print(step)
    for each in holders:
        setattr(each, name, whole)
"""


@pytest.mark.parametrize("stage", ["03", "04d", "04e"])
def test_a_graded_process_runs_each_taught_step(stage, tmp_path):
    bundle = make_bundle(find_stage(stage), None, tmp_path / "bundle")
    ran = subprocess.run([sys.executable, "-c", PROGRAM, *STEPS], capture_output=True, text=True,
                         env={"PYTHONPATH": str(bundle / "site"), "MINIGRAD_GENERIC": "1"},
                         timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == "", f"these steps were not run: {ran.stdout.split()}"
