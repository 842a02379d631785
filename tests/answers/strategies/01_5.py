# right: step by step
class Function:
    def _record(cls, args, kwargs):
        node = cls._backward_cls()
        node._are_tensors = tuple(isinstance(each, Tensor) for each in args)
        node.needs_input_grad = tuple(isinstance(each, Tensor) and each.requires_grad for each in args)
        tensors = [each for each in args if isinstance(each, Tensor)]
        mode = _state.grad_enabled.get()
        recorded = mode and any(node.needs_input_grad)
        if recorded:
            assign_sequence_nr(node)
            node.set_edges([each._edge() for each in tensors])
        _state.grad_enabled.set(False)
        try:
            outputs = cls._call_forward(node, args, kwargs)
        finally:
            _state.grad_enabled.set(mode)
        return node, cls._joined(node, tensors, outputs, recorded)

# wrong -: a tensor among the keyword arguments counts
class Function:
    def _record(cls, args, kwargs):
        node = cls._backward_cls()
        everything = (*args, *kwargs.values())
        node._are_tensors = tuple(isinstance(each, Tensor) for each in args)
        node.needs_input_grad = tuple(isinstance(each, Tensor) and each.requires_grad for each in args)
        tensors = [each for each in args if isinstance(each, Tensor)]
        mode = _state.grad_enabled.get()
        recorded = mode and any(isinstance(each, Tensor) and each.requires_grad for each in everything)
        if recorded:
            assign_sequence_nr(node)
            node.set_edges([each._edge() for each in tensors])
        _state.grad_enabled.set(False)
        try:
            outputs = cls._call_forward(node, args, kwargs)
        finally:
            _state.grad_enabled.set(mode)
        return node, cls._joined(node, tensors, outputs, recorded)

# wrong -: without a recorded call, no input needs a gradient
class Function:
    def _record(cls, args, kwargs):
        mode = _state.grad_enabled.get()
        node = cls._backward_cls()
        node._are_tensors = tuple(isinstance(each, Tensor) for each in args)
        node.needs_input_grad = tuple(mode and isinstance(each, Tensor) and each.requires_grad for each in args)
        tensors = [each for each in args if isinstance(each, Tensor)]
        recorded = any(node.needs_input_grad)
        if recorded:
            assign_sequence_nr(node)
            node.set_edges([each._edge() for each in tensors])
        _state.grad_enabled.set(False)
        try:
            outputs = cls._call_forward(node, args, kwargs)
        finally:
            _state.grad_enabled.set(mode)
        return node, cls._joined(node, tensors, outputs, recorded)

# wrong -: tensors inside of lists are inputs too
class Function:
    def _record(cls, args, kwargs):
        node = cls._backward_cls()
        node._are_tensors = tuple(isinstance(each, Tensor) for each in args)
        node.needs_input_grad = tuple(isinstance(each, Tensor) and each.requires_grad for each in args)
        tensors = [each for each in args if isinstance(each, Tensor)]
        inside = [t for each in args if isinstance(each, (list, tuple)) for t in each if isinstance(t, Tensor)]
        mode = _state.grad_enabled.get()
        recorded = mode and (any(node.needs_input_grad) or any(t.requires_grad for t in inside))
        if recorded:
            assign_sequence_nr(node)
            node.set_edges([each._edge() for each in tensors])
        _state.grad_enabled.set(False)
        try:
            outputs = cls._call_forward(node, args, kwargs)
        finally:
            _state.grad_enabled.set(mode)
        return node, cls._joined(node, tensors, outputs, recorded)

# wrong -: the mode is restored only after an Exception
class Function:
    def _record(cls, args, kwargs):
        node = cls._backward_cls()
        node._are_tensors = tuple(isinstance(each, Tensor) for each in args)
        node.needs_input_grad = tuple(isinstance(each, Tensor) and each.requires_grad for each in args)
        tensors = [each for each in args if isinstance(each, Tensor)]
        mode = _state.grad_enabled.get()
        recorded = mode and any(node.needs_input_grad)
        if recorded:
            assign_sequence_nr(node)
            node.set_edges([each._edge() for each in tensors])
        _state.grad_enabled.set(False)
        try:
            outputs = cls._call_forward(node, args, kwargs)
        except Exception:
            _state.grad_enabled.set(mode)
            raise
        _state.grad_enabled.set(mode)
        return node, cls._joined(node, tensors, outputs, recorded)
