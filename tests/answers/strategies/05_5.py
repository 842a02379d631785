def run_pre_hooks(hooks, grads):
    for hook in list(hooks.values()):
        grads = checked_tuple(hook, hook(grads), grads)
    return grads

def run_post_hooks(hooks, results, grads):
    for hook in list(hooks.values()):
        results = checked_tuple(hook, hook(results, grads), results)
    return results

def checked_tuple(hook, replaced, given):
    if replaced is None:
        return given
    if not isinstance(replaced, tuple):
        raise TypeError(NOT_A_TUPLE.format(type(replaced).__name__))
    if len(replaced) != len(given):
        raise RuntimeError(WRONG_NUMBER.format(hook_name(hook), len(replaced), len(given)))
    for new, old in zip(replaced, given):
        if new is not None:
            check_hook_result(hook, new, old)
    return replaced

# right: two loops and a check
# These are the functions above.

# right: a new tuple of what was checked
def run_pre_hooks(hooks, grads):
    return reduce(lambda left, hook: checked_tuple(hook, hook(left), left),
                  tuple(hooks.values()), grads)

def run_post_hooks(hooks, results, grads):
    return reduce(lambda left, hook: checked_tuple(hook, hook(left, grads), left),
                  tuple(hooks.values()), results)

def checked_tuple(hook, replaced, given):
    if replaced is None:
        return given
    if not isinstance(replaced, tuple):
        raise TypeError(NOT_A_TUPLE.format(type(replaced).__name__))
    if len(replaced) != len(given):
        raise RuntimeError(WRONG_NUMBER.format(hook_name(hook), len(replaced), len(given)))
    checked = []
    for new, old in zip(replaced, given):
        if new is not None:
            check_hook_result(hook, new, old)
        checked.append(new)
    return tuple(checked)

from functools import reduce

# right: post hooks are pre hooks with the received gradients filled in
def run_pre_hooks(hooks, grads):
    current = grads
    for number in [*hooks]:
        if number in hooks:
            hook = hooks[number]
            current = checked_tuple(hook, hook(current), current)
    return current

def run_post_hooks(hooks, results, grads):
    current = results
    for number in [*hooks]:
        if number in hooks:
            hook = hooks[number]
            current = checked_tuple(hook, hook(current, grads), current)
    return current

def checked_tuple(hook, replaced, given):
    expected = len(given)
    match replaced:
        case None:
            return given
        case tuple() if len(replaced) == expected:
            for i in range(expected):
                if replaced[i] is not None:
                    check_hook_result(hook, replaced[i], given[i])
            return replaced
        case tuple():
            raise RuntimeError(WRONG_NUMBER.format(hook_name(hook), len(replaced), expected))
        case _:
            raise TypeError(NOT_A_TUPLE.format(type(replaced).__name__))

# right: one hook after the other by recursion
def run_pre_hooks(hooks, grads):
    waiting = list(hooks.values())
    if not waiting:
        return grads
    first = waiting[0]
    left = checked_tuple(first, first(grads), grads)
    return run_pre_hooks(dict(enumerate(waiting[1:])), left)

def run_post_hooks(hooks, results, grads):
    waiting = list(hooks.values())
    if not waiting:
        return results
    first = waiting[0]
    left = checked_tuple(first, first(results, grads), results)
    return run_post_hooks(dict(enumerate(waiting[1:])), left, grads)

def checked_tuple(hook, replaced, given):
    if replaced is not None and not isinstance(replaced, tuple):
        raise TypeError(NOT_A_TUPLE.format(type(replaced).__name__))
    if replaced is None or replaced is given:
        return given
    got, expected = len(replaced), len(given)
    if got != expected:
        raise RuntimeError(WRONG_NUMBER.format(hook_name(hook), got, expected))
    [check_hook_result(hook, new, old) for new, old in zip(replaced, given) if new is not None]
    return replaced

# wrong -: what counts as false is no answer
def checked_tuple(hook, replaced, given):
    if isinstance(replaced, Tensor):
        raise TypeError(NOT_A_TUPLE.format(type(replaced).__name__))
    if not replaced:
        return given
    if not isinstance(replaced, tuple):
        raise TypeError(NOT_A_TUPLE.format(type(replaced).__name__))
    if len(replaced) != len(given):
        raise RuntimeError(WRONG_NUMBER.format(hook_name(hook), len(replaced), len(given)))
    for new, old in zip(replaced, given):
        if new is not None:
            check_hook_result(hook, new, old)
    return replaced

# wrong 05_5_not_a_tuple_accepted: any sequence is made a tuple
def checked_tuple(hook, replaced, given):
    if replaced is None:
        return given
    if not isinstance(replaced, tuple | list):
        raise TypeError(NOT_A_TUPLE.format(type(replaced).__name__))
    replaced = tuple(replaced)
    if len(replaced) != len(given):
        raise RuntimeError(WRONG_NUMBER.format(hook_name(hook), len(replaced), len(given)))
    for new, old in zip(replaced, given):
        if new is not None:
            check_hook_result(hook, new, old)
    return replaced

# wrong -: a gradient that was missing is not checked
def checked_tuple(hook, replaced, given):
    if replaced is None:
        return given
    if not isinstance(replaced, tuple):
        raise TypeError(NOT_A_TUPLE.format(type(replaced).__name__))
    if len(replaced) != len(given):
        raise RuntimeError(WRONG_NUMBER.format(hook_name(hook), len(replaced), len(given)))
    for new, old in zip(replaced, given):
        if new is not None and old is not None:
            check_hook_result(hook, new, old)
    return replaced

# wrong 05_5_none_keeps_the_gradient: a missing value is filled with the one that was given
def checked_tuple(hook, replaced, given):
    if replaced is None:
        return given
    if not isinstance(replaced, tuple):
        raise TypeError(NOT_A_TUPLE.format(type(replaced).__name__))
    if len(replaced) != len(given):
        raise RuntimeError(WRONG_NUMBER.format(hook_name(hook), len(replaced), len(given)))
    filled = []
    for new, old in zip(replaced, given):
        if new is None:
            new = old
        else:
            check_hook_result(hook, new, old)
        filled.append(new)
    return tuple(filled)

# wrong -: run like the hooks of tensors, one gradient at a time
def run_pre_hooks(hooks, grads):
    left = list(grads)
    run_tensor_hooks({i: hooks for i in range(len(left))}, left)
    return tuple(left)

# wrong 05_5_pre_from_the_first: all answers are asked for first, the last one counts
def run_pre_hooks(hooks, grads):
    for hook, answer in [(hook, hook(grads)) for hook in hooks.values()]:
        grads = checked_tuple(hook, answer, grads)
    return grads

def run_post_hooks(hooks, results, grads):
    for hook, answer in [(hook, hook(results, grads)) for hook in hooks.values()]:
        results = checked_tuple(hook, answer, results)
    return results

# wrong -: a post hook is shown the gradients that the last post hook left as received
def run_post_hooks(hooks, results, grads):
    for hook in list(hooks.values()):
        answer = checked_tuple(hook, hook(results, grads), results)
        results, grads = answer, results
    return results

# wrong -: a hook that was removed is looked for
def run_pre_hooks(hooks, grads):
    for number in list(hooks):
        answer = hooks[number](grads)
        grads = checked_tuple(hooks[number], answer, grads)
    return grads

def run_post_hooks(hooks, results, grads):
    for number in list(hooks):
        answer = hooks[number](results, grads)
        results = checked_tuple(hooks[number], answer, results)
    return results
