"""The soft margin loss of Evgeniou et al., section 5."""

from __future__ import annotations

from numbers import Real

import numpy as np


def soft_margin_loss(margin: np.ndarray, delta: float) -> np.ndarray:
    """Return 1 for negative margins, 0 from ``delta`` on, and a straight line between.

    Parameters
    ----------
    margin : ndarray
        Margins ``y f(x)``.
    delta : float
        Where the loss ends; 0 counts errors, and a margin of 0 is none, as ``theta(0) = 0`` has it.

    Returns
    -------
    ndarray
        The loss ``pi_delta(-margin)`` of each row.

    Examples
    --------
    >>> soft_margin_loss(np.array([-1.0, 0.0, 0.5, 3.0]), 2.0)
    array([1.  , 1.  , 0.75, 0.  ])
    """
    check_delta(delta)
    margin = np.asarray(margin, dtype=np.float64)
    if delta == 0.0:
        return (margin < 0).astype(np.float64)
    return np.clip(1.0 - margin / delta, 0.0, 1.0)


def check_delta(delta: float) -> None:
    """Raise unless ``delta`` is a margin to count up to."""
    if not isinstance(delta, Real) or not 0 <= delta < np.inf:
        raise ValueError(f"delta={delta!r} must be a finite number, 0 or more.")
