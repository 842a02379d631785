"""`torch.autograd.functional`: products with vectors, whole jacobians and hessians."""

from .derivatives import hessian, hvp, jacobian, jvp, vhp, vjp

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

for _each in (hessian, hvp, jacobian, jvp, vhp, vjp):
    _each.__module__ = __name__  # as in PyTorch
