// The rows that the model gets wrong or is least certain about, with their contributions.

const MAX_ROWS = 5; // explained rows before the button

/** Draw the rows with the largest errors, and of a classifier the least certain ones. */
function drawMistakes(summary, panel, scorer) {
  const { explained, labels } = summary;
  if (!explained) return;
  if (summary.document.link) {
    drawLargestErrors(summary, panel);
    return;
  }
  const { least_certain: uncertain, largest_errors: errors } = explained;
  const title = errors.length ? "Mistakes and uncertain rows" : "Least certain rows";
  showSection("explained", errors.length ? "Mistakes" : title);
  byId("explained-title").textContent = title;
  const shown = labels.length === 2 ? explainBinary(labels) : explainSeveral(labels);
  if (summary.document.log_odds !== null) shown.columns.push(probabilityColumn(summary, scorer));
  const add = (rows, name) => byId("explained-tables").append(html("h3", {}, name),
    explainedTable(summary, rows, panel, shown, name));
  byId("explained-signs").textContent = explainBaseline(summary);
  if (errors.length) add(errors, "Largest errors");
  add(uncertain, "Least certain rows");
}

/** Return the share of the rows of each class, null if their classes are unknown. */
function baseRates({ quality, labels }) {
  if (!quality?.confusion) return null;
  const totals = quality.confusion.map((counts) => counts.reduce((sum, n) => sum + n, 0));
  return labels.map((_, k) => totals[k] / quality.n);
}

/** Return sentences on the signs of contributions, the intercept, and the base rate. */
function explainBaseline(summary) {
  const { document: model } = summary;
  const labels = summary.labels.map((label) => truncateMiddle(label, MAX_CLASS_LETTERS));
  const rates = baseRates(summary);
  if (labels.length > 2) {
    const largest = rates ? rates.indexOf(Math.max(...rates)) : -1;
    return largest < 0 ? "" : "Baseline: the most frequent class of these rows is " +
      `\u201c${labels[largest]}\u201d (${formatPercent(rates[largest])}).`;
  }
  const [{ intercept }] = model.scores;
  const probability = model.log_odds === null ? ""
    : `, a probability of ${formatPercent(sigmoid(model.log_odds * intercept))}`;
  return `Numbers above zero favor \u201c${labels[1]}\u201d, and numbers below zero favor ` +
    `\u201c${labels[0]}\u201d. Baseline: without any feature, the score is the intercept, ` +
    `${formatSigned(intercept)}${probability}` +
    `${rates ? `; ${formatPercent(rates[1])} of these rows are \u201c${labels[1]}\u201d` : ""}. ` +
    `The contributions of all features${summary.interactions ? " and interactions" : ""} are added.`;
}

/** Return the column of the probability of two classes, or of the three most probable classes. */
function probabilityColumn({ labels, what_if: whatIf }, scorer) {
  const values = new Map(whatIf.map((row) => [row.row, row.values]));
  const probabilitiesOf = (row) => scorer.explainCells(values.get(row.row)).probability;
  if (labels.length === 2) {
    return { title: "probability", isNumber: true,
      text: (row) => formatPercent(probabilitiesOf(row)[row.predicted]) };
  }
  return { title: "most probable classes", isWide: true,
    content(row) {
      const probability = probabilitiesOf(row);
      const top = topClasses(probability);
      if (row.actual !== null && !top.includes(row.actual)) top.push(row.actual);
      return top.map((k) => html("span", { class: "top" },
        html(k === row.actual ? "strong" : "span", { title: labels[k] },
          truncateMiddle(labels[k], 20)),
        html("span", { class: "number" }, formatPercent(probability[k]))));
    } };
}

/** Return the indices of the largest numbers, largest first. */
function topClasses(numbers, n = 3) {
  return numbers.map((_, k) => k).sort((a, b) => numbers[b] - numbers[a] || a - b).slice(0, n);
}

/** Return the button that opens a row, and how many rows are identical to it. */
function rowButton(row, panel) {
  const button = html("button", { type: "button", title: `row ${row.name}` }, `row ${row.name}`);
  button.addEventListener("click", () => {
    panel.startFromRow(row.row);
    byId("whatif").scrollIntoView();
    byId("start-row").focus({ preventScroll: true });
  });
  const nOthers = (row.n_identical ?? 1) - 1;
  if (!nOthers) return [button];
  const names = row.identical.join(", ") + (nOthers > row.identical.length ? ", \u2026" : "");
  return [button, html("span", { class: "identical", title: `identical: ${names}` },
    `and ${nOthers.toLocaleString("en")} identical row${nOthers > 1 ? "s" : ""}`)];
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
    const cell = ({ title, isNumber, text, content }) =>
      html("td", { "data-title": title, class: isNumber ? "number" : null },
        ...(content ? content(row) : [text(row)]));
    return html("tr", {}, html("td", {}, ...rowButton(row, panel)), ...columns.map(cell),
      ...evidence.map((side) => chips(row, side)));
  };
  const lines = rows.map(line);
  const finder = buildFinder(null, "row", MAX_ROWS);
  finder.set(lines.map((element) => ({ name: "", element })));
  const kind = ({ isNumber, isWide, sign }) => (isNumber ? "number" : isWide ? "wide"
    : sign ? "evidence" : null);
  const head = [{ title: "row" }, ...columns, ...evidence].map((column) =>
    html("th", { scope: "col", class: kind(column) }, column.title));
  return html("div", { class: "card scroll", tabindex: "0", role: "region",
    "aria-label": name }, html("table", { class: "explained" },
    html("thead", {}, html("tr", {}, ...head)), html("tbody", {}, ...lines)), finder.more);
}
