# right: a comprehension
class FunctionNode:
    def apply_tensors(self, grads):
        filled = [self._zeros(i) if grad is None and self.materialize_grads else grad
                  for i, grad in enumerate(grads)]
        results = self.apply(*filled)
        return self._checked(results if isinstance(results, tuple) else (results,))

# right: a copied list, filled where something is missing
class FunctionNode:
    def apply_tensors(self, grads):
        given = list(grads)
        while self.materialize_grads and any(each is None for each in given):
            missing = [each is None for each in given].index(True)
            zeros = self._zeros(missing)
            if zeros is None:
                given[missing:missing + 1] = [NotImplemented]
            else:
                given[missing] = zeros
        given = [None if each is NotImplemented else each for each in given]
        made = self.apply(*given)
        if not isinstance(made, tuple):
            made = (made,)
        return self._checked(made)

# wrong -: zeros like the first gradient that arrived
class FunctionNode:
    def apply_tensors(self, grads):
        some = next((grad for grad in grads if grad is not None), None)
        if self.materialize_grads:
            grads = [(self._zeros(i) if some is None else some * 0) if grad is None else grad
                     for i, grad in enumerate(grads)]
        results = self.apply(*grads)
        return self._checked(results if isinstance(results, tuple) else (results,))

# wrong -: nothing is computed if no gradient arrived
class FunctionNode:
    def apply_tensors(self, grads):
        if all(grad is None for grad in grads):
            return [None] * sum(self._are_tensors)
        if self.materialize_grads:
            grads = [self._zeros(i) if grad is None else grad for i, grad in enumerate(grads)]
        results = self.apply(*grads)
        return self._checked(results if isinstance(results, tuple) else (results,))
