"""How much code runs between `x * y` and `x.grad`: calls, files, and lines of the functions called.

    python benchmarks/path_length.py            # without fast/, the path that is taught
    python benchmarks/path_length.py --fast     # as users have it

Lines are those with code in them: no comments, no docstrings.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from types import CodeType, FrameType


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--fast", action="store_true", help="with fast/, as users have it")
    if not options.parse_args().fast:
        os.environ["MINIGRAD_GENERIC"] = "1"
    import minigrad as torch

    x, y = (torch.tensor([1.0, 2.0, 3.0], requires_grad=True) for _ in range(2))
    for _ in range(2):  # what is set up once, at the first call, is not counted
        (x * y).sum().backward()
    calls: list[CodeType] = []
    package = str(Path(torch.__file__).parent)

    def count(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(package):
            calls.append(frame.f_code)

    sys.setprofile(count)
    try:
        (x * y).sum().backward()
    finally:
        sys.setprofile(None)
    lines = {(code.co_filename, line) for code in calls for _, _, line in code.co_lines() if line}
    print(f"{len(calls)} calls in {len({code.co_filename for code in calls})} files; "
          f"{len(lines)} lines in {len(set(calls))} functions")


if __name__ == "__main__":
    main()
