"""Indexing, gathering, scattering and masks."""
