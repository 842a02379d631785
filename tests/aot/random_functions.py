"""Random functions of tensors, with views, in-place writes, random numbers and captured tensors.

`python -m tests.aot.random_functions 20000` compiles that many beside eager mode.
"""

from __future__ import annotations

import random
import sys
import warnings
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

import minigrad as torch
from minigrad.aot.compiled import CompiledFunction
from minigrad.aot.trace.refusal import Unrecordable

#: Expressions of tensors of the shape (3, 4); {x} and {y} are variables.
EXPRESSIONS = (
    "{x} * {y}", "{x} + {y}", "{x} - 2 * {y}", "{x} / ({y} * {y} + 1)", "{x}.sin()", "{x}.exp()",
    "{x}.tanh() * {y}", "torch.relu({x})", "F.gelu({x})", "torch.where({x} > 0, {x}, {y})",
    "{x}.sum(0) + {y}", "{x}.mean(1, keepdim=True) * {y}", "F.softmax({x}, 1)",
    "F.layer_norm({x}, (4,))", "{x}.cumsum(1)", "{x} @ {y}.t() @ {y}", "F.linear({x}, w)",
    "{x}.max(1, keepdim=True).values + {y}", "{x}.clamp(-0.5, 0.5)", "{x}.t().contiguous().t()",
    "{x}.reshape(12).reshape(3, 4)", "torch.cat([{x}[:1], {y}[1:]])", "{x}.flip(0)",
    "{x}[torch.tensor([2, 0, 1])]", "{x}.clone()", "{x}.detach() * {y}", "{x}.abs().sqrt()",
    "torch.stack([{x}, {y}]).prod(0)", "{x}.expand(2, 3, 4)[1] * {y}", "{x}.roll(1, 0)",
    "F.dropout({x}, 0.5)", "{x} + torch.randn_like({y})", "{x} * torch.rand(3, 4)",
    "torch.bernoulli({x}.sigmoid()) * {y}", "{x} * s", "{x} + k", "{x}.masked_fill({y} > 0, 0.5)",
    "torch.addmm({x}, {y}, m)", "{x}.float().to(torch.float32)", "{x}.unsqueeze(0).squeeze(0)",
    "F.mse_loss({x}, {y}) + {x}", "torch.zeros(3, 4) + {x}", "{x}.gather(1, index)",
    "{x}.sort(1).values", "torch.norm({x}) * {y}", "F.batch_norm({x}, mean, var, training=True)",
    "torch.full((3, 4), 0.5)", "torch.eye(3, 4)", "F.rrelu({x}, training=True) + {y}",
    "torch.linspace({x}[0, 1].detach(), 1, 4) * {y}",
    "torch.multinomial({x}.detach().sigmoid(), 4) * {y}", "F.linear({x}, w, bias)", "{x} + bias",
)
#: Views of such a tensor, with a shape to tell which values fit.
VIEWS = (("{x}[1]", "4"), ("{x}[:, 1]", "3"), ("{x}[1:]", "2x4"), ("{x}.t()", "4x3"),
         ("{x}.view(12)[2:6]", "4"), ("{x}[::2]", "2x4"), ("{x}.view(4, 3)", "4x3"),
         ("{x}.chunk(2, 1)[1]", "3x2"), ("{x}.diagonal()", "3"), ("{x}[...]", "3x4"),
         ("{x}.as_strided((2, 2), (4, 1), 1)", "2x2"), ("{x}.unbind(0)[2]", "4"))
#: Values for a view, by its shape.
FITTING = {"4": ("{y}[0]", "{y}.sum(0)"), "3": ("{y}[:, 0]", "{y}.mean(1)"),
           "2x4": ("{y}[:2]", "{y}[1:]"), "4x3": ("{y}.t()", "{y}.view(4, 3)"),
           "3x2": ("{y}[:, :2]",), "3x4": ("{y}",), "2x2": ("{y}[:2, 1:3]",)}
WRITES = ("{v}.mul_({u})", "{v}.add_({u})", "{v}.copy_({u})", "{v}.zero_()", "{v}.fill_(0.5)",
          "{v}.sub_({u}, alpha=2)", "{v}.tanh_()", "{v}.mul_(3)", "{v}[0] = 1.5", "{v} += {u}",
          "{v}.clamp_(min=0)", "{v}.uniform_()", "{v}.normal_()", "{v}.exp_()",
          "{v}[{v} > 0] = 0.5")


@dataclass
class Gradient:
    """A gradient; if there are several results, its parts may be added in another order."""

    array: Any

    def __eq__(self, other: object) -> bool:
        assert isinstance(other, Gradient)
        one, two = self.array, other.array
        if one is None or two is None:
            return one is two or not np.any(two if one is None else one)
        return bool(one.shape == two.shape and np.allclose(one, two, 1e-4, 1e-5, equal_nan=True))


@dataclass
class Made:
    """A function's source, and what its names mean."""

    source: str
    seed: int


def generate(seed: int) -> Made:
    """Generate the source of a function `f(a, b, c)`."""
    rng = random.Random(seed)
    names, lines, views = ["a", "b", "c"], [], []
    for number in range(rng.randint(2, 9)):
        x, y = rng.choice(names), rng.choice(names)
        kind = rng.random()
        if kind < 0.55:
            lines.append(f"t{number} = " + rng.choice(EXPRESSIONS).format(x=x, y=y))
            names.append(f"t{number}")
        elif kind < 0.7:
            view, shape = rng.choice(VIEWS)
            lines.append(f"v{number} = " + view.format(x=x))
            views.append((f"v{number}", shape))
        elif kind < 0.95:
            target, shape = rng.choice([*views, (x, "3x4")])
            value = rng.choice(FITTING[shape]).format(y=y)
            write = rng.choice(WRITES).format(v=target, u=value)
            lines.append(f"with torch.no_grad(): {write}" if rng.random() < 0.2 else write)
        elif kind < 0.98:
            lines.append(f"s.add_({x}.detach().mean())")
        else:
            lines.append(f"if {x}.sum() > 0: {x} = {x} * 2")
    results = [rng.choice(names[-3:])]
    while rng.random() < 0.4:
        results.append(rng.choice([*names, *(v for v, _ in views)]))
    lines.append(f"return {', '.join(results)}")
    return Made("def f(a, b, c):\n" + "".join(f"    {line}\n" for line in lines), seed)


def outcome(made: Made, compiled: bool) -> list[Any]:
    """Return the results and effects of two calls of the function, as arrays and texts."""
    torch.manual_seed(made.seed)
    rng = np.random.default_rng(made.seed)

    def new(*shape: int) -> Any:
        return torch.from_numpy(rng.normal(size=shape).astype("float32"))

    w, m, s, bias = new(4, 4).requires_grad_(), new(4, 4), new(), new(4).requires_grad_()
    names = {"torch": torch, "F": torch.nn.functional, "w": w, "m": m, "s": s, "bias": bias,
             "k": 1.5,
             "mean": torch.zeros(4), "var": torch.ones(4),
             "index": torch.tensor([[0, 1, 2, 3]] * 3)}
    exec(made.source, names)
    function = names["f"]
    if compiled:
        budget = (1.0, 0.5, 0.0)[made.seed // 15 % 3]
        function = CompiledFunction(function, fullgraph=True, budget=budget)
    seen: list[Any] = []
    for _ in range(2):
        leaves = [new(3, 4).requires_grad_(made.seed % 3 != i) for i in range(3)]
        given = [leaf * 1 if made.seed % 2 else leaf for leaf in leaves]
        if made.seed % 5 == 4:  # two arguments that overlap
            leaves[0] = new(4, 4).requires_grad_(made.seed % 3 != 0)
            whole = leaves[0] * 1
            given[:2] = whole[:3], whole[1:]
        try:
            results = function(*given)
            results = results if isinstance(results, tuple) else (results,)
            seen += [t.detach().clone()._array for t in results]
            seen += [(t.requires_grad, tuple(t.stride())) for t in results]
            used = results[:1] if made.seed % 4 == 1 else results
            loss = sum((t * t * (i + 1)).sum() for i, t in enumerate(used))
            if made.seed % 3 == 0:
                with torch.no_grad():
                    bias.add_(1)  # no eager backward pass needs it, so this changes no gradient
            if loss.requires_grad:
                loss.backward()
        except Unrecordable:
            raise
        except (RuntimeError, TypeError, ValueError, IndexError) as error:
            if "was changed after the call" in str(error):
                raise Unrecordable(str(error)) from error
            seen.append(f"{type(error).__name__}: {str(error).partition('/')[0][:60]}")
            break
        seen += [Gradient(None if t.grad is None else t.grad._array) for t in (*leaves, w, bias)]
        seen += [t.detach()._array.copy() for t in (*given, s, names["mean"], names["var"])]
        seen.append(tuple(t.requires_grad for t in given))
        w.grad = bias.grad = None
        with torch.no_grad():  # which results share memory with inputs, or with each other?
            for t in results:
                t.data.add_(1)
        seen += [t.detach()._array.copy() for t in (*given, *results, s)]
        seen.append(torch.rand(1)._array)
        for t in (s, m, w):
            t.data.copy_(new(*t.shape))
    return seen


def difference(made: Made) -> str | None:
    """Return how the compiled function differs from the function itself, or `None`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of ops that warn
        wanted = outcome(made, False)
        try:
            got = outcome(made, True)
        except Unrecordable as error:
            return f"refused: {str(error).partition(', at')[0]}"
        except Exception as error:  # any exception is a finding
            return f"{type(error).__name__}: {error} (wanted {wanted[-1]})"
    if len(wanted) != len(got):
        return f"{wanted[-1]} instead of {got[-1]}"
    for position, (one, other) in enumerate(zip(wanted, got, strict=True)):
        if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
            if one.shape != other.shape or not np.array_equal(one, other, equal_nan=True):
                return f"value {position}: {one} and {other}"
        elif one != other:
            return f"value {position}: {one} and {other}"
    return None


def main(count: int, first: int = 0) -> None:
    """Compile many functions, and print those that differ."""
    kinds: Counter[str] = Counter()
    for seed in range(first, first + count):
        made = generate(seed)
        found = difference(made)
        kind = "same" if found is None else "differs"
        if found and found.startswith("refused"):
            kind = found.partition(" RuntimeError")[0]
        kinds[kind] += 1
        if kind == "differs":
            print(f"# seed {seed}\n{made.source}# {found}\n")
    for kind, number in kinds.most_common():
        print(f"{number:6} {kind}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
