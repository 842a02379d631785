class ModuleTables:
    def __getattr__(self, name):
        for table in TABLES:
            members = self._table(table)
            if name in members:
                return members[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name, value):
        if isinstance(value, Parameter) or name in self._table("_parameters"):
            self._set_parameter(name, value)
        elif isinstance(value, ModuleTables) or name in self._table("_modules"):
            self._set_module(name, value)
        elif isinstance(value, Buffer) or name in self._table("_buffers"):
            self._set_buffer(name, value)
        else:
            super().__setattr__(name, value)

# right: a chain of questions
# These are the functions above.

# right: a table of classes and methods
from collections import ChainMap

class ModuleTables:
    def __getattr__(self, name):
        members = ChainMap(*(self._table(table) for table in TABLES))
        try:
            return members[name]
        except KeyError:
            raise AttributeError(
                f"'{type(self).__name__}' object has no attribute '{name}'") from None

    def __setattr__(self, name, value):
        kinds = ((Parameter, "_parameters", self._set_parameter),
                 (ModuleTables, "_modules", self._set_module),
                 (Buffer, "_buffers", self._set_buffer))
        for kind, table, put in kinds:
            if isinstance(value, kind) or name in self._table(table):
                return put(name, value)
        return object.__setattr__(self, name, value)

# right: the class decides first, and then the table, from the names that are taken
class ModuleTables:
    def __getattr__(self, name):
        missing = object()
        found = self._table("_parameters").get(name, missing)
        if found is missing:
            found = self._table("_modules").get(name, missing)
        if found is missing:
            found = self._table("_buffers").get(name, missing)
        if found is missing:
            raise AttributeError("%r object has no attribute %r" % (type(self).__name__, name))
        return found

    def __setattr__(self, name, value):
        in_parameters, in_modules = (name in self._table(t) for t in ("_parameters", "_modules"))
        if in_parameters or isinstance(value, Parameter):
            put = self._set_parameter
        elif in_modules or isinstance(value, ModuleTables):
            put = self._set_module
        elif name in self._table("_buffers") or isinstance(value, Buffer):
            put = self._set_buffer
        else:
            put = super().__setattr__
        put(name, value)

# wrong -: the table that has the name decides before the class of the value
class ModuleTables:
    def __setattr__(self, name, value):
        if name in self._table("_parameters"):
            self._set_parameter(name, value)
        elif name in self._table("_modules"):
            self._set_module(name, value)
        elif name in self._table("_buffers"):
            self._set_buffer(name, value)
        elif isinstance(value, Parameter):
            self._set_parameter(name, value)
        elif isinstance(value, ModuleTables):
            self._set_module(name, value)
        elif isinstance(value, Buffer):
            self._set_buffer(name, value)
        else:
            super().__setattr__(name, value)

# wrong -: the class of the value decides before the table that has the name
class ModuleTables:
    def __setattr__(self, name, value):
        if isinstance(value, Parameter):
            self._set_parameter(name, value)
        elif isinstance(value, ModuleTables):
            self._set_module(name, value)
        elif isinstance(value, Buffer):
            self._set_buffer(name, value)
        elif name in self._table("_parameters"):
            self._set_parameter(name, value)
        elif name in self._table("_modules"):
            self._set_module(name, value)
        elif name in self._table("_buffers"):
            self._set_buffer(name, value)
        else:
            super().__setattr__(name, value)

# wrong 13a_1_tensors_are_buffers: every tensor is a buffer
class ModuleTables:
    def __setattr__(self, name, value):
        if isinstance(value, Parameter) or name in self._table("_parameters"):
            self._set_parameter(name, value)
        elif isinstance(value, ModuleTables) or name in self._table("_modules"):
            self._set_module(name, value)
        elif isinstance(value, Tensor) or name in self._table("_buffers"):
            self._set_buffer(name, value)
        else:
            super().__setattr__(name, value)

# wrong 13a_1_none_is_not_found: a member that is None is missing
class ModuleTables:
    def __getattr__(self, name):
        for table in TABLES:
            member = self._table(table).get(name)
            if member is not None:
                return member
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

# wrong 13a_1_fails_before_init: the tables are asked for as attributes
class ModuleTables:
    def __getattr__(self, name):
        for table in TABLES:
            members = getattr(self, table)
            if name in members:
                return members[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name, value):
        if isinstance(value, Parameter) or name in self._parameters:
            self._set_parameter(name, value)
        elif isinstance(value, ModuleTables) or name in self._modules:
            self._set_module(name, value)
        elif isinstance(value, Buffer) or name in self._buffers:
            self._set_buffer(name, value)
        else:
            super().__setattr__(name, value)

# wrong -: the class itself, without its subclasses
class ModuleTables:
    def __setattr__(self, name, value):
        if type(value) is Parameter or name in self._table("_parameters"):
            self._set_parameter(name, value)
        elif isinstance(value, ModuleTables) or name in self._table("_modules"):
            self._set_module(name, value)
        elif isinstance(value, Buffer) or name in self._table("_buffers"):
            self._set_buffer(name, value)
        else:
            super().__setattr__(name, value)

# wrong 13a_1_none_forgets_the_name: None takes the name out of the tables
class ModuleTables:
    def __setattr__(self, name, value):
        taken = [t for t in TABLES if name in self._table(t)]
        if value is None and taken:
            del self._table(taken[0])[name]
            super().__setattr__(name, None)
        elif isinstance(value, Parameter) or name in self._table("_parameters"):
            self._set_parameter(name, value)
        elif isinstance(value, ModuleTables) or name in self._table("_modules"):
            self._set_module(name, value)
        elif isinstance(value, Buffer) or name in self._table("_buffers"):
            self._set_buffer(name, value)
        else:
            super().__setattr__(name, value)

# wrong 13a_1_kept_twice: the value is stored as a plain attribute too
class ModuleTables:
    def __setattr__(self, name, value):
        if isinstance(value, Parameter) or name in self._table("_parameters"):
            self._set_parameter(name, value)
        elif isinstance(value, ModuleTables) or name in self._table("_modules"):
            self._set_module(name, value)
        elif isinstance(value, Buffer) or name in self._table("_buffers"):
            self._set_buffer(name, value)
        if not name.startswith("_") or value is not None:
            super().__setattr__(name, value)

# wrong 13a_1_parameter_hidden: None is a plain attribute, even under the name of a parameter
class ModuleTables:
    def __setattr__(self, name, value):
        if isinstance(value, Parameter) or (name in self._table("_parameters")
                                            and value is not None):
            self._set_parameter(name, value)
        elif isinstance(value, ModuleTables) or name in self._table("_modules"):
            self._set_module(name, value)
        elif isinstance(value, Buffer) or name in self._table("_buffers"):
            self._set_buffer(name, value)
        else:
            super().__setattr__(name, value)

    def __getattr__(self, name):
        for table in TABLES:
            if name in self._table(table):
                return self._table(table)[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

# wrong 13a_1_part_hidden: None is a plain attribute, even under the name of a part
class ModuleTables:
    def __setattr__(self, name, value):
        if isinstance(value, Parameter) or name in self._table("_parameters"):
            self._set_parameter(name, value)
        elif isinstance(value, ModuleTables) or (name in self._table("_modules")
                                                 and value is not None):
            self._set_module(name, value)
        elif isinstance(value, Buffer) or name in self._table("_buffers"):
            self._set_buffer(name, value)
        else:
            super().__setattr__(name, value)

    def __getattr__(self, name):
        for table in TABLES:
            if name in self._table(table):
                return self._table(table)[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
