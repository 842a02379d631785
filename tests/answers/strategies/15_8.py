class Writer:
    def source(self, name):
        lines = [f"def {name}({', '.join([self.local_name(v) for v in self.inputs])}):"]
        for step, dead in zip(self.steps, last_uses(self.steps, self.outputs), strict=True):
            lines.extend(self.statements(step))
            lines.extend(f"del {self.local_name(value)}" for value in dead)
        results = "".join(("None" if v is None else self.reference(v)) + ", "
                          for v in self.outputs)
        lines.append(f"return ({results})")
        return "\n    ".join(lines)

    def global_name(self, thing, wanted):
        known = self.own.get(id(thing))
        if known is None:
            known = self.unused(f"_{wanted}")
            self.own[id(thing)] = known
            self.names[known] = thing
        return known

    def unused(self, wanted):
        if wanted in self.taken:
            numbers = (f"{wanted}_{number}" for number in range(1, len(self.taken) + 2))
            wanted = next(each for each in numbers if each not in self.taken)
        self.taken.add(wanted)
        return wanted

# right: one del for each Value, and a comma after each output
# right: a text that grows
class Writer:
    def source(self, name):
        text = f"def {name}(" + ", ".join(map(self.local_name, self.inputs)) + "):\n"
        ends = last_uses(self.steps, self.outputs)
        for number in range(len(self.steps)):
            for statement in self.statements(self.steps[number]):
                text += "    " + statement + "\n"
            names = [self.local_name(value) for value in ends[number]]
            if names:
                text += "    del " + ", ".join(names) + "\n"
        if not self.outputs:
            return text + "    return ()\n"
        text += "    return "
        for value in self.outputs:
            text += "None," if value is None else self.reference(value) + ","
        return text + "\n"

# right: things are searched in the names
class Writer:
    def global_name(self, thing, wanted):
        for name, known in self.names.items():
            if known is thing and name.startswith("_") and name in self.taken:
                return name
        name = self.unused("_" + wanted)
        self.names[name] = thing
        return name

# wrong 15_8_nothing_deleted: everything is deleted at the end
class Writer:
    def source(self, name):
        lines = [f"def {name}({', '.join(map(self.local_name, self.inputs))}):"]
        for step in self.steps:
            lines += self.statements(step)
        results = ", ".join("None" if v is None else self.reference(v) for v in self.outputs)
        lines.append(f"result = ({results}{',' if len(self.outputs) == 1 else ''})")
        for dead in last_uses(self.steps, self.outputs):
            lines += [f"del {self.local_name(value)}" for value in dead]
        return "\n    ".join([*lines, "return result"])

# wrong 15_8_lone_comma: always a comma at the end
class Writer:
    def source(self, name):
        lines = [f"def {name}({', '.join(map(self.local_name, self.inputs))}):"]
        for step, dead in zip(self.steps, last_uses(self.steps, self.outputs), strict=True):
            lines += self.statements(step)
            lines += [f"del {self.local_name(value)}" for value in dead]
        results = ", ".join("None" if v is None else self.reference(v) for v in self.outputs)
        return "\n    ".join([*lines, f"return ({results},)"])

# wrong -: the number of all names so far
class Writer:
    def unused(self, wanted):
        name = wanted if wanted not in self.taken else f"{wanted}_{len(self.taken)}"
        self.taken.add(name)
        return name

# wrong 15_8_number_in_use: a counter for each wanted name
class Writer:
    def unused(self, wanted):
        self.counts = getattr(self, "counts", dict.fromkeys(self.taken, 1))
        count = self.counts.get(wanted, 0)
        self.counts[wanted] = count + 1
        name = f"{wanted}_{count}" if count else wanted
        self.taken.add(name)
        return name

# wrong -: things by their text
class Writer:
    def global_name(self, thing, wanted):
        key = repr(thing)
        if key not in self.own:
            self.own[key] = self.unused("_" + wanted)
            self.names[self.own[key]] = thing
        return self.own[key]

# wrong 15_8_by_wanted_name: a function with a known name is taken for the same
class Writer:
    def global_name(self, thing, wanted):
        name = "_" + wanted
        self.taken.add(name)
        self.names.setdefault(name, thing)
        return name
