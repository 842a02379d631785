"""Elements, indices, joins and sums."""

from __future__ import annotations

import random
from typing import Any

from .case import Case, Step, gradients

__all__ = ["indexing", "joining", "reductions", "single_elements"]


def single_elements(draw: random.Random) -> Case:
    """Read, write or add to one element of a table at a time."""
    dtype = draw.choice(["float32", "float64", "int32", "int64", "bool", "uint8"])
    shape = tuple(draw.randint(3, 20) for _ in range(draw.randint(1, 3)))
    work = draw.choice(["read", "write"] if dtype == "bool" else ["read", "write", "add"])
    places = [tuple(draw.randrange(size) for size in shape) for _ in range(100)]
    places = [place[0] if len(shape) == 1 else place for place in places]

    def build(torch: Any) -> Step:
        table = torch.ones(shape, dtype=getattr(torch, dtype))

        def read() -> Any:
            return sum(table[place].item() for place in places)

        def write() -> Any:
            table.zero_()
            for place in places:
                table[place] = 1
            return table

        def add() -> Any:
            table.zero_()
            for place in places:
                table[place] += 1
            return table

        return {"read": read, "write": write, "add": add}[work]

    return Case(f"{work} 100, {dtype} {'x'.join(map(str, shape))}", build)


def indexing(draw: random.Random) -> Case:
    """Read or write by a mask or by lists of indices, with gradients where it reads."""
    rows, columns = draw.choice([(30, 8), (300, 50), (1000, 64), (5000, 100), (64, 4096)])
    dtype = draw.choice(["float32", "float64"])
    work = draw.choice(["mask", "index list", "pairs", "index_select", "gather", "scatter_add",
                        "masked_fill", "write by mask", "write by list", "embedding"])

    def build(torch: Any) -> Step:
        x = torch.randn(rows, columns, dtype=getattr(torch, dtype), requires_grad=True)
        fixed = x.detach().clone()
        mask, index = fixed > 0.5, torch.randint(rows, (rows // 2,))
        pairs = torch.randint(rows, (500,)), torch.randint(columns, (500,))
        places = torch.randint(rows, (rows // 2, columns))

        def write_by_mask() -> Any:
            fixed[mask] = 0.25
            return fixed

        def write_by_list() -> Any:
            fixed[index] = 0.25
            return fixed

        reads = {
            "mask": lambda: x[mask], "index list": lambda: x[index], "pairs": lambda: x[pairs],
            "index_select": lambda: x.index_select(0, index),
            "gather": lambda: x.gather(0, places),
            "scatter_add": lambda: x.scatter_add(0, places, x[:rows // 2]),
            "masked_fill": lambda: x.masked_fill(mask, 0.0),
            "embedding": lambda: torch.nn.functional.embedding(index, x),
        }
        writes = {"write by mask": write_by_mask, "write by list": write_by_list}
        if work in writes:
            return writes[work]
        return gradients(torch, reads[work], [x])

    return Case(f"{work}, {dtype} {rows}x{columns}", build)


def joining(draw: random.Random) -> Case:
    """`cat`, `stack`, `where` and their like, forward and backward."""
    count, dim = draw.choice([2, 3, 8, 32]), draw.choice([0, 1, -1])
    shape = draw.choice([(4, 5), (32, 64), (100, 100), (16, 8, 32), (256, 512)])
    dtype = draw.choice(["float32", "float64"])
    work = draw.choice(["cat", "stack", "where", "split", "unbind", "pad", "repeat"])

    def build(torch: Any) -> Step:
        parts = [torch.randn(shape, dtype=getattr(torch, dtype), requires_grad=True)
                 for _ in range(count)]
        first, second = parts[:2]
        mask = first.detach() > 0
        forward = {
            "cat": lambda: torch.cat(parts, dim),
            "stack": lambda: torch.stack(parts, dim),
            "where": lambda: torch.where(mask, first, second),
            "split": lambda: torch.cat([2 * part for part in first.split(2, dim)], dim),
            "unbind": lambda: torch.stack([2 * part for part in first.unbind(0)]),
            "pad": lambda: torch.nn.functional.pad(first, (1, 2)),
            "repeat": lambda: first.repeat(2, *[1] * (len(shape) - 1)),
        }[work]
        inputs = {"cat": parts, "stack": parts, "where": parts[:2]}.get(work, parts[:1])
        return gradients(torch, forward, inputs)

    several = f"{count} of " if work in ("cat", "stack") else ""
    return Case(f"{work} {several}{'x'.join(map(str, shape))}, dim {dim}, {dtype}", build)


def reductions(draw: random.Random) -> Case:
    """Sums, means, extremes along one dimension of large and small arrays."""
    shape = draw.choice([(64, 10), (1000, 50), (50, 1000), (128, 768), (16, 64, 32), (4000, 500)])
    dim = draw.randrange(-1, len(shape) - 1)
    dtype, backward = draw.choice(["float32", "float64"]), draw.random() < 0.6
    layout = draw.choice(["contiguous", "transposed"])
    name = draw.choice(["sum", "mean", "var", "amax", "norm", "logsumexp", "prod", "argmax",
                        "softmax", "cumsum", "std"])

    def build(torch: Any) -> Step:
        x = torch.randn(*shape[:-2], *(shape[-2:] if layout == "contiguous" else shape[:-3:-1]),
                        dtype=getattr(torch, dtype))
        x = (x if layout == "contiguous" else x.transpose(-1, -2)).requires_grad_(backward)

        def forward() -> Any:
            return x.norm(dim=dim) if name == "norm" else getattr(x, name)(dim)

        if backward and name != "argmax":
            return gradients(torch, forward, [x])
        return forward

    passes = "both passes" if backward and name != "argmax" else "forward"
    return Case(f"{name}({dim}), {passes}, {dtype} {'x'.join(map(str, shape))} {layout}", build)
