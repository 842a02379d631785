def jacobian_columns(inputs, output):
    goals = differentiable(inputs)
    columns = []
    for index in np.ndindex(output._array.shape):
        one = np.zeros(output._array.shape, output._array.dtype)
        one[index] = 1
        found = grad(output, goals, Tensor._plain(one), True, allow_unused=True)
        columns.append([None if g is None else Tensor._plain(host(g)) for g in found])
    return columns

def assembled(inputs, columns):
    made = []
    for i, x in enumerate(differentiable(inputs)):
        jacobian = np.zeros((x._array.size, len(columns)), x._array.dtype)
        for j, column in enumerate(columns):
            if column[i] is not None and column[i].shape == x.shape:
                jacobian[:, j] = host(column[i]).reshape(-1)
        made.append(jacobian)
    return made

# right: a new one-hot array for each element
# These are the functions above.

# right: each element is selected and differentiated without a vector
def jacobian_columns(inputs, output):
    goals, columns = differentiable(inputs), []
    for element in output.reshape(-1):
        found = grad(element, goals, retain_graph=True, allow_unused=True)
        columns.append(tuple(g if g is None else g.detach().clone() for g in found))
    return columns

def assembled(inputs, columns):
    def numbers(g, x):
        if g is None or g._array.shape != x._array.shape:
            return np.zeros(x._array.size, x._array.dtype)
        return host(g).astype(x._array.dtype).ravel()
    return [np.array([numbers(column[i], x) for column in columns],
                     x._array.dtype).reshape(len(columns), -1 if columns else x._array.size).T
            for i, x in enumerate(differentiable(inputs))]

# right: the rows of an identity matrix, joined side by side
def jacobian_columns(inputs, output):
    size = output._array.size
    rows = np.eye(size, dtype=output._array.dtype)
    goals = differentiable(inputs)
    columns = []
    for i in range(size):
        vector = rows[i].reshape(output._array.shape).copy()
        found = grad(output, goals, Tensor._plain(vector), retain_graph=True, allow_unused=True)
        columns.append([g if g is None else Tensor._plain(np.array(g._array)) for g in found])
    return columns

def assembled(inputs, columns):
    made = []
    for i, x in enumerate(differentiable(inputs)):
        array = x._array
        parts = [np.zeros((array.size, 0), array.dtype)]
        for column in columns:
            g = column[i]
            if g is None or g._array.shape != array.shape:
                parts.append(np.zeros((array.size, 1), array.dtype))
            else:
                parts.append(host(g).reshape(array.size, 1).astype(array.dtype))
        made.append(np.concatenate(parts, axis=1))
    return made

# wrong 09_2_wrong_size_counts: a gradient with as many elements counts, whatever its shape
def assembled(inputs, columns):
    made = []
    for i, x in enumerate(differentiable(inputs)):
        jacobian = np.zeros((x._array.size, len(columns)), x._array.dtype)
        for j, column in enumerate(columns):
            if column[i] is not None and column[i]._array.size == x._array.size:
                jacobian[:, j] = host(column[i]).reshape(-1)
        made.append(jacobian)
    return made

# wrong 09_2_wrong_size_counts: a gradient that broadcasts to the input counts
def assembled(inputs, columns):
    made = []
    for i, x in enumerate(differentiable(inputs)):
        jacobian = np.zeros((x._array.size, len(columns)), x._array.dtype)
        for j, column in enumerate(columns):
            try:
                jacobian[:, j] = np.broadcast_to(host(column[i]), x._array.shape).reshape(-1)
            except (AttributeError, ValueError):
                pass
        made.append(jacobian)
    return made

# right: the vector is float64, and the pass converts it
def jacobian_columns(inputs, output):
    goals = differentiable(inputs)
    columns = []
    for index in np.ndindex(output._array.shape):
        one = np.zeros(output._array.shape)
        one[index] = 1
        found = grad(output, goals, Tensor._plain(one), True, allow_unused=True)
        columns.append([None if g is None else Tensor._plain(host(g)) for g in found])
    return columns
