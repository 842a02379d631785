"""`utils.tensorboard`: read again by TensorBoard itself, or one sentence if it is missing."""

from __future__ import annotations

import sys
from typing import Any

import pytest

import minigrad as torch


def test_without_the_package_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    monkeypatch.setitem(sys.modules, "tensorboard.compat.proto", None)
    from minigrad.utils.tensorboard import SummaryWriter

    with pytest.raises(ModuleNotFoundError, match="needs the package tensorboard, which is not "
                                                  "installed: pip install tensorboard"):
        SummaryWriter()


@pytest.fixture
def events(tmp_path) -> Any:
    pytest.importorskip("tensorboard", reason="it is what writes and reads the events")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    def read(folder: str = "") -> Any:
        return EventAccumulator(str(tmp_path / folder)).Reload()

    return read


def test_tensorboard_reads_what_is_written(events, tmp_path):
    from minigrad.utils.tensorboard import SummaryWriter

    with SummaryWriter(tmp_path) as writer:
        for step in range(3):
            writer.add_scalar("loss", torch.tensor(1.0 / (step + 1), requires_grad=True), step)
        writer.add_histogram("weights", torch.arange(4.0), 1, bins=2)
        writer.add_scalars("both", {"a": 1, "b": torch.tensor([2.0])}, 5)
        writer.add_text("note", "*hello*", 0)
        with pytest.raises(ValueError, match="'loss' is to be one number, not 2"):
            writer.add_scalar("loss", torch.ones(2))
        with pytest.raises(TypeError, match="expected numbers, not str"):
            writer.add_scalar("loss", "small")
        with pytest.raises(ValueError, match="The input has no element"):
            writer.add_histogram("weights", torch.empty(0))
    found = events()
    assert [(each.step, round(each.value, 3)) for each in found.Scalars("loss")] == [
        (0, 1.0), (1, 0.5), (2, 0.333)]
    histogram = found.Histograms("weights")[0].histogram_value
    assert (histogram.min, histogram.max, histogram.num, histogram.sum, histogram.sum_squares,
            list(histogram.bucket)) == (0, 3, 4, 6, 14, [2, 2])
    assert found.Tensors("note/text_summary")[0].tensor_proto.string_val == [b"*hello*"]
    assert [each.value for each in events("both_b").Scalars("both")] == [2.0]
