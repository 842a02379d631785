# right: data is replaced inside no_grad
class Module:
    def _apply(self, fn, recurse=True):
        if recurse:
            for part in self.children():
                part._apply(fn)
        for parameter in self._parameters.values():
            if parameter is None:
                continue
            with no_grad():
                parameter.data = fn(parameter)
                if parameter._grad is not None:
                    parameter._grad.data = fn(parameter._grad)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

# right: parameters and gradients in one list
class Module:
    def _apply(self, fn, recurse=True):
        if recurse:
            for part in self.children():
                part._apply(fn)
        owned = [p for p in self._parameters.values() if p is not None]
        for tensor in owned + [p._grad for p in owned if p._grad is not None]:
            with no_grad():
                new = fn(tensor)
            tensor.data = new
        self._buffers.update({name: fn(b) for name, b in self._buffers.items() if b is not None})
        return self

# right: everything inside a function under no_grad
class Module:
    def _apply(self, fn, recurse=True):
        if recurse:
            for part in self.children():
                part._apply(fn)
        @no_grad()
        def replace(tensor):
            if tensor is not None:
                tensor.data = fn(tensor)
        for parameter in self._parameters.values():
            replace(parameter)
            if parameter is not None:
                replace(parameter._grad)
        for name in list(self._buffers):
            if self._buffers[name] is not None:
                self._buffers[name] = fn(self._buffers[name])
        return self

# right: the data of each inside no_grad
class Module:
    def _apply(self, fn, recurse=True):
        for part in self.children() if recurse else ():
            part._apply(fn)
        for parameter in self._parameters.values():
            if parameter is None:
                continue
            with no_grad():
                parameter.data = fn(parameter.data)
                if parameter._grad is not None:
                    parameter._grad.data = fn(parameter._grad.data)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

# wrong 13a_4_parameters_stay: the values are copied into the parameters
class Module:
    def _apply(self, fn, recurse=True):
        if recurse:
            for part in self.children():
                part._apply(fn)
        for parameter in self._parameters.values():
            if parameter is None:
                continue
            with no_grad():
                parameter.copy_(fn(parameter))
                if parameter._grad is not None:
                    parameter._grad.data = fn(parameter._grad)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

# wrong 13a_4_new_parameters: new parameters in the table
class Module:
    def _apply(self, fn, recurse=True):
        if recurse:
            for part in self.children():
                part._apply(fn)
        for name, parameter in self._parameters.items():
            if parameter is None:
                continue
            with no_grad():
                new = type(parameter)(fn(parameter), parameter.requires_grad)
                if parameter._grad is not None:
                    new._grad = fn(parameter._grad)
            self._parameters[name] = new
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

# wrong 13a_4_new_gradients: a new gradient
class Module:
    def _apply(self, fn, recurse=True):
        if recurse:
            for part in self.children():
                part._apply(fn)
        for parameter in self._parameters.values():
            if parameter is None:
                continue
            with no_grad():
                parameter.data = fn(parameter)
                if parameter._grad is not None:
                    parameter._grad = fn(parameter._grad)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

# wrong -: buffers keep their objects
class Module:
    def _apply(self, fn, recurse=True):
        if recurse:
            for part in self.children():
                part._apply(fn)
        for parameter in self._parameters.values():
            if parameter is None:
                continue
            with no_grad():
                parameter.data = fn(parameter)
                if parameter._grad is not None:
                    parameter._grad.data = fn(parameter._grad)
        for buffer in self._buffers.values():
            if buffer is not None:
                buffer.data = fn(buffer)
        return self

# right: all modules from here on, without asking them
class Module:
    def _apply(self, fn, recurse=True):
        modules = list(self.modules()) if recurse else [self]
        for module in reversed(modules):
            for parameter in module._parameters.values():
                if parameter is None:
                    continue
                with no_grad():
                    parameter.data = fn(parameter)
                    if parameter._grad is not None:
                        parameter._grad.data = fn(parameter._grad)
            for name, buffer in module._buffers.items():
                if buffer is not None:
                    module._buffers[name] = fn(buffer)
        return self

# wrong -: the data without its history instead of no_grad
class Module:
    def _apply(self, fn, recurse=True):
        if recurse:
            for part in self.children():
                part._apply(fn)
        for parameter in self._parameters.values():
            if parameter is None:
                continue
            if True:
                parameter.data = fn(parameter.data)
                if parameter._grad is not None:
                    parameter._grad.data = fn(parameter._grad.data)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

# right: the attributes are assigned
class Module:
    def _apply(self, fn, recurse=True):
        if recurse:
            for part in self.children():
                part._apply(fn)
        for parameter in self._parameters.values():
            if parameter is None:
                continue
            with no_grad():
                parameter.data = fn(parameter)
                if parameter._grad is not None:
                    parameter._grad.data = fn(parameter._grad)
        for name, buffer in list(self._buffers.items()):
            if buffer is not None:
                setattr(self, name, fn(buffer))
        return self
