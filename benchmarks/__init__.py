"""How fast and how good everystump is, as ratios against peers measured in the same run."""
