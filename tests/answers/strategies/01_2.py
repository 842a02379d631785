class GradCoeff:
    def backward(ctx, grad_output):
        return grad_output * ctx.coeff, None

class Round:
    def forward(ctx, x):
        return x.round()

    def backward(ctx, grad_output):
        return grad_output

# right: a view of the input, and the number on the context
class GradCoeff:
    def forward(ctx, x, coeff):
        ctx.coeff = coeff
        return x.view_as(x)

# right: a copy of the input, and a copy of the gradient
class GradCoeff:
    def forward(ctx, x, coeff):
        ctx.factor = float(coeff)
        return x.clone()

    def backward(ctx, grad_output):
        return ctx.factor * grad_output, None

class Round:
    def forward(ctx, x):
        return x + (x.round() - x)

    def backward(ctx, grad_output):
        return grad_output.clone()

# wrong -: the gradient is multiplied in place
class GradCoeff:
    def forward(ctx, x, coeff):
        ctx.coeff = coeff
        return x.clone()

    def backward(ctx, grad_output):
        grad_output *= ctx.coeff
        return grad_output, None

# wrong -: the sign of the coefficient is lost
class GradCoeff:
    def forward(ctx, x, coeff):
        ctx.coeff = abs(coeff)
        return x.clone()
