def device_of(array):
    backend = backend_of(array)
    if backend.device_type == "cpu":
        return CPU
    return device(backend.device_type, backend.device_index(array))


def build_on(where, build):
    xp = backend_for(where)
    index = None if where is None else as_device(where).index
    if index is None or xp.device_type == "cpu":
        return build(xp)
    with xp.on(index):
        return build(xp)

# right: the context is chosen first
def build_on(where, build):
    xp, context = backend_for(where), nullcontext()
    if where is not None and xp is not DEVICES["cpu"]:
        index = as_device(where).index
        if index is not None:
            context = xp.on(index)
    with context:
        return build(xp)

# right: what needs a context is told by the whole device
def build_on(where, build):
    place = CPU if where is None else as_device(where)
    xp = backend_for(place)
    if place.type != "cpu" and place.index is not None:
        with xp.on(place.index):
            return build(xp)
    return build(xp)

# right: the device as a string
def device_of(array):
    backend = backend_of(array)
    kind = backend.device_type
    return CPU if kind == "cpu" else device(f"{kind}:{backend.device_index(array)}")

# right: the CPU's backend is compared
def device_of(array):
    backend = backend_of(array)
    if backend is DEVICES["cpu"]:
        return CPU
    return device(backend.device_type, index=backend.device_index(array))

# wrong 12_3_another_device: the number is read from the string
def build_on(where, build):
    xp = backend_for(where)
    _, colon, number = str(where).partition(":")
    if colon and xp.device_type != "cpu":
        with xp.on(number):
            return build(xp)
    return build(xp)

# wrong 12_3_zero_is_a_number: the first device is the current one anyway
def build_on(where, build):
    xp = backend_for(where)
    index = None if where is None else as_device(where).index
    if not index:
        return build(xp)
    with xp.on(index):
        return build(xp)

# wrong -: the CPU's number is entered too
def build_on(where, build):
    xp = backend_for(where)
    index = None if where is None else as_device(where).index
    if index is None:
        return build(xp)
    with xp.on(index):
        return build(xp)

# wrong -: entered and left by hand, without a finally
def build_on(where, build):
    xp = backend_for(where)
    index = None if where is None else as_device(where).index
    if index is None or xp.device_type == "cpu":
        return build(xp)
    context = xp.on(index)
    context.__enter__()
    built = build(xp)
    context.__exit__(None, None, None)
    return built

# wrong 12_3_builds_outside_the_device: built on the device where the result of the CPU is
def build_on(where, build):
    xp = backend_for(where)
    index = None if where is None else as_device(where).index
    if index is None or xp.device_type == "cpu":
        return build(xp)
    built = build(xp)
    with xp.on(index):
        return built

# wrong -: a string alone can have a number
def build_on(where, build):
    xp = backend_for(where)
    if isinstance(where, str) and ":" in where and not where.startswith("cpu"):
        with xp.on(int(where.split(":")[1])):
            return build(xp)
    return build(xp)

# wrong -: a device of the CPU is made anew
def device_of(array):
    backend = backend_of(array)
    return device(backend.device_type,
                  None if backend.device_type == "cpu" else backend.device_index(array))

# wrong -: the CPU has the number that its backend reports
def device_of(array):
    backend = backend_of(array)
    return device(backend.device_type, backend.device_index(array))

# wrong -: number 0 is left out
def device_of(array):
    backend = backend_of(array)
    if backend.device_type == "cpu":
        return CPU
    return device(backend.device_type, backend.device_index(array) or None)
