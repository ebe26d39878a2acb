"""Finite ensembles of stumps: the best stump, boosting, bagging."""
