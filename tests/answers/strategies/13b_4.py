def average(xp, grad, mean, square, beta1, beta2, room):
    mean *= beta1
    mean += (1 - beta1) * grad
    square *= beta2
    square += (1 - beta2) * grad * grad


class Adam:
    def update(self, group, array, grad, state):
        xp = backend_of(array)
        lr, (beta1, beta2) = float(group["lr"]), group["betas"]
        m, v, *largest = self._averages(group, array, state)
        n = counted(state)
        if group["decoupled_weight_decay"]:
            array *= 1 - lr * group["weight_decay"]
        g = downhill(xp, group, array, grad, xp.empty_like(array))
        average(xp, g, m, v, beta1, beta2, xp.empty_like(array))
        if largest:
            xp.maximum(largest[0], v, out=largest[0])
            v = largest[0]
        array -= lr * (m / (1 - beta1**n)) / ((v / (1 - beta2**n))**0.5 + group["eps"])

# right: averages by a step towards the new value
def average(xp, grad, mean, square, beta1, beta2, room):
    mean += (1 - beta1) * (grad - mean)
    square += (1 - beta2) * (grad**2 - square)

# right: all in room
def average(xp, grad, mean, square, beta1, beta2, room):
    xp.multiply(grad, 1 - beta1, out=room)
    xp.multiply(mean, beta1, out=mean)
    xp.add(mean, room, out=mean)
    xp.multiply(grad, grad, out=room)
    room *= 1 - beta2
    square[...] = beta2 * square + room

# right: the corrections are joined in the length of the step
class Adam:
    def update(self, group, array, grad, state):
        xp = backend_of(array)
        lr, eps = float(group["lr"]), group["eps"]
        beta1, beta2 = group["betas"]
        averages = self._averages(group, array, state)
        step = counted(state)
        if group["decoupled_weight_decay"]:
            array -= lr * group["weight_decay"] * array
        room = xp.empty_like(array)
        g = xp.array(downhill(xp, group, array, grad, room))
        average(xp, g, averages[0], averages[1], beta1, beta2, room)
        square = averages[1]
        if group["amsgrad"]:
            averages[2][...] = square = xp.maximum(averages[2], averages[1])
        root = math.sqrt(1 - beta2**step)
        array -= lr * root / (1 - beta1**step) * averages[0] / (xp.sqrt(square) + eps * root)

# right: the count first
class Adam:
    def update(self, group, array, grad, state):
        lr, (beta1, beta2), xp = float(group["lr"]), group["betas"], backend_of(array)
        averages = self._averages(group, array, state)
        n = counted(state)
        shrink = 1 - lr * group["weight_decay"] if group["decoupled_weight_decay"] else 1
        g = downhill(xp, group, array, grad, xp.empty_like(array))
        average(xp, g, *averages[:2], beta1, beta2, xp.empty_like(array))
        for largest in averages[2:]:
            largest[...] = xp.where(largest > averages[1], largest, averages[1])
        M, V = averages[0] / (1 - beta1**n), averages[-1] / (1 - beta2**n)
        array[...] = shrink * array - lr * M / (xp.sqrt(V) + group["eps"])

# wrong -: the square of the average is averaged
def average(xp, grad, mean, square, beta1, beta2, room):
    mean *= beta1
    mean += (1 - beta1) * grad
    square *= beta2
    square += (1 - beta2) * mean * mean

# wrong -: the variance: the square of the distance to the average
def average(xp, grad, mean, square, beta1, beta2, room):
    mean *= beta1
    mean += (1 - beta1) * grad
    square *= beta2
    square += (1 - beta2) * (grad - mean)**2

# wrong -: the gradient is scratch memory
def average(xp, grad, mean, square, beta1, beta2, room):
    mean *= beta1
    mean += (1 - beta1) * grad
    grad *= grad
    square *= beta2
    square += (1 - beta2) * grad

# wrong -: the averages are corrected where they are kept
class Adam:
    def update(self, group, array, grad, state):
        xp = backend_of(array)
        lr, (beta1, beta2) = float(group["lr"]), group["betas"]
        m, v, *largest = self._averages(group, array, state)
        n = counted(state)
        if group["decoupled_weight_decay"]:
            array *= 1 - lr * group["weight_decay"]
        g = downhill(xp, group, array, grad, xp.empty_like(array))
        average(xp, g, m, v, beta1, beta2, xp.empty_like(array))
        if largest:
            xp.maximum(largest[0], v, out=largest[0])
            v = largest[0]
        m /= 1 - beta1**n
        v /= 1 - beta2**n
        array -= lr * m / (v**0.5 + group["eps"])

# wrong -: the largest is the corrected average
class Adam:
    def update(self, group, array, grad, state):
        xp = backend_of(array)
        lr, (beta1, beta2) = float(group["lr"]), group["betas"]
        m, v, *largest = self._averages(group, array, state)
        n = counted(state)
        if group["decoupled_weight_decay"]:
            array *= 1 - lr * group["weight_decay"]
        g = downhill(xp, group, array, grad, xp.empty_like(array))
        average(xp, g, m, v, beta1, beta2, xp.empty_like(array))
        V = v / (1 - beta2**n)
        if largest:
            xp.maximum(largest[0], V, out=largest[0])
            V = largest[0]
        array -= lr * (m / (1 - beta1**n)) / (V**0.5 + group["eps"])

# wrong -: the largest value of the whole array
class Adam:
    def update(self, group, array, grad, state):
        xp = backend_of(array)
        lr, (beta1, beta2) = float(group["lr"]), group["betas"]
        m, v, *largest = self._averages(group, array, state)
        n = counted(state)
        if group["decoupled_weight_decay"]:
            array *= 1 - lr * group["weight_decay"]
        g = downhill(xp, group, array, grad, xp.empty_like(array))
        average(xp, g, m, v, beta1, beta2, xp.empty_like(array))
        if largest:
            if v.sum() > largest[0].sum():
                largest[0][...] = v
            v = largest[0]
        array -= lr * (m / (1 - beta1**n)) / ((v / (1 - beta2**n))**0.5 + group["eps"])

# wrong -: the largest of before this step
class Adam:
    def update(self, group, array, grad, state):
        xp = backend_of(array)
        lr, (beta1, beta2) = float(group["lr"]), group["betas"]
        m, v, *largest = self._averages(group, array, state)
        n = counted(state)
        if group["decoupled_weight_decay"]:
            array *= 1 - lr * group["weight_decay"]
        if largest:
            xp.maximum(largest[0], v, out=largest[0])
        g = downhill(xp, group, array, grad, xp.empty_like(array))
        average(xp, g, m, v, beta1, beta2, xp.empty_like(array))
        V = largest[0] if largest and n > 1 else v
        array -= lr * (m / (1 - beta1**n)) / ((V / (1 - beta2**n))**0.5 + group["eps"])

# wrong -: the largest gradient is divided by
class Adam:
    def update(self, group, array, grad, state):
        xp = backend_of(array)
        lr, (beta1, beta2) = float(group["lr"]), group["betas"]
        m, v, *largest = self._averages(group, array, state)
        n = counted(state)
        if group["decoupled_weight_decay"]:
            array *= 1 - lr * group["weight_decay"]
        g = downhill(xp, group, array, grad, xp.empty_like(array))
        average(xp, g, m, v, beta1, beta2, xp.empty_like(array))
        if largest:
            xp.maximum(largest[0], g * g, out=largest[0])
            v = largest[0]
        array -= lr * (m / (1 - beta1**n)) / ((v / (1 - beta2**n))**0.5 + group["eps"])

# wrong 13b_4_decay_too_late: the decay of AdamW comes after the step
class Adam:
    def update(self, group, array, grad, state):
        xp = backend_of(array)
        lr, (beta1, beta2) = float(group["lr"]), group["betas"]
        m, v, *largest = self._averages(group, array, state)
        n = counted(state)
        g = downhill(xp, group, array, grad, xp.empty_like(array))
        average(xp, g, m, v, beta1, beta2, xp.empty_like(array))
        if largest:
            xp.maximum(largest[0], v, out=largest[0])
            v = largest[0]
        array -= lr * (m / (1 - beta1**n)) / ((v / (1 - beta2**n))**0.5 + group["eps"])
        if group["decoupled_weight_decay"]:
            array *= 1 - lr * group["weight_decay"]

# wrong -: the decay of AdamW goes through the averages' scale
class Adam:
    def update(self, group, array, grad, state):
        xp = backend_of(array)
        lr, (beta1, beta2) = float(group["lr"]), group["betas"]
        m, v, *largest = self._averages(group, array, state)
        n = counted(state)
        g = downhill(xp, group, array, grad, xp.empty_like(array))
        average(xp, g, m, v, beta1, beta2, xp.empty_like(array))
        if largest:
            xp.maximum(largest[0], v, out=largest[0])
            v = largest[0]
        decay = group["weight_decay"] * array if group["decoupled_weight_decay"] else 0
        array -= lr * (m / (1 - beta1**n) + decay) / ((v / (1 - beta2**n))**0.5 + group["eps"])

# wrong -: the learning rate falls with the steps
class Adam:
    def update(self, group, array, grad, state):
        xp = backend_of(array)
        lr, (beta1, beta2) = float(group["lr"]), group["betas"]
        m, v, *largest = self._averages(group, array, state)
        n = counted(state)
        if group["decoupled_weight_decay"]:
            array *= 1 - lr * group["weight_decay"]
        g = downhill(xp, group, array, grad, xp.empty_like(array))
        average(xp, g, m, v, beta1, beta2, xp.empty_like(array))
        if largest:
            xp.maximum(largest[0], v, out=largest[0])
            v = largest[0]
        lr /= n**0.5
        array -= lr * (m / (1 - beta1**n)) / ((v / (1 - beta2**n))**0.5 + group["eps"])

# right: the root as a power, and eps before it
class Adam:
    def update(self, group, array, grad, state):
        xp = backend_of(array)
        lr, (beta1, beta2), eps = float(group["lr"]), group["betas"], group["eps"]
        m, v, *largest = self._averages(group, array, state)
        n = counted(state)
        if group["decoupled_weight_decay"]:
            array *= 1 - lr * group["weight_decay"]
        g = downhill(xp, group, array, grad, xp.empty_like(array))
        average(xp, g, m, v, beta1, beta2, xp.empty_like(array))
        if largest:
            v = xp.maximum(largest[0], v, out=largest[0])
        M, V = m / (1 - beta1**n), v / (1 - beta2**n)
        array[...] -= lr * M / (eps + V**0.5)

# right: the step is a product with the inverse of the size
class Adam:
    def update(self, group, array, grad, state):
        xp = backend_of(array)
        lr, (beta1, beta2), eps = float(group["lr"]), group["betas"], group["eps"]
        m, v, *largest = self._averages(group, array, state)
        n = counted(state)
        if group["decoupled_weight_decay"]:
            array *= 1 - lr * group["weight_decay"]
        g = downhill(xp, group, array, grad, xp.empty_like(array))
        average(xp, g, m, v, beta1, beta2, xp.empty_like(array))
        if largest:
            v = xp.maximum(largest[0], v, out=largest[0])
        M, V = m / (1 - beta1**n), v / (1 - beta2**n)
        array -= lr * M * (1 / (xp.sqrt(V) + eps))

# wrong 13b_4_eps_is_a_floor: the root is at least eps
class Adam:
    def update(self, group, array, grad, state):
        xp = backend_of(array)
        lr, (beta1, beta2), eps = float(group["lr"]), group["betas"], group["eps"]
        m, v, *largest = self._averages(group, array, state)
        n = counted(state)
        if group["decoupled_weight_decay"]:
            array *= 1 - lr * group["weight_decay"]
        g = downhill(xp, group, array, grad, xp.empty_like(array))
        average(xp, g, m, v, beta1, beta2, xp.empty_like(array))
        if largest:
            v = xp.maximum(largest[0], v, out=largest[0])
        M, V = m / (1 - beta1**n), v / (1 - beta2**n)
        array -= lr * M / xp.maximum(xp.sqrt(V), eps)

# wrong 13b_4_eps_is_a_floor: the average is at least eps
class Adam:
    def update(self, group, array, grad, state):
        xp = backend_of(array)
        lr, (beta1, beta2), eps = float(group["lr"]), group["betas"], group["eps"]
        m, v, *largest = self._averages(group, array, state)
        n = counted(state)
        if group["decoupled_weight_decay"]:
            array *= 1 - lr * group["weight_decay"]
        g = downhill(xp, group, array, grad, xp.empty_like(array))
        average(xp, g, m, v, beta1, beta2, xp.empty_like(array))
        if largest:
            v = xp.maximum(largest[0], v, out=largest[0])
        M, V = m / (1 - beta1**n), v / (1 - beta2**n)
        array -= lr * M / xp.sqrt(xp.maximum(V, eps))

# wrong 13b_4_eps_is_a_floor: eps instead of a root of zero
class Adam:
    def update(self, group, array, grad, state):
        xp = backend_of(array)
        lr, (beta1, beta2), eps = float(group["lr"]), group["betas"], group["eps"]
        m, v, *largest = self._averages(group, array, state)
        n = counted(state)
        if group["decoupled_weight_decay"]:
            array *= 1 - lr * group["weight_decay"]
        g = downhill(xp, group, array, grad, xp.empty_like(array))
        average(xp, g, m, v, beta1, beta2, xp.empty_like(array))
        if largest:
            v = xp.maximum(largest[0], v, out=largest[0])
        M, V = m / (1 - beta1**n), v / (1 - beta2**n)
        root = xp.sqrt(V)
        array -= lr * M / xp.where(root == 0, eps, root)

# wrong 13b_4_eps_inside: eps is added to the corrected average
class Adam:
    def update(self, group, array, grad, state):
        xp = backend_of(array)
        lr, (beta1, beta2), eps = float(group["lr"]), group["betas"], group["eps"]
        m, v, *largest = self._averages(group, array, state)
        n = counted(state)
        if group["decoupled_weight_decay"]:
            array *= 1 - lr * group["weight_decay"]
        g = downhill(xp, group, array, grad, xp.empty_like(array))
        average(xp, g, m, v, beta1, beta2, xp.empty_like(array))
        if largest:
            v = xp.maximum(largest[0], v, out=largest[0])
        M, V = m / (1 - beta1**n), v / (1 - beta2**n)
        array -= lr * M / xp.sqrt(V + eps)

# wrong 13b_4_eps_inside: the square of eps is added to the average
class Adam:
    def update(self, group, array, grad, state):
        xp = backend_of(array)
        lr, (beta1, beta2), eps = float(group["lr"]), group["betas"], group["eps"]
        m, v, *largest = self._averages(group, array, state)
        n = counted(state)
        if group["decoupled_weight_decay"]:
            array *= 1 - lr * group["weight_decay"]
        g = downhill(xp, group, array, grad, xp.empty_like(array))
        average(xp, g, m, v, beta1, beta2, xp.empty_like(array))
        if largest:
            v = xp.maximum(largest[0], v, out=largest[0])
        M, V = m / (1 - beta1**n), v / (1 - beta2**n)
        array -= lr * M / xp.sqrt(V + eps**2)

# wrong 13b_4_eps_inside: eps is added before the root and the correction
class Adam:
    def update(self, group, array, grad, state):
        xp = backend_of(array)
        lr, (beta1, beta2), eps = float(group["lr"]), group["betas"], group["eps"]
        m, v, *largest = self._averages(group, array, state)
        n = counted(state)
        if group["decoupled_weight_decay"]:
            array *= 1 - lr * group["weight_decay"]
        g = downhill(xp, group, array, grad, xp.empty_like(array))
        average(xp, g, m, v, beta1, beta2, xp.empty_like(array))
        if largest:
            v = xp.maximum(largest[0], v, out=largest[0])
        M, V = m / (1 - beta1**n), v / (1 - beta2**n)
        array -= lr * M / xp.sqrt((v + eps) / (1 - beta2**n))

# wrong 13b_4_eps_after_the_division: without parentheses around the sum
class Adam:
    def update(self, group, array, grad, state):
        xp = backend_of(array)
        lr, (beta1, beta2), eps = float(group["lr"]), group["betas"], group["eps"]
        m, v, *largest = self._averages(group, array, state)
        n = counted(state)
        if group["decoupled_weight_decay"]:
            array *= 1 - lr * group["weight_decay"]
        g = downhill(xp, group, array, grad, xp.empty_like(array))
        average(xp, g, m, v, beta1, beta2, xp.empty_like(array))
        if largest:
            v = xp.maximum(largest[0], v, out=largest[0])
        M, V = m / (1 - beta1**n), v / (1 - beta2**n)
        array -= lr * M / xp.sqrt(V) + eps

# wrong 13b_4_eps_after_the_division: eps is added to the ratio
class Adam:
    def update(self, group, array, grad, state):
        xp = backend_of(array)
        lr, (beta1, beta2), eps = float(group["lr"]), group["betas"], group["eps"]
        m, v, *largest = self._averages(group, array, state)
        n = counted(state)
        if group["decoupled_weight_decay"]:
            array *= 1 - lr * group["weight_decay"]
        g = downhill(xp, group, array, grad, xp.empty_like(array))
        average(xp, g, m, v, beta1, beta2, xp.empty_like(array))
        if largest:
            v = xp.maximum(largest[0], v, out=largest[0])
        M, V = m / (1 - beta1**n), v / (1 - beta2**n)
        array -= lr * (M / xp.sqrt(V) + eps)

# wrong -: eps is subtracted
class Adam:
    def update(self, group, array, grad, state):
        xp = backend_of(array)
        lr, (beta1, beta2), eps = float(group["lr"]), group["betas"], group["eps"]
        m, v, *largest = self._averages(group, array, state)
        n = counted(state)
        if group["decoupled_weight_decay"]:
            array *= 1 - lr * group["weight_decay"]
        g = downhill(xp, group, array, grad, xp.empty_like(array))
        average(xp, g, m, v, beta1, beta2, xp.empty_like(array))
        if largest:
            v = xp.maximum(largest[0], v, out=largest[0])
        M, V = m / (1 - beta1**n), v / (1 - beta2**n)
        array -= lr * M / (xp.sqrt(V) - eps)

# wrong -: eps is added to both halves of the ratio
class Adam:
    def update(self, group, array, grad, state):
        xp = backend_of(array)
        lr, (beta1, beta2), eps = float(group["lr"]), group["betas"], group["eps"]
        m, v, *largest = self._averages(group, array, state)
        n = counted(state)
        if group["decoupled_weight_decay"]:
            array *= 1 - lr * group["weight_decay"]
        g = downhill(xp, group, array, grad, xp.empty_like(array))
        average(xp, g, m, v, beta1, beta2, xp.empty_like(array))
        if largest:
            v = xp.maximum(largest[0], v, out=largest[0])
        M, V = m / (1 - beta1**n), v / (1 - beta2**n)
        array -= lr * (M + eps) / (xp.sqrt(V) + eps)
