// The page: each section from the summary, shown if there is something to show.

const FIRST_ROWS = 5; // of hard ones
const byId = (id) => document.getElementById(id);

function drawPage(summary, scorer) {
  drawAbout(summary);
  const markers = [];
  const onChange = (cells) => markers.forEach((mark) => mark(cells));
  reveal("whatif", "What if");
  const panel = buildWhatIf(byId("whatif-panel"), summary, scorer, onChange);
  drawImportance(summary, drawCurves(summary, markers, panel));
  drawQuality(summary);
  drawHard(summary, panel, scorer);
  drawChoice(summary);
  drawVersions(summary);
  sortLinks();
  openForPrint();
}

/** Open what is folded while the page is printed, where page.css alone does not. */
function openForPrint() {
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
function reveal(id, name) {
  byId(id).hidden = false;
  byId("links").append(html("li", {}, html("a", { href: `#${id}` }, name)));
}

/** Bring the links into the order of the sections. */
function sortLinks() {
  const sections = [...document.querySelectorAll("main > section")].map(({ id }) => `#${id}`);
  const place = (item) => sections.indexOf(item.firstChild.getAttribute("href"));
  byId("links").append(...[...byId("links").children].sort((a, b) => place(a) - place(b)));
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
  const { certificate, path } = about;
  const { error, range, gap } = words.tiles;
  if (error) add("error on new rows", error, range || "");
  if (gap) {
    add("proven gap", gap,
      certificate.converged === false ? "more than asked for" : "from the optimum");
  }
  if (path && typeof path.chosen === "number") add("C", few(path.chosen));
  drawFigures(words.figures);
  const notes = byId("notes");
  if (words.certificate) {
    notes.append(html("h3", {}, "Certificate of the training"),
      html("p", {}, words.certificate),
      html("p", { class: "hint" }, "The objective is what training makes small: the loss on the " +
        "training rows and a price on the weights of the stumps."));
  }
  drawBounds(notes, about.bounds || [], words.bounds);
  drawList(notes, "Inferred from the data", about.schema);
  drawList(notes, "Notes", about.notes);
  drawList(notes, "Columns left out", about.dropped);
}

/** Tell accuracy, AUC and the like, each beside the baseline. */
function drawFigures(figures) {
  if (!figures) return;
  const hasIntervals = figures.rows.some((row) => row.interval);
  const columns = [["value", "model"], ...(hasIntervals ? [["interval", figures.interval]] : []),
    ["baseline", figures.always]];
  const head = html("tr", {}, html("td", {}),
    ...columns.map(([key, title]) => html("th", { scope: "col", class: `number ${key}` }, title)));
  const lines = figures.rows.map((row) => html("tr", {},
    html("th", { scope: "row" }, row.name), ...columns.map(([key]) =>
      html("td", { class: `number ${key}` }, row[key] || "\u2013",
        key === "value" && row.interval // on a phone
          ? html("span", { class: "below" }, row.interval) : null))));
  fill(byId("figures"), {}, [html("h3", {}, figures.title),
    html("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": figures.title },
      html("table", { class: "figures" }, html("thead", {}, head), html("tbody", {}, ...lines))),
    figures.verdict ? html("p", { class: "verdict" }, figures.verdict) : null]);
}

function drawBounds(notes, bounds, sentences) {
  if (!bounds.length) return;
  const shown = bounds.map((bound, k) => {
    const assumptions = [bound.assumptions || []].flat();
    const more = [...assumptions, bound.reference].filter(Boolean);
    const item = html("li", {}, sentences[k],
      more.length ? html("details", {}, html("summary", {}, "Assumptions and reference"),
        html("ul", {}, ...more.map((text) => html("li", {}, String(text))))) : null);
    return { item, isWeak: bound.holds === false || bound.vacuous || bound.value === null };
  });
  const those = (isWeak) => shown.filter((one) => Boolean(one.isWeak) === isWeak)
    .map((one) => one.item);
  const weak = those(true);
  notes.append(html("h3", {}, "Bounds on the error"), html("ul", { class: "plain" },
    ...those(false)));
  if (weak.length) {
    notes.append(html("details", {}, html("summary", {}, `Bounds that prove nothing here ` +
      `(${weak.length})`), html("ul", { class: "plain" }, ...weak)));
  }
}

function drawList(notes, title, sentences) {
  const given = [sentences || []].flat();
  if (!given.length) return;
  notes.append(html("details", {}, html("summary", {}, `${title} (${given.length})`),
    html("ul", {}, ...given.map((text) => html("li", {}, shown(text))))));
}

function drawImportance({ features, order, labels, measured_on: measuredOn }, showCurve) {
  reveal("importance", "Importance");
  byId("importance-lead").textContent = "How much each feature moves the score: the standard " +
    `deviation of what it adds${measuredOn ? ` over the ${measuredOn}` : ""}` +
    `${labels.length > 2 ? ", summed over the classes" : ""}. A name leads to its curve.`;
  const total = (d) => features[d].importance.reduce((sum, part) => sum + part, 0);
  const most = Math.max(...order.map(total)) || 1;
  const hasColors = hasClassColors(labels);
  const line = (d) => {
    const link = html("a", { class: "name", href: `#curve-${d}`, title: features[d].name },
      features[d].name);
    link.addEventListener("click", () => showCurve(d));
    const parts = hasColors ? features[d].importance : [total(d)];
    return html("li", {}, link, html("span", { class: "track plain-track" },
      ...parts.map((part, k) => {
        const bar = html("span", { class: `piece ${hasColors ? `c${k}` : "neutral"}` });
        bar.style.width = `${(100 * part) / most}%`;
        return bar;
      })), html("span", { class: "number" }, total(d).toFixed(3)));
  };
  const moving = order.filter((d) => total(d) > 0);
  const card = byId("importance-bars");
  if (hasColors) {
    card.append(html("ul", { class: "legend" }, ...labels.map((label, k) =>
      html("li", {}, html("span", { class: `swatch c${k}` }), label))));
  }
  card.append(html("ol", { class: "importances" }, ...moving.slice(0, 15).map(line)));
  if (moving.length > 15) {
    card.append(html("details", {}, html("summary", {}, `${moving.length - 15} more`),
      html("ol", { class: "importances" }, ...moving.slice(15).map(line))));
  }
}

function drawQuality({ about, quality, labels }) {
  if (!quality) return;
  reveal("quality", "Right and wrong");
  const head = html("tr", {}, html("th", { scope: "col" }, "actual \\ predicted"),
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
  if (labels.length > 4) byId("confusion").parentElement.classList.add("wide");
  byId("confusion").append(html("table", { class: "confusion" }, html("thead", {}, head),
    html("tbody", {}, ...rows)));
  byId("confusion").after(html("p", { class: "hint" },
    `${nRight} of ${quality.n} ${about.rows ? `${about.rows} ` : ""}rows are predicted right, ` +
    `${percent(quality.n_wrong / quality.n)} wrong. Each line holds the rows that actually are ` +
    "of one class, and its shares sum to 100\u00a0%."));
  byId("margins").append(drawMargins(quality.margins), html("p", { class: "hint" },
    "How safely rows are predicted. The margin is the score of a row for its actual class" +
    `${labels.length === 2 ? "" : ", less that of the best other class"}: the larger the safer, ` +
    "and below zero the row is predicted wrong."));
}

function drawHard(summary, panel, scorer) {
  const { hard } = summary;
  if (!hard) return;
  reveal("hard", "Hard rows");
  const place = byId("hard-tables");
  const table = (rows, name) => hardTable(summary, rows, panel, scorer, name);
  if (summary.labels.length === 2) {
    byId("hard-signs").textContent = "The score is the intercept (baseline), " +
      `${signed(summary.document.scores[0].intercept)}, and what all features add; numbers above ` +
      `zero favor \u201c${summary.labels[1]}\u201d, those below \u201c${summary.labels[0]}\u201d.`;
  }
  place.append(html("h3", {}, "Least certain rows"), table(hard.unsure, "Least certain rows"));
  if (hard.wrong.length) {
    place.append(html("h3", {}, "Largest errors"), table(hard.wrong, "Largest errors"));
  }
}

function hardTable({ features, labels, starts }, rows, panel, scorer, name) {
  const values = new Map(starts.map((start) => [start.row, start.values]));
  const isTwo = labels.length === 2;
  const hasProbabilities = scorer.document.log_odds !== null;
  const titles = ["row", "predicted", "actual", ...(hasProbabilities ? ["probability"] : []),
    isTwo ? "score" : "ahead by",
    ...(isTwo ? [1, 0].map((k) => `evidence for \u201c${short(labels[k], 24)}\u201d`)
      : ["evidence for it", "evidence against"])];
  const nNumbers = hasProbabilities ? 2 : 1;
  const numbers = (row) => [
    ...(hasProbabilities
      ? [percent(scorer.explainCells(values.get(row.row)).probability[row.predicted])]
      : []), isTwo ? signed(row.score) : row.lead.toFixed(3)];
  const chips = (row, sign) => {
    const order = row.contributions.map((part, d) => [sign * part, d])
      .filter(([part]) => part > 0).sort((a, b) => b[0] - a[0]).slice(0, 3);
    const title = titles[titles.length - (sign > 0 ? 2 : 1)];
    const favored = isTwo ? (sign > 0 ? 1 : 0) : (sign > 0 ? row.predicted : row.over);
    return html("td", { "data-title": title }, ...order.map(([part, d]) =>
      html("span", { class: "chip", title: features[d].name },
        html("span", {}, `${short(features[d].name)} = ${short(shown(values.get(row.row)[d]))}`),
        html("span", { class: `number ${textOf(favored, labels)}` }, signed(sign * part)))));
  };
  const line = (row) => {
    const button = html("button", { type: "button" }, `row ${row.label}`);
    button.addEventListener("click", () => {
      panel.beginAtRow(row.row);
      byId("whatif").scrollIntoView();
      byId("start-row").focus({ preventScroll: true });
    });
    return html("tr", {}, html("td", {}, button),
      html("td", { "data-title": titles[1] },
        isTwo ? labels[row.predicted] : `${labels[row.predicted]} over ${labels[row.over]}`),
      html("td", { "data-title": titles[2] }, row.truth === null ? "not known" : labels[row.truth]),
      ...numbers(row).map((text, k) =>
        html("td", { "data-title": titles[3 + k], class: "number" }, text)),
      chips(row, 1), chips(row, -1));
  };
  const lines = rows.map(line);
  const finder = buildFinder(null, "row", FIRST_ROWS);
  finder.set(lines.map((element) => ({ name: "", element })));
  return html("div", { class: "card scroll", tabindex: "0", role: "region",
    "aria-label": name }, html("table", { class: "hard" },
    html("thead", {}, html("tr", {},
    ...titles.map((title, k) => html("th", { scope: "col",
      class: k >= 3 && k < 3 + nNumbers ? "number" : k >= 3 + nNumbers ? "evidence" : null },
    title)))),
  html("tbody", {}, ...lines)), finder.more);
}

function drawChoice({ about: { path } }) {
  if (!path || !path.C || !path.mean || !path.C.length) return;
  reveal("path", "Choice of C");
  byId("path-plot").append(drawPath(path), html("p", { class: "hint" },
    "C is the inverse regularization strength: a small C makes plain curves, a large one " +
    `curves that follow the training rows. The validation score (${scoreName(path)}) is the ` +
    "larger the better; the " +
    `band is one standard deviation wide to each side${path.chosen
      ? `. C\u00a0=\u00a0${few(path.chosen)} was chosen` : ""}.`));
}

function drawVersions({ about: { versions } }) {
  if (!versions) return;
  byId("versions").textContent = typeof versions === "object"
    ? Object.entries(versions).map(([name, version]) => `${name} ${version}`).join(", ")
    : String(versions);
}

const summary = JSON.parse(byId("data").textContent);
summary.document = unpack(summary.document);
window.everystump = makeScorer(summary.document);
if (document.body) drawPage(summary, window.everystump);
