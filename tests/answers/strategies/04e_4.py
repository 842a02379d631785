# right: with the second operand, if there is one
def operator(call):
    def dunder(self, *other):
        known = not other or isinstance(other[0], OPERANDS)
        return call(self, *other) if known else with_another(call, self, *other)
    return dunder

def swapped(call):
    def turned(left, right):
        return call(right, left)
    return turned

def publish_operators(op, call, dunder):
    names = list(op.dunder)
    if names:
        method(names[0])(dunder)
    if len(names) == 2:
        method(names[1])(dunder if op.commutative else operator(swapped(call)))

# wrong 04e_4_refuses: operands that are not numbers are refused
def operator(call):
    def dunder(*operands):
        return call(*operands)
    return dunder

def swapped(dunder):
    return lambda self, other: dunder(other, self)

def publish_operators(op, call, dunder):
    if op.dunder:
        method(op.dunder[0])(dunder)
    if len(op.dunder) > 1:
        method(op.dunder[1])(dunder if op.commutative else swapped(dunder))

# wrong 04e_4_not_swapped: the reflected name gets the same method
def operator(call):
    def dunder(self, *other):
        if other and not isinstance(other[0], OPERANDS):
            return with_another(call, self, other[0])
        return call(self, *other)
    return dunder

def swapped(call):
    return lambda self, other: call(other, self)

def publish_operators(op, call, dunder):
    for name in op.dunder:
        method(name)(dunder)
