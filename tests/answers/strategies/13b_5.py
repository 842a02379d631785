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

# right: the start of each group's numbers, and a dictionary of them
class Optimizer:
    def _pack(self):
        everyone = [p for group in self.param_groups for p in group["params"]]
        state = {i: self.state[p] for i, p in enumerate(everyone) if p in self.state}
        groups, start = [], 0
        for group in self.param_groups:
            made = dict(group)
            made["params"] = list(range(start, start + len(group["params"])))
            start += len(group["params"])
            groups.append(made)
        return {"state": state, "param_groups": groups}

# right: an iterator that counts on
class Optimizer:
    def _pack(self):
        from itertools import count
        numbers, state, groups = count(), {}, []
        for group in self.param_groups:
            params = []
            for p in group["params"]:
                number = next(numbers)
                params.append(number)
                if p in self.state:
                    state[number] = self.state[p]
            groups.append({**group, "params": params})
        return {"param_groups": groups, "state": state}

# wrong -: numbers are looked up by equal values
class Optimizer:
    def _pack(self):
        everyone = [p for group in self.param_groups for p in group["params"]]
        values = [p._array.tolist() for p in everyone]
        number = {id(p): values.index(p._array.tolist()) for p in everyone}
        groups = [{**group, "params": [number[id(p)] for p in group["params"]]}
                  for group in self.param_groups]
        return {"state": {number[id(p)]: state for p, state in self.state.items()},
                "param_groups": groups}

# wrong -: the state of every parameter, empty or not
class Optimizer:
    def _pack(self):
        everyone = [p for group in self.param_groups for p in group["params"]]
        number = {id(p): i for i, p in enumerate(everyone)}
        groups = [{**group, "params": [number[id(p)] for p in group["params"]]}
                  for group in self.param_groups]
        return {"state": {number[id(p)]: self.state.get(p, {}) for p in everyone},
                "param_groups": groups}

# wrong -: the options that the optimizer's defaults name
class Optimizer:
    def _pack(self):
        everyone = [p for group in self.param_groups for p in group["params"]]
        number = {id(p): i for i, p in enumerate(everyone)}
        groups = [{**{name: group[name] for name in self.defaults},
                   "params": [number[id(p)] for p in group["params"]]}
                  for group in self.param_groups]
        return {"state": {number[id(p)]: state for p, state in self.state.items()
                          if id(p) in number}, "param_groups": groups}

# wrong -: the numbers of states follow the order in which they were made
class Optimizer:
    def _pack(self):
        start, groups = 0, []
        for group in self.param_groups:
            groups.append({**group, "params": [start + i for i, _ in enumerate(group["params"])]})
            start += len(group["params"])
        return {"state": dict(enumerate(self.state.values())), "param_groups": groups}

# wrong 13b_5_copies: the groups are copied as deep as they go
class Optimizer:
    def _pack(self):
        import copy
        start, groups = 0, []
        for group in self.param_groups:
            made = copy.deepcopy({name: each for name, each in group.items() if name != "params"})
            made["params"] = list(range(start, start + len(group["params"])))
            start += len(group["params"])
            groups.append(made)
        everyone = [p for group in self.param_groups for p in group["params"]]
        return {"state": {i: copy.deepcopy(self.state[p]) for i, p in enumerate(everyone)
                          if p in self.state}, "param_groups": groups}
