def matched(grads, count):
    if grads is None:
        return (None,) * count
    grads = as_tuple(grads)
    if len(grads) < count:
        raise RuntimeError(TOO_FEW.format(tensors=count, gradients=len(grads)))
    return grads[:count]

# right: a case for each kind
def as_tuple(tensors):
    if isinstance(tensors, (Tensor, GradientEdge)):
        return (tensors,)
    if isinstance(tensors, dict):
        tensors = tensors.values()
    return tuple(tensors)

# right: one item after the other
def as_tuple(tensors):
    single = isinstance(tensors, Tensor) or isinstance(tensors, GradientEdge)
    items = [tensors] if single else getattr(tensors, "values", tensors.__iter__)()
    return (*items,)

def matched(grads, count):
    given = [None] * count if grads is None else list(as_tuple(grads))
    if count > len(given):
        raise RuntimeError(TOO_FEW.format(gradients=len(given), tensors=count))
    del given[count:]
    return tuple(given)

# wrong 03b_1_takes_apart: whatever can be iterated is taken apart
def as_tuple(tensors):
    if isinstance(tensors, dict):
        return tuple(tensors.values())
    try:
        return tuple(tensors)
    except TypeError:
        return (tensors,)

# wrong 03b_1_count_unchecked: too few gradients are filled up with None
def as_tuple(tensors):
    if isinstance(tensors, (Tensor, GradientEdge)):
        return (tensors,)
    return tuple(tensors.values() if isinstance(tensors, dict) else tensors)

def matched(grads, count):
    from itertools import chain, islice, repeat
    return tuple(islice(chain(() if grads is None else as_tuple(grads), repeat(None)), count))

# wrong 03b_1_iterator_wrapped: only lists, tuples and dictionaries are known
def as_tuple(tensors):
    if isinstance(tensors, dict):
        return tuple(tensors.values())
    if isinstance(tensors, (list, tuple)) and not isinstance(tensors, GradientEdge):
        return tuple(tensors)
    return (tensors,)
