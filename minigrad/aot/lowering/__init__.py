"""Lowering: NumPy calls in place of ops, so that the passes over a program see inside them."""
