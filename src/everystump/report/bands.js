// Bands around curves and surfaces: half their width is stored with each of them as `band`, which is
// a curve or a surface over the same knots.

const MAX_BAND_ROOM = 0.6; // space for bands beyond the curves, relative to their range

/** Attach the bands that everystump.report._encoding packed to the curves of a document. */
function attachBands(model, bands) {
  if (!bands) return;
  const widen = (x) => (x === null ? null : bands.width * x);
  const decode = ({ values }) => decodeFloats(values).map(widen);
  model.scores.forEach(({ curves, surfaces = [] }, k) => {
    const own = bands.scores[k];
    curves.forEach((curve, i) => {
      const key = curve.level_values ? "level_values" : "values";
      curve.band = { ...curve, [key]: decode(own.curves[i]),
        missing: widen(own.curves[i].missing) };
    });
    surfaces.forEach((surface, i) => {
      const values = nest(decode(own.surfaces[i]), surface.axes.map(axisLength));
      surface.band = { ...surface, values };
    });
  });
}

/** Return the level of bands as text. */
const bandLevel = ({ level }) => `${Number((100 * level).toPrecision(4))}%`;

/**
 * Return how the band of a curve is drawn in a unit: `lower` and `upper` have its heights at x and on
 * the left of x. Null if it has none.
 */
function viewBand(unit, curves, contributions) {
  const band = curves[unit.score]?.band;
  if (!band) return null;
  const end = (sign, evaluate) => (x) => {
    const parts = contributions(evaluate, x);
    parts[unit.score] += sign * evaluate(band, x);
    return unit.height(parts);
  };
  const side = (sign) => ({ at: end(sign, evaluateCurve), left: end(sign, evaluateLeft) });
  return { lower: side(-1), upper: side(1) };
}

/** Return the ends of the band of a curve at x; null if it has none. */
const bandAt = ({ band }, x) => band && [band.lower.at(x), band.upper.at(x)];

/** Return the heights of both ends of a band where those of its curve are listed. */
function bandHeights({ band, knots }, levels, hasMissing) {
  return band ? [band.lower, band.upper].flatMap((end) =>
    viewHeights({ ...end, knots }, levels, hasMissing)) : [];
}

/** Return a range of curves, widened for bands as far as they leave space for the curves. */
function widenForBands([low, high], bandEnds) {
  const [least, most] = extremes([low, high, ...bandEnds]);
  const room = high > low ? MAX_BAND_ROOM * (high - low) : Infinity;
  return [Math.max(least, low - room), Math.min(most, high + room)];
}

/** Return the band of a line, cut off at the ends of the vertical axis. */
function drawRibbon(plot, view, axis, [bottom, top], signs) {
  const inside = (y) => Math.min(plot.atY(bottom), Math.max(plot.atY(top), y));
  const [lower, upper] = [view.band.lower, view.band.upper].map((end) =>
    linePoints({ ...view, ...end }, axis, plot)
      .map(([x, y]) => `${x.toFixed(2)} ${inside(y).toFixed(2)}`));
  const path = `M${[...upper, ...lower.reverse()].join("L")}Z`;
  return splitAtBase(plot, path, signs, view.unit.base, "ribbon");
}

/** Return a height in a unit with its band: plus or minus half its width, or its ends. */
function formatBanded({ key, text }, height, ends) {
  if (!ends) return text(height);
  return key === "own" ? text(height, (ends[1] - ends[0]) / 2)
    : `${text(height)} (${ends.map((end) => text(end)).join(" to ")})`;
}

/** Return the ends of a band around a contribution; null if it has none. */
const bandEnds = (contribution, half) =>
  (typeof half === "number" ? [contribution - half, contribution + half] : null);

/** Return both ends of the band of a curve or a surface at all its values; none if it has none. */
function shapeBandEnds(shape) {
  if (!shape.band) return [];
  const halves = shapeValues(shape.band);
  return shapeValues(shape).flatMap((value, k) => bandEnds(value, halves[k]));
}

/** Return what follows a contribution: plus or minus half the width of its band, if it has one. */
function formatHalf(half) {
  return typeof half === "number" ? ` \u00b1 ${formatSize(half)}` : "";
}

/** Return the keys of the bands of curves and of surfaces. */
function bandKeys(bands, hasSurfaces) {
  if (!bands) return [];
  const key = (swatch, text) => html("span", { class: "key" },
    html("span", { class: `swatch ${swatch}` }), text);
  const keys = [key("of-ribbon", `${bandLevel(bands)} band`)];
  if (hasSurfaces) keys.push(key("of-dots", `0 is within the ${bandLevel(bands)} band`));
  return keys;
}
