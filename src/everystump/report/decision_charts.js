// Charts of the decisions for a class; each shows the current threshold and the cheapest one.

const DECISION_FRAME = { ...FRAME, ...(window.innerWidth < 760 ? { width: 320, height: 250 }
  : { width: 420, height: 300 }), top: 22, bottom: 38 };
const RATE_TICKS = [0, 0.2, 0.4, 0.6, 0.8, 1];
const MIN_STEP = 0.4; // of points that are drawn, in units of the chart
const MANY_ROWS = 1000; // for which histograms have more bars
const N_COSTS = 200;
const ROWS_OF_COST = 1000;
const ROUNDING = 1e-12; // of areas that are sums

/** Return a path through points; those that are hardly apart are left out. */
function thinPath(length, point) {
  const kept = [];
  let last = [-Infinity, -Infinity];
  for (let k = 0; k < length; k += 1) {
    const [x, y] = point(k);
    const isFar = Math.abs(x - last[0]) >= MIN_STEP || Math.abs(y - last[1]) >= MIN_STEP;
    if (isFar || k === length - 1) {
      kept.push(`${x.toFixed(1)} ${y.toFixed(1)}`);
      last = [x, y];
    }
  }
  return { d: `M${kept.join("L")}`, nDrawn: kept.length };
}

/** Return axes whose zero line is like the others. */
function plainAxes(options) {
  const plot = axes({ frame: DECISION_FRAME, ...options });
  plot.chart.querySelectorAll("line.zero").forEach((line) => line.setAttribute("class", "rule"));
  return plot;
}

/** Return axes of two rates from 0 to 1. */
function rateAxes(label, xName, yName) {
  return plainAxes({ x: [0, 1], y: [0, 1.02], label, xName, yName, yTicks: RATE_TICKS,
    xTicks: RATE_TICKS.map((x) => [x, formatNumber(x)]) });
}

/** Return a mark of the current threshold, or of the cheapest one, that can be moved. */
function thresholdMark(plot, isBest) {
  const mark = isBest ? svg("path", { class: "cheapest", d: "M0 -6L6 0L0 6L-6 0Z" })
    : svg("circle", { class: "current threshold-mark", r: 5 });
  plot.chart.append(mark);
  return (x, y) => {
    const isShown = Number.isFinite(x) && Number.isFinite(y);
    mark.setAttribute("visibility", isShown ? "visible" : "hidden");
    if (isShown) mark.setAttribute("transform", `translate(${plot.atX(x)} ${plot.atY(y)})`);
    else mark.removeAttribute("transform");
  };
}

/** Return a vertical line that can be moved. */
function thresholdLine({ chart, atX, frame, ground }, name, [low, high]) {
  const line = svg("line", { class: name, y1: frame.top, y2: ground });
  chart.append(line);
  return (x) => {
    const at = atX(Math.min(Math.max(x, low), high));
    line.setAttribute("x1", at);
    line.setAttribute("x2", at);
  };
}

/**
 * Return a card with a title, a chart and an explanation; without a chart, why there is none.
 * `rows` returns the data of the chart for a CSV file; by default, the tables of the card.
 */
function decisionCard({ id, title, rows = null }, chart, ...texts) {
  const head = html("h3", {}, title);
  const card = html("div", { class: "card", id }, head, chart, ...texts.map((text) =>
    (typeof text === "string" ? html("p", { class: "hint" }, text) : text)));
  if (chart) addSaveButton(head, card, title, { rows });
  return card;
}

/** Say that a curve is drawn through fewer points than there are. */
function drawnNote(nDrawn, n) {
  return nDrawn < n ? ` The line is drawn through ${nDrawn.toLocaleString("en")} of ` +
    `${n.toLocaleString("en")} thresholds; the area is that of all.` : "";
}

/** Return the ROC curve: recall against the false-positive rate. */
function drawRoc(decision, [positive], colors) {
  const { counts } = decision;
  const { tps, fps, nPositive, nNegative } = counts;
  const area = rocArea(counts);
  const heading = { id: "roc", title: "ROC curve", rows: () => rocRows(decision) };
  if (area === null) {
    return { element: decisionCard(heading, null, "All rows are of one class, so there is " +
      "no ROC curve."), show: () => {} };
  }
  const label = `ROC curve of ${positive}, area ${formatArea(area)}`;
  const plot = rateAxes(label, "false-positive rate", "recall (true-positive rate)");
  plot.chart.append(svg("line", { class: "exact", x1: plot.atX(0), y1: plot.atY(0),
    x2: plot.atX(1), y2: plot.atY(1) }));
  const point = (k) => (k ? [plot.atX(fps[k - 1] / nNegative), plot.atY(tps[k - 1] / nPositive)]
    : [plot.atX(0), plot.atY(0)]);
  const { d, nDrawn } = thinPath(tps.length + 1, point);
  plot.chart.append(svg("path", { class: `line line-${colors[0]}`, d }));
  const [best, current] = [true, false].map((isBest) => thresholdMark(plot, isBest));
  const at = ({ tp, fp }) => [fp / nNegative, tp / nPositive];
  return {
    element: decisionCard(heading, plot.chart, html("p", { class: "figure" }, "AUC ",
      figure("auc", area, formatArea)), "The AUC is the probability that a row of " +
      `\u201c${positive}\u201d gets a higher score than another row; the dashed line is guessing.` +
      drawnNote(nDrawn, tps.length + 1)),
    show(confusion, cheapest) {
      current(...at(confusion));
      best(...at(cheapest));
    },
  };
}

/** Return an area with three decimals, which is 1 or 0 only if it is exact. */
function formatArea(area) {
  const text = area.toFixed(3);
  if (text === "1.000" && area < 1 - ROUNDING) return ">0.999";
  return text === "0.000" && area > ROUNDING ? "<0.001" : text;
}

/** Return a number as text, with all digits for scripts. */
function figure(id, value, format) {
  return html("data", { id: `figure-${id}`, value: value === null ? "" : String(value) },
    value === null ? "\u2013" : format(value));
}

/** Return the precision-recall curve; between thresholds it is a step, as in scikit-learn. */
function drawPrecisionRecall(decision, [positive], colors) {
  const { counts } = decision;
  const { tps, fps, nPositive, nNegative } = counts;
  const average = averagePrecision(counts);
  const heading = { id: "pr", title: "Precision and recall",
    rows: () => precisionRecallRows(decision) };
  if (average === null) {
    return { element: decisionCard(heading, null, `No row is \u201c${positive}\u201d, so there is ` +
      "no recall."), show: () => {} };
  }
  const rate = nPositive / (nPositive + nNegative);
  const plot = rateAxes(`Precision-recall curve of ${positive}, average precision ` +
    `${formatArea(average)}`, "recall", "precision");
  plot.chart.append(svg("line", { class: "exact", x1: plot.atX(0), y1: plot.atY(rate),
    x2: plot.atX(1), y2: plot.atY(rate) }));
  const precision = (k) => (k ? tps[k - 1] / (tps[k - 1] + fps[k - 1]) : 1);
  const recall = (k) => (k ? tps[k - 1] / nPositive : 0);
  const point = (k) => { // to the recall of a threshold at its precision
    const step = Math.ceil(k / 2);
    return [plot.atX(recall(k % 2 ? step - 1 : step)), plot.atY(precision(step))];
  };
  const { d, nDrawn } = thinPath(2 * tps.length + 1, point);
  plot.chart.append(svg("path", { class: `line line-${colors[0]}`, d }));
  const [best, current] = [true, false].map((isBest) => thresholdMark(plot, isBest));
  // As in scikit-learn, the curve starts at precision 1, where no row is predicted as the class.
  const at = ({ tp, fp }) => [tp / nPositive, tp + fp ? tp / (tp + fp) : 1];
  return {
    element: decisionCard(heading, plot.chart, html("p", { class: "figure" },
      "Average precision ", figure("ap", average, formatArea), ` (base rate ${formatArea(rate)})`),
    "Precision is the share of rows predicted as " +
      `\u201c${positive}\u201d that are; recall is the share of its rows that are found. The dashed ` +
      `line is the base rate.${nDrawn < 2 * tps.length + 1 ? " Points that are hardly apart are " +
      "drawn as one." : ""}`),
    show(confusion, cheapest) {
      current(...at(confusion));
      best(...at(cheapest));
    },
  };
}

/** Return the number of bars of a histogram. */
const countBars = (nRows) => (nRows < MANY_ROWS ? 20 : 40);

/** Return the histogram of a class above the axis, and that of the rest below it. */
function drawScores(decision, names, colors, keyName) {
  const { probabilities, scores, isPositive, range } = decision;
  const values = probabilities ?? scores;
  const nBars = countBars(values.length);
  const [rest, own] = countInBins(values, isPositive, range, nBars);
  const share = (counts) => {
    const n = counts.reduce((sum, count) => sum + count, 0);
    return counts.map((count) => (n ? count / n : 0));
  };
  const [up, down] = [share(own), share(rest)];
  const top = Math.max(...up, ...down) * 1.08 || 1;
  const levels = ticks(0, top, 2).flatMap((y) => (y ? [-y, y] : [0]));
  const plot = plainAxes({ x: range, y: [-top, top], xName: keyName, yTicks: levels,
    yName: "share of the rows of each class", label: `Histograms of the ${keyName} by class` });
  [...plot.chart.querySelectorAll("text")].slice(0, levels.length).forEach((text, k) => {
    text.textContent = formatPercent(Math.abs(levels[k])); // below the axis as well
  });
  const width = (range[1] - range[0]) / nBars;
  const bar = (k, height, count, color, name) => svg("rect", { class: `shade line-${color}`,
    x: plot.atX(range[0] + k * width) + 0.4, width: plot.atX(width) - plot.atX(0) - 0.8,
    y: plot.atY(Math.max(height, 0)), height: Math.abs(plot.atY(height) - plot.atY(0)) },
  svg("title", {}, `${name}, ${formatNumber(range[0] + k * width)} to ` +
    `${formatNumber(range[0] + (k + 1) * width)}: ${count}`));
  up.forEach((height, k) => height && plot.chart.append(
    bar(k, height, own[k], colors[0], names[0])));
  down.forEach((height, k) => height && plot.chart.append(
    bar(k, -height, rest[k], colors[1], names[1])));
  const [cheapest, current] = ["cheapest-line", "threshold-line"].map((name) =>
    thresholdLine(plot, name, range));
  const key = (color, name, where) => html("li", {},
    html("span", { class: `swatch ${color === "plain" ? "others" : color}` }), `${name} (${where})`);
  return {
    element: decisionCard({ id: "score-histogram", title: probabilities ? "Probabilities by class"
      : "Scores by class", rows: () => binRows(keyName, range, [[names[0], own], [names[1], rest]]) },
    plot.chart,
      html("ul", { class: "legend" }, key(colors[0], names[0], "above"),
        key(colors[1], names[1], "below")),
      `${nBars} bins of equal width. Rows to the right of the line are predicted as ` +
      `\u201c${names[0]}\u201d; dashed: the cheapest threshold.`),
    show(confusion, best, state) {
      current(state.threshold);
      cheapest(state.cheapest.threshold);
    },
  };
}

/** Return the calibration plot: observed frequencies against predicted probabilities. */
function drawCalibration(decision, [positive], colors) {
  const { probabilities, isPositive, rows: { hasIntervals } } = decision;
  const select = html("select", { id: "calibration-bins" },
    html("option", { value: "width" }, "of equal width"),
    html("option", { value: "count" }, "with equally many rows"));
  const holder = html("div", {});
  const makeBins = () => calibrationBins(probabilities, isPositive, 10, select.value === "count");
  function draw() {
    const bins = makeBins();
    const plot = rateAxes(`Calibration of ${positive} in ${bins.length} bins`,
      "mean predicted probability", "observed frequency");
    plot.chart.append(svg("line", { class: "exact", x1: plot.atX(0), y1: plot.atY(0),
      x2: plot.atX(1), y2: plot.atY(1) }));
    bins.forEach(({ n, hits, predicted, observed, interval }) => {
      const x = plot.atX(predicted);
      plot.chart.append(svg("g", { class: `bin line-${colors[0]}` },
        hasIntervals ? svg("line", { x1: x, x2: x, y1: plot.atY(interval[0]),
          y2: plot.atY(interval[1]) }) : null,
        svg("circle", { cx: x, cy: plot.atY(observed), r: 4 }),
        svg("title", {}, `predicted ${formatPercent(predicted)}, observed ` +
          `${formatPercent(observed)} (${hits} of ${n} rows${hasIntervals
            ? `; 95% interval ${formatInterval(interval)}` : ""})`)));
    });
    holder.replaceChildren(plot.chart);
  }
  select.addEventListener("change", draw);
  draw();
  return {
    element: decisionCard({ id: "calibration", title: "Calibration",
      rows: () => calibrationRows(makeBins()) }, holder,
      html("p", { class: "figure" }, "Brier score ",
        figure("brier", brierScore(probabilities, isPositive), formatArea)),
      html("div", { class: "controls" }, html("label", {}, "10 bins ", select)),
      hasIntervals ? "The bars are 95% intervals of the observed frequencies (Wilson). If the " +
        "probabilities are right, most of them cross the dashed line."
        : "If the probabilities are right, the points are near the dashed line."),
    show: () => {},
  };
}

/** Return the costs of false alarms and misses as inputs, and the cost of all thresholds. */
function buildCosts(decision, keyName, initial, { setCosts, setThreshold }) {
  const holder = html("div", {});
  const inputs = [["cost-alarm", "false alarm"], ["cost-miss", "miss"]].map(([id, name], j) =>
    ({ name, input: html("input", { type: "number", id, min: 0, step: "any", value: initial[j],
      inputmode: "decimal" }) }));
  const advice = html("p", { class: "figure", id: "cheapest" });
  const use = html("button", { type: "button", id: "use-cheapest" }, "Use it");
  let [shown, marks, threshold] = [null, null, 0];
  inputs.forEach(({ input }) => input.addEventListener("input", () => {
    const values = inputs.map((own) => Number(own.input.value));
    if (values.every((value) => value >= 0) && input.value !== "") setCosts(values);
  }));
  use.addEventListener("click", () => setThreshold(threshold));
  return {
    element: decisionCard({ id: "costs", title: "Costs",
      rows: () => costRows(decision, keyName, shown) }, html("div", { class: "controls costs" },
      ...inputs.map(({ name, input }) => html("label", {}, `cost of a ${name} `, input))),
    advice, holder, "The dashed line is the cost of the cheaper constant prediction. The line is " +
      `drawn at ${N_COSTS} thresholds; the diamond is the cheapest of all thresholds. It was found ` +
      "on these rows, so its cost on new rows will be a little higher."),
    show(confusion, best, { costs, cheapest, threshold: current }) {
      if (shown !== costs) marks = drawCosts(holder, decision, costs, keyName);
      [shown, threshold] = [costs, cheapest.threshold];
      marks[1](current, costOf(confusion, costs));
      marks[0](threshold, costOf(best, costs));
      advice.replaceChildren(costText(decision, cheapest, costOf(confusion, costs)), use);
      use.hidden = current === threshold;
    },
  };
}

/** Return the cheapest threshold and what it costs, next to the current one. */
function costText({ rows: { nStored } }, cheapest, cost) {
  const text = (total) => formatNumber((ROWS_OF_COST * total) / nStored, 3);
  return `Cheapest threshold: ${formatNumber(cheapest.threshold)}. It costs ` +
    `${text(cheapest.cost)} per ${ROWS_OF_COST.toLocaleString("en")} rows` +
    `${cost > cheapest.cost ? ` instead of ${text(cost)}` : ""}. `;
}

/** Return thresholds at equal distances, and the cost of each per some rows. */
function costPoints({ range: [low, high], confusion, counts: { nPositive, nNegative } }, costs) {
  return Array.from({ length: N_COSTS + 1 }, (_, k) => {
    const threshold = low + ((high - low) * k) / N_COSTS;
    return [threshold, (ROWS_OF_COST * costOf(confusion(threshold), costs)) /
      (nPositive + nNegative)];
  });
}

/** Draw the cost of all thresholds; return functions that move the marks. */
function drawCosts(holder, decision, costs, keyName) {
  const { range, counts: { nPositive, nNegative } } = decision;
  const perRows = (cost) => (ROWS_OF_COST * cost) / (nPositive + nNegative);
  const points = costPoints(decision, costs);
  const values = points.map(([, cost]) => cost);
  const constant = perRows(Math.min(costs[0] * nNegative, costs[1] * nPositive));
  const top = Math.min(1.05 * Math.max(...values), 1.4 * constant || Infinity) || 1;
  const plot = plainAxes({ x: range, y: [0, top], xName: keyName,
    yName: `cost per ${ROWS_OF_COST.toLocaleString("en")} rows`,
    label: `Cost of each threshold, from ${formatNumber(Math.min(...values))} to ` +
      `${formatNumber(Math.max(...values))} per ${ROWS_OF_COST} rows` });
  const inside = (y) => Math.min(y, top);
  const { d } = thinPath(values.length, (k) => [plot.atX(points[k][0]), plot.atY(inside(values[k]))]);
  plot.chart.append(svg("line", { class: "exact", x1: plot.frame.left, x2: plot.end,
    y1: plot.atY(inside(constant)), y2: plot.atY(inside(constant)) }),
  svg("path", { class: "line line-plain", d }));
  holder.replaceChildren(plot.chart);
  return [true, false].map((isBest) => {
    const move = thresholdMark(plot, isBest);
    return (x, cost) => move(Math.min(Math.max(x, range[0]), range[1]), inside(perRows(cost)));
  });
}
