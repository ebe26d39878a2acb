// The page: sections that are built from the summary and shown if they have content.

const MAX_IMPORTANCES = 15;

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
  followLinks(showTerm);
  drawImportance(summary);
  const evaluation = drawEvaluation(summary);
  drawMistakes(summary, panel, scorer);
  drawGroups(summary, evaluation);
  drawProofs(summary);
  drawVersions(summary);
  addSaveButtons(byId("main"));
  sortLinks();
  openDetailsForPrint();
}

function whatIfLead({ interactions, bands, document: model }) {
  const parts = interactions
    ? "is the contribution of its curve; interactions contribute what their features add " +
      "together. All contributions"
    : "is its contribution; the contributions";
  return "The model runs on this page. Start from a row, change its values, and see what the " +
    `model predicts. The number to the right of a feature ${parts} and the intercept add up to ` +
    `the ${sumName(model)}.${bands ? ` Lines over the bars are ${bandLevel(bands)} bands.` : ""}`;
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

/** Show the card of a term before a link leads to it; scroll in a frame, which has no address. */
function followLinks(showTerm) {
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (!link) return;
    const id = link.getAttribute("href").slice(1);
    if (id.startsWith("curve-")) showTerm(id);
    if (document.URL !== "about:srcdoc") return;
    event.preventDefault();
    document.querySelectorAll(".target").forEach((card) => card.classList.remove("target"));
    byId(id).classList.add("target");
    byId(id).scrollIntoView();
  });
}

/** Sort the links in the order of the sections. */
function sortLinks() {
  const sections = [...document.querySelectorAll("main > section")].map(({ id }) => `#${id}`);
  const index = (item) => sections.indexOf(item.firstChild.getAttribute("href"));
  byId("links").append(...[...byId("links").children].sort((a, b) => index(a) - index(b)));
}

function drawImportance(summary) {
  const { features, terms, order, labels, measured_on: measuredOn, document: model } = summary;
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
  const legend = hasColors ? labels.map((label, k) =>
    html("li", {}, html("span", { class: `swatch c${k}` }), label)) : [];
  card.append(html("div", { class: "card-head" }, html("ul", { class: "legend" }, ...legend),
    saveButton(card, "Importance", { rows: () => importanceRows(summary) })));
  const rest = used.slice(MAX_IMPORTANCES);
  card.append(html("ol", { class: "importances" }, ...used.slice(0, MAX_IMPORTANCES).map(line)));
  if (rest.length) {
    card.append(html("details", {}, html("summary", {}, `${rest.length} more`),
      html("ol", { class: "importances" }, ...rest.map(line))));
  }
}

function drawVersions({ about: { versions } }) {
  if (!versions) return;
  byId("versions").textContent = typeof versions === "object"
    ? Object.entries(versions).map(([name, version]) => `${name} ${version}`).join(", ")
    : String(versions);
}

const summary = readData();
summary.document = unpack(summary.document);
attachBands(summary.document, summary.bands);
unpackFeatures(summary.features);
summary.terms = describeTerms(summary);
summary.formats = makeFormats(summary);
precision.decimals = summary.formats.decimals;
window.everystump = makeScorer(summary.document);
summary.codeOf = window.everystump.codeOf;
if (document.body) drawPage(summary, window.everystump);
