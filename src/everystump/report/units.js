// The units in which the curves are shown: log-odds, odds ratios, probabilities, or predictions.

/**
 * Return the units of the contributions to the score of class k, the model's own unit first.
 * `height` maps the contributions of a term to all scores to the height at which it is drawn, and
 * `ofOwn` its contribution to the score of class k, if the others do not matter; `base` is the
 * height without any contribution. `text` writes a height, and `score` is the index of the score
 * whose bands are drawn.
 */
function listUnits(summary, k) {
  return unitsOf(summary, k).map((unit) => ({ score: k, ...unit }));
}

function unitsOf(summary, k) {
  const { document: model, labels, formats } = summary;
  const units = [{ key: "own", ...ownUnit(summary), height: (contributions) => contributions[k],
    ofOwn: (contribution) => contribution, base: 0, text: formats.effect,
    tick: (height) => formatNumber(height), end: (height) => (height > 0 ? "+" : "") +
      formatNumber(height, 3) }];
  if (model.link) return [...units, ...predictionUnits(summary)];
  if (model.log_odds === null) return units;
  const isBinary = model.scores.length === 1;
  if (isBinary) {
    const times = model.log_odds === 1 ? "" : `${formatNumber(model.log_odds)} times `;
    units.push(ratioUnit("odds ratio", model.log_odds,
      `The odds ratio of a value is e to the power of ${times}its contribution: ` +
      `the factor by which it multiplies the odds of “${labels[1]}”; 1 is no effect. `));
  }
  const likely = isBinary ? 1 : k;
  const probability = (contributions) => probabilities(model.scores.map(({ intercept }, j) =>
    model.log_odds * (intercept + contributions[j])), model.probabilities)[likely];
  const nothing = model.scores.map(() => 0);
  units.push({ key: "probability", name: "probability", axis: "probability",
    meaning: `The probability of “${labels[likely]}” is that of a row whose other contributions ` +
      `are all zero, so that only this value and the intercept count; without it, it is ${
        formatPercent(probability(nothing))}. ${summary.bands && !isBinary
        ? "Bands are those of the score of this class, at the scores of the others. " : ""}`,
    height: probability, base: probability(nothing), text: formatPercent, range: [0, 1],
    tick: (p) => `${formatNumber(100 * p)}%`, ofOwn: isBinary
      ? (contribution) => probability([contribution]) : null });
  return units;
}

/** Return the name of the unit of contributions, and that of the axis. */
function ownUnit({ document: model, formats: { unit } }) {
  if (model.link === "log") return { name: "logarithm", axis: "added to the logarithm" };
  if (model.link) {
    return { name: "contribution", axis: unit ? `contribution (${unit})` : "contribution" };
  }
  const isLogOdds = model.scores.length === 1 && model.log_odds !== null;
  if (!isLogOdds) return { name: "score", axis: "score" };
  return model.log_odds === 1 ? { name: "log-odds", axis: "log-odds" }
    : { name: "score", axis: `score (log-odds \u00f7 ${formatNumber(model.log_odds)})` };
}

/** Return a unit whose logarithm is a contribution times a factor; its axis is logarithmic. */
function ratioUnit(name, factor, meaning) {
  const value = (height) => Math.exp(factor * height);
  return {
    key: "ratio",
    name,
    axis: name,
    meaning,
    height: ([contribution]) => contribution,
    ofOwn: (contribution) => contribution,
    base: 0,
    value,
    text: (height) => formatRatio(value(height)),
    tick: (height) => formatNumber(value(height), 2),
    marks: (low, high) => ratioMarks(value(low), value(high)).map((x) => Math.log(x) / factor),
  };
}

/** Return a ratio with two decimals, or more digits if it is small. */
function formatRatio(ratio) {
  return ratio >= 0.1 && ratio < 1000 ? ratio.toFixed(2) : formatNumber(ratio, 2);
}

/** Return 1 and round ratios on both sides of it that are not too close on a logarithmic axis. */
function ratioMarks(low, high) {
  const to = (x) => Math.log(x / low) / Math.log(high / low);
  const steps = [[1.01, 1.02], [1.05, 1.1], [1.25, 1.5], [2, 4],
    [10, 100, 1e3, 1e4, 1e5, 1e6, 1e9]];
  const size = Math.max(Math.log(high), -Math.log(low));
  const found = steps.findIndex((step) => Math.log(step[step.length - 1]) >= 0.55 * size);
  const chosen = found < 0 ? steps.length - 1 : found;
  const marks = [1];
  for (const k of [chosen, chosen - 1]) { // smaller ratios, if there are hardly any others
    if (k < 0 || marks.length > 2) break;
    for (const x of [...steps[k]].reverse().flatMap((step) => [step, 1 / step])) {
      const isApart = marks.every((y) => Math.abs(to(x) - to(y)) > 0.12);
      if (x >= low && x <= high && isApart) marks.push(x);
    }
  }
  return marks.filter((x) => x >= low && x <= high);
}

/** Return the predictions of a regressor as units. */
function predictionUnits({ document: model, formats }) {
  const [{ intercept }] = model.scores;
  const inverse = INVERSE_LINKS[model.link];
  const prediction = { key: "prediction", name: "prediction",
    axis: formats.unit ? `prediction (${formats.unit})` : "prediction",
    meaning: "The prediction is that for a row whose other contributions are all zero, so that " +
      "only this value and the intercept count; without it, it is " +
      `${formats.withUnit(formats.value(inverse(intercept)))}. `,
    height: ([contribution]) => inverse(intercept + contribution), base: inverse(intercept),
    ofOwn: (contribution) => inverse(intercept + contribution), text: formats.value };
  if (model.link !== "log") return [prediction];
  return [ratioUnit("factor", 1, "The factor of a value is e to the power of its contribution: " +
    "what it multiplies the prediction by; 1 is no effect. "), prediction];
}

/**
 * Return how a curve is drawn in a unit: its height at x and, for jumps, on the left of x.
 * x is a number or the code of a level, NaN if it is missing.
 */
function makeView({ document: model }, unit, d) {
  const curves = model.scores.map(({ curves: all }) => all.find((curve) => curve.feature === d));
  const contributions = (evaluate, x) => curves.map((curve) => (curve ? evaluate(curve, x) : 0));
  return {
    unit,
    at: (x) => unit.height(contributions(evaluateCurve, x)),
    left: (x) => unit.height(contributions(evaluateLeft, x)),
    knots: () => [...new Set(curves.flatMap((curve) => curve?.knots ?? []))].sort((a, b) => a - b),
    band: viewBand(unit, curves, contributions),
  };
}

/** Return the limit of the curve of a number on the left of x. */
function evaluateLeft(curve, x) {
  const k = countBelow(curve.knots, x);
  return curve.knots[k] === x ? curve.values[k] : evaluateCurve(curve, x);
}

/** Return how many of ascending numbers are below x. */
function countBelow(numbers, x) {
  let k = countAtMost(numbers, x);
  while (k > 0 && numbers[k - 1] === x) k -= 1;
  return k;
}

/** Return the heights of a curve: at each level, or on both sides of each knot, and if missing. */
function viewHeights({ at, left, knots }, levels, hasMissing) {
  const heights = levels ? levels.map((_, code) => at(code))
    : knots().flatMap((x) => [left(x), at(x)]);
  return hasMissing ? [...heights, at(NaN)] : heights;
}

/** Return the range of heights in a unit with some padding; it contains the baseline and bands. */
function heightRange(unit, heights, bandEnds = []) {
  const [low, high] = widenForBands(extremes([unit.base, ...heights]), bandEnds);
  const padding = 0.07 * (high - low) || (unit.range ? 0.05 : 0.5);
  const [least, most] = unit.range ?? [-Infinity, Infinity];
  return [Math.max(least - 0.01, low - padding), Math.min(most + 0.01, high + padding)];
}
