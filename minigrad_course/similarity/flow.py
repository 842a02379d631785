"""Follow an answer, to find out what flows into what: the values, the calls, and their order.

NOTE [Flow]
    An answer is followed as if it ran, with symbols in place of values.  A name is replaced by the
    value that was assigned to it, a call of the learner's own function by what that function
    returns, and a loop that fills a list becomes the same node as a comprehension.  So naming a
    subexpression, moving code into a helper, renaming, or exchanging independent statements leaves
    no trace.  Each operation then becomes a *feature*: its kind, and the kinds of the values that
    flow into it, two operations back.  A branch that is added, or code that computes something
    else, adds features, and removes no other.
"""

from __future__ import annotations

import ast

from .flow_features import Features, Globals
from .flow_statements import Frame, follow
from .flow_values import Value

__all__ = ["Flow", "Globals"]


class Flow(Features):
    """The features of the statements of an answer that `run` has followed."""

    def run(self, node: ast.stmt) -> None:
        """Follow a function, or another statement of a module."""
        follow(self, node)

    def done(self) -> Flow:
        """Count the features, now that every value is known."""
        for each in self.passed_on:  # functions that something else calls; there may be more in one
            if id(each.code) not in self.followed:
                self.followed.add(id(each.code))
                frame = Frame(self, dict(each.names), 1, True)
                assert each.code is not None
                for argument in ast.walk(each.code.args):
                    if isinstance(argument, ast.arg):
                        frame.names[argument.arg] = Value("input")
                if isinstance(each.code, ast.Lambda):
                    frame.returns(frame.value(each.code.body))
                else:
                    frame.block(each.code.body)
        self.count_all()
        return self
