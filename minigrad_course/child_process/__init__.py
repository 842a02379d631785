"""The part of the course that runs in the process of a learner's code."""
