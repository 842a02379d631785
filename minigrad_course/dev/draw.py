"""Draw pictures of a lesson in a separate process: a file and function names in, JSON out."""

from __future__ import annotations

import json
import re
import runpy
import sys

from ..pictures import Picture


def drawn(path: str, number: str, names: list[str]) -> dict[str, dict[str, str]]:
    """Return the SVG, the text and the caption of each picture named, from the file at `path`."""
    functions = runpy.run_path(path)
    found = {}
    for name in names:
        if name not in functions:
            raise SystemExit(f"{path} has no function {name!r} for a picture")
        picture = functions[name]()
        assert isinstance(picture, Picture)
        for words in (picture.title, picture.alt, picture.caption):
            if not words or "\n" in words:
                raise SystemExit(f"{path}: {name}: title, text and caption must be one line each")
        if "*" in re.sub("`[^`]*`", "", picture.caption):
            raise SystemExit(f"{path}: {name}: no asterisks in the caption, which is in italics")
        found[name] = {"svg": picture.svg(f"p{number}-{name}"), "alt": picture.alt,
                       "caption": picture.caption}
    return found


if __name__ == "__main__":
    file, stage, *wanted = sys.argv[1:]
    json.dump(drawn(file, stage, wanted), sys.stdout)
