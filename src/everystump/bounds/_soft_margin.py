"""The soft margin loss (Evgeniou et al., section 5)."""

from __future__ import annotations

import numpy as np

from everystump.bounds._checks import check_delta


def soft_margin_loss(margin: np.ndarray, delta: float) -> np.ndarray:
    """Return 1 for negative margins, 0 from ``delta`` on, and linear values between.

    Parameters
    ----------
    margin : ndarray
        Margins ``y f(x)``.
    delta : float
        The margin from which the loss is 0.  With ``delta=0`` negative margins are counted; a
        margin of 0 is not an error, as in the paper (``theta(0) = 0``).

    Returns
    -------
    ndarray
        The loss ``pi_delta(-margin)`` of each margin.

    Examples
    --------
    >>> import numpy as np
    >>> from everystump.bounds import soft_margin_loss
    >>> soft_margin_loss(np.array([-1.0, 0.0, 0.5, 3.0]), 2.0)
    array([1.  , 1.  , 0.75, 0.  ])
    """
    check_delta(delta)
    margin = np.asarray(margin, dtype=np.float64)
    if delta == 0.0:
        return (margin < 0).astype(np.float64)
    return np.clip(1.0 - margin / delta, 0.0, 1.0)
