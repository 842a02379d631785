# right: the base of the base
def link_to_base(result, base, creation):
    earlier = base._view
    counter = base._shared_counter()
    result._counter = counter
    if earlier is not None:
        base = earlier.base
        if creation == 0:
            creation = earlier.creation
    result._view = ViewInfo(base, creation, counter.value)

# wrong 06_4_base_is_a_view: a view of a view knows the view
def link_to_base(result, base, creation):
    result._counter = base._shared_counter()
    if base._view is not None and creation == 0:
        creation = base._view.creation
    result._view = ViewInfo(base, creation, result._counter.value)

# wrong 06_4_old_version: the version is that for which the base's own node is right
def link_to_base(result, base, creation):
    counter = result._counter = base._shared_counter()
    version = counter.value
    if base._view is not None:
        version = base._view.version
        creation = creation or base._view.creation
        base = base._view.base
    result._view = ViewInfo(base, creation, version)

# wrong 06_4_old_creation_first: the base's creation wins
def link_to_base(result, base, creation):
    counter = result._counter = base._shared_counter()
    if base._view is not None:
        creation = base._view.creation or creation
        base = base._view.base
    result._view = ViewInfo(base, creation, counter.value)

# right: up to the base of all, in a loop
def link_to_base(result, base, creation):
    while base._view is not None:
        if creation == DEFAULT:
            creation = base._view.creation
        base = base._view.base
    result._counter = base._shared_counter()
    result._view = ViewInfo(base, creation, result._counter.value)

# right: two cases
def link_to_base(result, base, creation):
    counter = base._shared_counter()
    if base._view is None:
        info = ViewInfo(base, creation, counter.value)
    else:
        first = base._view
        kept = first.creation if creation == DEFAULT else creation
        info = ViewInfo(first.base, kept, version_of(base))
    result._counter, result._view = counter, info

# right: as a view of the base itself, once the creation is known
def link_to_base(result, base, creation):
    old = base._view
    if old is not None:
        return link_to_base(result, old.base, creation or old.creation)
    result._counter = base._shared_counter()
    result._view = ViewInfo(base, creation, version_of(result))

# wrong -: a view of a view shares what its base knows
def link_to_base(result, base, creation):
    counter = result._counter = base._shared_counter()
    if base._view is not None and creation == DEFAULT:
        base._view.version = counter.value
        result._view = base._view
    elif base._view is not None:
        result._view = ViewInfo(base._view.base, creation, counter.value)
    else:
        result._view = ViewInfo(base, creation, counter.value)

# wrong -: the greater creation wins
def link_to_base(result, base, creation):
    counter = result._counter = base._shared_counter()
    if base._view is not None:
        creation = max(creation, base._view.creation)
        base = base._view.base
    result._view = ViewInfo(base, creation, counter.value)

# wrong 06_4_first_write_unseen: whatever counter the base has
def link_to_base(result, base, creation):
    result._counter = base._counter
    if base._view is not None:
        creation = creation or base._view.creation
        base = base._view.base
    result._view = ViewInfo(base, creation, version_of(result))

# wrong 06_4_own_counter: a counter that begins where the base's is
def link_to_base(result, base, creation):
    result._counter = copy(base._shared_counter())
    if base._view is not None:
        creation = creation or base._view.creation
        base = base._view.base
    result._view = ViewInfo(base, creation, result._counter.value)

from copy import copy

# wrong 06_4_counts_as_a_write: the counter of the base of all, as it is
def link_to_base(result, base, creation):
    if base._view is not None:
        creation = creation or base._view.creation
        base = base._view.base
    if base._counter is None:
        base._counter = result._shared_counter()
    result._counter = base._counter
    result._view = ViewInfo(base, creation, base._counter.bump() or base._counter.value)
