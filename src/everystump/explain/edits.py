"""What the pictures say of models that were edited by hand."""

from __future__ import annotations

from typing import Any

from everystump.estimators._editing import EditedModelError
from everystump.explain.names import shortened

_LONGEST = 60


def edit_notes(estimator: Any) -> list[str]:
    """Return what a caption adds: the last edit of the model, nothing if there is none."""
    edits = getattr(estimator, "edits_", ())
    if not edits:
        return []
    others = f" after {len(edits) - 1} more" if len(edits) > 1 else ""
    return [f"edited: {shortened(edits[-1], _LONGEST)}{others}"]


def training_attribute(estimator: Any, name: str, otherwise: str) -> Any:
    """Return what training found, or say why the model has it no more, or never had it."""
    try:
        return getattr(estimator, name)
    except EditedModelError:
        raise
    except AttributeError:
        raise ValueError(f"estimator={estimator!r} {otherwise}.") from None
