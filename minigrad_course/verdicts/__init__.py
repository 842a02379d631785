"""Tell from the tests of an exercise whether it is right, and which mistake was made if not."""
