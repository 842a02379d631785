# right: raise first
def join_written(node, output, index, differentiable, position, live):
    if differentiable:
        refuse_write(output, live)
        output._bump()
        rebase_output(node, output, index, position)
        output._grad = None
        return output
    output._bump()
    return output.detach() if output.requires_grad else output

# wrong 06b_3_refused_too_late: counted before it is refused
def join_written(node, output, index, differentiable, position, live):
    output._bump()
    if differentiable:
        refuse_write(output, live)
        rebase_output(node, output, index, position)
        output._grad = None
        return output
    return output.detach() if output.requires_grad else output

# wrong 06b_3_refuses_too_much: refused in any case
def join_written(node, output, index, differentiable, position, live):
    refuse_write(output, live)
    output._bump()
    if differentiable:
        rebase_output(node, output, index, position)
        output._grad = None
        return output
    return output.detach() if output.requires_grad else output

# wrong 06b_3_constant_detached: detached in any case
def join_written(node, output, index, differentiable, position, live):
    if differentiable:
        refuse_write(output, live)
        output._bump()
        rebase_output(node, output, index, position)
        output._grad = None
        return output
    output._bump()
    return output.detach()

# right: the two cases that raise nothing first
def join_written(node, output, index, differentiable, position, live):
    if not differentiable:
        output._bump()
        if output.requires_grad:
            return output.detach()
        return output
    refuse_write(output, live)
    rebase_output(node, output, index, position)
    output._grad = None
    output._bump()
    if output._view is not None:
        output._view.version = output._version
    return output

# wrong 06b_3_refused_too_late: a refused write costs the gradient
def join_written(node, output, index, differentiable, position, live):
    output._grad = None
    if differentiable:
        refuse_write(output, live)
        output._bump()
        rebase_output(node, output, index, position)
        return output
    output._bump()
    return output.detach() if output.requires_grad else output

# right: the history first, then the count
def join_written(node, output, index, differentiable, position, live):
    if differentiable:
        refuse_write(output, live)
        rebase_output(node, output, index, position)
        output._grad = None
        output._bump()
        return output
    output._bump()
    return output.detach() if output.requires_grad else output

# wrong -: a write that is not recorded is refused for a view among several outputs
def join_written(node, output, index, differentiable, position, live):
    if differentiable or output._view is not None:
        refuse_write(output, live)
    output._bump()
    if differentiable:
        rebase_output(node, output, index, position)
        output._grad = None
        return output
    return output.detach() if output.requires_grad else output
