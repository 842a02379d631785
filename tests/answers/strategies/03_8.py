# right: a while loop over the list, all in one try
def _run_here(task, root):
    mode, depth = _state.grad_enabled.get(), len(_running.tasks)
    try:
        _running.tasks.append(task)
        _state.grad_enabled.set(task.create_graph)
        _run_nodes(task, root)
        while task.callbacks:
            task.callbacks.pop(0)()
    finally:
        del _running.tasks[depth:]
        _state.grad_enabled.set(mode)

def queue_callback(callback):
    if not _running.tasks:
        raise RuntimeError(NO_PASS)
    _running.tasks[-1].callbacks.append(callback)

# right: two finally, pop
def _run_here(task, root):
    before = _state.grad_enabled.get()
    _running.tasks.append(task)
    try:
        try:
            _state.grad_enabled.set(task.create_graph)
            _run_nodes(task, root)
            index = 0
            while index < len(task.callbacks):
                call = task.callbacks[index]
                index += 1
                call()
            task.callbacks.clear()
        finally:
            _state.grad_enabled.set(before)
    finally:
        _running.tasks.pop()

def queue_callback(callback):
    try:
        innermost = _running.tasks[-1]
    except IndexError:
        raise RuntimeError(NO_PASS) from None
    innermost.callbacks.append(callback)

# wrong 03_8_callbacks_late_ones_lost: a for loop over a copy
def _run_here(task, root):
    before = _state.grad_enabled.get()
    _running.tasks.append(task)
    try:
        _state.grad_enabled.set(task.create_graph)
        _run_nodes(task, root)
        queued, task.callbacks = task.callbacks, []
        for call in queued:
            call()
    finally:
        _state.grad_enabled.set(before)
        _running.tasks.pop()

def queue_callback(callback):
    if not _running.tasks:
        raise RuntimeError(NO_PASS)
    _running.tasks[-1].callbacks.append(callback)

# wrong 03_8_mode_on: the mode is switched on at the end
def _run_here(task, root):
    _running.tasks.append(task)
    try:
        _state.grad_enabled.set(task.create_graph)
        _run_nodes(task, root)
        while task.callbacks:
            task.callbacks.pop(0)()
    finally:
        _state.grad_enabled.set(True)
        _running.tasks.pop()

def queue_callback(callback):
    if not _running.tasks:
        raise RuntimeError(NO_PASS)
    _running.tasks[-1].callbacks.append(callback)

# wrong 03_8_callbacks_after_error: the callbacks are called in finally
def _run_here(task, root):
    before = _state.grad_enabled.get()
    _running.tasks.append(task)
    try:
        _state.grad_enabled.set(task.create_graph)
        _run_nodes(task, root)
    finally:
        try:
            while task.callbacks:
                task.callbacks.pop(0)()
        finally:
            _state.grad_enabled.set(before)
            _running.tasks.pop()

def queue_callback(callback):
    if not _running.tasks:
        raise RuntimeError(NO_PASS)
    _running.tasks[-1].callbacks.append(callback)

# wrong 03_8_takes_off_all: the list is cleared
def _run_here(task, root):
    before = _state.grad_enabled.get()
    _running.tasks.append(task)
    try:
        _state.grad_enabled.set(task.create_graph)
        _run_nodes(task, root)
        while task.callbacks:
            task.callbacks.pop(0)()
    finally:
        _state.grad_enabled.set(before)
        _running.tasks.clear()

def queue_callback(callback):
    if not _running.tasks:
        raise RuntimeError(NO_PASS)
    _running.tasks[-1].callbacks.append(callback)
