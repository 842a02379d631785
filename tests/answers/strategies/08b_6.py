class VmapLevels:
    def example(self, value):
        for level, _ in self.levels:
            value = batched(value, level)
        return value

# right: from the innermost level out
class VmapLevels:
    def of(self, tensor):
        for level, size in reversed(self.levels):
            inside = examples(tensor, level)
            tensor = F.expand(tensor, (size, *tensor.shape)) if inside is None else inside
        return tensor

# right: one level by hand, and the others by another object
class VmapLevels:
    def of(self, tensor):
        if not self.levels:
            return tensor
        *outer, (level, size) = self.levels
        inside = examples(tensor, level)
        if inside is None:
            inside = F.expand(F.unsqueeze(tensor, 0), (size, *tensor.shape))
        return VmapLevels(tuple(outer)).of(inside)

    def example(self, value):
        if not self.levels:
            return value
        (level, _), *inner = self.levels
        return VmapLevels(tuple(inner)).example(batched(value, level))

# right: a shared tensor is stacked as often as there are examples
from functools import reduce

class VmapLevels:
    def of(self, tensor):
        def out(tensor, pair):
            inside = examples(tensor, pair[0])
            return F.stack([tensor] * pair[1]) if inside is None else inside
        return reduce(out, self.levels[::-1], tensor)

    def example(self, value):
        return reduce(lambda inside, pair: batched(inside, pair[0]), self.levels, value)

# wrong 08b_6_outer_level_first: from the outermost level in
class VmapLevels:
    def of(self, tensor):
        for level, size in self.levels:
            inside = examples(tensor, level)
            tensor = F.expand(tensor, (size, *tensor.shape)) if inside is None else inside
        return tensor

# wrong -: batches are unwrapped first, and what is missing is put in front at the end
class VmapLevels:
    def of(self, tensor):
        missing = []
        for level, size in reversed(self.levels):
            inside = examples(tensor, level)
            if inside is None:
                missing.append(size)
            else:
                tensor = inside
        return F.expand(tensor, (*reversed(missing), *tensor.shape))

# wrong -: a tensor that some level has is only unwrapped
class VmapLevels:
    def of(self, tensor):
        found = False
        for level, _ in reversed(self.levels):
            inside = examples(tensor, level)
            if inside is not None:
                tensor, found = inside, True
        return tensor if found else F.expand(tensor, (*self.sizes, *tensor.shape))

# right: the elements of a shared tensor are joined and reshaped
class VmapLevels:
    def of(self, tensor):
        for level, size in reversed(self.levels):
            inside = examples(tensor, level)
            if inside is None:
                inside = F.reshape(F.cat([F.reshape(tensor, (-1,))] * size), (size, *tensor.shape))
            tensor = inside
        return tensor
