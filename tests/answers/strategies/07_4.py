class set_grad_enabled:
    def __init__(self, mode):
        _require_bool(mode)
        self.mode = mode
        self.previous = _state.grad_enabled.get()
        _state.grad_enabled.set(mode)

    def __call__(self, decorated):
        _state.grad_enabled.set(self.previous)
        return super().__call__(decorated)

    def __enter__(self):
        _state.grad_enabled.set(self.mode)

    def __exit__(self, *exc):
        _state.grad_enabled.set(self.previous)

# right: the function is decorated before the mode is put back
class set_grad_enabled:
    def __init__(self, mode):
        _require_bool(mode)
        self.mode = mode
        self.before = is_grad_enabled()
        _state.grad_enabled.set(mode)

    def __call__(self, decorated):
        made = super().__call__(decorated)
        _state.grad_enabled.set(self.before)
        return made

    def __exit__(self, *exc):
        _state.grad_enabled.set(self.before)

# right: decorating leaves the block that creating the object has entered
class set_grad_enabled:
    def __init__(self, mode):
        _require_bool(mode)
        self.mode, self._outer = mode, _state.grad_enabled.get()
        self.__enter__()

    def __call__(self, decorated):
        self.__exit__(None, None, None)
        return super().__call__(decorated)

    def __exit__(self, kind, error, trace):
        _state.grad_enabled.set(self._outer)
        return False

# right: the call that restores the mode
from functools import partial

class set_grad_enabled:
    def __init__(self, mode):
        _require_bool(mode)
        self.restore = partial(_state.grad_enabled.set, _state.grad_enabled.get())
        self.switch = partial(_state.grad_enabled.set, mode)
        self.mode = mode
        self.switch()

    def __call__(self, decorated):
        self.restore()
        return super().__call__(decorated)

    def __enter__(self):
        self.switch()

    def __exit__(self, *exc):
        self.restore()

# wrong -: entering reads the mode once more if it has changed
class set_grad_enabled:
    def __enter__(self):
        if _state.grad_enabled.get() != self.mode:
            self.previous = _state.grad_enabled.get()
        _state.grad_enabled.set(self.mode)

# wrong -: the previous mode is kept on the class
class set_grad_enabled:
    def __init__(self, mode):
        _require_bool(mode)
        self.mode = mode
        set_grad_enabled.previous = _state.grad_enabled.get()
        _state.grad_enabled.set(mode)

# wrong -: one stack, onto which each new object pushes
def modes(found=[]):
    return found

class set_grad_enabled:
    def __init__(self, mode):
        _require_bool(mode)
        self.mode = mode
        modes().append(_state.grad_enabled.get())
        _state.grad_enabled.set(mode)

    def __call__(self, decorated):
        _state.grad_enabled.set(modes().pop())
        return super().__call__(decorated)

    def __exit__(self, *exc):
        _state.grad_enabled.set(modes().pop())

# wrong 07_4_decorating_switches: a new object for the calls, and the old one stays on
class set_grad_enabled:
    def __call__(self, decorated):
        @functools.wraps(decorated)
        def inside(*args, **kwargs):
            with type(self)(self.mode):
                return decorated(*args, **kwargs)
        return inside

# wrong 07_4_number_accepted: the mode is checked by comparing it with True and False
class set_grad_enabled:
    def __init__(self, mode):
        if mode not in (True, False):
            _require_bool(mode)
        self.mode = bool(mode)
        self.previous = _state.grad_enabled.get()
        _state.grad_enabled.set(self.mode)

# wrong -: a function is wrapped by hand, also a generator function
class set_grad_enabled:
    def __call__(self, decorated):
        _state.grad_enabled.set(self.previous)

        @functools.wraps(decorated)
        def inside(*args, **kwargs):
            with self.clone():
                return decorated(*args, **kwargs)
        return inside
