"""Data and small training programs for lessons, the tour and the benchmarks."""
