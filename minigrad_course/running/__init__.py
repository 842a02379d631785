"""Run a learner's files in separate processes, and read back what happened."""
