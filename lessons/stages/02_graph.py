"""Symptoms of stage 02: what the mistakes of its exercises do."""

import weakref

import numpy as np

import minigrad as torch
from minigrad import _state
from minigrad.graph import accumulate_grad as accumulate
from minigrad.graph.accumulate_grad import AccumulateGrad
from minigrad.graph.node import NaryNode
from minigrad.tensor import history


class Lock:
    """A lock that never waits; `meanwhile` is what another thread did just before it was ours."""

    def __init__(self, meanwhile=lambda: None):
        self.meanwhile, self.held, self.taken = meanwhile, False, 0

    def acquire(self, *_):
        if self.held:
            raise RuntimeError("held already")
        self.held, self.taken = True, self.taken + 1
        self.meanwhile()
        return True

    def release(self):
        self.held = False

    __enter__ = acquire

    def __exit__(self, *_):
        self.release()


accumulate._leaf_locks[:] = [Lock() for _ in range(64)]  # a symptom must not wait for ever


def _with_leaf_lock(lock, action):
    accumulate._leaf_locks[:] = [lock] * 64
    try:
        action()
    finally:
        accumulate._leaf_locks[:] = [Lock() for _ in range(64)]


def _leaf(values):
    return torch.tensor(values, requires_grad=True)


def _node(edges):
    node = NaryNode()
    node.set_edges(edges)
    return node


def _wired():
    """Nodes of one and of two edges, and the edges that they were given."""
    a, b = NaryNode(), NaryNode()
    for edges in [(a, 3)], [(a, 3), (b, 4)]:
        yield _node(list(edges)), edges


def _shown(node):
    return list(map(tuple, node.next_functions))


# ---------------------------------------------------------------- 02.1


def symptom_02_1_number_lost() -> bool:
    shown = [(_shown(node), edges) for node, edges in _wired()]
    return any(seen != edges and [n for n, _ in seen] == [n for n, _ in edges]
               for seen, edges in shown)


def symptom_02_1_swapped() -> bool:
    return any(len(edges) == 2 and _shown(node) == edges[::-1] for node, edges in _wired())


def symptom_02_1_drops_none() -> bool:
    after = NaryNode()
    return _shown(_node([(None, 0), (after, 7)])) == [(after, 7)]


def symptom_02_1_not_a_tuple() -> bool:
    return any(type(node.next_functions) is not tuple and _shown(node) == edges
               for node, edges in _wired())


def symptom_02_1_bare_nodes() -> bool:
    return any(list(node.next_functions) == [after for after, _ in edges]
               for node, edges in _wired())


def symptom_02_1_only_first() -> bool:
    return any(len(edges) == 2 and _shown(node) == edges[:1] for node, edges in _wired())


def symptom_02_1_keeps_list() -> bool:
    after = NaryNode()
    edges = [(after, 0), (after, 1)]
    node = _node(edges)
    if [len(node.next_functions) for _ in range(2)] != [2, 2]:
        return False
    edges.clear()
    return len(node.next_functions) == 0


def symptom_02_1_appends() -> bool:
    old, new = NaryNode(), NaryNode()
    node = _node([(old, 0)])
    node.set_edges([(new, 0)])
    return [after for after, _ in node.next_functions] == [old, new]


def symptom_02_1_metadata_shifted() -> bool:
    node = NaryNode()
    node.shape, node.dtype = (1,), np.dtype("float32")
    node.others = [((2,), np.dtype("float32")), ((3,), np.dtype("float32"))]
    if node.metadata_of(0)[0] != (1,):
        return node.metadata_of(0)[0] in ((2,), (3,))
    return node.metadata_of(1)[0] != (2,) and node.metadata_of(1)[0] in ((1,), (3,))


def symptom_02_1_plain_pairs() -> bool:
    return any(type(node.edges[0]) is tuple for node, _ in _wired())


# ---------------------------------------------------------------- 02.2


def symptom_02_2_freed_at_once() -> bool:
    x, y = _leaf(1.0), _leaf(1.0)
    end = AccumulateGrad(y)
    y._ensure_extras().accumulator = weakref.ref(end)
    return x._accumulator() is None and y._accumulator() is end


def symptom_02_2_none() -> bool:
    x = _leaf(1.0)
    first = x._accumulator()
    if first is None:
        return True
    del first
    return x._accumulator() is None


def symptom_02_2_always_new() -> bool:
    x = _leaf(1.0)
    first, second = x._accumulator(), x._accumulator()
    return second is not first and first.variable is x and type(second) is AccumulateGrad


def symptom_02_2_shared() -> bool:
    x, y = _leaf(1.0), _leaf(1.0)
    to_x = x._accumulator()
    return y._accumulator() is to_x


def symptom_02_2_held() -> bool:
    x = _leaf(1.0)
    kept = weakref.ref(x._accumulator())
    return kept() is not None and x._accumulator() is kept()


def _made_meanwhile():
    """Return how often the lock was taken, and whether another thread's node came back."""
    x, theirs = _leaf(1.0), []

    def meanwhile():
        if not theirs:
            theirs.append(AccumulateGrad(x))
            x._ensure_extras().accumulator = weakref.ref(theirs[0])

    kept, lock = history._accumulator_lock, Lock(meanwhile)
    history._accumulator_lock = lock
    try:
        mine = x._accumulator()
    finally:
        history._accumulator_lock = kept
    return lock.taken, bool(theirs) and mine is theirs[0]


def symptom_02_2_no_lock() -> bool:
    return _made_meanwhile()[0] == 0


def symptom_02_2_looks_before_the_lock() -> bool:
    x = _leaf(1.0)
    end = AccumulateGrad(x)
    x._ensure_extras().accumulator = weakref.ref(end)
    if x._accumulator() is not end:
        return False
    taken, found = _made_meanwhile()
    return taken == 1 and not found


def symptom_02_2_no_extras_yet() -> bool:
    x, y = _leaf(1.0), _leaf(1.0)
    y._ensure_extras()
    try:
        x._accumulator()
    except AttributeError as error:
        return "'NoneType'" in str(error) and y._accumulator().variable is y
    return False


# ---------------------------------------------------------------- 02.3


def symptom_02_3_constants_no_leaves() -> bool:
    return not torch.ones(2).is_leaf and _leaf(1.0).is_leaf


def symptom_02_3_never_a_leaf() -> bool:
    return not _leaf(1.0).is_leaf and not torch.ones(2).is_leaf


def symptom_02_3_always_a_leaf() -> bool:
    result = _leaf(1.0) * 2
    return result._node is not None and result.is_leaf


def symptom_02_3_grad_fn_of_leaf() -> bool:
    return getattr(_leaf(1.0).grad_fn, "name", lambda: "")() == "AccumulateGrad"


def symptom_02_3_leaf_leads_nowhere() -> bool:
    return _leaf(1.0)._edge()[0] is None


def symptom_02_3_constants_get_gradients() -> bool:
    return torch.ones(2)._edge()[0] is not None


def symptom_02_3_number_lost() -> bool:
    parts = _leaf([1.0, 2.0, 3.0]).unbind(0)
    node, index = parts[2]._edge()
    return node is not None and index != 2


def symptom_02_3_no_pair() -> bool:
    return torch.ones(2)._edge() is None


def symptom_02_3_pair_turned() -> bool:
    return any(isinstance(each._edge()[0], int) for each in (_leaf(1.0), _leaf(1.0) * 2))


def symptom_02_3_leaf_number() -> bool:
    node, index = _leaf(1.0)._edge()
    return node is not None and index != 0


def symptom_02_3_only_the_node() -> bool:
    return not isinstance((_leaf(1.0) * 2)._edge(), tuple)


def symptom_02_3_straight_to_the_leaf() -> bool:
    x = _leaf(1.0)
    return (x * 2)._edge()[0] is x._accumulator()


def symptom_02_3_stale_view() -> bool:
    base = _leaf([1.0, 2.0, 3.0]) * 1.0
    view = base[1:]
    base.mul_(5.0)
    stale = "SliceBackward"
    if view._edge()[0].name().startswith(stale) or view.grad_fn.name().startswith(stale):
        return True
    if _leaf(1.0).grad_fn is not None:
        return False
    views = [_view_of_a_written_leaf() for _ in range(3)]
    return (views[0].grad_fn is None or views[1]._edge()[0] is None
            or (views[2].is_leaf and not (_leaf(1.0) * 2).is_leaf))


def _view_of_a_written_leaf():
    base = torch.zeros(3)
    view = base[1:]
    base.mul_(_leaf([1.0, 2.0, 3.0]))
    return view


# ---------------------------------------------------------------- 02.4


def _exp():
    return _leaf([0.0]).exp().grad_fn


def _mul():
    return (_leaf([2.0]) * _leaf([3.0])).grad_fn


def symptom_02_4_always_tuple() -> bool:
    return type(_exp()(torch.ones(1))) in (tuple, list)


def symptom_02_4_first_only() -> bool:
    result = _mul()(torch.ones(1))
    return isinstance(result, torch.Tensor) and result.tolist() in ([3.0], [2.0])


def symptom_02_4_list() -> bool:
    return type(_mul()(torch.ones(1))) is list


def symptom_02_4_no_history() -> bool:
    result = (_leaf([3.0]) ** 2).grad_fn(torch.ones(1))
    result = result[0] if isinstance(result, tuple) else result
    return isinstance(result, torch.Tensor) and not result.requires_grad


def symptom_02_4_arrays() -> bool:
    result = _exp()(torch.ones(1))
    result = result[0] if isinstance(result, (tuple, list)) else result
    return isinstance(result, np.ndarray)


def symptom_02_4_counts_edges() -> bool:
    kind, text = _raised(_mul(), torch.ones(1))
    return kind is not None and "expected" in text and "got 1" in text


def symptom_02_4_none_refused() -> bool:
    node = _leaf([1.0, 2.0]).unbind(0)[0].grad_fn
    try:
        node(torch.tensor(1.0), None)
    except (TypeError, AttributeError, RuntimeError):
        pass
    else:
        return False
    try:
        node(torch.tensor(1.0), torch.tensor(1.0))
    except (TypeError, AttributeError, RuntimeError):
        return False
    return True


def _raised(node, *grads):
    try:
        node(*grads)
    except Exception as error:
        return type(error), str(error)
    return None, ""


def symptom_02_4_count_unchecked() -> bool:
    few = _raised(_leaf([1.0, 2.0]).unbind(0)[0].grad_fn, torch.tensor(1.0))
    many = _raised(_exp(), torch.ones(1), torch.ones(1))
    return any("expected" not in text for _, text in (few, many))


def symptom_02_4_count_error() -> bool:
    kind, text = _raised(_exp(), torch.ones(1), torch.ones(1))
    return kind is not None and (kind is not TypeError
                                 or text != "expected 1 arguments, got 2 instead")


def symptom_02_4_kind_unchecked() -> bool:
    return any("is not a Variable" not in _raised(_exp(), wrong)[1]
               for wrong in (1.0, np.ones(1)))


def symptom_02_4_wrong_position() -> bool:
    node = _leaf([1.0, 2.0]).unbind(0)[0].grad_fn
    text = _raised(node, torch.tensor(1.0), 2.0)[1]
    return "is not a Variable" in text and text != "argument 1 is not a Variable"


# ---------------------------------------------------------------- 02.5


def _array(*values):
    return np.array(values, np.float32)


def _give(x, *values, owned=False):
    array = _array(*values)
    x._accumulator().accumulate(array, owned)
    return array


def _laid_out(array):
    return torch.Tensor._plain(array).requires_grad_()


def symptom_02_5_never_sets() -> bool:
    x = _leaf([1.0])
    _give(x, 3.0)
    return x.grad is None


def symptom_02_5_array() -> bool:
    x = _leaf([1.0])
    _give(x, 3.0)
    return x._grad is not None and not isinstance(x._grad, torch.Tensor)


def _refused_by_the_setter(give):
    try:
        give()
    except RuntimeError as error:
        return "attempting to assign a gradient with dtype" in str(error)
    return False


def symptom_02_5_public_setter() -> bool:
    x = _leaf([1.0])
    return _refused_by_the_setter(lambda: x._accumulator().accumulate(np.array([0.1]), False))


def symptom_02_5_first_counted_twice() -> bool:
    x = _leaf([1.0])
    _give(x, 3.0)
    return x.grad.tolist() == [6.0]


def symptom_02_5_first_lost() -> bool:
    x = _leaf([1.0])
    _give(x, 3.0)
    return x.grad.tolist() == [0.0]


def symptom_02_5_overwrites() -> bool:
    x = _leaf([1.0])
    _give(x, 3.0)
    _give(x, 4.0)
    return x.grad.tolist() == [4.0]


def symptom_02_5_second_lost() -> bool:
    x = _leaf([1.0])
    _give(x, 3.0)
    _give(x, 4.0)
    return x.grad.tolist() == [3.0]


def symptom_02_5_keeps_borrowed() -> bool:
    x = _leaf([1.0, 1.0])
    borrowed = _give(x, 3.0, 4.0)
    return np.shares_memory(borrowed, x.grad._array)


def symptom_02_5_writes_to_gradient() -> bool:
    x = _leaf([1.0, 1.0])
    _give(x, 3.0, 4.0)
    second = _give(x, 1.0, 1.0)
    return second.tolist() != [1.0, 1.0]


def symptom_02_5_keeps_view() -> bool:
    x = _leaf([1.0, 1.0])
    whole = np.ones(4, np.float32)
    x._accumulator().accumulate(whole[:2], True)
    return np.shares_memory(whole, x.grad._array)


def symptom_02_5_replaces() -> bool:
    x = _leaf([1.0])
    _give(x, 3.0)
    kept = x.grad
    _give(x, 4.0)
    return x.grad is not kept and x.grad.tolist() == [7.0]


def symptom_02_5_not_counted() -> bool:
    x = _leaf([1.0])
    _give(x, 3.0)
    kept, before = x.grad, x.grad._version
    _give(x, 4.0)
    return x.grad is kept and x.grad._version == before


def _strides():
    """Strides of `.grad`: of a transposed leaf, and of one with gaps given a transposed array."""
    dense = _laid_out(np.ones((2, 3), np.float32).T)
    dense._accumulator().accumulate(np.ones((3, 2), np.float32), False)
    gaps = _laid_out(np.ones((3, 8), np.float32)[:, ::2])
    gaps._accumulator().accumulate(np.ones((4, 3), np.float32).T, False)
    return dense.grad.stride(), gaps.grad.stride()


def symptom_02_5_gradient_layout() -> bool:
    return _strides() == ((2, 1), (1, 3))


def symptom_02_5_row_major() -> bool:
    return _strides()[0] == (2, 1)


def symptom_02_5_gaps_not_row_major() -> bool:
    other = _laid_out(np.ones((4, 6), np.float32).T[:, ::2])
    other._accumulator().accumulate(np.ones((6, 2), np.float32), False)
    return _strides()[1] != (4, 1) or other.grad.stride() != (2, 1)


def symptom_02_5_owned_layout() -> bool:
    gaps = _laid_out(np.ones((3, 8), np.float32)[:, ::2])
    gaps._accumulator().accumulate(np.ones((3, 4), np.float32, "F"), True)
    dense = _laid_out(np.ones((2, 3), np.float32).T)
    dense._accumulator().accumulate(np.ones((3, 2), np.float32), True)
    return (_strides() == ((1, 3), (4, 1))
            and (gaps.grad.stride() == (1, 3) or dense.grad.stride() == (2, 1)))


def symptom_02_5_dtype_of_the_leaf() -> bool:
    x = _leaf([1.0])
    x._accumulator().accumulate(np.array([0.1]), False)
    return x._grad._array.dtype == np.float32


def _brought_meanwhile():
    """Return how often the lock was taken, and the sum of another thread's 5 and our 3."""
    x, theirs = _leaf([1.0]), torch.tensor([5.0])
    lock = Lock(lambda: setattr(x, "_grad", theirs))
    _with_leaf_lock(lock, lambda: _give(x, 3.0))
    return lock.taken, x.grad.tolist()


def symptom_02_5_no_lock() -> bool:
    return _brought_meanwhile()[0] == 0


def symptom_02_5_looks_before_the_lock() -> bool:
    taken, total = _brought_meanwhile()
    return taken == 1 and total == [3.0]


def symptom_02_5_no_memory() -> bool:
    x = _leaf([1.0, 1.0])
    x._accumulator().accumulate(np.broadcast_to(np.float32(2.0), (2,)), True)
    return x.grad.stride() == (0,)


def symptom_02_5_adds_after_the_lock() -> bool:
    class Noting:
        held = False

        def __enter__(self):
            self.held = True

        def __exit__(self, *exc):
            self.held = False

        def acquire(self, *_):
            self.held = True
            return True

        def release(self):
            self.held = False

    lock, seen = Noting(), []
    before = accumulate._leaf_locks, accumulate.add_to
    accumulate._leaf_locks = [lock] * 64
    accumulate.add_to = lambda current, grad: seen.append(lock.held)
    try:
        x = torch.tensor([1.0], requires_grad=True)
        for _ in range(2):
            x._accumulator().accumulate(np.ones(1, np.float32), False)
    finally:
        accumulate._leaf_locks, accumulate.add_to = before
    return seen == [False]


# ---------------------------------------------------------------- 02.6


def _give_tensor(x, grad):
    return x._accumulator().apply_tensors((grad,))


def symptom_02_6_waits_for_itself() -> bool:
    _state.grad_enabled.set(False)
    try:
        _give_tensor(_leaf([1.0]), torch.tensor([1.0]))
    except RuntimeError as error:
        return str(error) == "held already"
    finally:
        _state.grad_enabled.set(True)
    return False


def _both_meanwhile():
    """Return how often the lock was taken, and the sum of another thread's 10 and our 15."""
    x, w = _leaf([1.0]), _leaf([5.0])
    lock = Lock(lambda: setattr(x, "_grad", w * 2))
    _with_leaf_lock(lock, lambda: _give_tensor(x, w * 3))
    return lock.taken, x.grad.tolist()


def symptom_02_6_no_lock() -> bool:
    return _both_meanwhile()[0] == 0


def symptom_02_6_looks_before_the_lock() -> bool:
    taken, total = _both_meanwhile()
    return taken == 1 and total == [15.0]


def symptom_02_6_no_history() -> bool:
    x, w = _leaf([1.0]), _leaf([5.0])
    _give_tensor(x, w * 2)
    return x.grad is not None and not x.grad.requires_grad


def symptom_02_6_alias() -> bool:
    x, g = _leaf([1.0]), _leaf([5.0])
    _give_tensor(x, g)
    return np.shares_memory(x.grad._array, g._array)


def symptom_02_6_overwrites() -> bool:
    x, w = _leaf([1.0]), _leaf([5.0])
    _give_tensor(x, w * 2)
    _give_tensor(x, w * 3)
    return x.grad.tolist() == [15.0]


def symptom_02_6_in_place() -> bool:
    x, w = _leaf([1.0]), _leaf([5.0])
    _give_tensor(x, w * 2)
    kept = x.grad
    _give_tensor(x, w * 3)
    return kept.tolist() == [25.0]


def symptom_02_6_second_history_lost() -> bool:
    x, w = _leaf([1.0]), _leaf([5.0])
    _give_tensor(x, w * 2)
    _give_tensor(x, w * 3)
    if x.grad.tolist() != [25.0]:
        return False
    if not x.grad.requires_grad:
        return True
    (slope,) = torch.autograd.grad(x.grad, w)
    return slope.tolist() in ([2.0], [3.0])


def symptom_02_6_plain_drops_history() -> bool:
    x, w = _leaf([1.0]), _leaf([5.0])
    _give_tensor(x, w * 2)
    _give_tensor(x, torch.tensor([1.0]))
    return not x.grad.requires_grad or x.grad.tolist() == [1.0]


def symptom_02_6_none() -> bool:
    x = _leaf([1.0])
    _give_tensor(x, torch.tensor([1.0]))
    try:
        _give_tensor(x, None)
    except Exception:
        return True
    return False


def symptom_02_6_public_setter() -> bool:
    wide = torch.tensor([3.0], dtype=torch.float64, requires_grad=True)
    return _refused_by_the_setter(lambda: _give_tensor(_leaf([1.0]), wide * 2))


def symptom_02_6_returns() -> bool:
    x, w = _leaf([1.0]), _leaf([5.0])
    results = [_give_tensor(x, grad) for grad in (torch.tensor([1.0]), None, w * 2, w * 3)]
    return any(result is None or len(result) != 0 for result in results)


def symptom_02_6_none_clears() -> bool:
    x = _leaf([1.0])
    _give_tensor(x, torch.tensor([1.0]))
    _give_tensor(x, None)
    return x._grad is None


def symptom_02_6_layout() -> bool:
    x = _laid_out(np.ones((2, 3), np.float32).T)
    g = torch.ones(3, 2, requires_grad=True)
    _give_tensor(x, g * 2)
    return x.grad.stride() != (1, 3)
