"""The report page in a browser: its size, and the times of opening it and moving its sliders."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import load_table
from benchmarks.memory import noisy_two_norm
from benchmarks.report import Row, Skipped
from benchmarks.settings import N_JOBS, Settings, log
from benchmarks.targets import Limit
from everystump import StumpLogisticRegression
from everystump.report import write_report

FRAME = 1 / 60
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
_OPEN = "() => performance.getEntriesByType('navigation')[0].domComplete"
# Time of the event handler, plus the time between the first and last callback of the next frame,
# including layout.
_SLIDE = """async () => {
  const sliders = [...document.querySelectorAll("#whatif input[type=range]")];
  const spent = [];
  for (let k = 0; k < 50; k += 1) {
    const slider = sliders[k % sliders.length];
    slider.value = Number(slider.min) + Math.random() * (slider.max - slider.min);
    let started;
    requestAnimationFrame(() => { started = performance.now(); });
    const start = performance.now();
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    const handler = performance.now() - start;
    await new Promise((done) => requestAnimationFrame(() => {
      document.body.getBoundingClientRect();
      spent.push(handler + performance.now() - started);
      done();
    }));
  }
  return spent;
}"""

# The same for the threshold of decisions.
_DECIDE = """() => {
  const slider = document.getElementById("threshold");
  return Array.from({ length: 60 }, (_, k) => {
    const start = performance.now();
    slider.value = String(k / 60);
    slider.dispatchEvent(new Event("input"));
    document.body.getBoundingClientRect();
    return performance.now() - start;
  });
}"""


def opening_and_sliding(settings: Settings) -> Iterator[Row | Skipped]:
    """Pages of 57 features (spambase) and of 100,000 rows in Chromium: opening, moving sliders."""
    browser = next(filter(None, map(shutil.which, _BROWSERS)), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        browser = None
    if browser is None:
        yield Skipped("the report page", "skipped", "Chromium or playwright is not installed")
        return
    X, y = load_table("spambase", settings)
    model = StumpLogisticRegression(n_jobs=N_JOBS).fit(X[::2], y[::2])
    rows, labels = noisy_two_norm(settings.rows(100_000) + 2000)
    decider = StumpLogisticRegression(C=0.01, n_jobs=N_JOBS).fit(rows[:2000], labels[:2000])
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as started:
        options = ["--no-sandbox"] if os.getuid() == 0 else []
        opened = started.chromium.launch(executable_path=browser, args=options).new_page()
        size = _open(opened, Path(folder), model, X[1::2], y[1::2])
        seconds = opened.evaluate(_OPEN) / 1000
        spent = np.array(opened.evaluate(_SLIDE)) / 1000
        _open(opened, Path(folder), decider, rows[2000:], labels[2000:])
        decided = np.array(opened.evaluate(_DECIDE)) / 1000
    yield Row(
        f"page of 57 features, {size:.2f} MB: open",
        seconds,
        FRAME,
        "one frame of a screen",
        Limit(1.0, "s"),
    )
    yield Row(
        "the same: moving a slider, median of 50",
        float(np.median(spent)),
        FRAME,
        "one frame of a screen",
        Limit(0.0167, "s"),
        quality=f"worst {1000 * spent.max():.1f} ms",
    )
    yield Row(
        f"page of {len(labels) - 2000:,} held-out rows: moving the threshold, median of 60",
        float(np.median(decided)),
        FRAME,
        "one frame of a screen",
        Limit(0.0167, "s"),
        quality=f"worst {1000 * decided.max():.1f} ms",
    )


def _open(page: Any, folder: Path, model: Any, X: np.ndarray, y: np.ndarray) -> float:
    """Open the page of a model and of rows that are held out; return its megabytes."""
    path = folder / "page.html"
    write_report(model, path, X, y, about={"rows": "held-out"})
    page.goto(path.as_uri())
    size = path.stat().st_size / 1e6
    log(f"  a page of {size:.2f} MB ...")
    return size
