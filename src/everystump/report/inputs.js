// Inputs for values: a slider and a number, or a list of levels.

/**
 * Return a slider and a number, which may lie beyond the ends of the slider.
 * A row's own value is scored with all digits, even if fewer are shown.
 */
function numberInput(id, feature, onChange) {
  const track = sliderTrack(feature);
  const slider = html("input", { type: "range", ...track.attributes,
    "aria-label": `${feature.name}, slider` });
  const number = html("input", { type: "number", id, step: "any", inputmode: "decimal" });
  const moveSlider = () => {
    slider.value = String(track.to(last));
    if (!track.isLinear) slider.setAttribute("aria-valuetext", formatNumber(last, 6));
  };
  slider.addEventListener("input", () => {
    last = track.from(Number(slider.value));
    number.value = String(last);
    if (!track.isLinear) slider.setAttribute("aria-valuetext", number.value);
    onChange(last);
  });
  number.addEventListener("input", () => {
    if (number.validity.badInput) return; // an incomplete number, such as a minus sign
    const value = number.value === "" ? null : Number(number.value);
    last = value ?? last;
    moveSlider();
    onChange(value);
  });
  let last = feature.typical ?? feature.low;
  return {
    elements: [slider, number],
    read: () => last,
    show(cell) {
      last = cell ?? last;
      number.value = cell === null ? "" : String(Number(cell.toPrecision(7)));
      moveSlider();
    },
  };
}

/**
 * Return the ends of a slider, and the functions from values to its positions and back.
 * It moves along the axis on which the bulk of the rows is not crushed at one end.
 */
function sliderTrack(feature) {
  const [low, high] = feature.high > feature.low ? [feature.low, feature.high]
    : [feature.low - 1, feature.high + 1];
  const nDecimals = (width) => (feature.is_integer ? 0
    : Math.min(12, Math.max(0, 3 - Math.floor(Math.log10(width)))));
  const kind = chooseScale(feature);
  if (kind === "linear") {
    return {
      attributes: { min: low, max: high, step: feature.is_integer ? 1 : "any" },
      isLinear: true,
      to: (x) => x,
      from: (value) => Number(value.toFixed(nDecimals(high - low))),
    };
  }
  const axis = makeNumberAxis(feature, kind);
  return {
    attributes: { min: 0, max: 1, step: 0.005 },
    isLinear: false,
    to: axis.to,
    from(t) { // as many digits as neighbors of a slider position need
      const width = Math.abs(axis.from(Math.min(1, t + 0.01)) - axis.from(Math.max(0, t - 0.01)));
      const x = Number(axis.from(t).toFixed(nDecimals(width || high - low)));
      return Math.min(high, Math.max(low, x));
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
