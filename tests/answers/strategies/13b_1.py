# right: a list of what moves first
class Optimizer:
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        moving = [(group, p) for group in self.param_groups for p in self._to_step(group)
                  if p._grad is not None]
        for group, p in moving:
            state = self.state.get(p, {})
            self.update(group, p._array, p._grad._array, state)
            p._bump()
            if state:
                self.state[p] = state
        return loss

# right: the state is put in place first, and taken out if it stays empty
class Optimizer:
    def step(self, closure=None):
        loss = None
        if closure:
            with enable_grad():
                loss = closure()
        for group in self.param_groups:
            for p in self._to_step(group):
                if p._grad is None:
                    continue
                known = p in self.state
                if not known:
                    self.state[p] = {}
                self.update(group, p._array, p._grad._array, self.state[p])
                if not self.state[p]:
                    del self.state[p]
                p._bump()
        return loss

# right: setdefault, and the empty states are dropped at the end
class Optimizer:
    def step(self, closure=None):
        with enable_grad():
            loss = None if closure is None else closure()
        for group in self.param_groups:
            for parameter in self._to_step(group):
                if parameter._grad is None:
                    continue
                state = self.state.setdefault(parameter, {})
                self.update(group, parameter._array, parameter._grad._array, state)
                parameter._bump()
        for parameter in [p for p, state in self.state.items() if not state]:
            self.state.pop(parameter)
        return loss

# right: a method for each parameter
class Optimizer:
    def _step_one(self, group, p):
        state = self.state[p] if p in self.state else {}
        self.update(group, p._array, p._grad._array, state)
        p._bump()
        if len(state) > 0:
            self.state[p] = state

    def step(self, closure=None):
        loss = self._closed(closure)
        for group in self.param_groups:
            for p in self._to_step(group):
                if p._grad is None:
                    continue
                self._step_one(group, p)
        return loss

    def _closed(self, closure):
        if closure is None:
            return None
        with enable_grad():
            return closure()

# wrong -: what needs no gradient is told before the closure runs
class Optimizer:
    def step(self, closure=None):
        moving = [(group, p) for group in self.param_groups for p in self._to_step(group)
                  if p._grad is not None]
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for group, p in moving:
            state = self.state.get(p, {})
            self.update(group, p._array, p._grad._array, state)
            p._bump()
            if state:
                self.state[p] = state
        return loss

# wrong 13b_1_closure_not_recorded: the closure is for the loss alone, under the mode of the caller
class Optimizer:
    def step(self, closure=None):
        loss = None if closure is None else closure()
        for group in self.param_groups:
            for p in self._to_step(group):
                if p._grad is None:
                    continue
                state = self.state.get(p, {})
                self.update(group, p._array, p._grad._array, state)
                p._bump()
                if state:
                    self.state[p] = state
        return loss

# right: recording is on for the whole step
class Optimizer:
    def step(self, closure=None):
        with enable_grad():
            loss = None
            if closure is not None:
                loss = closure()
            for group in self.param_groups:
                for p in self._to_step(group):
                    if p._grad is None:
                        continue
                    state = self.state.get(p, {})
                    self.update(group, p._array, p._grad._array, state)
                    p._bump()
                    if state:
                        self.state[p] = state
        return loss

# wrong -: a state is created by the step, with the number of the step
class Optimizer:
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for group in self.param_groups:
            for p in self._to_step(group):
                if p._grad is None:
                    continue
                state = self.state.setdefault(p, {"step": 0})
                self.update(group, p._array, p._grad._array, state)
                p._bump()
        return loss

# wrong -: states are kept by the parameter's position
class Optimizer:
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for group in self.param_groups:
            for i, p in enumerate(self._to_step(group)):
                if p._grad is None:
                    continue
                state = self.state.get(i, {})
                self.update(group, p._array, p._grad._array, state)
                p._bump()
                if state:
                    self.state[i] = state
        return loss

# wrong -: a new array is computed and put into the parameter
class Optimizer:
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for group in self.param_groups:
            for p in self._to_step(group):
                if p._grad is None:
                    continue
                state = self.state.get(p, {})
                array = p._array.copy()
                self.update(group, array, p._grad._array, state)
                p._array = array
                p._bump()
                if state:
                    self.state[p] = state
        return loss

# wrong -: update receives a copy of the gradient's values as a tensor
class Optimizer:
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for group in self.param_groups:
            for p in self._to_step(group):
                if p._grad is None:
                    continue
                state = self.state.get(p, {})
                self.update(group, p._array, p._grad, state)
                p._bump()
                if state:
                    self.state[p] = state
        return loss

# wrong 13b_1_moves_without_gradient: zeros where there is no gradient
class Optimizer:
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                grad = p._array * 0 if p._grad is None else p._grad._array
                state = self.state.get(p, {})
                self.update(group, p._array, grad, state)
                p._bump()
                if state:
                    self.state[p] = state
        return loss

# wrong -: a gradient of zeros does not move
class Optimizer:
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for group in self.param_groups:
            for p in self._to_step(group):
                if p._grad is None:
                    continue
                if not p._grad._array.any():
                    continue
                state = self.state.get(p, {})
                self.update(group, p._array, p._grad._array, state)
                p._bump()
                if state:
                    self.state[p] = state
        return loss

# wrong -: the loss is a number
class Optimizer:
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with enable_grad():
                loss = float(closure())
        for group in self.param_groups:
            for p in self._to_step(group):
                if p._grad is None:
                    continue
                state = self.state.get(p, {})
                self.update(group, p._array, p._grad._array, state)
                p._bump()
                if state:
                    self.state[p] = state
        return loss

# wrong -: the gradient is taken away after the step
class Optimizer:
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for group in self.param_groups:
            for p in self._to_step(group):
                if p._grad is None:
                    continue
                state = self.state.get(p, {})
                self.update(group, p._array, p._grad._array, state)
                p._bump()
                p._grad = None
                if state:
                    self.state[p] = state
        return loss

# wrong 13b_1_fails_without_gradient: _to_step is taken to leave out what has no gradient
class Optimizer:
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for group in self.param_groups:
            for p in self._to_step(group):
                state = self.state.get(p, {})
                self.update(group, p._array, p._grad._array, state)
                p._bump()
                if state:
                    self.state[p] = state
        return loss
