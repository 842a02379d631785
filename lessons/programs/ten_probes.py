"""Ten small programs whose results are known: which of them does an engine get wrong?

    minigrad python ten_probes.py                       on your own engine
    minigrad python --mine 00-05 ten_probes.py

Each program uses several parts of an engine, so one wrong result does not say which part is wrong.
"""

from __future__ import annotations

import argparse
import importlib
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np


def told(*values: Any) -> str:
    """Return values as a line of text, numbers with four digits after the point."""
    def short(value: Any) -> Any:
        if hasattr(value, "tolist"):
            value = value.tolist()
        if isinstance(value, list | tuple):
            return "[" + ", ".join(map(short, value)) + "]"
        return f"{round(value, 4) + 0:g}" if isinstance(value, float) else str(value)

    return " ".join(map(short, values))


def leaf(torch: Any, *values: Any) -> Any:
    """Return a leaf of float64 that requires grad."""
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def rabbits(torch: Any) -> str:
    """Twelve sums, each of the two before; then the pairs in a graph, and a second gradient."""
    first = one = two = leaf(torch, 1.0, 2.0)
    for _ in range(12):
        one, two = two, one + two
    (two * first).sum().backward()
    a, b, c = leaf(torch, 1.0, 2.0, 3.0).unbind()
    product = c * a.detach() - b
    numbers = [[index for node, index in each.next_functions if node is not None]
               for each in (product.grad_fn, product.grad_fn.next_functions[0][0])]
    steps = leaf(torch, [1.0, 2.0], [3.0, 4.0])
    for _ in range(2):
        (steps.t() ** 3).sum().backward(create_graph=True)
    (steps.grad ** 2).sum().backward()
    return told(first.grad, numbers, first.is_leaf, product.is_leaf, steps.grad)


def valley(torch: Any) -> str:
    """Three steps of Newton's method, then slopes forward, backward and for a batch."""
    place = leaf(torch, 2.0)
    for _ in range(3):
        height = (place ** 4 - 3 * place ** 2 + place).sum()
        (slope,) = torch.autograd.grad(height, place, create_graph=True)
        (curvature,) = torch.autograd.grad(slope.sum(), place)
        place = (place - slope / curvature).detach().requires_grad_()

    def hills(at: Any, height: Any) -> Any:
        return torch.stack([(at ** 2 * height).sum(), at[0] * torch.exp(at[1])])

    func, at = torch.func, torch.stack([place[0], place[0] * 2]).detach()
    value, slope = func.jvp(lambda t: hills(t, 3.0), (at,), (at + 1,))
    both = func.jacfwd(hills, (0, 1))(at, at[0])
    batch = func.vmap(lambda t, height: hills(t, height).sum(-1) + height, (0, None))
    rows = torch.stack([at, at + 1, at - 1])
    return told(place, value, slope, both, batch(rows, at[1]),
                func.hessian(lambda t: hills(t, 2.0).sum())(at))


def half_step(torch: Any) -> str:
    """A step of one's own, with a second output that is not used."""
    class Half(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            ctx.save_for_backward(x, y)
            return x * y, x + y

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            x, y = ctx.saved_tensors
            return (gradients[0] * y + gradients[1]) / 2, gradients[0] * x + gradients[1]

    x, y = leaf(torch, 1.0, 2.0), leaf(torch, 3.0, 5.0)
    product, _ = Half.apply(x, y)
    (product * x).sum().backward()
    return told(x.grad, y.grad)


def table(torch: Any) -> str:
    """A table of numbers, a column beside it: their spread, a quotient, a power."""
    rows, column = leaf(torch, [1.0, 2.0, 3.0], [4.0, 5.0, 7.0]), leaf(torch, [0.5], [2.0])
    spread = (rows * column).var(1) + (rows / column).mean(1) ** 1.5
    (spread - rows.sum(0).norm()).sum().backward()
    return told(rows.grad, column.grad)


def index_cards(torch: Any) -> str:
    """Scores picked by number, one of them twice, from a stack of tables."""
    stack = torch.from_numpy(np.sin(np.arange(12.0)).reshape(2, 2, 3)).requires_grad_()
    weight = leaf(torch, [1.0, -1.0], [0.5, 2.0], [0.0, 0.25])
    scores = (stack @ weight).reshape(4, 2)
    picked = scores[torch.tensor([0, 3, 3])] * torch.tensor([[1.0, 2.0]], dtype=torch.float64)
    (torch.logsumexp(picked, 1).sum() + stack[1].std()).backward()
    return told(stack.grad[1], weight.grad)


def photograph(torch: Any) -> str:
    """An image under a kernel with steps of two, margins and holes."""
    image = torch.from_numpy(np.sin(np.arange(49.0)).reshape(1, 1, 7, 7)).requires_grad_()
    kernel = torch.from_numpy(np.cos(np.arange(9.0)).reshape(1, 1, 3, 3)).requires_grad_()
    seen = torch.nn.functional.conv2d(image, kernel, stride=2, padding=1, dilation=2)
    (seen ** 2).sum().backward()
    return told(list(seen.shape), kernel.grad[0, 0, 0], image.grad[0, 0, 1])


def eavesdropper(torch: Any) -> str:
    """Who hears what, in which order, what arrives, and what a profile counts."""
    heard: list[str] = []
    x = leaf(torch, 1.0, 2.0)
    y = x * x
    y.retain_grad()
    handle = y.register_hook(lambda grad: heard.append("removed"))
    y.register_hook(lambda grad: grad + 1)
    y.register_hook(lambda grad: grad * 2)
    y.grad_fn.register_hook(lambda inputs, outputs: heard.append(told(outputs[0])))
    x.register_post_accumulate_grad_hook(lambda leaf: heard.append(told(leaf.grad)))
    handle.remove()
    y.sum().backward()
    profiler = torch.autograd.profiler
    with profiler.profile() as profile:
        for _ in range(2):
            with profiler.record_function("outer"), profiler.record_function("inner"):
                torch.exp(x)
    ours = [event for event in profile.function_events if event.name in ("outer", "inner")]
    counts = [(each.key, each.count) for each in profile.key_averages()
              if each.key in ("outer", "inner")]
    inside = [event.cpu_parent is not None for event in ours]
    kept = all(event.self_cpu_time_total < event.cpu_time_total for event in ours)
    return told(x.grad, y.grad, heard, sorted(counts), inside, kept)


def red_pencil(torch: Any) -> str:
    """Numbers that are written over, some of them too early."""
    x = leaf(torch, 1.0, 2.0, 3.0, 4.0)
    y = x * 3
    y[1:3] *= x[:2]
    y.view(2, 2)[0].add_(1)
    (y * y).sum().backward()
    with torch.no_grad():
        x -= 0.5
    late = torch.exp(x)
    late.mul_(2)
    try:
        late.sum().backward()
    except RuntimeError as error:
        return told(x.grad) + " refused: " + str("inplace operation" in str(error))
    return told(x.grad) + " not refused"


def watchman(torch: Any) -> str:
    """What is recorded where, and what two judges say."""
    @torch.no_grad()
    def quiet(count: int) -> Any:
        for _ in range(count):
            yield torch.is_grad_enabled()

    modes = [(inside, torch.is_grad_enabled()) for inside in quiet(2)]
    x = leaf(torch, 0.0, 4.0)
    hessian = torch.autograd.functional.hessian(lambda t: (t ** 3).sum() + t[0] * t[1], x)
    honest = torch.autograd.gradcheck(lambda t: t * torch.sin(t), x, raise_exception=False)
    doubled = torch.autograd.gradcheck(lambda t: t * t.detach(), x, raise_exception=False)
    try:
        with torch.autograd.detect_anomaly():
            torch.where(x > 0, torch.sqrt(x), x).sum().backward()
    except RuntimeError as error:
        return told(modes, hessian, honest, doubled, "Sqrt" in str(error))
    return told(modes, hessian, honest, doubled, "nothing found")


def school(torch: Any) -> str:
    """A small network that learns for five steps, with each of three rules."""
    results = []
    for make in (lambda it: torch.optim.SGD(it, lr=0.05, momentum=0.9, weight_decay=0.1),
                 lambda it: torch.optim.Adam(it, lr=0.05),
                 lambda it: torch.optim.AdamW(it, lr=0.05, weight_decay=0.1)):
        net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3), torch.nn.ReLU(),
                                  torch.nn.Dropout(0.0), torch.nn.Linear(3, 1)).double()
        with torch.no_grad():
            for parameter in net.parameters():
                values = np.cos(np.arange(float(parameter.numel()))).reshape(parameter.shape)
                parameter.copy_(torch.from_numpy(values))
        inputs = torch.from_numpy(np.sin(np.arange(8.0)).reshape(4, 2))
        optimizer = make(net.parameters())
        for _ in range(5):
            optimizer.zero_grad()
            loss = ((net(inputs) - inputs[:, :1]) ** 2).mean()
            loss.backward()
            optimizer.step()
        net.eval()
        kept = len(optimizer.state_dict()["state"])
        results.append((loss.item(), net(inputs).sum().item(), kept, len(net.state_dict())))
    return told(results)


PROBES: tuple[Callable[[Any], str], ...] = (
    rabbits, valley, half_step, table, index_cards, photograph, eavesdropper, red_pencil, watchman,
    school)

#: The results of PyTorch.
EXPECTED = {
    "rabbits": "[754, 1508] [[0, 1], [2]] True False [[150, 1176], [3942, 9312]]",
    "valley": (
        "[1.1443] [19.6406, 11.2833] [59.8781, 58.2499] [[[2.6187, 5.2375], [9.8607, 11.2833]], "
        "[6.5469, 0]] [28.5547, 95.0363, 6.6594] [[4, 9.8607], [9.8607, 15.2833]]"),
    "half_step": "[4.5, 15] [1, 4]",
    "table": "[[0.9919, 0.9387, 0.7338], [-5.6832, -1.9864, 5.5587]] [[-23], [6.0673]]",
    "index_cards": (
        "[[-0.083, 0.161, 0.2476], [1.9438, 1.027, -0.2452]] [[0.8032, 0.0422], "
        "[-1.033, 1.5729], [-1.9195, 1.6576]]"),
    "photograph": "[1, 1, 3, 3] [3.6354, -4.2698, -2.3781] [0, 5.5018, 0, 2.5279, 0, -1.977, 0]",
    "eavesdropper": (
        "[8, 16] [4, 4] [[4, 4], [8, 16]] [[inner, 2], [outer, 2]] [False, True, False, True] "
        "True"),
    "red_pencil": "[108, 366, 216, 72] refused: True",
    "watchman": "[[False, True], [False, True]] [[0, 1], [1, 24]] True False True",
    "school": "[[0.9554, -3.4428, 6, 9], [2.5074, 6.7463, 6, 9], [2.3569, 6.407, 6, 9]]",
}


def results(torch: Any) -> dict[str, str]:
    """Run the ten programs; an error is a result too."""
    found = {}
    for probe in PROBES:
        try:
            with warnings.catch_warnings(action="ignore"):
                found[probe.__name__] = probe(torch)
        except Exception as error:
            found[probe.__name__] = f"{type(error).__name__}: {error}".splitlines()[0][:160]
    return found


def main() -> None:
    """Run them, and compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--engine", default="minigrad", choices=["minigrad", "torch"])
    parser.add_argument("--result", help="a file for the results, as JSON")
    options = parser.parse_args()
    found = results(importlib.import_module(options.engine))
    if options.result:
        Path(options.result).write_text(json.dumps(found), encoding="utf-8")
        return
    for probe in PROBES:
        name, what = probe.__name__, (probe.__doc__ or "").splitlines()[0]
        right = found[name] == EXPECTED[name]
        print(f"{'right' if right else 'WRONG'}  {name:13} {what}")
        if not right:
            print(f"       is        {found[name]}\n       should be {EXPECTED[name]}")
    print(f"{sum(found[name] == EXPECTED[name] for name in EXPECTED)} of {len(EXPECTED)} are right")


if __name__ == "__main__":
    main()
