"""`python -m minigrad.course` is the command `minigrad`."""

from .cli import main

main()
