class record_function:
    def __enter__(self):
        recorder = _state.recorder.get()
        if recorder is not None:
            name = self.name if self.args is None else f"{self.name} ({self.args})"
            self._open = recorder, recorder.begin(name)
        return self

    def __exit__(self, *exc):
        if self._open is not None:
            recorder, event = self._open
            self._open = None
            recorder.finish(event)

    def __call__(self, function):
        @functools.wraps(function)
        def named(*args, **kwargs):
            with record_function(self.name, self.args):
                return function(*args, **kwargs)
        return named

# right: a new block for each call
# These are the functions above.

# right: the event is finished by a call that was kept
class record_function:
    def __enter__(self):
        recorder = _state.recorder.get()
        self._open = None
        if recorder:
            parts = [self.name] if self.args is None else [self.name, f"({self.args})"]
            self._open = (recorder, recorder.begin(" ".join(parts)))
        return self

    def __exit__(self, *exc):
        opened, self._open = self._open, None
        if opened:
            opened[0].finish(opened[1])
        return False

    def __call__(self, function):
        def named(*args, **kwargs):
            block = type(self)(self.name, self.args)
            block.__enter__()
            try:
                return function(*args, **kwargs)
            finally:
                block.__exit__(None, None, None)
        return functools.update_wrapper(named, function)

# right: contextlib's decorator with a block for each call
from contextlib import contextmanager

class record_function:
    def __call__(self, function):
        @contextmanager
        def block():
            with record_function(self.name, self.args):
                yield
        return block()(function)

# wrong -: a stack of open events in the block itself
class record_function:
    def __enter__(self):
        recorder = _state.recorder.get()
        if recorder is not None:
            name = self.name if self.args is None else f"{self.name} ({self.args})"
            self._open = (recorder, recorder.begin(name), self._open)
        return self

    def __exit__(self, *exc):
        if self._open is not None:
            recorder, event, self._open = self._open
            recorder.finish(event)

    def __call__(self, function):
        @functools.wraps(function)
        def named(*args, **kwargs):
            with self:
                return function(*args, **kwargs)
        return named

# wrong -: the block is finished by the recorder that is on
class record_function:
    def __exit__(self, *exc):
        recorder = _state.recorder.get()
        if recorder is not None and self._open is not None:
            recorder.finish(self._open[1])
        self._open = None

# wrong -: the call is recorded as an op
class record_function:
    def __call__(self, function):
        @functools.wraps(function)
        def named(*args, **kwargs):
            recorder = _state.recorder.get()
            if recorder is None:
                return function(*args, **kwargs)
            name = self.name if self.args is None else f"{self.name} ({self.args})"
            return recorder.call(name, args, function, *args, **kwargs)
        return named

# wrong -: only an Exception finishes the event of a call
class record_function:
    def __call__(self, function):
        @functools.wraps(function)
        def named(*args, **kwargs):
            block = record_function(self.name, self.args)
            block.__enter__()
            try:
                result = function(*args, **kwargs)
            except Exception as error:
                block.__exit__(type(error), error, error.__traceback__)
                raise
            block.__exit__(None, None, None)
            return result
        return named

# wrong -: a decorated function becomes a partial, which is no method in a class
class record_function:
    def __call__(self, function):
        def named(function, *args, **kwargs):
            with record_function(self.name, self.args):
                return function(*args, **kwargs)
        return functools.update_wrapper(functools.partial(named, function), function)
