// The first section, with the key figures, and the last one, with what proves them.

/** Show the key figures, all metrics, and the size of the model. */
function drawAbout({ about, text, interactions, document: model }) {
  showSection("about", "Overview");
  drawMetrics(text.metrics);
  const count = (n, noun) => `${Number(n).toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
  const facts = [
    typeof about.n_rows === "number" ? count(about.n_rows, "training row") : null,
    about.n_held_out ? count(about.n_held_out, "held-out row") : null,
    count(model.features.length, "feature"),
    interactions ? count(interactions.length, "interaction") : null,
    model.classes.length ? `${model.classes.length.toLocaleString("en")} classes` : null];
  const notes = byId("notes");
  notes.append(html("ul", { class: "facts" },
    ...facts.filter(Boolean).map((fact) => html("li", {}, fact))));
  drawList(notes, "Notes", about.notes);
}

/** Show accuracy, AUC and other metrics next to those of the baseline. */
function drawMetrics(metrics) {
  if (!metrics) return;
  const tiles = metrics.key.map(({ name, value, interval, baseline }) =>
    html("div", { class: "tile" }, html("span", { class: "tile-name" }, name),
      html("strong", {}, value), html("span", { class: "tile-more" }, interval),
      html("span", { class: "tile-more" }, `baseline ${baseline}`)));
  const hasIntervals = metrics.rows.some((row) => row.interval);
  const columns = [["value", "model"], ...(hasIntervals ? [["interval", metrics.interval]] : []),
    ["baseline", `baseline (${metrics.always})`]];
  const head = html("tr", {}, html("td", {}),
    ...columns.map(([key, title]) => html("th", { scope: "col", class: `number ${key}` }, title)));
  const lines = metrics.rows.map((row) => html("tr", {},
    html("th", { scope: "row" }, row.name), ...columns.map(([key]) =>
      html("td", { class: `number ${key}` }, row[key] || "\u2013",
        key === "value" && row.interval // on a phone
          ? html("span", { class: "below" }, row.interval) : null))));
  fill(byId("metrics"), {}, [html("div", { id: "tiles", class: "tiles" }, ...tiles),
    html("p", { class: "hint" }, `The baseline is a constant prediction: ${metrics.always}.`),
    html("details", {}, html("summary", {},
      lines.length > tiles.length ? `All ${lines.length} metrics` : "As a table"),
      html("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": metrics.title },
        html("table", { class: "metrics" }, html("thead", {}, head),
          html("tbody", {}, ...lines))))]);
}

function drawList(notes, title, sentences) {
  const items = [sentences || []].flat();
  if (!items.length) return;
  notes.append(html("details", {}, html("summary", {}, `${title} (${items.length})`),
    html("ul", {}, ...items.map((text) => html("li", {}, formatValue(text))))));
}

/** Show the certificate, the bounds, what was inferred, and the paths of C and strength. */
function drawProofs({ about, text, document: model }) {
  const proofs = byId("proofs");
  const { certificate, path, interactions } = about;
  const facts = [
    text.gap ? `duality gap ${text.gap}${certificate.converged === false
      ? ", above the tolerance" : ""}` : null,
    ...[["C", interactions?.refined_C ?? path?.chosen],
      ["strength of interactions", interactions?.strength]].map(([name, value]) =>
      (typeof value === "number" ? `${name} ${formatNumber(value)}` : null))].filter(Boolean);
  if (text.certificate) {
    proofs.append(html("h3", {}, "Optimality certificate (duality gap)"),
      html("p", {}, text.certificate),
      html("p", { class: "hint" }, "Training minimizes the objective: the loss on the training " +
        "rows plus a penalty on the weights of the stumps (regularization)."));
  }
  if (facts.length) {
    proofs.append(html("ul", { class: "facts" }, ...facts.map((fact) => html("li", {}, fact))));
  }
  drawBounds(proofs, about.bounds || [], text.bounds,
    model.link ? "Bounds" : "Bounds on the error");
  drawList(proofs, "Inferred from the data", about.schema);
  drawList(proofs, "Dropped columns", about.dropped);
  proofs.hidden = !proofs.childNodes.length;
  drawChoices(about, text.scores);
  if (!proofs.hidden || byId("path").childNodes.length) showSection("how", "How we know");
}

/** Show bounds; those that are vacuous or do not hold are one collapsed line. */
function drawBounds(proofs, bounds, sentences, title) {
  const items = bounds.map((bound, k) => {
    const assumptions = [bound.assumptions || []].flat();
    const more = [...assumptions, bound.reference].filter(Boolean);
    const element = html("li", {}, sentences[k],
      more.length ? html("details", {}, html("summary", {}, "Assumptions and reference"),
        html("ul", {}, ...more.map((text) => html("li", {}, String(text))))) : null);
    const isWeak = bound.holds === false || bound.vacuous || bound.value === null;
    return { element, isWeak: Boolean(isWeak) };
  });
  const select = (isWeak) => items.filter((item) => item.isWeak === isWeak)
    .map((item) => item.element);
  const [strong, weak] = [select(false), select(true)];
  if (strong.length) {
    proofs.append(html("h3", {}, title), html("ul", { class: "plain" }, ...strong));
  }
  if (weak.length) {
    proofs.append(html("details", {}, html("summary", {}, "Bounds that are vacuous or whose " +
      `assumptions are violated (${weak.length})`), html("ul", { class: "plain" }, ...weak)));
  }
}

/**
 * Show the paths along which C and the strength of interactions were chosen; `scores` has the names
 * of their metrics.
 */
function drawChoices({ path, interactions, measure, feature_weights: weights }, scores) {
  const chosen = { measure, weights };
  const choices = [
    path && path.C && path.C.length && path.mean
      ? ["C", drawPath(path, "C", path.C, scores.C), explainC(path, interactions, scores.C, chosen),
        pathRows("C", path.C, path, scores.C)] : null,
    interactions?.path ? ["the strength of interactions",
      drawPath(interactions.path, "strength", interactions.path.strength, scores.strength),
      explainStrength(interactions), pathRows("strength", interactions.path.strength,
        interactions.path, scores.strength)] : null].filter(Boolean);
  byId("path").append(...choices.map(([name, plot, text, rows]) =>
    decisionCard({ title: `Choice of ${name}`, rows: () => rows }, plot, text)));
}

function explainC(path, interactions, score, { measure, weights }) {
  const refined = interactions?.refined_C;
  const isRefined = typeof refined === "number" && refined !== path.chosen;
  return "C is the inverse regularization strength: a small C gives simple curves, and a large C " +
    "gives curves that follow the training rows closely. " +
    `${isLoss(path) ? "Lower" : "Higher"} values of the validation ${score} are better; ` +
    "the band shows plus and minus one standard deviation" +
    `${path.chosen ? `. C\u00a0=\u00a0${formatNumber(path.chosen)} was chosen` : ""}` +
    `${isRefined ? ` without interactions, and ${formatNumber(refined)} with them` : ""}.` +
    `${measure?.was_exchanged ? ` ${explainMeasure(measure)}` : ""}` +
    `${weights ? ` ${explainWeights(Object.values(weights))}` : ""}`;
}

function explainMeasure({ chosen, instead_of: other, with_interactions: isJoint }) {
  return `The measure of the model is “${chosen}”, which scored better than “${other}”` +
    `${isJoint ? " with interactions" : ""}.`;
}

function explainWeights(weights) {
  const [low, high] = [Math.min(...weights), Math.max(...weights)].map((w) => formatNumber(w));
  return "Features with large curves are regularized less than others: the weights of the " +
    `features are from ${low} to ${high}.`;
}

function explainStrength({ path: { chosen }, strength, chosen_from: nTried }) {
  const isOther = typeof strength === "number" && chosen > 0 && strength !== chosen;
  const other = isOther ? `; it is ${formatNumber(strength)} for the C chosen with interactions` : "";
  const fewer = `for all ${nTried} interactions; fewer scored better and were kept, ` +
    `with a strength of ${formatNumber(strength)}`;
  return "The strength of interactions weights them relative to the curves: a small strength " +
    "gives weak interactions, and 0 stands for a model without interactions. " +
    `Strength\u00a0=\u00a0${formatNumber(chosen)} was chosen${nTried ? ` ${fewer}` : other}.`;
}

/** Whether the scores of a path are negated losses, as scikit-learn's neg_log_loss. */
const isLoss = ({ scoring }) => Boolean(scoring) && scoring.startsWith("neg_");

/** Return the validation score or loss against the values of a parameter; 0 is set apart. */
function drawPath({ mean, std, chosen, scoring }, name, values, score) {
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
  const frame = { ...DECISION_FRAME, height: 236 };
  const decades = ticks(ends[0], ends[1], 6).filter((p) => Number.isInteger(p)
    && (ends[0] !== zero || p > zero + 0.5));
  const plot = axes({ x: [ends[0] - side, ends[1] + side], y: [low - padding, high + padding],
    frame,
    label: `Validation ${score} at ${points.length} values of ${name}, from ` +
      `${formatNumber(low)} to ${formatNumber(high)}` +
      `${isChosen ? `; ${name} = ${formatNumber(chosen)} was chosen` : ""}`,
    xName: name, yName: `validation ${score}`,
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
