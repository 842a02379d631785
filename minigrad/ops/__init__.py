"""All operations, one family a file; importing this publishes them.

Every file in this folder is imported: a new one needs no line here.
"""

import gc
from importlib import import_module
from pkgutil import walk_packages

from ..op.publish import publish_all

_collects = gc.isenabled()
gc.disable()  # hundreds of classes are made here, and garbage among them is looked for all the time
try:
    for _file in walk_packages(__path__, f"{__name__}."):
        import_module(_file.name)
    publish_all()
finally:
    if _collects:
        gc.enable()
