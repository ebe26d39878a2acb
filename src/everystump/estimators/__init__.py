"""scikit-learn classes, thin over the rooms below; each is imported when it is first used."""
