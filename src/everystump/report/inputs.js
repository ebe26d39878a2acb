// What one sets a value with: a slider and a number, or a list of levels.

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
  const number = html("input", { type: "number", id, step: "any", inputmode: "decimal" });
  slider.addEventListener("input", () => {
    const value = Number(Number(slider.value).toFixed(places));
    number.value = String(value);
    last = value;
    changed(value);
  });
  number.addEventListener("input", () => {
    if (number.validity.badInput) return; // a number that has only begun, such as a minus
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
