"""Run blocks of code one after the other in one process that outlives each of them.

Each line on standard input is a JSON text, the source of a block; each line on standard output is
its result.  Standard output itself is kept for that: text that a block prints is in the result.
"""

from __future__ import annotations

import json
import os
import sys
import types

from minigrad_course.child_process import code_blocks


def main() -> None:
    """Run blocks until the input ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # code below Python that prints does not spoil the answers
    namespace = types.ModuleType("__main__")
    sys.modules["__main__"] = namespace
    for number, line in enumerate(sys.stdin, 1):
        result = code_blocks.execute_one(json.loads(line), f"<block {number}>", namespace.__dict__)
        answers.write(json.dumps(result) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
