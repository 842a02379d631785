"""Stage 13b, written from the tasks by somebody who keeps to plain arithmetic."""

from minigrad.autograd import enable_grad as _enabled


class Optimizer:
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with _enabled():
                loss = closure()
        for group in self.param_groups:
            self._check_capture(group)
            for parameter in group["params"]:
                grad = parameter._grad
                if grad is None:
                    continue
                state = self.state[parameter] if parameter in self.state else {}
                self.update(group, parameter._array, grad._array, state)
                parameter._bump()
                if len(state) > 0:
                    self.state[parameter] = state
        return loss

    def _zero_grad(self, set_to_none):
        for group in self.param_groups:
            for parameter in group["params"]:
                zero_grad(parameter, set_to_none)

    def state_dict(self):
        for hook in list(self._optimizer_state_dict_pre_hooks.values()):
            hook(self)
        numbers = {}
        groups = []
        for group in self.param_groups:
            new = {}
            for key, value in group.items():
                if key != "params":
                    new[key] = value
            new["params"] = []
            for parameter in group["params"]:
                if id(parameter) not in numbers:
                    numbers[id(parameter)] = len(numbers)
                new["params"].append(numbers[id(parameter)])
            groups.append(new)
        states = {}
        for key, value in self.state.items():
            states[numbers.get(id(key), key)] = value
        result = {"state": states, "param_groups": groups}
        for hook in list(self._optimizer_state_dict_post_hooks.values()):
            answer = hook(self, result)
            if answer is not None:
                result = answer
        return result


def downhill(xp, group, array, grad, room):
    result = grad
    if group["maximize"]:
        result = -result
    if group["weight_decay"] != 0 and not group.get("decoupled_weight_decay"):
        result = result + group["weight_decay"] * array
    return result


class SGD:
    def update(self, group, array, grad, state):
        if group["momentum"] != 0:
            self._update_with_momentum(group, array, grad, state)
            return
        xp = backend_of(array)
        array -= group["lr"] * downhill(xp, group, array, grad, grad)

    def _update_with_momentum(self, group, array, grad, state):
        g = downhill(backend_of(array), group, array, grad, grad)
        if "momentum_buffer" in state and state["momentum_buffer"] is not None:
            v = buffer(state, "momentum_buffer")
            v *= group["momentum"]
            v += (1 - group["dampening"]) * g
        else:
            v = g.copy()
            remember(state, "momentum_buffer", v)
        if group["nesterov"]:
            array -= group["lr"] * (g + group["momentum"] * v)
        else:
            array -= group["lr"] * v


class Adam:
    def update(self, group, array, grad, state):
        xp = backend_of(array)
        if not state:
            names = ["exp_avg", "exp_avg_sq"]
            if group["amsgrad"]:
                names.append("max_exp_avg_sq")
            start(xp, state, array, *names)
        count = counted(state)
        beta1, beta2 = group["betas"]
        if group["decoupled_weight_decay"]:
            array *= 1 - group["lr"] * group["weight_decay"]
        g = downhill(xp, group, array, grad, grad)
        m = state["exp_avg"]._array
        v = state["exp_avg_sq"]._array
        average(xp, g, m, v, beta1, beta2, g)
        if group["amsgrad"]:
            largest = state["max_exp_avg_sq"]._array
            largest[...] = xp.maximum(largest, v)
            v = largest
        corrected_m = m / (1 - beta1 ** count)
        corrected_v = v / (1 - beta2 ** count)
        array -= group["lr"] * corrected_m / (corrected_v ** 0.5 + group["eps"])


def average(xp, grad, mean, square, beta1, beta2, room):
    mean *= beta1
    mean += (1 - beta1) * grad
    square *= beta2
    square += (1 - beta2) * grad * grad
