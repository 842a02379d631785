"""One op of PyTorch's database, tried on its samples: forward, derivatives, `out=`, errors."""

from __future__ import annotations

import functools
import re
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import minigrad

from .compare import agree, flat, same_gradients
from .databases import dtype_for
from .translate import Translator, Untranslatable, op_of, rebound

#: What is compared for each sample.
CHECKS = ("forward", "gradient", "second gradient", "tangent", "out", "error")
#: Ops whose values mean nothing.
ARBITRARY = re.compile(r"(new_)?empty.*|resize_|resize_as_")


@dataclass
class Report:
    """What was found of one entry: counts of samples tried and of those that agree."""

    name: str
    present: bool = True
    tried: Counter[str] = field(default_factory=Counter)
    agreed: Counter[str] = field(default_factory=Counter)
    accepted: int = 0  # error inputs that raised nothing
    notes: list[str] = field(default_factory=list)  # the first few disagreements

    def count(self, check: str, agrees: bool, note: str = "") -> None:
        """Count one comparison."""
        self.tried[check] += 1
        self.agreed[check] += agrees
        if not agrees and len(self.notes) < 5:
            self.notes.append(f"{check}: {note}"[:300])

    @property
    def failing(self) -> str:
        """The checks that disagree somewhere, "absent", or "" for an entry that agrees wholly."""
        if not self.present:
            return "absent"
        wrong = [check for check in CHECKS if self.tried[check] != self.agreed[check]]
        return ", ".join(wrong + ["accepted"] * bool(self.accepted))


def full_name(info: Any) -> str:
    """Return the name of an entry, with that of its variant."""
    return f"{info.name} {info.variant_test_name}".strip()


def chosen(samples: list[Any], limit: int | None) -> list[Any]:
    """Return samples spread evenly over a list, the first and the last among them."""
    if limit is None or len(samples) <= limit:
        return samples
    return [samples[i] for i in sorted({round(i * (len(samples) - 1) / (limit - 1))
                                        for i in range(limit)})]


@contextmanager
def quiet() -> Iterator[None]:
    """Hide warnings."""
    with warnings.catch_warnings(action="ignore"):  # samples try what is deprecated, too
        yield


def try_op(info: Any, limit: int | None = None) -> Report:
    """Compare an op on its samples, at most `limit` of each kind."""
    import torch

    report = Report(full_name(info))
    op, dtype = op_of(info), dtype_for(info)
    if op is None:
        report.present = False
        return report
    with quiet():
        torch.manual_seed(0)
        samples = list(info.sample_inputs("cpu", dtype, requires_grad=info.supports_autograd
                                          and dtype.is_floating_point))
        for sample in chosen(samples, limit):
            try_sample(info, op, sample, report)
        try:
            errors = list(info.error_inputs("cpu")) if info.error_inputs_func else []
        except Exception:  # a database that needs more than the CPU
            errors = []
        for error in chosen(errors, None if limit is None else 4 * limit):
            try_error(info, op, error, report)
    missing = [n for n in report.notes if "has no attribute" in n or "cannot import" in n]
    if missing and not report.agreed["forward"]:
        return Report(report.name, present=False, notes=report.notes)
    return report


def run(op: Any, sample: Any, package: Any, process: Any, **options: Any) -> Any:
    """Call an op on a sample, as its author looks at the result."""
    package.manual_seed(0)
    return process(op(sample.input, *sample.args, **{**sample.kwargs, **options}))


@dataclass
class Sample:
    """A sample in minigrad's tensors."""

    input: Any
    args: Any
    kwargs: Any


def try_sample(info: Any, op: Any, sample: Any, report: Report) -> None:
    """Compare one sample."""
    import torch

    translator = Translator()
    try:
        twin = Sample(*(translator.ours(part) for part in (sample.input, sample.args,
                                                           sample.kwargs)))
        process = translator.ours(sample.output_process_fn_grad)
        theirs = run(info.op, sample, torch, sample.output_process_fn_grad)
    except Untranslatable:
        return
    except Exception:  # PyTorch refuses a sample of its own
        return
    if any(isinstance(t, torch.Tensor) and (t.is_complex() or t.layout is not torch.strided)
           for t in flat(theirs)):
        return
    note = f"{sample.args} {sample.kwargs}".replace("\n", " ")
    try:
        ours = run(op, twin, minigrad, process)
        agrees = agree(theirs, ours, not ARBITRARY.fullmatch(info.name))
        report.count("forward", agrees, note)
    except Exception as error:
        report.count("forward", False, f"{type(error).__name__}: {error} {note}")
        return
    if not agrees:
        return
    if info.supports_out and isinstance(theirs, torch.Tensor):
        try_out(info, op, sample, twin, theirs, report)
    leaves = [pair for pair in translator.pairs if pair[0].requires_grad]
    if not info.supports_autograd or not leaves:
        return
    their_op, our_op = for_derivatives(info, op)
    if our_op is not op:
        theirs = run(their_op, sample, torch, sample.output_process_fn_grad)
        try:
            ours = run(our_op, twin, minigrad, process)
        except Exception as error:
            report.count("gradient", False, f"{type(error).__name__}: {error} {note}")
            return
    try_gradients(theirs, ours, leaves, report, info.supports_gradgrad)
    if info.supports_forward_ad:
        try_tangents(their_op, our_op, sample, twin, process, leaves, report)


def for_derivatives(info: Any, op: Any) -> tuple[Any, Any]:
    """Return both functions as the database wants them for derivatives.

    Some first make a matrix triangular or symmetric: off such matrices an op that reads one
    triangle has no derivative that PyTorch stands for.
    """
    theirs = info.gradcheck_wrapper
    if theirs is type(info).gradcheck_wrapper:
        return info.op, op
    return functools.partial(theirs, info.op), functools.partial(rebound(theirs), op)


def try_gradients(theirs: Any, ours: Any, leaves: Any, report: Report,
                  twice: bool = False) -> None:
    """Compare first gradients, and second ones."""
    import torch

    rng = np.random.default_rng(0)
    outs = [pair for pair in zip(flat(theirs), flat(ours), strict=True)
            if isinstance(pair[0], torch.Tensor) and pair[0].requires_grad]
    if not outs:
        return
    vectors = [rng.standard_normal(tuple(a.shape)).astype(a.detach().numpy().dtype)
               for a, _ in outs]
    inputs, twins = zip(*leaves, strict=True)
    try:
        first = torch.autograd.grad([a for a, _ in outs], inputs,
                                    [torch.from_numpy(np.array(v)) for v in vectors],
                                    create_graph=twice, allow_unused=True, retain_graph=True)
    except Exception:
        return
    try:
        second = minigrad.autograd.grad([b for _, b in outs], twins,
                                        [minigrad.from_numpy(np.array(v)) for v in vectors],
                                        create_graph=twice, allow_unused=True,
                                        retain_graph=True)
        agrees = same_gradients(first, second)
        report.count("gradient", agrees, "values")
    except Exception as error:
        report.count("gradient", False, f"{type(error).__name__}: {error}")
        return
    if agrees and twice:
        try_second(first, second, inputs, twins, rng, report)


def try_second(first: Any, second: Any, inputs: Any, twins: Any, rng: Any,
               report: Report) -> None:
    """Compare gradients of gradients."""
    import torch

    live = [(a, b) for a, b in zip(first, second, strict=True)
            if a is not None and a.requires_grad]
    if not live:
        return
    vectors = [rng.standard_normal(tuple(a.shape)) for a, _ in live]
    try:
        theirs = torch.autograd.grad([a for a, _ in live], inputs, [
            torch.from_numpy(np.array(v)).to(a.dtype) for v, (a, _) in zip(
                vectors, live, strict=True)], allow_unused=True)
    except Exception:
        return
    try:
        known = [(b, v) for (_, b), v in zip(live, vectors, strict=True)
                 if b is not None and b.requires_grad]
        ours = minigrad.autograd.grad([b for b, _ in known], twins, [
            minigrad.from_numpy(np.array(v)).to(b.dtype) for b, v in known],
            allow_unused=True) if known else [None] * len(twins)
        report.count("second gradient", same_gradients(theirs, ours), "values")
    except Exception as error:
        report.count("second gradient", False, f"{type(error).__name__}: {error}")


def try_tangents(their_op: Any, our_op: Any, sample: Any, twin: Any, process: Any, leaves: Any,
                 report: Report) -> None:
    """Compare the tangents of forward mode."""
    import torch

    rng = np.random.default_rng(1)
    tangents = [rng.standard_normal(tuple(a.shape)).astype(a.detach().numpy().dtype)
                for a, _ in leaves]

    def pushed(package: Any, function: Any, given: Any, look: Any, side: int) -> Any:
        ad = package.autograd.forward_ad
        with ad.dual_level():
            duals = {id(pair[side]): ad.make_dual(
                pair[side].detach(), package.from_numpy(np.array(t)))
                for pair, t in zip(leaves, tangents, strict=True)}
            result = run(function, replaced(given, duals, package), package, look)
            return [None if t is None else t.detach() for r in flat(result)
                    if isinstance(r, package.Tensor) and r.is_floating_point()
                    for t in [ad.unpack_dual(r).tangent]]

    try:
        theirs = pushed(torch, their_op, sample, sample.output_process_fn_grad, 0)
    except Exception:
        return
    try:
        ours = pushed(minigrad, our_op, twin, process, 1)
        report.count("tangent", len(theirs) == len(ours) and same_gradients(theirs, ours),
                     "values")
    except Exception as error:
        report.count("tangent", False, f"{type(error).__name__}: {error}")


def replaced(sample: Any, duals: dict[int, Any], package: Any) -> Sample:
    """Return a sample with tensors replaced."""
    def change(value: Any) -> Any:
        if isinstance(value, package.Tensor):
            return duals.get(id(value), value)
        if type(value) in (list, tuple):
            return type(value)(map(change, value))
        if type(value) is dict:
            return {key: change(item) for key, item in value.items()}
        return value

    return Sample(change(sample.input), change(sample.args), change(sample.kwargs))


def try_out(info: Any, op: Any, sample: Any, twin: Any, theirs: Any, report: Report) -> None:
    """Compare a call with `out=`."""
    import torch

    if "out" in sample.kwargs:
        return
    out = torch.empty_like(theirs.detach())
    twin_out = minigrad.empty(tuple(theirs.shape), dtype=getattr(
        minigrad, str(theirs.dtype).removeprefix("torch.")))
    try:
        with torch.no_grad():
            wanted = run(info.op, sample, torch, lambda result: result, out=out)
    except Exception:
        return
    try:
        with minigrad.no_grad():
            result = run(op, twin, minigrad, lambda result: result, out=twin_out)
        report.count("out", result is twin_out and agree(
            wanted, twin_out, not ARBITRARY.fullmatch(info.name)), "values")
    except Exception as error:
        report.count("out", False, f"{type(error).__name__}: {error}")


def try_error(info: Any, op: Any, error: Any, report: Report) -> None:
    """Compare an input that PyTorch refuses; some it refuses only for certain devices."""
    import torch

    translator, sample = Translator(), error.sample_input
    try:
        twin = Sample(*(translator.ours(part) for part in (sample.input, sample.args,
                                                           sample.kwargs)))
    except Untranslatable:
        return
    note = f"{error.error_regex!r} of {sample.args} {sample.kwargs}".replace("\n", " ")
    try:
        run(op, twin, minigrad, lambda result: result)
    except Exception as raised:
        agrees = isinstance(raised, error.error_type) and bool(
            re.search(error.error_regex, str(raised)))
        report.count("error", agrees, f"{type(raised).__name__}: {raised} / {note}")
    else:
        try:
            run(info.op, sample, torch, lambda result: result)
        except Exception:
            report.accepted += 1
            report.count("error", False, f"accepted: {note}")
