// Inputs for values: a slider and a number, or a list of levels.

/**
 * Return a slider and a number, which may lie beyond the ends of the slider.
 * A row's own value is scored with all digits, even if fewer are shown.
 */
function numberInput(id, feature, onChange) {
  const [low, high] = feature.high > feature.low ? [feature.low, feature.high]
    : [feature.low - 1, feature.high + 1];
  const nDecimals = feature.is_integer ? 0
    : Math.min(12, Math.max(0, 3 - Math.floor(Math.log10(high - low))));
  const slider = html("input", { type: "range", min: low, max: high,
    step: feature.is_integer ? 1 : "any", "aria-label": `${feature.name}, slider` });
  const number = html("input", { type: "number", id, step: "any", inputmode: "decimal" });
  slider.addEventListener("input", () => {
    const value = Number(Number(slider.value).toFixed(nDecimals));
    number.value = String(value);
    last = value;
    onChange(value);
  });
  number.addEventListener("input", () => {
    if (number.validity.badInput) return; // an incomplete number, such as a minus sign
    const value = number.value === "" ? null : Number(number.value);
    last = value ?? last;
    slider.value = String(last);
    onChange(value);
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

/** Return a list of levels, with one entry for levels that are unknown to the model. */
function levelInput(id, levels, onChange) {
  const unknown = html("option", { value: "unknown" }, "(another level)");
  const select = html("select", { id }, ...levels.map((level, k) =>
    html("option", { value: k }, String(level))), unknown);
  const isText = typeof levels[0] === "string";
  let other = isText || levels.length === 0 ? "\u0000another level" : unusedNumber(levels);
  const read = () => (select.value === "unknown" ? other : levels[Number(select.value)]);
  select.addEventListener("change", () => onChange(read()));
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

/** Return an integer that is not among some numbers. */
function unusedNumber(numbers) {
  let number = -1;
  while (numbers.includes(number)) number -= 1;
  return number;
}
