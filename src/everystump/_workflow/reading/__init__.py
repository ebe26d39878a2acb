"""Files to data frames: decompression, CSV and Parquet, and numbers and dates in text cells."""
