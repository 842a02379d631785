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
