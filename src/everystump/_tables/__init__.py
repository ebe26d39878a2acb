"""Users' tables and labels: reading, validating and encoding them.

A table becomes one matrix of floats and a record of its features.  Each column is read by itself,
so that a mixed dataframe is never copied to objects.  In the matrix a category is the index of its
level in ``Feature.levels``, -1 for an unknown level, and a missing value is NaN.
"""
