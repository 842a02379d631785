"""A learner's workspace: exercises and progress, skipped stages, and the next step."""
