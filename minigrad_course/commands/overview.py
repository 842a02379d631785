"""The screen of `minigrad --help`: every command in one line, by who needs it."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup

#: Headings, and under each the commands with a line that fits a terminal of 80 columns.
SECTIONS = {
    "Look around": {
        "tour": "see the engine at work, then train a network (under 90 s)",
        "doctor": "see what this installation has and lacks",
        "show": "print the code that runs for an operation, such as mul",
        "compare": "run a program here and on PyTorch, show where they differ",
        "bench": "measure what the documents measure, on this machine",
        "version": "print the version",
    },
    "Take the course": {
        "init": "make a workspace: the exercises, for you to edit",
        "learn": "start here: each file that you save is tested",
        "lesson": "read a lesson and run its code",
        "run": "test your answers once",
        "hint": "show the next hint for an exercise",
        "solution": "show the package's answer beside yours",
        "list": "list all exercises and how they stand",
        "progress": "show how far you are, a row for each stage",
        "skip": "leave stages out",
        "unskip": "bring back stages that you left out",
        "reset": "put files back as they were handed out",
        "upgrade": "bring a workspace up to date; your answers stay",
        "python": "run a program on the engine that you wrote",
        "capstone": "put your engine to work at the end of the course",
    },
    "Teach": {
        "grade": "grade submissions in a sandbox",
        "similarity": "report answers that are too much alike",
        "export": "make an assignment for students and an autograder",
    },
    "Write the course": {
        "dev": "build it from its sources, and try all of it",
    },
}


class Overview(TyperGroup):
    """A group whose help lists its commands by section."""

    # Typer brings a click of its own in some versions, so the types of it have no one name.
    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the sections, each with its commands."""
        for heading, commands in SECTIONS.items():
            with formatter.section(heading):
                formatter.write_dl([(f"{name:<10}", line) for name, line in commands.items()])
