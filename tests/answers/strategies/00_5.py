# right: each number gathers from its users
def gradients(result):
    order = backward_order(result)
    users = {number: [] for number in order}
    for number in order:
        for each, local in zip(number.inputs, number.slopes):
            users[each].append((number, local))
    grads = {result: 1.0}
    for number in order[1:]:
        grads[number] = sum(grads[user] * local for user, local in users[number])
    return grads

# right: shares are collected in lists and added when a number is visited
def gradients(result):
    shares, grads = {result: [1.0]}, {}
    for number in backward_order(result):
        grads[number] = sum(shares.get(number, []))
        for each, local in zip(number.inputs, number.slopes):
            shares.setdefault(each, []).append(grads[number] * local)
    return grads

# right: forward mode, one sweep for each number
def gradients(result):
    order = list(backward_order(result))[::-1]
    grads = {}
    for seed in order:
        change = {}
        for number in order:
            change[number] = 1.0 if number is seed else sum(
                change[each] * local
                for each, local in zip(number.inputs, number.slopes))
        grads[seed] = change[result]
    return grads

# right: a heap of the youngest numbers, without backward_order
def gradients(result):
    from heapq import heappop, heappush
    grads, heap = {result: 1.0}, [(-result.serial, result)]
    while heap:
        _, number = heappop(heap)
        for position, each in enumerate(number.inputs):
            if each not in grads:
                grads[each] = 0.0
                heappush(heap, (-each.serial, each))
            grads[each] += grads[number] * number.slopes[position]
    return grads

# right: places in a list instead of keys
def gradients(result):
    order = list(backward_order(result))
    place = {number: at for at, number in enumerate(order)}
    slopes = [1.0] + [0.0] * (len(order) - 1)
    for at, number in enumerate(order):
        for each, local in zip(number.inputs, number.slopes):
            slopes[place[each]] += slopes[at] * local
    return dict(zip(order, slopes))

# wrong -: a share goes on along each path as soon as it is there
def gradients(result):
    grads, waiting = {}, [(result, 1.0)]
    while waiting:
        number, share = waiting.pop()
        grads[number] = grads.get(number, 0.0) + share
        for each, local in zip(number.inputs, number.slopes):
            waiting.append((each, share * local))
    return grads

# wrong 00_5_passed_on_early: a number passes its slope on when it is found
def gradients(result):
    grads, waiting, seen = {result: 1.0}, [result], {result}
    while waiting:
        number = waiting.pop(0)
        for each, local in zip(number.inputs, number.slopes):
            grads[each] = grads.get(each, 0.0) + grads[number] * local
            if each not in seen:
                seen.add(each)
                waiting.append(each)
    return grads

# wrong -: the numbers' grad is used on the way and put back to zero or None
def gradients(result):
    order = list(backward_order(result))
    for number in order:
        number.grad = 0.0
    result.grad = 1.0
    for number in order:
        for each, local in zip(number.inputs, number.slopes):
            each.grad += number.grad * local
    grads = {number: number.grad for number in order}
    for number in order:
        number.grad = None if number.inputs else 0.0
    return grads

# wrong -: shares are averaged where edges meet
def gradients(result):
    grads, uses = {result: 1.0}, {result: 1}
    for number in backward_order(result):
        grads[number] /= uses[number]
        for each, local in zip(number.inputs, number.slopes):
            grads[each] = grads.get(each, 0.0) + grads[number] * local
            uses[each] = uses.get(each, 0) + 1
    return grads

# wrong -: only numbers whose slope is not zero
def gradients(result):
    grads = {result: 1.0}
    for number in backward_order(result):
        if slope := grads.get(number, 0.0):
            for each, local in zip(number.inputs, number.slopes):
                if local:
                    grads[each] = grads.get(each, 0.0) + slope * local
    return grads

# wrong 00_5_one_slope_of_two: the position of an input is looked up
def gradients(result):
    order = list(backward_order(result))
    grads = dict.fromkeys(order, 0.0)
    grads[result] = 1.0
    for number in order:
        for each in set(number.inputs):
            grads[each] += grads[number] * number.slopes[number.inputs.index(each)]
    return grads

# wrong -: the first slope for each use of a number
def gradients(result):
    order = list(backward_order(result))
    grads = dict.fromkeys(order, 0.0)
    grads[result] = 1.0
    for number in order:
        for each in number.inputs:
            grads[each] += grads[number] * number.slopes[number.inputs.index(each)]
    return grads

# wrong -: the dictionary is kept from call to call
def gradients(result):
    order = list(backward_order(result))
    grads = fresh(order)
    grads[result] = 1.0
    for number in order:
        for each, local in zip(number.inputs, number.slopes):
            grads[each] += grads[number] * local
    return {number: grads[number] for number in order}

def fresh(order, grads={}):
    for number in order:
        grads.setdefault(number, 0.0)
    return grads

# wrong -: each number asks its users, by a function that calls itself
def gradients(result):
    users, grads = {}, {result: 1.0}
    for number in backward_order(result):
        for each, local in zip(number.inputs, number.slopes):
            users.setdefault(each, []).append((number, local))

    def of(number):
        if number not in grads:
            grads[number] = sum(of(user) * local for user, local in users[number])
        return grads[number]

    return {number: of(number) for number in [*list(backward_order(result))[:0:-1], result]}
