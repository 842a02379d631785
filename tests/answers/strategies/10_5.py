# right: NumPy's own test, on the host
def check_nan(node, grads):
    for position, grad in enumerate(grads):
        array = floating_array(grad)
        if array is not None:
            host = backend_of(array).to_host(array)
            mask = np.isnan(host)
            if mask.any():
                raise RuntimeError(RETURNED_NAN.format(
                    name=node.name(), position=position, where=describe(mask)))

# right: the smallest value decides, and the mask is made for the report alone
def check_nan(node, grads):
    arrays = [floating_array(grad) for grad in grads]
    for i in range(len(arrays)):
        if arrays[i] is None or arrays[i].size == 0:
            continue
        lowest = arrays[i].min()
        if lowest != lowest:
            mask = backend_of(arrays[i]).to_host(arrays[i] != arrays[i])
            raise RuntimeError(RETURNED_NAN.format(name=node.name(), position=i,
                                                   where=describe(mask)))

# right: neither below nor above nor equal to zero
def check_nan(node, grads):
    position = -1
    for grad in grads:
        position += 1
        if (array := floating_array(grad)) is None:
            continue
        mask = backend_of(array).to_host(~((array < 0) | (array >= 0)))
        if np.count_nonzero(mask):
            text = RETURNED_NAN.format(where=describe(mask), position=position, name=node.name())
            raise RuntimeError(text)

# right: all masks first, the first one with a true value after
def check_nan(node, grads):
    masks = {}
    for i, grad in enumerate(grads):
        array = floating_array(grad)
        if array is not None:
            masks[i] = backend_of(array).to_host(array != array)
    found = [i for i, mask in masks.items() if mask.any()]
    if found:
        raise RuntimeError(RETURNED_NAN.format(name=node.name(), position=found[0],
                                               where=describe(masks[found[0]])))

# right: element by element on the host
def check_nan(node, grads):
    for i, grad in enumerate(grads):
        array = floating_array(grad)
        if array is None:
            continue
        host = backend_of(array).to_host(array)
        mask = np.zeros(host.shape, bool)
        for index in np.ndindex(host.shape):
            mask[index] = host[index] != host[index]
        if mask.any():
            raise RuntimeError(RETURNED_NAN.format(name=node.name(), position=i,
                                                   where=describe(mask)))

# wrong 10_5_infinity_raises: the sum is not finite
def check_nan(node, grads):
    for i, grad in enumerate(grads):
        array = floating_array(grad)
        if array is not None and not np.isfinite(backend_of(array).to_host(array.sum())):
            mask = backend_of(array).to_host(array != array)
            raise RuntimeError(RETURNED_NAN.format(name=node.name(), position=i,
                                                   where=describe(mask)))

# wrong -: the sum of an array is NaN
def check_nan(node, grads):
    for i, grad in enumerate(grads):
        array = floating_array(grad)
        if array is not None and array.sum() != array.sum():
            mask = backend_of(array).to_host(array != array)
            raise RuntimeError(RETURNED_NAN.format(name=node.name(), position=i,
                                                   where=describe(mask)))

# wrong 10_5_infinity_raises: zero times a value is not zero
def check_nan(node, grads):
    for i, grad in enumerate(grads):
        array = floating_array(grad)
        if array is not None:
            mask = backend_of(array).to_host(array * 0 != 0)
            if mask.any():
                raise RuntimeError(RETURNED_NAN.format(name=node.name(), position=i,
                                                       where=describe(mask)))

# wrong -: the largest value, which a missing one is not
def check_nan(node, grads):
    for i, grad in enumerate(grads):
        array = floating_array(grad)
        if array is not None and max(array.reshape(-1), default=0) != max(array.reshape(-1), default=0):
            mask = backend_of(array).to_host(array != array)
            raise RuntimeError(RETURNED_NAN.format(name=node.name(), position=i,
                                                   where=describe(mask)))

# wrong -: the mask is flat
def check_nan(node, grads):
    for i, grad in enumerate(grads):
        array = floating_array(grad)
        if array is not None:
            flat = backend_of(array).to_host(array).ravel()
            mask = flat != flat
            if mask.any():
                raise RuntimeError(RETURNED_NAN.format(name=node.name(), position=i,
                                                       where=describe(mask)))

# wrong -: the first index with a true value decides, which is zero for the first
def check_nan(node, grads):
    for i, grad in enumerate(grads):
        array = floating_array(grad)
        if array is None:
            continue
        mask = backend_of(array).to_host(array != array)
        if mask.size and mask.argmax():
            raise RuntimeError(RETURNED_NAN.format(name=node.name(), position=i,
                                                   where=describe(mask)))

# wrong 10_5_counts_some_alone: the position is looked for by the gradient's identity among the arrays
def check_nan(node, grads):
    arrays = [array for array in map(floating_array, grads) if array is not None]
    for array in arrays:
        mask = backend_of(array).to_host(array != array)
        if mask.any():
            position = next(i for i, each in enumerate(arrays) if each is array)
            raise RuntimeError(RETURNED_NAN.format(name=node.name(), position=position,
                                                   where=describe(mask)))

# wrong -: the position is looked for by value
def check_nan(node, grads):
    for grad in grads:
        array = floating_array(grad)
        if array is None:
            continue
        mask = backend_of(array).to_host(array != array)
        if mask.any():
            shapes = [None if each is None else tuple(each.shape) for each in grads]
            raise RuntimeError(RETURNED_NAN.format(name=node.name(), where=describe(mask),
                                                   position=shapes.index(tuple(array.shape))))

# wrong -: a single number is no array
def check_nan(node, grads):
    for i, grad in enumerate(grads):
        array = floating_array(grad)
        if array is None or not array.ndim:
            continue
        mask = backend_of(array).to_host(array != array)
        if mask.any():
            raise RuntimeError(RETURNED_NAN.format(name=node.name(), position=i,
                                                   where=describe(mask)))

# wrong -: the dtypes of NumPy's default alone
def check_nan(node, grads):
    for i, grad in enumerate(grads):
        array = floating_array(grad)
        if array is None or array.dtype not in (np.float32, np.float64):
            continue
        mask = backend_of(array).to_host(array != array)
        if mask.any():
            raise RuntimeError(RETURNED_NAN.format(name=node.name(), position=i,
                                                   where=describe(mask)))

# wrong -: the host alone
def check_nan(node, grads):
    for i, grad in enumerate(grads):
        array = floating_array(grad)
        if array is not None and isinstance(array, np.ndarray):
            mask = np.isnan(array)
            if mask.any():
                raise RuntimeError(RETURNED_NAN.format(name=node.name(), position=i,
                                                       where=describe(mask)))
