"""Builds the site twice from the same sources and compares every file: `make site-same`.

The builds differ in what may differ between machines: hash seed, time zone, language, folder.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

__all__ = ["differences"]

ROOT = Path(__file__).resolve().parents[1]
BUILDS = ROOT / "build" / "same"
CIRCUMSTANCES = ({"PYTHONHASHSEED": "1", "TZ": "UTC", "LC_ALL": "C.UTF-8"},
                 {"PYTHONHASHSEED": "2", "TZ": "Pacific/Kiritimati", "LC_ALL": "C"})
AROUND = 60


def differences(first: Path, second: Path) -> Iterator[str]:
    """Yield a line for each file that is in one folder alone, or is not the same in both."""
    files = [{path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
             for folder in (first, second)]
    for path in sorted(files[0] | files[1]):
        if path not in files[0] & files[1]:
            yield f"{path}: only in the {'first' if path in files[0] else 'second'} build"
            continue
        one, other = (folder.joinpath(path).read_bytes() for folder in (first, second))
        if one != other:
            pairs = enumerate(zip(one, other, strict=False))
            place = next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))
            shown = (text[max(0, place - AROUND):place + AROUND] for text in (one, other))
            yield f"{path}: at byte {place}\n    {next(shown)!r}\n    {next(shown)!r}"


def main() -> None:
    """Build twice, and end with what differs."""
    folders = [BUILDS / str(number) for number in (1, 2)]
    for folder, circumstances in zip(folders, CIRCUMSTANCES, strict=True):
        print(f"==> a build into {folder.relative_to(ROOT)}", flush=True)
        subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--clean",
                        "--site-dir", str(folder)], cwd=ROOT, check=True,
                       env=os.environ | {"NO_MKDOCS_2_WARNING": "1"} | circumstances)
    found = list(differences(*folders))
    count = sum(path.is_file() for path in folders[0].rglob("*"))
    if found:
        raise SystemExit("\n".join([*found, f"{len(found)} of {count} files differ"]))
    print(f"{count} files are the same in both builds")


if __name__ == "__main__":
    main()
