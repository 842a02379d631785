def able_to_reach_sink(network):
    reached = {SINK}
    grown = True
    while grown:
        grown = False
        for begin, edges in network.items():
            if begin not in reached and any(
                    capacity > 0 and end in reached for end, capacity in edges.items()):
                reached.add(begin)
                grown = True
    return reached


def cheapest_cut(network):
    path = shortest_path(network)
    while SINK in path:
        edges, node = [], SINK
        while path[node] is not None:
            edges.append((path[node], node))
            node = path[node]
        amount = min(network[begin][end] for begin, end in edges)
        if amount == inf:
            raise ValueError(NO_CUT)
        for begin, end in edges:
            network[begin][end] -= amount
            network[end][begin] += amount
        path = shortest_path(network)
    behind = able_to_reach_sink(network)
    ids = {node[0] for node in network if isinstance(node, tuple)}
    return {each for each in ids if (each, 0) not in behind and (each, 1) in behind}

# right: sweeps instead of a stack
# right: paths depth first, and a recursive search from the sink
def cheapest_cut(network):
    def send(node, limit, seen):
        if node == SINK:
            return limit
        seen.add(node)
        for end, capacity in list(network[node].items()):
            if capacity > 0 and end not in seen:
                sent = send(end, min(limit, capacity), seen)
                if sent:
                    if sent == inf:
                        raise ValueError(NO_CUT)
                    network[node][end] -= sent
                    network[end][node] += sent
                    return sent
        return 0

    while send(SOURCE, inf, set()):
        pass
    behind = able_to_reach_sink(network)
    return {node[0] for node in behind
            if len(node) == 2 and (node[0], 1) in behind and (node[0], 0) not in behind}


def able_to_reach_sink(network):
    found = set()

    def visit(end):
        found.add(end)
        for begin, edges in network.items():
            if begin not in found and edges.get(end, 0) > 0:
                visit(begin)

    visit(SINK)
    return found

# right: on a copy, where infinity is a large number
def cheapest_cut(network):
    most = 1 + sum(c for edges in network.values() for c in edges.values() if c != inf)
    left = {begin: {end: most if c == inf else c for end, c in edges.items()}
            for begin, edges in network.items()}
    total = 0
    while SINK in (path := shortest_path(left)):
        node, amount = SINK, most
        while node != SOURCE:
            amount = min(amount, left[path[node]][node])
            node = path[node]
        total += amount
        if total >= most:
            raise ValueError(NO_CUT)
        node = SINK
        while node != SOURCE:
            left[path[node]][node] -= amount
            left[node][path[node]] += amount
            node = path[node]
    behind = able_to_reach_sink(left)
    return {node[0] for node in behind if type(node) is tuple
            and node[1] and (node[0], 0) not in behind}

# right: as much at a time as the prices allow
def cheapest_cut(network):
    def wide(least):
        reached, queue = {SOURCE: None}, [SOURCE]
        for begin in queue:
            for end, capacity in network[begin].items():
                if capacity >= least and end not in reached:
                    reached[end] = begin
                    queue.append(end)
        return reached

    if SINK in wide(inf):
        raise ValueError(NO_CUT)
    for least in sorted({c for edges in network.values() for c in edges.values()
                         if 0 < c < inf} | {1}, reverse=True):
        while SINK in (path := wide(least)):
            edges, node = [], SINK
            while node != SOURCE:
                edges.append((path[node], node))
                node = path[node]
            amount = min(network[begin][end] for begin, end in edges)
            for begin, end in edges:
                network[begin][end] -= amount
                network[end][begin] += amount
    behind = able_to_reach_sink(network)
    return {node[0] for node in behind if type(node) is tuple
            and node[1] == 1 and (node[0], 0) not in behind}

# wrong 15_6_nearest_to_source: the edges out of what the source reaches
def cheapest_cut(network):
    while SINK in (path := shortest_path(network)):
        edges, node = [], SINK
        while node != SOURCE:
            edges.append((path[node], node))
            node = path[node]
        amount = min(network[begin][end] for begin, end in edges)
        if amount == inf:
            raise ValueError(NO_CUT)
        for begin, end in edges:
            network[begin][end] -= amount
            network[end][begin] += amount
    able_to_reach_sink(network)
    return {begin[0] for begin in path for end in network[begin]
            if end not in path and type(begin) is tuple and type(end) is tuple
            and begin[0] == end[0] and begin[1] == 0}

# wrong 15_6_no_way_back: the cheapest value of one path after the other
def cheapest_cut(network):
    cut = set()
    while SINK in (path := shortest_path(network)):
        edges, node = [], SINK
        while node != SOURCE:
            edges.append((path[node], node))
            node = path[node]
        least = min(network[begin][end] for begin, end in edges)
        if least == inf:
            raise ValueError(NO_CUT)
        begin, end = next(each for each in edges if network[each[0]][each[1]] == least)
        network[begin][end] = 0
        cut.add(begin[0])
    able_to_reach_sink(network)
    return cut | {each[0] for each in network if type(each) is tuple and each[1] == 0
                  and network[each][each[0], 1] == 0 and each in shortest_path(network)
                  and SINK in network.get((each[0], 1), {})}

# wrong 15_6_no_error: it ends where the flow is infinite
def cheapest_cut(network):
    while SINK in (path := shortest_path(network)):
        edges, node = [], SINK
        while node != SOURCE:
            edges.append((path[node], node))
            node = path[node]
        amount = min(network[begin][end] for begin, end in edges)
        if amount == inf:
            break
        for begin, end in edges:
            network[begin][end] -= amount
            network[end][begin] += amount
    behind = able_to_reach_sink(network)
    return {node[0] for node in behind if type(node) is tuple
            and node[1] == 1 and (node[0], 0) not in behind}

# wrong 15_6_wrong_end: it sends on a copy, and looks at the original
def cheapest_cut(network):
    left = {begin: dict(edges) for begin, edges in network.items()}
    while SINK in (path := shortest_path(left)):
        edges, node = [], SINK
        while node != SOURCE:
            edges.append((path[node], node))
            node = path[node]
        amount = min(left[begin][end] for begin, end in edges)
        if amount == inf:
            raise ValueError(NO_CUT)
        for begin, end in edges:
            left[begin][end] -= amount
            left[end][begin] += amount
    behind = able_to_reach_sink(network)
    return {node[0] for node in behind if type(node) is tuple
            and node[1] == 1 and (node[0], 0) not in behind}

# wrong 15_6_one_edge_only: the nodes in front of the sink
def able_to_reach_sink(network):
    return {SINK, *(begin for begin in network[SINK] if network[begin][SINK] > 0)}
