"""Evgeniou et al. (2004), Figure 5: leave-one-out bounds on the usps data."""

from everystump._experiments.evgeniou_bounds import figure

EXPERIMENT = figure(5, "usps")
