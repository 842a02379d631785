"""Lets `python -m minigrad_course` run the `minigrad` command."""

from .cli import main

main()
