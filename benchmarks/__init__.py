"""Time, memory and accuracy of everystump compared with peers in the same run."""
