"""Folds a pipeline that ends in an additive model into one model of its input columns."""
