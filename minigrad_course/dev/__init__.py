"""Tools for authors of the course: build it from its sources, and verify all of it."""
