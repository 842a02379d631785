# right: one helper takes every step in the mode
class _Mode:
    def _wrap_generator(self, decorated):
        def step(resume, *given):
            with self.clone():
                return resume(*given)

        @functools.wraps(decorated)
        def wrapped(*args, **kwargs):
            body = decorated(*args, **kwargs)
            resume, given = body.send, (None,)
            while True:
                try:
                    item = step(resume, *given)
                except StopIteration as stop:
                    return stop.value
                try:
                    resume, given = body.send, ((yield item),)
                except GeneratorExit:
                    step(body.close)
                    raise
                except BaseException as error:
                    resume, given = body.throw, (error,)
        return wrapped

# right: closing throws GeneratorExit like any other exception
class _Mode:
    def _wrap_generator(self, decorated):
        @functools.wraps(decorated)
        def wrapped(*args, **kwargs):
            body = decorated(*args, **kwargs)
            sent, error = None, None
            while True:
                try:
                    with self.clone():
                        item = body.send(sent) if error is None else body.throw(error)
                except StopIteration as end:
                    return end.value
                sent, error = None, None
                try:
                    sent = yield item
                except BaseException as thrown:
                    error = thrown
        return wrapped

# right: the mode is left before each yield and entered after it, by hand
class _Mode:
    def _wrap_generator(self, decorated):
        @functools.wraps(decorated)
        def wrapped(*args, **kwargs):
            body = decorated(*args, **kwargs)
            act = functools.partial(next, body)
            while True:
                mode = self.clone()
                mode.__enter__()
                try:
                    item = act()
                except StopIteration as end:
                    return end.value
                finally:
                    mode.__exit__(None, None, None)
                try:
                    sent = yield item
                except GeneratorExit:
                    with self.clone():
                        body.close()
                    raise
                except BaseException as error:
                    act = functools.partial(body.throw, error)
                else:
                    act = functools.partial(body.send, sent)
        return wrapped

# right: next for None, and a driver that the wrapper delegates to
class _Mode:
    def _drive(self, body):
        with self.clone():
            try:
                item = next(body)
            except StopIteration as end:
                return end.value
        while True:
            try:
                sent = yield item
            except GeneratorExit:
                with self.clone():
                    body.close()
                return None
            except BaseException as error:
                with self.clone():
                    try:
                        item = body.throw(error)
                    except StopIteration as end:
                        return end.value
            else:
                with self.clone():
                    try:
                        item = next(body) if sent is None else body.send(sent)
                    except StopIteration as end:
                        return end.value

    def _wrap_generator(self, decorated):
        @functools.wraps(decorated)
        def wrapped(*args, **kwargs):
            return (yield from self._drive(decorated(*args, **kwargs)))
        return wrapped

# wrong -: a plain function that returns the generator
class _Mode:
    def _drive(self, body):
        resume, given = body.send, None
        while True:
            try:
                with self.clone():
                    item = resume(given)
            except StopIteration as stop:
                return stop.value
            try:
                resume, given = body.send, (yield item)
            except BaseException as error:
                resume, given = body.throw, error

    def _wrap_generator(self, decorated):
        @functools.wraps(decorated)
        def wrapped(*args, **kwargs):
            return self._drive(decorated(*args, **kwargs))
        return wrapped

# wrong -: an iterator object with send, throw and close
from collections import abc

class _Mode:
    def _wrap_generator(self, decorated):
        mode = self

        class Stepper(abc.Generator):
            def __init__(self, body):
                self.body = body

            def send(self, value):
                with mode.clone():
                    return self.body.send(value)

            def throw(self, kind, value=None, traceback=None):
                with mode.clone():
                    return self.body.throw(kind if value is None else value)

            def close(self):
                with mode.clone():
                    self.body.close()

        @functools.wraps(decorated)
        def wrapped(*args, **kwargs):
            return Stepper(decorated(*args, **kwargs))
        return wrapped

# wrong -: one clone for all stretches of a generator
class _Mode:
    def _wrap_generator(self, decorated):
        @functools.wraps(decorated)
        def wrapped(*args, **kwargs):
            body, mode = decorated(*args, **kwargs), self.clone()
            resume, given = body.send, None
            while True:
                try:
                    with mode:
                        item = resume(given)
                except StopIteration as stop:
                    return stop.value
                try:
                    resume, given = body.send, (yield item)
                except BaseException as error:
                    resume, given = body.throw, error
        return wrapped

# wrong 07_3_caller_runs_in_the_mode: yield from inside a block
class _Mode:
    def _wrap_generator(self, decorated):
        @functools.wraps(decorated)
        def wrapped(*args, **kwargs):
            with self.clone():
                return (yield from decorated(*args, **kwargs))
        return wrapped

# wrong 07_3_loses_what_is_sent: a loop over next
class _Mode:
    def _wrap_generator(self, decorated):
        @functools.wraps(decorated)
        def wrapped(*args, **kwargs):
            body = decorated(*args, **kwargs)
            while True:
                try:
                    with self.clone():
                        item = next(body)
                except StopIteration as stop:
                    return stop.value
                yield item
        return wrapped

# wrong -: what is sent is passed on if it is true
class _Mode:
    def _wrap_generator(self, decorated):
        @functools.wraps(decorated)
        def wrapped(*args, **kwargs):
            body, sent = decorated(*args, **kwargs), None
            while True:
                try:
                    with self.clone():
                        item = body.send(sent) if sent else next(body)
                except StopIteration as stop:
                    return stop.value
                try:
                    sent = yield item
                except GeneratorExit:
                    with self.clone():
                        body.close()
                    raise
                except BaseException as error:
                    with self.clone():
                        sent = yield body.throw(error)
        return wrapped

# wrong 07_3_caller_runs_in_the_mode: each generator has a context of its own, in which the mode stays on
import contextvars

class _Mode:
    def _wrap_generator(self, decorated):
        @functools.wraps(decorated)
        def wrapped(*args, **kwargs):
            context = contextvars.copy_context()
            context.run(self.clone().__enter__)
            body = decorated(*args, **kwargs)
            resume, given = body.send, None
            while True:
                try:
                    item = context.run(resume, given)
                except StopIteration as stop:
                    return stop.value
                try:
                    resume, given = body.send, (yield item)
                except BaseException as error:
                    resume, given = body.throw, error
        return wrapped

# wrong 07_3_goes_on_after_close: the body is closed, and the wrapper waits for more
class _Mode:
    def _wrap_generator(self, decorated):
        @functools.wraps(decorated)
        def wrapped(*args, **kwargs):
            body = decorated(*args, **kwargs)
            resume, given = body.send, None
            item = None
            while True:
                try:
                    with self.clone():
                        item = resume(given)
                except StopIteration as stop:
                    return stop.value
                while True:
                    try:
                        resume, given = body.send, (yield item)
                    except GeneratorExit:
                        with self.clone():
                            body.close()
                        continue
                    except BaseException as error:
                        resume, given = body.throw, error
                    break
        return wrapped
