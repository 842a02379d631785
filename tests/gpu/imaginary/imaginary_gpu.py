"""pytest's plugin, and for scripts the import before CuPy's: an imaginary GPU from here on."""

import machine

machine.install()
