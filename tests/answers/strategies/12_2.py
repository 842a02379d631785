# right: three steps, each with its own error
def load_cuda():
    try:
        module = import_module("minigrad.backend.cupy")
    except ImportError as error:
        raise RuntimeError(NO_LIBRARY.format(error)) from error
    found = module.backend
    try:
        count = found.device_count()
    except RuntimeError as error:
        raise RuntimeError(NO_DRIVER.format(str(error))) from error
    if count == 0:
        raise RuntimeError(NO_GPU)
    register(found)
    return found

# right: the text first, raised at one place
def load_cuda():
    text, cause = NO_GPU, None
    try:
        found = import_module("minigrad.backend.cupy").backend
        if found.device_count() > 0:
            register(found)
            return found
    except (ImportError, RuntimeError) as error:
        cause = error
        text = (NO_LIBRARY if isinstance(error, ImportError) else NO_DRIVER).format(error)
    raise RuntimeError(text) from cause

# right: a helper that counts
def counted(found):
    try:
        return found.device_count()
    except RuntimeError as error:
        raise RuntimeError(NO_DRIVER.format(error)) from error

def load_cuda():
    try:
        found = import_module("minigrad.backend.cupy").backend
    except ImportError as error:
        raise RuntimeError(NO_LIBRARY.format(error)) from error
    if counted(found) < 1:
        raise RuntimeError(NO_GPU)
    register(found)
    return found

# right: the table is asked first
def load_cuda():
    if "cuda" in DEVICES:
        return DEVICES["cuda"]
    try:
        found = import_module("minigrad.backend.cupy").backend
        count = found.device_count()
    except ImportError as error:
        raise RuntimeError(NO_LIBRARY.format(error)) from error
    except RuntimeError as error:
        raise RuntimeError(NO_DRIVER.format(error)) from error
    if not count:
        raise RuntimeError(NO_GPU)
    register(found)
    return found

# wrong 12_2_another_reason: any error is the driver's, and a missing library's too
def load_cuda():
    try:
        found = import_module("minigrad.backend.cupy").backend
        count = found.device_count()
    except Exception as error:
        raise RuntimeError(NO_DRIVER.format(error)) from error
    if not count:
        raise RuntimeError(NO_GPU)
    register(found)
    return found

# wrong 12_2_another_reason: no GPU is a driver that fails
def load_cuda():
    try:
        found = import_module("minigrad.backend.cupy").backend
        if not found.device_count():
            raise RuntimeError(NO_GPU)
    except ImportError as error:
        raise RuntimeError(NO_LIBRARY.format(error)) from error
    except RuntimeError as error:
        raise RuntimeError(NO_DRIVER.format(error)) from error
    register(found)
    return found

# wrong 12_2_registered_too_early: registered first, and taken out of one table after
def load_cuda():
    try:
        found = import_module("minigrad.backend.cupy").backend
        register(found)
        count = found.device_count()
    except ImportError as error:
        raise RuntimeError(NO_LIBRARY.format(error)) from error
    except RuntimeError as error:
        DEVICES.pop("cuda", None)
        raise RuntimeError(NO_DRIVER.format(error)) from error
    if not count:
        DEVICES.pop("cuda", None)
        raise RuntimeError(NO_GPU)
    return found

# wrong 12_2_no_cause: the cause is kept as the context alone
def load_cuda():
    try:
        found = import_module("minigrad.backend.cupy").backend
        count = found.device_count()
    except ImportError as error:
        raise RuntimeError(NO_LIBRARY.format(error))
    except RuntimeError as error:
        raise RuntimeError(NO_DRIVER.format(error))
    if not count:
        raise RuntimeError(NO_GPU)
    register(found)
    return found

# wrong -: only ModuleNotFoundError means that the library is missing
def load_cuda():
    try:
        found = import_module("minigrad.backend.cupy").backend
        count = found.device_count()
    except ModuleNotFoundError as error:
        raise RuntimeError(NO_LIBRARY.format(error)) from error
    except RuntimeError as error:
        raise RuntimeError(NO_DRIVER.format(error)) from error
    if not count:
        raise RuntimeError(NO_GPU)
    register(found)
    return found

# wrong -: one GPU is the count that passes
def load_cuda():
    try:
        found = import_module("minigrad.backend.cupy").backend
        count = found.device_count()
    except ImportError as error:
        raise RuntimeError(NO_LIBRARY.format(error)) from error
    except RuntimeError as error:
        raise RuntimeError(NO_DRIVER.format(error)) from error
    if count != 1:
        raise RuntimeError(NO_GPU)
    register(found)
    return found

# wrong 12_2_another_reason: a remembered error is raised again
def failures(known=[]):
    return known

def load_cuda():
    if failures():
        raise failures()[0]
    try:
        found = import_module("minigrad.backend.cupy").backend
        count = found.device_count()
        if not count:
            raise RuntimeError(NO_GPU)
    except ImportError as error:
        failures().append(RuntimeError(NO_LIBRARY.format(error)))
        raise failures()[0] from error
    except RuntimeError as error:
        failures().append(RuntimeError(NO_DRIVER.format(error)))
        raise failures()[0] from error
    register(found)
    return found
