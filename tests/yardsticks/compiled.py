"""PyTorch's database of ops through `torch.compile`: the samples agree with eager mode, or not.

    python -m tests.yardsticks.compiled            a sample of the database
    python -m tests.yardsticks.compiled --all      all of it
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from typing import Any

import numpy as np

import minigrad
from minigrad.aot.compiled import CompiledFunction
from minigrad.aot.trace.refusal import Unrecordable
from minigrad.autograd import grad

from .compare import flat
from .databases import dtype_for, load
from .ops import ARBITRARY, chosen, full_name
from .translate import Translator, Untranslatable, op_of

#: The number of samples of each entry, unless all of them are tried.
SAMPLES = 3

#: The greatest part of these samples that may be refused.
REFUSED = 0.03


def try_entry(info: Any, limit: int | None) -> Counter[str]:
    """Return how often the samples of an entry agree, are refused (and why), or differ."""
    import torch

    counts: Counter[str] = Counter()
    op, dtype = op_of(info), dtype_for(info)
    if op is None or ARBITRARY.fullmatch(info.name):
        return counts
    torch.manual_seed(0)
    samples = list(info.sample_inputs("cpu", dtype, requires_grad=info.supports_autograd
                                      and dtype.is_floating_point))
    for sample in chosen(samples, limit):
        translator = Translator()
        try:
            given = [translator.ours(each) for each in (sample.input, sample.args, sample.kwargs)]
        except Untranslatable:
            continue
        counts[try_call(op, *given)] += 1
    return counts


def try_call(op: Any, first: Any, args: Any, kwargs: Any) -> str:
    """Compare one call; return "agrees", "differs: ..." or "refused: ..."."""
    def function(first: Any, args: Any, kwargs: Any) -> Any:
        return op(first, *args, **kwargs)

    try:
        wanted = outcome(function, first, args, kwargs)
    except Exception:  # a sample that minigrad refuses in eager mode as well
        return "not in eager mode"
    try:
        got = outcome(CompiledFunction(function, fullgraph=True), first, args, kwargs)
    except Unrecordable as error:
        return "refused: " + str(error).removeprefix("torch.compile: ").partition(", at ")[0]
    except Exception as error:  # any exception is a finding
        return f"differs: {type(error).__name__}: {error}"
    same = len(wanted) == len(got) and all(map(equal, wanted, got))
    return "agrees" if same else "differs: other values"


def outcome(function: Any, first: Any, args: Any, kwargs: Any) -> list[Any]:
    """Return the arrays of a call's results and of the gradients of its leaves."""
    minigrad.manual_seed(0)
    tensors = [t for t in flat((first, args, kwargs)) if isinstance(t, minigrad.Tensor)]
    results = [t for t in flat(function(first, args, kwargs)) if isinstance(t, minigrad.Tensor)]
    roots = [t for t in results if t.requires_grad]
    leaves = list({id(t): t for t in tensors if t.requires_grad}.values())
    found: Any = ()
    if roots and leaves:
        seeds = [minigrad.ones_like(t) for t in roots]
        found = grad(roots, leaves, seeds, allow_unused=True)
    return [t.detach().numpy() for t in results] + [
        None if g is None else g.detach().numpy() for g in found]


def equal(one: Any, other: Any) -> bool:
    """Return whether two arrays have the same elements; a missing gradient may be zeros."""
    if one is None or other is None:
        return one is other or not np.any(one if other is None else other)
    return one.dtype == other.dtype and one.shape == other.shape and bool(
        np.array_equal(one, other, equal_nan=one.dtype.kind == "f"))


def share_refused(total: Counter[str]) -> float:
    """Return the part of the calls that were refused."""
    refused = sum(n for kind, n in total.items() if kind.startswith("refused"))
    return refused / max(total.total() - total["not in eager mode"], 1)


def main() -> None:
    """Print the figures, and each entry that differs."""
    total: Counter[str] = Counter()
    warnings.simplefilter("ignore")  # samples also try deprecated calls
    for info in load()[0]:
        counts = try_entry(info, None if "--all" in sys.argv else SAMPLES)
        total.update(counts)
        for kind in counts:
            if kind.startswith("differs"):
                print(f"{full_name(info)}: {kind[:200]}")
            elif kind.startswith("refused") and "-v" in sys.argv:
                print(f"{full_name(info)}: {counts[kind]} {kind[:200]}")
    tried = total.total() - total["not in eager mode"]
    refused = sum(n for kind, n in total.items() if kind.startswith("refused"))
    differs = sum(n for kind, n in total.items() if kind.startswith("differs"))
    print(f"{tried} calls: {total['agrees']} agree, {differs} differ, {refused} refused "
          f"({100 * share_refused(total):.1f} %)")
    for kind, number in total.most_common():
        if kind.startswith("refused"):
            print(f"{number:6} {kind[9:110]}")


if __name__ == "__main__":
    main()
