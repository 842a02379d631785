# right: one question for both conditions, and a list
def once_differentiable(fn):
    @functools.wraps(fn)
    def wrapper(ctx, *grads):
        with no_grad():
            made = fn(ctx, *grads)
        recorded = _state.grad_enabled.get() and any(
            getattr(g, "requires_grad", False) for g in grads)
        if not recorded:
            return made
        single = not isinstance(made, tuple)
        each = [None if one is None else one.detach() for one in ((made,) if single else made)]
        for one in each:
            if one is not None:
                one.requires_grad_(True)
        return DelayedError(TWICE, len(each))(*each)

    return wrapper

# right: the mode is switched by hand
def once_differentiable(fn):
    def wrapper(*args):
        before = _state.grad_enabled.get()
        _state.grad_enabled.set(False)
        try:
            results = fn(*args)
        finally:
            _state.grad_enabled.set(before)
        for g in args[1:]:
            if isinstance(g, Tensor) and g.requires_grad and before:
                break
        else:
            return results
        if isinstance(results, tuple):
            return DelayedError(TWICE, len(results))(
                *[r if r is None else r.detach().requires_grad_() for r in results])
        return DelayedError(TWICE, 1)(results.detach().requires_grad_())

    return functools.update_wrapper(wrapper, fn)

# right: DelayedError is left to look at the mode
def once_differentiable(fn):
    @functools.wraps(fn)
    def wrapper(ctx, *args):
        with no_grad():
            outputs = fn(ctx, *args)
        if all(a is None or not a.requires_grad for a in args):
            return outputs
        several = outputs if type(outputs) is tuple else (outputs,)
        return DelayedError(TWICE, len(several))(
            *(o if o is None else o.detach().requires_grad_() for o in several))

    return wrapper

# wrong 06b_6_silent: detached and nothing else
def once_differentiable(fn):
    @functools.wraps(fn)
    def wrapper(ctx, *args):
        with no_grad():
            return fn(ctx, *args)

    return wrapper

# wrong 06b_6_always: an error whenever the pass is recorded
def once_differentiable(fn):
    @functools.wraps(fn)
    def wrapper(ctx, *args):
        with no_grad():
            outputs = fn(ctx, *args)
        several = outputs if isinstance(outputs, tuple) else (outputs,)
        return DelayedError(TWICE, len(several))(
            *(None if o is None else o.detach().requires_grad_() for o in several))

    return wrapper

# wrong 06b_6_at_once: raising where the second derivative is first possible
def once_differentiable(fn):
    @functools.wraps(fn)
    def wrapper(ctx, *args):
        if _state.grad_enabled.get() and any(a is not None and a.requires_grad for a in args):
            raise RuntimeError(TWICE)
        return fn(ctx, *args)

    return wrapper

# wrong 06b_6_recorded: the inputs are detached in place of the mode
def once_differentiable(fn):
    @functools.wraps(fn)
    def wrapper(ctx, *args):
        outputs = fn(ctx, *args)
        if not _state.grad_enabled.get() or not any(
                isinstance(a, Tensor) and a.requires_grad for a in args):
            return outputs
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        return DelayedError(TWICE, len(outputs))(
            *(None if o is None else o.detach().requires_grad_() for o in outputs))

    return wrapper

# wrong 06b_6_silent: a node for tensors that require no grad
def once_differentiable(fn):
    @functools.wraps(fn)
    def wrapper(ctx, *args):
        with no_grad():
            outputs = fn(ctx, *args)
        if not any(isinstance(a, Tensor) and a.requires_grad for a in args):
            return outputs
        several = outputs if isinstance(outputs, tuple) else (outputs,)
        return DelayedError(TWICE, len(several))(*several)

    return wrapper

# wrong 06b_6_asked_for_its_value: `and` in place of a look for None
def once_differentiable(fn):
    @functools.wraps(fn)
    def wrapper(ctx, *args):
        with no_grad():
            outputs = fn(ctx, *args)
        if not any(isinstance(a, Tensor) and a.requires_grad for a in args):
            return outputs
        several = outputs if isinstance(outputs, tuple) else (outputs,)
        return DelayedError(TWICE, len(several))(
            *(r and r.detach().requires_grad_() for r in several))

    return wrapper
