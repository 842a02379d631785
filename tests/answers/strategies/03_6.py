# right: note who leads to each node, then walk back from the inputs
class GraphTask:
    def find_nodes_to_execute(self, root, inputs):
        before, stack = {root: []}, [root]
        while stack:
            node = stack.pop()
            for after, _ in node.edges:
                if after is not None:
                    if after not in before:
                        before[after] = []
                        stack.append(after)
                    before[after].append(node)
        self.nodes_to_execute = set(inputs)
        stack = list(inputs)
        while stack:
            for node in before.get(stack.pop(), ()):
                if node not in self.nodes_to_execute:
                    self.nodes_to_execute.add(node)
                    stack.append(node)

# right: topological order by counting edges, judged backwards
class GraphTask:
    def find_nodes_to_execute(self, root, inputs):
        waiting, seen, stack = {}, {root}, [root]
        while stack:
            for after, _ in stack.pop().edges:
                if after is None:
                    continue
                waiting[after] = waiting.get(after, 0) + 1
                if after not in seen:
                    seen.add(after)
                    stack.append(after)
        order, ready = [], [root]
        while ready:
            node = ready.pop()
            order.append(node)
            for after, _ in node.edges:
                if after is not None:
                    waiting[after] -= 1
                    if not waiting[after]:
                        ready.append(after)
        found = set(inputs)
        for node in reversed(order):
            for after, _ in node.edges:
                if after in found:
                    found.add(node)
        self.nodes_to_execute = found

# right: a stack of iterators
class GraphTask:
    def find_nodes_to_execute(self, root, inputs):
        needed, seen = set(inputs), {root}
        stack = [(root, iter(root.edges))]
        while stack:
            node, edges = stack[-1]
            for after, _ in edges:
                if after is not None and after not in seen:
                    seen.add(after)
                    stack.append((after, iter(after.edges)))
                    break
            else:
                stack.pop()
                for after, _ in node.edges:
                    if after is not None and after in needed:
                        needed.add(node)
        self.nodes_to_execute = needed

# right: a stack of nodes, each put there a second time to be judged
class GraphTask:
    def find_nodes_to_execute(self, root, inputs):
        verdict, stack = dict.fromkeys(inputs, True), [(root, False)]
        entered = set()
        while stack:
            node, judge = stack.pop()
            if judge:
                if any(verdict.get(after, False) for after, _ in node.edges if after is not None):
                    verdict[node] = True
                continue
            if node in entered:
                continue
            entered.add(node)
            stack.append((node, True))
            stack += [(after, False) for after, _ in node.edges if after is not None]
        self.nodes_to_execute = {node for node, yes in verdict.items() if yes}

# right: levels by the longest way, the deepest judged first
class GraphTask:
    def find_nodes_to_execute(self, root, inputs):
        count, seen, todo = {}, {root}, [root]
        for node in todo:
            for after, _ in node.edges:
                if after is not None:
                    count[after] = count.get(after, 0) + 1
                    if after not in seen:
                        seen.add(after)
                        todo.append(after)
        level, ready = {root: 0}, [root]
        for node in ready:
            for after, _ in node.edges:
                if after is not None:
                    level[after] = max(level.get(after, 0), level[node] + 1)
                    count[after] -= 1
                    if count[after] == 0:
                        ready.append(after)
        needed = set(inputs)
        for node in sorted(level, key=level.get, reverse=True):
            if not needed.isdisjoint({after for after, _ in node.edges}):
                needed.add(node)
        self.nodes_to_execute = needed

# wrong 03_6_judged_early: one pass over the reversed breadth-first order
class GraphTask:
    def find_nodes_to_execute(self, root, inputs):
        order, seen = [root], {root}
        for node in order:
            for after, _ in node.edges:
                if after is not None and after not in seen:
                    seen.add(after)
                    order.append(after)
        needed = set(inputs)
        for node in reversed(order):
            if any(after in needed for after, _ in node.edges):
                needed.add(node)
        self.nodes_to_execute = needed

# wrong 03_6_judged_early: one pass over the reversed depth-first order in which nodes were met
class GraphTask:
    def find_nodes_to_execute(self, root, inputs):
        order, seen, stack = [], set(), [root]
        while stack:
            node = stack.pop()
            if node in seen:
                continue
            seen.add(node)
            order.append(node)
            stack.extend(after for after, _ in node.edges if after is not None)
        needed = set(inputs)
        for node in order[::-1]:
            for after, _ in node.edges:
                if after in needed:
                    needed.add(node)
        self.nodes_to_execute = needed

# wrong 03_6_judged_early: shortest distances from the root, the farthest judged first
class GraphTask:
    def find_nodes_to_execute(self, root, inputs):
        distance, front = {root: 0}, [root]
        while front:
            below = []
            for node in front:
                for after, _ in node.edges:
                    if after is not None and after not in distance:
                        distance[after] = distance[node] + 1
                        below.append(after)
            front = below
        needed = set(inputs)
        for node in sorted(distance, key=distance.get, reverse=True):
            if any(after in needed for after, _ in node.edges):
                needed.add(node)
        self.nodes_to_execute = needed

# wrong 03_6_judged_early: two passes over the reversed breadth-first order
class GraphTask:
    def find_nodes_to_execute(self, root, inputs):
        order, seen = [root], {root}
        for node in order:
            for after, _ in node.edges:
                if after is not None and after not in seen:
                    seen.add(after)
                    order.append(after)
        needed = set(inputs)
        for _ in range(2):
            for node in reversed(order):
                if any(after in needed for after, _ in node.edges):
                    needed.add(node)
        self.nodes_to_execute = needed

# wrong 03_6_one_way_kept: the way from the root is noted, by the first node that led to each
class GraphTask:
    def find_nodes_to_execute(self, root, inputs):
        parent, todo = {root: None}, [root]
        for node in todo:
            for after, _ in node.edges:
                if after is not None and after not in parent:
                    parent[after] = node
                    todo.append(after)
        needed = set(inputs)
        for node in inputs:
            while parent.get(node) is not None:
                node = parent[node]
                needed.add(node)
        self.nodes_to_execute = needed

# wrong 03_6_by_sequence: only a node whose number is greater can lead there
class GraphTask:
    def find_nodes_to_execute(self, root, inputs):
        nodes, stack = {root}, [root]
        while stack:
            for after, _ in stack.pop().edges:
                if after is not None and after not in nodes:
                    nodes.add(after)
                    stack.append(after)
        needed = set(inputs)
        for node in sorted(nodes, key=lambda node: node.sequence):
            if any(after in needed for after, _ in node.edges):
                needed.add(node)
        self.nodes_to_execute = needed

# wrong 03_6_all_ways_walked: every way from the root is followed
class GraphTask:
    def find_nodes_to_execute(self, root, inputs):
        needed, stack = set(inputs), [(root,)]
        while stack:
            way = stack.pop()
            if way[-1] in inputs:
                needed.update(way)
            for after, _ in way[-1].edges:
                if after is not None:
                    stack.append((*way, after))
        self.nodes_to_execute = needed

# wrong 03_6_stops_at_input: all that the root reaches, without the nodes behind the inputs
class GraphTask:
    def find_nodes_to_execute(self, root, inputs):
        needed, stack = {root} | inputs, [root]
        while stack:
            node = stack.pop()
            if node in inputs:
                continue
            for after, _ in node.edges:
                if after is not None and after not in needed:
                    needed.add(after)
                    stack.append(after)
        self.nodes_to_execute = needed

# wrong 03_6_stops_at_input: a node is known as soon as it is put on the stack, the inputs from the start
class GraphTask:
    def find_nodes_to_execute(self, root, inputs):
        known, stack = dict.fromkeys(inputs, True), [root]
        while stack:
            node = stack.pop()
            below = [after for after, _ in node.edges if after is not None]
            new = [after for after in below if after not in known]
            known[node] = node in inputs or any(known.get(after) for after in below)
            if new:
                known.update(dict.fromkeys(new, False))
                stack += [node, *new]
        self.nodes_to_execute = {node for node, yes in known.items() if yes}
