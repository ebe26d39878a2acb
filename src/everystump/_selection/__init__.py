"""Model selection: folds, grids of C and scorers."""
