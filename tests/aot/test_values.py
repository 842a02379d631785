"""Functions that read values: a program reads those of each run, or the call is refused."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import minigrad as torch
from minigrad.aot.trace.refusal import Unrecordable
from minigrad.autograd import grad
from minigrad.nn import functional as F

RNG = np.random.default_rng(0)


def normal(*shape):
    return torch.from_numpy(RNG.normal(size=shape))


def leaf(*shape):
    return normal(*shape).requires_grad_()


def ints(*numbers):
    return torch.tensor(numbers)


def outcome(function, args):
    """Return the results, the gradients of the leaves, and a number that is drawn afterwards."""
    torch.manual_seed(3)
    found = function(*args)
    results = [t for t in (found if isinstance(found, (list, tuple)) else [found])]
    roots = [t for t in results if t.requires_grad]
    leaves = [t for t in args if isinstance(t, torch.Tensor) and t.requires_grad]
    grads = grad(roots, leaves, [t.detach().cos() for t in roots], allow_unused=True) if (
        roots and leaves) else ()
    return [t.detach() for t in (*results, *(g for g in grads if g is not None), torch.rand(2))]


def set_masked(x, mask):
    x = x * 1
    x[mask] = 0.5
    x[1:][mask[1:]] = x[0, 0].detach()
    x[:, mask[0]] = -1
    return x


def combined(x, r=2):
    return torch.combinations(x, r)


def bag(weight, input, offsets):
    return F.embedding_bag(input, weight, offsets)


def ctc(x, targets, lengths, sizes):
    return F.ctc_loss(x.log_softmax(2), targets, lengths, sizes)


def constant_sizes(x):
    mask = torch.ones(3, 3).triu().bool()
    grid = torch.arange(9.0).view(3, 3)
    return x[mask], torch.masked_select(x, mask), mask.nonzero(), grid[grid > 4], torch.cat(
        torch.tensor_split(x, torch.tensor([1, 2])), 1), torch.bincount(torch.tensor([0, 2, 2]))


def written_constant(x):
    table = torch.zeros(3, dtype=x.dtype)
    before = x + table
    table.add_(1)
    table[1] = 7
    return before, x * table


#: Functions, and two lists of arguments that agree in everything except the values.
READERS = {
    "quantile": (torch.quantile, (leaf(5), torch.tensor([0.2, 0.5]).double()),
                 (leaf(5), torch.tensor([0.9, 0.0]).double())),
    "nanquantile": (torch.nanquantile, (normal(5), torch.tensor(0.3).double()),
                    (normal(5), torch.tensor(1.0).double())),
    "cov": (lambda x, f, a: torch.cov(x, fweights=f, aweights=a),
            (leaf(2, 3), ints(1, 2, 3), normal(3).abs()),
            (leaf(2, 3), ints(4, 0, 1), normal(3).abs())),
    "linspace": (lambda a, b: torch.linspace(a, b, 5), (torch.tensor(1.0), torch.tensor(2)),
                 (torch.tensor(-3.5), torch.tensor(7))),
    "linspace to": (lambda b: torch.linspace(0, b, 5, dtype=torch.int64), (torch.tensor(9.0),),
                    (torch.tensor(20.0),)),
    "logspace": (lambda a: torch.logspace(a, 2, 4, base=2), (torch.tensor(1.0),),
                 (torch.tensor(-1.0),)),
    "histogram": (lambda x, w: torch.histogram(x, 4, weight=w), (normal(9), normal(9)),
                  (normal(9), normal(9))),
    "histogram of edges": (lambda x, e: torch.histogram(x, e, density=True),
                           (normal(9), torch.tensor([-1.0, 0, 2]).double()),
                           (normal(9), torch.tensor([0.0, 1, 3]).double())),
    "histogramdd": (lambda x: [(h := torch.histogramdd(x, [2, 3])).hist, *h.bin_edges],
                    (normal(9, 2),), (normal(9, 2),)),
    "multi_margin_loss": (F.multi_margin_loss, (leaf(3, 4), ints(0, 1, 2)),
                          (leaf(3, 4), ints(3, 3, 0))),
    "multilabel_margin_loss": (F.multilabel_margin_loss, (leaf(3), ints(0, 1, -1)),
                               (leaf(3), ints(2, -1, -1))),
    "rrelu": (lambda x: F.rrelu(x, 0.1, 0.9, training=True), (leaf(4, 3),), (leaf(4, 3),)),
    "rrelu in evaluation": (F.rrelu, (leaf(4, 3),), (leaf(4, 3),)),
    "multinomial": (lambda x: torch.multinomial(x, 2), (normal(3, 4).abs(),),
                    (normal(3, 4).abs(),)),
    "multinomial with replacement": (lambda x: torch.multinomial(x, 9, True),
                                     (ints(1, 0, 5).double(),), (ints(0, 3, 0).double(),)),
    "ldl_factor": (lambda x: torch.linalg.ldl_factor(x), (normal(3, 3),), (normal(3, 3),)),
    "lstsq": (lambda a, b: torch.linalg.lstsq(a, b, driver="gelsd")[::2],
              (leaf(3, 3), leaf(3, 2)), (leaf(3, 3), leaf(3, 2))),
    "embedding_bag": (bag, (leaf(5, 2), ints(0, 1, 4, 4), ints(0, 2)),
                      (leaf(5, 2), ints(2, 2, 0, 3), ints(0, 1))),
    "embedding_bag with gaps": (
        lambda w, i: F.embedding_bag(i, w), (leaf(5, 2), torch.arange(12).view(3, 4)[:, ::2] % 5),
        (leaf(5, 2), torch.arange(5, 17).view(3, 4)[:, ::2] % 5)),
    "ctc_loss": (ctc, (leaf(6, 2, 4), ints(1, 2, 3, 1).view(2, 2), ints(6, 5), ints(2, 1)),
                 (leaf(6, 2, 4), ints(3, 3, 2, 1).view(2, 2), ints(4, 6), ints(1, 2))),
    "repeat_interleave": (lambda x, n: x.repeat_interleave(n, 0, output_size=5),
                          (leaf(3, 2), ints(1, 2, 2)), (leaf(3, 2), ints(0, 5, 0))),
    "nonzero_static": (lambda x: torch.nonzero_static(x, size=3), (ints(0, 1, 1, 0),),
                       (ints(1, 1, 1, 1),)),
    "a write by a mask": (set_masked, (leaf(3, 4), normal(3, 4) > 0),
                          (leaf(3, 4), normal(3, 4) > 0)),
    "unsafe_split": (lambda x: torch.unsafe_chunk(x, 2), (leaf(4),), (leaf(4),)),
    "combinations": (combined, (leaf(4),), (leaf(4),)),
    "pdist": (F.pdist, (leaf(4, 3),), (leaf(4, 3),)),
    "triu_indices": (lambda x: x[tuple(torch.triu_indices(3, 3))], (leaf(3, 3),), (leaf(3, 3),)),
    "sizes that constants determine": (constant_sizes, (leaf(3, 3),), (leaf(3, 3),)),
    "a constant that is written to": (written_constant, (leaf(3),), (leaf(3),)),
}


@pytest.mark.parametrize("name", READERS)
def test_a_program_reads_the_values_of_each_run(name):
    function, *calls = READERS[name]
    compiled = torch.compile(function, fullgraph=True)
    for args in (*calls, calls[0]):
        wanted, got = outcome(function, args), outcome(compiled, args)
        assert len(wanted) == len(got)
        for one, other in zip(wanted, got, strict=True):
            assert one.dtype is other.dtype and one.shape == other.shape
            np.testing.assert_array_equal(one.numpy(), other.numpy())
    assert compiled.count == 1


WRONG = {
    "quantile": (torch.quantile, (normal(3), torch.tensor(0.5).double()),
                 (normal(3), torch.tensor(1.5).double()), "must be in the range"),
    "cov": (lambda x, a: torch.cov(x, aweights=a), (normal(2, 2), normal(2).abs()),
            (normal(2, 2), -normal(2).abs()), "cannot be negative"),
    "multi_margin_loss": (F.multi_margin_loss, (normal(2, 3), ints(0, 1)),
                          (normal(2, 3), ints(0, 3)), "target out of range"),
    "embedding_bag": (bag, (normal(5, 2), ints(0, 1), ints(0, 1)),
                      (normal(5, 2), ints(0, 1), ints(0, 3)), "can not be greater"),
    "repeat_interleave": (lambda x, n: x.repeat_interleave(n, output_size=2),
                          (normal(2), ints(1, 1)), (normal(2), ints(1, 2)), "does not match"),
    "ctc_loss": (ctc, (normal(6, 1, 4), ints(1, 2).view(1, 2), ints(6), ints(2)),
                 (normal(6, 1, 4), ints(1, 2).view(1, 2), ints(7), ints(2)), "at most 6"),
    "ldl_factor": (torch.linalg.ldl_factor, (torch.eye(2),), (torch.zeros(2, 2),), "singular"),
    "multinomial": (lambda x: torch.multinomial(x, 1), (normal(3).abs(),), (-normal(3).abs(),),
                    "probability tensor"),
}


@pytest.mark.parametrize("name", WRONG)
def test_each_run_checks_its_values(name):
    function, right, wrong, message = WRONG[name]
    compiled = torch.compile(function, fullgraph=True)
    compiled(*right)
    for call in (function, compiled):
        with pytest.raises(RuntimeError, match=message):
            call(*wrong)
    assert compiled.count == 1


@pytest.mark.parametrize("function", [
    lambda x: x[x > 0], lambda x: x.nonzero(), lambda x: torch.masked_select(x, x > 0),
    lambda x: torch.unique(x), lambda x: x.narrow(0, x[0].long(), 1), lambda x: x * x.sum().item(),
    lambda x: torch.bincount(x.long(), torch.ones(3)), lambda x: x[:2].storage_offset(),
    lambda x: x.as_strided((2,), (1,), 0), lambda x: torch.tensor_split(x, x[:1].long()),
    lambda x: x.repeat_interleave(x.long()),
], ids=["mask", "nonzero", "masked_select", "unique", "narrow", "item", "bincount",
        "storage_offset", "as_strided", "tensor_split", "repeat_interleave"])
def test_results_that_depend_on_values_in_other_ways_are_refused(function):
    with pytest.raises(Unrecordable):
        torch.compile(function, fullgraph=True)(torch.tensor([9.0, 1, 1, 1])[1:])


# ------------------------------------------------------------------ shared memory


def written_through_a_detached_tensor(x):
    table = torch.zeros(3)
    table.detach().add_(1)
    return x + table


def written_through_data(x):
    table = torch.zeros(2, 3)
    alias, before = table[1].data, x + table[1]
    alias.add_(1)
    table.data[0] = 3
    return before, x + table, x * alias


def two_tensors_of_one_array(x):
    array = np.zeros(3, np.float32)
    one, other = torch.from_numpy(array), torch.from_numpy(array[1:])
    one.add_(x)
    other.mul_(2)
    return one, other * 2


def parameter_of_a_tensor(x):
    table = torch.tensor([1.0, 2, 3])
    parameter = torch.nn.Parameter(table)
    table.add_(x)
    return x * parameter.detach()


@pytest.mark.parametrize("function", [
    written_through_a_detached_tensor, written_through_data, two_tensors_of_one_array,
    parameter_of_a_tensor], ids=lambda f: f.__name__)
def test_tensors_that_a_function_creates_may_share_memory(function):
    compiled = torch.compile(function, fullgraph=True)
    for x in (torch.ones(3), torch.tensor([1.0, 2, 3]), torch.zeros(3)):
        for one, other in zip(function(x), compiled(x), strict=True):
            np.testing.assert_array_equal(one, other)
    assert compiled.count == 1


def written_as_an_array(x):
    array = np.zeros(3, np.float32)
    table = torch.from_numpy(array)
    before = x + table
    array[0] = 5
    return before, x + table


def read_as_an_array(x):
    table = torch.zeros(3)
    array = table.numpy()
    table.add_(1)
    return x + torch.tensor(array)


def seen_as_integers(x):
    table = torch.zeros(3)
    table.view(torch.int32).add_(1)
    return x + table


@pytest.mark.parametrize("function", [written_as_an_array, read_as_an_array, seen_as_integers],
                         ids=lambda f: f.__name__)
def test_memory_that_is_reached_in_other_ways_is_refused(function):
    with pytest.raises(Unrecordable):
        torch.compile(function, fullgraph=True)(torch.ones(3))


# ------------------------------------------------------------------ random numbers

LIKE = {
    "rand_like": torch.rand_like, "randn_like": torch.randn_like,
    "randint_like": lambda x: torch.randint_like(x, 100),
    "randint_like between": lambda x: torch.randint_like(x, 3, 9, dtype=torch.int64),
    "rand_like of another dtype": lambda x: torch.rand_like(x, dtype=torch.float32),
    "randn_like with grad": lambda x: torch.randn_like(x, requires_grad=True) * x,
    "bernoulli": lambda x: torch.bernoulli(x.sigmoid()), "normal": lambda x: torch.normal(x, 1.0),
    "poisson": lambda x: torch.poisson(x.abs()), "dropout": lambda x: F.dropout(x, 0.5),
    "multinomial": lambda x: torch.multinomial(x.abs(), 1), "randperm": lambda x: torch.randperm(5),
    "rrelu": lambda x: F.rrelu(x, training=True),
    "alpha_dropout": lambda x: F.alpha_dropout(x, 0.5),
    "dropout1d": lambda x: F.dropout1d(x, 0.5), "gumbel_softmax": F.gumbel_softmax,
}
IN_PLACE = {
    "uniform_": lambda x: x.uniform_(-1, 2), "normal_": lambda x: x.normal_(1, 2),
    "bernoulli_": lambda x: x.bernoulli_(0.3), "exponential_": lambda x: x.exponential_(2.0),
    "random_": lambda x: x.random_(3, 50), "geometric_": lambda x: x.geometric_(0.4),
    "cauchy_": lambda x: x.cauchy_(), "log_normal_": lambda x: x.log_normal_(),
    "bernoulli_ of a tensor": lambda x: x.bernoulli_(torch.full(x.shape, 0.5)),
    "dropout": lambda x: F.dropout(x, 0.5, inplace=True),
    "rrelu_": lambda x: F.rrelu(x, training=True, inplace=True),
}
LAYOUTS = {"rows": lambda x: x, "columns": lambda x: x.t(), "gaps": lambda x: x[:, ::2]}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", [*LIKE, *IN_PLACE])
def test_each_run_draws_the_numbers_that_eager_mode_draws(name, layout):
    def function(x):
        x = LAYOUTS[layout](x)
        drawn = LIKE[name](x) if name in LIKE else IN_PLACE[name](x.clone())
        return drawn, torch.rand(2), LIKE[name](x) if name in LIKE else IN_PLACE[name](x * 1)

    compiled, seen = torch.compile(function, fullgraph=True), []
    for call in (function, compiled):
        torch.manual_seed(5)
        seen.append([t.detach().numpy() for _ in range(3) for t in (*call(X), torch.rand(1))])
    for one, other in zip(*seen, strict=True):
        assert one.dtype == other.dtype and one.strides == other.strides
        np.testing.assert_array_equal(one, other)
    assert compiled.count == 1 and not np.array_equal(seen[1][1], seen[1][5])


X = normal(4, 4)


@pytest.mark.parametrize("name", IN_PLACE)
def test_random_writes_to_an_argument_draw_in_each_run(name):
    seen = []
    for call in (IN_PLACE[name], torch.compile(IN_PLACE[name], fullgraph=True)):
        torch.manual_seed(5)
        tensors = [X.clone() for _ in range(3)]
        for each in tensors:
            assert call(each) is each
        seen.append([each.numpy() for each in (*tensors, torch.rand(2))])
    np.testing.assert_array_equal(seen[0][:3], seen[1][:3])
    np.testing.assert_array_equal(seen[0][3], seen[1][3])


@pytest.mark.parametrize("name", LIKE)
def test_a_program_with_random_numbers_keeps_no_array_of_the_recorded_call(name):
    made = []

    def function(x):
        y = x * 2
        made.append(weakref.ref(y._array.inner))
        return LIKE[name](y)

    compiled = torch.compile(function, fullgraph=True)
    compiled(X)
    gc.collect()
    assert made[0]() is None and compiled.count == 1
