# right: the mean of the slopes to both sides, from two calls
def slope(f, x, eps=1e-6):
    left, right = (f(x + sign * eps) for sign in (-1, 1))
    return 0.5 * (right - left) / eps

# right: divided by the distance that the rounded points really have
def slope(f, x, eps=1e-6):
    low, high = x - eps, x + eps
    return (f(high) - f(low)) / (high - low)

# wrong -: the mean of a slope to the left and one to the right, with f(x) in the middle
def slope(f, x, eps=1e-6):
    return ((f(x + eps) - f(x)) / eps + (f(x) - f(x - eps)) / eps) / 2

# wrong -: half of eps to each side
def slope(f, x, eps=1e-6):
    return (f(x + eps / 2) - f(x - eps / 2)) / eps

# wrong -: a complex step
def slope(f, x, eps=1e-6):
    return f(x + 1j * eps).imag / eps

# wrong -: a step that grows with x
def slope(f, x, eps=1e-6):
    h = eps * max(1.0, abs(x))
    return (f(x + h) - f(x - h)) / (2 * h)

# wrong -: extrapolated from two distances
def slope(f, x, eps=1e-6):
    def central(h):
        return (f(x + h) - f(x - h)) / (2 * h)
    return (4 * central(eps / 2) - central(eps)) / 3
