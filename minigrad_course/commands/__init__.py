"""The commands of `minigrad`, one group a file: they read options and print what others find."""
