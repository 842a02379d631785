def downhill(xp, group, array, grad, room):
    g = -grad if group["maximize"] else grad
    if group["weight_decay"] and not group.get("decoupled_weight_decay"):
        g = g + group["weight_decay"] * array
    return g


class SGD:
    def update(self, group, array, grad, state):
        if group["momentum"]:
            self._update_with_momentum(group, array, grad, state)
            return
        xp = backend_of(array)
        array -= float(group["lr"]) * downhill(xp, group, array, grad, xp.empty_like(array))

# right: everything in room
def downhill(xp, group, array, grad, room):
    room[...] = grad
    if group["maximize"]:
        room *= -1
    if not group.get("decoupled_weight_decay", False):
        room += array * group["weight_decay"]
    return room

# right: a sign and a decay as numbers
def downhill(xp, group, array, grad, room):
    sign = -1 if group["maximize"] else 1
    decay = 0 if group.get("decoupled_weight_decay") else group["weight_decay"]
    return sign * grad + decay * array

# right: the step is computed in room, by the backend's functions
class SGD:
    def update(self, group, array, grad, state):
        if group["momentum"] != 0:
            return self._update_with_momentum(group, array, grad, state)
        xp = backend_of(array)
        room = xp.empty_like(array)
        direction = downhill(xp, group, array, grad, room)
        xp.multiply(direction, float(group["lr"]), out=room)
        xp.subtract(array, room, out=array)

# right: the new values are written over the old ones
class SGD:
    def update(self, group, array, grad, state):
        if group["momentum"]:
            self._update_with_momentum(group, array, grad, state)
        else:
            xp = backend_of(array)
            room = xp.empty_like(array)
            array[...] = array - float(group["lr"]) * downhill(xp, group, array, grad, room)

# wrong -: the result is always in room, which is filled only with options
def downhill(xp, group, array, grad, room):
    if group["maximize"]:
        xp.negative(grad, out=room)
    if group["weight_decay"] and not group.get("decoupled_weight_decay"):
        room += group["weight_decay"] * array
    return room

# wrong -: the decay after the step, as decoupled
class SGD:
    def update(self, group, array, grad, state):
        if group["momentum"]:
            return self._update_with_momentum(group, array, grad, state)
        xp = backend_of(array)
        lr = float(group["lr"])
        array -= lr * downhill(xp, {**group, "weight_decay": 0}, array, grad, xp.empty_like(array))
        array -= lr * group["weight_decay"] * array

# wrong 13b_2_maximize_drops_decay: both options as one: the decay is left out when maximizing
def downhill(xp, group, array, grad, room):
    if group["maximize"]:
        return -grad
    if group["weight_decay"] and not group.get("decoupled_weight_decay"):
        return grad + group["weight_decay"] * array
    return grad

# wrong 13b_2_maximize_turns_decay: the sum is negated
def downhill(xp, group, array, grad, room):
    g = grad
    if group["weight_decay"] and not group.get("decoupled_weight_decay"):
        g = g + group["weight_decay"] * array
    return -g if group["maximize"] else g

# wrong -: with momentum, the plain step is taken as well
class SGD:
    def update(self, group, array, grad, state):
        if group["momentum"]:
            self._update_with_momentum(group, array, grad, state)
        xp = backend_of(array)
        array -= float(group["lr"]) * downhill(xp, group, array, grad, xp.empty_like(array))

# wrong -: room is the parameter's own array
class SGD:
    def update(self, group, array, grad, state):
        if group["momentum"]:
            return self._update_with_momentum(group, array, grad, state)
        xp = backend_of(array)
        step = downhill(xp, group, array, grad, array)
        array -= float(group["lr"]) * step

def downhill(xp, group, array, grad, room):
    room[...] = -grad if group["maximize"] else grad
    if group["weight_decay"] and not group.get("decoupled_weight_decay"):
        room += group["weight_decay"] * array
    return room

# wrong 13b_2_writes_to_gradient: room is the gradient, to save memory
class SGD:
    def update(self, group, array, grad, state):
        if group["momentum"]:
            return self._update_with_momentum(group, array, grad, state)
        xp = backend_of(array)
        g = downhill(xp, group, array, grad, grad)
        xp.multiply(g, float(group["lr"]), out=grad)
        array -= grad

# wrong -: the group has to name a decoupled decay
def downhill(xp, group, array, grad, room):
    g = -grad if group["maximize"] else grad
    if not group["decoupled_weight_decay"]:
        g = g + group["weight_decay"] * array
    return g

# wrong -: the decay shrinks the parameter in downhill
def downhill(xp, group, array, grad, room):
    g = -grad if group["maximize"] else grad
    if group["weight_decay"] and not group.get("decoupled_weight_decay"):
        array *= 1 - float(group["lr"]) * group["weight_decay"]
    return g

# wrong -: momentum is counted from one
class SGD:
    def update(self, group, array, grad, state):
        if group["momentum"] >= 1:
            return self._update_with_momentum(group, array, grad, state)
        xp = backend_of(array)
        array -= float(group["lr"]) * downhill(xp, group, array, grad, xp.empty_like(array))

# wrong 13b_2_does_not_move: the array gets a new value under the old name
class SGD:
    def update(self, group, array, grad, state):
        if group["momentum"]:
            return self._update_with_momentum(group, array, grad, state)
        xp = backend_of(array)
        array = array - float(group["lr"]) * downhill(xp, group, array, grad, xp.empty_like(array))

# wrong -: the learning rate is used as it comes
class SGD:
    def update(self, group, array, grad, state):
        if group["momentum"]:
            return self._update_with_momentum(group, array, grad, state)
        xp = backend_of(array)
        array -= group["lr"] * downhill(xp, group, array, grad, xp.empty_like(array))

# wrong 13b_2_decays_twice: the step adds the decay as well
class SGD:
    def update(self, group, array, grad, state):
        if group["momentum"]:
            return self._update_with_momentum(group, array, grad, state)
        xp = backend_of(array)
        g = downhill(xp, group, array, grad, xp.empty_like(array))
        array -= float(group["lr"]) * (g + group["weight_decay"] * array)

# wrong 13b_2_writes_to_gradient: the gradient is changed in place, option by option
def downhill(xp, group, array, grad, room):
    if group["maximize"]:
        grad *= -1
    if group["weight_decay"] and not group.get("decoupled_weight_decay"):
        grad += group["weight_decay"] * array
    return grad

# wrong 13b_2_decay_grows: the decay points the way of the parameter
def downhill(xp, group, array, grad, room):
    g = -grad if group["maximize"] else grad
    if group["weight_decay"] and not group.get("decoupled_weight_decay"):
        g = g - group["weight_decay"] * array
    return g

# wrong -: the decay has the size of its number, whatever the parameter's
def downhill(xp, group, array, grad, room):
    g = -grad if group["maximize"] else grad
    if group["weight_decay"] and not group.get("decoupled_weight_decay"):
        g = g + group["weight_decay"] * xp.sign(array)
    return g

# wrong -: every decay is in the gradient, also a decoupled one
def downhill(xp, group, array, grad, room):
    g = -grad if group["maximize"] else grad
    return g + group["weight_decay"] * array

# right: one branch for each pair of options
def downhill(xp, group, array, grad, room):
    decay = 0 if group.get("decoupled_weight_decay") else group["weight_decay"]
    if group["maximize"]:
        return decay * array - grad
    if decay:
        return grad + decay * array
    return grad
