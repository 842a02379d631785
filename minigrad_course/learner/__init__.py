"""A learner's folder: the exercises and their progress, skipped stages, and what comes next."""
