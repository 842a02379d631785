# right: looked at and made under the lock
class TensorHistory:
    def _accumulator(self):
        extras = self._ensure_extras()
        with _accumulator_lock:
            end = None if extras.accumulator is None else extras.accumulator()
            if end is None:
                end = AccumulateGrad(self)
                extras.accumulator = ref(end)
            return end

# right: looked at once without the lock, and again under it
class TensorHistory:
    def _accumulator(self):
        extras = self._ensure_extras()
        held = extras.accumulator
        end = held() if held is not None else None
        if end is not None:
            return end
        with _accumulator_lock:
            held = extras.accumulator
            end = held() if held is not None else None
            if end is None:
                end = AccumulateGrad(self)
                extras.accumulator = ref(end)
        return end

# wrong 02_2_looks_before_the_lock: looked at before the lock, made under it
class TensorHistory:
    def _accumulator(self):
        extras = self._ensure_extras()
        end = None if extras.accumulator is None else extras.accumulator()
        if end is None:
            with _accumulator_lock:
                end = AccumulateGrad(self)
                extras.accumulator = ref(end)
        return end

# wrong 02_2_none: a dead reference is not asked
class TensorHistory:
    def _accumulator(self):
        extras = self._ensure_extras()
        with _accumulator_lock:
            if extras.accumulator is None:
                end = AccumulateGrad(self)
                extras.accumulator = ref(end)
            return extras.accumulator()

# wrong 02_2_held: kept itself, with a lambda
class TensorHistory:
    def _accumulator(self):
        extras = self._ensure_extras()
        with _accumulator_lock:
            if extras.accumulator is None:
                end = AccumulateGrad(self)
                extras.accumulator = lambda: end
            return extras.accumulator()

# right: acquired and released by hand
class TensorHistory:
    def _accumulator(self):
        _accumulator_lock.acquire()
        try:
            extras = self._ensure_extras()
            node = extras.accumulator() if extras.accumulator else None
            if node is None:
                node = AccumulateGrad(self)
                extras.accumulator = ref(node)
            return node
        finally:
            _accumulator_lock.release()

# right: a spare one is made first
class TensorHistory:
    def _accumulator(self):
        spare = AccumulateGrad(self)
        with _accumulator_lock:
            extras = self._ensure_extras()
            kept = (extras.accumulator or (lambda: None))()
            if kept is not None:
                return kept
            extras.accumulator = ref(spare)
        return spare

# right: asked again and again, until one is alive
class TensorHistory:
    def _accumulator(self):
        extras, node = self._ensure_extras(), None
        while True:
            with _accumulator_lock:
                if extras.accumulator is not None:
                    alive = extras.accumulator()
                    if alive is not None:
                        return alive
                node = AccumulateGrad(self)
                extras.accumulator = ref(node)

# wrong -: the weak reference is called twice
class TensorHistory:
    def _accumulator(self):
        extras = self._ensure_extras()
        with _accumulator_lock:
            if extras.accumulator is not None and extras.accumulator() is not None:
                return extras.accumulator()
            node = AccumulateGrad(self)
            extras.accumulator = ref(node)
            return node

# wrong -: a weak proxy
class TensorHistory:
    def _accumulator(self):
        from weakref import proxy
        extras = self._ensure_extras()
        with _accumulator_lock:
            end = None if extras.accumulator is None else extras.accumulator()
            if end is None:
                end = AccumulateGrad(self)
                extras.accumulator = ref(end)
                return end
            return proxy(end)

# wrong -: a table of weak values for all leaves, by id
def table(known={}):
    from weakref import WeakValueDictionary
    return known.setdefault("table", WeakValueDictionary())

class TensorHistory:
    def _accumulator(self):
        with _accumulator_lock:
            end = table().get(id(self))
            if end is None:
                end = table()[id(self)] = AccumulateGrad(self)
            return end

# wrong 02_2_held: held in the leaf's dictionary, and remembered weakly too
class TensorHistory:
    def _accumulator(self):
        extras = self._ensure_extras()
        with _accumulator_lock:
            end = None if extras.accumulator is None else extras.accumulator()
            if end is None:
                end = AccumulateGrad(self)
                extras.accumulator = ref(end)
                self.__dict__["end"] = end
            return end

# wrong 02_2_no_lock: a lock of each call's own
class TensorHistory:
    def _accumulator(self):
        extras = self._ensure_extras()
        with Lock():
            end = None if extras.accumulator is None else extras.accumulator()
            if end is None:
                end = AccumulateGrad(self)
                extras.accumulator = ref(end)
            return end
