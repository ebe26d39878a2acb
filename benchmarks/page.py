"""The report page in a browser: its size, how long it opens, and how soon it answers a slider."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.data import real
from benchmarks.report import Absent, Row
from benchmarks.settings import N_JOBS, Settings, say
from benchmarks.targets import Amount
from everystump import StumpLogisticRegression
from everystump.report import write_report

FRAME = 1 / 60
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
_OPEN = "() => performance.getEntriesByType('navigation')[0].domComplete"
# What is done at once, and then between the first and the last callback of the next frame, with
# the layout that it makes necessary.
_SLIDE = """async () => {
  const sliders = [...document.querySelectorAll("#whatif input[type=range]")];
  const spent = [];
  for (let k = 0; k < 50; k += 1) {
    const slider = sliders[k % sliders.length];
    slider.value = Number(slider.min) + Math.random() * (slider.max - slider.min);
    let begun;
    requestAnimationFrame(() => { begun = performance.now(); });
    const start = performance.now();
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    const atOnce = performance.now() - start;
    await new Promise((done) => requestAnimationFrame(() => {
      document.body.getBoundingClientRect();
      spent.push(atOnce + performance.now() - begun);
      done();
    }));
  }
  return spent;
}"""


def opening_and_sliding(settings: Settings) -> Iterator[Row | Absent]:
    """A page of 57 features (spambase) in Chromium: opening it, and moving its sliders."""
    browser = next(filter(None, map(shutil.which, _BROWSERS)), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        browser = None
    if browser is None:
        yield Absent("the report page", "skipped", "there is no Chromium, or no playwright")
        return
    X, y = real("spambase", settings)
    model = StumpLogisticRegression(n_jobs=N_JOBS).fit(X[::2], y[::2])
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as started:
        path = Path(folder) / "page.html"
        write_report(model, path, X[1::2], y[1::2])
        say(f"  a page of {path.stat().st_size / 1e6:.2f} MB ...")
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
        "a frame of a screen",
        Amount(1.0, "s"),
    )
    yield Row(
        "the same: a slider is moved, median of 50",
        float(np.median(spent)),
        FRAME,
        "a frame of a screen",
        Amount(0.0167, "s"),
        quality=f"worst {1000 * spent.max():.1f} ms",
    )
