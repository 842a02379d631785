def check_hook_result(hook, replaced, given):
    if given is None:
        raise RuntimeError(NO_GRADIENT)
    if not isinstance(replaced, Tensor):
        raise TypeError(NOT_A_TENSOR.format(type(replaced).__name__))
    if replaced._array.dtype != given._array.dtype:
        raise dtype_changed(hook_name(hook), given, replaced)
    if replaced._array.shape != given._array.shape:
        raise RuntimeError(SIZE_CHANGED.format(hook_name(hook)))

def run_tensor_hooks(tables, grads):
    for index, table in list(tables.items()):
        for hook in list(table.values()):
            replaced = hook(grads[index])
            if replaced is not None:
                check_hook_result(hook, replaced, grads[index])
                grads[index] = replaced

# right: everything to call is listed before the first call
def check_hook_result(hook, replaced, given):
    if given is None:
        raise RuntimeError(NO_GRADIENT)
    if not isinstance(replaced, Tensor):
        raise TypeError(NOT_A_TENSOR.format(type(replaced).__name__))
    if replaced._array.dtype != given._array.dtype:
        raise dtype_changed(hook_name(hook), given, replaced)
    if tuple(replaced._array.shape) != tuple(given._array.shape):
        raise RuntimeError(SIZE_CHANGED.format(hook_name(hook)))

def run_tensor_hooks(tables, grads):
    todo = [(index, hook) for index, table in tables.items() for hook in table.values()]
    for index, hook in todo:
        replaced = hook(grads[index])
        if replaced is not None:
            check_hook_result(hook, replaced, grads[index])
            grads[index] = replaced

# right: outputs by their numbers, and results are stored at the end of each
def check_hook_result(hook, replaced, given):
    name = hook_name(hook)
    error = None
    if given is None:
        error = RuntimeError(NO_GRADIENT)
    elif not isinstance(replaced, Tensor):
        error = TypeError(NOT_A_TENSOR.format(type(replaced).__name__))
    elif replaced.dtype != given.dtype:
        error = dtype_changed(name, given, replaced)
    elif replaced.shape != given.shape:
        error = RuntimeError(SIZE_CHANGED.format(name))
    if error is not None:
        raise error

def run_tensor_hooks(tables, grads):
    known = {index: tuple(table.values()) for index, table in tables.items()}
    for index in range(len(grads)):
        grad = grads[index]
        for hook in known.get(index, ()):
            replaced = hook(grad)
            if replaced is None:
                continue
            check_hook_result(hook, replaced, grad)
            grad = replaced
        grads[index] = grad

# right: a hook that was removed meanwhile is not called any more
def check_hook_result(hook, replaced, given):
    if given is None:
        raise RuntimeError(NO_GRADIENT)
    if not isinstance(replaced, Tensor):
        raise TypeError(NOT_A_TENSOR.format(type(replaced).__name__))
    new, old = replaced._array, given._array
    if new.dtype != old.dtype:
        raise dtype_changed(hook_name(hook), given, replaced)
    if new.ndim != old.ndim or any(a != b for a, b in zip(new.shape, old.shape)):
        raise RuntimeError(SIZE_CHANGED.format(hook_name(hook)))

def run_tensor_hooks(tables, grads):
    for index, table in list(tables.items()):
        for number in list(table):
            if number not in table:
                continue
            hook = table[number]
            replaced = hook(grads[index])
            if replaced is not None:
                check_hook_result(hook, replaced, grads[index])
                grads[index] = replaced

# right: reduce over the hooks of an output, and a table of questions
def check_hook_result(hook, replaced, given):
    questions = [
        (lambda: given is None, lambda: RuntimeError(NO_GRADIENT)),
        (lambda: not isinstance(replaced, Tensor),
         lambda: TypeError(NOT_A_TENSOR.format(type(replaced).__name__))),
        (lambda: given._array.dtype != replaced._array.dtype,
         lambda: dtype_changed(hook_name(hook), given, replaced)),
        (lambda: given._array.shape != replaced._array.shape,
         lambda: RuntimeError(SIZE_CHANGED.format(hook_name(hook)))),
    ]
    for is_wrong, error in questions:
        if is_wrong():
            raise error()

def run_tensor_hooks(tables, grads):
    def step(grad, hook):
        answer = hook(grad)
        if answer is None:
            return grad
        check_hook_result(hook, answer, grad)
        return answer

    for index, table in tuple(tables.items()):
        grads[index] = reduce(step, tuple(table.values()), grads[index])

from functools import reduce

# wrong 05_2_subclass_refused: only Tensor itself is accepted, and none of its subclasses
def check_hook_result(hook, replaced, given):
    if given is None:
        raise RuntimeError(NO_GRADIENT)
    if type(replaced) is not Tensor:
        raise TypeError(NOT_A_TENSOR.format(type(replaced).__name__))
    if replaced._array.dtype != given._array.dtype:
        raise dtype_changed(hook_name(hook), given, replaced)
    if replaced._array.shape != given._array.shape:
        raise RuntimeError(SIZE_CHANGED.format(hook_name(hook)))

# wrong -: a hook leaves its table when it is called
def run_tensor_hooks(tables, grads):
    for index, table in list(tables.items()):
        for _ in range(len(table)):
            if not table:
                break
            _, hook = table.popitem(last=False)
            replaced = hook(grads[index])
            if replaced is not None:
                check_hook_result(hook, replaced, grads[index])
                grads[index] = replaced

# wrong -: the numbers are copied, and a hook that was removed is looked for
def run_tensor_hooks(tables, grads):
    for index in list(tables):
        for number in list(tables[index]):
            replaced = tables[index][number](grads[index])
            if replaced is not None:
                check_hook_result(tables[index][number], replaced, grads[index])
                grads[index] = replaced

# wrong -: hooks are run until none is left that has not run
def run_tensor_hooks(tables, grads):
    ran = set()
    while True:
        waiting = [(index, number) for index, table in tables.items() for number in table
                   if (index, number) not in ran]
        if not waiting:
            return
        index, number = waiting[0]
        ran.add(waiting[0])
        hook = tables[index][number]
        replaced = hook(grads[index])
        if replaced is not None:
            check_hook_result(hook, replaced, grads[index])
            grads[index] = replaced

# wrong -: each output by its number, with the table it then has
def run_tensor_hooks(tables, grads):
    for index in range(len(grads)):
        for hook in list(tables.get(index, {}).values()):
            replaced = hook(grads[index])
            if replaced is not None:
                check_hook_result(hook, replaced, grads[index])
                grads[index] = replaced

# wrong -: whatever has a dtype and a shape is a tensor
def check_hook_result(hook, replaced, given):
    if given is None:
        raise RuntimeError(NO_GRADIENT)
    if not hasattr(replaced, "dtype") or not hasattr(replaced, "shape"):
        raise TypeError(NOT_A_TENSOR.format(type(replaced).__name__))
    if str(replaced.dtype).removeprefix("torch.") != str(given.dtype).removeprefix("torch."):
        raise dtype_changed(hook_name(hook), given, replaced)
    if tuple(replaced.shape) != tuple(given.shape):
        raise RuntimeError(SIZE_CHANGED.format(hook_name(hook)))

# wrong -: memory laid out in another order counts as another size
def check_hook_result(hook, replaced, given):
    if given is None:
        raise RuntimeError(NO_GRADIENT)
    if not isinstance(replaced, Tensor):
        raise TypeError(NOT_A_TENSOR.format(type(replaced).__name__))
    new, old = replaced._array, given._array
    if new.dtype != old.dtype:
        raise dtype_changed(hook_name(hook), given, replaced)
    if (new.shape, new.strides) != (old.shape, old.strides):
        raise RuntimeError(SIZE_CHANGED.format(hook_name(hook)))

# wrong 05_2_missing_not_shown: a missing gradient needs no hooks
def run_tensor_hooks(tables, grads):
    for index, grad in enumerate(grads):
        if grad is not None and index in tables:
            for hook in list(tables[index].values()):
                replaced = hook(grads[index])
                if replaced is not None:
                    check_hook_result(hook, replaced, grads[index])
                    grads[index] = replaced

# wrong -: checked once, after the last hook of an output
def run_tensor_hooks(tables, grads):
    for index, table in list(tables.items()):
        grad = grads[index]
        for hook in list(table.values()):
            replaced = hook(grad)
            if replaced is not None:
                grad = replaced
        if grad is not grads[index]:
            check_hook_result(hook, grad, grads[index])
            grads[index] = grad
