"""What runs in the process where a learner's code runs; it imports nothing else of the course."""
