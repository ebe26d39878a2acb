// The what-if panel: an input for each feature, and the prediction for their values.

const MAX_FIELDS = 12;
const MAX_INTERACTIONS = 8;
const ANNOUNCE_DELAY = 600; // milliseconds without a change before the outcome is announced

/** Build the panel into an element; `onChange` is called with the cells after each change. */
function buildWhatIf(panel, summary, scorer, onChange) {
  const labels = summary.labels;
  const state = { cells: [], row: null, score: labels.length > 2 ? 0 : null, pinned: false };
  const limits = contributionLimits(summary.document);
  const outcome = buildOutcome(summary, (k) => {
    state.score = k;
    state.pinned = true;
    schedule();
  });
  const nFeatures = summary.features.length;
  const fields = summary.order.filter((t) => t < nFeatures).map((d) =>
    buildField(summary, d, limits, (cell) => {
      state.cells[d] = cell;
      schedule();
    }));
  const lines = summary.order.filter((t) => t >= nFeatures).map((t) =>
    buildInteraction(summary, t, limits));
  const rowSelect = buildRowSelect(summary, (row) => startFrom(row));
  const list = buildFieldList(fields, lines, baselineHint(summary));
  rowSelect.element.append(saveButton(panel, "What-if analysis", { hasChart: false,
    rows: () => whatIfRows(summary, state.cells, scorer.explainCells(state.cells)) }));
  panel.append(rowSelect.element, outcome.element, list.element);
  let isScheduled = false;

  function schedule() {
    if (isScheduled) return;
    isScheduled = true;
    requestAnimationFrame(() => {
      isScheduled = false;
      update();
    });
  }

  function update() {
    const result = scorer.explainCells(state.cells);
    if (state.score !== null && !state.pinned) state.score = result.predicted ?? 0;
    const contributions = result.contributions[state.score ?? 0];
    const halves = result.halfWidths[state.score ?? 0];
    const signs = signClasses(labels, state.score ?? 0);
    const isChanged = (d) => state.cells[d] !== state.row.values[d];
    fields.forEach((field) => {
      field.update(contributions[field.index], halves[field.index], isChanged(field.index), signs);
    });
    lines.forEach((line) => line.update(contributions[line.index], halves[line.index], state.cells,
      isChanged, signs));
    list.update(summary.document.scores[state.score ?? 0].intercept);
    outcome.update(result, state.before, state.score);
    onChange(state.cells);
  }

  function startFrom(row) {
    state.row = row;
    state.cells = [...row.values];
    state.before = scorer.explainCells(state.cells);
    state.pinned = false;
    fields.forEach((field) => field.show(state.cells[field.index]));
    rowSelect.show(row);
    update();
    list.sort();
  }

  startFrom(summary.what_if[0]);
  return {
    refresh: () => onChange(state.cells),
    startFromRow(number) {
      const row = summary.what_if.find((candidate) => candidate.row === number);
      if (row) startFrom(row);
    },
  };
}

/** Return an interval that contains zero, all curves and surfaces, and much of their bands. */
function contributionLimits(model) {
  const shapes = model.scores.flatMap(({ curves, surfaces = [] }) => [...curves, ...surfaces]);
  const [low, high] = widenForBands(rangeOf(shapes), shapes.flatMap(shapeBandEnds));
  return low === high ? [-1, 1] : [low, high];
}

/** Return the title of a row in the list of rows. */
function rowTitle(row, { labels, formats }) {
  if (row.title) return row.title;
  if (!labels.length) {
    const known = row.actual === null ? "" : `, actual ${formats.actual(row.actual)}`;
    return `row ${row.name}${known}, predicted ${formats.value(row.predicted)}`;
  }
  const actual = row.actual === null ? "" : `, actual ${labels[row.actual]}`;
  const mark = row.actual !== null && row.actual !== row.predicted ? " (wrong)" : "";
  return `row ${row.name}${actual}, predicted ${labels[row.predicted]}${mark}`;
}

function buildRowSelect(summary, onSelect) {
  const select = html("select", { id: "start-row" }, ...summary.what_if.map((row, k) =>
    html("option", { value: k }, rowTitle(row, summary))));
  const reset = html("button", { type: "button" }, "Undo all changes");
  const selected = () => summary.what_if[Number(select.value)];
  select.addEventListener("change", () => onSelect(selected()));
  reset.addEventListener("click", () => onSelect(selected()));
  return {
    element: html("div", { class: "controls" }, html("label", { for: "start-row" }, "Start from"),
      select, reset),
    show(row) {
      select.value = String(summary.what_if.indexOf(row));
    },
  };
}

/** Return what the intercept is; with two classes also as a probability. */
function baselineHint({ labels, document: model }) {
  const sum = `the ${sumName(model)} without any feature`;
  if (labels.length !== 2 || model.log_odds === null) return sum;
  const [{ intercept }] = model.scores;
  return `${sum}: ${formatPercent(sigmoid(model.log_odds * intercept))} \u201c${labels[1]}\u201d`;
}

/** Return the list of fields, which can be sorted and searched, and that of interactions. */
function buildFieldList(fields, lines, baseline) {
  const finder = buildFinder("find-field", "feature", MAX_FIELDS);
  const orders = {
    "most important first": () => 0,
    "largest contribution first": (a, b) =>
      Math.abs(b.contribution()) - Math.abs(a.contribution()),
    "by name": (a, b) => a.name.localeCompare(b.name),
  };
  const select = html("select", { id: "field-order" }, ...Object.keys(orders).map((name) =>
    html("option", { value: name }, name)));
  const list = html("div", { class: "fields" });
  const intercept = html("span", { class: "number" });
  const interceptLine = html("div", { class: "field intercept" },
    html("span", { class: "name" }, "intercept (baseline)"),
    html("span", { class: "hint" }, baseline), intercept);
  function sort() {
    const sorted = [...fields].sort(orders[select.value]);
    list.append(...sorted.map((field) => field.element));
    finder.set(sorted);
    interactions.sort(orders[select.value]);
  }
  const interactions = buildInteractionList(lines);
  select.addEventListener("change", sort);
  const order = html("label", { hidden: fields.length < 3 }, "Features ", select);
  return {
    element: html("div", {}, html("div", { class: "controls" }, order, finder.search), list,
      ...(lines.length ? [finder.more, ...interactions.elements, interceptLine]
        : [interceptLine, finder.more])),
    sort,
    /** Show the intercept, and the sum of the interactions after they are updated. */
    update(value) {
      intercept.textContent = formatSigned(value);
      interactions.update();
    },
  };
}

/** Return the list of interactions, with a button that shows all of them. */
function buildInteractionList(lines) {
  const finder = buildFinder(null, "interaction", MAX_INTERACTIONS);
  const list = html("div", { class: "fields" });
  const total = html("span", { class: "number" });
  const title = html("h3", { class: "interactions-title" },
    html("span", {}, `Interactions (${lines.length})`), total);
  return {
    elements: [title, list, finder.more],
    update() {
      const sum = lines.reduce((part, line) => part + line.contribution(), 0);
      total.textContent = `total ${formatSigned(sum)}`;
    },
    sort(compare) {
      const sorted = [...lines].sort(compare);
      list.append(...sorted.map((line) => line.element));
      finder.set(sorted);
    },
  };
}

/** Return the line of an interaction: the values of its features, and its contribution. */
function buildInteraction({ terms }, t, limits) {
  const term = terms[t];
  const values = html("span", { class: "hint" });
  const track = signedBar(0, limits, ["neutral", "neutral"]);
  const number = html("span", { class: "number" });
  const element = html("div", { class: "field interaction" },
    html("a", { class: "name", href: `#curve-${t}`, title: term.name }, term.name),
    values, track, number);
  let last = 0;
  return {
    element,
    index: t,
    name: term.name,
    contribution: () => last,
    update(contribution, half, cells, isChanged, signs) {
      last = contribution;
      values.textContent = term.features.map((d) => formatValue(cells[d])).join(", ");
      setSignedBar(track, contribution, limits, signs, bandEnds(contribution, half));
      setContribution(number, contribution, half);
      element.classList.toggle("changed", term.features.some(isChanged));
    },
  };
}

/** Return the part with predicted class, probabilities and scores, or with a predicted number. */
function buildOutcome(summary, onChoose) {
  const { labels, document: model } = summary;
  const announcer = html("p", { class: "announcer", role: "status" });
  const binary = () => binaryOutcome(labels, model.log_odds !== null);
  const view = model.link ? numberOutcome(summary)
    : labels.length === 2 ? binary() : multiclassOutcome(labels, onChoose);
  const element = html("div", { class: "outcome" }, ...view.elements, announcer);
  let timer = null;

  function update(result, before, explainedScore) {
    const text = view.update(result, before, explainedScore);
    clearTimeout(timer);
    timer = setTimeout(() => {
      announcer.textContent = text;
    }, ANNOUNCE_DELAY);
  }
  return { element, update };
}

const predictedLabel = (result, labels) => (result.predicted === null
  ? "none, because a value is missing" : labels[result.predicted]);

function scoreElement() {
  return html("data", { class: "score" });
}

function setScore(element, score) {
  element.value = String(score);
  element.textContent = formatSigned(score);
}

/** Return the outcome of two classes: the predicted one, both probabilities, and the score. */
function binaryOutcome(labels, hasProbabilities) {
  const [predicted, probability, change] = ["strong", "span", "span"].map((tag) => html(tag, {}));
  predicted.className = "predicted";
  const score = scoreElement();
  const ends = labels.map(() => html("span", {}));
  const gauge = html("div", { class: "gauge" }, html("span", { class: "level" }));
  const elements = [html("p", {}, "Predicted: ", predicted, probability)];
  if (hasProbabilities) elements.push(gauge, html("div", { class: "ends" }, ...ends));
  elements.push(html("p", { class: "hint" }, "Score ", score, change,
    html("span", { class: "key" }, html("span", { class: "swatch positive" }),
      `above zero favors “${labels[1]}”`),
    html("span", { class: "key" }, html("span", { class: "swatch negative" }),
      `below zero favors “${labels[0]}”`)));

  function update(result, before) {
    const probabilities = result.probability;
    const difference = result.scores[0] - before.scores[0];
    predicted.textContent = predictedLabel(result, labels);
    setScore(score, result.scores[0]);
    change.textContent = Math.abs(difference) >= 1e-12
      ? ` (${formatSigned(difference)} from your changes)` : "";
    if (probabilities && result.predicted !== null) {
      probability.textContent = `, probability ${formatPercent(probabilities[result.predicted])}`;
      gauge.firstChild.style.width = `${100 * probabilities[1]}%`;
      ends.forEach((end, k) => {
        end.textContent = `${labels[k]} ${formatPercent(probabilities[k])}`;
      });
    } else probability.textContent = "";
    return `${predicted.textContent}${probability.textContent}, score ${score.textContent}`;
  }
  return { elements, update };
}

const MAX_CLASSES = 3; // most probable ones; the others are shown by a button

/** Return the outcome of several classes: the predicted one, probability and score of each. */
function multiclassOutcome(labels, onChoose) {
  const predicted = html("strong", { class: "predicted" });
  const probability = html("span", {});
  const hint = html("p", { class: "hint" });
  const lines = labels.map((label, k) => {
    const radio = html("input", { type: "radio", name: "shown-class", id: `shown-class-${k}` });
    radio.addEventListener("change", () => onChoose(k));
    const share = html("strong", {});
    const score = scoreElement();
    const swatch = hasClassColors(labels) ? html("span", { class: `swatch c${k}` }) : null;
    const element = html("li", {}, radio, html("label", { for: radio.id, title: label },
      swatch ?? "", truncateMiddle(label, 48)), share,
    html("span", { class: "number" }, "score ", score));
    return { radio, share, score, element };
  });
  const list = html("ul", { class: "classes", role: "radiogroup",
    "aria-label": "Class whose score is explained" }, ...lines.map((line) => line.element));
  const more = moreClasses(list, lines);

  function update(result, before, explainedScore) {
    predicted.textContent = predictedLabel(result, labels);
    probability.textContent = result.probability && result.predicted !== null
      ? `, probability ${formatPercent(result.probability[result.predicted])}` : "";
    const ranked = topClasses(result.probability ?? result.scores, labels.length);
    lines.forEach(({ radio, share, score, element }, k) => {
      radio.checked = k === explainedScore;
      share.textContent = result.probability ? formatPercent(result.probability[k]) : "";
      setScore(score, result.scores[k]);
      const rank = ranked.indexOf(k);
      element.style.order = String(rank);
      element.classList.toggle("collapsed", rank >= MAX_CLASSES && k !== explainedScore);
    });
    const [positive, negative] = signClasses(labels, explainedScore);
    hint.replaceChildren("Contributions to the score of the selected class: ",
      html("span", { class: "key" }, html("span", { class: `swatch ${positive}` }),
        `evidence for “${labels[explainedScore]}”`),
      html("span", { class: "key" }, html("span", { class: `swatch ${negative}` }),
        "evidence against"));
    return predicted.textContent + probability.textContent;
  }
  return { elements: [html("p", {}, "Predicted: ", predicted, probability), list,
    ...(labels.length > MAX_CLASSES ? [more] : []), hint], update };
}

/** Return a button that shows all classes of a list, or only the most probable ones. */
function moreClasses(list, lines) {
  const button = html("button", { type: "button", class: "link", "aria-expanded": "false" });
  const show = (isOpen) => {
    list.classList.toggle("all", isOpen);
    button.setAttribute("aria-expanded", String(isOpen));
    button.textContent = isOpen ? `Show the ${MAX_CLASSES} most probable classes`
      : `Show all ${lines.length} classes`;
  };
  button.addEventListener("click", () => show(!list.classList.contains("all")));
  show(false);
  return button;
}

/** Show a contribution; the tooltip has half the width of its band. */
function setContribution(element, contribution, half) {
  element.textContent = formatSigned(contribution);
  if (half !== null) element.title = formatSigned(contribution) + formatHalf(half);
}

/** Return the line of a feature: its input, whether it is missing, and its contribution. */
function buildField(summary, d, limits, onChange) {
  const feature = summary.features[d];
  const levels = summary.document.features[d].levels;
  const id = `feature-${d}`;
  const missing = html("input", { type: "checkbox", id: `${id}-missing`,
    "aria-label": `${feature.name} is missing` });
  const markMissing = (cell) => {
    missing.checked = cell === null;
    element.classList.toggle("is-missing", cell === null);
  };
  const change = (cell) => {
    markMissing(cell);
    onChange(cell);
  };
  const input = chooseInput(id, feature, levels, change);
  const track = signedBar(0, limits, ["neutral", "neutral"]);
  const number = html("span", { class: "number" });
  const element = html("div", { class: "field" },
    html(input.isGroup ? "span" : "label", { class: "name", for: input.isGroup ? null : id,
      title: feature.name }, feature.name),
    html("div", { class: "input" }, ...input.elements,
      summary.document.takes_missing
        ? html("label", { class: "missing-box" }, missing, "missing") : null),
    track, number);
  missing.addEventListener("change", () => {
    const cell = missing.checked ? null : input.read();
    if (!missing.checked) input.show(cell);
    else input.clear?.();
    change(cell);
  });
  let last = 0;
  return {
    element,
    index: d,
    name: feature.name,
    contribution: () => last,
    isPinned: () => element.classList.contains("changed"),
    show(cell) {
      markMissing(cell);
      input.show(cell);
    },
    update(contribution, half, isChanged, signs) {
      last = contribution;
      setSignedBar(track, contribution, limits, signs, bandEnds(contribution, half));
      setContribution(number, contribution, half);
      element.classList.toggle("changed", isChanged);
    },
  };
}

/** Return the input of a feature: a switch, a list of levels or a search among them, or a slider. */
function chooseInput(id, feature, levels, onChange) {
  const two = levels && levels.length === 2 ? levels : feature.two_values;
  if (two) return twoValueInput(id, feature, two, onChange);
  if (!levels) return numberInput(id, feature, onChange);
  return levels.length > MAX_LISTED ? levelSearchInput(id, feature, levels, onChange)
    : levelInput(id, levels, onChange);
}
