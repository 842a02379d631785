class Polar:
    @staticmethod
    def forward(ctx, x, y):
        d = (x * x + y * y).sqrt()
        angle = y.atan2(x)
        ctx.save_for_backward(d, angle)
        return d, angle

# right: from the outputs, which are saved
class Polar:
    @staticmethod
    def backward(ctx, grad_distance, grad_angle):
        g, h = grad_distance, grad_angle
        d, angle = ctx.saved_tensors
        c, s = angle.cos(), angle.sin()
        return g * c - h * s / d, g * s + h * c / d

# right: from the inputs alone
class Polar:
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return (x * x + y * y).sqrt(), y.atan2(x)

    @staticmethod
    def backward(ctx, grad_distance, grad_angle):
        g, h = grad_distance, grad_angle
        x, y = ctx.saved_tensors
        square = x * x + y * y
        d = square.sqrt()
        return g * x / d - h * y / square, g * y / d + h * x / square

# wrong 01_4_outputs_for_inputs: the outputs are used as if they were the inputs
class Polar:
    @staticmethod
    def backward(ctx, grad_distance, grad_angle):
        g, h = grad_distance, grad_angle
        x, y = ctx.saved_tensors
        d = (x * x + y * y).sqrt()
        return g * x / d - h * y / d**2, g * y / d + h * x / d**2

# wrong 01_4_by_output: a gradient for each output and not for each input
class Polar:
    @staticmethod
    def forward(ctx, x, y):
        d = (x * x + y * y).sqrt()
        ctx.save_for_backward(x, y, d)
        return d, y.atan2(x)

    @staticmethod
    def backward(ctx, grad_distance, grad_angle):
        g, h = grad_distance, grad_angle
        x, y, d = ctx.saved_tensors
        return g * (x + y) / d, h * (x - y) / d**2
