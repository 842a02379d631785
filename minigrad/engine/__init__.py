"""The engine, which runs a backward pass over the graph."""
