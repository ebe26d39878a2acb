"""Names that a parameter may have."""

from __future__ import annotations

from sklearn.utils._param_validation import StrOptions


def one_of(*names: str) -> StrOptions:
    """Return the constraint that a parameter is one of some names; errors list them in this order.

    Examples
    --------
    >>> print(one_of("mean", "svm"))
    a str among {'mean', 'svm'}
    """
    return StrOptions(dict.fromkeys(names).keys())
