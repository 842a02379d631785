def last_uses(steps, outputs):
    last = {}
    for number, step in enumerate(steps):
        for value in [*step.outputs, *step.inputs()]:
            last[id(value)] = number, value
    for value in outputs:
        last.pop(id(value), None)
    dead = [[] for _ in steps]
    for number, value in last.values():
        if value.array is None:
            dead[number].append(value)
    return dead


def taken_over(steps, outputs, is_elementwise):
    roots = roots_of(steps)
    last = last_use_of_memory(steps, outputs, roots)
    own = {id(v) for step in steps if not step.view for v in step.outputs}
    found = {}
    for number, step in enumerate(steps):
        if not is_elementwise(step):
            continue
        memories = [roots.get(id(v), v) for v in step.inputs()]
        for value, memory in zip(step.inputs(), memories, strict=True):
            fits = id(value) in own and last[id(memory)] == number
            if fits and memories.count(memory) == 1 and alike(value, step.outputs[0]):
                found[id(step)] = value
                break
    return found

# right: forwards, with the number of the last use
# right: a set of what is seen, from behind
def last_uses(steps, outputs):
    seen, dead = {id(v) for v in outputs if v is not None}, []
    for step in steps[::-1]:
        ending = []
        for value in [*step.inputs(), *step.outputs]:
            if value.array is None and id(value) not in seen:
                seen.add(id(value))
                ending.append(value)
        dead.insert(0, ending)
    return dead

# right: the operands that qualify, and the first of them
def taken_over(steps, outputs, is_elementwise):
    roots = roots_of(steps)
    last = last_use_of_memory(steps, outputs, roots)
    makers = {id(v): step for step in steps for v in step.outputs}
    found = {}
    for number, step in enumerate(steps):
        operands = list(step.inputs()) if is_elementwise(step) else []
        ids = [id(roots.get(id(v), v)) for v in operands]
        free = [v for v in operands if id(v) in makers and not makers[id(v)].view
                and last.get(id(v)) == number and ids.count(id(v)) == 1
                and alike(v, step.outputs[0])]
        if free:
            found[id(step)] = free[0]
    return found

# right: count the uses that are left of each memory
def taken_over(steps, outputs, is_elementwise):
    roots = roots_of(steps)

    def memory(value):
        return id(roots.get(id(value), value))

    left = {}
    for value in [*(v for step in steps for v in step.inputs()), *(v for v in outputs if v)]:
        left[memory(value)] = left.get(memory(value), 0) + 1
    allocated, found = set(), {}
    for step in steps:
        if is_elementwise(step):
            for value in step.inputs():
                if (id(value) in allocated and left[memory(value)] == 1
                        and alike(value, step.outputs[0])):
                    found[id(step)] = value
                    break
        for value in step.inputs():
            left[memory(value)] -= 1
        if not step.view:
            allocated |= {id(v) for v in step.outputs}
    return found

# wrong 15_7_views_forgotten: what dies by last_uses is free
def taken_over(steps, outputs, is_elementwise):
    allocated, found = set(), {}
    for step, dead in zip(steps, last_uses(steps, outputs), strict=True):
        if is_elementwise(step):
            operands = list(step.inputs())
            for value in operands:
                if (value in dead and id(value) in allocated and operands.count(value) == 1
                        and alike(value, step.outputs[0])):
                    found.setdefault(id(step), value)
        if not step.view:
            allocated.update(id(v) for v in step.outputs)
    return found

# wrong 15_7_inputs_live_on: only results die
def last_uses(steps, outputs):
    made = {id(v) for step in steps for v in step.outputs}
    seen, dead = {id(v) for v in outputs}, []
    for step in reversed(steps):
        ending = {id(v): v for v in [*step.outputs, *step.inputs()]
                  if id(v) in made and id(v) not in seen}
        seen |= ending.keys()
        dead.append(list(ending.values()))
    return dead[::-1]

# wrong 15_7_outputs_die: outputs die after the last step that reads them
def last_uses(steps, outputs):
    last = {}
    for number, step in enumerate(steps):
        for value in [*step.outputs, *step.inputs()]:
            last[id(value)] = number
    dead = []
    for number, step in enumerate(steps):
        values = {id(v): v for v in [*step.outputs, *step.inputs()] if v.array is None}
        dead.append([v for key, v in values.items() if last[key] == number])
    return dead

# wrong 15_7_needed_later: whatever was allocated before
def taken_over(steps, outputs, is_elementwise):
    allocated, found = set(), {}
    for step in steps:
        if is_elementwise(step):
            for value in step.inputs():
                if id(value) in allocated and alike(value, step.outputs[0]):
                    found[id(step)] = value
                    break
        if not step.view:
            allocated.update(map(id, step.outputs))
    return found

# wrong 15_7_view_in_step: an operand is counted without its views
def taken_over(steps, outputs, is_elementwise):
    roots = roots_of(steps)
    last = last_use_of_memory(steps, outputs, roots)
    allocated, found = set(), {}
    for number, step in enumerate(steps):
        operands = list(step.inputs())
        free = [v for v in operands if id(v) in allocated and last[id(v)] == number
                and operands.count(v) == 1 and alike(v, step.outputs[0])]
        if free and is_elementwise(step):
            found[id(step)] = free[0]
        if not step.view:
            allocated.update(map(id, step.outputs))
    return found
