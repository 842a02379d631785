"""Checks and backward passes of `autograd.functional`."""
