// The evaluation of a regressor: residuals, and how many rows are inside intervals.

const COVERAGE_BINS = 8;
const MIN_BIN_ROWS = 30;

/** Draw residuals and coverage; return the rows. */
function drawNumberEvaluation(summary) {
  const { held_out: stored, about } = summary;
  const [predicted, actual] = [stored.predicted, stored.actual].map((text) =>
    Float64Array.from(decodeNumbers(text)));
  const residuals = actual.map((y, i) => y - predicted[i]);
  const rows = { nStored: stored.n_stored, hasIntervals: areNew(about), predicted, actual,
    residuals };
  drawResiduals(summary, byId("quality-cards"));
  byId("quality-cards").append(...drawCoverage(summary, rows));
  return rows;
}

/** Return rows in bins of predictions, with their absolute residuals in ascending order. */
function binPredictions({ predicted, residuals }) {
  const order = Uint32Array.from(predicted, (_, i) => i).sort((a, b) =>
    predicted[a] - predicted[b]);
  const n = order.length;
  const nBins = Math.min(COVERAGE_BINS, Math.max(1, Math.floor(n / MIN_BIN_ROWS)));
  return Array.from({ length: nBins }, (_, k) => {
    const own = order.subarray(Math.round((k * n) / nBins), Math.round(((k + 1) * n) / nBins));
    return { low: predicted[own[0]], high: predicted[own[own.length - 1]],
      sizes: Float64Array.from(own, (i) => Math.abs(residuals[i])).sort() };
  });
}

/** Return how many of ascending sizes are at most a width. */
const countWithin = (sizes, width) => sizes.length - countAbove(sizes, width, true);

/** Return cards with the residuals and the coverage of intervals of a width that can be changed. */
function drawCoverage(summary, rows) {
  const { about: { interval }, formats } = summary;
  const sizes = Float64Array.from(rows.residuals, Math.abs).sort();
  const own = typeof interval?.half_width === "number" ? interval.half_width : null;
  const initial = own ?? quantileOf(sizes, 0.9);
  const top = Math.max(sizes[sizes.length - 1], initial) * 1.05 || 1;
  const slider = html("input", { type: "range", id: "half-width", min: 0, max: top, step: "any" });
  const number = html("input", { type: "number", id: "half-width-number", min: 0, step: "any",
    inputmode: "decimal", "aria-label": "Half width, number" });
  const result = html("p", { class: "figure" });
  const holder = html("div", {});
  const bins = binPredictions(rows);
  const histogram = drawResidualHistogram(rows, formats);
  function show(width) {
    histogram.show(width);
    slider.value = String(width);
    if (document.activeElement !== number) number.value = String(Number(width.toPrecision(5)));
    const inside = countWithin(sizes, width);
    result.replaceChildren(figure("coverage", inside / sizes.length, formatPercent),
      ` of the rows are within \u00b1${formats.withUnit(formats.value(width))} of the prediction` +
      `${rows.hasIntervals ? ` (95% interval ${formatInterval(wilson(inside, sizes.length))})`
        : ""}.`);
    holder.replaceChildren(coverageChart(bins, width, inside / sizes.length, formats,
      rows.hasIntervals));
  }
  slider.addEventListener("input", () => show(Number(slider.value)));
  number.addEventListener("input", () => {
    if (number.value !== "" && Number(number.value) >= 0) show(Number(number.value));
  });
  show(initial);
  return [histogram.element, decisionCard({ id: "coverage", title: "Coverage of intervals",
    rows: () => coverageRows(bins, Number(slider.value)) }, html("div", { class: "threshold" },
    html("label", { for: "half-width" }, "Half width"), html("span", { class: "slider" }, slider),
    number), result, holder, coverageHint(summary, own))];
}

/** Return the histogram of the residuals, with lines at the ends of the interval. */
function drawResidualHistogram({ residuals }, formats) {
  const largest = residuals.reduce((most, x) => Math.max(most, Math.abs(x)), 0) || 1;
  const range = [-largest, largest];
  const nBars = countBars(residuals.length);
  const [counts] = countInBins(residuals, new Uint8Array(residuals.length), range, nBars);
  const top = 1.08 * Math.max(...counts);
  const plot = plainAxes({ x: range, y: [0, top], yName: "rows",
    xName: `residual${formats.unit ? ` (${formats.unit})` : ""}`, label: "Histogram of residuals",
    yTicks: ticks(0, top, 4).filter(Number.isInteger) });
  const width = (2 * largest) / nBars;
  counts.forEach((count, k) => count && plot.chart.append(svg("rect", { class: "margin",
    x: plot.atX(range[0] + k * width) + 0.4, width: plot.atX(width) - plot.atX(0) - 0.8,
    y: plot.atY(count), height: plot.ground - plot.atY(count) },
  svg("title", {}, `${formats.value(range[0] + k * width)} to ` +
    `${formats.value(range[0] + (k + 1) * width)}: ${count}`))));
  const lines = [0, 1].map(() => thresholdLine(plot, "threshold-line", range));
  return {
    element: decisionCard({ id: "residual-histogram", title: "Distribution of residuals",
      rows: () => binRows("residual", range, [["rows", counts]]) }, plot.chart,
      `${nBars} bins of equal width; the lines are the ends of the interval whose half width is ` +
      "set under coverage."),
    show: (half) => lines.forEach((move, k) => move(k ? half : -half)),
  };
}

function coverageHint({ about, formats }, own) {
  const source = own === null ? "The model has no prediction intervals; the slider starts at the " +
    "width that contains 90% of the rows."
    : `The ${formatPercent(about.interval.level)} prediction interval of the model is ` +
      `\u00b1${formats.withUnit(formats.value(own))}${about.rows === "held-out" ? ", computed from " +
      "these rows" : ""}.`;
  return `${source} A dot is the share of rows inside, by predicted value; where it is below the ` +
    "dashed line, the share of all rows, errors are larger than elsewhere.";
}

/** Return the coverage by predicted value. */
function coverageChart(bins, width, overall, formats, hasIntervals) {
  const ends = bins.flatMap(({ low, high }) => [low, high]);
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const padding = 0.04 * (high - low) || 0.5;
  const inUnit = formats.unit ? ` (${formats.unit})` : "";
  const plot = plainAxes({ x: [low - padding, high + padding], y: [0, 1.02],
    yTicks: RATE_TICKS, xName: `predicted${inUnit}`, yName: "share of rows inside",
    label: `Coverage in ${bins.length} bins of predicted values` });
  plot.chart.append(svg("line", { class: "exact", x1: plot.frame.left, x2: plot.end,
    y1: plot.atY(overall), y2: plot.atY(overall) }));
  bins.forEach((bin) => {
    const n = bin.sizes.length;
    const hits = countWithin(bin.sizes, width);
    const [lower, upper] = wilson(hits, n);
    const x = plot.atX((bin.low + bin.high) / 2);
    plot.chart.append(svg("g", { class: "bin line-plain" },
      svg("line", { class: "extent", x1: plot.atX(bin.low), x2: plot.atX(bin.high),
        y1: plot.atY(hits / n), y2: plot.atY(hits / n) }),
      hasIntervals ? svg("line", { x1: x, x2: x, y1: plot.atY(lower), y2: plot.atY(upper) }) : null,
      svg("circle", { cx: x, cy: plot.atY(hits / n), r: 4 }),
      svg("title", {}, `predicted ${formats.value(bin.low)} to ${formats.value(bin.high)}: ` +
        `${formatPercent(hits / n)} of ${n} rows inside`)));
  });
  return plot.chart;
}
