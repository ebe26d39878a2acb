// The what-if panel: inputs for each feature, and what the model says of them.

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
  const list = html("div", { class: "fields" }, ...fields.map((field) => field.element));
  panel.append(starts.element, outcome.element, list);
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
    if (state.score !== null && !state.pinned) state.score = found.said ?? 0;
    const adds = found.contributions[state.score ?? 0];
    fields.forEach((field) => {
      const d = field.number;
      field.tell(adds[d], state.cells[d] !== state.start.values[d]);
    });
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
  const truth = start.truth === null ? "" : `, is ${labels[start.truth]}`;
  const mark = start.truth !== null && start.truth !== start.said ? " (wrong)" : "";
  return `row ${start.row}${truth}, told ${labels[start.said]}${mark}`;
}

function buildStarts(summary, begin) {
  const select = html("select", { id: "start-row" }, ...summary.starts.map((start, k) =>
    html("option", { value: k }, startName(start, summary.labels))));
  const again = html("button", { type: "button" }, "Back to the row");
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

/** Return the part that tells class, scores and probabilities. */
function buildOutcome(labels, model, choose) {
  const said = html("strong", { class: "said" });
  const details = html("span", { class: "details" });
  const classes = html("ul", { class: "classes" });
  const element = html("div", { class: "outcome" },
    html("p", { role: "status" }, "The model says ", said, details), classes);
  const isTwo = labels.length === 2;
  const lines = (isTwo ? [] : labels).map((label, k) => {
    const radio = html("input", { type: "radio", name: "shown-class", id: `shown-class-${k}` });
    radio.addEventListener("change", () => choose(k));
    const number = html("span", { class: "number" });
    classes.append(html("li", {}, radio, html("label", { for: `shown-class-${k}` }, label),
      number));
    return { radio, number };
  });
  if (!isTwo) element.append(html("p", { class: "hint" },
    "The bars show what is added to the score of the chosen class."));
  const gauge = html("span", { class: "gauge" }, html("span", { class: "level" }));
  if (isTwo && model.log_odds !== null) element.append(gauge);

  function tell(found, before, shownScore) {
    said.textContent = found.said === null ? "nothing: a value is missing" : labels[found.said];
    const chance = found.probability;
    if (isTwo) {
      const [score] = found.scores;
      const change = score - before.scores[0];
      details.textContent = `, score ${signed(score)}` +
        (chance ? `, probability of “${labels[1]}” ${percent(chance[1])}` : "") +
        (Math.abs(change) < 1e-12 ? "" : ` (${signed(change)} against the row)`);
      if (chance) gauge.firstChild.style.width = `${100 * chance[1]}%`;
      return;
    }
    details.textContent = chance && found.said !== null
      ? `, probability ${percent(chance[found.said])}` : "";
    lines.forEach(({ radio, number }, k) => {
      radio.checked = k === shownScore;
      number.textContent = signed(found.scores[k]) + (chance ? `, ${percent(chance[k])}` : "");
    });
  }
  return { element, tell };
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
  const track = signedBar(0, limits);
  const number = html("output", { class: "number", for: id });
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
  return {
    element,
    number: d,
    show(cell) {
      missing.checked = cell === null;
      element.classList.toggle("is-missing", cell === null);
      input.show(cell);
    },
    tell(added, isChanged) {
      setSignedBar(track, added, limits);
      number.textContent = signed(added);
      element.classList.toggle("changed", isChanged);
    },
  };
}

/**
 * Return a slider and a number, which may be beyond the slider's ends.
 * A row's own value is scored in full, whatever digits the number shows.
 */
function numberInput(id, feature, changed) {
  const spread = feature.high - feature.low;
  const [low, high] = spread > 0 ? [feature.low, feature.high]
    : [feature.low - 1, feature.high + 1];
  const places = feature.whole ? 0
    : Math.min(12, Math.max(0, 3 - Math.floor(Math.log10(high - low))));
  const slider = html("input", { type: "range", min: low, max: high,
    step: feature.whole ? 1 : "any", "aria-label": `${feature.name}, slider` });
  const number = html("input", { type: "number", id, step: "any" });
  slider.addEventListener("input", () => {
    const value = Number(Number(slider.value).toFixed(places));
    number.value = String(value);
    last = value;
    changed(value);
  });
  number.addEventListener("input", () => {
    const value = number.value === "" ? null : Number(number.value);
    last = value ?? last;
    slider.value = String(last);
    changed(value);
  });
  let last = feature.typical ?? low;
  return {
    elements: [slider, number],
    read: () => last,
    show(cell) {
      last = cell ?? last;
      number.value = cell === null ? "" : String(Number(cell.toPrecision(7)));
      slider.value = String(last);
    },
  };
}

/** Return a list of levels, with one entry for those that training never saw. */
function levelInput(id, levels, changed) {
  const unknown = html("option", { value: "unknown" }, "(another level)");
  const select = html("select", { id }, ...levels.map((level, k) =>
    html("option", { value: k }, String(level))), unknown);
  const isText = typeof levels[0] === "string";
  const known = new Set(levels);
  let other = isText || levels.length === 0 ? "\u0000another level" : unusedNumber(known);
  const read = () => (select.value === "unknown" ? other : levels[Number(select.value)]);
  select.addEventListener("change", () => changed(read()));
  return {
    elements: [select],
    read,
    show(cell) {
      if (cell === null) return;
      const k = levels.indexOf(cell);
      select.value = k < 0 ? "unknown" : String(k);
      if (k < 0) {
        other = cell;
        unknown.textContent = `${cell} (another level)`;
      }
    },
  };
}

/** Return a whole number that is none of some numbers. */
function unusedNumber(known) {
  let number = -1;
  while (known.has(number)) number -= 1;
  return number;
}
