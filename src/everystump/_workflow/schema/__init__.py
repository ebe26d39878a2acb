"""Inference of a schema: column types, dropped columns, labels, and the training data."""
