"""What the commands do: from a user's file to a fitted and evaluated model, and to predictions.

``reading`` turns files into dataframes; ``schema`` infers the kind of each column, the labels and
the training data.  ``presets`` names the models, ``plan`` specifies how to train and evaluate one,
and ``fitting`` does it and records the results in ``about_``.  ``matching`` applies the schema of a
fitted model to another file; ``predictions`` and ``evaluation`` compute tables from it.
"""
