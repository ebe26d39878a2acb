"""Pipelines whose last step is an additive model, as a model of the pipeline's own columns."""
