"""Stage 13a: modules: their tables, walking them, the two modes, moving, dropout, batch norm."""

import numpy as np
import pytest
from _oracle import assert_close, central_difference_vjp

import minigrad as torch
from minigrad import nn
from minigrad.nn import Parameter


def vector(*values):
    return torch.tensor(list(values))


class Empty(nn.Module):
    def forward(self, x):
        return x


class Scale(nn.Module):
    """A module with one of each: a parameter, a buffer, a plain attribute."""

    def __init__(self, factor=2.0):
        super().__init__()
        self.factor = Parameter(vector(factor))
        self.register_buffer("seen", vector(0.0))
        self.note = "plain"

    def forward(self, x):
        return x * self.factor


# --- 13a.1: attributes ---------------------------------------------------------------------------


def tables(module):
    return (list(module._parameters), list(module._buffers), list(module._modules))


@pytest.mark.hole("13a.1")
def test_each_kind_has_its_table():
    module = Empty()
    module.weight = Parameter(vector(1.0))
    module.part = Empty()
    module.note = "plain"
    module.tensor = vector(3.0)
    assert tables(module) == (["weight"], [], ["part"]), f"the tables hold {tables(module)}"
    assert "weight" not in vars(module) and "part" not in vars(module)
    assert vars(module)["note"] == "plain"


@pytest.mark.hole("13a.1")
def test_what_was_set_is_found_again():
    module, weight, part, tensor = Empty(), Parameter(vector(1.0)), Empty(), vector(3.0)
    module.weight, module.part, module.tensor = weight, part, tensor
    module.register_buffer("mean", tensor)
    assert module.weight is weight
    assert module.part is part
    assert module.tensor is tensor
    assert module.mean is tensor


@pytest.mark.hole("13a.1")
def test_what_is_not_there_is_an_attribute_error():
    module = Empty()
    with pytest.raises(AttributeError, match="'Empty' object has no attribute 'weight'"):
        module.weight
    assert not hasattr(module, "weight")


@pytest.mark.hole("13a.1")
def test_a_plain_tensor_is_no_parameter_and_no_buffer():
    module = Empty()
    module.t = torch.tensor([1.0], requires_grad=True)
    assert tables(module) == ([], [], [])
    assert "t" in vars(module)


@pytest.mark.hole("13a.1")
def test_a_parameter_can_be_replaced():
    module = Empty()
    module.weight = Parameter(vector(1.0))
    other = Parameter(vector(2.0))
    module.weight = other
    assert module.weight is other and tables(module) == (["weight"], [], [])


@pytest.mark.hole("13a.1")
def test_none_keeps_the_name_for_a_parameter():
    module = Empty()
    module.weight = Parameter(vector(1.0))
    module.weight = None
    assert module.weight is None
    assert tables(module) == (["weight"], [], []), "the name stays in the table"
    other = Parameter(vector(2.0))
    module.weight = other
    assert module.weight is other


@pytest.mark.hole("13a.1")
def test_none_keeps_the_name_for_a_part():
    module = Empty()
    module.part = Empty()
    module.part = None
    assert module.part is None
    assert tables(module) == ([], [], ["part"])


@pytest.mark.hole("13a.1")
@pytest.mark.parametrize("value", [3.0, "text", vector(1.0)])
def test_nothing_else_may_take_the_place_of_a_parameter(value):
    module = Empty()
    module.weight = weight = Parameter(vector(1.0))
    with pytest.raises(TypeError, match=r"as parameter 'weight' \(torch.nn.Parameter or None "):
        module.weight = value
    assert module.weight is weight


@pytest.mark.hole("13a.1")
def test_nothing_else_may_take_the_place_of_a_part():
    module = Empty()
    module.part = part = Empty()
    with pytest.raises(TypeError, match=r"as child module 'part' \(torch.nn.Module or None "):
        module.part = 3.0
    assert module.part is part


@pytest.mark.hole("13a.1")
def test_a_tensor_takes_the_place_of_a_buffer():
    module = Empty()
    module.register_buffer("mean", vector(0.0))
    module.mean = other = vector(5.0)
    assert module.mean is other
    assert tables(module) == ([], ["mean"], [])
    module.mean = None
    assert module.mean is None and tables(module) == ([], ["mean"], [])


@pytest.mark.hole("13a.1")
def test_nothing_else_may_take_the_place_of_a_buffer():
    module = Empty()
    module.register_buffer("mean", vector(0.0))
    with pytest.raises(TypeError, match=r"as buffer 'mean' \(torch.nn.Buffer, torch.Tensor or "):
        module.mean = 3.0


@pytest.mark.hole("13a.1")
def test_a_buffer_that_is_not_persistent_stays_so():
    module = Empty()
    module.register_buffer("mean", vector(0.0), persistent=False)
    module.mean = vector(5.0)
    assert module._non_persistent_buffers_set == {"mean"}


@pytest.mark.hole("13a.1")
def test_an_nn_buffer_is_registered():
    module = Empty()
    module.kept = nn.Buffer(vector(1.0))
    module.passing = nn.Buffer(vector(1.0), persistent=False)
    assert tables(module) == ([], ["kept", "passing"], [])
    assert module._non_persistent_buffers_set == {"passing"}


@pytest.mark.hole("13a.1")
def test_a_parameter_moves_what_had_its_name():
    module = Empty()
    module.x = 3.0
    module.x = Parameter(vector(1.0))
    assert "x" not in vars(module) and tables(module) == (["x"], [], [])
    module.part = Empty()
    module.part = Parameter(vector(1.0))
    assert tables(module) == (["x", "part"], [], [])
    module.register_buffer("mean", vector(1.0))
    module.mean = Parameter(vector(1.0))
    assert tables(module) == (["x", "part", "mean"], [], [])


@pytest.mark.hole("13a.1")
def test_a_part_moves_a_plain_attribute_of_its_name():
    module = Empty()
    module.x = 3.0
    module.x = Empty()
    assert "x" not in vars(module) and tables(module) == ([], [], ["x"])


@pytest.mark.hole("13a.1")
@pytest.mark.parametrize(("value", "what"), [
    (lambda: Parameter(vector(1.0)), "parameters"), (Empty, "module")])
def test_before_init_nothing_can_be_assigned(value, what):
    class Early(nn.Module):
        def __init__(self):
            self.x = value()

    with pytest.raises(AttributeError, match=f"cannot assign {what} before Module.__init__"):
        Early()


@pytest.mark.hole("13a.1")
def test_plain_attributes_may_be_set_before_init():
    class Early(nn.Module):
        def __init__(self):
            self.size = 3
            super().__init__()

    assert Early().size == 3


@pytest.mark.hole("13a.1")
def test_a_property_still_works():
    class Half(nn.Module):
        @property
        def half(self):
            return self.size / 2

        @half.setter
        def half(self, value):
            self.size = 2 * value

    module = Half()
    module.half = 5
    assert module.size == 10 and module.half == 5.0


# --- 13a.2: walking ------------------------------------------------------------------------------


class Tree(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Scale(1.0)
        self.pair = nn.Module()
        self.pair.left = Scale(2.0)
        self.pair.right = Scale(3.0)
        self.bias = Parameter(vector(4.0))


@pytest.mark.hole("13a.2")
def test_modules_come_depth_first_with_dotted_names():
    tree = Tree()
    found = list(tree.named_modules())
    names = [name for name, _ in found]
    assert names == ["", "first", "pair", "pair.left", "pair.right"], f"got {names}"
    assert found[0][1] is tree and found[3][1] is tree.pair.left
    assert list(tree.modules()) == [module for _, module in found]


@pytest.mark.hole("13a.2")
def test_a_prefix_stands_before_all_names():
    names = [name for name, _ in Tree().named_modules(prefix="net")]
    assert names == ["net", "net.first", "net.pair", "net.pair.left", "net.pair.right"]
    names = [name for name, _ in Tree().named_parameters(prefix="net")]
    assert names == ["net.bias", "net.first.factor", "net.pair.left.factor",
                     "net.pair.right.factor"]


@pytest.mark.hole("13a.2")
def test_parameters_are_found_in_all_parts():
    tree = Tree()
    names = [name for name, _ in tree.named_parameters()]
    assert names == ["bias", "first.factor", "pair.left.factor", "pair.right.factor"]
    assert [p.item() for p in tree.parameters()] == [4.0, 1.0, 2.0, 3.0]


@pytest.mark.hole("13a.2")
def test_buffers_are_found_apart():
    tree = Tree()
    assert [name for name, _ in tree.named_buffers()] == [
        "first.seen", "pair.left.seen", "pair.right.seen"]
    assert not any(isinstance(b, Parameter) for b in tree.buffers())


@pytest.mark.hole("13a.2")
def test_without_recursion_only_its_own():
    assert [name for name, _ in Tree().named_parameters(recurse=False)] == ["bias"]
    assert [name for name, _ in Tree().named_parameters("net", recurse=False)] == ["net.bias"]
    assert list(Tree().named_buffers(recurse=False)) == []


@pytest.mark.hole("13a.2")
def test_a_module_used_twice_is_met_once():
    tree = Tree()
    tree.again = tree.first
    names = [name for name, _ in tree.named_modules()]
    assert names.count("first") == 1 and "again" not in names, f"got {names}"
    assert len(list(tree.parameters())) == 4


@pytest.mark.hole("13a.2")
def test_a_parameter_used_twice_is_met_once():
    tree = Tree()
    tree.pair.left.factor = tree.first.factor
    names = [name for name, _ in tree.named_parameters()]
    assert names == ["bias", "first.factor", "pair.right.factor"], f"got {names}"


@pytest.mark.hole("13a.2")
def test_equal_values_are_not_the_same_parameter():
    module = Empty()
    module.a, module.b = Parameter(vector(1.0)), Parameter(vector(1.0))
    assert len(list(module.parameters())) == 2


@pytest.mark.hole("13a.2")
def test_with_duplicates_every_name_is_met():
    tree = Tree()
    tree.again = tree.first
    names = [name for name, _ in tree.named_modules(remove_duplicate=False)]
    assert names == ["", "first", "pair", "pair.left", "pair.right", "again"]
    names = [name for name, _ in tree.named_parameters(remove_duplicate=False)]
    assert names == ["bias", "first.factor", "pair.left.factor", "pair.right.factor",
                     "again.factor"]


@pytest.mark.hole("13a.2")
def test_names_that_stand_for_none_are_left_out():
    tree = Tree()
    tree.bias = None
    tree.pair.left = None
    tree.first.seen = None
    assert [name for name, _ in tree.named_parameters()] == ["first.factor", "pair.right.factor"]
    assert [name for name, _ in tree.named_modules()] == ["", "first", "pair", "pair.right"]
    assert [name for name, _ in tree.named_buffers()] == ["pair.right.seen"]


@pytest.mark.hole("13a.2")
def test_a_memo_is_shared_between_walks():
    tree = Tree()
    memo = {tree.first}
    names = [name for name, _ in tree.named_modules(memo)]
    assert names == ["", "pair", "pair.left", "pair.right"]
    assert tree in memo


@pytest.mark.hole("13a.2")
def test_each_walk_starts_anew():
    tree = Tree()
    assert len(list(tree.named_modules())) == len(list(tree.named_modules())) == 5
    assert len(list(tree.parameters())) == len(list(tree.parameters())) == 4


@pytest.mark.hole("13a.2")
def test_the_state_has_these_names():
    names = list(Tree().state_dict())
    assert names == ["bias", "first.factor", "first.seen", "pair.left.factor", "pair.left.seen",
                     "pair.right.factor", "pair.right.seen"]
    assert len(list(nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2)).parameters())) == 4


@pytest.mark.hole("13a.2")
def test_the_walk_goes_on_after_a_name_that_stands_for_none():
    module = Empty()
    module.weight, module.part = Parameter(vector(1.0)), Empty()
    module.bias, module.last = Parameter(vector(2.0)), Empty()
    module.weight = module.part = None
    assert [name for name, _ in module.named_parameters()] == ["bias"]
    assert [name for name, _ in module.named_modules()] == ["", "last"]


# --- 13a.3: the two modes, and gradients ---------------------------------------------------------


def modes(tree):
    return [module.training for module in (tree, tree.first, tree.pair, tree.pair.left)]


@pytest.mark.hole("13a.3")
def test_eval_reaches_every_part():
    tree = Tree()
    assert modes(tree) == [True] * 4, "a new module is in training mode"
    tree.eval()
    assert modes(tree) == [False] * 4, f"after eval(), training is {modes(tree)}"


@pytest.mark.hole("13a.3")
def test_train_brings_it_back():
    tree = Tree()
    tree.train(False)
    assert modes(tree) == [False] * 4
    tree.train()
    assert modes(tree) == [True] * 4


@pytest.mark.hole("13a.3")
def test_a_part_has_a_mode_of_its_own():
    tree = Tree()
    tree.pair.eval()
    assert modes(tree) == [True, True, False, False]
    tree.train()
    assert modes(tree) == [True] * 4


@pytest.mark.hole("13a.3")
def test_the_module_itself_is_returned():
    tree = Tree()
    assert tree.eval() is tree and tree.train() is tree and tree.train(False) is tree
    assert tree.requires_grad_(False) is tree


@pytest.mark.hole("13a.3")
@pytest.mark.parametrize("mode", [1, None, "eval"])
def test_a_mode_is_true_or_false(mode):
    tree = Tree()
    with pytest.raises(ValueError, match="training mode is expected to be boolean"):
        tree.train(mode)
    assert modes(tree) == [True] * 4


@pytest.mark.hole("13a.3")
def test_a_part_that_overrides_train_is_asked():
    seen = []

    class Stubborn(nn.Module):
        def train(self, mode=True):
            seen.append(mode)
            return super().train(False)

    module = nn.Sequential(Stubborn())
    module.train()
    assert seen == [True]
    assert module.training and not module[0].training


@pytest.mark.hole("13a.3")
def test_eval_does_not_stop_gradients():
    module = Scale(3.0)
    module.eval()
    module(vector(2.0)).sum().backward()
    assert module.factor.grad.tolist() == [2.0]


@pytest.mark.hole("13a.3")
def test_gradients_are_dropped():
    tree = Tree()
    for parameter in tree.parameters():
        parameter.grad = vector(1.0)
    tree.zero_grad()
    assert [p.grad for p in tree.parameters()] == [None] * 4


@pytest.mark.hole("13a.3")
def test_gradients_are_filled_with_zeros():
    tree = Tree()
    tree.bias.grad = grad = vector(5.0)
    tree.zero_grad(set_to_none=False)
    assert tree.bias.grad is grad and grad.tolist() == [0.0]
    assert tree.first.factor.grad is None, "where there was no gradient there is still none"


@pytest.mark.hole("13a.3")
def test_a_gradient_with_a_history_is_cut_off_from_it():
    module = Scale(3.0)
    module.factor.grad = module.factor * 2
    assert module.factor.grad.requires_grad
    module.zero_grad(set_to_none=False)
    assert module.factor.grad.tolist() == [0.0]
    assert not module.factor.grad.requires_grad and module.factor.grad.grad_fn is None


@pytest.mark.hole("13a.3")
def test_requires_grad_is_switched_for_all():
    tree = Tree()
    tree.requires_grad_(False)
    assert not any(p.requires_grad for p in tree.parameters())
    tree.requires_grad_()
    assert all(p.requires_grad for p in tree.parameters())
    assert not any(b.requires_grad for b in tree.buffers())


# --- 13a.4: moving -------------------------------------------------------------------------------


@pytest.mark.hole("13a.4")
def test_all_parameters_and_buffers_are_cast():
    tree = Tree().double()
    kinds = {name: t.dtype for name, t in tree.state_dict().items()}
    assert set(kinds.values()) == {torch.float64}, f"got {kinds}"
    assert [p.item() for p in tree.parameters()] == [4.0, 1.0, 2.0, 3.0]


@pytest.mark.hole("13a.4")
def test_parameters_stay_the_same_tensors():
    tree = Tree()
    before = list(tree.parameters())
    tree.double()
    assert all(a is b for a, b in zip(before, tree.parameters(), strict=True)), (
        "an optimizer that was made before would go on with the old ones")
    assert all(p.requires_grad and p.is_leaf for p in before)


@pytest.mark.hole("13a.4")
def test_gradients_are_cast_too():
    module = Scale(3.0)
    module(vector(2.0)).sum().backward()
    grad = module.factor.grad
    module.double()
    assert module.factor.grad is grad and grad.dtype == torch.float64
    assert grad.tolist() == [2.0]
    module(torch.tensor([2.0], dtype=torch.float64)).sum().backward()
    assert module.factor.grad.tolist() == [4.0]


@pytest.mark.hole("13a.4")
def test_nothing_of_it_is_recorded():
    seen = []

    def shift(tensor):
        moved = tensor + 1
        if tensor.requires_grad:
            seen.append(moved.requires_grad)
        return moved

    module = Scale(3.0)
    module._apply(shift)
    assert seen == [False]
    assert module.factor.tolist() == [4.0] and module.seen.tolist() == [1.0]
    assert module.factor.grad_fn is None


@pytest.mark.hole("13a.4")
def test_names_that_stand_for_none_are_left_alone():
    tree = Tree()
    tree.bias = None
    tree.first.seen = None
    tree.pair.left = None
    tree.double()
    assert tree.bias is None and tree.first.seen is None
    assert tree.pair.right.factor.dtype == torch.float64


@pytest.mark.hole("13a.4")
def test_whole_numbers_stay_whole():
    module = Empty()
    module.register_buffer("count", torch.tensor(3))
    assert module.double().count.dtype == torch.int64


@pytest.mark.hole("13a.4")
def test_recursion_can_be_left_out_and_the_module_comes_back():
    tree = Tree()
    assert tree._apply(lambda t: t.double(), recurse=False) is tree
    assert tree.bias.dtype == torch.float64
    assert tree.first.factor.dtype == torch.float32


@pytest.mark.hole("13a.4")
def test_the_function_is_called_once_for_each():
    seen = []
    tree = Tree()
    tree._apply(lambda t: (seen.append(t), t.clone())[1])
    assert len(seen) == 7, f"4 parameters and 3 buffers, but {len(seen)} calls"


# --- 13a.5: dropout ------------------------------------------------------------------------------


@pytest.mark.hole("13a.5")
@pytest.mark.parametrize("p", [0.2, 0.5, 0.8])
def test_dropout_in_training(p):
    torch.manual_seed(0)
    y = nn.Dropout(p)(torch.ones(20000)).numpy()
    kept = y != 0
    assert_close(y[kept], np.full(kept.sum(), 1 / (1 - p)), 1e-6, what="what was kept")
    share = 1 - kept.mean()
    assert abs(share - p) < 0.02, f"p is {p}, but {share:.2f} of the elements were dropped"
    assert abs(y.mean() - 1) < 0.05, "on average nothing changes"


@pytest.mark.hole("13a.5")
def test_dropout_in_evaluation_does_nothing():
    x = torch.ones(1000)
    assert nn.Dropout(0.5).eval()(x).tolist() == [1.0] * 1000
    net = nn.Sequential(nn.Dropout(0.5)).eval()
    assert net(x).tolist() == [1.0] * 1000


@pytest.mark.hole("13a.5")
def test_dropout_starts_again_with_train():
    layer = nn.Dropout(0.5).eval().train()
    assert 0.0 in layer(torch.ones(1000)).tolist()


@pytest.mark.hole("13a.5")
def test_dropout_draws_anew_each_time():
    layer, x = nn.Dropout(0.5), torch.ones(1000)
    assert layer(x).tolist() != layer(x).tolist()


@pytest.mark.hole("13a.5")
def test_the_gradient_goes_where_the_values_went():
    x = torch.ones(1000, requires_grad=True)
    y = nn.Dropout(0.5)(x)
    y.sum().backward()
    assert x.grad.tolist() == y.tolist()


@pytest.mark.hole("13a.5")
def test_dropout_writes_only_where_it_is_told_to():
    x = torch.ones(1000)
    y = nn.Dropout(0.5)(x)
    assert x.tolist() == [1.0] * 1000 and y is not x
    assert nn.Dropout(0.5, inplace=True)(x) is x
    assert 0.0 in x.tolist()


@pytest.mark.hole("13a.5")
def test_a_channel_is_dropped_as_a_whole():
    torch.manual_seed(0)
    x = torch.ones(4, 50, 3, 3)
    y = nn.Dropout2d(0.5)(x).numpy()
    sums = y.sum((2, 3))
    assert set(np.unique(sums)) == {0.0, 18.0}, "each channel is all zero or all doubled"
    assert nn.Dropout2d(0.5).eval()(x).tolist() == x.tolist()
    assert nn.Dropout2d(0.5, inplace=True)(x) is x


@pytest.mark.hole("13a.5")
def test_all_or_nothing():
    assert nn.Dropout(0.0)(torch.ones(100)).tolist() == [1.0] * 100
    assert nn.Dropout(1.0)(torch.ones(100)).tolist() == [0.0] * 100


# --- 13a.6: batch norm ---------------------------------------------------------------------------

BATCHES = [np.array([[1.0, 10.0], [3.0, 30.0], [8.0, 20.0]]),
           np.array([[2.0, -1.0], [4.0, 5.0], [0.0, 2.0], [6.0, 6.0]])]


def batch(number):
    return torch.tensor(BATCHES[number])


def layer(**options):
    return nn.BatchNorm1d(2, **options).double()


def normed(x, mean, var, eps=1e-5):
    return (x - mean) / np.sqrt(var + eps)


@pytest.mark.hole("13a.6")
def test_every_allowed_number_of_dimensions_is_accepted():
    for shape in ((2, 3), (2, 3, 4)):
        assert nn.BatchNorm1d(3)(torch.ones(*shape)).shape == shape


@pytest.mark.hole("13a.6")
def test_training_uses_the_batch():
    x = BATCHES[0]
    y = layer()(batch(0))
    assert_close(y.detach().numpy(), normed(x, x.mean(0), x.var(0)), 1e-9, what="the result")


@pytest.mark.hole("13a.6")
def test_training_moves_the_running_moments():
    norm, x = layer(), BATCHES[0]
    norm(batch(0))
    assert_close(norm.running_mean.numpy(), 0.1 * x.mean(0), 1e-9, what="running_mean")
    assert_close(norm.running_var.numpy(), 0.9 + 0.1 * x.var(0, ddof=1), 1e-9, what="running_var")
    assert norm.num_batches_tracked.item() == 1


@pytest.mark.hole("13a.6")
def test_momentum_is_the_weight_of_the_new():
    norm, (a, b) = layer(momentum=0.25), BATCHES
    norm(batch(0))
    norm(batch(1))
    mean = 0.75 * (0.25 * a.mean(0)) + 0.25 * b.mean(0)
    assert_close(norm.running_mean.numpy(), mean, 1e-9, what="running_mean")
    assert norm.num_batches_tracked.item() == 2


@pytest.mark.hole("13a.6")
def test_evaluation_uses_the_running_moments():
    norm = layer()
    norm(batch(0))
    mean, var = norm.running_mean.numpy().copy(), norm.running_var.numpy().copy()
    norm.eval()
    y = norm(batch(1))
    assert_close(y.detach().numpy(), normed(BATCHES[1], mean, var), 1e-9, what="the result")


@pytest.mark.hole("13a.6")
def test_evaluation_changes_nothing():
    norm = layer()
    norm(batch(0))
    before = {name: t.tolist() for name, t in norm.state_dict().items()}
    norm.eval()(batch(1))
    assert {name: t.tolist() for name, t in norm.state_dict().items()} == before


@pytest.mark.hole("13a.6")
def test_evaluation_treats_each_sample_alone():
    norm = layer().eval()
    together = norm(batch(1)).tolist()
    alone = [norm(batch(1)[i : i + 1]).tolist()[0] for i in range(4)]
    assert together == alone


@pytest.mark.hole("13a.6")
def test_without_momentum_the_plain_average():
    norm, (a, b) = layer(momentum=None), BATCHES
    norm(batch(0))
    assert_close(norm.running_mean.numpy(), a.mean(0), 1e-9, what="running_mean after one batch")
    norm(batch(1))
    assert_close(norm.running_mean.numpy(), (a.mean(0) + b.mean(0)) / 2, 1e-9,
                 what="running_mean after two batches")
    variances = (a.var(0, ddof=1) + b.var(0, ddof=1)) / 2
    assert_close(norm.running_var.numpy(), variances, 1e-9, what="running_var")


@pytest.mark.hole("13a.6")
def test_without_tracking_the_batch_always():
    norm, x = layer(track_running_stats=False), BATCHES[1]
    assert norm.running_mean is None and norm.num_batches_tracked is None
    expected = normed(x, x.mean(0), x.var(0))
    assert_close(norm(batch(1)).detach().numpy(), expected, 1e-9, what="the result in training")
    assert_close(norm.eval()(batch(1)).detach().numpy(), expected, 1e-9,
                 what="the result in evaluation")


@pytest.mark.hole("13a.6")
def test_tracking_that_was_switched_off_later():
    norm = layer()
    norm(batch(0))
    kept = norm.running_mean.tolist()
    norm.track_running_stats = False
    norm(batch(1))
    assert norm.running_mean.tolist() == kept, "in training nothing is tracked any more"


@pytest.mark.hole("13a.6")
def test_scale_and_shift():
    norm, x = layer(), BATCHES[0]
    with_weights = torch.tensor([2.0, 3.0], dtype=torch.float64)
    norm.weight.data, norm.bias.data = with_weights, with_weights * 10
    y = norm(batch(0)).detach().numpy()
    assert_close(y, normed(x, x.mean(0), x.var(0)) * [2, 3] + [20, 30], 1e-9, what="the result")


@pytest.mark.hole("13a.6")
def test_eps_is_used():
    x = BATCHES[0]
    y = layer(eps=1.0)(batch(0)).detach().numpy()
    assert_close(y, normed(x, x.mean(0), x.var(0), 1.0), 1e-9, what="the result")


@pytest.mark.hole("13a.6")
@pytest.mark.parametrize("training", [True, False])
def test_gradients_of_both_modes(training):
    norm = layer().train(training)
    x, g = BATCHES[1], np.arange(8.0).reshape(4, 2) ** 2
    given = torch.tensor(x, requires_grad=True)
    norm(given).backward(torch.tensor(g))

    def plain(x):
        return normed(x, x.mean(0), x.var(0)) if training else normed(x, 0.0, 1.0)

    (expected,) = central_difference_vjp(plain, [x], g)
    assert_close(given.grad.numpy(), expected, 1e-5, 1e-6, what="x.grad")


@pytest.mark.hole("13a.6")
@pytest.mark.parametrize("shape", [(2,), (2, 3, 4, 5)])
def test_a_wrong_number_of_dimensions_is_refused(shape):
    with pytest.raises(ValueError, match=rf"expected 2D or 3D input \(got {len(shape)}D input\)"):
        nn.BatchNorm1d(3)(torch.ones(*shape))
