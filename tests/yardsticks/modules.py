"""One module of PyTorch's database: state, outputs and gradients, in training and evaluation."""

from __future__ import annotations

from typing import Any

import minigrad

from .compare import agree
from .ops import Report, chosen, quiet, try_gradients
from .translate import Translator


def try_module(info: Any, limit: int | None = None) -> Report:
    """Compare a module on the inputs of the database, at most `limit` in each mode."""
    import torch

    report = Report(info.name)
    cls: Any = minigrad.nn
    for part in info.name.split(".")[1:]:
        cls = getattr(cls, part, None)
    if cls is None:
        report.present = False
        return report
    with quiet():
        for training in (True, False):
            torch.manual_seed(0)
            inputs = info.module_inputs_func(info, device="cpu", dtype=torch.float64,
                                             requires_grad=True, training=training)
            for given in chosen(list(inputs), limit):
                try_input(info.module_cls, cls, given, training, report)
    return report


def try_input(theirs: Any, ours: Any, given: Any, training: bool, report: Report) -> None:
    """Compare one way to make a module and to call it."""
    import torch

    if given.forward_input is None:
        return
    made, called = given.constructor_input, given.forward_input
    translator = Translator()
    note = f"{made.args} {made.kwargs} {given.desc}".replace("\n", " ")
    try:
        model = theirs(*made.args, **made.kwargs).double().train(training)
        twin_args, twin_kwargs = translator.ours(made.args), translator.ours(made.kwargs)
        args, kwargs = translator.ours(called.args), translator.ours(called.kwargs)
        torch.manual_seed(0)
        wanted = model(*called.args, **called.kwargs)
    except Exception:  # no tensor of ours, or PyTorch refuses it
        return
    try:
        twin = ours(*twin_args, **twin_kwargs).double().train(training)
        # the parameters alone: in training the step above has moved the buffers
        twin.load_state_dict({name: p.detach() for name, p in model.named_parameters()},
                             strict=False)
        minigrad.manual_seed(0)
        got = twin(*args, **kwargs)
        agrees = agree(wanted, got)
        report.count("forward", agrees, note)
    except Exception as error:
        report.count("forward", False, f"{type(error).__name__}: {error} {note}")
        return
    if agrees:
        parameters = dict(twin.named_parameters())
        leaves = [pair for pair in translator.pairs if pair[0].requires_grad]
        leaves += [(p, parameters[name]) for name, p in model.named_parameters()
                   if p.requires_grad]
        try_gradients(wanted, got, leaves, report)
