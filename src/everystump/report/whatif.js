// The what-if panel: inputs for each feature, and what the model says of them.

const FIRST_FIELDS = 12;
const QUIET = 600; // milliseconds without a change before the outcome is read aloud

/** Build the panel into an element; `onChange` hears the cells after each change. */
function buildWhatIf(panel, summary, scorer, onChange) {
  const labels = summary.labels;
  const state = { cells: [], start: null, score: labels.length > 2 ? 0 : null, pinned: false };
  const limits = contributionLimits(summary.document);
  const outcome = buildOutcome(labels, summary.document, (k) => {
    state.score = k;
    state.pinned = true;
    schedule();
  });
  const fields = summary.order.map((d) => buildField(summary, d, limits, (cell) => {
    state.cells[d] = cell;
    schedule();
  }));
  const starts = buildStarts(summary, (start) => begin(start));
  const list = buildFieldList(fields);
  panel.append(starts.element, outcome.element, list.element);
  let waiting = false;

  function schedule() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      update();
    });
  }

  function update() {
    const found = scorer.explainCells(state.cells);
    if (state.score !== null && !state.pinned) state.score = found.predicted ?? 0;
    const adds = found.contributions[state.score ?? 0];
    const sides = sidesOf(labels, state.score ?? 0);
    fields.forEach((field) => {
      const d = field.number;
      field.tell(adds[d], state.cells[d] !== state.start.values[d], sides);
    });
    list.tellBase(summary.document.scores[state.score ?? 0].intercept);
    outcome.tell(found, state.before, state.score);
    onChange(state.cells);
  }

  function begin(start) {
    state.start = start;
    state.cells = [...start.values];
    state.before = scorer.explainCells(state.cells);
    state.pinned = false;
    fields.forEach((field) => field.show(state.cells[field.number]));
    starts.show(start);
    update();
    list.sort();
  }

  begin(summary.starts[0]);
  return {
    tellAgain: () => onChange(state.cells),
    beginAtRow(row) {
      const start = summary.starts.find((one) => one.row === row);
      if (start) begin(start);
    },
  };
}

/** Return an interval around zero that holds what any curve adds. */
function contributionLimits(model) {
  const [low, high] = rangeOf(model.scores.flatMap((score) => score.curves));
  return low === high ? [-1, 1] : [low, high];
}

/** Return what names a row to start from. */
function startName(start, labels) {
  if (start.name) return start.name;
  const truth = start.truth === null ? "" : `, actual ${labels[start.truth]}`;
  const mark = start.truth !== null && start.truth !== start.predicted ? " (wrong)" : "";
  return `row ${start.label}${truth}, predicted ${labels[start.predicted]}${mark}`;
}

function buildStarts(summary, begin) {
  const select = html("select", { id: "start-row" }, ...summary.starts.map((start, k) =>
    html("option", { value: k }, startName(start, summary.labels))));
  const again = html("button", { type: "button" }, "Undo all changes");
  const chosen = () => summary.starts[Number(select.value)];
  select.addEventListener("change", () => begin(chosen()));
  again.addEventListener("click", () => begin(chosen()));
  return {
    element: html("div", { class: "controls" }, html("label", { for: "start-row" }, "Start from"),
      select, again),
    show(start) {
      select.value = String(summary.starts.indexOf(start));
    },
  };
}

/** Return the list of fields, in an order that one can choose, with a box to find some. */
function buildFieldList(fields) {
  const finder = buildFinder("find-field", "feature", FIRST_FIELDS);
  const orders = {
    "most important first": () => 0,
    "largest contribution first": (a, b) => Math.abs(b.added()) - Math.abs(a.added()),
    "by name": (a, b) => a.name.localeCompare(b.name),
  };
  const select = html("select", { id: "field-order" }, ...Object.keys(orders).map((name) =>
    html("option", { value: name }, name)));
  const list = html("div", { class: "fields" });
  const base = html("span", { class: "number" });
  const baseLine = html("div", { class: "field base" },
    html("span", { class: "name" }, "intercept (baseline)"),
    html("span", { class: "hint" }, "the score before any feature adds to it"), base);
  function sort() {
    const sorted = [...fields].sort(orders[select.value]);
    list.append(...sorted.map((field) => field.element));
    finder.set(sorted);
  }
  select.addEventListener("change", sort);
  const order = html("label", { hidden: fields.length < 3 }, "Features ", select);
  return {
    element: html("div", {}, html("div", { class: "controls" }, order, finder.search), list,
      baseLine, finder.more),
    sort,
    tellBase(value) {
      base.textContent = signed(value);
    },
  };
}

/** Return the part that tells class, probabilities and scores. */
function buildOutcome(labels, model, choose) {
  const aloud = html("p", { class: "aloud", role: "status" });
  const teller = labels.length === 2 ? outcomeOfTwo(labels, model.log_odds !== null)
    : outcomeOfMany(labels, choose);
  const element = html("div", { class: "outcome" }, ...teller.elements, aloud);
  let timer = null;

  function tell(found, before, shownScore) {
    const text = teller.tell(found, before, shownScore);
    clearTimeout(timer);
    timer = setTimeout(() => {
      aloud.textContent = text;
    }, QUIET);
  }
  return { element, tell };
}

const predictedBy = (found, labels) => (found.predicted === null ? "nothing: a value is missing"
  : labels[found.predicted]);

function scoreElement() {
  return html("data", { class: "score" });
}

function tellScore(element, score) {
  element.value = String(score);
  element.textContent = signed(score);
}

/** Return what tells of two classes: the likely one, both probabilities, and the score. */
function outcomeOfTwo(labels, hasProbabilities) {
  const [predicted, chance, change] = ["strong", "span", "span"].map((tag) => html(tag, {}));
  predicted.className = "predicted";
  const score = scoreElement();
  const ends = labels.map(() => html("span", {}));
  const gauge = html("div", { class: "gauge" }, html("span", { class: "level" }));
  const elements = [html("p", {}, "Predicted: ", predicted, chance)];
  if (hasProbabilities) elements.push(gauge, html("div", { class: "ends" }, ...ends));
  elements.push(html("p", { class: "hint" }, "Score ", score, change,
    html("span", { class: "key" }, html("span", { class: "swatch positive" }),
      `above zero favors “${labels[1]}”`),
    html("span", { class: "key" }, html("span", { class: "swatch negative" }),
      `below zero “${labels[0]}”`)));

  function tell(found, before) {
    const share = found.probability;
    const moved = found.scores[0] - before.scores[0];
    predicted.textContent = predictedBy(found, labels);
    tellScore(score, found.scores[0]);
    change.textContent = Math.abs(moved) >= 1e-12 ? ` (${signed(moved)} by your changes)` : "";
    if (share && found.predicted !== null) {
      chance.textContent = `, probability ${percent(share[found.predicted])}`;
      gauge.firstChild.style.width = `${100 * share[1]}%`;
      ends.forEach((end, k) => {
        end.textContent = `${labels[k]} ${percent(share[k])}`;
      });
    } else chance.textContent = "";
    return `${predicted.textContent}${chance.textContent}, score ${score.textContent}`;
  }
  return { elements, tell };
}

/** Return what tells of several classes: the likely one, and each with probability and score. */
function outcomeOfMany(labels, choose) {
  const predicted = html("strong", { class: "predicted" });
  const chance = html("span", {});
  const hint = html("p", { class: "hint" });
  const lines = labels.map((label, k) => {
    const radio = html("input", { type: "radio", name: "shown-class", id: `shown-class-${k}` });
    radio.addEventListener("change", () => choose(k));
    const share = html("strong", {});
    const score = scoreElement();
    const swatch = hasClassColors(labels) ? html("span", { class: `swatch c${k}` }) : null;
    const element = html("li", {}, radio, html("label", { for: radio.id }, swatch ?? "", label),
      share,
      html("span", { class: "number" }, "score ", score));
    return { radio, share, score, element };
  });
  const list = html("ul", { class: "classes", role: "radiogroup",
    "aria-label": "Class whose score is explained" }, ...lines.map((line) => line.element));

  function tell(found, before, shownScore) {
    predicted.textContent = predictedBy(found, labels);
    chance.textContent = found.probability && found.predicted !== null
      ? `, probability ${percent(found.probability[found.predicted])}` : "";
    lines.forEach(({ radio, share, score }, k) => {
      radio.checked = k === shownScore;
      share.textContent = found.probability ? percent(found.probability[k]) : "";
      tellScore(score, found.scores[k]);
    });
    const [above, below] = sidesOf(labels, shownScore);
    hint.replaceChildren("Contributions to the score of the chosen class: ",
      html("span", { class: "key" }, html("span", { class: `swatch ${above}` }),
        `for “${labels[shownScore]}”`),
      html("span", { class: "key" }, html("span", { class: `swatch ${below}` }), "against it"));
    return predicted.textContent + chance.textContent;
  }
  return { elements: [html("p", {}, "Predicted: ", predicted, chance), list, hint], tell };
}

/** Return the line of a feature: its input, whether it is missing, and what it adds. */
function buildField(summary, d, limits, changed) {
  const feature = summary.features[d];
  const levels = summary.document.features[d].levels;
  const id = `feature-${d}`;
  const missing = html("input", { type: "checkbox", id: `${id}-missing`,
    "aria-label": `${feature.name} is missing` });
  const change = (cell) => {
    missing.checked = cell === null;
    element.classList.toggle("is-missing", cell === null);
    changed(cell);
  };
  const input = levels ? levelInput(id, levels, change) : numberInput(id, feature, change);
  const track = signedBar(0, limits, ["neutral", "neutral"]);
  const number = html("span", { class: "number" });
  const element = html("div", { class: "field" },
    html("label", { class: "name", for: id, title: feature.name }, feature.name),
    html("div", { class: "input" }, ...input.elements,
      summary.document.takes_missing
        ? html("label", { class: "missing-box" }, missing, "missing") : null),
    track, number);
  missing.addEventListener("change", () => {
    const cell = missing.checked ? null : input.read();
    if (!missing.checked) input.show(cell);
    change(cell);
  });
  let last = 0;
  return {
    element,
    number: d,
    name: feature.name,
    added: () => last,
    isKept: () => element.classList.contains("changed"),
    show(cell) {
      missing.checked = cell === null;
      element.classList.toggle("is-missing", cell === null);
      input.show(cell);
    },
    tell(added, isChanged, sides) {
      last = added;
      setSignedBar(track, added, limits, sides);
      number.textContent = signed(added);
      element.classList.toggle("changed", isChanged);
    },
  };
}
