"""Indexing, gathering, scattering and masking."""
