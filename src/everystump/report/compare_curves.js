// The curves and interactions of two models on the comparison page.

const MAX_CARDS = window.innerWidth < 760 ? 6 : 18;
const MAX_SHOWN_LEVELS = 8;
const DIFFERENCE = "difference";

/** Return the number of decimals that suit the largest contribution. */
function contributionDecimals({ documents, terms: { scales }, is_regression: isRegression }) {
  if (!isRegression) return LOG_DECIMALS;
  const sizes = documents.flatMap((model, k) => model.scores.flatMap(({ curves, surfaces = [] }) =>
    rangeOf([...curves, ...surfaces]).map((value) => Math.abs(value * scales[k]))));
  return chooseDecimals(Math.max(...sizes) || 1);
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
  addCurveProbe(summary, plot, { low: least, high: most, is_integer: first.is_integer,
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
  const axis = makeNumberAxis(feature, "linear");
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
    const next = valueAfterKey(event.key, at, feature, axis, hasMissing);
    if (next === null) return;
    event.preventDefault();
    show(next);
  });
}

/** Return the contributions of levels in both models as bars. */
function drawLevelPairs(summary, term, features, curves, limits) {
  const own = [0, 1].map((k) => levelsOf(summary, k, term.terms[k], curves[k]));
  const names = [...new Set(own.flatMap((levels) => [...levels.keys()]))];
  const size = (name) => Math.max(...own.map((levels) => Math.abs(levels.get(name) ?? 0)));
  const shown = names.sort((a, b) => size(b) - size(a));
  const item = (name) => html("li", {}, html("span", { class: "name", title: name }, name),
    html("span", { class: "tracks" }, ...own.map((levels, k) =>
      signedBar(levels.get(name) ?? 0, limits, [`m${k}`, `m${k}`]))),
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
