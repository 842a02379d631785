"""A process of Node's that draws for the build: a line of JSON in, a line of JSON out."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

__all__ = ["Node"]


class Node:
    """Runs a script as long as it is kept; `draws` says what for, in errors."""

    def __init__(self, script: Path, draws: str) -> None:
        node = shutil.which("node")
        if node is None:
            raise FileNotFoundError(f"Node, which draws the {draws}, is not installed")
        self.process = subprocess.Popen([node, script], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, encoding="utf-8")

    def ask(self, question: Any) -> Any:
        """Return the script's answer; ValueError where it ended instead of giving one."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise ValueError(f"nothing is drawn for {question} (Node's message is above)")
        return json.loads(answer)

    def close(self) -> None:
        """End the process."""
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
        self.process.wait()
