"""The differences that are known: what differs, why, and a program that shows it.

A difference counts as one of these if its kind, a line of its shortened program and what both
sides say match, and if `when` says that the condition holds.  A difference in values or gradients
is known only under a condition that is looked at in the program itself, so that no pattern can
hide a wrong gradient elsewhere; what differs in structure alone (`compare.STRUCTURE`) is never
put before one in values.  `test_fuzz.py` runs each program, so that a line goes when it no longer
holds.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from .circumstances import (
    a_pass_failed,
    equal_elements,
    given_a_tensor,
    no_elements,
    not_a_number,
    of_inference_tensors,
    overlap,
    view_as_second_input,
    whole_quotient,
)
from .compare import Difference
from .program import Program

Condition = Callable[[Program, Difference], bool]


@dataclass(frozen=True)
class Known:
    """One difference."""

    name: str
    why: str
    kind: str  # a pattern of the whole of `Difference.kind`
    line: str  # a pattern somewhere in the program
    program: tuple[str, ...]
    text: str = ""  # a pattern somewhere in what both sides say
    when: Condition | None = None
    fast: bool = False  # whether it shows on the fast path alone

    def matches(self, program: Program, difference: Difference) -> bool:
        return bool(re.fullmatch(self.kind, difference.kind)
                    and re.search(self.line, "\n".join(program))
                    and re.search(self.text, f"{difference.theirs}\n{difference.ours}")
                    and (self.when is None or self.when(program, difference)))


LEAF = "t0 = torch.tensor([[1.0, 3.0, 2.0], [4.0, 6.0, 5.0]], requires_grad=True)"

#: Kinds that tell of nodes and counters, and of no value.
NODES = r"(end\.|seen\.)?(grad\.)?(grad_fn|is_view|version|output_nr|length)"

KNOWN = [
    Known("which leaf is served first", "Where a pass ends in an error, PyTorch has served other "
          "leaves by then.", r"end\.grad", r"backward\(",
          ("t0 = torch.ones(2, requires_grad=True)", "t1 = torch.ones(2, requires_grad=True)",
           "h2 = t0.register_hook(raising)", "torch.div(t0, t1).sum().backward()"),
          "None", a_pass_failed, fast=True),
    Known("one-dimensional pooling is one node", "PyTorch pools an image of height one and "
          "squeezes that away again, so its result is a view; here it is an operation itself.",
          NODES, r"F\.(adaptive_)?(avg|max)_pool1d\(", (LEAF, "t1 = F.max_pool1d(t0, 2)")),
    Known("l1_loss is one node", "PyTorch takes the mean or sum of a difference's absolute value; "
          "here the loss is an operation itself.", NODES, r"F\.l1_loss\(",
          (LEAF, "t1 = F.l1_loss(t0, t0.detach())")),
    Known("einsum is one node", "PyTorch makes it of permuted views and a batched product.",
          NODES, r"torch\.einsum\(", (LEAF, "t1 = torch.einsum('ij,kj->ik', t0, t0)")),
    Known("einsum of truth values", "PyTorch has no batched product of them; here it is one of "
          "integers.", "accepted", r"torch\.einsum\(",
          ("t0 = torch.ones(2, 2).bool()", "t1 = torch.einsum('ij,kj->ik', t0, t0)"),
          "not implemented for 'Bool'"),
    Known("var_mean is two nodes", "PyTorch has one node for both, here they are `var` and "
          "`mean`.", NODES, r"torch\.(var|std)_mean\(", (LEAF, "p1 = torch.var_mean(t0)")),
    Known("other nodes for the same formula", "A few operations are composed of others than in "
          "PyTorch.", NODES, r"F\.nll_loss\(|torch\.diag\(|addbmm|tensordot\(|bilinear\(|"
          r"F\.dropout\(|binary_cross|F\.linear\(|F\.unfold\(",
          (LEAF, "t1 = torch.diag(t0 @ t0.t())")),
    Known("inner writes are counted", "PyTorch builds these results by writing to them and their "
          "`_version` tells.", r"(end\.|seen\.)?version", r"one_hot\(|isclose\(|"
          r"(\.|torch\.)(min|max|median|mode|sort|topk|kthvalue|cummax|cummin)\(",
          ("t0 = F.one_hot(torch.tensor([1, 0]))",)),
    Known("results of inference tensors", "Outside of the mode PyTorch counts the writes inside of "
          "its own functions, and calls some results views.", r"(end\.|seen\.)?(version|is_view)",
          r"inference_mode", ("with torch.inference_mode(): t0 = torch.ones(2, 2)",
                              "t1 = t0.prod()"), when=of_inference_tensors),
    Known("a detached inference tensor", "PyTorch lets it be written to and counts that, though it "
          "still is one; here `detach()` of one is like any other inference tensor, and `.data` "
          "is a normal tensor.", r"(end\.|seen\.)?(is_inference|version)|refused",
          r"\.detach\(\)|\.data\b", ("with torch.inference_mode(): t0 = torch.ones(2)",
                                     "t1 = t0.detach().mul_(2)"),
          "Inplace update to inference tensor|True|Inference", of_inference_tensors),
    Known("freed less", "A node of PyTorch's keeps more than the formulas here use, so that a "
          "second pass or a write is refused where it can do no harm.",
          "accepted", r"copysign|index_copy|conv\w*\dd\(|slogdet|logcumsumexp|masked_fill|take\(|"
          r"addmv|addr|put\(|index_add|scatter|xlogy|maximum|minimum|clamp|lerp|batch_norm|prelu|"
          r"layer_norm|group_norm|nll_loss|gather|where|fmod|remainder|atan2|hypot|sort|topk|mode|"
          r"kthvalue|median|cummax|cummin|max\(|min\(|dropout|bmm|bernoulli|%|loss\(|zeros\(\(",
          (LEAF, "t1 = torch.copysign(torch.ones(2, 3), t0)", "t1.sum().backward()",
           "t1.sum().backward()"),
          "through the graph a second time|modified by an inplace operation"),
    Known("asinh_ has a gradient", "PyTorch forgot the derivative of the variant in place.",
          "accepted", r"a(sin|cos|tan)h_\(", (LEAF, "t1 = t0 * 1", "t1.asinh_()",
          "t1.sum().backward()"),
          "inplace version of a"),
    Known("bernoulli with a number", "PyTorch's result cannot be differentiated, here the gradient "
          "is zero as it is where the tensor has the probabilities.",
          r"(end\.)?grad_fn|accepted", r"bernoulli\(", (LEAF, "t1 = torch.bernoulli(t0, 0.5)")),
    Known("loss of two precisions", "PyTorch's result has the dtype of the first tensor alone.",
          "dtype", r"huber_loss\(|torch\.normal\(",
          ("t0 = F.huber_loss(torch.ones(2), torch.ones(2, dtype=torch.float64))",)),
    Known("addmv without columns", "PyTorch forgets to broadcast a 0-d vector that is added.",
          "value|error|accepted|refused", r"addmv\(",
          ("t0 = torch.addmv(torch.tensor(1.0), torch.ones(2, 0), torch.ones(0))",),
          when=no_elements),
    Known("equal elements", "Which of several equal elements is named, and so gets the gradient, "
          "is not defined.", r"(end\.|seen\.)?(value|grad)|(end\.)?grad\.value",
          r"topk\(|median\(|mode\(|kthvalue\(|sort\(",
          ("t0 = torch.ones(4)", "p1 = t0.topk(1)"), when=equal_elements),
    Known("integers written from what requires grad: refused later", "PyTorch marks the integers "
          "as requiring grad, and refuses them later; here they stay what they are.", "accepted",
          r"int64|bool|\.long\(\)|[<>]|==|\.topk|\.sort|\.median|\.max|\.min|is\w+\(|arg|eq_|ge_|"
          r"Parts|one_hot|mode|kthvalue|unique|nonzero",
          ("t0 = torch.zeros(3, dtype=torch.int64)", "t1 = torch.tensor(1.5, requires_grad=True)",
           "t2 = torch.index_fill(t0, 0, torch.tensor([2]), t1)"), "Autograd not support dtype"),
    Known("integers written from what requires grad: marked", "The same, as flags show it.",
          r"(end\.|seen\.)?(requires_grad|grad_fn|is_leaf)", r"int64|bool|\.long\(\)|[<>]|==",
          (LEAF, "t1 = torch.zeros(3, dtype=torch.int64)", "t1.eq_(t0[0])"),
          "True\nFalse|False\nTrue|Backward|CopySlices|AsStrided"),
    Known("empty tensors", "What PyTorch checks first, and whether it checks at all, is another "
          "thing where a tensor has no elements.", "error|accepted|refused", "",
          ("t0 = torch.zeros((0,), dtype=torch.int64)", "t1 = t0 // torch.tensor(0)"),
          when=no_elements),
    Known("a gradient taken over", "PyTorch may make what it was given the leaf's `.grad`, so that "
          "later gradients are added into the caller's memory.",
          r"end\.(grad\.)?(value|grad|version)", r"backward\(",
          ("t0 = torch.ones(2, requires_grad=True)", "t1 = t0[None]", "t1.backward(t1)",
           "(t0 * t0).sum().backward()"), when=given_a_tensor),
    Known("a saved result is shown without its history", "PyTorch shows a pack hook the result "
          "itself, so a hook that keeps it makes a cycle; here the hook gets its values.",
          r"seen\.(requires_grad|grad_fn|is_leaf|is_view|version|output_nr|grad)",
          r"saved_tensors_hooks\(", (
              LEAF, "with torch.autograd.graph.saved_tensors_hooks(lambda x: seen(x), lambda x: x):"
              " t1 = t0.exp()")),
    Known("the memory of mixed layouts", "In which order a result lies in memory whose operands "
          "lie in different orders is NumPy's choice, so what can be viewed differs.",
          "accepted|refused", r"Flat|Halves|view\(", (
              "t0 = torch.ones(2, 3)", "t1 = t0.t() - torch.ones(3, 2)", "t2 = t1.view(-1)"),
          "view size is not compatible"),
    Known("the memory of mixed layouts, in nodes", "The same: whether `contiguous` or `reshape` "
          "has to copy shows in the name of a node.", r"(end\.|seen\.)?(grad_fn|is_view)",
          r"contiguous\(\)|reshape\(|flatten\(|ravel\(", (
              "t0 = torch.ones(2, 3, 3, requires_grad=True)",
              "t1 = torch.linalg.inv(t0 + torch.eye(3))", "t2 = t1[0].contiguous()",
              "t3 = t1[..., None][..., 0].contiguous()")),
    Known("at the edge of a whole number", "Of a quotient that is whole but for rounding, either "
          "neighbour may be the floor; PyTorch's vector library and NumPy round differently.",
          r"(end\.|seen\.)?(grad\.)?(value|grad)", r"//|%|remainder|fmod|div\(",
          ("t0 = torch.tensor([[0.72, 0.73, 1.34], [1.63, 0.37, 0.91]], dtype=torch.float64)",
           "t0.tanh_()", "t1 = (t0 * 2) // torch.div(t0, 1.5)", "t2 = t0 * 2",
           "t3 = torch.div(t0, 1.5)", "t4 = t2 // t3"), when=whole_quotient),
    Known("inference tensors are refused first", "PyTorch sees that a kernel is lacking before "
          "it sees that a tensor may not be written to.", "error", r"_\(",
          ("with torch.inference_mode(): t0 = torch.ones(2).bool()", "t0.abs_()"),
          "Inplace update to inference tensor", of_inference_tensors),
    Known("the sign of a NaN", "What is no number has a sign bit, and libraries set it as they "
          "like.", r"(end\.|seen\.)?(grad\.)?(value|grad)", r"signbit|copysign",
          ("t0 = torch.tensor([-1.0]).log()", "t1 = torch.signbit(t0)"), when=not_a_number),
    Known("a write that was refused too late", "A Function has written to a view when that is "
          "refused; PyTorch leaves the history as it was, so the gradient belongs to other values. "
          "Here there is none.", r"(end\.|seen\.)?grad_fn|refused",
          r"(AddTo|Double|Into)_\.apply\(",
          (LEAF, "t1 = t0 * 1", "t2 = t1[None]", "p3 = AddTo_.apply(t2, t2)"),
          "BrokenOff|was broken off"),
    Known("a view written as a second input",
          "Where `mark_dirty` names a view that is not the first input of a Function, PyTorch "
          "takes it for the first: 6 where the derivative is 3, or no gradient at all.",
          r"(end|seen)\.(grad|value).*|accepted|refused|value", r"(Into_|AddTo_)\.apply\(", (
              LEAF, "t1 = t0 * 3", "t2 = Into_.apply(torch.ones(3), t1[0])",
              "t1.sum().backward()"), when=view_as_second_input),
    Known("memory that is read while it is written", "Where operands share memory with what is "
          "written, or it overlaps itself, PyTorch reads what it has just put there if it does "
          "not notice; here everything is read first.",
          r"(end\.|seen\.)?(grad\.)?value|end\.grad", r"_\(| [-+*/]?= ",
          ("t0 = torch.arange(4.0).view(2, 2)", "t0[:].addmm_(t0[:], t0.t())"), when=overlap),
    Known("mixed precision in addr", "PyTorch refuses the backward pass of what it has accepted.",
          "accepted", r"addr_?\(", (
              LEAF, "t1 = torch.ones(2, dtype=torch.float64, requires_grad=True)",
              "t2 = torch.addr(t0, t1, t0[0])", "t2.sum().backward()"), "same dtype"),
    Known("PyTorch's own assertions", "PyTorch reports a bug of its own: `retain_grad` is lost "
          "where a tensor's geometry was changed in place.", "accepted|error", r"_\(|_\.apply",
          (LEAF, "t1 = t0 * 1", "t1.retain_grad()", "t1.t_()", "t1.mul_(2)"),
          "INTERNAL ASSERT FAILED"),
    Known("a gradient that is a view", "PyTorch expands the gradient of a sum and hands that out; "
          "here it is a tensor of its own, which may be written to.", "accepted|error",
          r"autograd\.grad\(|\.grad\b",
          (LEAF, "g1 = torch.autograd.grad(t0.sum(), [t0])", "g1[0].detach_()"),
          "A view was created in no_grad mode|Can't detach views in-place|more than one element"),
    Known("a leaf of another shape", "A leaf's place in the graph keeps the shape that it had when "
          "it was made; here it is read when the gradient comes.", "accepted|error", r"_\(",
          (LEAF, "t1 = t0 * 2", "with torch.no_grad(): t0.t_()", "(t0 * t0).sum().backward()"),
          "returned an invalid gradient at index"),
    Known("a view that was given other memory", "A write through it is refused where it leaves the "
          "memory of its base.", "refused", r"\.data = |as_strided",
          (LEAF, "t1 = (t0 * 1).expand(2, 2, 3)", "t1.data = t1 * 2",
           "F.leaky_relu(t1, 0.1, inplace=True)"), "setStorage"),
    Known("the gradient of a bias", "PyTorch finds all gradients of a convolution in one node, so "
          "that of the bias has a history where the others have one.",
          r"(end\.|seen\.)?(grad\.)?(requires_grad|grad_fn|is_leaf)",
          r"conv\w*\dd\(", (
              "t0 = torch.ones(1, 1, 3, requires_grad=True)",
              "t1 = torch.ones(1, requires_grad=True)",
              "t2 = F.conv1d(t0, torch.ones(1, 1, 2), t1)",
              "t2.sum().backward(create_graph=True)")),
    Known("integer division in addcdiv", "PyTorch refuses integers also where the sum is of "
          "floating dtype.", "accepted", r"addcdiv",
          ("t0 = torch.addcdiv(torch.ones(2), torch.ones(2).bool(), torch.ones(2).bool())",),
          "Integer division with addcdiv"),
]


def name_of(program: Program, difference: Difference) -> str | None:
    """Return the name of the known difference that a shortened program shows."""
    return next((k.name for k in KNOWN if k.matches(program, difference)), None)
