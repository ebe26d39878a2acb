"""What estimators show for two classes or for several."""

from __future__ import annotations

from typing import Any


def per_class(parts: list) -> Any:
    """Return what estimators show: one thing for two classes, a list of them for several."""
    return parts[0] if len(parts) == 1 else parts


def as_class_list(shown: Any) -> list:
    """Return as a list what `per_class` made of one."""
    return shown if isinstance(shown, list) else [shown]
