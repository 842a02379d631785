"""The whole text of each error and warning of the engine, word for word.

A program a line; what it raises comes first, then what it warns of.  `SAME` is run by PyTorch as
well, which says so in the same words; in `OWN` ours are other words than PyTorch's.
"""

from __future__ import annotations

import re
import warnings
from typing import Any

import pytest

import minigrad
from tests.support.engines import ENGINES, NAMES

SAME = [
    ("y.backward(inputs=[])", [
        ("RuntimeError", "`inputs` argument to `backward()` cannot be empty."),
    ]),
    ("torch.autograd.grad(y, [])", [
        ("RuntimeError", "`inputs` argument to `grad()` cannot be empty."),
    ]),
    ("torch.autograd.backward([y, y], [None])", [
        ("RuntimeError", "got 2 tensors and 1 gradients"),
    ]),
    ("torch.autograd.backward([y], [None], grad_variables=[None])", [
        ("RuntimeError", "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. Please only use `grad_tensors`."),
        ("FutureWarning", "`grad_variables` is deprecated. Use `grad_tensors` instead."),
    ]),
    ("torch.autograd.grad(y, x, allow_unused=False, materialize_grads=True)", [
        ("ValueError", "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."),
    ]),
    ("torch.autograd.grad(y, torch.ones(2))", [
        ("RuntimeError", "One of the differentiated Tensors does not require grad"),
    ]),
    ("torch.autograd.grad(y, leaf())", [
        ("RuntimeError", "The differentiated Tensor at index 0 appears to not have been used in the graph. Set allow_unused=True if this is the desired behavior."),
    ]),
    ("torch.autograd.backward(y, inputs=[3])", [
        ("RuntimeError", "all inputs have to be Tensors or GradientEdges, but got int"),
    ]),
    ("v.backward()", [
        ("RuntimeError", "grad can be implicitly created only for scalar outputs"),
    ]),
    ("torch.ones(2, 3) + torch.ones(3, 2)", [
        ("RuntimeError", "The size of tensor a (3) must match the size of tensor b (2) at non-singleton dimension 1"),
    ]),
    ("y.backward(3)", [
        ("TypeError", "'int' object is not iterable"),
    ]),
    ("torch.ones(2).sum().backward()", [
        ("RuntimeError", "element 0 of tensors does not require grad and does not have a grad_fn"),
    ]),
    ("torch.autograd.grad(y, x, only_inputs=False)", [
        ("FutureWarning", "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient for other parts of the graph, please use torch.autograd.backward."),
    ]),
    ("torch.autograd.backward(y, grad_variables=torch.tensor(1.))", [
        ("FutureWarning", "`grad_variables` is deprecated. Use `grad_tensors` instead."),
    ]),
    ("y.backward(create_graph=True)", [
        ("UserWarning", "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient which can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid this. If you have to use this function, make sure to reset the .grad fields of your parameters to None after use to break the cycle and avoid the leak."),
    ]),
    ("torch.autograd.Variable._execution_engine.queue_callback(lambda: None)", [
        ("RuntimeError", "Final callbacks can only be installed during backward pass."),
    ]),
    ("v.grad_fn(1, 2)", [
        ("TypeError", "expected 1 arguments, got 2 instead"),
    ]),
    ("v.grad_fn(3)", [
        ("TypeError", "argument 0 is not a Variable"),
    ]),
    ("torch.autograd.graph.get_gradient_edge(torch.ones(2))", [
        ("RuntimeError", "It is not possible to get the gradient edge for a Tensor that does not require gradients"),
    ]),
    ("torch.autograd.graph.register_multi_grad_hook([x], lambda g: g, mode=\"some\")", [
        ("ValueError", "Expects mode to be one of ('all', 'any') but got some"),
    ]),
    ("torch._C._autograd.SavedTensor()", [
        ("RuntimeError", "Trying to create a SavedTensor object from Python is forbidden."),
    ]),
    ("with fwd.dual_level(): fwd.enter_dual_level()", [
        ("RuntimeError", "Nested forward mode AD is not supported at the moment"),
    ]),
    ("fwd.exit_dual_level(level=3)", [
        ("RuntimeError", "Trying to exit a forward AD level that was not the last one that was created. This is not supported."),
    ]),
    ("fwd.make_dual(x, torch.ones(2))", [
        ("RuntimeError", "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first."),
    ]),
    ("fwd.unpack_dual(3, level=0)", [
        ("TypeError", "_unpack_dual(): argument 'dual' (position 1) must be Tensor, not int"),
    ]),
    ("with fwd.dual_level(): fwd.make_dual(fwd.make_dual(x, torch.ones(2)), torch.ones(2))", [
        ("RuntimeError", "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level 0 is not supported."),
    ]),
    ("with fwd.dual_level(): fwd.make_dual(x, fwd.make_dual(torch.ones(2), torch.ones(2)))", [
        ("RuntimeError", "Setting a forward grad that itself has a forward gradient at the same level0 is not supported."),
    ]),
    ("with fwd.dual_level(): fwd.make_dual(x, torch.ones(3))", [
        ("RuntimeError", "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not supported. Tensor is of size [2] while the given forward gradient is of size [3]."),
    ]),
    ("with fwd.dual_level(): fwd.make_dual(torch.ones(2, dtype=torch.int64), torch.ones(2))", [
        ("ValueError", "Expected primal to be floating point or complex, but got: torch.int64"),
    ]),
    ("with fwd.dual_level(): fwd.make_dual(x, torch.ones(2, dtype=torch.int64))", [
        ("ValueError", "Expected tangent to be floating point or complex, but got: torch.int64"),
    ]),
    ("with fwd.dual_level(): fwd.unpack_dual(3)", [
        ("TypeError", "_unpack_dual(): argument 'dual' (position 1) must be Tensor, not int"),
    ]),
    ("torch.set_grad_enabled(3)", [
        ("TypeError", "set_grad_enabled(): argument 'enabled' (position 1) must be bool, not int"),
    ]),
    ("torch.no_grad()(type(\"A\", (), {}))", [
        ("FutureWarning", "Decorating classes is deprecated and will be disabled in future versions. You should only decorate functions or methods. To preserve the current behavior of class decoration, you can directly decorate the `__init__` method and nothing else."),
    ]),
    ("torch.set_grad_enabled(False)(type(\"A\", (), {}))", [
        ("FutureWarning", "Decorating classes is deprecated and will be disabled in future versions. You should only decorate functions or methods. To preserve the current behavior of class decoration, you can directly decorate the `__init__` method and nothing else."),
    ]),
    ("torch.autograd.Function.apply(x)", [
        ("NotImplementedError", "You must implement the forward function for custom autograd.Function."),
    ]),
    ("made(lambda ctx, x: x * 1).apply(x).sum().backward()", [
        ("NotImplementedError", "You must implement either the backward or vjp method for your custom autograd.Function to use it with backward mode AD."),
    ]),
    ("made(lambda ctx, x: x * 1, lambda ctx, g: (g, g)).apply(x).sum().backward()", [
        ("RuntimeError", "function MadeBackward returned an incorrect number of gradients (expected 1, got 2)"),
    ]),
    ("made(lambda ctx, x, k: x * 1, lambda ctx, g: (g, g)).apply(x, 3).sum().backward()", [
        ("RuntimeError", "function MadeBackward returned a gradient different than None at position 2, but the corresponding forward input was not a Variable"),
    ]),
    ("made(lambda ctx, x: x * 1, lambda ctx, g: 3).apply(x).sum().backward()", [
        ("RuntimeError", "expected Variable or None (got int)"),
    ]),
    ("made(lambda ctx, x: x * 1, lambda ctx, g: torch.ones(3)).apply(x).sum().backward()", [
        ("RuntimeError", "Function MadeBackward returned an invalid gradient at index 0 - got [3] but expected shape compatible with [2]"),
    ]),
    ("made(lambda ctx, x: x * 1, lambda ctx, g: g, vjp=staticmethod(lambda ctx, g: g)).apply(x).sum().backward()", [
        ("RuntimeError", "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only implement one of them."),
    ]),
    ("made(lambda ctx, x: (ctx.mark_dirty(x), x.add_(1))[1], lambda ctx, g: g).apply(x)", [
        ("RuntimeError", "a leaf Variable that requires grad has been used in an in-place operation."),
    ]),
    ("made(lambda ctx, x: (ctx.mark_dirty(x), x.add_(1))[1], lambda ctx, g: g).apply(x[:1])", [
        ("RuntimeError", "a view of a leaf Variable that requires grad is being used in an in-place operation."),
    ]),
    ("made(lambda ctx, x: (ctx.mark_dirty(x), x * 1)[1], lambda ctx, g: g).apply(x * 1)", [
        ("RuntimeError", "Some elements marked as dirty during the forward method were not returned as output. The inputs that are modified inplace must all be outputs of the Function."),
    ]),
    ("made(lambda ctx, x: (ctx.mark_dirty(x), (x.add_(1), x * 1))[1], lambda ctx, g, h: g).apply((x * 1)[:1])", [
        ("RuntimeError", "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot return more than one Tensor. This is not supported by the current autograd engine. You should either make sure the input is not a view (using .clone() for example) or make your Function only return one Tensor (potentially splitting it into two Functions: one doing the inplace that returns a single Tensor and a second one that does the other operations). You can ask on the forum https://discuss.pytorch.org/ if you need help to do this change."),
    ]),
    ("made(lambda ctx, x: (ctx.save_for_backward(x, 3), x * 1)[1], lambda ctx, g: g).apply(x)", [
        ("TypeError", "save_for_backward can only save variables, but argument 1 is of type int"),
    ]),
    ("made(lambda ctx, x: (ctx.save_for_backward(x), x * 1)[1], lambda ctx, g: ctx.saved_variables[0]).apply(x).sum().backward()", [
        ("DeprecationWarning", "'saved_variables' is deprecated; use 'saved_tensors'"),
    ]),
    ("made(lambda ctx, x: x * 1, lambda ctx, g: g).apply(x).grad_fn.nothing", [
        ("AttributeError", "'MadeBackward' object has no attribute 'nothing'"),
    ]),
    ("with fwd.dual_level(): made(lambda ctx, x: x * 1).apply(fwd.make_dual(x, torch.ones(2)))", [
        ("NotImplementedError", "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."),
    ]),
    ("with fwd.dual_level(): made(lambda ctx, x: x * 1, jvp=staticmethod(lambda ctx, t: (t, t))).apply(fwd.make_dual(x, torch.ones(2)))", [
        ("RuntimeError", "Function's jvp returned an invalid number of forward gradients (expected 1 but got 2)"),
    ]),
    ("with fwd.dual_level(): made(lambda ctx, x: x * 1, jvp=staticmethod(lambda ctx, t: 3)).apply(fwd.make_dual(x, torch.ones(2)))", [
        ("RuntimeError", "expected Variable or None (got int) for grad output 0."),
    ]),
    ("with fwd.dual_level(): made(lambda ctx, x: (x * 1, (x * 1).to(torch.int64)), jvp=staticmethod(lambda ctx, t: (t, t))).apply(fwd.make_dual(x, torch.ones(2)))", [
        ("RuntimeError", "Function's jvp returned a gradient at position 1, but  the corresponding forward output is not a differentiable Tensor.You should return None at that position instead."),
    ]),
    ("with fwd.dual_level(): made(lambda ctx, x: x.view(2, 1), jvp=staticmethod(lambda ctx, t: t.view(2, 1) * 1)).apply(fwd.make_dual(x, torch.ones(2)))", [
        ("RuntimeError", "A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning a view."),
    ]),
    ("with fwd.dual_level(): made(lambda ctx, x: x, jvp=staticmethod(lambda ctx, t: t * 1)).apply(fwd.make_dual(x, torch.ones(2)))", [
        ("RuntimeError", "A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning a view."),
    ]),
    ("with fwd.dual_level(): made(lambda ctx, x: (ctx.mark_dirty(x), x.add_(1))[1], jvp=staticmethod(lambda ctx, t: t * 2)).apply(fwd.make_dual(torch.ones(2), torch.ones(2)))", [
        ("RuntimeError", "An inplace custom Function is not modifying the forward mode gradients inplace. If the forward is modifying an input inplace, then the jvp function must modify the corresponding gradient inplace."),
    ]),
    ("with fwd.dual_level(): made(lambda ctx, x: (ctx.mark_dirty(x), x.add_(1))[1], jvp=staticmethod(lambda ctx, t: (t.add_(1), t * 1)[1])).apply(fwd.make_dual(torch.ones(2), torch.ones(2)))", [
        ("RuntimeError", "An inplace custom Function is not modifying the forward mode gradients inplace. If the forward is modifying an input inplace, then the jvp function must modify the corresponding gradient inplace."),
    ]),
    ("torch.autograd.functional.vjp(lambda x: x * 2, x)", [
        ("RuntimeError", "The vector v can only be None if the user-provided function returns a single Tensor with a single element."),
    ]),
    ("torch.autograd.functional.jvp(lambda x: x * 2, x)", [
        ("RuntimeError", "The vector v can only be None if the input to the user-provided function is a single Tensor with a single element."),
    ]),
    ("torch.autograd.functional.jacobian(lambda x: x, x, strategy=\"none\")", [
        ("AssertionError", "Expected strategy to be either \"forward-mode\" or \"reverse-mode\". Hint: If your function has more outputs than inputs, \"forward-mode\" tends to be more performant. Otherwise, prefer to use \"reverse-mode\"."),
    ]),
    ("torch.autograd.functional.jacobian(lambda x: x, x, strategy=\"forward-mode\")", [
        ("NotImplementedError", "Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly implemented for `vectorize=True`."),
    ]),
    ("torch.autograd.functional.jacobian(lambda x: x, x, strategy=\"forward-mode\", vectorize=True, create_graph=True)", [
        ("NotImplementedError", "torch.autograd.functional.jacobian: `create_graph=True` and `strategy=\"forward-mode\"` are not supported together (yet). Please either set `create_graph=False` or `strategy=\"reverse-mode\"`."),
    ]),
    ("torch.autograd.functional.jacobian(lambda x: x, x, strategy=\"forward-mode\", vectorize=True, strict=True)", [
        ("RuntimeError", "torch.autograd.functional.jacobian: `strict=True` and `strategy=\"forward-mode\"` are not supported together (yet). Please either set `strict=False` or `strategy=\"reverse-mode\"`."),
    ]),
    ("torch.autograd.functional.jacobian(lambda x: x, x, vectorize=True, strict=True)", [
        ("RuntimeError", "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported together. Please either set `strict=False` or `vectorize=False`."),
    ]),
    ("torch.autograd.functional.hessian(lambda x: x.sum(), x, vectorize=True, strict=True)", [
        ("RuntimeError", "While computing the hessian, found that the jacobian of the user-provided function with respect to input 0 is independent of the input. This is not allowed in strict mode. You should ensure that your function is twice differentiable and that the jacobian depends on the inputs (this would be violated by a linear function for example)."),
    ]),
    ("torch.autograd.functional.hessian(lambda x: x.sum(), x, outer_jacobian_strategy=\"none\")", [
        ("AssertionError", "Expected strategy to be either \"forward-mode\" or \"reverse-mode\"."),
    ]),
    ("torch.autograd.functional.hessian(lambda x: x.sum(), x, outer_jacobian_strategy=\"forward-mode\")", [
        ("NotImplementedError", "Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly implemented for `vectorize=True`."),
    ]),
    ("torch.autograd.functional.hessian(lambda x: x, x)", [
        ("RuntimeError", "The Tensor returned by the function given to hessian should contain a single element"),
    ]),
    ("torch.autograd.functional.hessian(lambda x: (x.sum(), x.sum()), x)", [
        ("RuntimeError", "The function given to hessian should return a single Tensor"),
    ]),
    ("torch.autograd.functional.hvp(lambda x: x * 2, x, x)", [
        ("RuntimeError", "The Tensor returned by the function given to hvp should contain a single element"),
    ]),
    ("torch.autograd.functional.vhp(lambda x: x * 2, x, x)", [
        ("RuntimeError", "The Tensor returned by the function given to vhp should contain a single element"),
    ]),
    ("torch.autograd.functional.vjp(lambda x: x * 2, 3)", [
        ("TypeError", "The inputs given to vjp must be either a Tensor or a tuple of Tensors but the given inputs has type <class 'int'>."),
    ]),
    ("torch.autograd.functional.vjp(lambda x: x * 2, (x, 3))", [
        ("TypeError", "The inputs given to vjp must be either a Tensor or a tuple of Tensors but the value at index 1 has type <class 'int'>."),
    ]),
    ("torch.autograd.functional.vjp(lambda x: 3, x)", [
        ("TypeError", "The outputs of the user-provided function given to vjp must be either a Tensor or a tuple of Tensors but the given outputs of the user-provided function has type <class 'int'>."),
    ]),
    ("torch.autograd.functional.vjp(lambda x: (x, 3), x)", [
        ("TypeError", "The outputs of the user-provided function given to vjp must be either a Tensor or a tuple of Tensors but the value at index 1 has type <class 'int'>."),
    ]),
    ("torch.autograd.functional.vjp(lambda x: x * 2, x, (x, x))", [
        ("RuntimeError", "The given v should contain a single Tensor."),
    ]),
    ("torch.autograd.functional.vjp(lambda x: (x, x), x, x)", [
        ("RuntimeError", "v is a tuple of invalid length: should be 2 but got 1."),
    ]),
    ("torch.autograd.functional.vjp(lambda x: (x, x), x, (x, x, x))", [
        ("RuntimeError", "v is a tuple of invalid length: should be 2 but got 3."),
    ]),
    ("torch.autograd.functional.vjp(lambda x: x * 2, x, torch.ones(3))", [
        ("RuntimeError", "v has invalid size: should be torch.Size([2]) but got torch.Size([3])."),
    ]),
    ("torch.autograd.functional.vjp(lambda x: (x * 2, x), x, (x, torch.ones(3)))", [
        ("RuntimeError", "Entry 1 in v has invalid size: should be torch.Size([2]) but got torch.Size([3])."),
    ]),
    ("torch.autograd.functional.jvp(lambda x: x * 2, x, torch.ones(3))", [
        ("RuntimeError", "v has invalid size: should be torch.Size([2]) but got torch.Size([3])."),
    ]),
    ("torch.autograd.functional.jvp(lambda x, z: x * 2, (x, x), (x, torch.ones(3)))", [
        ("RuntimeError", "Entry 1 in v has invalid size: should be torch.Size([2]) but got torch.Size([3])."),
    ]),
    ("torch.autograd.functional.vjp(lambda x: torch.ones(2), x, x, strict=True)", [
        ("RuntimeError", "Output 0 of the user-provided function does not require gradients. The outputs must be computed in a differentiable manner from the input when running in strict mode."),
    ]),
    ("torch.autograd.functional.vjp(lambda x, z: x * 2, (x, x), x, strict=True)", [
        ("RuntimeError", "The output of the user-provided function is independent of input 1. This is not allowed in strict mode."),
    ]),
    ("torch.autograd.functional.jvp(lambda x: torch.ones(2), x, x, strict=True)", [
        ("RuntimeError", "Output 0 of the user-provided function does not require gradients. The outputs must be computed in a differentiable manner from the input when running in strict mode."),
    ]),
    ("torch.autograd.functional.jvp(lambda x, z: x * 2, (x, x), (x, x), strict=True)", [
        ("RuntimeError", "The output of the user-provided function is independent of input 1. This is not allowed in strict mode."),
    ]),
    ("torch.autograd.functional.jacobian(lambda x: torch.ones(2), x, strict=True)", [
        ("RuntimeError", "Output 0 of the user-provided function does not require gradients. The outputs must be computed in a differentiable manner from the input when running in strict mode."),
    ]),
    ("torch.autograd.functional.jacobian(lambda x, z: x * 2, (x, x), strict=True)", [
        ("RuntimeError", "Output 0 of the user-provided function is independent of input 1. This is not allowed in strict mode."),
    ]),
    ("torch.autograd.functional.jacobian(lambda x: x * 2, x, strict=True, create_graph=True)", [
        ("RuntimeError", "The jacobian of the user-provided function is independent of input 0. This is not allowed in strict mode when create_graph=True."),
    ]),
    ("torch.autograd.functional.hessian(lambda x: x.sum(), x, strict=True)", [
        ("RuntimeError", "While computing the hessian, found that the jacobian of the user-provided function with respect to input 0 is independent of the input. This is not allowed in strict mode. You should ensure that your function is twice differentiable and that the jacobian depends on the inputs (this would be violated by a linear function for example)."),
    ]),
    ("torch.autograd.functional.hessian(lambda x: torch.tensor(1.), x, strict=True)", [
        ("RuntimeError", "Output 0 of the user-provided function does not require gradients. The outputs must be computed in a differentiable manner from the input when running in strict mode."),
    ]),
    ("torch.autograd.functional.hvp(lambda x: x.sum(), x, x, strict=True)", [
        ("RuntimeError", "While computing the hessian, found that the jacobian of the user-provided function with respect to input 0 is independent of the input. This is not allowed in strict mode. You should ensure that your function is twice differentiable and that the jacobian depends on the inputs (this would be violated by a linear function for example)."),
    ]),
    ("torch.autograd.functional.vhp(lambda x: x.sum(), x, x, strict=True)", [
        ("RuntimeError", "While computing the hessian, found that the jacobian of the user-provided function with respect to input 0 is independent of the input. This is not allowed in strict mode. You should ensure that your function is twice differentiable and that the jacobian depends on the inputs (this would be violated by a linear function for example)."),
    ]),
    ("torch.autograd.functional.vhp(lambda x, z: (x * x).sum(), (x, x), (x, x), strict=True)", [
        ("RuntimeError", "The output of the user-provided function is independent of input 1. This is not allowed in strict mode."),
    ]),
    ("torch.autograd.functional.hvp(lambda x, z: (x * x).sum(), (x, x), (x, x), strict=True)", [
        ("RuntimeError", "The output of the user-provided function is independent of input 1. This is not allowed in strict mode."),
    ]),
    ("check(lambda x: x, d, check_backward_ad=False)", [
        ("AssertionError", "Expected at least one of check_forward_ad or check_backward_ad to be True"),
    ]),
    ("check(lambda x: x, d, check_backward_ad=False, check_forward_ad=True, check_batched_grad=True)", [
        ("AssertionError", "Setting check_batched_grad=True requires check_backward_ad to be True"),
    ]),
    ("check(lambda x: x, d, check_batched_forward_grad=True)", [
        ("AssertionError", "Setting check_batched_forward_grad=True requires check_forward_ad to be True"),
    ]),
    ("check2(lambda x: x, d, check_fwd_over_rev=False, check_rev_over_rev=False)", [
        ("AssertionError", "Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True"),
    ]),
    ("check2(lambda x: x, d, check_fwd_over_rev=True, check_rev_over_rev=False, check_undefined_grad=True)", [
        ("AssertionError", "Setting check_undefined_grad=True requires check_rev_over_rev to be True"),
    ]),
    ("check2(lambda x: x, d, check_fwd_over_rev=True, check_rev_over_rev=False, check_batched_grad=True)", [
        ("AssertionError", "Setting check_undefined_grad=True requires check_rev_over_rev to be True"),
    ]),
    ("check(lambda x: x, torch.ones(2))", [
        ("ValueError", "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True."),
    ]),
    ("check(lambda x: x, x, eps=1e-2, atol=1)", [
        ("UserWarning", "Input #0 requires gradient and is not a double precision floating point or complex. This check will likely fail if all the inputs are not of double precision floating point or complex. "),
    ]),
    ("check(lambda x: x, leaf(torch.float64)[:1].expand(2))", [
        ("RuntimeError", "The 0th input has a dimension with stride 0. gradcheck only supports inputs that are non-overlapping to be able to compute the numerical gradients correctly. You should call .contiguous on the input before passing it to gradcheck."),
    ]),
    ("check(lambda x: x.detach(), d)", [
        ("GradcheckError", "Numerical gradient for function expected to be zero"),
    ]),
    ("check(lambda x: made(lambda ctx, x: x * 2, lambda ctx, g: g * 3).apply(x), d)", [
        ("GradcheckError", "Jacobian mismatch for output 0 with respect to input 0,\nnumerical:tensor([[2.0000, 0.0000],\n        [0.0000, 2.0000]], dtype=torch.float64)\nanalytical:tensor([[3., 0.],\n        [0., 3.]], dtype=torch.float64)\n"),
    ]),
    ("check(lambda x: made(lambda ctx, x: x * 1, lambda ctx, g: g + 1).apply(x), d)", [
        ("GradcheckError", "Jacobian mismatch for output 0 with respect to input 0,\nnumerical:tensor([[1.0000, 0.0000],\n        [0.0000, 1.0000]], dtype=torch.float64)\nanalytical:tensor([[2., 1.],\n        [1., 2.]], dtype=torch.float64)\n"),
    ]),
    ("check(lambda x: made(lambda ctx, x: x * 1, lambda ctx, g: 1 / 0).apply(x), d)", [
        ("ZeroDivisionError", "division by zero"),
    ]),
    ("x.register_hook(lambda g: 3); (x * 1).sum().backward()", [
        ("TypeError", "expected Variable, but hook returned 'int'"),
    ]),
    ("v.register_hook(lambda g: torch.ones(5)); v.sum().backward()", [
        ("RuntimeError", "hook '<lambda>' has changed the size of value"),
    ]),
    ("v.register_hook(lambda g: torch.ones(3, dtype=torch.float64)); v.sum().backward()", [
        ("RuntimeError", "hook '<lambda>' has changed the type of value (was torch.FloatTensor got torch.DoubleTensor)"),
    ]),
    ("v.grad_fn.register_hook(lambda a, b: 3); v.sum().backward()", [
        ("TypeError", "expected tuple, but hook returned 'int'"),
    ]),
    ("v.grad_fn.register_hook(lambda a, b: (a[0], a[0], a[0])); v.sum().backward()", [
        ("RuntimeError", "hook '<lambda>' has returned an incorrect number of values (got 3, but expected 2)"),
    ]),
    ("v.grad_fn.register_prehook(lambda a: 3); v.sum().backward()", [
        ("TypeError", "expected tuple, but hook returned 'int'"),
    ]),
    ("v.grad_fn.register_prehook(lambda a: (a[0], a[0])); v.sum().backward()", [
        ("RuntimeError", "hook '<lambda>' has returned an incorrect number of values (got 2, but expected 1)"),
    ]),
    ("torch.autograd.Variable(3)", [
        ("TypeError", "Variable data has to be a tensor, but got int"),
    ]),
    ("torch.autograd.Variable(x, volatile=True)", [
        ("UserWarning", "volatile was removed and now has no effect. Use `with torch.no_grad():` instead."),
    ]),
    ("torch.autograd.Variable._execution_engine.run_backward((x * 1,), (None,), False, False, ())", [
        ("RuntimeError", "element 0 of gradients tuple is None, but the corresponding Tensor requires grad"),
    ]),
    ("torch.autograd.Variable._execution_engine.run_backward((y,), (torch.tensor(1.),), False, False, (leaf(),), allow_unreachable=False)", [
        ("RuntimeError", "The differentiated Tensor at index 0 appears to not have been used in the graph. Set allow_unused=True if this is the desired behavior."),
    ]),
    ("torch.autograd.Variable(x, volatile=True, requires_grad=True)", [
        ("ValueError", "Variable can't be volatile and require_grad at the same time!"),
        ("UserWarning", "volatile was removed and now has no effect. Use `with torch.no_grad():` instead."),
    ]),
    ("torch.autograd.Variable(x, _grad_fn=3)", [
        ("TypeError", "_grad_fn has to be a Function object or None, but got int"),
    ]),
    ("torch.autograd.graph.get_gradient_edge(3)", [
        ("AttributeError", "'int' object has no attribute 'requires_grad'"),
    ]),
    ("torch.autograd.backward(y, [3])", [
        ("TypeError", "gradients can be either Tensors or None, but got int"),
    ]),
    ("torch.autograd.backward([y], [torch.ones(3)])", [
        ("RuntimeError", "Mismatch in shape: grad_output[0] has a shape of torch.Size([3]) and output[0] has a shape of torch.Size([])."),
    ]),
    ("torch.autograd.grad(y, [3])", [
        ("RuntimeError", "all inputs have to be Tensors or GradientEdges, but got int"),
    ]),
    ("torch.autograd.grad(y, torch.autograd.graph.get_gradient_edge(leaf()), materialize_grads=True)", [
        ("RuntimeError", "materialize_grads cannot be used when the given input is a GradientEdge"),
    ]),
    ("torch.autograd.grad([v, v], w0, is_grads_batched=True, grad_outputs=[torch.ones(2, 3), torch.ones(4, 3)])", [
        ("ValueError", "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes [2, 4] for the mapped dimension"),
    ]),
    ("v.backward(torch.ones(4))", [
        ("RuntimeError", "Mismatch in shape: grad_output[0] has a shape of torch.Size([4]) and output[0] has a shape of torch.Size([3])."),
    ]),
    ("y.backward(); y.backward()", [
        ("RuntimeError", "Trying to backward through the graph a second time (or directly access saved tensors after they have already been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors after calling backward."),
    ]),
    ("torch.autograd.gradcheck.get_numerical_jacobian(lambda x: x, (d,), grad_out=2.0)", [
        ("AttributeError", "'function' object has no attribute 'get_numerical_jacobian'"),
    ]),
    ("torch.autograd.gradcheck.get_analytical_jacobian((d,), d, grad_out=2.0)", [
        ("AttributeError", "'function' object has no attribute 'get_analytical_jacobian'"),
    ]),
    ("torch.autograd.functional.hessian(lambda x: x.sum(), (x, x))", [
        ("TypeError", "<lambda>() takes 1 positional argument but 2 were given"),
    ]),
    ("torch.autograd.functional.hvp(lambda x: x.sum(), x, torch.ones(3))", [
        ("RuntimeError", "v has invalid size: should be torch.Size([2]) but got torch.Size([3])."),
    ]),
    ("torch.autograd.functional.vhp(lambda x: x.sum(), x, None)", [
        ("RuntimeError", "The vector v can only be None if the input to the user-provided function is a single Tensor with a single element."),
    ]),
    ("torch.autograd.functional.hvp(lambda x: x.sum(), x)", [
        ("RuntimeError", "The vector v can only be None if the input to the user-provided function is a single Tensor with a single element."),
    ]),
    ("torch.autograd.functional.hvp(lambda x: 3, x, x)", [
        ("TypeError", "The outputs of the user-provided function given to hvp must be either a Tensor or a tuple of Tensors but the given outputs of the user-provided function has type <class 'int'>."),
    ]),
    ("torch.autograd.functional.hvp(lambda x: (x.sum(), x.sum()), x, x)", [
        ("RuntimeError", "The function given to hvp should return a single Tensor"),
    ]),
    ("with torch.autograd.profiler.profile() as p: p.__enter__()", [
        ("RuntimeError", "Profiler context manager is not reentrant"),
    ]),
    ("torch.autograd.profiler.profile(use_device=\"cuda\")", [
        ("UserWarning", "CUDA is not available, disabling CUDA profiling"),
    ]),
    ("with torch.autograd.profiler.profile() as p: x * 1\np.export_stacks(\"f\", \"self_cpu_time_total\")", [
        ("AssertionError", "export_stacks() requires with_stack=True"),
    ]),
    ("x.volatile", [
        ("UserWarning", "volatile was removed (Variable.volatile is always False)"),
    ]),
    ("torch.autograd.Function.setup_context(None, (), None)", [
        ("NotImplementedError", "setup_context is not implemented."),
    ]),
    ("torch.autograd.functional.jacobian(lambda x: x, 3, strategy=\"forward-mode\", vectorize=True)", [
        ("TypeError", "The inputs given to jacobian must be either a Tensor or a tuple of Tensors but the given inputs has type <class 'int'>."),
    ]),
]

OWN = [
    ("torch.autograd.graph.saved_tensors_hooks(1, 2).__enter__()", [
        ("TypeError", "_push_saved_tensors_default_hooks(): incompatible function arguments. The pack hook and the unpack hook have to be callable."),
    ]),
    ("check(lambda x: made(lambda ctx, x: x * 1, lambda ctx, g: torch.randn(2, dtype=torch.float64)).apply(x), d)", [
        ("GradcheckError", "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives different values, although analytical gradient matches numerical gradient.The tolerance for nondeterminism was 0.0."),
    ]),
    ("with torch.autograd.detect_anomaly(): v.register_hook(lambda g: g * float(\"nan\")); v.sum().backward()", [
        ("RuntimeError", "Function 'MulBackward0' returned nan values in its 0th output.\nThis gradient has the shape [3]; 3 of its 3 values are nan, the first at index [0]."),
        ("UserWarning", "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for debugging."),
        ("UserWarning", "Error detected in MulBackward0. No forward pass information available. Enable detect anomaly during forward pass for more information."),
    ]),
    ("with torch.autograd.profiler.profile() as p: torch.autograd.profiler.profile().__enter__()", [
        ("RuntimeError", "Profiler is already enabled on this thread"),
    ]),
    ("torch.autograd.profiler.profile().table()", [
        ("RuntimeError", "Profiler didn't finish running"),
    ]),
]


def names(torch: Any) -> dict[str, Any]:
    """What the programs may use."""
    x = torch.tensor([1.0, 1.0], requires_grad=True)
    w = torch.tensor([1.0, 1.0, 1.0], requires_grad=True)

    def made(forward: Any, backward: Any = None, **more: Any) -> Any:
        body = {"forward": staticmethod(forward), **more}
        if backward is not None:
            body["backward"] = staticmethod(backward)
        return type("Made", (torch.autograd.Function,), body)

    return {
        "torch": torch, "x": x, "y": (x * x).sum(), "w0": w, "v": w * 2, "made": made,
        "fwd": torch.autograd.forward_ad, "check": torch.autograd.gradcheck,
        "check2": torch.autograd.gradgradcheck,
        "d": torch.ones(2, dtype=torch.float64, requires_grad=True),
        "leaf": lambda dtype=None: torch.ones(2, dtype=dtype, requires_grad=True),
    }


def said(torch: Any, program: str) -> list[tuple[str, str]]:
    """Run a program; return class and text of its error and of its warnings."""
    texts = []
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            exec(program, names(torch))
        except Exception as error:
            texts.append((type(error).__name__, str(error)))
        finally:
            torch.autograd.set_detect_anomaly(False)
    for warning in seen:
        text = re.sub(r" \(Triggered internally at .*", "", str(warning.message))
        if "jit.script" not in text:  # PyTorch's own, about itself
            texts.append((warning.category.__name__, text))
    return texts


@pytest.mark.parametrize("torch", ENGINES, ids=NAMES)
@pytest.mark.parametrize(("program", "expected"), SAME, ids=[row[0] for row in SAME])
def test_errors_and_warnings_have_pytorchs_words(torch, program, expected):
    if torch.__name__ == "torch":
        before = torch.is_warn_always_enabled()
        torch.set_warn_always(True)
    try:
        assert said(torch, program) == expected
    finally:
        if torch.__name__ == "torch":
            torch.set_warn_always(before)


@pytest.mark.parametrize(("program", "expected"), OWN, ids=[row[0] for row in OWN])
def test_our_own_words(program, expected):
    assert said(minigrad, program) == expected
