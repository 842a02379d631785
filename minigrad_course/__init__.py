"""The `minigrad` command and the course; importing `minigrad` never imports this package."""
