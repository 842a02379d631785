# right: the positions of tensors in a dict, and marks in the keys
def signature(tree, tensors, others):
    places = {id(each): number for number, each in enumerate(tensors)}
    if isinstance(tree, Tensor):
        if id(tree) in places:
            return "again", places[id(tree)]
        tensors.append(tree)
        array = tree._array
        return ("tensor", type(tree), array.shape, str(array.dtype), array.strides,
                bool(tree.requires_grad), bool(tree.is_leaf))
    if isinstance(tree, dict):
        return ("dict", type(tree), tuple(
            (signature(key, tensors, others), signature(value, tensors, others))
            for key, value in tree.items()))
    if isinstance(tree, (list, tuple)):
        return "sequence", type(tree), tuple(signature(each, tensors, others) for each in tree)
    if is_plain(tree):
        return "plain", type(tree), repr(tree)
    others.append(tree)
    return "object", id(tree)

# right: one flat key, with the length of each nesting
def signature(tree, tensors, others):
    flat, stack = [], [tree]
    while stack:
        each = stack.pop()
        flat.append(type(each))
        if isinstance(each, Tensor):
            number = next((i for i, t in enumerate(tensors) if t is each), None)
            flat.append(number)
            if number is None:
                tensors.append(each)
                flat += [tuple(each.shape), each._array.dtype, each._array.strides,
                         each.requires_grad, each.grad_fn is None]
        elif isinstance(each, dict):
            flat.append(len(each))
            stack += [part for pair in reversed(each.items()) for part in reversed(pair)]
        elif isinstance(each, (list, tuple)):
            flat.append(len(each))
            stack += reversed(each)
        elif is_plain(each):
            flat.append(repr(each))
        else:
            others.append(each)
            flat.append(id(each))
    return tuple(flat)

# right: numbers by type and text, and objects first
def signature(tree, tensors, others):
    def key(each):
        return signature(each, tensors, others)

    kind = type(tree)
    if isinstance(tree, Tensor):
        known = [id(each) for each in tensors]
        if id(tree) in known:
            return known.index(id(tree))
        tensors.append(tree)
        return (kind, tree._array.shape, tree._array.dtype, tree._array.strides,
                tree.requires_grad, tree.is_leaf)
    if not is_plain(tree) and not isinstance(tree, (list, tuple, dict)):
        others.append(tree)
        return kind, id(tree)
    if isinstance(tree, dict):
        return kind, tuple((key(name), key(value)) for name, value in tree.items())
    if isinstance(tree, (list, tuple)):
        return kind, tuple(map(key, tree))
    return kind, str(tree) if isinstance(tree, (float, complex, np.floating)) else tree

# wrong 15_3_objects_by_equality: the objects themselves
def signature(tree, tensors, others):
    if isinstance(tree, Tensor):
        for position, each in enumerate(tensors):
            if each is tree:
                return position
        tensors.append(tree)
        array = tree._array
        return (type(tree), array.shape, array.dtype, array.strides, tree.requires_grad,
                tree._node is None)
    if isinstance(tree, (tuple, list)):
        return (type(tree), *[signature(each, tensors, others) for each in tree])
    if isinstance(tree, dict):
        return (type(tree), *[(signature(key, tensors, others), signature(each, tensors, others))
                              for key, each in tree.items()])
    if is_plain(tree):
        return type(tree), repr(tree)
    others.append(tree)
    return type(tree), tree

# wrong 15_3_tensors_by_identity: what Python's hash makes of a tensor
def signature(tree, tensors, others):
    if isinstance(tree, Tensor):
        if not any(each is tree for each in tensors):
            tensors.append(tree)
        return hash(tree)
    if isinstance(tree, (tuple, list)):
        return (type(tree), *[signature(each, tensors, others) for each in tree])
    if isinstance(tree, dict):
        return (type(tree), *[(signature(key, tensors, others), signature(each, tensors, others))
                              for key, each in tree.items()])
    if is_plain(tree):
        return type(tree), repr(tree)
    others.append(tree)
    return type(tree), id(tree)

# wrong 15_3_strides_are_missing: everything in one text
def signature(tree, tensors, others):
    if isinstance(tree, Tensor):
        if not any(each is tree for each in tensors):
            tensors.append(tree)
        number = [each is tree for each in tensors].index(True)
        return f"{number} {tree.shape} {tree.dtype} {tree.requires_grad} {tree.is_leaf}"
    if isinstance(tree, (list, tuple)):
        return f"{type(tree)} {[signature(each, tensors, others) for each in tree]}"
    if isinstance(tree, dict):
        return str([(repr(key), signature(each, tensors, others)) for key, each in tree.items()])
    if not is_plain(tree):
        others.append(tree)
    return f"{type(tree)} {tree!r}"

# wrong 15_3_type_of_values: values by equality, with signs
def signature(tree, tensors, others):
    if isinstance(tree, Tensor):
        for position, each in enumerate(tensors):
            if each is tree:
                return "again", position
        tensors.append(tree)
        array = tree._array
        return (type(tree), array.shape, array.dtype, array.strides, tree.requires_grad,
                tree.is_leaf)
    if isinstance(tree, (tuple, list)):
        return (type(tree), *[signature(each, tensors, others) for each in tree])
    if isinstance(tree, dict):
        return (type(tree), *[(signature(key, tensors, others), signature(each, tensors, others))
                              for key, each in tree.items()])
    if isinstance(tree, (float, np.floating)):
        return "nan" if tree != tree else (float(tree), bool(np.signbit(tree)))
    if is_plain(tree):
        return "plain", tree
    others.append(tree)
    return "object", id(tree)

# wrong -: it looks for a tensor with the operator `in`
def signature(tree, tensors, others):
    if isinstance(tree, Tensor):
        if tree in tensors:
            return tensors.index(tree)
        tensors.append(tree)
        array = tree._array
        return (type(tree), array.shape, array.dtype, array.strides, tree.requires_grad,
                tree.is_leaf)
    if isinstance(tree, (tuple, list)):
        return (type(tree), *[signature(each, tensors, others) for each in tree])
    if isinstance(tree, dict):
        return (type(tree), *[(signature(key, tensors, others), signature(each, tensors, others))
                              for key, each in tree.items()])
    if is_plain(tree):
        return type(tree), repr(tree)
    others.append(tree)
    return type(tree), id(tree)
