"""Every public name says what it is, and shows it by an example that `test_doctests` runs.

The names are those of the API's pages: the functions and classes of each public module, and what
their classes add. A method or property may be shown by its class: a `>>>` line in the docstring of
the class, or of a base class, uses it by name.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from itertools import chain
from typing import Any

import api_pages

from tests.docs.test_doctests import PUBLISHED, examples_in, modules

#: Methods that a module's class tells of: its example calls the one and prints the other.
OF_THE_CLASS = {"forward", "extra_repr"}
#: Names that are left out, which raise.
STAND_INS = "minigrad.compat.stand_ins"


def public_names() -> dict[str, str]:
    """Return the docstrings of functions, classes and methods, each under its first name."""
    found: dict[int, tuple[str, str]] = {}
    for path in api_pages.MODULES.values():
        module = importlib.import_module(path)
        for name in api_pages.public(module):
            value = getattr(module, name, None)
            if not (inspect.isclass(value) or inspect.isroutine(value)):
                continue
            found.setdefault(id(value), (f"{path}.{name}", value.__doc__ or ""))
            for method, function in methods(value):
                text = f"{inherited(value, method)}\n\n{lines_that_use(value, method)}"
                found.setdefault(id(function), (f"{path}.{name}.{method}", text))
    return dict(found.values())


def own_docstrings() -> Iterator[tuple[str, str]]:
    """Yield the docstrings of public names, and of what a method overrides, one by one."""
    for path in api_pages.MODULES.values():
        module = importlib.import_module(path)
        for name in api_pages.public(module):
            value = getattr(module, name, None)
            if inspect.isclass(value) or inspect.isroutine(value):
                yield f"{path}.{name}", value.__doc__ or ""
            for method, _ in methods(value):
                for base in value.__mro__:
                    written = vars(base).get(method)
                    if hasattr(written, "__get__"):  # a number's docstring is that of its type
                        yield f"{path}.{name}.{method} of {base.__name__}", written.__doc__ or ""


def methods(kind: Any) -> Iterator[tuple[str, Any]]:
    """Yield the public methods and properties of a class that are written in this project."""
    for name in dir(kind) if inspect.isclass(kind) else ():
        attribute = inspect.getattr_static(kind, name)
        function = getattr(attribute, "__func__", None) or getattr(attribute, "fget", attribute)
        home = getattr(function, "__module__", None) or ""
        if (not name.startswith("_") and callable(function) and not inspect.isclass(function)
                and home.startswith("minigrad") and home != STAND_INS):
            yield name, function


def inherited(kind: type, name: str) -> str:
    """Return a method's docstring, and those of the methods that it overrides.

    A plain value, such as a 0, has the docstring of its type, which says nothing of it.
    """
    written = (vars(base).get(name) for base in kind.__mro__)
    texts = (each.__doc__ for each in written if hasattr(each, "__get__"))
    return "\n\n".join(filter(None, texts))


def lines_that_use(kind: type, name: str) -> str:
    """Return the `>>>` lines that use a method, from the docstrings of a class and its bases."""
    uses = re.compile(rf"^ *>>> .*\.{name}\b.*$", re.MULTILINE)
    texts = (base.__doc__ for base in kind.__mro__ if isinstance(base.__doc__, str))
    return "\n".join(line for text in texts for line in uses.findall(text))


PUBLIC = public_names()


def test_there_are_as_many_names_as_pages_tell():
    assert len(PUBLIC) > 1900
    for name in ("minigrad.add", "minigrad.nn.Linear", "minigrad.Tensor.shape",
                 "minigrad.nn.utils.prune.remove", "minigrad.autograd.grad"):
        assert name in PUBLIC


def test_every_public_name_has_a_summary():
    assert not [name for name, text in PUBLIC.items() if not text.partition("\n")[0].strip()]


def test_every_public_name_has_an_example():
    assert not [name for name, text in PUBLIC.items()
                if ">>>" not in text and name.rpartition(".")[2] not in OF_THE_CLASS]


def test_the_examples_of_public_names_are_run():
    """A class that no body makes, for one, is a class that `doctest` may overlook."""
    found = chain.from_iterable(map(examples_in, modules()))
    run = {*PUBLISHED.values(), *(test.docstring for test in found)}
    examples = {name: text for name, text in own_docstrings() if ">>>" in text}
    assert len(examples) > 1500
    assert not [name for name, text in examples.items() if text not in run]


class Base:
    """A base class.

    >>> Derived().start().size
    """


class Derived(Base):
    """A class that has `stop`; the words .stop() outside of an example show nothing.

    >>> Derived().starting(stop=3)
    Derived.stop()
    """


def test_the_example_of_a_class_shows_the_methods_that_it_uses():
    assert lines_that_use(Derived, "starting") == "    >>> Derived().starting(stop=3)"
    assert lines_that_use(Derived, "size") == "    >>> Derived().start().size"  # of the base class
    assert lines_that_use(Derived, "start") == "    >>> Derived().start().size"
    assert not lines_that_use(Derived, "stop")  # an argument's name and printed output
    assert not lines_that_use(Base, "starting")  # a derived class does not tell of its base
