"""Symptoms of stage 13a: what mistakes in modules do, seen from outside."""

import numpy as np

import minigrad as torch
from minigrad import nn
from minigrad.nn import Parameter


def vector(*values):
    return torch.tensor(list(values))


class Empty(nn.Module):
    def forward(self, x):
        return x


class Scale(nn.Module):
    def __init__(self, factor=2.0):
        super().__init__()
        self.factor = Parameter(vector(factor))
        self.register_buffer("seen", vector(0.0))

    def forward(self, x):
        return x * self.factor


class Tree(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Scale(1.0)
        self.pair = nn.Module()
        self.pair.left = Scale(2.0)
        self.pair.right = Scale(3.0)
        self.bias = Parameter(vector(4.0))


def error_of(action):
    """Return what an action raises, as "Kind: text", or the empty text."""
    try:
        action()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


# --- 13a.1 ---------------------------------------------------------------------------------------


def _with(value, name="x"):
    module = Empty()
    setattr(module, name, value)
    return module


def symptom_13a_1_parameter_not_registered() -> bool:
    module = _with(Parameter(vector(1.0)))
    return "x" in vars(module) and "x" not in module._parameters


def symptom_13a_1_part_not_registered() -> bool:
    module = _with(Empty())
    return "x" in vars(module) and "x" not in module._modules


def symptom_13a_1_kept_twice() -> bool:
    return any("x" in vars(module) and "x" in getattr(module, table) for module, table in (
        (_with(Parameter(vector(1.0))), "_parameters"), (_with(Empty()), "_modules")))


def symptom_13a_1_tensors_are_parameters() -> bool:
    return "x" in _with(vector(1.0))._parameters


def symptom_13a_1_tensors_are_buffers() -> bool:
    return "x" in _with(vector(1.0))._buffers


def symptom_13a_1_none_forgets_the_name() -> bool:
    module = _with(Parameter(vector(1.0)))
    module.x = None
    return "x" not in module._parameters


def symptom_13a_1_parameter_hidden() -> bool:
    module = _with(Parameter(vector(1.0)))
    module.x = None
    return module._parameters.get("x", 0) is not None and "x" in module._parameters


def symptom_13a_1_none_forgets_the_part() -> bool:
    module = _with(Empty())
    module.x = None
    return "x" not in module._modules and "x" not in vars(module)


def symptom_13a_1_part_hidden() -> bool:
    module = _with(Empty())
    module.x = None
    return "x" in vars(module) or module._modules.get("x", 0) is not None


def symptom_13a_1_anything_for_a_parameter() -> bool:
    module = _with(Parameter(vector(1.0)))
    return error_of(lambda: setattr(module, "x", 3.0)) == ""


def symptom_13a_1_anything_for_a_part() -> bool:
    module = _with(Empty())
    return error_of(lambda: setattr(module, "x", 3.0)) == ""


def _with_buffer(**options):
    module = Empty()
    module.register_buffer("mean", vector(0.0), **options)
    return module


def symptom_13a_1_buffer_hidden() -> bool:
    module = _with_buffer()
    module.mean = vector(5.0)
    return module._buffers["mean"].tolist() == [0.0]


def symptom_13a_1_parameter_not_replaced() -> bool:
    module = _with(Parameter(vector(1.0)))
    return "as parameter" in error_of(lambda: setattr(module, "x", Parameter(vector(2.0))))


class Early(nn.Module):
    """Has an attribute before its tables are made."""

    def __init__(self):
        self.note = "plain"
        super().__init__()


def symptom_13a_1_fails_before_init() -> bool:
    return error_of(Early) != ""


def symptom_13a_1_none_is_not_found() -> bool:
    module = _with_buffer()
    module._parameters["w"] = None
    return error_of(lambda: module.w).startswith("AttributeError") and (
        error_of(lambda: module.mean) == "")


def symptom_13a_1_nn_buffer_not_registered() -> bool:
    return "x" not in _with(nn.Buffer(vector(1.0)))._buffers


def symptom_13a_1_old_attribute_wins() -> bool:
    module = _with(3.0)
    module.x = Parameter(vector(1.0))
    return isinstance(module.x, float)


def symptom_13a_1_name_is_taken() -> bool:
    module = _with(3.0)
    return "already exists" in error_of(lambda: setattr(module, "x", Parameter(vector(1.0))))


def symptom_13a_1_missing_is_none() -> bool:
    return error_of(lambda: Empty().nothing) == ""


def symptom_13a_1_missing_is_key_error() -> bool:
    return error_of(lambda: Empty().nothing).startswith("KeyError")


def symptom_13a_1_getattr_misses_a_table() -> bool:
    module = _with_buffer()
    module._parameters["w"] = Parameter(vector(1.0))
    module._modules["part"] = Empty()
    found = [error_of(lambda name=name: getattr(module, name)) == ""
             for name in ("w", "mean", "part")]
    return any(found) and not all(found)


# --- 13a.2 ---------------------------------------------------------------------------------------


def names_of_modules(module, **options):
    return [name for name, _ in module.named_modules(**options)]


def names_of_parameters(module, **options):
    return [name for name, _ in module.named_parameters(**options)]


ALL = ["", "first", "pair", "pair.left", "pair.right"]


def symptom_13a_2_pair_exchanged() -> bool:
    tree = Tree()
    return next(iter(tree.named_modules())) == (tree, "")


def symptom_13a_2_without_itself() -> bool:
    found = names_of_modules(Tree())
    return "" not in found and "pair.left" not in found


def symptom_13a_2_itself_last() -> bool:
    found = names_of_modules(Tree())
    return sorted(found) == sorted(ALL) and found.index("pair") > found.index("pair.left")


def symptom_13a_2_breadth_first() -> bool:
    tree = nn.Sequential(nn.Sequential(Empty()), nn.Sequential(Empty()))
    return names_of_modules(tree) == ["", "0", "1", "0.0", "1.0"]


def symptom_13a_2_one_level() -> bool:
    return names_of_modules(Tree()) in (["", "first", "pair"], ["first", "pair"])


def symptom_13a_2_names_without_path() -> bool:
    return names_of_modules(Tree()) == ["", "first", "pair", "left", "right"]


def symptom_13a_2_leading_dot() -> bool:
    return ".first" in names_of_modules(Tree()) or ".bias" in names_of_parameters(Tree())


def symptom_13a_2_prefix_ignored() -> bool:
    return names_of_modules(Tree(), prefix="net") == ALL


def symptom_13a_2_walks_once() -> bool:
    tree = Tree()
    return len(names_of_modules(tree)) == 5 and len(names_of_modules(tree)) < 5


def _twice():
    tree = Tree()
    tree.again = tree.first
    return tree


def symptom_13a_2_memo_not_shared() -> bool:
    tree = _twice()
    siblings = names_of_modules(tree)
    return "again" in siblings and tree in _memo_after(tree)


def _memo_after(tree):
    memo = set()
    list(tree.named_modules(memo))
    return memo


def symptom_13a_2_empty_memo_not_filled() -> bool:
    tree, memo = _twice(), {nn.Module()}
    list(tree.named_modules(memo))
    return "again" not in names_of_modules(tree) and tree in memo and not _memo_after(tree)


def symptom_13a_2_module_twice() -> bool:
    tree = _twice()
    return "again" in names_of_modules(tree) and not _memo_after(tree)


def symptom_13a_2_never_duplicates() -> bool:
    tree = _twice()
    return ("again" not in names_of_modules(tree)
            and "again" not in names_of_modules(tree, remove_duplicate=False))


def _same_parameter():
    tree = Tree()
    tree.pair.left.factor = tree.first.factor
    return tree


def symptom_13a_2_parameter_twice() -> bool:
    return "pair.left.factor" in names_of_parameters(_same_parameter())


def symptom_13a_2_parameter_never_twice() -> bool:
    tree = _same_parameter()
    return ("pair.left.factor" not in names_of_parameters(tree)
            and "pair.left.factor" not in names_of_parameters(tree, remove_duplicate=False)
            and "pair.left.factor" in names_of_parameters(Tree())
            and "first.factor" in names_of_parameters(tree))


def symptom_13a_2_apart_by_name() -> bool:
    return names_of_parameters(Tree()) == ["bias", "first.factor"]


def symptom_13a_2_yields_none() -> bool:
    tree = Tree()
    tree.bias = None
    return "bias" in names_of_parameters(tree)


def symptom_13a_2_fails_for_none() -> bool:
    tree = Tree()
    tree.pair.left = None
    return "NoneType" in error_of(lambda: names_of_modules(tree))


def symptom_13a_2_other_marks_than_dots() -> bool:
    found = names_of_modules(Tree()), names_of_parameters(Tree())
    return any(len(name) == len("pair.left") and name != "pair.left" and name.startswith("pair")
               and name.endswith("left") for name in found[0]) or any(
        len(name) == len("first.factor") and name != "first.factor"
        and name.startswith("first") and name.endswith("factor") for name in found[1])


def symptom_13a_2_stops_at_none() -> bool:
    module = Empty()
    module.weight, module.bias = Parameter(vector(1.0)), Parameter(vector(2.0))
    module.part, module.last = Empty(), Empty()
    module.weight = module.part = None
    if error_of(lambda: (names_of_parameters(module), names_of_modules(module))):
        return False
    return names_of_parameters(module) == [] or names_of_modules(module) == [""]


def symptom_13a_2_members_without_prefix() -> bool:
    return (names_of_modules(Tree(), prefix="net")[0] == "net"
            and "bias" in names_of_parameters(Tree(), prefix="net"))


def symptom_13a_2_prefix_only_with_parts() -> bool:
    return (names_of_parameters(Tree(), prefix="net", recurse=False) == ["bias"]
            and "net.bias" in names_of_parameters(Tree(), prefix="net"))


def symptom_13a_2_always_recurses() -> bool:
    return "first.factor" in names_of_parameters(Tree(), recurse=False)


def symptom_13a_2_never_recurses() -> bool:
    return names_of_parameters(Tree()) == ["bias"] and names_of_modules(Tree()) == ALL


# --- 13a.3 ---------------------------------------------------------------------------------------


def modes(tree):
    return [module.training for module in (tree, tree.first, tree.pair, tree.pair.left)]


def after(action):
    tree = Tree()
    action(tree)
    return modes(tree)


def symptom_13a_3_eval_trains() -> bool:
    return (after(lambda t: t.eval()) == [True] * 4
            and after(lambda t: t.train(False)) == [False] * 4)


def symptom_13a_3_mode_ignored() -> bool:
    return after(lambda t: t.train(False)) == [True] * 4


def symptom_13a_3_parts_keep_their_mode() -> bool:
    return after(lambda t: t.train(False)) == [False, True, True, True]


def symptom_13a_3_one_level() -> bool:
    return after(lambda t: t.train(False)) == [False, False, False, True]


def symptom_13a_3_not_itself() -> bool:
    module = Empty()
    module.training = False
    module.train(True)
    return module.training is False


def symptom_13a_3_mode_not_passed_on() -> bool:
    tree = Tree()
    for module in (tree.first, tree.pair, tree.pair.left):
        module.training = False
    tree.train(False)
    return modes(tree) == [False, True, True, True]


def symptom_13a_3_returns_nothing() -> bool:
    tree = Tree()
    return tree.train() is None or tree.eval() is None or tree.requires_grad_(True) is None


def symptom_13a_3_eval_stops_gradients() -> bool:
    module = Scale()
    module.eval()
    return not module.factor.requires_grad


def symptom_13a_3_any_mode() -> bool:
    return error_of(lambda: Tree().train("eval")) == ""


def symptom_13a_3_override_ignored() -> bool:
    seen = []

    class Part(nn.Module):
        def train(self, mode=True):
            seen.append(mode)
            return super().train(mode)

    module = nn.Sequential(Part())
    module.train(False)
    return not seen and not module[0].training


def _with_gradients():
    tree = Tree()
    for parameter in (tree.bias, tree.first.factor):
        parameter.grad = vector(5.0)
    return tree


def symptom_13a_3_changed_though_refused() -> bool:
    module = Empty()
    error = error_of(lambda: module.train(None))
    return error.startswith("ValueError") and module.training is not True


def symptom_13a_3_eval_of_itself_only() -> bool:
    return (after(lambda t: t.eval()) == [False, True, True, True]
            and after(lambda t: t.train(False)) == [False] * 4)


# --- 13a.4 ---------------------------------------------------------------------------------------


def _doubled(recurse=True):
    tree = Tree()
    for parameter in (tree.bias, tree.first.factor):
        parameter.grad = vector(5.0)
    before = tree.bias
    tree._apply(lambda t: t.double(), recurse)
    return tree, before


def is_double(tensor):
    return tensor.dtype == torch.float64


def symptom_13a_4_new_parameters() -> bool:
    tree, before = _doubled()
    return tree.bias is not before and is_double(tree.bias)


def symptom_13a_4_gradients_stay() -> bool:
    tree, _ = _doubled()
    return is_double(tree.bias) and tree.bias.grad is not None and not is_double(tree.bias.grad)


def symptom_13a_4_gradients_dropped() -> bool:
    tree, before = _doubled()
    return tree.bias is before and is_double(tree.bias) and tree.bias.grad is None


def symptom_13a_4_fails_without_gradient() -> bool:
    module = Scale()
    return "NoneType" in error_of(lambda: module._apply(lambda t: t.double()))


def symptom_13a_4_buffers_stay() -> bool:
    tree, _ = _doubled()
    return is_double(tree.first.factor) and not is_double(tree.first.seen)


def symptom_13a_4_parts_stay() -> bool:
    tree, _ = _doubled()
    return is_double(tree.bias) and not is_double(tree.first.factor)


def symptom_13a_4_always_recurses() -> bool:
    tree, _ = _doubled(recurse=False)
    return is_double(tree.bias) and is_double(tree.first.factor)


def symptom_13a_4_twice() -> bool:
    seen = []
    Tree()._apply(lambda t: (seen.append(1), t.clone())[1])
    return len(seen) > 7


def symptom_13a_4_moves_none() -> bool:
    module = Empty()
    module.register_buffer("nothing", None)
    module.weight = None
    return "NoneType" in error_of(lambda: module._apply(lambda t: t.double()))


def symptom_13a_4_parameters_stay() -> bool:
    module = Scale()
    module._apply(lambda t: t.double())
    return is_double(module.seen) and not is_double(module.factor)


def symptom_13a_4_new_gradients() -> bool:
    module = Scale()
    module.factor.grad = vector(5.0)
    before = module.factor.grad
    module._apply(lambda t: t.double())
    return module.factor.grad is not None and module.factor.grad is not before and (
        is_double(module.factor.grad))


def symptom_13a_4_none_fails() -> bool:
    module = Scale()
    module.factor = None
    return "NoneType" in error_of(lambda: module._apply(lambda t: t.double()))


def symptom_13a_4_recorded() -> bool:
    seen = []
    module = Scale()
    module._apply(lambda t: (seen.append((t * 1).requires_grad), t.clone())[1])
    return any(seen)


def symptom_13a_4_returns_nothing() -> bool:
    return Tree()._apply(lambda t: t.clone()) is None


# --- 13a.5 ---------------------------------------------------------------------------------------


def dropped(p=0.2, training=True, kind=None):
    """Return the share of zeros and the largest value of what dropout makes of ones."""
    torch.manual_seed(0)
    y = (kind or nn.Dropout)(p).train(training)(torch.ones(20000)).numpy()
    return round(float((y == 0).mean()), 1), round(float(y.max()), 3)


def symptom_13a_5_arguments_exchanged() -> bool:
    return dropped(0.2)[0] == dropped(0.8)[0] == 1.0


def symptom_13a_5_modes_exchanged() -> bool:
    return dropped(training=True)[0] == 0 and dropped(training=False)[0] > 0


def symptom_13a_5_drops_in_evaluation() -> bool:
    return dropped(training=True)[0] > 0 and dropped(training=False)[0] > 0


def symptom_13a_5_never_drops() -> bool:
    return dropped(training=True)[0] == 0 and dropped(training=False)[0] == 0


def symptom_13a_5_p_is_kept() -> bool:
    return dropped(0.2)[0] == 0.8


def symptom_13a_5_ignores_p() -> bool:
    return dropped(0.2)[0] == dropped(0.8)[0] != 0


def symptom_13a_5_not_scaled() -> bool:
    return dropped(0.2) == (0.2, 1.0)


def symptom_13a_5_scaled_twice() -> bool:
    return dropped(0.2) == (0.2, 1.562)


def symptom_13a_5_scaled_in_evaluation() -> bool:
    share, largest = dropped(0.2, training=False)
    return share == 0 and largest != 1.0


def symptom_13a_5_drops_twice() -> bool:
    return dropped(0.5)[0] > 0.6 and dropped(0.5, training=False)[0] == 0


def symptom_13a_5_never_inplace() -> bool:
    x = torch.ones(100)
    return nn.Dropout(0.5, inplace=True)(x) is not x


def symptom_13a_5_always_inplace() -> bool:
    x = torch.ones(100)
    return nn.Dropout(0.5)(x) is x


def symptom_13a_5_channels_drop_in_evaluation() -> bool:
    x = torch.ones(4, 8, 2, 2)
    found = nn.Dropout2d(0.5).eval()(x)
    return not symptom_13a_5_drops_in_evaluation() and found.tolist() != x.tolist()


def symptom_13a_5_elements_of_channels() -> bool:
    torch.manual_seed(0)
    sums = nn.Dropout2d(0.5)(torch.ones(4, 50, 3, 3)).numpy().sum((2, 3))
    return bool((sums == 0).sum() < 20 and len(np.unique(sums)) > 4)


# --- 13a.6 ---------------------------------------------------------------------------------------

A = np.array([[1.0, 10.0], [3.0, 30.0], [8.0, 20.0]])
B = np.array([[2.0, -1.0], [4.0, 5.0], [0.0, 2.0], [6.0, 6.0]])


def layer(**options):
    return nn.BatchNorm1d(2, **options).double()


def near(tensor, values):
    return bool(np.allclose(tensor.detach().numpy(), values, 1e-7, 1e-9))


def normed(x, mean, var, eps=1e-5):
    return (x - mean) / np.sqrt(var + eps)


def by_batch(x, eps=1e-5):
    return normed(x, x.mean(0), x.var(0), eps)


def seen_one(**options):
    norm = layer(**options)
    norm(torch.tensor(A))
    return norm


def symptom_13a_6_running_in_training() -> bool:
    return near(layer()(torch.tensor(A)), normed(A, 0.0, 1.0))


def symptom_13a_6_evaluation_moves() -> bool:
    norm = seen_one()
    before = norm.running_mean.tolist()
    norm.eval()(torch.tensor(B))
    return norm.running_mean.tolist() != before


def symptom_13a_6_batch_in_evaluation() -> bool:
    norm = seen_one().eval()
    before = norm.running_mean.tolist()
    return near(norm(torch.tensor(B)), by_batch(B)) and norm.running_mean.tolist() == before


def symptom_13a_6_never_tracks() -> bool:
    norm = seen_one()
    return norm.running_mean.tolist() == [0.0, 0.0] and norm.running_var.tolist() == [1.0, 1.0]


def switched_off():
    """A layer that has seen one batch, and whose tracking is switched off then."""
    norm = seen_one()
    norm.track_running_stats = False
    return norm


def symptom_13a_6_moves_though_switched_off() -> bool:
    norm = switched_off()
    before = norm.running_mean.tolist()
    norm(torch.tensor(B))
    return before != [0.0, 0.0] and norm.running_mean.tolist() != before


def symptom_13a_6_counted_though_switched_off() -> bool:
    norm = switched_off()
    before = norm.num_batches_tracked.item()
    norm(torch.tensor(B))
    return before == 1 and norm.num_batches_tracked.item() == 2


def symptom_13a_6_the_flag_chooses_the_moments() -> bool:
    tracked, norm = seen_one().eval(), switched_off().eval()
    return (near(norm(torch.tensor(B)), by_batch(B))
            and not near(tracked(torch.tensor(B)), by_batch(B)))


def symptom_13a_6_not_counted() -> bool:
    return seen_one().num_batches_tracked.item() == 0


def symptom_13a_6_counted_in_evaluation() -> bool:
    norm = seen_one().eval()
    norm(torch.tensor(B))
    return norm.num_batches_tracked.item() == 2


def symptom_13a_6_no_plain_average() -> bool:
    return near(seen_one(momentum=None).running_mean, 0.1 * A.mean(0))


def symptom_13a_6_average_stands_still() -> bool:
    norm = seen_one(momentum=None)
    return norm.num_batches_tracked.item() == 1 and norm.running_mean.tolist() == [0.0, 0.0]


def symptom_13a_6_average_one_behind() -> bool:
    norm = seen_one(momentum=None)
    norm(torch.tensor(B))
    return norm.num_batches_tracked.item() == 2 and (
        near(norm.running_mean, B.mean(0)) or near(norm.running_mean, A.mean(0) / 2
                                                   + (B.mean(0) - A.mean(0) / 2) / 3))


def symptom_13a_6_momentum_of_the_old() -> bool:
    return near(seen_one().running_mean, 0.9 * A.mean(0))


def symptom_13a_6_untracked_evaluation() -> bool:
    norm = layer(track_running_stats=False).eval()
    found = []
    told = error_of(lambda: found.append(norm(torch.tensor(B))))
    if told == "" and (symptom_13a_6_eps_and_momentum_exchanged()
                       or symptom_13a_6_weight_and_bias_exchanged()):
        return False
    return told != "" or not np.allclose(found[0].detach().numpy(), by_batch(B), 0, 0.01)


def symptom_13a_6_weight_and_bias_exchanged() -> bool:
    norm = layer()
    with torch.no_grad():
        norm.weight.copy_(torch.tensor([2.0, 5.0]))
        norm.bias.copy_(torch.tensor([3.0, 7.0]))
    exchanged = by_batch(A) * np.array([3.0, 7.0]) + np.array([2.0, 5.0])
    return near(norm(torch.tensor(A)), exchanged)


def symptom_13a_6_eps_and_momentum_exchanged() -> bool:
    norm = layer(eps=0.5, momentum=0.3)
    found = norm(torch.tensor(A)).detach().numpy()
    return bool(np.allclose(found, by_batch(A, 0.3)))


def symptom_13a_6_eps_squared() -> bool:
    return near(layer(eps=0.1)(torch.tensor(A)), by_batch(A, 0.01))


def symptom_13a_6_eps_ignored() -> bool:
    found = layer(eps=0.5)(torch.tensor(A))
    return near(found, by_batch(A, 1e-5)) or near(found, by_batch(A, 0.0))


def symptom_13a_6_no_scale() -> bool:
    norm = layer()
    norm.weight.data = torch.tensor([2.0, 3.0], dtype=torch.float64)
    norm.bias.data = torch.tensor([5.0, 7.0], dtype=torch.float64)
    return near(norm(torch.tensor(A)), by_batch(A))
