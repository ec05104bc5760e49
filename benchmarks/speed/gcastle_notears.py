"""gcastle's linear NOTEARS, imported without the deep-learning framework that the rest of gcastle needs.

gcastle imports torch at package level although its linear NOTEARS never uses it; placeholders stand in
for the packages on the way, so that the algorithm itself runs exactly as published.
"""

import importlib
import importlib.util
import logging
import sys
import types


def load():
    """Return gcastle's Notears class."""
    logging.disable(logging.INFO)
    root = next(iter(importlib.util.find_spec("castle").submodule_search_locations))
    for name in ("castle.algorithms", "castle.algorithms.gradient", "castle.algorithms.gradient.notears"):
        package = types.ModuleType(name)
        package.__path__ = ["/".join([root, *name.split(".")[1:]])]
        sys.modules[name] = package
    torch = types.ModuleType("torch")
    torch.Tensor = type("Tensor", (), {})
    sys.modules["torch"] = torch
    try:
        return importlib.import_module("castle.algorithms.gradient.notears.linear").Notears
    finally:
        del sys.modules["torch"]
