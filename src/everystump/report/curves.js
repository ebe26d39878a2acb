// The curves of all features, and what they add where one points.

const FIRST_CURVES = window.innerWidth < 760 ? 8 : 24;

/** Draw all curves; return a function that makes a feature's curve visible, if it is beyond. */
function drawCurves(summary, markers, panel) {
  reveal("curves", "Curves");
  const { features, order, labels, document: model } = summary;
  const isTwo = labels.length === 2;
  const own = html("input", { type: "checkbox", id: "own-scale" });
  const chosen = html("select", { id: "curve-class" }, ...labels.map((label, k) =>
    html("option", { value: k }, label)));
  const finder = buildFinder("find-curve", "feature", FIRST_CURVES);
  fill(byId("curves-controls"), {}, [finder.search,
    isTwo ? null : html("label", {}, "Class ", chosen),
    html("label", {}, own, "each curve on its own scale")]);
  byId("curve-cards").after(finder.more);

  function draw() {
    const k = isTwo ? 0 : Number(chosen.value);
    byId("curves-lead").textContent = curvesLead(isTwo ? labels : [null, labels[k]]);
    const curves = new Map(model.scores[k].curves.map((curve) => [curve.feature, curve]));
    const shared = limitsOf([...curves.values()]);
    const sides = sidesOf(labels, k);
    markers.length = 0;
    const cards = order.filter((d) => curves.has(d)).map((d) => {
      const limits = own.checked ? limitsOf([curves.get(d)]) : shared;
      const element = curveCard(features[d], d, model.features[d].levels, curves.get(d), limits,
        markers, sides);
      return { name: features[d].name, element };
    });
    byId("curve-cards").replaceChildren(...cards.map((card) => card.element));
    finder.set(cards);
    tellFlat(order.filter((d) => !curves.has(d)).map((d) => features[d].name));
    panel.tellAgain();
  }
  own.addEventListener("change", draw);
  chosen.addEventListener("change", draw);
  draw();
  return (d) => {
    if (byId(`curve-${d}`)?.classList.contains("beyond")) finder.showAll();
  };
}

function curvesLead([below, above]) {
  const meaning = below === null
    ? `What each value adds to the score of “${above}”: above zero favors it, below counts ` +
      "against it. "
    : `What each value adds to the score: above zero favors “${above}”, below “${below}”. `;
  return `${meaning}The most important feature comes first. Grey bars show where the rows lie, ` +
    "a diamond what a missing value adds, and the dot or the shaded line the row of the what-if " +
    "panel. Point at a curve, or focus it and use the arrow keys, to read it.";
}

function tellFlat(names) {
  byId("flat-curves").replaceChildren(...(names.length ? [html("details", { class: "card" },
    html("summary", {}, `${names.length} unused feature${names.length > 1 ? "s" : ""}`),
    html("p", {}, names.join(", ")))] : []));
}

/** Return the interval of what curves add, with some room, zero within it. */
function limitsOf(curves) {
  const [low, high] = rangeOf(curves);
  const room = 0.07 * (high - low) || 0.5;
  return [low - room, high + room];
}

function curveCard(feature, d, levels, curve, limits, markers, sides) {
  const drawing = levels ? drawLevels(feature, levels, curve, limits, sides)
    : drawLine(feature, curve, limits, sides);
  const number = new Map((levels || []).map((level, k) => [level, k]));
  markers.push((cells) => {
    const cell = cells[d];
    if (cell === null) drawing.move(NaN);
    else drawing.move(levels ? number.get(cell) ?? -1 : cell);
  });
  const readout = html("span", { class: "readout", "aria-hidden": "true" });
  if (!levels) probeCurve(feature, drawing, curve, readout);
  return html("article", { class: "card curve", id: `curve-${d}`, "aria-label": feature.name },
    html("h3", { title: feature.name }, html("span", {}, feature.name), readout), drawing.chart);
}

/** Tell what a curve adds where the pointer is, or where the arrow keys lead. */
function probeCurve(feature, { chart, plot, probe, range: [low, high] }, curve, readout) {
  const hasMissing = curve.missing !== null;
  let at = feature.typical ?? feature.low;

  function tell(x) {
    at = x;
    const place = Number.isNaN(x) ? plot.end + STRIP / 2 : plot.atX(x);
    probe.setAttribute("x1", place);
    probe.setAttribute("x2", place);
    probe.setAttribute("visibility", "visible");
    readout.textContent = `${Number.isNaN(x) ? "missing" : few(x)}: ${signed(curveAt(curve, x))}`;
    chart.setAttribute("aria-valuenow", Number.isNaN(x) ? feature.high : x);
    chart.setAttribute("aria-valuetext", readout.textContent);
  }
  function leave() {
    probe.setAttribute("visibility", "hidden");
    readout.textContent = "";
  }
  for (const [name, value] of Object.entries({ role: "slider", tabindex: 0,
    "aria-valuemin": feature.low, "aria-valuemax": feature.high, "aria-valuenow": at })) {
    chart.setAttribute(name, value);
  }
  chart.addEventListener("pointermove", (event) => {
    const box = chart.getBoundingClientRect();
    const place = ((event.clientX - box.left) / box.width) * plot.frame.width;
    const x = low + ((place - plot.frame.left) / (plot.end - plot.frame.left)) * (high - low);
    if (x >= low && x <= high) tell(x);
    else if (x > high && hasMissing) tell(NaN);
  });
  chart.addEventListener("pointerleave", leave);
  chart.addEventListener("focus", () => tell(at));
  chart.addEventListener("blur", leave);
  chart.addEventListener("keydown", (event) => {
    const next = afterKey(event.key, at, feature, hasMissing);
    if (next === null) return;
    event.preventDefault();
    tell(next);
  });
}

/** Return where a key leads from a value, null if nowhere; beyond the highest it is missing. */
function afterKey(key, at, { low, high, whole }, hasMissing) {
  const step = whole ? Math.max(1, Math.round((high - low) / 40)) : (high - low) / 40 || 1;
  const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 5,
    PageDown: -5 };
  if (key === "Home") return low;
  if (key === "End") return high;
  if (!(key in steps)) return null;
  if (Number.isNaN(at)) return steps[key] < 0 ? high : at;
  if (at >= high && steps[key] > 0 && hasMissing) return NaN;
  return Math.min(high, Math.max(low, at + steps[key] * step));
}
