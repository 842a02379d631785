"""Similarity: which answers were copied, from the package or from each other."""
