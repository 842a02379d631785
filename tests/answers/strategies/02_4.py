# right: the first gradient that is no tensor is looked for
class Node:
    def __call__(self, *grads):
        if len(grads) != self.num_inputs:
            raise TypeError(WRONG_COUNT.format(self.num_inputs, len(grads)))
        wrong = [at for at, grad in enumerate(grads) if grad is not None and not hasattr(grad, "_array")]
        if wrong:
            raise TypeError(NOT_A_TENSOR.format(wrong[0]))
        first, *others = results if (results := tuple(self.apply_tensors(grads))) else ((),)
        return (first, *others) if others else first

# right: by position
class Node:
    def __call__(self, *grads):
        expected = self.num_inputs
        if expected != len(grads):
            raise TypeError(WRONG_COUNT.format(expected, len(grads)))
        for position in range(expected):
            if not (grads[position] is None or hasattr(grads[position], "_array")):
                raise TypeError(NOT_A_TENSOR.format(position))
        results = tuple(self.apply_tensors(list(grads)))
        return results[0] if len(results) == 1 else results

# wrong -: results that are None are left out
class Node:
    def __call__(self, *grads):
        if len(grads) != self.num_inputs:
            raise TypeError(WRONG_COUNT.format(self.num_inputs, len(grads)))
        for at, grad in enumerate(grads):
            if grad is not None and not hasattr(grad, "_array"):
                raise TypeError(NOT_A_TENSOR.format(at))
        results = tuple(each for each in self.apply_tensors(grads) if each is not None)
        return results[0] if len(results) == 1 else results

# wrong 02_4_no_history: arrays are computed and wrapped
class Node:
    def __call__(self, *grads):
        if len(grads) != self.num_inputs:
            raise TypeError(WRONG_COUNT.format(self.num_inputs, len(grads)))
        for at, grad in enumerate(grads):
            if grad is not None and not hasattr(grad, "_array"):
                raise TypeError(NOT_A_TENSOR.format(at))
        plain = next(type(grad) for grad in grads if grad is not None)._plain
        results = self.apply_arrays([None if grad is None else grad._array for grad in grads], None)
        results = tuple(None if each is None else plain(each) for each in results)
        return results[0] if len(results) == 1 else results

# wrong 02_4_kind_unchecked: the node is applied before the gradients are checked
class Node:
    def __call__(self, *grads):
        results = tuple(self.apply_tensors(grads))
        if len(grads) != self.num_inputs:
            raise TypeError(WRONG_COUNT.format(self.num_inputs, len(grads)))
        for at, grad in enumerate(grads):
            if grad is not None and not hasattr(grad, "_array"):
                raise TypeError(NOT_A_TENSOR.format(at))
        return results[0] if len(results) == 1 else results

# wrong 02_4_count_unchecked: the count is checked only if it is too large
class Node:
    def __call__(self, *grads):
        if len(grads) > self.num_inputs:
            raise TypeError(WRONG_COUNT.format(self.num_inputs, len(grads)))
        for at, grad in enumerate(grads):
            if grad is not None and not hasattr(grad, "_array"):
                raise TypeError(NOT_A_TENSOR.format(at))
        grads = [*grads, *[None] * (self.num_inputs - len(grads))]
        results = tuple(self.apply_tensors(grads))
        return results[0] if len(results) == 1 else results
