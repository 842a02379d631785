def set_anomaly_enabled(enabled, check_nan=True):
    if enabled != is_anomaly_enabled():
        if enabled:
            _state.observers.enter(remember_origin)
        else:
            _state.observers.leave(remember_origin)
    _state.anomaly.enabled = enabled
    _state.anomaly.check_nan = check_nan


class _Restored:
    def __init__(self):
        self.prev = is_anomaly_enabled()
        self.prev_check_nan = is_anomaly_check_nan_enabled()

    def __exit__(self, *exc):
        set_anomaly_enabled(self.prev, self.prev_check_nan)


class set_detect_anomaly:
    def __init__(self, mode, check_nan=True):
        super().__init__()
        set_anomaly_enabled(mode, check_nan)

# right: one observer leaves, and another enters, at each switch
def set_anomaly_enabled(enabled, check_nan=True):
    if _state.anomaly.enabled:
        _state.observers.leave(remember_origin)
    _state.anomaly.enabled = enabled
    _state.anomaly.check_nan = check_nan
    if enabled:
        _state.observers.enter(remember_origin)

# right: the observers are asked whether it is there
def set_anomaly_enabled(enabled, check_nan=True):
    watching = remember_origin in _state.observers.on_node
    if enabled and not watching:
        _state.observers.enter(remember_origin)
    if watching and not enabled:
        _state.observers.leave(remember_origin)
    _state.anomaly.check_nan = check_nan
    _state.anomaly.enabled = enabled

# right: the mode of before as two arguments, and everything through the switch
class _Restored:
    def __init__(self):
        self.prev, self.prev_check_nan = _state.anomaly.enabled, _state.anomaly.check_nan

    def __exit__(self, *exc):
        set_anomaly_enabled(check_nan=self.prev_check_nan, enabled=self.prev)
        return False

# right: what the base remembers, written out in the subclass
class set_detect_anomaly:
    def __init__(self, mode, check_nan=True):
        self.prev = is_anomaly_enabled()
        self.prev_check_nan = is_anomaly_check_nan_enabled()
        set_anomaly_enabled(mode, check_nan)

# wrong -: nothing happens where the mode does not change
def set_anomaly_enabled(enabled, check_nan=True):
    if enabled == is_anomaly_enabled():
        return
    if enabled:
        _state.observers.enter(remember_origin)
    else:
        _state.observers.leave(remember_origin)
    _state.anomaly.enabled, _state.anomaly.check_nan = enabled, check_nan

# wrong 10_2_leaves_without_entering: off is off, whatever there was
def set_anomaly_enabled(enabled, check_nan=True):
    if enabled:
        if not is_anomaly_enabled():
            _state.observers.enter(remember_origin)
    elif remember_origin in _state.observers.on_node or not is_anomaly_enabled():
        _state.observers.leave(remember_origin)
    _state.anomaly.enabled, _state.anomaly.check_nan = enabled, check_nan

# wrong 10_2_never_watches: the fields are set first, and compared then
def set_anomaly_enabled(enabled, check_nan=True):
    _state.anomaly.enabled, _state.anomaly.check_nan = enabled, check_nan
    if enabled and not is_anomaly_enabled():
        _state.observers.enter(remember_origin)
    elif is_anomaly_enabled() and not enabled:
        _state.observers.leave(remember_origin)

# wrong 10_2_check_nan_is_not_put_back: a block switches off only what it switched on itself
class _Restored:
    def __init__(self):
        self.prev = is_anomaly_enabled()
        self.prev_check_nan = is_anomaly_check_nan_enabled()

    def __exit__(self, *exc):
        if not self.prev:
            set_anomaly_enabled(False, self.prev_check_nan)

# wrong -: the fields are put back, and the observer stays
class _Restored:
    def __init__(self):
        self.prev = is_anomaly_enabled()
        self.prev_check_nan = is_anomaly_check_nan_enabled()

    def __exit__(self, *exc):
        _state.anomaly.enabled = self.prev
        _state.anomaly.check_nan = self.prev_check_nan

# wrong -: no NaN is looked for while the mode is off
def set_anomaly_enabled(enabled, check_nan=True):
    if enabled != is_anomaly_enabled():
        (_state.observers.enter if enabled else _state.observers.leave)(remember_origin)
    _state.anomaly.enabled = enabled
    _state.anomaly.check_nan = enabled and check_nan

# wrong 10_2_off_after_every_block: the base remembers what its first block found
class _Restored:
    def __init__(self):
        cls = type(self)
        if not hasattr(cls, "first"):
            cls.first = is_anomaly_enabled(), is_anomaly_check_nan_enabled()
        self.prev, self.prev_check_nan = cls.first

    def __exit__(self, *exc):
        set_anomaly_enabled(self.prev, self.prev_check_nan)

# wrong 10_2_set_waits_for_the_block: set_detect_anomaly keeps its arguments for a block
class set_detect_anomaly:
    def __init__(self, mode, check_nan=True):
        super().__init__()
        self.mode, self.check_nan = mode, check_nan

    def __enter__(self):
        set_anomaly_enabled(self.mode, self.check_nan)

# wrong 10_2_not_after_an_error: an error leaves the mode on, to look at it
class _Restored:
    def __init__(self):
        self.prev = is_anomaly_enabled()
        self.prev_check_nan = is_anomaly_check_nan_enabled()

    def __exit__(self, *exc):
        if exc[0] is None:
            set_anomaly_enabled(self.prev, self.prev_check_nan)

# wrong 10_2_swallows_errors: a block lets its own kind of error pass
class _Restored:
    def __init__(self):
        self.prev = is_anomaly_enabled()
        self.prev_check_nan = is_anomaly_check_nan_enabled()

    def __exit__(self, *exc):
        set_anomaly_enabled(self.prev, self.prev_check_nan)
        return exc[0] is RuntimeError
