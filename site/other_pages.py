"""Pages made from files that stand elsewhere: changelog, how to take part, licences."""

from __future__ import annotations

import json
import re
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Any

from prose import code, front_matter

__all__ = ["changelog", "contributing", "licences"]

SITE = Path(__file__).parent


def changelog(root: Path) -> str:
    """Return the changelog as a page."""
    return front_matter(title="Changelog") + _read(root / "CHANGELOG.md")


def contributing(root: Path) -> str:
    """Return CONTRIBUTING.md as a page; links to files of the repository become their names."""
    return front_matter(title="Taking part") + _read(root / "CONTRIBUTING.md")


def _read(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"\]\(docs/en/([^)]*)\)", r"](\1)", text)
    return re.sub(r"\[([^\]]*)\]\((?!https?:|#|[\w-]+\.md[#)])([^)]*)\)", r"\1", text)


def licences(root: Path) -> str:
    """Return the page that lists what the site ships of others, with the licences' texts."""
    parts = [front_matter(title="Licences", search={"exclude": True}), "# Licences\n",
             "What this site is made of, and under which terms. Nothing is fetched from elsewhere "
             "while you read. This page is made from the packages that the site was built with.\n",
             "## minigrad\n\nThe package, the course and the text of this site.\n",
             _folded(root / "LICENSE")]
    theme = distribution("mkdocs-material")
    parts.append(f"## Material for MkDocs {theme.version}\n\nThe site's style sheets, scripts and "
                 "icons. Its search contains lunr (MIT); its icons are from Material Design Icons "
                 "(Apache 2.0) and FontAwesome (CC BY 4.0).\n")
    parts += [_folded(path) for path in _licences_of(theme)]
    for name, licence in _packages():
        folder = SITE / "node_modules" / name
        if not folder.is_dir():
            continue
        words = " Its fonts are under the SIL Open Font License 1.1." if name == "katex" else ""
        parts.append(f"## {name} {_json(folder / 'package.json')['version']}\n\n"
                     f"Licence: {licence}.{words}\n")
        parts += [_folded(path) for path in sorted(folder.glob("LICEN[CS]E*"))[:1]]
    more = SITE / "runtime" / "licences.md"
    if more.exists():
        parts.append(more.read_text(encoding="utf-8"))
    return "\n".join(parts)


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _packages() -> list[tuple[str, str]]:
    """Return what comes from npm, but for what only the site's makers use, with its licence."""
    found = _json(SITE / "package-lock.json")["packages"]
    return [(path.removeprefix("node_modules/"), about.get("license", "see its text"))
            for path, about in sorted(found.items()) if path and not about.get("dev")]


def _folded(path: Path) -> str:
    text = code(path.read_text(encoding="utf-8"), "text")
    return ('<details markdown="1">\n<summary>The text of the licence</summary>\n\n'
            f"{text}\n</details>\n")


def _licences_of(package: Distribution) -> list[Path]:
    return [Path(str(path.locate())) for path in package.files or []
            if path.name.upper().startswith("LICENSE") and ".dist-info" in str(path)]
