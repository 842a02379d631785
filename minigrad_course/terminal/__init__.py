"""The course in a terminal: show lessons and verdicts, watch files, read keys."""
