"""The error of a call that cannot be recorded."""

from __future__ import annotations

from ... import _state

#: Functions of arrays whose results have a size that depends on the values.
SIZED_BY_VALUES = ("nonzero", "flatnonzero", "unique")


class Unrecordable(RuntimeError, AttributeError):
    """Raised if a call cannot be recorded as a program; the message has the reason."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.obj = self  # no argument of a function, which `refuse_no_tensor` would blame


def refuse(what: str) -> Unrecordable:
    """Return the error for something that a program cannot do, and note it in the recording."""
    recording = _state.program.get()
    if recording is None:
        return Unrecordable(f"torch.compile: {what}, with a tensor that a compiled function kept "
                            "from its recording")
    return recording.refuse(what)
