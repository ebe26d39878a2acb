// The curves and surfaces of all terms, with a probe that reads their values.

const MAX_CURVES = window.innerWidth < 760 ? 8 : 24;

/** Draw all terms; return a function that shows the card with some id if it is collapsed. */
function drawCurves(summary, markers, panel) {
  showSection("curves", "Curves");
  const { terms, order, labels, document: model } = summary;
  const nFeatures = model.features.length;
  const controls = buildCurveControls(summary, () => draw());

  function draw() {
    const { k, unit, hasOwnScale } = controls.read();
    const { curves, surfaces = [] } = model.scores[k];
    const views = new Map(curves.map((curve) => [curve.feature,
      makeView(summary, unit, curve.feature)]));
    const collect = (list) => ({ feature, missing }) => list(views.get(feature),
      model.features[feature].levels, missing !== null);
    const rangeIn = (own) => heightRange(unit, own.flatMap(collect(viewHeights)),
      own.flatMap(collect(bandHeights)));
    const drawn = new Map([...curves.map((curve) => [curve.feature, curve]),
      ...surfaces.map((surface) => [termIndex(terms, surface.features), surface])]);
    const limits = rangeIn(curves);
    const largest = largestSize(surfaces);
    const mapUnit = unit.ofOwn ? unit : listUnits(summary, k)[0];
    const signs = signClasses(labels, k);
    markers.length = 0;
    const cards = order.filter((t) => drawn.has(t)).map((t) => {
      const shape = drawn.get(t);
      const element = t < nFeatures
        ? curveCard(summary, t, shape, hasOwnScale ? rangeIn([shape]) : limits,
          markers, signs, views.get(t), draw)
        : surfaceCard(summary, t, shape, hasOwnScale ? largestSize([shape]) : largest, markers,
          signs, mapUnit, (d) => drawn.get(d));
      return { name: terms[t].name, element };
    });
    byId("curve-cards").replaceChildren(...cards.map((card) => card.element));
    controls.finder.set(cards);
    const used = new Set([...drawn.keys()].flatMap((t) => terms[t].features));
    listUnused(order.filter((d) => d < nFeatures && !used.has(d)).map((d) => terms[d].name));
    panel.refresh();
  }
  draw();
  return (id) => {
    if (byId(id)?.classList.contains("collapsed")) controls.finder.showAll();
  };
}

/** Build the controls of all curves; `read` returns what they are set to, and explains it. */
function buildCurveControls(summary, onChange) {
  const { terms, labels, document: model } = summary;
  const hasOneScore = model.scores.length === 1;
  const hasSurfaces = terms.length > model.features.length;
  const ownScale = html("input", { type: "checkbox", id: "own-scale" });
  const classSelect = html("select", { id: "curve-class" }, ...labels.map((label, k) =>
    html("option", { value: k }, label)));
  const finder = buildFinder("find-curve", "feature", MAX_CURVES);
  const unitSwitch = buildUnitSwitch(summary, onChange);
  const meaning = html("p", { class: "hint", role: "status", id: "unit-meaning" });
  fill(byId("curves-controls"), {}, [finder.search,
    hasOneScore ? null : html("label", {}, "Class ", classSelect),
    unitSwitch.element, buildScaleSelect(summary, onChange),
    html("label", {}, ownScale, `each ${hasSurfaces ? "plot" : "curve"} on its own scale`),
    ...bandKeys(summary.bands, hasSurfaces)]);
  byId("curves-controls").after(meaning);
  if (hasSurfaces) {
    byId("curves-title").textContent = "Shape functions (curves) and interactions (heat maps)";
  }
  byId("curve-cards").after(finder.more);
  ownScale.addEventListener("change", onChange);
  classSelect.addEventListener("change", onChange);
  return {
    finder,
    read() {
      const k = hasOneScore ? 0 : Number(classSelect.value);
      const unit = unitSwitch.read(k);
      byId("curves-lead").textContent = curvesLead(model,
        hasOneScore ? labels : [null, labels[k]], hasSurfaces, summary.bands);
      meaning.textContent = unit.meaning ?? "";
      meaning.hidden = !unit.meaning;
      return { k, unit, hasOwnScale: ownScale.checked };
    },
  };
}

/** Return a switch between the units of curves, hidden if there is one only. */
function buildUnitSwitch(summary, onChange) {
  const names = listUnits(summary, 0).map(({ key, name }) => ({ value: key, text: name }));
  let chosen = "own";
  const control = segments("curve-unit", "Unit of the curves", names, (key) => {
    chosen = key;
    onChange();
  });
  control.show(chosen);
  return {
    element: names.length > 1 ? html("span", { class: "control" }, "Show ", control.element) : null,
    read: (k) => listUnits(summary, k).find(({ key }) => key === chosen),
  };
}

/** Return a list of the kinds of horizontal axes, for all numbers at once. */
function buildScaleSelect({ features }, onChange) {
  const numbers = features.filter((feature) => hasNumberAxis(feature));
  const select = html("select", { id: "curve-axis" },
    ...["automatic", ...SCALE_KINDS].map((kind) => html("option", { value: kind }, kind)));
  select.addEventListener("change", () => {
    numbers.forEach((feature) => {
      feature.chosen = select.value === "automatic" ? null : select.value;
    });
    onChange();
  });
  return numbers.length ? html("label", {}, "Horizontal axes ", select) : null;
}

/** Whether a feature is drawn along an axis of numbers. */
const hasNumberAxis = ({ kind, two_values: two }) => kind === "number" && !two;

/** Return the index of the term of some features. */
function termIndex(terms, features) {
  return terms.findIndex((term) => term.features.join() === features.join());
}

function curvesLead(model, [negative, positive], hasSurfaces, bands) {
  const meaning = model.link ? numberMeaning(model) : negative === null
    ? `The contribution of each value to the score of “${positive}”: values above zero favor ` +
      "this class, and values below zero count against it. "
    : `The contribution of each value to the score: values above zero favor “${positive}”, and ` +
      `values below zero favor “${negative}”. `;
  const maps = hasSurfaces ? "A heat map shows what two features contribute together, in " +
    "addition to their curves and in the same colors; circles grow with the number of rows, and " +
    "hatching marks combinations of values that are far from all rows. " : "";
  const uncertainty = bands ? `Bands and error bars are pointwise ${bandLevel(bands)} bands: ` +
    "where one contains zero, the training rows do not show in which direction a value counts" +
    `${hasSurfaces ? ", and heat maps are dotted there" : ""}. ` : "";
  return `${meaning}The most important ${hasSurfaces ? "term" : "feature"} comes first. ${maps}` +
    `${uncertainty}Gray bars show the distribution of the rows. A diamond marks the contribution ` +
    `of a missing value; a dot${hasSurfaces ? ", a cross-hair" : ""} or a shaded line marks the ` +
    "row in the what-if panel. To read a " +
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

/** Return the largest absolute value of surfaces. */
function largestSize(surfaces) {
  return Math.max(...rangeOf(surfaces).map(Math.abs)) || 1;
}

function curveCard(summary, d, curve, limits, markers, signs, view, redraw) {
  const feature = summary.features[d];
  const { levels } = summary.document.features[d];
  const drawing = drawCurve(feature, levels, curve, limits, signs, view);
  markers.push((cells) => drawing.mark(summary.codeOf(d, cells[d])));
  const readout = html("span", { class: "readout", "aria-hidden": "true" });
  if (drawing.probe) addProbe(feature, drawing, curve, readout, view);
  return termCard(summary, d, readout, [drawing.chart, drawing.axis
    ? html("p", { class: "tools" }, buildAxisSelect(feature, redraw)) : null],
  () => curveRows(summary, d));
}

/** Return the card of a term, with its name and a button that saves it. */
function termCard({ terms }, t, readout, content, rows) {
  const { name } = terms[t];
  const title = html("h3", { title: name }, html("span", {}, ...breakable(name)), readout);
  const card = html("article", { class: "card curve", id: `curve-${t}`, "aria-label": name }, title,
    ...content.filter(Boolean));
  title.append(saveButton(card, name, { rows }));
  return card;
}

/** Return the drawing of a curve: the bars of levels or of two values, or a line. */
function drawCurve(feature, levels, curve, limits, signs, view) {
  if (levels) {
    const draw = levels.length > MAX_LISTED ? drawManyLevels : drawLevels;
    return draw(feature, levels, curve, limits, signs, view);
  }
  const values = feature.two_values;
  if (!values) return drawLine(feature, curve, limits, signs, view);
  const drawing = drawLevels({ ...feature, shares: feature.distribution.shares },
    values.map((x) => formatNumber(x)), curve, limits, signs,
    viewOfCodes(view, values));
  return { ...drawing, mark: (x) => drawing.mark(Number.isNaN(x) ? NaN : values.indexOf(x)) };
}

/** Return the view of a curve at some values, by their codes. */
function viewOfCodes(view, values) {
  const decode = ({ at }) => ({ at: (code) => at(Number.isNaN(code) ? NaN : values[code]) });
  const { band } = view;
  return { ...view, ...decode(view),
    band: band && { lower: decode(band.lower), upper: decode(band.upper) } };
}

/** Return a list of the kinds of axes of one feature. */
function buildAxisSelect(feature, onChange) {
  const select = html("select", { class: "quiet", "aria-label": `Horizontal axis of ${feature.name}` },
    ...SCALE_KINDS.map((kind) => html("option", { value: kind }, `${kind} axis`)));
  select.value = numberAxis(feature).kind;
  select.addEventListener("change", () => {
    feature.chosen = select.value;
    onChange(feature);
  });
  return select;
}

function surfaceCard(summary, t, surface, limit, markers, signs, unit, curveOf) {
  const term = summary.terms[t];
  const drawing = drawSurface(summary, term, surface, limit, signs, curveOf);
  const note = html("p", { class: "hint" });
  const third = surface.features[2];
  markers.push((cells) => {
    drawing.mark(surface.features.map((d) => summary.codeOf(d, cells[d])));
    if (third !== undefined) {
      note.textContent = `at ${summary.features[third].name} = ${formatValue(cells[third])}, as ` +
        "in the what-if panel";
    }
  });
  const readout = html("span", { class: "readout", "aria-hidden": "true" });
  addMapProbe(drawing, limit, readout, (value, half) => formatBanded(unit,
    unit.ofOwn(value), bandEnds(value, half)?.map(unit.ofOwn)));
  return termCard(summary, t, null, [third === undefined ? null : note, drawing.chart,
    html("p", { class: "map-legend" }, drawShadeScale(mapEnds(limit, unit), signs), readout)],
  () => surfaceRows(summary, surface.features));
}

/** Return the ends of the legend of a map in a unit. */
const mapEnds = (limit, { ofOwn, text, end = text }) => [-limit, limit].map((x) => end(ofOwn(x)));

/** Show the value of a curve at the pointer, or at a position set by the arrow keys. */
function addProbe(feature, { chart, plot, probe, axis }, curve, readout, view) {
  const hasMissing = curve.missing !== null;
  let at = feature.typical ?? feature.low;

  function show(x) {
    at = x;
    const position = Number.isNaN(x) ? plot.end + STRIP / 2 : plot.atX(x);
    probe.setAttribute("x1", position);
    probe.setAttribute("x2", position);
    probe.setAttribute("visibility", "visible");
    readout.textContent = `${Number.isNaN(x) ? "missing" : formatNumber(x)}: ` +
      formatBanded(view.unit, view.at(x), bandAt(view, x));
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
    const t = (1 + 2 * PAD) * ((position - plot.frame.left) / (plot.end - plot.frame.left)) - PAD;
    if (t >= -PAD && t <= 1 + PAD) show(axis.from(Math.min(1, Math.max(0, t))));
    else if (t > 1 && hasMissing) show(NaN);
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
