def is_expandable_to(shape, target):
    extra = len(target) - len(shape)
    return extra >= 0 and all(n == 1 or n == t for n, t in zip(shape, target[extra:]))

def match_metadata(grad, target, index, source, position):
    shape, dtype = target.metadata_of(index)
    grad = as_array(grad)
    if tuple(grad.shape) != tuple(shape):
        if not shapes.is_expandable_to(shape, tuple(grad.shape)):
            raise invalid_gradient(tuple(grad.shape), shape, source, position)
        grad = sum_to(grad, shape)
    return cast(grad, dtype)

# right: the shape is padded with ones, and the dtype comes first
def is_expandable_to(shape, target):
    if len(shape) > len(target):
        return False
    padded = (1,) * (len(target) - len(shape)) + tuple(shape)
    return not [n for n, t in zip(padded, target) if n != t and n != 1]

def match_metadata(grad, target, index, source, position):
    shape, dtype = target.metadata_of(index)
    grad = cast(as_array(grad), dtype)
    if not shapes.is_expandable_to(shape, tuple(grad.shape)):
        raise invalid_gradient(tuple(grad.shape), shape, source, position)
    return sum_to(grad, shape)

# right: infer_size decides
def is_expandable_to(shape, target):
    try:
        return infer_size(shape, target) == tuple(target)
    except RuntimeError:
        return False

# right: NumPy decides
import numpy as np
def is_expandable_to(shape, target):
    try:
        np.broadcast_to(np.empty(shape, np.bool_), target)
    except ValueError:
        return False
    return True

# right: one dimension at a time from the back, and an early return for what fits
def is_expandable_to(shape, target):
    shape, target = list(shape), list(target)
    while shape:
        if not target or shape.pop() not in (1, target.pop()):
            return False
    return True

def match_metadata(grad, target, index, source, position):
    wanted = target.metadata_of(index)
    if isinstance(grad, NUMBERS):
        grad = np.asarray(grad)
    got = tuple(grad.shape)
    if got == wanted[0]:
        return cast(grad, wanted[1])
    if shapes.is_expandable_to(wanted[0], got):
        return cast(sum_to(grad, wanted[0]), wanted[1])
    raise invalid_gradient(got, wanted[0], source, position)

# right: recursion over the last dimension
def is_expandable_to(shape, target):
    if not shape:
        return True
    if not target:
        return False
    return shape[-1] in (1, target[-1]) and is_expandable_to(shape[:-1], target[:-1])

# right: a comparison of arrays
import numpy as np
def is_expandable_to(shape, target):
    if len(shape) > len(target):
        return False
    a = np.array(shape, int)
    b = np.array(target[len(target) - len(shape):], int)
    return bool(((a == 1) | (a == b)).all())

# wrong 04a_3_expandable_both_ways: the two shapes broadcast together
def is_expandable_to(shape, target):
    try:
        infer_size(shape, target)
    except RuntimeError:
        return False
    return len(shape) <= len(target)

# wrong -: the number of elements is a multiple
def is_expandable_to(shape, target):
    return len(shape) <= len(target) and (numel(shape) == 0) <= (numel(target) == 0) and (
        numel(shape) == 0 or numel(target) % numel(shape) == 0)

# wrong -: each size is a multiple of the one that it comes from
def is_expandable_to(shape, target):
    if len(shape) > len(target):
        return False
    return all(n and t % n == 0 or n == t for n, t in zip(shape[::-1], target[::-1]))

# wrong -: a size of 0 holds nothing, so that everything fits into it
def is_expandable_to(shape, target):
    if len(shape) > len(target):
        return False
    return all(n == 1 or n == t or t == 0 for n, t in zip(shape[::-1], target[::-1]))

# wrong -: the sizes are found in the target in their order, with others between them
def is_expandable_to(shape, target):
    rest = iter(target)
    return len(shape) <= len(target) and all(n == 1 or n in rest for n in shape)

# wrong -: ones in front count for nothing
def is_expandable_to(shape, target):
    while shape and shape[0] == 1:
        shape = shape[1:]
    if len(shape) > len(target):
        return False
    return all(n in (1, t) for n, t in zip(reversed(shape), reversed(target)))

# wrong -: sums first, and looks at what comes out
def match_metadata(grad, target, index, source, position):
    shape, dtype = target.metadata_of(index)
    grad = as_array(grad)
    try:
        summed = sum_to(grad, shape)
    except Exception:
        summed = grad
    if tuple(summed.shape) != tuple(shape):
        raise invalid_gradient(tuple(grad.shape), shape, source, position)
    return cast(summed, dtype)

# wrong -: as many elements are the same shape
def match_metadata(grad, target, index, source, position):
    shape, dtype = target.metadata_of(index)
    grad = as_array(grad)
    count = grad.size if isinstance(grad, np.ndarray) else grad.numel()
    if count == shapes.numel(shape):
        return cast(grad.reshape(shape), dtype)
    if not shapes.is_expandable_to(shape, tuple(grad.shape)):
        raise invalid_gradient(tuple(grad.shape), shape, source, position)
    return cast(sum_to(grad, shape), dtype)

# wrong -: only a dtype of more bits is cast
def match_metadata(grad, target, index, source, position):
    shape, dtype = target.metadata_of(index)
    grad = as_array(grad)
    if tuple(grad.shape) != tuple(shape):
        if not shapes.is_expandable_to(shape, tuple(grad.shape)):
            raise invalid_gradient(tuple(grad.shape), shape, source, position)
        grad = sum_to(grad, shape)
    held = grad._array if isinstance(grad, Tensor) else grad
    return cast(grad, dtype) if held.dtype.itemsize > dtype.itemsize else grad

# wrong -: another dtype is refused like another shape
def match_metadata(grad, target, index, source, position):
    shape, dtype = target.metadata_of(index)
    grad = as_array(grad)
    held = grad._array if isinstance(grad, Tensor) else grad
    if not shapes.is_expandable_to(shape, tuple(grad.shape)) or held.dtype != dtype:
        raise invalid_gradient(tuple(grad.shape), shape, source, position)
    return sum_to(grad, shape)

# wrong 04a_3_position_for_index: the gradient's position is the number of the output
def match_metadata(grad, target, index, source, position):
    shape, dtype = target.metadata_of(position)
    grad = as_array(grad)
    if not shapes.is_expandable_to(shape, tuple(grad.shape)):
        raise invalid_gradient(tuple(grad.shape), shape, source, position)
    return cast(sum_to(grad, shape), dtype)

# wrong -: every gradient becomes an array
def match_metadata(grad, target, index, source, position):
    shape, dtype = target.metadata_of(index)
    grad = np.asarray(grad.detach() if isinstance(grad, Tensor) else grad)
    if not shapes.is_expandable_to(shape, grad.shape):
        raise invalid_gradient(grad.shape, shape, source, position)
    return sum_to(grad, shape).astype(dtype, copy=False)

# wrong 04a_3_numbers_stay: a scalar is a Python number only
def match_metadata(grad, target, index, source, position):
    shape, dtype = target.metadata_of(index)
    if type(grad) in (float, int):
        grad = np.array(grad)
    if not shapes.is_expandable_to(shape, tuple(grad.shape)):
        raise invalid_gradient(tuple(grad.shape), shape, source, position)
    return cast(grad if tuple(grad.shape) == tuple(shape) else sum_to(grad, shape), dtype)

# wrong -: the shape of a smaller gradient grows to the wanted one
def match_metadata(grad, target, index, source, position):
    shape, dtype = target.metadata_of(index)
    grad = as_array(grad)
    got = tuple(grad.shape)
    if shapes.is_expandable_to(got, shape):
        grad = (grad.expand(shape) if isinstance(grad, Tensor)
                else np.broadcast_to(grad, shape))
    elif shapes.is_expandable_to(shape, got):
        grad = sum_to(grad, shape)
    else:
        raise invalid_gradient(got, shape, source, position)
    return cast(grad, dtype)
