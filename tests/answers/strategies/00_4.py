# right: count the uses of each number, and take a number when its last use is done
def backward_order(result):
    uses, found = {result: 0}, [result]
    for number in found:
        for each in number.inputs:
            if each not in uses:
                uses[each] = 0
                found.append(each)
            uses[each] += 1
    order, ready = [], [result]
    while ready:
        number = ready.pop()
        order.append(number)
        for each in number.inputs:
            uses[each] -= 1
            if uses[each] == 0:
                ready.append(each)
    return order

# right: postorder with a stack of numbers that are met twice, reversed
def backward_order(result):
    order, seen, stack = [], set(), [(result, False)]
    while stack:
        number, done = stack.pop()
        if done:
            order.append(number)
        elif number not in seen:
            seen.add(number)
            stack.append((number, True))
            for each in number.inputs:
                stack.append((each, False))
    return order[::-1]

# right: a heap of serial numbers
def backward_order(result):
    from heapq import heappop, heappush
    heap, known, order = [-result.serial], {result.serial: result}, []
    while heap:
        number = known[-heappop(heap)]
        order.append(number)
        for each in number.inputs:
            if each.serial not in known:
                known[each.serial] = each
                heappush(heap, -each.serial)
    return order

# right: the last layer in which a number appears
def backward_order(result):
    last, layer, depth = {}, {result}, 0
    while layer:
        for number in layer:
            last[number] = depth
        layer = {each for number in layer for each in number.inputs}
        depth += 1
    return sorted(last, key=last.get)

# right: heights above the leaves, the highest first
def backward_order(result):
    height, stack = {}, [result]
    while stack:
        number = stack[-1]
        if number in height:
            stack.pop()
            continue
        missing = [each for each in number.inputs if each not in height]
        if missing:
            stack += missing
        else:
            height[number] = 1 + max([height[each] for each in number.inputs], default=0)
            stack.pop()
    return sorted(height, key=lambda number: -height[number])

# right: a stack of iterators
def backward_order(result):
    order, seen, stack = [], {result}, [(result, iter(result.inputs))]
    while stack:
        number, rest = stack[-1]
        for each in rest:
            if each not in seen:
                seen.add(each)
                stack.append((each, iter(each.inputs)))
                break
        else:
            stack.pop()
            order.insert(0, number)
    return order

# wrong 00_4_first_found_first: a number that is found again moves to the end, but its inputs stay where they are
def backward_order(result):
    order, waiting = [result], [result]
    while waiting:
        for each in waiting.pop(0).inputs:
            if each in order:
                order.remove(each)
            else:
                waiting.append(each)
            order.append(each)
    return order

# wrong -: users are counted once each, and uses are taken off one by one
def backward_order(result):
    users, found = {result: 0}, [result]
    for number in found:
        for each in set(number.inputs):
            if each not in users:
                users[each] = 0
                found.append(each)
            users[each] += 1
    order, ready = [], [result]
    while ready:
        number = ready.pop()
        order.append(number)
        for each in number.inputs:
            users[each] -= 1
            if users[each] == 0:
                ready.append(each)
    return order

# wrong 00_4_remembers_calls: the numbers themselves are marked as seen
def backward_order(result):
    found, waiting = [], [result]
    while waiting:
        number = waiting.pop()
        if not hasattr(number, "seen"):
            number.seen = True
            found.append(number)
            waiting.extend(number.inputs)
    return sorted(found, key=lambda number: number.serial, reverse=True)

# wrong 00_4_remembers_calls: a set that is kept from call to call
def find(result, seen=set()):
    found, waiting = [], [result]
    while waiting:
        number = waiting.pop()
        if number is not result and number in seen:
            continue
        seen.add(number)
        found.append(number)
        waiting += number.inputs
    return found

def backward_order(result):
    return sorted(set(find(result)), key=lambda number: -number.serial)

# wrong 00_4_no_list: an iterator over the postorder, which can be read only once
def backward_order(result):
    order, seen, stack = [], set(), [(result, False)]
    while stack:
        number, done = stack.pop()
        if done:
            order.append(number)
        elif number not in seen:
            seen.add(number)
            stack.append((number, True))
            stack += [(each, False) for each in number.inputs]
    return reversed(order)

# wrong 00_4_first_found_first: shortest distances from the result
def backward_order(result):
    distance, layer = {result: 0}, [result]
    while layer:
        below = []
        for number in layer:
            for each in number.inputs:
                if each not in distance:
                    distance[each] = distance[number] + 1
                    below.append(each)
        layer = below
    return sorted(distance, key=distance.get)

# wrong 00_4_calls_itself: postorder by a function that calls itself
def backward_order(result):
    order = {}

    def visit(number):
        if number not in order:
            for each in number.inputs:
                visit(each)
            order[number] = None

    visit(result)
    return list(order)[::-1]

# wrong -: the numbers with the fewest uses first
def backward_order(result):
    uses, found = {result: 0}, [result]
    for number in found:
        for each in number.inputs:
            if each not in uses:
                uses[each] = 0
                found.append(each)
            uses[each] += 1
    return sorted(found, key=uses.get)
