"""Tensors made from data, sizes or other tensors."""
