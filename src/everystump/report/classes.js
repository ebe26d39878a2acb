// Several classes: which ones are confused, and precision, recall and AUC of each.

const MAX_CLASS_LINES = 12;
const MAX_NARROW = 4; // classes whose tables are next to each other
const MAX_SHARE_CLASSES = 6; // with more, the cells of the confusion matrix have no percentages

/** Draw the confusion matrix and the table of classes. */
function drawSeveralClasses({ about, quality, labels, held_out: { n } }, rows) {
  const cards = byId("quality-cards");
  const matrix = quality.confusion ? confusionMatrix(quality.confusion, labels)
    : confusedPairs(quality.confused, labels);
  const title = quality.confusion ? "Confusion matrix" : "Most frequent confusions";
  cards.append(html("div", { class: labels.length > MAX_NARROW ? "card wide" : "card" },
    html("h3", {}, title), html("div", { id: "confusion", class: "scroll", tabindex: "0",
      role: "region", "aria-label": title }, matrix),
    html("p", { class: "hint" }, `${(n - quality.n_wrong).toLocaleString("en")} of ` +
      `${n.toLocaleString("en")} ${about.rows ? `${about.rows} ` : ""}rows are classified ` +
      `correctly; the error is ${formatPercent(quality.n_wrong / n)}.${
        quality.confusion ? matrixNote(labels) : ""}`)));
  const table = classTable(labels, rows);
  cards.append(table.element);
  return { onSelect: table.onSelect };
}

/** Say what the shades and percentages of a confusion matrix are. */
function matrixNote(labels) {
  const hasShares = labels.length <= MAX_SHARE_CLASSES;
  return ` ${hasShares ? "Shading and percentages are" : "Shading is"} relative to the rows of the ` +
    "actual class; empty cells are 0.";
}

/** Return the histogram of the margins, for models without probabilities. */
function drawMarginCard({ margins }, labels) {
  return {
    element: decisionCard({ id: "margin-card", title: "Margins",
      rows: () => binRows("margin", [margins.edges[0], margins.edges.at(-1)],
        [["rows", margins.counts]]) }, html("div", { id: "margins" },
      drawMargins(margins)), "The margin of a row is the score of its actual class" +
      `${labels.length === 2 ? "" : " minus the largest score of the other classes"}: the larger ` +
      "it is, the more certain the prediction. A row with a margin below zero is misclassified."),
    show: () => {},
  };
}

/** Return a histogram of margins; negative ones, of misclassified rows, are marked. */
function drawMargins({ edges, counts, lowest, highest, mean }) {
  const largest = Math.max(...counts);
  const low = Math.min(edges[0], 0);
  const high = Math.max(edges[edges.length - 1], 0);
  const frame = { ...DECISION_FRAME, height: 246 };
  const label = `Histogram of the margins, from ${formatNumber(lowest)} to ` +
    `${formatNumber(highest)}, mean ${formatNumber(mean)}`;
  const plot = axes({ x: [low, high], y: [0, 1.05 * largest], frame, label, xName: "margin",
    yName: "rows", yTicks: ticks(0, largest, 4).filter(Number.isInteger) });
  counts.forEach((count, k) => {
    if (!count) return;
    const isWrong = edges[k + 1] <= 1e-12;
    plot.chart.append(svg("rect", { class: isWrong ? "margin wrong" : "margin",
      x: plot.atX(edges[k]) + 0.5,
      width: Math.max(1, plot.atX(edges[k + 1]) - plot.atX(edges[k]) - 1),
      y: plot.atY(count), height: plot.ground - plot.atY(count) },
    svg("title", {}, `${formatNumber(edges[k])} to ${formatNumber(edges[k + 1])}: ${count}`)));
  });
  plot.chart.append(svg("line", { class: "separator", x1: plot.atX(0), x2: plot.atX(0),
    y1: frame.top, y2: plot.ground }));
  return plot.chart;
}

/** Return a confusion matrix, with empty cells for 0. */
function confusionMatrix(confusion, labels) {
  const hasShares = labels.length <= MAX_SHARE_CLASSES;
  const name = (label) => html("span", { title: label }, truncateMiddle(label, hasShares ? 40 : 16));
  const head = html("tr", {}, html("th", { scope: "col" }, "actual \\ predicted"),
    ...labels.map((label) => html("th", { scope: "col" }, name(label))));
  const lines = confusion.map((counts, k) => {
    const total = counts.reduce((sum, count) => sum + count, 0);
    return html("tr", {}, html("th", { scope: "row" }, name(labels[k])), ...counts.map((count, l) => {
      const rate = total ? count / total : 0;
      const cell = html("td", { class: k === l ? "right" : "wrong",
        title: count ? `${labels[k]} predicted as ${labels[l]}: ${formatPercent(rate)}` : null },
      ...(count ? [html("strong", {}, count.toLocaleString("en"))] : []),
      ...(count && hasShares ? [html("span", { class: "share" }, formatPercent(rate))] : []));
      cell.style.setProperty("--rate", String(rate));
      return cell;
    }));
  });
  return html("table", { class: hasShares ? "confusion" : "confusion small" },
    html("thead", {}, head), html("tbody", {}, ...lines));
}

/** Return a table of the pairs of classes that are confused most often. */
function confusedPairs(pairs, labels) {
  const title = (text) => html("th", { scope: "col" }, text);
  return html("table", { class: "pairs" },
    html("thead", {}, html("tr", {}, title("actual"), title("predicted"), title("rows"),
      title("of the class"))),
    html("tbody", {}, ...pairs.map(([actual, predicted, count, total]) => html("tr", {},
      html("td", {}, labels[actual]), html("td", {}, labels[predicted]),
      html("td", { class: "number" }, count.toLocaleString("en")),
      html("td", { class: "number" }, formatPercent(count / total))))));
}

/** Return, for each class, the number of its rows, of those predicted, and of those of both. */
function countClasses(labels, { actual, predicted }) {
  const counts = labels.map(() => ({ actual: 0, predicted: 0, hits: 0 }));
  actual.forEach((k, i) => {
    counts[k].actual += 1;
    counts[predicted[i]].predicted += 1;
    if (k === predicted[i]) counts[k].hits += 1;
  });
  return counts;
}

/** Return the table of classes; its buttons select a class. */
function classTable(labels, rows) {
  const values = rows.probabilities ?? rows.scores;
  const listeners = [];
  const lines = countClasses(labels, rows).map(({ actual, predicted, hits }, k) => {
    const isPositive = Uint8Array.from(rows.actual, (own) => (own === k ? 1 : 0));
    const area = rocArea(countByThreshold(rankScores(values[k], isPositive)));
    const button = html("button", { type: "button", class: "link", title: labels[k] },
      truncateMiddle(labels[k], 32));
    button.addEventListener("click", () => {
      listeners.forEach((listener) => listener(k));
      byId("quality-controls").scrollIntoView();
      byId("decision-class").focus({ preventScroll: true });
    });
    const rate = (n) => html("td", { class: "number" }, formatRate([hits, n]),
      n && rows.hasIntervals
        ? html("span", { class: "tile-more" }, formatInterval(wilson(hits, n))) : null);
    const swatch = hasClassColors(labels) ? html("span", { class: `swatch c${k}` }) : "";
    return { name: labels[k], element: html("tr", {}, html("th", { scope: "row" }, swatch, button),
      html("td", { class: "number" }, actual.toLocaleString("en")), rate(actual), rate(predicted),
      html("td", { class: "number" }, area === null ? "\u2013" : formatArea(area))) };
  });
  const finder = buildFinder("find-class", "class", MAX_CLASS_LINES);
  finder.set(lines);
  const title = (text) => html("th", { scope: "col", class: "number" }, text);
  return {
    element: html("div", { class: labels.length > MAX_NARROW ? "card wide" : "card", id: "by-class" },
      html("h3", {}, "By class"), finder.search,
      html("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "By class" },
        html("table", { class: "metrics by-class" }, html("thead", {}, html("tr", {}, html("td", {}),
          ...["rows", "recall", "precision", "AUC"].map(title))),
        html("tbody", {}, ...lines.map((line) => line.element)))), finder.more,
      html("p", { class: "hint" }, `${rows.hasIntervals ? "With 95% intervals. " : ""}AUC is that ` +
        "of the class against the rest. Click a class to see its curves.")),
    onSelect: (listener) => listeners.push(listener),
  };
}
