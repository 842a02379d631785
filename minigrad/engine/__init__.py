"""How gradients flow: one backward pass over the graph."""
