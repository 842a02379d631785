"""docs/en/error_messages.md: PyTorch raises what the page shows, and each heading quotes it."""

from __future__ import annotations

import doctest
import re

import pytest

from minigrad_course.content.stages import checkout

torch = pytest.importorskip("torch", reason="the page's programs run on PyTorch as well")

PAGE = (checkout() / "docs" / "en" / "error_messages.md").read_text(encoding="utf-8")
#: Where our text goes on after PyTorch's, or PyTorch's after ours.
LONGER = ("Only Tensors created explicitly", "Function 'SqrtBackward")


def entries() -> list[tuple[str, str]]:
    """Return the headings of entries, each with its text."""
    parts = re.split(r"^### (.+)$", PAGE, flags=re.MULTILINE)
    return list(zip(parts[1::2], parts[2::2], strict=True))


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def is_within(few: list[str], many: list[str]) -> bool:
    """Tell whether the words occur in this order, with others between them."""
    rest = iter(many)
    return all(word in rest for word in few)


@pytest.mark.parametrize(("heading", "text"), entries(), ids=lambda each: each[:40].strip())
def test_a_heading_quotes_the_message(heading, text):
    messages = [line for line in text.splitlines() if re.match(r"\w+Error: ", line)]
    if ".item()" in heading:  # the page shows only what works
        assert not messages
        return
    assert any(is_within(words(heading), words(message)) for message in messages)


def test_pytorch_raises_the_same_errors():
    """Run all of the page's lines on PyTorch in one namespace, as the page is read."""
    names: dict[str, object] = {}
    raised = 0
    for example in doctest.DocTestParser().get_examples(PAGE):
        source = example.source.replace("import minigrad as torch", "import torch").replace(
            "from minigrad.", "from torch.")
        code = compile(source, "<the page>", "exec")
        if example.exc_msg is None:
            exec(code, names)
            continue
        kind, _, message = example.exc_msg.rstrip().partition(": ")
        with pytest.raises(Exception) as caught:
            exec(code, names)
        raised += 1
        assert type(caught.value).__name__ == kind, source
        found = str(caught.value).replace("SqrtBackward0", "SqrtBackward")
        if message.startswith(LONGER):
            assert message.startswith(found[:60]), source
        else:
            assert found == message, source
    assert raised >= 25
