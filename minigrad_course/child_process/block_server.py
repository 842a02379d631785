"""Run blocks of code one after another in one long-lived process.

Each line on standard input is a JSON string with the source of a block.  Each line on standard
output is a result.  Standard output is reserved for results, which include what a block prints.
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
    os.dup2(2, 1)  # prints from below Python must not mix with the results
    namespace = types.ModuleType("__main__")
    sys.modules["__main__"] = namespace
    for number, line in enumerate(sys.stdin, 1):
        result = code_blocks.execute_one(json.loads(line), f"<block {number}>", namespace.__dict__)
        answers.write(json.dumps(result) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
