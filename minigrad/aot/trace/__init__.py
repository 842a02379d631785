"""Record one call of a function, and the engine's backward pass, as a list of steps.

    arrays.py     arrays that record the operations on them; backend.py runs those
    steps.py      the steps so far; memory.py: what a write changes
    recording.py  the interceptor that sees each op; formulas.py: steps that aren't a single op
    joint.py      the backward pass
    record.py     one call, from the arguments to a finished program
"""
