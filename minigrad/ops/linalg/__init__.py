"""Matrix products and decompositions."""
