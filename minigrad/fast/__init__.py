"""The same as the rest of the package, quicker: delete this folder and every test still passes."""

from .backward_loop import install_loop


def switch_on() -> None:
    """Register everything in this folder where the package asks for it."""
    install_loop()
