"""Stage 07, written from the tasks by somebody who likes few lines."""


def is_grad_enabled():
    return _state.grad_enabled.get() is True


class _Switch:
    def __enter__(self):
        variable = _state.grad_enabled
        self.previous = variable.get()
        variable.set(self.recording)

    def __exit__(self, *exc):
        variable = _state.grad_enabled
        variable.set(self.previous)


class _Mode:
    def _wrap_function(self, decorated):
        def g(*a, **k):
            with self.clone():
                return decorated(*a, **k)

        return functools.update_wrapper(g, decorated)

    def _wrap_generator(self, decorated):
        def in_mode(call, *args):
            with self.clone():
                return call(*args)

        def wrapper(*a, **k):
            body = in_mode(decorated, *a, **k) if not k else in_mode(lambda: decorated(*a, **k))
            try:
                sent = in_mode(next, body)
                while True:
                    try:
                        got = yield sent
                    except GeneratorExit:
                        in_mode(body.close)
                        raise
                    except BaseException as error:
                        sent = in_mode(body.throw, error)
                    else:
                        sent = in_mode(body.send, got)
            except StopIteration as end:
                return end.value

        return functools.update_wrapper(wrapper, decorated)


class set_grad_enabled:
    def __init__(self, mode):
        _require_bool(mode)
        self.mode, self.previous = mode, _state.grad_enabled.get()
        self.__enter__()

    def __call__(self, decorated):
        self.__exit__()
        return _Mode.__call__(self, decorated)

    def __enter__(self):
        _state.grad_enabled.set(self.mode)

    def __exit__(self, *exc):
        _state.grad_enabled.set(self.previous)


class inference_mode:
    def __enter__(self):
        both = _state.inference_enabled, _state.grad_enabled
        self.previous = [each.get() for each in both]
        for each, value in zip(both, (self.mode, not self.mode), strict=True):
            each.set(value)
        _state.observers.enter()

    def __exit__(self, *exc):
        for name, value in zip(("inference_enabled", "grad_enabled"), self.previous, strict=True):
            getattr(_state, name).set(value)
        _state.observers.leave()
