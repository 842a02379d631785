# right: pairs of a formula and its edge
class OpNode:
    def names_to_save(self):
        names = set(self.always_saved)
        for (formula, wanted), edge in zip(self.op.formulas.values(), self.edges):
            if edge[0] is not None:
                names.update(wanted)
        return names & set(self.positions)

    def save(self, values, arrays, promoted):
        wanted = self.names_to_save()
        for name, slot in self.value_slots.items():
            value = values[self.positions[name]] if name in wanted else None
            setattr(self, slot, saved_value(value, promoted.get(name)))
        self.keep_arguments(values, arrays)

# wrong 04d_4_own_names: every input with a live edge is saved
class OpNode:
    def names_to_save(self):
        names = set(self.always_saved)
        for name, edge in zip(self.op.formulas, self.edges):
            if edge[0] is not None:
                names.add(name)
        return names & set(self.positions)

    def save(self, values, arrays, promoted):
        wanted = self.names_to_save()
        for name, slot in self.value_slots.items():
            value = values[self.positions[name]] if name in wanted else None
            setattr(self, slot, saved_value(value, promoted.get(name)))
        self.keep_arguments(values, arrays)

# wrong 04d_4_slots_unset: only the slots of needed values are filled
class OpNode:
    def names_to_save(self):
        names = set(self.always_saved)
        for (formula, wanted), edge in zip(self.op.formulas.values(), self.edges):
            if edge[0] is not None:
                names.update(wanted)
        return names & set(self.positions)

    def save(self, values, arrays, promoted):
        for name in self.names_to_save():
            if name in self.value_slots:
                setattr(self, self.value_slots[name],
                        saved_value(values[self.positions[name]], promoted.get(name)))
        self.keep_arguments(values, arrays)
