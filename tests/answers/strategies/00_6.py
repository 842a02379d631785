class Number:
    def backward(self):
        for number, slope in gradients(self).items():
            if not number.inputs:
                number.grad += slope

# wrong 00_6_weights_stay: the name is bound to a new number
def descend(loss, weights, rate):
    for w in weights:
        w.grad = 0.0
    loss.backward()
    for w in weights:
        w = w - rate * w.grad

# wrong 00_6_weights_stay: an augmented assignment to the name
def descend(loss, weights, rate):
    for w in weights:
        w.grad = 0.0
    loss.backward()
    for w in weights:
        w -= rate * w.grad

# wrong 00_6_new_numbers: new numbers in the list
def descend(loss, weights, rate):
    for w in weights:
        w.grad = 0.0
    loss.backward()
    for i, w in enumerate(weights):
        weights[i] = Number(w.value - rate * w.grad)

# wrong 00_6_weights_stay: a new value is computed and thrown away
def descend(loss, weights, rate):
    for w in weights:
        w.grad = 0.0
    loss.backward()
    for w in weights:
        new = w.value - rate * w.grad

# right: in one loop over the gradients
class Number:
    def backward(self):
        for number, slope in gradients(self).items():
            if number.grad is not None:
                number.grad = number.grad + slope

def descend(loss, weights, rate):
    for weight in weights:
        weight.grad = 0.0
    loss.backward()
    for weight in weights:
        weight.value = weight.value - weight.grad * rate

# right: leaves are recognized by their grad, and weights move by what gradients says
class Number:
    def backward(self):
        for number, slope in gradients(self).items():
            if number.inputs == ():
                number.grad += slope

def descend(loss, weights, rate):
    grads = gradients(loss)
    for weight in weights:
        weight.grad = grads.get(weight, 0.0)
    for weight in weights:
        weight.value -= rate * weight.grad

# wrong 00_6_old_gradients: grad is set to zero after the step instead of before the pass
def descend(loss, weights, rate):
    loss.backward()
    for weight in weights:
        weight.value -= rate * weight.grad
        weight.grad = 0.0

# wrong -: the difference to the grad before
def descend(loss, weights, rate):
    before = [weight.grad for weight in weights]
    loss.backward()
    for weight, old in zip(weights, before):
        weight.value -= rate * (weight.grad - old)

# wrong -: the gradients are zeroed in all leaves of the loss
def descend(loss, weights, rate):
    for number in backward_order(loss):
        if not number.inputs:
            number.grad = 0.0
    loss.backward()
    for weight in weights:
        if weight in backward_order(loss):
            weight.value -= rate * weight.grad
