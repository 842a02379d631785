class Exp:
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output * y

# right: the slopes in other forms
class Exp:
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return y * grad_output

class Sigmoid:
    def forward(ctx, x):
        y = ((-x).exp() + 1) ** -1
        ctx.save_for_backward(y)
        return y

    def backward(ctx, grad_output):
        [y] = ctx.saved_tensors
        return grad_output * (y - y * y)

# right: Sigmoid through tanh
class Exp:
    def forward(ctx, x):
        ctx.save_for_backward(result := x.exp())
        return result

    def backward(ctx, grad_output):
        return grad_output * ctx.saved_tensors[0]

class Sigmoid:
    def forward(ctx, x):
        ctx.save_for_backward(result := (x / 2).tanh() / 2 + 0.5)
        return result

    def backward(ctx, grad_output):
        s = ctx.saved_tensors[0]
        return grad_output * s * (1 - s)

# wrong -: the gradient is passed through the sigmoid of the result
class Sigmoid:
    def forward(ctx, x):
        y = 1 / (1 + (-x).exp())
        ctx.save_for_backward(y)
        return y

    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        s = 1 / (1 + (-x).exp())
        return grad_output * s * (1 - s)

# wrong -: e**x / (1 + e**x), which overflows
class Sigmoid:
    def forward(ctx, x):
        y = x.exp() / (1 + x.exp())
        ctx.save_for_backward(y)
        return y

    def backward(ctx, grad_output):
        (s,) = ctx.saved_tensors
        return grad_output * s * (1 - s)
