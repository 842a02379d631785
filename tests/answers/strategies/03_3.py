# right: collect the nodes first, then count all edges
from collections import Counter

class GraphTask:
    def count_dependencies(self, root):
        nodes, todo = {root}, [root]
        while todo:
            for after, _ in todo.pop().edges:
                if after is not None and after not in nodes:
                    nodes.add(after)
                    todo.append(after)
        self.dependencies.update(Counter(
            after for node in nodes for after, _ in node.edges if after is not None))

# right: breadth first, a queue
from collections import deque

class GraphTask:
    def count_dependencies(self, root):
        queue, seen = deque([root]), {root}
        while queue:
            node = queue.popleft()
            for edge in node.edges:
                if edge.node is None:
                    continue
                self.dependencies[edge.node] = self.dependencies.setdefault(edge.node, 0) + 1
                if edge.node not in seen:
                    seen.add(edge.node)
                    queue.append(edge.node)

# right: level by level
class GraphTask:
    def count_dependencies(self, root):
        level = [root]
        while level:
            below = []
            for node in level:
                for after, _ in node.edges:
                    if after is None:
                        continue
                    if after in self.dependencies:
                        self.dependencies[after] += 1
                    else:
                        self.dependencies[after] = 1
                        below.append(after)
            level = below

# wrong 03_3_counts_paths: the nodes are marked when they are taken off, not when they are put on
class GraphTask:
    def count_dependencies(self, root):
        stack, times = [root], {}
        while stack:
            node = stack.pop()
            times[node] = times.get(node, 0) + 1
            if times[node] > 2:
                continue
            for after, _ in node.edges:
                if after is not None:
                    self.dependencies[after] = self.dependencies.get(after, 0) + 1
                    stack.append(after)

# wrong 03_3_counts_nodes: the set of nodes that lead to each is counted
class GraphTask:
    def count_dependencies(self, root):
        before, stack = {}, [root]
        while stack:
            node = stack.pop()
            for after, _ in node.edges:
                if after is not None:
                    if after not in before:
                        before[after] = set()
                        stack.append(after)
                    before[after].add(node)
        for node, nodes in before.items():
            self.dependencies[node] = len(nodes)

# wrong 03_3_counts_nodes: pairs of an edge are remembered
class GraphTask:
    def count_dependencies(self, root):
        stack, seen = [root], set()
        while stack:
            node = stack.pop()
            for after, _ in node.edges:
                if after is None or (node, after) in seen:
                    continue
                seen.add((node, after))
                if after not in self.dependencies:
                    self.dependencies[after] = 0
                    stack.append(after)
                self.dependencies[after] += 1

# wrong 03_3_counts_nodes: edges with the same number from one node count once
class GraphTask:
    def count_dependencies(self, root):
        stack, seen = [root], {root}
        while stack:
            node = stack.pop()
            for after, _ in set(node.edges):
                if after is None:
                    continue
                self.dependencies[after] = self.dependencies.get(after, 0) + 1
                if after not in seen:
                    seen.add(after)
                    stack.append(after)

# wrong 03_3_stops: a queue that a for loop over a copy goes through
class GraphTask:
    def count_dependencies(self, root):
        queue = [root]
        for node in list(queue):
            for after, _ in node.edges:
                if after is not None:
                    if after not in self.dependencies:
                        queue.append(after)
                    self.dependencies[after] = self.dependencies.get(after, 0) + 1

# wrong 03_3_root_edges_lost: the walk begins with the nodes after the root
class GraphTask:
    def count_dependencies(self, root):
        stack = [after for after, _ in root.edges if after is not None]
        seen = set(stack)
        while stack:
            for after, _ in stack.pop().edges:
                if after is not None:
                    self.dependencies[after] = self.dependencies.get(after, 0) + 1
                    if after not in seen:
                        seen.add(after)
                        stack.append(after)

# wrong 03_3_one_short: the first edge only makes the entry
class GraphTask:
    def count_dependencies(self, root):
        stack = [root]
        while stack:
            for after, _ in stack.pop().edges:
                if after is None:
                    continue
                if after not in self.dependencies:
                    self.dependencies[after] = 0
                    stack.append(after)
                else:
                    self.dependencies[after] += 1
