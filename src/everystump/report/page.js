// The page: each section from the summary, shown if there is something to show.

const byId = (id) => document.getElementById(id);

function drawPage(summary, scorer) {
  drawAbout(summary);
  const markers = [];
  const onChange = (cells) => markers.forEach((mark) => mark(cells));
  reveal("whatif", "What if");
  const panel = buildWhatIf(byId("whatif-panel"), summary, scorer, onChange);
  drawImportance(summary);
  drawCurves(summary, markers, panel);
  drawQuality(summary);
  drawHard(summary, panel);
  drawChoice(summary);
  drawVersions(summary);
}

/** Show a section, and a link to it. */
function reveal(id, name) {
  byId(id).hidden = false;
  byId("links").append(html("li", {}, html("a", { href: `#${id}` }, name)));
}

function drawAbout({ about, words, document: model }) {
  reveal("about", "About");
  const tiles = byId("tiles");
  const add = (name, value, more) => tiles.append(html("div", { class: "tile" },
    html("span", { class: "tile-name" }, name), html("strong", {}, value),
    more ? html("span", { class: "tile-more" }, more) : null));
  const count = (n) => Number(n).toLocaleString("en");
  if (typeof about.n_rows === "number") add("training rows", count(about.n_rows));
  if (about.n_held_out) add("held-out rows", count(about.n_held_out));
  add("features", count(model.features.length));
  add("classes", count(model.classes.length));
  const { error, certificate, path } = about;
  if (error && typeof error.value === "number") {
    const hasEnds = typeof error.low === "number" && typeof error.high === "number";
    add("error", percent(error.value),
      hasEnds ? `${percent(error.low)} to ${percent(error.high)}` : "");
  }
  if (certificate && typeof certificate.gap === "number") {
    add("proven gap", certificate.gap < 0.001 && certificate.gap > 0
      ? `${few(100 * certificate.gap, 1)}\u00a0%` : percent(certificate.gap),
    certificate.converged === false ? "more than asked for" : "from the best there is");
  }
  if (path && typeof path.chosen === "number") add("C", few(path.chosen));
  const notes = byId("notes");
  if (words.certificate) notes.append(html("p", {}, unbroken(words.certificate)));
  drawBounds(notes, about.bounds || [], words.bounds);
  drawList(notes, "What was guessed", about.guesses);
  drawList(notes, "What was left out", about.dropped);
}

function drawBounds(notes, bounds, sentences) {
  if (!bounds.length) return;
  const items = bounds.map((bound, k) => {
    const assumptions = [bound.assumptions || []].flat();
    const more = [...assumptions, bound.reference].filter(Boolean);
    const isWeak = bound.holds === false || bound.vacuous;
    return html("li", { class: isWeak ? "weak" : null }, unbroken(sentences[k]),
      more.length ? html("details", {}, html("summary", {}, "Assumptions and reference"),
        html("ul", {}, ...more.map((text) => html("li", {}, String(text))))) : null);
  });
  notes.append(html("h3", {}, "Bounds on the error"), html("ul", { class: "plain" }, ...items));
}

function drawList(notes, title, sentences) {
  const given = [sentences || []].flat();
  if (!given.length) return;
  notes.append(html("details", {}, html("summary", {}, `${title} (${given.length})`),
    html("ul", {}, ...given.map((text) => html("li", {}, shown(text))))));
}

function drawImportance({ features, order, labels, measured_on: measuredOn }) {
  reveal("importance", "Importance");
  byId("importance-lead").textContent = "How much each feature moves the score: the standard " +
    `deviation of what it adds${measuredOn ? ` over the ${measuredOn}` : ""}.`;
  const total = (d) => features[d].importance.reduce((sum, part) => sum + part, 0);
  const most = Math.max(...order.map(total)) || 1;
  const line = (d) => html("li", {},
    html("a", { class: "name", href: `#curve-${d}`, title: features[d].name }, features[d].name),
    html("span", { class: "track plain-track" }, ...features[d].importance.map((part, k) => {
      const bar = html("span", { class: `piece c${k % 8}` });
      bar.style.width = `${(100 * part) / most}%`;
      return bar;
    })), html("span", { class: "number" }, total(d).toFixed(3)));
  const moving = order.filter((d) => total(d) > 0);
  const card = byId("importance-bars");
  if (labels.length > 2) {
    card.append(html("ul", { class: "legend" }, ...labels.map((label, k) =>
      html("li", {}, html("span", { class: `swatch c${k % 8}` }), label))));
  }
  card.append(html("ol", { class: "importances" }, ...moving.slice(0, 15).map(line)));
  if (moving.length > 15) {
    card.append(html("details", {}, html("summary", {}, `${moving.length - 15} more`),
      html("ol", { class: "importances" }, ...moving.slice(15).map(line))));
  }
}

function drawCurves(summary, markers, panel) {
  reveal("curves", "Curves");
  const { features, order, labels, document: model } = summary;
  const isTwo = labels.length === 2;
  byId("curves-lead").textContent = "What each value adds to the score" +
    (isTwo ? `: above zero speaks for “${labels[1]}”, below for “${labels[0]}”. ` : ". ") +
    "Grey bars show where the rows lie; the dot is the row of the what-if panel.";
  const own = html("input", { type: "checkbox", id: "own-scale" });
  const chosen = html("select", { id: "curve-class" }, ...labels.map((label, k) =>
    html("option", { value: k }, label)));
  const controls = byId("curves-controls");
  if (!isTwo) controls.append(html("label", { for: "curve-class" }, "Score of class"), chosen);
  controls.append(html("label", {}, own, "each curve on its own scale"));

  function draw() {
    const score = model.scores[isTwo ? 0 : Number(chosen.value)];
    const curves = new Map(score.curves.map((curve) => [curve.feature, curve]));
    const shared = limitsOf([...curves.values()]);
    const drawn = order.filter((d) => curves.has(d));
    markers.length = 0;
    byId("curve-cards").replaceChildren(...drawn.map((d) => {
      const limits = own.checked ? limitsOf([curves.get(d)]) : shared;
      return curveCard(features[d], d, model.features[d].levels, curves.get(d), limits, markers);
    }));
    tellFlat(order.filter((d) => !curves.has(d)).map((d) => features[d].name));
    panel.tellAgain();
  }
  own.addEventListener("change", draw);
  chosen.addEventListener("change", draw);
  draw();
}

function tellFlat(names) {
  byId("flat-curves").replaceChildren(...(names.length ? [html("details", { class: "card" },
    html("summary", {}, `${names.length} feature${names.length > 1 ? "s" : ""} without a say`),
    html("p", {}, names.join(", ")))] : []));
}

/** Return the interval of what curves add, with some room, zero within it. */
function limitsOf(curves) {
  const [low, high] = rangeOf(curves);
  const room = 0.07 * (high - low) || 0.5;
  return [low - room, high + room];
}

function curveCard(feature, d, levels, curve, limits, markers) {
  const drawing = levels ? drawLevels(feature, levels, curve, limits)
    : drawLine(feature, curve, limits);
  const number = new Map((levels || []).map((level, k) => [level, k]));
  markers.push((cells) => {
    const cell = cells[d];
    if (cell === null) drawing.move(NaN);
    else drawing.move(levels ? number.get(cell) ?? -1 : cell);
  });
  const readout = html("output", { class: "readout" });
  if (!levels) follow(drawing, curve, readout);
  return html("article", { class: "card curve", id: `curve-${d}`, "aria-label": feature.name },
    html("h3", { title: feature.name }, feature.name, readout), drawing.picture);
}

/** Tell what the curve adds where the pointer is. */
function follow({ picture, plot, probe, range: [low, high] }, curve, readout) {
  picture.addEventListener("pointermove", (event) => {
    const box = picture.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * plot.frame.width;
    const x = low + ((at - plot.frame.left) / (plot.end - plot.frame.left)) * (high - low);
    if (x < low || x > high) return;
    probe.setAttribute("x1", at);
    probe.setAttribute("x2", at);
    probe.setAttribute("visibility", "visible");
    readout.textContent = `${few(x)}: ${signed(curveAt(curve, x))}`;
  });
  picture.addEventListener("pointerleave", () => {
    probe.setAttribute("visibility", "hidden");
    readout.textContent = "";
  });
}

function drawQuality({ quality, labels }) {
  if (!quality) return;
  reveal("quality", "Right and wrong");
  const head = html("tr", {}, html("th", { scope: "col" }, "is \\ told"),
    ...labels.map((label) => html("th", { scope: "col" }, label)));
  const rows = quality.confusion.map((counts, k) => html("tr", {},
    html("th", { scope: "row" }, labels[k]), ...counts.map((count, l) => {
      const rate = quality.rates[k][l];
      const cell = html("td", { class: k === l ? "right" : "wrong" },
        html("strong", {}, String(count)),
        html("span", { class: "share" }, percent(rate)));
      cell.style.setProperty("--rate", String(rate));
      return cell;
    })));
  const nRight = quality.n - quality.n_wrong;
  byId("confusion").append(html("table", { class: "confusion" }, html("thead", {}, head),
    html("tbody", {}, ...rows)), html("p", { class: "hint" },
    `${nRight} of ${quality.n} held-out rows are told right, ` +
    `${percent(quality.n_wrong / quality.n)} wrong. ` +
    "Shares are of the rows of each true class."));
  byId("margins").append(drawMargins(quality.margins), html("p", { class: "hint" },
    "The margin is the score of a row for its own class, " +
    `${labels.length === 2 ? "" : "less that of the best other class, "}here from ` +
    `${few(quality.margins.lowest)} to ${few(quality.margins.highest)}; below zero the row is ` +
    "told wrong."));
}

function drawHard(summary, panel) {
  const { hard } = summary;
  if (!hard) return;
  reveal("hard", "Hard rows");
  const place = byId("hard-tables");
  place.append(html("h3", {}, "Rows the model is least sure of"),
    hardTable(summary, hard.unsure, panel));
  if (hard.wrong.length) {
    place.append(html("h3", {}, "Rows it is worst wrong about"),
      hardTable(summary, hard.wrong, panel));
  }
}

function hardTable({ features, labels, starts }, rows, panel) {
  const values = new Map(starts.map((start) => [start.row, start.values]));
  const isTwo = labels.length === 2;
  const titles = ["what if", "told", "is", isTwo ? "score for it" : "ahead by", "what spoke for it",
    "what spoke against"];
  const chips = (row, sign) => {
    const order = row.contributions.map((part, d) => [sign * part, d])
      .filter(([part]) => part > 0).sort((a, b) => b[0] - a[0]).slice(0, 3);
    const title = titles[sign > 0 ? 4 : 5];
    return html("td", { "data-title": title }, ...order.map(([part, d]) =>
      html("span", { class: "chip" },
      `${features[d].name} = ${shown(values.get(row.row)[d])}`,
      html("span", { class: `number ${sign < 0 ? "against" : "for"}` }, signed(sign * part)))));
  };
  const line = (row) => {
    const button = html("button", { type: "button" }, `row ${row.row}`);
    button.addEventListener("click", () => {
      panel.beginAtRow(row.row);
      byId("whatif").scrollIntoView();
      byId("start-row").focus({ preventScroll: true });
    });
    return html("tr", {}, html("td", {}, button),
      html("td", { "data-title": titles[1] }, labels[row.said]),
      html("td", { "data-title": titles[2] }, row.truth === null ? "not known" : labels[row.truth]),
      html("td", { "data-title": titles[3], class: "number" }, row.lead.toFixed(3)),
      chips(row, 1), chips(row, -1));
  };
  return html("div", { class: "card scroll", tabindex: "0", role: "region",
    "aria-label": "Table of rows" }, html("table", { class: "hard" },
    html("thead", {}, html("tr", {},
    ...titles.map((title, k) => html("th", { scope: "col", class: k === 3 ? "number" : null },
      title)))),
  html("tbody", {}, ...rows.map(line))));
}

function drawChoice({ about: { path } }) {
  if (!path || !path.C || !path.mean || !path.C.length) return;
  reveal("path", "Choice of C");
  byId("path-picture").append(drawPath(path), html("p", { class: "hint" },
    "The mean score of validation for each C, the larger the better, with a band of one standard " +
    `deviation${path.chosen ? `; C = ${few(path.chosen)} was chosen` : ""}.`));
}

function drawVersions({ about: { versions } }) {
  if (!versions) return;
  byId("versions").textContent = typeof versions === "object"
    ? Object.entries(versions).map(([name, version]) => `${name} ${version}`).join(", ")
    : String(versions);
}

const summary = JSON.parse(byId("data").textContent);
window.everystump = makeScorer(summary.document);
if (document.body) drawPage(summary, window.everystump);
