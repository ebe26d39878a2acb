"""The numerical core: from coded columns to fitted shape functions."""
