class Add:
    def grad_self(g):
        return g

    def grad_other(g, alpha):
        return g * alpha

class Sub:
    def grad_self(g):
        return g

    def grad_other(g, alpha):
        return -g * alpha

class Mul:
    def grad_self(g, other):
        return g * other

    def grad_other(g, self):
        return g * self

class Div:
    def grad_self(g, other):
        return g / other

class Neg:
    def grad_self(g):
        return -g

# wrong 04a_4_overflows: the lesson's draft, with its names
class Div:
    def grad_other(g, self, other):
        x, y = self, other
        return -g * x / (y * y)

# wrong 04a_4_g_overflows: the draft with its first remedy
class Div:
    def grad_other(g, self, other):
        return -g * self / other / other

# wrong 04a_4_draft_names: the unchanged body of the draft
class Div:
    def grad_other(g, self, other):
        return -g * ((x / y) / y)

# wrong -: the product is written to g
class Mul:
    def grad_self(g, other):
        g *= other
        return g

# wrong -: the sign is written to g
class Neg:
    def grad_self(g):
        g *= -1
        return g
