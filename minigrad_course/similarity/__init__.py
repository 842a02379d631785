"""Similarity: find answers that were copied from the package or from each other."""
