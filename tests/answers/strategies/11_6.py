class Recorder:
    def call(self, what, inputs, function, *args, **kwargs):
        details = self.details(inputs)
        outer, self._here.sequence, result = self._here.sequence, -1, None
        start = perf_counter_ns()
        try:
            result = function(*args, **kwargs)
            return result
        finally:
            self.call_ran(what, start, perf_counter_ns(), details, inputs, result)
            self._here.sequence = outer

    def node(self, node, grads, apply, *args):
        result, start = None, perf_counter_ns()
        try:
            result = apply(*args)
            return result
        finally:
            self.node_ran(node, start, grads, result)

    def made(self, node):
        self._here.sequence = node.sequence

# right: try and finally
# These are the functions above.

# right: a context manager around the call
from contextlib import contextmanager

class Recorder:
    @contextmanager
    def innermost(self):
        before = self._here.sequence
        self._here.sequence = -1
        try:
            yield
        finally:
            self._here.sequence = before

    def call(self, what, inputs, function, *args, **kwargs):
        details = self.details(inputs)
        with self.innermost():
            start = perf_counter_ns()
            try:
                result = function(*args, **kwargs)
            except BaseException:
                self.call_ran(what, start, perf_counter_ns(), details, inputs, None)
                raise
            self.call_ran(what, start, perf_counter_ns(), details, inputs, result)
            return result

    def node(self, node, grads, apply, *args):
        start = perf_counter_ns()
        try:
            results = apply(*args)
        except BaseException:
            self.node_ran(node, start, grads, None)
            raise
        self.node_ran(node, start, grads, results)
        return results

# right: a stack of numbers on each thread
class Recorder:
    def call(self, what, inputs, function, *args, **kwargs):
        details, here = self.details(inputs), self._here
        here.__dict__.setdefault("outer", []).append(here.sequence)
        here.sequence = -1
        result = None
        start = perf_counter_ns()
        try:
            result = function(*args, **kwargs)
        finally:
            self.call_ran(what, start, perf_counter_ns(), details, inputs, result)
            here.sequence = here.outer.pop()
        return result

    def made(self, node):
        setattr(self._here, "sequence", node.sequence)

# wrong -: only an Exception is recorded
class Recorder:
    def call(self, what, inputs, function, *args, **kwargs):
        details = self.details(inputs)
        outer, self._here.sequence = self._here.sequence, -1
        start = perf_counter_ns()
        try:
            result = function(*args, **kwargs)
        except Exception:
            self.call_ran(what, start, perf_counter_ns(), details, inputs, None)
            self._here.sequence = outer
            raise
        self.call_ran(what, start, perf_counter_ns(), details, inputs, result)
        self._here.sequence = outer
        return result

    def node(self, node, grads, apply, *args):
        start = perf_counter_ns()
        try:
            results = apply(*args)
        except Exception:
            self.node_ran(node, start, grads, None)
            raise
        self.node_ran(node, start, grads, results)
        return results

# wrong -: one stack of numbers for all threads
class Recorder:
    def call(self, what, inputs, function, *args, **kwargs):
        details = self.details(inputs)
        stack = self.__dict__.setdefault("stack", [-1])
        stack.append(-1)
        result, start = None, perf_counter_ns()
        try:
            result = function(*args, **kwargs)
            return result
        finally:
            self._here.sequence = stack.pop()
            self.call_ran(what, start, perf_counter_ns(), details, inputs, result)

    def made(self, node):
        self.__dict__.setdefault("stack", [-1])[-1] = node.sequence

# wrong 11_6_the_number_of_the_one_around: the inner call's number is taken from the nodes that were made since
class Recorder:
    def call(self, what, inputs, function, *args, **kwargs):
        details = self.details(inputs)
        outer, result = self._here.sequence, None
        start = perf_counter_ns()
        try:
            result = function(*args, **kwargs)
            return result
        finally:
            self.call_ran(what, start, perf_counter_ns(), details, inputs, result)
            self._here.sequence = outer

# wrong -: the first node of a call is kept
class Recorder:
    def made(self, node):
        if self._here.sequence < 0:
            self._here.sequence = node.sequence

# wrong -: the clock starts before the details
class Recorder:
    def call(self, what, inputs, function, *args, **kwargs):
        start = perf_counter_ns()
        details = self.details(inputs)
        outer, self._here.sequence, result = self._here.sequence, -1, None
        try:
            result = function(*args, **kwargs)
            return result
        finally:
            self.call_ran(what, start, perf_counter_ns(), details, inputs, result)
            self._here.sequence = outer

# wrong -: the details after the call
class Recorder:
    def call(self, what, inputs, function, *args, **kwargs):
        outer, self._here.sequence, result = self._here.sequence, -1, None
        start = perf_counter_ns()
        try:
            result = function(*args, **kwargs)
            return result
        finally:
            end = perf_counter_ns()
            self.call_ran(what, start, end, self.details(inputs), inputs, result)
            self._here.sequence = outer

# wrong -: a node counts as a call
class Recorder:
    def node(self, node, grads, apply, *args):
        return self.call(type(node), grads, apply, *args)
