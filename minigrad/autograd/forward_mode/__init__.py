"""Forward mode: tangents, and their propagation through ops."""
