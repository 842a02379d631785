"""Data and small trainings that lessons, the tour and the benchmarks show."""
