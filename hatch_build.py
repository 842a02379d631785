"""Puts what the course needs into the wheel: lessons, exercises and their tests, as data.

An editable installation reads them from the checkout instead.
"""

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

DATA = ("lessons", "exercises", "tests/stages", "tests/_oracle.py", "docs/en/glossary.md")


class CustomBuildHook(BuildHookInterface):
    """Adds the data to a wheel that is built to be installed elsewhere."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the files to add and where they go."""
        if version == "standard":
            for path in DATA:
                build_data["force_include"][path] = f"minigrad_course/data/{path}"
