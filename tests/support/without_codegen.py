"""Copies the tree without generated functions: `python tests/support/without_codegen.py TARGET`.

What is copied is what git knows or would add.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REMOVED = ("minigrad/codegen", "tests/codegen")


def copy(target: Path) -> None:
    """Make `target` anew: the repository's files but for `REMOVED`."""
    if target.exists():
        shutil.rmtree(target)
    listed = subprocess.run(["git", "ls-files", "-coz", "--exclude-standard"], cwd=ROOT, check=True,
                            stdout=subprocess.PIPE, text=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file() and not name.startswith(tuple(f"{each}/" for each in REMOVED)):
            place = target / name
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, place)


if __name__ == "__main__":
    copy(Path(sys.argv[1]).resolve())
