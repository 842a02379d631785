# right: an early end for leaves
class NaiveEngine:
    def send(self, node, index, grad):
        if isinstance(node, AccumulateGrad):
            leaf = node.variable
            self.gradients[leaf] = self.gradients[leaf] + grad if leaf in self.gradients else grad
            return
        for edge, result in zip(node.edges, self.call(node, index, grad)):
            if edge.node is not None and result is not None:
                self.send(edge.node, edge.index, result)

# right: an explicit stack
class NaiveEngine:
    def send(self, node, index, grad):
        stack = [(node, index, grad)]
        while stack:
            node, index, grad = stack.pop()
            if isinstance(node, AccumulateGrad):
                before = self.gradients.get(node.variable)
                self.gradients[node.variable] = grad if before is None else before + grad
                continue
            for (target, number), result in zip(node.edges, self.call(node, index, grad)):
                if target is not None and result is not None:
                    stack.append((target, number, result))

# wrong 03_1_overwrites: a dictionary comprehension keeps the last
class NaiveEngine:
    def send(self, node, index, grad):
        if isinstance(node, AccumulateGrad):
            self.gradients.update({node.variable: grad})
            return
        for (target, number), result in zip(node.edges, self.call(node, index, grad)):
            if target is not None and result is not None:
                self.send(target, number, result)

# wrong 03_1_writes: np.add into the existing array
class NaiveEngine:
    def send(self, node, index, grad):
        if isinstance(node, AccumulateGrad):
            if node.variable in self.gradients:
                np.add(self.gradients[node.variable], grad, out=self.gradients[node.variable])
            else:
                self.gradients[node.variable] = grad
            return
        for (target, number), result in zip(node.edges, self.call(node, index, grad)):
            if target is not None and result is not None:
                self.send(target, number, result)

# wrong 03_1_none_is_a_gradient: None is sent on as zero
class NaiveEngine:
    def send(self, node, index, grad):
        if isinstance(node, AccumulateGrad):
            before = self.gradients.get(node.variable)
            self.gradients[node.variable] = grad if before is None else before + grad
            return
        for (target, number), result in zip(node.edges, self.call(node, index, grad)):
            if target is not None:
                self.send(target, number, result)

# right: a queue instead of calls
class NaiveEngine:
    def send(self, node, index, grad):
        waiting = [(node, index, grad)]
        for node, index, grad in waiting:
            if type(node) is AccumulateGrad:
                known = self.gradients
                known[node.variable] = grad + known[node.variable] if node.variable in known else grad
                continue
            results = self.call(node, index, grad)
            for position, (target, number) in enumerate(node.edges):
                if target is not None and results[position] is not None:
                    waiting.append((target, number, results[position]))

# right: added to zero, and the last edge first
class NaiveEngine:
    def send(self, node, index, grad):
        if isinstance(node, AccumulateGrad):
            self.gradients[node.variable] = self.gradients.get(node.variable, 0.0) + grad
        else:
            for result, (target, number) in reversed(list(zip(self.call(node, index, grad), node.next_functions))):
                if not (target is None or result is None):
                    self.send(target, number, result)

# right: one gradient for each path is collected, and the leaves are added up
class NaiveEngine:
    def send(self, node, index, grad):
        def arriving(node, index, grad):
            if isinstance(node, AccumulateGrad):
                yield node.variable, grad
                return
            for (target, number), result in zip(node.edges, self.call(node, index, grad)):
                if target is not None and result is not None:
                    yield from arriving(target, number, result)

        for leaf, share in arriving(node, index, grad):
            if leaf in self.gradients:
                share = self.gradients[leaf] + share
            self.gradients[leaf] = share

# wrong -: results for one target are added before they are sent
class NaiveEngine:
    def send(self, node, index, grad):
        if isinstance(node, AccumulateGrad):
            before = self.gradients.get(node.variable)
            self.gradients[node.variable] = grad if before is None else before + grad
            return
        sums = {}
        for edge, result in zip(node.edges, self.call(node, index, grad)):
            if edge[0] is not None and result is not None:
                sums[edge] = sums[edge] + result if edge in sums else result
        for (target, number), result in sums.items():
            self.send(target, number, result)

# wrong -: a dictionary from edges to results
class NaiveEngine:
    def send(self, node, index, grad):
        if isinstance(node, AccumulateGrad):
            before = self.gradients.get(node.variable)
            self.gradients[node.variable] = grad if before is None else before + grad
            return
        for (target, number), result in dict(zip(node.edges, self.call(node, index, grad))).items():
            if target is not None and result is not None:
                self.send(target, number, result)

# wrong -: the first None ends the loop
class NaiveEngine:
    def send(self, node, index, grad):
        if isinstance(node, AccumulateGrad):
            before = self.gradients.get(node.variable)
            self.gradients[node.variable] = grad if before is None else before + grad
            return
        for (target, number), result in zip(node.edges, self.call(node, index, grad)):
            if target is None or result is None:
                return
            self.send(target, number, result)

# wrong -: a node without edges is taken for a leaf's
class NaiveEngine:
    def send(self, node, index, grad):
        if not node.edges:
            before = self.gradients.get(node.variable)
            self.gradients[node.variable] = grad if before is None else before + grad
            return
        for (target, number), result in zip(node.edges, self.call(node, index, grad)):
            if target is not None and result is not None:
                self.send(target, number, result)
