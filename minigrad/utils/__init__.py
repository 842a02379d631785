"""Tools beside the engine."""
