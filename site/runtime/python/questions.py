"""What a figure of the site asks of an engine, answered as JSON."""

from __future__ import annotations

import importlib
import json

__all__ = ["Text", "answered"]


class Text(str):
    """A text whose repr is itself: what a block that ends in it hands over."""

    def __repr__(self) -> str:
        return str(self)


def answered(call: str, given: str) -> str:
    """Return, as JSON, what `call`, a "module.function", gives for arguments in JSON, or its error.

    >>> answered("math.sqrt", "[4]"), answered("math.floor", '["x"]')[:22]
    ('2.0', '{"error": "TypeError: ')
    """
    module, _, function = call.rpartition(".")
    try:
        return json.dumps(getattr(importlib.import_module(module), function)(*json.loads(given)))
    except KeyboardInterrupt:
        return json.dumps({"error": "it was stopped"})
    except BaseException as problem:
        text = (str(problem).splitlines() or [""])[0]
        return json.dumps({"error": f"{type(problem).__name__}: {text}"})
