# right: one loop over all inputs
def check_inputs(inputs):
    if not differentiable(inputs):
        raise ValueError(NOTHING_TO_CHECK)
    for i, x in enumerate(inputs):
        if not isinstance(x, Tensor) or not x.requires_grad:
            continue
        if x._array.dtype != np.float64:
            warn_of_precision(i)
        if any(n > 1 and step == 0 for n, step in zip(x._array.shape, x._array.strides)):
            raise overlap_error(i)

# right: all warnings first, and the error for nothing last
def check_inputs(inputs):
    live = [(i, x) for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad]
    for i, x in live:
        if str(x.dtype) != "torch.float64":
            warn_of_precision(i)
    for i, x in live:
        if 0 in [step for step, n in zip(x.stride(), x.shape) if n > 1]:
            raise overlap_error(i)
    if not live:
        raise ValueError(NOTHING_TO_CHECK)

# right: elements with the same address are counted
def check_inputs(inputs):
    seen = 0
    for i, x in enumerate(inputs):
        if isinstance(x, Tensor) and x.requires_grad:
            seen += 1
            if x._array.dtype != "float64":
                warn_of_precision(i)
            addresses = {sum(a * b for a, b in zip(index, x._array.strides))
                         for index in np.ndindex(x._array.shape)}
            if len(addresses) < x._array.size:
                raise overlap_error(i)
    if seen == 0:
        raise ValueError(NOTHING_TO_CHECK)

# wrong 09_4_warns_of_float32_alone: only float32 is warned of
def check_inputs(inputs):
    if not differentiable(inputs):
        raise ValueError(NOTHING_TO_CHECK)
    for i, x in enumerate(inputs):
        if not isinstance(x, Tensor) or not x.requires_grad:
            continue
        if x._array.dtype == np.float32:
            warn_of_precision(i)
        if any(n > 1 and step == 0 for n, step in zip(x._array.shape, x._array.strides)):
            raise overlap_error(i)

# wrong 09_4_refuses_other_strides: an input has to be contiguous
def check_inputs(inputs):
    if not differentiable(inputs):
        raise ValueError(NOTHING_TO_CHECK)
    for i, x in enumerate(inputs):
        if not isinstance(x, Tensor) or not x.requires_grad:
            continue
        if x._array.dtype != np.float64:
            warn_of_precision(i)
        if not x.is_contiguous():
            raise overlap_error(i)

# wrong -: an input is found again by its position among those that require grad
def check_inputs(inputs):
    live = differentiable(inputs)
    if not live:
        raise ValueError(NOTHING_TO_CHECK)
    for x in live:
        i = [each is x for each in inputs].index(True)
        if x._array.dtype != np.float64:
            warn_of_precision(i)
        if any(n > 1 and step == 0 for n, step in zip(x._array.shape, x._array.strides)):
            raise overlap_error(i)

# wrong 09_4_overlapping_passes: the last dimension alone can overlap
def check_inputs(inputs):
    if not differentiable(inputs):
        raise ValueError(NOTHING_TO_CHECK)
    for i, x in enumerate(inputs):
        if not isinstance(x, Tensor) or not x.requires_grad:
            continue
        if x._array.dtype != np.float64:
            warn_of_precision(i)
        if x.dim() and x.shape[-1] > 1 and x.stride()[-1] == 0:
            raise overlap_error(i)
