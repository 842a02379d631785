"""Writes the service worker: what keeps the site usable offline, and makes Stop quick anywhere.

The built file is service_worker.js with three constants in front; its bytes change when a file that
it keeps does, and browsers then install it anew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

__all__ = ["FILES", "PYTHON", "kept", "write_service_worker"]

NAME = "service_worker.js"
SOURCE = Path(__file__).with_name(NAME)

#: What is kept as soon as the site is first visited.
FILES = ("index.html", "course/index.html", "lessons/**/index.html", "exercises/**/index.html",
         "glossary/index.html", "error_messages/index.html", "grad_is_none/index.html", "404.html",
         "503.html", "*.css", "*.js", "assets/favicon.svg", "assets/fonts/*.woff2",
         "assets/katex/**/*.*", "assets/stylesheets/*.css", "assets/javascripts/*.js",
         "widgets/*.js", "runtime/*.css", "runtime/[!v]*.js", "runtime/verdict.js",
         "runtime/holes.json", "runtime/course.json", "runtime/stages/*.json")
#: What is kept once Python has run, besides what the manifest of the runtime names.
PYTHON = ("runtime/manifest.json", "runtime/viz.js", "runtime/pyodide/*")


def kept(built: Path, patterns: Iterable[str]) -> list[Path]:
    """Return the files of a built site that fit one of the patterns, in a fixed order."""
    return sorted({path for pattern in patterns for path in built.glob(pattern)
                   if path.is_file() and path.name != NAME})


def write_service_worker(built: Path) -> None:
    """Write the service worker into the built site, after everything else is there."""
    files = [_address(path.relative_to(built).as_posix()) for path in kept(built, FILES)]
    python = [path.relative_to(built).as_posix() for path in kept(built, PYTHON)]
    manifest = built / "runtime" / "manifest.json"
    if manifest.exists():
        python += _named(json.loads(manifest.read_text(encoding="utf-8")))
    digest = hashlib.sha256(SOURCE.read_bytes() + json.dumps([files, python]).encode())
    for path in kept(built, (*FILES, *PYTHON)):
        digest.update(path.read_bytes())
    constants = {"BUILD": digest.hexdigest()[:16], "FILES": files, "PYTHON": python}
    (built / NAME).write_text("".join(
        f"const {name} = {json.dumps(value)};\n" for name, value in constants.items())
        + SOURCE.read_text(encoding="utf-8"), encoding="utf-8")


def _address(path: str) -> str:
    """Return the address of a file from the site's root, as pages ask for it."""
    return "./" + path.removesuffix("index.html") if path.endswith("index.html") else path


def _named(manifest: dict[str, Any]) -> list[str]:
    """Return the addresses of the archives, which hold a part of their hash."""
    entries = [manifest[name] for name in ("package", "compiled_package", "more", "course",
                                           "compiled_course", "library_archive")
               ] + manifest["wheels"]
    return [f"runtime/{entry['path']}" for entry in entries]
