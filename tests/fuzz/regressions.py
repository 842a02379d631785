"""Programs on which minigrad once differed from PyTorch, shortened, by what was wrong."""

from __future__ import annotations

LEAF = "t0 = torch.tensor([[1.0, 3.0, 2.0], [4.0, 6.0, 5.0]], requires_grad=True)"

PROGRAMS: dict[str, tuple[str, ...]] = {
    "a NumPy scalar is expanded twice": (
        LEAF, "t1 = t0.log().sum(-1, keepdim=True)", "t1.mean().backward()"),
    "requires_grad of a non-leaf cannot be set": (
        LEAF, "t1 = t0 * 1", "t1.requires_grad = True"),
    "a leaf that no longer requires grad gets none": (
        LEAF, "t1 = t0[...]", "t0.requires_grad = False", "t1.mean().backward()"),
    "a leaf that became the result of a write": (
        LEAF, "t1 = t0 * 2", "t0.requires_grad_(False)", "t0[0] = t1[1]",
        "t0.sum().backward()"),
    "comparing in place has zero gradient": (
        LEAF, "t1 = t0 * 2", "t1.eq_(1.0)", "t1.sum().backward()"),
    "comparing a view in place": (
        LEAF, "t1 = t0 * 2", "t1[0].ge_(2.0)", "t1.sum().backward()"),
    "logical in place leaves the history": (
        LEAF, "t1 = t0 * 2", "t1.logical_not_()", "t1.sum().backward()", "t0.logical_and_(t1)"),
    "floor division has no derivative": (
        LEAF, "t1 = t0 // 2", "(t1 * t0).sum().backward()"),
    "heaviside has no derivative": (
        LEAF, "t1 = torch.heaviside(t0, t0)", "t1.sum().backward()"),
    "a weight of a loss cannot require grad": (
        LEAF, "t1 = F.binary_cross_entropy_with_logits(t0, t0.detach(), weight=t0)"),
    "running moments cannot require grad": (
        LEAF, "t1 = F.batch_norm(t0, t0[0], t0[1].detach(), training=True)"),
    "a Function that writes to a view of a leaf": (
        LEAF, "t1 = Double_.apply(t0[0])"),
    "a Function that writes to a leaf without recording": (
        LEAF, "with torch.no_grad(): t1 = Double_.apply(t0)", "seen(t1)"),
    "a Function that returns a view without recording": (
        LEAF, "with torch.no_grad(): t1 = Flat.apply(t0[1:])", "seen(t1)"),
    "inference mode checks no leaf": (
        LEAF, "with torch.inference_mode(): t1 = t0.mul_(2)", "seen(t0)"),
    "a post-accumulate hook returns nothing": (
        LEAF, "h1 = t0.register_post_accumulate_grad_hook(lambda t: t.grad)",
        "t0.sum().backward()"),
    "a gradient with a history is added to in place": (
        LEAF, "(t0 * t0).sum().backward(create_graph=True)", "t0.sum().backward()"),
    "erfinv keeps what it was given": (
        LEAF, "t1 = torch.erfinv(t0 / 10)", "t1.sign_()", "t1 = torch.erfinv(t0 / 10)",
        "t2 = t1 * 1", "with torch.no_grad(): t1.zero_()", "t2.sum().backward()"),
    "what cannot be differentiated raises before leaves are served": (
        LEAF, "t1 = torch.ones(2, requires_grad=True)", "t2 = t0 // 2",
        "torch.autograd.backward([t1.sum(), t2.sum()])"),
    "a recorded write of indices to what was made without recording": (
        "t0 = torch.tensor(1.5, requires_grad=True)", "g1 = torch.autograd.grad(t0.sum(), [t0])",
        "g1[0].index_put_((torch.tensor([0]),), t0)"),
    "one more hook for a view that lost its history": (
        LEAF, "t1 = t0 * 1", "p2 = t1.unbind()", "h3 = p2[1].register_hook(lambda g: g * 2)",
        "t1.sin_()", "h4 = p2[1].register_hook(lambda g: g * 3)"),
    "two gradients of the least of one number": (
        "t0 = torch.tensor(1.5, requires_grad=True)", "t1 = torch.min(t0, 0)",
        "g2 = torch.autograd.grad(t1[0], [t0, t1[0]])", "g2[1].mul_(2)"),
    "logcumsumexp of a number looks at its dimension": (
        "t0 = torch.tensor(1.5)", "t1 = torch.logcumsumexp(t0, -2)"),
    "polygamma of a negative zero": (
        "t0 = torch.tensor([0.0, -0.0, -1.0])", "t1 = torch.polygamma(2, t0)"),
    "the gradient of qr is no view": (
        LEAF, "g1 = torch.autograd.grad(torch.linalg.qr(t0)[1].abs().sum(), [t0])",
        "g1[0].mul_(t0)"),
    "a view of a changed base is an input of backward": (
        LEAF, "t1 = torch.ones(2, 3)", "t2 = t1[0]", "t2[-1:] = t0[0, :1]",
        "(t1 * t1).sum().backward(inputs=[t2])", "seen(t2)"),
    "of leaves that are ready the first is served first": (
        LEAF, "t1 = torch.ones(3, requires_grad=True)", "h2 = t0.register_hook(raising)",
        "torch.div(t0, t1).sum().backward()", "torch.rsub(t0, t1).sum().backward()"),
    "of leaves that are ready the first is served first, with a graph": (
        LEAF, "t1 = torch.ones(3, requires_grad=True)", "h2 = t0.register_hook(lambda g: 3)",
        "torch.atan2(t0, t1).sum().backward(create_graph=True)"),
    "no way back from a view made without recording": (
        LEAF, "with torch.no_grad(): t1 = t0.reshape(-1)", "t1.backward(torch.ones_like(t1))"),
    "a view of a base that was detached and written to": (
        LEAF, "t1 = t0 * 1", "t2 = t1[:, None]", "t1.detach_()", "t3 = t1.neg_()", "seen(t2)"),
    "fill_ by a tensor refuses repeated memory": (
        "t0 = torch.ones(()).expand(2, 3)", "t0[0] = 1.5"),
    "masked_fill_ and index_fill_ accept repeated memory": (
        "t0 = torch.ones(1, 3).expand(2, 3)", "t0.masked_fill_(t0 > 0, 2.0)",
        "t0.index_fill_(0, torch.tensor([1]), 3.0)", "t0.t_()", "t0.unsqueeze_(0)"),
    "index_put_ of itself": (
        "t0 = torch.arange(3)", "t0.index_put_((t0,), torch.tensor(1))"),
    "index_add_, index_copy_, scatter_ and put_ of itself": (
        "t0 = torch.ones(3, 3)", "t1 = torch.arange(3)", "t0.index_add_(0, t1, t0)",
        "t0.index_copy_(0, t1, t0)", "t0.scatter_(0, torch.zeros_like(t0).long(), t0)",
        "t0.put_(torch.zeros_like(t0).long(), t0)"),
    "lerp_ of its own transpose": (
        "t0 = torch.arange(9.0).view(3, 3)", "t0.lerp_(t0.t(), 0.5)"),
    "a mask writes one of its own elements": (
        "t0 = torch.arange(6.0)", "t0[t0 > 2] = t0[2]"),
    "copy_ of one of its own elements": (
        "t0 = torch.arange(3.0)", "t0.copy_(t0[0])"),
    "integers are written from what requires grad": (
        LEAF, "t1 = torch.zeros(2, 3, dtype=torch.int64)", "with torch.no_grad(): t1[None] = t0"),
    "truth values are not subtracted": (
        LEAF, "t1 = t0 - (t0 > 2)", "t2 = 1 - (t0 > 2)", "t3 = t0 - True",
        "t0.detach().sub_(t0 > 2)"),
    "truth values are not multiplied as matrices": (
        "t0 = torch.ones(2, 2).bool()", "t1 = t0 @ t0", "t2 = t0[0] @ t0[0]", "t3 = t0 @ t0[0]"),
    "true plus twice true": (
        "t0 = torch.tensor([True, False])", "t1 = torch.add(t0, t0, alpha=2)"),
    "norms want one dtype": (
        LEAF, "t1 = F.layer_norm(t0, (3,), t0[0].double())",
        "t2 = F.group_norm(t0[None], 2, t0[:, 0].double())"),
    "a saved tensor is shown as it is": (
        LEAF, "with torch.autograd.graph.saved_tensors_hooks(lambda x: seen(x), lambda x: x): "
        "t1 = t0 * t0"),
    "the weight of lerp is no saved tensor": (
        LEAF, "t1 = torch.lerp(t0, t0, 0.5)", "t1.sum().backward()", "t1.sum().backward()"),
    "one gradient for an input that is named twice": (
        LEAF, "g1 = torch.autograd.grad(t0.sum(), [t0, t0])", "g1[0].transpose_(0, 1)"),
    "a kink has a derivative of zero": (
        LEAF, "g1 = torch.autograd.grad(t0.relu().sum(), [t0], create_graph=True)",
        "g1[0].sum().backward()"),
    "a slope of zero or one": (
        LEAF, "g1 = torch.autograd.grad(F.leaky_relu(t0 - 3).sum(), [t0], create_graph=True)",
        "g1[0].sum().backward()"),
    "losses broadcast before they promote": (
        "t0 = F.mse_loss(torch.tensor(1.0, dtype=torch.float64), torch.ones(2, 3))",),
    "an index is looked at after the leaf": (
        "t0 = torch.tensor(1.0, requires_grad=True)", "t0.index_put_((torch.tensor([0]),), t0)"),
    "movedim of a number is a view": (
        "t0 = torch.tensor(1.0, requires_grad=True)", "t1 = t0.movedim(0, -1)"),
    "a transposed product of batches has PyTorch's nodes": (
        "t0 = torch.ones(2, 2, 2, requires_grad=True)", "t1 = t0 @ t0", "t2 = t0[0] @ t0",
        "t3 = t0 @ t0[0, 0]", "t4 = t0[0, 0] @ t0", "t5 = t0[0, 0] @ t0[0]",
        "(t1 + t2 + t4).sum().backward()", "seen(t0, t2, t3, t5)"),
    "retain_grad stays where a geometry is changed in place": (
        LEAF, "t1 = t0 * 1", "t1.sum().backward(inputs=[t1])", "t1.t_()", "t1.mean().backward()"),
    "the nodes at which a pass ends look at what they saved": (
        LEAF, "t1 = t0.exp()", "t1.sum().backward()", "(t1 * t1).sum().backward(inputs=[t1])"),
    "the hooks of a single root run": (
        LEAF, "t1 = torch.ones(2, requires_grad=True)", "h2 = t1.register_hook(lambda g: 3)",
        "t1.backward(t1, inputs=[t0])", "g1 = torch.autograd.grad(t1, [t0], t1)"),
    "a node without gradients looks at what it saved": (
        LEAF, "t1 = t0.exp()", "t2 = Nothing.apply(t1)", "t1.sum().backward()",
        "t2.sum().backward()"),
    "a write through a view is gone back through once": (
        LEAF, "t1 = t0 * 1", "t1[0] = 0", "t1.sum().backward()", "t1.sum().backward()"),
    "what a Function has written to loses its gradient": (
        LEAF, "t1 = t0 * 1", "t1.retain_grad()", "t1.sum().backward()", "t2 = Double_.apply(t1)"),
    "a pass that is recorded adds to .grad in a new tensor": (
        LEAF, "t0.sum().backward()", "t1 = t0.grad[0]", "t0.sum().backward(create_graph=True)"),
    "hooks see a gradient that requires grad": (
        LEAF, "t1 = t0 * 1", "h2 = t1.register_hook(lambda g: seen(g))", "t1.backward(t1)",
        "t2 = t0.exp()", "h3 = t2.register_hook(lambda g: seen(g))",
        "g4 = torch.autograd.grad(t2, [t0], t2)"),
    "a gradient of another shape than .grad": (
        LEAF, "t0.sum().backward()", "t0.grad.t_()", "t0.sum().backward()"),
    "more gradients than tensors": (
        LEAF, "torch.autograd.backward([t0.sum()], [torch.tensor(1.0), torch.tensor(2.0)])"),
    "node hooks see no gradient for indices": (
        LEAF, "p1 = t0.max(0)", "p1[0].grad_fn.register_hook(lambda gi, go: seen(gi, go))",
        "p1[0].sum().backward()"),
    "the gradient of the largest of changed values": (
        LEAF, "t1 = t0.max()", "t1.data.zero_()", "t1.backward()"),
    "the sign of a determinant has no gradient": (
        "t0 = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)", "p1 = t0.slogdet()",
        "p1[0].backward()"),
    "the gradient of a 0-d product has no history": (
        "t0 = torch.tensor(2.0, requires_grad=True)", "t0.prod().backward(create_graph=True)"),
    "pools and losses of classes lead back to their input": (
        "t0 = torch.ones(1, 4, 4, requires_grad=True)", "t1 = F.avg_pool2d(t0, 2)",
        "g2 = torch.autograd.grad(t1.sum(), [t0], create_graph=True)",
        "t3 = F.nll_loss(t0[0], torch.tensor([0, 1, 2, 3]))", "t3.backward(create_graph=True)",
        "t4 = F.adaptive_avg_pool2d(t0, 1)"),
    "elu_ and leaky_relu_ keep their result": (
        LEAF, "t1 = t0 * 1", "F.elu(t1, inplace=True)", "t1.add_(1)", "t1.sum().backward()",
        "t2 = t0 * 1", "F.leaky_relu(t2, 0.1, inplace=True)", "t2.add_(1)", "t2.sum().backward()"),
    "elu_ with a negative slope has no gradient": (
        LEAF, "t1 = t0 * 1", "F.elu(t1, -1.0, inplace=True)", "t1.sum().backward()"),
    "quarter turns, cat, sums so far and sorted indices in memory": (
        "t0 = torch.arange(6.0).view(2, 3)", "t1 = t0.rot90().reshape(-1)", "t1.neg_()",
        "t2 = torch.cat([t0.t(), t0.t()]).view(-1)", "t3 = t0.t().cumsum(0).view(-1)",
        "t4 = t0.t().cummax(0)[1].view(-1)"),
    "reshape of what has gaps": (LEAF, "t1 = t0[:, 1:].reshape(4)", "t2 = t0[:, 0].reshape(2, 1)"),
    "an index is out of range before a leaf is refused": (
        "t0 = torch.tensor(1.0, requires_grad=True)", "t0[5] = 1.0", "t0[..., 0] = 1.0",
        "t0[::2] = 1.0"),
    "a mask casts its one value": (
        "t0 = torch.tensor([1, 2])", "t0[t0 > 1] = torch.tensor([2.5])",
        "t0.index_put_((t0 > 1,), torch.tensor(3.5))"),
    "copying a tensor to itself": (
        "t0 = torch.ones(3).expand(2, 3)", "t0.copy_(t0)", "t0[...] = t0"),
    "truth values in place": (
        "t0 = torch.tensor([True, False])", "t0.cumsum_(0)", "t0[0].cumprod_(0)",
        "t0.addcmul_(t0, t0)", "t1 = t0.argmax()", "t2 = F.threshold(t0, 0.5, 1.0)",
        "t3 = torch.kthvalue(t0, 1)", "t4 = torch.linalg.cross(t0[[0, 1, 0]], t0[[0, 1, 0]])"),
    "a view of integers is written from what requires grad": (
        LEAF, "p1 = torch.zeros(2, dtype=torch.int64).unbind()", "p1[0].eq_(t0[0, 0])"),
    "one weight of another dtype": (
        LEAF, "t1 = torch.lerp(t0, t0, torch.tensor(0.5, dtype=torch.float64))"),
    "indices out of range, by the kernel that finds them": (
        "t0 = torch.zeros(2, 3)", "t1 = t0.index_select(1, torch.tensor([3]))",
        "t2 = t0.index_select(0, torch.tensor([3]))", "t3 = t0[0].index_add_(0, torch.tensor([3]), "
        "torch.ones(1))", "t4 = torch.put(t0, torch.tensor([0]), torch.ones(2))"),
    "writes to what has no elements": (
        "t0 = torch.zeros((0, 3))", "t0.index_fill_(0, torch.tensor([0]), 2.0)",
        "t0[0:0].index_fill_(0, torch.tensor([0]), 2.0)", "t0.index_add_(0, torch.tensor([0]), "
        "torch.ones(1, 3))", "t0.index_put_((torch.tensor([0]),), torch.ones(2))",
        "t1 = torch.zeros((0,), dtype=torch.int64).normal_()"),
    "sizes are asked for before they are checked": (
        "t0 = torch.ones(2, 2)", "t1 = torch.addbmm(t0, t0, t0)", "t2 = torch.mv(t0[0, 0], t0[0])",
        "t3 = torch.baddbmm(t0, t0, t0)", "t4 = F.batch_norm(t0[0], t0[0], t0[0])",
        "t5 = F.batch_norm(t0[0, :1], None, None, training=True)"),
    "a view is shown in inference mode": (
        LEAF, "t1 = t0.log()", "t2 = t1[0]", "with torch.inference_mode(): t2.neg_()",
        "with torch.inference_mode(): t2.grad_fn.register_hook(raising)"),
    "a stale view of no leaf can be switched off": (
        LEAF, "with torch.no_grad(): t1 = t0[0]", "with torch.no_grad(): t0.mul_(2)",
        "t1.requires_grad_(False)"),
    "flags are truth values": (
        LEAF, "t0.requires_grad = 1", "t0.requires_grad_('a')", "torch.set_grad_enabled('a')"),
    "zero repeats": (
        LEAF, "t1 = t0.exp().repeat(0, 2).sum()", "t1.backward(create_graph=True)"),
    "a detached tensor still retains its gradient": (
        LEAF, "t1 = t0 * 1", "t1.retain_grad()", "t1.detach_()"),
    "the cosine of vectors that broadcast": (
        LEAF, "t1 = F.cosine_similarity(t0, t0[0], 0)", "t1.sum().backward()"),
    "resizing and pooling of what has no elements": (
        "t0 = torch.zeros((1, 0, 3))", "t1 = F.interpolate(t0, scale_factor=2)",
        "t2 = F.interpolate(t0, size=5, mode='linear')",
        "seen(F.interpolate(t0, 2, mode='area').detach())",
        "t4 = F.interpolate(torch.zeros(1, 2, 0), size=5)",
        "F.adaptive_avg_pool1d(torch.zeros(2, 0), 2)",
        "seen(F.adaptive_avg_pool1d(torch.zeros(2, 0), 1).detach())",
        "t7 = F.adaptive_max_pool1d(t0, 2)",
        "t8 = F.adaptive_avg_pool2d(t0[0, :, None, None], 2)"),
    "no elements are divided by zero": (
        "t0 = torch.zeros((0,), dtype=torch.int64)", "t1 = t0 // torch.tensor(0)", "t2 = t0 % 0",
        "t3 = torch.fmod(t0, 0)", "t4 = torch.div(t0, 0, rounding_mode='trunc')",
        "t5 = t0.bool() // 0", "t6 = torch.ones(1, dtype=torch.int64) // 0"),
    "what is selected where there is nothing": (
        "t0 = torch.zeros((0,)).bool()", "t1 = torch.kthvalue(t0, 1, 0)", "t2 = torch.median(t0)",
        "t3 = torch.kthvalue(torch.zeros(2, 0), 1, 0)", "t4 = torch.nanmedian(t0)",
        "t5 = torch.kthvalue(torch.zeros(2, 0), 3, 0)"),
    "a weight that requires grad, and no classes": (
        "t0 = torch.zeros((0,))", "t1 = torch.ones(3, requires_grad=True)",
        "t2 = F.nll_loss(t0, torch.tensor([0, 1]), t1)"),
    "addmv of a matrix without elements": (
        "t0 = torch.tensor(1.5, requires_grad=True)",
        "t1 = torch.addmv(t0, torch.ones(2, 0), torch.ones(0), beta=2)", "t1.backward()",
        "t2 = torch.addmv(t0, torch.ones(2, 0), torch.ones(0), beta=0)",
        "t3 = torch.addmv(torch.ones(1), torch.ones(0, 2), torch.ones(2))",
        "t4 = torch.ones(()).addmv_(torch.ones(2, 0), torch.ones(0))"),
    "a constant written in anomaly mode": (
        LEAF, "t1 = t0.ceil()", "with torch.autograd.detect_anomaly(): t1.eq_(t1.detach())"),
    "dimensions of a number": (
        "t0 = torch.tensor(2.0)", "t1 = torch.log_softmax(t0, 1)"),
    "dimensions of a number that is rolled": (
        "t0 = torch.tensor(2.0)", "t1 = torch.roll(t0, 1, 0)"),
    "a number as the right side of an equation": (
        "t0 = torch.eye(3)", "t1 = torch.linalg.solve(t0, torch.tensor(1.0))"),
    "a number of another dtype as the right side": (
        "t0 = torch.eye(3)",
        "t1 = torch.linalg.solve(t0, torch.tensor(1.0, dtype=torch.float64))"),
    "a gradient that is a view": (
        LEAF, "g1 = torch.autograd.grad(t0.sum(), [t0])", "g1[0].detach_()",
        "g2 = torch.autograd.grad((t0 + 1).t().sum(), [t0])", "g2[0].detach_()",
        "g3 = torch.autograd.grad(t0.exp().sum(), [t0])", "g3[0].detach_()"),
    "the gradient of a grid is a view": (
        "t0 = torch.ones(3, requires_grad=True)",
        "p1 = torch.meshgrid(torch.tensor(1.0), t0, indexing='ij')",
        "g2 = torch.autograd.grad(p1[1].sum(), [t0], create_graph=True)", "g2[0].pow_(2)"),
    "an index that picks nothing is not looked at": (
        "t0 = torch.zeros((0, 1, 3), requires_grad=True)", "t1 = t0[:, [0, 7]]",
        "t1.sum().backward()", "t2 = torch.zeros(2, 3)", "t2[0:0, [7]] = 1.0", "t2[[7], 0:0]",
        "t3 = torch.zeros(0, 2)[[0]]", "t4 = torch.zeros(0, 2)[[0], 0:0]",
        "t5 = torch.index_select(torch.tensor(1.0), 0, torch.tensor([0, 0]))",
        "t6 = torch.embedding(torch.zeros(0, 3), torch.tensor([0]))",
        "t7 = torch.zeros(2, 0).index_select(0, torch.tensor([5]))"),
    "norms, classes and sums of nothing": (
        "t0 = torch.zeros((0, 2), requires_grad=True)", "t1 = F.batch_norm(t0, None, None)",
        "t2 = F.batch_norm(t0, None, None, torch.ones(2), torch.ones(2), True)", "seen(t2)",
        "t3 = F.nll_loss(t0, torch.tensor(1))", "h4 = t0.register_hook(lambda g: seen(g))",
        "t5 = t0.cumsum(0)", "t5.backward(t5)"),
    "a gradient of no elements is a view": (
        "t0 = torch.zeros((0, 3), requires_grad=True)",
        "g1 = torch.autograd.grad(t0.sum(), [t0])", "g1[0][::2] = t0"),
    "one_hot and isclose have been written to": (
        "t0 = F.one_hot(torch.tensor([1, 0]))", "t1 = torch.isclose(torch.ones(2), torch.ones(2))",
        "t2 = torch.isclose(torch.ones(2), torch.ones(2), 0, 0)",
        "t3 = torch.isclose(torch.ones(2), torch.ones(2), equal_nan=True)",
        "with torch.inference_mode(): t4 = F.one_hot(torch.tensor([1, 0]))"),
    "a detached inference tensor counts writes": (
        "with torch.inference_mode(): t0 = torch.ones(2)", "t1 = t0.detach()", "t1.mul_(2)",
        "t2 = t0.data", "t2.add_(torch.ones(2, requires_grad=True))", "t3 = t1[0]", "t3.mul_(2)",
        "with torch.inference_mode(): t1.mul_(3)", "t1.requires_grad_()",
        "t4 = torch.ones(2, requires_grad=True) * t1"),
    "data of an inference tensor, and given to one": (
        "with torch.inference_mode(): t0 = torch.ones(2)", "t1 = torch.ones(2)",
        "t1.mul_(2)", "t1.data = t0", "t1.mul_(2)", "t0.data = torch.ones(2)", "t0.mul_(2)",
        "t2 = t0.detach()", "t3 = t0[0]", "t4 = t0.data",
        "t5 = torch.ones(2, requires_grad=True) * t0"),
    "the area under nothing has no gradient": (
        "t0 = torch.zeros((2, 0), requires_grad=True)", "t1 = torch.trapezoid(t0)"),
    "what is wrong with a write goes before an inference tensor": (
        "with torch.inference_mode(): t0 = torch.ones(2).bool()", "t0.abs_()", "t0.cumsum_(0)",
        "t0.addcmul_(t0, t0)", "t0.swapaxes_(0, 1)", "t0[2] = True", "t0[0] = True",
        "t0.index_put_((torch.tensor([5]),), torch.ones(1).bool())"),
    "results of inference tensors are counted from birth": (
        "with torch.inference_mode(): t0 = torch.ones(2, 2)", "t1 = t0.prod()", "t1.mul_(2)",
        "p2 = t0.max(0)", "p2[0].add_(1)", "t3 = p2[0][0]"),
    "a stale view is refused before its arguments": (
        LEAF, "t1 = t0[0] * 1", "p2 = t1.unbind()", "t1.mul_(2)", "t3 = p2[0].unbind()",
        "t4 = p2[0].diagonal()", "t5 = torch.logsumexp(p2[2], 1, True)",
        "with torch.no_grad(): t6 = p2[0].unbind()", "p7 = t0.exp().unbind()",
        "p7[0].mul_(2)", "t8 = p7[0][torch.tensor([True])]"),
    "results in rows": (
        "t0 = torch.arange(6.0).view(2, 3).t()", "t1 = t0.softmax(0).view(-1)",
        "t2 = t0.log_softmax(1).view(-1)", "t3 = F.logsigmoid(t0).view(-1)",
        "t4 = F.layer_norm(t0, (2,)).view(-1)", "t5 = torch.stack([t0, t0], 1).view(-1)",
        "t6 = t0.roll(1).view(-1)", "t7 = t0.logcumsumexp(0).view(-1)",
        "t8 = torch.linalg.cross(t0, t0.flip(1), dim=0).view(-1)",
        "t9 = t0.masked_fill(t0 > 1, 2.0).view(-1)",
        "t10 = t0.take(torch.arange(6).view(2, 3).t()).view(-1)",
        "t11 = t0.gather(0, torch.zeros(2, 3, dtype=torch.int64).t()).view(-1)",
        "t12 = t0[None].expand(2, 3, 2).triu().view(-1)", "p13 = t0.topk(1)",
        "t14 = p13[1].view(-1)"),
    "results in the order of their input": (
        "t0 = torch.arange(6.0).view(2, 3).t()", "t1 = t0.flip(0).t().view(-1)",
        "t2 = t0.rot90(2).t().view(-1)", "p3 = t0.sort(0)", "t4 = p3[1].t().view(-1)",
        "t5 = t0.index_fill(0, torch.tensor([0]), 1.5).t().view(-1)",
        "t6 = t0.put(torch.tensor([1]), torch.ones(1)).t().view(-1)"),
    "inverses lie in columns": (
        "t0 = torch.tensor([[1.0, 2.0], [3.0, 5.0]], requires_grad=True)",
        "t1 = torch.linalg.inv(t0)", "t2 = t1.view(-1)", "t3 = t1.t().view(-1)",
        "t4 = torch.linalg.solve(t0, t0).t().view(-1)",
        "g5 = torch.autograd.grad(torch.linalg.det(t0), [t0])", "t6 = g5[0].t().view(-1)",
        "g7 = torch.autograd.grad(torch.linalg.pinv(t0).sum(), [t0])", "t8 = g7[0].t().view(-1)",
        "g9 = torch.autograd.grad(torch.linalg.qr(t0)[1].sum(), [t0])", "t10 = g9[0].t().view(-1)"),
    "the triangle of what is singular": (
        "t0 = torch.tensor([[0.0, 1.0], [0.0, 2.0]], requires_grad=True)",
        "g1 = torch.autograd.grad(torch.linalg.qr(t0)[1].abs().sum(), [t0])",
        "g2 = torch.autograd.grad(torch.linalg.qr(t0 * 0)[1].abs().sum(), [t0])"),
    "distance from truth values": (
        LEAF, "t1 = F.mse_loss(t0, t0 > 2)", "t1.backward(create_graph=True)",
        "t2 = F.smooth_l1_loss(t0, t0 > 2)", "t2.backward(create_graph=True)"),
    "the smallest where the largest was changed": (
        LEAF, "p1 = torch.aminmax(t0)", "p1[1].data.zero_()", "p1[0].backward()"),
    "a target's gradient at the ends": (
        "t0 = torch.tensor([0.5, 0.25], requires_grad=True)",
        "t1 = F.binary_cross_entropy(t0, t0, reduction='none')", "t0.data.zero_()",
        "t1.sum().backward()"),
    "shapes are looked at before dtypes": (
        "t0 = torch.tensor([True])", "t1 = torch.tensor([True, False, True])",
        "t0.addcmul_(t1, t1)", "t0.lerp_(t1, 0.5)", "t0.remainder_(t1)",
        "t2 = t1 % torch.tensor([True, False])", "t3 = torch.ones(6).put_(torch.tensor([4, 5]), "
        "torch.ones(3))", "t4 = F.nll_loss(torch.ones(2, 1, 3), torch.tensor(1))"),
    "one floating weight of integers": (
        "t0 = torch.tensor([1, 2])", "t1 = torch.lerp(t0, t0 * 2, torch.tensor(0.5))",
        "t2 = torch.lerp(t0 > 1, t0 < 2, torch.tensor(0.25))", "t3 = torch.lerp(t0, t0, 0.5)",
        "t0.lerp_(t0, torch.tensor(0.5))"),
    "kernels for floating tensors": (
        "t0 = torch.ones(2, 4, dtype=torch.int64)", "t1 = F.layer_norm(t0, (4,))",
        "t2 = F.group_norm(t0, 2)"),
    "index_fill with a tensor of one dimension": (
        LEAF, "t1 = torch.index_fill(t0, 0, torch.tensor([1]), torch.tensor([2.0]))",
        "t0.detach().index_fill_(0, torch.tensor([1]), torch.tensor([2.0]))"),
    "the gradient of a bias has a history": (
        "t0 = torch.ones(2, 4, requires_grad=True)", "t1 = torch.ones(4, requires_grad=True)",
        "F.layer_norm(t0, (4,), torch.ones(4), t1).sum().backward(create_graph=True)",
        "t2 = torch.ones(3, requires_grad=True)",
        "F.conv1d(t0[None], torch.ones(3, 2, 2), t2).sum().backward(create_graph=True)",
        "t3 = torch.ones(1, requires_grad=True)",
        "F.prelu(t0.detach(), t3).sum().backward(create_graph=True)"),
    "what PyTorch keeps is looked at": (
        LEAF, "t1 = t0 * 1", "t2 = t1.gather(0, torch.zeros(1, 3, dtype=torch.int64))",
        "p3 = t1.cummax(0)", "t4 = torch.masked_select(t1, t0 > 2)",
        "t5 = torch.index_copy(t0.detach(), 0, torch.tensor([0, 1]), t1)", "t6 = t1.sgn()",
        "t7 = t1.take(torch.tensor([1]))", "t8 = torch.copysign(torch.ones(2, 3), t0)",
        "t9 = torch.div(t1, t1, rounding_mode='floor')", "t1.add_(1)", "t8.neg_()",
        "t2.sum().backward()", "p3[0].sum().backward()", "t4.sum().backward()",
        "t5.sum().backward()", "t6.sum().backward()", "t7.sum().backward()",
        "t8.sum().backward()", "t9.sum().backward()"),
    "a running maximum of nothing": (
        "t0 = torch.zeros((0, 3), requires_grad=True)",
        "t0.cummax(0)[0].sum().backward(create_graph=True)"),
    "the area under infinite heights": (
        "t0 = torch.tensor([1.0, 2.0]) / 0", "t1 = torch.trapezoid(t0)"),
    "integers are filled with what requires grad": (
        "t0 = torch.tensor(1.5, requires_grad=True)",
        "t1 = torch.index_fill(torch.tensor([1, 2]), 0, torch.tensor([0]), t0)"),
    "put_ looks at dtypes first": (
        "t0 = torch.ones(3).put_(torch.tensor([0]), torch.tensor([True, False]))",),
    "the gradient of an enlarged image lies in rows": (
        LEAF, "g3 = torch.autograd.grad("
        "F.interpolate(t0[None, None], scale_factor=2, mode='bilinear').sum(), [t0])",
        "t4 = g3[0].view(-1)"),
    "an infinite gradient times nothing": (
        LEAF, "(t0.amin(1, True) / 0).sum().backward()"),
    "the elements of put_ and index_put_ are looked at before their memory": (
        "t0 = torch.ones(2, 3)", "t0.put_(torch.tensor([4, 5]), t0)", "t1 = torch.zeros((0,))",
        "t0.index_add_(0, torch.tensor([0, 1]), t0[0, 0])",
        "t0.index_copy_(0, torch.tensor([0]), t0)",
        "t1.index_put_((torch.tensor([0]),), t1.data)"),
    "truth values are not multiplied in batches": (
        "t0 = torch.ones(2, 2, 2)", "t1 = t0.bool() @ t0", "t2 = t0 @ t0.bool()"),
    "batch_norm of integers, and of nothing": (
        "t0 = F.batch_norm(torch.ones(2, 3).long(), torch.ones(3).double(), torch.ones(3))",
        "t1 = F.batch_norm(torch.zeros(0), torch.ones(3), torch.ones(3))"),
    "an embedding in a number": (
        "t0 = torch.tensor(1.0, requires_grad=True)",
        "t1 = torch.embedding(t0, torch.tensor([0]))",
        "with torch.no_grad(): t2 = torch.embedding(t0, torch.tensor([0]))"),
    "topk looks at the dimension first": (
        "t0 = torch.topk(torch.tensor([True]), 1, 1)",),
    "a search among what is no number": (
        "t0 = torch.tensor([0.1, 1.0]) - 2", "t1 = t0.log()", "t2 = torch.searchsorted(t1, 0.5)",
        "t3 = torch.searchsorted(t0, t1, right=True)"),
    "no factors of what is no number": (
        "t0 = torch.tensor([[1.0, 0.0], [0.0, -1.0]]).log()", "t1 = torch.linalg.cholesky(t0)",
        "t2 = torch.pinverse(t0)", "t3 = torch.linalg.svdvals(t0)",
        "t4 = torch.linalg.cholesky(torch.tensor([-1.0]).sqrt()[None])"),
    "index_add counts slices before it compares them": (
        "t0 = torch.zeros(3, 4)", "t1 = torch.index_add(t0, 0, torch.tensor([0, 1]), t0[0, 0])",
        "t2 = torch.index_add(t0, 0, torch.tensor([0]), torch.ones(2).double())"),
    "index_add to one truth value": (
        "t0 = torch.tensor(True)", "t1 = torch.index_add(t0, 0, torch.tensor([0]), t0)"),
    "a system with a vector is one node": (
        "t0 = torch.eye(3).requires_grad_()", "t1 = torch.linalg.solve(t0, torch.ones(3))",
        "t2 = torch.linalg.solve(torch.eye(3).expand(2, 3, 3), t0[:2])", "t3 = t2.view(-1)",
        "(t1 * t1).sum().backward(create_graph=True)", "t0.grad.sum().backward()",
        "t2.sum().backward()"),
    "a number has no edge": (
        LEAF, "t1 = t0 % 2", "t2 = torch.fmod(t0, 2)", "t3 = 2 - t0", "t4 = 2 ** t0",
        "t5 = torch.xlogy(t0, 2)", "t1.grad_fn.register_hook(lambda gi, go: seen(gi))",
        "t2.grad_fn.register_hook(lambda gi, go: seen(gi))",
        "t3.grad_fn.register_hook(lambda gi, go: seen(gi))",
        "t4.grad_fn.register_hook(lambda gi, go: seen(gi))",
        "t5.grad_fn.register_hook(lambda gi, go: seen(gi))", "(t1 + t2 + t3).sum().backward()",
        "(t4 + t5).sum().backward()"),
    "the way back from a number in a view": (
        "t0 = torch.tensor(2.0, requires_grad=True)", "t1 = (t0 * 1).view_as(t0)", "t1.eq_(2.0)",
        "g2 = torch.autograd.grad((t1 * t1).sum(), [t0], create_graph=True)",
        "(g2[0] ** 2).sum().backward()"),
    "truth values that a loss keeps are looked at": (
        LEAF, "t1 = t0 > 2", "t2 = F.mse_loss(t0, t1)", "t3 = F.smooth_l1_loss(t1, t0)",
        "t4 = F.mse_loss(t1, t0)", "t1.zero_()", "t2.backward()", "t3.backward()",
        "t5 = F.mse_loss(t0, t0 > 2)", "t5.backward(create_graph=True)",
        "(t0.grad ** 2).sum().backward()"),
    "the largest of nothing is refused first": (
        "t0 = torch.amax(torch.zeros(0), (0, -1))", "t1 = torch.amin(torch.zeros(0, 3), (1, 0))",
        "t2 = torch.amax(torch.zeros(0, 3), ())"),
    "the gradient of what was convolved has a history": (
        "t0 = torch.ones(1, 2, 3, requires_grad=True)",
        "F.conv1d(t0, torch.ones(2, 2, 2)).sum().backward(create_graph=True)", "t0.grad = None",
        "F.conv_transpose1d(t0, torch.ones(2, 2, 2)).sum().backward(create_graph=True)"),
    "the sign of no remainder": (
        "t0 = torch.tensor([-2.0, 2.0, 0.0]) % torch.tensor([2.0, -2.0, -1.5])",
        "t1 = torch.copysign(torch.ones(3), t0)"),
    "what indices pick lies in memory as it did": (
        "t0 = torch.arange(24.0).view(2, 3, 4).permute(2, 0, 1)", "t1 = t0[True].flatten()",
        "t2 = t0[:, torch.tensor([1, 0])]", "t3 = torch.randn_like(t2)",
        "t4 = t0[..., torch.tensor([[0, 1]])].view(-1)"),
    "backward passes at once": (
        LEAF, "t1 = t0.exp()", "together(lambda: t1.sum().backward(retain_graph=True), "
        "lambda: (t1 * t1).sum().backward(retain_graph=True), lambda: t0.sin().sum().backward())"),
    "the gradient of a view without elements has no history": (
        "t0 = torch.zeros((0, 3), requires_grad=True)", "t1 = t0.ravel()",
        "with torch.no_grad(): t0[::2] = 2.0", "(t1 * t1).sum().backward(create_graph=True)",
        "t2 = t0 * 1", "t3 = t2[:, None]", "t3.clamp_(min=0.7)",
        "g4 = torch.autograd.grad((t3 * t3).sum(), [t2], create_graph=True)"),
    "a leaf's place in the graph keeps its shape": (
        LEAF, "t1 = t0 * 2", "with torch.no_grad(): t0.t_()", "(t0 * t0).sum().backward()",
        "t0.backward(t0.detach())", "t0.requires_grad = False", "t1.sum().backward()"),
    "a leaf's data of another shape": (
        LEAF, "t1 = t0 * 2", "t0.data = torch.ones(3, 2)", "(t0 * t0).sum().backward()",
        "t1.sum().backward()"),
    "a leaf's data of another dtype": (
        LEAF, "t1 = t0 * 2", "t0.data = torch.ones(3, 2, dtype=torch.float64)",
        "(t0 * t0).sum().backward()"),
    "different rows lie in memory of their own": (
        "p0 = torch.unique(torch.tensor([[1, 1], [0, 0]]), dim=0, return_counts=True)",
        "p0[0].copy_(p0[0][0, 1])"),
    "nothing is filled in an expanded gradient": (
        "t0 = torch.zeros((0, 3), requires_grad=True)",
        "g1 = torch.autograd.grad((t0 * 1).sum(), [t0])",
        "with torch.no_grad(): g1[0].index_fill_(0, torch.tensor([0]), 2.0)"),
    "hooks of nodes see what goes nowhere": (
        LEAF, "t1 = torch.stack([t0, t0.detach().double()], 1)",
        "t1.grad_fn.register_hook(lambda gi, go: seen(gi, go))", "t1.sum().backward()",
        "t2 = Picky.apply(t0, t0[0].detach())",
        "t2.grad_fn.register_hook(lambda gi, go: seen(gi, go))", "t2.sum().backward()",
        "t3 = torch.cat([t0 * 1, t0])", "t3.grad_fn.register_hook(lambda gi, go: seen(gi, go))",
        "g4 = torch.autograd.grad(t3.sum(), [t0], retain_graph=True)"),
    "what is empty begins where it would": (
        "t0 = torch.ones(1, 3)", "t1 = t0[1:, :2]", "t2 = t0[0:0]", "t1.as_strided_((2,), (1,))",
        "t2.as_strided_((2,), (1,))"),
    "a leaf that has become shorter": (
        "t0 = torch.ones(4, requires_grad=True)", "t1 = t0 * 2",
        "with torch.no_grad(): t0.as_strided_((2,), (1,))", "t1.sum().backward()"),
    "a node that leads nowhere looks at what it saved": (
        LEAF, "with torch.no_grad(): t1 = t0[0]", "t2 = torch.where(t1 > 1, t1, 0.5)",
        "t3 = t1.div(1.5)", "t4 = torch.clamp(t1, t1, t1)", "t5 = t1 * t1",
        "(t2 * t3 * t4 * t5).sum().backward()", "Same.apply(t2).sum().backward()",
        "Same.apply(t3).sum().backward()",
        "Same.apply(t4).sum().backward()", "Same.apply(t5).sum().backward()"),
    "nextafter towards a tensor saves nothing": (
        LEAF, "t1 = torch.nextafter(torch.ones(2, 3), t0)",
        "g2 = torch.autograd.grad(t1.sum(), [t0])", "(t1 * t1).sum().backward()"),
    "retain_grad of a view that may not be used any more": (
        LEAF, "with torch.no_grad(): p1 = t0.unbind()", "with torch.no_grad(): p1[0].mul_(2)",
        "p1[0].retain_grad()"),
    "a view that was given other memory": (
        LEAF, "t1 = (t0 * 1).expand(2, 2, 3)", "t1.data = t1 * 2",
        "F.leaky_relu(t1, 0.1, inplace=True)", "seen(t1)", "t2 = t0[0]",
        "t2.data = t2.data.repeat(5)", "with torch.no_grad(): t2.mul_(2)", "seen(t2)"),
    "hooks of nodes see no gradient that is not asked for": (
        LEAF, "t1 = t0 * t0[0]", "t1.grad_fn.register_hook(lambda gi, go: seen(gi, go))",
        "t1.sum().backward(create_graph=True, inputs=[t1])", "t2 = Picky.apply(t0, t0[0])",
        "t2.grad_fn.register_hook(lambda gi, go: seen(gi, go))",
        "t2.sum().backward(create_graph=True, inputs=[t2])"),
    "a Function that writes to a view of what was a leaf": (
        LEAF, "t1 = t0[0]", "t0.requires_grad_(False)", "t2 = Double_.apply(t1.view(-1))"),
    "a slice of a number that may not be used any more": (
        LEAF, "with torch.no_grad(): t1 = t0[0, 0]", "with torch.no_grad(): t0.mul_(2)",
        "t2 = t1[1:]", "t3 = t1['a']", "t4 = t1[[0]]", "t5 = t1[:, None]"),
    "a pass for a part of the inputs looks at all that was saved": (
        LEAF, "t1 = torch.ones(3, requires_grad=True)", "t2 = t0 * 1", "t3 = t2 * t1",
        "t2.add_(1)", "g4 = torch.autograd.grad(t3.sum(), [t0])", "t5 = t0 ** torch.ones(3)",
        "t5.add_(1)", "t5.sum().backward()"),
    "inference tensors that require grad": (
        "with torch.inference_mode(): t0 = torch.ones(3).requires_grad_()", "t1 = t0 * 2",
        "t2 = t0.exp()", "t3 = t0 + torch.ones(3)", "t4 = t0 * t0", "t5 = torch.cat([t0, t0])",
        "t3.sum().backward()", "t2.sum().backward()"),
    "the sign of nothing": (
        "t0 = torch.tensor([-0.0, 0.0, -1.0])", "t1 = torch.signbit(t0.relu())",
        "t2 = torch.signbit(t0.clamp(min=0.0))", "t3 = torch.signbit(t0.clamp(max=0.0))",
        "t4 = torch.signbit(torch.maximum(t0, -t0))", "t5 = torch.signbit(torch.minimum(t0, -t0))",
        "t0.relu_()", "t6 = torch.signbit(t0)"),
    "a deviation that is no number": (
        "t0 = torch.normal(torch.zeros(2), torch.tensor([1.0, float('nan')]))",),
    "stack looks at the dimension first": ("t0 = torch.stack([torch.ones(()), torch.ones(2)], 1)",),
    "a weight of other dimensions than the convolution": (
        "t0 = torch.ones(2, 1, 3)", "t1 = F.conv_transpose2d(t0, t0)", "t2 = F.conv2d(t0, t0)"),
    "the largest so far of nothing": (
        "t0 = torch.zeros((0, 3), requires_grad=True)", "p1 = t0.cummax(0)",
        "g2 = torch.autograd.grad((p1[0] * p1[0]).sum(), [t0], create_graph=True)",
        "g3 = torch.autograd.grad(t0.sum(), [g2[0]], allow_unused=True)"),
    "what was saved is detached in place": (
        LEAF, "t1 = t0 * 2", "t2 = t1 * t1", "t3 = t1.exp()", "t3.detach_()", "t4 = t3 * t1",
        "t4.sum().backward()", "t1.detach_()", "t2.sum().backward()", "t1.mul_(t0)",
        "t5 = t1 * t1", "t5.sum().backward()", "t1.detach_()", "seen(t1)",
        "(t1 * t0).sum().backward()", "t5.sum().backward()"),
    "a gradient all of whose elements are one": (
        "t0 = torch.ones(3, requires_grad=True)", "t0.grad = torch.ones(()).expand(3)",
        "(t0 * torch.arange(3.0)).sum().backward()"),
    "the order of what an expanded tensor gives": (
        "t0 = torch.tensor([3, 1, 4, 1]).expand(2, 3, 4).sigmoid()",
        "t1 = t0.as_strided((2,), (2,), 1)", "t2 = torch.arange(3).expand(2, 3) + 0.5",
        "t3 = t2.as_strided((2, 2), (2, 1))"),
    "asarray keeps the history": (
        LEAF, "t1 = torch.asarray(t0 * 2)", "t2 = torch.asarray(t0)",
        "t3 = torch.asarray(t1, copy=True)", "t4 = torch.asarray(t1, dtype=torch.float64)",
        "t5 = torch.asarray(t1, requires_grad=False)", "t6 = torch.asarray(t1, dtype=torch.int64, "
        "copy=False)", "(t1 + t2 + t3 + t4).sum().backward()"),
    "a number is copied": (
        LEAF, "t1 = t0 * 1", "t1.copy_(3.0)", "t1.sum().backward()",
        "t2 = torch.zeros(2, dtype=torch.int64)", "t2.copy_(1.7)", "t2.copy_([1, 2])"),
    "a third derivative of a square": (
        LEAF, "g1 = torch.autograd.grad((t0 ** 2).sum(), [t0], create_graph=True)",
        "g2 = torch.autograd.grad(g1[0].sum(), [t0], create_graph=True)",
        "g3 = torch.autograd.grad(g2[0].sum(), [t0], create_graph=True)"),
    "numbers beside float16 keep their precision": (
        "t0 = torch.tensor([0.21, 3.0, -1e-5], dtype=torch.float16, requires_grad=True)",
        "t1 = t0 * 123456.0", "t2 = t0 / 123456.0", "t3 = t0 * torch.tensor(100000.0)",
        "t4 = torch.tensor(100000.0) * t0", "t5 = t0 + 0.1", "t6 = 0.1 * t0", "t7 = t0 / 1e-3",
        "t2.sum().backward()", "t3.sum().backward()", "with torch.no_grad(): t0.mul_(0.1)"),
    "formulas of edges that nobody wants": (
        LEAF, "t1 = t0[0].log()", "t1.scatter_add_(0, torch.tensor([0, 1]), t0[1])",
        "t1.sum().backward(inputs=[t1], create_graph=True)"),
    "the gradient of a number expanded to a number": (
        "t0 = torch.tensor(2.0, requires_grad=True)", "t1 = t0.expand(())",
        "g2 = torch.autograd.grad((t1 * t1).sum(), [t0, t1])", "g2[0].mul_(2)", "seen(g2[1])"),
    "slices of what is no whole number": (
        LEAF, "t1 = t0[0:1.5]", "t2 = torch.zeros(3)", "t2[0:1.5] = 1"),
    "detached in place where no history is looked at": (
        LEAF, "t1 = t0 * 1", "with torch.inference_mode(): t1.detach_()", "t1.sum().backward()",
        "with torch.inference_mode(): t0.detach_()", "seen(t0)"),
    "a second derivative through a view that is gone": (
        LEAF, "t1 = torch.tensor(2.0, requires_grad=True)", "t2 = t0 * 1",
        "t2.view(3, 2).hypot_(t1)",
        "g3 = torch.autograd.grad((t2 * t2).sum(), [t0, t1], create_graph=True)",
        "g4 = torch.autograd.grad((g3[0] * g3[0]).sum() + g3[1], [t0, t1])"),
    "triangular systems with zeros, infinities and nan on the diagonal": (
        "t0 = torch.tensor([[2.0, 1.0, 3.0], [1.0, 0.0, 2.0], [5.0, 1.0, 4.0]], "
        "requires_grad=True)", "t1 = torch.tensor([[1.0], [2.0], [0.0]], requires_grad=True)",
        "t2 = torch.linalg.solve_triangular(t0, t1, upper=False)",
        "t3 = torch.linalg.solve_triangular(t0, t1.t(), upper=True, left=False)",
        "t4 = torch.linalg.solve_triangular(t0 * float('nan'), t1, upper=True, unitriangular=True)",
        "t5 = torch.linalg.solve_triangular(t0 / 0, t1, upper=True)",
        "t6 = torch.cholesky_solve(t1.detach(), t0.detach())",
        "t7 = torch.triangular_solve(t1.detach(), t0.detach(), transpose=True)[0]",
        "g8 = torch.autograd.grad(t2.sum() + t3.sum(), [t0, t1])"),
    "the variance without a degree of freedom": (
        LEAF, "g1 = torch.autograd.grad(t0[0].var(correction=3), [t0])",
        "g2 = torch.autograd.grad(t0[0, 1].std(), [t0])",
        "g3 = torch.autograd.grad((t0 - 3.5).var(correction=7), [t0])",
        "g4 = torch.autograd.grad(t0[0, 0].var(0, correction=2), [t0])",
        "t5 = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)",
        "t5.std(correction=5).backward()"),
    "weights of a batch norm in another shape": (
        LEAF, "t1 = F.batch_norm(t0, None, None, torch.ones(1, 3), torch.ones(3, 1), True)",
        "t2 = F.batch_norm(t0, torch.zeros(1, 3), torch.ones(3))"),
    "what gradients of a batch norm depend on": (
        LEAF, "t1 = torch.ones(3, requires_grad=True)", "t2 = torch.ones(3)",
        "g3 = torch.autograd.grad(F.batch_norm(t0, t2, t2, t1).sum(), [t0, t1], "
        "create_graph=True)", "seen(g3[0].requires_grad)", "seen(g3[1].requires_grad)",
        "g4 = torch.autograd.grad(F.batch_norm(t0.detach(), None, None, t1, t2, True).sum(), [t1], "
        "create_graph=True)", "seen(g4[0].requires_grad)", "g5 = torch.autograd.grad("
        "F.batch_norm(t0, t2, t2).sum(), [t0], create_graph=True)", "seen(g5[0].requires_grad)"),
    "convolutions of nothing": (
        "t0 = torch.ones(2, 0, 5, requires_grad=True)", "t1 = torch.ones(4, 0, 2)",
        "t2 = F.conv1d(t0, t1, torch.ones(4))", "t2.sum().backward()",
        "t3 = F.conv1d(torch.ones(2, 3, 0), torch.ones(4, 3, 0))",
        "t4 = F.conv1d(torch.ones(2, 3, 5), torch.ones(4, 3, 0))",
        "t5 = F.conv1d(torch.ones(0, 3, 5), torch.ones(4, 3, 0))",
        "t6 = F.conv_transpose1d(torch.ones(2, 3, 5), torch.ones(3, 0, 2))",
        "t7 = F.conv_transpose1d(torch.ones(0, 3, 5), torch.ones(3, 0, 2))",
        "t8 = F.conv_transpose1d(torch.ones(2, 0, 5), torch.ones(0, 3, 2))",
        "t9 = F.conv_transpose1d(torch.ones(2, 3, 0), torch.ones(3, 4, 3))"),
    "scatter that adds and multiplies": (
        LEAF, "t1 = torch.tensor([[0, 1, 0], [1, 1, 0]])", "t2 = torch.ones(2, 3) * 3",
        "t3 = t0.detach().scatter(0, t1, t2, reduce='add')",
        "t4 = t0.detach().scatter(1, t1, 2.5, reduce='multiply')",
        "t5 = t2.t().scatter_(0, t1.t(), t0.detach().t(), reduce='multiply')",
        "t6 = t0.scatter(0, t1, t2, reduce='add')", "t6.sum().backward()",
        "t7 = t2.scatter(0, t1, t2, reduce='sum')", "t8 = t2.scatter(0, t1, t1, reduce='add')"),
    "attention where there is nothing to look at": (
        "t0 = torch.ones(2, 3, 4, requires_grad=True)", "t1 = torch.ones(2, 0, 4)",
        "t2 = torch.ones(2, 0, 2, requires_grad=True)",
        "t3 = F.scaled_dot_product_attention(t0, t1, t2)", "t3.sum().backward()",
        "t4 = F.scaled_dot_product_attention(t1, t0, t2)",
        "t5 = F.scaled_dot_product_attention(t0[:, :0], t0, t0, is_causal=True)",
        "t6 = F.scaled_dot_product_attention(t0[0], t0, t0[:, :, :0])"),
    "the node of copysign by a number has one edge": (
        LEAF, "t1 = torch.copysign(t0, -1.0)",
        "h1 = t1.grad_fn.register_hook(lambda inputs, outputs: seen(len(inputs)))",
        "t1.sum().backward()"),
    "how many gradients the node of a norm gets": (
        LEAF, "t1 = F.layer_norm(t0, (3,))", "h1 = t1.grad_fn.register_prehook("
        "lambda grads: seen(len(grads)))", "t2 = F.batch_norm(t0, None, None, training=True)",
        "h2 = t2.grad_fn.register_hook(lambda inputs, outputs: seen((len(inputs), len(outputs))))",
        "(t1 + t2).sum().backward()"),
    "a triangular system takes the dtype of its matrix": (
        "t0 = torch.tensor([[2.0, 1.0], [0.0, 4.0]], requires_grad=True)",
        "t1 = torch.tensor([[4.0], [8.0]], dtype=torch.float64, requires_grad=True)",
        "t2 = torch.linalg.solve_triangular(t0, t1, upper=True)",
        "t3 = torch.linalg.solve_triangular(t0.double(), t1.float(), upper=True)",
        "g4 = torch.autograd.grad(t2.sum() + t3.sum(), [t0, t1])",
        "t5 = torch.linalg.solve_triangular(t0.half(), t1.half(), upper=True)",
        "t6 = torch.triangular_solve(t1, t0)[0]", "t7 = torch.cholesky_solve(t1, t0)"),
    "a triangular system refuses vectors": (
        "t0 = torch.linalg.solve_triangular(torch.eye(2), torch.ones(2), upper=True)",),
    "determinants of singular matrices, backward": (
        "t0 = torch.zeros(2, 2, requires_grad=True)", "p1 = torch.slogdet(t0)",
        "(p1[0] % p1[1]).backward()",
        "t2 = torch.tensor([[1.0, 2.0], [2.0, 4.0]], requires_grad=True)",
        "g3 = torch.autograd.grad(torch.logdet(t2), [t2])",
        "g4 = torch.autograd.grad(torch.slogdet(torch.stack([t0, t2]))[1].sum(), [t0, t2])"),
    "a Cholesky factor that was zeroed before backward": (
        "t0 = torch.tensor([[2.0, 1.0], [1.0, 3.0]], requires_grad=True)",
        "t1 = torch.linalg.cholesky(t0)", "t1.data.zero_()", "t1.sum().backward()"),
    "the sign of a determinant that is nan": (
        "p0 = torch.slogdet(torch.tensor([[float('nan'), 1.0], [1.0, 3.0]]))",),
    "polygamma far below zero": (
        "t0 = torch.tensor([-1e6 - 0.25, -7.25, -0.5, float('-inf')], dtype=torch.float64)",
        "t1 = torch.polygamma(2, t0)", "t2 = torch.polygamma(3, t0)"),
    "an infinite gradient at the origin of atan2": (
        "t0 = torch.zeros(2, requires_grad=True)", "t1 = torch.atan2(t0, t0) / 0",
        "t1.sum().backward()"),
    "a gradient of stack is written to": (
        LEAF, "t1 = torch.stack([t0, t0 * 2])",
        "g2 = torch.autograd.grad((t1 * t1).sum(), [t0], create_graph=True)",
        "t3 = torch.stack([t0, t0.detach()])",
        "g4 = torch.autograd.grad((t3 * t3).sum(), [t0], create_graph=True)",
        "g4[0].mul_(2)"),
    "cross entropy of no number": (
        "t0 = F.binary_cross_entropy(torch.tensor([float('nan')]), torch.tensor([0.5]))",),
    "gather of nothing by fewer dimensions": (
        "t0 = torch.zeros((2, 0), requires_grad=True)",
        "t1 = torch.gather(t0, 0, torch.zeros((0,), dtype=torch.int64))", "t1.sum().backward()"),
    "an index that was changed before the pass": (
        LEAF, "t1 = torch.tensor([0, 1])", "t2 = torch.index_select(t0, 1, t1)", "t1.data.add_(4)",
        "t2.sum().backward()"),
    "a position that was changed before the pass": (
        LEAF, "t1 = torch.tensor([[0, 1]])", "t2 = torch.gather(t0, 1, t1)", "t1.data.add_(4)",
        "t2.sum().backward()"),
    "the edges of a histogram": (
        "t0 = torch.tensor([0.7, 0.8, 1.1, 0.9, 0.8, 0.7], dtype=torch.float64)",
        "t1 = torch.histc(t0, 6, 0.3, 1.1)"),
    "a repeated transposed matrix": (
        LEAF, "t1 = t0.t().repeat(1, 1)", "t2 = t1.view(-1)"),
    "a leaf that has lost a dimension": (
        "t0 = torch.ones((1, 3), requires_grad=True)", "t1 = t0 * 2", "t0.data = torch.ones(3)",
        "t1.sum().backward()"),
    "a leaf that is a view of what was written to": (
        "t0 = torch.zeros(2, 3)", "t1 = t0[:, 0]", "t1.requires_grad = True", "t2 = t1 * 2",
        "t0[0] = t2.sum()", "t0.sum().backward()", "t2.sum().backward(create_graph=True)"),
}
