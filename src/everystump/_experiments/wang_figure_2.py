"""Wang et al. (2019), Fig. 2: accuracy and time by the share of training rows on fourclass."""

from __future__ import annotations

from everystump._experiments.wang_figures import figure

EXPERIMENT = figure(2, "fourclass")
