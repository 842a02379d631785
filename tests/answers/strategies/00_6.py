# wrong 00_6_weights_stay: the name is bound to a new number
class Number:
    def backward(self):
        for number, slope in gradients(self).items():
            if not number.inputs:
                number.grad += slope

def descend(loss, weights, rate):
    for w in weights:
        w.grad = 0.0
    loss.backward()
    for w in weights:
        w = w - rate * w.grad

# wrong 00_6_weights_stay: an augmented assignment to the name
class Number:
    def backward(self):
        for number, slope in gradients(self).items():
            if not number.inputs:
                number.grad += slope

def descend(loss, weights, rate):
    for w in weights:
        w.grad = 0.0
    loss.backward()
    for w in weights:
        w -= rate * w.grad

# wrong 00_6_new_numbers: new numbers in the list
class Number:
    def backward(self):
        for number, slope in gradients(self).items():
            if not number.inputs:
                number.grad += slope

def descend(loss, weights, rate):
    for w in weights:
        w.grad = 0.0
    loss.backward()
    for i, w in enumerate(weights):
        weights[i] = Number(w.value - rate * w.grad)

# wrong 00_6_weights_stay: a new value is computed and thrown away
class Number:
    def backward(self):
        for number, slope in gradients(self).items():
            if not number.inputs:
                number.grad += slope

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
