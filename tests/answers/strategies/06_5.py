# right: the view first, then the tensor itself
def check_recorded(tensor):
    view = tensor._view
    if view is not None:
        view.refuse(tensor)
        if view.base.requires_grad and view.base._node is None:
            raise RuntimeError(VIEW_OF_LEAF_WRITTEN)
        return
    if tensor.requires_grad and tensor._node is None:
        raise RuntimeError(LEAF_WRITTEN)

# wrong 06_5_plain_refused: leaves are recognized by is_leaf alone
def check_recorded(tensor):
    view = tensor._view
    if view is not None:
        view.refuse(tensor)
        if view.base._node is None:
            raise RuntimeError(VIEW_OF_LEAF_WRITTEN)
    elif tensor._node is None:
        raise RuntimeError(LEAF_WRITTEN)

# wrong 06_5_creation_asked_last: a view is refused after its base was looked at
def check_recorded(tensor):
    view = tensor._view
    if view is not None:
        if tensor.requires_grad and view.base._node is None:
            raise RuntimeError(VIEW_OF_LEAF_WRITTEN)
        view.refuse(tensor)
    elif tensor.requires_grad and tensor._node is None:
        raise RuntimeError(LEAF_WRITTEN)

# wrong 06_5_view_of_leaf_accepted: only the tensor itself is looked at
def check_recorded(tensor):
    if tensor._view is not None:
        tensor._view.refuse(tensor)
    if tensor.requires_grad and tensor._node is None:
        raise RuntimeError(LEAF_WRITTEN)
