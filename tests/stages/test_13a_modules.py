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
@pytest.mark.parametrize(("make", "expected"), [
    (lambda: Parameter(vector(1.0)), (["x"], [], [])), (lambda: Empty(), ([], [], ["x"])),
    (lambda: nn.Buffer(vector(1.0)), ([], ["x"], []))], ids=["parameter", "module", "buffer"])
def test_each_kind_has_its_table(make, expected):
    module = Empty()
    module.x = make()
    assert tables(module) == expected, f"the tables hold {tables(module)}"
    assert "x" not in vars(module), "it is a plain attribute as well"


@pytest.mark.hole("13a.1")
def test_a_subclass_belongs_to_the_table_of_its_class():
    class Special(Parameter):
        pass

    module = Empty()
    module.x = Special(vector(1.0))
    assert tables(module) == (["x"], [], []), f"the tables hold {tables(module)}"


@pytest.mark.hole("13a.1")
@pytest.mark.parametrize("value", ["plain", vector(3.0), None,
                                   torch.tensor([1.0], requires_grad=True)],
                         ids=["text", "tensor", "None", "tensor that requires grad"])
def test_everything_else_is_a_plain_attribute(value):
    module = Empty()
    module.x = value
    assert tables(module) == ([], [], []), f"the tables hold {tables(module)}"
    assert vars(module)["x"] is value


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
@pytest.mark.parametrize("name", ["_parameters", "_buffers", "_modules"])
def test_a_name_is_looked_up_in_all_tables(name):
    module = Empty()
    getattr(module, name)["x"] = value = Parameter(vector(1.0))
    assert module.x is value
    getattr(module, name)["x"] = None
    assert module.x is None


@pytest.mark.hole("13a.1")
def test_what_is_not_there_is_an_attribute_error():
    module = Empty()
    with pytest.raises(AttributeError, match="'Empty' object has no attribute 'weight'"):
        module.weight
    assert not hasattr(module, "weight")


@pytest.mark.hole("13a.1")
def test_before_init_what_is_not_there_is_an_attribute_error():
    class Early(nn.Module):
        def __init__(self):
            self.found = hasattr(self, "weight")
            super().__init__()

    assert Early().found is False


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
    assert module._parameters["weight"] is None, "the table still holds the old parameter"
    assert "weight" not in vars(module), "it is a plain attribute as well"
    other = Parameter(vector(2.0))
    module.weight = other
    assert module.weight is other


@pytest.mark.hole("13a.1")
def test_a_parameter_that_is_none_is_not_trained():
    layer = nn.Linear(2, 3)
    layer.bias = None
    assert list(layer._parameters) == ["weight", "bias"], f"got {list(layer._parameters)}"
    assert layer._parameters["bias"] is None, "the table still holds the old parameter"
    assert layer(torch.zeros(1, 2)).tolist() == [[0.0] * 3]


@pytest.mark.hole("13a.1")
def test_none_keeps_the_name_for_a_part():
    module = Empty()
    module.part = Empty()
    module.part = None
    assert module.part is None
    assert tables(module) == ([], [], ["part"])
    assert module._modules["part"] is None, "the table still holds the old part"
    assert "part" not in vars(module), "it is a plain attribute as well"
    module.part = other = Empty()
    assert module.part is other


@pytest.mark.hole("13a.1")
@pytest.mark.parametrize("make", [lambda: 3.0, lambda: "text", lambda: vector(1.0),
                                  lambda: Empty()],
                         ids=["number", "text", "tensor", "module"])
def test_nothing_else_may_take_the_place_of_a_parameter(make):
    module, value = Empty(), make()
    module.weight = weight = Parameter(vector(1.0))
    with pytest.raises(TypeError, match=r"as parameter 'weight' \(torch.nn.Parameter or None "):
        module.weight = value
    assert module.weight is weight


@pytest.mark.hole("13a.1")
@pytest.mark.parametrize("value", [3.0, vector(1.0), nn.Buffer(vector(1.0))],
                         ids=["number", "tensor", "buffer"])
def test_nothing_else_may_take_the_place_of_a_part(value):
    module = Empty()
    module.part = part = Empty()
    with pytest.raises(TypeError, match=r"as child module 'part' \(torch.nn.Module or None "):
        module.part = value
    assert module.part is part


@pytest.mark.hole("13a.1")
@pytest.mark.parametrize("value", [vector(5.0), None], ids=["tensor", "None"])
def test_a_tensor_takes_the_place_of_a_buffer(value):
    module = Empty()
    module.register_buffer("mean", vector(0.0))
    module.mean = value
    assert module.mean is value
    assert tables(module) == ([], ["mean"], []) and "mean" not in vars(module)


@pytest.mark.hole("13a.1")
@pytest.mark.parametrize("before", [
    lambda m: setattr(m, "x", 3.0), lambda m: setattr(m, "x", Empty()),
    lambda m: m.register_buffer("x", vector(1.0))], ids=["plain attribute", "module", "buffer"])
def test_a_parameter_moves_what_had_its_name(before):
    module = Empty()
    before(module)
    module.x = Parameter(vector(1.0))
    assert "x" not in vars(module) and tables(module) == (["x"], [], []), f"got {tables(module)}"


@pytest.mark.hole("13a.1")
@pytest.mark.parametrize("before", [
    lambda m: setattr(m, "x", 3.0), lambda m: m.register_buffer("x", vector(1.0))],
    ids=["plain attribute", "buffer"])
def test_a_part_moves_what_had_its_name(before):
    module = Empty()
    before(module)
    module.x = Empty()
    assert "x" not in vars(module) and tables(module) == ([], [], ["x"]), f"got {tables(module)}"


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
def test_modules_come_depth_first():
    tree = Tree()
    found = [module for _, module in tree.named_modules()]
    wanted = [tree, tree.first, tree.pair, tree.pair.left, tree.pair.right]
    assert len(found) == 5 and all(a is b for a, b in zip(found, wanted, strict=True))


@pytest.mark.hole("13a.2")
def test_a_part_that_is_also_deeper_in_an_earlier_part():
    net, shared = nn.Module(), nn.Module()
    net.first = nn.Module()
    net.first.deep = shared
    net.later = shared
    names = [name for name, _ in net.named_modules()]
    assert names == ["", "first", "first.deep"], f"got {names}"


@pytest.mark.hole("13a.2")
def test_parameters_that_share_memory_are_two():
    net = nn.Module()
    net.one = Parameter(vector(1.0))
    net.other = Parameter(net.one.data)
    net.other.data = net.one.data
    names = [name for name, _ in net.named_parameters()]
    assert names == ["one", "other"], f"got {names}"


@pytest.mark.hole("13a.2")
def test_an_empty_memo_is_filled():
    tree, memo = Tree(), set()
    list(tree.named_modules(memo))
    assert memo == {tree, tree.first, tree.pair, tree.pair.left, tree.pair.right}


@pytest.mark.hole("13a.2")
def test_modules_have_dotted_names():
    names = [name for name, _ in Tree().named_modules()]
    assert names == ["", "first", "pair", "pair.left", "pair.right"], f"got {names}"


@pytest.mark.hole("13a.2")
def test_a_prefix_stands_before_all_names():
    names = [name for name, _ in Tree().named_modules(prefix="net")]
    assert names == ["net", "net.first", "net.pair", "net.pair.left", "net.pair.right"]


@pytest.mark.hole("13a.2")
def test_a_prefix_stands_before_the_names_of_parameters():
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
    assert list(Tree().named_buffers(recurse=False)) == []


@pytest.mark.hole("13a.2")
def test_without_recursion_the_prefix_is_the_module_s_name():
    assert [name for name, _ in Tree().named_parameters("net", recurse=False)] == ["net.bias"]


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
def test_with_duplicates_every_module_is_met():
    tree = Tree()
    tree.again = tree.first
    names = [name for name, _ in tree.named_modules(remove_duplicate=False)]
    assert names == ["", "first", "pair", "pair.left", "pair.right", "again"]


@pytest.mark.hole("13a.2")
def test_with_duplicates_every_name_of_a_parameter_is_met():
    tree = Tree()
    tree.again = tree.first
    names = [name for name, _ in tree.named_parameters(remove_duplicate=False)]
    assert names == ["bias", "first.factor", "pair.left.factor", "pair.right.factor",
                     "again.factor"]


@pytest.mark.hole("13a.2")
def test_names_of_members_that_stand_for_none_are_left_out():
    tree = Tree()
    tree.bias = tree.first.seen = None
    for remove in (True, False):
        names = [name for name, _ in tree.named_parameters(remove_duplicate=remove)]
        assert names == ["first.factor", "pair.left.factor", "pair.right.factor"]
    assert [name for name, _ in tree.named_buffers()] == ["pair.left.seen", "pair.right.seen"]


@pytest.mark.hole("13a.2")
def test_names_of_parts_that_stand_for_none_are_left_out():
    tree = Tree()
    tree.pair.left = None
    assert [name for name, _ in tree.named_modules()] == ["", "first", "pair", "pair.right"]


@pytest.mark.hole("13a.2")
def test_what_is_in_the_memo_is_left_out():
    tree = Tree()
    names = [name for name, _ in tree.named_modules({tree.pair})]
    assert names == ["", "first"]


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


@pytest.mark.hole("13a.2")
def test_the_memo_counts_with_duplicates_too():
    tree = Tree()
    tree.again = tree.first
    memo = {tree.pair}
    names = [name for name, _ in tree.named_modules(memo, remove_duplicate=False)]
    assert names == ["", "first", "again"], f"got {names}"
    assert memo == {tree.pair}, "with duplicates none is added to the memo"


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
@pytest.mark.parametrize("call", [lambda m: m.eval(), lambda m: m.train(),
                                  lambda m: m.train(False)],
                         ids=["eval()", "train()", "train(False)"])
def test_the_module_itself_is_returned(call):
    tree = Tree()
    assert call(tree) is tree


@pytest.mark.hole("13a.3")
@pytest.mark.parametrize("mode", [1, 0, None, "eval"], ids=str)
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
def test_a_part_decides_for_what_is_below_it():
    class Frozen(nn.Module):
        def train(self, mode=True):
            return self  # it stays as it is, with everything below it

    module = nn.Sequential(Frozen())
    module[0].part = nn.Module()
    module[0].part.training = False
    module.train()
    assert not module[0].part.training, "a module below a frozen one has changed its mode"


@pytest.mark.hole("13a.3")
def test_a_part_that_is_none_is_passed_over():
    module = nn.Module()
    module.add_module("missing", None)
    module.part = nn.Module()
    assert module.train(False) is module and not module.part.training


@pytest.mark.hole("13a.3")
def test_eval_does_not_stop_gradients():
    module = Scale(3.0)
    module.eval()
    assert module.factor.requires_grad
    module(vector(2.0)).sum().backward()
    assert module.factor.grad.tolist() == [2.0]


@pytest.mark.hole("13a.3")
def test_eval_is_a_mode_of_train():
    seen = []

    class Stubborn(nn.Module):
        def train(self, mode=True):
            seen.append(mode)
            return super().train(mode)

    for module in Stubborn(), nn.Sequential(Stubborn()):
        seen.clear()
        module.eval()
        assert seen == [False], f"a module that overrides train was asked {seen}"


# --- 13a.4: moving -------------------------------------------------------------------------------


@pytest.mark.hole("13a.4")
@pytest.mark.parametrize("kind", ["parameters", "buffers"])
def test_all_parameters_and_buffers_are_cast(kind):
    tree = Tree().double()
    kinds = {name: t.dtype for name, t in getattr(tree, f"named_{kind}")()}
    assert set(kinds.values()) == {torch.float64}, f"got {kinds}"


@pytest.mark.hole("13a.4")
def test_the_values_stay():
    tree = Tree().double()
    assert [p.item() for p in tree.parameters()] == [4.0, 1.0, 2.0, 3.0]
    assert [b.item() for b in tree.buffers()] == [0.0] * 3


@pytest.mark.hole("13a.4")
def test_parameters_stay_the_same_tensors():
    tree = Tree()
    before = list(tree.parameters())
    tree.double()
    assert all(a is b for a, b in zip(before, tree.parameters(), strict=True)), (
        "an optimizer that was made before would go on with the old ones")
    assert all(p.requires_grad and p.is_leaf for p in before)


@pytest.mark.hole("13a.4")
def test_buffers_are_replaced():
    tree = Tree()
    before = list(tree.buffers())
    tree.double()
    assert not any(a is b for a, b in zip(before, tree.buffers(), strict=True)), (
        "expected new tensors in the table")
    assert all(b.dtype == torch.float32 for b in before), "the old buffers were changed"


@pytest.mark.hole("13a.4")
def test_gradients_are_cast_too():
    module = Scale(3.0)
    module(vector(2.0)).sum().backward()
    module.double()
    assert module.factor.grad.dtype == torch.float64
    assert module.factor.grad.tolist() == [2.0]


@pytest.mark.hole("13a.4")
def test_gradients_stay_the_same_tensors():
    module = Scale(3.0)
    module(vector(2.0)).sum().backward()
    grad = module.factor.grad
    module.double()
    assert module.factor.grad is grad
    module(torch.tensor([2.0], dtype=torch.float64)).sum().backward()
    assert module.factor.grad.tolist() == [4.0]


@pytest.mark.hole("13a.4")
def test_the_data_of_each_is_what_the_function_gives():
    module = Scale(3.0)
    module.factor.grad = vector(7.0)
    module._apply(lambda tensor: tensor + 1)
    assert module.factor.tolist() == [4.0] and module.seen.tolist() == [1.0]
    assert module.factor.grad.tolist() == [8.0]


@pytest.mark.hole("13a.4")
def test_nothing_of_it_is_recorded():
    seen, more = [], torch.ones(1, requires_grad=True)

    def shift(tensor):
        moved = tensor + more
        if tensor.item() == 3.0:  # the parameter, or its data
            seen.append(moved.requires_grad)
        return moved.detach()

    module = Scale(3.0)
    module._apply(shift)
    assert seen == [False], f"expected one call that isn't recorded, got {seen}"
    assert module.factor.grad_fn is None
    assert torch.is_grad_enabled(), "recording is off afterwards"


@pytest.mark.hole("13a.4")
def test_a_gradient_s_history_is_not_recorded():
    module = Scale(3.0)
    module.factor.grad = module.factor * 2
    seen = []
    module._apply(lambda tensor: (seen.append((tensor + 1).requires_grad), tensor.clone())[1])
    assert not any(seen), "the function runs with recording off for gradients too"


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
def test_recursion_can_be_left_out():
    tree = Tree()
    tree._apply(lambda t: t.double(), recurse=False)
    assert tree.bias.dtype == torch.float64
    assert tree.first.factor.dtype == torch.float32


@pytest.mark.hole("13a.4")
def test_the_module_comes_back():
    tree = Tree()
    assert tree._apply(lambda t: t) is tree


@pytest.mark.hole("13a.4")
def test_the_parts_come_first():
    seen = []
    Tree()._apply(lambda t: (seen.append(t.item()), t)[1])
    assert seen[-1] == 4.0, "the module's own bias comes last"


@pytest.mark.hole("13a.4")
def test_the_function_is_called_once_for_each():
    seen = []
    tree = Tree()
    tree._apply(lambda t: (seen.append(t), t.clone())[1])
    assert len(seen) == 7, f"4 parameters and 3 buffers, but {len(seen)} calls"


# --- 13a.5: dropout ------------------------------------------------------------------------------


def dropped(p):
    torch.manual_seed(0)
    return nn.Dropout(p)(torch.ones(20000)).numpy()


@pytest.mark.hole("13a.5")
@pytest.mark.parametrize("p", [0.2, 0.5, 0.8])
def test_what_share_is_dropped(p):
    share = (dropped(p) == 0).mean()
    assert abs(share - p) < 0.02, f"p is {p}, but {share:.2f} of the elements were dropped"


@pytest.mark.hole("13a.5")
@pytest.mark.parametrize("p", [0.2, 0.5, 0.8])
def test_what_is_kept_is_made_larger(p):
    y = dropped(p)
    kept = y != 0
    assert_close(y[kept], np.full(kept.sum(), 1 / (1 - p)), 1e-6, what="what was kept")
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
    alike = layer(x).tolist() == layer(x).tolist()
    assert not alike, "two calls dropped the same elements"


@pytest.mark.hole("13a.5")
def test_the_gradient_goes_where_the_values_went():
    x = torch.ones(1000, requires_grad=True)
    y = nn.Dropout(0.5)(x)
    y.sum().backward()
    assert x.grad.tolist() == y.tolist()


@pytest.mark.hole("13a.5")
@pytest.mark.parametrize("kind", [nn.Dropout, nn.Dropout2d], ids=["Dropout", "Dropout2d"])
def test_dropout_leaves_its_input_alone(kind):
    x = torch.ones(4, 50, 3, 3)
    y = kind(0.5)(x)
    assert bool((x == 1).all()) and y is not x


@pytest.mark.hole("13a.5")
@pytest.mark.parametrize("kind", [nn.Dropout, nn.Dropout2d], ids=["Dropout", "Dropout2d"])
def test_dropout_writes_where_it_is_told_to(kind):
    x = torch.ones(4, 50, 3, 3)
    assert kind(0.5, inplace=True)(x) is x
    assert bool((x == 0).any())


@pytest.mark.hole("13a.5")
@pytest.mark.parametrize("p", [0.5, 0.2])
def test_a_channel_is_dropped_as_a_whole(p):
    torch.manual_seed(0)
    sums = nn.Dropout2d(p)(torch.ones(40, 50, 3, 3)).numpy().sum((2, 3))
    kept = sums != 0
    assert_close(sums[kept], np.full(kept.sum(), 9 / (1 - p)), 1e-5, what="the channels' sums")
    assert abs(1 - kept.mean() - p) < 0.05, f"{1 - kept.mean():.2f} of the channels were dropped"


@pytest.mark.hole("13a.5")
def test_channels_in_evaluation_are_all_kept():
    x = torch.ones(4, 50, 3, 3)
    assert nn.Dropout2d(0.5).eval()(x).tolist() == x.tolist()


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
def test_training_uses_the_batch():
    x = BATCHES[0]
    y = layer()(batch(0))
    assert_close(y.detach().numpy(), normed(x, x.mean(0), x.var(0)), 1e-9, what="the result")


@pytest.mark.hole("13a.6")
def test_training_moves_the_running_mean():
    norm, x = layer(), BATCHES[0]
    norm(batch(0))
    assert_close(norm.running_mean.numpy(), 0.1 * x.mean(0), 1e-9, what="running_mean")


@pytest.mark.hole("13a.6")
def test_training_moves_the_running_variance():
    norm, x = layer(), BATCHES[0]
    norm(batch(0))
    assert_close(norm.running_var.numpy(), 0.9 + 0.1 * x.var(0, ddof=1), 1e-9, what="running_var")


@pytest.mark.hole("13a.6")
@pytest.mark.parametrize("options", [{}, {"momentum": None}, {"momentum": 0.5}],
                         ids=["momentum 0.1", "no momentum", "momentum 0.5"])
def test_batches_are_counted_in_training(options):
    norm = layer(**options)
    tracked = norm.num_batches_tracked
    for number in (1, 2):
        norm(batch(0))
        assert norm.num_batches_tracked.item() == number
    assert norm.num_batches_tracked is tracked, "count up in place"


@pytest.mark.hole("13a.6")
def test_batches_are_not_counted_in_evaluation():
    norm = layer().eval()
    norm(batch(0))
    assert norm.num_batches_tracked.item() == 0


@pytest.mark.hole("13a.6")
def test_momentum_is_the_weight_of_the_new():
    norm, (a, b) = layer(momentum=0.25), BATCHES
    norm(batch(0))
    norm(batch(1))
    mean = 0.75 * (0.25 * a.mean(0)) + 0.25 * b.mean(0)
    assert_close(norm.running_mean.numpy(), mean, 1e-9, what="running_mean")


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
def test_without_momentum_the_first_batch_is_the_average():
    norm, (a, _) = layer(momentum=None), BATCHES
    norm(batch(0))
    assert_close(norm.running_mean.numpy(), a.mean(0), 1e-9, what="running_mean after one batch")


@pytest.mark.hole("13a.6")
def test_a_momentum_of_zero_changes_no_moment():
    norm = nn.BatchNorm1d(1, momentum=0.0)
    norm(torch.tensor([[3.0], [5.0]]))
    assert norm.running_mean.tolist() == [0.0], f"got {norm.running_mean.tolist()}"
    assert norm.num_batches_tracked.item() == 1


@pytest.mark.hole("13a.6")
def test_without_momentum_the_average_starts_again_with_the_counter():
    norm = nn.BatchNorm1d(1, momentum=None)
    norm(torch.tensor([[3.0], [5.0]]))
    norm.reset_running_stats()
    norm(torch.tensor([[2.0], [4.0]]))
    assert_close(norm.running_mean.numpy(), [3.0])


@pytest.mark.hole("13a.6")
def test_without_momentum_the_plain_average():
    norm, (a, b) = layer(momentum=None), BATCHES
    norm(batch(0))
    norm(batch(1))
    assert_close(norm.running_mean.numpy(), (a.mean(0) + b.mean(0)) / 2, 1e-9,
                 what="running_mean after two batches")
    variances = (a.var(0, ddof=1) + b.var(0, ddof=1)) / 2
    assert_close(norm.running_var.numpy(), variances, 1e-9, what="running_var")


@pytest.mark.hole("13a.6")
def test_without_momentum_evaluation_works():
    norm = layer(momentum=None).eval()
    y = norm(batch(1)).detach().numpy()
    assert_close(y, normed(BATCHES[1], 0.0, 1.0), 1e-9, what="the result")


@pytest.mark.hole("13a.6")
@pytest.mark.parametrize("training", [True, False], ids=["training", "evaluation"])
def test_without_tracking_the_batch_always(training):
    norm, x = layer(track_running_stats=False).train(training), BATCHES[1]
    assert norm.running_mean is None and norm.num_batches_tracked is None
    assert_close(norm(batch(1)).detach().numpy(), normed(x, x.mean(0), x.var(0)), 1e-9,
                 what="the result")


@pytest.mark.hole("13a.6")
def test_tracking_that_is_switched_off_changes_no_buffer():
    norm, x = layer(), BATCHES[1]
    norm(batch(0))
    norm.track_running_stats = False
    before = {name: t.tolist() for name, t in norm.state_dict().items()}
    y = norm(batch(1))
    assert_close(y.detach().numpy(), normed(x, x.mean(0), x.var(0)), 1e-9, what="the result")
    assert {name: t.tolist() for name, t in norm.state_dict().items()} == before


@pytest.mark.hole("13a.6")
def test_tracking_that_is_switched_off_leaves_evaluation_as_it_is():
    norm = layer()
    norm(batch(0))
    before = norm.eval()(batch(1)).tolist()
    norm.track_running_stats = False
    assert norm(batch(1)).tolist() == before, "the running moments are still there"


@pytest.mark.hole("13a.6")
def test_scale_and_shift():
    norm, x = layer(), BATCHES[0]
    with_weights = torch.tensor([2.0, 3.0], dtype=torch.float64)
    norm.weight.data, norm.bias.data = with_weights, with_weights * 10
    y = norm(batch(0)).detach().numpy()
    assert_close(y, normed(x, x.mean(0), x.var(0)) * [2, 3] + [20, 30], 1e-9, what="the result")


@pytest.mark.hole("13a.6")
def test_without_scale_and_shift():
    x = BATCHES[0]
    y = layer(affine=False)(batch(0)).numpy()
    assert_close(y, normed(x, x.mean(0), x.var(0)), 1e-9, what="the result")


@pytest.mark.hole("13a.6")
def test_eps_is_used():
    x = BATCHES[0]
    y = layer(eps=1.0)(batch(0)).detach().numpy()
    assert_close(y, normed(x, x.mean(0), x.var(0), 1.0), 1e-9, what="the result")


@pytest.mark.hole("13a.6")
@pytest.mark.parametrize("training", [True, False], ids=["training", "evaluation"])
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
@pytest.mark.parametrize("training", [True, False], ids=["training", "evaluation"])
def test_the_dimensions_are_checked_first(training):
    norm = layer().train(training)
    with pytest.raises(ValueError, match="expected 2D or 3D input"):
        norm(torch.ones(2, 3, 4, 4, dtype=torch.float64))
    assert norm.num_batches_tracked.item() == 0, "a batch that is refused was counted"
