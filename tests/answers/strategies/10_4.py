# right: recursion over the ancestors
def induced(parent):
    if parent is not None:
        _warn(INDUCED.format(name=parent.name(), trace=_trace(parent) or MADE_WHILE_OFF))
        induced(parent.metadata.get(PARENT))

def warn_of_origin(node):
    trace = _trace(node)
    if trace:
        _warn(CAUSED.format(name=node.name(), trace=trace))
        induced(node.metadata.get(PARENT))
    else:
        _warn(NO_TRACE.format(name=node.name()))

# right: the ancestors in a list first
def warn_of_origin(node):
    family = [node]
    while PARENT in family[-1].metadata:
        family.append(family[-1].metadata[PARENT])
    if TRACEBACK not in node.metadata:
        _warn(NO_TRACE.format(name=node.name()))
        return
    for i, each in enumerate(family):
        sentence = INDUCED if i else CAUSED
        _warn(sentence.format(name=each.name(), trace=_trace(each) or MADE_WHILE_OFF))

# right: one loop, whose sentence changes after the first round
def warn_of_origin(node):
    if not _trace(node):
        _warn(NO_TRACE.format(name=node.name()))
        node = None
    sentence = CAUSED
    while node is not None:
        _warn(sentence.format(trace=_trace(node) or MADE_WHILE_OFF, name=node.name()))
        node, sentence = node.metadata.get(PARENT), INDUCED

# right: all texts first, and a walk that ends where a node comes again
def texts(node):
    yield CAUSED.format(name=node.name(), trace=_trace(node))
    seen, parent = {node}, node.metadata.get(PARENT)
    while parent is not None and parent not in seen:
        seen.add(parent)
        yield INDUCED.format(name=parent.name(), trace=_trace(parent) or MADE_WHILE_OFF)
        parent = parent.metadata.get(PARENT)

def warn_of_origin(node):
    for text in list(texts(node)) if _trace(node) else [NO_TRACE.format(name=node.name())]:
        _warn(text)

# wrong 10_4_silent_parent_unexplained: a parent without a trace is reported like a node without one
def warn_of_origin(node):
    sentence = CAUSED
    while node is not None:
        trace = _trace(node)
        _warn(sentence.format(name=node.name(), trace=trace) if trace
              else NO_TRACE.format(name=node.name()))
        if not trace and sentence is CAUSED:
            return
        node, sentence = node.metadata.get(PARENT), INDUCED

# wrong 10_4_stops_at_a_parent_without_trace: each warning is called for by a recursion that fails the parent
def warn_of_origin(node):
    trace = _trace(node)
    if not trace:
        _warn(NO_TRACE.format(name=node.name()))
        return
    _warn(CAUSED.format(name=node.name(), trace=trace))
    parent = node.metadata.get(PARENT)
    if parent is not None:
        warn_of_origin(parent)

# wrong 10_4_same_name_for_all: the sentence names the child that a parent induced
def warn_of_origin(node):
    if not _trace(node):
        _warn(NO_TRACE.format(name=node.name()))
        return
    _warn(CAUSED.format(name=node.name(), trace=_trace(node)))
    while (parent := node.metadata.get(PARENT)) is not None:
        _warn(INDUCED.format(name=node.name(), trace=_trace(parent) or MADE_WHILE_OFF))
        node = parent

# wrong -: the same report is not repeated
def warn_of_origin(node):
    if not _trace(node):
        _warn(NO_TRACE.format(name=node.name()))
        return
    _warn(CAUSED.format(name=node.name(), trace=_trace(node)))
    parent, told = node.metadata.get(PARENT), set()
    while parent is not None:
        if parent.name() not in told:
            _warn(INDUCED.format(name=parent.name(), trace=_trace(parent) or MADE_WHILE_OFF))
        told.add(parent.name())
        parent = parent.metadata.get(PARENT)

# wrong -: a parent's trace is missing where its last line is
def warn_of_origin(node):
    if not _trace(node):
        _warn(NO_TRACE.format(name=node.name()))
        return
    _warn(CAUSED.format(name=node.name(), trace=_trace(node)))
    parent = node.metadata.get(PARENT)
    while parent is not None:
        lines = parent.metadata.get(TRACEBACK, [MADE_WHILE_OFF])
        _warn(INDUCED.format(name=parent.name(), trace=lines[-1]))
        parent = parent.metadata.get(PARENT)

# wrong -: the walk ends before the last ancestor
def warn_of_origin(node):
    if not _trace(node):
        _warn(NO_TRACE.format(name=node.name()))
        return
    _warn(CAUSED.format(name=node.name(), trace=_trace(node)))
    parent = node.metadata.get(PARENT)
    while parent is not None and (parent.metadata.get(PARENT) or _trace(parent)):
        _warn(INDUCED.format(name=parent.name(), trace=_trace(parent) or MADE_WHILE_OFF))
        parent = parent.metadata.get(PARENT)

# wrong -: a node without a trace is explained by the trace of its parent
def warn_of_origin(node):
    parent = node.metadata.get(PARENT)
    if not _trace(node) and not (parent and _trace(parent)):
        _warn(NO_TRACE.format(name=node.name()))
        return
    _warn(CAUSED.format(name=node.name(), trace=_trace(node) or MADE_WHILE_OFF))
    while parent is not None:
        _warn(INDUCED.format(name=parent.name(), trace=_trace(parent) or MADE_WHILE_OFF))
        parent = parent.metadata.get(PARENT)

# wrong 10_4_points_into_the_package: Python's own warning, from here
def warn_of_origin(node):
    if not _trace(node):
        warnings.warn(NO_TRACE.format(name=node.name()))
        return
    warnings.warn(CAUSED.format(name=node.name(), trace=_trace(node)))
    parent = node.metadata.get(PARENT)
    while parent is not None:
        warnings.warn(INDUCED.format(name=parent.name(), trace=_trace(parent) or MADE_WHILE_OFF))
        parent = parent.metadata.get(PARENT)

# wrong -: an ancestor is reported only if it belongs to another forward call
def warn_of_origin(node):
    if not _trace(node):
        _warn(NO_TRACE.format(name=node.name()))
        return
    _warn(CAUSED.format(name=node.name(), trace=_trace(node)))
    while (parent := node.metadata.get(PARENT)) is not None:
        if _trace(parent) != _trace(node):
            _warn(INDUCED.format(name=parent.name(), trace=_trace(parent) or MADE_WHILE_OFF))
        node = parent
