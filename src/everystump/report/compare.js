// The comparison page: two models on the same rows, side by side.

const MAX_CARDS = window.innerWidth < 760 ? 6 : 18;
const MAX_SHOWN_LEVELS = 8;
const DIFFERENCE = "difference";

function drawComparison(summary) {
  drawModels(summary);
  drawFigures(summary);
  drawAgreement(summary);
  drawSettings(summary);
  if (summary.documents) {
    summary.documents = summary.documents.map(unpack);
    precision.decimals = contributionDecimals(summary);
    drawCurves(summary);
    drawSurfaces(summary);
  }
  drawRows(summary);
  addSaveButtons(byId("main"));
}

/** Show a section, and a link to it. */
function showSection(id, name) {
  byId(id).hidden = false;
  byId("links").append(html("li", {}, html("a", { href: `#${id}` }, name)));
}

/** Return the name of a model in its color. */
const modelName = (summary, k) => html("span", { class: `model-name m${k}` }, summary.names[k]);

/** List the models with the marks by which plots show them. */
function drawModels(summary) {
  const model = summary.settings.different.find(({ name }) => name === "model");
  const same = summary.settings.same.find(({ name }) => name === "model");
  byId("models").append(...[0, 1].map((k) => {
    const edits = summary.edits[k];
    return html("li", { class: `m${k}` }, html("span", { class: "key-mark" }),
      html("span", {}, modelName(summary, k), `: ${model ? model.values[k] : same?.value ?? ""}`,
        edits.length ? html("span", { class: "edits" }, `Edited by hand: ${edits.join("; ")}.`)
          : null));
  }));
}

/** Show the metrics side by side, with differences and tests. */
function drawFigures(summary) {
  showSection("metrics-section", "Metrics");
  const { metrics, warnings, verdict } = summary;
  const card = byId("metrics");
  const rows = `Evaluated on ${summary.measured_on}.`;
  if (verdict) card.append(html("p", { class: "verdict-line" }, verdict));
  card.append(...warnings.map((text) => html("p", { class: "verdict" }, `Warning: ${text}`)));
  const isTested = metrics.some(({ p }) => p);
  const titles = ["difference", ...(isTested ? ["p-value"] : [])];
  const head = html("tr", {}, html("td", {}),
    ...[0, 1].map((k) => html("th", { scope: "col", class: `number own m${k}` },
      summary.names[k])),
    ...titles.map((title) => html("th", { scope: "col", class: "number" }, title)));
  const lines = metrics.map((row) => html("tr", {}, html("th", { scope: "row" }, row.name),
    ...[0, 1].map((k) => html("td", { class: `number${row.better === k ? " winner" : ""}`,
      "data-title": summary.names[k] }, row.values[k], range(row.intervals[k]))),
    html("td", { class: "number", "data-title": DIFFERENCE }, row.difference,
      range(row.interval)),
    isTested ? html("td", { class: `number${row.p ? "" : " none"}`, "data-title": "p-value" },
      row.p || "\u2013", row.test ? html("span", { class: "range" }, row.test) : null) : null));
  card.append(
    html("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Metrics" },
      html("table", { class: "compared figures" }, html("thead", {}, head),
        html("tbody", {}, ...lines))),
    html("p", { class: "hint" }, `${rows} The difference is that of ${summary.names[1]} minus ` +
      `${summary.names[0]}.${isTested ? " Small print: 95% intervals, and the test of each " +
        "difference on the same rows; p-values are not adjusted for the number of metrics." : ""}`));
}

const range = (text) => (text ? html("span", { class: "range" }, text) : null);

/** Show how often both are right, and what both predict for each row. */
function drawAgreement(summary) {
  const { comparison: { agreement, closer, n_rows: nRows }, scatter, names } = summary;
  showSection("agreement", "Agreement");
  if (closer) byId("agreement-cards").append(closerCard(summary, closer, nRows));
  if (agreement) {
    const cell = (key, isOnly) => html("td", { class: isOnly ? "only" : null },
      html("strong", {}, agreement[key].toLocaleString("en")),
      html("span", { class: "share" }, formatPercent(agreement[key] / nRows)));
    const table = html("table", { class: "agreement" },
      html("thead", {}, html("tr", {}, html("td", {}),
        html("th", { scope: "col" }, modelName(summary, 1), " right"),
        html("th", { scope: "col" }, modelName(summary, 1), " wrong"))),
      html("tbody", {},
        html("tr", {}, html("th", { scope: "row" }, modelName(summary, 0), " right"),
          cell("both", false), cell("first", true)),
        html("tr", {}, html("th", { scope: "row" }, modelName(summary, 0), " wrong"),
          cell("second", true), cell("neither", false))));
    const nOther = nRows - agreement.same;
    byId("agreement-cards").append(html("div", { class: "card" },
      html("h3", {}, "Rows that are right or wrong"),
      html("div", { class: "scroll", tabindex: "0", role: "region",
        "aria-label": "Rows that are right or wrong" }, table),
      html("p", { class: "hint" }, `The models predict different classes for ${
        nOther.toLocaleString("en")} of ${nRows.toLocaleString("en")} rows (${
        formatPercent(nOther / nRows)}). Only the shaded rows decide which one has the lower ` +
        "error" + (agreement.exact_p === null ? "."
          : `: exact McNemar test, p = ${formatNumber(agreement.exact_p, 3)}.`))));
  }
  byId("agreement-cards").append(html("div", { class: "card" },
    html("h3", {}, `Predictions of ${names[0]} and ${names[1]}`), drawScatter(summary),
    html("p", { class: "hint" }, `One point per row${scatter.rows < nRows
      ? ` (${scatter.rows.toLocaleString("en")} of ${nRows.toLocaleString("en")}, evenly spaced)`
      : ""}: ${scatter.name}. On the dashed line, both models agree.${pointColors(summary)}`)));
}

/** Return how often each of two regressors is closer to the target. */
function closerCard(summary, closer, nRows) {
  const line = (key, k) => html("tr", {},
    html("th", { scope: "row" }, modelName(summary, k), " is closer"),
    html("td", {}, html("strong", {}, closer[key].toLocaleString("en")),
      html("span", { class: "share" }, formatPercent(closer[key] / nRows))));
  return html("div", { class: "card" }, html("h3", {}, "Rows with the smaller error"),
    html("table", { class: "agreement" }, html("tbody", {}, line("first", 0), line("second", 1))),
    html("p", { class: "hint" }, `Of ${nRows.toLocaleString("en")} rows, by the absolute error` +
      (closer.exact_p === null ? "."
        : `; sign test, p = ${formatNumber(closer.exact_p, 3)}.`)));
}

function pointColors({ labels, scatter }) {
  if (!scatter.differs) return "";
  const classes = labels.length === 2
    ? ` Blue: actually \u201c${labels[1]}\u201d; orange: \u201c${labels[0]}\u201d.` : "";
  return `${classes} Points with an outline are rows that are predicted differently.`;
}

/** Return the predictions of the second model against those of the first. */
function drawScatter({ names, labels, scatter }) {
  const { values, actual, differs } = scatter;
  const isProbability = scatter.name.startsWith("probability");
  const all = [...values[0], ...values[1]];
  const [low, high] = isProbability ? [0, 1] : [Math.min(...all), Math.max(...all)];
  const padding = 0.03 * (high - low) || 0.5;
  const limits = [low - padding, high + padding];
  const frame = { ...FRAME, width: 420, height: 320, top: 20, bottom: 40 };
  const marks = ticks(low, high, 5);
  const plot = axes({ x: limits, y: limits, frame, label: `${scatter.name}: ${names[1]} against ` +
    `${names[0]}`, xName: truncateMiddle(names[0], 40), yName: truncateMiddle(names[1], 40),
  yTicks: marks, xTicks: marks.map((x) => [x, formatNumber(x)]) });
  plot.chart.append(svg("line", { class: "diagonal", x1: plot.atX(low), y1: plot.atY(low),
    x2: plot.atX(high), y2: plot.atY(high) }));
  const order = values[0].map((_, i) => i)
    .sort((i, j) => Number(differs?.[i] ?? 0) - Number(differs?.[j] ?? 0));
  plot.chart.append(...order.map((i) => svg("circle", {
    class: `dot-point${labels.length === 2 ? ` p${actual[i]}` : ""}${differs?.[i] ? " differs" : ""}`,
    cx: plot.atX(values[0][i]).toFixed(1), cy: plot.atY(values[1][i]).toFixed(1), r: 3 })));
  return plot.chart;
}

/** List the settings that differ, and those that do not. */
function drawSettings(summary) {
  showSection("settings", "Settings");
  const { different, same } = summary.settings;
  const card = byId("settings-table");
  if (different.length) {
    const head = html("tr", {}, html("td", {}), ...[0, 1].map((k) =>
      html("th", { scope: "col", class: `own m${k}` }, summary.names[k])));
    card.append(html("table", { class: "compared settings" }, html("thead", {}, head),
      html("tbody", {}, ...different.map(({ name, values }) => html("tr", {},
        html("th", { scope: "row" }, name), ...values.map((value) => html("td", {}, value)))))));
  } else card.append(html("p", {}, "Nothing but the training rows or the random seed."));
  if (same.length) {
    card.append(html("details", {}, html("summary", {}, `The same in both (${same.length})`),
      html("ul", {}, ...same.map(({ name, value }) => html("li", {}, `${name}: ${value}`)))));
  }
}

/** Return the number of decimals that suit the largest contribution. */
function contributionDecimals({ documents, terms: { scales }, is_regression: isRegression }) {
  if (!isRegression) return LOG_DECIMALS;
  const sizes = documents.flatMap((model, k) => model.scores.flatMap(({ curves, surfaces = [] }) =>
    rangeOf([...curves, ...surfaces]).map((value) => Math.abs(value * scales[k]))));
  const power = Math.floor(Math.log10(Math.max(...sizes) || 1));
  return power < -5 || power > 8 ? null : Math.max(0, 3 - power);
}

/** Return a curve of a model, scaled; null if it has none. */
function scaledCurve({ documents, terms: { scales } }, k, score, index) {
  if (index === null) return null;
  const curve = documents[k].scores[score].curves.find(({ feature }) => feature === index);
  if (!curve) return null;
  const scaled = (values) => values.map((value) => value * scales[k]);
  return { ...curve, missing: curve.missing === null ? null : curve.missing * scales[k],
    ...(curve.values ? { values: scaled(curve.values) }
      : { level_values: scaled(curve.level_values) }) };
}

/** Draw the curves of all features, those of both models in one plot. */
function drawCurves(summary) {
  const { terms, labels, documents } = summary;
  showSection("curves", "Curves");
  const hasOneScore = documents[0].scores.length === 1;
  const ownScale = html("input", { type: "checkbox", id: "own-scale" });
  const order = html("select", { id: "curve-order" },
    html("option", { value: DIFFERENCE }, "largest difference"),
    html("option", { value: "importance" }, "importance"),
    html("option", { value: "name" }, "name"));
  const classSelect = html("select", { id: "curve-class" }, ...labels.map((label, k) =>
    html("option", { value: k }, label)));
  const finder = buildFinder("find-curve", "feature", MAX_CARDS);
  fill(byId("curves-controls"), {}, [html("label", {}, "Sort by ", order), finder.search,
    hasOneScore ? null : html("label", {}, "Class ", classSelect),
    html("label", {}, ownScale, "each curve on its own scale")]);
  byId("curve-cards").after(finder.more);
  byId("curves-lead").textContent = curvesLead(summary);

  function draw() {
    const score = hasOneScore ? 0 : Number(classSelect.value);
    const drawn = sortTerms(terms.features, order.value).map((term) => ({ term,
      curves: [0, 1].map((k) => scaledCurve(summary, k, score, term.terms[k])) }))
      .filter(({ curves }) => curves.some(Boolean));
    const limits = paddedRange(drawn.flatMap(({ curves }) => curves.filter(Boolean)));
    const cards = drawn.map(({ term, curves }) => ({ name: term.names[0],
      element: curveCard(summary, term, curves,
        ownScale.checked ? paddedRange(curves.filter(Boolean)) : limits) }));
    byId("curve-cards").replaceChildren(...cards.map(({ element }) => element));
    finder.set(cards);
  }
  [ownScale, order, classSelect].forEach((input) => input.addEventListener("change", draw));
  draw();
}

function curvesLead({ names, terms, labels, is_regression: isRegression }) {
  const sum = isRegression ? "prediction" : "score";
  const unit = terms.same_scale ? `the contribution of each value to the ${sum}`
    : `the contribution of each value to the ${sum}, in standard deviations of each model\u2019s ` +
      `own ${sum}, since these have different scales`;
  const meaning = labels.length === 2 ? ` Values above zero favor \u201c${labels[1]}\u201d.` : "";
  return `The wide line is ${names[0]}, the thin one ${names[1]}: ${unit}.${meaning} Bars at the ` +
    "bottom show the distribution of the training rows. To read a value, point at a curve, or " +
    "focus it and use the arrow keys.";
}

function sortTerms(terms, key) {
  const importance = (term) => Math.max(...term.importance.map((value) => value ?? 0));
  const compare = { difference: (a, b) => b.difference - a.difference,
    importance: (a, b) => importance(b) - importance(a),
    name: (a, b) => a.names[0].localeCompare(b.names[0]) };
  return [...terms].sort(compare[key]);
}

/** Return the range of curves with some padding; it contains zero. */
function paddedRange(curves) {
  const [low, high] = rangeOf(curves);
  const padding = 0.07 * (high - low) || 0.5;
  return [low - padding, high + padding];
}

function curveCard(summary, term, curves, limits) {
  const features = [0, 1].map((k) => (term.terms[k] === null ? null
    : summary.terms.details[k].features[term.terms[k]]));
  const [name] = term.names;
  const missingFrom = [0, 1].find((k) => !curves[k]);
  const note = missingFrom === undefined ? null : html("span", { class: "only-one" },
    features[missingFrom] ? `unused by ${summary.names[missingFrom]}`
      : `not in ${summary.names[missingFrom]}`);
  const isCategory = curves.some((curve) => curve && curve.level_values);
  const isNumber = curves.some((curve) => curve && curve.values);
  const body = isCategory && !isNumber ? drawLevelPairs(summary, term, features, curves, limits)
    : drawOverlay(summary, name, features, curves, limits);
  const title = html("h3", { title: name }, html("span", {}, ...breakable(name)), note);
  const card = html("article", { class: "card curve", "aria-label": name }, title, ...body);
  title.append(saveButton(card, name, { rows: () => comparedRows(summary, term, curves) }));
  return card;
}

/** Return the curves of both models over the density of the rows, and their values at a probe. */
function drawOverlay(summary, name, features, curves, limits) {
  const known = features.filter((feature) => feature && feature.kind === "number");
  const first = known[0];
  const [least, most] = [Math.min(...known.map(({ low }) => low)),
    Math.max(...known.map(({ high }) => high))];
  const width = most - least || 1;
  const domain = [least - 0.04 * width, most + 0.04 * width];
  const hasMissing = curves.some((curve) => curve && curve.missing !== null);
  const marks = ticks(...domain, 5).filter((x) => (!first.is_integer || Number.isInteger(x))
    && !(hasMissing && x > domain[1] - 0.1 * width));
  const plot = axes({ x: domain, y: limits, label: `Curves of ${name} in both models`,
    strip: hasMissing ? STRIP : 0, xTicks: marks.map((x) => [x, formatNumber(x)]) });
  if (first.density) plot.chart.append(drawBars(plot, first.density));
  curves.forEach((curve, k) => {
    if (curve?.values) plot.chart.append(drawCurveLine(plot, curve, domain, k));
    if (curve && curve.missing !== null) plot.chart.append(drawDiamond(plot, curve.missing, k));
  });
  if (hasMissing) plot.chart.append(...drawStrip(plot));
  const readouts = html("p", { class: "readouts", "aria-hidden": "true" });
  addCurveProbe(summary, plot, { low: least, high: most, isInteger: first.is_integer,
    typical: first.typical }, domain, curves, hasMissing, readouts);
  return [plot.chart, readouts];
}

function drawBars({ atX, ground, frame }, density) {
  const largest = Math.max(...density.share) || 1;
  const half = Math.max(0.5, (atX(density.width) - atX(0) - 0.6) / 2);
  return svg("path", { class: "density", d: density.at.map((x, k) => {
    const top = ground - 0.3 * (ground - frame.top) * (density.share[k] / largest);
    return `M${(atX(x) - half).toFixed(1)} ${ground}V${top.toFixed(1)}` +
      `H${(atX(x) + half).toFixed(1)}V${ground}Z`;
  }).join("") });
}

function drawCurveLine({ atX, atY }, curve, [low, high], k) {
  const points = [[low, evaluateCurve(curve, low)],
    ...curve.knots.map((x, j) => [x, curve.values[j]]).filter(([x]) => x > low && x < high),
    [high, evaluateCurve(curve, high)]];
  return svg("path", { class: `model-line m${k}`, d: points.map(([x, y], j) =>
    `${j ? "L" : "M"}${atX(x).toFixed(2)} ${atY(y).toFixed(2)}`).join("") });
}

function drawDiamond({ atY, end }, value, k) {
  const size = k ? 4 : 6;
  const x = end + STRIP / 2;
  const y = atY(value);
  return svg("path", { class: `model-missing m${k}`,
    d: `M${x} ${y - size}L${x + size} ${y}L${x} ${y + size}L${x - size} ${y}Z` });
}

function drawStrip({ end, ground, frame }) {
  return [svg("line", { class: "separator", x1: end, x2: end, y1: frame.top, y2: ground }),
    svg("text", { class: "tick", x: end + STRIP / 2, y: ground + 16, "text-anchor": "middle" },
      "missing")];
}

/** Show the values of both curves at the pointer, or at a position set by the arrow keys. */
function addCurveProbe(summary, plot, feature, domain, curves, hasMissing, readouts) {
  const { chart, frame } = plot;
  const line = svg("line", { class: "probe", y1: frame.top, y2: plot.ground,
    visibility: "hidden" });
  chart.append(line);
  let at = feature.typical ?? feature.low;

  function show(x) {
    at = x;
    const isMissing = Number.isNaN(x);
    const position = isMissing ? plot.end + STRIP / 2 : plot.atX(x);
    fill(line, { x1: position, x2: position, visibility: "visible" }, []);
    const parts = curves.map((curve, k) => (curve
      ? html("span", { class: `m${k}` },
        `${summary.names[k]} ${formatSigned(evaluateCurve(curve, x))}`) : null));
    readouts.replaceChildren(html("span", {}, isMissing ? "missing" : formatNumber(x)),
      ...parts.filter(Boolean));
    fill(chart, { "aria-valuenow": isMissing ? feature.high : x,
      "aria-valuetext": [...readouts.children].map((part) => part.textContent).join(", ") }, []);
  }
  function hide() {
    line.setAttribute("visibility", "hidden");
    readouts.replaceChildren();
  }
  fill(chart, { role: "slider", tabindex: 0, "aria-valuemin": feature.low,
    "aria-valuemax": feature.high, "aria-valuenow": at }, []);
  chart.addEventListener("pointermove", (event) => {
    const box = chart.getBoundingClientRect();
    const position = ((event.clientX - box.left) / box.width) * frame.width;
    const x = domain[0] + ((position - frame.left) / (plot.end - frame.left)) *
      (domain[1] - domain[0]);
    if (x >= domain[0] && x <= domain[1]) show(x);
    else if (x > domain[1] && hasMissing) show(NaN);
  });
  chart.addEventListener("pointerleave", hide);
  chart.addEventListener("focus", () => show(at));
  chart.addEventListener("blur", hide);
  chart.addEventListener("keydown", (event) => {
    const next = nextValue(event.key, at, feature, hasMissing);
    if (next === null) return;
    event.preventDefault();
    show(next);
  });
}

/** Return the value after a key, null for other keys; NaN, missing, follows the highest value. */
function nextValue(key, at, { low, high, isInteger }, hasMissing) {
  const step = isInteger ? Math.max(1, Math.round((high - low) / 40)) : (high - low) / 40 || 1;
  const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 5,
    PageDown: -5 };
  if (key === "Home") return low;
  if (key === "End") return high;
  if (!(key in steps)) return null;
  if (Number.isNaN(at)) return steps[key] < 0 ? high : at;
  if (at >= high && steps[key] > 0 && hasMissing) return NaN;
  return Math.min(high, Math.max(low, at + steps[key] * step));
}

/** Return the contributions of levels in both models as bars. */
function drawLevelPairs(summary, term, features, curves, limits) {
  const own = [0, 1].map((k) => levelsOf(summary, k, term.terms[k], curves[k]));
  const names = [...new Set(own.flatMap((levels) => [...levels.keys()]))];
  const size = (name) => Math.max(...own.map((levels) => Math.abs(levels.get(name) ?? 0)));
  const shown = names.sort((a, b) => size(b) - size(a));
  const item = (name) => html("li", {}, html("span", { class: "name", title: name }, name),
    html("span", { class: "tracks" }, ...own.map((levels, k) =>
      modelBar(levels.get(name) ?? null, limits, k))),
    html("span", { class: "numbers" }, ...own.map((levels, k) => html("span",
      { class: `number m${k}` }, levels.has(name) ? formatSigned(levels.get(name)) : "\u2013"))));
  const lines = shown.map(item);
  const list = html("ul", { class: "pair-levels" }, ...lines);
  const rest = lines.length > 1.5 * MAX_SHOWN_LEVELS ? lines.slice(MAX_SHOWN_LEVELS) : [];
  if (!rest.length) return [list];
  const button = html("button", { type: "button", class: "link", "aria-expanded": "false" });
  const toggle = (isOpen) => {
    button.setAttribute("aria-expanded", String(isOpen));
    button.textContent = isOpen ? `Show the first ${MAX_SHOWN_LEVELS} only`
      : `${rest.length} more levels`;
    rest.forEach((line) => line.classList.toggle("collapsed", !isOpen));
  };
  button.addEventListener("click", () => toggle(button.getAttribute("aria-expanded") === "false"));
  toggle(false);
  return [list, button];
}

/** Return the contributions of the levels of a feature by name, and that of missing values. */
function levelsOf({ documents }, k, index, curve) {
  if (!curve) return new Map();
  const { levels } = documents[k].features[index];
  const found = new Map(levels.map((level, j) => [String(level), curve.level_values[j]]));
  if (curve.missing !== null) found.set("(missing)", curve.missing);
  return found;
}

function modelBar(value, [low, high], k) {
  const bar = html("span", { class: `bar m${k}` });
  const track = html("span", { class: "track" }, bar);
  const at = (v) => (100 * (Math.min(Math.max(v, low), high) - low)) / (high - low);
  track.style.setProperty("--zero", `${at(0)}%`);
  bar.style.left = `${Math.min(at(0), at(value ?? 0))}%`;
  bar.style.width = `${Math.abs(at(value ?? 0) - at(0))}%`;
  return track;
}

/** Draw the interactions that both models have, side by side. */
function drawSurfaces(summary) {
  const { terms, documents, labels } = summary;
  const both = sortTerms(terms.interactions, DIFFERENCE);
  if (!both.length) return;
  showSection("surfaces", "Interactions");
  byId("surfaces-lead").textContent = `What two features contribute together, beyond their own ` +
    `curves, for the ${both.length} interaction${both.length > 1 ? "s" : ""} that both models ` +
    "have; those with the largest differences come first. Interactions of one model only are " +
    "listed under settings. Point at a map, or focus it and use the arrow keys, to read a value.";
  const finder = buildFinder("find-surface", "interaction", MAX_CARDS / 2);
  const hasOneScore = documents[0].scores.length === 1;
  const select = html("select", { id: "surface-class" }, ...labels.map((label, k) =>
    html("option", { value: k }, label)));
  byId("surface-cards").before(html("div", { class: "controls" }, finder.search,
    hasOneScore ? null : html("label", {}, "Class ", select)));
  byId("surface-cards").after(finder.more);

  function draw() {
    const score = hasOneScore ? 0 : Number(select.value);
    const found = both.map((term) => ({ term, surfaces: [0, 1].map((k) =>
      findSurface(summary, k, score, term.names)) }))
      .filter(({ surfaces }) => surfaces.every(Boolean));
    const limit = Math.max(...found.flatMap(({ surfaces }) => surfaces.map((surface, k) =>
      Math.max(...rangeOf([surface]).map(Math.abs)) * terms.scales[k]))) || 1;
    const cards = found.map(({ term, surfaces }) => ({ name: term.names.join(" \u00d7 "),
      element: surfaceCard(summary, term, surfaces, limit, signClasses(labels, score)) }));
    byId("surface-cards").replaceChildren(...cards.map(({ element }) => element));
    addSaveButtons(byId("surface-cards"));
    finder.set(cards);
  }
  select.addEventListener("change", draw);
  draw();
}

/** Return the surface of a term of a model. */
function findSurface({ documents }, k, score, names) {
  const indices = names.map((name) => featureIndex(documents[k], name)).sort((a, b) => a - b);
  return (documents[k].scores[score].surfaces ?? []).find((surface) =>
    surface.features.join() === indices.join());
}

/** Return the index of a feature of a model. */
function featureIndex(model, name) {
  return model.features.findIndex((feature) => String(feature.name) === name);
}

/** List the rows for which the models predict the most different things. */
function drawRows(summary) {
  const { rows, names, labels, comparison, is_regression: isRegression } = summary;
  if (!rows.length) return;
  showSection("rows", "Rows");
  const nOther = comparison.agreement ? comparison.n_rows - comparison.agreement.same : null;
  const what = isRegression ? "Rows with the largest differences between predictions"
    : nOther ? "Rows with different predictions, and the largest differences, first"
      : "No row is predicted differently; these are the largest differences";
  const hasReasons = rows.some(({ reasons }) => reasons);
  byId("rows-lead").textContent = `${what}. Rows are identified by their index label, or by ` +
    `their position, counting from 0.${hasReasons ? " Reasons are the terms whose contributions " +
      "differ most." : ""}`;
  const titles = ["row", "actual", ...names, ...(hasReasons ? ["reasons"] : [])];
  const head = html("tr", {}, ...titles.map((title, k) => html("th", { scope: "col",
    class: k === 2 || k === 3 ? `model-name m${k - 2}` : null }, title)));
  const label = (value) => (isRegression ? formatNumber(value, 5) : labels[value]);
  const lines = rows.map((row) => html("tr", {},
    html("td", { "data-title": "row" }, String(row.name)),
    html("td", { "data-title": "actual" }, label(row.actual)),
    ...[0, 1].map((k) => html("td", { "data-title": names[k] },
      html("span", { class: !isRegression && row.predicted[k] === row.actual ? "right" : null },
        label(row.predicted[k])),
      row.probability ? html("span", { class: "chance" },
        `probability ${formatPercent(row.probability[k])}`) : null)),
    hasReasons ? html("td", { "data-title": "reasons" }, html("span", { class: "reasons" },
      ...(row.reasons ?? []).map(reasonLine))) : null));
  byId("rows-table").append(html("div", { class: "card scroll", tabindex: "0", role: "region",
    "aria-label": "Rows with the largest differences" },
  html("table", { class: "disagreements" }, html("thead", {}, head),
    html("tbody", {}, ...lines))));
}

function reasonLine({ names, values, contributions }) {
  const name = truncateMiddle(names.join(" \u00d7 "));
  const value = truncateMiddle(values.map(formatValue).join(", "));
  return html("span", { class: "reason", title: names.join(" \u00d7 ") },
    html("span", {}, values.length ? `${name} = ${value}` : name), ...contributions.map((part, k) =>
      html("span", { class: `number m${k}` }, formatSigned(part))));
}

drawComparison(readData());
