class RecordingTask:
    def apply(self, node, grads):
        recording = _state.program.get()
        if not node.is_op:
            return super().apply(node, grads)
        before = recording.mark()
        try:
            return super().apply(node, grads)
        except Unrecordable:
            recording.go_back(before)
        return recording.formulas(node, grads, self.nodes_to_execute)

def backward_steps(recording, roots, leaves):
    tangents = [recording.input(np.zeros(t._array.shape, t._array.dtype), "tangent")
                for t in roots]
    values = [t.value for t in tangents]
    found = execute([t._edge() for t in roots], tangents, False, False,
                    [leaf._edge() for leaf in leaves], accumulate=False, task_class=RecordingTask)
    return values, [None if g is None else recording.read(as_traced(recording, g)) for g in found]

# right: the error is raised again for other nodes
class RecordingTask:
    def apply(self, node, grads):
        recording = _state.program.get()
        mark = recording.mark()
        try:
            found = super().apply(node, grads)
        except Unrecordable:
            if not node.is_op:
                raise
            recording.go_back(mark)
            found = recording.formulas(node, grads, self.nodes_to_execute)
        return found

# right: a loop over the roots, ones for the tangents, and the graph kept
def backward_steps(recording, roots, leaves):
    edges, tangents = [], []
    for root in roots:
        edges.append(root._edge())
        like = np.ones(root._array.shape, root._array.dtype)
        tangents.append(recording.input(like, "tangent"))
    ends = [leaf._edge() for leaf in leaves]
    gradients = []
    for each in execute(edges, tangents, True, False, ends, False, RecordingTask):
        if each is None:
            gradients.append(None)
        else:
            gradients.append(recording.read(as_traced(recording, each)))
    return [recording.read(each) for each in tangents], gradients

# right: the node's own method, with what the pass needs
class RecordingTask:
    def apply(self, node, grads):
        if not node.is_op:
            return GraphTask.apply(self, node, grads)
        recording = _state.program.get()
        mark = recording.mark()
        try:
            return node.apply_arrays(grads, self.nodes_to_execute)
        except Unrecordable:
            recording.go_back(mark)
            return recording.formulas(node, grads, self.nodes_to_execute)

# wrong 15_4_other_nodes_go_back: every refusal becomes a single step
class RecordingTask:
    def apply(self, node, grads):
        recording = _state.program.get()
        mark = recording.mark()
        try:
            return super().apply(node, grads)
        except Unrecordable:
            recording.go_back(mark)
            return recording.formulas(node, grads, self.nodes_to_execute)

# wrong 15_4_errors_are_hidden: every RuntimeError is a refusal
class RecordingTask:
    def apply(self, node, grads):
        recording = _state.program.get()
        if node.is_op:
            mark = recording.mark()
            try:
                return super().apply(node, grads)
            except RuntimeError:
                recording.go_back(mark)
                return recording.formulas(node, grads, self.nodes_to_execute)
        return super().apply(node, grads)

# wrong 15_4_refusal_stays: the steps are removed by hand
class RecordingTask:
    def apply(self, node, grads):
        recording = _state.program.get()
        if not node.is_op:
            return super().apply(node, grads)
        count = len(recording.steps)
        try:
            return super().apply(node, grads)
        except Unrecordable:
            while len(recording.steps) > count:
                recording.steps.pop()
        return recording.formulas(node, grads, self.nodes_to_execute)

# wrong 15_4_always_one_step: formulas are always a single step
class RecordingTask:
    def apply(self, node, grads):
        if not node.is_op:
            return super().apply(node, grads)
        return _state.program.get().formulas(node, grads, self.nodes_to_execute)

# wrong -: one pass for each root
def backward_steps(recording, roots, leaves):
    values, sums = [], [None] * len(leaves)
    for root in roots:
        tangent = recording.input(np.zeros(root._array.shape, root._array.dtype), "tangent")
        values.append(tangent.value)
        found = execute([root._edge()], [tangent], True, False, [leaf._edge() for leaf in leaves],
                        accumulate=False, task_class=RecordingTask)
        sums = [new if old is None else old for old, new in zip(sums, found, strict=True)]
    return values, [None if g is None else recording.read(as_traced(recording, g)) for g in sums]

# wrong 15_4_none_is_a_constant: zeros in place of None
def backward_steps(recording, roots, leaves):
    tangents = [recording.input(np.zeros(t._array.shape, t._array.dtype), "tangent")
                for t in roots]
    values = [t.value for t in tangents]
    found = execute([t._edge() for t in roots], tangents, False, False,
                    [leaf._edge() for leaf in leaves], accumulate=False, task_class=RecordingTask)
    gradients = [np.zeros(leaf._array.shape, leaf._array.dtype) if g is None else g
                 for g, leaf in zip(found, leaves, strict=True)]
    return values, [recording.read(as_traced(recording, g)) for g in gradients]
