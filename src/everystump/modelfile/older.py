"""What files from before a parameter was there mean, where its default is another behavior."""

from __future__ import annotations

from typing import Any

from everystump.estimators.perceptron import PerceptronSVC

# For each class: parameters that older files lack, and what their models hold beside.
_BEFORE: dict[type, tuple[dict[str, Any], dict[str, Any]]] = {
    PerceptronSVC: ({"scale": False}, {"scale_": None}),
}


def completed(
    cls: type, arguments: dict[str, Any], held: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parts of an object with what a file of an older everystump leaves out."""
    parameters, beside = _BEFORE.get(cls, ({}, {}))
    if all(name in arguments for name in parameters):
        return arguments, held
    return {**parameters, **arguments}, {**beside, **held}
