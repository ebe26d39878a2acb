"""The type of a term of a model."""

from __future__ import annotations

# The features of a term, in ascending order: one for a curve, two or three for an interaction.
Term = tuple[int, ...]
