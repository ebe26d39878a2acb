"""Wang et al. (2019), Fig. 4: accuracy and time by the share of training rows on chess."""

from __future__ import annotations

from everystump._experiments.wang_figures import figure

EXPERIMENT = figure(4, "chess")
