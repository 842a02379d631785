"""`utils.benchmark`: measure how long a statement takes, often enough to be reliable.

Source: https://docs.pytorch.org/docs/stable/benchmark_utils.html
"""

from __future__ import annotations

import statistics
import timeit
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from .. import cuda, on_demand
from ..backend.threads import get_num_threads, set_num_threads

__all__ = ["Compare", "Measurement", "TaskSpec", "Timer", "timer"]

__path__: list[str] = []  # for modules below it that are left out
__getattr__ = on_demand.attributes(__name__)[0]

#: Units of time, largest first.
UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
#: Fractions of the median that the interquartile range may reach before the text warns.
FLUCTUATION, INFLUENCE = 0.1, 0.25
ENGLISH = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}


def timer() -> float:
    """Return the time in seconds, after waiting for the GPU.

    >>> start = timer(); timer() - start < 60.0
    True
    """
    if cuda.is_available():
        cuda.synchronize()
    return timeit.default_timer()


def unit_of(seconds: float) -> tuple[str, float]:
    """Return a suitable unit for a time, and the unit's length in seconds.

    >>> unit_of(0.0025)
    ('ms', 0.001)
    """
    size, name = next((one for one in UNITS if seconds >= one[0]), UNITS[-1])
    return name, size


@dataclass(frozen=True)
class TaskSpec:
    """The statement to measure, and its labels.

    >>> TaskSpec("x + x", "pass").title, TaskSpec("x + x", "pass", label="Sum").title
    ('x + x', 'Sum')
    """

    stmt: str
    setup: str
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        """The label, or the statement if there is no label."""
        if self.label is not None:
            return self.label + (f": {self.sub_label}" if self.sub_label else "")
        return self.stmt if "\n" not in self.stmt else (
            "stmt:\n" + "\n".join(f"  {line}" for line in self.stmt.splitlines()))


@dataclass
class Measurement:
    """Times of a statement: `raw_times` for `number_per_run` runs each, in seconds.

    >>> spec = TaskSpec("x + x", "pass", label="Sum", sub_label="1000 numbers", env="laptop")
    >>> m = Measurement(10, [2.0, 3.0, 4.0, 7.0], spec)
    >>> m.times, m.median, m.mean
    ([0.2, 0.3, 0.4, 0.7], 0.35, 0.4)
    >>> low, high = m.quartiles; f"{low:.3f} {high:.3f} {m.iqr:.3f}"
    '0.275 0.475 0.200'
    >>> m.meets_confidence(0.5), m.has_warnings  # they lie far apart
    (False, True)
    >>> m.title, m.as_row_name, m.env
    ('Sum: 1000 numbers', '1000 numbers', 'laptop')
    >>> [one.raw_times for one in Measurement.merge([m, Measurement(1, [0.5], spec)])]
    [[0.2, 0.3, 0.4, 0.7, 0.5]]
    """

    number_per_run: int
    raw_times: list[float]
    task_spec: TaskSpec
    metadata: dict[Any, Any] | None = None

    @property
    def times(self) -> list[float]:
        """The time of a single run, for each measurement."""
        return [time / self.number_per_run for time in self.raw_times]

    @property
    def median(self) -> float:
        """The median time."""
        return statistics.median(self.times)

    @property
    def mean(self) -> float:
        """The mean time."""
        return statistics.fmean(self.times)

    @property
    def quartiles(self) -> tuple[float, float]:
        """The first and third quartile of the times."""
        times = self.times
        if len(times) < 2:
            return times[0], times[0]
        low, _, high = statistics.quantiles(times, method="inclusive")
        return low, high

    @property
    def iqr(self) -> float:
        """The interquartile range of the times."""
        low, high = self.quartiles
        return high - low

    @property
    def title(self) -> str:
        """The label, or the statement if there is no label."""
        return self.task_spec.title

    @property
    def env(self) -> str:
        """The name of the environment of the measurement."""
        return self.task_spec.env or "Unspecified env"

    @property
    def as_row_name(self) -> str:
        """The name of the row in `Compare`."""
        return self.task_spec.sub_label or self.task_spec.stmt or "[Unknown]"

    def meets_confidence(self, threshold: float = 0.1) -> bool:
        """Return whether the interquartile range is below `threshold` times the median."""
        return self.iqr / self.median < threshold

    @property
    def has_warnings(self) -> bool:
        """Return whether the times vary so much that the text warns."""
        return self.iqr / self.median >= FLUCTUATION

    @staticmethod
    def merge(measurements: Iterable[Measurement]) -> list[Measurement]:
        """Merge the measurements of each task into one, with all their times."""
        groups: dict[TaskSpec, list[Measurement]] = {}
        for one in measurements:
            groups.setdefault(one.task_spec, []).append(one)
        return [Measurement(1, [time for one in several for time in one.times], spec)
                for spec, several in groups.items()]

    def __repr__(self) -> str:
        spec, count = self.task_spec, len(self.raw_times)
        unit, size = unit_of(self.median)
        lines = [f"{object.__repr__(self)}", self.title]
        lines += [part for part in (spec.description, spec.setup != "pass" and f"setup: "
                  f"{spec.setup}") if part]
        lines.append(f"  {'Median: ' * (count > 1)}{self.median / size:.2f} {unit}")
        if count > 3:
            low, high = (time / size for time in self.quartiles)
            lines.append(f"  IQR:    {self.iqr / size:.2f} {unit} ({low:.2f} to {high:.2f})")
        lines.append(f"  {count} measurement{'s' * (count > 1)}, {self.number_per_run} runs "
                     f"{'per measurement' if count > 1 else ''}, {spec.num_threads} "
                     f"thread{'s' * (spec.num_threads > 1)}")
        share = self.iqr / self.median
        if self.has_warnings:
            lines += [f"  WARNING: Interquartile range is {share * 100:.1f}% of the median "
                      "measurement.", "           This " + (
                          "suggests significant environmental influence." if share >= INFLUENCE
                          else "could indicate system fluctuation.")]
        return "\n".join(lines)


class Timer:
    """Measures a statement in the namespace `globals`, on `num_threads` threads.

    Source: `torch.utils.benchmark.Timer`.

    >>> from minigrad import ones
    >>> measured = Timer("x + x", globals={"x": ones(3)}).timeit(10)
    >>> measured.number_per_run, measured.mean > 0
    (10, True)
    """

    def __init__(self, stmt: str = "pass", setup: str = "pass", global_setup: str = "",
                 timer: Callable[[], float] = timer, globals: dict[str, Any] | None = None,
                 label: str | None = None, sub_label: str | None = None,
                 description: str | None = None, env: str | None = None, num_threads: int = 1,
                 language: Any = "python") -> None:
        if not isinstance(stmt, str):
            raise ValueError("Currently only a `str` stmt is supported.")
        if str(getattr(language, "name", language)).lower() not in ("python", "py"):
            raise NotImplementedError("Timer: minigrad measures only Python and cannot compile C++")
        self._task_spec = TaskSpec(stmt, setup, global_setup, label, sub_label, description, env,
                                   num_threads)
        self._timer = timeit.Timer(stmt, setup, timer, globals)

    def _time(self, number: int) -> float:
        return max(self._timer.timeit(number), 1e-9)

    def timeit(self, number: int = 1000000) -> Measurement:
        """Run the statement `number` times, after one hundredth as many runs to warm up."""
        with threads(self._task_spec.num_threads):
            self._time(max(int(number // 100), 2))
            return Measurement(number, [self._time(number)], self._task_spec)

    def blocked_autorange(self, callback: Callable[[int, float], Any] | None = None,
                          min_run_time: float = 0.2) -> Measurement:
        """Measure blocks of runs until they have taken `min_run_time` seconds in total.

        A block is long enough that the timer's overhead is negligible. `callback` gets the number
        of runs and the time of each block.

        >>> measured = Timer("sum(range(100))").blocked_autorange(min_run_time=0.01)
        >>> len(measured.times) >= 1, measured.median < 1.0
        (True, True)
        """
        with threads(self._task_spec.num_threads):
            number = self._block(min_run_time)
            times: list[float] = []
            while sum(times) < min_run_time:
                times.append(self._time(number))
                if callback is not None:
                    callback(number, times[-1])
            return Measurement(number, times, self._task_spec)

    def adaptive_autorange(self, threshold: float = 0.1, *, min_run_time: float = 0.01,
                           max_run_time: float = 10.0,
                           callback: Callable[[int, float], Any] | None = None) -> Measurement:
        """Measure blocks until the times agree, for at most `max_run_time` seconds.

        >>> measured = Timer("sum(range(100))").adaptive_autorange(max_run_time=0.05)
        >>> len(measured.times) >= 1, measured.median < 1.0
        (True, True)
        """
        with threads(self._task_spec.num_threads):
            number = self._block(min_run_time)
            times: list[float] = []
            result = Measurement(number, times, self._task_spec)
            while sum(times) < max_run_time:
                times.append(self._time(number))
                if callback is not None:
                    callback(number, times[-1])
                enough = len(times) > 3 and sum(times) >= min_run_time
                if enough and result.meets_confidence(threshold):
                    break
            return result

    def _block(self, min_run_time: float) -> int:
        """Return the runs per block: long enough to make the timer's overhead negligible."""
        overhead = statistics.median(self._time(0) for _ in range(5))
        number = 1
        while True:
            taken = self._time(number)
            long_enough = overhead / taken <= 1e-4 and taken >= min_run_time / 1000
            if long_enough or taken > min_run_time:
                return number
            number *= 10


@contextmanager
def threads(number: int) -> Iterator[None]:
    """Run a block with this number of threads."""
    before = get_num_threads()
    set_num_threads(number)
    try:
        yield
    finally:
        set_num_threads(before)


@dataclass
class Compare:
    """A table of measurements, with a row for each sub-label and a column for each description.

    Source: `torch.utils.benchmark.Compare`.

    >>> spec = [TaskSpec("x + x", "pass", label="add", sub_label=f"size {n}", description=name)
    ...         for name in ("here", "there") for n in (1, 2)]
    >>> Compare([Measurement(1, [2e-6], one) for one in spec]).print()
    [-------- add ---------]
                 here  there
    1 threads: -------------
        size 1    2.0    2.0
        size 2    2.0    2.0
    <BLANKLINE>
    Times are in microseconds (us).
    """

    _results: list[Measurement] = field(default_factory=list)
    _trim: bool = False

    def __init__(self, results: Sequence[Measurement]) -> None:
        self._results = list(results)
        self._trim = False

    def extend_results(self, results: Iterable[Measurement]) -> None:
        """Add measurements.

        >>> small, large = (TaskSpec("x + x", "pass", label="add", sub_label=name, description="")
        ...                 for name in ("size 1", "size 1000"))
        >>> table = Compare([Measurement(1, [2e-6], small)])
        >>> table.extend_results([Measurement(1, [3e-6], large)]); table.print()
        [----- add ------]
        <BLANKLINE>
        1 threads: -------
            size 1     2.0
            size 1000  3.0
        <BLANKLINE>
        Times are in microseconds (us).
        """
        for one in results:
            if not isinstance(one, Measurement):
                raise ValueError(f"Expected an instance of `Measurement`, got {type(one)} instead.")
            self._results.append(one)

    def trim_significant_figures(self) -> None:
        """Show two significant figures of each time.

        >>> spec = TaskSpec("x + x", "pass", label="add", sub_label="size 1", description="here")
        >>> table = Compare([Measurement(1, [2.345e-4], spec)])
        >>> table.trim_significant_figures(); table.print()
        [----- add -----]
                     here
        1 threads: ------
            size 1    230
        <BLANKLINE>
        Times are in microseconds (us).
        """
        self._trim = True

    def colorize(self, rowwise: bool = False) -> None:
        """Do nothing, since the table has no colours.

        >>> spec = TaskSpec("x + x", "pass", label="add", sub_label="size 1", description="here")
        >>> table = Compare([Measurement(1, [2e-6], spec)])
        >>> before = str(table); table.colorize(); str(table) == before
        True
        """

    def highlight_warnings(self) -> None:
        """Do nothing, since the table has no highlighting.

        >>> spec = TaskSpec("x + x", "pass", label="add", sub_label="size 1", description="here")
        >>> table = Compare([Measurement(1, [2e-6], spec)])
        >>> before = str(table); table.highlight_warnings(); str(table) == before
        True
        """

    def print(self) -> None:
        """Print the table."""
        print(self)

    def __str__(self) -> str:
        return "\n\n".join(self._tables())

    def _tables(self) -> Iterator[str]:
        merged = Measurement.merge(self._results)
        for label in dict.fromkeys(one.task_spec.label for one in merged):
            yield self._table(label, [one for one in merged if one.task_spec.label == label])

    def _table(self, label: str | None, results: list[Measurement]) -> str:
        unit, size = unit_of(min(one.median for one in results))
        columns = list(dict.fromkeys(one.task_spec.description or "" for one in results))
        shown = {(one.task_spec.num_threads, one.as_row_name, one.task_spec.description or ""):
                 self._number(one.median / size) for one in results}
        rows = list(dict.fromkeys((threads, name) for threads, name, _ in shown))
        first = max(len("10 threads:"), *(4 + len(name) for _, name in rows))
        widths = [max(len(name), *(len(text) for (_, _, at), text in shown.items() if at == name))
                  for name in columns]
        whole = first + sum(2 + width for width in widths)
        lines = [f"[{f' {label or chr(45)} '.center(whole - 2, '-')}]", " " * first + "".join(
            f"  {name:>{width}}" for name, width in zip(columns, widths, strict=True))]
        for count in dict.fromkeys(count for count, _ in rows):
            lines.append(f"{count} threads: ".ljust(whole, "-"))
            for _, name in (row for row in rows if row[0] == count):
                cells = "".join(f"  {shown.get((count, name, at), ''):>{width}}"
                                for at, width in zip(columns, widths, strict=True))
                lines.append(f"    {name}".ljust(first) + cells)
        return "\n".join([*lines, "", f"Times are in {ENGLISH[unit]} ({unit})."])

    def _number(self, value: float) -> str:
        return f"{float(f'{value:.2g}'):g}" if self._trim else f"{value:.1f}"
