"""What a model predicts: classes or numbers."""
