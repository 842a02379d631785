def multilinear(op, values, outputs, tangents):
    parts = [apply(op, [*values[:i], t, *values[i + 1:]]) for i, t in tangents.items()]
    return [total(parts)]

def elementwise(op, values, outputs, tangents):
    parts = [gradient_of_input(op, i, values, outputs, [t]) for i, t in tangents.items()]
    return [total(parts)]

def linear(op, values, outputs, tangents):
    moved = list(values)
    for i in op.differentiable_positions:
        moved[i] = tangent_or_zeros(tangents.get(i), values[i])
    return as_sequence(apply(op, moved))

# right: a new list for each product
# These are the functions above.

# right: one position is replaced, and put back after the call
def multilinear(op, values, outputs, tangents):
    mine, sum_so_far = [*values], None
    for i in tangents:
        mine[i] = tangents[i]
        part = apply(op, mine)
        mine[i] = values[i]
        sum_so_far = part if sum_so_far is None else sum_so_far + part
    return [sum_so_far]

def elementwise(op, values, outputs, tangents):
    grads, sum_so_far = [None] * len(outputs), None
    for i in tangents:
        grads[0] = tangents[i]
        part = gradient_of_input(op, i, values, outputs, grads)
        if part is not None:
            sum_so_far = part if sum_so_far is None else sum_so_far + part
    return [sum_so_far]

def linear(op, values, outputs, tangents):
    result = apply(op, [tangent_or_zeros(tangents.get(i), value)
                        if i in op.differentiable_positions else value
                        for i, value in enumerate(values)])
    return list(as_sequence(result))

# right: pairs of a position and a value, by comprehension
def multilinear(op, values, outputs, tangents):
    return [total(apply(op, [tangents[i] if i == at else value for i, value in enumerate(values)])
                  for at in sorted(tangents))]

def elementwise(op, values, outputs, tangents):
    return [total(gradient_of_input(op, at, values, outputs, (tangents[at],))
                  for at in sorted(tangents))]

def linear(op, values, outputs, tangents):
    chosen = {i: tangent_or_zeros(tangents.get(i), values[i]) for i in op.differentiable_positions}
    return tuple(as_sequence(apply(op, [chosen.get(i, v) for i, v in enumerate(values)])))

# wrong -: every tensor without a tangent becomes zeros, also an index
def linear(op, values, outputs, tangents):
    return as_sequence(apply(op, [tangent_or_zeros(tangents.get(i), value)
                                  for i, value in enumerate(values)]))

# wrong -: the difference that moving the inputs makes
def multilinear(op, values, outputs, tangents):
    parts = []
    for i, t in tangents.items():
        parts.append(apply(op, [*values[:i], values[i] + t, *values[i + 1:]]) - outputs[0])
    return [total(parts)]

# right: the slope, from a gradient of ones, times the tangent
def elementwise(op, values, outputs, tangents):
    ones = [F.ones_like(outputs[0])]
    return [total(t * gradient_of_input(op, i, values, outputs, ones)
                  for i, t in tangents.items())]

# right: linear takes the tangents in their order, as the first arguments
def linear(op, values, outputs, tangents):
    given = list(tangents.values())
    given = [tangent_or_zeros(t, v) for t, v in zip(given, values)]
    return as_sequence(apply(op, [*given, *values[len(given):]]))

# wrong 08b_2_values_change_elsewhere: linear writes the tangents into the list
def multilinear(op, values, outputs, tangents):
    return [total([apply(op, [*values[:i], tangent, *values[i + 1:]])
                   for i, tangent in tangents.items()])]

def elementwise(op, values, outputs, tangents):
    return [total([gradient_of_input(op, i, values, outputs, [tangent])
                   for i, tangent in tangents.items()])]

def linear(op, values, outputs, tangents):
    for i in op.differentiable_positions:
        values[i] = tangent_or_zeros(tangents.get(i), values[i])
    return as_sequence(apply(op, values))

# wrong 08b_2_values_change_elsewhere: linear fills the gaps of a list of tensors in the list itself
def multilinear(op, values, outputs, tangents):
    return [total([apply(op, [*values[:i], tangent, *values[i + 1:]])
                   for i, tangent in tangents.items()])]

def elementwise(op, values, outputs, tangents):
    return [total([gradient_of_input(op, i, values, outputs, [tangent])
                   for i, tangent in tangents.items()])]

def linear(op, values, outputs, tangents):
    moved = list(values)
    for i in op.differentiable_positions:
        found = tangent_or_zeros(tangents.get(i), values[i])
        if isinstance(found, (list, tuple)) and isinstance(values[i], list):
            values[i][:] = found
        else:
            moved[i] = found
    return as_sequence(apply(op, moved))
