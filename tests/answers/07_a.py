"""Stage 07, written from the tasks by somebody who likes to say everything."""


def is_grad_enabled():
    mode = _state.grad_enabled.get()
    return bool(mode)


class _Switch:
    def __enter__(self):
        self.previous = is_grad_enabled()
        _state.grad_enabled.set(self.recording)

    def __exit__(self, *exc):
        _state.grad_enabled.set(self.previous)
        return None


class _Mode:
    def _wrap_function(self, decorated):
        @functools.wraps(decorated)
        def inner(*args, **kwargs):
            mode = self.clone()
            with mode:
                result = decorated(*args, **kwargs)
            return result

        return inner

    def _wrap_generator(self, decorated):
        @functools.wraps(decorated)
        def inner(*args, **kwargs):
            with self.clone():
                generator = decorated(*args, **kwargs)
            action = generator.send
            value = None
            while True:
                try:
                    with self.clone():
                        item = action(value)
                except StopIteration as stop:
                    return stop.value
                try:
                    value = yield item
                    action = generator.send
                except GeneratorExit:
                    with self.clone():
                        generator.close()
                    raise
                except BaseException as error:
                    value = error
                    action = generator.throw

        return inner


class set_grad_enabled:
    def __init__(self, mode):
        _require_bool(mode)
        self.previous = is_grad_enabled()
        self.mode = mode
        _state.grad_enabled.set(self.mode)

    def __call__(self, decorated):
        _state.grad_enabled.set(self.previous)
        return super().__call__(decorated)

    def __enter__(self):
        _state.grad_enabled.set(self.mode)

    def __exit__(self, *exc):
        _state.grad_enabled.set(self.previous)


class inference_mode:
    def __enter__(self):
        inference_before = _state.inference_enabled.get()
        grad_before = _state.grad_enabled.get()
        self.previous = (inference_before, grad_before)
        _state.inference_enabled.set(self.mode)
        _state.grad_enabled.set(not self.mode)
        _state.observers.enter()

    def __exit__(self, *exc):
        _state.observers.leave()
        _state.inference_enabled.set(self.previous[0])
        _state.grad_enabled.set(self.previous[1])
