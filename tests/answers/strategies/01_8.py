def unpacked(node):
    return tuple(None if saved is None else saved.unpack(node) for saved in node._saved)

# right: a loop
def keep(node, joined_as):
    packed = []
    for item in node.to_save:
        if item is None:
            packed.append(None)
            continue
        tensor = joined_as.get(id(item), item)
        packed.append(SavedTensor(tensor, is_output=tensor._node is node))
    return packed

# right: a function for each item
def keep(node, joined_as):
    def pack(item):
        if id(item) in joined_as:
            item = joined_as[id(item)]
        return SavedTensor(item, is_output=item._node is node)
    return [item if item is None else pack(item) for item in node.to_save]

def unpacked(node):
    found = []
    for saved in node._saved:
        found.append(saved and saved.unpack(node))
    return (*found,)

# wrong 01_8_holds_a_written_input: an output is what is in joined_as
def keep(node, joined_as):
    return [None if item is None else SavedTensor(joined_as.get(id(item), item), is_output=id(item) in joined_as)
            for item in node.to_save]

# wrong -: the same tensor is packed once
def keep(node, joined_as):
    packed, seen = [], set()
    for item in node.to_save:
        if item is None:
            packed.append(None)
        elif id(item) not in seen:
            seen.add(id(item))
            tensor = joined_as.get(id(item), item)
            packed.append(SavedTensor(tensor, is_output=tensor._node is node))
    return packed

# wrong -: what was unpacked is remembered
def keep(node, joined_as):
    packed = []
    for item in node.to_save:
        tensor = joined_as.get(id(item), item)
        packed.append(None if item is None else SavedTensor(tensor, is_output=tensor._node is node))
    return packed

def unpacked(node):
    if not hasattr(node, "_found"):
        node._found = tuple(None if saved is None else saved.unpack(node) for saved in node._saved)
    return node._found
