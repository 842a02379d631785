"""`python -m minigrad_course` is the command `minigrad`."""

from .cli import main

main()
