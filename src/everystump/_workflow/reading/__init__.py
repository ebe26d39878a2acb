"""Files to dataframes: decompression, CSV and Parquet, and numbers and dates in text cells."""
