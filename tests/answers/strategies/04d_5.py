class OpNode:
    def apply_arrays(self, grads, needed):
        return self.run(grads, needed, True)

    def apply_tensors(self, grads, needed=None):
        return self.run(grads, needed, False)

# right: the values of each formula by name
class OpNode:
    def run(self, grads, needed, arrays):
        known = self.named_values(grads, arrays)
        if known is None:
            return [None for _ in self.edges]
        if self.op.list_of_tensors in self.op.formulas:
            return self.run_with_list(needed, known)
        found = []
        for (formula, names), edge in zip(self.op.formulas.values(), self.edges):
            if edge[0] is None or not (needed is None or edge[0] in needed):
                found.append(None)
            elif arrays and self.op.shared:
                found.append(self.run_sharing(formula, names, known))
            else:
                found.append(formula(**{name: known[name] for name in names}))
        return found

# wrong 04d_5_results_left_out: only what is needed
class OpNode:
    def run(self, grads, needed, arrays):
        known = self.named_values(grads, arrays)
        if known is None:
            return [None for _ in self.edges]
        if self.op.list_of_tensors in self.op.formulas:
            return self.run_with_list(needed, known)
        found = []
        for (formula, names), edge in zip(self.op.formulas.values(), self.edges):
            if edge[0] is not None and (needed is None or edge[0] in needed):
                if arrays and self.op.shared:
                    found.append(self.run_sharing(formula, names, known))
                else:
                    found.append(formula(*[known[name] for name in names]))
        return found

# wrong 04d_5_needed_none: needed is asked as it is
class OpNode:
    def run(self, grads, needed, arrays):
        known = self.named_values(grads, arrays)
        if known is None:
            return [None for _ in self.edges]
        if self.op.list_of_tensors in self.op.formulas:
            return self.run_with_list(needed, known)
        found = []
        for (formula, names), (node, _) in zip(self.op.formulas.values(), self.edges):
            if node is not None and needed and node in needed:
                if arrays and self.op.shared:
                    found.append(self.run_sharing(formula, names, known))
                else:
                    found.append(formula(*[known[name] for name in names]))
            else:
                found.append(None)
        return found
