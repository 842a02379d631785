class Logsumexp:
    def grad_self(g, self, result, self_sizes, dim, keepdim):
        top = unsqueeze_reduced(result, self_sizes, dim, keepdim)
        return unsqueeze_reduced(g, self_sizes, dim, keepdim) * F.exp(self - top)

# right: a mask for the norm and a mask for the elements
def norm_backward(g, x, norm, sizes, p, dim, keepdim):
    if p == 0:
        return F.zeros_like(x)
    g = unsqueeze_reduced(g, sizes, dim, keepdim)
    norm = unsqueeze_reduced(norm, sizes, dim, keepdim)
    if p == 1:
        return g * F.sign(x)
    size = F.abs(x)
    if p in (math.inf, -math.inf):
        mine = F.eq(size, norm)
        return F.where(mine, g * F.sign(x), 0) / F.sum(mine, dim, dim is not None)
    safe = F.where(F.eq(norm, 0), 1, norm)
    if p == 2:
        return F.where(F.eq(norm, 0), 0, g * x / safe)
    away = F.eq(norm, 0) | F.eq(x, 0)
    ratio = F.where(away, 1, size / safe)
    return F.where(away, 0, g * F.sign(x) * F.pow(ratio, p - 1))

# wrong 04b_3_infinite_at_norm_zero: only the elements that are zero are replaced
def norm_backward(g, x, norm, sizes, p, dim, keepdim):
    if p == 0:
        return F.zeros_like(x)
    g = unsqueeze_reduced(g, sizes, dim, keepdim)
    norm = unsqueeze_reduced(norm, sizes, dim, keepdim)
    if p == 1:
        return g * F.sign(x)
    size = F.abs(x)
    if p in (math.inf, -math.inf):
        mine = F.eq(size, norm)
        return F.where(mine, g * F.sign(x), 0) / F.sum(mine, dim, dim is not None)
    norm = F.where(F.eq(norm, 0), math.inf, norm)
    if p == 2:
        return g * x / norm
    ratio = size / norm
    if p < 1:
        ratio = F.where(F.eq(x, 0), math.inf, ratio)
    return g * F.sign(x) * F.pow(ratio, p - 1)
