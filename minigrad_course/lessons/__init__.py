"""Lessons as a reader meets them: pieces to show one by one, and blocks to run."""
