"""Write down the operations of a program while it runs, and turn them into a function.

    minigrad python --mine 04e tracer.py
    minigrad python --mine 04e tracer.py --width 8

An interceptor sees every operation, so it can note them in order. The function that it makes has
no loops and no branches, and it records as usual when it runs.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import minigrad as torch
from minigrad import _state
from minigrad.op import REGISTRY
from minigrad.op.apply import apply

Line = tuple[str, str, tuple[str, ...]]  # a name, an op, and what the op is applied to


class Tracer:
    """An interceptor that notes each op, what it was applied to, and a name for the result."""

    quick = False  # no fast path around it

    def __init__(self, x: Any) -> None:
        self.names, self.lines = {id(x): "x"}, list[Line]()
        self.constants: dict[str, Any] = {}  # tensors that the program brings along
        self.kept = [x]  # so that no other tensor gets one of the ids

    def op(self, op: Any, values: list[Any], proceed: Callable[..., Any]) -> Any:
        """Pass an op on, and note it."""
        result = proceed(op, values)
        arguments = tuple(self.shown(value) for value in values)
        self.lines.append((f"v{len(self.lines) + 1}", op.__name__, arguments))
        self.names[id(result)] = self.lines[-1][0]
        self.kept.append(result)
        return result

    def call(self, name: str, _: Any, function: Callable[..., Any], *args: Any, **named: Any
             ) -> Any:
        """Run a function that is composed of ops, which are noted one by one."""
        return function(*args, **named)

    def shown(self, value: Any) -> str:
        """Return the text for an argument: a name for a tensor, and a literal for all others."""
        if isinstance(value, torch.Tensor) and id(value) not in self.names:
            name = self.names[id(value)] = f"w{len(self.constants) + 1}"
            self.constants[name] = value
        return self.names.get(id(value), repr(value))


def traced(function: Callable[[Any], Any], x: Any) -> tuple[list[Line], str, dict[str, Any]]:
    """Run a function once; return its ops, the name of its result, and its constants."""
    tracer = Tracer(x)
    _state.observers.enter()
    try:
        with _state.having(_state.recorder, tracer):
            result = function(x)
    finally:
        _state.observers.leave()
    return tracer.lines, tracer.names[id(result)], tracer.constants


def without_repeats(lines: list[Line], result: str) -> tuple[list[Line], str]:
    """Drop each line that applies the same op to the same arguments as an earlier one."""
    kept, known, same = list[Line](), dict[tuple[str, tuple[str, ...]], str](), dict[str, str]()
    for name, op, arguments in lines:
        arguments = tuple(same.get(each, each) for each in arguments)
        same[name] = known.setdefault((op, arguments), name)
        if same[name] == name:
            kept.append((name, op, arguments))
    return kept, same.get(result, result)


def as_text(lines: list[Line], result: str) -> str:
    """Return the source of a function that applies these ops."""
    body = [f"    {name} = apply({op}, [{', '.join(arguments)}])" for name, op, arguments in lines]
    return "\n".join(["def traced(x):", *body, f"    return {result}"])


def as_function(text: str, constants: dict[str, Any]) -> Callable[[Any], Any]:
    """Compile the source of a traced function."""
    names: dict[str, Any] = {"apply": apply, **REGISTRY, **constants}
    exec(text, names)
    function: Callable[[Any], Any] = names["traced"]
    return function


def value_and_slope(function: Callable[[Any], Any], values: list[float]
                    ) -> tuple[float, list[float]]:
    """Return a function's value and its gradient."""
    x = torch.tensor(values, dtype=torch.float64).requires_grad_()
    y = function(x)
    (slope,) = torch.autograd.grad(y, x)
    return y.item(), slope.tolist()


def ramp(x: Any) -> Any:
    """Return twice the sum if it is positive, and the sum if not."""
    total = x.sum()
    return total * 2 if total > 0 else total * 1


def main() -> None:
    """Trace a network, shorten the trace, run it, and show where a trace is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--width", type=int, default=4, help="hidden units of the network (4)")
    chosen = parser.parse_args()
    torch.manual_seed(0)
    first = torch.randn(chosen.width, 3, dtype=torch.float64)
    last = torch.randn(chosen.width, dtype=torch.float64)

    def network(x: Any) -> Any:
        return (last * (first @ x).tanh() * (1 - (first @ x).tanh() ** 2)).sum()

    lines, result, constants = traced(network, torch.tensor([0.1, 0.2, 0.3], dtype=torch.float64))
    shorter, its_result = without_repeats(lines, result)
    text = as_text(shorter, its_result)
    print(text)
    print(f"{len(lines)} operations, {len(shorter)} without repeats")
    at = [0.5, -1.0, 2.0]
    same = value_and_slope(network, at) == value_and_slope(as_function(as_text(lines, result),
                                                                       constants), at)
    print("the trace: same value and gradient to the last bit:", same)
    (value, slope), (other, its_slope) = (
        value_and_slope(each, at) for each in (network, as_function(text, constants)))
    close = all(abs(a - b) < 1e-12 for a, b in zip(slope, its_slope, strict=True))
    print("without repeats: same value to the last bit:", value == other,
          "and gradient up to rounding:", close)

    lines, result, constants = traced(ramp, torch.tensor([1.0, 2.0], dtype=torch.float64))
    wrong = as_function(as_text(lines, result), constants)
    print("ramp at -1 and -2:", value_and_slope(ramp, [-1.0, -2.0]))
    print("its trace, made at 1 and 2:", value_and_slope(wrong, [-1.0, -2.0]))


if __name__ == "__main__":
    main()
