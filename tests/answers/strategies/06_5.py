def check_recorded(tensor):
    if not tensor.requires_grad:
        return
    view = tensor._view
    if view is not None:
        view.refuse(tensor)
        if view.base._node is None:
            raise RuntimeError(VIEW_OF_LEAF_WRITTEN)
    elif tensor._node is None:
        raise RuntimeError(LEAF_WRITTEN)

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

# right: the tensor that a write would change
def check_recorded(tensor):
    view, written = tensor._view, tensor
    if view is not None:
        view.refuse(tensor)
        written = view.base
    if written._node is None and written.requires_grad:
        raise RuntimeError(LEAF_WRITTEN if view is None else VIEW_OF_LEAF_WRITTEN)

# right: by whether the tensor requires grad, once its creation is known
def check_recorded(tensor):
    if tensor._view is not None:
        tensor._view.refuse(tensor)
    if not tensor.requires_grad:
        return None
    if tensor._view is not None and tensor._view.base._node is None:
        raise RuntimeError(VIEW_OF_LEAF_WRITTEN)
    if tensor._view is None and tensor._node is None:
        raise RuntimeError(LEAF_WRITTEN)

# right: a pair of tensor and message
def check_recorded(tensor):
    view = tensor._view
    if view is None:
        source, message = tensor, LEAF_WRITTEN
    else:
        view.refuse(tensor)
        source, message = view.base, VIEW_OF_LEAF_WRITTEN
    if source.is_leaf and source.requires_grad:
        raise RuntimeError(message)

# wrong 06_5_creation_asked_only_with_gradient: what requires no grad may always be written to
# These are the functions above.

# wrong 06_5_creation_unasked: every creation but the default is refused for views of leaves alone
def check_recorded(tensor):
    view = tensor._view
    if view is not None:
        if view.base._node is None and view.base.requires_grad:
            view.refuse(tensor)
            raise RuntimeError(VIEW_OF_LEAF_WRITTEN)
        return
    if tensor._node is None and tensor.requires_grad:
        raise RuntimeError(LEAF_WRITTEN)

# wrong 06_5_texts_exchanged: the base is checked as a tensor is
def check_recorded(tensor):
    view = tensor._view
    if view is not None:
        view.refuse(tensor)
        check_recorded(view.base)
    elif tensor._node is None and tensor.requires_grad:
        raise RuntimeError(LEAF_WRITTEN)

# wrong -: a view whose base was written to is told apart by the version
def check_recorded(tensor):
    view = tensor._view
    if view is not None:
        view.refuse(tensor)
        if view.version != view.version_now(tensor):
            view.refuse(tensor, indirect=True)
            raise RuntimeError(VIEW_OF_LEAF_WRITTEN)
        if view.base._node is None and view.base.requires_grad:
            raise RuntimeError(VIEW_OF_LEAF_WRITTEN)
    elif tensor._node is None and tensor.requires_grad:
        raise RuntimeError(LEAF_WRITTEN)

# wrong 06_5_view_of_leaf_accepted: a view has a node, or else it is a leaf
def check_recorded(tensor):
    view = tensor._view
    if view is not None:
        view.refuse(tensor)
        if tensor._node is None and view.base._node is None and view.base.requires_grad:
            raise RuntimeError(VIEW_OF_LEAF_WRITTEN)
    elif tensor._node is None and tensor.requires_grad:
        raise RuntimeError(LEAF_WRITTEN)

# wrong 06_5_own_flag_alone: a view's own flag
def check_recorded(tensor):
    view = tensor._view
    if view is not None:
        view.refuse(tensor)
    if not tensor._requires_grad:
        return
    if view is not None and view.base._node is None:
        raise RuntimeError(VIEW_OF_LEAF_WRITTEN)
    if tensor._node is None:
        raise RuntimeError(LEAF_WRITTEN)
