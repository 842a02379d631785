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
