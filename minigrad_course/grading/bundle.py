"""What a graded process gets to see: the package with the learner's files in it, and no original.

The modules that are graded are not swapped by an import hook here; in the copy that the process
sees, the learner's files are the modules, and nothing else of the stage is there.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from ..stages import Stage

__all__ = ["make_bundle"]


def make_bundle(stage: Stage, texts: dict[str, str] | None, folder: Path) -> Path:
    """Make the tree for a graded process in `folder`.

    It holds `site/minigrad`, `tests`, `probes.py`, `probing.py`, `symptoms.py` and `child.py`.
    With `texts` None the package is the original.  The folder `fast` is left out: it would go
    around the code that a learner writes.
    """
    site = folder / "site"
    shutil.copytree(stage.package, site / "minigrad",
                    ignore=shutil.ignore_patterns("fast", "*.pyi"))
    for path in stage.modules if texts is not None else ():
        target = site / "minigrad" / path
        target.unlink()
        for compiled in (target.parent / "__pycache__").glob(f"{target.stem}.*"):
            compiled.unlink()
        assert texts is not None
        if path in texts:
            target.write_text(texts[path], encoding="utf-8")
    tests = folder / "tests"
    tests.mkdir()
    shutil.copy(stage.tests, tests)
    shutil.copy(stage.tests.parents[1] / "_oracle.py", tests)
    (tests / "pytest.ini").write_text(
        "[pytest]\nmarkers =\n    hole(id): the hole of the course that a test is for\n",
        encoding="utf-8")
    shutil.copy(stage.probes, folder / "probes.py")
    shutil.copy(stage.probes.with_name("probing.py"), folder)
    shutil.copy(stage.symptoms, folder / "symptoms.py")
    shutil.copy(Path(__file__).with_name("child.py"), folder)
    for each in (folder, *folder.rglob("*")):  # the graded process may be another user's
        each.chmod(0o755 if each.is_dir() else 0o644)
    return folder
