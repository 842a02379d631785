"""What PyTorch's autograd promises, one short test for each promise, run here and on PyTorch."""
