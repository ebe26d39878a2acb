// The curves and surfaces of all terms, with a probe that reads their values.

const MAX_CURVES = window.innerWidth < 760 ? 8 : 24;

/** Draw all terms; return a function that shows the card with some id if it is collapsed. */
function drawCurves(summary, markers, panel) {
  showSection("curves", "Curves");
  const { terms, order, labels, document: model } = summary;
  const hasOneScore = model.scores.length === 1;
  const nFeatures = model.features.length;
  const hasSurfaces = terms.length > nFeatures;
  const ownScale = html("input", { type: "checkbox", id: "own-scale" });
  const classSelect = html("select", { id: "curve-class" }, ...labels.map((label, k) =>
    html("option", { value: k }, label)));
  const finder = buildFinder("find-curve", "feature", MAX_CURVES);
  fill(byId("curves-controls"), {}, [finder.search,
    hasOneScore ? null : html("label", {}, "Class ", classSelect),
    html("label", {}, ownScale, `each ${hasSurfaces ? "plot" : "curve"} on its own scale`)]);
  if (hasSurfaces) {
    byId("curves-title").textContent = "Shape functions (curves) and interactions (heat maps)";
  }
  byId("curve-cards").after(finder.more);

  function draw() {
    const k = hasOneScore ? 0 : Number(classSelect.value);
    byId("curves-lead").textContent = curvesLead(model,
      hasOneScore ? labels : [null, labels[k]], hasSurfaces);
    const { curves, surfaces = [] } = model.scores[k];
    const drawn = new Map([...curves.map((curve) => [curve.feature, curve]),
      ...surfaces.map((surface) => [termIndex(terms, surface.features), surface])]);
    const [limits, largest] = [paddedRange(curves), largestSize(surfaces)];
    const signs = signClasses(labels, k);
    markers.length = 0;
    const cards = order.filter((t) => drawn.has(t)).map((t) => {
      const shape = drawn.get(t);
      const element = t < nFeatures
        ? curveCard(summary, t, shape, ownScale.checked ? paddedRange([shape]) : limits,
          markers, signs)
        : surfaceCard(summary, t, shape, ownScale.checked ? largestSize([shape]) : largest,
          markers, signs);
      return { name: terms[t].name, element };
    });
    byId("curve-cards").replaceChildren(...cards.map((card) => card.element));
    finder.set(cards);
    const used = new Set([...drawn.keys()].flatMap((t) => terms[t].features));
    listUnused(order.filter((d) => d < nFeatures && !used.has(d)).map((d) => terms[d].name));
    panel.refresh();
  }
  ownScale.addEventListener("change", draw);
  classSelect.addEventListener("change", draw);
  draw();
  return (id) => {
    if (byId(id)?.classList.contains("collapsed")) finder.showAll();
  };
}

/** Return the index of the term of some features. */
function termIndex(terms, features) {
  return terms.findIndex((term) => term.features.join() === features.join());
}

function curvesLead(model, [negative, positive], hasSurfaces) {
  const meaning = model.link ? numberMeaning(model) : negative === null
    ? `The contribution of each value to the score of “${positive}”: values above zero favor ` +
      "this class, and values below zero count against it. "
    : `The contribution of each value to the score: values above zero favor “${positive}”, and ` +
      `values below zero favor “${negative}”. `;
  const maps = hasSurfaces ? "A heat map shows what two features contribute together, in " +
    "addition to their curves and in the same colors; hatching marks combinations of values " +
    "that are far from all rows. " : "";
  return `${meaning}The most important ${hasSurfaces ? "term" : "feature"} comes first. ${maps}` +
    "Gray bars show the distribution of the rows. A diamond marks the contribution of a missing " +
    "value; a dot or a shaded line marks the row in the what-if panel. To read a " +
    `${hasSurfaces ? "plot" : "curve"}, point at it, or focus it and use the arrow keys.`;
}

function numberMeaning(model) {
  return `The contribution of each value to the ${sumName(model)}: values above zero raise the ` +
    `prediction, and values below zero lower it${model.link === "log" ? "; +0.1 multiplies it by " +
    "1.105, and −0.1 by 0.905" : ""}. `;
}

function listUnused(names) {
  byId("unused-features").replaceChildren(...(names.length ? [html("details", { class: "card" },
    html("summary", {}, `${names.length} unused feature${names.length > 1 ? "s" : ""}`),
    html("p", {}, names.join(", ")))] : []));
}

/** Return the range of curves with some padding; it contains zero. */
function paddedRange(curves) {
  const [low, high] = rangeOf(curves);
  const padding = 0.07 * (high - low) || 0.5;
  return [low - padding, high + padding];
}

/** Return the largest absolute value of surfaces. */
function largestSize(surfaces) {
  return Math.max(...rangeOf(surfaces).map(Math.abs)) || 1;
}

/** Return a cell as a number, or the index of its level, -1 if unknown; NaN if missing. */
function toCode(levels, cell) {
  if (cell === null) return NaN;
  return levels ? levels.indexOf(cell) : cell;
}

function curveCard(summary, d, curve, limits, markers, signs) {
  const feature = summary.features[d];
  const { levels } = summary.document.features[d];
  const drawing = levels ? drawLevels(feature, levels, curve, limits, signs)
    : drawLine(feature, curve, limits, signs, axisName(summary));
  markers.push((cells) => drawing.mark(toCode(levels, cells[d])));
  const readout = html("span", { class: "readout", "aria-hidden": "true" });
  if (!levels) addProbe(feature, drawing, curve, readout, summary.formats.effect);
  return html("article", { class: "card curve", id: `curve-${d}`, "aria-label": feature.name },
    html("h3", { title: feature.name }, html("span", {}, feature.name), readout), drawing.chart);
}

function surfaceCard(summary, t, surface, limit, markers, signs) {
  const term = summary.terms[t];
  const drawing = drawSurface(summary, term, surface, limit, signs);
  const note = html("p", { class: "hint" });
  const third = surface.features[2];
  const levels = surface.features.map((d) => summary.document.features[d].levels);
  markers.push((cells) => {
    drawing.mark(surface.features.map((d, j) => toCode(levels[j], cells[d])));
    if (third !== undefined) {
      note.textContent = `at ${summary.features[third].name} = ${formatValue(cells[third])}, as ` +
        "in the what-if panel";
    }
  });
  const readout = html("span", { class: "readout", "aria-hidden": "true" });
  addMapProbe(drawing, limit, readout, summary.formats.effect);
  return html("article", { class: "card curve", id: `curve-${t}`, "aria-label": term.name },
    html("h3", { title: term.name }, html("span", {}, term.name)),
    third === undefined ? null : note, drawing.chart,
    html("p", { class: "map-legend" }, drawShadeScale(limit, signs), readout));
}

/** Show the value of a curve at the pointer, or at a position set by the arrow keys. */
function addProbe(feature, { chart, plot, probe, range: [low, high] }, curve, readout, format) {
  const hasMissing = curve.missing !== null;
  let at = feature.typical ?? feature.low;

  function show(x) {
    at = x;
    const position = Number.isNaN(x) ? plot.end + STRIP / 2 : plot.atX(x);
    probe.setAttribute("x1", position);
    probe.setAttribute("x2", position);
    probe.setAttribute("visibility", "visible");
    readout.textContent = `${Number.isNaN(x) ? "missing" : formatNumber(x)}: ` +
      format(evaluateCurve(curve, x));
    chart.setAttribute("aria-valuenow", Number.isNaN(x) ? feature.high : x);
    chart.setAttribute("aria-valuetext", readout.textContent);
  }
  function hide() {
    probe.setAttribute("visibility", "hidden");
    readout.textContent = "";
  }
  for (const [name, value] of Object.entries({ role: "slider", tabindex: 0,
    "aria-valuemin": feature.low, "aria-valuemax": feature.high, "aria-valuenow": at })) {
    chart.setAttribute(name, value);
  }
  chart.addEventListener("pointermove", (event) => {
    const box = chart.getBoundingClientRect();
    const position = ((event.clientX - box.left) / box.width) * plot.frame.width;
    const x = low + ((position - plot.frame.left) / (plot.end - plot.frame.left)) * (high - low);
    if (x >= low && x <= high) show(x);
    else if (x > high && hasMissing) show(NaN);
  });
  chart.addEventListener("pointerleave", hide);
  chart.addEventListener("focus", () => show(at));
  chart.addEventListener("blur", hide);
  chart.addEventListener("keydown", (event) => {
    const next = valueAfterKey(event.key, at, feature, hasMissing);
    if (next === null) return;
    event.preventDefault();
    show(next);
  });
}

/** Return the value after a key, null for other keys; NaN, missing, follows the highest value. */
function valueAfterKey(key, at, { low, high, is_integer: isInteger }, hasMissing) {
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
