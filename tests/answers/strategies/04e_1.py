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

def run_op(op, values):
    call = prepare(op, values)
    if call.xp is not numpy_backend:
        return run_elsewhere(op, call)
    result = forward(op, call)
    return wrap(op, record(op, call), call.values, result) if call.on_tensors else result

# wrong 04e_1_handed_on_ignored: a function without arguments would do
def intercepted(op, values, stack=()):
    if not stack:
        return run_op(op, values)
    return stack[0].op(op, values, lambda *handed_on: intercepted(op, values, stack[1:]))

def run_op(op, values):
    call = prepare(op, values)
    if call.xp is not numpy_backend:
        return run_elsewhere(op, call)
    result = forward(op, call)
    return wrap(op, record(op, call), call.values, result) if call.on_tensors else result

# wrong 04e_1_arrays_wrapped: all four steps always
def intercepted(op, values, stack=()):
    if not stack:
        return run_op(op, values)
    return stack[0].op(op, values, partial(intercepted, stack=stack[1:]))

def run_op(op, values):
    call = prepare(op, values)
    if call.xp is not numpy_backend:
        return run_elsewhere(op, call)
    return wrap(op, record(op, call), call.values, forward(op, call))
