"""Grading that a learner's code cannot decide: sandbox, seeded probes, one model of results."""
