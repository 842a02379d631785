class GraphTask:
    def note_captures(self, inputs):
        for position, (node, number) in enumerate(inputs):
            if node is not None:
                self.captures.setdefault(node, {}).setdefault(number, []).append(position)

    def capture(self, node, grads):
        for number, positions in self.captures[node].items():
            for position in positions:
                self.captured[position] = grads[number]

    def runs(self, node):
        if self.captures.get(node):
            return any(after in self.nodes_to_execute for after, _ in node.edges)
        return node in self.nodes_to_execute

# right: enumerate and setdefault
# These are the functions above.

# right: grouped first
class GraphTask:
    def note_captures(self, inputs):
        for node in {node for node, _ in inputs} - {None}:
            numbers = {number for each, number in inputs if each is node}
            self.captures[node] = {
                number: [i for i, (each, n) in enumerate(inputs) if each is node and n == number]
                for number in numbers}

    def capture(self, node, grads):
        wanted = self.captures[node]
        self.captured.update({position: grads[number] for number in wanted
                              for position in wanted[number]})

    def runs(self, node):
        asked = self.captures.get(node) or None
        if asked is None:
            return node in self.nodes_to_execute
        return not self.nodes_to_execute.isdisjoint({edge.node for edge in node.edges})

# wrong 03_7_position_shifted: inputs without a node are filtered before they are numbered
class GraphTask:
    def note_captures(self, inputs):
        for position, (node, number) in enumerate(each for each in inputs if each[0] is not None):
            self.captures.setdefault(node, {}).setdefault(number, []).append(position)

# wrong 03_7_empty_entry: a node with any entry is captured
class GraphTask:
    def runs(self, node):
        if node in self.captures:
            return any(after in self.nodes_to_execute for after, _ in node.edges)
        return node in self.nodes_to_execute

# wrong 03_7_stops_at_input: a captured node is at its end
class GraphTask:
    def runs(self, node):
        return node in self.nodes_to_execute and not self.captures.get(node)

# wrong 03_7_last_place_only: one position for each output
class GraphTask:
    def note_captures(self, inputs):
        for position, (node, number) in enumerate(inputs):
            if node is not None:
                self.captures.setdefault(node, {})[number] = [position]

# wrong 03_7_runs_behind: a captured node runs if it is needed itself
class GraphTask:
    def runs(self, node):
        return node in self.nodes_to_execute

# wrong 03_7_output_zero: the grads are numbered by the order of the entries
class GraphTask:
    def capture(self, node, grads):
        for (number, positions), grad in zip(self.captures[node].items(), grads):
            for position in positions:
                self.captured[position] = grad

# wrong -: all nodes after it have to be needed
class GraphTask:
    def runs(self, node):
        if self.captures.get(node):
            return bool(node.edges) and all(after in self.nodes_to_execute
                                            for after, _ in node.edges)
        return node in self.nodes_to_execute

# wrong -: the captures are made anew
class GraphTask:
    def capture(self, node, grads):
        self.captured = {position: grads[number] for number, positions in self.captures[node].items()
                         for position in positions}
