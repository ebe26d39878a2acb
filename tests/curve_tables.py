"""A table whose features need different axes, inputs and orders of levels on the report page."""

import numpy as np
import pandas as pd

SCRIPT = "</script><script>window.hacked = 1</script>"
HOSTILE_NAMES = [
    SCRIPT,
    "__proto__",
    "quote \" and ' <b>bold</b> & co",
    "\u202eRTL \u05d0\u05d1\u05d2 \u0645\u0631\u062d\u0628\u0627",
    "\U0001f986 duck \U0001f469\u200d\U0001f680",
    "very long " * 40,
    "control \x00 \x0b characters",
]
HOSTILE_LEVELS = [
    SCRIPT,
    "=HYPERLINK(1)",
    "+cmd|' /C calc'!A0",
    "constructor",
    "toString",
    "\u202eleft",
    "\U0001f427",
    "x" * 300,
]
BANDS = ["100+", "0-9", "20-29", "10-19"]
DAYS = ["Wed", "Mon", "Sun", "Fri"]


def curve_table(n=900, seed=0):
    """Return a frame of features with long tails, two values, and many levels, and a score."""
    rng = np.random.default_rng(seed)
    products = np.array([f"product {k}" for k in range(150)])
    code = np.concatenate([np.arange(150), rng.integers(0, 20, n - 150)])
    frame = pd.DataFrame(
        {
            "age": rng.uniform(20, 70, n).round(),
            "price": np.exp(rng.normal(3, 1.5, n)).round(2),
            "returns": np.where(rng.random(n) < 0.8, 0, np.exp(rng.normal(3, 1.5, n)).round()),
            "heavy": rng.standard_t(1, n).round(3),
            "flag": rng.integers(0, 2, n),
            "member": rng.choice(["yes", "no"], n),
            "band": rng.choice(BANDS, n),
            "day": rng.choice(DAYS, n),
            "product": products[code],
        }
    )
    score = (
        0.04 * (frame["age"] - 45)
        + 0.7 * np.log(frame["price"] / 20)
        + 0.9 * frame["flag"]
        - 0.8 * (frame["member"] == "yes")
        + np.tanh(frame["heavy"])
        + 0.3 * frame["band"].map(BANDS.index)
        + 0.4 * (frame["day"] == "Sun") * np.log(frame["price"] / 20)
        + np.where(code % 2, 0.8, -0.8)
    )
    return frame, score.to_numpy() + rng.logistic(size=n)
