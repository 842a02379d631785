"""Stage 13b, written from the tasks by somebody who keeps to plain arithmetic."""

from minigrad.autograd import enable_grad as _enabled


class Optimizer:
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with _enabled():
                loss = closure()
        for group in self.param_groups:
            for parameter in self._to_step(group):
                grad = parameter._grad
                if grad is None:
                    continue
                state = self.state[parameter] if parameter in self.state else {}
                self.update(group, parameter._array, grad._array, state)
                parameter._bump()
                if len(state) > 0:
                    self.state[parameter] = state
        return loss

    def _pack(self):
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
        return {"state": states, "param_groups": groups}


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
        array -= float(group["lr"]) * downhill(xp, group, array, grad, grad)

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
            array -= float(group["lr"]) * (g + group["momentum"] * v)
        else:
            array -= float(group["lr"]) * v


class Adam:
    def update(self, group, array, grad, state):
        xp = backend_of(array)
        m, v, *largest = self._averages(group, array, state)
        count = counted(state)
        beta1, beta2 = group["betas"]
        if group["decoupled_weight_decay"]:
            array *= 1 - group["lr"] * group["weight_decay"]
        g = downhill(xp, group, array, grad, grad)
        average(xp, g, m, v, beta1, beta2, g)
        if group["amsgrad"]:
            largest[0][...] = xp.maximum(largest[0], v)
            v = largest[0]
        corrected_m = m / (1 - beta1 ** count)
        corrected_v = v / (1 - beta2 ** count)
        array -= group["lr"] * corrected_m / (corrected_v ** 0.5 + group["eps"])


def average(xp, grad, mean, square, beta1, beta2, room):
    mean *= beta1
    mean += (1 - beta1) * grad
    square *= beta2
    square += (1 - beta2) * grad * grad
