"""Probes of stage 02: random edges, leaves in random layouts, gradients in random order."""

import weakref

import numpy as np
from probing import tried

import minigrad as torch
from minigrad.graph import accumulate_grad as accumulate
from minigrad.graph.accumulate_grad import AccumulateGrad
from minigrad.graph.node import NaryNode
from minigrad.tensor import history


def array(random, shape, dtype=np.float64):
    """Return a random array."""
    size = int(np.prod(shape, dtype=int))
    return np.array([random.uniform(-2, 2) for _ in range(size)], dtype).reshape(shape).copy()


def leaf(values, grad=True):
    """Return a leaf on just this array."""
    made = torch.Tensor._plain(values)
    made._requires_grad = grad
    return made


def probe_02_1(random):
    nodes = [NaryNode() for _ in range(5)]
    seen = []

    def edge():
        if random.random() < 0.25:
            return (None, 0)
        return (random.choice(nodes), random.randrange(9))

    def shown(edges):
        return [[type(edges).__name__],
                *[[None if each[0] is None else nodes.index(each[0]), each[1], len(each)]
                  if isinstance(each, tuple) else ["bare"] for each in edges]]

    for _ in range(3):
        node = NaryNode()
        for _ in range(3):
            edges = [edge() for _ in range(random.randint(0, 5))]
            given = edges if random.random() < 0.6 else tuple(edges)
            seen.append(tried(lambda node=node, given=given: node.set_edges(given)))
            if type(given) is list and given:
                given[0] = (nodes[0], 77)  # the caller's list is the caller's
                given.append((nodes[1], 78))
            seen.append(tried(lambda node=node: shown(node.next_functions)))
            seen.append(tried(lambda node=node: [[a is None or nodes.index(a), b]
                                                 for a, b in node.edges]))
            seen.append(tried(lambda node=node: [hasattr(each, "node") and hasattr(each, "index")
                                                 for each in node.edges]))
    node = NaryNode()
    node.shape, node.dtype = (random.randrange(9),), "a"
    node.others = [((random.randrange(9), i), f"dtype {i}") for i in range(random.randint(1, 4))]
    seen += [tried(lambda i=i: node.metadata_of(i)) for i in range(len(node.others) + 1)]
    return seen


class Meddler:
    """A lock: another thread calls `meanwhile` before it is ours, and `afterwards` after."""

    def __init__(self, meanwhile, afterwards=lambda: None):
        self.meanwhile, self.afterwards, self.held = meanwhile, afterwards, 0

    def acquire(self, *_):
        self.held += 1
        self.meanwhile()
        return True

    def release(self):
        self.held -= 1
        self.afterwards()

    __enter__ = acquire

    def __exit__(self, *_):
        self.release()


def probe_02_2(random):
    seen = []
    for _ in range(4):
        leaves = [leaf(array(random, [2])) for _ in range(3)]
        hooks = [random.choice([None, {}, {random.randrange(50): "hook"}]) for _ in leaves]
        for x, table in zip(leaves, hooks, strict=True):
            if table is not None:
                x._ensure_extras().hooks = table
        held = [[] for _ in leaves]
        ghosts = [[] for _ in leaves]
        for _ in range(12):
            i = random.randrange(3)
            if random.random() < 0.3:
                held[i].clear()
                seen.append([i, [ghost() is None for ghost in ghosts[i]]])
            node = leaves[i]._accumulator()
            if node is None:
                seen.append("None")
                continue
            seen.append([i, type(node).__name__, node.variable is leaves[i],
                         [each is node for each in held[i]],
                         node.extras is None or node.extras.tensor.get(0) is hooks[i],
                         node.extras is None])
            if held[i] or random.random() < 0.8:
                held[i].append(node)
                ghosts[i].append(weakref.ref(node))
            del node
        for i in range(3):
            held[i].clear()
        seen.append([[ghost() is None for ghost in each] for each in ghosts])
    x, theirs = leaf(array(random, [2])), []

    def meanwhile():
        if not theirs:
            theirs.append(AccumulateGrad(x))
            x._ensure_extras().accumulator = weakref.ref(theirs[0])

    before, history._accumulator_lock = history._accumulator_lock, Meddler(meanwhile)
    try:
        mine = x._accumulator()
        seen.append([len(theirs), mine in theirs, history._accumulator_lock.held])
    finally:
        history._accumulator_lock = before
    held = [AccumulateGrad(x)]  # its last other holder lets go once we have asked for it
    x._ensure_extras().accumulator = lambda: held.pop() if held else None
    seen.append(x._accumulator() is not None)
    return seen


def probe_02_3(random):
    seen = []
    for _ in range(6):
        x, constant = leaf(array(random, [3, 2])), leaf(array(random, [3, 2]), grad=False)
        made = x * random.uniform(1, 2)
        columns = made.unbind(1)
        view = made[random.randrange(3)]
        tensors = {"x": x, "constant": constant, "made": made, "c0": columns[0], "c1": columns[1],
                   "view": view, "leaf view": constant[1], "both": constant * made,
                   "constants": constant * random.random()}
        if random.random() < 0.7:
            with torch.no_grad():
                tensors["unrecorded"] = x * 2
        end = x._accumulator()
        before = view.grad_fn
        for name in random.sample(sorted(tensors), len(tensors)):
            t = tensors[name]
            node, index = t._edge()
            seen.append([name, t.is_leaf, t.grad_fn is None,
                         t.grad_fn is t._node if t._view is None else None,
                         None if t.grad_fn is None else t.grad_fn.name(),
                         node is None, node is t.grad_fn, node is end, index,
                         type(node).__name__ == "AccumulateGrad"])
        scale = random.uniform(2, 3)
        made.mul_(scale)  # the views have another history now
        other = made[0]
        after = other.grad_fn
        made.mul_(scale)
        seen.append([other._edge()[0] is after, view._edge()[0] is before])
        seen.append([view.grad_fn is before, view._edge()[0] is view.grad_fn,
                     view.grad_fn is view._node, view._edge()[0] is before])
        seen.append([made.is_leaf, scale])
        for look in ("is_leaf", "grad_fn", "_edge"):
            base = leaf(array(random, [3, 2]), grad=False)
            view = base[random.randrange(3)]
            base.mul_(x)
            found = getattr(view, look)
            seen.append([look, found if look == "is_leaf" else found is None if look == "grad_fn"
                         else found()[0] is None])
    return seen


class Recorder(NaryNode):
    """A node that gives what it is told to."""

    def __init__(self, inputs, give):
        super().__init__()
        self.num_inputs, self.give, self.extras, self.shape = inputs, give, None, ()

    def apply_tensors(self, grads):
        return self.give(grads)


def probe_02_4(random):
    seen = []
    for _ in range(12):
        inputs, outputs = random.randint(1, 3), random.randint(0, 3)
        scales = [random.uniform(1, 2) for _ in range(outputs)]
        marks = [random.random() < 0.5 for _ in range(outputs)]

        def give(grads, scales=scales, marks=marks):
            total = sum(g._array for g in grads if g is not None)
            return [None if mark and scale < 1.3 else leaf(np.asarray(total * scale), mark)
                    for scale, mark in zip(scales, marks, strict=True)]

        node = Recorder(inputs, give)
        node.set_edges([(None, 0)] * outputs)
        count = inputs if random.random() < 0.6 else random.randint(0, 4)
        grads = [None if random.random() < 0.25 else leaf(array(random, [2]), False)
                 for _ in range(count)]
        if grads and random.random() < 0.3:
            grads[random.randrange(count)] = random.choice([1.0, "text", 3, [1.0]])
        if not any(g is not None for g in grads):
            grads[:1] = [leaf(array(random, [2]), False)] if grads else []

        def called(node=node, grads=grads):
            got = node(*grads)
            each = got if isinstance(got, tuple) else [got]
            return [type(got).__name__, *[None if r is None else
                                          [r.requires_grad, r._array.copy()] for r in each]]

        seen.append(tried(called))
    for value in (None, 1.5):  # a place that does not hold a tensor
        node = Recorder(2, lambda grads: (grads[0],))
        node.set_edges([(None, 0)])
        one = leaf(array(random, [2]), False)
        seen.append(tried(lambda node=node, value=value, one=one: node(one, value)._array.copy()))
    return seen


def laid_out(random, shape):
    """Return an array of random numbers: row-major, column-major, or with gaps."""
    kind = random.randrange(3)
    if kind == 0:
        return array(random, shape)
    if kind == 1:
        return np.asfortranarray(array(random, shape))
    return array(random, [2 * n for n in shape])[tuple(slice(None, None, 2) for _ in shape)]


def probe_02_5(random):
    seen = []
    for _ in range(12):
        shape = [random.randint(2, 4) for _ in range(random.randint(2, 3))]
        x = leaf(laid_out(random, shape))
        node = AccumulateGrad(x)
        given = []
        for _ in range(random.randint(1, 4)):
            owned = random.random() < 0.5
            kind = random.randrange(3)
            base = None
            if kind == 0:
                grad = array(random, shape)
            elif kind == 1:
                grad = np.asfortranarray(array(random, shape))
            else:
                base = array(random, [2, *shape])  # somebody looks at the rest of it
                grad = base[1]
            before = x._grad
            if before is not None and random.random() < 0.25:
                before._requires_grad = True  # it has a history: hands off
            version = None if before is None else before._version
            if random.random() < 0.2:
                grad[...] = -0.0
            copy = grad.copy()
            node.accumulate(grad, owned)
            if before is None:
                seen.append([x._grad is not None and x._grad._version])
            borrowed = not owned or base is not None
            given.append((borrowed, grad, copy, base))
            now = x._grad
            seen.append([now is before, now._array.copy(), list(now._array.strides),
                         None if before is None else [before._version - version,
                                                      before._array.copy()],
                         now.requires_grad,
                         [np.array_equal(a, b) for borrowed, a, b, _ in given if borrowed],
                         [np.shares_memory(now._array, a) for borrowed, a, _, _ in given
                          if borrowed]])
            now._requires_grad = False
    narrow = leaf(array(random, [4, 6]).astype(np.float32).T[:, ::random.choice([1, 2])])
    AccumulateGrad(narrow).accumulate(array(random, list(narrow.shape)), False)
    seen.append([str(narrow._grad._array.dtype), narrow._grad._array.copy(),
                 list(narrow._grad._array.strides)])
    x, checks = leaf(array(random, [2])), []
    check = AccumulateGrad.check_is_leaf
    AccumulateGrad.check_is_leaf = lambda self: checks.append(1)
    try:
        for _ in range(random.randint(2, 4)):
            AccumulateGrad(x).accumulate(array(random, [2]), random.random() < 0.5)
        seen.append(len(checks))
    finally:
        AccumulateGrad.check_is_leaf = check
    x, theirs = leaf(array(random, [2])), leaf(array(random, [2]), False)
    locks = list(accumulate._leaf_locks)
    left = []  # what the next thread finds
    accumulate._leaf_locks[:] = [Meddler(lambda: setattr(x, "_grad", theirs),
                                         lambda: left.append(x._grad._array.copy()))] * 64
    try:
        AccumulateGrad(x).accumulate(array(random, [2]), False)
        seen.append([x._grad is theirs, x._grad._array.copy(), accumulate._leaf_locks[0].held,
                     left])
    finally:
        accumulate._leaf_locks[:] = locks
    return seen


def probe_02_6(random):
    seen = []

    def add(self, grad, owned):
        seen.append(any(lock.locked() for lock in accumulate._leaf_locks))
        current = self.variable._grad
        total = grad.copy() if current is None else current._array + grad
        self.variable._grad = leaf(total, False)

    before = AccumulateGrad.accumulate
    AccumulateGrad.accumulate = add
    try:
        for _ in range(8):
            shape = [random.randint(2, 3), random.randint(2, 4)]
            x, source = leaf(laid_out(random, shape)), leaf(array(random, shape))
            node = AccumulateGrad(x)
            for _ in range(random.randint(1, 4)):
                kind = random.random()
                c = random.uniform(1, 2)
                grad = (None if kind < 0.15 else leaf(array(random, shape), False) if kind < 0.4
                        else source * source * c)
                old = x._grad
                kept = [None if t is None else t._array.copy() for t in (grad, old)]
                with torch.set_grad_enabled(random.random() < 0.75):
                    seen.append(tried(lambda node=node, grad=grad:
                                      list(node.apply_tensors((grad,)))))
                seen.append([type(node.apply_tensors((None,))).__name__])
                now = x._grad
                seen.append([None if t is None else np.array_equal(t._array, k)
                             for t, k in zip((grad, old), kept, strict=True)])
                if now is None:
                    seen.append(None)
                    continue
                seen.append([now is grad, now.requires_grad, now._array.copy(),
                             grad is not None and np.shares_memory(now._array, grad._array)])
                if now.requires_grad and grad is not None:
                    seen.append([now is old, list(now._array.strides) if old is None else 0])
                if now.requires_grad:
                    weights = leaf(array(random, shape), False)
                    (slope,) = torch.autograd.grad((now * weights).sum(), source,
                                                   retain_graph=True)
                    seen.append(slope._array.copy())
        x = leaf(array(random, [3, 4]))
        x._grad = leaf(np.asfortranarray(array(random, [3, 4])), False)
        AccumulateGrad(x).apply_tensors((leaf(array(random, [3, 4])) * 2,))
        seen.append([x._grad._array.copy(), list(x._grad._array.strides)])
        narrow = leaf(array(random, [2]).astype(np.float32))
        for _ in range(2):
            seen.append(tried(lambda: list(
                AccumulateGrad(narrow).apply_tensors((source[0, :2] * 3,)))))
            seen.append(None if narrow._grad is None else
                        [str(narrow._grad._array.dtype), narrow._grad._array.copy()])
        x, theirs = leaf(array(random, [2])), source[0, :2] * 2
        locks = list(accumulate._leaf_locks)
        left = []  # what the next thread finds
        accumulate._leaf_locks[:] = [Meddler(lambda: setattr(x, "_grad", theirs),
                                             lambda: left.append(x._grad._array.copy()))] * 64
        try:
            AccumulateGrad(x).apply_tensors((source[0, :2] * 3,))
            seen.append([x._grad._array.copy(), accumulate._leaf_locks[0].held, left])
        finally:
            accumulate._leaf_locks[:] = locks
    finally:
        AccumulateGrad.accumulate = before
    return seen
