"""A differential fuzzer: random programs run by minigrad and by PyTorch, and what differs.

A program is a list of lines, each a statement of Python that both libraries understand.  So it
prints as itself, is shortened by leaving lines out, and is kept as a test by pasting it.

    python -m tests.fuzz --seed 1 --programs 1000     # or `make fuzz`
"""
