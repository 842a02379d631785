"""The screen of `minigrad --help`: each command in one line, grouped by who needs it."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup

#: The commands under each heading, with a line that fits a terminal of 80 columns.
SECTIONS = {
    "Look around": {
        "tour": "see the engine at work, then train a network (under 90 s)",
        "doctor": "report what this installation has and what is missing",
        "show": "print the code that runs for an operation, such as mul",
        "compare": "run a program on PyTorch too, show where they differ",
        "bench": "repeat the documentation's measurements on this machine",
        "version": "print the version",
    },
    "Take the course": {
        "init": "make a workspace: a folder with the exercises to edit",
        "learn": "start here: saving a file tests your answers",
        "lesson": "read a lesson and run its code",
        "run": "test your answers once",
        "hint": "show the next hint for an exercise",
        "solution": "show the package's answer next to yours",
        "list": "list all exercises and which are done",
        "progress": "show how far you are, one row per stage",
        "skip": "leave stages out",
        "unskip": "bring back stages that you left out",
        "reset": "reset the files of a stage to how they were handed out",
        "upgrade": "update a workspace, keeping your answers",
        "python": "run a program on the engine that you wrote",
        "capstone": "put your engine to work at the end of the course",
    },
    "Teach": {
        "grade": "grade submissions in a sandbox",
        "results": "merge the results of a class that was graded in parts",
        "similarity": "report answers that are suspiciously alike",
        "export": "make an assignment for students and an autograder",
    },
    "Write the course": {
        "dev": "build the course from its sources and verify it",
    },
}


class Overview(TyperGroup):
    """A command group whose help lists its commands by section."""

    # Some versions of Typer bundle their own click, so these types have no single name.
    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write each section with its commands."""
        for heading, commands in SECTIONS.items():
            with formatter.section(heading):
                formatter.write_dl([(f"{name:<10}", line) for name, line in commands.items()])
