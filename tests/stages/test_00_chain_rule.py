"""Stage 00: an engine on numbers.

Graphs are made of Numbers with given inputs and slopes, so that no test leans on another hole.
"""

import math

import pytest

from minigrad import tiny
from minigrad.tiny import Number


def of(*inputs, slopes=None):
    """Return a number computed from others; its slopes are 2, 3, ... if none are given."""
    return Number(1.5, inputs, slopes or tuple(float(2 + place) for place in range(len(inputs))))


def measured(f, at, which):
    """Return the derivative of f with respect to one of its arguments, by central differences."""
    def moved(by):
        return f(*at[:which], at[which] + by, *at[which + 1:])

    return (moved(1e-6) - moved(-1e-6)) / 2e-6


def close(got, wanted, rel=1e-6):
    assert got is not None, f"expected {wanted:.6g}; it returns None"
    assert got == pytest.approx(wanted, rel=rel, abs=1e-9), f"expected {wanted:.6g}, got {got:.6g}"


# ------------------------------------------------------------------ 00.1


@pytest.mark.hole("00.1")
def test_both_sides_of_a_parabola():
    close(tiny.slope(lambda x: x * x, 3.0, 0.5), 6.0)
    close(tiny.slope(lambda x: x * x, -2.5, 0.25), -5.0)


@pytest.mark.hole("00.1")
def test_a_large_eps_shows_the_bend():
    close(tiny.slope(lambda x: x * x * x, 1.0, 0.5), 3.25)


@pytest.mark.hole("00.1")
@pytest.mark.parametrize("name", ["sin", "exp", "sqrt"])
def test_the_usual_eps_is_good(name):
    f = getattr(math, name)
    wanted = {"sin": math.cos(0.7), "exp": math.exp(0.7), "sqrt": 0.5 / math.sqrt(0.7)}[name]
    close(tiny.slope(f, 0.7), wanted)


@pytest.mark.hole("00.1")
def test_f_is_called_twice():
    seen = []
    tiny.slope(lambda x: seen.append(x) or x, 3.0, 0.5)
    assert sorted(seen) == [2.5, 3.5], f"expected calls at 2.5 and 3.5, got {sorted(seen)}"


# ------------------------------------------------------------------ 00.2

PAIRS = pytest.mark.parametrize(("x", "y"), [(2.0, 5.0), (-1.5, 0.25)], ids=["2, 5", "-1.5, 0.25"])
STEPS = pytest.mark.parametrize("name", ["add", "mul"])


@pytest.mark.hole("00.2")
@PAIRS
def test_values_of_sums_and_products(x, y):
    close(tiny.add(Number(x), Number(y)).value, x + y)
    close(tiny.mul(Number(x), Number(y)).value, x * y)


@pytest.mark.hole("00.2")
def test_slopes_of_a_sum():
    assert tuple(tiny.add(Number(2.0), Number(5.0)).slopes) == (1.0, 1.0)


@pytest.mark.hole("00.2")
def test_slopes_of_a_product():
    assert tuple(tiny.mul(Number(2.0), Number(5.0)).slopes) == (5.0, 2.0)


@pytest.mark.hole("00.2")
@STEPS
def test_inputs_are_remembered(name):
    for a, b in ((Number(2.0), Number(5.0)), (of(Number(2.0)), of(Number(5.0)))):
        inputs = tuple(getattr(tiny, name)(a, b).inputs)
        assert len(inputs) == 2 and inputs[0] is a and inputs[1] is b


@pytest.mark.hole("00.2")
@STEPS
def test_the_same_number_twice(name):
    a = Number(3.0)
    made = getattr(tiny, name)(a, a)
    assert len(made.inputs) == len(made.slopes) == 2 and all(each is a for each in made.inputs)


@pytest.mark.hole("00.2")
@pytest.mark.parametrize(("text", "wanted"), [
    ("a + 1", 4.0), ("2 * a", 6.0), ("a * a + a", 12.0), ("1 + a * 2", 7.0), ("a - 1", 2.0),
    ("1 - a", -2.0), ("-a", -3.0)])
def test_operators_use_the_steps(text, wanted):
    close(eval(text, {"a": Number(3.0)}).value, wanted)


@pytest.mark.hole("00.2")
@STEPS
def test_a_step_gives_a_new_number(name):
    a, b = Number(2.0), Number(5.0)
    made = getattr(tiny, name)(a, b)
    assert isinstance(made, Number) and made is not a and made is not b
    assert (a.value, b.value, tuple(a.inputs), tuple(b.inputs)) == (2.0, 5.0, (), ())


# ------------------------------------------------------------------ 00.3

FUNCTIONS = {"exp": math.exp, "tanh": math.tanh, "reciprocal": lambda x: 1 / x}
each_function = pytest.mark.parametrize("name", FUNCTIONS)


@pytest.mark.hole("00.3")
@each_function
def test_values_of_functions(name):
    for x in (2.0, -0.75, 0.3):
        close(getattr(tiny, name)(Number(x)).value, FUNCTIONS[name](x))


@pytest.mark.hole("00.3")
@each_function
def test_slopes_of_functions(name):
    for x in (2.0, -0.75, 0.3):
        slopes = getattr(tiny, name)(Number(x)).slopes
        assert len(slopes) == 1
        close(slopes[0], measured(FUNCTIONS[name], (x,), 0))


@pytest.mark.hole("00.3")
@each_function
def test_functions_remember_their_input(name):
    a = Number(2.0)
    inputs = tuple(getattr(tiny, name)(a).inputs)
    assert len(inputs) == 1 and inputs[0] is a


# ------------------------------------------------------------------ 00.4


def graphs():
    """Return results of graphs in which one or another walk comes to a number too early."""
    a = Number(2.0)
    b = of(a)
    c = of(a, b)
    d = of(c, a)
    return {"a diamond": of(of(b), of(b)), "b before its user c": of(b, c),
            "b after its user c": of(c, b), "a number used twice, then once": of(of(b, b), of(b)),
            "a number used once, then twice": of(of(b), of(b, b)),
            "a long and a short path": of(a, of(of(of(a)))),
            "a short and a long path": of(of(of(of(a))), a), "many uses": of(d, c, b, a, d)}


def checked(result):
    """Return the order, if it is a list of numbers."""
    order = tiny.backward_order(result)
    assert isinstance(order, list), f"expected a list, got an object of type {type(order).__name__}"
    assert all(isinstance(each, Number) for each in order)
    return order


@pytest.mark.hole("00.4")
def test_every_number_once():
    a = Number(2.0)
    b = of(a, a)
    order = checked(of(b, a, b))
    assert len(order) == len(set(order)) == 3, f"expected 3 numbers, got {len(order)}"


@pytest.mark.hole("00.4")
@pytest.mark.parametrize("name", graphs())
def test_users_come_first(name):
    result = graphs()[name]
    order = checked(result)
    places = {each: place for place, each in enumerate(order)}
    for number in order:
        for each in number.inputs:
            assert each in places, "an input is missing in the list"
            assert places[number] < places[each], "a number comes before one that used it"


@pytest.mark.hole("00.4")
def test_the_result_begins_and_a_leaf_alone_is_a_list():
    a = Number(2.0)
    assert checked(a) == [a]
    b = of(a)
    assert checked(b) == [b, a]


@pytest.mark.hole("00.4")
def test_what_the_result_does_not_need_stays_out():
    a, other = Number(2.0), Number(3.0)
    b = of(a)
    beside = of(a, other)
    after = of(b, beside)
    assert checked(b) == [b, a] and len(checked(after)) == 5


@pytest.mark.hole("00.4")
def test_a_second_call_returns_the_same_list():
    a = Number(2.0)
    b = of(a)
    c = of(b, a)
    assert [checked(c), checked(c), checked(b)] == [[c, b, a], [c, b, a], [b, a]]


@pytest.mark.hole("00.4")
def test_a_long_chain_is_walked():
    chain = [Number(2.0)]
    for _ in range(5000):
        chain.append(of(chain[-1]))
    assert checked(chain[-1]) == chain[::-1]


class Watched(Number):
    """A Number that counts how often its inputs are looked at."""

    looked = 0

    @property
    def inputs(self):
        Watched.looked += 1
        return self.given

    @inputs.setter
    def inputs(self, given):
        self.given = given


@pytest.mark.hole("00.4")
def test_paths_are_not_all_walked():
    number = Watched(2.0)
    for _ in range(12):
        number = Watched(1.0, (number, number), (1.0, 1.0))
    Watched.looked = 0
    order = checked(number)
    looked = Watched.looked
    assert len(order) == 13, f"expected 13 numbers, got {len(order)}"
    assert looked <= 130, f"the inputs of 13 numbers were looked at {looked} times"


# ------------------------------------------------------------------ 00.5


@pytest.mark.hole("00.5")
def test_slopes_multiply_along_a_path():
    a = Number(7.0)
    b = of(a, slopes=(3.0,))
    c = of(b, slopes=(-0.5,))
    grads = tiny.gradients(of(c, slopes=(4.0,)))
    assert (grads[c], grads[b], grads[a]) == (4.0, -2.0, -6.0)


@pytest.mark.hole("00.5")
@pytest.mark.parametrize("case", ["two numbers", "one step that uses it twice", "a late user"])
def test_slopes_add_where_edges_meet(case):
    a = Number(7.0)
    if case == "two numbers":
        result = of(of(a, slopes=(3.0,)), of(a, slopes=(5.0,)), slopes=(2.0, 4.0))
        wanted = 26.0
    elif case == "one step that uses it twice":
        result, wanted = of(a, a, slopes=(3.0, 0.25)), 3.25
    else:
        b = of(a, slopes=(3.0,))
        result = of(b, of(a, b, slopes=(1.0, 1.0)), slopes=(8.0, 6.0))
        wanted = 48.0
    assert tiny.gradients(result)[a] == wanted


@pytest.mark.hole("00.5")
def test_the_result_has_slope_one():
    a = Number(7.0)
    b = of(a)
    assert tiny.gradients(b)[b] == 1.0 and tiny.gradients(a) == {a: 1.0}


@pytest.mark.hole("00.5")
def test_every_number_has_a_slope():
    a, other = Number(7.0), Number(2.0)
    b = of(a, slopes=(0.0,))
    of(a, other)
    f = of(b, slopes=(5.0,))
    assert dict(tiny.gradients(f)) == {f: 1.0, b: 5.0, a: 0.0}


@pytest.mark.hole("00.5")
def test_the_graph_stays_as_it_was():
    a = Number(7.0)
    b = of(a, a)
    a.grad = 100.0
    before = [(each.value, each.inputs, each.slopes, each.grad) for each in (a, b)]
    tiny.gradients(b)
    assert [(each.value, each.inputs, each.slopes, each.grad) for each in (a, b)] == before


@pytest.mark.hole("00.5")
def test_each_pass_starts_anew():
    a = Number(7.0)
    b = of(a, slopes=(3.0,))
    f = of(b, a, slopes=(2.0, 4.0))
    wanted = {f: 1.0, b: 2.0, a: 10.0}
    assert [tiny.gradients(each) for each in (f, f, b)] == [wanted, wanted, {b: 1.0, a: 3.0}]


@pytest.mark.hole("00.5")
def test_a_slope_is_passed_on_once():
    last = first = Watched(2.0)
    for _ in range(14):
        last = Watched(1.0, (last, last), (1.0, 1.0))
    Watched.looked = 0
    grads = tiny.gradients(last)
    looked = Watched.looked
    assert grads[first] == 2.0 ** 14
    assert looked <= 1000, f"the inputs of 15 numbers were looked at {looked} times"


@pytest.mark.hole("00.5")
def test_a_long_chain_has_slopes():
    last = first = Number(2.0)
    chain = [first]  # a list lets go of its numbers one by one, which a page has to
    for _ in range(1500):
        last = of(last, slopes=(-1.0,))
        chain.append(last)
    assert tiny.gradients(last)[first] == 1.0


@pytest.mark.hole("00.5")
@pytest.mark.parametrize("text", ["d + c * d", "a * b * a", "c * c * c + a"])
def test_it_agrees_with_measured_slopes(text):
    """Values and slopes are written out here: no step of the learner's is used."""
    def value(x, y):
        return eval(text, {"a": x, "b": y, "c": x * x, "d": y * y})

    a, b = Number(3.0), Number(2.0)
    c = Number(9.0, (a, a), (3.0, 3.0))
    d = Number(4.0, (b, b), (2.0, 2.0))
    if text == "d + c * d":
        result = Number(40.0, (d, Number(36.0, (c, d), (4.0, 9.0))), (1.0, 1.0))
    elif text == "a * b * a":
        result = Number(18.0, (Number(6.0, (a, b), (2.0, 3.0)), a), (3.0, 6.0))
    else:
        cube = Number(729.0, (Number(81.0, (c, c), (9.0, 9.0)), c), (9.0, 81.0))
        result = Number(732.0, (cube, a), (1.0, 1.0))
    grads = tiny.gradients(result)
    close(grads[a], measured(value, (3.0, 2.0), 0))
    if b in grads:
        close(grads[b], measured(value, (3.0, 2.0), 1))


# ------------------------------------------------------------------ 00.6


def two_paths():
    """Return a leaf and a number whose slope with respect to it is 2 * 3 + 4 * 5 = 26."""
    a = Number(7.0)
    return a, of(of(a, slopes=(3.0,)), of(a, slopes=(5.0,)), slopes=(2.0, 4.0))


@pytest.mark.hole("00.6")
def test_leaves_get_their_gradients():
    a, result = two_paths()
    result.backward()
    assert a.grad == 26.0 and a.value == 7.0


@pytest.mark.hole("00.6")
def test_other_numbers_keep_none():
    _, result = two_paths()
    result.backward()
    assert result.grad is None and all(each.grad is None for each in result.inputs)


@pytest.mark.hole("00.6")
def test_a_second_pass_adds():
    a, result = two_paths()
    result.backward()
    result.backward()
    of(a, slopes=(0.5,)).backward()
    assert a.grad == 52.5


@pytest.mark.hole("00.6")
def test_a_leaf_may_begin():
    a = Number(7.0)
    a.backward()
    assert a.grad == 1.0


@pytest.mark.hole("00.6")
def test_weights_move_against_their_gradients():
    v, w = Number(1.0), Number(-2.0)
    tiny.descend(of(v, w, slopes=(4.0, -8.0)), [v, w], 0.25)
    assert (v.value, w.value) == (0.0, 0.0)
    tiny.descend(of(v, w, slopes=(4.0, -8.0)), [v, w], 0.5)
    assert (v.value, w.value) == (-2.0, 4.0)


@pytest.mark.hole("00.6")
def test_old_gradients_do_not_count():
    w = Number(1.0)
    w.grad = 100.0
    tiny.descend(of(w, slopes=(4.0,)), [w], 0.25)
    tiny.descend(of(w, slopes=(4.0,)), [w], 0.25)
    assert (w.value, w.grad) == (-1.0, 4.0)


@pytest.mark.hole("00.6")
def test_a_weight_that_the_loss_does_not_use_stays():
    v, w = Number(1.0), Number(2.0)
    w.grad = 100.0
    tiny.descend(of(v, slopes=(4.0,)), [v, w], 0.25)
    assert (v.value, w.value) == (0.0, 2.0)
    assert (v.grad, w.grad) == (4.0, 0.0)


@pytest.mark.hole("00.6")
def test_all_move_after_the_backward_pass():
    v, w = Number(1.0), Number(2.0)
    tiny.descend(of(v, w, v, slopes=(4.0, -8.0, 1.0)), [v, w], 0.1)
    assert (v.grad, w.grad) == (5.0, -8.0)
    close(v.value, 0.5)
    close(w.value, 2.8)


@pytest.mark.hole("00.6")
def test_it_learns():
    """The line y = 2x + 1 is found again from three of its points."""
    v, w = Number(0.0), Number(0.0)
    for _ in range(200):
        errors = [v.value * x + w.value - (2 * x + 1) for x in (-1.0, 0.5, 2.0)]
        slopes = (sum(2 * e * x for e, x in zip(errors, (-1.0, 0.5, 2.0), strict=True)),
                  sum(2 * e for e in errors))
        tiny.descend(of(v, w, slopes=slopes), [v, w], 0.1)
    close(v.value, 2.0, 1e-3)
    close(w.value, 1.0, 1e-3)
