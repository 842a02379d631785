# right: a copy, the part through fn, the rest as it came
class CopySlices:
    def gradients(self, grad):
        whole = self.copy_of(grad)
        part = self.covered_part(whole)
        results = list(fn.apply_tensors((part.clone(),)))
        inner = results[self.position]
        if inner is None:
            part.zero_()
        else:
            part.copy_(inner)
        results[self.position] = whole
        return results

# wrong 06_6_others_written: fn gets the part itself
class CopySlices:
    def gradients(self, grad):
        whole = self.copy_of(grad)
        part = self.covered_part(whole)
        results = list(fn.apply_tensors((part,)))
        inner = results[self.position]
        if inner is None:
            part.zero_()
        else:
            part.copy_(inner)
        results[self.position] = whole
        return results

# wrong 06_6_given_written: the gradient itself is changed
class CopySlices:
    def gradients(self, grad):
        part = self.covered_part(grad)
        results = list(fn.apply_tensors((part.clone(),)))
        inner = results[self.position]
        if inner is None:
            part.zero_()
        else:
            part.copy_(inner)
        results[self.position] = grad
        return results

# wrong 06_6_inner_none_kept: a None leaves the part as it came
class CopySlices:
    def gradients(self, grad):
        whole = self.copy_of(grad)
        part = self.covered_part(whole)
        results = list(fn.apply_tensors((part.clone(),)))
        if results[self.position] is not None:
            part.copy_(results[self.position])
        results[self.position] = whole
        return results

# right: two copies, one for the write and one for the result
class CopySlices:
    def gradients(self, fn, grad):
        results = list(fn.apply_tensors((self.covered_part(self.copy_of(grad)),)))
        whole = self.copy_of(grad)
        covered = self.covered_part(whole)
        covered.zero_()
        if results[self.position] is not None:
            covered.add_(results[self.position])
        results[self.position] = whole
        return results

# right: the gradients of the others are copied before the part is written to
class CopySlices:
    def gradients(self, fn, grad):
        whole = self.copy_of(grad)
        part = self.covered_part(whole)
        results = [None if each is None else each.clone() for each in fn.apply_tensors((part,))]
        before = self.copy_of(grad)
        again = self.covered_part(before)
        inner = results[self.position]
        again.zero_() if inner is None else again.copy_(inner)
        return [before if i == self.position else each for i, each in enumerate(results)]

# right: the part of a clone, put together at the end
class CopySlices:
    def gradients(self, fn, grad):
        base_grad = self.copy_of(grad)
        covered = self.covered_part(base_grad)
        found = fn.apply_tensors((covered.clone(),))
        for_view = found[self.position]
        if for_view is None:
            for_view = covered.new_zeros(covered.shape)
        covered.copy_(for_view)
        return [*found[: self.position], base_grad, *found[self.position + 1 :]]

# wrong 06_6_zero_by_arithmetic: a mask of the covered part, times the gradient
class CopySlices:
    def gradients(self, fn, grad):
        mask = self.copy_of(grad)
        mask.zero_()
        self.covered_part(mask).add_(1)
        part = self.covered_part(self.copy_of(grad))
        results = list(fn.apply_tensors((part,)))
        through = self.copy_of(grad)
        through.zero_()
        if results[self.position] is not None:
            self.covered_part(through).copy_(results[self.position])
        results[self.position] = grad * (1 - mask) + through
        return results

# wrong 06_6_zero_by_arithmetic: the difference that the write makes is added
class CopySlices:
    def gradients(self, fn, grad):
        whole = self.copy_of(grad)
        part = self.covered_part(whole)
        before = part.clone()
        results = list(fn.apply_tensors((part.clone(),)))
        inner = results[self.position]
        part.add_(-before if inner is None else inner - before)
        results[self.position] = whole
        return results

# wrong 06_6_layout_of_the_gradient: the part is looked for in the gradient as it came
class CopySlices:
    def gradients(self, fn, grad):
        whole = self.copy_of(grad)
        results = list(fn.apply_tensors((self.covered_part(grad.clone()),)))
        inner = results[self.position]
        part = self.covered_part(whole)
        part.zero_() if inner is None else part.copy_(inner)
        results[self.position] = whole
        return results

# wrong -: only a result that is the part itself is copied
class CopySlices:
    def gradients(self, fn, grad):
        whole = self.copy_of(grad)
        part = self.covered_part(whole)
        results = [each.clone() if each is part else each for each in fn.apply_tensors((part,))]
        inner = results[self.position]
        part.zero_() if inner is None else part.copy_(inner)
        results[self.position] = whole
        return results

# wrong 06_6_layout_of_the_gradient: a clone in place of the copy
class CopySlices:
    def gradients(self, fn, grad):
        whole = grad.clone()
        part = self.covered_part(whole)
        results = list(fn.apply_tensors((part.clone(),)))
        inner = results[self.position]
        part.zero_() if inner is None else part.copy_(inner)
        results[self.position] = whole
        return results

# wrong 06_6_first_input: the base's gradient is put before that of the tensor written to
class CopySlices:
    def gradients(self, fn, grad):
        whole = self.copy_of(grad)
        part = self.covered_part(whole)
        results = list(fn.apply_tensors((part.clone(),)))
        inner = results.pop(self.position)
        part.zero_() if inner is None else part.copy_(inner)
        return [whole, *results]
