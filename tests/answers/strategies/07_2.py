# right: enter and exit are called by hand
import sys

class _Mode:
    def _wrap_function(self, decorated):
        @functools.wraps(decorated)
        def inside(*args, **kwargs):
            mode = self.clone()
            mode.__enter__()
            try:
                result = decorated(*args, **kwargs)
            except BaseException:
                if not mode.__exit__(*sys.exc_info()):
                    raise
                return None
            mode.__exit__(None, None, None)
            return result
        return inside

# right: an exit stack
import contextlib

class _Mode:
    def _wrap_function(self, decorated):
        def inside(*args, **kwargs):
            with contextlib.ExitStack() as stack:
                stack.enter_context(self.clone())
                return decorated(*args, **kwargs)
        return functools.update_wrapper(inside, decorated)

# right: contextlib's own decorator, which recreates its block for each call
import contextlib

class _Mode:
    def _wrap_function(self, decorated):
        @contextlib.contextmanager
        def block():
            with self.clone():
                yield
        return block()(decorated)

# right: try and finally
class _Mode:
    def _wrap_function(self, decorated):
        make = self.clone

        @functools.wraps(decorated)
        def inside(*args, **kwargs):
            mode = make()
            mode.__enter__()
            try:
                return decorated(*args, **kwargs)
            finally:
                mode.__exit__(None, None, None)
        return inside

# right: a spare object is copied from, but never entered
class _Mode:
    def _wrap_function(self, decorated):
        @functools.wraps(decorated)
        def inside(*args, **kwargs):
            fresh = self.clone()
            with fresh:
                found = [decorated(*args, **kwargs)]
            return found[0]
        return inside

# wrong -: the mode is entered by the outermost call alone
class _Mode:
    def _wrap_function(self, decorated):
        depth = 0

        @functools.wraps(decorated)
        def inside(*args, **kwargs):
            nonlocal depth
            if depth:
                return decorated(*args, **kwargs)
            depth += 1
            try:
                with self.clone():
                    return decorated(*args, **kwargs)
            finally:
                depth -= 1
        return inside

# wrong -: only an Exception leaves the mode
class _Mode:
    def _wrap_function(self, decorated):
        @functools.wraps(decorated)
        def inside(*args, **kwargs):
            mode = self.clone()
            mode.__enter__()
            try:
                result = decorated(*args, **kwargs)
            except Exception as error:
                mode.__exit__(type(error), error, error.__traceback__)
                raise
            mode.__exit__(None, None, None)
            return result
        return inside

# wrong -: a shallow copy of the mode for each call
import copy

class _Mode:
    def _wrap_function(self, decorated):
        @functools.wraps(decorated)
        def inside(*args, **kwargs):
            with copy.copy(self):
                return decorated(*args, **kwargs)
        return inside

# wrong 07_2_calls_share_one_object: one clone, made while decorating
class _Mode:
    def _wrap_function(self, decorated):
        mode = self.clone()

        @functools.wraps(decorated)
        def inside(*args, **kwargs):
            with mode:
                return decorated(*args, **kwargs)
        return inside

# wrong -: functools.partial, which is no method in a class
class _Mode:
    def _wrap_function(self, decorated):
        def inside(call, *args, **kwargs):
            with self.clone():
                return call(*args, **kwargs)
        return functools.update_wrapper(functools.partial(inside, decorated), decorated)
