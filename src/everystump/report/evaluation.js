// The evaluation of a classifier: decisions by a threshold, for two classes or one of several.

/** Draw the evaluation; return what the section on groups needs, null without labeled rows. */
function drawEvaluation(summary) {
  if (!summary.quality) return null;
  showSection("quality", "Evaluation");
  byId("quality-lead").textContent = evaluationLead(summary);
  if (summary.document.link) return { rows: drawNumberEvaluation(summary), decisions: null };
  const rows = decodeHeldOut(summary);
  const several = summary.labels.length > 2 ? drawSeveralClasses(summary, rows) : null;
  const decisions = buildDecisions(summary, rows);
  several?.onSelect(decisions.select);
  return { rows, decisions };
}

/** Say which rows were used, and which of them are stored. */
function evaluationLead({ about, held_out: stored }) {
  const count = (n) => n.toLocaleString("en");
  const rows = `${count(stored.n)} ${about.rows ? `${about.rows} ` : ""}row${
    stored.n === 1 ? "" : "s"}`;
  const optimistic = about.rows === "training" ? " The model was trained on these rows, so the " +
    "results are optimistic." : about.leakage_warning ? " Some of these rows may be training " +
    "rows; then the results are optimistic." : "";
  return (stored.n_stored < stored.n
    ? `Computed on this page from a random sample of ${count(stored.n_stored)} of the ${rows}; ` +
      "the figures at the top of the page are those of all rows."
    : `Computed on this page from all ${rows}.`) + optimistic;
}

/** Return the name of what is compared with the threshold. */
function keyNameOf({ probabilities }, name) {
  return `${probabilities ? "probability" : "score"} of \u201c${name}\u201d`;
}

/** Build the controls and charts of the decisions; listeners are told about each change. */
function buildDecisions(summary, rows) {
  const { labels } = summary;
  const found = new Map();
  const decisionOf = (k) => {
    if (!found.has(k)) found.set(k, makeDecision(rows, k, summary));
    return found.get(k);
  };
  const bar = buildThresholdBar(labels);
  const listeners = [];
  const state = { k: null, decision: null, threshold: 0, costs: [1, 1], cheapest: null, parts: [] };
  byId("quality-controls").append(bar.element);

  function update() {
    const { decision, threshold, cheapest } = state;
    const matrices = [threshold, cheapest.threshold].map(decision.confusion);
    bar.show(state);
    state.parts.forEach((part) => part.show(...matrices, state));
    listeners.forEach((listener) => listener(state));
  }

  function setCosts(costs) {
    state.costs = costs;
    state.cheapest = state.decision.cheapest(costs);
    update();
  }

  function setThreshold(threshold) {
    state.threshold = threshold;
    update();
  }

  function select(k) {
    const decision = decisionOf(k);
    const names = decisionNames(labels, k);
    const colors = decisionColors(labels, k);
    const keyName = keyNameOf(decision, names[0]);
    state.parts = [drawMatrix(names, rows), drawScores(decision, names, colors, keyName),
      drawRoc(decision, names, colors), drawPrecisionRecall(decision, names, colors),
      decision.probabilities ? drawCalibration(decision, names, colors)
        : drawMarginCard(summary.quality, labels),
      buildCosts(decision, keyName, state.costs, { setCosts, setThreshold })];
    byId("decision-cards").replaceChildren(...state.parts.map((part) => part.element));
    Object.assign(state, { k, decision, threshold: decision.initial });
    bar.start(state);
    setCosts(state.costs);
  }

  bar.connect({ select, setThreshold });
  select(initialClass(summary));
  return { state, select, decisionOf, subscribe: (listener) => listeners.push(listener) };
}

/** Return the positive class of two, or the first class. */
function initialClass({ labels, document: model, quality: { metrics } }) {
  if (labels.length > 2) return 0;
  const k = model.classes.indexOf(metrics?.positive);
  return k < 0 ? 1 : k;
}

/** Return the controls of the class and the threshold, with a mark at the cheapest threshold. */
function buildThresholdBar(labels) {
  const select = html("select", { id: "decision-class", "aria-label": "Class" },
    ...labels.map((label, k) => html("option", { value: k }, label)));
  const slider = html("input", { type: "range", id: "threshold", "aria-label": "Threshold, slider" });
  const number = html("input", { type: "number", id: "threshold-number", step: "any",
    inputmode: "decimal", "aria-label": "Threshold" });
  const mark = html("span", { class: "tick-mark", "aria-hidden": "true" });
  const rule = html("span", {});
  const element = html("div", { class: "card decision" },
    html("span", { class: "rule-text" }, "Predict ", select, rule, number),
    html("span", { class: "slider" }, slider, mark));
  return {
    element,
    start({ k, decision: { range, isStrict, probabilities } }) {
      select.value = String(k);
      Object.assign(slider, { min: range[0], max: range[1], step: probabilities ? 0.001 : "any" });
      rule.textContent = ` if its ${probabilities ? "probability" : "score"} is ` +
        `${isStrict ? "above" : "at least"} `;
    },
    show({ decision: { range }, threshold, cheapest }) {
      const at = (cheapest.threshold - range[0]) / (range[1] - range[0]);
      mark.style.setProperty("--at", String(Math.min(Math.max(at, 0), 1)));
      slider.value = String(threshold);
      if (document.activeElement !== number) {
        number.value = String(Number(threshold.toPrecision(6)));
      }
    },
    connect({ select: choose, setThreshold }) {
      select.addEventListener("change", () => choose(Number(select.value)));
      slider.addEventListener("input", () => setThreshold(Number(slider.value)));
      number.addEventListener("input", () => {
        if (number.value !== "" && Number.isFinite(Number(number.value))) {
          setThreshold(Number(number.value));
        }
      });
    },
  };
}

/** Return the confusion matrix of a class and the rest, and its rates, which can be changed. */
function drawMatrix(names, { hasIntervals }) {
  const keys = ["tp", "fn", "fp", "tn"];
  const cells = Object.fromEntries(keys.map((key) => [key, html("td", { "data-key": key,
    class: key === "tp" || key === "tn" ? "right" : "wrong" }, html("strong", {}),
  html("span", { class: "share" }))]));
  const title = (name) => html("span", { title: name }, truncateMiddle(name, 40));
  const { tp, fn, fp, tn } = cells;
  const table = html("table", { class: "confusion", id: "threshold-matrix" },
    html("thead", {}, html("tr", {}, html("th", { scope: "col" }, "actual \\ predicted"),
      ...names.map((name) => html("th", { scope: "col" }, title(name))))),
    html("tbody", {}, html("tr", {}, html("th", { scope: "row" }, title(names[0])), tp, fn),
      html("tr", {}, html("th", { scope: "row" }, title(names[1])), fp, tn)));
  const rates = buildRates(hasIntervals);
  return {
    element: decisionCard({ id: "matrix", title: "Decisions at the threshold" },
      html("div", { class: "scroll", tabindex: "0", role: "region",
        "aria-label": "Confusion matrix at the threshold" }, table), rates.element,
      `Of the rows of \u201c${names[0]}\u201d, recall is the share that is found; the others are ` +
      `misses. Precision is the share of the rows predicted as \u201c${names[0]}\u201d that are; the ` +
      "others are false alarms. The false-positive rate is the share of false alarms among all " +
      "other rows."),
    show(confusion) {
      const totals = { tp: confusion.tp + confusion.fn, fp: confusion.fp + confusion.tn };
      [totals.fn, totals.tn] = [totals.tp, totals.fp];
      keys.forEach((key) => {
        const [count, share] = cells[key].children;
        const rate = totals[key] ? confusion[key] / totals[key] : 0;
        count.textContent = confusion[key].toLocaleString("en");
        share.textContent = totals[key] ? formatPercent(rate) : "";
        cells[key].style.setProperty("--rate", String(rate));
      });
      rates.show(confusion);
    },
  };
}

/** Return the rates of a confusion matrix with their intervals, which can be changed. */
function buildRates(hasIntervals) {
  const names = [["accuracy", "accuracy"], ["recall", "recall"], ["precision", "precision"],
    ["alarms", "false-positive rate"]];
  const tiles = names.map(([key, name]) => {
    const value = html("data", { id: `rate-${key}` });
    const interval = html("span", { class: "tile-more" });
    return { key, value, interval, element: html("div", { class: "tile" },
      html("span", { class: "tile-name" }, name), html("strong", {}, value), interval) };
  });
  return {
    element: html("div", { class: "tiles rates", id: "rates" },
      ...tiles.map((tile) => tile.element)),
    show(confusion) {
      const rates = ratesOf(confusion);
      tiles.forEach(({ key, value, interval }) => {
        const [hits, n] = rates[key];
        value.value = n ? String(hits / n) : "";
        value.textContent = formatRate(rates[key]);
        interval.textContent = !n ? "undefined" : hasIntervals
          ? `95%: ${formatInterval(wilson(hits, n))}` : `${hits} of ${n} rows`;
      });
    },
  };
}
