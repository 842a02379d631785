"""The built site's search: names, questions in words, and error texts as they are pasted.

Most cases ask the search's worker, which takes milliseconds; a few look at what the page shows.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

ASK = """async (question) => {
    const answer = new Promise((done) => { worker.onmessage = ({ data }) => done(data); });
    worker.postMessage({ type: 2, data: question });
    return (await answer).data.items.map((sections) => sections.map((each) => each.location));
}"""
BEGIN = """async (script) => {
    const docs = await (await fetch("search/search_index.json")).json();
    self.worker = new Worker(script);
    const ready = new Promise((done) => { worker.onmessage = done; });
    worker.postMessage({ type: 0, data: { ...docs, options: { suggest: true } } });
    await ready;
}"""
QUESTIONS = Path(__file__).parents[2] / "site" / "questions.toml"
ERRORS, NONE, STOP = "error_messages/", "grad_is_none/", "library/#stop-a-gradient"


@pytest.fixture(scope="module")
def ask(chromium: Any, site: str, built: Path) -> Iterator[Callable[[str], list[list[str]]]]:
    """Ask the search a question: the locations that it answers, grouped by page."""
    page = chromium.new_page()
    page.goto(f"{site}503.html")
    (script,) = (built / "assets" / "javascripts" / "workers").glob("search.*.js")
    page.evaluate(BEGIN, script.relative_to(built).as_posix())
    yield lambda question: page.evaluate(ASK, question)
    page.close()


@pytest.mark.parametrize(("words", "page"), [
    ("hook", "lessons/05_hooks/"), ("detach", "api/tensor/"), ("lesson 3", "lessons/03_engine/"),
    ("lesson 0", "lessons/00_chain_rule/"), ("lesson 8b", "lessons/08b_forward_mode/"),
    ("retain_grad", "api/tensor/"), ("optimizer", "lessons/13b_optimizers/"),
    ("logsumexp", "ops/logsumexp/"),
])
def test_a_word_finds_the_right_page_first(ask, words, page):
    assert ask(words)[0][0].startswith(page)


@pytest.mark.parametrize(("words", "place"), [
    ("Tensor.backward", "api/tensor/#minigrad.Tensor.backward"),
    ("torch.Tensor.detach", "api/tensor/#minigrad.Tensor.detach"),
    ("loss.backward()", "api/tensor/#minigrad.Tensor.backward"),
    ("torch.nn.Linear", "api/nn/linear/#minigrad.nn.linear.Linear"),
    ("nn.Softmax", "api/nn/activation/#minigrad.nn.activation.Softmax"),
    ("F.relu", "api/nn.functional/activation/#minigrad.nn.functional.relu"),
    ("model.parameters()", "api/nn/module/#minigrad.nn.module.Module.parameters"),
    ("torch.no_grad", "api/autograd/backward/#minigrad.autograd.grad_mode.no_grad"),
    ("torch.logsumexp", "ops/logsumexp/"), ("torch.add", "ops/add/"),
])
def test_a_dotted_name_finds_its_entry_first(ask, words, place):
    assert ask(words)[0][0] == place


#: Texts as PyTorch prints them, with other nodes, shapes and versions than our page quotes, texts
#: of earlier releases, parts that people copy, and titles as forums have them.
PASTED = [
    ("why is grad None", NONE),
    ("Grad is none?", NONE),
    ("requires_grad=True but x.grad is None", NONE),
    ("gradients are all None after loss.backward()", NONE),
    ("why my model's parameters are not updating", NONE),
    ("loss.backward() grad is none", NONE),
    ("UserWarning: The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. "
     "Its .grad attribute won't be populated during autograd.backward(). If you indeed want the "
     ".grad field to be populated for a non-leaf Tensor, use .retain_grad() on the non-leaf "
     "Tensor.",
     NONE),
    ("how do I get the gradient of an intermediate variable", NONE),
    ("trying to backward through the graph a second time", ERRORS + "#trying"),
    ("RuntimeError: Trying to backward through the graph a second time, but the buffers have "
     "already been freed. Specify retain_graph=True when calling backward the first time.",
     ERRORS + "#trying"),
    ("RuntimeError: Trying to backward through the graph a second time (or directly access saved "
     "tensors after they have already been freed). Saved intermediate values of the graph are "
     "freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need "
     "to backward through the graph a second time or if you need to access saved tensors after "
     "calling backward.",
     ERRORS + "#trying"),
    ("modified by an inplace operation", ERRORS + "#one-of-the-variables"),
    ("RuntimeError: one of the variables needed for gradient computation has been modified by an "
     "inplace operation: [torch.cuda.FloatTensor [64, 128]], which is output 0 of "
     "AsStridedBackward0, is at version 3; expected version 2 instead. Hint: enable anomaly "
     "detection to find the operation that failed to compute its gradient, with "
     "torch.autograd.set_detect_anomaly(True).",
     ERRORS + "#one-of-the-variables"),
    ("is at version 2; expected version 1 instead", ERRORS + "#one-of-the-variables"),
    ("element 0 of tensors does not require grad", ERRORS + "#element-0"),
    ("RuntimeError: element 0 of variables does not require grad and does not have a grad_fn",
     ERRORS + "#element-0"),
    ("Pytorch: loss doesn't have a grad_fn", ERRORS + "#element-0"),
    ("leaf variable in-place", ERRORS + "#a-leaf"),
    ("RuntimeError: a leaf Variable that requires grad is being used in an in-place operation.",
     ERRORS + "#a-leaf"),
    ("a view of a leaf Variable that requires grad is being used in an in-place operation.",
     ERRORS + "#a-view-of"),
    ("grad can be implicitly created only for scalar outputs", ERRORS + "#grad-can-be"),
    ("RuntimeError: One of the differentiated Tensors appears to not have been used in the "
     "graph. Set allow_unused=True if this is the desired behavior.",
     ERRORS + "#the-differentiated"),
    ("RuntimeError: Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() "
     "instead.",
     ERRORS + "#cant-call-numpy"),
    ("RuntimeError: Only Tensors of floating point dtype can require gradients",
     ERRORS + "#only-tensors-of"),
    ("ValueError: can't optimize a non-leaf Tensor", ERRORS + "#cant-optimize"),
    ("optimizer got an empty parameter list", ERRORS + "#optimizer"),
    ("Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol "
     "at the moment. If you were attempting to deepcopy a module, this may be because of a "
     "torch.nn.utils.weight_norm usage",
     ERRORS + "#only-tensors-created"),
    ("RuntimeError: you can only change requires_grad flags of leaf variables. If you want to "
     "use a computed variable in a subgraph that doesn't require differentiation use var_no_grad "
     "= var.detach().",
     ERRORS + "#you-can-only"),
    ("Legacy autograd function with non-static forward method is deprecated. Please use "
     "new-style autograd function with static forward method.",
     ERRORS + "#legacy"),
    ("RuntimeError: function MyReLUBackward returned an incorrect number of gradients (expected "
     "2, got 1)",
     ERRORS + "#function-returned-an-incorrect"),
    ("RuntimeError: Function MulBackward0 returned an invalid gradient at index 1 - got [3, 2] "
     "but expected shape compatible with [3]",
     ERRORS + "#function-returned-an-invalid"),
    ("RuntimeError: Function 'LogBackward0' returned nan values in its 0th output.",
     ERRORS + "#function-returned-nan"),
    ("RuntimeError: Output 0 of SplitBackward0 is a view and is being modified inplace. This "
     "view is the output of a function that returns multiple views.",
     ERRORS + "#output-0"),
    ("Inference tensors cannot be saved for backward. To work around you can make a clone to get "
     "a normal tensor and use it in autograd.",
     ERRORS + "#inference-tensors"),
    ("RuntimeError: Mismatch in shape: grad_output[0] has a shape of torch.Size([4]) and "
     "output[0] has a shape of torch.Size([4, 1]).",
     ERRORS + "#mismatch"),
    ("how do i stop a gradient", STOP),
    ("How to freeze some layers?", STOP),
    ("What's the difference between .detach() and with torch.no_grad()?", STOP),
    ("Why do we need to call zero_grad() in PyTorch?", "lessons/02_graph/#5-adding-up"),
    ("what is a leaf tensor", "lessons/02_graph/#3-leaf-or-not"),
]


@pytest.mark.parametrize(("question", "place"), PASTED, ids=[words[:40] for words, _ in PASTED])
def test_a_pasted_question_is_answered_first(ask, question, place):
    assert ask(question)[0][0].startswith(place)


def test_every_listed_question_leads_to_its_section(ask):
    listed = tomllib.loads(QUESTIONS.read_text(encoding="utf-8"))
    wanted = {question: place for place in listed for question in listed[place] if " " in question}
    assert {question: ask(question)[0][0] for question in wanted} == wanted


def test_a_question_that_is_no_error_is_left_to_the_words(ask):
    for question in ("cross entropy loss", "learning rate scheduler", "tensor shape", "batch norm"):
        assert not ask(question)[0][0].startswith((ERRORS, NONE)), question


@pytest.mark.parametrize(("question", "link"), [
    ("RuntimeError: Trying to backward through the graph a second time",
     "error_messages/#trying-to-backward"),
    ("loss.backward()", "api/tensor/#minigrad.Tensor.backward"),
])
def test_the_answer_is_shown_unfolded_below_the_head_of_its_page(watched, question, link):
    shown = watched.open(f"course/?q={quote(question)}")
    shown.locator(".md-search-result__link").first.wait_for(state="attached")
    first = shown.locator(".md-search-result__item").first
    found = first.locator(":scope > a")
    links = found.evaluate_all("links => links.map((link) => link.pathname + link.hash)")
    assert link in links[-1]
    assert first.locator(".md-search-result__terms").count() == 0


def test_detaching_is_told_among_what_stops_a_gradient(watched):
    page = watched.open("")
    page.keyboard.press("/")
    page.keyboard.type("how do i stop a gradient")
    first = page.locator(".md-search-result__item").first
    first.wait_for(timeout=20_000)
    page.wait_for_function(
        "document.querySelector('.md-search-result__item').textContent.includes('no_grad')")
    assert "detach" in first.text_content()
