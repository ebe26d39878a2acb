"""Wang et al. (2019), Fig. 3: accuracy and time by the share of training rows on ionosphere."""

from __future__ import annotations

from everystump._experiments.wang_figures import figure

EXPERIMENT = figure(3, "ionosphere")
