// The page: sections that are built from the summary and shown if they have content.

const MAX_ROWS = 5; // explained rows before the button
const MAX_IMPORTANCES = 15;
const byId = (id) => document.getElementById(id);

/** Return the terms of the model: its features, and the interactions of some of them. */
function describeTerms({ features, interactions = [] }) {
  return [...features.map(({ name, importance }, d) => ({ features: [d], name, importance })),
    ...interactions.map((interaction) => ({ ...interaction,
      name: interaction.features.map((d) => features[d].name).join(" \u00d7 ") }))];
}

function drawPage(summary, scorer) {
  setNumberWidth(summary.document);
  drawAbout(summary);
  const markers = [];
  const onChange = (cells) => markers.forEach((mark) => mark(cells));
  showSection("whatif", "What-if analysis");
  byId("whatif-lead").textContent = whatIfLead(summary);
  const panel = buildWhatIf(byId("whatif-panel"), summary, scorer, onChange);
  const showTerm = drawCurves(summary, markers, panel);
  document.addEventListener("click", ({ target }) => {
    const link = target.closest('a[href^="#curve-"]');
    if (link) showTerm(link.hash.slice(1));
  });
  drawImportance(summary);
  drawQuality(summary);
  if (summary.explained && summary.document.link) drawLargestErrors(summary, panel);
  else if (summary.explained) drawExplainedRows(summary, panel, scorer);
  drawChoices(summary);
  drawVersions(summary);
  sortLinks();
  openDetailsForPrint();
}

function whatIfLead({ interactions, document: model }) {
  const parts = interactions
    ? "is the contribution of its curve; interactions contribute what their features add " +
      "together. All contributions"
    : "is its contribution; the contributions";
  return "The model runs on this page. Start from a row, change its values, and see what the " +
    `model predicts. The number to the right of a feature ${parts} and the intercept add up to ` +
    `the ${sumName(model)}.`;
}

/** Open collapsed details while the page is printed, where page.css alone does not. */
function openDetailsForPrint() {
  let opened = [];
  const open = (isOpen) => opened.forEach((details) => {
    details.open = isOpen;
  });
  window.addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    open(true);
  });
  window.addEventListener("afterprint", () => open(false));
}

/** Show a section, and a link to it. */
function showSection(id, name) {
  byId(id).hidden = false;
  byId("links").append(html("li", {}, html("a", { href: `#${id}` }, name)));
}

/** Sort the links in the order of the sections. */
function sortLinks() {
  const sections = [...document.querySelectorAll("main > section")].map(({ id }) => `#${id}`);
  const index = (item) => sections.indexOf(item.firstChild.getAttribute("href"));
  byId("links").append(...[...byId("links").children].sort((a, b) => index(a) - index(b)));
}

function drawAbout({ about, text, interactions, document: model }) {
  showSection("about", "About");
  const tiles = byId("tiles");
  const add = (name, value, more) => tiles.append(html("div", { class: "tile" },
    html("span", { class: "tile-name" }, name), html("strong", {}, value),
    more ? html("span", { class: "tile-more" }, more) : null));
  const count = (n) => Number(n).toLocaleString("en");
  if (typeof about.n_rows === "number") add("training rows", count(about.n_rows));
  if (about.n_held_out) add("held-out rows", count(about.n_held_out));
  add("features", count(model.features.length));
  if (interactions) {
    const strength = about.interactions?.strength;
    add("interactions", count(interactions.length),
      typeof strength === "number" ? `strength ${formatNumber(strength)}` : "");
  }
  if (model.classes.length) add("classes", count(model.classes.length));
  const { certificate, path } = about;
  const { error, range, gap, metrics = [] } = text.tiles;
  metrics.forEach((metric) => add(metric.name, metric.value, metric.more));
  if (error) add("error on new rows", error, range || "");
  if (gap) {
    add("duality gap", gap,
      certificate.converged === false ? "above the tolerance" : "relative");
  }
  const C = about.interactions?.refined_C ?? path?.chosen;
  if (typeof C === "number") add("C", formatNumber(C));
  drawMetrics(text.metrics);
  const notes = byId("notes");
  if (text.certificate) {
    notes.append(html("h3", {}, "Optimality certificate (duality gap)"),
      html("p", {}, text.certificate),
      html("p", { class: "hint" }, "Training minimizes the objective: the loss on the training " +
        "rows plus a penalty on the weights of the stumps (regularization)."));
  }
  drawBounds(notes, about.bounds || [], text.bounds,
    model.link ? "Bounds" : "Bounds on the error");
  drawList(notes, "Inferred from the data", about.schema);
  drawList(notes, "Notes", about.notes);
  drawList(notes, "Dropped columns", about.dropped);
}

/** Show accuracy, AUC and other metrics next to those of the baseline. */
function drawMetrics(metrics) {
  if (!metrics) return;
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
  fill(byId("metrics"), {}, [html("h3", {}, metrics.title),
    html("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": metrics.title },
      html("table", { class: "metrics" }, html("thead", {}, head), html("tbody", {}, ...lines))),
    metrics.verdict ? html("p", { class: "verdict" }, metrics.verdict) : null]);
}

function drawBounds(notes, bounds, sentences, title) {
  if (!bounds.length) return;
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
  const weak = select(true);
  notes.append(html("h3", {}, title), html("ul", { class: "plain" },
    ...select(false)));
  if (weak.length) {
    notes.append(html("details", {}, html("summary", {}, "Bounds that are vacuous or whose " +
      `assumptions are violated (${weak.length})`), html("ul", { class: "plain" }, ...weak)));
  }
}

function drawList(notes, title, sentences) {
  const items = [sentences || []].flat();
  if (!items.length) return;
  notes.append(html("details", {}, html("summary", {}, `${title} (${items.length})`),
    html("ul", {}, ...items.map((text) => html("li", {}, formatValue(text))))));
}

function drawImportance({ features, terms, order, labels, measured_on: measuredOn,
  document: model }) {
  showSection("importance", "Importance");
  const hasSurfaces = terms.length > features.length;
  byId("importance-lead").textContent = `The importance of a feature ${hasSurfaces
    ? "or of an interaction " : ""}is the standard deviation of its contribution to the ${
    sumName(model)}` +
    `${measuredOn ? ` over the ${measuredOn}` : ""}` +
    `${labels.length > 2 ? ", summed over the classes" : ""}. Click a name to see its ` +
    `${hasSurfaces ? "plot" : "curve"}.`;
  const total = (t) => terms[t].importance.reduce((sum, part) => sum + part, 0);
  const largest = Math.max(...order.map(total)) || 1;
  const hasColors = hasClassColors(labels);
  const line = (t) => {
    const link = html("a", { class: "name", href: `#curve-${t}`, title: terms[t].name },
      terms[t].name);
    const parts = hasColors ? terms[t].importance : [total(t)];
    return html("li", {}, link, html("span", { class: "track stacked" },
      ...parts.map((part, k) => {
        const bar = html("span", { class: `piece ${hasColors ? `c${k}` : "neutral"}` });
        bar.style.width = `${(100 * part) / largest}%`;
        return bar;
      })), html("span", { class: "number" }, formatSize(total(t))));
  };
  const used = order.filter((t) => total(t) > 0);
  const card = byId("importance-bars");
  if (hasColors) {
    card.append(html("ul", { class: "legend" }, ...labels.map((label, k) =>
      html("li", {}, html("span", { class: `swatch c${k}` }), label))));
  }
  const rest = used.slice(MAX_IMPORTANCES);
  card.append(html("ol", { class: "importances" }, ...used.slice(0, MAX_IMPORTANCES).map(line)));
  if (rest.length) {
    card.append(html("details", {}, html("summary", {}, `${rest.length} more`),
      html("ol", { class: "importances" }, ...rest.map(line))));
  }
}

function drawQuality(summary) {
  if (!summary.quality) return;
  showSection("quality", "Performance");
  const draw = summary.document.link ? drawResiduals : drawConfusion;
  draw(summary, byId("quality-cards"));
}

function drawConfusion({ about, quality, labels }, cards) {
  cards.append(
    html("div", { class: "card" }, html("h3", {}, "Confusion matrix"), html("div", {
      id: "confusion", class: "scroll", tabindex: "0", role: "region",
      "aria-label": "Confusion matrix" })),
    html("div", { class: "card" }, html("h3", {}, "Margins"), html("div", { id: "margins" })));
  const head = html("tr", {}, html("th", { scope: "col" }, "actual \\ predicted"),
    ...labels.map((label) => html("th", { scope: "col" }, label)));
  const rows = quality.confusion.map((counts, k) => html("tr", {},
    html("th", { scope: "row" }, labels[k]), ...counts.map((count, l) => {
      const rate = quality.rates[k][l];
      const cell = html("td", { class: k === l ? "right" : "wrong" },
        html("strong", {}, String(count)),
        html("span", { class: "share" }, formatPercent(rate)));
      cell.style.setProperty("--rate", String(rate));
      return cell;
    })));
  const nCorrect = quality.n - quality.n_wrong;
  if (labels.length > 4) byId("confusion").parentElement.classList.add("wide");
  byId("confusion").append(html("table", { class: "confusion" }, html("thead", {}, head),
    html("tbody", {}, ...rows)));
  byId("confusion").after(html("p", { class: "hint" },
    `${nCorrect} of ${quality.n} ${about.rows ? `${about.rows} ` : ""}rows are classified ` +
    `correctly; the error is ${formatPercent(quality.n_wrong / quality.n)}. Percentages are ` +
    "relative to the number of rows of the actual class."));
  byId("margins").append(drawMargins(quality.margins), html("p", { class: "hint" },
    "The margin of a row is the score of its actual class" +
    `${labels.length === 2 ? "" : " minus the largest score of the other classes"}: the larger ` +
    "it is, the more certain the prediction. A row with a margin below zero is misclassified."));
}

function drawExplainedRows(summary, panel, scorer) {
  const { explained, labels, what_if: whatIf } = summary;
  showSection("explained", "Uncertain rows and errors");
  byId("explained-title").textContent = "Uncertain rows and errors";
  const values = new Map(whatIf.map((row) => [row.row, row.values]));
  const shown = labels.length === 2 ? explainBinary(labels) : explainSeveral(labels);
  if (scorer.document.log_odds !== null) {
    shown.columns.splice(2, 0, { title: "probability", isNumber: true, text: (row) =>
      formatPercent(scorer.explainCells(values.get(row.row)).probability[row.predicted]) });
  }
  const add = (rows, title) => byId("explained-tables").append(html("h3", {}, title),
    explainedTable(summary, rows, panel, shown, title));
  if (labels.length === 2) {
    byId("explained-signs").textContent = "The score is the sum of the intercept (baseline), " +
      `${formatSigned(summary.document.scores[0].intercept)}, and the contributions of all ` +
      `features${summary.interactions ? " and interactions" : ""}. Numbers above zero favor ` +
      `\u201c${labels[1]}\u201d, and numbers below zero favor \u201c${labels[0]}\u201d.`;
  }
  add(explained.least_certain, "Least certain rows");
  if (explained.largest_errors.length) add(explained.largest_errors, "Largest errors");
}

const actualClass = (labels) => ({ title: "actual",
  text: (row) => (row.actual === null ? "unknown" : labels[row.actual]) });

/** Return the columns of explained rows of two classes, and the evidence for each class. */
function explainBinary(labels) {
  return {
    columns: [{ title: "predicted", text: (row) => labels[row.predicted] }, actualClass(labels),
      { title: "score", isNumber: true, text: (row) => formatSigned(row.score) }],
    evidence: [1, 0].map((k) => ({ title: `evidence for \u201c${truncateMiddle(labels[k], 24)}\u201d`,
      sign: k ? 1 : -1, favored: () => k })),
  };
}

/** Return the columns of explained rows of several classes, and the evidence for the predicted one. */
function explainSeveral(labels) {
  return {
    columns: [{ title: "predicted",
      text: (row) => `${labels[row.predicted]} over ${labels[row.other]}` }, actualClass(labels),
    { title: "score difference", isNumber: true, text: (row) => row.lead.toFixed(3) }],
    evidence: [{ title: "evidence for", sign: 1, favored: (row) => row.predicted },
      { title: "evidence against", sign: -1, favored: (row) => row.other }],
  };
}

/** Return a table of rows: columns of text or numbers, and the largest contributions by sign. */
function explainedTable({ terms, labels, what_if: whatIf }, rows, panel, { columns, evidence },
  name) {
  const values = new Map(whatIf.map((row) => [row.row, row.values]));
  const chips = (row, { title, sign, favored }) => {
    const largest = row.contributions.map((part, t) => [sign * part, terms[t]])
      .filter(([part]) => part > 0).sort((a, b) => b[0] - a[0]).slice(0, 3);
    return html("td", { "data-title": title }, ...largest.map(([part, term]) =>
      html("span", { class: "chip", title: term.name },
        html("span", {}, `${truncateMiddle(term.name)} = ${truncateMiddle(
          term.features.map((d) => formatValue(values.get(row.row)[d])).join(", "))}`),
        html("span", { class: `number ${textClass(favored(row), labels)}` },
          formatSigned(sign * part)))));
  };
  const line = (row) => {
    const button = html("button", { type: "button" }, `row ${row.name}`);
    button.addEventListener("click", () => {
      panel.startFromRow(row.row);
      byId("whatif").scrollIntoView();
      byId("start-row").focus({ preventScroll: true });
    });
    return html("tr", {}, html("td", {}, button), ...columns.map(({ title, isNumber, text }) =>
      html("td", { "data-title": title, class: isNumber ? "number" : null }, text(row))),
    ...evidence.map((side) => chips(row, side)));
  };
  const lines = rows.map(line);
  const finder = buildFinder(null, "row", MAX_ROWS);
  finder.set(lines.map((element) => ({ name: "", element })));
  const head = [{ title: "row" }, ...columns, ...evidence].map(({ title, isNumber, sign }) =>
    html("th", { scope: "col", class: isNumber ? "number" : sign ? "evidence" : null }, title));
  return html("div", { class: "card scroll", tabindex: "0", role: "region",
    "aria-label": name }, html("table", { class: "explained" },
    html("thead", {}, html("tr", {}, ...head)), html("tbody", {}, ...lines)), finder.more);
}

/** Show the paths along which C and the strength of interactions were chosen. */
function drawChoices({ about: { path, interactions } }) {
  const choices = [
    path && path.C && path.C.length && path.mean
      ? ["C", drawPath(path, "C", path.C), explainC(path, interactions)] : null,
    interactions?.path ? ["the strength of interactions",
      drawPath(interactions.path, "strength", interactions.path.strength),
      explainStrength(interactions)] : null].filter(Boolean);
  if (!choices.length) return;
  byId("path-title").textContent = `Choice of ${choices.map(([name]) => name).join(" and of ")}`;
  showSection("path", `Choice of ${choices[0][0]}`);
  byId("path-plots").append(...choices.map(([, plot, text]) =>
    html("div", { class: "card" }, plot, html("p", { class: "hint" }, text))));
}

function explainC(path, interactions) {
  const refined = interactions?.refined_C;
  const isRefined = typeof refined === "number" && refined !== path.chosen;
  return "C is the inverse regularization strength: a small C gives simple curves, and a large C " +
    "gives curves that follow the training rows closely. " +
    `${isLoss(path) ? "Lower" : "Higher"} values of the validation ${scoreName(path)} are better; ` +
    "the band shows plus and minus one standard deviation" +
    `${path.chosen ? `. C\u00a0=\u00a0${formatNumber(path.chosen)} was chosen` : ""}` +
    `${isRefined ? ` without interactions, and ${formatNumber(refined)} with them` : ""}.`;
}

function explainStrength({ path: { chosen }, strength }) {
  const isOther = typeof strength === "number" && chosen > 0 && strength !== chosen;
  return "The strength of interactions weights them relative to the curves: a small strength " +
    "gives weak interactions, and 0 stands for a model without interactions. " +
    `Strength\u00a0=\u00a0${formatNumber(chosen)} was chosen` +
    `${isOther ? `; it is ${formatNumber(strength)} for the C chosen with interactions` : ""}.`;
}

function drawVersions({ about: { versions } }) {
  if (!versions) return;
  byId("versions").textContent = typeof versions === "object"
    ? Object.entries(versions).map(([name, version]) => `${name} ${version}`).join(", ")
    : String(versions);
}

const summary = JSON.parse(byId("data").textContent);
summary.document = unpack(summary.document);
summary.terms = describeTerms(summary);
summary.formats = makeFormats(summary);
precision.decimals = summary.formats.decimals;
window.everystump = makeScorer(summary.document);
if (document.body) drawPage(summary, window.everystump);
