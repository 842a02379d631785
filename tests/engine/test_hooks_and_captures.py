"""The order of a node's hooks and of the capture of its gradient."""

import numpy as np
import pytest

import minigrad as torch
from minigrad.engine.graph_task import GraphTask
from minigrad.engine.input_buffer import InputBuffer
from minigrad.graph.node import GraphRoot


def leaf(values):
    return torch.tensor(values, requires_grad=True)


class Capturing(GraphTask):
    """A pass that notes what it captures; `ends` is the node that does not run."""

    def __init__(self, node, order, ends):
        super().__init__(False, False)
        self.order, self.ends = order, ends
        self.captures[node] = {0: [0]}
        self.nodes_to_execute = {node} if ends else None

    def capture(self, node, grads):
        self.order.append(("captured", grads[0].tolist()))

    def runs(self, node):
        return not (self.ends and node in self.captures)


def captured_with_a_hook(ends):
    """What happens in which order to a captured node with a hook that gives ten times as much."""
    order, x = [], leaf([1.0])
    y = x * 2.0

    def hook(g):
        order.append(("hook", g.tolist()))
        return g * 10

    y.register_hook(hook)
    task = Capturing(y.grad_fn, order, ends)
    root = GraphRoot([y._edge()], [np.ones(1, np.float32)])
    task.count_dependencies(root)
    task.run(root)
    return order, x.grad


def test_a_captured_node_that_runs_is_captured_before_its_hooks():
    order, grad = captured_with_a_hook(False)
    assert order == [("captured", [1.0]), ("hook", [1.0])], f"got {order}"
    assert grad.tolist() == [20.0], f"expected [20], got {grad}"


def test_a_captured_node_that_does_not_run_is_captured_after_its_hooks():
    order, grad = captured_with_a_hook(True)
    assert order == [("hook", [1.0]), ("captured", [10.0])], f"got {order}"
    assert grad is None, "a node that does not run handed something out"


@pytest.mark.parametrize("ends", [False, True], ids=["goes on", "ends"])
def test_goes_on_tells_whether_the_node_runs(ends):
    node, buffer = (leaf([1.0]) * 2.0).grad_fn, InputBuffer(1)
    buffer.grads[0] = np.ones(1, np.float32)
    assert Capturing(node, [], ends).run_hooks_and_capture(node, buffer) is not ends
    runs = GraphTask(False, False).run_hooks_and_capture(node, buffer)
    assert runs, "without inputs every node runs"
