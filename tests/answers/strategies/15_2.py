class Steps:
    def read(self, array):
        if array.version != array.memory.version:
            self.renew(array, self.part(array.memory, array.inner))
        return array.value

    def write(self, target, result):
        value = self.read(result)
        target.inner[...] = result.inner
        self.replace(target.memory, self.with_part(target.memory, target.inner, value))

    def replace(self, memory, value):
        if memory.is_input and memory.is_part:
            raise self.refuse("an input that is a part of another tensor is written to")
        if memory.is_input and memory not in self.written:
            self.written.append(memory)
        memory.whole = value
        memory.version += 1

# right: the target is read at once
class Steps:
    def write(self, target, result):
        memory, value = target.memory, self.read(result)
        self.replace(memory, self.with_part(memory, target.inner, value))
        np.copyto(target.inner, result.inner, casting="unsafe")
        self.read(target)

# right: nested conditions, and the first version means not yet noted
class Steps:
    def read(self, array):
        memory = array.memory
        if memory.version == array.version:
            return array.value
        value = self.part(memory, array.inner)
        self.renew(array, value)
        return value

    def replace(self, memory, value):
        if memory.is_input:
            if memory.is_part:
                raise self.refuse("an input that is a part of another tensor is written to")
            if not any(each is memory for each in self.written):
                self.written += [memory]
        memory.version, memory.whole = memory.version + 1, value

# right: with_part sees the memory before the numbers change
class Steps:
    def write(self, target, result):
        source = self.read(result)
        new = self.with_part(target.memory, target.inner, source)
        target.inner[...] = result.inner
        self.replace(target.memory, new)

# wrong 15_2_always_read_again: up to date is who has the Value of the memory
class Steps:
    def read(self, array):
        if array.value is not array.memory.whole:
            self.renew(array, self.part(array.memory, array.inner))
        return array.value

# wrong 15_2_value_is_not_kept: the version is forgotten
class Steps:
    def read(self, array):
        if array.version != array.memory.version:
            array.value = self.part(array.memory, array.inner)
        return array.value

# wrong 15_2_part_is_written: writes are refused, replacing isn't
class Steps:
    def write(self, target, result):
        if target.memory.is_part:
            raise self.refuse("an input that is a part of another tensor is written to")
        value = self.read(result)
        target.inner[...] = result.inner
        self.replace(target.memory, self.with_part(target.memory, target.inner, value))

    def replace(self, memory, value):
        if memory.is_input and memory not in self.written:
            self.written.append(memory)
        memory.whole = value
        memory.version += 1

# wrong 15_2_never_read_again: a write renews the arrays that it knows
class Steps:
    def read(self, array):
        return array.value

    def write(self, target, result):
        value = self.read(result)
        target.inner[...] = result.inner
        self.replace(target.memory, self.with_part(target.memory, target.inner, value))
        self.renew(target, self.part(target.memory, target.inner))

# wrong 15_2_rest_is_lost: a write to a view makes the result the memory
class Steps:
    def write(self, target, result):
        target.inner[...] = result.inner
        self.replace(target.memory, self.read(result))

# wrong 15_2_old_result: the result is not read
class Steps:
    def write(self, target, result):
        target.inner[...] = result.inner
        self.replace(target.memory, self.with_part(target.memory, target.inner, result.value))
