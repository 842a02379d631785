def live_steps(steps, outputs):
    needed = {id(each) for each in outputs}
    found = []
    for step in reversed(steps):
        if step.random or not needed.isdisjoint(map(id, step.outputs)):
            found.insert(0, step)
            for each in step.inputs():
                needed.add(id(each))
    return found


def shared_steps(steps):
    kept, replaced, first = [], {}, {}
    for step in steps:
        step.arguments = replace_values(step.arguments, replaced)
        if step.random:
            kept.append(step)
            continue
        key = key_of(step)
        if key not in first:
            first[key] = step
            kept.append(step)
            continue
        for mine, other in zip(step.outputs, first[key].outputs, strict=True):
            replaced[id(mine)] = other
    return kept, replaced


def frozen(argument):
    if type(argument) is Value:
        constant = argument.array
        if constant is not None and constant.shape == ():
            return "constant", constant.dtype.str, constant.tobytes()
        return "value", id(argument)
    if isinstance(argument, np.ndarray):
        return "array", id(argument)
    if isinstance(argument, (list, tuple)):
        return (type(argument).__name__, *map(frozen, argument))
    if isinstance(argument, float):
        return "float", argument.hex()
    return type(argument).__name__, argument

# right: everything with loops
# right: mark from the outputs, with the makers of all Values
def live_steps(steps, outputs):
    makers = {id(value): step for step in steps for value in step.outputs}
    stack = [makers[id(value)] for value in outputs if id(value) in makers]
    stack += [step for step in steps if step.random]
    marked = set()
    while stack:
        step = stack.pop()
        if id(step) not in marked:
            marked.add(id(step))
            stack += [makers[id(value)] for value in step.inputs() if id(value) in makers]
    return [step for step in steps if id(step) in marked]

# right: sweep until nothing changes
def live_steps(steps, outputs):
    live = list(steps)
    while True:
        read = {id(value) for value in outputs} | {id(v) for step in live for v in step.inputs()}
        left = [step for step in live if step.random or any(id(v) in read for v in step.outputs)]
        if len(left) == len(live):
            return live
        live = left

# right: compare each step with all kept ones
def shared_steps(steps):
    kept, replaced = [], {}
    for step in steps:
        step.arguments = replace_values(step.arguments, replaced)
        twin = next((each for each in kept if not each.random and not step.random
                     and key_of(each) == key_of(step)), None)
        if twin is None:
            kept.append(step)
        else:
            replaced |= {id(mine): other for mine, other in
                         zip(step.outputs, twin.outputs, strict=True)}
    return kept, replaced

# right: the argument's type in front of everything, and bytes for floats
def frozen(argument):
    if isinstance(argument, (list, tuple)):
        return type(argument), tuple(frozen(each) for each in argument)
    if isinstance(argument, float):
        return type(argument), np.array(argument).tobytes() if argument == argument else "nan"
    if isinstance(argument, Value) and getattr(argument.array, "ndim", 1) == 0:
        return Value, str(argument.dtype), argument.array.tobytes()
    return type(argument), id(argument) if isinstance(argument, (Value, np.ndarray)) else argument

# wrong 15_5_only_unread: only steps that no step reads are dropped
def live_steps(steps, outputs):
    read = {id(value) for value in outputs}
    for step in steps:
        read.update(id(value) for value in step.inputs())
    return [step for step in steps if step.random or any(id(v) in read for v in step.outputs)]

# wrong 15_5_not_by_identity: arguments by their text
def frozen(argument):
    return repr(argument)

# wrong 15_5_not_by_identity: all constants by their numbers
def frozen(argument):
    if isinstance(argument, Value) and argument.array is not None:
        return argument.shape, str(argument.dtype), argument.array.tobytes()
    if isinstance(argument, (list, tuple)):
        return type(argument), tuple(map(frozen, argument))
    if isinstance(argument, (Value, np.ndarray)):
        return id(argument)
    return type(argument), repr(argument)

# wrong 15_5_wrong_way: the last of several repeats is kept
def shared_steps(steps):
    last, replaced = {}, {}
    for step in steps:
        key = step if step.random else key_of(step)
        if key in last:
            replaced.update({id(old): new for old, new in
                             zip(last[key].outputs, step.outputs, strict=True)})
        last[key] = step
    for step in steps:
        step.arguments = replace_values(step.arguments, replaced)
    return [step for step in steps if step in last.values()], replaced

# wrong 15_5_chain_missed: one round of looking, then the arguments
def shared_steps(steps):
    first, replaced, kept = {}, {}, []
    for step in steps:
        key = step if step.random else key_of(step)
        if key in first:
            for old, new in zip(step.outputs, first[key].outputs, strict=True):
                replaced[id(old)] = new
        else:
            first[key] = step
            kept.append(step)
    for step in kept:
        step.arguments = replace_values(step.arguments, replaced)
    return kept, replaced

# wrong -: random steps are left out
def shared_steps(steps):
    kept, replaced, first = [], {}, {}
    for step in steps:
        if step.random:
            continue
        step.arguments = replace_values(step.arguments, replaced)
        twin = first.setdefault(key_of(step), step)
        if twin is step:
            kept.append(step)
        for old, new in zip(step.outputs, twin.outputs, strict=True):
            if old is not new:
                replaced[id(old)] = new
    return kept, replaced
