class Silu:
    @staticmethod
    def forward(ctx, x):
        y = x * x.sigmoid()
        ctx.save_for_backward(y)
        return y

# wrong 01_3_saves_the_result: the result is saved, and used as x
class Silu:
    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        s = y.sigmoid()
        return grad_output * (s + y * s * (1 - s))

# wrong 01_3_saves_the_result: the result and the sigmoid of the result, as for exp and sigmoid
class Silu:
    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        s = y.sigmoid()
        return grad_output * (s + y * (1 - s))

# wrong 01_3_saves_the_sigmoid: the sigmoid is saved, and x is computed from it
class Silu:
    @staticmethod
    def forward(ctx, x):
        s = x.sigmoid()
        ctx.save_for_backward(s)
        return x * s

    @staticmethod
    def backward(ctx, grad_output):
        (s,) = ctx.saved_tensors
        x = (s / (1 - s)).log()
        return grad_output * (s + x * s * (1 - s))

# right: the other form of the slope
class Silu:
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x.sigmoid()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        s = x.sigmoid()
        return grad_output * s * (1 + x * (1 - s))
