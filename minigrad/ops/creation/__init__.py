"""Tensors created from data, from sizes, or like other tensors."""
