"""Builds a release and tries it, and tries each version of Python and NumPy that is supported."""
