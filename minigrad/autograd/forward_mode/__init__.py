"""Forward mode: tangents and how they pass operations."""
