# right: one counter for all groups
class Optimizer:
    def _pack(self):
        numbers, groups = {}, []
        for group in self.param_groups:
            mine = []
            for p in group["params"]:
                mine.append(numbers.setdefault(p, len(numbers)))
            groups.append(group | {"params": mine})
        state = {}
        for key, value in self.state.items():
            state[numbers.get(key, key)] = value
        return {"state": state, "param_groups": groups}

# wrong 13b_5_copies: the values are shared, but in new dictionaries
class Optimizer:
    def _pack(self):
        numbers, groups = {}, []
        for group in self.param_groups:
            mine = []
            for p in group["params"]:
                mine.append(numbers.setdefault(p, len(numbers)))
            groups.append(group | {"params": mine})
        return {"state": {numbers.get(p, p): dict(s) for p, s in self.state.items()},
                "param_groups": groups}
