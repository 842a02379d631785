"""PyTorch's own databases of ops, modules and optimizers, put to minigrad; see __main__.py."""
