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
