// Charts, drawn from plain data. Text of the data goes through textContent only.

/** Return an HTML element with attributes and children, which are elements or text. */
function html(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** Return an SVG element. */
function svg(tag, attributes = {}, ...children) {
  const space = document.getElementById("svg-origin").namespaceURI;
  return fill(document.createElementNS(space, tag), attributes, children);
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

/** Return a number in few digits. */
function few(x, digits = 4) {
  if (x === null || Number.isNaN(x)) return "none";
  const size = Math.abs(x);
  const text = size !== 0 && (size < 1e-4 || size >= 1e7)
    ? size.toExponential(2).replace(/\.?0+e/, "e")
    : String(Number(size.toPrecision(size >= 10 ** digits ? Math.ceil(Math.log10(size)) : digits)));
  return (x < 0 && Number(text) !== 0 ? MINUS : "") + text;
}

/** Return what is added to a score, with its sign and as many places after the point as others. */
function signed(x, places = 3) {
  const text = Math.abs(x).toFixed(places);
  if (Number(text) === 0) return text;
  return (x < 0 ? MINUS : "+") + text;
}

/** Return a share in words. */
function percent(share) {
  const shown = 100 * share;
  if (shown > 0 && shown < 0.1) return "<0.1%";
  if (shown > 99.9 && shown < 100) return ">99.9%";
  const isWhole = shown === 0 || shown === 100 || (shown >= 9.95 && shown <= 99.05);
  return `${shown.toFixed(isWhole ? 0 : 1)}%`;
}

/** Return a value of the data as text. */
function shown(value) {
  if (value === null || value === undefined) return "missing";
  return typeof value === "number" ? few(value, 6) : String(value);
}

/** Return a text whose middle is left out if it is long. */
function short(text, most = 36) {
  const letters = [...text];
  if (letters.length <= most) return text;
  const half = Math.floor(most / 2);
  return `${letters.slice(0, half).join("")}\u2026${letters.slice(-half + 1).join("")}`;
}

/** Return round numbers within an interval. */
function ticks(low, high, most = 5) {
  const rough = (high - low) / most;
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
const STRIP = 48; // where what is missing stands apart

/** Return a chart with axes, and the functions from data to places in it. */
function axes({ x: [low, high], y: [bottom, top], label, strip = 0, xTicks, yTicks, xName = "",
  yName = "", frame = FRAME }) {
  const end = frame.width - frame.right - strip;
  const ground = frame.height - frame.bottom;
  const atX = (x) => frame.left + ((x - low) / (high - low)) * (end - frame.left);
  const atY = (y) => ground - ((y - bottom) / (top - bottom)) * (ground - frame.top);
  const chart = svg("svg", {
    viewBox: `0 0 ${frame.width} ${frame.height}`, role: "img", "aria-label": label, class: "chart",
  });
  for (const y of yTicks || ticks(bottom, top, 5)) {
    chart.append(svg("line", { class: y === 0 ? "zero" : "rule", x1: frame.left, x2: end + strip,
      y1: atY(y), y2: atY(y) }));
    chart.append(svg("text", { class: "tick", x: frame.left - 6, y: atY(y) + 3.5,
      "text-anchor": "end" }, few(y)));
  }
  for (const [x, text] of xTicks || ticks(low, high, 5).map((x) => [x, few(x)])) {
    chart.append(svg("text", { class: "tick", x: atX(x), y: ground + 16,
      "text-anchor": "middle" }, text));
  }
  chart.append(
    svg("text", { class: "tick", x: end, y: frame.height - 2, "text-anchor": "end" }, xName),
    svg("text", { class: "tick", x: 2, y: 10 }, yName));
  return { chart, atX, atY, end, ground, frame };
}

/** Return the least and the most that curves add, zero among it. */
function rangeOf(curves) {
  let low = 0;
  let high = 0;
  for (const curve of curves) {
    for (const value of [...(curve.level_values || curve.values), curve.missing ?? 0]) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  return [low, high];
}

const COLORS = 8; // of classes, in page.css

/** Tell whether each class has a color of its own; of two, the sign of the score has. */
const hasClassColors = (labels) => labels.length > 2 && labels.length <= COLORS;

/**
 * Return the classes of style for what is above and below zero on the score of class k.
 * Of two classes the second is blue and the first orange, whatever the chart.
 */
function sidesOf(labels, k) {
  if (labels.length === 2) return ["positive", "negative"];
  return [hasClassColors(labels) ? `c${k}` : "positive", "neutral"];
}

/** Return the class of style for text that favors class k. */
function textOf(k, labels) {
  if (labels.length === 2) return k === 1 ? "text-positive" : "text-negative";
  return hasClassColors(labels) ? `text-c${k}` : "";
}

/** Return the curve of a number, with the rows' density at its foot and what is missing apart. */
function drawLine(feature, curve, limits, sides) {
  const spread = feature.high - feature.low || 1;
  const low = feature.low - 0.04 * spread;
  const high = feature.high + 0.04 * spread;
  const hasMissing = curve.missing !== null;
  const ends = rangeOf([curve]);
  const label = `Curve of ${feature.name}, which adds from ${few(ends[0])} to ${few(ends[1])}` +
    (hasMissing ? `, and ${signed(curve.missing)} where it is missing` : "");
  const plot = axes({ x: [low, high], y: limits, label, strip: hasMissing ? STRIP : 0,
    xTicks: ticks(low, high, 5).filter((x) => (!feature.whole || Number.isInteger(x))
      && !(hasMissing && x > high - 0.1 * spread))
      .map((x) => [x, few(x)]) });
  const { chart, atX, atY, ground, frame } = plot;
  if (feature.density) drawDensity(plot, feature.density);
  const points = [[low, curve.values[0]], ...curve.knots.map((x, k) => [x, curve.values[k]]),
    [high, curve.values[curve.values.length - 1]]]
    .filter(([x]) => x >= low && x <= high);
  const path = points.map(([x, y], k) =>
    `${k ? "L" : "M"}${atX(x).toFixed(2)} ${atY(y).toFixed(2)}`);
  chart.append(...halves(plot, path.join(""), sides));
  if (hasMissing) drawMissing(plot, curve.missing, feature.share_missing);
  const here = svg("circle", { class: "here", r: 4.5 });
  here.setAttribute("visibility", "hidden");
  const probe = svg("line", { class: "probe", y1: frame.top, y2: ground, visibility: "hidden" });
  chart.append(probe, here);
  const move = (x) => {
    here.setAttribute("visibility", "visible");
    const isMissing = Number.isNaN(x);
    here.setAttribute("cx", isMissing ? plot.end + STRIP / 2
      : atX(Math.min(Math.max(x, low), high)));
    here.setAttribute("cy", atY(curveAt(curve, x)));
    if (isMissing && !hasMissing) here.setAttribute("visibility", "hidden");
  };
  return { chart, move, plot, probe, range: [low, high] };
}

/** Return a line in two colors: what is above zero, and what is below. */
function halves({ frame, atY }, path, sides) {
  const zero = atY(0);
  const parts = [[0, zero], [zero, frame.height - zero]];
  return parts.map(([y, height], k) => svg("svg", { x: 0, y, width: frame.width, height,
    viewBox: `0 ${y} ${frame.width} ${height}`, "aria-hidden": "true" },
  svg("path", { class: `line line-${sides[k]}`, d: path })));
}

function drawDensity({ chart, atX, ground, frame }, density) {
  const most = Math.max(...density.share) || 1;
  const width = Math.max(1, atX(density.width) - atX(0) - 0.6);
  density.at.forEach((x, k) => {
    const height = 0.3 * (ground - frame.top) * (density.share[k] / most);
    chart.append(svg("rect", { class: "density", x: atX(x) - width / 2, width,
      y: ground - height, height }));
  });
}

function drawMissing({ chart, atY, end, ground, frame }, value, share) {
  const middle = end + STRIP / 2;
  chart.append(svg("line", { class: "apart", x1: end, x2: end, y1: frame.top, y2: ground }));
  const y = atY(value);
  chart.append(svg("path", { class: "missing",
    d: `M${middle} ${y - 5}L${middle + 5} ${y}L${middle} ${y + 5}L${middle - 5} ${y}Z` }));
  const tell = (height, text) => chart.append(svg("text", { class: "tick missing-text", x: middle,
    y: height, "text-anchor": "middle" }, text));
  tell(ground + 16, "missing");
  if (share !== null) tell(frame.top - 3, percent(share));
}

/** Return a bar that goes right from zero if positive and left if negative. */
function signedBar(value, limits, sides) {
  const bar = html("span", { class: "bar" });
  const track = html("span", { class: "track" }, bar);
  setSignedBar(track, value, limits, sides);
  return track;
}

function setSignedBar(track, value, [low, high], sides) {
  const at = (v) => (100 * (Math.min(Math.max(v, low), high) - low)) / (high - low);
  const bar = track.firstChild;
  const zero = at(0);
  track.style.setProperty("--zero", `${zero}%`);
  bar.style.left = `${Math.min(zero, at(value))}%`;
  bar.style.width = `${Math.abs(at(value) - zero)}%`;
  bar.className = `bar ${sides[value < 0 ? 1 : 0]}`;
}

const MOST_LEVELS = 8;

/** Return the bars of a category: levels that move scores most, others folded, missing last. */
function drawLevels(feature, levels, curve, limits, sides) {
  const values = curve.level_values;
  const shares = feature.shares || levels.map(() => null);
  const weight = (k) => (shares[k] === null ? 1 : shares[k]) * Math.abs(values[k]);
  const order = levels.map((_, k) => k).sort((a, b) => weight(b) - weight(a) || a - b);
  const nShown = levels.length <= MOST_LEVELS ? levels.length : MOST_LEVELS - 1;
  const byValue = (a, b) => values[b] - values[a];
  const list = html("ul", { class: "levels" });
  const items = new Map();
  const add = (key, name, share, value, colors = sides) => {
    const item = levelLine(name, share, value, limits, colors);
    items.set(key, item);
    return item;
  };
  const level = (k) => add(k, String(levels[k]), shares[k], values[k]);
  list.append(...order.slice(0, nShown).sort(byValue).map(level));
  const rest = order.slice(nShown).sort(byValue);
  if (rest.length) list.append(...foldedLevels(rest.map(level), meanOf(rest, shares, values),
    limits));
  if (curve.missing !== null) list.append(add("missing", "missing", feature.share_missing,
    curve.missing, ["missing", "missing"]));
  const move = (x) => items.forEach((item, k) => {
    item.classList.toggle("here", Number.isNaN(x) ? k === "missing" : k === x);
  });
  return { chart: list, move };
}

/** Return the line of a level: its name, how many rows have it, and what it adds. */
function levelLine(name, share, value, limits, sides) {
  return html("li", {}, typeof name === "string"
    ? html("span", { class: "name", title: name }, name) : name,
    html("span", { class: "share" }, share === null ? "" : percent(share)),
    signedBar(value, limits, sides), html("span", { class: "number" }, signed(value)));
}

/** Return how many rows have one of some levels, and what these levels add on average. */
function meanOf(chosen, shares, values) {
  const share = chosen.reduce((sum, k) => sum + (shares[k] || 0), 0);
  const weight = (k) => (share ? shares[k] / share : 1 / chosen.length);
  return { share: share || null, value: chosen.reduce((sum, k) => sum + weight(k) * values[k], 0) };
}

/** Return one line for many, and these, which its button shows; in print all are shown. */
function foldedLevels(lines, { share, value }, limits) {
  const button = html("button", { type: "button", class: "link", "aria-expanded": "false" },
    `${lines.length} more`);
  const item = levelLine(html("span", { class: "name" }, button), share, value, limits,
    ["others", "others"]);
  lines.forEach((line) => line.classList.add("beyond"));
  button.addEventListener("click", () => {
    const isOpen = button.getAttribute("aria-expanded") === "false";
    button.setAttribute("aria-expanded", String(isOpen));
    button.textContent = isOpen ? `these ${lines.length}, on average` : `${lines.length} more`;
    lines.forEach((line) => line.classList.toggle("beyond", !isOpen));
  });
  return [item, ...lines];
}

/** Return a histogram of margins; those of rows predicted wrongly, below zero, are marked. */
function drawMargins({ edges, counts, lowest, highest, mean }) {
  const most = Math.max(...counts);
  const low = Math.min(edges[0], 0);
  const high = Math.max(edges[edges.length - 1], 0);
  const frame = { ...FRAME, width: 420, height: 246, top: 20, bottom: 38 };
  const label = `How many rows have which margin: from ${few(lowest)} to ${few(highest)}, ` +
    `${few(mean)} on average`;
  const plot = axes({ x: [low, high], y: [0, 1.05 * most], frame, label, xName: "margin",
    yName: "rows", yTicks: ticks(0, most, 4).filter(Number.isInteger) });
  counts.forEach((count, k) => {
    if (!count) return;
    const isWrong = edges[k + 1] <= 1e-12;
    plot.chart.append(svg("rect", { class: isWrong ? "margin wrong" : "margin",
      x: plot.atX(edges[k]) + 0.5,
      width: Math.max(1, plot.atX(edges[k + 1]) - plot.atX(edges[k]) - 1),
      y: plot.atY(count), height: plot.ground - plot.atY(count) },
    svg("title", {}, `${few(edges[k])} to ${few(edges[k + 1])}: ${count}`)));
  });
  plot.chart.append(svg("line", { class: "apart", x1: plot.atX(0), x2: plot.atX(0),
    y1: frame.top, y2: plot.ground }));
  return plot.chart;
}

/** Return what the scores of a path are, in words. */
function scoreName({ scoring }) {
  return scoring === "neg_log_loss" ? "negative log-loss" : scoring || "score";
}

/** Return how the score of validation goes with C. */
function drawPath({ C, mean, std, chosen, scoring }) {
  const kept = C.map((c, k) => [Math.log10(c), mean[k], (std && std[k]) || 0])
    .filter(([c, m]) => Number.isFinite(c) && m !== null);
  const spread = (part) => kept.map(([, m, s]) => m + part * s);
  const low = Math.min(...spread(-1));
  const high = Math.max(...spread(1));
  const room = 0.08 * (high - low) || 0.05;
  const ends = [kept[0][0], kept[kept.length - 1][0]];
  const side = 0.03 * (ends[1] - ends[0]) || 0.5;
  const frame = { ...FRAME, width: 420, height: 236, top: 20, bottom: 38 };
  const decades = ticks(ends[0], ends[1], 6).filter(Number.isInteger);
  const plot = axes({ x: [ends[0] - side, ends[1] + side], y: [low - room, high + room], frame,
    label: `The validation score for each of ${kept.length} values of C, ${few(low)} to ` +
      `${few(high)}${chosen ? `; C = ${few(chosen)} was chosen` : ""}`,
    xName: "C", yName: `validation ${scoreName({ scoring })}`,
    xTicks: decades.map((p) => [p, p < -3 || p > 4 ? `1e${p}` : few(10 ** p)]) });
  const point = ([c, m]) => `${plot.atX(c).toFixed(2)} ${plot.atY(m).toFixed(2)}`;
  const band = [...kept.map(([c, m, s]) => point([c, m + s])),
    ...[...kept].reverse().map(([c, m, s]) => point([c, m - s]))];
  plot.chart.append(svg("path", { class: "band", d: `M${band.join("L")}Z` }),
    svg("path", { class: "line line-plain", d: `M${kept.map(point).join("L")}` }));
  const nearest = kept.find(([c]) => chosen && Math.abs(c - Math.log10(chosen)) < 1e-9);
  kept.forEach((one) => plot.chart.append(svg("circle", { class: one === nearest ? "here" : "dot",
    cx: plot.atX(one[0]), cy: plot.atY(one[1]), r: one === nearest ? 6 : 3 },
  svg("title", {}, `C = ${few(10 ** one[0])}: ${few(one[1])}`))));
  return plot.chart;
}
