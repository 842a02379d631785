"""Lessons for their readers: pieces to show one by one, and blocks to run."""
