"""The examples of the source documents for `functional`, anomaly mode, profiler and engine object.

They go on where `test_documents.py` stops, and run on PyTorch in the same way.
"""

from __future__ import annotations

import re

import pytest

from tests.docs.test_documents import (
    F,
    autograd,
    leaf,
    mean_of_scaled_square,
    nn,
    run_faulty,
    spelt,
    torch,
)

# --- The article: jacobian and hessian ----------------


def sum_of_squares(vector):
    return torch.sum(vector**2)


def test_jacobian_and_hessian_of_a_scalar():
    torch.manual_seed(1)
    vector = torch.randn(4, requires_grad=True)
    slope = autograd.functional.jacobian(sum_of_squares, vector)
    assert slope.shape == (4,) and torch.all(slope == 2 * vector)
    curvature = autograd.functional.hessian(sum_of_squares, vector)
    assert curvature.shape == (4, 4) and torch.all(curvature == 2 * torch.eye(4))


def test_jacobian_of_a_layer_is_its_weight():
    torch.manual_seed(1)
    layer = nn.Linear(4, 2)
    linear = autograd.functional.jacobian(layer, torch.randn(4, requires_grad=True))
    assert linear.shape == (2, 4) and torch.all(linear == layer.weight)


def test_jacobian_of_matrices_has_the_shapes_of_both():
    def squared_pool(matrix):
        pooled = F.avg_pool2d(matrix.reshape((1, 1, *matrix.shape)), 2)
        return pooled.reshape(pooled.shape[2:]) ** 2

    matrix = torch.arange(16.0).reshape(4, 4).requires_grad_()
    slope = autograd.functional.jacobian(squared_pool, matrix)
    assert slope.shape == (2, 2, 4, 4)
    # d(mean^2) = 2 * mean / 4 on the four elements of the window, 0 elsewhere
    assert slope[0, 0].tolist() == [[1.25, 1.25, 0, 0], [1.25, 1.25, 0, 0], [0] * 4, [0] * 4]


def test_several_inputs_and_outputs():
    def both(first, second):
        return first * second, first + 2 * second

    first, second = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 5.0])
    (by_first, by_second), (one, two) = autograd.functional.jacobian(both, (first, second))
    assert by_first.tolist() == [[3.0, 0.0], [0.0, 5.0]]
    assert by_second.tolist() == [[1.0, 0.0], [0.0, 2.0]]
    assert one.tolist() == [[1.0, 0.0], [0.0, 1.0]] and two.tolist() == [[2.0, 0.0], [0.0, 2.0]]
    curvature = autograd.functional.hessian(lambda a, b: (a * b).sum(), (first, second))
    assert curvature[0][1].tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert curvature[0][0].tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_hessian_wants_a_scalar():
    with pytest.raises(RuntimeError, match="single element"):
        autograd.functional.hessian(lambda v: v**2, torch.ones(2))


def test_the_manuals_lambda_captures_what_is_constant():
    def power(point, exponent, flag=False):
        return point**exponent if flag else point

    exponent = torch.tensor(3.0)
    slope = autograd.functional.jacobian(
        lambda point: power(point, exponent, flag=True), torch.tensor([2.0])
    )
    assert slope.tolist() == [[12.0]]


# --- The article: anomaly mode ----------------


@pytest.mark.parametrize(
    "switch_on",
    [lambda: autograd.detect_anomaly(), lambda: autograd.set_detect_anomaly(True)],
    ids=["detect_anomaly", "set_detect_anomaly"],
)
def test_anomaly_mode_shows_the_forward_call(switch_on):
    signal = torch.rand(10, 10, requires_grad=True)
    with (
        pytest.warns(UserWarning) as caught,
        pytest.raises(RuntimeError, match=r"^Some error in backward$"),
        switch_on(),
    ):
        run_faulty(signal).backward()
    (report,) = (str(w.message) for w in caught if "Traceback" in str(w.message))
    # The name of the node, and files and lines of their own: errata 14
    assert report.startswith("Error detected in FaultyBackward. Traceback of forward call that")
    assert re.search(r'File ".*test_documents.*", line \d+, in run_faulty\n', report)
    assert "return Faulty.apply(signal).sum()" in report


# --- The article: profiler ----------------


def test_profiler_counts_functions_forward_and_backward(rounds=5):
    network = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(), nn.MaxPool2d(2))
    image = torch.rand(1, 1, 8, 8, requires_grad=True)
    with autograd.profiler.profile() as record:
        for _ in range(rounds):
            torch.sum(network(image)).backward()  # lost in the English copy: errata 16
    averages = record.key_averages()
    calls = {event.key: event.count for event in averages}
    for name in ("SumBackward0", "ReluBackward0", "NativeBatchNormBackward",
                 "MaxPool2DWithIndicesBackward", "aten::sum", "aten::conv2d", "aten::relu"):
        assert calls[spelt(name)] >= rounds
    assert calls["SumBackward0"] == rounds
    assert calls["torch::autograd::AccumulateGrad"] == rounds * 5  # image and four parameters

    table = averages.table(sort_by="self_cpu_time_total")
    for heading in ("Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg",
                    "# of Calls", "Self CPU time total: "):
        assert heading in table
    times = [event.self_cpu_time_total for event in averages]
    in_table = sorted(zip(times, calls, strict=True), reverse=True)
    assert table.index(in_table[0][1][:40]) < table.index(in_table[-1][1][:40])


# --- The C++ article: the engine object ----------------


def test_run_backward_of_the_engine():
    source, *_, mean = mean_of_scaled_square()
    engine = autograd.Variable._execution_engine
    # The article's fifth argument has moved: errata 23
    with pytest.raises(RuntimeError, match="inputs to run_backward must be a tuple"):
        engine.run_backward((mean,), (torch.tensor(1.0),), False, False, True)
    engine.run_backward(
        (mean,), (torch.tensor(1.0),), False, False, (),
        allow_unreachable=True, accumulate_grad=True,
    )
    assert source.grad.tolist() == [[4.5, 4.5], [4.5, 4.5]]


# --- The manual's page: Variable ----------------


def test_variable_is_a_tensor():
    """The page's guide to what changed is missing from our copy; this is what it says."""
    made = autograd.Variable(torch.ones(2), requires_grad=True)
    assert type(made) is torch.Tensor and made.requires_grad
    assert isinstance(leaf([1.0]), autograd.Variable)
