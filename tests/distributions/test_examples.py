"""The examples in docstrings print the same with PyTorch in place of minigrad."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import warnings

import pytest

from minigrad import distributions

torch = pytest.importorskip("torch", reason="runs the examples with PyTorch")


#: Names that an example may use without an import, since its file has them.
KNOWN = {**vars(torch.distributions), **vars(torch.distributions.constraints),
         **vars(torch.distributions.utils), **vars(torch.distributions.relaxed_bernoulli),
         **vars(torch.distributions.relaxed_categorical)}


def shown() -> dict[str, str]:
    """Return the docstring of each class, method and function that PyTorch has too."""
    found = {"": distributions.__doc__ or ""}
    for info in pkgutil.iter_modules(distributions.__path__):
        module = importlib.import_module(f"minigrad.distributions.{info.name}")
        for name, value in vars(module).items():
            if name not in KNOWN or getattr(value, "__module__", "") != module.__name__:
                continue
            found[name] = value.__doc__ or ""
            for method, part in vars(value).items() if inspect.isclass(value) else ():
                found[f"{name}.{method}"] = inspect.getdoc(part) or ""
    return {name: text for name, text in found.items() if ">>>" in text}


SHOWN = shown()


def test_most_names_have_an_example() -> None:
    assert len(SHOWN) > 120 and {"Normal", "Distribution.cdf", "_GreaterThan"} <= set(SHOWN)


@pytest.mark.parametrize("name", SHOWN)
def test_an_example_prints_the_same(name: str) -> None:
    test = doctest.DocTestParser().get_doctest(
        SHOWN[name].replace("minigrad", "torch"), dict(KNOWN), name, None, None)
    told: list[str] = []
    with warnings.catch_warnings():
        # PyTorch's Wishart warns of samples that are right
        warnings.filterwarnings("ignore", "Singular sample detected")
        doctest.DocTestRunner().run(test, out=told.append)
    assert not told, "".join(told)
