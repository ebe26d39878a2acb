"""Evgeniou et al. (2004), Figure 3: leave-one-out bounds on the diabetes data."""

from everystump._experiments.evgeniou_bounds import figure

EXPERIMENT = figure(3, "diabetes")
