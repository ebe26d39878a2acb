"""Evgeniou et al. (2004), Figure 1: leave-one-out bounds on the breast data."""

from everystump._experiments.evgeniou_bounds import figure

EXPERIMENT = figure(1, "breast")
