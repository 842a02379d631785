class Node:
    @property
    def next_functions(self):
        return tuple(self.edges)

class NaryNode:
    def metadata_of(self, index):
        return (self.shape, self.dtype) if index == 0 else self.others[index - 1]

# right: comprehensions, and one list of all metadata
class Node:
    @property
    def next_functions(self):
        return tuple((node, index) for node, index in self.edges)

class NaryNode:
    def set_edges(self, edges):
        self.edges = tuple(Edge(node, index) for node, index in edges)

    def metadata_of(self, index):
        return [(self.shape, self.dtype), *self.others][index]

# right: the Edges themselves are shown
class NaryNode:
    def set_edges(self, edges):
        made = []
        for pair in edges:
            made.append(Edge(*pair))
        self.edges = made

    def metadata_of(self, index):
        if index:
            return self.others[index - 1]
        return self.shape, self.dtype

# wrong -: an iterator of Edges, which is empty after one look
class Node:
    @property
    def next_functions(self):
        return tuple(tuple(each) for each in self.edges)

class NaryNode:
    def set_edges(self, edges):
        self.edges = map(Edge._make, list(edges))

# wrong -: a dictionary from nodes to numbers
class NaryNode:
    def set_edges(self, edges):
        self.edges = tuple(map(Edge._make, {node: index for node, index in edges}.items()))

# wrong 02_1_metadata_shifted: metadata is looked up from the end
class Node:
    @property
    def next_functions(self):
        return tuple(tuple(each) for each in self.edges)

class NaryNode:
    def set_edges(self, edges):
        self.edges = tuple(map(Edge._make, edges))

    def metadata_of(self, index):
        return (self.shape, self.dtype) if index == 0 else self.others[-index]
