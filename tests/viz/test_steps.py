"""`viz.backward_steps`: what it records is what happens, and the page says what was recorded."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest

import minigrad as torch
from minigrad import viz
from minigrad.autograd import Function
from minigrad.viz.values import value_of


def leaf(*values, shape=None):
    made = torch.tensor(list(values) if values[1:] or shape else values[0])
    made = made.reshape(shape) if shape else made
    return made.requires_grad_()


def example():
    a, b = leaf(2.0), leaf(0.5, 1.0)
    c = a * b
    return dict(a=a, b=b, c=c, loss=(c.exp() + c * 3).sum())


def of_kind(passed, kind):
    return [step for step in passed.steps if step.event == kind]


def names(passed, numbers):
    return [passed.nodes[n].name for n in numbers]


@pytest.fixture
def passed():
    tensors = example()
    return viz.backward_steps(tensors["loss"], names=tensors)


# ---------------------------------------------------------------- the same gradients


def fan(x):
    parts = x.exp().split(1)
    return (parts[0] * parts[1] + x.sum()).sum()


PROGRAMS = {
    "product": lambda x: (x * x).sum(),
    "broadcast": lambda x: (x * torch.ones(3, 2) + x).mean(),
    "several outputs": fan,
    "view written to": lambda x: torch.zeros(4).index_put((torch.tensor([0, 2]),), x).norm(),
    "leaf alone": lambda x: x,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_are_those_of_backward(name):
    x, y = leaf(0.5, -1.5), leaf(0.5, -1.5)
    expected, out = PROGRAMS[name](x), PROGRAMS[name](y)
    gradient = None if expected.dim() == 0 else torch.tensor([1.0, 2.0])
    for _ in range(2):
        expected.backward(gradient, retain_graph=True)
        viz.backward_steps(out, gradient=gradient, retain_graph=True)
        assert torch.equal(x.grad, y.grad)


def test_a_network_gets_the_same_gradients():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
    x, target = torch.randn(5, 3), torch.tensor([0, 1, 1, 0, 1])
    torch.nn.functional.cross_entropy(model(x), target).backward()
    expected = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    viz.backward_steps(torch.nn.functional.cross_entropy(model(x), target))
    assert all(torch.equal(p.grad, e) for p, e in zip(model.parameters(), expected, strict=True))


def test_several_losses_with_gradients():
    x = leaf(1.0, 2.0)
    passed = viz.backward_steps([x * 2, x.sum()], gradient=[torch.tensor([1.0, 10.0]), None])
    assert x.grad.tolist() == [3.0, 21.0]
    assert len(passed.nodes[0].edges) == 2
    with pytest.raises(RuntimeError, match="got 1 tensors and 2 gradients"):
        viz.backward_steps(x.sum(), gradient=[None, None])


def test_what_backward_refuses_is_refused():
    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match="implicitly created only for scalar"):
        viz.backward_steps(x * 2)
    with pytest.raises(RuntimeError, match="does not require grad"):
        viz.backward_steps(torch.tensor(1.0))
    loss = (x * x).sum()
    viz.backward_steps(loss)
    with pytest.raises(RuntimeError, match="second time"):
        viz.backward_steps(loss)


# ---------------------------------------------------------------- what is recorded


def test_the_pass_begins_with_the_counts_and_ends_with_nothing(passed):
    first, final = passed.steps[0], passed.steps[-1]
    by_name = {node.called or node.name: node.number for node in passed.nodes}
    assert first.event == "count"
    assert names(passed, first.queue) == ["GraphRoot"]
    counts = {number: 0 for number in by_name.values()}
    for node in passed.nodes:
        for edge in node.edges:
            if edge.target is not None:
                counts[edge.target] += 1
    assert first.waiting == {n: count for n, count in counts.items() if count}
    assert first.waiting[by_name["c"]] == 2
    assert final.event == "end"
    assert not final.queue and not final.buffers and final.node is None
    assert set(final.waiting.values()) == {0}
    assert sorted(final.done) == list(range(len(passed.nodes)))


def test_each_node_is_popped_once_latest_first(passed):
    popped = of_kind(passed, "pop")
    assert sorted(step.node for step in popped) == list(range(len(passed.nodes)))
    assert names(passed, [step.node for step in popped])[:5] == [
        "GraphRoot", "SumBackward0", "AddBackward0", "MulBackward0", "ExpBackward",
    ]
    for step in popped:
        assert step.queue_before == (step.node, *step.queue)
        assert not step.waiting.get(step.node)
        assert all(n not in step.done for n in (step.node, *step.queue))
        order = [passed.nodes[n].sequence for n in step.queue_before]
        made = [n for n in order if n is not None]
        assert made == sorted(made, reverse=True)
        assert order[len(order) - len(made):] == made  # root and leaves stand in front


def test_each_edge_is_walked_once_and_counts_down(passed):
    walked = [(step.node, step.edge) for step in of_kind(passed, "arrive")]
    assert sorted(walked) == sorted(
        (node.number, i) for node in passed.nodes for i, edge in enumerate(node.edges)
        if edge.target is not None
    )
    for before, step in zip(passed.steps, passed.steps[1:], strict=False):
        if step.event != "arrive":
            assert step.waiting == before.waiting
            continue
        target = passed.nodes[step.node].edges[step.edge].target
        changed = {n for n in step.waiting if step.waiting[n] != before.waiting[n]}
        assert changed == {target}
        assert step.waiting[target] == before.waiting[target] - 1
        assert (target in step.queue) == (step.waiting[target] == 0)


def test_buffers_add_up(passed):
    """Both gradients of c: 3 by the product, e^c by exp."""
    (c,) = (node.number for node in passed.nodes if node.called == "c")
    arrivals = [s for s in of_kind(passed, "arrive")
                if passed.nodes[s.node].edges[s.edge].target == c]
    first, second = arrivals
    assert first.buffers[c][0].text == "[3, 3]"
    assert first.waiting[c] == 1
    assert second.value.text == "[2.718, 7.389]"
    assert second.buffers[c][0].text == "[5.718, 10.39]"
    assert "[3, 3] becomes [5.718, 10.39]" in second.text
    (popped,) = (s for s in of_kind(passed, "pop") if s.node == c)
    assert popped.given == second.buffers[c]
    assert c not in popped.buffers


def test_leaves_are_written_to(passed):
    numbers = {node.called: node.number for node in passed.nodes if node.role == "leaf"}
    assert set(numbers) == {"a", "b"}
    assert all(value is None for value in passed.steps[0].grads.values())
    grads = passed.steps[-1].grads
    assert grads[numbers["a"], 0].text == "13.25"
    assert grads[numbers["b"], 0].text == "[11.44, 20.78]"
    for step in of_kind(passed, "write"):
        assert f".grad of {passed.nodes[step.node].called} was None and becomes" in step.text


def test_a_broadcast_gradient_is_said_to_be_summed(passed):
    (step,) = (s for s in of_kind(passed, "arrive") if "summed" in s.text)
    assert "from shape (2,) to ()" in step.text
    assert step.value.shape == ()


def test_an_earlier_gradient_is_added_to():
    w = leaf(3.0)
    w.grad = torch.tensor(10.0)
    passed = viz.backward_steps(w * 2, names={"w": w})
    assert passed.steps[0].grads[2, 0].text == "10"
    assert passed.steps[-2].text == "2 is added to .grad of w: 10 becomes 12."


def test_inputs_without_gradient_are_said():
    passed = viz.backward_steps(leaf(3.0) * 2)
    assert "Input 1 needs no gradient" in of_kind(passed, "apply")[1].text
    assert passed.nodes[1].edges[1].target is None


def test_a_missing_gradient_counts_all_the_same():
    class Keep(Function):
        @staticmethod
        def forward(ctx, x, y):
            return x + y

        @staticmethod
        def backward(ctx, grad):
            return grad, None

    x, y = leaf(1.0), leaf(2.0)
    passed = viz.backward_steps(Keep.apply(x, y), names={"x": x, "y": y})
    assert x.grad == 1 and y.grad is None
    (step,) = (s for s in of_kind(passed, "arrive") if s.value is None)
    assert "still counts as arrived" in step.text
    (write,) = (s for s in of_kind(passed, "write") if s.value is None)
    assert write.text == "No gradient arrived, so .grad of y stays None."


def test_hooks_run_and_are_shown():
    x = leaf(1.0, 2.0)
    y = x * 3
    ran = []
    y.retain_grad()
    y.register_hook(lambda grad: grad * 2)
    y.grad_fn.register_hook(lambda grad_inputs, grad_outputs: ran.append(grad_outputs))
    x.register_post_accumulate_grad_hook(lambda t: ran.append(t))
    passed = viz.backward_steps(y.sum(), names={"y": y})
    assert x.grad.tolist() == [6.0, 6.0]
    assert len(ran) == 2
    (hooked,) = of_kind(passed, "hook")
    assert "1 hook on the tensor of MulBackward0" in hooked.text
    assert "turns [1, 1], shape (2,) into [2, 2], shape (2,)" in hooked.text
    assert "stored in .grad of y" in hooked.text
    assert hooked.grads[hooked.node, 0].text == "[2, 2]"
    (applied,) = (s for s in of_kind(passed, "apply") if s.node == hooked.node)
    assert "1 hook of the node ran" in applied.text


def test_saved_tensors_are_freed_or_kept():
    for retain, said in ((False, "frees what it had saved for this (other, self)"), (True, None)):
        x = leaf(1.0, 2.0)
        loss = (x * x).sum()
        passed = viz.backward_steps(loss, retain_graph=retain)
        texts = " ".join(step.text for step in of_kind(passed, "apply"))
        assert (said in texts) if said else ("frees" not in texts)
        assert passed.nodes[2].saved == ("other", "self")
        if retain:
            loss.backward()
            assert x.grad.tolist() == [4.0, 8.0]
            assert "because of retain_graph" in passed.steps[-1].text


def test_a_backward_within_the_backward_is_left_alone():
    class Inner(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.exp()

        @staticmethod
        def backward(ctx, grad):
            with torch.enable_grad():
                again = ctx.saved_tensors[0].detach().requires_grad_()
                again.exp().backward(grad)
            return again.grad

    x = leaf(0.0, 1.0)
    passed = viz.backward_steps(Inner.apply(x).sum())
    assert torch.equal(x.grad, x.exp())
    assert [node.name for node in passed.nodes] == [
        "GraphRoot", "SumBackward0", "InnerBackward", "AccumulateGrad",
    ]


def test_nothing_of_the_pass_is_kept_alive():
    """Steps hold text, so a change of .grad afterwards does not change them."""
    tensors = example()
    passed = viz.backward_steps(tensors["loss"], names=tensors)
    before = repr(passed)
    tensors["b"].grad.zero_()
    assert repr(passed) == before


# ---------------------------------------------------------------- failures


class Fails(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, grad):
        raise ArithmeticError("this <backward> fails")


def test_an_error_is_raised_and_the_page_up_to_it_is_written(tmp_path):
    x = leaf(1.0, 2.0)
    with pytest.raises(ArithmeticError, match="this <backward> fails"):
        viz.backward_steps(Fails.apply(x).sum(), tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "stops in FailsBackward" in text
    assert "this &lt;backward&gt; fails" in text
    assert torch.is_grad_enabled()
    viz.backward_steps((x * 2).sum())  # the engine is as it was
    assert x.grad.tolist() == [2.0, 2.0]


def test_an_error_can_be_caught():
    passed = viz.backward_steps(Fails.apply(leaf(1.0, 2.0)).sum(), catch=True)
    assert isinstance(passed.error, ArithmeticError)
    final = passed.steps[-1]
    assert final.event == "error"
    assert passed.nodes[final.node].name == "FailsBackward"
    assert "ArithmeticError: this <backward> fails" in final.text


def test_observers_are_left_after_an_error():
    from minigrad import _state

    before = _state.observers.count
    viz.backward_steps(Fails.apply(leaf(1.0, 2.0)).sum(), catch=True)
    assert _state.observers.count == before


def test_a_large_graph_is_refused_before_anything_runs():
    x = leaf(1.0)
    y = x
    for _ in range(50):
        y = -y
    with pytest.raises(ValueError, match="more than 20 nodes"):
        viz.backward_steps(y, limit=20)
    assert x.grad is None
    assert len(viz.backward_steps(y, limit=51).nodes) == 52
    assert x.grad == 1


# ---------------------------------------------------------------- the page


class Page(HTMLParser):
    """What stands in a page: its elements' attributes, and the text by element."""

    VOID = {"meta", "input", "br", "link", "img"}

    def __init__(self, text):
        super().__init__()
        self.elements, self.text, self.open = [], {}, []
        self.feed(text)
        assert not self.open, f"not closed: {self.open}"

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open:
            self.text.setdefault(self.open[-1], []).append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


def test_the_page_lists_every_step(passed):
    page = Page(passed.html)
    items = [text for text in page.text["li"] if text.strip()]
    assert [step.text for step in passed.steps] == items[-len(passed.steps):]
    assert page.all("details")[0].get("open", "no") is None  # open as long as no script runs


def test_the_page_draws_every_node_and_edge(passed):
    page = Page(passed.html)
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    for node in passed.nodes:
        assert f"n{node.number}" in ids
        for i, edge in enumerate(node.edges):
            assert (f"e{node.number}-{i}" in ids) == (edge.target is not None)
    assert {i for i in ids if re.fullmatch(r"n\d+", i)} == {f"n{n.number}" for n in passed.nodes}


def page_states(passed):
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', passed.html)
    return json.loads(data)


def test_the_script_gets_what_was_recorded(passed):
    data = page_states(passed)
    assert len(data["states"]) == len(passed.steps)
    now: dict[str, dict] = {"waiting": {}, "buffers": {}, "grads": {}}
    for state, step in zip(data["states"], passed.steps, strict=True):
        assert state["queue"] == list(step.queue)
        assert data["order"][: state["done"]] == list(step.done)
        assert (state["node"], state["edge"]) == (step.node, step.edge)
        for part, known in now.items():  # as the page's script puts the changes together
            known |= state[part]
            now[part] = {key: value for key, value in known.items() if value is not None}
        assert now["waiting"] == {str(n): count for n, count in step.waiting.items()}
        shown = {int(n): [data["values"][v] for v in b] for n, b in now["buffers"].items()}
        assert shown == {n: [str(v) for v in b] for n, b in step.buffers.items()}
        shown = {key: data["values"][v] for key, v in now["grads"].items()}
        assert shown == {f"{n},{i}": str(v) for (n, i), v in step.grads.items()}


def test_the_page_grows_with_the_graph_not_with_its_square():
    def size(length):
        y = leaf(1.0)
        for _ in range(length):
            y = -y
        return len(viz.backward_steps(y, limit=1000).html)

    assert size(400) - size(200) < 2.5 * (size(200) - size(100))


def test_the_page_needs_nothing_from_elsewhere(passed):
    page = Page(passed.html)
    assert "://" not in passed.html
    assert not {"link", "img", "iframe", "object"} & {tag for tag, _ in page.elements}
    for _, attributes in page.elements:
        assert "src" not in attributes and "href" not in attributes
    assert "@import" not in passed.html
    assert set(re.findall(r"url\((.*?)\)", passed.html)) == {"#arrow"}


def test_controls_have_names_and_the_sentence_is_live(passed):
    page = Page(passed.html)
    for control in page.all("button") + page.all("input"):
        assert control["aria-label"]
    assert all(button["type"] == "button" for button in page.all("button"))
    assert {"id": "sentence", "aria-live": "polite"} in page.all("p")
    assert page.all("html") == [{"lang": "en"}]
    assert "prefers-color-scheme: dark" in passed.html
    assert "prefers-reduced-motion: reduce" in passed.html


def test_everything_is_escaped():
    evil = "</script><script>alert(1)</script><b> & \"'"
    x = leaf(1.0, 2.0)
    html = viz.backward_steps((x * 2).sum(), names={evil: x}).html
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert(1)" in html
    assert Page(html).all("b") == []
    passed = viz.backward_steps((x * 2).sum(), names={evil: x})
    assert evil in [node["called"] for node in page_states(passed)["nodes"]]


def test_a_notebook_gets_a_frame(passed):
    (frame,) = Page(passed._repr_html_()).all("iframe")
    assert frame["srcdoc"] == passed.html  # the parser undoes the escapes
    assert frame["title"]


def test_a_terminal_gets_the_list(passed):
    lines = repr(passed).splitlines()
    assert len(lines) == len(passed.steps)
    assert lines[0].startswith("1. Before anything runs")


def test_save(passed, tmp_path):
    path = passed.save(tmp_path / "steps.html")
    assert path.read_text(encoding="utf-8") == passed.html


def test_leaves_that_are_ready_together_run_in_the_order_of_the_graph():
    """All have one sequence number; addresses must not decide, or pages would differ."""
    leaves = [leaf(float(i)) for i in range(12)]
    accumulators = [x._edge() for x in reversed(leaves)]
    passed = viz.backward_steps(torch.stack(leaves).sum(), names={str(i): x for i, x in
                                                                  enumerate(leaves)})
    written = [passed.nodes[step.node].called for step in of_kind(passed, "write")]
    assert written == [str(i) for i in range(12)]
    del accumulators


def test_the_page_is_the_same_each_time():
    """Nothing in it depends on addresses or on what ran before, but for the sequence numbers."""

    def page():
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
        loss = model(torch.ones(2, 3)).sum()
        first = loss.grad_fn._sequence_nr()
        text = viz.backward_steps(loss, names=model.named_parameters()).html
        numbers = r"(sequence |#)(\d+)(?=[ )\"<])"
        return re.sub(numbers, lambda m: f"{m[1]}{int(m[2]) - first}", text)

    keep = [object() for _ in range(1000)]
    assert page() == page()
    del keep


# ---------------------------------------------------------------- values as text


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (1.0, "1"),
        ([0.5, 1 / 3], "[0.5, 0.3333], shape (2,)"),
        ([[1.0], [2.0]], "[[1], [2]], shape (2, 1)"),
        ([], "[], shape (0,)"),
        ([float("nan"), float("inf")], "[nan, inf], shape (2,)"),
        ([2.0] * 9, "9 times 2, shape (9,)"),
        ([float(i) for i in range(9)], "[0, 1, 2, …] from 0 to 8, shape (9,)"),
    ],
)
def test_values(values, text):
    tensor = torch.tensor(values)
    assert str(value_of(tensor)) == str(value_of(tensor.numpy())) == text
    assert value_of(tensor).dtype == "float32"


def test_no_value():
    assert value_of(None) is None
