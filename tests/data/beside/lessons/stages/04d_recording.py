"""Symptoms of stage 04d: each asks the second copy whether it shows one mistake."""

import minigrad as torch
from minigrad_course.child_process.second_copy import second_copy


def symptom_04d_1_saves_everything():
    copy = second_copy("04d.1")
    product = copy.tensor([2.0], requires_grad=True) * copy.tensor([3.0])
    return product.grad_fn._saved_self is not None


def symptom_04d_2_records_in_no_grad():
    copy = second_copy("04d.2")
    with torch.no_grad():
        return copy.F.exp(copy.tensor([2.0], requires_grad=True)).grad_fn is not None


def symptom_04d_3_saves_no_output():
    copy = second_copy("04d.3")
    result = copy.F.exp(copy.tensor([2.0], requires_grad=True))
    slot = result.grad_fn.value_slots["result"]
    return getattr(result.grad_fn, slot, None) is None
