"""Tables with numeric targets, for the tests of plots and of the report page."""

import numpy as np
import pandas as pd


def make_houses(n=300, seed=0):
    """Return a table with a category and missing values, and prices that depend on two features."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "area": rng.uniform(30, 200, n),
            "age <years>": rng.integers(0, 80, n).astype(float),
            "town": rng.choice(["Bern", "Lyon", "Graz"], n),
        }
    )
    price = 100 + 1.5 * X["area"] - 0.8 * X["age <years>"] + 40 * (X["town"] == "Lyon")
    price += 0.4 * (X["area"] - 100) * (X["town"] == "Bern")
    X.loc[::7, "area"] = np.nan
    X.loc[::5, "town"] = None
    return X, price + 10 * rng.normal(size=n)
