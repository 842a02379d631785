# right: whole arrays, without blocks
class SGD:
    def _update_with_momentum(self, group, array, grad, state):
        xp, lr = backend_of(array), float(group["lr"])
        g = xp.asarray(downhill(xp, group, array, grad, xp.empty_like(array)))
        if state.get("momentum_buffer") is None:
            remember(state, "momentum_buffer", xp.array(g))
            v = buffer(state, "momentum_buffer")
        else:
            v = buffer(state, "momentum_buffer")
            v *= group["momentum"]
            v += (1 - group["dampening"]) * g
        array -= lr * (g + group["momentum"] * v if group["nesterov"] else v)

# wrong 13b_3_lr_in_velocity: the first velocity is the first move
class SGD:
    def _update_with_momentum(self, group, array, grad, state):
        xp, lr = backend_of(array), float(group["lr"])
        g = xp.asarray(downhill(xp, group, array, grad, xp.empty_like(array)))
        if state.get("momentum_buffer") is None:
            remember(state, "momentum_buffer", xp.array(g * lr))
            v = buffer(state, "momentum_buffer")
        else:
            v = buffer(state, "momentum_buffer")
            v *= group["momentum"]
            v += (1 - group["dampening"]) * g
        array -= lr * (g + group["momentum"] * v if group["nesterov"] else v)

# right: the first velocity is zeros with no momentum and no dampening
class SGD:
    def _update_with_momentum(self, group, array, grad, state):
        xp = backend_of(array)
        g = downhill(xp, group, array, grad, xp.empty_like(array))
        momentum, weight = group["momentum"], 1 - group["dampening"]
        if "momentum_buffer" not in state or state["momentum_buffer"] is None:
            remember(state, "momentum_buffer", xp.zeros_like(array))
            momentum, weight = 0, 1
        v = buffer(state, "momentum_buffer")
        v[...] = momentum * v + weight * g
        step = g + group["momentum"] * v if group["nesterov"] else v
        array[...] = array - float(group["lr"]) * step

# right: the velocity is remembered anew in each step
class SGD:
    def _update_with_momentum(self, group, array, grad, state):
        xp = backend_of(array)
        g = xp.asarray(downhill(xp, group, array, grad, xp.empty_like(array)))
        if state.get("momentum_buffer") is None:
            v = xp.array(g, copy=True)
        else:
            v = xp.asarray(group["momentum"] * buffer(state, "momentum_buffer")
                           + (1 - group["dampening"]) * g)
        remember(state, "momentum_buffer", v)
        array -= float(group["lr"]) * (g + group["momentum"] * v if group["nesterov"] else v)

# wrong 13b_3_first_step_damped: the velocity is a running average that starts at zero
class SGD:
    def _update_with_momentum(self, group, array, grad, state):
        xp = backend_of(array)
        g = downhill(xp, group, array, grad, xp.empty_like(array))
        if state.get("momentum_buffer") is None:
            remember(state, "momentum_buffer", xp.zeros_like(array))
        v = buffer(state, "momentum_buffer")
        v *= group["momentum"]
        v += (1 - group["dampening"]) * g
        array -= float(group["lr"]) * (g + group["momentum"] * v if group["nesterov"] else v)

# wrong 13b_3_ignores_nesterov: the old velocity is added after the step
class SGD:
    def _update_with_momentum(self, group, array, grad, state):
        xp = backend_of(array)
        g = xp.array(downhill(xp, group, array, grad, xp.empty_like(array)))
        if state.get("momentum_buffer") is None:
            remember(state, "momentum_buffer", g)
        else:
            v = buffer(state, "momentum_buffer")
            array -= float(group["lr"]) * group["momentum"] * v
            v *= group["momentum"]
            v += (1 - group["dampening"]) * g
        array -= float(group["lr"]) * g

# wrong -: v is new if it is zero
class SGD:
    def _update_with_momentum(self, group, array, grad, state):
        xp = backend_of(array)
        g = xp.array(downhill(xp, group, array, grad, xp.empty_like(array)))
        if state.get("momentum_buffer") is None or not buffer(state, "momentum_buffer").any():
            remember(state, "momentum_buffer", xp.array(g))
            v = buffer(state, "momentum_buffer")
        else:
            v = buffer(state, "momentum_buffer")
            v *= group["momentum"]
            v += (1 - group["dampening"]) * g
        array -= float(group["lr"]) * (g + group["momentum"] * v if group["nesterov"] else v)

# wrong -: nesterov looks ahead with the old velocity and the gradient's weight
class SGD:
    def _update_with_momentum(self, group, array, grad, state):
        xp = backend_of(array)
        g = xp.array(downhill(xp, group, array, grad, xp.empty_like(array)))
        if state.get("momentum_buffer") is None:
            remember(state, "momentum_buffer", xp.array(g))
            v = buffer(state, "momentum_buffer")
        else:
            v = buffer(state, "momentum_buffer")
            if group["nesterov"]:
                g = g + group["momentum"] * v
            v *= group["momentum"]
            v += (1 - group["dampening"]) * g
        array -= float(group["lr"]) * v

# wrong -: the decay is added to the velocity, not to the gradient
class SGD:
    def _update_with_momentum(self, group, array, grad, state):
        xp = backend_of(array)
        g = xp.array(-grad if group["maximize"] else grad)
        if state.get("momentum_buffer") is None:
            remember(state, "momentum_buffer", xp.array(g))
            v = buffer(state, "momentum_buffer")
        else:
            v = buffer(state, "momentum_buffer")
            v *= group["momentum"]
            v += (1 - group["dampening"]) * g
        step = g + group["momentum"] * v if group["nesterov"] else v
        array -= float(group["lr"]) * (step + group["weight_decay"] * array)

# right: nesterov in two moves, the velocity's and the gradient's
class SGD:
    def _update_with_momentum(self, group, array, grad, state):
        xp, lr, momentum = backend_of(array), float(group["lr"]), group["momentum"]
        g = xp.asarray(downhill(xp, group, array, grad, xp.empty_like(array)))
        if state.get("momentum_buffer") is None:
            remember(state, "momentum_buffer", xp.array(g))
            v = buffer(state, "momentum_buffer")
        else:
            v = buffer(state, "momentum_buffer")
            v *= momentum
            v += (1 - group["dampening"]) * g
        if group["nesterov"]:
            array -= lr * momentum * v
            array -= lr * g
        else:
            array -= lr * v

# right: the state is asked for the name
class SGD:
    def _update_with_momentum(self, group, array, grad, state):
        xp, lr, momentum = backend_of(array), float(group["lr"]), group["momentum"]
        g = xp.asarray(downhill(xp, group, array, grad, xp.empty_like(array)))
        if "momentum_buffer" not in state:
            remember(state, "momentum_buffer", xp.array(g))
            v = buffer(state, "momentum_buffer")
        else:
            v = buffer(state, "momentum_buffer")
            v *= momentum
            v += (1 - group["dampening"]) * g
        array -= lr * (g + momentum * v if group["nesterov"] else v)

# wrong 13b_3_lr_in_velocity: the velocity is the last move, which is added
class SGD:
    def _update_with_momentum(self, group, array, grad, state):
        xp, lr, momentum = backend_of(array), float(group["lr"]), group["momentum"]
        g = xp.asarray(downhill(xp, group, array, grad, xp.empty_like(array)))
        if state.get("momentum_buffer") is None:
            remember(state, "momentum_buffer", xp.array(-lr * g))
            v = buffer(state, "momentum_buffer")
        else:
            v = buffer(state, "momentum_buffer")
            v *= momentum
            v -= lr * (1 - group["dampening"]) * g
        array += momentum * v - lr * g if group["nesterov"] else v

# wrong 13b_3_keeps_the_first: the velocity is a sum with a name of its own
class SGD:
    def _update_with_momentum(self, group, array, grad, state):
        xp, lr, momentum = backend_of(array), float(group["lr"]), group["momentum"]
        g = xp.asarray(downhill(xp, group, array, grad, xp.empty_like(array)))
        if state.get("momentum_buffer") is None:
            remember(state, "momentum_buffer", xp.array(g))
            v = buffer(state, "momentum_buffer")
        else:
            v = momentum * buffer(state, "momentum_buffer") + (1 - group["dampening"]) * g
        array -= lr * (g + momentum * v if group["nesterov"] else v)

# wrong 13b_3_average: the gradient's weight is what the momentum leaves
class SGD:
    def _update_with_momentum(self, group, array, grad, state):
        xp, lr, momentum = backend_of(array), float(group["lr"]), group["momentum"]
        g = xp.asarray(downhill(xp, group, array, grad, xp.empty_like(array)))
        if state.get("momentum_buffer") is None:
            remember(state, "momentum_buffer", xp.array(g))
            v = buffer(state, "momentum_buffer")
        else:
            v = buffer(state, "momentum_buffer")
            v[...] = momentum * v + (1 - momentum) * (1 - group["dampening"]) * g
        array -= lr * (g + momentum * v if group["nesterov"] else v)

# wrong -: the momentum belongs to the gradient, too
class SGD:
    def _update_with_momentum(self, group, array, grad, state):
        xp, lr, momentum = backend_of(array), float(group["lr"]), group["momentum"]
        g = xp.asarray(downhill(xp, group, array, grad, xp.empty_like(array)))
        if state.get("momentum_buffer") is None:
            remember(state, "momentum_buffer", xp.array(g))
            v = buffer(state, "momentum_buffer")
        else:
            v = buffer(state, "momentum_buffer")
            v += (1 - group["dampening"]) * g
            v *= momentum
        array -= lr * (g + momentum * v if group["nesterov"] else v)

# wrong -: the dampening weakens the old velocity
class SGD:
    def _update_with_momentum(self, group, array, grad, state):
        xp, lr, momentum = backend_of(array), float(group["lr"]), group["momentum"]
        g = xp.asarray(downhill(xp, group, array, grad, xp.empty_like(array)))
        if state.get("momentum_buffer") is None:
            remember(state, "momentum_buffer", xp.array(g))
            v = buffer(state, "momentum_buffer")
        else:
            v = buffer(state, "momentum_buffer")
            v *= momentum * (1 - group["dampening"])
            v += g
        array -= lr * (g + momentum * v if group["nesterov"] else v)

# wrong -: nesterov looks ahead from the velocity without this gradient's share
class SGD:
    def _update_with_momentum(self, group, array, grad, state):
        xp, lr, momentum = backend_of(array), float(group["lr"]), group["momentum"]
        g = xp.asarray(downhill(xp, group, array, grad, xp.empty_like(array)))
        if state.get("momentum_buffer") is None:
            remember(state, "momentum_buffer", xp.array(g))
            v = buffer(state, "momentum_buffer")
        else:
            v = buffer(state, "momentum_buffer")
            v *= momentum
            v += (1 - group["dampening"]) * g
        array -= lr * (momentum * v if group["nesterov"] else v) + lr * (group["nesterov"] and momentum) * g
