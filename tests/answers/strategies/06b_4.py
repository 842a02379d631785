class Segment:
    def pack(self, tensor):
        return next(self.numbers)

    def unpack(self, number):
        if number not in self.again:
            self.compute_again()
        return self.again.pop(number)

    def compute_again(self):
        self.again, counter = {}, count()

        def keep(tensor):
            self.again[next(counter)] = tensor.detach()

        with enable_grad(), saved_tensors_hooks(keep, nothing):
            self.function(self.input_again())

# right: everything anew when a number is missing
# These are the functions above.

# right: by the length of the dictionary
class Segment:
    def unpack(self, number):
        try:
            return self.again.pop(number)
        except KeyError:
            self.compute_again()
            return self.again.pop(number)

    def compute_again(self):
        made = {}

        def keep(tensor):
            made[len(made)] = tensor.detach()

        with saved_tensors_hooks(keep, nothing), enable_grad():
            self.function(self.input_again())
        self.again = made

# wrong 06b_4_while_some_are_left: the tensors that are left stay from the run before
class Segment:
    def unpack(self, number):
        if not self.again:
            self.compute_again()
        return self.again.pop(number)

# wrong 06b_4_numbers_go_on: the first run's numbers go on
class Segment:
    def compute_again(self):
        self.again = {}

        def keep(tensor):
            self.again[next(self.numbers)] = tensor.detach()

        with enable_grad(), saved_tensors_hooks(keep, nothing):
            self.function(self.input_again())

# wrong 06b_4_with_history: the tensors are kept with their history
class Segment:
    def compute_again(self):
        self.again, counter = {}, count()

        def keep(tensor):
            self.again[next(counter)] = tensor

        with enable_grad(), saved_tensors_hooks(keep, nothing):
            self.function(self.input_again())

# right: a list, made a dictionary at the end
class Segment:
    def pack(self, tensor):
        number = next(self.numbers)
        return number

    def unpack(self, number):
        if self.again.get(number) is None:
            self.compute_again()
        tensor = self.again[number]
        del self.again[number]
        return tensor

    def compute_again(self):
        tensors = []
        with enable_grad():
            with saved_tensors_hooks(lambda tensor: tensors.append(tensor.detach()), nothing):
                self.function(self.input_again())
        self.again = dict(enumerate(tensors))

# wrong 06b_4_left_behind: what the first unpack left stays beside what is computed again
class Segment:
    def compute_again(self):
        def keep(tensor):
            self.again[len(self.again)] = tensor.detach()

        with enable_grad(), saved_tensors_hooks(keep, nothing):
            self.function(self.input_again())

# right: the input itself, which is checked too when it is unpacked
class Segment:
    def compute_again(self):
        made = []
        with enable_grad(), saved_tensors_hooks(lambda t: made.append(t.detach()), nothing):
            self.function(self.input.unpack(None))
        self.again = dict(enumerate(made))
