// Charts, drawn from plain data. Text from the data is inserted as textContent only.

const byId = (id) => document.getElementById(id);

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

/** Show a section, and a link to it. */
function showSection(id, name) {
  byId(id).hidden = false;
  byId("links").append(html("li", {}, html("a", { href: `#${id}` }, name)));
}

const DIRECTIONS = /[\u202a-\u202e\u2066-\u2069]/g; // which would reorder the text that follows

/** Return the data of the page; control characters of the direction of text are made visible. */
function readData() {
  const show = (control) => `<U+${control.charCodeAt(0).toString(16).toUpperCase()}>`;
  return JSON.parse(byId("data").textContent, (_, value) =>
    (typeof value === "string" ? value.replace(DIRECTIONS, show) : value));
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

const MAX_DIGITS = 4; // significant digits of the largest contribution

/** Return the decimals of contributions to a number, given the largest; null for exponents. */
function chooseDecimals(largest) {
  const power = Math.floor(Math.log10(largest));
  return power < -5 || power > 8 ? null : Math.max(0, MAX_DIGITS - 1 - power);
}

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
  return x.toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
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

/** Return a name as text with places, after separators, at which a long one is broken first. */
function breakable(name) {
  return name.split(/(?<=[_/.:;,-])(?=[^\s_/.:;,-])/).flatMap((part, k) =>
    (k ? [html("wbr"), part] : [part]));
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
  yName = "", yText = formatNumber, frame: given = FRAME }) {
  const levels = yTicks || ticks(bottom, top, 5);
  const longest = Math.max(...levels.map((y) => yText(y).length));
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
      "text-anchor": "end" }, yText(y)));
  }
  for (const [x, text] of xTicks || ticks(low, high, 5).map((x) => [x, formatNumber(x)])) {
    chart.append(svg("text", { class: "tick", x: atX(x), y: ground + 16,
      "text-anchor": "middle" }, text));
  }
  chart.append(
    svg("text", { class: "tick", x: end, y: frame.height - 2, "text-anchor": "end" },
      truncateMiddle(xName, Math.floor(end / TICK_LETTER))),
    svg("text", { class: "tick", x: 2, y: 10 }, yName));
  return { chart, atX, atY, end, ground, frame };
}

/** Return the smallest and the largest value of curves or surfaces; the range contains zero. */
function rangeOf(curves) {
  let low = 0;
  let high = 0;
  for (const curve of curves) {
    for (const value of shapeValues(curve)) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  return [low, high];
}

/** Return all values of a curve or a surface, that of missing values last. */
const shapeValues = (shape) => [...(shape.level_values || shape.values.flat(2)), shape.missing ?? 0];

const N_COLORS = 8; // class colors in page.css
const N_SHADES = 16; // of each sign, in heat maps

/** Return the shade of a value: it grows with the square root, so that weak values are visible. */
const shadeOf = (value, limit) =>
  Math.round(N_SHADES * Math.sign(value) * Math.sqrt(Math.abs(value) / limit));

/** Return one path per shade of a heat map, given the pieces of each shade. */
function drawShadePaths(pieces, signs) {
  return [...pieces].map(([shade, own]) => svg("path", {
    class: `shade line-${signs[shade < 0 ? 1 : 0]}`,
    "fill-opacity": Math.min(1, Math.abs(shade) / N_SHADES), d: own.join("") }));
}

/** Return the legend of the shades of a heat map, between the texts of its ends. */
function drawShadeScale([low, high], signs) {
  const half = (k) => html("span", { class: `ramp line-${signs[k]}${k ? " falling" : ""}` });
  return html("span", { class: "shade-scale" }, low,
    html("span", { class: "ramps" }, half(1), half(0)), high);
}

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

const LINE_FRAME = { ...FRAME, height: 214, top: 22 }; // with the name of its vertical axis
const PAD = 0.04; // on both sides of an axis of numbers, as a fraction of it
const MAX_SEGMENT = 4; // length of a straight piece of a curve on an axis that is not linear

/** Return the curve of a number, above the density of the rows, with missing values set apart. */
function drawLine(feature, curve, limits, signs, view) {
  const { unit } = view;
  const axis = numberAxis(feature);
  const hasMissing = curve.missing !== null;
  const [least, most] = extremes(view.knots().map(view.at)).map((height) => unit.text(height));
  const label = `Curve of ${feature.name}, ${unit.axis} from ${least} to ${most}` +
    (hasMissing ? `, ${unit.text(view.at(NaN))} if missing` : "");
  const plot = axes({ x: [-PAD, 1 + PAD], y: limits, label, yName: unit.axis,
    frame: LINE_FRAME, strip: hasMissing ? STRIP : 0, yTicks: unit.marks?.(...limits), yText: unit.tick,
    xTicks: axis.marks(5).map((x) => [axis.to(x), formatNumber(x)])
      .filter(([t]) => !(hasMissing && t > 0.9)) });
  const atX = (x) => plot.atX(Math.min(1 + PAD, Math.max(-PAD, axis.to(x))));
  const { chart, atY, ground, frame } = plot;
  drawDensity(plot, densityBars(feature, axis));
  if (unit.base) {
    chart.append(svg("line", { class: "zero", x1: frame.left, x2: plot.end, y1: atY(unit.base),
      y2: atY(unit.base) }));
  }
  const path = linePoints(view, axis, plot).map(([x, y], k) =>
    `${k ? "L" : "M"}${x.toFixed(2)} ${y.toFixed(2)}`);
  if (view.band) chart.append(...drawRibbon(plot, view, axis, limits, signs));
  chart.append(...splitAtBase(plot, path.join(""), signs, unit.base));
  if (hasMissing) drawMissing(plot, view, feature.share_missing, limits);
  if (axis.kind !== "linear") { // in print and saved pictures, which do not show the list of axes
    chart.append(svg("text", { class: "tick axis-kind", x: plot.end, y: frame.height + 5,
      "text-anchor": "end" }, `${axis.kind} axis`));
  }
  const dot = svg("circle", { class: "current", r: 4.5, visibility: "hidden" });
  const probe = svg("line", { class: "probe", y1: frame.top, y2: ground, visibility: "hidden" });
  chart.append(probe, dot);
  const mark = (x) => {
    const isMissing = Number.isNaN(x);
    dot.setAttribute("visibility", isMissing && !hasMissing ? "hidden" : "visible");
    dot.setAttribute("cx", isMissing ? plot.end + STRIP / 2 : atX(x));
    dot.setAttribute("cy", atY(view.at(x)));
  };
  return { chart, mark, plot: { ...plot, atX }, probe, axis };
}

/** Return the points of a curve; curved where the axes are not linear. */
function linePoints(view, axis, { atX, atY }) {
  const isStraight = axis.kind === "linear" && (view.unit.key === "own" || view.unit.marks);
  const knots = view.knots();
  const points = [[atX(-PAD), atY(knots.length ? view.left(knots[0]) : view.unit.base)]];
  for (const [k, x] of knots.entries()) {
    const start = axis.to(k ? knots[k - 1] : x);
    const nPieces = isStraight ? 1 : Math.ceil((atX(axis.to(x)) - atX(start)) / MAX_SEGMENT);
    for (let j = 1; j < nPieces; j += 1) {
      const t = start + (j / nPieces) * (axis.to(x) - start);
      points.push([atX(t), atY(view.at(axis.from(t)))]);
    }
    const [left, right] = [view.left(x), view.at(x)];
    points.push([atX(axis.to(x)), atY(left)]);
    if (left !== right) points.push([atX(axis.to(x)), atY(right)]);
  }
  const [, last] = points[points.length - 1];
  return [...points, [atX(1 + PAD), last]];
}

/** Return the smallest and the largest number. */
function extremes(numbers) {
  return numbers.reduce(([low, high], x) => [Math.min(low, x), Math.max(high, x)],
    [Infinity, -Infinity]);
}

/** Return a line, or a ribbon, in two colors: one above the baseline, one below. */
function splitAtBase({ frame, atY }, path, signs, base = 0, kind = "line") {
  const zero = atY(base);
  const parts = [[0, zero], [zero, frame.height - zero]];
  return parts.map(([y, height], k) => svg("svg", { x: 0, y, width: frame.width, height,
    viewBox: `0 ${y} ${frame.width} ${height}`, "aria-hidden": "true" },
  svg("path", { class: `${kind} line-${signs[k]}`, d: path })));
}

function drawDensity({ chart, atX, ground, frame }, bars) {
  const largest = Math.max(...bars.map(({ share }) => share)) || 1;
  for (const { from, to, share } of bars) {
    const height = 0.3 * (ground - frame.top) * (share / largest);
    chart.append(svg("rect", { class: "density", x: atX(from).toFixed(2),
      width: Math.max(1, atX(to) - atX(from) - 0.6).toFixed(2), y: (ground - height).toFixed(2),
      height: height.toFixed(2) }));
  }
}

function drawMissing({ chart, atY, end, ground, frame }, view, share, [bottom, top]) {
  const middle = end + STRIP / 2;
  chart.append(svg("line", { class: "separator", x1: end, x2: end, y1: frame.top, y2: ground }));
  const y = atY(view.at(NaN));
  const ends = bandAt(view, NaN);
  if (ends) {
    chart.append(svg("line", { class: "missing-band", x1: middle, x2: middle,
      y1: atY(Math.max(bottom, ends[0])), y2: atY(Math.min(top, ends[1])) }));
  }
  chart.append(svg("path", { class: "missing",
    d: `M${middle} ${y - 5}L${middle + 5} ${y}L${middle} ${y + 5}L${middle - 5} ${y}Z` }));
  const write = (height, text) => chart.append(svg("text", { class: "tick missing-text", x: middle,
    y: height, "text-anchor": "middle" }, text));
  write(ground + 16, "missing");
  if (share !== null) write(frame.top - 4, formatPercent(share));
}

/** Return a bar to the right of zero if positive, and to the left if negative. */
function signedBar(value, limits, signs, ends = null) {
  const bar = html("span", { class: "bar" });
  const track = html("span", { class: "track" }, bar);
  setSignedBar(track, value, limits, signs, ends);
  return track;
}

/**
 * Show a value as a bar, with a line from one end of its band to the other if it has one; an end
 * that is cut off has no cap.
 */
function setSignedBar(track, value, [low, high], signs, ends = null) {
  const at = (v) => (100 * (Math.min(Math.max(v, low), high) - low)) / (high - low);
  const bar = track.firstChild;
  const zero = at(0);
  track.style.setProperty("--zero", `${zero}%`);
  bar.style.left = `${Math.min(zero, at(value))}%`;
  bar.style.width = `${Math.abs(at(value) - zero)}%`;
  bar.className = `bar ${signs[value < 0 ? 1 : 0]}`;
  if (!ends) {
    bar.nextSibling?.remove();
    return;
  }
  if (!bar.nextSibling) track.append(html("span"));
  const whisker = bar.nextSibling;
  whisker.className = `whisker${ends[0] < low ? " cut-low" : ""}${ends[1] > high ? " cut-high" : ""}`;
  whisker.style.left = `${at(ends[0])}%`;
  whisker.style.width = `${at(ends[1]) - at(ends[0])}%`;
}

const MAX_LEVELS = 8;

/** Return the bars of a category: important levels, the others collapsed, missing values last. */
function drawLevels(feature, levels, curve, limits, signs, view) {
  const heights = levels.map((_, k) => view.at(k));
  const shares = feature.shares || levels.map(() => null);
  const size = (k) => (shares[k] === null ? 1 : shares[k]) * Math.abs(heights[k] - view.unit.base);
  const order = levels.map((_, k) => k).sort((a, b) => size(b) - size(a) || a - b);
  const nSingle = levels.length <= MAX_LEVELS ? levels.length : MAX_LEVELS - 1;
  const natural = levels.length <= MAX_LEVELS ? naturalOrder(levels) : null;
  const inOrder = natural ? (a, b) => natural.indexOf(a) - natural.indexOf(b)
    : (a, b) => heights[b] - heights[a];
  const list = html("ul", { class: "levels" });
  const items = new Map();
  const add = (key, name, share, height, colors = signs) => {
    const ends = bandAt(view, key === "missing" ? NaN : key);
    const item = levelItem(name, share, height, limits, colors, view.unit, ends);
    items.set(key, item);
    return item;
  };
  const level = (k) => add(k, String(levels[k]), shares[k], heights[k]);
  list.append(...order.slice(0, nSingle).sort(inOrder).map(level));
  const rest = order.slice(nSingle).sort(inOrder);
  if (rest.length) {
    const mean = averageLevel(rest, shares, heights);
    list.append(...collapseLevels(rest.map(level), mean, limits, view.unit));
  }
  if (curve.missing !== null) list.append(add("missing", "missing", feature.share_missing,
    view.at(NaN), ["missing", "missing"]));
  const mark = (x) => items.forEach((item, k) => {
    item.classList.toggle("current", Number.isNaN(x) ? k === "missing" : k === x);
  });
  return { chart: list, mark };
}

/** Return the line of a level: its name, its share of the rows, and its height in a unit. */
function levelItem(name, share, height, [low, high], signs, unit, ends = null) {
  const { base, text } = unit;
  return html("li", {}, typeof name === "string"
    ? html("span", { class: "name", title: name }, name) : name,
    html("span", { class: "share" }, share === null ? "" : formatPercent(share)),
    signedBar(height - base, [low - base, high - base], signs, ends?.map((end) => end - base)),
    html("span", { class: "number", title: ends && formatBanded(unit, height, ends) },
      text(height)));
}

/** Return the share of the rows with one of these levels, and their mean. */
function averageLevel(chosen, shares, values) {
  const share = chosen.reduce((sum, k) => sum + (shares[k] || 0), 0);
  const weight = (k) => (share ? shares[k] / share : 1 / chosen.length);
  return { share: share || null, value: chosen.reduce((sum, k) => sum + weight(k) * values[k], 0) };
}

/** Return a line for all collapsed levels, and their own lines, which its button shows. */
function collapseLevels(lines, { share, value }, limits, unit) {
  const button = html("button", { type: "button", class: "link", "aria-expanded": "false" },
    `${lines.length} more`);
  const item = levelItem(html("span", { class: "name" }, button), share, value, limits,
    ["others", "others"], unit);
  lines.forEach((line) => line.classList.add("collapsed"));
  button.addEventListener("click", () => {
    const isOpen = button.getAttribute("aria-expanded") === "false";
    button.setAttribute("aria-expanded", String(isOpen));
    button.textContent = isOpen ? `mean of these ${lines.length}` : `${lines.length} more`;
    lines.forEach((line) => line.classList.toggle("collapsed", !isOpen));
  });
  return [item, ...lines];
}
