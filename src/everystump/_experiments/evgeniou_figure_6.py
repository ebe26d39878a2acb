"""Evgeniou et al. (2004), Figure 6: leave-one-out bounds on the USPS data with a large C."""

from everystump._experiments.evgeniou_bounds import BOUNDS_FAIL, LARGE_C, figure

EXPERIMENT = figure(6, "usps", LARGE_C, BOUNDS_FAIL)
