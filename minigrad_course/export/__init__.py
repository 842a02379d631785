"""Makes an assignment of a stage: what students get, and the autograder for a platform."""
