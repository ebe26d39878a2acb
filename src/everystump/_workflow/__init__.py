"""What the commands do: from a user's file to a fitted, evaluated model, and back to predictions.

``reading`` turns files into data frames and ``schema`` infers the type of each column, the labels
and the training data.  ``presets`` names the models, ``plan`` says how to train and evaluate one,
and ``fitting`` does it; everything that is known about the result is stored in ``about_``.
``matching`` applies the schema of a fitted model to another file, and ``predictions`` and
``evaluation`` compute tables from the result.
"""
