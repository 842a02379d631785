# right: the body is filled, then the class is made
def make_node_type(op, base=NaryNode):
    tensors, arguments = save_list(op)
    body = dict(constants_of(op, tensors, arguments))
    body["value_slots"] = {name: f"_value_{name}" for name in tensors}
    body["arg_slots"] = {name: f"_arg_{name}" for name in arguments}
    body["__slots__"] = (*body["value_slots"].values(), *body["arg_slots"].values())
    for name in tensors:
        body[f"_saved_{name}"] = saved_property(name, False)
        body[f"_raw_saved_{name}"] = raw_saved_property(name)
    for name in arguments:
        body[f"_saved_{name}"] = saved_property(name, True)
    return type(node_name(op), (OpNode, base), body)

# wrong 04d_3_dictionary: the slots are set once the class is there
def make_node_type(op, base=NaryNode):
    tensors, arguments = save_list(op)
    made = type(node_name(op), (OpNode, base), dict(constants_of(op, tensors, arguments)))
    made.value_slots = {name: f"_value_{name}" for name in tensors}
    made.arg_slots = {name: f"_arg_{name}" for name in arguments}
    made.__slots__ = (*made.value_slots.values(), *made.arg_slots.values())
    for name in (*tensors, *arguments):
        setattr(made, f"_saved_{name}", saved_property(name, name in arguments))
    for name in tensors:
        setattr(made, f"_raw_saved_{name}", raw_saved_property(name))
    return made

# wrong 04d_3_raw_arguments: every name gets a raw property
def make_node_type(op, base=NaryNode):
    tensors, arguments = save_list(op)
    body = dict(constants_of(op, tensors, arguments))
    body["value_slots"] = {name: f"_value_{name}" for name in tensors}
    body["arg_slots"] = {name: f"_arg_{name}" for name in arguments}
    body["__slots__"] = (*body["value_slots"].values(), *body["arg_slots"].values())
    for name in (*tensors, *arguments):
        body[f"_saved_{name}"] = saved_property(name, name in arguments)
        body[f"_raw_saved_{name}"] = raw_saved_property(name)
    return type(node_name(op), (OpNode, base), body)
