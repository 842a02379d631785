# right: a stack of pairs
class inference_mode:
    def __enter__(self):
        self.__dict__.setdefault("found", []).append(
            (_state.inference_enabled.get(), _state.grad_enabled.get()))
        _state.grad_enabled.set(not self.mode)
        _state.inference_enabled.set(self.mode)
        _state.observers.enter()

    def __exit__(self, *exc):
        inference, grad = self.found.pop()
        _state.grad_enabled.set(grad)
        _state.inference_enabled.set(inference)
        _state.observers.leave()

# right: grad mode is switched by a block of its own
class inference_mode:
    def __enter__(self):
        _state.observers.enter()
        self.block = no_grad() if self.mode else enable_grad()
        self.block.__enter__()
        self.inference = _state.inference_enabled.get()
        _state.inference_enabled.set(self.mode)

    def __exit__(self, *exc):
        _state.inference_enabled.set(self.inference)
        self.block.__exit__(*exc)
        _state.observers.leave()

# right: an exit stack of what is to be done at the end
from contextlib import ExitStack

class inference_mode:
    def __enter__(self):
        self.stack = ExitStack()
        for variable, mode in ((_state.inference_enabled, self.mode),
                               (_state.grad_enabled, not self.mode)):
            self.stack.callback(variable.set, variable.get())
            variable.set(mode)
        _state.observers.enter()
        self.stack.callback(_state.observers.leave)

    def __exit__(self, *exc):
        return self.stack.__exit__(*exc)

# right: a dictionary by variable
class inference_mode:
    def __enter__(self):
        _state.observers.enter()
        wanted = {_state.inference_enabled: self.mode, _state.grad_enabled: not self.mode}
        self.before = {variable: variable.get() for variable in wanted}
        for variable, mode in wanted.items():
            variable.set(mode)

    def __exit__(self, *exc):
        for variable, mode in self.before.items():
            variable.set(mode)
        _state.observers.leave()

# wrong -: the modes from when the object was created
class inference_mode:
    def __init__(self, mode=True):
        self.mode = mode
        self.before = _state.inference_enabled.get(), _state.grad_enabled.get()

    def __enter__(self):
        _state.inference_enabled.set(self.mode)
        _state.grad_enabled.set(not self.mode)
        _state.observers.enter()

    def __exit__(self, *exc):
        _state.observers.leave()
        _state.inference_enabled.set(self.before[0])
        _state.grad_enabled.set(self.before[1])

# wrong -: one stack for all threads
def pairs(found=[]):
    return found

class inference_mode:
    def __enter__(self):
        pairs().append((_state.inference_enabled.get(), _state.grad_enabled.get()))
        _state.inference_enabled.set(self.mode)
        _state.grad_enabled.set(not self.mode)
        _state.observers.enter()

    def __exit__(self, *exc):
        _state.observers.leave()
        inference, grad = pairs().pop()
        _state.inference_enabled.set(inference)
        _state.grad_enabled.set(grad)

# wrong -: nothing is done where inference mode is as wanted already
class inference_mode:
    def __enter__(self):
        self.before = None
        _state.observers.enter()
        if _state.inference_enabled.get() != self.mode:
            self.before = _state.inference_enabled.get(), _state.grad_enabled.get()
            _state.inference_enabled.set(self.mode)
            _state.grad_enabled.set(not self.mode)

    def __exit__(self, *exc):
        _state.observers.leave()
        if self.before is not None:
            _state.inference_enabled.set(self.before[0])
            _state.grad_enabled.set(self.before[1])

# wrong -: an observer for inference mode alone
class inference_mode:
    def __enter__(self):
        self.before = _state.inference_enabled.get(), _state.grad_enabled.get()
        _state.inference_enabled.set(self.mode)
        _state.grad_enabled.set(not self.mode)
        if self.mode:
            _state.observers.enter()

    def __exit__(self, *exc):
        if self.mode:
            _state.observers.leave()
        _state.inference_enabled.set(self.before[0])
        _state.grad_enabled.set(self.before[1])

# wrong 07_5_records_after_no_grad: only one of the modes is remembered, since the other is its opposite
class inference_mode:
    def __enter__(self):
        self.before = _state.inference_enabled.get()
        _state.inference_enabled.set(self.mode)
        _state.grad_enabled.set(not self.mode)
        _state.observers.enter()

    def __exit__(self, *exc):
        _state.observers.leave()
        _state.inference_enabled.set(self.before)
        _state.grad_enabled.set(not self.before)
