"""All operations, one family a file; importing this publishes them.

Every file in this folder is imported: a new one needs no line here.
"""

from importlib import import_module
from pkgutil import walk_packages

from ..op.publish import publish_all

for _file in walk_packages(__path__, f"{__name__}."):
    import_module(_file.name)

publish_all()
