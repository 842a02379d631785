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
    by_what_is_saved,
    equal_elements,
    ill_conditioned,
    infinite,
    infinite_mean,
    not_a_number,
    overlap,
    parallel_vectors,
    taken_over,
    view_as_second_input,
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
    left_open: bool = False  # whether PyTorch says that the result is not defined

    def matches(self, program: Program, difference: Difference) -> bool:
        return bool(re.fullmatch(self.kind, difference.kind)
                    and re.search(self.line, "\n".join(program))
                    and re.search(self.text, f"{difference.theirs}\n{difference.ours}")
                    and (self.when is None or self.when(program, difference)))


LEAF = "t0 = torch.tensor([[1.0, 3.0, 2.0], [4.0, 6.0, 5.0]], requires_grad=True)"

#: Kinds that tell of nodes and counters, and of no value.
NODES = r"(end\.|seen\.)?(grad\.)?(grad_fn|is_view|version|output_nr|length)"

#: What makes integers or truth values.
INTEGERS = (r"int64|bool|\.long\(\)|[<>]|==|\.topk|\.sort|median|\.max|\.min|cummax|cummin|is\w+\(|"
            r"arg|eq_|ge_|Parts|one_hot|mode|kthvalue|unique|nonzero")

KNOWN = [
    Known("l1_loss is one node", "PyTorch takes the mean or sum of a difference's absolute value; "
          "here the loss is an operation itself.", NODES, r"F\.l1_loss\(",
          (LEAF, "t1 = F.l1_loss(t0, t0.detach())")),
    Known("einsum is one node", "PyTorch makes it of permuted views and a batched product.",
          NODES, r"torch\.einsum\(", (LEAF, "t1 = torch.einsum('ij,kj->ik', t0, t0)")),
    Known("einsum of truth values", "PyTorch has no batched product of them; here it is one of "
          "integers.", "accepted", r"torch\.einsum\(",
          ("t0 = torch.ones(2, 2).bool()", "t1 = torch.einsum('ij,kj->ik', t0, t0)"),
          "not implemented for 'Bool'"),
    Known("other nodes for the same formula", "A few operations are composed of others than in "
          "PyTorch.", NODES, r"F\.nll_loss\(|torch\.diag\(|addbmm|tensordot\(|bilinear\(|"
          r"F\.dropout\(|binary_cross|F\.linear\(|F\.unfold\(",
          (LEAF, "t1 = torch.diag(t0 @ t0.t())")),
    Known("asinh_ has a gradient", "PyTorch forgot the derivative of the variant in place.",
          "accepted", r"a(sin|cos|tan)h_\(", (LEAF, "t1 = t0 * 1", "t1.asinh_()",
          "t1.sum().backward()"),
          "inplace version of a"),
    Known("loss of two precisions", "PyTorch's result has the dtype of the first tensor alone.",
          "dtype", r"huber_loss\(|torch\.normal\(",
          ("t0 = F.huber_loss(torch.ones(2), torch.ones(2, dtype=torch.float64))",)),
    Known("equal elements", "Which of several equal elements is named, and so gets the gradient, "
          "is not defined.", r"(end\.|seen\.)?(value|grad)|(end\.)?grad\.value",
          r"topk\(|median\(|mode\(|kthvalue\(|sort\(",
          ("t0 = torch.ones(4)", "p1 = t0.topk(1)"), when=equal_elements, left_open=True),
    Known("integers written from what requires grad: marked", "PyTorch marks the integers as "
          "requiring grad; here they stay what they are.",
          r"(end\.|seen\.)?(requires_grad|grad_fn|is_leaf)", INTEGERS,
          (LEAF, "t1 = torch.zeros(3, dtype=torch.int64)", "t1.eq_(t0[0])"),
          "True\nFalse|False\nTrue|Backward|CopySlices|AsStrided"),
    Known("a gradient taken over", "PyTorch may make what it was given the leaf's `.grad`, so that "
          "later gradients are added into the caller's memory.",
          r"(end\.|seen\.)?(grad\.)?(value|grad|version|is_leaf)", r"backward\(",
          ("t0 = torch.ones(2, requires_grad=True)", "t1 = t0[None]", "t1.backward(t1)",
           "(t0 * t0).sum().backward()"), when=taken_over),
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
              LEAF, "t1 = t0.t() - torch.ones(3, 2)", "t2 = t1.contiguous()")),
    Known("the sign of a NaN", "What is no number has a sign bit, and libraries set it as they "
          "like.", r"(end\.|seen\.)?(grad\.)?(value|grad)", r"signbit|copysign",
          ("t0 = torch.tensor([-1.0]).log()", "t1 = torch.signbit(t0)"), when=not_a_number),
    Known("what a refused Function has written to", "Where a Function is refused when its "
          "`forward` has written already, what it wrote to cannot be differentiated any more; "
          "PyTorch goes on with the history of the values before.",
          r"refused|(end\.|seen\.)?(requires_grad|is_leaf|grad_fn)", r"_\.apply\(", (
              LEAF, "t1 = t0 * 1", "p2 = AddTo_.apply(t0[0], t1[0])"),
          r"InterruptedWrite|was interrupted|^False\nTrue$"),
    Known("a hook that is to return nothing", "PyTorch hands what a post-accumulate hook returns "
          "to the next one, and refuses it when all have run; here it is refused at once.",
          r"error|refused|(seen|end)\..*", r"register_post_accumulate_grad_hook\(", (
              LEAF, "h1 = t0.register_post_accumulate_grad_hook(lambda t: t.grad.mul_(2))",
              "h2 = t0.register_post_accumulate_grad_hook(raising)", "t0.sum().backward()"),
          r"post accumulate grad hooks should return None|\[None\]\n\[\]"),
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
          ("t0 = torch.arange(4.0).view(2, 2)", "t0[:].addmm_(t0[:], t0.t())"), when=overlap,
          left_open=True),
    Known("mixed precision in addr", "PyTorch refuses the backward pass of what it has accepted.",
          "accepted", r"addr_?\(", (
              LEAF, "t1 = torch.ones(2, dtype=torch.float64, requires_grad=True)",
              "t2 = torch.addr(t0, t1, t0[0])", "t2.sum().backward()"), "same dtype"),
    Known("PyTorch's own assertions", "PyTorch reports a bug of its own: `retain_grad` is lost "
          "where a tensor's geometry was changed in place.", "accepted|error",
          r"_\(|_\.apply| [-+*/]= ",
          (LEAF, "t1 = t0 * 1", "t1.retain_grad()", "t1.t_()", "t1.mul_(2)"),
          "INTERNAL ASSERT FAILED"),
    Known("a product of transposed matrices", "PyTorch's `kron` refuses the order in memory that "
          "its own product has.", "accepted", r"torch\.kron\(",
          ("t0 = torch.kron(torch.ones(2, 3), torch.ones(3, 2).t())",),
          "view size is not compatible"),
    Known("limits that broadcast", "PyTorch combines the conditions of the gradient of `clamp` in "
          "place, so that it refuses limits of other shapes, which it has accepted.", "accepted",
          r"clamp", (LEAF, "torch.clamp(torch.ones(3), t0[0], torch.ones(2, 1)).sum().backward()"),
          "doesn't match the broadcast shape"),
    Known("truth values in a formula", "PyTorch refuses to negate, subtract or divide by the truth "
          "values or integers that the derivative of an operation names, which it has accepted.",
          "accepted|refused", r"atan2|logaddexp|addcdiv|lerp|pow", (
              LEAF, "torch.logaddexp(t0, t0 > 2).sum().backward()"),
          r"with (a|two) bool tensor|on a bool tensor|desired output type (Bool|Long|Int)"),
    Known("the second derivative of hardsigmoid", "PyTorch has none, here it is zero.", "accepted",
          r"hardsigmoid", (LEAF, "g1 = torch.autograd.grad(F.hardsigmoid(t0).sum(), [t0], "
                           "create_graph=True)", "g1[0].sum().backward()"),
          "hardsigmoid_backward is not implemented"),
    Known("zeros that cannot be written to", "PyTorch's gradient of `sgn` has no memory, and "
          "adding to it fails.", "accepted", r"sgn", (
              LEAF, "t1 = torch.sgn(t0)", "t1.sum().backward()", "t0.sum().backward()"),
          "ZeroTensors are immutable"),
    Known("the memory of a loss", "PyTorch's means and sums of some losses lie in memory that "
          "holds all elements; what is there was never written, or is left over.", "refused",
          r"F\.(mse_loss|smooth_l1_loss|soft_margin_loss|binary_cross_entropy)\(", (
              LEAF, "t1 = F.mse_loss(t0, t0)", "t1.as_strided_((2,), (1,))"), "setStorage"),
    Known("the gradient of distances is a view", "PyTorch has a node for `cdist`; here it is made "
          "of views, and the gradient that comes back through them is one.", "refused",
          r"torch\.cdist\(", (
              LEAF, "g1 = torch.autograd.grad(torch.cdist(t0, t0.detach()).sum(), [t0])",
              "g1[0].mul_(t0)"), "A view was created in no_grad mode"),
    Known("what a formula keeps", "Which tensors the formula of a derivative keeps is each "
          "library's own affair, in attention, `glu`, `logsigmoid` and others, so a pack hook that "
          "changes values changes other gradients.", r"(end\.|seen\.)?(grad\.)?(value|grad)",
          r"saved_tensors_hooks\(lambda x: x \* 2", (
              LEAF, "with torch.autograd.graph.saved_tensors_hooks(lambda x: x * 2 if "
              "x.is_floating_point() else x, lambda x: x): g1 = torch.autograd.grad("
              "F.scaled_dot_product_attention(t0, t0, t0).sum(), [t0])"), when=by_what_is_saved),
    Known("the cross product of parallel vectors", "It is zero; PyTorch multiplies and subtracts "
          "in one step, which leaves the rounding of a product.",
          r"(end\.|seen\.)?(grad\.)?(value|grad)", r"cross\(", (
              "t0 = torch.tensor([0.849, -0.098, 1.616])", "t1 = torch.linalg.cross(t0, t0) == 0"),
          when=parallel_vectors),
    Known("polygamma at infinity", "The limit is zero; PyTorch has nan but for order one.",
          r"(end\.|seen\.)?(grad\.)?(value|grad)", r"polygamma\(",
          ("t0 = torch.tensor([1.0]) / 0", "t1 = torch.polygamma(2, t0)"), when=infinite),
    Known("a hook on a view that is not what it was", "PyTorch refuses the first hook and forgets "
          "that it did, so that it takes a second one and never calls it.", "refused",
          r"register_hook\((.*\n)*.*register_hook\(", (
              LEAF, "p1 = t0.unbind()", "with torch.no_grad(): p1[0].mul_(2)",
              "h2 = p1[1].register_hook(lambda g: g)", "h3 = p1[1].register_hook(lambda g: g)"),
          "is a view and its base|A view was created in"),
    Known("singular matrices", "The inverse of a matrix that is nearly singular, and the gradient "
          "through its factors, are what rounding makes of them.",
          r"(end\.|seen\.)?(value|grad)|end\.grad\.value|accepted|refused",
          r"linalg\.(qr|svdvals|inv|pinv)\(|pinverse\(",
          ("t0 = torch.ones(3, 4, requires_grad=True)",
           "g1 = torch.autograd.grad(torch.linalg.svdvals(t0).sum(), [t0])"),
          when=ill_conditioned),
    Known("the mean of infinities", "Taken together with the variance it is nan in PyTorch.",
          r"(end\.|seen\.)?value", r"(var|std)_mean\(",
          ("t0 = torch.ones(2) / 0", "p1 = torch.var_mean(t0)"), when=infinite_mean),
    Known("the pooled gradient of nothing", "PyTorch pools nothing forward and refuses to go back.",
          "accepted", r"adaptive_avg_pool", (
              "t0 = torch.zeros((1, 0, 3), requires_grad=True)",
              "F.adaptive_avg_pool1d(t0, 2).sum().backward()"), "to have non-zero size"),
    Known("weights of a batch norm in another shape", "PyTorch refuses the backward pass of what "
          "it has accepted; here they are read as a vector.", "accepted", r"batch_norm\(", (
              LEAF, "F.batch_norm(t0, None, None, t0[:1] * 1, training=True).sum().backward()"),
          "TensorAccessor expected"),
    Known("integer division in addcdiv", "PyTorch refuses integers also where the sum is of "
          "floating dtype.", "accepted", r"addcdiv",
          ("t0 = torch.addcdiv(torch.ones(2), torch.ones(2).bool(), torch.ones(2).bool())",),
          "Integer division with addcdiv"),
]


#: Names of those for which the documentation of PyTorch defines no result.
LEFT_OPEN = {k.name for k in KNOWN if k.left_open}


def name_of(program: Program, difference: Difference) -> str | None:
    """Return the name of the known difference that a shortened program shows."""
    return next((k.name for k in KNOWN if k.matches(program, difference)), None)
