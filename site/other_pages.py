"""Pages made from files that stand elsewhere: changelog, how to take part, licences."""

from __future__ import annotations

import json
import re
import zipfile
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Any

from prose import code, front_matter
from repository_links import with_site_anchors, with_site_links

__all__ = ["changelog", "contributing", "licences"]

SITE = Path(__file__).parent


def changelog(root: Path) -> str:
    """Return the changelog as a page."""
    return front_matter(title="Changelog") + _read(root, "CHANGELOG.md", "changelog.md")


def contributing(root: Path) -> str:
    """Return CONTRIBUTING.md as a page."""
    return front_matter(title="Taking part") + _read(root, "CONTRIBUTING.md", "contributing.md")


def _read(root: Path, file: str, address: str) -> str:
    text = (root / file).read_text(encoding="utf-8")
    return with_site_anchors(with_site_links(text, file, address))


#: What programs that come from npm hold of others: heading, words, files of site/licences.
WITHIN = [
    ("CPython", "Within Pyodide, compiled to WebAssembly. Licence: Python Software Foundation "
     "License Version 2.", ["python.txt"]),
    ("Emscripten and musl", "Within Pyodide and viz-js. Licence: MIT.",
     ["emscripten.txt", "musl.txt"]),
    ("Graphviz", "Within viz-js, compiled to WebAssembly. Licence: Eclipse Public License; its "
     "[source](https://gitlab.com/graphviz/graphviz) is unchanged but for the compiling.",
     ["eclipse-1.0.txt"]),
    ("Expat", "Within viz-js and CPython. Licence: MIT.", ["expat.txt"]),
]
#: The texts of packages that bring none themselves.
LACKING = {"pyodide": "mozilla-2.0.txt", "@viz-js/viz": "viz-js.txt"}
#: The sets from which the theme's icons are.
ICONS = {"Material Design Icons": "material/LICENSE", "Font Awesome": "fontawesome/LICENSE.txt"}


def licences(root: Path) -> str:
    """Return the page that lists what the site ships of others, with the licences' texts."""
    parts = [front_matter(title="Licences", search={"exclude": True}), "# Licences\n",
             "What this site is made of, and under which terms. Nothing is fetched from elsewhere "
             "while you read. This page is made from the packages that the site was built with.\n",
             "## minigrad\n\nThe package, the course and the text of this site.\n",
             _folded(root / "LICENSE")]
    theme = distribution("mkdocs-material")
    parts.append(f"## Material for MkDocs {theme.version}\n\nThe site's style sheets, scripts and "
                 "icons. Licence: MIT. Its search contains lunr (MIT).\n")
    parts += [_folded(path) for path in _licences_of(theme)]
    icons = Path(str(theme.locate_file("material/templates/.icons")))
    for name, place in ICONS.items():
        parts += [f"## {name}\n\nIcons of the theme.\n", _folded(icons / place)]
    for name, licence in _packages():
        folder = SITE / "node_modules" / name
        if not folder.is_dir():
            continue
        words = " Its fonts are under the SIL Open Font License 1.1." if name == "katex" else ""
        parts.append(f"## {name} {_json(folder / 'package.json')['version']}\n\n"
                     f"Licence: {licence}.{words}\n")
        own = sorted(folder.glob("LICEN[CS]E*"))[:1]
        parts += [_folded(path) for path in own or [SITE / "licences" / LACKING[name]]]
    for heading, words, files in WITHIN:
        parts.append(f"## {heading}\n\n{words}\n")
        parts += [_folded(SITE / "licences" / file) for file in files]
    parts += [_wheel(path) for path in sorted((root / "build" / "cache").rglob("*.whl"))
              if path.name in _shipped()]
    return "\n".join(parts)


def _shipped() -> set[str]:
    """Return the names of the wheels that the page's Python gets; the cache may hold older ones."""
    lines = (SITE / "runtime" / "wheels.txt").read_text(encoding="utf-8").splitlines()
    found = {f"{name.lower()}-{version}-py3-none-any.whl" for name, version in
             (line.split()[0].split("==") for line in lines if line and not line.startswith("#"))}
    lock = SITE / "node_modules" / "pyodide" / "pyodide-lock.json"
    return found | ({_json(lock)["packages"]["numpy"]["file_name"]} if lock.exists() else set())


def _wheel(path: Path) -> str:
    """Return what a wheel says of itself, with the texts of its licences, each once."""
    with zipfile.ZipFile(path) as wheel:
        names = [name for name in wheel.namelist() if ".dist-info/" in name]
        about = wheel.read(next(name for name in names if name.endswith("/METADATA"))).decode()
        texts = dict.fromkeys(wheel.read(name).decode() for name in sorted(names)
                              if "/licenses/" in name and not name.endswith("AUTHORS"))
    told = dict(re.findall(r"^(Name|Version|License-Expression): (.*)$", about, re.MULTILINE))
    licence = told.get("License-Expression", "see its text")
    return "\n".join([f"## {told['Name']} {told['Version']}\n\n"
                      f"A wheel that the page's Python gets. Licence: {licence}.\n",
                      *map(_fold, texts)])


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _packages() -> list[tuple[str, str]]:
    """Return what comes from npm, but for what only the site's makers use, with its licence."""
    found = _json(SITE / "package-lock.json")["packages"]
    return [(path.removeprefix("node_modules/"), about.get("license", "see its text"))
            for path, about in sorted(found.items()) if path and not about.get("dev")]


def _folded(path: Path) -> str:
    return _fold(path.read_text(encoding="utf-8"))


def _fold(text: str) -> str:
    return ('<details markdown="1">\n<summary>The text of the licence</summary>\n\n'
            f"{code(text, 'text')}\n</details>\n")


def _licences_of(package: Distribution) -> list[Path]:
    return [Path(str(path.locate())) for path in package.files or []
            if path.name.upper().startswith("LICENSE") and ".dist-info" in str(path)]
