// Charts, drawn from plain data. Text from the data is inserted as textContent only.

/** Return an HTML element with attributes and children, which are elements or text. */
function html(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** Return an SVG element. */
function svg(tag, attributes = {}, ...children) {
  const namespace = document.getElementById("svg-origin").namespaceURI;
  return fill(document.createElementNS(namespace, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

const MINUS = "\u2212";

/** Return a number with few digits. */
function formatNumber(x, digits = 4) {
  if (x === null || Number.isNaN(x)) return "none";
  const size = Math.abs(x);
  const text = size !== 0 && (size < 1e-4 || size >= 1e7)
    ? size.toExponential(2).replace(/\.?0+e/, "e")
    : String(Number(size.toPrecision(size >= 10 ** digits ? Math.ceil(Math.log10(size)) : digits)));
  return (x < 0 && Number(text) !== 0 ? MINUS : "") + text;
}

const LOG_DECIMALS = 3; // of contributions to the score of a class, or to a logarithm
const precision = { decimals: LOG_DECIMALS }; // null for numbers with exponents

/** Return a contribution with its sign and a fixed number of decimals. */
function formatSigned(x) {
  const text = formatSize(Math.abs(x));
  if (Number(text) === 0) return text;
  return (x < 0 ? MINUS : "+") + text;
}

/** Return a number that is not negative with as many decimals as contributions have. */
function formatSize(x) {
  const { decimals } = precision;
  if (decimals === null) return x === 0 ? "0" : x.toExponential(2).replace("e+", "e");
  return x.toFixed(decimals);
}

/** Return a fraction as a percentage. */
function formatPercent(fraction) {
  const percent = 100 * fraction;
  if (percent > 0 && percent < 0.1) return "<0.1%";
  if (percent > 99.9 && percent < 100) return ">99.9%";
  const isWhole = percent === 0 || percent === 100 || (percent >= 9.95 && percent <= 99.05);
  return `${percent.toFixed(isWhole ? 0 : 1)}%`;
}

/** Return a value of the data as text. */
function formatValue(value) {
  if (value === null || value === undefined) return "missing";
  return typeof value === "number" ? formatNumber(value, 6) : String(value);
}

/** Return text without its middle if it is long. */
function truncateMiddle(text, maxLength = 36) {
  const letters = [...text];
  if (letters.length <= maxLength) return text;
  const half = Math.floor(maxLength / 2);
  return `${letters.slice(0, half).join("")}\u2026${letters.slice(-half + 1).join("")}`;
}

/** Return round numbers within an interval. */
function ticks(low, high, maxTicks = 5) {
  const rough = (high - low) / maxTicks;
  if (!(rough > 0) || !Number.isFinite(rough)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.999);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k += 1) {
    found.push(Number((k * step).toPrecision(12)));
  }
  return found;
}

const FRAME = { width: 340, height: 206, left: 42, right: 10, top: 14, bottom: 26 };
const STRIP = 48; // width of the strip for missing values
const TICK_LETTER = 6.6; // width of a digit of a tick

/** Return a chart with axes, and the functions from data to coordinates. */
function axes({ x: [low, high], y: [bottom, top], label, strip = 0, xTicks, yTicks, xName = "",
  yName = "", frame: given = FRAME }) {
  const levels = yTicks || ticks(bottom, top, 5);
  const longest = Math.max(...levels.map((y) => formatNumber(y).length));
  const frame = { ...given, left: Math.max(given.left, 10 + TICK_LETTER * longest) };
  const end = frame.width - frame.right - strip;
  const ground = frame.height - frame.bottom;
  const atX = (x) => frame.left + ((x - low) / (high - low)) * (end - frame.left);
  const atY = (y) => ground - ((y - bottom) / (top - bottom)) * (ground - frame.top);
  const chart = svg("svg", {
    viewBox: `0 0 ${frame.width} ${frame.height}`, role: "img", "aria-label": label, class: "chart",
  });
  for (const y of levels) {
    chart.append(svg("line", { class: y === 0 ? "zero" : "rule", x1: frame.left, x2: end + strip,
      y1: atY(y), y2: atY(y) }));
    chart.append(svg("text", { class: "tick", x: frame.left - 6, y: atY(y) + 3.5,
      "text-anchor": "end" }, formatNumber(y)));
  }
  for (const [x, text] of xTicks || ticks(low, high, 5).map((x) => [x, formatNumber(x)])) {
    chart.append(svg("text", { class: "tick", x: atX(x), y: ground + 16,
      "text-anchor": "middle" }, text));
  }
  chart.append(
    svg("text", { class: "tick", x: end, y: frame.height - 2, "text-anchor": "end" }, xName),
    svg("text", { class: "tick", x: 2, y: 10 }, yName));
  return { chart, atX, atY, end, ground, frame };
}

/** Return the smallest and the largest value of curves or surfaces; the range contains zero. */
function rangeOf(curves) {
  let low = 0;
  let high = 0;
  for (const curve of curves) {
    const values = curve.level_values || curve.values.flat(2);
    for (const value of [...values, curve.missing ?? 0]) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  return [low, high];
}

const N_COLORS = 8; // class colors in page.css

/** Whether each class has its own color; else colors show the sign of the score. */
const hasClassColors = (labels) => labels.length > 2 && labels.length <= N_COLORS;

/**
 * Return the CSS classes of positive and negative contributions to the score of class k.
 * With two classes the second is blue and the first orange in every chart; of a regressor, which
 * has no classes, what raises the prediction is blue.
 */
function signClasses(labels, k) {
  if (labels.length <= 2) return ["positive", "negative"];
  return [hasClassColors(labels) ? `c${k}` : "positive", "neutral"];
}

/** Return the CSS class of text that favors class k, or with 1 and 0 raises or lowers a number. */
function textClass(k, labels) {
  if (labels.length <= 2) return k === 1 ? "text-positive" : "text-negative";
  return hasClassColors(labels) ? `text-c${k}` : "";
}

/** Return the curve of a number, above the density of the rows, with missing values set apart. */
function drawLine(feature, curve, limits, signs, yName) {
  const width = feature.high - feature.low || 1;
  const low = feature.low - 0.04 * width;
  const high = feature.high + 0.04 * width;
  const hasMissing = curve.missing !== null;
  const [least, most] = rangeOf([curve]).map((value) => formatNumber(value));
  const label = `Curve of ${feature.name}, from ${least} to ${most}` +
    (hasMissing ? `, ${formatSigned(curve.missing)} if missing` : "");
  const plot = axes({ x: [low, high], y: limits, label, yName, strip: hasMissing ? STRIP : 0,
    xTicks: ticks(low, high, 5).filter((x) => (!feature.is_integer || Number.isInteger(x))
      && !(hasMissing && x > high - 0.1 * width))
      .map((x) => [x, formatNumber(x)]) });
  const { chart, atX, atY, ground, frame } = plot;
  if (feature.density) drawDensity(plot, feature.density);
  const points = [[low, curve.values[0]], ...curve.knots.map((x, k) => [x, curve.values[k]]),
    [high, curve.values[curve.values.length - 1]]]
    .filter(([x]) => x >= low && x <= high);
  const path = points.map(([x, y], k) =>
    `${k ? "L" : "M"}${atX(x).toFixed(2)} ${atY(y).toFixed(2)}`);
  chart.append(...splitAtZero(plot, path.join(""), signs));
  if (hasMissing) drawMissing(plot, curve.missing, feature.share_missing);
  const dot = svg("circle", { class: "current", r: 4.5, visibility: "hidden" });
  const probe = svg("line", { class: "probe", y1: frame.top, y2: ground, visibility: "hidden" });
  chart.append(probe, dot);
  const mark = (x) => {
    const isMissing = Number.isNaN(x);
    dot.setAttribute("visibility", isMissing && !hasMissing ? "hidden" : "visible");
    dot.setAttribute("cx", isMissing ? plot.end + STRIP / 2
      : atX(Math.min(Math.max(x, low), high)));
    dot.setAttribute("cy", atY(evaluateCurve(curve, x)));
  };
  return { chart, mark, plot, probe, range: [low, high] };
}

/** Return a line in two colors: one above zero, one below. */
function splitAtZero({ frame, atY }, path, signs) {
  const zero = atY(0);
  const parts = [[0, zero], [zero, frame.height - zero]];
  return parts.map(([y, height], k) => svg("svg", { x: 0, y, width: frame.width, height,
    viewBox: `0 ${y} ${frame.width} ${height}`, "aria-hidden": "true" },
  svg("path", { class: `line line-${signs[k]}`, d: path })));
}

function drawDensity({ chart, atX, ground, frame }, density) {
  const largest = Math.max(...density.share) || 1;
  const width = Math.max(1, atX(density.width) - atX(0) - 0.6);
  density.at.forEach((x, k) => {
    const height = 0.3 * (ground - frame.top) * (density.share[k] / largest);
    chart.append(svg("rect", { class: "density", x: atX(x) - width / 2, width,
      y: ground - height, height }));
  });
}

function drawMissing({ chart, atY, end, ground, frame }, value, share) {
  const middle = end + STRIP / 2;
  chart.append(svg("line", { class: "separator", x1: end, x2: end, y1: frame.top, y2: ground }));
  const y = atY(value);
  chart.append(svg("path", { class: "missing",
    d: `M${middle} ${y - 5}L${middle + 5} ${y}L${middle} ${y + 5}L${middle - 5} ${y}Z` }));
  const write = (height, text) => chart.append(svg("text", { class: "tick missing-text", x: middle,
    y: height, "text-anchor": "middle" }, text));
  write(ground + 16, "missing");
  if (share !== null) write(frame.top - 3, formatPercent(share));
}

/** Return a bar to the right of zero if positive, and to the left if negative. */
function signedBar(value, limits, signs) {
  const bar = html("span", { class: "bar" });
  const track = html("span", { class: "track" }, bar);
  setSignedBar(track, value, limits, signs);
  return track;
}

function setSignedBar(track, value, [low, high], signs) {
  const at = (v) => (100 * (Math.min(Math.max(v, low), high) - low)) / (high - low);
  const bar = track.firstChild;
  const zero = at(0);
  track.style.setProperty("--zero", `${zero}%`);
  bar.style.left = `${Math.min(zero, at(value))}%`;
  bar.style.width = `${Math.abs(at(value) - zero)}%`;
  bar.className = `bar ${signs[value < 0 ? 1 : 0]}`;
}

const MAX_LEVELS = 8;

/** Return the bars of a category: important levels, the others collapsed, missing values last. */
function drawLevels(feature, levels, curve, limits, signs) {
  const values = curve.level_values;
  const shares = feature.shares || levels.map(() => null);
  const importance = (k) => (shares[k] === null ? 1 : shares[k]) * Math.abs(values[k]);
  const order = levels.map((_, k) => k).sort((a, b) => importance(b) - importance(a) || a - b);
  const nSingle = levels.length <= MAX_LEVELS ? levels.length : MAX_LEVELS - 1;
  const byValue = (a, b) => values[b] - values[a];
  const list = html("ul", { class: "levels" });
  const items = new Map();
  const add = (key, name, share, value, colors = signs) => {
    const item = levelItem(name, share, value, limits, colors);
    items.set(key, item);
    return item;
  };
  const level = (k) => add(k, String(levels[k]), shares[k], values[k]);
  list.append(...order.slice(0, nSingle).sort(byValue).map(level));
  const rest = order.slice(nSingle).sort(byValue);
  if (rest.length) {
    const mean = averageLevel(rest, shares, values);
    list.append(...collapseLevels(rest.map(level), mean, limits));
  }
  if (curve.missing !== null) list.append(add("missing", "missing", feature.share_missing,
    curve.missing, ["missing", "missing"]));
  const mark = (x) => items.forEach((item, k) => {
    item.classList.toggle("current", Number.isNaN(x) ? k === "missing" : k === x);
  });
  return { chart: list, mark };
}

/** Return the line of a level: its name, its share of the rows, and its contribution. */
function levelItem(name, share, value, limits, signs) {
  return html("li", {}, typeof name === "string"
    ? html("span", { class: "name", title: name }, name) : name,
    html("span", { class: "share" }, share === null ? "" : formatPercent(share)),
    signedBar(value, limits, signs), html("span", { class: "number" }, formatSigned(value)));
}

/** Return the share of the rows with one of these levels, and their mean contribution. */
function averageLevel(chosen, shares, values) {
  const share = chosen.reduce((sum, k) => sum + (shares[k] || 0), 0);
  const weight = (k) => (share ? shares[k] / share : 1 / chosen.length);
  return { share: share || null, value: chosen.reduce((sum, k) => sum + weight(k) * values[k], 0) };
}

/** Return a line for all collapsed levels, and their own lines, which its button shows. */
function collapseLevels(lines, { share, value }, limits) {
  const button = html("button", { type: "button", class: "link", "aria-expanded": "false" },
    `${lines.length} more`);
  const item = levelItem(html("span", { class: "name" }, button), share, value, limits,
    ["others", "others"]);
  lines.forEach((line) => line.classList.add("collapsed"));
  button.addEventListener("click", () => {
    const isOpen = button.getAttribute("aria-expanded") === "false";
    button.setAttribute("aria-expanded", String(isOpen));
    button.textContent = isOpen ? `mean of these ${lines.length}` : `${lines.length} more`;
    lines.forEach((line) => line.classList.toggle("collapsed", !isOpen));
  });
  return [item, ...lines];
}

/** Return a histogram of margins; negative ones, of misclassified rows, are marked. */
function drawMargins({ edges, counts, lowest, highest, mean }) {
  const largest = Math.max(...counts);
  const low = Math.min(edges[0], 0);
  const high = Math.max(edges[edges.length - 1], 0);
  const frame = { ...FRAME, width: 420, height: 246, top: 20, bottom: 38 };
  const label = `Histogram of the margins, from ${formatNumber(lowest)} to ` +
    `${formatNumber(highest)}, mean ${formatNumber(mean)}`;
  const plot = axes({ x: [low, high], y: [0, 1.05 * largest], frame, label, xName: "margin",
    yName: "rows", yTicks: ticks(0, largest, 4).filter(Number.isInteger) });
  counts.forEach((count, k) => {
    if (!count) return;
    const isWrong = edges[k + 1] <= 1e-12;
    plot.chart.append(svg("rect", { class: isWrong ? "margin wrong" : "margin",
      x: plot.atX(edges[k]) + 0.5,
      width: Math.max(1, plot.atX(edges[k + 1]) - plot.atX(edges[k]) - 1),
      y: plot.atY(count), height: plot.ground - plot.atY(count) },
    svg("title", {}, `${formatNumber(edges[k])} to ${formatNumber(edges[k + 1])}: ${count}`)));
  });
  plot.chart.append(svg("line", { class: "separator", x1: plot.atX(0), x2: plot.atX(0),
    y1: frame.top, y2: plot.ground }));
  return plot.chart;
}

/** Whether the scores of a path are negated losses, as scikit-learn's neg_log_loss. */
const isLoss = ({ scoring }) => Boolean(scoring) && scoring.startsWith("neg_");

/** Return the name of the score or loss of a path. */
function scoreName({ scoring }) {
  if (scoring === "r2") return "R\u00b2";
  return isLoss({ scoring }) ? scoring.slice(4).replaceAll("_", " ") : scoring || "score";
}

/** Return the validation score or loss against the values of a parameter; 0 is set apart. */
function drawPath({ mean, std, chosen, scoring }, name, values) {
  const sign = isLoss({ scoring }) ? -1 : 1;
  const isChosen = typeof chosen === "number";
  const zero = Math.log10(Math.min(...values.filter((value) => value > 0))) - 0.7;
  const at = (value) => (value > 0 ? Math.log10(value) : zero);
  const text = (c) => formatNumber(c === zero ? 0 : 10 ** c);
  const points = values.map((c, k) => [at(c), mean[k], (std && std[k]) || 0])
    .filter(([c, m]) => Number.isFinite(c) && m !== null)
    .map(([c, m, s]) => [c, sign * m, s]);
  const low = Math.min(...points.map(([, m, s]) => m - s));
  const high = Math.max(...points.map(([, m, s]) => m + s));
  const padding = 0.08 * (high - low) || 0.05;
  const ends = [points[0][0], points[points.length - 1][0]];
  const side = 0.03 * (ends[1] - ends[0]) || 0.5;
  const frame = { ...FRAME, width: 420, height: 236, top: 20, bottom: 38 };
  const decades = ticks(ends[0], ends[1], 6).filter((p) => Number.isInteger(p)
    && (ends[0] !== zero || p > zero + 0.5));
  const plot = axes({ x: [ends[0] - side, ends[1] + side], y: [low - padding, high + padding],
    frame,
    label: `Validation ${scoreName({ scoring })} at ${points.length} values of ${name}, from ` +
      `${formatNumber(low)} to ${formatNumber(high)}` +
      `${isChosen ? `; ${name} = ${formatNumber(chosen)} was chosen` : ""}`,
    xName: name, yName: `validation ${scoreName({ scoring })}`,
    xTicks: [...(ends[0] === zero ? [[zero, "0"]] : []),
      ...decades.map((p) => [p, p < -3 || p > 4 ? `1e${p}` : formatNumber(10 ** p)])] });
  const point = ([c, m]) => `${plot.atX(c).toFixed(2)} ${plot.atY(m).toFixed(2)}`;
  const band = [...points.map(([c, m, s]) => point([c, m + s])),
    ...[...points].reverse().map(([c, m, s]) => point([c, m - s]))];
  plot.chart.append(svg("path", { class: "band", d: `M${band.join("L")}Z` }),
    svg("path", { class: "line line-plain", d: `M${points.map(point).join("L")}` }));
  const chosenPoint = points.find(([c]) => isChosen && Math.abs(c - at(chosen)) < 1e-9);
  points.forEach(([c, m]) => plot.chart.append(svg("circle", {
    class: c === chosenPoint?.[0] ? "current" : "dot",
    cx: plot.atX(c), cy: plot.atY(m), r: c === chosenPoint?.[0] ? 6 : 3 },
  svg("title", {}, `${name} = ${text(c)}: ${formatNumber(m)}`))));
  return plot.chart;
}
