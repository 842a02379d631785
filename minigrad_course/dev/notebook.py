"""Make notebooks of lessons: text, the blocks that run with their outputs, a cell per exercise.

The magics of these cells are in minigrad_course/jupyter.py.
"""

from __future__ import annotations

import re
from typing import Any

from ..content.lesson_blocks import Block
from ..content.selection import one_exercise
from ..learner.cell_answer import task_page

#: The heading above an exercise, and the line with which the package's version begins.
_TURN = re.compile(r"### Your turn: .*")
_NUMBER = re.compile(r"\d\d\w?\.\d+")
_FOLD = "<details"


def notebook(blocks: list[Block], lesson: str) -> str:
    """Return the notebook of the lesson in the file `lesson` as JSON; its blocks have been run."""
    import nbformat
    from nbformat import v4

    cells: list[Any] = []
    text: list[str] = []
    turn: list[str] = []  # the exercises whose text is being collected

    def flush() -> None:
        joined = "\n".join(text).strip("\n")
        if joined:
            cells.append(v4.new_markdown_cell(joined))
        text.clear()

    def finish_turn() -> None:
        if turn:
            flush()
            cells.extend(map(_exercise_cell, turn))
            turn.clear()

    for block in blocks:
        if block.kind == "widget":
            continue
        if not block.runs:
            for line in _markdown(block).split("\n"):
                if line.startswith((_FOLD, "#")):
                    finish_turn()
                if _TURN.match(line):
                    turn += _NUMBER.findall(line)
                text.append(line)
            continue
        finish_turn()
        fold = _open_fold(text)
        del text[len(text) - len(fold):]
        flush()
        text += fold  # a fold cannot hold a cell, so it goes on below it
        cell = v4.new_code_cell(f"%%predict\n{block.text}" if block.predicted else block.text)
        cell.outputs = _outputs(block)
        if fold:
            cell.metadata |= {"collapsed": True,
                              "jupyter": {"outputs_hidden": True, "source_hidden": True}}
        if block.predicted:  # hide the output until the reader asks for it or runs the cell
            cell.metadata |= {"collapsed": True, "jupyter": {"outputs_hidden": True}}
        if block.kind == "raises":
            cell.metadata["tags"] = ["raises-exception"]
        cells.append(cell)
    finish_turn()
    flush()
    # Hide the package's frames in tracebacks, because they would show the answers.
    cells.insert(min(1, len(cells)), v4.new_code_cell("%load_ext minigrad_course.jupyter"))
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    counter = 0
    for cell in cells:
        if cell.cell_type == "code":
            counter += 1
            cell.execution_count = counter
            for output in cell.outputs:
                if output.output_type == "execute_result":
                    output.execution_count = counter
    made = v4.new_notebook(cells=cells, metadata={
        "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
        "language_info": {"name": "python"},
        "made": f"by `minigrad dev build` from {lesson}: edit that"})
    nbformat.validate(made)
    return nbformat.writes(made) + "\n"


def _open_fold(lines: list[str]) -> list[str]:
    """Return the lines from a fold's beginning on, if it has not ended."""
    for row in range(len(lines) - 1, -1, -1):
        if lines[row] == "</details>":
            return []
        if lines[row].startswith(_FOLD):
            return lines[row:]
    return []


def _exercise_cell(number: str) -> Any:
    """Return the cell that shows an exercise's task and begins the cell for its answer."""
    from nbformat import v4

    page = task_page(*one_exercise(number))
    cell = v4.new_code_cell(f"%exercise {number}")
    cell.outputs = [v4.new_output("display_data", data={"text/markdown": page,
                                                        "text/plain": page})]
    return cell


def _markdown(block: Block) -> str:
    if block.kind in ("text", "rest", "picture"):
        return block.text
    ticks = re.match("`+", block.fence)
    assert ticks is not None
    return f"{block.fence}\n{block.text}\n{ticks[0]}"


def _outputs(block: Block) -> list[Any]:
    from nbformat import v4

    outputs, result = [], block.result
    if result["printed"]:
        outputs.append(v4.new_output("stream", name="stdout", text=result["printed"]))
    if result["value"]:
        outputs.append(v4.new_output("execute_result", data={"text/plain": result["value"]}))
    if result["error"]:
        kind, _, text = result["error"].partition(": ")
        outputs.append(v4.new_output("error", ename=kind.rpartition(".")[2], evalue=text,
                                     traceback=[result["error"]]))
    return outputs
