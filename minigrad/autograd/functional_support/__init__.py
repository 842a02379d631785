"""Checks and passes that `autograd.functional` is made of."""
