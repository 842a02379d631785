"""Probes of stage 04d: random products, lists, views and pairs in the second copy."""

from probing import numbers, tried

import minigrad as torch
from minigrad_course.child_process.second_copy import second_copy


def leaf(copy, random, size=2):
    """Return a tensor that requires grad, or not."""
    values = [random.uniform(-2, 2) for _ in range(size)]
    return copy.tensor(values, requires_grad=random.random() < 0.6)


def kept(node):
    """Return which names of a node are saved."""
    return None if node is None else [
        [name, getattr(node, slot, None) is not None] for name, slot in node.value_slots.items()]


def seen(copy, random, function, count=1):
    """Apply a function to random leaves; return result, edges, saved names and gradients."""
    inputs = [leaf(copy, random) for _ in range(count)]

    def program():
        result = function(*inputs)
        node = result.grad_fn
        edges = None if node is None else [
            [to and to.name(), number] for to, number in node.next_functions]
        saved = kept(node)
        if node is not None:
            result.sum().backward()
        return [numbers(result), edges, saved, [numbers(each.grad) for each in inputs]]

    return tried(program, text=False)


def probe_04d_1_saved(random):
    copy = second_copy("04d.1")
    return [seen(copy, random, copy.F.mul, 2), seen(copy, random, copy.F.sin)]


def probe_04d_2_recorded(random):
    copy = second_copy("04d.2")
    with torch.set_grad_enabled(random.random() < 0.7):
        return [seen(copy, random, copy.F.mul, 2),
                seen(copy, random, lambda *all_: copy.F.add_scaled(list(all_), 3.0), 3)]


def probe_04d_3_wrapped(random):
    copy = second_copy("04d.3")
    both = copy.F.sin_cos(leaf(copy, random))
    matrix = copy.tensor([[random.random(), 1.0]], requires_grad=True)
    view = copy.F.transposed(matrix)
    return [seen(copy, random, copy.F.exp), [each._index for each in both],
            type(both).__name__, view._base is matrix, list(view.shape)]
