"""Evgeniou et al. (2004), Figure 2: leave-one-out bounds on the thyroid data."""

from everystump._experiments.evgeniou_bounds import figure

EXPERIMENT = figure(2, "thyroid")
