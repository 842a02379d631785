"""Run a learner's files, in processes of their own, and read back what happened."""
