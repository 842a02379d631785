"""The part of the course that runs in a learner's process."""
