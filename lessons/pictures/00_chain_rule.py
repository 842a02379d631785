"""Pictures of lesson 00."""

from __future__ import annotations

from minigrad.tiny import Number, backward_order, exp, gradients, slope
from minigrad_course.pictures import Curve, Picture, number_graph, plot
from minigrad_course.pictures.graphs import short


def error_of_eps() -> Picture:
    """The error of a central difference against its step."""
    steps = [10 ** (-k / 2) for k in range(2, 29)]
    errors = [max(abs(slope(lambda x: x * x * x, 1.0, eps) - 3.0), 1e-13) for eps in steps]
    best = min(range(len(steps)), key=errors.__getitem__)
    return Picture(
        plot([Curve([*zip(steps, errors, strict=True)], dots=True)], "eps",
             "error of the slope of x³ at 1", log_x=True, log_y=True,
             x_ticks=[1e-14, 1e-11, 1e-8, 1e-5, 1e-2], y_ticks=[1e-12, 1e-9, 1e-6, 1e-3]),
        "The error of a measured slope against its step",
        "A curve with logarithmic axes. From right to left, as eps shrinks, the error falls along "
        f"a straight line to its least value near eps = {steps[best]:.0e}, then rises again, "
        "jagged.",
        "To the right of the lowest point, the step is too coarse, and to its left, too many "
        "digits cancel.")


def _one_path() -> tuple[Number, dict[Number, str]]:
    a, b, e = Number(2.0), Number(0.5), Number(1.0)
    c = a * b
    d = exp(c)
    f = d + e
    return f, {a: "a", b: "b", e: "e", c: "c = a × b", d: "d = exp c", f: "f = d + e"}


def one_path() -> Picture:
    """The first graph, to be filled in."""
    f, names = _one_path()
    return Picture(
        number_graph(f, names, backward=False), "The graph of f = exp(a × b) + e",
        "Arrows lead from a = 2 and b = 0.5 to c = a × b, on to d = exp c, and with e = 1 to "
        "f = d + e.",
        "Each box is a value, and each arrow shows where the value is used.")


def one_path_back() -> Picture:
    """The first graph with its gradients."""
    f, names = _one_path()
    found = gradients(f)
    told = ", ".join(f"{names[each].partition(' ')[0]} {short(found[each])}" for each in names)
    return Picture(
        number_graph(f, names, down=True), "The way back through f = exp(a × b) + e",
        "The same graph with values in blue and dashed orange arrows from f back to the leaves, "
        f"each with the slope of its step. The slopes of f with respect to each: {told}.",
        "Start with ∂ 1 at `f`, and multiply by the slope of the step at each dashed arrow. That "
        "gives you the slope of `f` with respect to every value.")


def _steps(result: Number) -> list[Number]:
    """Return the numbers that steps computed, the result included."""
    return [each for each in backward_order(result) if each.inputs]


def _two_paths() -> tuple[Number, dict[Number, str]]:
    a, b = Number(3.0), Number(2.0)
    c = Number(a.value**2, (a,), (2 * a.value,))  # one step with one slope, as in the lesson
    d = Number(b.value**2, (b,), (2 * b.value,))
    e = c * d
    f = e + d
    return f, {a: "a", b: "b", c: "c = a²", d: "d = b²", e: "e = c × d", f: "f = e + d"}


def opening() -> Picture:
    """The graph with which the lesson opens; on the site, it can be changed."""
    f, names = _two_paths()
    found = {names[each].partition(" ")[0]: short(value) for each, value in gradients(f).items()}
    slopes = [slope for each in _steps(f) for slope in each.slopes]
    return Picture(
        number_graph(f, names, down=True), "The graph of d = b², f = a² × d + d at a = 3 and b = 2",
        "Boxes for a, b, c = a², d = b², e = c × d and f = e + d, each with its value and its "
        "gradient, are joined by arrows that carry the slope of one step. The largest of these "
        f"slopes is {short(max(slopes))}, and the gradient of b is {found['b']}.",
        "Each box has its value on the left and its gradient on the right, and each arrow has the "
        "slope of one step.")


def two_paths() -> Picture:
    """The second graph, to be filled in."""
    f, names = _two_paths()
    return Picture(
        number_graph(f, names, backward=False), "The graph of f = c × d + d",
        "Arrows lead from a = 3 to c = a², from b = 2 to d = b², from c and d to e = c × d, and "
        "from e and d to f = e + d: two arrows leave d.",
        "Two arrows leave `d`, because it's used twice.")


def two_paths_back() -> Picture:
    """The second graph with its gradients."""
    f, names = _two_paths()
    found = {names[each].partition(" ")[0]: short(value) for each, value in gradients(f).items()}
    return Picture(
        number_graph(f, names, down=True), "The way back through f = c × d + d",
        "The same graph with dashed orange arrows back. Two of them reach d, one with slope 1 from "
        f"f, one with slope 9 from e, so the slope of f with respect to d is {found['d']} and with "
        f"respect to b {found['b']}.",
        f"Two dashed arrows meet at `d`, and their slopes add up to {found['d']}. Only then can "
        "`d` pass its slope on to `b`.")
