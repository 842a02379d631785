"""Tools of those who write the course: building it from its sources, and trying all of it."""
