"""Explanations and edits of fitted shape functions.

Estimators, plots and reports share these functions, which work on shape models, feature records
and sample densities.
"""
