def is_ours(names):
    name = names.get("__name__") or ""
    return name == _PACKAGE or name.startswith(f"{_PACKAGE}.")


def user_frame():
    caller = frame = sys._getframe(1)
    depth = 1
    while is_internal(frame):
        frame = frame.f_back
        depth += 1
        if frame is None:
            return caller, 1
    return frame, depth

# right: the first part of the name
def is_ours(names):
    return names.get("__name__", "").split(".")[0] == _PACKAGE

# right: a dot behind both names
def is_ours(names):
    return (names.get("__name__", "") + ".").startswith(_PACKAGE + ".")

# right: a loop over the depths
def user_frame():
    try:
        depth = 1
        while is_internal(sys._getframe(depth)):
            depth += 1
        return sys._getframe(depth), depth
    except ValueError:
        return sys._getframe(1), 1

# right: the whole stack in a list first
def user_frame():
    stack = []
    frame = sys._getframe(1)
    while frame:
        stack.append(frame)
        frame = frame.f_back
    for i, frame in enumerate(stack):
        if not is_internal(frame):
            return frame, i + 1
    return stack[0], 1

# right: a generator of frames and depths, with a default
def walk(frame, depth=1):
    while frame is not None:
        yield frame, depth
        frame, depth = frame.f_back, depth + 1

def user_frame():
    caller = sys._getframe(1)
    return next((pair for pair in walk(caller) if not is_internal(pair[0])), (caller, 1))

# right: recursion from frame to frame
def outwards(frame, depth):
    if frame is None or not is_internal(frame):
        return frame, depth
    return outwards(frame.f_back, depth + 1)

def user_frame():
    caller = sys._getframe(1)
    frame, depth = outwards(caller, 1)
    return (frame, depth) if frame is not None else (caller, 1)

# wrong -: a part of the name, anywhere, is the package's
def is_ours(names):
    return _PACKAGE in names.get("__name__", "").split(".")

# wrong -: two parts of the name are taken off
def is_ours(names):
    name = names.get("__name__", "")
    return name == _PACKAGE or name.rpartition(".")[0] == _PACKAGE

# wrong 10_1_begins_alike: a regular expression with a word boundary
import re

def is_ours(names):
    return re.match(rf"{_PACKAGE}\b|{_PACKAGE}[a-z]", names.get("__name__", "")) is not None

# wrong -: the module is looked up among those that are loaded
def is_ours(names):
    name = names.get("__name__", "")
    return name in sys.modules and name.split(".")[0] == _PACKAGE

# wrong -: the file's folder is compared
def is_ours(names):
    import os
    return os.sep + _PACKAGE + os.sep in (names.get("__file__") or "")

# wrong -: the package's frames are counted, wherever they are
def user_frame():
    caller = frame = sys._getframe(1)
    found, depth = None, 1
    while frame is not None:
        if is_internal(frame):
            depth += 1
        elif found is None:
            found = frame
        frame = frame.f_back
    return (caller, 1) if found is None else (found, depth)

# wrong -: the frame outside the outermost one of the package
def user_frame():
    caller = frame = sys._getframe(1)
    found, depth, best = caller, 1, 1
    while frame is not None:
        if is_internal(frame) and frame.f_back is not None and not is_internal(frame.f_back):
            found, best = frame.f_back, depth + 1
        frame, depth = frame.f_back, depth + 1
    return found, best

# wrong -: without a user, the outermost frame
def user_frame():
    frame, depth = sys._getframe(1), 1
    while is_internal(frame) and frame.f_back is not None:
        frame, depth = frame.f_back, depth + 1
    return frame, depth

# wrong -: without a user, the caller with the depth of the end
def user_frame():
    caller = frame = sys._getframe(1)
    depth = 1
    while frame is not None and is_internal(frame):
        frame, depth = frame.f_back, depth + 1
    return frame or caller, depth

# wrong 10_1_caller_is_skipped: the walk begins at the caller's caller
def user_frame():
    caller = sys._getframe(1)
    frame, depth = caller.f_back, 2
    while frame is not None and is_internal(frame):
        frame, depth = frame.f_back, depth + 1
    return (caller, 1) if frame is None else (frame, depth)

# wrong -: depth counts functions, so a function that calls itself counts once
def user_frame():
    caller = frame = sys._getframe(1)
    depth, seen = 1, set()
    while frame is not None and is_internal(frame):
        seen.add(frame.f_code)
        depth = len(seen) + 1
        frame = frame.f_back
    return (caller, 1) if frame is None else (frame, depth)
