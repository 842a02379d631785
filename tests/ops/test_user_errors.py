"""Mistakes of users: the same class of error as PyTorch's, and a text that names what is wrong.

Each line is run by both engines.  Every number, dtype and shape that the first line of PyTorch's
text names has to be in ours; `OWN_WORDS` has the lines where ours says it otherwise.
"""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

import minigrad

MISTAKES = """
torch.zeros(2, 3) @ torch.zeros(2, 3)
torch.zeros(2, 3) + torch.zeros(2, 4)
torch.zeros(3).add_(torch.zeros(2, 3))
torch.mm(torch.zeros(2, 3), torch.zeros(4, 5))
torch.mm(torch.zeros(2), torch.zeros(4, 5))
torch.bmm(torch.zeros(2, 3, 4), torch.zeros(2, 3, 4))
torch.bmm(torch.zeros(2, 3), torch.zeros(2, 3))
torch.mv(torch.zeros(2, 3), torch.zeros(2))
torch.dot(torch.zeros(2), torch.zeros(3))
torch.dot(torch.zeros(2, 2), torch.zeros(2))
torch.matmul(torch.tensor(1.), torch.zeros(2))
torch.mm(torch.zeros(2, 2), torch.zeros(2, 2, dtype=torch.float64))
torch.mm(torch.zeros(2, 2), torch.zeros(2, 2, dtype=torch.int64))
torch.mm(torch.zeros(2, 2), torch.zeros(2, 2, dtype=torch.int16))
torch.nn.functional.conv1d(torch.zeros(1, 1, 3), torch.zeros(1, 1, 2), torch.zeros(1, dtype=torch.int8))
torch.nn.functional.conv1d(torch.zeros(1, 1, 3), torch.zeros(1, 1, 2), stride=0, padding=-1)
torch.nn.functional.conv1d(torch.zeros(1, 1, 3), torch.zeros(1, 1, 2), dilation=0)
torch.group_norm(torch.tensor(1.), 1)
torch.nn.functional.avg_pool2d(torch.tensor(1.), 1)
torch.zeros(2, 3).view(4)
torch.zeros(2, 3).t().view(6)
torch.zeros(2, 3).view(-1, -1)
torch.zeros(2, 3).view(-1, 4)
torch.zeros(2, 3).reshape(7)
torch.zeros(2, 3).expand(3, 3)
torch.zeros(2, 3).expand(3)
torch.zeros(2, 3).permute(0, 0)
torch.zeros(2, 3).permute(0)
torch.zeros(2, 3).permute(0, 2)
torch.zeros(2, 3).transpose(0, 2)
torch.zeros(2, 3, 4).t()
torch.zeros(2, 3).squeeze(3)
torch.zeros(2, 3).unsqueeze(4)
torch.zeros(2, 3).sum(2)
torch.zeros(2, 3).sum((0, 0))
torch.zeros(2, 3).mean(5)
torch.zeros(2, 3, dtype=torch.int64).mean()
torch.zeros(2, 3).softmax(2)
torch.zeros(2, 3, dtype=torch.int64).softmax(0)
torch.zeros(2, 3).cumsum(2)
torch.zeros(2, 3).max(2)
torch.zeros(0).max()
torch.zeros(0, 3).max(0)
torch.zeros(0).argmax()
torch.zeros(2, 3).sort(2)
torch.zeros(3).topk(4)
torch.zeros(2, 3).narrow(1, 2, 2)
torch.zeros(2, 3).narrow(2, 0, 1)
torch.zeros(2, 3).select(0, 2)
torch.zeros(2, 3).select(2, 0)
torch.zeros(2, 3).split(-1)
torch.zeros(2, 3).split([1, 3])
torch.zeros(2, 3).chunk(0)
torch.zeros(2, 3).unbind(2)
torch.cat([torch.zeros(2, 3), torch.zeros(2, 4)])
torch.cat([torch.zeros(2, 3), torch.zeros(3)])
torch.cat([])
torch.cat([torch.zeros(2)], 1)
torch.cat(torch.zeros(2))
torch.stack([torch.zeros(2), torch.zeros(3)])
torch.stack([])
torch.stack([torch.zeros(2)], 3)
torch.zeros(2, 3)[2]
torch.zeros(2, 3)[0, 3]
torch.zeros(2, 3)[0, 0, 0]
torch.zeros(2, 3)[torch.tensor([2])]
torch.zeros(2, 3)[torch.tensor([0.5])]
torch.zeros(2, 3)[torch.tensor([True])]
torch.zeros(2, 3)[[0, 1], [0, 1, 2]]
torch.zeros(2, 3)[1.5]
torch.zeros(2, 3)['a']
torch.zeros(())[0]
torch.zeros(4)[::-1]
torch.zeros(4)[::0]
torch.zeros(2, 3).index_select(0, torch.tensor([5]))
torch.zeros(2, 3).index_select(0, torch.tensor([[0]]))
torch.zeros(2, 3).index_select(0, torch.tensor([0.]))
torch.zeros(2, 3).gather(0, torch.tensor([[5, 0, 0]]))
torch.zeros(2, 3).gather(0, torch.tensor([0]))
torch.zeros(2, 3).scatter(0, torch.tensor([[5, 0, 0]]), 1.)
torch.zeros(2, 3).scatter_add(0, torch.tensor([[0, 0, 0]]), torch.ones(1, 2))
torch.zeros(2, 3).masked_fill(torch.zeros(2, 3), 1.)
torch.zeros(2, 3).masked_fill(torch.zeros(4, dtype=torch.bool), 1.)
torch.zeros(2, 3).masked_select(torch.zeros(2, 3))
torch.zeros(2, 3).index_add(0, torch.tensor([0]), torch.zeros(2, 3))
torch.zeros(2, 3).index_fill(0, torch.tensor([3]), 1.)
torch.where(torch.zeros(2), torch.zeros(2), torch.zeros(3))
torch.where(torch.zeros(2, dtype=torch.bool), torch.zeros(2), torch.zeros(3))
torch.zeros(2, 3).item()
float(torch.zeros(2))
bool(torch.zeros(2))
bool(torch.zeros(0))
int(torch.zeros(2))
torch.zeros(2).__index__()
range(3)[torch.tensor(1.)]
len(torch.tensor(1.))
iter(torch.tensor(1.))
torch.zeros(2, requires_grad=True).numpy()
torch.zeros(2, dtype=torch.int64, requires_grad=True)
torch.zeros(2, dtype=torch.int64).requires_grad_()
torch.zeros(-1)
torch.zeros(2, 'a')
torch.zeros(2.5)
torch.ones(2, dtype='float32')
torch.tensor([1, [2]])
torch.tensor([[1, 2], [3]])
torch.tensor('a')
torch.tensor(None)
torch.tensor([None])
torch.tensor()
torch.arange(0, 3, 0)
torch.arange(0, 3, -1)
torch.arange(float('inf'))
torch.linspace(0, 1, -1)
torch.eye(-1)
torch.full((2,), 'a')
torch.randperm(-1)
torch.randint(3, 2, (2,))
torch.multinomial(torch.tensor([-1., 1.]), 1)
torch.bernoulli(torch.tensor([2.]))
torch.normal(torch.zeros(2), -1.)
torch.zeros(2).pow('a')
torch.zeros(2) + 'a'
torch.zeros(2) + None
torch.zeros(2) < 'a'
torch.tensor([1, 2]) ** -1
torch.tensor([1, 2]).div_(2)
torch.tensor([1, 2]).add_(1.5)
torch.tensor([True]) - torch.tensor([True])
-torch.tensor([True])
torch.tensor([1.]) & torch.tensor([1.])
torch.tensor([1.]) << 1
torch.tensor([1]) // torch.tensor([0])
torch.tensor([1]) % torch.tensor([0])
torch.tensor([1]).exp_()
torch.tensor([1]).sqrt_()
torch.zeros(2).clamp()
torch.zeros(2).std('a')
torch.zeros(2, 2).inverse()
torch.linalg.inv(torch.zeros(2, 3))
torch.linalg.cholesky(-torch.eye(2))
torch.linalg.solve(torch.zeros(2, 2), torch.zeros(2))
torch.einsum('ij,jk->ik', torch.zeros(2, 3), torch.zeros(2, 3))
torch.einsum('ij->k', torch.zeros(2, 3))
torch.einsum('ij', torch.zeros(2))
torch.zeros(2).backward()
torch.zeros(2, requires_grad=True).backward()
(torch.zeros(2, requires_grad=True) * 2).backward()
(torch.zeros(2, requires_grad=True) * 2).backward(torch.zeros(3))
(torch.zeros(2, requires_grad=True) * 2).sum().backward('a')
torch.autograd.grad(torch.zeros(1), torch.zeros(1))
torch.autograd.grad(torch.zeros(1, requires_grad=True).sum(), torch.zeros(1))
torch.autograd.grad(torch.zeros(1, requires_grad=True).sum(), torch.zeros(1, requires_grad=True))
torch.autograd.grad(torch.zeros(2, requires_grad=True) * 2, torch.zeros(2, requires_grad=True))
torch.autograd.grad([], [])
torch.autograd.backward(torch.zeros(2, requires_grad=True).sum(), torch.zeros(2))
torch.zeros(2, requires_grad=True).add_(1)
torch.zeros(2, requires_grad=True)[0].add_(1)
torch.zeros(2, requires_grad=True).fill_(1)
torch.zeros(2).expand(3, 2).add_(1)
torch.zeros(2, requires_grad=True).view(2).add_(1)
setattr(torch.zeros(2, requires_grad=True) * 2, 'requires_grad', False)
setattr(torch.zeros(2), 'grad', torch.zeros(3))
setattr(torch.zeros(2), 'grad', 3)
setattr(torch.zeros(2), 'grad', torch.zeros(2, dtype=torch.float64))
setattr(torch.zeros(2), 'data', 3)
torch.zeros(2).register_hook(lambda g: g)
torch.zeros(2).retain_grad()
torch.nn.Linear(2, 3)(torch.zeros(4))
torch.nn.Linear(2, 3)(torch.zeros(4, 3))
torch.nn.Linear(2, 3)(torch.zeros(2, dtype=torch.float64))
torch.nn.Conv2d(3, 4, 3)(torch.zeros(1, 2, 5, 5))
torch.nn.Conv2d(3, 4, 3)(torch.zeros(1, 3, 2, 2))
torch.nn.Conv2d(3, 4, 3)(torch.zeros(3))
torch.nn.Conv2d(3, 4, 3, groups=2)
torch.nn.Conv2d(3, 4, 3, padding_mode='a')
torch.nn.Conv2d(3, 4, 3, stride=2, padding='same')
torch.nn.BatchNorm2d(3)(torch.zeros(2, 3))
torch.nn.BatchNorm2d(3)(torch.zeros(2, 4, 2, 2))
torch.nn.BatchNorm1d(3)(torch.zeros(1, 3))
torch.nn.LayerNorm(3)(torch.zeros(2, 4))
torch.nn.GroupNorm(2, 3)
torch.nn.Dropout(1.5)
torch.nn.functional.dropout(torch.zeros(2), -0.1)
torch.nn.Embedding(3, 2)(torch.tensor([3]))
torch.nn.Embedding(3, 2)(torch.tensor([0.5]))
torch.nn.functional.nll_loss(torch.zeros(2, 3), torch.tensor([0, 3]))
torch.nn.functional.nll_loss(torch.zeros(2, 3), torch.tensor([0]))
torch.nn.functional.nll_loss(torch.zeros(2, 3), torch.tensor([0., 1.]))
torch.nn.functional.cross_entropy(torch.zeros(2, 3), torch.tensor([0, 5]))
torch.nn.functional.cross_entropy(torch.zeros(2, 3), torch.zeros(2, 4))
torch.nn.functional.cross_entropy(torch.zeros(2, 3), torch.tensor([0, 1]), reduction='a')
torch.nn.functional.mse_loss(torch.zeros(2), torch.zeros(3))
torch.nn.functional.binary_cross_entropy(torch.tensor([2.]), torch.tensor([1.]))
torch.nn.functional.binary_cross_entropy(torch.zeros(2), torch.zeros(3))
torch.nn.functional.binary_cross_entropy_with_logits(torch.zeros(2), torch.zeros(3))
torch.nn.functional.max_pool2d(torch.zeros(1, 1, 2, 2), 3)
torch.nn.functional.max_pool2d(torch.zeros(2), 3)
torch.nn.functional.avg_pool2d(torch.zeros(1, 1, 4, 4), 2, padding=2)
torch.nn.functional.pad(torch.zeros(2), (1, 1, 1, 1))
torch.nn.functional.pad(torch.zeros(2), (1,))
torch.nn.functional.pad(torch.zeros(1, 2, 2), (3, 3), mode='reflect')
torch.nn.functional.one_hot(torch.tensor([3]), 2)
torch.nn.functional.one_hot(torch.tensor([-1]))
torch.nn.functional.one_hot(torch.tensor([0.5]))
torch.nn.functional.interpolate(torch.zeros(1, 1, 2, 2))
torch.nn.functional.linear(torch.zeros(2, 3), torch.zeros(4, 5))
torch.nn.functional.normalize(torch.zeros(2), dim=3)
torch.nn.functional.embedding(torch.tensor([5]), torch.zeros(3, 2))
torch.nn.Sequential(3)
torch.nn.ModuleList([3])
torch.nn.ModuleDict({'a': 3})
torch.nn.Module()(3)
torch.nn.Module().foo
torch.nn.Linear(2, 3).load_state_dict({})
torch.nn.Linear(2, 3).load_state_dict({'weight': torch.zeros(3, 2), 'bias': torch.zeros(4)})
torch.nn.Linear(2, 3).load_state_dict({'weight': torch.zeros(3, 2), 'bias': torch.zeros(3), 'x': torch.zeros(1)})
torch.nn.Linear(2, 3).register_buffer('weight', torch.zeros(2))
torch.nn.Linear(2, 3).register_buffer('a.b', torch.zeros(2))
torch.nn.Linear(2, 3).register_buffer('', torch.zeros(2))
torch.nn.Linear(2, 3).register_parameter('p', torch.zeros(2))
torch.nn.Linear(2, 3).add_module('m', 3)
setattr(torch.nn.Linear(2, 3), 'weight', torch.zeros(2))
torch.nn.Linear(2, 3).get_parameter('x')
torch.nn.Linear(2, 3).get_submodule('x')
torch.nn.Parameter(torch.zeros(2, dtype=torch.int64))
torch.optim.SGD([], lr=0.1)
torch.optim.SGD([torch.zeros(2)], lr=-1)
torch.optim.SGD([3], lr=0.1)
torch.optim.SGD(torch.zeros(2), lr=0.1)
torch.optim.SGD([torch.zeros(2, requires_grad=True)], lr=0.1, momentum=-1)
torch.optim.SGD([torch.zeros(2, requires_grad=True)], lr=0.1, nesterov=True)
torch.optim.SGD([torch.zeros(2, requires_grad=True) * 2], lr=0.1)
torch.optim.Adam([torch.zeros(2, requires_grad=True)], betas=(1.0, 0.9))
torch.optim.Adam([torch.zeros(2, requires_grad=True)], eps=-1)
torch.optim.Adam([torch.zeros(2, requires_grad=True)], weight_decay=-1)
torch.optim.lr_scheduler.StepLR(3, 1)
torch.nn.utils.clip_grad_norm_([torch.zeros(2)], 'a')
torch.nn.utils.parameters_to_vector([])
torch.nn.init.xavier_uniform_(torch.zeros(2))
torch.nn.init.kaiming_normal_(torch.zeros(2, 2), mode='a')
torch.nn.init.kaiming_normal_(torch.zeros(2, 2), nonlinearity='a')
torch.nn.init.orthogonal_(torch.zeros(2))
torch.nn.init.eye_(torch.zeros(2))
torch.autograd.functional.jacobian(lambda x: 3, torch.zeros(2))
torch.autograd.functional.jacobian(lambda x: x, 3)
torch.autograd.functional.hessian(lambda x: x, torch.zeros(2))
torch.autograd.functional.vjp(lambda x: x, torch.zeros(2))
torch.autograd.functional.vjp(lambda x: x, torch.zeros(2), torch.zeros(3))
torch.autograd.functional.jvp(lambda x: x, torch.zeros(2), torch.zeros(3))
torch.autograd.functional.jacobian(lambda x: torch.zeros(2), torch.zeros(2), strict=True)
torch.autograd.gradcheck(lambda x: x * 2, torch.zeros(2))
torch.autograd.gradcheck(lambda x: x * 2, torch.zeros(2, dtype=torch.float64))
torch.autograd.gradcheck(lambda x: x.detach(), torch.zeros(2, dtype=torch.float64, requires_grad=True))
torch.autograd.Function()()
torch.autograd.Function.apply(torch.zeros(2))
torch.Generator('abc')
torch.device('abc')
torch.device('cpu', 'x')
torch.zeros(2, device='abc')
torch.manual_seed('a')
torch.set_default_dtype(torch.int64)
torch.set_num_threads(0)
torch.zeros(2).to('abc')
torch.zeros(2).type_as(3)
torch.zeros(2).repeat()
torch.zeros(2, 2).repeat(2)
torch.zeros(2).repeat_interleave(torch.tensor([1, 2, 3]))
torch.zeros(2, 3).flatten(1, 0)
torch.zeros(2, 3).unflatten(1, (2, 2))
torch.zeros(2, 3).movedim(0, 3)
torch.zeros(2, 3).flip(2)
torch.zeros(2, 3).roll(1, (0, 1))
torch.zeros(2, 3).diagonal(0, 0, 0)
torch.zeros(2).tril()
torch.zeros(2, 3).as_strided((10,), (1,))
torch.zeros(2, 3).as_strided((2,), (-1,))
torch.zeros(2, 3).unfold(0, 3, 1)
torch.zeros(2, 3).unfold(1, 2, 0)
torch.zeros(2, 3).copy_(torch.zeros(4))
torch.zeros(2).__setitem__(5, 1.)
torch.zeros(2, 3).__setitem__(0, torch.zeros(2))
torch.zeros(2).__setitem__('a', 1.)
torch.broadcast_shapes((2,), (3,))
torch.broadcast_tensors(torch.zeros(2), torch.zeros(3))
torch.meshgrid(torch.zeros(2, 2), indexing='ij')
torch.meshgrid(torch.zeros(2), indexing='a')
torch.addmm(torch.zeros(5), torch.zeros(2, 3), torch.zeros(3, 4))
torch.outer(torch.zeros(2, 2), torch.zeros(2))
torch.cross(torch.zeros(2), torch.zeros(2), dim=0)
torch.zeros(2, 3).logsumexp(4)
torch.zeros(2, 3).prod(4)
torch.zeros(2, 3).norm(p='a')
torch.zeros(2, 3).any(4)
torch.zeros(2, 3).median(4)
torch.zeros(2, 3).kthvalue(5)
torch.zeros(2).lerp(torch.zeros(3), 0.5)
torch.lerp(torch.zeros(2), torch.zeros(2, dtype=torch.float64), 0.5)
torch.allclose(torch.zeros(2), torch.zeros(2, dtype=torch.float64))
torch.equal(torch.zeros(2), 3)
torch.result_type('a', 1)
torch.promote_types(3, torch.float32)
torch.from_numpy([1, 2])
torch.from_numpy(np.array(['a']))
torch.from_numpy(np.array([1+2j]).astype(object))
torch.as_tensor('a')
torch.Tensor(2, 'a')
torch.zeros(2).new_zeros('a')
torch.zeros(2).view('a')
torch.zeros(2).sum(dtype='a')
torch.utils.checkpoint.checkpoint(3, torch.zeros(2))
torch.utils.data.DataLoader([1, 2], batch_size=0)
torch.utils.data.DataLoader([1, 2], batch_size=-1)
torch.utils.data.TensorDataset(torch.zeros(2), torch.zeros(3))
torch.utils.data.random_split([1, 2], [3])
torch.load('/nonexistent/file')
torch.func.grad(lambda x: x)(torch.zeros(2))
torch.func.vmap(lambda x: x)(3)
torch.func.vmap(lambda x: x, in_dims=2)(torch.zeros(2))
torch.func.jacrev(lambda x: 3)(torch.zeros(2))
torch.autograd.forward_ad.make_dual(torch.zeros(2), torch.zeros(2))
torch.autograd.graph.save_on_cpu(3, 4, 5)
torch.autograd.graph.saved_tensors_hooks(1)
torch.autograd.grad(torch.zeros(1, requires_grad=True).sum(), 3)
torch.autograd.backward(3)
torch.autograd.backward([3])
torch.autograd.backward([None])
torch.autograd.backward(['a'], [torch.zeros(1)])
torch.autograd.grad([3], [torch.zeros(1)])
torch.autograd.grad(torch.zeros(1, requires_grad=True).sum(), torch.zeros(1, requires_grad=True), is_grads_batched=True)
torch.autograd.grad(torch.zeros(2, requires_grad=True) * 2, torch.zeros(2, requires_grad=True), is_grads_batched=True)
torch.set_grad_enabled('a')
torch.nn.functional.nll_loss(torch.zeros(2, 1, 3), torch.tensor(1))
torch.zeros(3).index_fill(0, torch.tensor([1]), torch.zeros(1))
torch.tensor([True]).lerp_(torch.tensor([True, False]), 0.5)
torch.tensor([True, False]) % torch.tensor([True, False, True])
torch.nn.functional.layer_norm(torch.zeros(2, dtype=torch.int64), (2,))
torch.nn.functional.group_norm(torch.zeros(1, 2, dtype=torch.int64), 1)
""".strip().splitlines()

#: Where the text differs from PyTorch's: what it has to name.
OWN_WORDS = {
    "torch.broadcast_shapes((2,), (3,))": r"\(2\) must match .* \(3\)",
    "torch.result_type('a', 1)": r"result_type\(\): .* not str",
    "torch.Tensor(2, 'a')": r"new\(\): .* got \(2, 'a'\)",
    "torch.from_numpy(np.array(['a']))": r"numpy.str_\. .* float32",
    "torch.from_numpy(np.array([1+2j]).astype(object))": r"numpy.object_\. .* float32",
    "torch.promote_types(3, torch.float32)": r"promote_types\(\): .* torch.dtype, not int",
    "torch.equal(torch.zeros(2), 3)": r"equal\(\): argument 'other' .* Tensor, not int",
    "torch.zeros(2).type_as(3)": r"type_as\(\): argument 'other' .* Tensor, not int",
    "torch.device('cpu', 'x')": r"device\(\): argument 'index' .* int, not str",
    "setattr(torch.zeros(2), 'grad', torch.zeros(2, dtype=torch.float64))":
        "dtype 'double' to a tensor with grad_dtype 'Float'",
    "torch.nn.Linear(2, 3)(torch.zeros(2, dtype=torch.float64))": "Double and Float",
}


def mistake(engine, line: str) -> Exception:
    """Return what a line raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the error is what is compared
        try:
            given = eval(line, {"torch": engine, "np": np})
        except Exception as error:
            return error
    pytest.fail(f"{line} raises nothing and returns {given!r}")


def named(text: str) -> set[str]:
    """Return the numbers and dtypes that a text names."""
    return set(re.findall(r"\d+|float\d*|int\d*|bool|long|double|half", text.lower()))


def test_there_are_enough_and_each_is_there_once():
    assert len(set(MISTAKES)) == len(MISTAKES) >= 300
    assert set(OWN_WORDS) <= set(MISTAKES)


@pytest.mark.parametrize("line", MISTAKES)
def test_the_class_is_pytorchs_and_the_message_names_the_argument(line):
    torch = pytest.importorskip("torch", reason="the errors are compared with PyTorch's")
    ours, theirs = mistake(minigrad, line), mistake(torch, line)
    assert type(ours).__name__ == type(theirs).__name__.lstrip("_"), f"{ours}; PyTorch: {theirs}"
    if line in OWN_WORDS:
        assert re.search(OWN_WORDS[line], str(ours))
    else:
        missing = named(str(theirs).partition("\n")[0]) - named(str(ours))
        assert not missing, f"{ours}; PyTorch: {theirs}"


@pytest.mark.parametrize("line", MISTAKES)
def test_the_message_names_no_inner_function(line):
    error = mistake(minigrad, line)
    assert not isinstance(error, AttributeError) or "has no attribute" in str(error)
    assert "__" not in str(error).replace(".__init__()", ""), "an inner name of Python's"
    assert len(str(error)) > 10


# --- More than 64 dimensions ----------------------------------------------------------------------

MANY = [1] * 64


@pytest.mark.parametrize(("name", "call"), [
    ("zeros", lambda x: minigrad.zeros([*MANY, 1])),
    ("randn", lambda x: minigrad.randn([*MANY, 1])),
    ("unsqueeze", lambda x: x.unsqueeze(0)),
    ("stack", lambda x: minigrad.stack([x, x])),
    ("repeat", lambda x: x.repeat([*MANY, 1])),
    ("expand", lambda x: x.expand([2, *MANY])),
], ids=lambda value: value if isinstance(value, str) else "")
def test_a_result_of_65_dimensions_names_the_limit(name, call):
    with pytest.raises(RuntimeError, match=rf"^{name}\(\): .*at most 64") as caught:
        call(minigrad.ones(MANY, requires_grad=True))
    assert "ndarray" not in str(caught.value)
