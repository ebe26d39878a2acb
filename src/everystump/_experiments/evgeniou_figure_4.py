"""Evgeniou et al. (2004), Figure 4: leave-one-out bounds on the heart data."""

from everystump._experiments.evgeniou_bounds import figure

EXPERIMENT = figure(4, "heart")
