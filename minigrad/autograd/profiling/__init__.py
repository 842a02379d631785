"""The profiler's recorders and the tables, traces and pages made from them."""
