"""`torch.compile`: record forward and backward as one program, cut it in two, and run it.

The folder is named after `torch/_functorch/aot_autograd.py`, which does the same in PyTorch.  AOT
means "ahead of time": the backward pass is recorded before the program first runs it.  Read the
files in the order of the work:

    guards/       what must be the same in a later call, so that the program is right for it
    trace/        one call of the function, and the engine's backward pass, as a list of steps
    program.py    that list; steps that are needed, and steps that repeat an earlier one
    lowering/     ops as the NumPy calls that they make, so that both passes share the equal ones
    partition.py  which values the forward pass saves, and which are computed again
    flow.py       the cheapest such choice
    buffers.py    when a value dies, and which result takes over its memory
    emit.py       each half as a Python function of arrays; direct.py: steps as expressions
    results.py    copies of results that would share memory, and views of results
    compiled.py   running them: tensors, writes, another recording; node.py: the node in the graph
"""
