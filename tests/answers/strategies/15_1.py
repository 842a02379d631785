class Steps:
    def add(self, name, call, arguments, results, **facts):
        operands = list(values_among(arguments))
        if not facts.get("random") and operands and all(v.array is not None for v in operands):
            return [self.value(name, each, constant=True) for each in results]
        outputs = [self.value(name, each) for each in results]
        self.steps.append(Step(name, call, arguments, outputs, **facts))
        return outputs

    def known(self, array, what):
        value = self.read(array)
        if value.array is None:
            raise self.refuse(what)
        return value.array

# right: one list of Values, constant or not
class Steps:
    def add(self, name, call, arguments, results, **facts):
        varies = {v.array is None for v in values_among(arguments)}
        constant = varies == {False} and not facts.get("random", False)
        outputs = [self.value(name, each, constant) for each in results]
        if not constant:
            self.steps.append(Step(name, call, arguments, outputs, **facts))
        return outputs

# right: its own walk through lists and tuples, with counts
class Steps:
    def add(self, name, call, arguments, results, **facts):
        constants = others = 0
        stack = list(arguments)
        while stack:
            each = stack.pop()
            if isinstance(each, (list, tuple)):
                stack.extend(each)
            elif type(each) is Value:
                if each.array is None:
                    others += 1
                else:
                    constants += 1
        if facts.get("random") or others or not constants:
            step = Step(name, call, arguments, [], **facts)
            for each in results:
                step.outputs.append(self.value(name, each))
            self.steps.append(step)
            return step.outputs
        return [self.value(name, each, constant=True) for each in results]

# right: a step is made first, and its inputs are asked
class Steps:
    def add(self, name, call, arguments, results, **facts):
        step = Step(name, call, arguments, [self.value(name, each) for each in results], **facts)
        inputs = [*step.inputs()]
        if step.random or not inputs or None in [v.array if v.array is None else 0 for v in inputs]:
            self.steps.append(step)
            return step.outputs
        for value, each in zip(step.outputs, results, strict=True):
            value.array = each.copy("K")
        return step.outputs

# right: known refuses first if there is something to refuse
class Steps:
    def known(self, array, what):
        found = self.read(array).array
        if found is not None:
            return found
        error = self.refuse(what)
        raise error from None

# wrong 15_1_constant_is_shared: the array of the result itself
class Steps:
    def add(self, name, call, arguments, results, **facts):
        outputs = [self.value(name, each) for each in results]
        operands = list(values_among(arguments))
        if facts.get("random") or not operands or any(v.array is None for v in operands):
            self.steps.append(Step(name, call, arguments, outputs, **facts))
        else:
            for value, each in zip(outputs, results, strict=True):
                value.array = each
        return outputs

# wrong 15_1_random_false_is_random: every call that mentions randomness
class Steps:
    def add(self, name, call, arguments, results, **facts):
        operands = list(values_among(arguments))
        if "random" not in facts and operands and all(v.array is not None for v in operands):
            return [self.value(name, each, constant=True) for each in results]
        outputs = [self.value(name, each) for each in results]
        self.steps.append(Step(name, call, arguments, outputs, **facts))
        return outputs

# wrong 15_1_no_operands_is_a_constant: constant unless some operand varies
class Steps:
    def add(self, name, call, arguments, results, **facts):
        varies = facts.get("random")
        for value in values_among(arguments):
            if value.array is None:
                varies = True
        outputs = [self.value(name, each, constant=not varies) for each in results]
        if varies:
            self.steps.append(Step(name, call, arguments, outputs, **facts))
        return outputs

# wrong -: what no step has computed is a constant
class Steps:
    def add(self, name, call, arguments, results, **facts):
        computed = {id(v) for step in self.steps for v in step.outputs}
        operands = list(values_among(arguments))
        constant = operands and not any(id(v) in computed for v in operands) and (
            not facts.get("random"))
        outputs = [self.value(name, each, constant=bool(constant)) for each in results]
        if not constant:
            self.steps.append(Step(name, call, arguments, outputs, **facts))
        return outputs

# wrong 15_1_numbers_of_this_call: the numbers of the array itself
class Steps:
    def known(self, array, what):
        self.read(array)
        return array.inner

# wrong 15_1_known_before_the_writes: the array's own Value
class Steps:
    def known(self, array, what):
        if array.value.array is not None:
            return array.value.array
        raise self.refuse(what)
