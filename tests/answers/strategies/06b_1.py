def values_to_save(op, values, before):
    if "self" not in op.node_type.saves:
        return values
    return [values[0].clone() if before is None else before, *values[1:]]

def finish_write(op, target, node):
    target._bump()
    if node is not None:
        give_history(op, target, node)
        if "result" in node.saves:
            node.save_output("result", target)

# right: the target alone is exchanged
def values_to_save(op, values, before):
    if "self" in op.node_type.saves:
        old = before if before is not None else values[0].clone()
        return [old] + list(values[1:])
    return values

def finish_write(op, target, node):
    target._bump()
    if node is None:
        return
    give_history(op, target, node)
    if "result" in node.saves:
        node.save_output("result", target)

# right: asks the lists of the declaration, as a node does
def values_to_save(op, values, before):
    from minigrad.op.node import save_list
    tensors, _ = save_list(op)
    if op.formulas and "self" in tensors:
        saved = list(values)
        saved[0] = values[0].clone() if before is None else before
        return saved
    return values

def finish_write(op, target, node):
    target._bump()
    if node is not None:
        give_history(op, target, node)
        if "result" in type(node).saves:
            node.save_output("result", target)

# right: asks by the name of the first parameter
def values_to_save(op, values, before):
    first = op.parameters[0]
    if first not in op.node_type.saves:
        return list(values)
    copied = list(values)
    copied[0] = before
    if before is None:
        copied[0] = values[0].clone()
    return copied

def finish_write(op, target, node):
    target._bump()
    if node is not None:
        give_history(op, target, node)
        for name in node.saves:
            if name == "result":
                node.save_output(name, target)

# wrong 06b_1_clone_detached: the clone is taken of the array
def values_to_save(op, values, before):
    if "self" not in op.node_type.saves:
        return values
    if before is None:
        before = Tensor._plain(values[0]._array.copy())
    return [before, *values[1:]]

# wrong 06b_1_always_cloned: always a clone, to be safe
def values_to_save(op, values, before):
    return [values[0].clone() if before is None else before, *values[1:]]

# wrong 06b_1_clone_ignored: always makes another clone
def values_to_save(op, values, before):
    if "self" in op.node_type.saves:
        return [values[0].clone(), *values[1:]]
    return values

# wrong 06b_1_saved_before_history: the result is saved before the tensor has its history
def finish_write(op, target, node):
    target._bump()
    if node is not None:
        if "result" in node.saves:
            node.save_output("result", target)
        give_history(op, target, node)

# wrong 06b_1_counted_only_recorded: a write is counted where it is recorded
def finish_write(op, target, node):
    if node is not None:
        target._bump()
        give_history(op, target, node)
        if "result" in node.saves:
            node.save_output("result", target)

# wrong 06b_1_saved_before_counting: the result is saved at the version before the write
def finish_write(op, target, node):
    if node is not None:
        give_history(op, target, node)
        if "result" in node.saves:
            node.save_output("result", target)
    target._bump()

# wrong 06b_1_clone_asked_for_its_value: a clone unless the one that is there is true
def values_to_save(op, values, before):
    if "self" in op.node_type.saves:
        return [before or values[0].clone(), *values[1:]]
    return values

# wrong 06b_1_clone_asked_for_its_value: asks an if for the clone
def values_to_save(op, values, before):
    if "self" not in op.node_type.saves:
        return values
    if not before:
        before = values[0].clone()
    return [before, *values[1:]]

# wrong 06b_1_no_clone_beside_result: a node that saves the result needs nothing else
def values_to_save(op, values, before):
    if "result" in op.node_type.saves:
        return values
    if "self" in op.node_type.saves:
        return [values[0].clone() if before is None else before, *values[1:]]
    return values
