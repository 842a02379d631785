"""The package's own models and trainings run by PyTorch: the same source, with `torch` imported."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]

#: Where each import of the package leads to in PyTorch; the first that fits holds.
IMPORTS = (
    (r"import minigrad as torch", "import torch"),
    (r"from minigrad\.nn\.models\.gpt import", "from _with_torch_gpt import"),
    (r"from minigrad import", "from torch import"),
    (r"from \.\.\.autograd\.grad_mode import", "from torch import"),
    (r"from \.\.\.op\.declaration import F as ops", "import torch as ops"),
    (r"from \.\.\.ops\.creation\.create import", "from torch import"),
    (r"from \.\.\.tensor\.tensor import", "from torch import"),
    (r"from \.\. import functional as F", "from torch.nn import functional as F"),
    (r"from \.\. import", "from torch.nn import"),
    (r"from \.\.\w+ import", "from torch.nn import"),
)


def with_torch(path: str) -> ModuleType:
    """Return the module at a path inside the package, made with PyTorch."""
    name = f"_with_torch_{Path(path).stem}"
    if name not in sys.modules:
        source = (ROOT / path).read_text(encoding="utf-8")
        for pattern, replacement in IMPORTS:
            source = re.sub(rf"(?m)^{pattern}\b", replacement, source)
        assert not re.search(r"(?m)^(from|import) (minigrad|\.)", source), "an import is left"
        if "from _with_torch_gpt import" in source:
            with_torch("minigrad/nn/models/gpt.py")
        module = ModuleType(name)
        sys.modules[name] = module
        try:
            exec(compile(source, name, "exec"), vars(module))
        except BaseException:
            del sys.modules[name]
            raise
    return sys.modules[name]
