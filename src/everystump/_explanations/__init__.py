"""Explanations and edits of fitted shape functions, computed from plain records.

Estimators, plots and reports share these functions, which work on shape models, feature records
and sample densities.
"""
