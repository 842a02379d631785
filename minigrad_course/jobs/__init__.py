"""Grading as jobs: each submission is a job with a key, and the result is one record."""
