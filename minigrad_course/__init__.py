"""The `minigrad` command and what it shows; importing `minigrad` never imports this."""
