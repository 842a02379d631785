# right: from lists
def add(a, b):
    return Number(sum([a.value, b.value]), tuple([a, b]), tuple([1.0] * 2))

def mul(a, b):
    x, y = a.value, b.value
    return Number(x * y, (a, b), (y, x))

# right: attributes that are set afterwards
def add(a, b):
    made = Number(a.value + b.value, (a, b))
    made.slopes = 1.0, 1.0
    return made

def mul(a, b):
    made = Number(a.value * b.value, (a, b))
    made.slopes = b.value, a.value
    return made

# wrong -: the slopes of a product are measured
def add(a, b):
    return Number(a.value + b.value, (a, b), (1.0, 1.0))

def mul(a, b):
    return Number(a.value * b.value, (a, b), (slope(lambda x: x * b.value, a.value, 1e-3), slope(lambda y: a.value * y, b.value, 1e-3)))

# wrong 00_2_one_input_of_two: the slopes of a number that is used twice are added at once
def add(a, b):
    if a is b:
        return Number(2 * a.value, (a,), (2.0,))
    return Number(a.value + b.value, (a, b), (1.0, 1.0))

def mul(a, b):
    if a is b:
        return Number(a.value ** 2, (a,), (2 * a.value,))
    return Number(a.value * b.value, (a, b), (b.value, a.value))

# wrong -: the inputs are remembered as new leaves
def add(a, b):
    return Number(a.value + b.value, (Number(a.value), Number(b.value)), (1.0, 1.0))

def mul(a, b):
    return Number(a.value * b.value, (Number(a.value), Number(b.value)), (b.value, a.value))

# wrong -: only the leaves are remembered
def add(a, b):
    return flat(a.value + b.value, a, b, 1.0, 1.0)

def mul(a, b):
    return flat(a.value * b.value, a, b, b.value, a.value)

def flat(value, a, b, to_a, to_b):
    inputs, slopes = [], []
    for each, outer in ((a, to_a), (b, to_b)):
        if each.inputs:
            inputs += each.inputs
            slopes += [outer * inner for inner in each.slopes]
        else:
            inputs.append(each)
            slopes.append(outer)
    return Number(value, tuple(inputs), tuple(slopes))
