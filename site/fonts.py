"""Typefaces, copied from npm's packages: one file each, of the characters that pages use."""

from __future__ import annotations

import shutil
from pathlib import Path

__all__ = ["copy_fonts"]

PACKAGES = Path(__file__).parent / "node_modules" / "@fontsource-variable"
#: The name in the site, and the file in the package.
FILES = {
    "source-serif": "source-serif-4/files/source-serif-4-latin-wght-normal.woff2",
    "source-serif-italic": "source-serif-4/files/source-serif-4-latin-wght-italic.woff2",
    "source-sans": "source-sans-3/files/source-sans-3-latin-wght-normal.woff2",
    "jetbrains-mono": "jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2",
}


def copy_fonts(to: Path) -> None:
    """Copy the fonts that `fonts.css` names into the folder `to`."""
    to.mkdir(parents=True, exist_ok=True)
    for name, file in FILES.items():
        if not (PACKAGES / file).exists():
            raise FileNotFoundError(f"{PACKAGES / file} is missing: `make site` puts it there")
        shutil.copyfile(PACKAGES / file, to / f"{name}.woff2")
