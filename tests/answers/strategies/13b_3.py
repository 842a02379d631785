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
