# right: names for the steps
def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, only_inputs=True,
         allow_unused=None, is_grads_batched=False, materialize_grads=False):
    check_options(only_inputs, allow_unused, materialize_grads)
    roots, ends = as_tuple(outputs), inputs_of(inputs, "grad")
    run = of_batches if is_grads_batched else gradients
    found = run(roots, ends, matched(grad_outputs, len(roots)),
                create_graph if retain_graph is None else retain_graph, create_graph,
                materialize_grads if allow_unused is None else allow_unused)
    if materialize_grads:
        found = [zeros_for(end, create_graph) if g is None else g for end, g in zip(ends, found)]
    return dict(zip(inputs, found)) if isinstance(inputs, dict) else tuple(found)

# wrong 03b_6_create_overrules: a retain_graph of False is taken for one that was left out
def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, only_inputs=True,
         allow_unused=None, is_grads_batched=False, materialize_grads=False):
    check_options(only_inputs, allow_unused, materialize_grads)
    roots, ends = as_tuple(outputs), inputs_of(inputs, "grad")
    run = of_batches if is_grads_batched else gradients
    found = run(roots, ends, matched(grad_outputs, len(roots)), retain_graph or create_graph,
                create_graph, allow_unused or materialize_grads)
    if materialize_grads:
        found = [zeros_for(end, create_graph) if g is None else g for end, g in zip(ends, found)]
    return dict(zip(inputs, found)) if isinstance(inputs, dict) else tuple(found)

# wrong 03b_6_bare: a single input gives a single gradient
def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, only_inputs=True,
         allow_unused=None, is_grads_batched=False, materialize_grads=False):
    check_options(only_inputs, allow_unused, materialize_grads)
    roots, ends = as_tuple(outputs), inputs_of(inputs, "grad")
    run = of_batches if is_grads_batched else gradients
    found = run(roots, ends, matched(grad_outputs, len(roots)),
                create_graph if retain_graph is None else retain_graph, create_graph,
                materialize_grads if allow_unused is None else allow_unused)
    if materialize_grads:
        found = [zeros_for(end, create_graph) if g is None else g for end, g in zip(ends, found)]
    if isinstance(inputs, Tensor):
        return found[0]
    return dict(zip(inputs, found)) if isinstance(inputs, dict) else tuple(found)
