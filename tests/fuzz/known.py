"""The differences that are known: what differs, why, and a program that shows it.

A difference counts as one of these if its kind, and a line of its shortened program, match.
`test_known.py` runs each program, so that a line goes when it no longer holds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .compare import Difference
from .program import Program


@dataclass(frozen=True)
class Known:
    """One difference."""

    name: str
    why: str
    kind: str  # a pattern of the whole of `Difference.kind`
    line: str  # a pattern somewhere in the program
    program: tuple[str, ...]
    text: str = ""  # a pattern somewhere in what both sides say

    def matches(self, program: Program, difference: Difference) -> bool:
        return bool(re.fullmatch(self.kind, difference.kind)
                    and re.search(self.line, "\n".join(program))
                    and re.search(self.text, f"{difference.theirs}\n{difference.ours}"))


LEAF = "t0 = torch.tensor([[1.0, 3.0, 2.0], [4.0, 6.0, 5.0]], requires_grad=True)"
MANY = r"(end\.|seen\.)?(grad_fn|is_view|version|output_nr|length)"

KNOWN = [
    Known("one-dimensional pooling is one node", "PyTorch pools an image of height one and "
          "squeezes that away again, so its result is a view; here it is an operation itself.",
          MANY, r"F\.(adaptive_)?(avg|max)_pool1d\(", (LEAF, "t1 = F.max_pool1d(t0, 2)")),
    Known("l1_loss is one node", "PyTorch takes the mean or sum of a difference's absolute value; "
          "here the loss is an operation itself.", MANY, r"F\.l1_loss\(",
          (LEAF, "t1 = F.l1_loss(t0, t0.detach())")),
    Known("einsum is one node", "PyTorch makes it of permuted views and a batched product.",
          MANY, r"torch\.einsum\(", (LEAF, "t1 = torch.einsum('ij,kj->ik', t0, t0)")),
    Known("var_mean is two nodes", "PyTorch has one node for both, here they are `var` and "
          "`mean`.", MANY, r"torch\.(var|std)_mean\(", (LEAF, "p1 = torch.var_mean(t0)")),
    Known("inner writes are counted", "PyTorch builds these results by writing to them and their "
          "`_version` tells.", r"(end\.)?version", r"one_hot\(|isclose\(|torch\.(min|max)\(|\.(min|"
          r"max|median|mode|sort|topk|kthvalue|cummax|cummin)\(",
          ("t0 = F.one_hot(torch.tensor([1, 0]))",)),
    Known("freed less", "A node of PyTorch's may keep more than its formulas will use, or looks at "
          "all of it, so that a second pass or a write is refused where it could do no harm.",
          "accepted", "backward|grad", (
              LEAF, "t1 = torch.copysign(torch.ones(2, 3), t0)", "t1.sum().backward()",
              "t1.sum().backward()"),
          "through the graph a second time|modified by an inplace operation"),
    Known("asinh_ has a gradient", "PyTorch forgot the derivative of the variant in place.",
          "accepted", r"a(sin|cos|tan)h_\(", (LEAF, "t1 = t0 * 1", "t1.asinh_()",
          "t1.sum().backward()"),
          "inplace version of a"),
    Known("bernoulli with a number", "PyTorch's result cannot be differentiated, here the gradient "
          "is zero as it is where the tensor has the probabilities.", r"(end\.)?grad_fn|accepted",
          r"bernoulli\(", (LEAF, "t1 = torch.bernoulli(t0, 0.5)")),
    Known("loss of two precisions", "PyTorch's result has the dtype of the first tensor alone.",
          "dtype", r"huber_loss\(|torch\.normal\(",
          ("t0 = F.huber_loss(torch.ones(2), torch.ones(2, dtype=torch.float64))",)),
    Known("addmv without columns", "PyTorch forgets to broadcast a 0-d vector that is added.",
          "value|error|accepted|refused", r"addmv\(",
          ("t0 = torch.addmv(torch.tensor(1.0), torch.ones(2, 0), torch.ones(0))",)),
    Known("masked_scatter_ of what is written", "PyTorch reads, from the tensor itself, what it "
          "has just written.", r"(end\.)?value|end\.grad", r"(t\d+)\.masked_scatter_\(.*\1\)",
          ("t0 = torch.tensor([3.0, 1.0, 2.0])", "t0.masked_scatter_(t0 < 3, t0)")),
    Known("equal elements", "Which of several equal elements is named is not defined.",
          r"(end\.)?(value|grad)", r"topk\(|median\(|mode\(|kthvalue\(",
          ("t0 = torch.ones(4)", "p1 = t0.topk(1)")),
    Known("other nodes for the same formula", "A few operations are composed of others than in "
          "PyTorch: batched products, the mean as a pool of one cell, losses of more dimensions, "
          "the diagonal of a matrix.",
          MANY, r"@|matmul\(|F\.linear\(|adaptive_avg_pool2d\(.*\(1, 1|"
          r"nll_loss\(|torch\.diag\(|addbmm|tensordot\(|bilinear\(|F\.dropout\(|binary_cross",
          ("t0 = torch.ones(2, 2, 2, requires_grad=True)", "t1 = t0 @ t0")),
    Known("products that read what they write", "PyTorch does not notice that a factor lies in the "
          "memory that is written, and reads what it has just put there.",
          r"(end\.)?(grad\.)?value|end\.grad|seen",
          r"\.add(b?mm|mv|r)_\(|baddbmm_\(|fmod_\(|remainder_",
          ("t0 = torch.arange(4.0).view(2, 2)", "t0[:].addmm_(t0[:], t0.t())")),
    Known("integers written from what requires grad", "PyTorch marks the integers as requiring "
          "grad, and refuses them later; here they stay what they are.",
          r"(end\.)?requires_grad|accepted|(end\.)?(grad_fn|is_leaf)",
          r"dtype=torch\.(bool|int64)|\.(long|bool)\(\)|[<>]|==|\.topk|\.sort|\.median|\.max|\.min",
          (LEAF, "t1 = torch.zeros(3, dtype=torch.int64)", "t1.eq_(t0[0])"),
          "Autograd not support dtype|True\nFalse|CopyBackwards|CopySlices|AsStrided|False\nTrue"),
    Known("empty tensors", "What PyTorch checks first, and whether it checks at all, is another "
          "thing where a tensor or a batch has no elements.", "error|accepted|refused|version",
          r"torch\.zeros\(\((0|\d, 0|.* 0)[,)]|\[0:0\]|topk\(\w+, 0\)",
          ("t0 = torch.zeros((0, 3))", "t0.index_fill_(0, torch.tensor([0]), 2.0)")),
    Known("a mask and one value", "PyTorch turns it into `masked_fill_`, which casts the value.",
          "refused|error|accepted", r"\[.*(>|==|<|mask|bool|True).*\] = |index_put_\(",
          ("t0 = torch.tensor([1, 2])", "t0[t0 > 1] = torch.tensor([0.5])"),
          "destination dtypes match"),
    Known("a gradient that requires grad",
          "What is given as the first gradient is seen by hooks as "
          "it is in PyTorch; here they see its values.", r"seen\.requires_grad", r"backward\(",
          (LEAF, "t1 = t0 * 1", "h2 = t1.register_hook(lambda g: seen(g))", "t1.backward(t1)")),
    Known("a gradient taken over", "PyTorch may make what it was given the leaf's `.grad`, so that "
          "later gradients are added into the caller's memory.",
          r"end\.(grad\.)?(value|grad|version)",
          r"backward\(t\d|grad = t", (
              "t0 = torch.ones(2, requires_grad=True)", "t1 = t0[None]", "t1.backward(t1)",
              "(t0 * t0).sum().backward()")),
    Known("kinks that are one node", "PyTorch's derivative of a pool or a choice has a history, "
          "here it has none.", r"(end\.)?(grad\.)?requires_grad|accepted|refused|seen\..*",
          r"pool\dd\(|nll_loss\(|conv\w*\dd\(|layer_norm\(|batch_norm\(|prod\(|slogdet\(",
          ("t0 = torch.ones(1, 4, 4, requires_grad=True)", "t1 = F.avg_pool2d(t0, 2)",
           "g2 = torch.autograd.grad(t1.sum(), [t0], create_graph=True)")),
    Known("results of inference tensors", "Outside of the mode PyTorch counts the writes inside of "
          "its own functions.", r"(end\.)?version", r"inference_mode",
          ("with torch.inference_mode(): t0 = torch.ones(2, 2)", "t1 = t0.prod()")),
    Known("cumulating truth values in place", "PyTorch names the kernel that it lacks, here it is "
          "that the result does not fit.", "error|refused", r"cum(sum|prod)_\(",
          ("t0 = torch.tensor([True, False])", "t0.cumsum_(0)")),
    Known("a saved result is shown without its history", "PyTorch shows a pack hook the result "
          "itself, so a hook that keeps it makes a cycle; here the hook gets its values.",
          r"seen\..*|(end\.)?(grad\.)?(value|requires_grad)", r"saved_tensors_hooks\(", (
              LEAF, "with torch.autograd.graph.saved_tensors_hooks(lambda x: seen(x), lambda x: x):"
              " t1 = t0.exp()")),
    Known("the memory of mixed layouts", "In which order a result lies in memory whose operands "
          "lie in different orders is NumPy's choice, so what can be viewed differs.",
          "accepted|refused", r"Flat|view\(", (
              "t0 = torch.ones(2, 3)", "t1 = t0.t() - torch.ones(3, 2)", "t2 = t1.view(-1)"),
          "view size is not compatible"),
    Known("a gradient in a pass that is recorded", "PyTorch adds it to `.grad` in a new tensor; "
          "here in place as long as neither has a history.",
          r"(end|seen)\.(grad\.)?(value|version|grad)",
          r"backward\(.*create_graph=True", (
              LEAF, "t0.sum().backward()", "t1 = t0.grad",
              "t0.sum().backward(create_graph=True)")),
    Known("a Function's written input keeps its gradient",
          "PyTorch sets `.grad` of what a Function "
          "has marked as dirty to None, a retained one too.", r"(end|seen)\.grad.*",
          r"(AddTo|Double)_\.apply\(", (
              LEAF, "t1 = t0 * 1", "t1.retain_grad()", "t1.sum().backward()",
              "t2 = Double_.apply(t1)")),
    Known("windows that overlap",
          "A write to windows that share elements reads, in PyTorch, what it "
          "has just written.", r"(end\.)?(grad\.)?value|end\.grad.*", r"\.unfold\(|as_strided", (
              "t0 = torch.tensor([2.0, 3.0, 5.0])", "t1 = t0.unfold(0, 2, 1)", "t1.pow_(2)")),
    Known("a view written as a second input",
          "Where `mark_dirty` names a view that is not the first input of a Function, PyTorch "
          "takes it for the first: 6 where the derivative is 3, or no gradient at all.",
          r"(end|seen)\.(grad|value).*|accepted|refused", r"Into_\.apply\(", (
              LEAF, "t1 = t0 * 3", "t2 = Into_.apply(torch.ones(3), t1[0])",
              "t1.sum().backward()")),
    Known("mixed precision in addr", "PyTorch refuses the backward pass of what it has accepted.",
          "accepted", r"addr_?\(", (
              LEAF, "t1 = torch.ones(2, dtype=torch.float64, requires_grad=True)",
              "t2 = torch.addr(t0, t1, t0[0])", "t2.sum().backward()"), "same dtype"),
]


def name_of(program: Program, difference: Difference) -> str | None:
    """Return the name of the known difference that a shortened program shows."""
    return next((k.name for k in KNOWN if k.matches(program, difference)), None)
