"""`python -m tests.release`: build wheel and source archive, check both, and try each of them."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from .clean import ROOT, CleanEnvironment, run


def main() -> None:
    options = read_options()
    shutil.rmtree(options.dist, ignore_errors=True)
    print("==> building the source archive, and the wheel from it", flush=True)
    run([sys.executable, "-m", "build", "--no-isolation", "--outdir", str(options.dist)], ROOT)
    archives = sorted(options.dist.iterdir())
    print("==> checking what the index will show", flush=True)
    print(run([sys.executable, "-m", "twine", "check", "--strict", *map(str, archives)], ROOT))
    for archive in archives:
        with tempfile.TemporaryDirectory(prefix="release-") as folder:
            attempt(archive, Path(folder).resolve(), options.jobs)
    for archive in archives:
        print(f"{archive.relative_to(ROOT)}: {archive.stat().st_size:,} bytes")


def attempt(archive: Path, folder: Path, jobs: int) -> None:
    """Install an archive into a clean environment; run the example and the quick tests there."""
    print(f"==> {archive.name}: alone, in a clean environment", flush=True)
    made = CleanEnvironment(folder, sys.executable)
    made.install(str(archive))
    made.readme_example()
    print(f"==> {archive.name}: its quick tests", flush=True)
    made.install(f"{archive}[test]", constraints=ROOT / "constraints.txt")
    made.output("-m", "minigrad_course", "--help")
    made.quick_tests(jobs)


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.release", description=__doc__)
    parser.add_argument("--dist", type=Path, default=ROOT / "dist", help="where the archives go")
    parser.add_argument("--jobs", type=int, default=2, help="processes that test")
    return parser.parse_args()


if __name__ == "__main__":
    main()
