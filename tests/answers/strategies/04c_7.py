# wrong 04c_7_always_mirrored: always mirrored
def conv_grad_input(xp, g, weight, input_sizes, stride, padding, dilation, groups):
    kernel = weight.shape[2:]
    mirrored = [d * (k - 1) - p for k, d, p in zip(kernel, dilation, padding)]
    return conv_forward(xp, g, flipped(xp, weight, groups), None, stride, mirrored, dilation,
                        groups)
