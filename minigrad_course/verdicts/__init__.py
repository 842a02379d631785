"""Decide from the tests of an exercise whether it is right, and if not, which mistake it makes."""
