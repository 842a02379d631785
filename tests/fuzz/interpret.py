"""Running a program in one library: what each line gave, and how everything looks at the end."""

from __future__ import annotations

import importlib
import re
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .functions import define
from .program import Program, target

#: How PyTorch 2 calls nodes that had another name in version 1.7.
NAMES_OF_NODES = {
    "LinalgCholeskyExBackward": "CholeskyBackward", "LinalgDetBackward": "DetBackward",
    "LinalgInvExBackward": "InverseBackward", "LinalgPinvBackward": "PinverseBackward",
    "LinalgSlogdetBackward": "SlogdetBackward", "LinalgSolveExBackward": "LinalgSolveBackward",
    "DiagEmbedBackward": "DiagBackward", "LinalgVectorNormBackward": "NormBackward",
    "PreluKernelBackward": "PreluBackward",
}

#: What one tensor is, as a dictionary of plain values.
Facts = dict[str, Any]


@dataclass
class Outcome:
    """What a line did: the class of its error, what it assigned, and what was looked at."""

    error: str | None = None
    text: str = ""  # of the error; not compared
    value: Any = None
    seen: list[Any] = field(default_factory=list)


@dataclass
class Trace:
    """What a program did: an outcome for each line, and the state of each name at the end."""

    outcomes: list[Outcome] = field(default_factory=list)
    state: dict[str, Any] = field(default_factory=dict)


class Machine:
    """Runs lines in one library, `torch` being its module."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.trace = Trace()
        self.seen: list[Any] = []
        functional = importlib.import_module(torch.__name__ + ".nn.functional")
        self.names: dict[str, Any] = {"torch": torch, "F": functional,
                                      **define(torch, self.look)}
        torch.manual_seed(0)

    def look(self, *values: Any) -> None:
        """What a program calls as `seen`."""
        self.seen.extend(self.describe(v, True) for v in values)

    def step(self, line: str) -> Outcome:
        """Run one line and note what it did."""
        self.seen = []
        outcome = Outcome(seen=self.seen)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # only values and errors are compared
                exec(compile(line, "<line>", "exec"), self.names)
        except Exception as error:
            outcome.error, outcome.text = type(error).__name__.lstrip("_"), str(error)
        else:
            if (name := target(line)) is not None:
                outcome.value = self.describe(self.names[name], False)
        self.trace.outcomes.append(outcome)
        return outcome

    def finish(self) -> Trace:
        """Note how every name looks, and return the whole trace."""
        for name, value in self.names.items():
            if re.fullmatch(r"[a-z]\d+", name):
                self.trace.state[name] = self.describe(value, True)
        return self.trace

    def describe(self, value: Any, closely: bool) -> Any:
        """Return a value as plain data; a tensor's flags and gradient only when `closely`."""
        if isinstance(value, self.torch.Tensor):
            return facts(value, closely)
        if isinstance(value, (tuple, list)):
            return [self.describe(v, closely) for v in value]
        return value if isinstance(value, (int, float, str, type(None))) else type(value).__name__


def facts(tensor: Any, closely: bool) -> Facts:
    """Return what can be said of a tensor.  Asking for less disturbs lazy parts of it less."""
    found: Facts = {
        "dtype": str(tensor.dtype).removeprefix("torch."),
        "value": np.array(tensor.detach().clone().numpy()),
        "requires_grad": bool(tensor.requires_grad),
        "version": attempt(lambda: tensor._version),
    }
    if closely:
        node = attempt(lambda: tensor.grad_fn)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of `.grad` of what is no leaf
            grad = attempt(lambda: tensor.grad)
        found |= {
            "grad_fn": node if node is None or isinstance(node, str) else plain_name(node.name()),
            "is_leaf": attempt(lambda: bool(tensor.is_leaf)),
            "is_view": attempt(lambda: bool(tensor._is_view())),
            "is_inference": attempt(lambda: bool(tensor.is_inference())),
            "output_nr": attempt(lambda: tensor.output_nr),
            "retains_grad": attempt(lambda: bool(tensor.retains_grad)),
            "grad": grad if grad is None or isinstance(grad, str) else facts(grad, False),
        }
    return found


def attempt(read: Any) -> Any:
    """Return what `read()` gives, or the name of the error that it raises."""
    try:
        return read()
    except Exception as error:
        return type(error).__name__


def plain_name(name: str) -> str:
    """Return a node's name in PyTorch 1.7's spelling, which the package has, without its number."""
    name = re.sub(r"\d+$", "", name.rpartition("::")[2])
    return NAMES_OF_NODES.get(name, name)


def run(torch: Any, program: Program) -> Trace:
    """Run a whole program."""
    machine = Machine(torch)
    for line in program:
        machine.step(line)
    return machine.finish()
