"""Lazy imports of the public names of a package, as listed in its stub ``__init__.pyi``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any


def attach_stub(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package.

    The stub has one name per line: ``from .module import name as name``.  Submodules,
    ``from . import module as module``, are attributes but not in ``__all__``.  The line
    ``from .module import *`` imports the names in the ``__all__`` of that module.
    """
    modules = _read_stub(package)
    public = sorted(name for name, module in modules.items() if module != ".")

    def import_name(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if modules[name] == ".":
            return import_module(f".{name}", package)
        return getattr(import_module(modules[name], package), name)

    def list_names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *modules})

    return import_name, list_names, public


def _read_stub(package: str) -> dict[str, str]:
    """Return the relative module of each name in the stub of a package."""
    spec: Any = sys.modules[package].__spec__
    stub = spec.loader.get_data(f"{spec.origin.rpartition('.')[0]}.pyi")
    modules: dict[str, str] = {}
    for line in stub.decode().splitlines():
        match line.split():
            case ["from", module, "import", "*", *_]:
                modules |= dict.fromkeys(import_module(module, package).__all__, module)
            case ["from", module, "import", name, "as", _]:
                modules[name] = module
    return modules
