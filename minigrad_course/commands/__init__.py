"""The commands of `minigrad`, one group per file: parse options, call the code, print results."""
