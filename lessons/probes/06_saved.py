"""Probes of stage 06: saved tensors, versions and views, with writes at random places."""

import weakref

import numpy as np
from probing import Wrong, array, numbers, tensor, tried

import minigrad as torch
from minigrad import _state
from minigrad.graph.copy_slices import CopySlices
from minigrad.graph.node import NaryNode
from minigrad.graph.saved_tensor import SavedTensor
from minigrad.graph.special_versions import INFERENCE
from minigrad.graph.version import Version, version_of
from minigrad.tensor import creation_meta, views


def in_modes(grad, inference, program):
    """Run a program in these modes; tell the mode that it leaves as well."""
    before = _state.grad_enabled.get(), _state.inference_enabled.get()
    _state.grad_enabled.set(grad)
    _state.inference_enabled.set(inference)
    try:
        return [tried(program), _state.grad_enabled.get()]
    finally:
        _state.grad_enabled.set(before[0])
        _state.inference_enabled.set(before[1])


def node_of(number):
    """Return a node without a formula, of a name of its own."""
    kind = type(f"Named{number}Backward", (NaryNode,), {})
    node = kind()
    node.extras, node.shape, node.dtype, node.sequence = None, (), None, 0
    return node


def write(random, t):
    """Write to a tensor, unrecorded."""
    with torch.no_grad():
        t.mul_(random.uniform(1, 2))


def probe_06_1(random):
    seen = []
    counter = Version()
    for _ in range(random.randint(2, 9)):
        counter.bump()
        seen.append(counter.value)
    for _ in range(14):
        leaf = tensor(random, [3], grad=True)
        made = leaf * random.uniform(1, 2)
        t = random.choice([tensor(random, [3]), leaf, made])
        seen.append(version_of(t))
        for _ in range(random.randint(0, 3)):
            write(random, t)
            seen.append(version_of(t))
        saved = SavedTensor(t)
        node = node_of(random.randrange(100))
        if random.random() < 0.5:  # only the array is kept
            saved._counter = t._counter if random.random() < 0.7 else None
            saved.tensor = None
        if random.random() < 0.2:
            saved.version = random.randint(0, 3)
        seen.append(tried(lambda saved=saved, node=node: saved.check(node)))
        if random.random() < 0.6:
            write(random, t)
            seen.append(tried(lambda saved=saved, node=node: saved.check(node)))
        seen.append([version_of(t), numbers(t)])
    return seen


def probe_06_2(random):
    seen = []

    def shown(got, *known):
        return [[got is each for each in known], numbers(got), got.requires_grad, got._index,
                got._node is None, got._version]

    for _ in range(12):
        leaf = tensor(random, [2, 3], grad=True)
        made = (leaf * random.uniform(1, 2)).unbind(1)[random.randrange(3)]
        single = leaf * random.uniform(1, 2)
        view = single[random.randrange(2)]
        for t in (leaf, made, single, view, tensor(random)):
            node = node_of(0)
            kept_node = t._node
            written = random.random() < 0.3 and t is not made
            if written:
                write(random, t)
            kind = random.choice(["input", "output", "freed", "hooks"])
            saved = SavedTensor(t)
            if kind == "output" and t._node is not None:
                saved.let_go()
                seen.append([saved.tensor is None, saved._counter is t._counter,
                             saved._counter is not None,
                             None if saved.view_node is None else
                             [isinstance(saved.view_node, weakref.ref),
                              saved.view_node() is kept_node]])
            elif kind == "freed":
                saved._array = saved.tensor = None
            elif kind == "hooks":
                saved.hooks = (None, None)
                saved.packed = random.random()
                other = torch.Tensor._plain(array(random, [2]))
                held = {"unpack": other}
                saved_class = type("Hooked", (SavedTensor,), {
                    "unpacked": lambda self, held=held: held["unpack"]._array})
                hooked = saved_class(t)
                hooked.hooks = (None, None)
                saved = hooked
                if random.random() < 0.5:
                    saved.origin = node_of(1) if t._node is not None else t._edge()[0]
            later = random.random() < 0.3 and t._node is not None and t is not made
            if later:
                write(random, t)
            got = tried(lambda saved=saved, node=node: saved.unpack(node))
            if isinstance(got, list):
                seen.append(got)
                continue
            seen.append([saved.tensor is t, saved.tensor is None])  # what is made anew is not kept
            seen.append(shown(got, t))
            seen.append([got._node is node, got._node is kept_node, got._node is saved.origin,
                         got._counter is t._counter])
            if t._node is None and t.requires_grad:
                seen.append([got._edge()[0] is t._edge()[0]])
        rebuilt = SavedTensor(made)
        rebuilt.let_go()
        node = node_of(3)
        got = rebuilt.rebuild(array(random, [2]), node)
        seen.append([shown(got), got._node is node, got._counter is made._counter])
        seen.append(tried(lambda single=single: [single.exp().sum().backward(retain_graph=True)]))
    x = tensor(random, [3], grad=True)
    y = x.exp()
    ghost = weakref.ref(y.grad_fn)
    seen.append(numbers(y))
    del y
    seen.append(ghost() is None)
    y = (x * random.uniform(1, 2)).tanh()
    write(random, y)
    seen.append(tried(lambda: y.sum().backward()) is not None)
    return seen


def probe_06_3(random):
    seen = []
    for _ in range(24):
        leaf = tensor(random, [3], grad=random.random() < 0.7)
        t = leaf * random.uniform(1, 2) if random.random() < 0.4 else leaf
        if random.random() < 0.4:
            write(random, t)
        saved = SavedTensor(t)
        if random.random() < 0.4:
            write(random, t)  # between saving and packing: no fault of the hook
        kind = random.choice(["plain", "plain", "raises", "writes", "value", "none", "array",
                              "nothing"])
        scale, given_back = random.uniform(1, 2), []

        def pack(given, kind=kind, scale=scale, t=t):
            seen.append(["pack", given is t, given.requires_grad, numbers(given),
                         _state.grad_enabled.get(), given._version == t._version])
            if kind == "raises":
                raise Wrong
            if kind == "writes":
                given.mul_(random.choice([1.0, 1.5]))
            if kind == "nothing":
                return None
            return (given * scale, scale)

        def unpack(packed, kind=kind, given_back=given_back):
            seen.append(["unpack", type(packed).__name__])
            if kind == "nothing":
                return torch.ones(2)
            seen.append(packed[1])
            if kind == "value":
                return packed[1]
            if kind == "none":
                return None
            if kind == "array":
                return packed[0].detach().numpy()
            given_back.append(packed[0] / packed[1])
            return given_back[-1]

        itself = []
        tried(lambda t=t, itself=itself: SavedTensor(t).pack(itself.append, t))
        seen.append([each is t for each in itself])
        state = random.random()
        if state < 0.1:
            saved.hooks = (pack, unpack)
        elif state < 0.2:
            saved._array = saved.tensor = None
        hooks = (pack, unpack)
        if random.random() < 0.2:
            hooks = random.choice([(pack, None), (None, unpack), (1, 2), (pack, "text")])
        on = random.random() < 0.6
        seen.append(in_modes(on, False, lambda: saved.register_hooks(*hooks)))
        seen.append([saved.hooks is not None, saved.tensor is None, saved._array is None,
                     saved.hooks is not None and [  # left open where the hook raised
                         saved.origin is None,
                         saved.origin is not None and saved.origin is t._edge()[0]]])
        if saved.hooks is not None and saved._array is None and state >= 0.2:
            got = tried(lambda: saved.unpacked())
            seen.append(np.array(got) if isinstance(got, np.ndarray) else got)
            seen.append([got is each._array for each in given_back])
        seen.append(in_modes(on, False, lambda: saved.register_hooks(pack, unpack)))
    return seen


def probe_06_4(random):
    seen = []
    for _ in range(30):
        x = tensor(random, [2, 3], grad=random.random() < 0.5)
        base = x * 2 if random.random() < 0.5 else x
        for _ in range(random.randint(0, 3)):
            write(random, base)
        kind = random.choice(["base", "view", "view", "unbound", "doubtful", "inference"])
        first = {"base": base, "view": base[random.randrange(2)], "unbound": base.unbind(0)[1],
                 "doubtful": base[1], "inference": base}[kind]
        if kind == "doubtful":
            first._view.creation = random.choice([creation_meta.NO_GRAD,
                                                  creation_meta.IN_CUSTOM_FUNCTION])
        if kind == "inference":
            first = torch.Tensor._plain(array(random, [2, 3]))
            first._counter = INFERENCE
        result = torch.Tensor._plain(first._array[:1])
        before = result._counter
        creation = random.choice([None, None, None, creation_meta.DEFAULT, creation_meta.NO_GRAD,
                                  creation_meta.MULTI_OUTPUT, creation_meta.IN_CUSTOM_FUNCTION])
        multiple = random.random() < 0.3
        seen.append(in_modes(random.random() < 0.6, random.random() < 0.2, lambda: views.mark_view(
            result, first, multiple=multiple, creation=creation)))
        seen.append([result._counter is first._counter, result._counter is before,
                     result._counter is INFERENCE, result._view is None])
        if result._view is not None:
            seen.append([result._view.base is base, result._view.base is first,
                         result._view.creation, result._view.version,
                         result._counter.value])
            again = torch.Tensor._plain(result._array[:1])
            for _ in range(random.randint(0, 2)):
                write(random, base)
            views.mark_view(again, result)
            seen.append([again._view.base is base, again._view.creation, again._view.version,
                         again._counter is base._counter, again._view is result._view,
                         result._view.version])
    return seen


def probe_06_5(random):
    seen = []
    for _ in range(60):
        leaf = tensor(random, [2, 3], grad=random.random() < 0.6)
        made = leaf * 2
        narrow = tensor(random, [1, 1])
        inference = torch.Tensor._plain(array(random, [2]))
        inference._counter = INFERENCE
        wide = torch.Tensor._plain(np.broadcast_to(array(random, [3]), (2, 3)))
        stays = torch.Tensor._plain(np.lib.stride_tricks.as_strided(
            array(random, [3]), (1, 3), (0, 8)))
        one = torch.Tensor._plain(np.lib.stride_tricks.as_strided(
            array(random, [1]), (1, 1), (0, 0)))
        with torch.no_grad():
            hidden, quiet, plain = made[0], leaf[0], narrow[0]
        base = tensor(random, [2, 3])
        view = base[random.randrange(2)]
        base.requires_grad_()
        for each in (view, plain, narrow.unbind(0)[0]):
            seen.append(tried(lambda each=each: views.check_recorded(each)))
        older = made[1]
        write(random, made)
        t = random.choice([leaf, leaf, made, leaf[0], made[1], made.unbind(0)[0], hidden, quiet,
                           narrow, older, older, plain,
                           inference, wide, wide, wide, stays, one, leaf.detach(), wide * 1,
                           torch.Tensor._plain(np.broadcast_to(array(random, [1]), (0, 3)))])
        recorded, alike = random.random() < 0.6, random.random() < 0.4
        seen.append(in_modes(True, random.random() < 0.2, lambda: views.check_inplace(
            t, recorded, alike)))
        seen.append([t._version if t is not inference else None, random.random()])
    return seen


def probe_06_6(random):
    seen = []
    for _ in range(20):
        rows, columns = random.randint(2, 4), random.randint(2, 4)
        whole = array(random, [rows + 2, columns])
        place = random.randrange(3)
        held = torch.Tensor._plain(whole)
        base = held[place : place + rows] if random.random() < 0.6 else torch.Tensor._plain(
            np.asfortranarray(array(random, [rows, columns])))
        base = base.detach()
        view = random.choice([base[random.randrange(rows)], base[:, random.randrange(columns)],
                              base[1:], base.t(), base[:, ::2] if columns > 2 else base])
        scale, position = random.uniform(1, 2), random.randrange(3)
        missing, hands_on = random.random() < 0.25, random.random() < 0.4
        turns = random.random() < 0.5

        class Write(NaryNode):
            def apply_tensors(self, grads):
                (grad,) = grads
                seen.append(["write", list(grad.shape), numbers(grad)])
                results = [grad * (scale + i) for i in range(3)]
                if missing:
                    results[position] = None
                if hands_on:
                    # as the node of an addition does, or as a view
                    results[(position + 1) % 3] = grad.reshape(grad.shape[::-1]) if turns else grad
                else:
                    grad.mul_(0.5)  # its own, to do with as it likes
                return results

        fn = Write()
        fn.extras, fn.shape, fn.dtype = None, (), None
        fn.set_edges([(None, 0)] * 3)
        edge = (node_of(0), 0) if random.random() < 0.75 else (None, 0)
        slices = CopySlices(base, edge, view, fn, position)
        grad = tensor(random, [rows, columns])
        if random.random() < 0.3:
            grad[random.randrange(rows), random.randrange(columns)] = float("inf")
        before = numbers(grad)
        got = tried(lambda: list(slices.apply_tensors((grad,))))
        if got and got[0] == "raised":
            seen.append(got)
        else:
            seen.append([[None if each is None else [numbers(each), each is grad]
                          for each in got], len(got)])
        seen.append([np.array_equal(before, grad.numpy()), grad._version])
        nothing = tried(lambda: slices.apply_tensors((None,)))
        seen.append(list(nothing))
    return seen


def retained(node):
    """Return which outputs of a node retain their gradients."""
    return None if node is None or node.extras is None else sorted(node.extras.retained)


def probe_06_7(random):
    seen = []
    for _ in range(8):
        t = random.choice([tensor(random), tensor(random, grad=True) * 2])
        node, index = node_of(0), random.randrange(4)
        before = t._node
        if before is not None and random.random() < 0.6:
            t.retain_grad()
        views.rebase_history(t, node, index, 0)
        seen.append([t._node is node, t._index, t._requires_grad,
                     retained(node), retained(before)])
        base = tensor(random, [3], grad=True) * 2
        before, view, position = base._node, base[1:], random.randrange(3)
        base.retain_grad()
        node.set_edges([(None, 0)] * 3)
        seen.append(tried(lambda: views.rebase_history(view, node, index, position)))
        seen.append([position, base._node is before, base._index, base._requires_grad,
                     type(base._node).__name__, view._index, view._requires_grad,
                     [edge[0] is before for edge in base._node.edges],
                     [edge[0] is base._node for edge in view._node.edges]])
        seen.append([retained(base._node), retained(before)])
        whole = tensor(random, [3, 2], grad=True) * 2
        part = random.choice([whole[0], whole[:, 1], whole.t()])
        before = part._node
        if random.random() < 0.6:
            part.retain_grad()
        for _ in range(random.randint(0, 3)):
            write(random, whole)
        seen.append(in_modes(random.random() < 0.5, False, lambda: part._view.regenerate(part)))
        seen.append([retained(part._node), retained(before)])
        seen.append([part._node is before, part._view.version, part._index, part._requires_grad,
                     part._node.name(), part._node.edges[0][0] is whole._node])
    return seen


def probe_06_8(random):
    seen = []
    for _ in range(10):
        x, other = tensor(random, [3, 2], grad=True), tensor(random, [2], grad=True)
        base = x * random.uniform(1, 2) if random.random() < 0.8 else tensor(random, [3, 2])
        base = base[1:] if random.random() < 0.15 else base
        many = {"row": base[0], "column": base[:, 1], "transposed": base.t(), "last": base[-1]}
        for t in (base, many["row"]):
            if t.requires_grad and t.grad_fn is not None and random.random() < 0.5:
                t.retain_grad()
        nodes = {name: t.grad_fn for name, t in many.items()} | {"base": base.grad_fn}
        for _ in range(random.randint(1, 3)):
            name = random.choice(["base", "row", "column", "last"])
            t = base if name == "base" else many[name]
            scale, act = random.uniform(1, 2), random.random()
            on = random.random() < 0.85
            term = other.sum() if t.dim() != 1 or t.shape[0] != 2 else other
            seen.append(in_modes(on, False, lambda: [
                (t.mul_(scale) if act < 0.4 else t.add_(term) if act < 0.8 else
                 t.copy_(term.expand(t.shape))) is t]))
            for key in random.sample(sorted(many), 3):
                before = nodes[key]
                asked = in_modes(random.random() < 0.5, False, lambda: many[key].grad_fn)
                again = tried(lambda: many[key].grad_fn)
                seen.append([key, asked[1], asked[0] is before, asked[0] is again,
                             asked[0] if isinstance(asked[0], list) else
                             None if asked[0] is None else asked[0].name(),
                             many[key].requires_grad, many[key]._view.version,
                             many[key]._version])
                nodes[key] = again
            seen.append([base.requires_grad, base.grad_fn is nodes["base"], base._index,
                         None if base.grad_fn is None else base.grad_fn.name()])
            nodes["base"] = base.grad_fn
        weights = tensor(random, [2])
        loss = (base * base).sum() + (many["row"] * weights).sum() + many["transposed"].sum()
        if loss.requires_grad:
            seen.append(tried(lambda loss=loss: loss.backward()))
        seen.append([numbers(t.grad) for t in (x, other)])
        seen.append([numbers(t._grad) for t in (base, many["row"])])
        # a view that may not follow, and one that was made where nothing was recorded
        y = tensor(random, [2, 2], grad=True) * 2
        part = y.unbind(0)[0]
        with torch.no_grad():
            hidden = y[1]
        y.mul_(random.random())
        for view in (part, hidden):
            seen.append(in_modes(random.random() < 0.5, False, lambda view=view: view.grad_fn))
    plain = tensor(random, [2, 2], grad=True) * 2
    with torch.no_grad():
        unwritten = plain[0]
    seen.append(tried(lambda: unwritten._view.current_node(unwritten)) is None)
    part = plain[1]
    write(random, plain)
    plain.detach_()
    seen.append(tried(lambda: part._view.current_node(part).name()))
    return seen
