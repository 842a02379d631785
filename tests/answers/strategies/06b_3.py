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
