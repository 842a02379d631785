def exp(a):
    z = math.exp(a.value)
    return Number(z, (a,), (z,))

def reciprocal(a):
    z = 1 / a.value
    return Number(z, (a,), (-z * z,))

# right: slopes from the inputs
def exp(a):
    return Number(math.exp(a.value), (a,), (math.exp(a.value),))

def tanh(a):
    return Number(math.tanh(a.value), (a,), (1 / math.cosh(a.value) ** 2,))

def reciprocal(a):
    return Number(1 / a.value, (a,), (-1 / (a.value * a.value),))

# right: the slopes are set on the result
def exp(a):
    made = Number(math.exp(a.value), (a,))
    made.slopes = (made.value,)
    return made

def tanh(a):
    made = Number(math.tanh(a.value), (a,))
    made.slopes = ((1 + made.value) * (1 - made.value),)
    return made

def reciprocal(a):
    made = Number(a.value ** -1, (a,))
    made.slopes = (-(made.value * made.value),)
    return made

# right: tanh from exponentials
def exp(a):
    z = math.e ** a.value
    return Number(z, (a,), (z,))

def tanh(a):
    z = 2 / (1 + math.exp(-2 * a.value)) - 1
    return Number(z, (a,), (1 - z ** 2,))

def reciprocal(a):
    z = 1.0 / a.value
    return Number(z, (a,), (-z ** 2,))

# wrong 00_3_reciprocal_grows: minus the result, squared
def tanh(a):
    z = math.tanh(a.value)
    return Number(z, (a,), (1 - z ** 2,))

def reciprocal(a):
    z = 1 / a.value
    return Number(z, (a,), ((-z) ** 2,))

# wrong 00_3_another_input: tanh is composed of exp and reciprocal
def tanh(a):
    return reciprocal(exp(a * -2) + 1) * 2 - 1

# wrong -: the slopes of the sigmoid for tanh
def tanh(a):
    z = math.tanh(a.value)
    return Number(z, (a,), (z * (1 - z),))
