"""Symptoms of stage 00: what a wrong answer does, shown by tiny programs.

Graphs are made of Numbers with given inputs and slopes, so that no symptom leans on another hole.
"""

import math

from minigrad import tiny
from minigrad.tiny import Number


def near(a, b):
    return abs(a - b) < 1e-9


def of(*inputs):
    """Return a number computed from others; its slopes are 2, 3, ..."""
    return Number(1.0, inputs, tuple(range(2, 2 + len(inputs))))


# ------------------------------------------------------------------ 00.1


def slopes(*places, eps=0.5):
    """Return the slopes of x**2 that are given at places: one alone may be a constant's."""
    return [tiny.slope(lambda x: x * x, x, eps) for x in places]


def symptom_00_1_never_negative():
    return all(map(near, slopes(3.0, 1.0, -3.0), (6.0, 2.0, 6.0)))


def symptom_00_1_parentheses():
    return all(map(near, slopes(3.0) + slopes(3.0, eps=0.25), (1.5, 0.375)))


def symptom_00_1_one_sided():
    return any(all(map(near, slopes(3.0, 1.0), wanted)) for wanted in ((6.5, 2.5), (5.5, 1.5)))


def symptom_00_1_half_the_distance():
    return all(map(near, slopes(3.0, 1.0), (12.0, 4.0)))


def symptom_00_1_wrong_sign():
    return all(map(near, slopes(3.0, 1.0), (-6.0, -2.0)))


def symptom_00_1_ignores_eps():
    return all(abs(tiny.slope(lambda at: at ** 5, x, 0.5) - 5.0 * x ** 4) < 1e-3
               for x in (1.0, 2.0))


# ------------------------------------------------------------------ 00.2


def pair(made):
    return tuple(made.slopes)


def symptom_00_2_inputs_swapped():
    a, b = Number(2.0), Number(5.0)
    return (any(tuple(make(a, b).inputs) == (b, a) for make in (tiny.add, tiny.mul))
            and len(tiny.add(a, a).inputs) == 2)


def symptom_00_2_own_factor():
    return pair(tiny.mul(Number(2.0), Number(5.0))) == (2.0, 5.0)


def symptom_00_2_slopes_of_a_sum():
    return pair(tiny.mul(Number(2.0), Number(5.0))) == (1.0, 1.0)


def symptom_00_2_adds_in_mul():
    return tiny.mul(Number(2.0), Number(5.0)).value == 7.0


def symptom_00_2_slopes_in_add():
    return pair(tiny.add(Number(2.0), Number(5.0))) in ((2.0, 5.0), (5.0, 2.0))


def symptom_00_2_slopes_are_numbers():
    return any(isinstance(each, Number) for make in (tiny.add, tiny.mul)
               for each in make(Number(2.0), Number(5.0)).slopes)


def symptom_00_2_calls_itself():
    for make in (tiny.add, tiny.mul):
        try:
            make(Number(2.0), Number(5.0))
        except RecursionError:
            return True
    return False


def symptom_00_2_forgets_inputs():
    return any(made.inputs == () for made in (tiny.add(Number(2.0), Number(5.0)),
                                              tiny.mul(Number(2.0), Number(5.0))))


def symptom_00_2_one_input_of_two():
    a = Number(2.0)
    return len(tiny.add(a, a).inputs) == 1


# ------------------------------------------------------------------ 00.3


def symptom_00_3_mo():
    return near(tiny.tanh(Number(2.0)).slopes[0], 1 - 2.0 * 2.0)


def symptom_00_3_not_squared():
    return near(tiny.tanh(Number(2.0)).slopes[0], 1 - math.tanh(2.0))


def symptom_00_3_reciprocal_grows():
    return near(tiny.reciprocal(Number(4.0)).slopes[0], 0.0625)


def symptom_00_3_reciprocal_not_squared():
    return near(tiny.reciprocal(Number(4.0)).slopes[0], -0.25)


FUNCTIONS = tiny.exp, tiny.tanh, tiny.reciprocal


def symptom_00_3_no_tuple():
    made = [make(Number(2.0)) for make in FUNCTIONS]
    return any(isinstance(each.slopes, float) or isinstance(each.inputs, Number) for each in made)


def symptom_00_3_another_input():
    a = Number(2.0)
    return any(isinstance(made.inputs, tuple) and made.inputs
               and not any(each is a for each in made.inputs)
               for made in (make(a) for make in FUNCTIONS))


def symptom_00_3_not_the_value():
    for make in FUNCTIONS:
        try:
            make(Number(2.0))
        except TypeError as error:
            if "must be real number, not Number" in str(error):
                return True
    return False


def symptom_00_3_exp_by_the_input():
    return near(tiny.exp(Number(2.0)).slopes[0], 2.0)


# ------------------------------------------------------------------ 00.4


def symptom_00_4_twice():
    a = Number(2.0)
    b = of(a, a)
    order = list(tiny.backward_order(of(b, a)))
    return any(order.count(each) > 1 for each in order)


def symptom_00_4_no_list():
    return not isinstance(tiny.backward_order(Number(2.0)), list)


def symptom_00_4_remembers_calls():
    a = Number(2.0)
    f = of(of(a), a)
    return len(list(tiny.backward_order(f))) == 3 > len(list(tiny.backward_order(f)))


def symptom_00_4_leaves_out_result():
    a = Number(2.0)
    f = of(a)
    return f not in tiny.backward_order(f)


def symptom_00_4_by_value():
    def places(*values):
        """Return the order of a chain with these values, as places in the chain."""
        chain = [Number(values[0])]
        for value in values[1:]:
            chain.append(Number(value, (chain[-1],), (1.0,)))
        return [chain.index(each) for each in tiny.backward_order(chain[-1])]

    return (places(1.0, 3.0, 2.0), places(3.0, 1.0, 2.0)) in (([1, 2, 0], [0, 2, 1]),
                                                             ([0, 2, 1], [1, 2, 0]))


def symptom_00_4_oldest_first():
    a = Number(2.0)
    b = of(a)
    f = of(b)
    return list(tiny.backward_order(f)) == [a, b, f]


def symptom_00_4_first_found_first():
    """Two graphs, so that depth first fails on one and breadth first on the other."""
    a = Number(2.0)
    b = of(a)
    first, second = of(b, of(a, b)), of(of(of(a)), a)
    wrong = False
    for result in (first, second, of(of(a, b), b), of(a, of(of(a)))):
        order = list(tiny.backward_order(result))
        if order[:1] != [result] or len(set(order)) != len(order):
            return False
        wrong |= any(order.index(each) < order.index(number)
                     for number in order for each in number.inputs)
    return wrong


def symptom_00_4_calls_itself():
    chain = [Number(2.0)]  # a list lets go of its numbers one by one, which a page has to
    for _ in range(3000):
        chain.append(of(chain[-1]))
    try:
        tiny.backward_order(chain[-1])
    except RecursionError:
        return True
    return False


def symptom_00_4_without_leaves():
    a = Number(2.0)
    b = of(a)
    return list(tiny.backward_order(of(b)))[1:] == [b]


# ------------------------------------------------------------------ 00.5


def joined():
    """Return a leaf and a result with two paths to it: 2 * 3 + 4 * 5 = 26."""
    a = Number(7.0)
    b = Number(1.0, (a,), (3.0,))
    c = Number(1.0, (a,), (5.0,))
    return a, Number(9.0, (b, c), (2.0, 4.0))


def symptom_00_5_begins_with_the_oldest():
    a, f = joined()
    given = tiny.gradients(f)
    b, c = f.inputs
    return (given.get(f), given.get(b), given.get(c), given.get(a)) == (1.0, 2.0, 4.0, 0.0)


def symptom_00_5_overwrites():
    a, f = joined()
    return tiny.gradients(f)[a] in (6.0, 20.0)


def symptom_00_5_without_local_slopes():
    a, f = joined()
    return tiny.gradients(f)[a] == 2.0


def symptom_00_5_local_slopes_alone():
    a, f = joined()
    return tiny.gradients(f)[a] == 8.0


def symptom_00_5_starts_at_zero():
    a, f = joined()
    given = tiny.gradients(f)
    return given.get(f, 0.0) == 0.0 and given.get(a, 0.0) == 0.0


def symptom_00_5_no_start():
    try:
        tiny.gradients(joined()[1])
    except KeyError:
        return True
    return False


def symptom_00_5_leaves_only():
    a, f = joined()
    given = tiny.gradients(f)
    return given.get(a) == 26.0 and any(each not in given for each in f.inputs)


def symptom_00_5_one_slope_of_two():
    a, right = joined()
    b = Number(7.0)
    return (tiny.gradients(right)[a] == 26.0
            and tiny.gradients(Number(9.0, (b, b), (3.0, 5.0)))[b] in (3.0, 5.0))


def symptom_00_5_passed_on_early():
    """Two orders of the inputs, so that a queue fails in one and a stack in the other."""
    def slope_of_leaf(turned):
        a = Number(7.0)
        b = Number(1.0, (a,), (3.0,))
        pairs = [(b, 8.0), (Number(1.0, (a, b), (1.0, 1.0)), 6.0)]
        inputs, slopes = zip(*(pairs[::-1] if turned else pairs), strict=True)
        return tiny.gradients(Number(1.0, inputs, slopes))[a]

    a, f = joined()
    return tiny.gradients(f)[a] == 26.0 and 30.0 in (slope_of_leaf(False), slope_of_leaf(True))


def symptom_00_5_starts_at_the_value():
    a, f = joined()
    return tiny.gradients(f)[a] == 26.0 * 9.0


# ------------------------------------------------------------------ 00.6


def symptom_00_6_overwrites():
    a, f = joined()
    a.grad = 100.0
    f.backward()
    return a.grad == 26.0


def symptom_00_6_all_numbers():
    _, f = joined()
    f.backward()
    return f.grad is not None


def symptom_00_6_none_is_added_to():
    _, f = joined()
    try:
        f.backward()
    except TypeError as error:
        return "NoneType" in str(error)
    return False


def descended(rate=0.25, before=0.0):
    """Return where a weight stands after a step from 1.0; its gradient is 4."""
    w = Number(1.0)
    w.grad = before
    tiny.descend(Number(3.0, (w,), (4.0,)), [w], rate)
    return w.value


def symptom_00_6_a_pass_for_each_weight():
    v, w = Number(1.0), Number(1.0)
    tiny.descend(Number(3.0, (v, w), (4.0, -8.0)), [v, w], 0.25)
    return ((v.grad, w.grad) in ((8.0, -8.0), (8.0, -16.0))
            and descended() == descended(before=8.0) == 0.0)


def after_a_step():
    """Return a weight with the gradient 4 after a step from 1.0, and the list of weights."""
    w = Number(1.0)
    weights = [w]
    tiny.descend(Number(3.0, (w,), (4.0,)), weights, 0.25)
    return w, weights


def symptom_00_6_new_numbers():
    w, weights = after_a_step()
    return w.value == 1.0 and w.grad == 4.0 and weights[0] is not w


def symptom_00_6_weights_stay():
    w, weights = after_a_step()
    return w.value == 1.0 and w.grad == 4.0 and weights[0] is w


def symptom_00_6_uphill():
    return descended() == 2.0 and descended(before=8.0) == 2.0


def symptom_00_6_old_gradients():
    return descended() == 0.0 and descended(before=8.0) == -2.0


def symptom_00_6_ignores_rate():
    return descended(0.25) == descended(0.5) == -3.0


def symptom_00_6_values_move_in_backward():
    a, f = joined()
    f.backward()
    return a.value != 7.0


def symptom_00_6_adds_all_slopes():
    a, f = joined()
    f.backward()
    return a.grad == 26.0 + 2.0 + 4.0 + 1.0
