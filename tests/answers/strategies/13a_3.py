class Module:
    def train(self, mode=True):
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for part in self.children():
            part.train(mode)
        return self

    def eval(self):
        return self.train(False)

# right: the parts are asked
# These are the functions above.

# right: the parts first, from the table
class Module:
    def train(self, mode=True):
        if mode is not True and mode is not False:
            raise ValueError("training mode is expected to be boolean")
        for part in dict.fromkeys(self._modules.values()):
            if part is not None:
                part.train(mode)
        setattr(self, "training", mode)
        return self

# wrong 13a_3_override_ignored: the mode of all modules is set from outside
class Module:
    def train(self, mode=True):
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        for module in self.modules():
            module.training = mode
        return self

# wrong 13a_3_override_ignored: apply sets the mode
class Module:
    def train(self, mode=True):
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        return self.apply(lambda module: setattr(module, "training", mode))

# wrong -: eval asks the parts to evaluate, and sets its own mode
class Module:
    def eval(self):
        for part in self.children():
            part.eval()
        self.training = False
        return self

# wrong -: a part that is None is asked too
class Module:
    def train(self, mode=True):
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for part in self._modules.values():
            part.train(mode)
        return self

# wrong -: a part that is in the mode already is passed over
class Module:
    def train(self, mode=True):
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for part in self.children():
            if part.training != mode:
                part.train(mode)
        return self

# wrong -: all modules below are asked, each for itself
class Module:
    def train(self, mode=True):
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in list(self.modules())[1:]:
            module.train(mode)
        return self
