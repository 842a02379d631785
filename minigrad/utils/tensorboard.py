"""`torch.utils.tensorboard`: write scalars, histograms and texts with the package `tensorboard`.

The package is optional; creating a writer without it raises an error that says so.

Source: https://docs.pytorch.org/docs/stable/tensorboard.html
"""

from __future__ import annotations

import socket
import time
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Self

import numpy as np

from ..tensor.tensor import Tensor

__all__ = ["SummaryWriter"]

def board() -> tuple[Any, Any, Any, Any]:
    """Return the modules of `tensorboard` that write, or raise `ModuleNotFoundError` without it."""
    try:
        from tensorboard.compat.proto import event_pb2, summary_pb2, tensor_pb2
        from tensorboard.summary.writer import event_file_writer
    except ModuleNotFoundError as problem:
        raise ModuleNotFoundError(
            "torch.utils.tensorboard needs the package tensorboard, which is not installed: "
            "pip install tensorboard", name=problem.name) from None
    return event_file_writer, event_pb2, summary_pb2, tensor_pb2


def numbers(name: str, values: Any) -> np.ndarray[Any, Any]:
    """Return a tensor, array or number as an array of numbers; raise `TypeError` otherwise."""
    array = values.detach().cpu().numpy() if isinstance(values, Tensor) else np.asarray(values)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name}(): expected numbers, not {type(values).__name__}")
    return array


class SummaryWriter:
    """Write events to a folder for TensorBoard, by default `runs/DATE_HOST`.

    `comment` is appended to the default folder's name. A thread writes the events within
    `flush_secs` seconds; `close` writes the rest. Raises `ModuleNotFoundError` if `tensorboard` is
    not installed.
    """

    def __init__(self, log_dir: str | Path | None = None, comment: str = "",
                 purge_step: int | None = None, max_queue: int = 10, flush_secs: float = 120,
                 filename_suffix: str = "") -> None:
        self._writer, self._event, self._summary, self._tensor = board()
        if not log_dir:
            moment = datetime.now().strftime("%b%d_%H-%M-%S")
            log_dir = Path("runs") / f"{moment}_{socket.gethostname()}{comment}"
        self.log_dir = str(log_dir)
        self._options = (max_queue, flush_secs, filename_suffix)
        self._files: dict[str, Any] = {"": self._file(self.log_dir)}
        if purge_step is not None:
            self._write(None, purge_step, None, session_log=self._event.SessionLog(
                status=self._event.SessionLog.START))

    def _file(self, folder: str) -> Any:
        return self._writer.EventFileWriter(folder, *self._options)

    def _write(self, value: Any, step: int | None, walltime: float | None, file: str = "",
               **more: Any) -> None:
        if value is not None:
            more["summary"] = self._summary.Summary(value=[value])
        event = self._event.Event(wall_time=time.time() if walltime is None else walltime, **more)
        if step is not None:
            event.step = int(step)
        self._files[file].add_event(event)

    def add_scalar(self, tag: str, scalar_value: Any, global_step: int | None = None,
                   walltime: float | None = None, new_style: bool = False,
                   double_precision: bool = False) -> None:
        """Write one number of a curve; raise `ValueError` if there are several."""
        self._write(self._scalar(tag, scalar_value), global_step, walltime)

    def _scalar(self, tag: str, value: Any) -> Any:
        array = numbers("add_scalar", value)
        if array.size != 1:
            raise ValueError(f"add_scalar(): {tag!r} must be a single number, not {array.size}")
        return self._summary.Summary.Value(tag=tag, simple_value=float(array.item()))

    def add_scalars(self, main_tag: str, tag_scalar_dict: Mapping[str, Any],
                    global_step: int | None = None, walltime: float | None = None) -> None:
        """Write one number for each of several curves that are shown together."""
        for tag, value in tag_scalar_dict.items():
            folder = f"{self.log_dir}/{main_tag.replace('/', '_')}_{tag}"
            if folder not in self._files:
                self._files[folder] = self._file(folder)
            self._write(self._scalar(main_tag, value), global_step, walltime, folder)

    def add_histogram(self, tag: str, values: Any, global_step: int | None = None,
                      bins: Any = "tensorflow", walltime: float | None = None,
                      max_bins: int | None = None) -> None:
        """Write a histogram; invalid `bins` (see `numpy.histogram`) raise `ValueError`."""
        array = numbers("add_histogram", values).ravel().astype(np.float64)
        if not array.size:
            raise ValueError("The input has no element.")
        edges = "auto" if bins == "tensorflow" else bins
        if isinstance(edges, str) and max_bins:
            edges = min(max_bins, len(np.histogram_bin_edges(array, edges)) - 1)
        counts, limits = np.histogram(array, edges)
        self._write(self._summary.Summary.Value(tag=tag, histo=self._summary.HistogramProto(
            min=array.min(), max=array.max(), num=array.size, sum=array.sum(),
            sum_squares=array.dot(array), bucket_limit=limits[1:].tolist(),
            bucket=counts.astype(np.float64).tolist())), global_step, walltime)

    def add_text(self, tag: str, text_string: str, global_step: int | None = None,
                 walltime: float | None = None) -> None:
        """Write a text; TensorBoard reads it as Markdown."""
        plugin = self._summary.SummaryMetadata.PluginData(plugin_name="text")
        self._write(self._summary.Summary.Value(
            tag=f"{tag}/text_summary", metadata=self._summary.SummaryMetadata(plugin_data=plugin),
            tensor=self._tensor.TensorProto(dtype="DT_STRING", string_val=[text_string.encode()],
                                       tensor_shape={"dim": [{"size": 1}]})), global_step, walltime)

    def get_logdir(self) -> str:
        """Return the folder for events."""
        return self.log_dir

    def flush(self) -> None:
        """Write pending events."""
        for file in self._files.values():
            file.flush()

    def close(self) -> None:
        """Write pending events and close the files."""
        for file in self._files.values():
            file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()
