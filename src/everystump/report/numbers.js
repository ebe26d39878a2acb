// What a regressor predicts: numbers with a unit, intervals around them, and residuals.

const SUMS = { identity: "prediction", log: "logarithm of the prediction" };
const TARGET_DIGITS = 4; // of predictions whose logarithm is a sum
const LETTER_WIDTH = 0.6; // of a digit, in rem

/** Return what the contributions of a model add up to. */
const sumName = ({ link }) => SUMS[link] ?? "score";

/** Return the formats of the target of a model: of values, and of contributions to them. */
function makeFormats({ about: { unit }, document: model }) {
  const isLog = model.link === "log";
  const shapes = model.scores.flatMap(({ curves, surfaces = [] }) => [...curves, ...surfaces]);
  const decimals = model.link === "identity" ? chooseDecimals(largestSize(shapes)) : LOG_DECIMALS;
  const write = (x, isExact) => {
    if (x === null || Number.isNaN(x)) return "none";
    if (isLog || decimals === null || Math.abs(x) >= 1e10) return formatNumber(x, TARGET_DIGITS);
    const text = Math.abs(x).toLocaleString("en", { maximumFractionDigits: decimals,
      minimumFractionDigits: isExact ? 0 : decimals });
    return (x < 0 && /[1-9]/.test(text) ? MINUS : "") + text;
  };
  const value = (x) => write(x, false);
  return {
    decimals,
    unit: typeof unit === "string" && unit ? unit : null,
    value, // a prediction
    actual: (x) => write(x, true), // without zeros at its end
    withUnit: (text) => (typeof unit === "string" && unit ? `${text}\u00a0${unit}` : text),
    difference: (x) => (x > 0 ? "+" : "") + value(x),
    effect: (x, half) => formatSigned(x) + formatHalf(half) +
      (isLog ? ` (\u00d7${formatNumber(Math.exp(x), 3)})` : ""),
  };
}

/** Make the columns of contributions as wide as the longest of them. */
function setNumberWidth(model) {
  const numbers = model.scores.flatMap(({ intercept, curves, surfaces = [] }) =>
    [intercept, ...rangeOf([...curves, ...surfaces])]);
  const longest = Math.max(...numbers.map((x) => formatSigned(x).length));
  document.documentElement.style.setProperty("--number",
    `${Math.max(3.6, LETTER_WIDTH * longest).toFixed(2)}rem`);
}

/** Return the interval around a prediction as text; empty without intervals. */
function intervalText({ about: { interval }, formats, document: model }, prediction) {
  if (typeof interval?.half_width !== "number" || !Number.isFinite(prediction)) return "";
  const low = prediction - interval.half_width;
  const ends = [model.link === "log" ? Math.max(0, low) : low, prediction + interval.half_width];
  return ` \u00b1 ${formats.value(interval.half_width)} ` +
    `(${formatPercent(interval.level)} interval: ${ends.map(formats.value).join(" to ")})`;
}

/** Return the outcome of a regressor: the prediction, its interval, and its logarithm if it is one. */
function numberOutcome(summary) {
  const { formats, document: model } = summary;
  const isLog = model.link === "log";
  const prediction = html("data", { class: "prediction" });
  const [predicted, interval, change] = ["strong", "span", "span"].map((tag) => html(tag, {}));
  predicted.className = "predicted";
  interval.className = "hint";
  const score = scoreElement();
  const key = (name, text) => html("span", { class: "key" },
    html("span", { class: `swatch ${name}` }), text);
  const elements = [
    html("p", {}, "Predicted: ", predicted, interval),
    html("p", { class: "hint" }, ...(isLog ? ["Logarithm ", score] : [score]), change,
      key("positive", "above zero raises the prediction"),
      key("negative", "below zero lowers it"))];
  score.hidden = !isLog;
  predicted.append(prediction, formats.unit ? `\u00a0${formats.unit}` : "");

  function update(result, before) {
    const value = result.prediction;
    const difference = value - before.prediction;
    prediction.value = String(value);
    prediction.textContent = value === null ? "none, because a value is missing"
      : formats.value(value);
    setScore(score, result.scores[0]);
    interval.textContent = intervalText(summary, value);
    change.textContent = Math.abs(difference) > 1e-12 * Math.abs(value)
      ? `${isLog ? "; " : ""}${formats.withUnit(formats.difference(difference))} from your changes`
      : "";
    return `${predicted.textContent}${interval.textContent}`;
  }
  return { elements, update };
}

/** Draw actual and predicted values, and residuals. */
function drawResiduals(summary, cards) {
  const { about, quality, formats } = summary;
  const predicted = decodeNumbers(quality.predicted);
  const actual = decodeNumbers(quality.actual);
  const residuals = actual.map((y, k) => y - predicted[k]);
  const inUnit = formats.unit ? ` (${formats.unit})` : "";
  const width = about.interval?.half_width;
  const n = predicted.length;
  const rows = `${about.rows ? `${about.rows} ` : ""}row${quality.n === 1 ? "" : "s"}`;
  const shown = n < quality.n ? `${n.toLocaleString("en")} of ${quality.n.toLocaleString("en")} ` +
    `${rows} are drawn. ` : "";
  const title = (k) => `predicted ${formats.value(predicted[k])}, actual ` +
    `${formats.actual(actual[k])}, residual ${formats.difference(residuals[k])}`;
  const names = { xName: `predicted${inUnit}`, title };
  const both = [...predicted, ...actual];
  const ends = [Math.min(...both), Math.max(...both)];
  const csv = () => [["predicted", "actual", "residual"],
    ...predicted.map((x, k) => [x, actual[k], residuals[k]])];
  cards.append(...[["predictions", "Predicted and actual values"], ["residuals", "Residuals"]]
    .map(([id, name]) => decisionCard({ title: name, rows: csv }, html("div", { id }))));
  const band = typeof width === "number"
    ? ` Dotted lines mark the ${formatPercent(about.interval.level)} prediction interval.` : "";
  byId("predictions").append(
    drawScatter(predicted, actual, { ...names, yName: `actual${inUnit}`, ends: [ends, ends],
      slope: 1, width, label: `Actual against predicted values of ${n} rows` }),
    html("p", { class: "hint" }, `${shown}A point on the dashed line is predicted exactly.${band}`));
  const bias = formats.withUnit(formats.difference(quality.mean));
  byId("residuals").append(
    drawScatter(predicted, residuals, { ...names, yName: `residual${inUnit}`, slope: 0, width,
      label: `Residuals against predicted values of ${n} rows, mean ${bias}` }),
    html("p", { class: "hint" }, "A residual is the actual value minus the predicted one; their " +
      `mean is ${bias}, and half of them are between \u00b1${formats.withUnit(
        formats.value(quality.median))}. A trend or a funnel shows where the model can be ` +
      "improved."));
}

/** Return the points of two lists of numbers, and a line on which they agree. */
function drawScatter(xs, ys, { label, xName, yName, title, slope, width, ends }) {
  const pad = (numbers) => {
    const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
    const padding = 0.05 * (high - low) || 0.5 * Math.abs(high) || 0.5;
    return [low - padding, high + padding];
  };
  const [x, y] = [ends?.[0] ?? xs, ends?.[1] ?? [0, ...ys]].map(pad);
  const plot = axes({ x, y, frame: DECISION_FRAME, label, xName, yName });
  const clip = svg("svg", { x: plot.frame.left, y: plot.frame.top, width: plot.end - plot.frame.left,
    height: plot.ground - plot.frame.top, "aria-hidden": "true",
    viewBox: `${plot.frame.left} ${plot.frame.top} ${plot.end - plot.frame.left} ` +
      `${plot.ground - plot.frame.top}` });
  const line = (shift, name) => svg("line", { class: name, x1: plot.atX(x[0]), x2: plot.atX(x[1]),
    y1: plot.atY(slope * x[0] + shift), y2: plot.atY(slope * x[1] + shift) });
  if (slope) clip.append(line(0, "exact")); // else the zero line of the axes
  if (typeof width === "number") clip.append(...[-width, width].map((q) => line(q, "limit")));
  xs.forEach((value, k) => clip.append(svg("circle", { class: "point", r: 2.6,
    cx: plot.atX(value).toFixed(1), cy: plot.atY(ys[k]).toFixed(1) }, svg("title", {}, title(k)))));
  plot.chart.append(clip);
  return plot.chart;
}

/** Show the rows with the largest residuals. */
function drawLargestErrors(summary, panel) {
  const { explained, formats, document: model } = summary;
  if (!explained.largest_errors.length) return;
  showSection("explained", "Largest errors");
  byId("explained-title").textContent = "Largest errors";
  const sum = sumName(model);
  byId("explained-signs").textContent = `The ${sum} is the sum of the intercept (baseline), ` +
    `${formatSigned(model.scores[0].intercept)}, and the contributions of all features` +
    `${summary.interactions ? " and interactions" : ""}. The residual is the actual value minus ` +
    "the predicted one.";
  const inUnit = formats.unit ? ` (${formats.unit})` : "";
  const columns = [
    { title: `predicted${inUnit}`, isNumber: true, text: (row) => formats.value(row.predicted) },
    { title: `actual${inUnit}`, isNumber: true, text: (row) => formats.actual(row.actual) },
    { title: `residual${inUnit}`, isNumber: true,
      text: (row) => formats.difference(row.actual - row.predicted) }];
  const evidence = [["raises the prediction", 1], ["lowers the prediction", -1]]
    .map(([title, sign]) => ({ title, sign, favored: () => (sign > 0 ? 1 : 0) }));
  byId("explained-tables").append(
    explainedTable(summary, explained.largest_errors, panel, { columns, evidence }, "Largest errors"));
}
