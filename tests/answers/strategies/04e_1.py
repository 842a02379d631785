def intercepted(op, values, stack=()):
    if not stack:
        return run_op(op, values)
    return stack[0].op(op, values, partial(intercepted, stack=stack[1:]))

def run_op(op, values):
    call = prepare(op, values)
    if call.xp is not numpy_backend:
        return run_elsewhere(op, call)
    result = forward(op, call)
    return wrap(op, record(op, call), call.values, result) if call.on_tensors else result

# right: a lambda with the rest of the stack
def intercepted(op, values, stack=()):
    if len(stack) == 0:
        return run_op(op, values)
    first, *rest = stack
    return first.op(op, values, lambda op, values: intercepted(op, values, tuple(rest)))

def run_op(op, values):
    call = prepare(op, values)
    if call.xp is numpy_backend:
        result = forward(op, call)
        if not call.on_tensors:
            return result
        node = record(op, call)
        return wrap(op, node, call.values, result)
    return run_elsewhere(op, call)

# right: the functions are nested from the last interceptor to the first
def intercepted(op, values, stack=()):
    proceed = run_op
    for each in reversed(stack):
        proceed = lambda op, values, each=each, after=proceed: each.op(op, values, after)
    return proceed(op, values)

def run_op(op, values):
    call = prepare(op, values)
    if call.xp is not numpy_backend:
        return run_elsewhere(op, call)
    node = record(op, call) if call.on_tensors else None
    result = forward(op, call)
    return wrap(op, node, call.values, result) if call.on_tensors else result

# wrong 04e_1_first_interceptor: the interceptor's result is what the op returns
def intercepted(op, values, stack=()):
    for each in stack:
        return each.op(op, values, run_op)
    return run_op(op, values)

# wrong 04e_1_handed_on_ignored: a function without arguments would do
def intercepted(op, values, stack=()):
    if not stack:
        return run_op(op, values)
    return stack[0].op(op, values, lambda *handed_on: intercepted(op, values, stack[1:]))

# wrong 04e_1_arrays_wrapped: all four steps always
def run_op(op, values):
    call = prepare(op, values)
    if call.xp is not numpy_backend:
        return run_elsewhere(op, call)
    return wrap(op, record(op, call), call.values, forward(op, call))

# right: a function for each place in the stack
def intercepted(op, values, stack=()):
    def proceed_from(place):
        def proceed(op, values):
            if place == len(stack):
                return run_op(op, values)
            return stack[place].op(op, values, proceed_from(place + 1))

        return proceed

    return proceed_from(0)(op, values)

def run_op(op, values):
    call = prepare(op, values)
    if call.xp is not numpy_backend:
        return run_elsewhere(op, call)
    if not call.on_tensors:
        return forward(op, call)
    result = forward(op, call)
    return wrap(op, record(op, call), call.values, result)

# right: reduce
def intercepted(op, values, stack=()):
    def around(inner, interceptor):
        return lambda op, values: interceptor.op(op, values, inner)

    return reduce(around, stack[::-1], run_op)(op, values)

def run_op(op, values):
    call = prepare(op, values)
    elsewhere = call.xp is not numpy_backend
    if elsewhere:
        return run_elsewhere(op, call)
    array = forward(op, call)
    if call.on_tensors:
        node = record(op, call)
        return wrap(op, node, call.values, array)
    return array

from functools import reduce

# wrong -: an iterator that goes on with each call of proceed
def intercepted(op, values, stack=()):
    waiting = iter(stack)

    def proceed(op, values):
        interceptor = next(waiting, None)
        return run_op(op, values) if interceptor is None else interceptor.op(op, values, proceed)

    return proceed(op, values)

# wrong 04e_1_handed_on_ignored: proceed forgets what it was called with after the first interceptor
def intercepted(op, values, stack=()):
    def call_at(place):
        def proceed(other=op, given=values):
            return call_at(place + 1)
        if place == len(stack):
            return run_op(op, values)
        return stack[place].op(op, values, proceed)

    return call_at(0)

# wrong 04e_1_interceptors_reversed: the functions are nested from the first to the last
def intercepted(op, values, stack=()):
    proceed = run_op
    for each in stack:
        proceed = partial(lambda each, after, op, values: each.op(op, values, after), each, proceed)
    return proceed(op, values)

# wrong -: one after the other, and the op runs at the end
def intercepted(op, values, stack=()):
    result = None
    for each in stack:
        result = each.op(op, values, lambda op, values: run_op(op, values))
    return run_op(op, values) if result is None else result

# wrong 04e_1_constants_unwrapped: wrapped where something was recorded
def run_op(op, values):
    call = prepare(op, values)
    if call.xp is not numpy_backend:
        return run_elsewhere(op, call)
    node = record(op, call) if call.on_tensors else None
    result = forward(op, call)
    return result if node is None else wrap(op, node, call.values, result)
