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

# right: pairs of a formula and its edge
# These are the functions above.

# wrong 04d_4_own_names: every input with a live edge is saved
class OpNode:
    def names_to_save(self):
        names = set(self.always_saved)
        for name, edge in zip(self.op.formulas, self.edges):
            if edge[0] is not None:
                names.add(name)
        return names & set(self.positions)

# wrong 04d_4_slots_unset: only the slots of needed values are filled
class OpNode:
    def save(self, values, arrays, promoted):
        for name in self.names_to_save():
            if name in self.value_slots:
                setattr(self, self.value_slots[name],
                        saved_value(values[self.positions[name]], promoted.get(name)))
        self.keep_arguments(values, arrays)

# right: one name at a time, by the formulas that ask for it
class OpNode:
    def names_to_save(self):
        def is_needed(name):
            return name in self.always_saved or any(
                node is not None and name in names
                for (_, names), (node, _) in zip(self.op.formulas.values(), self.edges))

        return {name for name in self.positions if is_needed(name)}

    def save(self, values, arrays, promoted):
        needed = self.names_to_save()
        for name in self.value_slots:
            value = None
            if name in needed:
                value = values[self.positions[name]]
            setattr(self, self.value_slots[name], saved_value(value, promoted.get(name)))
        self.keep_arguments(values, arrays)

# right: all slots are emptied first, and only tensors are named
class OpNode:
    def names_to_save(self):
        live = [edge[0] is not None for edge in self.edges]
        names = {name for name in self.always_saved if name in self.positions}
        for alive, pair in zip(live, self.op.formulas.values()):
            if alive:
                names |= {name for name in pair[1] if name in self.positions
                          and name in self.value_slots}
        return names

    def save(self, values, arrays, promoted):
        for slot in self.value_slots.values():
            setattr(self, slot, None)
        for name in self.names_to_save():
            setattr(self, self.value_slots[name],
                    saved_value(values[self.positions[name]], promoted.get(name)))
        self.keep_arguments(values, arrays)

# right: the edges by their number
class OpNode:
    def names_to_save(self):
        names = [*self.always_saved]
        for i, (formula, wanted) in enumerate(self.op.formulas.values()):
            if i < len(self.edges) and self.edges[i][0]:
                names.extend(wanted)
        return {name for name in names if name in self.positions}

    def save(self, values, arrays, promoted):
        self.keep_arguments(values, arrays)
        by_name = dict(zip(self.positions, values))
        names = self.names_to_save()
        for name, slot in self.value_slots.items():
            setattr(self, slot, saved_value(by_name[name] if name in names else None,
                                            promoted.get(name)))

# wrong 04d_4_saves_everything: worked out once for the class
class OpNode:
    def names_to_save(self):
        kind = type(self)
        if "worked_out" not in kind.__dict__:
            names = set(self.always_saved)
            for (formula, wanted), edge in zip(self.op.formulas.values(), self.edges):
                if edge[0] is not None:
                    names.update(wanted)
            kind.worked_out = names & set(self.positions)
        return kind.worked_out

# wrong 04d_4_set_of_the_class: the set of the class is added to
class OpNode:
    def names_to_save(self):
        names = self.always_saved
        for (formula, wanted), edge in zip(self.op.formulas.values(), self.edges):
            if edge[0] is not None:
                names |= set(wanted)
        return names & set(self.positions)

# right: an input that requires grad has a live edge
class OpNode:
    def save(self, values, arrays, promoted):
        wanted = set(self.always_saved)
        for name, (formula, names) in self.op.formulas.items():
            if getattr(values[self.positions[name]], "requires_grad", False):
                wanted.update(names)
        for name, slot in self.value_slots.items():
            value = values[self.positions[name]] if name in wanted and name in self.positions else None
            setattr(self, slot, saved_value(value, promoted.get(name)))
        self.keep_arguments(values, arrays)

# wrong 04d_4_order_of_slots: the values in the order of the slots
class OpNode:
    def save(self, values, arrays, promoted):
        wanted = self.names_to_save()
        for (name, slot), value in zip(self.value_slots.items(), values):
            setattr(self, slot, saved_value(value if name in wanted else None, promoted.get(name)))
        for name in self.saves[len(values):]:
            setattr(self, self.value_slots[name], None)
        self.keep_arguments(values, arrays)
