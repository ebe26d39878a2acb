"""Explanations and edits of fitted shape functions, computed from plain records.

Estimators, plots and reports share these functions.  They take shape models, feature records and
sample densities, and know no estimator class.
"""
