"""The package's own source of a network, run with PyTorch's layers in the place of its own.

What comes out is the same network made of PyTorch's parts; torchvision is not needed.
"""

from __future__ import annotations

import ast
import inspect
from types import ModuleType
from typing import Any

import torch
import torch.nn.functional


def twin(module: ModuleType) -> dict[str, Any]:
    """Return the names that a module of `minigrad.nn.models` defines, made with PyTorch."""
    tree = ast.parse(inspect.getsource(module))
    names: dict[str, Any] = {"__name__": "twin", "Tensor": torch.Tensor, "init": torch.nn.init,
                             "F": torch.nn.functional}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.level:
            for alias in node.names:
                if alias.name not in names and alias.name != "functional":
                    names[alias.name] = getattr(torch.nn, alias.name)
    tree.body = [n for n in tree.body if not (isinstance(n, ast.ImportFrom) and n.level)]
    exec(compile(tree, inspect.getsourcefile(module) or "twin", "exec"), names)
    return names
