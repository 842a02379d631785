"""The same as the rest of the package, quicker: delete this folder and every test still passes."""
