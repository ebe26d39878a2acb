// Errors by group: levels of a category, quantiles of a number, and missing values.

const UPDATE_DELAY = 120; // milliseconds without a change of the threshold before groups follow it
const MAX_OUTLIERS = 5;
const MIN_OUTLIER_ROWS = 10;

/** Return the groups of a column: its name, their names, and the group of each row. */
function decodeGroups(summary, group, n) {
  const { levels } = summary.document.features[group.feature];
  const names = group.ranges
    ? group.ranges.map(([low, high]) => (low === high ? formatValue(low)
      : `${formatValue(low)} to ${formatValue(high)}`))
    : group.levels.map((k) => formatValue(levels[k]));
  if (group.n_others) names.push("other levels");
  if (group.has_missing) names.push("missing");
  const bytes = decodeBytes(group.codes);
  const codes = Uint8Array.from({ length: n }, (_, i) =>
    (i % 2 ? bytes[i >> 1] & 15 : bytes[i >> 1] >> 4));
  return { name: summary.features[group.feature].name, names, codes };
}

/** Draw the section; groups follow the class and the threshold of the evaluation. */
function drawGroups(summary, evaluation) {
  const stored = summary.held_out;
  if (!evaluation || !stored.groups.length) return;
  showSection("groups", "Groups");
  const columns = stored.groups.map((group) => decodeGroups(summary, group, stored.n_grouped));
  const measures = summary.document.link ? numberMeasures(summary, evaluation.rows)
    : classMeasures(summary, evaluation);
  const view = buildGroups(summary, columns, measures);
  let timer = null;
  evaluation.decisions?.subscribe(() => {
    clearTimeout(timer);
    timer = setTimeout(view.update, UPDATE_DELAY);
  });
  view.update();
}

/** Return sums of the rows of each group, and of all rows: of counts, or of other numbers. */
function sumByGroup(codes, nGroups, { names, add }) {
  const sums = Array.from({ length: nGroups }, () =>
    ({ n: 0, ...Object.fromEntries(names.map((name) => [name, 0])) }));
  for (let i = 0; i < codes.length; i += 1) {
    const sum = sums[codes[i]];
    sum.n += 1;
    add(sum, i);
  }
  return sums;
}

/** Return the sum of all groups. */
function sumOfSums(sums) {
  const total = { ...sums[0] };
  sums.slice(1).forEach((sum) => Object.keys(total).forEach((name) => {
    total[name] += sum[name];
  }));
  return total;
}

/** Return a proportion as a measure: its value, interval and number of rows. */
const proportion = (hits, n) => ({ value: n ? hits / n : null, interval: wilson(hits, n), n });

/** Return the measures of a classifier: error, recall, false-positive rate and calibration. */
function classMeasures({ labels, document: model }, { rows, decisions: { state, decisionOf } }) {
  const isBinary = labels.length === 2;
  const chosen = { k: isBinary ? null : 0 };
  const find = () => decisionOf(isBinary ? state.k : chosen.k);

  /** Return how the sums of groups are made, for the current class and threshold. */
  function prepare() {
    const { k, keys, isPositive, isStrict, probabilities, toCut } = find();
    const cut = isBinary ? toCut(state.threshold) : 0;
    const isAbove = (key) => (isStrict ? key > cut : key >= cut);
    const isPredicted = isBinary ? (i) => isAbove(keys[i]) : (i) => rows.predicted[i] === k;
    const isWrong = isBinary ? (i) => isPredicted(i) !== Boolean(isPositive[i])
      : (i) => rows.predicted[i] !== rows.actual[i];
    return {
      names: ["wrong", "positive", "found", "alarms", "expected"],
      add(sum, i) {
        if (isWrong(i)) sum.wrong += 1;
        if (isPositive[i]) {
          sum.positive += 1;
          if (isPredicted(i)) sum.found += 1;
        } else if (isPredicted(i)) sum.alarms += 1;
        if (probabilities) sum.expected += probabilities[i];
      },
    };
  }
  const measures = [
    { title: "error", of: ({ wrong, n }) => proportion(wrong, n), worst: 1 },
    { title: "recall", of: ({ found, positive }) => proportion(found, positive), worst: -1 },
    { title: "false-positive rate", of: ({ alarms, n, positive }) =>
      proportion(alarms, n - positive), worst: 1 },
    { title: "observed frequency", of: ({ positive, n, expected }) => ({ ...proportion(positive, n),
      expected: n && (rows.probabilities || model.log_odds !== null) ? expected / n : null }) }];
  return { measures, prepare, chosen,
    lead: () => classLead(labels, isBinary ? state : chosen, isBinary),
    outlier: ({ wrong, n }, total, probability) => {
      const [low] = wilson(wrong, n, normalQuantile(probability));
      return low > total.wrong / total.n ? wrong / n : null;
    } };
}

function classLead(labels, { k, threshold }, isBinary) {
  const name = `\u201c${truncateMiddle(labels[k], MAX_CLASS_LETTERS)}\u201d`;
  const decision = isBinary ? ` with the threshold ${formatNumber(threshold)} that is set in the ` +
    "evaluation" : "";
  return `Errors by group${decision}. Recall, false-positive rate and observed frequency are those ` +
    `of ${name}; a ring marks the mean predicted probability of ${name}, which should be near the ` +
    "observed frequency.";
}

/** Return the measures of a regressor: mean residual, mean absolute error, coverage. */
function numberMeasures({ about: { interval }, formats }, { residuals }) {
  const width = typeof interval?.half_width === "number" ? interval.half_width : null;
  const mean = (sum, squares, n) => {
    const { mean: value, interval: limits } = meanInterval(sum, squares, n);
    return { value, interval: limits, n };
  };
  const inUnit = formats.unit ? ` (${formats.unit})` : "";
  const measures = [
    { title: "mean absolute error", unit: inUnit, format: formats.value, worst: 1,
      of: ({ size, squares, n }) => mean(size, squares, n) },
    { title: "mean residual", unit: inUnit, format: formats.difference,
      of: ({ sum, squares, n }) => mean(sum, squares, n) },
    ...(width === null ? [] : [{ title: `share inside \u00b1${formats.value(width)}`, worst: -1,
      of: ({ inside, n }) => proportion(inside, n) }])];
  const prepare = () => ({
    names: ["sum", "size", "squares", "inside"],
    add(sum, i) {
      const residual = residuals[i];
      sum.sum += residual;
      sum.size += Math.abs(residual);
      sum.squares += residual ** 2;
      if (Math.abs(residual) <= width) sum.inside += 1;
    },
  });
  return { measures, prepare, chosen: null,
    lead: () => "Errors by group. A residual is the actual value minus the predicted one: groups " +
      "with a mean residual above zero are predicted too low, those below zero too high.",
    outlier({ size, squares, n }, total, probability) {
      const { mean: value, interval: [low] } = meanInterval(size, squares, n, probability);
      return low > total.size / total.n ? value : null;
    } };
}

/** Build the controls, the table, and the list of groups that stand out. */
function buildGroups(summary, columns, kind) {
  const { labels, held_out: stored } = summary;
  const select = html("select", { id: "group-column" }, ...columns.map(({ name }, k) =>
    html("option", { value: k }, name)));
  const sorted = kind.measures.filter(({ worst }) => worst);
  const order = html("select", { id: "group-order" }, html("option", { value: "" }, "natural order"),
    ...sorted.map(({ title, worst }, k) => html("option", { value: k },
      `${worst > 0 ? "largest" : "lowest"} ${title} first`)),
    html("option", { value: "rows" }, "most rows first"));
  const classSelect = html("select", { id: "group-class" }, ...labels.map((label, k) =>
    html("option", { value: k }, label)));
  const holder = html("div", { class: "scroll", tabindex: "0", role: "region",
    "aria-label": "Groups" });
  const controls = html("div", { class: "controls" }, html("label", {}, "Groups by ", select),
    html("label", {}, "in ", order),
    labels.length > 2 ? html("label", {}, "Class ", classSelect) : null);
  let shown = null;
  const outliers = html("div", { id: "group-outliers" });
  const hasIntervals = areNew(summary.about);

  function draw() {
    byId("groups-lead").textContent = kind.lead() + groupNote(stored, summary.about);
    const { names, codes, name } = columns[Number(select.value)];
    const sums = sumByGroup(codes, names.length, kind.prepare());
    const total = sumOfSums(sums);
    const lines = names.map((own, k) => ({ name: own, sum: sums[k] })).filter(({ sum }) => sum.n);
    lines.sort(compareGroups(order.value, sorted));
    shown = { name, lines: [{ name: "all rows", sum: total }, ...lines] };
    holder.replaceChildren(groupTable(kind, lines, total, name, hasIntervals));
  }
  function search() {
    const found = hasIntervals ? findOutliers(columns, kind) : null;
    outliers.replaceChildren(...(found ? listOutliers(found, kind, (k) => {
      select.value = String(k);
      draw();
      select.focus();
    }) : []));
  }
  [select, order].forEach((control) => control.addEventListener("change", draw));
  classSelect.addEventListener("change", () => {
    kind.chosen.k = Number(classSelect.value);
    draw();
  });
  controls.append(saveButton(holder, "Groups", {
    rows: () => groupRows(kind, shown, hasIntervals) }));
  byId("groups-panel").append(html("div", { class: "card" }, outliers, controls, holder));
  return {
    update() {
      draw();
      search();
    },
  };
}

/** Say how many rows and columns are stored, and what the intervals are. */
function groupNote({ n, n_grouped: nGrouped, n_columns: nColumns, groups }, about) {
  const count = (number) => number.toLocaleString("en");
  const rows = nGrouped < n ? ` They are computed from a random sample of ${count(nGrouped)} of ` +
    `the ${count(n)} rows.` : "";
  const columns = groups.length < nColumns ? ` The ${groups.length} most important of ` +
    `${count(nColumns)} features can be chosen.` : "";
  const intervals = areNew(about) ? " Lines are 95% intervals; the vertical line is the value of all " +
    "rows." : " The vertical line is the value of all rows.";
  return intervals + rows + columns;
}

/** Return the order of groups: by a measure, by the number of rows, or unchanged. */
function compareGroups(value, sorted) {
  if (value === "") return () => 0;
  if (value === "rows") return (a, b) => b.sum.n - a.sum.n;
  const { of, worst } = sorted[Number(value)];
  const key = ({ sum }) => (of(sum).value === null ? -Infinity : worst * of(sum).value);
  return (a, b) => (key(b) > key(a) ? 1 : key(b) < key(a) ? -1 : 0);
}

/** Return the table of groups, with a strip for each measure. */
function groupTable({ measures }, lines, total, name, hasIntervals) {
  const all = measures.map(({ of }) => of(total));
  const formats = measures.map(({ format }) => format ?? formatPercent);
  const scales = measures.map(({ of, format }, j) => stripScale(
    [...lines.map(({ sum }) => of(sum)), all[j]], !format, hasIntervals));
  const head = html("tr", {}, html("th", { scope: "col" }, name),
    html("th", { scope: "col", class: "number" }, "rows"),
    ...measures.map(({ title, unit }) => html("th", { scope: "col" }, title + (unit ?? ""))));
  const cell = (found, j, isTotal) => html("td", { "data-title": measures[j].title },
    html("span", { class: "measure" }, html("span", { class: "measure-value" },
      found.value === null ? "\u2013" : formats[j](found.value)),
    found.value === null ? null : drawStrip(found, scales[j], all[j].value, formats[j],
      hasIntervals && !isTotal)));
  const line = (title, sum, isTotal) => html("tr", { class: isTotal ? "total" : null },
    html("th", { scope: "row" }, title),
    html("td", { "data-title": "rows", class: "number" }, sum.n.toLocaleString("en")),
    ...measures.map(({ of }, j) => cell(of(sum), j, isTotal)));
  const table = html("table", { class: "groups" }, html("thead", {}, head), html("tbody", {},
    line("all rows", total, true), ...lines.map((own) => line(own.name, own.sum, false))));
  const texts = [...table.querySelectorAll(".measure-value")].map((own) => own.textContent.length);
  table.style.setProperty("--measure", `${(LETTER_WIDTH * Math.max(4, ...texts)).toFixed(2)}rem`);
  return table;
}

/** Return the ends of the strips of a measure, which is a share or another number. */
function stripScale(found, isShare, hasIntervals) {
  const ends = found.flatMap(({ value, interval, expected }) => [value, expected ?? null,
    ...(hasIntervals && interval ? interval : [])]).filter((x) => x !== null && Number.isFinite(x));
  const [low, high] = [Math.min(0, ...ends), Math.max(0, ...ends)];
  const padding = 0.04 * (high - low) || 1;
  if (isShare) return [0, Math.min(1, high + padding)];
  return [low - (low < 0 ? padding : 0), high + padding];
}

/** Return a dot with its interval, next to a line at the value of all rows. */
function drawStrip({ value, interval, expected }, [low, high], reference, format, hasInterval) {
  const at = (x) => `${(100 * (Math.min(Math.max(x, low), high) - low)) / (high - low)}%`;
  const place = (element, x) => {
    element.style.left = at(x);
    return element;
  };
  const parts = [place(html("span", { class: "reference" }), reference)];
  if (hasInterval && interval) {
    const line = place(html("span", { class: "interval-line" }), interval[0]);
    line.style.right = `calc(100% - ${at(interval[1])})`;
    parts.push(line);
  }
  parts.push(place(html("span", { class: "dot" }), value));
  if (typeof expected === "number") parts.push(place(html("span", { class: "ring" }), expected));
  const title = [hasInterval && interval ? `95% interval ${interval.map(format).join(" to ")}` : null,
    typeof expected === "number" ? `mean predicted probability ${format(expected)}` : null]
    .filter(Boolean).join("; ");
  return html("span", { class: "strip", title: title || null, role: title ? "img" : null,
    "aria-label": title || null }, ...parts);
}

/**
 * Return the groups of all columns whose error is above that of all rows, even if the confidence
 * of 95% is that of all comparisons together (Bonferroni).
 */
function findOutliers(columns, kind) {
  const sums = columns.map(({ codes, names }) => sumByGroup(codes, names.length, kind.prepare()));
  const nGroups = sums.reduce((count, own) =>
    count + own.filter(({ n }) => n >= MIN_OUTLIER_ROWS).length, 0);
  const probability = 1 - 0.05 / Math.max(1, nGroups);
  const found = columns.flatMap(({ names, name }, c) => {
    const total = sumOfSums(sums[c]);
    return sums[c].flatMap((sum, k) => {
      const value = sum.n >= MIN_OUTLIER_ROWS && sum.n < total.n
        ? kind.outlier(sum, total, probability) : null;
      return value === null ? [] : [{ column: c, name, group: names[k], n: sum.n, value }];
    });
  });
  return { found: found.sort((a, b) => b.value - a.value), nGroups };
}

function listOutliers({ found, nGroups }, { measures: [{ title: what, format }] }, onSelect) {
  if (!found.length) {
    return [html("p", {}, `In none of ${nGroups} groups is the ${what} significantly above that of ` +
      "all rows.")];
  }
  const items = found.slice(0, MAX_OUTLIERS).map(({ column, name, group, n, value }) => {
    const button = html("button", { type: "button", class: "link" },
      `${truncateMiddle(name)}: ${truncateMiddle(group)}`);
    button.addEventListener("click", () => onSelect(column));
    return html("li", {}, button, ` \u2013 ${what} ${(format ?? formatPercent)(value)} in ` +
      `${n.toLocaleString("en")} rows`);
  });
  return [html("p", {}, `Groups whose ${what} is significantly above that of all rows ` +
    `(${found.length} of ${nGroups}, corrected for their number):`),
  html("ul", { class: "outliers" }, ...items)];
}
