"""Formulas of optimizer steps, from which multi-tensor kernels for a GPU are generated.

A step has two parts.  `lines` compute the numbers that all elements of a parameter share, from the
optimizer's options and from the `counted` state.  They are text that both Python and C++ can read,
so that host and device never differ: if the host counts the steps, it computes them; if the device
does, a kernel with one thread for each parameter computes them.  `element`, in C++, updates one
element: `own` is the parameter, `slope` the gradient (with the options that all optimizers share
already applied to both), and `states` names the state.  It does the same as the optimizer's
`update`, in the same order.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

__all__ = ["FORMULAS", "OPTIONS", "SHARED", "Formula", "numbers_of"]


class Formula(NamedTuple):
    """The step of one optimizer; see the module's docstring."""

    #: the optimizer's own options
    options: str
    #: counted state, 0-d float32: its names in the state and in the lines
    counted: Mapping[str, str]
    lines: Sequence[str]
    #: further numbers for the elements
    numbers: str
    #: state of each element: its names in the state and in `element`
    states: Mapping[str, str]
    element: str


#: Options of all optimizers: weight decay added to the gradient, decoupled weight decay of the
#: parameter, and 1, or -1 to maximize.
OPTIONS = "lr decay decoupled sign"
#: The numbers that every formula passes to its elements.
SHARED = "left decay sign"
_LEFT = "left = 1 - lr * decoupled"

_STEP = {"step": "count"}
_COUNT = "count = count + 1"
_AWAY = ("away1 = 1 - beta1", "away2 = 1 - beta2")
_MEAN = "mean += (slope - mean) * away1; "
_SQUARE = "square = square * beta2 + slope * slope * away2; "
_AVERAGES = {"exp_avg": "mean", "exp_avg_sq": "square"}

FORMULAS = {
    "sgd": Formula(
        "momentum dampening nesterov", {}, ["kept = 1 - dampening"], "lr momentum kept nesterov",
        {"momentum_buffer": "speed"},
        "if (speed_at) {"
        "  speed = speed * momentum + slope * kept;"
        "  slope = nesterov != 0 ? slope + speed * momentum : speed;"
        "}"
        "own -= slope * lr;"),
    "adam": Formula(
        "beta1 beta2 eps", _STEP,
        [_COUNT, "spread = sqrt(1 - pow(beta2, count))",
         "rate = lr * spread / (1 - pow(beta1, count))", "least = eps * spread", *_AWAY],
        "rate least away1 beta2 away2", {**_AVERAGES, "max_exp_avg_sq": "largest"},
        _MEAN + _SQUARE +
        "A size = square;"
        "if (largest_at) size = largest = greater(square, largest);"
        "own -= mean / (sqrt(size) + least) * rate;"),
    "adamax": Formula(
        "beta1 beta2 eps", _STEP,
        [_COUNT, "rate = lr / (1 - pow(beta1, count))", _AWAY[0]], "rate eps away1 beta2",
        {"exp_avg": "mean", "exp_inf": "largest"},
        _MEAN + "largest = greater(largest * beta2, (slope < 0 ? -slope : slope) + eps);"
        "own -= mean / largest * rate;"),
    "nadam": Formula(
        "beta1 beta2 eps momentum_decay", {**_STEP, "mu_product": "product"},
        [_COUNT, "momentum = beta1 * (1 - 0.5 * pow(0.96, count * momentum_decay))",
         "next_momentum = beta1 * (1 - 0.5 * pow(0.96, (count + 1) * momentum_decay))",
         "product = single(product * single(momentum))", "spread = sqrt(1 - pow(beta2, count))",
         "of_grad = lr * spread * (1 - momentum) / (1 - product)",
         "of_mean = lr * spread * next_momentum / (1 - product * next_momentum)",
         "least = eps * spread",
         *_AWAY],
        "of_grad of_mean least away1 beta2 away2", _AVERAGES,
        _MEAN + _SQUARE +
        "own -= (slope * of_grad + mean * of_mean) / (sqrt(square) + least);"),
    "radam": Formula(
        "beta1 beta2 eps", _STEP,
        # `length` is the effective length of the average of squares, `most` its limit.
        [_COUNT, "unseen = 1 - pow(beta2, count)", "most = 2 / (1 - beta2) - 1",
         "length = most - 2 * count * pow(beta2, count) / unseen", "adapt = 1.0 * (length > 5)",
         "most = fmax(most, 5.0)", "length = fmax(length, 5.0)",
         "bend = sqrt((length - 4) * (length - 2) * most"
         " / ((most - 4) * (most - 2) * length) * unseen)",
         "rate = lr / (1 - pow(beta1, count)) * (adapt * bend + (1 - adapt))", *_AWAY],
        "rate adapt eps away1 beta2 away2", _AVERAGES,
        _MEAN + _SQUARE +
        "A change = mean * rate;"
        "own -= adapt != 0 ? change / (sqrt(square) + eps) : change;"),
    "rmsprop": Formula(
        "alpha eps momentum", _STEP, [_COUNT, "away = 1 - alpha"], "lr alpha away eps momentum",
        {"square_avg": "square", "momentum_buffer": "speed", "grad_avg": "mean"},
        "square = square * alpha + slope * slope * away;"
        "A spread = square;"
        "if (mean_at) { mean += (slope - mean) * away; spread -= mean * mean; }"
        "A change = slope / (sqrt(spread) + eps);"
        "if (speed_at) change = speed = speed * momentum + change;"
        "own -= change * lr;"),
    "adadelta": Formula(
        "rho eps", _STEP, [_COUNT, "away = 1 - rho"], "lr rho away eps",
        {"square_avg": "square", "acc_delta": "moved"},
        "square = square * rho + slope * slope * away;"
        "A change = slope * sqrt(moved + eps) / sqrt(square + eps);"
        "moved = moved * rho + change * change * away;"
        "own -= change * lr;"),
    "adagrad": Formula(
        "lr_decay eps", _STEP, [_COUNT, "rate = lr / (1 + (count - 1) * lr_decay)"], "rate eps",
        {"sum": "total"},
        "total += slope * slope;"
        "own -= slope / (sqrt(total) + eps) * rate;"),
}

FORMULAS = {name: formula._replace(lines=(*formula.lines, _LEFT))
            for name, formula in FORMULAS.items()}


def single(value: float) -> float:
    """Round a number to float32."""
    return float(np.float32(value))


_FUNCTIONS = {"sqrt": math.sqrt, "pow": math.pow, "fmax": max, "single": single,
              "__builtins__": {}}


def numbers_of(name: str, values: Mapping[str, float]) -> dict[str, float]:
    """Return all numbers of a step, given the options and the counts before it.

    >>> numbers_of("adagrad", {"lr": 0.5, "lr_decay": 1, "count": 1, "decoupled": 0})["rate"]
    0.25
    """
    found = dict(values)
    for line in FORMULAS[name].lines:
        target, text = line.split(" = ", 1)
        found[target] = eval(text, _FUNCTIONS, found)
    return found
