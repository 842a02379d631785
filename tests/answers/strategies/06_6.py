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
