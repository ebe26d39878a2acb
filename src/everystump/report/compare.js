// The comparison page: two models on the same rows, side by side.

function drawComparison(summary) {
  drawModels(summary);
  drawFigures(summary);
  drawAgreement(summary);
  drawSettings(summary);
  if (summary.documents) {
    summary.documents = summary.documents.map(unpack);
    precision.decimals = contributionDecimals(summary);
    drawCurves(summary);
    drawSurfaces(summary);
  }
  drawRows(summary);
  addSaveButtons(byId("main"));
}

/** Return the name of a model in its color. */
const modelName = (summary, k) => html("span", { class: `model-name m${k}` }, summary.names[k]);

/** List the models with the marks by which plots show them. */
function drawModels(summary) {
  const model = summary.settings.different.find(({ name }) => name === "model");
  const same = summary.settings.same.find(({ name }) => name === "model");
  byId("models").append(...[0, 1].map((k) => {
    const edits = summary.edits[k];
    return html("li", { class: `m${k}` }, html("span", { class: "key-mark" }),
      html("span", {}, modelName(summary, k), `: ${model ? model.values[k] : same?.value ?? ""}`,
        edits.length ? html("span", { class: "edits" }, `Edited by hand: ${edits.join("; ")}.`)
          : null));
  }));
}

/** Show the metrics side by side, with differences and tests. */
function drawFigures(summary) {
  showSection("metrics-section", "Metrics");
  const { metrics, warnings, verdict } = summary;
  const card = byId("metrics");
  const rows = `Evaluated on ${summary.measured_on}.`;
  if (verdict) card.append(html("p", { class: "verdict-line" }, verdict));
  card.append(...warnings.map((text) => html("p", { class: "verdict" }, `Warning: ${text}`)));
  const isTested = metrics.some(({ p }) => p);
  const titles = ["difference", ...(isTested ? ["p-value"] : [])];
  const head = html("tr", {}, html("td", {}),
    ...[0, 1].map((k) => html("th", { scope: "col", class: `number own m${k}` },
      summary.names[k])),
    ...titles.map((title) => html("th", { scope: "col", class: "number" }, title)));
  const lines = metrics.map((row) => html("tr", {}, html("th", { scope: "row" }, row.name),
    ...[0, 1].map((k) => html("td", { class: `number${row.better === k ? " winner" : ""}`,
      "data-title": summary.names[k] }, row.values[k], range(row.intervals[k]))),
    html("td", { class: "number", "data-title": DIFFERENCE }, row.difference,
      range(row.interval)),
    isTested ? html("td", { class: `number${row.p ? "" : " none"}`, "data-title": "p-value" },
      row.p || "\u2013", row.test ? html("span", { class: "range" }, row.test) : null) : null));
  card.append(
    html("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Metrics" },
      html("table", { class: "compared figures" }, html("thead", {}, head),
        html("tbody", {}, ...lines))),
    html("p", { class: "hint" }, `${rows} The difference is that of ${summary.names[1]} minus ` +
      `${summary.names[0]}.${isTested ? " Small print: 95% intervals, and the test of each " +
        "difference on the same rows; p-values are not adjusted for the number of metrics." : ""}`));
}

const range = (text) => (text ? html("span", { class: "range" }, text) : null);

/** Show how often both are right, and what both predict for each row. */
function drawAgreement(summary) {
  const { comparison: { agreement, closer, n_rows: nRows }, scatter, names } = summary;
  showSection("agreement", "Agreement");
  if (closer) byId("agreement-cards").append(closerCard(summary, closer, nRows));
  if (agreement) {
    const cell = (key, isOnly) => html("td", { class: isOnly ? "only" : null },
      html("strong", {}, agreement[key].toLocaleString("en")),
      html("span", { class: "share" }, formatPercent(agreement[key] / nRows)));
    const table = html("table", { class: "agreement" },
      html("thead", {}, html("tr", {}, html("td", {}),
        html("th", { scope: "col" }, modelName(summary, 1), " right"),
        html("th", { scope: "col" }, modelName(summary, 1), " wrong"))),
      html("tbody", {},
        html("tr", {}, html("th", { scope: "row" }, modelName(summary, 0), " right"),
          cell("both", false), cell("first", true)),
        html("tr", {}, html("th", { scope: "row" }, modelName(summary, 0), " wrong"),
          cell("second", true), cell("neither", false))));
    const nOther = nRows - agreement.same;
    byId("agreement-cards").append(html("div", { class: "card" },
      html("h3", {}, "Rows that are right or wrong"),
      html("div", { class: "scroll", tabindex: "0", role: "region",
        "aria-label": "Rows that are right or wrong" }, table),
      html("p", { class: "hint" }, `The models predict different classes for ${
        nOther.toLocaleString("en")} of ${nRows.toLocaleString("en")} rows (${
        formatPercent(nOther / nRows)}). Only the shaded rows decide which one has the lower ` +
        "error" + (agreement.exact_p === null ? "."
          : `: exact McNemar test, p = ${formatNumber(agreement.exact_p, 3)}.`))));
  }
  byId("agreement-cards").append(html("div", { class: "card" },
    html("h3", {}, `Predictions of ${names[0]} and ${names[1]}`), drawScatter(summary),
    html("p", { class: "hint" }, `One point per row${scatter.rows < nRows
      ? ` (${scatter.rows.toLocaleString("en")} of ${nRows.toLocaleString("en")}, evenly spaced)`
      : ""}: ${scatter.name}. On the dashed line, both models agree.${pointColors(summary)}`)));
}

/** Return how often each of two regressors is closer to the target. */
function closerCard(summary, closer, nRows) {
  const line = (key, k) => html("tr", {},
    html("th", { scope: "row" }, modelName(summary, k), " is closer"),
    html("td", {}, html("strong", {}, closer[key].toLocaleString("en")),
      html("span", { class: "share" }, formatPercent(closer[key] / nRows))));
  return html("div", { class: "card" }, html("h3", {}, "Rows with the smaller error"),
    html("table", { class: "agreement" }, html("tbody", {}, line("first", 0), line("second", 1))),
    html("p", { class: "hint" }, `Of ${nRows.toLocaleString("en")} rows, by the absolute error` +
      (closer.exact_p === null ? "."
        : `; sign test, p = ${formatNumber(closer.exact_p, 3)}.`)));
}

function pointColors({ labels, scatter }) {
  if (!scatter.differs) return "";
  const classes = labels.length === 2
    ? ` Blue: actually \u201c${labels[1]}\u201d; orange: \u201c${labels[0]}\u201d.` : "";
  return `${classes} Points with an outline are rows that are predicted differently.`;
}

/** Return the predictions of the second model against those of the first. */
function drawScatter({ names, labels, scatter }) {
  const { values, actual, differs } = scatter;
  const isProbability = scatter.name.startsWith("probability");
  const all = [...values[0], ...values[1]];
  const [low, high] = isProbability ? [0, 1] : [Math.min(...all), Math.max(...all)];
  const padding = 0.03 * (high - low) || 0.5;
  const limits = [low - padding, high + padding];
  const frame = { ...FRAME, width: 420, height: 320, top: 20, bottom: 40 };
  const marks = ticks(low, high, 5);
  const plot = axes({ x: limits, y: limits, frame, label: `${scatter.name}: ${names[1]} against ` +
    `${names[0]}`, xName: truncateMiddle(names[0], 40), yName: truncateMiddle(names[1], 40),
  yTicks: marks, xTicks: marks.map((x) => [x, formatNumber(x)]) });
  plot.chart.append(svg("line", { class: "diagonal", x1: plot.atX(low), y1: plot.atY(low),
    x2: plot.atX(high), y2: plot.atY(high) }));
  const order = values[0].map((_, i) => i)
    .sort((i, j) => Number(differs?.[i] ?? 0) - Number(differs?.[j] ?? 0));
  plot.chart.append(...order.map((i) => svg("circle", {
    class: `dot-point${labels.length === 2 ? ` p${actual[i]}` : ""}${differs?.[i] ? " differs" : ""}`,
    cx: plot.atX(values[0][i]).toFixed(1), cy: plot.atY(values[1][i]).toFixed(1), r: 3 })));
  return plot.chart;
}

/** List the settings that differ, and those that do not. */
function drawSettings(summary) {
  showSection("settings", "Settings");
  const { different, same } = summary.settings;
  const card = byId("settings-table");
  if (different.length) {
    const head = html("tr", {}, html("td", {}), ...[0, 1].map((k) =>
      html("th", { scope: "col", class: `own m${k}` }, summary.names[k])));
    card.append(html("table", { class: "compared settings" }, html("thead", {}, head),
      html("tbody", {}, ...different.map(({ name, values }) => html("tr", {},
        html("th", { scope: "row" }, name), ...values.map((value) => html("td", {}, value)))))));
  } else card.append(html("p", {}, "Nothing but the training rows or the random seed."));
  if (same.length) {
    card.append(html("details", {}, html("summary", {}, `The same in both (${same.length})`),
      html("ul", {}, ...same.map(({ name, value }) => html("li", {}, `${name}: ${value}`)))));
  }
}

/** List the rows for which the models predict the most different things. */
function drawRows(summary) {
  const { rows, names, labels, comparison, is_regression: isRegression } = summary;
  if (!rows.length) return;
  showSection("rows", "Rows");
  const nOther = comparison.agreement ? comparison.n_rows - comparison.agreement.same : null;
  const what = isRegression ? "Rows with the largest differences between predictions"
    : nOther ? "Rows with different predictions, and the largest differences, first"
      : "No row is predicted differently; these are the largest differences";
  const hasReasons = rows.some(({ reasons }) => reasons);
  byId("rows-lead").textContent = `${what}. Rows are identified by their index label, or by ` +
    `their position, counting from 0.${hasReasons ? " Reasons are the terms whose contributions " +
      "differ most." : ""}`;
  const titles = ["row", "actual", ...names, ...(hasReasons ? ["reasons"] : [])];
  const head = html("tr", {}, ...titles.map((title, k) => html("th", { scope: "col",
    class: k === 2 || k === 3 ? `model-name m${k - 2}` : null }, title)));
  const label = (value) => (isRegression ? formatNumber(value, 5) : labels[value]);
  const lines = rows.map((row) => html("tr", {},
    html("td", { "data-title": "row" }, String(row.name)),
    html("td", { "data-title": "actual" }, label(row.actual)),
    ...[0, 1].map((k) => html("td", { "data-title": names[k] },
      html("span", { class: !isRegression && row.predicted[k] === row.actual ? "right" : null },
        label(row.predicted[k])),
      row.probability ? html("span", { class: "chance" },
        `probability ${formatPercent(row.probability[k])}`) : null)),
    hasReasons ? html("td", { "data-title": "reasons" }, html("span", { class: "reasons" },
      ...(row.reasons ?? []).map(reasonLine))) : null));
  byId("rows-table").append(html("div", { class: "card scroll", tabindex: "0", role: "region",
    "aria-label": "Rows with the largest differences" },
  html("table", { class: "disagreements" }, html("thead", {}, head),
    html("tbody", {}, ...lines))));
}

function reasonLine({ names, values, contributions }) {
  const name = truncateMiddle(names.join(" \u00d7 "));
  const value = truncateMiddle(values.map(formatValue).join(", "));
  return html("span", { class: "reason", title: names.join(" \u00d7 ") },
    html("span", {}, values.length ? `${name} = ${value}` : name), ...contributions.map((part, k) =>
      html("span", { class: `number m${k}` }, formatSigned(part))));
}

drawComparison(readData());
