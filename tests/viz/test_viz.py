"""Graphs as text, as Graphviz's language and, where its program is installed, as pictures."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import minigrad as torch
from minigrad import viz
from minigrad.autograd import Function

ROOT = Path(__file__).resolve().parents[2]
needs_dot = pytest.mark.skipif(
    shutil.which("dot") is None, reason="the program dot (Graphviz) is not installed"
)


def without_numbers(text: str) -> str:
    """Sequence numbers count per thread, so they depend on what ran before."""
    return re.sub(r"#\d+", "#", text)


def example():
    a = torch.tensor(2.0, requires_grad=True)
    b = torch.tensor([0.5, 1.0], requires_grad=True)
    c = a * b
    d = c.exp()
    f = (d + c * 3).sum()
    return dict(a=a, b=b, c=c, d=d, f=f)


TREE = """\
f ()
└0─ SumBackward0 # = f
   └0─ AddBackward0 #
      ├0─ ExpBackward # = d
      │  └0─ MulBackward0 # = c
      │     ├0─ AccumulateGrad a ()
      │     └0─ AccumulateGrad b (2,)
      └0─ MulBackward0 #
         ├0─ MulBackward0 # = c (see above)
         └0─ None"""


def test_tree():
    tensors = example()
    picture = viz.graph(tensors["f"], tensors)
    assert without_numbers(picture.tree()) == TREE
    assert repr(picture) == picture.tree()
    assert f"ExpBackward #{tensors['d'].grad_fn._sequence_nr()} = d" in picture.tree()


def test_names_are_optional_and_may_hold_anything():
    tensors = example()
    tree = without_numbers(viz.graph(tensors["f"]).tree())
    assert tree.startswith("result ()\n└0─ SumBackward0 #\n")
    assert "AccumulateGrad (2,)" in tree
    assert viz.graph(tensors["f"], tensors | {"n": 3, "s": "text"}).tree() == (
        viz.graph(tensors["f"], tensors).tree()
    )


def test_a_tensor_called_by_its_own_name():
    x = torch.tensor([1.0], requires_grad=True)
    x.name = "weights"
    assert "AccumulateGrad weights (1,)" in viz.graph(x * 2).tree()


def test_several_results_share_one_graph():
    tensors = example()
    picture = viz.graph([tensors["d"], tensors["f"]], tensors)
    lines = without_numbers(picture.tree()).splitlines()
    assert lines[:2] == ["d (2,)", "└0─ ExpBackward # = d"]
    assert "f ()" in lines
    assert "      ├0─ ExpBackward # = d (see above)" in lines
    assert len(picture.nodes) == 7


def test_a_leaf_alone():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    assert viz.graph(x, {"x": x}).tree() == "x (2,)\n└0─ AccumulateGrad x (2,)"


def test_without_a_graph():
    with pytest.raises(ValueError, match="does not require grad"):
        viz.graph(torch.tensor(1.0))


def test_output_numbers():
    class Both(Function):
        @staticmethod
        def forward(ctx, x):
            return x + 1, x * 2

        @staticmethod
        def backward(ctx, one, two):
            return one + 2 * two

    first, second = Both.apply(torch.tensor(1.0, requires_grad=True))
    assert without_numbers(viz.graph(second.exp()).tree()).splitlines()[2] == (
        "   └1─ BothBackward #"
    )
    picture = viz.graph([first, second], {"one": first, "two": second})
    assert without_numbers(picture.tree()).splitlines()[:2] == [
        "one ()",
        "└0─ BothBackward # = one = two",
    ]
    assert 'r1 -> n0 [label=" 1"]' in picture.dot


def test_dot():
    tensors = example()
    text = without_numbers(viz.graph(tensors["f"], tensors).dot)
    nodes = dict(re.findall(r'^  ([nr]\d+) \[label="([^"]*)"', text, re.MULTILINE))
    assert sorted(nodes.values()) == sorted(
        [
            "f ()",
            "SumBackward0 # = f",
            "AddBackward0 #",
            "ExpBackward # = d",
            "MulBackward0 # = c",
            "MulBackward0 #",
            "AccumulateGrad a ()",
            "AccumulateGrad b (2,)",
        ]
    )
    edges = re.findall(r'^  ([nr]\d+) -> (n\d+) \[label=" (\d)"\]', text, re.MULTILINE)
    assert sorted((nodes[a], nodes[b], nr) for a, b, nr in edges) == sorted(
        [
            ("f ()", "SumBackward0 # = f", "0"),
            ("SumBackward0 # = f", "AddBackward0 #", "0"),
            ("AddBackward0 #", "ExpBackward # = d", "0"),
            ("AddBackward0 #", "MulBackward0 #", "0"),
            ("ExpBackward # = d", "MulBackward0 # = c", "0"),
            ("MulBackward0 #", "MulBackward0 # = c", "0"),
            ("MulBackward0 # = c", "AccumulateGrad a ()", "0"),
            ("MulBackward0 # = c", "AccumulateGrad b (2,)", "0"),
        ]
    )
    assert text.count('[label="None"') == 1


def test_dot_escapes_names():
    x = torch.tensor(1.0, requires_grad=True)
    text = viz.graph(x * 2, {'a "b"\\n': x}).dot
    assert r'label="AccumulateGrad a \"b\"\\n ()"' in text


def test_saved_tensors_are_shown():
    tensors = example()
    picture = viz.graph(tensors["f"], tensors, saved=True)
    assert "│  saved result = d (2,) float32" in picture.tree()
    assert "│  saved self = a () float32" in picture.tree()
    assert picture.tree().count("saved self") == 1  # of a * b; c * 3 keeps only the number
    assert picture.dot.count("shape=note") == picture.tree().count("saved ")
    tensors["f"].backward()
    assert "saved result: freed" in picture.tree()


def test_what_a_function_saved_is_shown():
    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return 2 * x

        @staticmethod
        def backward(ctx, grad):
            return 2 * grad

    y = Double.apply(torch.tensor([1.0], requires_grad=True))
    assert "saved saved_tensors[0] (1,) float32" in viz.graph(y, saved=True).tree()


def test_saved_bytes_count_each_memory_once():
    x = torch.ones(100, requires_grad=True)
    y = x.exp()
    assert [t.nbytes for t in viz.saved_tensors(y)] == [400]
    z = y * y  # keeps the result of exp, which exp keeps too
    assert sum(t.nbytes for t in viz.saved_tensors(z)) == 400
    assert sum(t.nbytes for t in viz.saved_tensors([y * x, z])) == 800
    assert viz.saved_tensors(x + 1) == []
    with torch.no_grad():
        assert viz.saved_tensors(x.exp()) == []


def test_walk_gives_each_node_once_nearest_first():
    tensors = example()
    names = [node.name() for node in viz.walk([tensors["f"].grad_fn])]
    assert names == [
        "SumBackward0",
        "AddBackward0",
        "ExpBackward",
        "MulBackward0",
        "MulBackward0",
        "AccumulateGrad",
        "AccumulateGrad",
    ]


def test_a_deep_graph_is_cut_and_says_so():
    x = torch.tensor(0.0, requires_grad=True)
    y = x
    for _ in range(20_000):
        y = -y
    picture = viz.graph(y, limit=10)
    assert len(picture.nodes) == 10
    assert picture.tree().count("NegBackward") == 10
    assert picture.tree().splitlines()[-2].endswith("└0─ …")
    assert picture.tree().endswith(
        "(only the 10 nodes nearest to the result are shown; limit= shows more)"
    )
    assert "only the 10 nodes" in picture.dot
    whole = viz.graph(y, limit=30_000)
    assert len(whole.nodes) == 20_001
    assert not whole.note
    assert whole.dot.count("NegBackward") == 20_000


def test_what_is_missing_is_named(monkeypatch):
    picture = viz.graph(example()["f"])
    monkeypatch.setitem(sys.modules, "graphviz", None)
    with pytest.raises(ImportError, match=r"Python package graphviz.*pip install -e '\.\[tour\]'"):
        picture.svg()
    assert picture._repr_svg_() is None


def test_a_missing_program_is_named(monkeypatch, tmp_path):
    pytest.importorskip("graphviz", reason="the Python package graphviz is not installed")
    picture = viz.graph(example()["f"])
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RuntimeError, match=r"program dot.*apt install graphviz"):
        picture.svg()
    assert picture._repr_svg_() is None


@needs_dot
def test_svg(tmp_path):
    pytest.importorskip("graphviz", reason="the Python package graphviz is not installed")
    tensors = example()
    picture = viz.graph(tensors["f"], tensors, saved=True)
    text = picture.svg(tmp_path / "graph.svg")
    assert (tmp_path / "graph.svg").read_text(encoding="utf-8") == text == picture._repr_svg_()
    assert text.lstrip().startswith("<?xml")
    for shown in ("AccumulateGrad b (2,)", "= d</text>", "saved result = d (2,) float32"):
        assert shown in text


def test_drawing_does_not_need_graphviz_installed():
    code = (
        "import sys\n"
        "sys.modules['graphviz'] = None\n"
        "import minigrad as torch\n"
        "from minigrad import viz\n"
        "x = torch.tensor(1.0, requires_grad=True)\n"
        "print(viz.graph(-x, {'x': x}).tree())\n"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout == "result ()\n└0─ NegBackward #0\n   └0─ AccumulateGrad x ()\n"


def test_shapes_are_shown_on_request():
    tensors = example()
    tree = viz.graph(tensors["f"], tensors, shapes=True).tree()
    assert re.search(r"SumBackward0 #\d+ = f \(\)$", tree, re.MULTILINE)
    assert re.search(r"MulBackward0 #\d+ = c \(2,\)$", tree, re.MULTILINE)
    assert "AccumulateGrad b (2,)\n" in tree


def network():
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
    return model, model(torch.ones(2, 3)).sum()


def test_named_parameters_are_names():
    model, loss = network()
    tree = viz.graph(loss, model.named_parameters()).tree()
    for name, parameter in model.named_parameters():
        assert f"AccumulateGrad {name} {tuple(parameter.shape)}" in tree
    assert tree == viz.graph(loss, dict(model.named_parameters())).tree()


def test_parameters_of_one_module_are_framed_together():
    model, loss = network()
    text = viz.graph(loss, model.named_parameters()).dot
    numbers = {label: n for n, label in re.findall(r"(n\d+) \[label=\"AccumulateGrad (\S+)", text)}
    frames = re.findall(r'subgraph cluster_\d { label="(\d)";.*; (n\d+); (n\d+) }', text)
    assert [(label, {one, two}) for label, one, two in frames] == [
        (m, {numbers[f"{m}.weight"], numbers[f"{m}.bias"]}) for m in ("0", "2")
    ]
    assert "subgraph" not in viz.graph(example()["f"], example()).dot


def test_a_notebook_gets_tree_text_and_picture(monkeypatch, tmp_path):
    tensors = example()
    picture = viz.graph(tensors["f"], tensors)
    bundle = picture._repr_mimebundle_()
    assert bundle["text/plain"] == picture.tree()
    assert bundle["text/vnd.graphviz"] == picture.dot
    monkeypatch.setitem(sys.modules, "graphviz", None)
    assert picture._repr_mimebundle_().keys() == {"text/plain", "text/vnd.graphviz"}


def test_in_a_browser_the_page_draws(monkeypatch, tmp_path):
    picture = viz.graph(example()["f"])
    monkeypatch.setattr(sys, "platform", "emscripten")
    page = SimpleNamespace(minigradDrawDot=lambda dot: f"<svg>{len(dot)}</svg>")
    monkeypatch.setitem(sys.modules, "js", page)
    expected = f"<svg>{len(picture.dot)}</svg>"
    assert picture.svg(tmp_path / "graph.svg") == picture._repr_svg_() == expected
    assert (tmp_path / "graph.svg").read_text(encoding="utf-8") == expected


def test_in_a_browser_without_viz_js_the_tree_is_left(monkeypatch):
    picture = viz.graph(example()["f"])
    monkeypatch.setattr(sys, "platform", "emscripten")
    monkeypatch.setitem(sys.modules, "js", SimpleNamespace())
    with pytest.raises(RuntimeError, match=r"viz-js.*minigradDrawDot"):
        picture.svg()
    assert picture._repr_mimebundle_().keys() == {"text/plain", "text/vnd.graphviz"}


@needs_dot
def test_dot_takes_frames_and_saved_tensors():
    model, loss = network()
    text = viz.graph(loss, model.named_parameters(), saved=True, shapes=True).dot
    run = subprocess.run(["dot", "-Tplain"], input=text, capture_output=True, encoding="utf-8")
    assert run.returncode == 0 and not run.stderr
    drawn = re.findall(r"^  [nrs]\w+ \[label=", text, re.MULTILINE)
    assert run.stdout.count("\nnode ") == len(drawn)
