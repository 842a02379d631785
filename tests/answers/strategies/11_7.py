class _Recording:
    def _start(self, recorder):
        self._refuse()
        self.entered = True
        _state.recorder.set(recorder)
        _state.observers.enter(recorder.made)

    def _stop(self, recorder):
        _state.observers.leave(recorder.made)
        _state.recorder.set(None)
        recorder.quick = False

class profile:
    def __enter__(self):
        if self.enabled:
            recorder = self._new_recorder()
            self._start(recorder)
            self._recorder = recorder
            self._began = perf_counter_ns()
        return self

    def __exit__(self, *exc):
        if self.enabled:
            ended = perf_counter_ns()
            self._stop(self._recorder)
            self._span = self._began, ended

# right: the recorder is kept once it is on
# These are the functions above.

# right: early returns, and the observer first
class _Recording:
    def _start(self, recorder):
        self._refuse()
        _state.observers.enter(recorder.made)
        _state.recorder.set(recorder)
        self.entered = True

    def _stop(self, recorder):
        recorder.quick = False
        _state.recorder.set(None)
        _state.observers.leave(recorder.made)

class profile:
    def __enter__(self):
        if not self.enabled:
            return self
        self._refuse()
        self._recorder = self._new_recorder()
        self._start(self._recorder)
        self._begin = perf_counter_ns()
        return self

    def __exit__(self, kind, error, traceback):
        if not self.enabled:
            return False
        span = (self._begin, perf_counter_ns())
        self._stop(self._recorder)
        self._span = span
        return False

# right: what is to be undone on an exit stack
from contextlib import ExitStack

class _Recording:
    def _start(self, recorder):
        self._refuse()
        self.entered = True
        self._undo = ExitStack()
        _state.recorder.set(recorder)
        self._undo.callback(_state.recorder.set, None)
        _state.observers.enter(recorder.made)
        self._undo.callback(_state.observers.leave, recorder.made)

    def _stop(self, recorder):
        recorder.quick = False
        self._undo.close()

# right: the previous recorder is put back
class _Recording:
    def _start(self, recorder):
        self._refuse()
        self.entered = True
        self._before = _state.recorder.get()
        _state.recorder.set(recorder)
        _state.observers.enter(recorder.made)

    def _stop(self, recorder):
        _state.observers.leave(recorder.made)
        _state.recorder.set(self._before)
        recorder.quick = False

# wrong 11_7_a_refused_profile_loses_its_events: the recorder is stored before the profile is refused
class profile:
    def __enter__(self):
        if self.enabled:
            self._recorder = self._new_recorder()
            self._start(self._recorder)
            self._began = perf_counter_ns()
        return self

# wrong -: the span includes the profiler's own work
class profile:
    def __enter__(self):
        self._began = perf_counter_ns()
        if self.enabled:
            recorder = self._new_recorder()
            self._start(recorder)
            self._recorder = recorder
        return self

    def __exit__(self, *exc):
        if self.enabled:
            self._stop(self._recorder)
            self._span = self._began, perf_counter_ns()

# wrong -: a second observer, who is not told of nodes
class _Recording:
    def _start(self, recorder):
        self._refuse()
        self.entered = True
        _state.recorder.set(recorder)
        _state.observers.enter(intercepts=True)

    def _stop(self, recorder):
        _state.observers.leave(intercepts=True)
        _state.recorder.set(None)
        recorder.quick = False

# wrong 11_7_used_twice: a profile can be entered again once it has been left
class profile:
    def __exit__(self, *exc):
        if self.enabled:
            ended = perf_counter_ns()
            self._stop(self._recorder)
            self._span = self._began, ended
        self.entered = False
