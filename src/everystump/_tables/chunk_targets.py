"""The targets of a training table in chunks: classes, or numbers to predict."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from everystump._tables.labels import (
    encode_labels,
    label_type,
    number_codes,
    read_labels,
    read_numbers,
)
from everystump._tables.validation import check_target


class ChunkTargets(Protocol):
    """What is known of the targets of some chunks, and how they are encoded."""

    @property
    def dtype(self) -> np.dtype:
        """The type of encoded targets."""

    @staticmethod
    def read(y: Any) -> np.ndarray:
        """Return targets as an array of NumPy's own types."""

    def merge(self, other: Any, source: str, other_source: str) -> Any:
        """Return what is known of the targets of both; messages call them by their sources."""

    def encode(self, y: np.ndarray) -> np.ndarray:
        """Return encoded targets."""

    def hashed(self, encoded: np.ndarray) -> np.ndarray:
        """Return the integers that stand for encoded targets in the hashes of rows."""


class ClassWeights(NamedTuple):
    """The distinct labels of some rows, in order, their total weights and numbers of rows."""

    classes: np.ndarray
    weights: np.ndarray
    counts: np.ndarray

    @classmethod
    def summarize(cls, y: np.ndarray, weight: np.ndarray | None) -> tuple[ClassWeights, np.ndarray]:
        """Return the labels of some rows, and the class index of each row."""
        check_target(y)
        classes, label = encode_labels(y)
        counts = np.bincount(label, minlength=len(classes))
        weights = counts if weight is None else np.bincount(label, weight, len(classes))
        return cls(classes, weights.astype(np.float64), counts), label

    @staticmethod
    def read(y: Any) -> np.ndarray:
        """Return labels as an array."""
        return np.asarray(read_labels(y))

    @property
    def dtype(self) -> np.dtype:
        """The type of class indices."""
        return label_type(len(self.classes))

    def merge(self, other: ClassWeights, source: str, other_source: str) -> ClassWeights:
        """Return the labels of the rows of both."""
        if len(other.classes) == 0 or len(self.classes) == 0:
            return self if len(self.classes) else other
        is_text, other_is_text = (part.classes.dtype.kind in "OUS" for part in (self, other))
        if is_text != other_is_text:
            kinds = ("text", "numbers") if is_text else ("numbers", "text")
            raise ValueError(
                f"y: the labels are {kinds[0]} in {source} and {kinds[1]} in {other_source} "
                f"({self.classes.tolist()[0]!r} and {other.classes.tolist()[0]!r}); use one kind."
            )
        joined = np.concatenate([self.classes, other.classes])
        classes, index = np.unique(joined, return_inverse=True)
        weights, counts = np.zeros(len(classes)), np.zeros(len(classes), dtype=np.int64)
        np.add.at(weights, index, np.concatenate([self.weights, other.weights]))
        np.add.at(counts, index, np.concatenate([self.counts, other.counts]))
        return ClassWeights(classes, weights, counts)

    def class_index(self, part: ClassWeights) -> np.ndarray:
        """Return the class index of each class of a part of the rows."""
        return np.searchsorted(self.classes, part.classes).astype(self.dtype)

    def encode(self, y: np.ndarray) -> np.ndarray:
        """Return the class index of each label."""
        classes, label = encode_labels(y)
        unknown = classes[~np.isin(classes, self.classes)]
        if len(unknown):
            raise ValueError(
                f"y: the label {unknown.tolist()[0]!r} is in the second pass over the chunks but "
                f"not in the first one; do not change the data during the fit."
            )
        return np.searchsorted(self.classes, classes).astype(self.dtype)[label]

    def hashed(self, encoded: np.ndarray) -> np.ndarray:
        """Return class indices."""
        return encoded


class Numbers(NamedTuple):
    """Numbers to predict, of which nothing needs to be known beforehand."""

    @classmethod
    def summarize(cls, y: np.ndarray, weight: np.ndarray | None) -> tuple[Numbers, np.ndarray]:
        """Return nothing, and the targets."""
        return cls(), y

    @staticmethod
    def read(y: Any) -> np.ndarray:
        """Return targets as an array of floats."""
        return np.asarray(read_numbers(y), dtype=np.float64)

    @property
    def dtype(self) -> np.dtype:
        """The type of targets."""
        return np.dtype(np.float64)

    def merge(self, other: Numbers, source: str, other_source: str) -> Numbers:
        """Return nothing."""
        return self

    def encode(self, y: np.ndarray) -> np.ndarray:
        """Return the targets."""
        return y

    def hashed(self, encoded: np.ndarray) -> np.ndarray:
        """Return integers by which targets are recognized."""
        return number_codes(encoded)
