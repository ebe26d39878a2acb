"""Reading, validation and encoding of users' tables and labels.

A table becomes one matrix of floats and a record of its features.  Columns are read one by one, so
that a mixed dataframe is never copied to objects.  In the matrix a level is its index in
``Feature.levels``, -1 if it is unknown, and a missing value is NaN.
"""
