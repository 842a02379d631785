"""The errors of windows, kernels, targets and sizes, word for word as PyTorch's."""

import warnings

import pytest

import minigrad

#: Calls that raise, by what is wrong with them; `F` is nn.functional.
CALLS = """
F.adaptive_avg_pool1d(torch.zeros(1, 1, 4), ())
F.adaptive_avg_pool2d(torch.zeros(1, 1, 4, 4), (-1, 2))
F.adaptive_avg_pool2d(torch.zeros(1, 1, 4, 4), (2, 2, 2))
F.adaptive_max_pool2d(torch.zeros(1, 1, 4, 4), (2,))
F.adaptive_max_pool3d(torch.zeros(1, 1, 4, 4, 4), (-1, 2, 2))
F.max_pool1d(torch.zeros(1, 1, 4), 2, padding=-1)
F.max_pool1d(torch.zeros(1, 1, 4), 2, padding=-1, return_indices=True)
F.max_pool1d(torch.zeros(1, 1, 4), 2, stride=0)
F.max_pool2d(torch.zeros(1, 1, 4, 4), -1)
F.max_pool2d(torch.zeros(1, 1, 4, 4), 2, -1)
F.max_pool2d(torch.zeros(1, 1, 4, 4), 2, dilation=(1, 1, 1))
F.max_pool2d(torch.zeros(1, 1, 4, 4), 9)
F.max_pool3d(torch.zeros(1, 1, 4, 4, 4), -1)
F.avg_pool1d(torch.zeros(1, 1, 4), -1)
F.avg_pool1d(torch.zeros(1, 0, 4), 1)
F.avg_pool2d(torch.zeros(1, 1, 1, 4, 4), 1)
F.avg_pool3d(torch.zeros(1, 1, 4, 4, 4), 9)
F.conv1d(torch.zeros(1, 1, 4), torch.zeros(1, 2))
F.conv2d(torch.zeros(1, 2, 4, 4), torch.zeros(2, 2, 2, 2), groups=3)
F.conv2d(torch.zeros(1, 4, 4, 4), torch.zeros(3, 2, 2, 2), groups=2)
F.conv2d(torch.zeros(1, 2, 4, 4), torch.zeros(2, 2, 2))
F.conv_transpose1d(torch.zeros(1, 2, 4), torch.zeros(2, 2, 2, 2))
F.soft_margin_loss(torch.zeros(2, 5), torch.zeros(2, 4))
F.soft_margin_loss(torch.zeros(5), torch.zeros(5, 1))
F.multi_margin_loss(torch.zeros(5, 0), torch.zeros(5, dtype=torch.int64))
F.multi_margin_loss(torch.zeros(5, 4), torch.zeros(5))
F.multi_margin_loss(torch.zeros(5, 4), torch.zeros(5, dtype=torch.int64), weight=torch.zeros(5))
F.multi_margin_loss(torch.zeros(1, 4), torch.tensor([4]))
F.multilabel_margin_loss(torch.zeros(2, 3, 4), torch.zeros(2, 3, 4, dtype=torch.int64))
F.multilabel_margin_loss(torch.zeros(1, 2), torch.tensor([[0, -2]]))
F.multilabel_margin_loss(torch.zeros(1, 2), torch.zeros(1, 2))
F.kl_div(torch.zeros(2), torch.zeros(2, dtype=torch.int64))
F.kl_div(torch.zeros(2), None)
F.binary_cross_entropy_with_logits(torch.zeros(2), torch.zeros(2, dtype=torch.int64))
F.poisson_nll_loss(torch.zeros(2), None)
torch.multinomial(torch.ones(2), 2, out=torch.zeros(2))
torch.multinomial(torch.tensor([1.0, -1.0]), 2, True)
torch.multinomial(torch.tensor([1.0, float('inf')]), 2, True)
torch.amax(torch.zeros(2), 0, out=torch.zeros((), dtype=torch.int32))
torch.zeros(1).view(0, -1)
torch.zeros(0).view(0, -1)
torch.zeros(2).view(2, 2.0)
torch.zeros(True)
torch.zeros((2, None))
torch.flatten(torch.zeros(2, 3), 0, 'a')
torch.roll(torch.zeros(2), 'a')
torch.topk(torch.zeros(2), True)
torch.chunk(torch.zeros(2), None)
torch.select(torch.zeros(2), 0, 1.0)
F.pad(torch.zeros(2), 3)
F.layer_norm(torch.zeros(2), 2.0)
F.one_hot(torch.tensor([1]), 2.0)
F.glu(torch.zeros(2), 'a')
F.unfold(torch.zeros(1, 1, 4, 4), (2,))
F.max_pool3d(torch.zeros(1, 0, 4, 4, 4), 2)
F.avg_pool3d(torch.zeros(1, 1, 0, 4, 4), 2)
F.linear(torch.zeros(2, 3).double(), torch.zeros(4, 3), torch.zeros(4))
F.linear(torch.zeros(2, 2, 3).double(), torch.zeros(4, 3))
F.linear(torch.zeros(3).double(), torch.zeros(4, 3), torch.zeros(4).double())
F.linear(torch.zeros(2, 3), torch.zeros(4, 3), torch.zeros(4).double())
F.linear(torch.zeros(2, 3, dtype=torch.int64), torch.zeros(4, 3), torch.zeros(4))
torch.addmm(torch.zeros(2), torch.zeros(2, 2), torch.zeros(2, 2).double())
torch.baddbmm(torch.zeros(2).double(), torch.zeros(1, 2, 2), torch.zeros(1, 2, 2))
torch.baddbmm(torch.zeros(2), torch.zeros(1, 2, 2), torch.zeros(1, 2, 2).double())
torch.addbmm(torch.zeros(2), torch.zeros(1, 2, 2).double(), torch.zeros(1, 2, 2))
F.bilinear(torch.ones(1, 2).double(), torch.ones(1, 2), torch.ones(3, 2, 2), torch.ones(3))
F.bilinear(torch.ones(1, 2), torch.ones(1, 2), torch.ones(3, 2, 2), torch.ones(3).double())
torch.add(torch.ones(2), torch.ones(2), alpha=True)
torch.add(torch.tensor([1]), 2, alpha=True)
torch.add(torch.tensor([True]), torch.tensor([1]), alpha=True)
torch.add(torch.tensor([1]), torch.tensor([1]), alpha=1.0)
torch.sub(torch.ones(2), torch.ones(2), alpha=True)
torch.ones(2).subtract_(torch.ones(2), alpha=True)
torch.ones(2).add_(1, alpha=True)
torch.sub(torch.tensor([1]), torch.tensor([1]), alpha=1.0)
torch.add(torch.ones(2), torch.ones(2), alpha=True, out=torch.ones(2))
torch.rsub(torch.ones(2), torch.ones(2), alpha=True)
torch.rsub(torch.ones(2), 2, alpha=True)
torch.ones(2).add(True, torch.ones(2))
torch.addr(torch.ones(2, 2), torch.ones(2), torch.ones(2), alpha=True)
torch.addr(torch.ones(2, 2), torch.ones(2), torch.ones(2), beta=True)
F.linear(torch.tensor(1.0), torch.ones(2, 1), torch.ones(2))
F.linear(torch.ones(2), torch.tensor(1.0))
F.linear(torch.ones(3, 2), torch.ones(2), torch.ones(1))
F.softmax(torch.ones(2, 2, dtype=torch.int32), 0)
F.softmax(torch.tensor(1), 0)
F.log_softmax(torch.ones(2, 2, dtype=torch.uint8), -1)
F.softmax(torch.ones(0, dtype=torch.int64), 1)
~torch.ones(2)
torch.bitwise_not(torch.ones(2).half())
torch.ones(2).bitwise_not_()
pow(torch.ones(2), 3, 5)
pow(3, torch.ones(2), 5)
torch.Size([2]) + [1]
torch.ones(2, requires_grad=True).unique().sum().backward()
torch.ones(2, requires_grad=True).unique_consecutive().sum().backward()
torch.special.zeta(torch.ones(2, requires_grad=True) + 1, 2.0).sum().backward()
torch.special.zeta(torch.ones(2, requires_grad=True) + 1, torch.ones(2)).sum().backward()
torch.func.vmap(lambda a: a, in_dims=(0, [0]))(torch.ones(2), (torch.ones(2), torch.ones(2)))
torch.func.vmap(lambda a: a, in_dims=({'x': 0},))([torch.ones(2)])
torch.func.vmap(lambda a: (a, {'x': [a, a]}), out_dims=(0, (0, 1)))(torch.ones(2, 2))
torch.func.vmap(lambda a: a, out_dims=(0, 0), chunk_size=1)(torch.ones(2, 2))
torch.func.jvp(lambda a: a, (torch.ones(2),), ((torch.ones(2), torch.ones(2)),))
torch.func.vjp(lambda a: (a, {'u': a}), torch.ones(2))[1]((torch.ones(2), [torch.ones(2)]))
torch.func.vjp(lambda a: (a, a), torch.ones(2))[1](torch.ones(2))
torch.func.vmap(torch.nn.BatchNorm1d(3))(torch.ones(2, 2, 3))
torch.func.vmap(torch.nn.InstanceNorm1d(3, track_running_stats=True))(torch.ones(2, 2, 3, 4))
torch.func.functional_call(torch.nn.Linear(1, 1), ({'weight': 1}, {'weight': 2}), torch.ones(1))
torch.func.functional_call(torch.nn.Linear(1, 1), ({'weight': 1}, 2), torch.ones(1))
""".strip().splitlines()


def words(engine, call: str) -> tuple[type, str]:
    """Return the class and the text of the error that a call raises."""
    names = {"torch": engine, "F": engine.nn.functional}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the error is what is compared
        try:
            given = eval(call, names)
        except Exception as error:
            return type(error), str(error)
    pytest.fail(f"{call} raises nothing and returns {given!r}")


@pytest.mark.parametrize("call", CALLS)
def test_the_words_are_pytorchs(call):
    torch = pytest.importorskip("torch", reason="the words are compared with PyTorch's")
    assert words(minigrad, call) == words(torch, call)


RIGHT = """
F.avg_pool2d(torch.arange(8).reshape(1, 2, 4) - 5, 2)
F.multilabel_margin_loss(torch.tensor(1.0), torch.tensor([0]))
F.max_pool2d(torch.ones(1, 1, 4, 4), torch.tensor(2))
F.adaptive_avg_pool2d(torch.ones(1, 4, 4), (None, 2))
torch.arange(6.0).reshape(2, 3).split(split_size=[1, 1])
torch.split(torch.arange(4.0), split_size_or_sections=3)
torch.zeros(2, 3).permute(torch.tensor(1), 0)
torch.zeros(2, 3).repeat(2, True)
torch.add(torch.tensor([True]), torch.tensor([True]), alpha=True)
torch.add(torch.tensor([True]), 1.5, alpha=2.0)
torch.addr(torch.tensor([[True]]), torch.tensor([True]), torch.tensor([True]), alpha=True)
(1,) + torch.Size([2]) * 2
3 * torch.Size([2, 1])
torch.func.vmap(torch.nn.BatchNorm1d(3).eval())(torch.ones(2, 2, 3)).detach()
torch.func.vmap(torch.nn.BatchNorm1d(3, track_running_stats=False))(torch.ones(2, 2, 3)).detach()
torch.distributions.Bernoulli(torch.tensor([0.0, 1.0])).log_prob(torch.tensor([0.0, 1.0]))
torch.distributions.Binomial(5, torch.tensor([0.0, 1.0])).log_prob(torch.tensor([0.0, 5.0]))
""".strip().splitlines()


@pytest.mark.parametrize("call", RIGHT)
def test_what_is_right_stays_right(call):
    torch = pytest.importorskip("torch", reason="the results are compared with PyTorch's")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a loop over a batch
        found = [eval(call, {"torch": engine, "F": engine.nn.functional})
                 for engine in (minigrad, torch)]
    assert [str(found[0])] == [str(found[1])]
