"""Neural network operations."""
