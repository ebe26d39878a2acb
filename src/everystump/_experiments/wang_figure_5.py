"""Wang et al. (2019), Fig. 5: accuracy and time by the share of training rows on monk1."""

from __future__ import annotations

from everystump._experiments.wang_figures import figure

EXPERIMENT = figure(5, "monk1")
