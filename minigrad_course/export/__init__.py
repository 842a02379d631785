"""Make an assignment from stages: the students' files, and the autograder for a platform."""
