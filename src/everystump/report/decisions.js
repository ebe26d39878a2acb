// Decisions for one class against the rest: the rows, their scores, thresholds and costs.

const MAX_CLASS_LETTERS = 60; // letters of a class in sentences

/** Decode the rows that everystump.report._held_out stored. */
function decodeHeldOut({ held_out: stored, labels, about }) {
  const indices = (text) => decodeIndices(text, labels.length);
  const decode = (texts) => texts && texts.map((text) => Float64Array.from(decodeNumbers(text)));
  return { nStored: stored.n_stored, hasIntervals: areNew(about),
    actual: indices(stored.actual), predicted: indices(stored.predicted),
    scores: decode(stored.scores), probabilities: decode(stored.probabilities) };
}

/** Whether the rows are new to the model; otherwise intervals would be invalid. */
const areNew = ({ rows, leakage_warning: warning }) => rows !== "training" && !warning;

const sigmoid = (t) => Math.exp(logSigmoid(t));
const logit = (p) => Math.log(p / (1 - p));
const identity = (x) => x;

/**
 * Return the keys by which rows of two classes are compared with a threshold, which is a
 * probability if the model has them: scores if they are log-odds, else probabilities or scores.
 * The threshold 0.5, or the score 0, gives the predictions of the model, in ties as well.
 */
function binaryKeys(rows, k, factor) {
  const own = rows.scores[0];
  const scores = k === 1 ? own : own.map((x) => -x);
  if (factor !== null) {
    return { scores, keys: scores, probabilities: scores.map((x) => sigmoid(factor * x)),
      toCut: (t) => logit(t) / factor, fromCut: (x) => sigmoid(factor * x) };
  }
  if (!rows.probabilities) {
    return { scores, keys: scores, probabilities: null, toCut: identity, fromCut: identity };
  }
  const first = rows.probabilities[0];
  const probabilities = k === 1 ? first : first.map((p) => 1 - p);
  return { scores, keys: probabilities, probabilities, toCut: identity, fromCut: identity };
}

/** Return the keys of one of several classes: its probabilities, or its scores. */
function severalKeys(rows, k) {
  const keys = (rows.probabilities ?? rows.scores)[k];
  return { scores: keys, keys, probabilities: rows.probabilities ? keys : null, toCut: identity,
    fromCut: identity };
}

/** Return the decision whether rows are of class k. */
function makeDecision(rows, k, { labels, document: model }) {
  const isBinary = labels.length === 2;
  const found = isBinary ? binaryKeys(rows, k, model.log_odds) : severalKeys(rows, k);
  const { scores, keys, probabilities, toCut, fromCut } = found;
  const isPositive = Uint8Array.from(rows.actual, (actual) => (actual === k ? 1 : 0));
  const isStrict = isBinary && k === 1; // of two classes, a score of 0 favors the first
  const ranked = rankScores(scores, isPositive);
  const counts = countByThreshold(ranked);
  const isByKey = keys === scores;
  const keyRanked = isByKey ? ranked : rankScores(keys, isPositive);
  const keyCounts = isByKey ? counts : countByThreshold(keyRanked);
  // The largest log-odds have equal probabilities, so that no threshold separates them.
  const choices = !probabilities || probabilities === keys ? keyCounts
    : countByThreshold(rankScores(probabilities, isPositive));
  const range = probabilities ? [0, 1] : scoreRange(counts.thresholds);

  /** Return the cheapest threshold and its cost. */
  function cheapest(costs) {
    const { k: nAbove, cost } = cheapestChoice(choices, costs);
    const [least, most] = probabilities ? [0, 1] : [-Infinity, Infinity];
    const above = nAbove ? choices.thresholds[nAbove - 1] : most;
    const below = nAbove < choices.thresholds.length ? choices.thresholds[nAbove] : least;
    return { threshold: shortestBetween(below, above), cost };
  }

  return { k, rows, scores, keys, probabilities, isPositive, isStrict, counts, range, toCut,
    thresholdName: isByKey && probabilities ? "probability" : "score",
    thresholds: () => Array.from(counts.thresholds, (x) => (isByKey ? fromCut(x) : x)),
    cheapest, initial: probabilities ? 0.5 : 0,
    confusion: (threshold) => confusionAt(keyRanked, toCut(threshold), isStrict) };
}

/** Return an interval that contains all scores and 0, with some padding. */
function scoreRange(thresholds) {
  const low = Math.min(0, thresholds[thresholds.length - 1]);
  const high = Math.max(0, thresholds[0]);
  const padding = 0.03 * (high - low) || 1;
  return [low - padding, high + padding];
}

/** Return the rates of a confusion matrix, each as the number of hits and of rows. */
function ratesOf({ tp, fp, fn, tn }) {
  return {
    accuracy: [tp + tn, tp + fp + fn + tn],
    recall: [tp, tp + fn],
    precision: [tp, tp + fp],
    alarms: [fp, fp + tn],
  };
}

/** Return the cost of a confusion matrix. */
const costOf = ({ fp, fn }, [alarm, miss]) => alarm * fp + miss * fn;

/** Return a fraction in percent with one decimal; 0% and 100% only if it is exact. */
function formatTenths(fraction) {
  const percent = 100 * fraction;
  if (percent > 0 && percent < 0.05) return "<0.1%";
  if (percent >= 99.95 && percent < 100) return ">99.9%";
  return `${percent.toFixed(1)}%`;
}

/** Return a proportion as text, a dash if it is undefined. */
const formatRate = ([hits, n]) => (n ? formatTenths(hits / n) : "\u2013");

/** Return an interval of fractions as text, empty without one. */
function formatInterval(interval) {
  return interval ? interval.map(formatTenths).join(" to ") : "";
}

/** Return the CSS class of the color of class k, and that of the other classes. */
function decisionColors(labels, k) {
  if (labels.length === 2) return k === 1 ? ["positive", "negative"] : ["negative", "positive"];
  return [hasClassColors(labels) ? `c${k}` : "positive", "plain"];
}

/** Return the names of class k and of the rest, without the middle of very long ones. */
function decisionNames(labels, k) {
  const rest = labels.length === 2 ? labels[1 - k] : "any other class";
  return [labels[k], rest].map((name) => truncateMiddle(name, MAX_CLASS_LETTERS));
}
