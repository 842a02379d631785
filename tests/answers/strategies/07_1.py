def is_grad_enabled():
    return _state.grad_enabled.get()

# right: each object keeps a stack of the modes it found
class _Switch:
    def __enter__(self):
        self.__dict__.setdefault("found", []).append(_state.grad_enabled.get())
        _state.grad_enabled.set(self.recording)

    def __exit__(self, *exc):
        _state.grad_enabled.set(self.found.pop())

# right: a generator that waits inside try and finally
import contextlib

def is_grad_enabled():
    return bool(_state.grad_enabled.get())

@contextlib.contextmanager
def switched(mode):
    before = _state.grad_enabled.get()
    _state.grad_enabled.set(mode)
    try:
        yield
    finally:
        _state.grad_enabled.set(before)

class _Switch:
    def __enter__(self):
        self.block = switched(self.recording)
        self.block.__enter__()

    def __exit__(self, *exc):
        return self.block.__exit__(*exc)

# right: an exit stack with the call that restores the mode
from contextlib import ExitStack

class _Switch:
    def __enter__(self):
        self.later = ExitStack()
        self.later.callback(_state.grad_enabled.set, _state.grad_enabled.get())
        _state.grad_enabled.set(self.recording)

    def __exit__(self, *exc):
        self.later.close()
        return False

# right: the call that restores the mode is kept as a closure
from functools import partial

def is_grad_enabled():
    return _state.grad_enabled.get() is True

class _Switch:
    def __enter__(self):
        self.restore = partial(_state.grad_enabled.set, is_grad_enabled())
        _state.grad_enabled.set(self.recording)

    def __exit__(self, kind, error, traceback):
        self.restore()

# wrong -: the mode from when the object was created
class _Switch:
    def __init__(self, orig_func=None):
        self.previous = _state.grad_enabled.get()

    def __enter__(self):
        _state.grad_enabled.set(self.recording)

    def __exit__(self, *exc):
        _state.grad_enabled.set(self.previous)

# wrong -: one stack for all blocks of all threads
def found(modes=[]):
    return modes

class _Switch:
    def __enter__(self):
        found().append(_state.grad_enabled.get())
        _state.grad_enabled.set(self.recording)

    def __exit__(self, *exc):
        _state.grad_enabled.set(found().pop())

# wrong -: only a block that has changed the mode changes it back
class _Switch:
    def __enter__(self):
        self.changed = is_grad_enabled() != self.recording
        _state.grad_enabled.set(self.recording)

    def __exit__(self, *exc):
        if self.changed:
            _state.grad_enabled.set(not self.recording)

# wrong -: a mode that was changed inside the block is respected
class _Switch:
    def __enter__(self):
        self.previous = _state.grad_enabled.get()
        _state.grad_enabled.set(self.recording)

    def __exit__(self, *exc):
        if _state.grad_enabled.get() == self.recording:
            _state.grad_enabled.set(self.previous)

# wrong 07_1_always_on_again: recording is off while any no_grad block is open
class _Switch:
    def __enter__(self):
        no_grad.open = getattr(no_grad, "open", 0) + (not self.recording)
        _state.grad_enabled.set(not no_grad.open)

    def __exit__(self, *exc):
        no_grad.open -= not self.recording
        _state.grad_enabled.set(not no_grad.open)

# wrong 07_1_gives_itself: enter returns self, as the context managers of files do
class _Switch:
    def __enter__(self):
        self.before = _state.grad_enabled.get()
        _state.grad_enabled.set(self.recording)
        return self

    def __exit__(self, *exc):
        _state.grad_enabled.set(self.before)

# wrong -: the previous mode by thread
import threading

def by_thread(modes={}):
    return modes

class _Switch:
    def __enter__(self):
        by_thread()[threading.get_ident()] = _state.grad_enabled.get()
        _state.grad_enabled.set(self.recording)

    def __exit__(self, *exc):
        _state.grad_enabled.set(by_thread().pop(threading.get_ident(), True))
