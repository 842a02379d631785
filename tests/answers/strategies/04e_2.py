# right: the edges first, and any input that requires grad decides
def record(op, call):
    off = not _state.grad_enabled.get() or _state.inference_enabled.get()
    if off or not op.formulas:
        return record_without_formula(op, call.values)
    inputs = differentiable_inputs(op, call.values)
    required = [isinstance(each, Tensor) and each.requires_grad for each in inputs]
    if not any(required):
        return None
    node = op.node_type([each._edge() if yes else NO_EDGE
                         for each, yes in zip(inputs, required)])
    assign_sequence_nr(node)
    node.save(call.values, call.arrays, call.promoted)
    return node

# right: getattr asks numbers too
def record(op, call):
    if not (op.formulas and _state.grad_enabled.get() and not _state.inference_enabled.get()):
        return record_without_formula(op, call.values)
    edges, needed = [], 0
    for value in differentiable_inputs(op, call.values):
        if getattr(value, "requires_grad", False):
            needed += 1
            edges.append(value._edge())
        else:
            edges.append(NO_EDGE)
    if needed == 0:
        return None
    made = op.node_type(edges)
    made.save(call.values, call.arrays, call.promoted)
    assign_sequence_nr(made)
    return made

# right: numbers and None are looked for first
def record(op, call):
    if not op.formulas:
        return record_without_formula(op, call.values)
    if not _state.grad_enabled.get():
        return record_without_formula(op, call.values)
    if _state.inference_enabled.get():
        return record_without_formula(op, call.values)
    inputs = differentiable_inputs(op, call.values)
    some = {i for i, each in enumerate(inputs)
            if each is not None and not isinstance(each, (int, float, bool)) and each.requires_grad}
    if some:
        node = op.node_type([inputs[i]._edge() if i in some else NO_EDGE
                             for i in range(len(inputs))])
        assign_sequence_nr(node)
        node.save(call.values, call.arrays, call.promoted)
        return node
    return None

# wrong 04e_2_edges_decide: whether something is recorded is read off the edges
def record(op, call):
    if not op.formulas or not _state.grad_enabled.get() or _state.inference_enabled.get():
        return record_without_formula(op, call.values)
    edges = [each._edge() if isinstance(each, Tensor) and each.requires_grad else NO_EDGE
             for each in differentiable_inputs(op, call.values)]
    if all(node is None for node, _ in edges):
        return None
    node = op.node_type(edges)
    assign_sequence_nr(node)
    node.save(call.values, call.arrays, call.promoted)
    return node

# wrong 04e_2_edges_decide: every tensor is asked for its edge, since _edge() is (None, 0) without grad
def record(op, call):
    if not op.formulas or not _state.grad_enabled.get() or _state.inference_enabled.get():
        return record_without_formula(op, call.values)
    edges, live = [], False
    for each in differentiable_inputs(op, call.values):
        edge = each._edge() if isinstance(each, Tensor) else NO_EDGE
        live = live or edge[0] is not None
        edges.append(edge)
    if not live:
        return None
    node = op.node_type(edges)
    assign_sequence_nr(node)
    node.save(call.values, call.arrays, call.promoted)
    return node

# wrong 04e_2_list_lost: the values themselves, with a list as one input
def record(op, call):
    if not op.formulas or not _state.grad_enabled.get() or _state.inference_enabled.get():
        return record_without_formula(op, call.values)
    inputs = [call.values[i] for i in op.differentiable_positions]
    if not any(isinstance(each, Tensor) and each.requires_grad for each in inputs):
        return None
    node = op.node_type([each._edge() if isinstance(each, Tensor) and each.requires_grad
                         else NO_EDGE for each in inputs])
    assign_sequence_nr(node)
    node.save(call.values, call.arrays, call.promoted)
    return node

# wrong 04e_2_leaf_lost: an input without a grad_fn has no edge
def record(op, call):
    if not op.formulas or not _state.grad_enabled.get() or _state.inference_enabled.get():
        return record_without_formula(op, call.values)
    inputs = differentiable_inputs(op, call.values)
    live = [isinstance(each, Tensor) and each.requires_grad for each in inputs]
    if not any(live):
        return None
    node = op.node_type([(each.grad_fn, each._index) if yes and each.grad_fn is not None
                         else NO_EDGE for each, yes in zip(inputs, live)])
    assign_sequence_nr(node)
    node.save(call.values, call.arrays, call.promoted)
    return node

# wrong 04e_2_without_formula: nothing is recorded without a formula
def record(op, call):
    if not op.formulas or not _state.grad_enabled.get() or _state.inference_enabled.get():
        return None
    inputs = differentiable_inputs(op, call.values)
    live = [isinstance(each, Tensor) and each.requires_grad for each in inputs]
    if not any(live):
        return None
    node = op.node_type([each._edge() if yes else NO_EDGE for each, yes in zip(inputs, live)])
    assign_sequence_nr(node)
    node.save(call.values, call.arrays, call.promoted)
    return node

# wrong 04e_2_promotion_lost: saved without the promoted dtypes
def record(op, call):
    if not op.formulas or not _state.grad_enabled.get() or _state.inference_enabled.get():
        return record_without_formula(op, call.values)
    inputs = differentiable_inputs(op, call.values)
    live = [isinstance(each, Tensor) and each.requires_grad for each in inputs]
    if True not in live:
        return None
    node = op.node_type([each._edge() if yes else NO_EDGE for each, yes in zip(inputs, live)])
    assign_sequence_nr(node)
    node.save(call.values, call.arrays, {})
    return node
