"""Measures how often the project's prose uses turns of phrase that good technical English avoids.

    python -m tests.voice            # the rates per 10,000 words, beside those of two books
    python -m tests.voice --write    # make them the limits that tests/voice/test_voice.py holds

The figures are a thermometer, not a target: a sentence can score zero and still be wooden.
"""

from __future__ import annotations

import argparse
import json

from .rates import BOOKS, CAUSES, LIMITS, PATTERNS, rates_of
from .texts import ROOT, corpora


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--write", action="store_true", help="make these rates the limits")
    write = options.parse_args().write
    found = {name: rates_of(text) for name, text in corpora(ROOT).items()}
    columns = found | BOOKS
    print(" " * 38 + "".join(f"{name:>16}" for name in columns))
    for row in (*PATTERNS, CAUSES):
        print(f"{row:38}" + "".join(f"{each[row]:16.1f}" for each in columns.values()))
    if write:
        LIMITS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
