"""The report page in a browser: its size, and the times of opening it and moving a slider."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.data import load_table
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


def opening_and_sliding(settings: Settings) -> Iterator[Row | Skipped]:
    """A page of 57 features (spambase) in Chromium: opening it and moving its sliders."""
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
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as started:
        path = Path(folder) / "page.html"
        write_report(model, path, X[1::2], y[1::2])
        log(f"  a page of {path.stat().st_size / 1e6:.2f} MB ...")
        options = ["--no-sandbox"] if os.getuid() == 0 else []
        opened = started.chromium.launch(executable_path=browser, args=options).new_page()
        opened.goto(path.as_uri())
        seconds = opened.evaluate(_OPEN) / 1000
        spent = np.array(opened.evaluate(_SLIDE)) / 1000
        size = path.stat().st_size / 1e6
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
